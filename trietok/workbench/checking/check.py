"""`check`: what is wrong with a tokenizer directory, before it costs a training run.

In: a directory or a vocab.txt. Out: a `CheckReport`. Nothing in the directory is executed, no path written in a file is
followed, nothing is fetched, and nothing raises: what cannot be read is a finding.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trietok.disk import UNFINISHED
from trietok.errors import TrietokError
from trietok.files.atomic import left_folders
from trietok.files.formats import MERGES_FILE, RECORD, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, trained_kind
from trietok.tokenizer.auto import AutoTokenizer, fast_class_of
from trietok.tokenizer.bert import is_unused_slot
from trietok.training.bpe import read_bpe
from trietok.workbench.checking import rules as added_tokens
from trietok.workbench.checking import rules as ids
from trietok.workbench.checking import rules as model
from trietok.workbench.checking import rules as options
from trietok.workbench.checking import rules as roles
from trietok.workbench.checking import rules as tokenizer_json
from trietok.workbench.checking.files import read_files
from trietok.workbench.checking.report import CheckReport, Finding
from trietok.workbench.checking.rules import Facts, Rule, highest_id

# What trietok itself has written: its record in tokenizer_config.json, and what a save has left behind.


_REMOVED = 1000


def false_records(facts: Facts) -> Iterator[Finding]:
    """Keys of the record that say something else than the files."""
    if facts.files.tokens is None:
        return
    for message in (*_false_holes(facts), *_false_ids(facts), *_false_slots(facts)):
        yield Finding("warning", "record-false", f"{RECORD}.{message}", file=TOKENIZER_CONFIG_FILE)


def _false_holes(facts: Facts) -> Iterator[str]:
    last = max(facts.by_line, default=-1)
    size = max(last + 1, len(facts.files.tokens or ()))
    for hole in sorted(facts.holes):
        token = facts.by_line.get(hole)
        if hole >= size:
            yield f"vocab_holes has the id {hole}, and the vocabulary ends at {size - 1}"
        elif token is not None and not facts.is_filled(hole) and facts.added_ids.get(token) != hole:
            yield f"vocab_holes has the id {hole}, which is that of {token!r}"


def _false_ids(facts: Facts) -> Iterator[str]:
    record, highest = facts.files.record, highest_id(facts)
    max_id = record.get("max_id")
    if type(max_id) is int:
        last_added = max(facts.added_ids.values(), default=-1)
        if max_id < last_added:
            yield f"max_id is {max_id}, and an added token has the id {last_added}"
        elif max_id > 2 * highest + _REMOVED:  # ids of removed tokens stay reserved, but hardly so many
            yield f"max_id is {max_id}, and the highest id is {highest}: a new token gets the id {max_id + 1}"
    order = record.get("added_order")
    known = set(facts.added_ids.values())
    for token_id in order if isinstance(order, list) else ():
        if token_id not in known:
            yield f"added_order has the id {token_id!r}, which no added token has"


def _false_slots(facts: Facts) -> Iterator[str]:
    slots = facts.files.record.get("assigned_unused")
    for slot, token in slots.items() if isinstance(slots, dict) else ():
        if slot in facts.line_ids:
            yield f"assigned_unused says that {slot!r} became {token!r}, and {slot!r} is an entry still"
        elif not is_unused_slot(slot):
            yield f"assigned_unused has {slot!r}, which is no unused slot"
        elif token in facts.line_ids and token not in facts.added_ids:
            yield f"assigned_unused says that {slot!r} became {token!r}, which is no added token"


def leftovers(facts: Facts) -> Iterator[Finding]:
    """Files and folders of saves that never counted."""
    path = facts.files.path
    if facts.files.pending is not None or not os.path.isdir(path):
        return
    for folder in left_folders(path):
        name = folder.path.name
        if folder.is_running:
            continue
        if folder.is_needed:
            message = f"a save was cut short, and files of the directory lead into {name}, where they are whole"
            yield Finding("warning", "save-cut-short", message, file=name)
        else:
            message = f"{name} is left of a save that was cut short; its files are not used"
            yield Finding("warning", "save-abandoned", message, file=name)
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if entry.name.startswith(UNFINISHED))
    for name in names:
        message = f"{name} is left of a save that was cut short before it counted; its content is not used"
        yield Finding("warning", "save-abandoned", message, file=name)


logger = logging.getLogger("trietok")

# Each finds one kind of fault. The second list needs a vocabulary that can be read.
FILE_RULES: tuple[Rule, ...] = (
    options.class_of_files,
    options.misspelt_options,
    options.model_inputs,
    roles.roles_of_two_files,
    roles.null_roles,
    roles.exchanged_roles,
    model.model_type,
    model.sizes,
    model.lengths_and_types,
    options.sides,
    leftovers,
)
VOCABULARY_RULES: tuple[Rule, ...] = (
    roles.shared_roles,
    roles.unknown_token,
    roles.missing_tokens,
    roles.ordinary_words_as_roles,
    roles.unused_slots_as_roles,
    added_tokens.contradictions,
    added_tokens.special_flags,
    added_tokens.tokens_that_cut_words,
    added_tokens.shadows,
    options.case_of_vocabulary,
    options.accents_of_vocabulary,
    options.chinese_of_vocabulary,
    options.chat_templates,
    options.words_never_split,
    tokenizer_json.vocabularies,
    tokenizer_json.added_tokens,
    tokenizer_json.settings,
    tokenizer_json.lengths,
    tokenizer_json.template,
    model.token_ids,
    model.embedding_rows,
    model.sentence_model,
    false_records,
    ids.holes,
    ids.past_the_model,
    ids.damaged_entries,
    ids.missing_letters,
    ids.replaced_slots,
    ids.unreachable_entries,
)
_WITHOUT_OTHERS = {"does-not-load", "fast-does-not-load"}  # said only where no other error says why


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
    if trained_kind(os.fspath(path)) is not None:
        return CheckReport(os.fspath(path), _trained(os.fspath(path)))
    return checked_facts(path)[0]


def checked_facts(path: str | os.PathLike[str], with_fast: bool = True) -> tuple[CheckReport, Facts]:
    """`check` of what trietok did not train, and what it found on the way, the tokenizers it loaded among it.

    Args:
        path: as `check` takes it.
        with_fast: load the fast profile; without a tokenizer.json it brings no errors, only warnings and notes.
    """
    files = read_files(path)
    facts = Facts(files)
    findings = files.findings
    if files.tokens is not None:
        findings.extend(_loaded(facts, with_fast))
    for rule in FILE_RULES if files.tokens is None else (*FILE_RULES, *VOCABULARY_RULES):
        findings.extend(rule(facts))
    found = [*findings, *findings.left_out()]
    if any(finding.severity == "error" and finding.code not in _WITHOUT_OTHERS for finding in found):
        found = [finding for finding in found if finding.code not in _WITHOUT_OTHERS]
    return CheckReport(os.fspath(path), found), facts


def _trained(path: str) -> list[Finding]:
    """Whether what `trietok train bpe` wrote loads, and its files agree."""
    tokenizer = load_quietly(path, AutoTokenizer)
    found = tokenizer if isinstance(tokenizer, Exception) else None
    if found is None and os.path.isfile(os.path.join(path, MERGES_FILE)):
        try:
            read_bpe(Path(path))
        except TrietokError as error:
            found = error
    return [] if found is None else [Finding("error", "does-not-load", str(found).replace(f"{path}{os.sep}", ""))]


def _loaded(facts: Facts, with_fast: bool) -> Iterator[Finding]:
    """Load the tokenizer of each profile for the rules that need it; the findings are that one does not load."""
    path = facts.files.path

    def why(error: Exception) -> str:
        return str(error).replace(f"{path}{os.sep}", "") or type(error).__name__

    slow = load_quietly(path, facts.kind)
    if isinstance(slow, Exception):
        yield Finding("error", "does-not-load", why(slow))
        return
    facts.slow = slow
    fast_kind = fast_class_of(facts.kind) if with_fast else None
    if fast_kind is None:  # BertJapaneseTokenizer has no twin
        return
    fast = load_quietly(path, fast_kind)
    if isinstance(fast, Exception):
        has_json = TOKENIZER_FILE in facts.files.present
        message = f"{facts.kind.__name__}Fast does not load: {why(fast)}"
        yield Finding("error" if has_json else "warning", "fast-does-not-load", message)
    else:
        facts.fast = fast


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
