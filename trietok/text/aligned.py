"""`AlignedText`: a text together with the original span of each of its characters.

In: a text, then the changes that each stage makes to it. Out: the changed text, and for each of its
characters the half-open span of code points of the original text that the character stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from operator import sub
from typing import Literal, TypeVar

StageName = Literal[
    "lower-case-around-tokens",
    "added-tokens",
    "clean",
    "chinese",
    "compose",
    "compatibility",
    "replace",
    "words",
    "whitespace",
    "lower-case",
    "accents",
    "normalized-added-tokens",
    "punctuation",
    "wordpiece",
    "characters",
]
# where an added token stands that `single_word` forbids there, and its content
RejectedMatch = tuple[int, int, str]


class Watch:
    """Is told what the stages do, in the order in which they do it; one that keeps it can explain
    tokens afterwards.

    This one takes no notice.
    """

    def changed(self, stage: StageName, before: AlignedText, after: AlignedText) -> None:
        """A stage has been given `before`, and gave `after`, which may be the same.

        The cleaning of a text sets Chinese characters apart in the same pass: its `after` is that
        of `"chinese"`.
        """

    def cut(self, stage: StageName, whole: AlignedText, rejected: Sequence[RejectedMatch]) -> None:
        """`whole` is about to be cut at the added tokens in it, without the `rejected` ones."""

    def part(self, stage: StageName, part: AlignedText, content: str | None) -> None:
        """The next part of the text: an added token, or with `content` None what lies between."""
        if content is None:
            self.between(stage, part)
        else:
            self.token(stage, part, content)

    def token(self, stage: StageName, part: AlignedText, content: str) -> None:
        """The next part of the text is an added token, which this stage has found."""

    def between(self, stage: StageName, part: AlignedText) -> None:
        """The next part of the text lies between the added tokens that this stage looks for."""

    def split(self, cleaned: AlignedText, start: int, end: int, is_kept: bool) -> None:
        """A word lies between whitespace; `is_kept` if it is left as it is."""

    def analyzed(self, text: AlignedText, start: int, end: int) -> None:
        """An analyzer of Japanese has found a word."""

    def word(self, text: AlignedText, start: int, end: int, pieces: Sequence[str]) -> None:
        """WordPiece has been given the word from `start` to `end`, and gave its pieces."""


UNWATCHED = Watch()


Span = tuple[int, int]
Ids = list[int]


class AlignedText:
    """A text and, for each of its characters, where it begins and ends in the original.

    It has those methods of a str by which stages change a text: what is written for a str does the
    same with spans.

    >>> aligned = AlignedText.of("İx").lower()
    >>> aligned.text == "i\\u0307x", list(aligned.starts), aligned.span(0, 2)
    (True, [0, 0, 1], (0, 1))
    """

    __slots__ = ("ends", "starts", "text")

    def __init__(self, text: str, starts: Sequence[int], ends: Sequence[int]) -> None:
        self.text, self.starts, self.ends = text, starts, ends

    @classmethod
    def of(cls, text: str) -> AlignedText:
        """The original text, each character with its own span."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def __str__(self) -> str:
        return self.text

    def __getitem__(self, stretch: slice) -> AlignedText:
        return AlignedText(self.text[stretch], self.starts[stretch], self.ends[stretch])

    def span(self, start: int, end: int) -> Span:
        """What the characters from `start` to `end` stand for."""
        return self.starts[start], self.ends[end - 1]

    def written_as(self, text: str) -> AlignedText:
        """Another text of the same length; each character has the span of the one here."""
        return AlignedText(text, self.starts, self.ends)

    def with_places(self, text: str, places: Sequence[int]) -> AlignedText:
        """Another text; each character has the span of the one in its place here."""
        return AlignedText(
            text, [self.starts[place] for place in places], [self.ends[place] for place in places]
        )

    def each(self, change: Callable[[str], str | None]) -> AlignedText:
        """Change each character by itself; the characters it becomes all have its span."""
        changed = [change(char) or "" for char in self.text]
        if sum(map(len, changed)) == len(changed) == sum(map(bool, changed)):
            return self.written_as("".join(changed))
        return self.with_places(
            "".join(changed), [i for i, chars in enumerate(changed) for _ in chars]
        )

    def each_kind(self, change: Callable[[str], str | None]) -> AlignedText:
        """`each` for a change that depends on the character only: asked once for each one."""
        changed = {char: change(char) for char in set(self.text)}
        return self.each(changed.__getitem__)

    def isascii(self) -> bool:
        """As of a str."""
        return self.text.isascii()

    def isprintable(self) -> bool:
        """As of a str."""
        return self.text.isprintable()

    def translate(self, table: dict[int, str | None]) -> AlignedText:
        """As of a str: change each character by a table."""
        if self.text.translate(table) == self.text:
            return self
        return self.each_kind(lambda char: char.translate(table))

    def lower(self) -> AlignedText:
        """As of a str: a capital sigma's neighbours decide its lower case, not its length."""
        lowered = self.text.lower()
        return (self if self.text.isascii() else self.each_kind(str.lower)).written_as(lowered)

    def forwards(self) -> AlignedText:
        """Widen spans until neither starts nor ends ever decrease."""
        starts = list(accumulate(reversed(self.starts), min))[::-1]
        return AlignedText(self.text, starts, list(accumulate(self.ends, max)))


# what a stage changes in the same way with spans and without
AnyText = TypeVar("AnyText", str, AlignedText)


def places(text: str, words: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """The place of each of the words that a text was split into; between the words there is only
    whitespace.

    >>> list(places("ab  c!", ["ab", "c", "!"]))
    [('ab', 0, 2), ('c', 4, 5), ('!', 5, 6)]
    """
    end = 0
    for word in words:
        start = text.index(word, end)
        end = start + len(word)
        yield word, start, end


def steps_of(spans: Iterable[Span], length: int) -> tuple[int, ...]:
    """The bounds of the spans of a chunk, which has so many code points, so that those of a text
    follow by adding up: each as the difference to the one before.

    The first is the difference to the end of the chunk before, one space to the left. If characters
    follow the last span, an empty span at the end of the chunk does too.

    >>> steps_of([(0, 2), (2, 3)], 4)
    (1, 2, 0, 1, 1, 0)
    """
    bounds = [-1, *chain.from_iterable(spans)]
    if bounds[-1] != length:
        bounds += length, length
    return tuple(map(sub, bounds[1:], bounds))


def spans_along(steps: Iterable[int]) -> list[Span]:
    """The spans of a text, and empty ones, by the steps of its chunks in a row.

    >>> spans_along([1, 2, 0, 1, 1, 0, 1, 3])
    [(0, 2), (2, 3), (4, 4), (5, 8)]
    """
    bounds = accumulate(steps, initial=-1)
    next(bounds)
    return [*zip(bounds, bounds, strict=True)]


def without_empty(spans: list[Span]) -> list[Span]:
    """The spans that are not empty."""
    return [span for span in spans if span[0] != span[1]]


def piece_places(start: int, end: int, pieces: Sequence[str], prefix: str) -> list[Span]:
    """The places of the pieces of a word from `start` to `end`; one piece covers all of it."""
    if len(pieces) == 1:
        return [(start, end)]
    found: list[Span] = []
    for piece in pieces:
        stop = start + len(piece) - (len(prefix) if found else 0)
        found.append((start, stop))
        start = stop
    return found
