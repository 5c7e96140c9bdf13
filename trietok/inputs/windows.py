"""Truncation as the Rust tokenizers do it: which stretches of a text, or of a pair, become rows.

In: how many tokens each text has, and how many may stay. Out: one row of windows for the kept tokens and one for each
overflowing stretch. A window is a half-open span of the tokens of a text.
"""

from __future__ import annotations

from typing import NamedTuple

from trietok.errors import InputError
from trietok.inputs.truncation import (
    Cut,
    Cutting,
    TruncationStrategy,
    Window,
    Windows,
    check_room,
    check_side,
    cut_to_one_row,
    whole,
)

_Sizes = tuple[int, ...]  # how many tokens of each text a row may have


class Room(NamedTuple):
    """How many tokens truncation may leave, and how it cuts.

    Attributes:
        size: tokens of both texts together, special tokens not counted.
        strategy: which text is cut.
        stride: how many tokens a row repeats of the one before.
        side: the end that is cut, `"right"` or `"left"`.
    """

    size: int
    strategy: TruncationStrategy
    stride: int
    side: str


def cut_to_rows(lengths: tuple[int, ...], cutting: Cutting) -> Cut:
    """Truncation as the Rust tokenizers do it: what does not fit becomes rows of its own.

    >>> cut_to_rows((5,), Cutting(5, TruncationStrategy.LONGEST_FIRST, 1, "right", 2, 2)).rows
    [((0, 3),), ((2, 5),)]

    Raises:
        InputError: there is no room for the special tokens, the stride cannot be, or the chosen text cannot be cut.
    """
    if cutting.strategy is TruncationStrategy.DO_NOT_TRUNCATE or cutting.max_length is None:
        return Cut([whole(lengths)])
    check_room(cutting.max_length, cutting.around)
    check_side(cutting.side)
    _check_stride(cutting.stride, cutting.max_length, cutting.around_one)
    room = Room(cutting.max_length - cutting.around, cutting.strategy, cutting.stride, cutting.side)
    return Cut(rows(lengths, room))


def cut_to_more_rows(lengths: tuple[int, ...], cutting: Cutting) -> Cut:
    """Truncation whose first row is that of transformers' slow tokenizers; what does not fit becomes rows after it.

    >>> pair = Cutting(6, TruncationStrategy.LONGEST_FIRST, 0, "right", 3, 2)
    >>> cut_to_more_rows((3, 3), pair).rows[0], cut_to_rows((3, 3), pair).rows[0]
    (((0, 2), (0, 1)), ((0, 1), (0, 2)))

    Raises:
        InputError: there is no room for the special tokens, or stride or side cannot be.
    """
    first = cut_to_one_row(lengths, cutting)
    sizes = tuple(end - start for start, end in first.rows[0])
    if sizes == lengths:
        return first
    assert cutting.max_length is not None  # else nothing is cut
    _check_stride(cutting.stride, cutting.max_length, cutting.around_one)
    return Cut(_rows_of(lengths, sizes, cutting.stride, cutting.side))


def _check_stride(stride: int, max_length: int, around_one: int) -> None:
    """Refuse a stride that is too long for `max_length` less the special tokens of one text, even if left out."""
    if not isinstance(stride, int) or stride < 0:
        raise InputError(f"stride is {stride!r}; it is a whole number from 0")
    left = max_length - around_one
    if 0 <= left < stride:
        raise InputError(f"stride is {stride}, and max_length {max_length} leaves {left} tokens; it must be less")


def rows(lengths: tuple[int, ...], room: Room | None) -> list[Windows]:
    """The windows of every row: first of the kept tokens, then of the overflow.

    For a pair the overflow is every combination of a window of one text and a window of the other, but the first: the
    combinations with later windows of the first text come before those with its first window.

    >>> rows((5,), Room(3, TruncationStrategy.LONGEST_FIRST, 1, "right"))
    [((0, 3),), ((2, 5),)]

    Raises:
        InputError: the chosen text cannot be cut so far, or the stride leaves no progress.
    """
    if room is None or sum(lengths) <= room.size:
        return [whole(lengths)]
    return _rows_of(lengths, _sizes(lengths, room), room.stride, room.side)


def _rows_of(lengths: tuple[int, ...], sizes: _Sizes, stride: int, side: str) -> list[Windows]:
    columns = [_windows(length, size, stride, side) for length, size in zip(lengths, sizes, strict=True)]
    if len(columns) == 1:
        return [(window,) for window in columns[0]]
    (first, *rest), second = columns
    found: list[Windows] = [(first, second[0])]
    found += ((a, b) for a in (*rest, first) for b in second if a is not first or b is not second[0])
    return found


def _sizes(lengths: tuple[int, ...], room: Room) -> _Sizes:
    """The sizes that leave no more than there is room for."""
    if room.size == 0:
        return (0,) * len(lengths)
    if room.strategy is TruncationStrategy.LONGEST_FIRST:
        return (room.size,) if len(lengths) == 1 else _shares(lengths[0], lengths[1], room.size)
    cut = 0 if room.strategy is TruncationStrategy.ONLY_FIRST else 1
    if cut == len(lengths):
        raise InputError("truncation is 'only_second' and there is no second text; use 'longest_first'")
    left = room.size - (sum(lengths) - lengths[cut])
    if left <= 0:
        raise InputError(
            f"the other text alone is longer than the {room.size} tokens that may stay; truncate with 'longest_first'"
        )
    return tuple(left if i == cut else length for i, length in enumerate(lengths))


def _shares(first: int, second: int, size: int) -> tuple[int, int]:
    """The shares of a pair: the shorter text stays whole while it takes no more than half.

    Where both are cut, the one that is longer has the odd token; of two equally long ones the second.
    """
    shorter, longer = sorted((first, second))
    longer = shorter if shorter > size else max(shorter, size - shorter)
    if shorter + longer > size:
        shorter, longer = size // 2, size - size // 2
    return (longer, shorter) if first > second else (shorter, longer)


def _windows(length: int, size: int, stride: int, side: str) -> list[Window]:
    """Windows of `size` that cover a text: from its beginning, or backwards from its end where the left is cut."""
    if size >= length:
        return [(0, length)]
    if size == 0:
        return [(0, 0), (0, length)]
    if stride >= size:
        raise InputError(f"stride is {stride}, and truncation leaves {size} tokens of a text; it must be less")
    spans = []
    for step in range(0, length, size - stride):
        start, end = step, min(step + size, length)
        spans.append((start, end) if side == "right" else (length - end, length - start))
        if end == length:
            break
    return spans
