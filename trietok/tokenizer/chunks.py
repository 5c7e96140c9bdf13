"""`Chunker`: cuts a text into stretches that have at most so many tokens each, at words or
sentences.

In: a text, and what counts and locates its tokens. Out: `Chunk`s, which joined are the text. The
spans of the tokens say where the text may be cut; how many tokens a stretch has by itself is
counted, since it may have more than in the text: the rest of a word that is cut begins a word. A
text is read block by block: time grows with its length, and the memory for its tokens does not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any, Literal, NamedTuple

from trietok.errors import InputError
from trietok.inputs.options import LARGE_INTEGER, as_int
from trietok.text.aligned import Span
from trietok.text.unicode import is_chinese_char, is_punctuation, is_whitespace

SpansOfText = Callable[[str], list[Span]]
CutPlace = Literal["word", "sentence"] | None  # where a text is cut; None: between any two tokens

# What lies before a token, from the worst place for a cut to the best.
_WITHIN_WORD, _AT_SIGN, _AT_WORD, _AT_SENTENCE = range(4)
_LEVELS: dict[CutPlace, tuple[int, ...]] = {
    None: (_WITHIN_WORD,),
    "word": (_AT_WORD, _AT_SIGN, _WITHIN_WORD),
    "sentence": (_AT_SENTENCE, _AT_WORD, _AT_SIGN, _WITHIN_WORD),
}
_LINE_ENDS = frozenset("\n\r\u2028\u2029")
_SENTENCE_ENDS = frozenset(".!?…")  # where whitespace follows
_CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
_CHINESE_SENTENCE_ENDS = frozenset("。！？｡")
_OPENING, _CLOSING = frozenset(("Ps", "Pi")), frozenset(("Pe", "Pf"))  # categories
# read beyond what a chunk may hold: a word or an added token that the end of a block cuts has less
_TOKENS_AHEAD = 128


class Chunk(NamedTuple):
    """A stretch of a text.

    Attributes:
        text: the stretch itself.
        start, end: where it stands in the text: half-open, in code points.
        tokens: how many ids a call gives it, special tokens included where they are asked for.
    """

    text: str
    start: int
    end: int
    tokens: int


class _Block:
    """The tokens of a part of a text. A cut may be before each of them, and behind them where the
    text ends.
    """

    def __init__(self, text: str, begin: int, size: int, spans_of: SpansOfText) -> None:
        self._text = text
        self.begin, self.end = begin, min(begin + size, len(text))
        self.is_last = self.end == len(text)
        found = spans_of(text[begin : self.end])
        self._starts = [begin + start for start, _ in found]
        self._reach = list(accumulate([begin + end for _, end in found], max))

    def __len__(self) -> int:
        return len(self._starts)

    def place(self, number: int) -> int:
        """Where the cut before a token is: whitespace stays with the token before, and so does what
        nothing follows.
        """
        if number in (0, len(self)):
            return self.end if number else self.begin
        start, end = self._starts[number], self._reach[number - 1]
        return next(
            (place for place in range(start, end, -1) if is_whitespace(self._text[place - 1])),
            start,
        )

    def cuts(self, numbers: range, level: int, behind: int = -1) -> Iterator[int]:
        """Those of the tokens before which there may be a cut of a level or a better one, behind a
        place.
        """
        for number in numbers:
            if number >= len(self):
                if number == len(self) and self.is_last:
                    yield number
            elif self._starts[number] >= self._reach[number - 1] and self.place(number) > behind:
                if self._level(number) >= level:
                    yield number

    def _level(self, number: int) -> int:
        """How good a place for a cut lies before a token that is not the first."""
        text, end, place = self._text, self._reach[number - 1], self.place(number)
        before, after = text[place - 1], text[place]
        if not is_whitespace(before):  # nor what is deleted or taken off
            before = text[end - 1]
        is_spaced = is_whitespace(before) or is_whitespace(after)
        opens = unicodedata.category(before) in _OPENING
        closes = unicodedata.category(after)[0] == "M" or unicodedata.category(after) in (
            *_CLOSING,
            "Po",
        )
        if not is_spaced and (opens or closes):
            return _AT_SIGN if is_punctuation(before) or is_punctuation(after) else _WITHIN_WORD
        last = end - 1
        while last > self.begin and (
            text[last] in "\"'" or unicodedata.category(text[last]) in _CLOSING
        ):
            last -= 1
        if text[last] in _CHINESE_SENTENCE_ENDS or not _LINE_ENDS.isdisjoint(text[end:place]):
            return _AT_SENTENCE
        if is_spaced:
            return _AT_SENTENCE if text[last] in _SENTENCE_ENDS else _AT_WORD
        if (
            is_chinese_char(ord(before))
            or is_chinese_char(ord(after))
            or before in _CHINESE_PUNCTUATION
        ):
            return _AT_WORD
        return _AT_SIGN if is_punctuation(before) or is_punctuation(after) else _WITHIN_WORD


class Chunker(NamedTuple):
    """Cuts texts in one way; see `PreTrainedTokenizer.chunks`.

    Attributes:
        most: how many tokens a chunk may have.
        room: the same without the special tokens around.
        overlap: how many tokens at the end of a chunk the next one may repeat.
        at: where a text is cut.
        count_of: gives the number of a text's tokens, with the special ones.
        spans_of: gives the spans of a text's tokens, without special ones.

    >>> import re
    >>> def spans(text):
    ...     return [match.span() for match in re.finditer("[A-Za-z]+", text)]
    >>> chunker = Chunker(2, 2, 1, "word", lambda text: len(spans(text)), spans)
    >>> [chunk.text for chunk in chunker.chunks("One, two. Three")]
    ['One, two. ', 'two. Three']
    """

    most: int
    room: int
    overlap: int
    at: CutPlace
    count_of: Callable[[str], int]
    spans_of: SpansOfText

    def chunks(self, text: str) -> Iterator[Chunk]:
        """The chunks of a text, in time that is linear in its length.

        Raises:
            InputError: a single character has more tokens than a chunk may have.
        """
        size = usual = 100 * self.room + 20 * _TOKENS_AHEAD
        ahead = self.room * (2 if self.overlap else 1) + _TOKENS_AHEAD
        block, first, reached = _Block(text, 0, usual, self.spans_of), 0, 0
        after: int | None = 0  # the token behind what is in chunks, in this block
        while reached < len(text):
            start = block.place(first)
            if not block.is_last and first + ahead >= len(block):
                size = usual if first else 2 * size
                block, first, after = _Block(text, start, size, self.spans_of), 0, None
                continue
            cut = self._cut(block, text, first, reached)
            if cut is None and start < reached:  # behind what is repeated no word more has room
                if after is None:
                    block, after = _Block(text, reached, usual, self.spans_of), 0
                first = after
                continue
            end = self._cut_anywhere(block, text, first) if cut is None else block.place(cut)
            yield Chunk(text[start:end], start, end, self.count_of(text[start:end]))
            reached = end
            if cut is None:
                block, first, after = _Block(text, reached, usual, self.spans_of), 0, 0
            else:
                first, after = self._first_repeated(block, first, cut) if self.overlap else cut, cut

    def _cut(self, block: _Block, text: str, first: int, reached: int) -> int | None:
        """The token before which a chunk that begins with `first` ends; None where there is no
        place for a cut.

        What is repeated of the chunk before, up to `reached`, is followed by whole words.
        """
        start = block.place(first)

        def fits(cut: int) -> bool:
            return self.count_of(text[start : block.place(cut)]) <= self.most

        for level in self._levels(start < reached):
            cuts = block.cuts(range(first + self.room, first, -1), level, reached)
            last = next(cuts, None)
            if last is not None and fits(last):
                return last
            others = [*cuts]
            # the farthest that fits, by halving: those before `low` do not
            low, high = (
                0,
                len(others),
            )
            while low < high:
                middle = (low + high) // 2
                if fits(others[middle]):
                    high = middle
                else:
                    low = middle + 1
            if low < len(others):
                return others[low]
        return None

    def _levels(self, whole_words: bool) -> tuple[int, ...]:
        levels = _LEVELS[self.at]
        return (
            tuple(each for each in levels if each >= _AT_WORD)
            if whole_words and self.at
            else levels
        )

    def _cut_anywhere(self, block: _Block, text: str, first: int) -> int:
        """The end of a chunk that cannot even hold what the first token stands for, since it has
        more by itself.
        """
        start = block.place(first)
        cuts = block.cuts(range(first + 1, first + self.room + 1), _WITHIN_WORD, start)
        end = next(map(block.place, cuts), block.end)
        while self.count_of(text[start:end]) > self.most:
            if end == start + 1:
                alone = (
                    f"the character {text[start]!r} at {start} alone has"
                    f" {self.count_of(text[start])} tokens"
                )
                raise InputError(f"{alone}, and max_tokens is {self.most}; raise it")
            end = start + (end - start) // 2
        return end

    def _first_repeated(self, block: _Block, first: int, cut: int) -> int:
        """The token with which the next chunk begins, so that it has room for a sentence more, or
        else for a word.
        """
        levels = self._levels(whole_words=True)

        def first_of(numbers: range) -> int:
            return next((each for level in levels for each in block.cuts(numbers, level)), cut)

        end = first_of(range(cut + 1, cut + self.room + 1))
        return first_of(range(max(first + 1, cut - self.overlap, end - self.room), cut))


def chunker(
    most: Any, overlap: Any, at: Any, count_of: Callable[[str], int], spans_of: SpansOfText
) -> Chunker:
    """A `Chunker` for the arguments of `PreTrainedTokenizer.chunks`.

    Raises:
        InputError: an argument cannot be.
    """
    most, overlap, around = as_int(most), as_int(overlap), count_of("")
    if at not in _LEVELS:
        raise InputError(f"at is 'word', 'sentence' or None, not {at!r}")
    if not isinstance(most, int) or most <= around:
        raise InputError(
            f"max_tokens is {most!r}; it is a whole number above the {around} special tokens around"
            " a text"
        )
    if most > LARGE_INTEGER:
        raise InputError("the model has no maximum; give max_tokens")
    if not isinstance(overlap, int) or not 0 <= overlap < most - around:
        raise InputError(
            f"overlap is {overlap!r}; it is a whole number from 0, below the {most - around}"
            " that fit"
        )
    return Chunker(most, most - around, overlap, at, count_of, spans_of)
