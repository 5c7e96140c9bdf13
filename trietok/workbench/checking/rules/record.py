"""What trietok itself has written: its record in tokenizer_config.json, and what a save has left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

from trietok.workbench.checking.report import Finding
from trietok.workbench.checking.rules.facts import Facts
from trietok.workbench.checking.rules.ids import highest_id
from trietok.files.atomic import left_folders
from trietok.files.formats import RECORD, TOKENIZER_CONFIG_FILE
from trietok.files.whole import UNFINISHED
from trietok.tokenizer.bert import is_unused_slot

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
