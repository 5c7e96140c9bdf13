"""Rows of ids joined and cut into blocks of one length.

In: rows as int32 bytes. Out: blocks as int32 bytes, in the order of the rows.
"""

from __future__ import annotations

from array import array

from trietok.corpus.fast_rows import ID_BYTES


class Blocks:
    """Joins rows, with the special tokens that are in them, and cuts the run every `length` ids.

    Args:
        length: ids in a block.
        drop_last: whether the last block is left out where it is shorter.

    Attributes:
        dropped: how many ids were left out.

    >>> blocks = Blocks(2)
    >>> blocks.add(bytes(4 * 3))
    (array('i', [2]), b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00')
    >>> blocks.end()
    (array('i', [1]), b'\\x00\\x00\\x00\\x00')
    """

    def __init__(self, length: int, drop_last: bool = False) -> None:
        self._length = length
        self._drop_last = drop_last
        self._rest = b""
        self.dropped = 0

    def add(self, ids: bytes | bytearray) -> tuple[array[int], bytes]:
        """The blocks that some more ids complete: their lengths, and their ids."""
        run = self._rest + ids
        number = len(run) // (self._length * ID_BYTES)
        cut = number * self._length * ID_BYTES
        self._rest = run[cut:]
        return array("i", [self._length] * number), run[:cut]

    def end(self) -> tuple[array[int], bytes]:
        """What is left: one shorter block, or none."""
        rest, self._rest = self._rest, b""
        left = len(rest) // ID_BYTES
        if self._drop_last:
            self.dropped += left
            return array("i"), b""
        return array("i", [left] if left else []), rest
