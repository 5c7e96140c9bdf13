"""What the fast path remembers: dicts that work out what they lack, and forget all when they are full.

In: a chunk of text, a word, a character or an id. Out: what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

IdTuple = tuple[int, ...]

LONGEST_REMEMBERED = 64  # code points; a longer chunk is rarely met again
MEMORY_LIMIT = 64_000_000  # bytes
ENTRY_BYTES = 190  # of an entry beside its characters and ids: a str, a tuple, and its share of a dict that grows


class MayBeSpaced(Exception):
    """A chunk of the text ends as an added token with spaces begins."""


class _Stop(IdTuple):
    """Stands for the ids of such a chunk, and stops who reads them."""

    def __iter__(self) -> Iterator[int]:
        raise MayBeSpaced


STOP = _Stop()


class CacheInfo(NamedTuple):
    """What a tokenizer remembers; see `BertTokenizer.cache_info`.

    Attributes:
        chunks: how many chunks of text, as they stand between spaces.
        words: how many words that are not chunks, such as "cafe" of "café".
        bytes: what they take, estimated from above.
        limit: the most bytes they may take. Each of the memories has a share, and forgets all when that is full.
        times_full: how often one was.
    """

    chunks: int
    words: int
    bytes: int
    limit: int
    times_full: int


class Memory(dict[str, IdTuple]):
    """A dict that works out what it lacks, and forgets all when it is full.

    Attributes:
        bytes: what it takes, estimated from above.
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
            self.bytes += ENTRY_BYTES + 8 * len(ids) + (length if text.isascii() else 4 * length)
            if self.bytes <= self.limit:
                self[text] = ids
            else:
                self.times_full += self.limit > 0
                self.forget()
        return ids

    def forget(self) -> None:
        self.clear()
        self.bytes = 0


class NotOne(LookupError):
    """A character that has no id, or several; an id that has two tokens."""


class Characters(dict[str, int]):
    """The id of each Chinese character. There are fewer than 100,000 of them, so they need no bound of their own."""

    __slots__ = ("remembers", "work_out")

    def __init__(self, work_out: Callable[[str], IdTuple], remembers: bool) -> None:
        super().__init__()
        self.work_out = work_out
        self.remembers = remembers

    def __missing__(self, char: str) -> int:
        ids = self.work_out(char)
        if len(ids) != 1:
            raise NotOne(char)
        if self.remembers:
            self[char] = ids[0]
        return ids[0]


class Tokens(dict[int, str]):
    """The token of each id that has come up."""

    __slots__ = ("to_token",)

    def __init__(self, to_token: Callable[[int], str | None]) -> None:
        super().__init__()
        self.to_token = to_token

    def __missing__(self, token_id: int) -> str:
        token = self.to_token(token_id)
        if token is None:
            raise NotOne(token_id)
        self[token_id] = token
        return token
