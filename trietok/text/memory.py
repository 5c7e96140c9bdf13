"""Caches: dicts that compute a missing value, and are cleared when full.

In: a chunk of text, a word, a character or an id. Out: the ids of the text, or the token of the id.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from trietok.named import NamedTuple

if TYPE_CHECKING:
    from trietok.text.kernel._kernel import Vocabulary as KernelVocabulary
    from trietok.text.stages import Stages

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
                self.times_full += self.limit > 0
                self.forget()
        return ids

    def forget(self) -> None:
        self.bytes = 0  # first, so that what another thread adds meanwhile is counted, if gone
        self.clear()


class WordMemory(Memory):
    """A cache word → ids. It depends on vocabulary and WordPiece only, so encoders share it."""

    __slots__ = (
        *("_also_added", "_longest", "_unknown", "_unknown_ids", "_vocab", "_wordpiece"),
        *("kernel_vocabulary", "stages"),
    )

    def __init__(self, stages: Stages, limit: int) -> None:
        super().__init__(self._ids_of_word, limit)
        self.stages = stages
        self._vocab = stages.vocab
        self._wordpiece = stages.wordpiece
        self._longest = (
            stages.wordpiece.max_input_chars_per_word
            if stages.wordpiece.vocab is stages.vocab
            else -1
        )
        # The entries that are added tokens too, perhaps with another id; tokens added later beside
        # them are none.
        self._also_added = frozenset(stages.vocab.keys() & stages.added.encoder.flat().keys())
        self._unknown = stages.wordpiece.unk_token
        self._unknown_ids: IdTuple | None = None
        self.kernel_vocabulary: KernelVocabulary | None = (
            None  # what the kernels of these encoders share
        )

    def _ids_of_word(self, word: str) -> IdTuple:
        token_id = self._vocab.get(word)
        if token_id is not None and len(word) <= self._longest and word not in self._also_added:
            return (token_id,)
        if self.kernel_vocabulary is not None:
            ids = self.kernel_vocabulary.ids(word)
            if ids is not None:
                return tuple(ids)
        pieces = self._wordpiece.pieces_of(word)
        # the commonest of those that are added tokens too
        if len(pieces) == 1 and pieces[0] is self._unknown:
            if self._unknown_ids is None:
                self._unknown_ids = (self.stages.to_id(self._unknown),)
            return self._unknown_ids
        if self._also_added.isdisjoint(pieces):
            try:
                return tuple(map(self._vocab.__getitem__, pieces))
            except KeyError:  # of a WordPiece stage with entries of its own
                pass
        return tuple(map(self.stages.to_id, pieces))


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
