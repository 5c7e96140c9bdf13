"""What a stage made of a text, character by character: what it deleted, changed or inserted, where, and why.

In: the text before a stage and after it, both aligned with the original. Out: a `Change` for each difference.
"""

from __future__ import annotations

import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from trietok.explaining.lazy import Lazy
from trietok.showing.characters import described
from trietok.text.alignment import AlignedText
from trietok.text.characters import REPLACEMENT_CHARACTER, normalize

ChangeKind = Literal["deleted", "changed", "inserted"]
Difference = tuple[
    int, int, str, str, int
]  # start and end in the original; before, after; the place in the text before

_DELETED = {
    "Cc": "control character, deleted",
    "Cf": "control character (format), deleted",
    "Cs": "lone surrogate, deleted like a control character",
    "Co": "private-use character, deleted like a control character",
    "Cn": "unassigned code point, deleted like a control character",
}


class Change(NamedTuple):
    """Characters that a stage deleted, changed or inserted.

    Attributes:
        stage: the name of the stage.
        kind: `"deleted"`, `"changed"` or `"inserted"`.
        start, end: the place in the original text, half-open, in code points.
        before, after: the characters before the stage and after it.
        why: the reason, in words.
    """

    stage: str
    kind: ChangeKind
    start: int
    end: int
    before: str
    after: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes, and code point and name of each character of `before`."""
        return {**self._asdict(), "names": [described(char) for char in self.before]}


class Changes(Lazy[Change]):
    """The changes of one stage, in the order of the text. They are kept in columns, which a long text needs."""

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._starts, self._ends = array("q"), array("q")
        self._before: list[str] = []
        self._after: list[str] = []

    def add(self, start: int, end: int, before: str, after: str) -> None:
        """Take one more in; called only while the text is traced."""
        self._starts.append(start)
        self._ends.append(end)
        self._before.append(before)
        self._after.append(after)

    def within(self, start: int, end: int) -> tuple[Change, ...]:
        """The changes that begin within a stretch of the original."""
        return self[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def __len__(self) -> int:
        return len(self._starts)

    def item(self, index: int) -> Change:
        before, after = self._before[index], self._after[index]
        kind: ChangeKind = "changed"
        if not after:
            kind = "deleted"
        elif before in after and len(after) > len(before) and not after.replace(before, "", 1).strip():
            kind = "inserted"
        why = _why(self._stage, before, after)
        return Change(self._stage, kind, self._starts[index], self._ends[index], before, after, why)


def _why(stage: str, before: str, after: str) -> str:
    match stage:
        case "clean":
            if after:
                return "whitespace, becomes a space"
            if before == REPLACEMENT_CHARACTER:
                return "replacement character, deleted"
            return _DELETED.get(unicodedata.category(before[0]), "deleted")
        case "chinese":
            return "Chinese character, a space is put on either side"
        case "compose":
            return _reordered(before, after) or "written as one character where there is one (NFC)"
        case "compatibility":
            return _reordered(before, after) or "written as its plain equivalent (NFKC)"
        case "accents":
            if not after:
                return "accent, stripped"
            kept = set(after)
            marks = [char for char in normalize("NFD", before) if char not in kept]
            if marks:
                stripped = ", ".join(map(described, marks[:4])) + (", …" if len(marks) > 4 else "")
                return f"taken apart (NFD), and its accent stripped: {stripped}"
            return _reordered(before, after) or "taken apart (NFD)"
    return "lower-cased"


def _reordered(before: str, after: str) -> str:
    return "accents put in their canonical order" if sorted(before) == sorted(after) else ""


def differences(before: AlignedText, after: AlignedText) -> Iterator[Difference]:
    """Where a text differs from what it was before a stage.

    >>> before = AlignedText.of("aBc")
    >>> list(differences(before, before.each(lambda char: {"B": "b", "c": None}.get(char, char))))
    [(1, 2, 'B', 'b', 1), (2, 3, 'c', '', 2)]
    """
    if before.text == after.text:
        return
    if after.starts is before.starts:
        for place, (old, new) in enumerate(zip(before.text, after.text, strict=True)):
            if old != new:
                yield before.starts[place], before.ends[place], old, new, place
        return
    yield from _by_spans(before, after)


def _by_spans(before: AlignedText, after: AlignedText) -> Iterator[Difference]:
    """`differences`, between the smallest groups of characters of both that stand for the same stretch."""
    (old_text, old_starts, old_ends), (new_text, new_starts, new_ends) = before, after
    i = j = 0
    while i < len(old_text) or j < len(new_text):
        starts = [column[k] for column, k in ((old_starts, i), (new_starts, j)) if k < len(column)]
        first = min(starts)
        end = first + 1
        group_i, group_j = i, j
        moved = True
        while moved:
            moved = False
            while i < len(old_text) and old_starts[i] < end:
                end, i, moved = max(end, old_ends[i]), i + 1, True
            while j < len(new_text) and new_starts[j] < end:
                end, j, moved = max(end, new_ends[j]), j + 1, True
        old, new = old_text[group_i:i], new_text[group_j:j]
        if old != new:
            shared = _shared_front(old, new)
            old, new = old[shared:], new[shared:]
            yield first, end, old, new, group_i + shared


def _shared_front(old: str, new: str) -> int:
    """How many characters to leave out of a difference: those before it that are the same, where any are left then."""
    shared = 0
    while shared < min(len(old), len(new)) and old[shared] == new[shared]:
        shared += 1
    return shared if len(old) > shared else 0
