"""`Plan`: one set of call options, resolved; it turns texts or ids into a `BatchEncoding`.

In: texts and an encoder, or ids. Out: a `BatchEncoding`. Every call goes through the same steps: texts → ids → windows
→ rows → columns. `QuickPlan` takes a short cut for calls without pairs, words, overflow or lengths. `InputBuilder`
makes the plans, from the settings of a tokenizer at one moment, and keeps one per set of options.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from trietok import log
from trietok.errors import NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import has_spans, locate_input, spans_of
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    check_first_id,
    padded_length,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.profiles import InputRules
from trietok.inputs.template import Piece, require_ids
from trietok.inputs.tensors import TensorType, int64_to_tensor
from trietok.inputs.truncation import Cut, Cutting, TruncationStrategy, check_room, check_side, padded, whole
from trietok.named import NamedTuple
from trietok.text.alignment import Ids

if TYPE_CHECKING:
    from trietok.inputs.rows import Encoding, Row
    from trietok.text.alignment import Located, Span
    from trietok.text.chunk_encoder import TextEncoder
    from trietok.text.kernel.plain import Rows

Texts = tuple[Any, ...]  # one item of a call: one text or two, each of them a str, or a list of words, tokens or ids
SpansOf = Callable[[list[list[Ids]]], "list[list[list[Span]]]"]  # the ids of all texts, by items → their spans
# What a result keeps to compute its details: the encoder, the texts, and whether the call was for one item.
Given = tuple["TextEncoder", "list[Texts] | list[str]", bool]
NO_LIMIT = float("inf")


class Plan:
    """A call with its options resolved. `InputBuilder.plan` makes it; it never changes.

    Attributes:
        builder: the builder that made the plan.
        options: the options of the call.
        strategies: `padding`, `truncation` and `max_length` of the call, resolved.
        limit: a row with more ids than this is logged; see `warn_of_length`.
    """

    def __init__(self, builder: InputBuilder, options: CallOptions, strategies: Strategies) -> None:
        self.builder = builder
        self.options = options
        self.strategies = strategies
        self.rules = builder.settings.rules
        self.padding_side = builder.settings.padding_side if options.padding_side is None else options.padding_side
        self.limit = NO_LIMIT
        if strategies.max_length is None and options.verbose and builder.settings.model_max_length > 0:
            self.limit = builder.settings.model_max_length
        # The columns whose option is None are returned where the model takes them.
        asked: dict[str, bool | None] = {
            "input_ids": True,
            "token_type_ids": options.return_token_type_ids,
            "attention_mask": options.return_attention_mask,
            "special_tokens_mask": options.return_special_tokens_mask,
            "offset_mapping": options.return_offsets_mapping,
            "length": options.return_length,
        }
        inputs, every = builder.settings.model_input_names, options.return_overflowing_tokens
        self._returned = frozenset(
            name
            for name in self.rules.columns
            if (name in inputs if asked.get(name, False) is None else asked.get(name, every))
        )

    @property
    def is_fast(self) -> bool:
        """Whether its results have details, as those of transformers' Rust tokenizers do."""
        return self.rules.is_fast

    @property
    def returns_several_rows(self) -> bool:
        """Whether a call for one item returns a list of rows."""
        return self.rules.overflows_to_rows and self.options.return_overflowing_tokens

    # ---- calls ------------------------------------------------------------------------------------------------------

    def one(self, encoder: TextEncoder, text: Any, pair: Any = None) -> BatchEncoding:
        """The encoding of one text or pair.

        Args:
            encoder: gives the ids of a text. It must not change, since the result asks it for details later.
            text, pair: a str each, or a list of words; in the slow profile also a list of tokens or of ids.
        """
        return self._of_texts(encoder, [(text, pair)], one=True)

    def batch(self, encoder: TextEncoder, items: Any) -> BatchEncoding:
        """The encoding of a batch.

        Args:
            encoder: see `one`.
            items: each as `one` takes it, or a list of two for a pair.
        """
        return self._of_texts(encoder, self.rules.batch_of(items, self.options.is_split_into_words), one=False)

    def from_ids(self, ids: Ids, pair_ids: Ids | None = None, prepend_batch_axis: bool = False) -> BatchEncoding:
        """What `prepare_for_model` returns for the ids of one text or of a pair: a plan of the slow profile.

        Args:
            ids, pair_ids: without special tokens.
            prepend_batch_axis: give tensors a batch axis of one.

        Raises:
            NotSupportedError: the options ask for offsets, which ids do not have.
            InputError: the ids cannot be cut as the options say.
        """
        if self.options.return_offsets_mapping:
            raise NotSupportedError(
                "return_offsets_mapping is not available for this tokenizer", name="return_offsets_mapping"
            )
        columns = self._columns([[ids] if pair_ids is None else [ids, pair_ids]], one=True)
        return self._finished(columns, one=True, batch_axis=prepend_batch_axis)

    def encodings(self, given: Given, input_ids: Any) -> list[Encoding]:
        """The details of a result, computed from its texts when they are needed.

        Args:
            given: encoder and texts.
            input_ids: the ids that the result has now. A caller may have changed them; the details are those of the
                texts.
        """
        encoder, texts, one = given
        samples = [(text,) if isinstance(text, str) else text for text in texts]
        located = [[locate_input(encoder, text) for text in sample] for sample in samples]
        groups = [
            self._rows(number, [text.ids for text in sample], every=True) for number, sample in enumerate(located)
        ]
        parts = [list(rows) for _, rows in groupby(self._padded(groups, one), lambda row: row.sample)]
        returned = None if self.options.return_overflowing_tokens else 1
        return [self._encoding(row, rows, located[row.sample]) for rows in parts for row in rows[:returned]]

    def _encoding(self, row: Row, rows: list[Row], located: list[Located]) -> Encoding:
        """The details of a row of an item, and how to get those of the rows with what it leaves out."""
        settings = self.builder.settings
        padding = (settings.pad_token_id, settings.pad_token, settings.pad_token_type_id)
        made = row.encoding(located, *padding)
        if len(rows) > 1:
            made.overflow = lambda: [self._encoding(other, rows, located) for other in row.left_out_of(rows)]
        return made

    def rows(self, sample: list[Ids]) -> list[Row]:
        """The rows of a call for one item, with padding; `sample` holds the ids of its one or two texts."""
        return self._padded([self._rows(0, sample)], one=True)

    # ---- from texts to rows -----------------------------------------------------------------------------------------

    def _of_texts(self, encoder: TextEncoder, items: Iterable[tuple[Any, Any]], one: bool) -> BatchEncoding:
        """The encoding of items, each a text and its pair or None."""
        words = self.options.is_split_into_words
        samples: list[Texts] = []

        def ids_of_items() -> Iterator[list[Ids]]:
            for number, (text, pair) in enumerate(items):
                names = self.rules.names_of_pair if one else (f"item {number} of the batch",) * 2
                texts = (text,) if pair is None else (text, pair)
                # The result keeps a copy of a list: the caller may change the list before details are computed.
                samples.append(tuple(list(text) if type(text) is list else text for text in texts))
                yield [self.rules.ids_of(encoder, text, words, name) for text, name in zip(texts, names, strict=False)]

        def are_texts() -> bool:
            return all(has_spans(text, words) for texts in samples for text in texts)

        def spans_of_items(ids: list[list[Ids]]) -> list[list[list[Span]]]:
            if not are_texts():
                raise NotSupportedError(
                    "tokens and ids stand for no text that could have offsets", name="offset_mapping"
                )
            return [
                [spans_of(encoder, text, len(own)) for text, own in zip(*item, strict=True)]
                for item in zip(samples, ids, strict=True)
            ]

        columns = self._columns(ids_of_items(), one, spans_of_items)
        return self._finished(columns, one, True, (self, (encoder, samples, one)) if are_texts() else None)

    def _columns(
        self, samples: Iterable[list[Ids]], one: bool, spans_of_items: SpansOf | None = None
    ) -> dict[str, list[Any]]:
        """The columns of all rows, in their order; `samples` has the ids of each item's texts."""
        rules = self.rules
        if rules.overflows_to_rows:
            samples = list(samples)  # in that profile all texts are encoded before the first is cut
        ids: list[list[Ids]] = []
        cuts: list[Cut] = []
        groups: list[list[Row]] = []
        for number, sample in enumerate(samples):
            rules.check(self.options, self.strategies, len(sample) == 2)
            cut = self._cut(sample)
            if cut.problem:
                log.error(cut.problem)
            groups.append(self._rows(number, sample, cut))
            if not rules.padding_counts:
                self._warn_of(map(len, groups[-1]))
            ids.append(sample)
            cuts.append(cut)
        rows = self._padded(groups, one)
        if not one:
            firsts = (i for row in groups for i in row[0].ids(ids[row[0].sample], None)[:1])
            check_first_id(next(firsts, 0), "input_ids")
        settings, room = self.builder.settings, self.strategies.max_length or 0

        def column(name: str) -> list[Any]:
            match name:
                case "input_ids":
                    return [row.ids(ids[row.sample], settings.pad_token_id) for row in rows]
                case "token_type_ids":
                    return [row.type_ids(settings.pad_token_type_id) for row in rows]
                case "attention_mask":
                    return [row.attention_mask() for row in rows]
                case "special_tokens_mask":
                    return [row.special_tokens_mask() for row in rows]
                case "length":
                    return [len(row) + row.missing * (one or rules.padding_counts) for row in rows]
                case "overflow_to_sample_mapping":
                    return [row.sample for row in rows]
                case "overflowing_tokens":
                    places = [cut.overflow for cut in cuts]
                    return [sample[which][slice(*span)] for sample, (which, span) in zip(ids, places, strict=True)]
                case "num_truncated_tokens":
                    return [sum(map(len, sample)) + self._around(len(sample) == 2) - room for sample in ids]
            assert spans_of_items is not None  # a plan from ids has no offsets
            spans = spans_of_items(ids)
            return [row.offsets(spans[row.sample]) for row in rows]

        names = rules.columns if one else rules.columns_of_batch
        values = {name: column(name) for name in names if name in self._returned}
        if rules.padding_counts:
            self._warn_of(len(row) + row.missing for row in rows)
        return values

    def _cut(self, sample: list[Ids]) -> Cut:
        """How truncation cuts the texts of one item."""
        lengths, (_, strategy, max_length) = tuple(map(len, sample)), self.strategies
        if strategy is TruncationStrategy.DO_NOT_TRUNCATE or max_length is None:
            return Cut([whole(lengths)])
        around, around_one = self._around(len(sample) == 2), self.builder.special_counts[False]
        check_room(max_length, around)
        side = self.builder.settings.truncation_side
        return self.rules.cut(lengths, Cutting(max_length, strategy, self.options.stride, side, around, around_one))

    def _around(self, pair: bool) -> int:
        return self.builder.special_counts[pair] if self.options.add_special_tokens else 0

    def _rows(self, number: int, sample: list[Ids], cut: Cut | None = None, every: bool = False) -> list[Row]:
        """The rows of one item, those that are returned or every one, without padding."""
        from trietok.inputs.rows import Row  # quick plans do without it, and without dataclasses

        cut = cut or self._cut(sample)
        pieces = self.builder.pieces(len(sample) == 2, self.options.add_special_tokens)
        if self.builder.lacks_ids:
            require_ids(pieces)
        windows = cut.rows if self.options.return_overflowing_tokens or every else cut.rows[:1]
        return [Row(number, pieces, each) for each in windows]

    def width(self, longest: int) -> int:
        """The length that a batch whose longest row has `longest` ids is padded to, where it is padded."""
        if self.strategies.padding is PaddingStrategy.MAX_LENGTH and self.strategies.max_length is not None:
            longest = self.strategies.max_length
        return padded_length(longest, self.options.pad_to_multiple_of)

    def _padded(self, groups: list[list[Row]], one: bool) -> list[Row]:
        """All rows, with padding."""
        rows = [row for group in groups for row in group]
        if self.strategies.padding is PaddingStrategy.DO_NOT_PAD:
            return rows
        if one and not self.rules.pads_empty_text and not len(rows[0]):
            return rows
        width = self.width(max(len(group[0]) for group in groups))
        side = self.padding_side
        if self.rules.checks_side or any(len(row) != width for row in rows):
            check_side("padding_side", side)
        return [row.padded(width, side == "left") for row in rows]

    def _warn_of(self, lengths: Iterable[int]) -> None:
        """Warn of rows that are longer than the model takes."""
        if self.limit == NO_LIMIT:
            return
        for length in lengths:
            if length > self.limit:
                warn_of_length(self.builder, length)

    def _finished(
        self, columns: dict[str, list[Any]], one: bool, batch_axis: bool, details: tuple[Plan, Given] | None = None
    ) -> BatchEncoding:
        """The columns as they are returned: as tensors, as the lists of a batch, or as those of one row."""
        rules, tensors = self.rules, self.options.return_tensors
        values: dict[str, Any] = columns
        if one and not (self.returns_several_rows if tensors is None else batch_axis):
            values = {
                name: column if name == "length" and rules.length_is_listed else column[0]
                for name, column in columns.items()
            }
        return BatchEncoding(values, tensor_type=tensors, details=details)


# ---- quick plans: all columns but the ids are kept as bytes, and tensors are made of bytes --------------------------

_Kept = TypeVar("_Kept", list[Any], bytes)
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
    """A column that a call returns beside the ids, with a number below 256 for each id: as bytes, or as lists.

    Attributes:
        name: the name of the column.
        front: the numbers for the special tokens before the text.
        text: the number for each id of the text.
        back: the numbers for the special tokens after the text.
        padding: the number for each padding id.
    """

    name: str
    front: Any
    text: Any
    back: Any
    padding: Any

    @property
    def is_even(self) -> bool:
        """Whether all its numbers but those for padding are the same."""
        return set(self.front + self.back) <= set(self.text)

    def row(self, length: int, missing: int = 0, pad_left: bool = False) -> Any:
        """The column for a text of `length` ids with `missing` padding ids.

        >>> ByteColumn("attention_mask", [1], [1], [1], [0]).row(2, missing=1)
        [1, 1, 1, 1, 0]
        """
        row = self.front + self.text * length + self.back
        if not missing:
            return row
        return self.padding * missing + row if pad_left else row + self.padding * missing


# Of several texts how many ids each has, int32; those of all, int32; masks and type ids by name, a byte for each id.
ByteRows = tuple["array[int]", "bytes | bytearray", dict[str, bytes]]


class QuickPlan(Plan):
    """A plan whose calls for single texts are quick, with the same results; all others are those of `Plan`.

    Calls without it take 3 to 9 times as long. `does` lists the conditions.

    Attributes:
        front, back: the special tokens around a text.
        around: how many these are.
        room: how many ids of a text itself are kept; `NO_LIMIT` for all.
        columns: the columns that are returned beside the ids.
    """

    def __init__(self, builder: InputBuilder, options: CallOptions, strategies: Strategies) -> None:
        super().__init__(builder, options, strategies)
        pieces = builder.pieces(False, options.add_special_tokens)
        at = next(place for place, piece in enumerate(pieces) if piece.sequence is not None)
        special = [piece.token_id or 0 for piece in pieces]
        self.front, self.back = special[:at], special[at + 1 :]
        self.around = len(special) - 1
        self.room = NO_LIMIT
        if strategies.cuts and strategies.truncation is not TruncationStrategy.ONLY_SECOND:
            self.room = (strategies.max_length or 0) - self.around
        types, before, after = bytes([piece.type_id for piece in pieces]), len(self.front), len(self.back)
        pad_type = bytes([builder.settings.pad_token_type_id])
        known = (
            ByteColumn("token_type_ids", types[:at], types[at : at + 1], types[at + 1 :], pad_type),
            ByteColumn("special_tokens_mask", b"\1" * before, b"\0", b"\1" * after, b"\1"),
            ByteColumn("attention_mask", b"\1" * before, b"\1", b"\1" * after, b"\0"),
        )
        by_name = {column.name: column for column in known}
        self.columns = [by_name[name] for name in self.rules.columns if name in by_name and name in self._returned]
        self._lists = [ByteColumn(column.name, *map(list, column[1:])) for column in self.columns]
        # For a text that is not padded, where that can be done so: each column's name and number.
        self._even = [(column.name, [*column.text]) for column in self.columns if column.is_even]
        self._are_even = len(self._even) == len(self.columns) and not options.return_offsets_mapping
        self._tensors = None if options.return_tensors is None else TensorType(options.return_tensors)
        self._pads = strategies.padding is not PaddingStrategy.DO_NOT_PAD
        self._pads_empty_text = self.rules.pads_empty_text
        self._pad_left = self.padding_side == "left"
        self._cuts_left = builder.settings.truncation_side == "left"
        self._pad_id: Any = builder.settings.pad_token_id
        self._with_offsets = options.return_offsets_mapping
        # Of each column of a tensor: int64 numbers around a row, for padding, on which side that is, and what stands
        # instead of each id if it is not negative; None for a column of zeros.
        self._filled: list[tuple[str, tuple[bytes, bytes, int, bool, int] | None]] = []
        ids = ByteColumn("input_ids", self.front, [-1], self.back, [self._pad_id or 0])
        for name, front, text, back, padding in () if self._tensors is None else (ids, *self._lists):
            around = array("q", front).tobytes(), array("q", back).tobytes()
            is_zero = not any((*front, *text, *back, *padding))
            self._filled.append((name, None if is_zero else (*around, *padding, self._pad_left, *text)))

    @classmethod
    def does(cls, builder: InputBuilder, options: CallOptions, strategies: Strategies) -> bool:
        """Whether a `QuickPlan` gives the same result as `Plan` with these options and this template."""
        settings, rules = builder.settings, builder.settings.rules
        pieces = builder.pieces(False, options.add_special_tokens)
        around = builder.special_counts[False] if options.add_special_tokens else 0
        return (
            all(getattr(options, name) == CallOptions._field_defaults[name] for name in _LEAVES)
            and not (options.return_token_type_ids and not options.add_special_tokens)
            and type(options.stride) is int
            and options.stride >= 0
            and not (rules.is_fast and (options.stride or strategies.truncation is TruncationStrategy.ONLY_SECOND))
            and options.padding_side in (None, *_SIDES)
            and settings.padding_side in _SIDES
            and settings.truncation_side in _SIDES
            and options.return_tensors in (None, *TensorType)
            and (strategies.max_length is None or type(strategies.max_length) is int)
            and not (strategies.cuts and (strategies.max_length or 0) <= around)
            and len(pieces) - 1 == around
            and all(piece.sequence is not None or piece.token_id is not None for piece in pieces)
            and all(piece.has_type_id and piece.is_in_mask for piece in pieces)
            and all(0 <= type_id < 256 for type_id in (settings.pad_token_type_id, *(each.type_id for each in pieces)))
        )

    def one(self, encoder: TextEncoder, text: Any, pair: Any = None) -> BatchEncoding:
        if pair is not None or type(text) is not str:
            return super().one(encoder, text, pair)
        ids = encoder.ids_between(self.front, text, self.back)
        own = len(ids) - self.around
        if own > self.room:
            ids = [*self.front, *self._kept(ids[len(self.front) : len(ids) - len(self.back)]), *self.back]
            own = len(ids) - self.around
        count = len(ids)
        missing = 0
        if self._pads and (ids or self._pads_empty_text):
            missing = max(self.width(count) - count, 0)
        if count + missing > self.limit:
            self._warn_of([count + missing * self.rules.padding_counts])
        values: dict[str, Any]
        if self._are_even and not missing:
            values = {"input_ids": ids}
            for name, number in self._even:
                values[name] = number * count
        else:
            values = {"input_ids": padded(ids, self._pad_id, missing, self._pad_left)}
            for column in self._lists:
                values[column.name] = column.row(own, missing, self._pad_left)
            if self._with_offsets:
                values["offset_mapping"] = self._offsets(encoder, text, own, missing)
        details = self, (encoder, [text], True)
        if self._tensors is None:
            return BatchEncoding.of_lists(values, details)
        return BatchEncoding(values, tensor_type=self._tensors, prepend_batch_axis=True, details=details)

    def batch(self, encoder: TextEncoder, items: Any) -> BatchEncoding:
        if type(items) is not list or set(map(type, items)) != {str}:
            return super().batch(encoder, items)
        texts = items[:]
        rows = encoder.rows(texts)
        if self.room != NO_LIMIT:
            rows.cut(int(self.room), self._cuts_left)
        around = self.around
        shortest, longest = (length + around for length in rows.extremes())
        fill_to = self.width(longest) if self._pads else 0
        width = max(longest, fill_to)  # padding to `max_length` shortens no longer text
        details = (self, (encoder, texts, False))
        if width > self.limit:
            lengths = array("i", rows.int32_lengths(around))
            self._warn_of([max(length, fill_to) for length in lengths] if self.rules.padding_counts else lengths)
        if self._tensors is not None and width == max(shortest, fill_to) > 0 and not self._with_offsets:
            tensors = {}
            for name, numbers in self._filled:
                made = None if numbers is None else rows.int64(width, *numbers)
                tensors[name] = int64_to_tensor(made, len(texts), width, self._tensors)
            return BatchEncoding.of_lists(tensors, details)
        lists = rows.lists(self.front, self.back)
        missing = [max(fill_to - len(row), 0) for row in lists]
        rows_and_missing = list(zip(lists, missing, strict=True))
        values: dict[str, list[Any]] = {
            "input_ids": [padded(row, self._pad_id, more, self._pad_left) for row, more in rows_and_missing]
        }
        even = dict(self._even) if fill_to <= shortest else {}
        for column in self._lists:
            number = even.get(column.name)
            values[column.name] = [
                column.row(len(row) - around, more, self._pad_left) if number is None else number * len(row)
                for row, more in rows_and_missing
            ]
        if self._with_offsets:
            values["offset_mapping"] = [
                self._offsets(encoder, text, len(row) - around, more)
                for text, row, more in zip(texts, lists, missing, strict=True)
            ]
        return BatchEncoding(values, tensor_type=self._tensors, details=details)

    def rows_of_bytes(self, texts: Sequence[bytes]) -> ByteRows:
        """Rows of texts whose ids are int32: cut to length, with the special tokens around, without padding."""
        if self.room != NO_LIMIT:
            texts = [self._kept(text, 4) for text in texts]
        front, back = self._special_int32()
        ids = front + (back + front).join(texts) + back if texts else b""
        return self._byte_rows(array("i", [len(text) // 4 + self.around for text in texts]), ids)

    def byte_rows(self, rows: Rows) -> ByteRows:
        """The same for the rows of an encoder, which are cut to length."""
        if self.room != NO_LIMIT:
            rows.cut(int(self.room), self._cuts_left)
        return self._byte_rows(array("i", rows.int32_lengths(self.around)), rows.int32(*self._special_int32()))

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
        self._warn_of([longest])
        columns = {}
        for column in self.columns:
            if column.is_even:
                columns[column.name] = column.text * (len(ids) // 4)
            else:
                columns[column.name] = b"".join([column.row(length - self.around) for length in lengths])
        return lengths, ids, columns

    def _kept(self, row: _Kept, size: int = 1) -> _Kept:
        """Of a row with `size` items per token of a text those of the tokens that there is room for."""
        if len(row) <= self.room * size:
            return row
        room = int(self.room) * size
        return row[len(row) - room :] if self._cuts_left else row[:room]

    def _offsets(self, encoder: TextEncoder, text: str, count: int, missing: int) -> list[Span]:
        """The span of each token of a row with `missing` padding ids; `count` of its tokens are the text's."""
        spans = self._kept(encoder.spans(text, count))
        row = [_NO_SPAN] * len(self.front) + spans + [_NO_SPAN] * len(self.back)
        return padded(row, _NO_SPAN, missing, self._pad_left)


# ---- the builder of plans -------------------------------------------------------------------------------------------

MOST_PLANS = 64


class InputSettings(NamedTuple):
    """The settings of a tokenizer that model inputs depend on, apart from the template.

    Attributes:
        model_input_names: the columns that a call returns unless it is told otherwise; the first is `input_ids`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_max_length: in tokens; more than 1e20 for no limit.
        pad_token_id, pad_token, pad_token_type_id: the values of padding; None where there is no padding token.
        rules: those of the profile.
    """

    model_input_names: tuple[str, ...]
    padding_side: str
    truncation_side: str
    model_max_length: int
    pad_token_id: int | None
    pad_token: str | None
    pad_token_type_id: int
    rules: InputRules


class InputBuilder:
    """Makes plans for one state of a tokenizer. It never changes: a tokenizer whose settings change makes another one.

    Args:
        settings: those of the tokenizer.
        single, pair: the pieces of a row of one text, and of two.
        warn_once: logs a message the first time it gets that key.
        special_counts: how many special tokens truncation makes room for, around one text and around two, if that
            differs from the template.

    Attributes:
        special_counts: see the argument.
        lacks_ids: whether a special token of a template has no id.

    >>> from trietok.inputs.profiles import SLOW
    >>> settings = InputSettings(("input_ids", "attention_mask"), "right", "right", 512, 0, "[PAD]", 0, SLOW)
    >>> cls, sep = Piece(0, token="[CLS]", token_id=2), Piece(0, token="[SEP]", token_id=3)
    >>> single = (cls, Piece(0, sequence=0), sep)
    >>> builder = InputBuilder(settings, single, (*single, Piece(1, sequence=1), sep), warn_once=lambda key, text: None)
    >>> builder.plan(CallOptions(truncation=True, max_length=4)).from_ids([7, 8, 9])
    {'input_ids': [2, 7, 8, 3], 'attention_mask': [1, 1, 1, 1]}
    """

    def __init__(
        self,
        settings: InputSettings,
        single: tuple[Piece, ...],
        pair: tuple[Piece, ...],
        *,
        warn_once: Callable[[str, str], None],
        special_counts: tuple[int, int] | None = None,
    ) -> None:
        self.settings = settings
        self.warn_once = warn_once
        self._templates = (single, pair)
        self.special_counts = special_counts or (len(single) - 1, len(pair) - 2)
        self._plans: dict[Any, Plan] = {}
        self.lacks_ids = any(piece.sequence is None and piece.token_id is None for piece in (*single, *pair))
        self.model_max_length = settings.model_max_length
        self.pad_token_id = settings.pad_token_id

    def pieces(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]:
        """The pieces of a row of one text, or of a pair."""
        pieces = self._templates[pair]
        if add_special_tokens:
            return pieces
        texts = [piece for piece in pieces if piece.sequence is not None]
        return tuple(texts if self.settings.rules.types_stay else [text._replace(type_id=0) for text in texts])

    def plan(self, options: CallOptions) -> Plan:
        """The plan for a call with these options, the same one for the same options; see `resolve_strategies`."""
        # Equal options share a plan. 8.0 equals 8 and True equals 1, but for some options only one of the two is valid:
        # the key holds the types of those.
        _, padding, truncation, max_length, stride, _, multiple_of, *_ = options
        key = (options, type(padding), type(truncation), type(max_length), type(stride), type(multiple_of))
        try:
            plan = self._plans.get(key)
        except TypeError:  # a list, say, where there should be a number: resolving says so
            return self._new_plan(options)
        if plan is None:
            plan = self._new_plan(options)
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _new_plan(self, options: CallOptions) -> Plan:
        options = CallOptions(*options).of_ints()
        strategies = resolve_strategies(
            self, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=options.verbose
        )
        kind = QuickPlan if QuickPlan.does(self, options, strategies) else Plan
        return kind(self, options, strategies)
