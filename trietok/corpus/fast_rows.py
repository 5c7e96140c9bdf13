"""Texts to rows of ids by the plan of a call, without the call: no int is made for a token.

In: texts, as strs or in an Arrow array, and a tokenizer whose calls have a plan. Out: their ids as int32 in one run of
bytes, and the length of each.

The compiled kernel encodes the texts where the tokenizer has one, else `ChunkBytes`. Both ask the tokenizer's own
encoder, so the ids are those of a call.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from trietok.corpus.chunk_bytes import ChunkBytes
from trietok.corpus.text_buffers import buffer_of
from trietok.inputs.options import CallOptions
from trietok.inputs.quick_plan import QuickPlan
from trietok.text.chunk_encoder import ChunkEncoder
from trietok.text.kernel.chosen import TEXT_AT_ONCE_BEFORE_KERNEL
from trietok.text.memory import MayBeSpaced

ID_BYTES = 4  # of an id: int32
TIMES_CACHE_LIMIT = 3  # a corpus has more words than a text: `ChunkBytes` is so many times as big as the tokenizer's


class Overflow(NamedTuple):
    """What a slow tokenizer cut off: for each text, the ids, and how many tokens there were too many.

    Attributes:
        lengths: how many ids were cut off, int32.
        ids: those of all texts, int32.
        truncated: tokens beyond `max_length`, int32; below 0 where there was room left.
    """

    lengths: array[int]
    ids: bytes
    truncated: array[int]


class Rows(NamedTuple):
    """The encodings of several texts, one behind the other.

    Attributes:
        lengths: how many ids each row has, int32.
        ids: those of all rows, int32.
        columns: masks and type ids by name: a byte for each id.
        offsets: the span of each token in its text, two int32 for each id; None if the options do not ask for it.
        samples: the number of each row's text, int32; None if there is one row for each.
        overflow: None if the options do not ask for it.
    """

    lengths: array[int]
    ids: bytes | bytearray
    columns: dict[str, bytes]
    offsets: bytes | None = None
    samples: array[int] | None = None
    overflow: Overflow | None = None


class FastRows:
    """Rows by a tokenizer's plan for one set of call options.

    Args:
        tokenizer: any tokenizer; if its calls go through methods that a user has replaced, there are no such rows.
        options: the options of a call for texts, without padding, offsets and lengths.
    """

    def __init__(self, tokenizer: Any, options: dict[str, Any]) -> None:
        self._tokenizer = tokenizer
        self._options: CallOptions | None = None
        if options.keys() <= set(CallOptions._fields):
            self._options = CallOptions(**options)
        self._encoder: ChunkEncoder | None = None
        self._memory = ChunkBytes(lambda chunk: ())

    def make_kernel(self) -> bool:
        """Whether the compiled kernel encodes the texts; then it is made now, if it was not before."""
        now = self._now()
        if now is None:
            return False
        now[0].make_kernel()
        return now[0].kernel is not None

    def encode(self, texts: list[str]) -> Rows | None:
        """The rows of some texts; None if only a call gives the right rows."""
        now = self._now()
        if now is None:
            return None
        encoder, plan = now
        if encoder.may_have_kernel:
            return Rows(*plan.byte_rows(encoder.rows(texts)))
        return Rows(*plan.rows_of_bytes(self._by_chunks(encoder, texts)))

    def encode_column(self, column: Any) -> Rows | None:
        """The rows of an Arrow array of `large_string`; None if strs are needed: no kernel yet, or not all is UTF-8."""
        now = self._now()
        if now is None or not now[0].may_have_kernel:
            return None
        encoder, plan = now
        texts = buffer_of(column)
        if len(texts.data) >= TEXT_AT_ONCE_BEFORE_KERNEL:
            encoder.make_kernel()
        rows = None if encoder.kernel is None else encoder.kernel.rows_between(*texts)
        return None if rows is None else Rows(*plan.byte_rows(rows))

    def cut_characters(self) -> tuple[int, int] | None:
        """Where a text may be cut for `long_row`; see `ChunkEncoder.cut_characters`. None where it may not be cut."""
        now = self._now()
        return None if now is None else now[0].cut_characters()

    def long_row(self, pieces: Iterable[bytes]) -> Iterator[Rows]:
        """The row of a text that comes in pieces, part by part, without its length; no more is read than is kept.

        Args:
            pieces: UTF-8, cut where `cut_characters` says.
        """
        now = self._now()
        assert now is not None
        encoder, plan = now
        parts = plan.kept_of(self._piece_ids(encoder, piece) for piece in pieces)
        for ids, columns in plan.parts_of_row(parts):
            yield Rows(array("i"), ids, columns)

    def _piece_ids(self, encoder: ChunkEncoder, piece: bytes) -> bytes | bytearray:
        if encoder.may_have_kernel:
            if len(piece) >= TEXT_AT_ONCE_BEFORE_KERNEL:
                encoder.make_kernel()
            bounds = struct.pack("qq", 0, len(piece))
            rows = None if encoder.kernel is None else encoder.kernel.rows_between(piece, bounds, 0, 1)
            if rows is not None:
                return rows.int32(b"", b"")
        return self._by_chunks(encoder, [piece.decode("utf-8")])[0]

    def _now(self) -> tuple[ChunkEncoder, QuickPlan] | None:
        """The tokenizer's encoder and its plan of a call; None where there are others."""
        if self._options is None or not getattr(self._tokenizer, "is_plain", False):
            return None
        encoder = self._tokenizer.text_encoder
        plan = self._tokenizer.input_builder.plan(self._options)
        return (encoder, plan) if isinstance(encoder, ChunkEncoder) and isinstance(plan, QuickPlan) else None

    def _by_chunks(self, encoder: ChunkEncoder, texts: list[str]) -> list[bytes]:
        """The ids of each text: a `str.split`, a lookup per chunk and a join."""
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
        return rows
