"""The ids of a chunk between spaces, cached as bytes: how a corpus is encoded in plain Python.

In: chunks. Out: the ids of each as int32.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable

from trietok.text.memory import LONGEST_REMEMBERED

ENTRY_BYTES = 160  # of an entry without its characters and ids: a str, a bytes, and its share of a growing dict


class ChunkBytes(dict[str, bytes]):
    """A cache: chunk → its ids as int32. It computes a missing value; when full, it drops entries not used lately.

    There are two generations, each with half of the memory: an entry that is used moves into the younger one, and when
    that is full, the older one is dropped.

    Args:
        work_out: gives the ids of a chunk.
        limit: how many bytes the cache may take, by an upper estimate.

    >>> memory = ChunkBytes(lambda chunk: (7, 8))
    >>> memory["word"]
    b'\\x07\\x00\\x00\\x00\\x08\\x00\\x00\\x00'
    """

    __slots__ = ("_held", "_limit", "_older", "_work_out")

    def __init__(self, work_out: Callable[[str], Iterable[int]], limit: int = 1_000_000) -> None:
        super().__init__()
        self._work_out = work_out
        self._limit = limit // 2
        self._held = 0
        self._older: dict[str, bytes] = {}

    def __missing__(self, chunk: str) -> bytes:
        ids = self._older.get(chunk)
        if ids is None:
            ids = array("i", iter(self._work_out(chunk))).tobytes()  # iter: it may raise MayBeSpaced
        length = len(chunk)
        if length <= LONGEST_REMEMBERED:
            self._held += ENTRY_BYTES + len(ids) + (length if chunk.isascii() else 4 * length)
            if not self._limit:
                return ids
            if self._held > self._limit:
                self._older = dict(self)
                self.clear()
                self._held = 0
            self[chunk] = ids
        return ids
