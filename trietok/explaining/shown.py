"""What the views show of an explanation: its first tokens, in runs; changes that belong together, as one.

In: an `Explanation`. Out: the parts that are short enough to be looked at, the same for every view.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from trietok.explaining.changes import Change
from trietok.showing.characters import described, visible

if TYPE_CHECKING:
    from trietok.explaining.explanation import ExplainedText, Explanation, Stage
    from trietok.explaining.values import Token

MOST_SHOWN = 2000  # tokens of a view
COLOURS = 4  # tokens take turns with them
_MOST_REASONS = 60  # of a stage
_MOST_PLACES = 12  # of a reason
_NAMELESS = ("lower-case", "lower-case-around-tokens", "chinese")  # stages whose changes are plain without names
_LONGEST = 24  # characters that a line of changes joins
_MOST_LOOKED_AT = 20_000  # changes of a stage
_MOST_NAMES = 3


class Segment(NamedTuple):
    """A stretch of the original text: what one token stands for, or what is between tokens.

    Attributes:
        text: its characters.
        token: the token; None between tokens.
        colour: the number of the token's colour.
    """

    text: str
    token: Token | None = None
    colour: int = 0


def first_tokens(tokens: Sequence[Token], most: int = MOST_SHOWN) -> list[Token]:
    """The first tokens, each made once."""
    return list(islice(iter(tokens), most))


def segments(text: ExplainedText, tokens: Sequence[Token]) -> list[Segment]:
    """The original text, cut into what the tokens stand for and what is between them, up to the last of them.

    Args:
        text: the text.
        tokens: tokens of it, in order.
    """
    found: list[Segment] = []
    position = 0
    for number, token in enumerate(tokens):
        if token.start > position:
            found.append(Segment(text.text[position : token.start]))
        start = max(token.start, position)  # the spans of two tokens may overlap
        found.append(Segment(text.text[start : token.end], token, number % COLOURS))
        position = max(position, token.end)
    if len(tokens) == len(text.tokens) and position < len(text.text):
        found.append(Segment(text.text[position : position + 10 * MOST_SHOWN]))
    return found


class Place(NamedTuple):
    """Changes side by side: where they are in the original, the characters before the stage and after it."""

    start: int
    end: int
    before: str
    after: str


class ShownChange(NamedTuple):
    """Changes that have one reason.

    Attributes:
        kind: `"deleted"`, `"changed"` or `"inserted"`.
        why: the reason, with the names of the characters.
        places: the first places; those side by side are one.
        more: how many places there are beside these.
    """

    kind: str
    why: str
    places: list[Place]
    more: int


def shown_changes(stage: Stage) -> tuple[list[ShownChange], int]:
    """The changes of a stage by their reasons, and how many changes there are beside those."""
    runs: list[list[Change]] = []
    looked_at = 0
    for change in islice(iter(stage.changes), _MOST_LOOKED_AT):
        last = runs[-1] if runs else None
        if last and _belong_together(last, change):
            last.append(change)
        else:
            runs.append([change])
        looked_at += 1
    groups: dict[tuple[str, str], list[Place]] = {}
    left_out = len(stage.changes) - looked_at
    for run in runs:
        before, after = ("".join(chars) for chars in zip(*((each.before, each.after) for each in run), strict=True))
        why = run[0].why if run[0].stage in _NAMELESS else f"{named(before)}: {run[0].why}"
        key = run[0].kind, why
        if key not in groups and len(groups) == _MOST_REASONS:
            left_out += len(run)
            continue
        groups.setdefault(key, []).append(Place(run[0].start, run[-1].end, before, after))
    shown = [
        ShownChange(kind, why, places[:_MOST_PLACES], max(len(places) - _MOST_PLACES, 0))
        for (kind, why), places in groups.items()
    ]
    return shown, left_out


def _belong_together(run: list[Change], change: Change) -> bool:
    last = run[-1]
    fits = last.end == change.start and len(run) < _LONGEST
    return fits and (last.kind, last.why) == (change.kind, change.why)


def became(kind: str, at: Place) -> str:
    """What became of characters, to read.

    >>> became("changed", Place(0, 2, "AB", "ab")), became("deleted", Place(0, 1, "\\0", ""))
    ('AB → ab', '⟨NUL⟩')
    """
    after = visible(at.after)
    if kind == "deleted":
        return visible(at.before)
    is_spaced = kind == "inserted" or after.isspace()
    return f"{visible(at.before)} → {after.replace(' ', '␣') if is_spaced else after}"


def named(chars: str) -> str:
    """The names of some characters; of many the first, and how many more there are."""
    names = list(dict.fromkeys(map(described, chars)))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def place(start: int, end: int) -> str:
    """A span to read: half-open, as offsets are everywhere.

    >>> place(3, 6)
    '3-6'
    """
    return f"{start}-{end}"


def notes(explanation: Explanation) -> Iterator[str]:
    """What there is to say of truncation and of rows."""
    cut = explanation.truncation
    removed = sum(cut.removed)
    if removed:
        of_texts = " and ".join(
            f"{count:,} of {len(text.tokens):,} tokens" + (f" of text {'AB'[number]}" if len(cut.removed) > 1 else "")
            for number, (count, text) in enumerate(zip(cut.removed, explanation.texts, strict=True))
            if count
        )
        yield f"{of_texts} removed on the {cut.side}: {cut.strategy}, max_length {cut.max_length:,}"
    if len(explanation.rows) > 1:
        sizes = ", ".join(str(len(row)) for row in explanation.rows[1:11]) + (
            ", …" if len(explanation.rows) > 11 else ""
        )
        stride = f", each repeating {cut.stride}" if cut.stride else ""
        more = len(explanation.rows) - 1
        yield f"{more} more row{'s' if more > 1 else ''} of what did not fit ({sizes} tokens{stride})"
