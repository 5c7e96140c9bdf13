"""Shortening a sequence or a pair: which ids go, and which are handed back as overflowing.

In: ids of one or two sequences and the number to remove. Out: the shorter ids and the overflow. The counts are those of
transformers' `truncate_sequences` (4.57.6).
"""

from __future__ import annotations

from trietok import log
from trietok.errors import InputError
from trietok.inputs.tensors import ExplicitEnum

Ids = list[int]


class TruncationStrategy(ExplicitEnum):
    """The values of `truncation`; True means `longest_first`, False `do_not_truncate`."""

    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    LONGEST_FIRST = "longest_first"
    DO_NOT_TRUNCATE = "do_not_truncate"


def truncate(
    ids: Ids,
    pair_ids: Ids | None,
    num_tokens_to_remove: int,
    strategy: TruncationStrategy,
    stride: int,
    side: str,
) -> tuple[Ids, Ids | None, Ids]:
    """Remove ids from the `side` end of one sequence or both.

    Args:
        ids, pair_ids: the sequences; neither is changed.
        num_tokens_to_remove: how many ids in all.
        strategy: from which sequence.
        stride: how many of the ids that are kept to repeat before the overflow.
        side: `"right"` or `"left"`.

    Returns:
        ids, pair_ids, overflowing: the last is empty for a pair under `longest_first`. Where the chosen sequence is not
        longer than what is to be removed, nothing is and the log says so, as in transformers.

    Raises:
        InputError: `side` is neither.
    """
    if num_tokens_to_remove <= 0 or strategy is TruncationStrategy.DO_NOT_TRUNCATE:
        return ids, pair_ids, []
    if not isinstance(stride, int) or stride < 0:
        raise InputError(f"stride is {stride!r}; it is a whole number from 0")
    if side not in ("left", "right"):
        raise InputError(f"truncation_side is 'left' or 'right', not {side!r}")
    if strategy is TruncationStrategy.LONGEST_FIRST and pair_ids is not None:
        from_ids, from_pair = _shares(len(ids), len(pair_ids), num_tokens_to_remove)
        return _cut(ids, from_ids, side), _cut(pair_ids, from_pair, side), []
    if strategy is TruncationStrategy.ONLY_SECOND:
        if pair_ids is None:
            return ids, pair_ids, []
        if len(pair_ids) > num_tokens_to_remove:
            overflow = _overflow(pair_ids, num_tokens_to_remove + stride, side)
            return ids, _cut(pair_ids, num_tokens_to_remove, side), overflow
        which, other, length = "second", "only_first", len(pair_ids)
    else:
        if len(ids) > num_tokens_to_remove:
            overflow = _overflow(ids, num_tokens_to_remove + stride, side)
            return _cut(ids, num_tokens_to_remove, side), pair_ids, overflow
        which, other, length = "first", "only_second", len(ids)
    hint = "" if strategy is TruncationStrategy.LONGEST_FIRST else f"; select 'longest_first' or '{other}' instead"
    log.error(
        "cannot truncate: %d tokens are to go, but the %s sequence has %d%s",
        num_tokens_to_remove,
        which,
        length,
        hint,
    )
    return ids, pair_ids, []


def _shares(length: int, pair_length: int, to_remove: int) -> tuple[int, int]:
    """How many ids each sequence of a pair loses, as if always the longer one lost its next."""
    from_longer = min(abs(pair_length - length), to_remove)
    rest = to_remove - from_longer
    if length > pair_length:
        return from_longer + rest // 2, rest - rest // 2
    return rest // 2, from_longer + rest - rest // 2


def _cut(ids: Ids, count: int, side: str) -> Ids:
    if count <= 0:
        return ids
    return ids[count:] if side == "left" else ids[:-count]


def _overflow(ids: Ids, count: int, side: str) -> Ids:
    count = min(len(ids), count)
    return ids[:count] if side == "left" else ids[-count:]
