"""The fastest way from texts to rows of ids: the ids of a chunk between spaces are cached as bytes.

In: texts, and a tokenizer whose calls have a plan. Out: their ids as int32 in one run of bytes, and the length of each.
A text costs one `str.split`, one lookup per chunk and one join: no int is made for a token.

The tokenizer's own encoder encodes the chunks, so the ids are those of a call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from trietok.inputs.options import CallOptions
from trietok.inputs.quick_plan import QuickPlan
from trietok.text.chunk_encoder import ChunkEncoder
from trietok.text.memory import LONGEST_REMEMBERED, MayBeSpaced

ID_BYTES = 4  # of an id: int32
TIMES_CACHE_LIMIT = 3  # a corpus has more words than a text: the cache is so many times as big as the tokenizer's
ENTRY_BYTES = 160  # of an entry without its characters and ids: a str, a bytes, and its share of a growing dict


class Rows(NamedTuple):
    """The encodings of several texts, one behind the other.

    Attributes:
        lengths: how many ids each text has.
        ids: those of all texts, int32.
        columns: masks and type ids by name: a byte for each id.
        offsets: the span of each token in its text, two int32 for each id; None if the options do not ask for it.
    """

    lengths: list[int]
    ids: bytes
    columns: dict[str, bytes]
    offsets: bytes | None = None


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


class FastRows:
    """Rows by a tokenizer's plan for one set of call options.

    Args:
        tokenizer: any tokenizer; if its calls go through methods that a user has replaced, `encode` returns None.
        options: the options of a call for texts, without padding, offsets and lengths.
    """

    def __init__(self, tokenizer: Any, options: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._options: CallOptions | None = None
        if options.keys() <= set(CallOptions._fields):
            self._options = CallOptions(**options)
        self._encoder: Any = None
        self._memory = ChunkBytes(lambda chunk: ())

    def encode(self, texts: list[str]) -> Rows | None:
        """The rows of some texts; None if only a call gives the right rows."""
        if self._options is None or not getattr(self._tokenizer, "is_plain", False):
            return None
        encoder = self._tokenizer.text_encoder
        plan = self._tokenizer.input_builder.plan(self._options)
        if not isinstance(encoder, ChunkEncoder) or not isinstance(plan, QuickPlan):
            return None
        if encoder is not self._encoder:
            # The encoder's own cache of chunks is not used: it would hold the same entries a second time.
            self._memory = ChunkBytes(encoder.work_out_chunk, TIMES_CACHE_LIMIT * self._tokenizer.cache_limit)
            self._encoder = encoder
        bytes_of, join = self._memory.__getitem__, b"".join
        rows = []
        for text in texts:
            try:
                rows.append(join(map(bytes_of, text.split(" "))))
            except MayBeSpaced:  # the text may contain an added token with spaces
                rows.append(array("i", encoder.ids(text)).tobytes())
        return Rows(*plan.rows_of_bytes(rows))
