"""The two profiles: everything in which the rows of transformers' slow tokenizers and of the Rust
ones differ.

In: nothing. Out: `SLOW`, `RUST`, and `SLOW_WITH_DETAILS`, which stands between them: the
`InputRules` values that `Plan` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trietok.errors import InputError, InputTypeError, kind_of
from trietok.inputs.call_inputs import ids_of, ids_of_text, pair_of
from trietok.inputs.truncation import (
    Cutting,
    ItemCut,
    TruncationStrategy,
    cut_to_more_rows,
    cut_to_one_row,
    cut_to_rows,
)

if TYPE_CHECKING:
    from trietok.inputs.options import CallOptions, Strategies
    from trietok.text.pipeline import Pipeline

Profile = Literal["slow", "fast"]


class InputRules(NamedTuple):
    """How a profile treats one item of a call, from its texts to the columns of its rows.

    Attributes:
        is_fast: the value of `is_fast` of a tokenizer and of its results: whether these have
            details.
        ids_of: a function that gives the ids of one input; its arguments are the encoder, the
            input, whether it is words, and what errors call it.
        names_of_pair: what errors call the two inputs of a call for one item.
        check: refuses options that contradict each other, for each item; its arguments are the
            options, the strategies, and whether the item is a pair.
        batch_of: a text and its pair, or None, for each item of a batch, which may be words;
            refuses what is no batch.
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
    ids_of: Callable[[Pipeline, Any, bool, str], list[int]]
    names_of_pair: tuple[str, str]
    check: Callable[[CallOptions, Strategies, bool], None]
    batch_of: Callable[[Any, bool], Iterable[tuple[Any, Any]]]
    cut: Callable[[tuple[int, ...], Cutting], ItemCut]
    overflows_to_rows: bool
    types_stay: bool
    pads_empty_text: bool
    padding_counts: bool
    checks_side: bool
    length_is_listed: bool
    columns: tuple[str, ...]
    columns_of_batch: tuple[str, ...]


_EMPTY = "the batch is empty; give it at least one text"


def _check_nothing(options: CallOptions, strategies: Strategies, is_pair: bool) -> None:
    """Accept every combination of options, as the Rust tokenizers do."""


def _check_slow(options: CallOptions, strategies: Strategies, is_pair: bool) -> None:
    if options.return_token_type_ids and not options.add_special_tokens:
        raise InputError(
            "return_token_type_ids has no meaning with add_special_tokens=False; leave it at None"
        )
    if options.return_overflowing_tokens:
        if is_pair and strategies.truncation is TruncationStrategy.LONGEST_FIRST:
            raise InputError(
                "overflowing tokens of a pair cannot be returned with 'longest_first'; "
                "select 'only_first' or 'only_second'"
            )
        if strategies.max_length is None:
            raise InputTypeError("return_overflowing_tokens needs a max_length to overflow")


def _slow_batch(items: Any, is_split_into_words: bool) -> Iterator[tuple[Any, Any]]:
    """The items one by one: an item that is no text or pair is refused after those before it are
    encoded.
    """
    if not isinstance(items, Iterable):
        raise InputTypeError(f"a batch is a list, not {kind_of(items)}", value=items)
    index = -1
    for index, item in enumerate(items):
        yield pair_of(item, is_split_into_words, f"item {index} of the batch")
    if index < 0:
        raise InputError(_EMPTY)


def _rust_batch(items: Any, is_split_into_words: bool) -> list[tuple[Any, Any]]:
    if not isinstance(items, (list, tuple)):
        raise InputTypeError(f"a batch is a list, not {kind_of(items)}", value=items)
    if not items:
        raise InputError(_EMPTY)
    return [
        pair_of(item, is_split_into_words, f"item {index} of the batch")
        for index, item in enumerate(items)
    ]


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
    ids_of=ids_of,
    names_of_pair=("the text", "the pair"),
    check=_check_slow,
    batch_of=_slow_batch,
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
    ids_of=ids_of_text,
    names_of_pair=("the text", "the text"),
    check=_check_nothing,
    batch_of=_rust_batch,
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
    check=RUST.check,
    cut=cut_to_more_rows,
    overflows_to_rows=True,
    columns=_RUST_COLUMNS,
    columns_of_batch=_RUST_COLUMNS,
)
