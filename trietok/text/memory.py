"""Caches: dicts that compute a missing value, and are cleared when full.

In: a chunk of text, a word, a character or an id. Out: the ids of the text, or the token of the id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

IdTuple = tuple[int, ...]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

LONGEST_REMEMBERED = 64  # code points; a longer chunk is not cached, since it is rarely met again
MEMORY_LIMIT = 64_000_000  # bytes
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


class Memory(dict[str, IdTuple]):
    """A dict that computes a missing value, and is cleared when it is full.

    Attributes:
        bytes: how many bytes it takes; an upper estimate.
        times_full: how often it was full.
    """

    __slots__ = ("bytes", "limit", "times_full", "work_out")

    def __init__(self, work_out: Callable[[str], IdTuple], limit: int) -> None:
        super().__init__()
        self.work_out = work_out
        self.limit = limit
        self.times_full = 0
        self.forget()

    def __missing__(self, text: str) -> IdTuple:
        ids = self.work_out(text)
        length = len(text)
        if length <= LONGEST_REMEMBERED:
            taken = ENTRY_BYTES + 8 * len(ids) + (length if text.isascii() else 4 * length)
            # no call in this line, in which another thread could come and its bytes be lost
            self.bytes += taken
            if self.bytes <= self.limit:
                self[text] = ids
            else:
                # a limit of 0 is that of a cache which a kernel has in its stead: it is never full
                self.times_full += self.limit > 0
                self.forget()
        return ids

    def forget(self) -> None:
        self.bytes = 0  # first, so that what another thread adds meanwhile is counted, if gone
        self.clear()


class NotOne(LookupError):
    """An id that has no token, or two; a character that has no id, or several."""


class Known(dict[_Key, _Value]):
    """What is worked out of each id or character that was looked up; `NotOne` where that is None.

    There are not so many of them that it needs a bound.
    """

    __slots__ = ("work_out",)

    def __init__(self, work_out: Callable[[_Key], _Value | None]) -> None:
        super().__init__()
        self.work_out = work_out

    def __missing__(self, key: _Key) -> _Value:
        value = self.work_out(key)
        if value is None:
            raise NotOne(key)
        self[key] = value
        return value
