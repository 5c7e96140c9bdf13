"""Padding encoded texts: one text, a batch, or a list of texts as a data loader hands them over.

In: dicts of lists or tensors. Out: a `BatchEncoding`. The rules are those of `pad` in transformers
4.57.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, kind_of
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import (
    Padding,
    PaddingStrategy,
    Side,
    as_int,
    check_first_id,
    pad_values,
    padded_length,
    resolve_strategies,
)
from trietok.inputs.tensors import Tensors, TensorType, tensor_type_of, to_python

if TYPE_CHECKING:
    from typing import Protocol

    from trietok.inputs.options import Tokenizer

    class Padder(Tokenizer, Protocol):
        """The object that defines how to pad: a tokenizer."""

        padding_side: Side

        @property
        def model_input_names(self) -> Sequence[str]: ...
        @property
        def pad_token_type_id(self) -> int: ...


def pad(
    padder: Padder,
    encoded_inputs: Any,
    padding: Padding = True,
    max_length: int | None = None,
    pad_to_multiple_of: int | None = None,
    padding_side: Side | None = None,
    return_attention_mask: bool | None = None,
    return_tensors: Tensors = None,
    verbose: bool = True,
    *,
    pad_row: Callable[..., Mapping[str, Any]] | None = None,
) -> BatchEncoding:
    """Pad encoded texts: one text, a batch, or a list of texts as a data loader hands them over.

    Args:
        padder: defines the padding values, the side, and the column whose length is padded.
        encoded_inputs: a `BatchEncoding` or dict of lists or tensors, or a list of those. It is not
            changed.
        pad_row: pads one text in place of `pad_one`; it takes the arguments of that function by
            their names.

    The other arguments are those of a call. Tensors come back as tensors of their kind.
    """
    main = padder.model_input_names[0]
    values = _columns(encoded_inputs, main)
    required = values[main]
    if required is None or (hasattr(required, "__len__") and len(required) == 0):
        if return_attention_mask:
            values["attention_mask"] = []
        return BatchEncoding(values)
    values, kind = _as_lists(values, main)
    max_length, pad_to_multiple_of = as_int(max_length), as_int(pad_to_multiple_of)
    strategies = resolve_strategies(padder, padding, None, max_length, pad_to_multiple_of, verbose)
    how: dict[str, Any] = {
        "pad_to_multiple_of": pad_to_multiple_of,
        "padding_side": padding_side,
        "return_attention_mask": return_attention_mask,
    }
    if pad_row is None:
        pad_row = partial(pad_one, padder, fillers=_fillers(padder, main, strategies.padding))
    rows = values[main]
    if not isinstance(rows[0], (list, tuple)):
        padded = pad_row(
            values, max_length=strategies.max_length, padding_strategy=strategies.padding, **how
        )
        return BatchEncoding(padded, tensor_type=return_tensors or kind)
    for key, value in values.items():
        if len(value) != len(rows):
            raise InputError(f"{key} has {len(value)} rows where {main} has {len(rows)}")
    to, length = strategies.padding, strategies.max_length
    if to is PaddingStrategy.LONGEST:
        to, length = PaddingStrategy.MAX_LENGTH, max(map(len, rows))
    batch: dict[str, list[Any]] = {}
    for index in range(len(rows)):
        row = {key: value[index] for key, value in values.items()}
        for key, value in pad_row(row, max_length=length, padding_strategy=to, **how).items():
            batch.setdefault(key, []).append(value)
    return BatchEncoding(batch, tensor_type=return_tensors or kind)


def pad_one(
    padder: Padder,
    encoded_inputs: Mapping[str, Any],
    max_length: int | None = None,
    padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD,
    pad_to_multiple_of: int | None = None,
    padding_side: Side | None = None,
    return_attention_mask: bool | None = None,
    *,
    fillers: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Pad one text, and give it its attention mask where it has none; `fillers` are those of
    `_fillers`.
    """
    values, strategy = dict(encoded_inputs), PaddingStrategy(padding_strategy)
    main = padder.model_input_names[0]
    length = len(values[main])
    with_mask = return_attention_mask
    if with_mask is None:
        with_mask = "attention_mask" in padder.model_input_names
    if with_mask and "attention_mask" not in values:
        values["attention_mask"] = [1] * length
    if strategy is PaddingStrategy.DO_NOT_PAD:
        return values
    if strategy is PaddingStrategy.MAX_LENGTH and max_length is not None:
        length = max_length
    fillers = dict(_fillers(padder, main, strategy) if fillers is None else fillers)
    if with_mask:
        fillers["attention_mask"] = 0
    side = padder.padding_side if padding_side is None else padding_side
    return pad_values(
        values,
        padded_length(length, pad_to_multiple_of),
        main_input=main,
        fillers=fillers,
        side=side,
    )


def _fillers(padder: Padder, main: str, strategy: PaddingStrategy) -> dict[str, Any]:
    """What the columns of a text are filled up with; none where it is not padded."""
    if strategy is PaddingStrategy.DO_NOT_PAD:
        return {}
    return {
        main: padder.pad_token_id,
        "token_type_ids": padder.pad_token_type_id,
        "special_tokens_mask": 1,
    }


def _columns(encoded_inputs: Any, main: str) -> dict[str, Any]:
    """The values by key; those of a list of encodings each a list."""
    if (
        isinstance(encoded_inputs, (list, tuple))
        and encoded_inputs
        and isinstance(encoded_inputs[0], Mapping)
    ):
        first = encoded_inputs[0]
        for number, example in enumerate(encoded_inputs):
            if example.keys() < first.keys():
                lacks = sorted(first.keys() - example.keys())
                raise InputError(f"item {number} has no {', '.join(lacks)}, which item 0 has")
        encoded_inputs = {key: [example[key] for example in encoded_inputs] for key in first}
    if not isinstance(encoded_inputs, Mapping) or main not in encoded_inputs:
        given = (
            list(encoded_inputs) if isinstance(encoded_inputs, Mapping) else kind_of(encoded_inputs)
        )
        raise InputError(
            f"pad needs an encoding, or a list of encodings, with {main}; it was given {given}"
        )
    return dict(encoded_inputs)


def _as_lists(values: dict[str, Any], main: str) -> tuple[dict[str, Any], TensorType | None]:
    """Tensors as lists, and the kind of tensor the main input was."""
    rows = values[main]
    kind = tensor_type_of(rows) or tensor_type_of(rows[0])
    if kind is None:
        first = (
            next((row[0] for row in rows if len(row)), 0)
            if isinstance(rows[0], (list, tuple))
            else rows[0]
        )
        kind = tensor_type_of(first)
        if kind is None:
            check_first_id(first, main)
            return values, None
    return {key: to_python(value) for key, value in values.items()}, kind
