"""What a `BatchEncoding` can be asked later: the details of its rows, worked out when first they are asked for.

In: what a call was given, and what it made of it. Out: an `Encoding` for each row. A call keeps the texts it was given
and nothing else, so that details cost only those who ask. Where the tokenizer has changed meanwhile so that the texts
have other ids now, asking is an error: spans of other tokens would be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trietok.errors import InputError
from trietok.inputs.encoding import Encoding
from trietok.inputs.options import Strategies
from trietok.inputs.rows import Row
from trietok.inputs.tensors import to_python
from trietok.inputs.truncation import TruncationStrategy, Window
from trietok.text.alignment import Located, Span

Options = Mapping[str, Any]
Texts = list[list[Any]]  # for each item its text, or texts; each a str, or words


class Given:
    """The texts of a call.

    Args:
        tokenizer: whose call it was.
        texts: for each item its text, or texts.
        is_split_into_words: whether they are words.
        options: the call's, as far as they concern one text.
    """

    def __init__(self, tokenizer: Any, texts: Texts, is_split_into_words: bool, options: Options) -> None:
        self.tokenizer = tokenizer
        self.texts = texts
        self.is_split_into_words = is_split_into_words
        self.options = options

    @property
    def is_fast(self) -> bool:
        """Whether the tokenizer is of the Rust profile."""
        fast: bool = self.tokenizer.is_fast
        return fast

    def is_of_text(self, text: Any) -> bool:
        """Whether it is a text, or words: not tokens or ids."""
        return isinstance(text, str) or (self.is_split_into_words and not (text and isinstance(text[0], int)))

    def located(self) -> list[list[Located]]:
        """For each item its texts' tokens."""
        return [[self._locate(text) for text in texts] for texts in self.texts]

    def spans(self) -> list[list[list[Span]]]:
        """For each item its texts' spans."""
        spans_of = self.tokenizer._input_spans
        return [[spans_of(text, self.is_split_into_words, self.options) for text in texts] for texts in self.texts]

    def _locate(self, text: Any) -> Located:
        """The tokens of a text, or of words: each is a text of its own, and every token has its word's number."""
        if not self.is_split_into_words:
            located: Located = self.tokenizer._located(text, self.options)
            return located
        all_words = Located.empty()
        for number, word in enumerate(text):
            for token_id, token, span, _ in zip(*self.tokenizer._located(word, self.options), strict=True):
                all_words.add(token_id, token, span, number)
        return all_words


class RowDetails(Given):
    """Of a call of the Rust profile, which knows its rows.

    Attributes:
        ids: for each item the ids of its texts.
        rows: the rows, as they were made.
    """

    ids: list[list[list[int]]]
    rows: list[Row]

    def encodings(self, given: None, input_ids: Any) -> list[Encoding]:
        """An `Encoding` for each row; the first of an item holds those of what did not fit."""
        located = self.located()
        if [[text.ids for text in texts] for texts in located] != self.ids:
            raise _changed()
        made = [row_encoding(self.tokenizer, row, located[row.sample]) for row in self.rows]
        first: dict[int, Encoding] = {}
        for row, encoding in zip(self.rows, made, strict=True):
            if first.setdefault(row.sample, encoding) is not encoding:
                first[row.sample].overflowing.append(encoding)
        return made


class PlainDetails(Given):
    """Of a call of the slow profile, whose rows are made again.

    Args:
        tokenizer, texts, is_split_into_words, options: see `Given`.
        add_special_tokens, strategies, padding_side: those of the call.
    """

    def __init__(
        self,
        tokenizer: Any,
        texts: Texts,
        is_split_into_words: bool,
        options: Options,
        add_special_tokens: bool,
        strategies: Strategies,
        padding_side: str | None,
    ) -> None:
        super().__init__(tokenizer, texts, is_split_into_words, options)
        self._add_special_tokens = add_special_tokens
        self._strategies = strategies
        self._pad_left = (padding_side or tokenizer.padding_side) == "left"

    def encodings(self, given: None, input_ids: Any) -> list[Encoding]:
        """An `Encoding` for each row."""
        located = self.located()
        rows = [self._row(sample, [len(text.ids) for text in texts]) for sample, texts in enumerate(located)]
        width = len(_as_rows(input_ids, rows)[0]) if rows else 0
        widths = [len(ids) for ids in _as_rows(input_ids, rows)] or [width]
        rows = [
            replace(row, missing=max(length - len(row), 0), pad_left=self._pad_left)
            for row, length in zip(rows, widths, strict=True)
        ]
        made = [row_encoding(self.tokenizer, row, texts) for row, texts in zip(rows, located, strict=True)]
        return checked(made, input_ids)

    def _row(self, sample: int, lengths: list[int]) -> Row:
        pieces = self.tokenizer._pieces_around(len(lengths) == 2, self._add_special_tokens)
        windows = [(0, length) for length in lengths]
        to_remove = sum(lengths) + len(pieces) - len(lengths) - (self._strategies.max_length or 0)
        cuts = self._strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE
        if cuts and self._strategies.max_length and to_remove > 0:
            numbers = [list(range(length)) for length in lengths]
            pair = numbers[1] if len(numbers) == 2 else None
            kept = self.tokenizer.truncate_sequences(numbers[0], pair, to_remove, self._strategies.truncation, 0)
            windows = [_window(part) for part in kept[: len(lengths)]]
        return Row(sample, pieces, tuple(windows))


def row_encoding(tokenizer: Any, row: Row, texts: Sequence[Located]) -> Encoding:
    """The `Encoding` of a row, with the tokenizer's padding."""
    return row.encoding(texts, tokenizer.pad_token_id, tokenizer.pad_token, tokenizer.pad_token_type_id)


def checked(encodings: list[Encoding], input_ids: Any) -> list[Encoding]:
    """The encodings, if their ids are those of a result.

    Raises:
        InputError: they are not.
    """
    if [encoding.ids for encoding in encodings] != _as_rows(input_ids, encodings):
        raise _changed()
    return encodings


def _as_rows(input_ids: Any, rows: Sequence[Any]) -> list[list[int]]:
    ids = to_python(input_ids)
    return [list(ids)] if len(rows) == 1 and not (ids and isinstance(ids[0], list)) else ids


def _window(numbers: list[int]) -> Window:
    return (numbers[0], numbers[-1] + 1) if numbers else (0, 0)


def _changed() -> InputError:
    return InputError(
        "the tokenizer, or the ids, have changed since this was encoded, so the tokens of the text are not those of "
        "the ids any more; encode the text again"
    )
