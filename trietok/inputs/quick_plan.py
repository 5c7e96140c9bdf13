"""`QuickPlan`: a faster `Plan` for calls without pairs, words, overflow or lengths; `does` lists the conditions.

In: a text, or texts. Out: the same result as `Plan`, in less time: all columns but the ids are kept as bytes, and
tensors are made of bytes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import CallOptions, Strategies
from trietok.inputs.padding import PaddingStrategy
from trietok.inputs.pieces import Piece
from trietok.inputs.plan import Plan
from trietok.inputs.tensors import TensorType, int64_to_tensor
from trietok.inputs.truncation import TruncationStrategy
from trietok.text.alignment import Ids

if TYPE_CHECKING:
    from trietok.inputs.builder import InputBuilder
    from trietok.inputs.call_inputs import Encoder
    from trietok.text.alignment import Span
    from trietok.text.kernel.plain import Rows

_Item = TypeVar("_Item")
NO_LIMIT = float("inf")
_NO_SPAN = (0, 0)
_SIDES = ("left", "right")
# The options that it carries out; where another one is not at its default, `Plan` does the call.
_CARRIES_OUT = {
    *("add_special_tokens", "padding", "truncation", "max_length", "stride", "pad_to_multiple_of", "padding_side"),
    *("return_tensors", "return_token_type_ids", "return_attention_mask", "return_special_tokens_mask"),
    *("return_offsets_mapping", "verbose"),
}
_LEAVES = [name for name in CallOptions._fields if name not in _CARRIES_OUT]


class ByteColumn(NamedTuple):
    """A column that a call returns beside the ids, with a number below 256 for each id.

    Attributes:
        name: the name of the column.
        front: the numbers for the special tokens before the text.
        text: the number for each id of the text.
        back: the numbers for the special tokens after the text.
        padding: the number for each padding id.
    """

    name: str
    front: bytes
    text: bytes
    back: bytes
    padding: bytes

    @property
    def is_even(self) -> bool:
        """Whether all its numbers but those for padding are the same."""
        return set(self.front + self.back) <= set(self.text)

    def row(self, length: int, missing: int = 0, pad_left: bool = False) -> bytes:
        """The column for a text of `length` ids with `missing` padding ids.

        >>> list(ByteColumn("attention_mask", b"\\1", b"\\1", b"\\1", b"\\0").row(2, missing=1))
        [1, 1, 1, 1, 0]
        """
        row = self.front + self.text * length + self.back
        if not missing:
            return row
        return self.padding * missing + row if pad_left else row + self.padding * missing


class ByteRows(NamedTuple):
    """The encodings of several texts, one behind the other.

    Attributes:
        lengths: how many ids each text has, int32.
        ids: those of all texts, int32.
        columns: masks and type ids by name: a byte for each id.
    """

    lengths: array[int]
    ids: bytes | bytearray
    columns: dict[str, bytes]


class QuickPlan(Plan):
    """A plan whose calls for single texts are quick; all others are those of `Plan`.

    Attributes:
        front, back: the special tokens around a text.
        room: how many ids of a text itself are kept; `NO_LIMIT` for all.
        columns: the columns that are returned beside the ids.
    """

    def __init__(self, builder: InputBuilder, options: CallOptions, strategies: Strategies) -> None:
        super().__init__(builder, options, strategies)
        pieces = builder.pieces(False, options.add_special_tokens)
        at = next(place for place, piece in enumerate(pieces) if piece.sequence is not None)
        ids = [piece.token_id or 0 for piece in pieces]
        self.front, self.back = ids[:at], ids[at + 1 :]
        self.room = NO_LIMIT
        if _cuts(strategies) and strategies.truncation is not TruncationStrategy.ONLY_SECOND:
            self.room = (strategies.max_length or 0) - len(self.front) - len(self.back)
        self._room_around = self.room + len(self.front) + len(self.back)
        by_name = _byte_columns(pieces, at, builder.settings.pad_token_type_id)
        self.columns = [by_name[name] for name in self.rule.columns if name in by_name and self.returns(name)]
        # For a text that is not padded, where that can be done so: each column's name and number.
        self._even = [(column.name, [*column.text]) for column in self.columns if column.is_even]
        self._are_even = len(self._even) == len(self.columns) and not options.return_offsets_mapping
        self._tensors = None if options.return_tensors is None else TensorType(options.return_tensors)
        self._pads = strategies.padding is not PaddingStrategy.DO_NOT_PAD
        self._pads_empty_text = self.rule.pads_empty_text
        self._pad_left = self.padding_side == "left"
        self._cuts_left = builder.settings.truncation_side == "left"
        self._pad_id: Any = builder.settings.pad_token_id
        self._with_offsets = options.return_offsets_mapping
        # Of each column of a tensor: int64 numbers around a row, for padding, and instead of each id if not negative.
        self._filled: list[tuple[str, bytes, bytes, int, int]] = []
        if self._tensors is not None:
            around = array("q", self.front).tobytes(), array("q", self.back).tobytes()
            self._filled.append(("input_ids", *around, self._pad_id or 0, -1))
            for column in self.columns:
                around = array("q", list(column.front)).tobytes(), array("q", list(column.back)).tobytes()
                self._filled.append((column.name, *around, column.padding[0], column.text[0]))

    @classmethod
    def does(cls, builder: InputBuilder, options: CallOptions, strategies: Strategies) -> bool:
        """Whether a `QuickPlan` gives the same result as `Plan` with these options and this template."""
        settings, rule = builder.settings, builder.settings.windows
        pieces = builder.pieces(False, options.add_special_tokens)
        around = builder.special_count(False) if options.add_special_tokens else 0
        return (
            all(getattr(options, name) == CallOptions._field_defaults[name] for name in _LEAVES)
            and not (options.return_token_type_ids and not options.add_special_tokens)
            and type(options.stride) is int
            and options.stride >= 0
            and not (rule.is_fast and (options.stride or strategies.truncation is TruncationStrategy.ONLY_SECOND))
            and options.padding_side in (None, *_SIDES)
            and settings.padding_side in _SIDES
            and settings.truncation_side in _SIDES
            and options.return_tensors in (None, *TensorType)
            and (strategies.max_length is None or type(strategies.max_length) is int)
            and not (_cuts(strategies) and (strategies.max_length or 0) <= around)
            and len(pieces) - 1 == around
            and all(piece.sequence is not None or piece.token_id is not None for piece in pieces)
            and all(piece.has_type_id and piece.is_in_mask for piece in pieces)
            and all(0 <= type_id < 256 for type_id in (settings.pad_token_type_id, *(each.type_id for each in pieces)))
        )

    def ids(self, encoder: Encoder, text: str) -> Ids:
        """The ids of one text, cut to length, with the special tokens around and without padding."""
        ids = [*self.front, *self._kept(encoder.ids(text)), *self.back]
        if len(ids) > self.limit:
            self.warn_of_length(len(ids))
        return ids

    def one(self, encoder: Encoder, text: Any, pair: Any = None) -> BatchEncoding:
        if pair is not None or type(text) is not str:
            return super().one(encoder, text, pair)
        ids = encoder.ids_between(self.front, text, self.back)
        count = len(ids)
        if count > self._room_around:
            ids = [*self.front, *self._kept(ids[len(self.front) : count - len(self.back)]), *self.back]
            count = len(ids)
        missing = 0
        if self._pads and (ids or self._pads_empty_text):
            missing = max(self.width(count) - count, 0)
        if count + missing > self.limit:
            self._warn_of_first([count], [missing])
        values: dict[str, Any]
        if self._are_even and not missing:
            values = {"input_ids": ids}
            for name, number in self._even:
                values[name] = number * count
        else:
            own = count - len(self.front) - len(self.back)
            values = {"input_ids": self._padded_row(ids, self._pad_id, missing)}
            for column in self.columns:
                values[column.name] = list(column.row(own, missing, self._pad_left))
            if self._with_offsets:
                values["offset_mapping"] = self._offsets(encoder, text, own, missing)
        if self._tensors is None:
            return BatchEncoding.of_lists(values, (self, (encoder, [text], True)))
        return BatchEncoding(
            values, tensor_type=self._tensors, prepend_batch_axis=True, details=(self, (encoder, [text], True))
        )

    def batch(self, encoder: Encoder, items: Any) -> BatchEncoding:
        if type(items) is not list or set(map(type, items)) != {str}:
            return super().batch(encoder, items)
        texts = items[:]
        rows = encoder.rows(texts)
        if self.room != NO_LIMIT:
            rows.cut(int(self.room), self._cuts_left)
        around = len(self.front) + len(self.back)
        lengths = [length + around for length in rows.lengths()]
        longest = max(lengths)
        width = self.width(longest) if self._pads else 0
        missing = [max(width - length, 0) for length in lengths]
        if max(longest, width) > self.limit:
            self._warn_of_first(lengths, missing)
        details = (self, (encoder, texts, False))
        is_even = max(longest, width) == max(min(lengths), width) > 0  # padding to `max_length` shortens no longer text
        width = max(longest, width)
        if self._tensors is not None and is_even and not self._with_offsets:
            return BatchEncoding.of_lists(self._tensors_of(rows, len(texts), width, self._tensors), details)
        columns = {
            column.name: [
                column.row(length - around, more, self._pad_left) for length, more in zip(lengths, missing, strict=True)
            ]
            for column in self.columns
        }
        lists = rows.lists(self.front, self.back)
        values = {
            "input_ids": [self._padded_row(row, self._pad_id, more) for row, more in zip(lists, missing, strict=True)]
        }
        for name, column in columns.items():
            values[name] = list(map(list, column))
        if self._with_offsets:
            values["offset_mapping"] = [
                self._offsets(encoder, text, length - around, more)
                for text, length, more in zip(texts, lengths, missing, strict=True)
            ]
        return BatchEncoding(values, tensor_type=self._tensors, details=details)

    def _tensors_of(self, rows: Rows, count: int, width: int, kind: TensorType) -> dict[str, Any]:
        """The columns of rows as tensors."""
        tensors = {}
        for name, front, back, padding, filler in self._filled:
            numbers = rows.int64(width, front, back, padding, self._pad_left, filler)
            tensors[name] = int64_to_tensor(numbers, count, width, kind)
        return tensors

    def rows_of_bytes(self, texts: Sequence[bytes]) -> ByteRows:
        """Rows of texts whose ids are int32 in bytes, cut to length, with the special tokens around, without padding.

        Args:
            texts: the ids of each text, without special tokens around.
        """
        if self.room != NO_LIMIT:
            room = int(self.room) * 4
            if self._cuts_left:
                texts = [text[len(text) - room :] if len(text) > room else text for text in texts]
            else:
                texts = [text[:room] for text in texts]
        front, back = self._special_int32()
        around = len(self.front) + len(self.back)
        ids = front + (back + front).join(texts) + back if texts else b""
        return self._byte_rows(array("i", [len(text) // 4 + around for text in texts]), ids)

    def byte_rows(self, rows: Rows) -> ByteRows:
        """The same for the rows of an encoder, which are cut to length."""
        if self.room != NO_LIMIT:
            rows.cut(int(self.room), self._cuts_left)
        around = len(self.front) + len(self.back)
        return self._byte_rows(array("i", rows.int32_lengths(around)), rows.int32(*self._special_int32()))

    def kept_of(self, parts: Iterable[bytes | bytearray]) -> Iterator[bytes | bytearray]:
        """What is kept of a text whose ids come as int32 part by part; parts after its end are not asked for."""
        if self.room == NO_LIMIT:
            yield from parts
            return
        room = int(self.room) * 4
        if self._cuts_left:
            kept = b""
            for part in parts:
                kept = (kept + part)[-room:] if room else b""
            yield kept
            return
        for part in parts:
            yield part[:room]
            room -= len(part)
            if room <= 0:
                return

    def parts_of_row(self, parts: Iterable[bytes | bytearray]) -> Iterator[tuple[bytes | bytearray, dict[str, bytes]]]:
        """A row part by part, ids and columns: its special tokens, what is kept of its text, its special tokens."""
        front, back = self._special_int32()
        yield front, {column.name: column.front for column in self.columns}
        for part in parts:
            yield part, {column.name: column.text * (len(part) // 4) for column in self.columns}
        yield back, {column.name: column.back for column in self.columns}

    def _special_int32(self) -> tuple[bytes, bytes]:
        return array("i", self.front).tobytes(), array("i", self.back).tobytes()

    def _byte_rows(self, lengths: array[int], ids: bytes | bytearray) -> ByteRows:
        longest = max(lengths, default=0)
        if longest > self.limit:
            self.warn_of_length(longest)
        around = len(self.front) + len(self.back)
        columns = {}
        for column in self.columns:
            if column.is_even:
                columns[column.name] = column.text * (len(ids) // 4)
            else:
                columns[column.name] = b"".join([column.row(length - around) for length in lengths])
        return ByteRows(lengths, ids, columns)

    def _kept(self, row: list[_Item]) -> list[_Item]:
        """The items of a list with one item per token of a text, for the tokens that there is room for."""
        if len(row) <= self.room:
            return row
        room = int(self.room)
        return row[len(row) - room :] if self._cuts_left else row[:room]

    def _padded_row(self, row: list[_Item], filler: _Item, missing: int) -> list[_Item]:
        if not missing:
            return row
        padding = [filler] * missing
        return padding + row if self._pad_left else row + padding

    def _offsets(self, encoder: Encoder, text: str, count: int, missing: int) -> list[Span]:
        """The span of each token of a row with `missing` padding ids; `count` of its tokens are the text's."""
        spans = self._kept(encoder.spans(text, count))
        return self._padded_row(
            [*[_NO_SPAN] * len(self.front), *spans, *[_NO_SPAN] * len(self.back)], _NO_SPAN, missing
        )

    def _warn_of_first(self, lengths: Iterable[int], missing: Iterable[int]) -> None:
        """Warn of the first row that is longer than the model takes."""
        if self.rule.padding_counts:
            lengths = map(sum, zip(lengths, missing, strict=True))
        for length in lengths:
            if length > self.limit:
                self.warn_of_length(length)


def _cuts(strategies: Strategies) -> bool:
    return strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and strategies.max_length is not None


def _byte_columns(pieces: Sequence[Piece], at: int, pad_type_id: int) -> dict[str, ByteColumn]:
    """The columns of a template whose text is its piece `at`."""
    before, after = at, len(pieces) - at - 1
    types = bytes([piece.type_id for piece in pieces])
    columns = (
        ByteColumn("token_type_ids", types[:at], types[at : at + 1], types[at + 1 :], bytes([pad_type_id])),
        ByteColumn("special_tokens_mask", b"\1" * before, b"\0", b"\1" * after, b"\1"),
        ByteColumn("attention_mask", b"\1" * before, b"\1", b"\1" * after, b"\0"),
    )
    return {column.name: column for column in columns}
