"""`Encoding`: one row of a result, with tokens, spans and word numbers; `BatchEncoding`'s methods read it.

In: the columns of the row. Out: the columns as attributes, and methods from characters to words to tokens and back. It
follows the `Encoding` of the tokenizers package (0.22.2).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from trietok.errors import PositionError
from trietok.text.changes import cached_property

Span = tuple[int, int]


@dataclass
class Encoding:
    """A row; every list has one item a token.

    Attributes:
        ids, type_ids, attention_mask, special_tokens_mask: as in the call's result.
        tokens: the tokens.
        offsets: what each stands for in its text, half-open, in code points; (0, 0) for special tokens and padding.
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
        """The rows that hold what truncation left out of this one, whether or not the call returned them.

        Of a pair it is every combination of the parts of one text with those of the other.
        """
        return self.overflow()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "overflow": list, "overflowing": self.overflowing}

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
        """The text that a token comes from; None for special tokens, padding, and behind the end."""
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
        first = last = None
        for token_index in range(*self._range_of(sequence_index)):
            word = self.word_ids[token_index]
            if word is not None and word > word_index:
                break
            if word == word_index:
                first = token_index if first is None else first
                last = token_index + 1
        return None if first is None or last is None else (first, last)

    def word_to_chars(self, word_index: int, sequence_index: int = 0) -> Span | None:
        """The code points that a word stands for; None where it became no token."""
        tokens = self.word_to_tokens(word_index, sequence_index)
        return None if tokens is None else (self.offsets[tokens[0]][0], self.offsets[tokens[1] - 1][1])

    def char_to_token(self, char_index: int, sequence_index: int = 0) -> int | None:
        """The first token of a text that stands for a code point; None where none does."""
        _check_position("char_index", char_index)
        for token_index in range(*self._range_of(sequence_index)):
            start, end = self.offsets[token_index]
            if start <= char_index < end:
                return token_index
        return None

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
            f"{name} is {position}; characters, tokens and words count from 0, and only the rows of a batch also from "
            "the end"
        )
