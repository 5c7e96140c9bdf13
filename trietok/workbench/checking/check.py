"""`check`: what is wrong with a tokenizer directory, before it costs a training run.

In: a directory or a vocab.txt. Out: a `CheckReport`. Nothing in the directory is executed, no path
written in a file is followed, nothing is fetched, and nothing raises: what cannot be read is a
finding.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

from trietok.errors import InterruptedSaveError
from trietok.files.formats import GENERIC_FAST, TOKENIZER_FILE
from trietok.files.kinds import is_of_recipe
from trietok.files.load import unsaid
from trietok.tokenizer.auto import AutoTokenizer, fast_class_of
from trietok.workbench.checking.facts import RULES, Facts
from trietok.workbench.checking.files import SAVE_INTERRUPTED, read_files
from trietok.workbench.checking.report import NOTHING_LOADS, CheckReport, Finding, declare
from trietok.workbench.checking.rules import model, settings, tokenizer_json, tokens

# importing each puts its rules into RULES
_OF_RULES = (
    model,
    settings,
    tokenizer_json,
    tokens,
)
DOES_NOT_LOAD = declare("does-not-load", so=NOTHING_LOADS, do="see the message")
FAST_DOES_NOT_LOAD = declare(
    "fast-does-not-load",
    so="AutoTokenizer, which takes the fast class, raises",
    do="see the message",
)
_WITHOUT_OTHERS = {DOES_NOT_LOAD, FAST_DOES_NOT_LOAD}  # said only where no other error says why


def check(model: str | os.PathLike[str]) -> CheckReport:
    r"""Look for everything in a tokenizer's files that contradicts itself, does not load, or can
    never be used.

    Args:
        model: a directory as `save_pretrained` or transformers writes it, a vocab.txt, or the name
            of a built-in vocabulary.

    Returns:
        A report, whose `findings` each have a severity, a code, a message and the place.
        `docs/checking.md` lists the codes. A report without errors is one of a tokenizer that
        loads.

    Raises:
        TypeError: `model` is no path. Whatever is in the files is a finding.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nthe\nun\n")
    >>> report = check(path)
    >>> (
    ...     report.ok,
    ...     [(finding.code, finding.token, finding.line_number) for finding in report.findings],
    ... )
    (True, [('duplicate-line', 'un', 6)])

    Cost: O(bytes of the files), and some microseconds an entry: about a second for 100,000 entries.
    """
    if is_of_recipe(os.fspath(model)):
        return CheckReport(os.fspath(model), _of_recipe(os.fspath(model)))
    return checked_facts(model)[0]


def checked_facts(
    path: str | os.PathLike[str], with_fast: bool = True
) -> tuple[CheckReport, Facts]:
    """`check` of what the Chinese recipe did not write, and what it found on the way, the
    tokenizers it loaded among it.

    Without a tokenizer.json the fast profile brings no errors, only warnings and notes, for those
    who want these.
    """
    files = read_files(path)
    facts = Facts(files)
    findings = files.findings
    if files.tokens is not None:
        findings.extend(_loaded(facts, with_fast))
    for _, needs, rule in RULES:
        if all(getattr(facts, need) is not None for need in needs):
            findings.extend(rule(facts))
    found = [*findings, *findings.left_out()]
    if any(
        finding.severity == "error" and finding.code not in _WITHOUT_OTHERS for finding in found
    ):
        found = [finding for finding in found if finding.code not in _WITHOUT_OTHERS]
    return CheckReport(os.fspath(path), found), facts


def _of_recipe(path: str) -> list[Finding]:
    """Whether what `trietok train bpe --recipe chinese` wrote loads."""
    found = load_quietly(path, AutoTokenizer)
    if not isinstance(found, Exception):
        return []
    code = SAVE_INTERRUPTED if isinstance(found, InterruptedSaveError) else DOES_NOT_LOAD
    return [Finding("error", code, _why_not_loaded(found, path))]


def _loaded(facts: Facts, with_fast: bool) -> Iterator[Finding]:
    """Load the tokenizer of each profile for the rules that need it; the findings are that one does
    not load.
    """
    path = facts.files.path
    # which has no slow class
    is_generic = facts.files.config.get("tokenizer_class") == GENERIC_FAST
    slow = load_quietly(path, facts.kind, **({"tokenizer_class": None} if is_generic else {}))
    if isinstance(slow, Exception):
        yield Finding("error", DOES_NOT_LOAD, _why_not_loaded(slow, path))
        return
    facts.slow = slow
    fast_kind = fast_class_of(facts.kind) if with_fast else None
    if fast_kind is None:  # BertJapaneseTokenizer has no twin
        return
    fast = load_quietly(path, fast_kind)
    if isinstance(fast, Exception):
        has_json = TOKENIZER_FILE in facts.files.present
        message = f"{facts.kind.__name__}Fast does not load: {_why_not_loaded(fast, path)}"
        yield Finding("error" if has_json or is_generic else "warning", FAST_DOES_NOT_LOAD, message)
    else:
        facts.fast = fast


def _why_not_loaded(error: Exception, path: str | os.PathLike[str]) -> str:
    return str(error).replace(f"{path}{os.sep}", "") or type(error).__name__


def load_quietly(path: str | os.PathLike[str], kind: Any, **options: Any) -> Any:
    """The tokenizer of a directory or file, or the exception that keeps it from loading.

    This thread's messages are kept off the log meanwhile: a check says all of it in its report.
    """
    thread = threading.get_ident()

    def from_elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger = logging.getLogger("trietok")
    logger.addFilter(from_elsewhere)
    try:
        with unsaid():
            return kind.from_pretrained(os.fspath(path), local_files_only=True, **options)
    except Exception as error:  # whatever a broken file brings about is what is asked for
        return error
    finally:
        logger.removeFilter(from_elsewhere)
