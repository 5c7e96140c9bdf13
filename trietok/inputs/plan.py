"""`Plan`: one set of call options, resolved; it turns texts or ids into a `BatchEncoding`.

In: texts and an encoder, or ids. Out: a `BatchEncoding`. Every call goes through the same steps: texts → ids → windows
→ rows → columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trietok import log
from trietok.errors import InputError, NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import has_spans, locate_input, spans_of
from trietok.inputs.options import CallOptions, Strategies, warn_of_length
from trietok.inputs.padding import PaddingStrategy, check_first_id, padded_length
from trietok.inputs.pieces import require_ids
from trietok.inputs.truncation import Cut, Cutting
from trietok.text.alignment import Ids

if TYPE_CHECKING:
    from trietok.inputs.builder import InputBuilder
    from trietok.inputs.call_inputs import Encoder
    from trietok.inputs.encoding import Encoding
    from trietok.inputs.rows import Row
    from trietok.text.alignment import Located, Span

Texts = tuple[Any, ...]  # one item of a call: one text or two, each of them a str, or a list of words, tokens or ids
SpansOf = Callable[[int, list[Ids]], "list[list[Span]]"]  # the number of an item and its ids → the spans of each text
# What a result keeps to compute its details: the encoder, the texts, and whether the call was for one item.
Given = tuple["Encoder", "list[Texts] | list[str]", bool]


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
        self.rule = builder.settings.windows
        self.padding_side = builder.settings.padding_side if options.padding_side is None else options.padding_side
        self.limit = float("inf")
        if strategies.max_length is None and options.verbose and builder.settings.model_max_length > 0:
            self.limit = builder.settings.model_max_length
        self._returned = self._returned_columns()

    @property
    def is_fast(self) -> bool:
        """Whether its results have details, as those of transformers' Rust tokenizers do."""
        return self.rule.is_fast

    # ---- calls ------------------------------------------------------------------------------------------------------

    def one(self, encoder: Encoder, text: Any, pair: Any = None) -> BatchEncoding:
        """The encoding of one text or pair.

        Args:
            encoder: gives the ids of a text. It must not change, since the result asks it for details later.
            text, pair: a str each, or a list of words; in the slow profile also a list of tokens or of ids.

        Raises:
            InputError: an input is none of those, or cannot be cut as the options say.
        """
        return self._of_texts(encoder, [(text, pair)], one=True)

    def batch(self, encoder: Encoder, items: Any) -> BatchEncoding:
        """The encoding of a batch.

        Args:
            encoder: see `one`.
            items: each as `one` takes it, or a list of two for a pair.

        Raises:
            InputError: it is no batch, or an item cannot be encoded so.
        """
        return self._of_texts(encoder, self.rule.batch_of(items, self.options.is_split_into_words), one=False)

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

    def warn_of_length(self, length: int) -> None:
        """Log, once for a tokenizer, that a text has more ids than the model takes."""
        warn_of_length(self.builder, length)

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
            self._group(number, [text.ids for text in sample], returned_only=False)
            for number, sample in enumerate(located)
        ]
        parts: dict[int, list[Row]] = {}
        for row in self._padded(groups, one):
            parts.setdefault(row.sample, []).append(row)
        every = self.options.return_overflowing_tokens
        return [
            self._encoding(row, rows, located[number])
            for number, rows in parts.items()
            for row in (rows if every else rows[:1])
        ]

    def _encoding(self, row: Row, rows: list[Row], located: list[Located]) -> Encoding:
        """The details of a row of an item, and how to get those of the rows with what it leaves out."""
        settings = self.builder.settings
        padding = (settings.pad_token_id, settings.pad_token, settings.pad_token_type_id)
        made = row.encoding(located, *padding)
        if len(rows) > 1:
            made.overflow = lambda: [self._encoding(other, rows, located) for other in row.left_out_of(rows)]
        return made

    def rows(self, sample: list[Ids]) -> list[Row]:
        """The rows of a call for one item, with padding.

        Args:
            sample: the ids of its one or two texts.
        """
        return self._padded([self._group(0, sample)], one=True)

    # ---- from texts to rows -----------------------------------------------------------------------------------------

    def _of_texts(self, encoder: Encoder, items: Iterable[tuple[Any, Any]], one: bool) -> BatchEncoding:
        """The encoding of items, each a text and its pair or None."""
        words = self.options.is_split_into_words
        samples: list[Texts] = []

        def ids_of_items() -> Iterator[list[Ids]]:
            for number, (text, pair) in enumerate(items):
                names = self.rule.names_of_pair if one else (f"item {number} of the batch",) * 2
                texts = (text,) if pair is None else (text, pair)
                # The result keeps a copy of a list: the caller may change the list before details are computed.
                samples.append(tuple(list(text) if type(text) is list else text for text in texts))
                yield [self.rule.ids_of(encoder, text, words, name) for text, name in zip(texts, names, strict=False)]

        def spans_of_item(number: int, ids: list[Ids]) -> list[list[Span]]:
            if not all(has_spans(text, words) for texts in samples for text in texts):
                raise NotSupportedError(
                    "tokens and ids stand for no text that could have offsets", name="offset_mapping"
                )
            return [spans_of(encoder, text, len(own)) for text, own in zip(samples[number], ids, strict=True)]

        columns = self._columns(ids_of_items(), one, spans_of_item)
        is_text = all(has_spans(text, words) for texts in samples for text in texts)
        return self._finished(columns, one, True, (self, (encoder, samples, one)) if is_text else None)

    def _columns(
        self, samples: Iterable[list[Ids]], one: bool, spans_of_item: SpansOf | None = None
    ) -> dict[str, list[Any]]:
        """The columns of all rows, in their order.

        Args:
            samples: for each item the ids of its texts.
            one: whether it is a call for one item.
            spans_of_item: called where the columns have offsets.
        """
        rule = self.rule
        if rule.overflows_to_rows:
            samples = list(samples)  # in that profile all texts are encoded before the first is cut
        ids: list[list[Ids]] = []
        cuts: list[Cut] = []
        groups: list[list[Row]] = []
        for number, sample in enumerate(samples):
            rule.check(self.options, self.strategies, len(sample) == 2)
            cut = self._cut(sample)
            if cut.problem:
                log.error(cut.problem)
            groups.append(self._rows(number, cut, len(sample) == 2))
            if not rule.padding_counts:
                self._warn_of(groups[-1])
            ids.append(sample)
            cuts.append(cut)
        rows = self._padded(groups, one)
        if not one:
            firsts = (i for row in groups for i in row[0].ids(ids[row[0].sample], None)[:1])
            check_first_id(next(firsts, 0), "input_ids")
        values = {
            name: self._column(name, one, rows, ids, cuts, spans_of_item)
            for name in (rule.columns if one else rule.columns_of_batch)
            if name in self._returned
        }
        if rule.padding_counts:
            self._warn_of(rows)
        return values

    def _group(self, number: int, sample: list[Ids], returned_only: bool = True) -> list[Row]:
        """The rows of an item, without padding."""
        return self._rows(number, self._cut(sample), len(sample) == 2, returned_only)

    def _cut(self, sample: list[Ids]) -> Cut:
        """How truncation cuts the texts of one item."""
        strategies = self.strategies
        cutting = Cutting(
            strategies.max_length,
            strategies.truncation,
            self.options.stride,
            self.builder.settings.truncation_side,
            self._around(len(sample) == 2),
            self.builder.special_count(pair=False),
        )
        return self.rule.cut(tuple(map(len, sample)), cutting)

    def _around(self, pair: bool) -> int:
        return self.builder.special_count(pair) if self.options.add_special_tokens else 0

    def _rows(self, number: int, cut: Cut, pair: bool, returned_only: bool = True) -> list[Row]:
        """The rows of one item, those that are returned or all, without padding."""
        from trietok.inputs.rows import Row  # quick plans do without it, and without dataclasses

        pieces = self.builder.pieces(pair, self.options.add_special_tokens)
        if self.builder.lacks_ids:
            require_ids(pieces)
        windows = cut.rows if self.options.return_overflowing_tokens or not returned_only else cut.rows[:1]
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
        if one and not self.rule.pads_empty_text and not len(rows[0]):
            return rows
        width = self.width(max(len(group[0]) for group in groups))
        side = self.padding_side
        if side not in ("left", "right") and (self.rule.checks_side or any(len(row) != width for row in rows)):
            raise InputError(f"padding_side is 'left' or 'right', not {side!r}")
        return [row.padded(width, side == "left") for row in rows]

    def _warn_of(self, rows: list[Row]) -> None:
        """Warn of rows that are longer than the model takes."""
        if self.limit == float("inf"):
            return
        for row in rows:
            if len(row) + row.missing > self.limit:
                self.warn_of_length(len(row) + row.missing)

    # ---- columns ----------------------------------------------------------------------------------------------------

    def _returned_columns(self) -> frozenset[str]:
        options = self.options
        asked: dict[str, bool | None] = {
            "input_ids": True,
            "token_type_ids": options.return_token_type_ids,
            "attention_mask": options.return_attention_mask,
            "special_tokens_mask": options.return_special_tokens_mask,
            "offset_mapping": options.return_offsets_mapping,
            "length": options.return_length,
        }
        names = self.builder.settings.model_input_names
        return frozenset(
            name
            for name in self.rule.columns
            if (name in names if asked.get(name, False) is None else asked.get(name, options.return_overflowing_tokens))
        )

    def returns(self, name: str) -> bool:
        """Whether the options ask for a column."""
        return name in self._returned

    def _column(
        self,
        name: str,
        one: bool,
        rows: list[Row],
        ids: list[list[Ids]],
        cuts: list[Cut],
        spans_of_item: SpansOf | None,
    ) -> list[Any]:
        """A value for each row."""
        settings = self.builder.settings
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
                counts = one or self.rule.padding_counts
                return [len(row) + row.missing * counts for row in rows]
            case "overflow_to_sample_mapping":
                return [row.sample for row in rows]
            case "overflowing_tokens":
                return [sample[cut.overflow[0]][slice(*cut.overflow[1])] for sample, cut in zip(ids, cuts, strict=True)]
            case "num_truncated_tokens":
                assert self.strategies.max_length is not None  # `rule.check` has made sure of it
                room = self.strategies.max_length
                return [sum(map(len, sample)) + self._around(len(sample) == 2) - room for sample in ids]
        assert spans_of_item is not None  # a plan from ids has no offsets
        spans = [spans_of_item(number, sample) for number, sample in enumerate(ids)]
        return [row.offsets(spans[row.sample]) for row in rows]

    def _finished(
        self,
        columns: dict[str, list[Any]],
        one: bool,
        batch_axis: bool,
        details: tuple[Plan, Given] | None = None,
    ) -> BatchEncoding:
        """The columns as they are returned: as tensors, as the lists of a batch, or as those of one row."""
        rule, tensors = self.rule, self.options.return_tensors
        several_rows = rule.overflows_to_rows and self.options.return_overflowing_tokens
        values: dict[str, Any] = columns
        if one and not (several_rows if tensors is None else batch_axis):
            values = {
                name: column if name == "length" and rule.length_is_listed else column[0]
                for name, column in columns.items()
            }
        return BatchEncoding(values, tensor_type=tensors, details=details)
