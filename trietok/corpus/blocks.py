"""Rows of ids joined and cut into blocks of one length.

In: rows. Out: blocks, in the order of the rows; masks and type ids are cut as the ids are.
"""

from __future__ import annotations

from array import array

from trietok.corpus.fast_rows import ID_BYTES, Rows


class Blocks:
    """Joins rows, with the special tokens that are in them, and cuts the run every `length` ids.

    Args:
        length: ids in a block.
        drop_last: whether the last block is left out where it is shorter.

    Attributes:
        dropped: how many ids were left out.

    >>> blocks = Blocks(2)
    >>> blocks.add(Rows(array("i", [3]), bytes(4 * 3), {"attention_mask": b"\\1\\1\\1"}))
    Rows(lengths=array('i', [2]), ids=b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00',
         columns={'attention_mask': b'\\x01\\x01'}, offsets=None, samples=None, overflow=None)
    >>> blocks.end().lengths
    array('i', [1])
    """

    def __init__(self, length: int, drop_last: bool = False) -> None:
        self._length = length
        self._drop_last = drop_last
        self._rest: bytes | bytearray = b""
        self._rests: dict[str, bytes] = {}
        self.dropped = 0

    def add(self, rows: Rows) -> Rows:
        """The blocks that some more rows complete."""
        run = self._rest + rows.ids
        number = len(run) // (self._length * ID_BYTES)
        cut = number * self._length
        self._rest = run[cut * ID_BYTES :]
        columns = {name: self._rests.get(name, b"") + more for name, more in rows.columns.items()}
        self._rests = {name: run[cut:] for name, run in columns.items()}
        complete = {name: run[:cut] for name, run in columns.items()}
        return Rows(array("i", [self._length] * number), run[: cut * ID_BYTES], complete)

    def end(self) -> Rows:
        """What is left: one shorter block, or none."""
        rest, rests = self._rest, self._rests
        self._rest, self._rests = b"", {}
        left = len(rest) // ID_BYTES
        if self._drop_last:
            self.dropped += left
            return Rows(array("i"), b"", dict.fromkeys(rests, b""))
        return Rows(array("i", [left] if left else []), rest, rests)
