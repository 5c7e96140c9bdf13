"""Texts or ids to model inputs: truncation, special tokens around, masks, padding, arrays.

Every call goes through the same steps: texts → ids → windows → rows → columns. `build_batch` takes
them for one text, words, pairs and batches, in both profiles, which differ in data (`InputRules`)
and in how they cut. The compiled kernel makes the columns of texts by itself where it can.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, groupby, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import InputError, InputTypeError, NotSupportedError, kind_of
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.encoding import Encoding
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    check_first_id,
    padded_length,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.settings import InputSettings
from trietok.inputs.template import RowPiece, require_ids, require_list
from trietok.inputs.tensors import TensorType, array_makers, int64_to_torch
from trietok.inputs.truncation import (
    Cutting,
    ItemCut,
    TruncationStrategy,
    Windows,
    check_room,
    check_side,
    padded,
    size,
    whole,
)
from trietok.text.aligned import Ids
from trietok.text.kernel.choosing import threads_allowed
from trietok.text.kernel.forms import IDS_OF_TEXT, NOT_PADDED, TO_LONGEST, Form, form_of

if TYPE_CHECKING:
    from trietok.text.aligned import Span
    from trietok.text.pipeline import Located, Pipeline

logger = logging.getLogger("trietok")

# one item of a call: one text or two, each of them a str, or a list of words, tokens or ids
Texts = tuple[Any, ...]
# What a result keeps to compute its details: the pipeline, the texts, and whether the call was for
# one item.
Given = tuple["Pipeline", "Sequence[Texts | str]", bool]
NO_LIMIT = float("inf")
NOTHING_CUT = ItemCut([])
_NO_SPAN = (0, 0)
_SIDES = ("left", "right")


class Frame:
    """What stands around the texts of a row.

    Attributes:
        pieces: texts and special tokens in order.
        order: the numbers of the texts in the order of the row.
        ids, types, mask: for each group of special tokens, before the first text and behind each,
            their ids, token type ids and values in the special tokens mask.
        text_types: the token type id of each text, in the order of the row.
        even_type: the token type id of all tokens, if they have the same; else None.
        around: the number of special tokens.
        lacks_ids: whether a special token has no id.
    """

    __slots__ = (
        *("around", "even_type", "ids", "lacks_ids", "mask", "order", "pieces"),
        *("text_types", "types"),
    )

    def __init__(self, pieces: tuple[RowPiece, ...]) -> None:
        self.pieces = pieces
        groups: list[list[RowPiece]] = [[]]
        texts: list[RowPiece] = []
        for piece in pieces:
            if piece.sequence is None:
                groups[-1].append(piece)
            else:
                texts.append(piece)
                groups.append([])
        self.order = tuple([text.sequence or 0 for text in texts])
        self.text_types = tuple([text.type_id for text in texts])
        self.ids: list[list[Any]] = [[piece.token_id for piece in group] for group in groups]
        self.types = [[piece.type_id for piece in group if piece.has_type_id] for group in groups]
        self.mask = [[1 for piece in group if piece.is_in_mask] for group in groups]
        self.around = sum(map(len, groups))
        self.lacks_ids = None in chain(*self.ids)
        types = {piece.type_id if piece.has_type_id else None for piece in pieces}
        self.even_type = types.pop() if len(types) == 1 else None


class Row(NamedTuple):
    """A row of a result, before its columns are made.

    Attributes:
        sample: which item of the call it comes from.
        frame: what stands around its texts.
        windows: which tokens of each text.
        size: the number of tokens without padding.
        missing: how many padding tokens.
        pad_left: whether they come first.
    """

    sample: int
    frame: Frame
    windows: Windows
    size: int
    missing: int = 0
    pad_left: bool = False

    @property
    def pieces(self) -> tuple[RowPiece, ...]:
        """The texts and special tokens in order."""
        return self.frame.pieces

    def values(
        self, groups: list[list[Any]], texts: Sequence[Sequence[Any]], padding: Any
    ) -> list[Any]:
        """Return a column of which each token of a text has its own value."""
        row = [*groups[0]]
        for sequence, behind in zip(self.frame.order, groups[1:], strict=True):
            start, end = self.windows[sequence]
            row += texts[sequence][start:end]
            row += behind
        return padded(row, padding, self.missing, self.pad_left) if self.missing else row

    def numbers(self, groups: list[list[int]], of_texts: Sequence[int], padding: int) -> list[int]:
        """Return a column of which all tokens of a text have one value."""
        row = [*groups[0]]
        order = self.frame.order
        for sequence, number, behind in zip(order, of_texts, groups[1:], strict=True):
            row += [number] * size(self.windows[sequence])
            row += behind
        return padded(row, padding, self.missing, self.pad_left)

    def left_out_of(self, rows: Sequence[Row]) -> list[Row]:
        """Return, of the rows of an item whose first holds what is kept, those with what this one
        leaves out.

        Of a pair a row that is not the first has one text as it is there, or none; what it leaves
        out is of that text.
        """
        kept = rows[0].windows
        if self.windows == kept:
            return list(rows[1:])
        same = [number for number, window in enumerate(self.windows) if window == kept[number]]
        if len(self.windows) == 1 or len(same) != 1:
            return []
        cut, other = same[0], 1 - same[0]
        return [
            row
            for row in rows
            if row.windows[other] == self.windows[other] and row.windows[cut] != kept[cut]
        ]


class Call:
    """The options of a call, resolved for one state of a tokenizer.

    Args:
        settings: those of the tokenizer.
        options: those of the call.
        warn_once: logs a message the first time it gets that key.

    Attributes:
        strategies: `padding`, `truncation` and `max_length`, resolved.
        limit: a row with more ids than this is logged; see `warn_of_length`.

    >>> from trietok.inputs.settings import SLOW
    >>> cls, sep = RowPiece(0, token="[CLS]", token_id=2), RowPiece(0, token="[SEP]", token_id=3)
    >>> single = (cls, RowPiece(0, sequence=0), sep)
    >>> settings = InputSettings(
    ...     ("input_ids", "attention_mask"),
    ...     "right",
    ...     "right",
    ...     512,
    ...     0,
    ...     "[PAD]",
    ...     0,
    ...     SLOW,
    ...     single,
    ...     (*single, RowPiece(1, sequence=1), sep),
    ...     (2, 3),
    ... )
    >>> call = Call(settings, CallOptions(truncation=True, max_length=4), lambda key, text: None)
    >>> build_from_ids(call, [7, 8, 9])
    {'input_ids': [2, 7, 8, 3], 'attention_mask': [1, 1, 1, 1]}
    """

    def __init__(
        self,
        settings: InputSettings,
        options: CallOptions,
        warn_once: Callable[[str, str], None],
    ) -> None:
        self.settings = settings
        self.rules = settings.rules
        self.options = options = options.of_ints()
        self.warn_once = warn_once
        self.model_max_length = settings.model_max_length
        self.pad_token_id = settings.pad_token_id
        self.strategies = strategies = resolve_strategies(
            self,
            *options[1:4],
            pad_to_multiple_of=options.pad_to_multiple_of,
            verbose=options.verbose,
        )
        self.padding_side = (
            settings.padding_side if options.padding_side is None else options.padding_side
        )
        self.pads = strategies.padding is not PaddingStrategy.DO_NOT_PAD
        self.limit = NO_LIMIT
        if strategies.max_length is None and options.verbose and settings.model_max_length > 0:
            self.limit = settings.model_max_length
        # The columns whose option is None are returned where the model takes them.
        asked: dict[str, bool | None] = {
            "input_ids": True,
            "token_type_ids": options.return_token_type_ids,
            "attention_mask": options.return_attention_mask,
            "special_tokens_mask": options.return_special_tokens_mask,
            "offset_mapping": options.return_offsets_mapping,
            "length": options.return_length,
        }
        inputs, every = settings.model_input_names, options.return_overflowing_tokens

        def returned(names: tuple[str, ...]) -> list[str]:
            return [
                name
                for name in names
                if (name in inputs if asked.get(name, False) is None else asked.get(name, every))
            ]

        self.names = {
            True: returned(self.rules.columns),
            False: returned(self.rules.columns_of_batch),
        }
        self.frames = [
            Frame(settings.pieces(pair, options.add_special_tokens)) for pair in (False, True)
        ]
        self.arounds = settings.special_counts if options.add_special_tokens else (0, 0)
        self._forms: dict[tuple[bool, bool], Form | None] = {}
        # whether rows are other than a text with its special tokens, as lists
        self._changes_rows = self.strategies.cuts or self.pads or options.return_tensors is not None
        # whether no options are set that may contradict others
        self._is_usual = options.add_special_tokens and not options.return_overflowing_tokens

    @property
    def is_fast(self) -> bool:
        """Whether its results have details, as those of transformers' Rust tokenizers do."""
        return self.rules.is_fast

    @property
    def returns_several_rows(self) -> bool:
        """Whether a call for one item returns a list of rows."""
        return self.rules.overflows_to_rows and self.options.return_overflowing_tokens

    # ---- what a result asks for later ------------------------------------------------------------

    def encodings(self, given: Given, input_ids: Any) -> list[Encoding]:
        """Return the details of a result, computed from its texts when they are needed.

        Args:
            given: pipeline and texts.
            input_ids: the ids that the result has now. A caller may have changed them; the details
                are those of the texts.
        """
        pipeline, texts, one = given
        samples = [(text,) if isinstance(text, str) else text for text in texts]
        located = [[_located(pipeline, text) for text in sample] for sample in samples]
        groups = [
            self.rows_of(number, [text.ids for text in sample], every=True)
            for number, sample in enumerate(located)
        ]
        parts = [
            list(rows) for _, rows in groupby(self.padded(groups, one), lambda row: row.sample)
        ]
        returned = None if self.options.return_overflowing_tokens else 1
        return [
            self._encoding(row, rows, located[row.sample])
            for rows in parts
            for row in rows[:returned]
        ]

    def _encoding(self, row: Row, rows: list[Row], located: list[Located]) -> Encoding:
        """Return the details of a row of an item, and how to get those of the rows with what it
        leaves out.
        """
        settings, frame = self.settings, row.frame
        ranges: dict[int, Span] = {}
        position = row.missing if row.pad_left else 0
        for piece in frame.pieces:
            end = position + (1 if piece.sequence is None else size(row.windows[piece.sequence]))
            if piece.sequence is not None:
                ranges[piece.sequence] = (position, end)
            position = end
        tokens: list[list[Any]] = [[]]
        for piece in frame.pieces:
            if piece.sequence is None:
                tokens[-1].append(piece.token)
            else:
                tokens.append([])
        nothing: list[list[Any]] = [[None] * len(group) for group in frame.ids]
        made = Encoding(
            ids=row.values(frame.ids, [text.ids for text in located], settings.pad_token_id),
            type_ids=self._numbers("token_type_ids", row),
            tokens=row.values(tokens, [text.tokens for text in located], settings.pad_token),
            offsets=_offsets(row, [text.spans for text in located]),
            word_ids=row.values(nothing, [text.words for text in located], None),
            special_tokens_mask=self._numbers("special_tokens_mask", row),
            attention_mask=self._numbers("attention_mask", row),
            ranges=dict(sorted(ranges.items())),
        )
        if len(rows) > 1:
            made.overflow = lambda: [
                self._encoding(other, rows, located) for other in row.left_out_of(rows)
            ]
        return made

    def rows(self, sample: list[Ids]) -> list[Row]:
        """Return the rows of a call for one item, with padding; `sample` holds the ids of its one
        or two texts.
        """
        return self.padded([self.rows_of(0, sample)], one=True)

    # ---- from ids to columns ---------------------------------------------------------------------

    def cut(self, sample: Sequence[Ids]) -> ItemCut:
        """Return how truncation cuts the texts of one item."""
        lengths, (_, strategy, max_length) = tuple(map(len, sample)), self.strategies
        if strategy is TruncationStrategy.DO_NOT_TRUNCATE or max_length is None:
            return ItemCut([whole(lengths)])
        around = self.arounds[len(sample) == 2]
        check_room(max_length, around)
        side, around_one = self.settings.truncation_side, self.settings.special_counts[False]
        return self.rules.cut(
            lengths, Cutting(max_length, strategy, self.options.stride, side, around, around_one)
        )

    def rows_of(
        self, number: int, sample: Sequence[Ids], cut: ItemCut | None = None, every: bool = False
    ) -> list[Row]:
        """Return the rows of one item, those that are returned or every one, without padding."""
        frame = self.frames[len(sample) == 2]
        if frame.lacks_ids:
            require_ids(frame.pieces)
        if not self.strategies.cuts:
            windows = tuple([(0, len(ids)) for ids in sample])
            return [Row(number, frame, windows, _size_of(frame, windows))]
        cut = cut or self.cut(sample)
        kept = cut.rows if self.options.return_overflowing_tokens or every else cut.rows[:1]
        return [Row(number, frame, windows, _size_of(frame, windows)) for windows in kept]

    def width(self, longest: int) -> int:
        """Return the length that a batch whose longest row has `longest` ids is padded to, where it
        is padded.
        """
        strategies = self.strategies
        if strategies.padding is PaddingStrategy.MAX_LENGTH and strategies.max_length is not None:
            longest = strategies.max_length
        return padded_length(longest, self.options.pad_to_multiple_of)

    def padded(self, groups: list[list[Row]], one: bool) -> list[Row]:
        """Return all rows, with padding."""
        rows = [row for group in groups for row in group]
        if not self.pads or (one and not self.rules.pads_empty_text and not rows[0].size):
            return rows
        width = self.width(max([group[0].size for group in groups]))
        side = self.padding_side
        if self.rules.checks_side or any(row.size != width for row in rows):
            check_side("padding_side", side)
        is_left = side == "left"
        return [Row(*row[:4], max(width - row.size, 0), is_left) for row in rows]

    def warn_of(self, lengths: Iterable[int]) -> None:
        """Warn of rows that are longer than the model takes."""
        for length in lengths:
            if length > self.limit:
                warn_of_length(self, length)

    def columns(
        self,
        samples: Sequence[Sequence[Ids]],
        one: bool,
        spans_of_items: Callable[[Sequence[Sequence[Ids]]], Any],
    ) -> dict[str, list[Any]]:
        """Return the columns of all rows; `samples` has the ids of each item's texts."""
        rules, cuts_texts = self.rules, self.strategies.cuts
        may_contradict = rules.refuses_contradictions and not self._is_usual
        cuts: list[ItemCut] = []
        groups: list[list[Row]] = []
        for number, sample in enumerate(samples):
            if may_contradict:
                refuse_contradictions(self.options, self.strategies, len(sample) == 2)
            cut = self.cut(sample) if cuts_texts else NOTHING_CUT
            if cut.problem:
                logger.error(cut.problem)
            cuts.append(cut)
            groups.append(self.rows_of(number, sample, cut))
            if not rules.padding_counts and self.limit != NO_LIMIT:
                self.warn_of([row.size for row in groups[-1]])
        rows = self.padded(groups, one)
        if rules.padding_counts and self.limit != NO_LIMIT:
            self.warn_of([row.size + row.missing for row in rows])
        return {
            name: self._column(name, rows, samples, cuts, one, spans_of_items)
            for name in self.names[one]
        }

    def _column(
        self,
        name: str,
        rows: list[Row],
        samples: Sequence[Sequence[Ids]],
        cuts: list[ItemCut],
        one: bool,
        spans_of_items: Callable[[Sequence[Sequence[Ids]]], Any],
    ) -> list[Any]:
        match name:
            case "input_ids":
                pad_id = self.settings.pad_token_id
                return [row.values(row.frame.ids, samples[row.sample], pad_id) for row in rows]
            case "offset_mapping":
                spans = spans_of_items(samples)
                return [_offsets(row, spans[row.sample]) for row in rows]
            case "length":
                with_padding = one or self.rules.padding_counts
                return [row.size + row.missing * with_padding for row in rows]
            case "overflow_to_sample_mapping":
                return [row.sample for row in rows]
            case "overflowing_tokens":
                places = [cut.overflow for cut in cuts]
                return [
                    [*sample[which][slice(*span)]]
                    for sample, (which, span) in zip(samples, places, strict=True)
                ]
            case "num_truncated_tokens":
                room = self.strategies.max_length or 0
                return [
                    sum(map(len, sample)) + self.arounds[len(sample) == 2] - room
                    for sample in samples
                ]
        return [self._numbers(name, row) for row in rows]

    def _numbers(self, name: str, row: Row) -> list[int]:
        """Return a row of token type ids or of a mask."""
        frame = row.frame
        if name == "token_type_ids":
            padding = self.settings.pad_token_type_id
            if frame.even_type is not None:
                return padded([frame.even_type] * row.size, padding, row.missing, row.pad_left)
            return row.numbers(frame.types, frame.text_types, padding)
        if name == "special_tokens_mask":
            return row.numbers(frame.mask, (0,) * len(frame.order), 1)
        return padded([1] * row.size, 0, row.missing, row.pad_left)

    def finished(
        self,
        columns: dict[str, list[Any]],
        one: bool,
        batch_axis: bool,
        details: tuple[Call, Given] | None = None,
    ) -> BatchEncoding:
        """Return the columns as tensors, as the lists of a batch, or as those of one row."""
        tensors = self.options.return_tensors
        values: dict[str, Any] = columns
        if one and not (self.returns_several_rows if tensors is None else batch_axis):
            is_listed = self.rules.length_is_listed
            values = {
                name: column if name == "length" and is_listed else column[0]
                for name, column in columns.items()
            }
        if tensors is None and details is not None:
            return BatchEncoding.of_lists(values, details)
        return BatchEncoding(values, tensor_type=tensors, details=details)

    # ---- the kernel ------------------------------------------------------------------------------

    def form(self, is_pair: bool, one: bool) -> Form | None:
        """Return what the kernel makes of texts or pairs, alone or not; None where it cannot."""
        key = is_pair, one
        if key not in self._forms:
            self._forms[key] = self._new_form(is_pair, one) if self._fits_kernel(is_pair) else None
        form = self._forms[key]
        if form is not None and one and self.pads and not self.rules.pads_empty_text:
            return form if self.frames[is_pair].around else None  # a text without ids is not padded
        return form

    def _fits_kernel(self, is_pair: bool) -> bool:
        """Return whether the kernel's columns equal those of `columns` with these options."""
        options, strategies, settings = self.options, self.strategies, self.settings
        frame, around = self.frames[is_pair], self.arounds[is_pair]
        is_fast = settings.rules.is_fast
        return (
            not (options.return_overflowing_tokens or options.return_length)
            and not options.is_split_into_words
            and not (options.return_offsets_mapping and (is_pair or self._changes_rows))
            and not (options.return_token_type_ids and not options.add_special_tokens)
            and type(options.stride) is int
            and options.stride >= 0
            and not (
                is_fast
                and (options.stride or strategies.truncation is TruncationStrategy.ONLY_SECOND)
            )
            and {self.padding_side, settings.padding_side, settings.truncation_side} <= {*_SIDES}
            and options.return_tensors in (None, *TensorType)
            and (strategies.max_length is None or type(strategies.max_length) is int)
            and not (strategies.cuts and (strategies.max_length or 0) <= around)
            and 0 <= settings.pad_token_type_id < 256
            and frame.order == (0, 1)[: 1 + is_pair]
            and frame.around == around
            and all(
                piece.has_type_id
                and piece.is_in_mask
                and 0 <= piece.type_id < 256
                and (piece.sequence is not None or piece.token_id is not None)
                for piece in frame.pieces
            )
        )

    def _new_form(self, is_pair: bool, one: bool) -> Form:
        frame, settings, strategies = self.frames[is_pair], self.settings, self.strategies
        texts = [IDS_OF_TEXT] * len(frame.order)
        by_name: dict[str, tuple[int, Sequence[int], Sequence[int]]] = {
            "input_ids": (settings.pad_token_id or 0, texts, [*chain(*frame.ids)]),
            "token_type_ids": (
                settings.pad_token_type_id,
                frame.text_types,
                [*chain(*frame.types)],
            ),
            "special_tokens_mask": (1, [0] * len(texts), [1] * frame.around),
            "attention_mask": (0, [1] * len(texts), [1] * frame.around),
        }
        width = TO_LONGEST if self.pads else NOT_PADDED
        if strategies.padding is PaddingStrategy.MAX_LENGTH and strategies.max_length is not None:
            width = padded_length(strategies.max_length, self.options.pad_to_multiple_of)
        room = -1
        cuts_this = is_pair or strategies.truncation is not TruncationStrategy.ONLY_SECOND
        if strategies.cuts and cuts_this:
            room = (strategies.max_length or 0) - frame.around
        form = form_of(
            [*map(len, frame.ids)],
            {name: by_name[name] for name in self.names[one] if name in by_name},
            room=room,
            cuts_left=settings.truncation_side == "left",
            width=width,
            multiple=self.options.pad_to_multiple_of or 1,
            pads_left=self.padding_side == "left",
            one=one,
        )
        if self.options.return_tensors is None:
            return form
        return form._replace(**array_makers(TensorType(self.options.return_tensors)))

    def by_kernel(
        self, pipeline: Pipeline, texts: tuple[str, ...], is_pair: bool, one: bool
    ) -> dict[str, Any] | None:
        """Return the columns of texts, or of pairs of texts one behind the other, by the kernel;
        None where it does not make them, or somebody has to be warned.
        """
        kernel = pipeline.kernel
        form = None if kernel is None else self.form(is_pair, one)
        if kernel is None or form is None:
            return None
        made = kernel.columns(texts, form, threads_allowed)
        if made is None:
            return None
        columns, longest = made
        ids = [columns["input_ids"]] if one else columns["input_ids"]
        if longest > self.limit:
            if self.pads and not self.rules.padding_counts:
                return None
            self.warn_of(map(len, ids) if form.make is None else [longest])
        if form.make == ():
            rows = len(texts) // (1 + is_pair)
            return {name: int64_to_torch(columns[name], rows) for name in columns}
        if self.options.return_offsets_mapping:
            spans = [*map(self._spans_around, repeat(pipeline), texts, ids)]
            columns["offset_mapping"] = spans[0] if one else spans
        return columns

    def _spans_around(self, pipeline: Pipeline, text: str, row: list[int]) -> list[Span]:
        """Return the spans of a text that is neither cut nor padded, whose row is known."""
        front, back = self.frames[False].ids
        spans = pipeline.spans(text, len(row) - len(front) - len(back))
        return [_NO_SPAN] * len(front) + spans + [_NO_SPAN] * len(back)


# ---- building ------------------------------------------------------------------------------------


def build_one(call: Call, pipeline: Pipeline, text: Any, pair: Any = None) -> BatchEncoding:
    """Return the encoding of one text or pair.

    Args:
        call: the options.
        pipeline: gives the ids of a text. It must not change, since the result asks it for details
            later.
        text, pair: a str each, or a list of words; in the slow profile also a list of tokens or of
            ids.
    """
    if type(text) is str and (pair is None or type(pair) is str):
        texts = (text,) if pair is None else (text, pair)
        if pipeline.kernel is None and pipeline.may_have_kernel:
            pipeline.expect(texts)
        columns = call.by_kernel(pipeline, texts, pair is not None, True)
        if columns is not None:
            return BatchEncoding.of_lists(columns, (call, (pipeline, [texts], True)))
    return build_batch(call, pipeline, [(text, pair)], one=True)


def build_many(call: Call, pipeline: Pipeline, items: Any) -> BatchEncoding:
    """Return the encoding of a batch; each item is as `build_one` takes it, or a list of two."""
    if type(items) is list and items and pipeline.may_have_kernel:
        texts: tuple[Any, ...] | None = tuple(items) if type(items[0]) is str else _pairs_of(items)
        if texts is not None:
            is_pair = type(items[0]) is not str
            if pipeline.kernel is None and {*map(type, texts)} == {str}:
                pipeline.expect(texts)
            columns = call.by_kernel(pipeline, texts, is_pair, False)
            if columns is not None:
                given = texts if not is_pair else [*map(tuple, items)]
                return BatchEncoding.of_lists(columns, (call, (pipeline, given, False)))
    words = call.options.is_split_into_words
    pairs = pairs_of(items, words, takes_any=call.rules.takes_ids)
    return build_batch(call, pipeline, pairs, one=False)


def build_batch(
    call: Call, pipeline: Pipeline, items: Iterable[tuple[Any, Any]], *, one: bool
) -> BatchEncoding:
    """Return the encoding of items, each a text and its pair or None.

    Args:
        call: the options.
        pipeline: see `build_one`.
        items: a text, words, and in the slow profile tokens or ids, each with its pair.
        one: whether the call is for one item.
    """
    words = call.options.is_split_into_words
    samples: list[Texts] = []
    ids: list[Sequence[Ids]] = []
    are_texts = True
    for number, (text, pair) in enumerate(items):
        if pair is None and not words and type(text) is str:  # as most often
            samples.append((text,))
            ids.append((pipeline.ids(text),))
            continue
        names = call.rules.names_of_pair if one else (f"item {number} of the batch",) * 2
        texts = (text,) if pair is None else (text, pair)
        # The result keeps a copy of a list: the caller may change the list before details are
        # computed.
        samples.append(tuple([list(text) if type(text) is list else text for text in texts]))
        ids.append(
            [
                ids_of(pipeline, text, words, name, takes_ids=call.rules.takes_ids)
                for text, name in zip(texts, names, strict=False)
            ]
        )
        are_texts = are_texts and all(has_spans(text, words) for text in texts)

    def spans_of_items(ids: Sequence[Sequence[Ids]]) -> list[list[list[Span]]]:
        if not are_texts:
            raise NotSupportedError(
                "tokens and ids stand for no text that could have offsets", name="offset_mapping"
            )
        return [
            [
                pipeline.spans(text, len(own))
                if isinstance(text, str)
                else pipeline.locate_words(text).spans
                for text, own in zip(*item, strict=True)
            ]
            for item in zip(samples, ids, strict=True)
        ]

    columns = call.columns(ids, one, spans_of_items)
    if not one:
        check_first_id(next((row[0] for row in columns["input_ids"] if row), 0), "input_ids")
    details = (call, (pipeline, samples, one)) if are_texts else None
    return call.finished(columns, one, True, details)


def build_from_ids(
    call: Call, ids: Ids, pair_ids: Ids | None = None, prepend_batch_axis: bool = False
) -> BatchEncoding:
    """Return what `prepare_for_model` returns for the ids of one text or of a pair.

    Args:
        call: the options, with the rules of the slow profile.
        ids, pair_ids: without special tokens.
        prepend_batch_axis: give tensors a batch axis of one.

    Raises:
        NotSupportedError: the options ask for offsets, which ids do not have.
        InputError: the ids cannot be cut as the options say.
    """
    refuse_offsets_of_ids(call.options)
    row = [ids] if pair_ids is None else [ids, pair_ids]
    for each in row:
        require_list(each)
    columns = call.columns([row], True, lambda ids: [])
    return call.finished(columns, True, prepend_batch_axis)


def refuse_contradictions(options: CallOptions, strategies: Strategies, is_pair: bool) -> None:
    """Raise where the options of a slow tokenizer's call contradict each other, for an item."""
    if options.return_token_type_ids and not options.add_special_tokens:
        raise InputError(
            "return_token_type_ids has no meaning with add_special_tokens=False; leave it at None"
        )
    if options.return_overflowing_tokens:
        if is_pair and strategies.truncation is TruncationStrategy.LONGEST_FIRST:
            raise InputError(
                "overflowing tokens of a pair cannot be returned with 'longest_first'; "
                "select 'only_first' or 'only_second'"
            )
        if strategies.max_length is None:
            raise InputTypeError("return_overflowing_tokens needs a max_length to overflow")


def refuse_offsets_of_ids(options: CallOptions) -> None:
    """Raise a NotSupportedError where options ask for the offsets of ids."""
    if options.return_offsets_mapping:
        raise NotSupportedError(
            "return_offsets_mapping is not available for this tokenizer",
            name="return_offsets_mapping",
        )


def _size_of(frame: Frame, windows: Windows) -> int:
    """Return the number of tokens of a row."""
    return frame.around + sum([size(windows[sequence]) for sequence in frame.order])


def _offsets(row: Row, spans: Sequence[Sequence[Span]]) -> list[Span]:
    return row.values([[_NO_SPAN] * len(group) for group in row.frame.ids], spans, _NO_SPAN)


def _located(pipeline: Pipeline, value: Any) -> Located:
    """The tokens of a text, or of words: each is a text of its own, and every token has its word's
    number.
    """
    return pipeline.locate(value) if isinstance(value, str) else pipeline.locate_words(value)


# ---- the inputs of a call ------------------------------------------------------------------------


def is_text_input(value: Any) -> bool:
    """Return whether a value looks like a text, words, or a batch of either, by its first items, as
    transformers looks.
    """
    if isinstance(value, (list, tuple)) and value:
        first = value[0]
        return isinstance(first, str) or (
            isinstance(first, (list, tuple)) and (not first or isinstance(first[0], str))
        )
    return isinstance(value, (str, list, tuple))


def as_lists(value: Any) -> Any:
    """Return an array or column of texts, words or batches of words as a list; everything else as
    it is.

    It may be a numpy array, a pandas Series, a pyarrow array or a column of a dataset.

    >>> import collections
    >>> as_lists(collections.deque(["a", "b"])), as_lists(("a", "b")), as_lists(5)
    (['a', 'b'], ('a', 'b'), 5)
    """
    if isinstance(value, (str, bytes, Mapping)) or value is None:
        return value
    if not isinstance(value, (list, tuple)):
        for method in ("tolist", "to_pylist"):
            if hasattr(value, method):
                value = getattr(value, method)()
                break
        else:
            value = list(value) if isinstance(value, Sequence) else value
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (str, list, tuple)):
        items = [as_lists(item) for item in value]  # arrays of words
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    return value


def pair_of(item: Any, is_split_into_words: bool, where: str) -> tuple[Any, Any]:
    """Return the two inputs of an item; the second is None if the item is a single input.

    Raises:
        InputTypeError: a pair lacks a text. transformers' slow class encodes the first one alone
            then, so a missing value in a column of texts would change a row silently.
    """
    if not isinstance(item, (list, tuple)):
        return item, None
    if is_split_into_words and (not item or not isinstance(item[0], (list, tuple))):
        return item, None
    if len(item) != 2:
        raise InputTypeError(
            f"{where} is a {type(item).__name__} of {len(item)}: a pair has two; pass"
            " is_split_into_words=True if it is words",
            value=item,
        )
    if item[1] is None:
        raise InputTypeError(
            f'{where} is a pair whose second text is None; exclude it, or pass "" in its place',
            value=item,
        )
    return item[0], item[1]


def pairs_of(items: Any, is_split_into_words: bool, *, takes_any: bool) -> list[tuple[Any, Any]]:
    """Return a text and its pair, or None, for each item of a batch; refuse what is no batch: a
    list or tuple, or with `takes_any`, as in the slow profile, any iterable.
    """
    wanted: Any = Iterable if takes_any else (list, tuple)
    if not isinstance(items, wanted):
        raise InputTypeError(f"a batch is a list, not {kind_of(items)}", value=items)
    pairs = [
        pair_of(item, is_split_into_words, f"item {index} of the batch")
        for index, item in enumerate(items)
    ]
    if not pairs:
        raise InputError("the batch is empty; give it at least one text")
    return pairs


def _pairs_of(items: list[Any]) -> tuple[Any, ...] | None:
    """Return the texts of pairs one behind the other; None for what may be no pairs."""
    if all(type(item) in (tuple, list) and len(item) == 2 for item in items):
        return tuple(chain.from_iterable(items))
    return None


def ids_of(
    pipeline: Pipeline, value: Any, is_split_into_words: bool, where: str, *, takes_ids: bool
) -> list[int]:
    """Return the ids of one input, which messages call `where`: a text, or words if asked for; with
    `takes_ids`, as in the slow profile, also tokens or ids.
    """
    if isinstance(value, str) and (takes_ids or not is_split_into_words):
        return pipeline.ids(value)
    if not takes_ids:
        return _ids_of_words(pipeline, value, is_split_into_words, where)
    if not isinstance(value, (list, tuple)) or not value:
        wanted = "a str, a list of tokens or a list of ids"
        if is_split_into_words:
            wanted = "a str or a list of at least one word"
        raise InputError(f"{where} is {kind_of(value)}; it should be {wanted}")
    kind = str if isinstance(value[0], str) else int
    for position, item in enumerate(value):
        if not isinstance(item, kind):
            raise InputError(
                f"{where}: position {position} holds {kind_of(item)} among {kind.__name__}s"
            )
    if kind is int:
        return list(value)
    if is_split_into_words:
        return pipeline.ids_of_words(value)
    return pipeline.ids_of_tokens(list(value))


def _ids_of_words(
    pipeline: Pipeline, value: Any, is_split_into_words: bool, where: str
) -> list[int]:
    if is_split_into_words and isinstance(value, (list, tuple)):
        for position, word in enumerate(value):
            if not isinstance(word, str):
                raise InputTypeError(
                    f"{where}: position {position} holds {kind_of(word)} among words", value=word
                )
        return pipeline.ids_of_words(value)
    wanted = "a list of words" if is_split_into_words else "a str"
    raise InputTypeError(f"{where} is {kind_of(value)}; it should be {wanted}", value=value)


def has_spans(value: Any, is_split_into_words: bool) -> bool:
    """Return whether an input is a text, or words; tokens and ids stand for no text."""
    return isinstance(value, str) or (
        is_split_into_words and not (value and isinstance(value[0], int))
    )
