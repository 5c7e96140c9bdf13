"""`Plan`: one set of call options, resolved; it turns texts or ids into a `BatchEncoding`.

In: texts and an encoder, or ids. Out: a `BatchEncoding`. Every call goes through the same steps:
texts → ids → windows → rows → columns. `QuickPlan` takes a short cut for calls without words,
overflow or lengths. `InputBuilder` makes the plans.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from trietok.errors import NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import has_spans, locate_input, spans_of
from trietok.inputs.options import (
    CallOptions,
    PaddingStrategy,
    Strategies,
    check_first_id,
    padded_length,
    warn_of_length,
)
from trietok.inputs.rows import Encoding, Row
from trietok.inputs.template import require_ids, require_list
from trietok.inputs.truncation import (
    Cutting,
    ItemCut,
    TruncationStrategy,
    check_room,
    check_side,
    whole,
)
from trietok.text.aligned import Ids

if TYPE_CHECKING:
    from trietok.inputs.input_state import InputState
    from trietok.text.aligned import Span
    from trietok.text.pipeline import Located, Pipeline

logger = logging.getLogger("trietok")

# one item of a call: one text or two, each of them a str, or a list of words, tokens or ids
Texts = tuple[Any, ...]
# the ids of all texts, by items → their spans
SpansOf = Callable[[list[list[Ids]]], "list[list[list[Span]]]"]
# What a result keeps to compute its details: the encoder, the texts, and whether the call was for
# one item.
Given = tuple["Pipeline", "list[Texts] | list[str]", bool]
NO_LIMIT = float("inf")


class Plan:
    """A call with its options resolved. `InputBuilder.plan` makes it; it never changes.

    Attributes:
        state: the settings and templates by which it makes rows.
        options: the options of the call.
        strategies: `padding`, `truncation` and `max_length` of the call, resolved.
        limit: a row with more ids than this is logged; see `warn_of_length`.
    """

    def __init__(self, state: InputState, options: CallOptions, strategies: Strategies) -> None:
        self.state = state
        self.options = options
        self.strategies = strategies
        self.rules = state.settings.rules
        self.padding_side = (
            state.settings.padding_side if options.padding_side is None else options.padding_side
        )
        self.limit = NO_LIMIT
        if (
            strategies.max_length is None
            and options.verbose
            and state.settings.model_max_length > 0
        ):
            self.limit = state.settings.model_max_length
        # The columns whose option is None are returned where the model takes them.
        asked: dict[str, bool | None] = {
            "input_ids": True,
            "token_type_ids": options.return_token_type_ids,
            "attention_mask": options.return_attention_mask,
            "special_tokens_mask": options.return_special_tokens_mask,
            "offset_mapping": options.return_offsets_mapping,
            "length": options.return_length,
        }
        inputs, every = state.settings.model_input_names, options.return_overflowing_tokens
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

    # ---- calls -----------------------------------------------------------------------------------

    def one(self, encoder: Pipeline, text: Any, pair: Any = None) -> BatchEncoding:
        """The encoding of one text or pair.

        Args:
            encoder: gives the ids of a text. It must not change, since the result asks it for
                details later.
            text, pair: a str each, or a list of words; in the slow profile also a list of tokens or
                of ids.
        """
        return self._of_texts(encoder, [(text, pair)], one=True)

    def batch(self, encoder: Pipeline, items: Any) -> BatchEncoding:
        """The encoding of a batch.

        Args:
            encoder: see `one`.
            items: each as `one` takes it, or a list of two for a pair.
        """
        return self._of_texts(
            encoder, self.rules.batch_of(items, self.options.is_split_into_words), one=False
        )

    def from_ids(
        self, ids: Ids, pair_ids: Ids | None = None, prepend_batch_axis: bool = False
    ) -> BatchEncoding:
        """What `prepare_for_model` returns for the ids of one text or of a pair: a plan of the slow
        profile.

        Args:
            ids, pair_ids: without special tokens.
            prepend_batch_axis: give tensors a batch axis of one.

        Raises:
            NotSupportedError: the options ask for offsets, which ids do not have.
            InputError: the ids cannot be cut as the options say.
        """
        if self.options.return_offsets_mapping:
            raise NotSupportedError(
                "return_offsets_mapping is not available for this tokenizer",
                name="return_offsets_mapping",
            )
        row = [ids] if pair_ids is None else [ids, pair_ids]
        for each in row:
            require_list(each)
        columns = self._columns([row], one=True)
        return self._finished(columns, one=True, batch_axis=prepend_batch_axis)

    def encodings(self, given: Given, input_ids: Any) -> list[Encoding]:
        """The details of a result, computed from its texts when they are needed.

        Args:
            given: encoder and texts.
            input_ids: the ids that the result has now. A caller may have changed them; the details
                are those of the texts.
        """
        encoder, texts, one = given
        samples = [(text,) if isinstance(text, str) else text for text in texts]
        located = [[locate_input(encoder, text) for text in sample] for sample in samples]
        groups = [
            self._rows(number, [text.ids for text in sample], every=True)
            for number, sample in enumerate(located)
        ]
        parts = [
            list(rows) for _, rows in groupby(self._padded(groups, one), lambda row: row.sample)
        ]
        returned = None if self.options.return_overflowing_tokens else 1
        return [
            self._encoding(row, rows, located[row.sample])
            for rows in parts
            for row in rows[:returned]
        ]

    def _encoding(self, row: Row, rows: list[Row], located: list[Located]) -> Encoding:
        """The details of a row of an item, and how to get those of the rows with what it leaves
        out.
        """
        settings = self.state.settings
        padding = (settings.pad_token_id, settings.pad_token, settings.pad_token_type_id)
        made = row.encoding(located, *padding)
        if len(rows) > 1:
            made.overflow = lambda: [
                self._encoding(other, rows, located) for other in row.left_out_of(rows)
            ]
        return made

    def rows(self, sample: list[Ids]) -> list[Row]:
        """The rows of a call for one item, with padding; `sample` holds the ids of its one or two
        texts.
        """
        return self._padded([self._rows(0, sample)], one=True)

    # ---- from texts to rows ----------------------------------------------------------------------

    def _of_texts(
        self, encoder: Pipeline, items: Iterable[tuple[Any, Any]], one: bool
    ) -> BatchEncoding:
        """The encoding of items, each a text and its pair or None."""
        words = self.options.is_split_into_words
        samples: list[Texts] = []

        def ids_of_items() -> Iterator[list[Ids]]:
            for number, (text, pair) in enumerate(items):
                names = self.rules.names_of_pair if one else (f"item {number} of the batch",) * 2
                texts = (text,) if pair is None else (text, pair)
                # The result keeps a copy of a list: the caller may change the list before details
                # are computed.
                samples.append(tuple(list(text) if type(text) is list else text for text in texts))
                yield [
                    self.rules.ids_of(encoder, text, words, name)
                    for text, name in zip(texts, names, strict=False)
                ]

        def are_texts() -> bool:
            return all(has_spans(text, words) for texts in samples for text in texts)

        def spans_of_items(ids: list[list[Ids]]) -> list[list[list[Span]]]:
            if not are_texts():
                raise NotSupportedError(
                    "tokens and ids stand for no text that could have offsets",
                    name="offset_mapping",
                )
            return [
                [spans_of(encoder, text, len(own)) for text, own in zip(*item, strict=True)]
                for item in zip(samples, ids, strict=True)
            ]

        columns = self._columns(ids_of_items(), one, spans_of_items)
        return self._finished(
            columns, one, True, (self, (encoder, samples, one)) if are_texts() else None
        )

    def _columns(
        self, samples: Iterable[list[Ids]], one: bool, spans_of_items: SpansOf | None = None
    ) -> dict[str, list[Any]]:
        """The columns of all rows, in their order; `samples` has the ids of each item's texts."""
        rules = self.rules
        if rules.overflows_to_rows:
            samples = list(samples)  # in that profile all texts are encoded before the first is cut
        ids: list[list[Ids]] = []
        cuts: list[ItemCut] = []
        groups: list[list[Row]] = []
        for number, sample in enumerate(samples):
            rules.check(self.options, self.strategies, len(sample) == 2)
            cut = self._cut(sample)
            if cut.problem:
                logger.error(cut.problem)
            groups.append(self._rows(number, sample, cut))
            if not rules.padding_counts:
                self._warn_of(map(len, groups[-1]))
            ids.append(sample)
            cuts.append(cut)
        rows = self._padded(groups, one)
        if not one:
            firsts = (i for row in groups for i in row[0].ids(ids[row[0].sample], None)[:1])
            check_first_id(next(firsts, 0), "input_ids")
        names = rules.columns if one else rules.columns_of_batch
        values = {
            name: self._column(name, rows, ids, cuts, one, spans_of_items)
            for name in names
            if name in self._returned
        }
        if rules.padding_counts:
            self._warn_of(len(row) + row.missing for row in rows)
        return values

    def _column(
        self,
        name: str,
        rows: list[Row],
        ids: list[list[Ids]],
        cuts: list[ItemCut],
        one: bool,
        spans_of_items: SpansOf | None,
    ) -> list[Any]:
        """A column of rows; `ids` are those of the texts of each item, `cuts` how they are cut."""
        settings = self.state.settings
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
                with_padding = one or self.rules.padding_counts
                return [len(row) + row.missing * with_padding for row in rows]
            case "overflow_to_sample_mapping":
                return [row.sample for row in rows]
            case "overflowing_tokens":
                places = [cut.overflow for cut in cuts]
                return [
                    sample[which][slice(*span)]
                    for sample, (which, span) in zip(ids, places, strict=True)
                ]
            case "num_truncated_tokens":
                room = self.strategies.max_length or 0
                return [
                    sum(map(len, sample)) + self._around(len(sample) == 2) - room for sample in ids
                ]
        assert spans_of_items is not None  # a plan from ids has no offsets
        spans = spans_of_items(ids)
        return [row.offsets(spans[row.sample]) for row in rows]

    def _cut(self, sample: list[Ids]) -> ItemCut:
        """How truncation cuts the texts of one item."""
        lengths, (_, strategy, max_length) = tuple(map(len, sample)), self.strategies
        if strategy is TruncationStrategy.DO_NOT_TRUNCATE or max_length is None:
            return ItemCut([whole(lengths)])
        around, around_one = self._around(len(sample) == 2), self.state.special_counts[False]
        check_room(max_length, around)
        side = self.state.settings.truncation_side
        return self.rules.cut(
            lengths, Cutting(max_length, strategy, self.options.stride, side, around, around_one)
        )

    def _around(self, pair: bool) -> int:
        return self.state.special_counts[pair] if self.options.add_special_tokens else 0

    def _rows(
        self, number: int, sample: list[Ids], cut: ItemCut | None = None, every: bool = False
    ) -> list[Row]:
        """The rows of one item, those that are returned or every one, without padding."""
        cut = cut or self._cut(sample)
        pieces = self.state.pieces(len(sample) == 2, self.options.add_special_tokens)
        if self.state.lacks_ids:
            require_ids(pieces)
        windows = cut.rows if self.options.return_overflowing_tokens or every else cut.rows[:1]
        return [Row(number, pieces, each) for each in windows]

    def width(self, longest: int) -> int:
        """The length that a batch whose longest row has `longest` ids is padded to, where it is
        padded.
        """
        if (
            self.strategies.padding is PaddingStrategy.MAX_LENGTH
            and self.strategies.max_length is not None
        ):
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
                warn_of_length(self.state, length)

    def _finished(
        self,
        columns: dict[str, list[Any]],
        one: bool,
        batch_axis: bool,
        details: tuple[Plan, Given] | None = None,
    ) -> BatchEncoding:
        """The columns as they are returned: as tensors, as the lists of a batch, or as those of one
        row.
        """
        rules, tensors = self.rules, self.options.return_tensors
        values: dict[str, Any] = columns
        if one and not (self.returns_several_rows if tensors is None else batch_axis):
            values = {
                name: column if name == "length" and rules.length_is_listed else column[0]
                for name, column in columns.items()
            }
        return BatchEncoding(values, tensor_type=tensors, details=details)
