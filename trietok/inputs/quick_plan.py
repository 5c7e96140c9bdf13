"""`QuickPlan`: a plan whose calls for texts are quick.

In: texts, or pairs of them, and an encoder. Out: what `Plan` gives for them. The encoder makes the
columns of a quick plan in one go, cut, padded, with special tokens around; for corpora it gives the
ids as bytes.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.input_state import InputState
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    padded_length,
)
from trietok.inputs.plan import NO_LIMIT, Plan
from trietok.inputs.template import RowPiece
from trietok.inputs.tensors import FlatIds, TensorType, array_makers, int64_to_torch
from trietok.inputs.truncation import TruncationStrategy, padded
from trietok.text.changes import cached_property
from trietok.text.kernel.choosing import threads_allowed
from trietok.text.kernel.plain import IDS_OF_TEXT, NOT_PADDED, TO_LONGEST, form_of

if TYPE_CHECKING:
    from trietok.text.aligned import Span
    from trietok.text.kernel.plain import Form, Rows
    from trietok.text.pipeline import Pipeline


_Kept = TypeVar("_Kept", list[Any], bytes)


_NO_SPAN = (0, 0)


_SIDES = ("left", "right")


# The options that it carries out; where another one is not at its default, `Plan` does the call.
_CARRIES_OUT = {
    *(
        "add_special_tokens",
        "padding",
        "truncation",
        "max_length",
        "stride",
        "pad_to_multiple_of",
        "padding_side",
    ),
    *(
        "return_tensors",
        "return_token_type_ids",
        "return_attention_mask",
        "return_special_tokens_mask",
    ),
    *("return_offsets_mapping", "verbose"),
}


_LEAVES = [name for name in CallOptions._fields if name not in _CARRIES_OUT]


class ByteColumn(NamedTuple):
    """A column that a call returns beside the ids, with a number below 256 for each id, as bytes.

    Attributes:
        name: the name of the column.
        front: the numbers for the special tokens before the text.
        text: the number for each id of the text.
        back: the numbers for the special tokens after the text.
    """

    name: str
    front: bytes
    text: bytes
    back: bytes

    @property
    def is_even(self) -> bool:
        """Whether all its numbers are the same."""
        return set(self.front + self.back) <= set(self.text)

    def row(self, length: int) -> bytes:
        """The column for a text of `length` ids.

        >>> ByteColumn("special_tokens_mask", b"a", b"b", b"a").row(2)
        b'abba'
        """
        return self.front + self.text * length + self.back


# Of several texts how many ids each has, int32; those of all, int32; masks and type ids by name, a
# byte for each id.
ByteRows = tuple["array.array[int]", "bytes | bytearray", dict[str, bytes]]


class QuickPlan(Plan):
    """A plan whose calls for texts are quick, with the same results; those for words, tokens or ids
    are `Plan`'s.

    Calls without it take 3 to 9 times as long. `does` lists the conditions.

    Attributes:
        front, back: the special tokens around a text.
        around: how many these are.
        room: how many ids of a text itself are kept; `NO_LIMIT` for all.
        columns: the columns that are returned beside the ids.
    """

    def __init__(self, state: InputState, options: CallOptions, strategies: Strategies) -> None:
        super().__init__(state, options, strategies)
        pieces = state.pieces(False, options.add_special_tokens)
        at = next(place for place, piece in enumerate(pieces) if piece.sequence is not None)
        special = [piece.token_id or 0 for piece in pieces]
        self.front, self.back = special[:at], special[at + 1 :]
        self.around = len(special) - 1
        self.room = NO_LIMIT
        if strategies.cuts and strategies.truncation is not TruncationStrategy.ONLY_SECOND:
            self.room = (strategies.max_length or 0) - self.around
        self._names = [
            name for name in self.rules.columns if name in _NUMBERS and name in self._returned
        ]
        self.columns = []
        for name in self._names:
            row = bytes(map(_NUMBERS[name], pieces))
            self.columns.append(ByteColumn(name, row[:at], row[at : at + 1], row[at + 1 :]))
        self._tensors = (
            None if options.return_tensors is None else TensorType(options.return_tensors)
        )
        pads = strategies.padding is not PaddingStrategy.DO_NOT_PAD
        self._forms: dict[tuple[bool, bool], Form | None] = {}
        self._may_stay_empty = pads and not (self.around or self.rules.pads_empty_text)
        self._pad_left = self.padding_side == "left"
        self._cuts_left = state.settings.truncation_side == "left"
        self._with_offsets = options.return_offsets_mapping

    @classmethod
    def does(cls, state: InputState, options: CallOptions, strategies: Strategies) -> bool:
        """Whether a `QuickPlan` gives the same result as `Plan` with these options and this
        template.
        """
        settings, rules = state.settings, state.settings.rules
        around = state.special_counts[False] if options.add_special_tokens else 0
        return (
            all(getattr(options, name) == CallOptions._field_defaults[name] for name in _LEAVES)
            and not (options.return_token_type_ids and not options.add_special_tokens)
            and type(options.stride) is int
            and options.stride >= 0
            and not (
                rules.is_fast
                and (options.stride or strategies.truncation is TruncationStrategy.ONLY_SECOND)
            )
            and options.padding_side in (None, *_SIDES)
            and settings.padding_side in _SIDES
            and settings.truncation_side in _SIDES
            and options.return_tensors in (None, *TensorType)
            and (strategies.max_length is None or type(strategies.max_length) is int)
            and not (strategies.cuts and (strategies.max_length or 0) <= around)
            and 0 <= settings.pad_token_type_id < 256
            and _has_numbers(state.pieces(False, options.add_special_tokens), 1, around)
        )

    # ---- calls -----------------------------------------------------------------------------------

    def one(self, encoder: Pipeline, text: Any, pair: Any = None) -> BatchEncoding:
        kernel, form = encoder.kernel, self._form_of_one
        # most calls: nothing else is looked at
        if kernel is not None and form is not None and pair is None:
            columns: Any = kernel.columns((text,), form, threads_allowed)
            if type(columns) is dict:
                return BatchEncoding.of_lists(columns, (self, (encoder, (text,), True)))
        return self._one(encoder, text, pair)

    def _one(self, encoder: Pipeline, text: Any, pair: Any) -> BatchEncoding:
        is_pair = pair is not None
        form = self._form(is_pair, True)
        if form is None or self._may_stay_empty:
            return super().one(encoder, text, pair)
        texts = (text, pair) if is_pair else (text,)
        columns = self._columns_of(encoder, texts, form, len(texts))
        if columns is None:
            return super().one(encoder, text, pair)
        given: list[Any] = [texts] if is_pair else [text]
        details = self, (encoder, given, True)
        if self._with_offsets:
            columns["offset_mapping"] = self._offsets(encoder, text, columns["input_ids"])
        if self._tensors is not None and type(columns["input_ids"]) is list:
            axis = self._with_offsets  # a row without it
            return BatchEncoding(
                columns, tensor_type=self._tensors, prepend_batch_axis=axis, details=details
            )
        return BatchEncoding.of_lists(columns, details)

    def batch(self, encoder: Pipeline, items: Any) -> BatchEncoding:
        kernel, form = encoder.kernel, self._form_of_batch
        if kernel is not None and form is not None and type(items) is list:
            texts = tuple(items)
            columns: Any = kernel.columns(texts, form, threads_allowed)
            if type(columns) is dict:
                return BatchEncoding.of_lists(columns, (self, (encoder, texts, False)))
        return self._batch(encoder, items)

    def _batch(self, encoder: Pipeline, items: Any) -> BatchEncoding:
        given = _as_texts(items)
        if given is None:
            return super().batch(encoder, items)
        are_pairs = type(given[0]) is not str
        form = self._form(are_pairs, False)
        if form is None:
            return super().batch(encoder, items)
        texts = tuple(chain.from_iterable(given)) if are_pairs else given
        columns = self._columns_of(encoder, texts, form, 1 + are_pairs)
        if columns is None:
            return super().batch(encoder, items)
        details: Any = self, (encoder, given, False)
        if self._with_offsets:
            ids = columns["input_ids"]
            columns["offset_mapping"] = [
                self._offsets(encoder, text, row) for text, row in zip(texts, ids, strict=True)
            ]
        if self._tensors is not None and type(columns["input_ids"]) is list:
            return BatchEncoding(columns, tensor_type=self._tensors, details=details)
        return BatchEncoding.of_lists(columns, details)

    def ids(self, encoder: Pipeline, text: str) -> list[int] | None:
        """The ids of one text, as `one` gives them without tensors; None where that has to be
        asked.
        """
        if self._may_stay_empty:
            return None
        columns = self._columns_of(encoder, (text,), self._form_of_ids)
        return None if columns is None else columns["input_ids"]

    def flat(self, encoder: Pipeline, texts: list[str]) -> FlatIds | None:
        """The ids of texts one behind the other, in numpy arrays; None where a kernel alone does
        not make them.
        """
        kernel = encoder.kernel
        flat: Any = (
            None
            if kernel is None
            else kernel.flat(tuple(texts), self._form_of_flat, threads_allowed)
        )
        return tuple.__new__(FlatIds, (*flat, None)) if type(flat) is tuple else None

    @cached_property
    def _form_of_flat(self) -> Form:
        return self._form_of_ids._replace(**array_makers(TensorType.NUMPY, "int32"))

    @cached_property
    def _form_of_one(self) -> Form | None:
        return None if self._may_stay_empty or not self._is_simple else self._form(False, True)

    @cached_property
    def _form_of_batch(self) -> Form | None:
        return self._form(False, False) if self._is_simple else None

    @property
    def _is_simple(self) -> bool:
        """Whether a kernel's columns are what a call returns."""
        return not self._with_offsets and self._tensors is not TensorType.PYTORCH

    @cached_property
    def _form_of_ids(self) -> Form:
        return self._form_of_lists(False, True, only_ids=True)

    def _columns_of(
        self, encoder: Pipeline, texts: tuple[Any, ...], form: Form, in_row: int = 1
    ) -> dict[str, Any] | None:
        """The columns of texts, of which so many are in a row; None where `Plan` has to make
        them.
        """
        kernel = encoder.kernel
        made: Any = (
            encoder.columns(texts, form)
            if kernel is None
            else kernel.columns(texts, form, threads_allowed)
        )
        if type(made) is not dict:
            return None if made is None or in_row > 1 else self._told(made, form)
        if form.make == ():
            return {name: int64_to_torch(made[name], len(texts) // in_row) for name in made}
        return made

    def _told(self, rows: Rows, form: Form) -> dict[str, Any]:
        """The columns of rows of texts of which one is longer than the model takes, or that make no
        arrays.
        """
        lengths = array.array("i", rows.int32_lengths(self.around))
        longest = max(lengths)
        fill_to = (
            self.width(longest) if self.strategies.padding is not PaddingStrategy.DO_NOT_PAD else 0
        )
        if max(longest, fill_to) > self.limit:
            self._warn_of(
                [max(length, fill_to) for length in lengths]
                if self.rules.padding_counts
                else lengths
            )
        is_even = max(longest, fill_to) == max(min(lengths), fill_to) > 0
        if form.make is not None and not is_even:
            form = self._form_of_lists(False, False)
        columns = rows.columns(form)
        return (
            {name: int64_to_torch(columns[name], len(lengths)) for name in columns}
            if form.make == ()
            else columns
        )

    # ---- forms -----------------------------------------------------------------------------------

    def _form(self, is_pair: bool, one: bool) -> Form | None:
        """What is made of texts or pairs, alone or not; None where `Plan` has to do it."""
        key = is_pair, one
        if key not in self._forms:
            form = self._form_of_lists(is_pair, one) if not is_pair or self._does_pairs() else None
            if form is not None and self._tensors is not None and not self._with_offsets:
                form = form._replace(**array_makers(self._tensors))
            self._forms[key] = form
        return self._forms[key]

    def _does_pairs(self) -> bool:
        """Whether it can do pairs that need not be cut."""
        pieces, around = (
            self.state.pieces(True, self.options.add_special_tokens),
            self._around(True),
        )
        leaves_room = not self.strategies.cuts or (self.strategies.max_length or 0) > around
        return leaves_room and not self._with_offsets and _has_numbers(pieces, 2, around)

    def _form_of_lists(self, is_pair: bool, one: bool, *, only_ids: bool = False) -> Form:
        pieces = self.state.pieces(is_pair, self.options.add_special_tokens)
        settings, options, (padding, _, max_length) = (
            self.state.settings,
            self.options,
            self.strategies,
        )
        specials = [0]
        for piece in pieces:
            specials[-1] += piece.sequence is None
            specials += [0] * (piece.sequence is not None)

        def column(
            number_of: Callable[[RowPiece], int], padding: int
        ) -> tuple[int, list[int], list[int]]:
            texts = [number_of(piece) for piece in pieces if piece.sequence is not None]
            return padding, texts, [number_of(piece) for piece in pieces if piece.sequence is None]

        def id_of(piece: RowPiece) -> int:
            return IDS_OF_TEXT if piece.sequence is not None else piece.token_id or 0

        columns = {"input_ids": column(id_of, settings.pad_token_id or 0)}
        for name in () if only_ids else self._names:
            of_padding = settings.pad_token_type_id if name == "token_type_ids" else _PADDING[name]
            columns[name] = column(_NUMBERS[name], of_padding)
        width = NOT_PADDED if padding is PaddingStrategy.DO_NOT_PAD else TO_LONGEST
        if padding is PaddingStrategy.MAX_LENGTH and max_length is not None:
            width = padded_length(max_length, options.pad_to_multiple_of)
        room = self.room
        if is_pair and self.strategies.cuts:
            room = (max_length or 0) - self._around(True)
        return form_of(
            specials,
            columns,
            room=-1 if room == NO_LIMIT else int(room),
            cuts_left=self._cuts_left,
            width=width,
            multiple=options.pad_to_multiple_of or 1,
            pads_left=self._pad_left,
            most=-1 if self.limit == NO_LIMIT else int(self.limit),
            one=one,
        )

    # ---- for corpora -----------------------------------------------------------------------------

    def rows_of_bytes(self, texts: Sequence[bytes]) -> ByteRows:
        """Rows of texts whose ids are int32: cut to length, with the special tokens around, without
        padding.
        """
        if self.room != NO_LIMIT:
            texts = [self._kept(text, 4) for text in texts]
        front, back = self._special_int32()
        ids = front + (back + front).join(texts) + back if texts else b""
        return self._byte_rows(
            array.array("i", [len(text) // 4 + self.around for text in texts]), ids
        )

    def byte_rows(self, rows: Rows) -> ByteRows:
        """The same for the rows of an encoder, which are cut to length."""
        if self.room != NO_LIMIT:
            rows.cut(int(self.room), self._cuts_left)
        return self._byte_rows(
            array.array("i", rows.int32_lengths(self.around)), rows.int32(*self._special_int32())
        )

    def kept_of(self, parts: Iterable[bytes | bytearray]) -> Iterator[bytes | bytearray]:
        """What is kept of a text whose ids come as int32 part by part; parts after its end are not
        asked for.
        """
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

    def parts_of_row(
        self, parts: Iterable[bytes | bytearray]
    ) -> Iterator[tuple[bytes | bytearray, dict[str, bytes]]]:
        """A row part by part, ids and columns: its special tokens, what is kept of its text, its
        special tokens.
        """
        front, back = self._special_int32()
        yield front, {column.name: column.front for column in self.columns}
        for part in parts:
            yield part, {column.name: column.text * (len(part) // 4) for column in self.columns}
        yield back, {column.name: column.back for column in self.columns}

    def _special_int32(self) -> tuple[bytes, bytes]:
        return array.array("i", self.front).tobytes(), array.array("i", self.back).tobytes()

    def _byte_rows(self, lengths: array.array[int], ids: bytes | bytearray) -> ByteRows:
        longest = max(lengths, default=0)
        self._warn_of([longest])
        columns = {}
        for column in self.columns:
            if column.is_even:
                columns[column.name] = column.text * (len(ids) // 4)
            else:
                columns[column.name] = b"".join(
                    [column.row(length - self.around) for length in lengths]
                )
        return lengths, ids, columns

    def _kept(self, row: _Kept, size: int = 1) -> _Kept:
        """Of a row with `size` items per token of a text those of the tokens that there is room
        for.
        """
        if len(row) <= self.room * size:
            return row
        room = int(self.room) * size
        return row[len(row) - room :] if self._cuts_left else row[:room]

    def _offsets(self, encoder: Pipeline, text: str, row: list[int]) -> list[Span]:
        """The span of each token of a row with special tokens and padding."""
        spans = self._kept(encoder.spans(text))
        spans = [_NO_SPAN] * len(self.front) + spans + [_NO_SPAN] * len(self.back)
        return padded(spans, _NO_SPAN, len(row) - len(spans), self._pad_left)


# The number of each piece in the columns beside the ids; and of padding, but for type ids, of which
# it is a setting.
_NUMBERS: dict[str, Callable[[RowPiece], int]] = {
    "token_type_ids": lambda piece: piece.type_id,
    "special_tokens_mask": lambda piece: int(piece.sequence is None),
    "attention_mask": lambda piece: 1,
}


_PADDING = {"special_tokens_mask": 1, "attention_mask": 0}


def _has_numbers(pieces: tuple[RowPiece, ...], texts: int, around: int) -> bool:
    """Whether every piece of a template has its numbers, the texts are in order, and so many
    special tokens around.
    """
    return (
        [piece.sequence for piece in pieces if piece.sequence is not None] == [*range(texts)]
        and len(pieces) - texts == around
        and all(piece.sequence is not None or piece.token_id is not None for piece in pieces)
        and all(
            piece.has_type_id and piece.is_in_mask and 0 <= piece.type_id < 256 for piece in pieces
        )
    )


def _as_texts(items: Any) -> tuple[Any, ...] | None:
    """A batch of texts as a tuple, and one of pairs as a tuple of tuples; None for what may be
    neither.
    """
    if type(items) is not list or not items:
        return None
    if type(items[0]) is str:
        return tuple(items)
    pairs = tuple([tuple(item) for item in items if type(item) in (tuple, list) and len(item) == 2])
    return pairs if len(pairs) == len(items) else None
