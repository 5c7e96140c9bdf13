"""`Contrast`: two explanations of the same texts side by side, and which stage made each
difference.

In: two explanations, of two vocabularies or of the two profiles. Out: the stretches of the texts in
order, alike or not, each with the stage that made the difference.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.explaining.html_view import HINT, mono, rows_html
from trietok.explaining.values import TITLES, ExplainedToken, Lazy
from trietok.explaining.views import Explained, StyledLine, first_names, hung, plain
from trietok.showing.characters import code_point, cut_to, described, filled_to, visible, wrapped
from trietok.showing.html import (
    escaped,
    fragment,
    heading,
    note,
)
from trietok.showing.report import Report
from trietok.text.unicode import normalize

if TYPE_CHECKING:
    from trietok.explaining.tokens import ExplainedText


# ---- which stage made the difference, where two tokenizers cut a stretch of a text otherwise -----

Names = tuple[str, str]  # what the two sides are called
Sides = tuple[Sequence[ExplainedToken], Sequence[ExplainedToken]]  # the tokens of both

_MOST = 3  # words that a sentence lists
_MOST_CODE_POINTS = 6
LEFT_AND_RIGHT = ("the left", "the right")


def why_differ(
    left: ExplainedText,
    right: ExplainedText,
    left_tokens: Sequence[ExplainedToken],
    right_tokens: Sequence[ExplainedToken],
    span: tuple[int, int],
    names: Names = LEFT_AND_RIGHT,
) -> str:
    """The first stage, in the order in which texts go through them, that did otherwise on the two
    sides.
    """
    tokens = left_tokens, right_tokens
    added = [{each.token for each in own if each.kind == "added"} for own in tokens]
    return (
        _one_sided(
            names,
            "added-tokens",
            "finds the added token",
            *(map(visible, each) for each in _only(*added)),
        )
        or _changing(left, right, "clean", "deletes", "", span, names)
        or _changing(left, right, "clean", "makes a space of", " ", span, names)
        or _changing(left, right, "chinese", "sets apart", None, span, names)
        or _words(tokens, names)
        or _entries(left, right, tokens, names)
    )


def _changing(
    left: ExplainedText,
    right: ExplainedText,
    name: str,
    verb: str,
    to: str | None,
    span: tuple[int, int],
    names: Names,
) -> str:
    """The reason where a stage changed other characters of a stretch: all that it changed, or those
    changed `to`.
    """
    found: list[set[tuple[int, int, str]]] = [
        {
            (change.start, change.end, change.before)
            for stage in text.stages
            if stage.name == name
            for change in stage.changes.within(*span)
            if to is None or change.after == to
        }
        for text in (left, right)
    ]
    chars = (
        [described(char) for *_, before in sorted(each) for char in before]
        for each in _only(*found)
    )
    return _one_sided(names, name, verb, *chars)


def _words(tokens: Sides, names: Names) -> str:
    """The reason where WordPiece was given other words."""
    sides = [
        [next(run).word_text for _, run in groupby(own, lambda token: token.word)] for own in tokens
    ]
    if sides[0] == sides[1]:
        return ""
    joined = ["".join(words) for words in sides]
    shown = [
        " ".join(f"“{visible(word)}”" for word in words[:_MOST]) or "nothing" for words in sides
    ]
    composed = [normalize("NFC", text) for text in joined]
    stage = "punctuation"
    if joined[0] != joined[1]:
        stage = "compose"
        if composed[0] == composed[1]:  # both look the same
            points = _code_points_that_differ(*joined)
            shown = [f"{words} ({point})" for words, point in zip(shown, points, strict=True)]
        elif joined[0].lower() == joined[1].lower():
            stage = "lower-case"
        elif _bare(joined[0]) == _bare(joined[1]):
            stage = "accents"
    return f"{TITLES[stage]}: {names[0]} looks up {shown[0]}, {names[1]} {shown[1]}"


def _code_points_that_differ(one: str, other: str) -> tuple[str, str]:
    """The code points of the first character that two texts write otherwise, its marks included."""
    start = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    )
    while start > 0 and any(
        unicodedata.combining(text[start : start + 1] or "a") for text in (one, other)
    ):
        start -= 1  # a mark that only one of them has belongs to the character before

    def points(text: str) -> str:
        marks = takewhile(unicodedata.combining, text[start + 1 :])
        return " ".join(map(code_point, [*text[start : start + 1], *marks][:_MOST_CODE_POINTS]))

    return points(one), points(other)


def _entries(left: ExplainedText, right: ExplainedText, tokens: Sides, names: Names) -> str:
    """The reason where the words are the same."""
    by_own = [
        name for name, text in zip(names, (left, right), strict=True) if text.tokens.has_own_matcher
    ]
    if by_own:
        which = " and ".join(by_own)
        return f"{TITLES['wordpiece']}: {which} cuts words by a wordpiece_tokenizer of your own"
    too_long = [
        any(each.unknown is not None and each.unknown.reason == "too-long" for each in own)
        for own in tokens
    ]
    if too_long[0] != too_long[1]:
        return (
            f"{TITLES['wordpiece']}: the word is too long for"
            f" {names[0] if too_long[0] else names[1]}"
        )
    only = [
        [
            f"“{visible(each.token)}”"
            for each in own
            if each.kind == "wordpiece" and not other.tokens.has_entry(each.token)
        ]
        for own, other in zip(tokens, (right, left), strict=True)
    ]
    reason = _one_sided(names, "wordpiece", "has the entry", *only)
    return reason or f"{TITLES['wordpiece']}: the vocabularies cut the word otherwise"


def _bare(text: str) -> str:
    """Without what the stage of accents strips: the non-spacing marks, of which not all have a
    combining class.
    """
    return "".join(
        char for char in normalize("NFD", text.lower()) if unicodedata.category(char) != "Mn"
    )


def _only(left: set, right: set) -> tuple[set, set]:  # type: ignore[type-arg]  # sets of one kind
    """What only one of two sets holds."""
    return left - right, right - left


def _one_sided(
    names: Names, stage: str, verb: str, left: Iterable[str], right: Iterable[str]
) -> str:
    """A reason for what one side alone does, or each by itself; nothing where neither does."""
    shown = [first_names(list(dict.fromkeys(each))) for each in (left, right)]
    if shown[0] and shown[1]:
        return f"{TITLES[stage]}: {names[0]} {verb} {shown[0]}, {names[1]} {shown[1]}"
    for side, other, found in ((*names, shown[0]), (*reversed(names), shown[1])):
        if found:
            return f"{TITLES[stage]}: {side} {verb} {found}, {other} does not"
    return ""


# ---- a contrast for a terminal and as HTML: stretches that are alike in a line, those that differ
# beside each other --

_MOST_PARTS = 400
_MOST_TOKENS = 40  # of a stretch that is alike


def contrast_lines(contrast: Contrast, columns: int) -> Iterator[StyledLine]:
    """The contrast, line by line, for a terminal of so many columns."""
    columns = max(columns, 20)
    for mark, style, side in (("left ", "left", contrast.left), ("right", "right", contrast.right)):
        yield [(f"{mark}  ", style), (cut_to(_name(side), columns - 7), "head")]
    yield []
    yield [(contrast.summary, "same" if contrast.same_ids else "unknown")]
    for line in contrast.notes:
        for text in wrapped(line, columns - 2):
            yield [("  ", ""), (text, "stage")]
    yield []
    for part in contrast.parts[:_MOST_PARTS]:
        yield from _part(part, columns, is_pair=len(contrast.left.texts) > 1)
    if len(contrast.parts) > _MOST_PARTS:
        yield [(f"… and {len(contrast.parts) - _MOST_PARTS:,} more stretches", "dim")]


def _name(side: Explained) -> str:
    return f"{side.tokenizer} ({side.profile})" + (f" · {visible(side.name)}" if side.name else "")


def _part(part: TextStretch, columns: int, is_pair: bool) -> Iterator[StyledLine]:
    where = (
        filled_to(("AB"[part.text] + " " if is_pair else "") + f"{part.start}-{part.end}", 9) + " "
    )
    if not part.differs:
        yield [
            ("= ", "dim"),
            (where, "place"),
            (cut_to(_alike(part.left), max(columns - 12, 8)), "dim"),
        ]
        return
    yield [
        ("≠ ", "unknown"),
        (where, "place"),
        (cut_to(visible(part.source), max(columns - 12, 8)), "stage"),
    ]
    for style, tokens in (("left", part.left), ("right", part.right)):
        for number, line in enumerate(wrapped(_tokens_of_part(tokens), columns - 12)):
            yield [(filled_to(f"    {style}" if number == 0 else "", 12), style), (line, style)]
    yield from hung([(" " * 12, "")], part.why, "", columns)


def _tokens_of_part(tokens: Sequence[ExplainedToken]) -> str:
    if not tokens:
        return "(no token)"
    return " ".join(visible(each.token) for each in tokens[:_MOST_TOKENS]) + " …" * (
        len(tokens) > _MOST_TOKENS
    )


def _alike(tokens: Sequence[ExplainedToken]) -> str:
    """The tokens of a stretch that is alike; of a long one its ends."""
    if len(tokens) <= _MOST_TOKENS:
        return _tokens_of_part(tokens)
    ends = " ".join(visible(each.token) for each in tokens[-3:])
    return f"{_tokens_of_part(tokens[:3])} … {ends}  ({len(tokens):,} tokens)"


def _row_html(part: TextStretch) -> str:
    where = f'<td class="tt-idle tt-place">{part.start}-{part.end}</td>'
    cells = "".join(
        f"<td>{mono(_tokens_of_part(tokens))}</td>" for tokens in (part.left, part.right)
    )
    why = f'<tr class="tt-differs"><td></td><td colspan="3">{escaped(part.why)}</td></tr>'
    return f'<tr class="tt-differs">{where}<td><b>{escaped(part.source)}</b></td>{cells}</tr>{why}'


# ---- the contrast --------------------------------------------------------------------------------

Range = tuple[int, int]
Placed = tuple[int, int, str]  # start and end of a token, and the token


class TextStretch(NamedTuple):
    """A stretch of a text, and the tokens that stand for it on either side.

    Attributes:
        text: 0 or 1, the text of a pair.
        start, end: the stretch, half-open, in code points.
        source: its characters.
        left, right: the tokens; a side may have none.
        differs: whether the tokens differ.
        why: which stage made the difference, and how; `""` where the tokens are the same.
    """

    text: int
    start: int
    end: int
    source: str
    left: tuple[ExplainedToken, ...]
    right: tuple[ExplainedToken, ...]
    differs: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes; tokens by their text and id."""
        sides = {
            name: [{"token": each.token, "id": each.id} for each in tokens]
            for name, tokens in (("left", self.left), ("right", self.right))
        }
        return {**self._asdict(), **sides}


class Stretches(Lazy[TextStretch]):
    """The stretches of all texts: what is alike in a row is one, and so is what differs in a
    row.
    """

    def __init__(
        self, texts: Sequence[tuple[ExplainedText, ExplainedText]], names: Names = LEFT_AND_RIGHT
    ) -> None:
        self._texts = texts
        self._names = names
        self._ranges = [
            (number, *ranges)
            for number, (left, right) in enumerate(texts)
            for ranges in _aligned(left.tokens.places, right.tokens.places)
        ]

    def __len__(self) -> int:
        return len(self._ranges)

    def item(self, index: int) -> TextStretch:
        number, left_range, right_range, differs = self._ranges[index]
        left, right = self._texts[number]
        left_tokens, right_tokens = (
            left.tokens[slice(*left_range)],
            right.tokens[slice(*right_range)],
        )
        both = [*left_tokens, *right_tokens]
        start, end = min(each.start for each in both), max(each.end for each in both)
        why = (
            why_differ(left, right, left_tokens, right_tokens, (start, end), self._names)
            if differs
            else ""
        )
        return TextStretch(
            number, start, end, left.text[start:end], left_tokens, right_tokens, differs, why
        )

    @property
    def differing(self) -> int:
        """How many of them differ."""
        return sum(differs for *_, differs in self._ranges)


def _aligned(
    left: Sequence[Placed], right: Sequence[Placed]
) -> Iterator[tuple[Range, Range, bool]]:
    """Stretches that both sides cut at the same places, those alike in a row joined: tokens of
    both, and whether they differ.
    """
    i = j = 0
    alike = (0, 0)
    while i < len(left) or j < len(right):
        first_i, first_j = i, j
        end = -1
        while True:
            if i < len(left) and (
                left[i][0] < end or (end < 0 and (j >= len(right) or left[i][0] <= right[j][0]))
            ):
                end, i = max(end, left[i][1]), i + 1
            elif j < len(right) and (right[j][0] < end or end < 0):
                end, j = max(end, right[j][1]), j + 1
            else:
                break
        if [each[2] for each in left[first_i:i]] != [each[2] for each in right[first_j:j]]:
            if alike != (first_i, first_j):
                yield (alike[0], first_i), (alike[1], first_j), False
            yield (first_i, i), (first_j, j), True
            alike = i, j
    if alike != (len(left), len(right)):
        yield (alike[0], len(left)), (alike[1], len(right)), False


@dataclass(frozen=True)
class Contrast(Report):
    """Two explanations of the same texts. `str` makes it readable, and a notebook shows it as HTML.

    Attributes:
        left, right: the explanations.
        parts: the texts in stretches, alike or not.
        names: what the two are called in sentences.
    """

    left: Explained
    right: Explained
    parts: Stretches
    names: Names = LEFT_AND_RIGHT

    @property
    def same_ids(self) -> bool:
        """Whether both give the same ids, special tokens included."""
        return self.left.input_ids == self.right.input_ids

    ok = same_ids

    @property
    def notes(self) -> list[str]:
        """What differs beside the tokens of the texts."""
        found = []
        if self.left.template != self.right.template:
            sides = (" ".join(side.template) for side in (self.left, self.right))
            found.append("special tokens around: {0} has {2}, {1} {3}".format(*self.names, *sides))
        if self.left.truncation.removed != self.right.truncation.removed:
            sides = (
                " and ".join(map(str, side.truncation.removed)) for side in (self.left, self.right)
            )
            found.append("truncated: {0} has lost {2} tokens, {1} {3}".format(*self.names, *sides))
        if not found and not self.parts.differing and not self.same_ids:
            found.append("the tokens are the same, and have other ids in the two vocabularies")
        return found

    @property
    def summary(self) -> str:
        """The answer in a line."""
        if self.same_ids:
            return "the ids are the same"
        count = self.parts.differing
        if not count:
            return "the tokens are the same, the ids are not"
        return f"the tokens differ in {count:,} place{'' if count == 1 else 's'}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it, but for the stories of the tokens."""
        sides = {
            name: {
                "tokenizer": side.tokenizer,
                "name": side.name,
                "profile": side.profile,
                "input_ids": side.input_ids,
            }
            for name, side in (("left", self.left), ("right", self.right))
        }
        parts = [part.to_dict() for part in self.parts]
        return {
            "same_ids": self.same_ids,
            "summary": self.summary,
            **sides,
            "notes": self.notes,
            "parts": parts,
        }

    def to_text(self, width: int = 80) -> str:
        """Both sides to read on a terminal of so many columns, without colours."""
        return plain(contrast_lines(self, width))

    def to_html(self) -> str:
        """Both sides as one fragment of HTML, which needs no script, with the tokens marked that
        differ.
        """
        differing = [part for part in self.parts if part.differs]
        parts = [heading("Side by side", aside=self.summary)]
        for side, sides in (
            (self.left, [part.left for part in differing]),
            (self.right, [part.right for part in differing]),
        ):
            marked = {(each.text, each.position) for tokens in sides for each in tokens}
            parts.append(
                f'<div class="tt-side">{note(_name(side))}'
                f"{''.join(rows_html(side, HINT, marked))}</div>"
            )
        parts += map(note, self.notes)
        if differing:
            heads = "".join(f"<th>{head}</th>" for head in ("", "text", *self.names))
            rows = "".join(map(_row_html, differing[:_MOST_PARTS]))
            parts.append(
                f'<div class="tt-wrap"><table><thead><tr>{heads}</tr></thead>'
                f"<tbody>{rows}</tbody></table></div>"
            )
        if len(differing) > _MOST_PARTS:
            parts.append(note(f"… and {len(differing) - _MOST_PARTS:,} more stretches"))
        return fragment(*parts, label="Two explanations side by side")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Contrast: {self.summary}>"
