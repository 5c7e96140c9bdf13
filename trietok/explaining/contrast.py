"""`Contrast`: two explanations of one text side by side: where their tokens part, and which stage made the difference.

In: two explanations, of two vocabularies or of the two profiles. Out: the stretches of the text in order, alike or not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import InputError
from trietok.explaining.differing import LEFT_AND_RIGHT, Names, why_differ
from trietok.explaining.lazy import Lazy
from trietok.explaining.values import Token

if TYPE_CHECKING:
    from trietok.explaining.explanation import ExplainedText, Explanation

Range = tuple[int, int]
Placed = tuple[int, int, str]  # start and end of a token, and the token


class Part(NamedTuple):
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
    left: tuple[Token, ...]
    right: tuple[Token, ...]
    differs: bool
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes; tokens by their text and id."""
        sides = {
            name: [{"token": each.token, "id": each.id} for each in tokens]
            for name, tokens in (("left", self.left), ("right", self.right))
        }
        return {**self._asdict(), **sides}


class Parts(Lazy[Part]):
    """The stretches of all texts: what is alike in a row is one, and so is what differs in a row.

    Args:
        texts: the texts on both sides.
        names: what the sides are called in the reasons.
    """

    def __init__(self, texts: Sequence[tuple[ExplainedText, ExplainedText]], names: Names = LEFT_AND_RIGHT) -> None:
        self._texts = texts
        self._names = names
        self._ranges = [
            (number, *ranges)
            for number, (left, right) in enumerate(texts)
            for ranges in _aligned(left.tokens.places, right.tokens.places)
        ]

    def __len__(self) -> int:
        return len(self._ranges)

    def item(self, index: int) -> Part:
        number, left_range, right_range, differs = self._ranges[index]
        left, right = self._texts[number]
        left_tokens, right_tokens = left.tokens[slice(*left_range)], right.tokens[slice(*right_range)]
        both = [*left_tokens, *right_tokens]
        start, end = min(each.start for each in both), max(each.end for each in both)
        why = why_differ(left, right, left_tokens, right_tokens, (start, end), self._names) if differs else ""
        return Part(number, start, end, left.text[start:end], left_tokens, right_tokens, differs, why)

    @property
    def differing(self) -> int:
        """How many of them differ."""
        return sum(differs for *_, differs in self._ranges)


def _aligned(left: Sequence[Placed], right: Sequence[Placed]) -> Iterator[tuple[Range, Range, bool]]:
    """Stretches that both sides cut at the same places, those alike in a row joined: tokens of both, and whether they
    differ."""
    i = j = 0
    alike = (0, 0)
    while i < len(left) or j < len(right):
        first_i, first_j = i, j
        end = -1
        while True:
            if i < len(left) and (left[i][0] < end or (end < 0 and (j >= len(right) or left[i][0] <= right[j][0]))):
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
class Contrast:
    """Two explanations of the same texts. `str` makes it readable, and a notebook shows it as HTML.

    Attributes:
        left, right: the explanations.
        parts: the texts in stretches, alike or not.
        names: what the two are called in sentences.
    """

    left: Explanation
    right: Explanation
    parts: Parts
    names: Names = LEFT_AND_RIGHT

    @property
    def same_ids(self) -> bool:
        """Whether both give the same ids, special tokens included."""
        return self.left.input_ids == self.right.input_ids

    @property
    def notes(self) -> list[str]:
        """What differs beside the tokens of the texts."""
        found = []
        if self.left.template != self.right.template:
            sides = (" ".join(side.template) for side in (self.left, self.right))
            found.append("special tokens around: {0} has {2}, {1} {3}".format(*self.names, *sides))
        if self.left.truncation.removed != self.right.truncation.removed:
            sides = (" and ".join(map(str, side.truncation.removed)) for side in (self.left, self.right))
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
            name: {"tokenizer": side.tokenizer, "name": side.name, "profile": side.profile, "input_ids": side.input_ids}
            for name, side in (("left", self.left), ("right", self.right))
        }
        parts = [part.to_dict() for part in self.parts]
        return {"same_ids": self.same_ids, "summary": self.summary, **sides, "notes": self.notes, "parts": parts}

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON; the options are those of `json.dumps`."""
        return json.dumps(self.to_dict(), **options)

    def to_text(self, width: int = 80) -> str:
        """Both sides to read on a terminal of so many columns, without colours."""
        from trietok.explaining.contrast_views import lines_of  # not needed for the values
        from trietok.explaining.text_view import plain

        return plain(lines_of(self, width))

    def to_html(self) -> str:
        """Both sides as one fragment of HTML, which needs no script."""
        from trietok.explaining.contrast_views import html_of  # not needed for the values

        return html_of(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        return f"<Contrast: {self.summary}>"


def contrast(left: Explanation, right: Explanation, names: Names = LEFT_AND_RIGHT) -> Contrast:
    """Two explanations of the same texts, side by side; the names are for the two in sentences.

    Raises:
        InputError: they are of different texts.
    """
    if [text.text for text in left.texts] != [text.text for text in right.texts]:
        raise InputError("the two explanations are of different texts; explain the same text with both tokenizers")
    return Contrast(left, right, Parts(list(zip(left.texts, right.texts, strict=True)), names), names)
