"""Shortening a sequence or a pair: which ids are removed, and which of them are returned as
overflowing.

In: the lengths of one or two sequences, and how many tokens may stay. Out: what is kept of each,
and the overflow, as half-open windows. Transformers' slow tokenizers cut to one row, with the
counts of its `truncate_sequences` (4.57.6); the Rust tokenizers make more rows of what does not
fit. `padded` does the opposite: it fills a row up.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from trietok.errors import ExplicitEnum, InputError

logger = logging.getLogger("trietok")

Window = tuple[int, int]  # tokens of a text, half-open
Windows = tuple[Window, ...]  # one for each text of a row


class TruncationStrategy(ExplicitEnum):
    """The values of `truncation`; True means `longest_first`, False `do_not_truncate`."""

    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    LONGEST_FIRST = "longest_first"
    DO_NOT_TRUNCATE = "do_not_truncate"


class Cutting(NamedTuple):
    """The options of a call that truncation depends on, where it has to cut.

    Attributes:
        max_length: the most tokens of a row, special ones included; there is room for these.
        strategy: which text is cut.
        stride: how many tokens the overflow repeats of what is kept.
        side: the end that is cut, `"right"` or `"left"`.
        around: how many special tokens stand around the texts.
        around_one: how many stand around a single text, even where a call leaves them out.
    """

    max_length: int
    strategy: TruncationStrategy
    stride: int
    side: str
    around: int
    around_one: int


class ItemCut(NamedTuple):
    """The result of truncation for one item of a call.

    Attributes:
        rows: for each row its windows, what is kept first.
        overflow: the text and the window of the ids that are removed, where they make no rows.
        problem: why nothing was cut that should have been, for the log.
    """

    rows: list[Windows]
    overflow: tuple[int, Window] = (0, (0, 0))
    problem: str = ""


def whole(lengths: tuple[int, ...]) -> Windows:
    """The windows of texts of which nothing is removed."""
    return tuple((0, length) for length in lengths)


def size(window: Window) -> int:
    """How many tokens a window holds."""
    start, end = window
    return end - start


def check_room(max_length: int, around: int) -> None:
    """Raise an InputError if there is no room for the `around` special tokens."""
    if max_length < around:
        raise InputError(
            f"max_length is {max_length}, but the special tokens alone are {around}; raise"
            " max_length, or leave the special tokens out"
        )


def check_side(option: str, side: str | None) -> None:
    """Raise an InputError if it is no side."""
    if side not in ("left", "right"):
        raise InputError(f"{option} is 'left' or 'right', not {side!r}")


def padded(row: list[Any], filler: Any, missing: int, pad_left: bool) -> list[Any]:
    """A row with so many fillers more; the row itself where there are none."""
    if not missing:
        return row
    return [filler] * missing + row if pad_left else row + [filler] * missing


def _check_stride(stride: int) -> None:
    if not isinstance(stride, int) or stride < 0:
        raise InputError(f"stride is {stride!r}; it is a whole number from 0")


def cut_to_one_row(lengths: tuple[int, ...], cutting: Cutting) -> ItemCut:
    """Truncation as transformers' slow tokenizers do it: one row, and the ids that are removed.

    A `max_length` of 0 cuts nothing.

    >>> cut_to_one_row((5,), Cutting(4, TruncationStrategy.LONGEST_FIRST, 1, "right", 2, 2))
    ItemCut(rows=[((0, 2),)], overflow=(0, (1, 5)), problem='')
    """
    to_remove = sum(lengths) + cutting.around - cutting.max_length
    if not cutting.max_length or to_remove <= 0:
        return ItemCut([whole(lengths)])
    return remove(lengths, to_remove, cutting.strategy, cutting.stride, cutting.side)


def truncate(
    ids: list[int],
    pair_ids: list[int] | None,
    num_tokens_to_remove: int,
    strategy: TruncationStrategy,
    stride: int,
    side: str,
) -> tuple[list[int], list[int] | None, list[int]]:
    """Remove ids from the `side` end of one sequence or both.

    Args:
        ids, pair_ids: the sequences; neither is changed.
        num_tokens_to_remove: how many ids in all.
        strategy: from which sequence.
        stride: how many of the ids that are kept to repeat before the overflow.
        side: `"right"` or `"left"`.

    Returns:
        ids, pair_ids, overflowing: the last is empty for a pair under `longest_first`. If the
            chosen sequence is not longer than what is to be removed, nothing is removed and the log
            says so, as in transformers.
    """
    if num_tokens_to_remove <= 0 or strategy is TruncationStrategy.DO_NOT_TRUNCATE:
        return ids, pair_ids, []
    sequences = [ids] if pair_ids is None else [ids, pair_ids]
    cut = remove(tuple(map(len, sequences)), num_tokens_to_remove, strategy, stride, side)
    if cut.problem:
        logger.error(cut.problem)
    kept = [
        sequence[start:end] for sequence, (start, end) in zip(sequences, cut.rows[0], strict=True)
    ]
    chosen, (start, end) = cut.overflow
    overflow = sequences[chosen][start:end] if end > start else []
    return kept[0], None if pair_ids is None else kept[1], overflow


def remove(
    lengths: tuple[int, ...], to_remove: int, strategy: TruncationStrategy, stride: int, side: str
) -> ItemCut:
    """Take `to_remove` ids, at least one, from the `side` end of the texts; see `truncate`."""
    _check_stride(stride)
    check_side("truncation_side", side)
    if strategy is TruncationStrategy.LONGEST_FIRST and len(lengths) == 2:
        shares = _shares(*lengths, to_remove)
        return ItemCut(
            [
                tuple(
                    _kept(length, share, side)
                    for length, share in zip(lengths, shares, strict=True)
                )
            ]
        )
    chosen = 1 if strategy is TruncationStrategy.ONLY_SECOND else 0
    windows: list[Window] = list(whole(lengths))
    if chosen == len(lengths):
        return ItemCut([tuple(windows)])
    length = lengths[chosen]
    if length <= to_remove:
        which, other = ("second", "only_first") if chosen else ("first", "only_second")
        hint = (
            ""
            if strategy is TruncationStrategy.LONGEST_FIRST
            else f"; select 'longest_first' or '{other}' instead"
        )
        problem = (
            f"cannot truncate: {to_remove} tokens are to go, but the {which} sequence has"
            f" {length}{hint}"
        )
        return ItemCut([tuple(windows)], problem=problem)
    windows[chosen] = _kept(length, to_remove, side)
    going = min(length, to_remove + stride)
    return ItemCut(
        [tuple(windows)], (chosen, (0, going) if side == "left" else (length - going, length))
    )


def _shares(length: int, pair_length: int, to_remove: int) -> tuple[int, int]:
    """How many ids each sequence of a pair loses, as if always the longer one lost its next."""
    from_longer = min(abs(pair_length - length), to_remove)
    rest = to_remove - from_longer
    if length > pair_length:
        return from_longer + rest // 2, rest - rest // 2
    return rest // 2, from_longer + rest - rest // 2


def _kept(length: int, going: int, side: str) -> Window:
    going = min(going, length)
    return (going, length) if side == "left" else (0, length - going)


# ---- rows of what does not fit -------------------------------------------------------------------


def cut_to_rows(lengths: tuple[int, ...], cutting: Cutting) -> ItemCut:
    """Truncation as the Rust tokenizers do it: what does not fit becomes rows of its own.

    >>> cut_to_rows((5,), Cutting(5, TruncationStrategy.LONGEST_FIRST, 1, "right", 2, 2)).rows
    [((0, 3),), ((2, 5),)]

    Raises:
        InputError: stride or side cannot be, or the chosen text cannot be cut.
    """
    check_side("truncation_side", cutting.side)
    _check_progress(cutting)
    size = cutting.max_length - cutting.around
    if sum(lengths) <= size:
        return ItemCut([whole(lengths)])
    return ItemCut(_windows_of_rows(lengths, _sizes(lengths, size, cutting.strategy), cutting))


def cut_to_more_rows(lengths: tuple[int, ...], cutting: Cutting) -> ItemCut:
    """Truncation whose first row is that of transformers' slow tokenizers; what does not fit
    becomes rows after it.

    >>> pair = Cutting(6, TruncationStrategy.LONGEST_FIRST, 0, "right", 3, 2)
    >>> cut_to_more_rows((3, 3), pair).rows[0], cut_to_rows((3, 3), pair).rows[0]
    (((0, 2), (0, 1)), ((0, 1), (0, 2)))
    """
    first = cut_to_one_row(lengths, cutting)
    sizes = tuple(map(size, first.rows[0]))
    if sizes == lengths:
        return first
    _check_progress(cutting)
    return ItemCut(_windows_of_rows(lengths, sizes, cutting))


def _check_progress(cutting: Cutting) -> None:
    """Refuse a stride that is too long for `max_length` less the special tokens of one text, even
    if left out.
    """
    stride, max_length = cutting.stride, cutting.max_length
    _check_stride(stride)
    left = max_length - cutting.around_one
    if 0 <= left < stride:
        raise InputError(
            f"stride is {stride}, and max_length {max_length} leaves {left} tokens; it must be less"
        )


def _windows_of_rows(
    lengths: tuple[int, ...], sizes: tuple[int, ...], cutting: Cutting
) -> list[Windows]:
    """The windows of every row, whose texts have at most so many tokens: first what is kept, then
    the overflow.

    For a pair the overflow is every combination of a window of one text and a window of the other,
    but the first: the combinations with later windows of the first text come before those with its
    first window.
    """
    columns = [
        _windows(length, size, cutting.stride, cutting.side)
        for length, size in zip(lengths, sizes, strict=True)
    ]
    if len(columns) == 1:
        return [(window,) for window in columns[0]]
    (first, *rest), second = columns
    found: list[Windows] = [(first, second[0])]
    found += (
        (a, b) for a in (*rest, first) for b in second if a is not first or b is not second[0]
    )
    return found


def _sizes(lengths: tuple[int, ...], room: int, strategy: TruncationStrategy) -> tuple[int, ...]:
    """The sizes that leave no more tokens of both texts together than there is room for."""
    if room == 0:
        return (0,) * len(lengths)
    if strategy is TruncationStrategy.LONGEST_FIRST:
        return (room,) if len(lengths) == 1 else _shares_of_windows(lengths[0], lengths[1], room)
    cut = 0 if strategy is TruncationStrategy.ONLY_FIRST else 1
    if cut == len(lengths):
        raise InputError(
            "truncation is 'only_second' and there is no second text; use 'longest_first'"
        )
    left = room - (sum(lengths) - lengths[cut])
    if left <= 0:
        raise InputError(
            f"the other text alone is longer than the {room} tokens that may stay; truncate with"
            " 'longest_first'"
        )
    return tuple(left if i == cut else length for i, length in enumerate(lengths))


def _shares_of_windows(first: int, second: int, size: int) -> tuple[int, int]:
    """The shares of a pair: the shorter text stays whole while it takes no more than half.

    Where both are cut, the one that is longer has the odd token; of two equally long ones the
    second.
    """
    shorter, longer = sorted((first, second))
    longer = shorter if shorter > size else max(shorter, size - shorter)
    if shorter + longer > size:
        shorter, longer = size // 2, size - size // 2
    return (longer, shorter) if first > second else (shorter, longer)


def _windows(length: int, size: int, stride: int, side: str) -> list[Window]:
    """Windows of `size` that cover a text: from its beginning, or backwards from its end where the
    left is cut.
    """
    if size >= length:
        return [(0, length)]
    if size == 0:
        return [(0, 0), (0, length)]
    if stride >= size:
        raise InputError(
            f"stride is {stride}, and truncation leaves {size} tokens of a text; it must be less"
        )
    spans = []
    for step in range(0, length, size - stride):
        start, end = step, min(step + size, length)
        spans.append((start, end) if side == "right" else (length - end, length - start))
        if end == length:
            break
    return spans
