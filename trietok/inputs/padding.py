"""Filling sequences up to one length.

In: the values of one text (`input_ids` and what goes with them). Out: the same, longer. As transformers' `_pad`
(4.57.6).
"""

from __future__ import annotations

from typing import Any

from trietok.errors import InputError
from trietok.inputs.call_inputs import kind_of
from trietok.inputs.tensors import ExplicitEnum


class PaddingStrategy(ExplicitEnum):
    """The values of `padding`; True means `longest`, False `do_not_pad`."""

    LONGEST = "longest"
    MAX_LENGTH = "max_length"
    DO_NOT_PAD = "do_not_pad"


def padded_length(length: int, multiple_of: int | None) -> int:
    """`length`, rounded up to a multiple.

    >>> padded_length(9, 8), padded_length(16, 8), padded_length(9, None)
    (16, 16, 9)
    """
    return length if multiple_of is None else -(-length // multiple_of) * multiple_of


def pad_values(
    values: dict[str, Any],
    length: int,
    *,
    main_input: str,
    fillers: dict[str, Any],
    side: str,
) -> dict[str, Any]:
    """Fill the values of one text up to `length`.

    Args:
        values: key → list, all of the length of `values[main_input]`; keys without a filler stay as they are.
        length: the number of ids to reach; a text that has as many or more is left as it is.
        main_input: the key of the list whose length is compared with `length`, such as `input_ids`.
        fillers: key → what to fill with.
        side: `"right"` or `"left"`.

    Returns:
        A new dict.

    Raises:
        InputError: `side` is neither.
    """
    missing = length - len(values[main_input])
    if missing == 0:
        return dict(values)
    if side not in ("left", "right"):
        raise InputError(f"padding_side is 'left' or 'right', not {side!r}")
    padded = dict(values)
    for key, filler in fillers.items():
        if key in padded:
            filling = [filler] * missing
            padded[key] = padded[key] + filling if side == "right" else filling + padded[key]
    return padded


def check_first_id(first: Any, main: str) -> None:
    """Raise an InputError where the first value of a batch is no id."""
    if not isinstance(first, int):
        raise InputError(f"{main} holds {kind_of(first)}; it should hold ints, or be an array or tensor")
