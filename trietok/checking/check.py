"""`check`: what is wrong with a tokenizer directory, before it costs a training run.

In: a directory or a vocab.txt. Out: a `CheckReport`. Nothing in the directory is executed, no path written in a file is
followed, nothing is fetched, and nothing raises: what cannot be read is a finding.
"""

from __future__ import annotations

import itertools
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from trietok.checking.files import CheckedFiles, read_files
from trietok.checking.findings import MOST_OF_ONE_CODE
from trietok.checking.reach import unreachable
from trietok.checking.report import CheckReport
from trietok.checking.rules import TokenRules
from trietok.tokenizer.auto import class_or_bert

logger = logging.getLogger("trietok")


def check(path: str | os.PathLike[str]) -> CheckReport:
    r"""Look for everything in a tokenizer's files that contradicts itself, does not load, or can never be used.

    Args:
        path: a directory as `save_pretrained` or transformers writes it, a vocab.txt, or the name of a built-in
            vocabulary.

    Returns:
        A report, whose `findings` each have a severity, a code, a message and the place. `docs/checking.md` lists the
        codes. A report without errors is one of a tokenizer that loads.

    Raises:
        TypeError: `path` is no path. Whatever is in the files is a finding.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##able\nUn\nun\n")
    >>> report = check(path)
    >>> report.ok, [(finding.code, finding.token, finding.line_number) for finding in report.findings]
    (True, [('duplicate-line', 'un', 6), ('unreachable-case', 'Un', 8)])

    Cost: O(bytes of the files), and some microseconds an entry: about a second for 100,000 entries.
    """
    files = read_files(path)
    rules = TokenRules(files)
    rules.check()
    if files.tokens is not None:
        _check_loaded(files, rules)
    return CheckReport(os.fspath(path), [*files.findings, *files.findings.left_out()])


def _check_loaded(files: CheckedFiles, rules: TokenRules) -> None:
    """What only the loaded tokenizer can tell: the ids of tokens that are added on loading, and what texts give."""
    loaded = load_quietly(files.path, class_or_bert(files.config, files.model_config))
    if isinstance(loaded, Exception):
        if not any(finding.severity == "error" for finding in files.findings):
            files.find(
                "error", "does-not-load", str(loaded).replace(f"{files.path}{os.sep}", "") or type(loaded).__name__
            )
        rules.check_ids({token_id: token.content for token_id, token, _ in rules.added})
        return
    added = {token_id: token.content for token_id, token in loaded.added_tokens_decoder.items()}
    ids = loaded.added_tokens_encoder
    for role, token in rules.missing():
        message = (
            f"the {role} {token!r} is neither in the vocabulary nor an added token; it is added on loading, as id "
        )
        message += f"{ids.get(token)}, for which a trained model has no meaning"
        where = {"file": rules.vocabulary_file, "token": token, "token_id": ids.get(token), "role": role}
        files.find("warning", "special-missing", message, **where)
    rules.check_ids(added)
    for entry in itertools.islice(unreachable(loaded), MOST_OF_ONE_CODE):
        if entry.token and entry.token_id not in files.odd:
            files.find(
                "note",
                entry.code,
                f"no text gives {entry.token!r}: {entry.why}",
                file=rules.vocabulary_file,
                line_number=entry.token_id + 1,
                token=entry.token,
                token_id=entry.token_id,
            )


def load_quietly(path: str | os.PathLike[str], kind: Any, **options: Any) -> Any:
    """The tokenizer of a directory or file, or the exception that keeps it from loading; nothing goes to the log."""
    with _no_log():
        try:
            return kind.from_pretrained(os.fspath(path), local_files_only=True, **options)
        except Exception as error:  # whatever a broken file brings about is what is asked for
            return error


@contextmanager
def _no_log() -> Iterator[None]:
    """Keep this thread's messages off the log: a check says all of it in its report."""
    thread = threading.get_ident()

    def from_elsewhere(record: logging.LogRecord) -> bool:
        return record.thread != thread

    logger.addFilter(from_elsewhere)
    try:
        yield
    finally:
        logger.removeFilter(from_elsewhere)
