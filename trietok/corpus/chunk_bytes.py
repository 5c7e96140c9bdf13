"""The shortest way from texts to rows of ids: what a chunk between spaces becomes is remembered as bytes.

In: texts, and a tokenizer whose calls have a plan. Out: their ids as int32 in one run of bytes, and the length of each.
A text costs its `str.split`, a lookup a chunk and a join: no int is made for a token.

What the chunks become is asked of the tokenizer's own encoder, so the ids are those of a call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from trietok.inputs.options import CallOptions
from trietok.text.memory import LONGEST_REMEMBERED, Changed, MayBeSpaced

ID_BYTES = 4
TIMES_CACHE_LIMIT = 3  # a corpus has more words than a text: so much more is remembered than the tokenizer would
ENTRY_BYTES = 160  # of an entry beside its characters and ids: a str, a bytes, and its share of a dict that grows


class Rows(NamedTuple):
    """The encodings of several texts, one behind the other.

    Attributes:
        lengths: how many ids each text has.
        ids: those of all texts, int32.
        columns: masks and type ids by name: a byte for each id.
        offsets: where each token stands in its text, two int32 for each id; None where not asked for.
    """

    lengths: list[int]
    ids: bytes
    columns: dict[str, bytes]
    offsets: bytes | None = None


class ChunkBytes(dict[str, bytes]):
    """Chunk → its ids as int32. It works out what it lacks; when it is full, what was not asked for lately goes.

    There are two generations, each with half of the memory: what is asked for moves into the younger one, and when
    that is full, the older one is forgotten.

    Args:
        work_out: the ids of a chunk.
        limit: bytes that may be remembered, estimated from above.

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
        tokenizer: any; one without plans gets no rows here.
        options: those of a call for texts without padding, offsets and lengths.
    """

    def __init__(self, tokenizer: Any, options: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._options: CallOptions | None = None
        if options.keys() <= set(CallOptions._fields):
            self._options = CallOptions(**options)
        self._encoder: Any = None
        self._memory = ChunkBytes(_nothing)

    def encode(self, texts: list[str]) -> Rows | None:
        """The rows of some texts; None where only a call is right."""
        if self._options is None or not hasattr(self._tokenizer, "_plan"):
            return None
        try:
            plan = self._tokenizer._plan(self._options)
            encoder = self._tokenizer._chunk_encoder()
            if plan is None or encoder is None or plan.epoch != encoder.epoch:
                return None
            if encoder is not self._encoder:
                # Past the encoder's own memory of chunks, which would hold the same a second time.
                self._memory = ChunkBytes(encoder.work_out_chunk, TIMES_CACHE_LIMIT * self._tokenizer.cache_limit)
                self._encoder = encoder
            return self._encode(texts, plan, self._memory)
        except Changed:
            return None

    def _encode(self, texts: list[str], plan: Any, memory: ChunkBytes) -> Rows:
        bytes_of, join = memory.__getitem__, b"".join
        rows = []
        for text in texts:
            try:
                rows.append(join(map(bytes_of, text.split(" "))))
            except MayBeSpaced:  # an added token with spaces may stand in it
                rows.append(array("i", self._encoder.encode(text)).tobytes())
        return Rows(*plan.rows_of_bytes(rows))


def _nothing(chunk: str) -> tuple[int, ...]:
    raise Changed
