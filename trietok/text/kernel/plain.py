"""The ids of many texts: `ListRows` in plain Python; the compiled kernel has its twin.

In: lists of ids. Out: their lengths, lists with special tokens around, or int64 in one buffer with padding.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    from trietok.text.kernel._kernel import Rows as CompiledRows

    Rows: TypeAlias = "CompiledRows | ListRows"  # the ids of some texts, a row for each


class ListRows:
    """Rows that are lists.

    >>> rows = ListRows([[7, 8], [9]])
    >>> rows.lists([1], [2]), rows.extremes()
    ([[1, 7, 8, 2], [1, 9, 2]], (1, 2))
    >>> array("q", rows.int64(3, b"", b"", 0, False)).tolist()
    [7, 8, 0, 9, 0, 0]
    """

    def __init__(self, rows: Iterable[list[int]]) -> None:
        self._rows = list(rows)

    def extremes(self) -> tuple[int, int]:
        """How many ids the shortest row has, and the longest; 0 where there are no rows."""
        return min(map(len, self._rows), default=0), max(map(len, self._rows), default=0)

    def int32_lengths(self, around: int) -> bytes:
        """How many ids each row has, and `around` more, as int32; an OverflowError where int32 cannot hold one."""
        return array("i", [len(row) + around for row in self._rows]).tobytes()

    def cut(self, room: int, from_left: bool) -> None:
        """Cut each row to at most `room` ids, at its beginning or its end."""
        self._rows = [row[len(row) - room :] if from_left and len(row) > room else row[:room] for row in self._rows]

    def lists(self, front: list[int], back: list[int]) -> list[list[int]]:
        """Each row as a list of ids between those of two lists."""
        return [[*front, *row, *back] for row in self._rows]

    def int32(self, front: bytes, back: bytes) -> bytes:
        """All rows as int32, one behind the other, each between int32 numbers."""
        return b"".join([part for row in self._rows for part in (front, array("i", row).tobytes(), back)])

    def int64(
        self, width: int, front: bytes, back: bytes, padding: Any, pads_left: bool, filler: int = -1
    ) -> bytearray:
        """All rows as int64, each of `width` numbers, with the padding id for what it lacks.

        Args:
            width: how many numbers a row has with what is around it; none has more.
            front, back: int64 numbers around each row.
            padding: the padding id.
            pads_left: whether padding comes first.
            filler: a number instead of each id, for masks and type ids; negative for the ids.
        """
        around = (len(front) + len(back)) // 8
        padding_bytes = b"" if padding is None else array("q", [padding]).tobytes()
        filler_bytes = array("q", [filler]).tobytes()
        parts: list[bytes] = []
        for row in self._rows:
            numbers = array("q", row).tobytes() if filler < 0 else filler_bytes * len(row)
            fill = padding_bytes * (width - around - len(row))
            parts += (fill, front, numbers, back) if pads_left else (front, numbers, back, fill)
        return bytearray().join(parts)
