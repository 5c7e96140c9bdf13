"""What model inputs depend on beside the options of a call, and in what the two profiles differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from trietok.inputs.template import RowPiece
from trietok.inputs.truncation import (
    Cutting,
    ItemCut,
    cut_to_more_rows,
    cut_to_one_row,
    cut_to_rows,
)

Profile = Literal["slow", "fast"]


class InputRules(NamedTuple):
    """How a profile treats one item of a call, from its texts to the columns of its rows.

    Attributes:
        is_fast: the value of `is_fast` of a tokenizer and of its results: whether these have
            details.
        takes_ids: whether an input may be a list of tokens or of ids.
        names_of_pair: what errors call the two inputs of a call for one item.
        refuses_contradictions: whether options that contradict each other are errors.
        cut: how truncation cuts texts of given lengths.
        overflows_to_rows: whether the tokens that do not fit make more rows, with
            `overflow_to_sample_mapping`; else they are returned as `overflowing_tokens`, with
            `num_truncated_tokens`.
        types_stay: whether texts keep their token type ids when special tokens are left out; else
            all are 0.
        pads_empty_text: whether a call for one text pads a text without ids.
        padding_counts: whether the length that is warned of, and `length` of a batch, include
            padding.
        checks_side: whether `padding_side` is checked where nothing is missing.
        length_is_listed: whether `length` of a call for one text is a list of one.
        columns, columns_of_batch: the order of the columns that a call for one item, and for a
            batch, returns.
    """

    is_fast: bool
    takes_ids: bool
    names_of_pair: tuple[str, str]
    refuses_contradictions: bool
    cut: Callable[[tuple[int, ...], Cutting], ItemCut]
    overflows_to_rows: bool
    types_stay: bool
    pads_empty_text: bool
    padding_counts: bool
    checks_side: bool
    length_is_listed: bool
    columns: tuple[str, ...]
    columns_of_batch: tuple[str, ...]


_SLOW_FIRST = (
    "overflowing_tokens",
    "num_truncated_tokens",
    "input_ids",
    "token_type_ids",
    "special_tokens_mask",
)
_RUST_COLUMNS = (
    *("input_ids", "token_type_ids", "attention_mask", "special_tokens_mask"),
    *("offset_mapping", "length", "overflow_to_sample_mapping"),
)

SLOW = InputRules(
    is_fast=False,
    takes_ids=True,
    names_of_pair=("the text", "the pair"),
    refuses_contradictions=True,
    cut=cut_to_one_row,
    overflows_to_rows=False,
    types_stay=False,
    pads_empty_text=False,
    padding_counts=False,
    checks_side=False,
    length_is_listed=False,
    columns=(*_SLOW_FIRST, "attention_mask", "length", "offset_mapping"),
    columns_of_batch=(*_SLOW_FIRST, "length", "attention_mask", "offset_mapping"),
)
RUST = InputRules(
    is_fast=True,
    takes_ids=False,
    names_of_pair=("the text", "the text"),
    refuses_contradictions=False,
    cut=cut_to_rows,
    overflows_to_rows=True,
    types_stay=True,
    pads_empty_text=True,
    padding_counts=True,
    checks_side=True,
    length_is_listed=True,
    columns=_RUST_COLUMNS,
    columns_of_batch=_RUST_COLUMNS,
)
# For programs that ask for details and for overflow in rows, and are to get the ids of the slow
# profile all the same.
SLOW_WITH_DETAILS = SLOW._replace(
    is_fast=True,
    refuses_contradictions=False,
    cut=cut_to_more_rows,
    overflows_to_rows=True,
    columns=_RUST_COLUMNS,
    columns_of_batch=_RUST_COLUMNS,
)


class InputSettings(NamedTuple):
    """The settings of a tokenizer that model inputs depend on.

    Attributes:
        model_input_names: the columns that a call returns unless it is told otherwise; the first is
            `input_ids`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_max_length: in tokens; more than 1e20 for no limit.
        pad_token_id, pad_token, pad_token_type_id: the values of padding; None where there is no
            padding token.
        rules: those of the profile.
        single, pair: the pieces of a row of one text, and of two.
        special_counts: how many special tokens truncation makes room for, around one text and
            around two.
    """

    model_input_names: tuple[str, ...]
    padding_side: str
    truncation_side: str
    model_max_length: int
    pad_token_id: int | None
    pad_token: str | None
    pad_token_type_id: int
    rules: InputRules
    single: tuple[RowPiece, ...]
    pair: tuple[RowPiece, ...]
    special_counts: tuple[int, int]

    def pieces(self, pair: bool, add_special_tokens: bool = True) -> tuple[RowPiece, ...]:
        """Return the pieces of a row of one text, or of a pair."""
        pieces = self.pair if pair else self.single
        if add_special_tokens:
            return pieces
        texts = [piece for piece in pieces if piece.sequence is not None]
        if self.rules.types_stay:
            return tuple(texts)
        return tuple([text._replace(type_id=0) for text in texts])
