"""`check`: find what is wrong with a tokenizer's files.

The loader reports errors and what is doubtful. `questions.py` adds what loading does not ask. No
code of a directory runs, no path written in a file is followed, and nothing is downloaded.
"""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import os
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

from trietok.errors import FileError, TrietokError
from trietok.files.directory import without_hashes
from trietok.files.findings import Finding, Report, attempt, finding_of
from trietok.files.formats import (
    BPE_VOCAB_FILE,
    CONFIG_FILE,
    GENERIC_FAST,
    MERGES_FILE,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    TOKENIZER_FILES,
    VOCAB_FILE,
    wrong_settings,
)
from trietok.files.json_files import read_json_object
from trietok.files.kinds import is_of_recipe, other_kind
from trietok.files.load import VERSIONED, fast_file_of, load, reading_directory
from trietok.files.model_files import BUILT_IN_NAMES, built_in_directory, nothing_there
from trietok.files.tokenizer_json import read_tokenizer_json
from trietok.tokenizer.auto import AutoTokenizer, choose, class_or_bert, fast_class_of
from trietok.workbench.checking.questions import DECODER, QUESTIONS, Loaded
from trietok.workbench.checking.report import CheckReport

_MOST = 1_000  # findings of one code; a file that is made to flood a report has millions
_FILES = (*TOKENIZER_FILES, CONFIG_FILE, BPE_VOCAB_FILE, MERGES_FILE)
_OFFLINE: dict[str, Any] = {"local_files_only": True}


def check(model: str | os.PathLike[str]) -> CheckReport:
    r"""Find everything in a tokenizer's files that contradicts itself, does not load, or has no
    effect.

    Args:
        model: a directory as `save_pretrained` or transformers writes it, a vocab.txt, or the name
            of a built-in vocabulary.

    Returns:
        A report, whose `findings` each have a severity, a code, a message and the place.
        `docs/checking.md` lists the codes. If a report has no error, the tokenizer loads.

    Raises:
        TypeError: `model` is not a path. Whatever the files hold is a finding.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nthe\nun\n")
    >>> report = check(path)
    >>> (
    ...     report.ok,
    ...     [(finding.code, finding.token, finding.line_number) for finding in report.findings],
    ... )
    (True, [('duplicate-line', 'un', 6)])

    Cost: O(bytes of the files), and some microseconds for each token of the vocabulary: about a
    second for 100,000.
    """
    return check_and_load(model)[0]


def check_and_load(
    model: str | os.PathLike[str], with_fast: bool = True
) -> tuple[CheckReport, Loaded | None]:
    """Return the report of `check`, and what was loaded; None if it is not a WordPiece tokenizer.

    Without `with_fast`, only the slow tokenizer is loaded.
    """
    name = os.fspath(model)
    is_built_in = name in BUILT_IN_NAMES and not os.path.exists(name)
    path = os.fspath(built_in_directory(name)) if is_built_in else name
    findings = _Findings(path)
    loaded = None
    with contextlib.ExitStack() as stack:
        try:
            if not os.path.exists(path):
                raise nothing_there(path)
            stack.enter_context(reading_directory(path, _FILES, report=findings.add))
            kind = other_kind(path)
            if is_of_recipe(path):
                _load(AutoTokenizer.from_pretrained, (path,), findings.add)
            elif kind is not None:
                raise FileError(kind, path=path)
            else:
                loaded = _loaded(path, with_fast, findings)
        except (TrietokError, OSError, ValueError) as error:
            findings.add(error)
        if loaded is not None:
            for question in QUESTIONS if loaded.slow is not None else QUESTIONS[:1]:
                for finding in question(loaded):
                    findings.add(finding)
    return CheckReport(name, findings.by_text.values()), loaded


class _Findings:
    """The findings of a check; the two tokenizers of a directory report the same one only once."""

    def __init__(self, path: str) -> None:
        self.by_text: dict[tuple[str | int | None, ...], Finding] = {}
        self._counts: Counter[str] = Counter()
        self._directory = os.path.dirname(path) if os.path.isfile(path) else path

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.by_text.values())

    def add(self, problem: Exception | Finding) -> None:
        """Add a finding, or an error as one."""
        self._keep(self._finding(problem))

    def add_as_warning(self, problem: Exception | Finding) -> None:
        """Add an error that does not keep from loading what the files are for."""
        found = self._finding(problem)
        is_error = isinstance(problem, Exception)
        self._keep(dataclasses.replace(found, severity="warning") if is_error else found)

    def _finding(self, problem: Exception | Finding) -> Finding:
        if isinstance(problem, Finding):
            return problem
        return finding_of(problem, self._directory.rstrip(os.sep))

    def _keep(self, found: Finding) -> None:
        if self._counts[found.code] == _MOST:
            found = dataclasses.replace(found, message="there are more, which are not listed")
        key = (found.code, found.message, found.file, found.line_number)
        if key not in self.by_text and self._counts[found.code] <= _MOST:
            self._counts[found.code] += 1
            self.by_text[key] = found


def _loaded(path: str, with_fast: bool, findings: _Findings) -> Loaded:
    """Load the slow and the fast tokenizer of a directory or file, and read what is next to it."""

    def read(name: str, report: Report) -> dict[str, Any]:
        place = os.path.join(path, name)
        if not os.path.isfile(place):
            return {}
        return dict(attempt(report, read_json_object, place, otherwise={}))

    report, as_warnings = findings.add, findings.add_as_warning
    config = without_hashes(read(TOKENIZER_CONFIG_FILE, report))
    model_config = read(CONFIG_FILE, report)
    kind = class_or_bert(config, model_config)
    # PreTrainedTokenizerFast has no slow class.
    options = {"tokenizer_class": None} if config.get("tokenizer_class") == GENERIC_FAST else {}
    slow = _load(load, (kind, path, (), _OFFLINE, options, report), report)
    json = _tokenizer_json(path, config, report)
    has_json = os.path.isfile(json)
    fast, fast_kind = None, fast_class_of(kind) if with_fast else None
    if fast_kind is not None and (has_json or not findings.has_errors):
        only_fast = report if has_json else as_warnings
        fast = _load(load, (fast_kind, path, (), _OFFLINE, {}, only_fast), only_fast)
    if with_fast and not findings.has_errors:
        _load(choose, (path,), as_warnings)
    for key, _ in [*wrong_settings(config, "", kind)]:
        del config[key]  # loading has reported it
    return Loaded(
        path=path,
        vocabulary_file=path if os.path.isfile(path) else os.path.join(path, VOCAB_FILE),
        kind=kind,
        slow=slow,
        fast=fast,
        config=config,
        # Loading reports its errors if it counts; other programs read it in any case.
        special_map=read(SPECIAL_TOKENS_MAP_FILE, as_warnings if DECODER in config else report),
        model_config=model_config,
        json=attempt(report, read_tokenizer_json, json, otherwise=None) if has_json else None,
        json_file=json,
    )


def _tokenizer_json(path: str, config: dict[str, Any], report: Report) -> str:
    """Return the path of the tokenizer.json that counts, if there is one."""
    if path.endswith(".json"):
        return path
    name = TOKENIZER_FILE
    if VERSIONED in config:
        source = os.path.join(path, TOKENIZER_CONFIG_FILE)
        name = attempt(report, fast_file_of, config[VERSIONED], source, otherwise=name)
    return os.path.join(path, name)


def _load(function: Any, arguments: tuple[Any, ...], report: Any) -> Any:
    """Return what a function loads; report what it raises, and return None then."""
    try:
        with quiet():
            return function(*arguments)
    except Exception as error:  # whatever a broken file brings about
        report(error)
        return None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what this thread does from the log; a report says it."""
    thread = threading.get_ident()

    def is_of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger = logging.getLogger("trietok")
    logger.addFilter(is_of_others)
    try:
        yield
    finally:
        logger.removeFilter(is_of_others)
