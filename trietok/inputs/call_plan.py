"""What one set of call options comes to, worked out once: the way from a text, or a batch, to model inputs.

In: the options of a call and a tokenizer's settings. Out: a plan that does nothing the options do not ask for. It
covers calls for texts without pairs, overflow or lengths; its results are those of `prepare_for_model` and `pad`,
which do all the rest.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import CallOptions, Strategies
from trietok.inputs.padding import PaddingStrategy, padded_length
from trietok.inputs.quick_plan import ByteColumn, ByteRows
from trietok.inputs.tensors import TensorType, bytes_to_tensor, numbers_to_tensor
from trietok.inputs.truncation import TruncationStrategy
from trietok.text.locating_encoder import LocatingEncoder

if TYPE_CHECKING:
    from typing import Protocol

    from trietok.inputs.encoding import Encoding
    from trietok.inputs.pieces import Piece
    from trietok.text.alignment import Located, Span

    class Tokenizer(Protocol):
        """What planning needs to know of a tokenizer."""

        model_max_length: int
        model_input_names: list[str]
        padding_side: str
        truncation_side: str

        @property
        def pad_token_id(self) -> int | None: ...
        @property
        def pad_token_type_id(self) -> int: ...
        @property
        def is_fast(self) -> bool: ...
        def _pieces_around(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]: ...
        def _located(self, text: str, options: Mapping[str, Any]) -> Located: ...
        def _chunk_encoder(self) -> LocatingEncoder | None: ...
        def warn_once(self, key: str, message: str) -> None: ...
        def _warn_of_length(self, ids: list[int], max_length: int | None, verbose: bool) -> None: ...


_Item = TypeVar("_Item")
Ids = list[int]
NO_LIMIT = float("inf")
_NO_SPAN = (0, 0)
_NEVER_PLANNED = ("only_second", TruncationStrategy.ONLY_SECOND)  # an error without a second text, in the Rust profile


def is_plannable(options: CallOptions, tokenizer: Tokenizer) -> bool:
    """Whether a `CallPlan` covers these options."""
    return (
        not (options.is_split_into_words or options.return_overflowing_tokens)
        and not options.return_length
        and not (options.return_token_type_ids and not options.add_special_tokens)
        and type(options.stride) is int
        and options.stride >= 0
        and not (tokenizer.is_fast and (options.stride or options.truncation in _NEVER_PLANNED))
        and options.padding_side in (None, "left", "right")
        and tokenizer.padding_side in ("left", "right")
        and tokenizer.truncation_side in ("left", "right")
        and tokenizer.model_input_names[:1] == ["input_ids"]
    )


class CallPlan:
    """A call with its options resolved.

    Args:
        tokenizer: whose settings count; its template puts the same ids around every text.
        encoder: text → ids.
        options: those of the call, for which `is_plannable` holds.
        strategies: what padding, truncation and max_length come to.

    Attributes:
        epoch: the moment it was made at; see `trietok.text.change_guard.clock`.
        front, back: the special tokens around a text.
        limit: a text with more ids than this is worth a warning.
        room: how many ids of a text itself are kept; `NO_LIMIT` for all.
        cuts_left: whether those that do not fit are taken from the left.
        columns: what is returned beside the ids.
    """

    def __init__(
        self, tokenizer: Tokenizer, encoder: LocatingEncoder, options: CallOptions, strategies: Strategies
    ) -> None:
        self.epoch = encoder.epoch
        self.chunk_ids = encoder.chunk_ids
        self._encode = encoder.encode
        self._spans = encoder.spans
        self._encoder = encoder
        self._with_offsets = options.return_offsets_mapping
        self.encode_around_tokens = encoder.encode_around_tokens
        self._tokenizer = tokenizer
        self._max_length = strategies.max_length
        self._padding = strategies.padding
        self._multiple_of = options.pad_to_multiple_of
        self._pad_id: Any = tokenizer.pad_token_id
        self._pad_left = (options.padding_side or tokenizer.padding_side) == "left"
        self.cuts_left = tokenizer.truncation_side == "left"
        self._tensors = None if options.return_tensors is None else TensorType(options.return_tensors)
        self.limit: float = NO_LIMIT
        if strategies.max_length is None and options.verbose and tokenizer.model_max_length > 0:
            self.limit = tokenizer.model_max_length
        types = self._read_template(tokenizer, options.add_special_tokens)
        self.room: float = NO_LIMIT  # for the ids of the text itself
        if (
            strategies.truncation in (TruncationStrategy.LONGEST_FIRST, TruncationStrategy.ONLY_FIRST)
            and strategies.max_length is not None
        ):
            self.room = strategies.max_length - len(self.front) - len(self.back)
        self.columns = list(self._chosen_columns(tokenizer, options, types))

    def _read_template(self, tokenizer: Tokenizer, add_special_tokens: bool) -> ByteColumn:
        """Take apart what the tokenizer puts around a text; return the token types."""
        padding = bytes([tokenizer.pad_token_type_id])
        self.front: Ids = []
        self.back: Ids = []
        pieces = self._pieces = tokenizer._pieces_around(False, add_special_tokens)
        types = bytes([piece.type_id for piece in pieces])
        at = next(place for place, piece in enumerate(pieces) if piece.sequence is not None)
        ids = [-1 if piece.token_id is None else piece.token_id for piece in pieces]
        self.front, self.back = ids[:at], ids[at + 1 :]
        return ByteColumn("token_type_ids", types[:at], types[at : at + 1], types[at + 1 :], padding)

    def _chosen_columns(self, tokenizer: Tokenizer, options: CallOptions, types: ByteColumn) -> Iterator[ByteColumn]:
        names = tokenizer.model_input_names
        before, after = len(self.front), len(self.back)
        with_types, with_mask = options.return_token_type_ids, options.return_attention_mask
        if "token_type_ids" in names if with_types is None else with_types:
            yield types
        masks = []
        if options.return_special_tokens_mask:
            masks.append(ByteColumn("special_tokens_mask", b"\1" * before, b"\0", b"\1" * after, b"\1"))
        if "attention_mask" in names if with_mask is None else with_mask:
            masks.append(ByteColumn("attention_mask", b"\1" * before, b"\1", b"\1" * after, b"\0"))
        yield from reversed(masks) if tokenizer.is_fast else masks  # each profile has its order

    def ids(self, text: str) -> Ids:
        """The ids of one text, cut to length, with the special tokens around.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        ids = [*self.front, *self._cut(self._encode(text)), *self.back]
        if len(ids) > self.limit:
            self._tokenizer._warn_of_length(ids, None, verbose=True)
        return ids

    def _cut(self, row: list[_Item]) -> list[_Item]:
        """What there is room for of something that a text's tokens have."""
        if len(row) <= self.room:
            return row
        start, end = self._window(len(row))
        return row[start:end]

    def _padded(self, row: list[_Item], filler: _Item, missing: int) -> list[_Item]:
        if not missing:
            return row
        padding = [filler] * missing
        return padding + row if self._pad_left else row + padding

    def _padded_length(self, longest: int) -> int:
        if self._padding is PaddingStrategy.DO_NOT_PAD:
            return 0
        if self._padding is PaddingStrategy.MAX_LENGTH and self._max_length is not None:
            longest = self._max_length
        return padded_length(longest, self._multiple_of)

    def one(self, text: str) -> BatchEncoding | None:
        """The encoding of one text; None for a text that has no id, which is not padded.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        ids = self.ids(text)
        if not ids and not self._tokenizer.is_fast:
            return None
        length = len(ids) - len(self.front) - len(self.back)
        missing = max(self._padded_length(len(ids)) - len(ids), 0)
        values: dict[str, Any] = {"input_ids": self._padded(ids, self._pad_id, missing)}
        for column in self.columns:
            values[column.name] = list(column.row(length, missing, self._pad_left))
        if self._with_offsets:
            values["offset_mapping"] = self._offsets(text, missing, length)
        return BatchEncoding(values, tensor_type=self._tensors, prepend_batch_axis=True, details=(self, text))

    def batch(self, texts: Sequence[str]) -> BatchEncoding:
        """The encoding of a batch that is not empty.

        Raises:
            Changed: the tokenizer has changed meanwhile.
        """
        rows = [self.ids(text) for text in texts]
        lengths = [len(row) for row in rows]
        width = self._padded_length(max(lengths))
        missing = [max(width - length, 0) for length in lengths]
        rows = [self._padded(row, self._pad_id, more) for row, more in zip(rows, missing, strict=True)]
        around = len(self.front) + len(self.back)
        columns = {
            column.name: [
                column.row(length - around, more, self._pad_left) for length, more in zip(lengths, missing, strict=True)
            ]
            for column in self.columns
        }
        width = len(rows[0])
        if self._with_offsets:
            offsets = [
                self._offsets(text, more, length - around)
                for text, more, length in zip(texts, missing, lengths, strict=True)
            ]
            lists = {name: list(map(list, column)) for name, column in columns.items()}
            with_offsets = {"input_ids": rows, **lists, "offset_mapping": offsets}
            return BatchEncoding(with_offsets, tensor_type=self._tensors, details=(self, texts))
        if self._tensors is not None and all(len(row) == width for row in rows) and width:
            values = {"input_ids": numbers_to_tensor(chain.from_iterable(rows), len(rows), width, self._tensors)}
            for name, column in columns.items():
                values[name] = bytes_to_tensor(b"".join(column), len(rows), width, self._tensors)
            return BatchEncoding(values, details=(self, texts))
        values = {"input_ids": rows}
        for name, column in columns.items():
            values[name] = list(map(list, column))
        return BatchEncoding(values, tensor_type=self._tensors, details=(self, texts))

    def rows_of_bytes(self, texts: Sequence[bytes]) -> ByteRows:
        """Rows of texts whose ids are int32 in bytes; see `QuickPlan.rows_of_bytes`."""
        if self.room != NO_LIMIT:
            room = int(self.room) * 4
            if self.cuts_left:
                texts = [text[len(text) - room :] if len(text) > room else text for text in texts]
            else:
                texts = [text[:room] for text in texts]
        front, back = array("i", self.front).tobytes(), array("i", self.back).tobytes()
        around = len(self.front) + len(self.back)
        lengths = [len(text) // 4 + around for text in texts]
        ids = front + (back + front).join(texts) + back if texts else b""
        if max(lengths, default=0) > self.limit:
            self._tokenizer._warn_of_length([0] * max(lengths), None, verbose=True)
        columns = {
            column.name: b"".join([column.row(n - around, 0, False) for n in lengths]) for column in self.columns
        }
        return ByteRows(lengths, ids, columns)

    # ---- where tokens came from -------------------------------------------------------------------------------------

    def _offsets(self, text: str, missing: int, count: int) -> list[Span]:
        """The span of each token of a row with `missing` padding ids; `count` of its tokens are the text's."""
        spans = self._cut(self._spans(text, count))
        return self._padded([*[_NO_SPAN] * len(self.front), *spans, *[_NO_SPAN] * len(self.back)], _NO_SPAN, missing)

    def _window(self, length: int) -> Span:
        """Which of the tokens of a text are kept."""
        room = int(min(self.room, length))
        return (length - room, length) if self.cuts_left else (0, room)

    @property
    def is_fast(self) -> bool:
        """Whether the tokenizer is of the Rust profile."""
        return self._tokenizer.is_fast

    def encodings(self, texts: str | Sequence[str], input_ids: Any) -> list[Encoding]:
        """The details of a result, worked out again.

        Args:
            texts: what was encoded.
            input_ids: what the result has now; looked at only if the tokenizer is not as it was.

        Raises:
            InputError: the tokenizer has changed so that the ids of the texts are others.
        """
        from dataclasses import replace

        from trietok.inputs.details import checked, row_encoding
        from trietok.inputs.rows import Row  # only where somebody asks

        tokenizer = self._tokenizer
        located = [tokenizer._located(text, {}) for text in ([texts] if isinstance(texts, str) else texts)]
        rows = [Row(i, self._pieces, (self._window(len(text.ids)),)) for i, text in enumerate(located)]
        width = self._padded_length(max(map(len, rows)))
        rows = [replace(row, missing=max(width - len(row), 0), pad_left=self._pad_left) for row in rows]
        made = [row_encoding(tokenizer, row, [text]) for row, text in zip(rows, located, strict=True)]
        return made if tokenizer._chunk_encoder() is self._encoder else checked(made, input_ids)
