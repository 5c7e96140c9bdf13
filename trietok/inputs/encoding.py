"""`Encoding`: a row with all columns, which the methods of `BatchEncoding` read.

It follows the `Encoding` of the tokenizers package (0.22.2).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trietok.errors import PositionError
from trietok.text.cache import cached_property

if TYPE_CHECKING:
    from trietok.text.aligned import Span


@dataclass
class Encoding:
    """A row; every list has one item a token.

    Attributes:
        ids, type_ids, attention_mask, special_tokens_mask: as in the call's result.
        tokens: the tokens.
        offsets: what each stands for in its text, half-open, in code points; (0, 0) for special
            tokens and padding.
        word_ids: the number of the word that each is part of; None for special tokens and padding.
        ranges: 0 and, for a pair, 1 → the tokens of that text, half-open.
        overflow: computes `overflowing`, when it is first asked for.
    """

    ids: list[int]
    type_ids: list[int]
    tokens: list[str]
    offsets: list[Span]
    word_ids: list[int | None]
    special_tokens_mask: list[int]
    attention_mask: list[int]
    ranges: dict[int, Span]
    overflow: Callable[[], list[Encoding]] = field(default=list, repr=False, compare=False)

    @cached_property
    def overflowing(self) -> list[Encoding]:
        """The rows that hold what truncation left out of this one, whether or not the call returned
        them.

        Of a pair it is every combination of the parts of one text with those of the other.
        """
        return self.overflow()

    def __getstate__(self) -> dict[str, Any]:
        left = {name: value for name, value in self.__dict__.items() if name != "_tokens_of_chars"}
        return {**left, "overflow": list, "overflowing": self.overflowing}

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def words(self) -> list[int | None]:
        """The old name of `word_ids`."""
        return self.word_ids

    @property
    def n_sequences(self) -> int:
        """1 for a text, 2 for a pair."""
        return len(self.ranges)

    @property
    def sequence_ids(self) -> list[int | None]:
        """For each token 0 or 1, the text it comes from; None for special tokens and padding."""
        ids: list[int | None] = [None] * len(self.ids)
        for sequence, (start, end) in self.ranges.items():
            ids[start:end] = [sequence] * (end - start)
        return ids

    def token_to_sequence(self, token_index: int) -> int | None:
        """The text that a token comes from; None for special tokens, padding, and behind the
        end.
        """
        _check_position("token_index", token_index)
        for sequence, (start, end) in self.ranges.items():
            if start <= token_index < end:
                return sequence
        return None

    def token_to_chars(self, token_index: int) -> Span | None:
        """The code points that a token stands for; None where it comes from no text."""
        return None if self.token_to_sequence(token_index) is None else self.offsets[token_index]

    def token_to_word(self, token_index: int) -> int | None:
        """The number of the word that a token is part of; None where it comes from no text."""
        return None if self.token_to_sequence(token_index) is None else self.word_ids[token_index]

    def word_to_tokens(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The tokens that a word became; None where it became none."""
        _check_position("word_index", word_index)
        words: list[Any] = self.word_ids
        if sequence_index in self.ranges:  # within a text they rise
            first, end = self.ranges[sequence_index]
            first, end = (
                bisect_left(words, word_index, first, end),
                bisect_right(words, word_index, first, end),
            )
            return (first, end) if first < end else None
        found = []
        for token_index, word in enumerate(words):
            if word is not None and word > word_index:
                break
            found += [token_index] * (word == word_index)
        return (found[0], found[-1] + 1) if found else None

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The code points that a word stands for; None where it became no token."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return (
            None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])
        )

    def char_to_token(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The first token of a text that stands for a code point; None where none does."""
        if char_index < 0:
            _check_position("char_index", char_index)
        tokens = self._tokens_of_chars.get(sequence_index)
        if tokens is None:
            tokens = self._tokens_of_chars[sequence_index] = self._token_of_each_char(
                sequence_index
            )
        return tokens[char_index] if char_index < len(tokens) else None

    @cached_property
    def _tokens_of_chars(self) -> dict[int, list[int | None]]:
        return {}

    def _token_of_each_char(self, sequence_index: int) -> list[int | None]:
        first, last = self._range_of(sequence_index)
        tokens: list[int | None] = [None] * max(
            (end for _, end in self.offsets[first:last]), default=0
        )
        for token_index in range(last - 1, first - 1, -1):  # the first of several is written last
            start, end = self.offsets[token_index]
            tokens[start:end] = [token_index] * (end - start)
        return tokens

    def char_to_word(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The number of the word that contains a code point; None where no word does."""
        token_index = self.char_to_token(char_index, sequence_index)
        return None if token_index is None else self.token_to_word(token_index)

    def _range_of(self, sequence_index: int) -> Span:
        """The tokens of a text; all tokens for a text that is not there."""
        return self.ranges.get(sequence_index, (0, len(self.ids)))


def _check_position(name: str, position: int) -> None:
    if position < 0:
        raise PositionError(
            f"{name} is {position}; characters, tokens and words count from 0, and only the rows of"
            " a batch also from the end"
        )
