"""Caches: dicts that compute a missing value, and are cleared when full.

In: a chunk of text, a word, a character or an id. Out: the ids of the text, or the token of the id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trietok.named import NamedTuple

IdTuple = tuple[int, ...]

LONGEST_REMEMBERED = 64  # code points; a longer chunk is not cached, since it is rarely met again
MEMORY_LIMIT = 64_000_000  # bytes
ENTRY_BYTES = 190  # of an entry without its characters and ids: a str, a tuple, and its share of a growing dict


class MayBeSpaced(Exception):
    """A chunk of the text ends with the first word of an added token with spaces."""


class _Stop(IdTuple):
    """The cached value for such a chunk instead of its ids: reading it raises `MayBeSpaced`."""

    def __iter__(self) -> Iterator[int]:
        raise MayBeSpaced


STOP = _Stop()


class CacheInfo(NamedTuple):
    """What the caches of a tokenizer hold; see `BertTokenizer.cache_info`.

    Attributes:
        chunks: how many chunks of text; a chunk is what the text has between two spaces.
        words: how many words that are not chunks, such as "cafe" of "café".
        bytes: how many bytes they take; an upper estimate.
        limit: the most bytes they may take. Each cache has a share of it, and is cleared when that share is full.
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
            self.bytes += taken  # no call in this line, in which another thread could come and its bytes be lost
            if self.bytes <= self.limit:
                self[text] = ids
            else:
                self.times_full += self.limit > 0
                self.forget()
        return ids

    def forget(self) -> None:
        self.bytes = 0  # first, so that what another thread adds meanwhile is counted, if gone
        self.clear()


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
    """The token of each id that was looked up."""

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
