"""The calls of the Rust profile: truncation into rows, the file's own template, padding, offsets.

In: texts, pairs or words, and the options of a call. Out: the `BatchEncoding` that transformers 4.57.6 makes of what
the Rust tokenizers give: what does not fit becomes rows of its own, a row's keys have an order of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import empty_batch, pair_of
from trietok.inputs.details import RowDetails
from trietok.inputs.options import Padding, Strategies, Truncation, resolve_strategies
from trietok.inputs.padding import PaddingStrategy, padded_length
from trietok.inputs.pieces_around import Piece
from trietok.inputs.rows import Row
from trietok.inputs.truncation import TruncationStrategy
from trietok.inputs.windows import Room, rows
from trietok.tokenizer.calls import CallsMixin
from trietok.tokenizer.model_inputs import Ids, Tensors, kind_of

Input = Any  # a str, or words


class RustCallsMixin(CallsMixin):
    """The calls. Not used by itself: tokenizers inherit it, before the classes whose calls it replaces."""

    if TYPE_CHECKING:

        def _pieces_around(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]: ...
        def _warn_of_length(self, ids: Ids, max_length: int | None, verbose: bool) -> None: ...

    def encode_plus(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Tensors = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode one text or pair; as a call, but a list or tuple of two texts is a pair too, not a batch.

        With `is_split_into_words` a list of str is the words of one text, and a list of two such lists a pair.
        """
        encoding: BatchEncoding = self._guard.read(  # one state for ids and spans
            self._encode_items,
            [(text, text_pair) if text_pair else _whole_pair_of(text, is_split_into_words, "the text")],
            ["the text"],
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            is_split_into_words=is_split_into_words,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_token_type_ids=return_token_type_ids,
            return_attention_mask=return_attention_mask,
            return_overflowing_tokens=return_overflowing_tokens,
            return_special_tokens_mask=return_special_tokens_mask,
            return_offsets_mapping=return_offsets_mapping,
            return_length=return_length,
            verbose=verbose,
            options=kwargs,
        )
        if return_tensors is not None:
            return encoding.convert_to_tensors(return_tensors)
        if not return_overflowing_tokens:  # a row, not a batch of one; only the length stays in its list
            encoding.data = {key: value if key == "length" else value[0] for key, value in encoding.data.items()}
        return encoding

    def batch_encode_plus(
        self,
        batch_text_or_text_pairs: Sequence[Any],
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: Tensors = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode a batch: each item a text, a list of two for a pair, or with `is_split_into_words` words or a pair."""
        if split_special_tokens is not None:
            kwargs["split_special_tokens"] = split_special_tokens
        if not isinstance(batch_text_or_text_pairs, (list, tuple)):
            raise InputTypeError(
                f"a batch is a list, not {kind_of(batch_text_or_text_pairs)}", value=batch_text_or_text_pairs
            )
        if not batch_text_or_text_pairs:
            raise empty_batch()
        names = [f"item {index} of the batch" for index in range(len(batch_text_or_text_pairs))]
        items = [
            _whole_pair_of(item, is_split_into_words, name)
            for item, name in zip(batch_text_or_text_pairs, names, strict=True)
        ]
        encoding: BatchEncoding = self._guard.read(  # one state for ids and spans
            self._encode_items,
            items,
            names,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            is_split_into_words=is_split_into_words,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_token_type_ids=return_token_type_ids,
            return_attention_mask=return_attention_mask,
            return_overflowing_tokens=return_overflowing_tokens,
            return_special_tokens_mask=return_special_tokens_mask,
            return_offsets_mapping=return_offsets_mapping,
            return_length=return_length,
            verbose=verbose,
            options=kwargs,
        )
        return encoding.convert_to_tensors(return_tensors)

    # ---- from items to rows -----------------------------------------------------------------------------------------

    def _encode_items(
        self,
        items: list[tuple[Input, Input | None]],
        names: list[str],
        *,
        add_special_tokens: bool,
        padding: Padding,
        truncation: Truncation,
        max_length: int | None,
        stride: int,
        is_split_into_words: bool,
        pad_to_multiple_of: int | None,
        padding_side: str | None,
        return_token_type_ids: bool | None,
        return_attention_mask: bool | None,
        return_overflowing_tokens: bool,
        return_special_tokens_mask: bool,
        return_offsets_mapping: bool,
        return_length: bool,
        verbose: bool,
        options: dict[str, Any],
    ) -> BatchEncoding:
        self._check_options(is_split_into_words, options)
        strategies = resolve_strategies(self, padding, truncation, max_length, pad_to_multiple_of, verbose)
        texts = [[item[0], *item[1:]] if item[1] is not None else [item[0]] for item in items]
        details = RowDetails(self, texts, is_split_into_words, options)
        details.ids = [
            [self._input_ids(text, is_split_into_words, options, name) for text in sample]
            for sample, name in zip(texts, names, strict=True)
        ]
        groups = [
            self._rows(sample, [len(ids) for ids in row], add_special_tokens, strategies, stride)
            for sample, row in enumerate(details.ids)
        ]
        groups = self._padded(groups, strategies, pad_to_multiple_of, padding_side)
        details.rows = [row for group in groups for row in (group if return_overflowing_tokens else group[:1])]
        pad_id = self.pad_token_id
        values: dict[str, list[Any]] = {"input_ids": [row.ids(details.ids[row.sample], pad_id) for row in details.rows]}
        if self._wants("token_type_ids", return_token_type_ids):
            values["token_type_ids"] = [row.type_ids(self.pad_token_type_id) for row in details.rows]
        if self._wants("attention_mask", return_attention_mask):
            values["attention_mask"] = [row.attention_mask() for row in details.rows]
        if return_special_tokens_mask:
            values["special_tokens_mask"] = [row.special_tokens_mask() for row in details.rows]
        if return_offsets_mapping:
            spans = details.spans()
            values["offset_mapping"] = [row.offsets(spans[row.sample]) for row in details.rows]
        if return_length:
            values["length"] = [len(ids) for ids in values["input_ids"]]
        if return_overflowing_tokens:
            values["overflow_to_sample_mapping"] = [row.sample for row in details.rows]
        for ids in values["input_ids"]:
            self._warn_of_length(ids, max_length, verbose)
        return BatchEncoding(values, details=(details, None))

    def _rows(
        self, sample: int, lengths: list[int], add_special_tokens: bool, strategies: Strategies, stride: int
    ) -> list[Row]:
        """The rows of one item: of what is kept, then of what does not fit."""
        pieces = self._pieces_around(len(lengths) == 2, add_special_tokens)
        room = None
        if strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and strategies.max_length is not None:
            around = len(pieces) - len(lengths)
            if strategies.max_length < around:
                raise InputError(
                    f"max_length is {strategies.max_length}, but the special tokens alone are {around}; raise "
                    "max_length, or leave the special tokens out"
                )
            self._check_stride(stride, strategies.max_length)
            room = Room(strategies.max_length - around, strategies.truncation, stride, self.truncation_side)
        return [Row(sample, pieces, windows) for windows in rows(tuple(lengths), room)]

    def _check_stride(self, stride: int, max_length: int) -> None:
        """Refused whatever the text is; the special tokens of a single text count, even without them."""
        if not isinstance(stride, int) or stride < 0:
            raise InputError(f"stride is {stride!r}; it is a whole number from 0")
        left = max_length - (len(self._pieces_around(False, True)) - 1)
        if 0 <= left < stride:
            raise InputError(f"stride is {stride}, and max_length {max_length} leaves {left} tokens; it must be less")

    def _padded(
        self, groups: list[list[Row]], strategies: Strategies, multiple_of: int | None, side: str | None
    ) -> list[list[Row]]:
        if strategies.padding is PaddingStrategy.DO_NOT_PAD:
            return groups
        side = self.padding_side if side is None else side
        if side not in ("left", "right"):
            raise InputError(f"padding_side is 'left' or 'right', not {side!r}")
        longest = max(len(group[0]) for group in groups)
        if strategies.padding is PaddingStrategy.MAX_LENGTH and strategies.max_length is not None:
            longest = strategies.max_length
        width = padded_length(longest, multiple_of)
        return [
            [replace(row, missing=max(width - len(row), 0), pad_left=side == "left") for row in group]
            for group in groups
        ]

    def _input_ids(self, text: Any, is_split_into_words: bool, options: dict[str, Any], where: str) -> Ids:
        """The ids of a text, or of words, each a text of its own."""
        if not is_split_into_words and isinstance(text, str):
            return self._text_ids(text, options)
        if is_split_into_words and isinstance(text, (list, tuple)):
            for position, word in enumerate(text):
                if not isinstance(word, str):
                    raise InputTypeError(f"{where}: position {position} holds {kind_of(word)} among words", value=word)
            return [token_id for word in text for token_id in self._text_ids(word, options)]
        wanted = "a list of words" if is_split_into_words else "a str"
        raise InputTypeError(f"{where} is {kind_of(text)}; it should be {wanted}", value=text)


def _whole_pair_of(item: Any, is_split_into_words: bool, where: str) -> tuple[Input, Input | None]:
    """`pair_of` an item; a list of two whose second is None is no pair here, unlike in the slow profile."""
    pair = pair_of(item, is_split_into_words, where)
    if pair[1] is None and pair[0] is not item:
        raise InputTypeError(f"{where} is a pair whose second text is None; give the first alone", value=item)
    return pair
