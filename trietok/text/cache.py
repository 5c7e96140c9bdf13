"""A cache that is a plain dict, so that `map(cache.__getitem__, keys)` stays in C; and
`cached_property`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

_Value = TypeVar("_Value")

LONGEST_KEY = 64  # code points; a longer key is not cached, since it is rarely met again
CACHE_LIMIT = 64_000_000  # bytes
# of an entry without its characters and ids: a str, a tuple, and its share of a growing dict
ENTRY_BYTES = 190


class CacheInfo(NamedTuple):
    """What the caches of a tokenizer hold; see `BertTokenizer.cache_info`.

    Attributes:
        chunks: how many chunks of text; a chunk is what the text has between two spaces.
        words: how many words that are not chunks, such as "cafe" of "café".
        bytes: how many bytes they take; an upper estimate.
        limit: the most bytes they may take. Each cache has a share of it, and is cleared when that
            share is full.
        times_full: how often a cache was full.
    """

    chunks: int
    words: int
    bytes: int
    limit: int
    times_full: int


class Cache(dict[str, _Value], Generic[_Value]):
    """What a function says of each key. A full cache is cleared as a whole.

    Args:
        function: says it.
        limit: the most bytes that the entries may take, by an upper estimate; 0 for no cache.
        size_of: how many numbers of eight bytes a value has.

    Attributes:
        bytes: the bytes that the entries take.
        times_full: how often the cache was full.
    """

    __slots__ = ("_size_of", "bytes", "function", "limit", "times_full")

    def __init__(
        self,
        function: Callable[[str], _Value],
        limit: int = CACHE_LIMIT,
        size_of: Callable[[_Value], int] = len,  # type: ignore[assignment]
    ) -> None:
        super().__init__()
        self.function = function
        self.limit = limit
        self._size_of = size_of
        self.bytes = self.times_full = 0

    def __missing__(self, key: str) -> _Value:
        value = self.function(key)
        length = len(key)
        if length <= LONGEST_KEY:
            taken = ENTRY_BYTES + 8 * self._size_of(value)
            taken += length if key.isascii() else 4 * length
            # no call in this line, in which another thread could come and its bytes be lost
            self.bytes += taken
            if self.bytes <= self.limit:
                self[key] = value
            else:
                # a limit of 0 is that of a cache which a kernel has in its stead: it is never full
                self.times_full += self.limit > 0
                self.forget()
        return value

    def forget(self) -> None:
        """Drop all entries."""
        self.bytes = 0  # first, so that what another thread adds meanwhile is counted, if gone
        self.clear()


class cached_property(functools.cached_property[_Value]):  # as Python calls it
    """Python's own, without the lock that it has before 3.12: all objects of a class share it, and
    a child that is forked while another thread works a value out would wait for it for ever.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
