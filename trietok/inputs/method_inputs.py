"""`MethodInputs`: model inputs of a tokenizer whose class overrides the methods that make them.

In: ids, or texts and an encoder, and the tokenizer, whose methods are asked at every step. Out: the `BatchEncoding`
that an `InputBuilder` would give, if the methods were not overridden. The steps are those of the slow tokenizers of
transformers 4.57.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import has_spans, ids_of, locate, pair_of
from trietok.inputs.options import CallOptions, resolve_strategies, warn_of_length
from trietok.inputs.pad import pad_one
from trietok.inputs.padding import PaddingStrategy
from trietok.inputs.pieces import Piece
from trietok.inputs.profiles import SLOW
from trietok.inputs.rows import Row
from trietok.inputs.tensors import tensor_type_of, to_python, to_tensor
from trietok.inputs.truncation import TruncationStrategy, Window, check_room

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from trietok.inputs.call_inputs import Encoder
    from trietok.inputs.encoding import Encoding
    from trietok.inputs.pad import Padder

    class TokenizerMethods(Padder, Protocol):
        """What is asked of a tokenizer; the methods are HuggingFace's."""

        prepare_for_model: Callable[..., Any]
        pad: Callable[..., Any]
        truncate_sequences: Callable[..., Any]
        num_special_tokens_to_add: Callable[..., int]
        build_inputs_with_special_tokens: Callable[..., Any]
        create_token_type_ids_from_sequences: Callable[..., Any]
        get_special_tokens_mask: Callable[..., Any]
        convert_ids_to_tokens: Callable[..., Any]

        @property
        def pad_token(self) -> Any: ...


Ids = list[int]
Given = tuple["Encoder", "list[list[Any]]"]  # the encoder, and the texts of each item


class MethodInputs:
    """Stands in for an `InputBuilder` where a class overrides its steps.

    Args:
        tokenizer: whose methods are asked.
    """

    def __init__(self, tokenizer: TokenizerMethods) -> None:
        self._tokenizer = tokenizer

    def plan(self, options: CallOptions) -> MethodPlan:
        """The plan for a call with these options. What the methods do may change, so nothing is remembered."""
        return MethodPlan(self._tokenizer, CallOptions(*options))


class MethodPlan:
    """A call whose every step is a method of the tokenizer."""

    is_fast = False

    def __init__(self, tokenizer: TokenizerMethods, options: CallOptions) -> None:
        self._tokenizer = tokenizer
        self._options = options

    # ---- calls ------------------------------------------------------------------------------------------------------

    def one(self, encoder: Encoder, text: Any, pair: Any = None) -> Any:
        """The encoding of one text or pair by `prepare_for_model`; see `Plan.one`."""
        words = self._options.is_split_into_words
        ids = ids_of(encoder, text, words, "the text")
        pair_ids = None if pair is None else ids_of(encoder, pair, words, "the pair")
        options = self._options._asdict()
        del options["is_split_into_words"], options["return_offsets_mapping"]
        encoding = self._tokenizer.prepare_for_model(ids, pair_ids, **options, prepend_batch_axis=True)
        return self._with_details(encoding, encoder, [[text] if pair is None else [text, pair]], one=True)

    def batch(self, encoder: Encoder, items: Any) -> Any:
        """The encoding of a batch by `prepare_for_model` and `pad`; see `Plan.batch`."""
        options, tokenizer = self._options, self._tokenizer
        strategies = resolve_strategies(
            tokenizer, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=options.verbose
        )
        rows: dict[str, list[Any]] = {}
        texts: list[list[Any]] = []
        for index, item in enumerate(items):
            first, second = pair_of(item, options.is_split_into_words, index)
            texts.append([first] if second is None else [first, second])
            where = f"item {index} of the batch"
            ids = [ids_of(encoder, text, options.is_split_into_words, where) for text in texts[-1]]
            row = tokenizer.prepare_for_model(
                ids[0],
                ids[1] if len(ids) == 2 else None,
                add_special_tokens=options.add_special_tokens,
                truncation=strategies.truncation,
                max_length=strategies.max_length,
                stride=options.stride,
                return_token_type_ids=options.return_token_type_ids,
                return_attention_mask=False,  # made for the whole batch by pad
                return_overflowing_tokens=options.return_overflowing_tokens,
                return_special_tokens_mask=options.return_special_tokens_mask,
                return_length=options.return_length,
                verbose=options.verbose,
            )
            for key, value in row.items():
                rows.setdefault(key, []).append(value)
        encoding = tokenizer.pad(
            rows,
            padding=strategies.padding,
            max_length=strategies.max_length,
            pad_to_multiple_of=options.pad_to_multiple_of,
            padding_side=options.padding_side,
            return_attention_mask=options.return_attention_mask,
            return_tensors=options.return_tensors,
            verbose=False,
        )
        return self._with_details(encoding, encoder, texts, one=False)

    def from_ids(self, ids: Ids, pair_ids: Ids | None = None, prepend_batch_axis: bool = False) -> BatchEncoding:
        """What `prepare_for_model` returns where it is not overridden itself; see `Plan.from_ids`."""
        options, tokenizer = self._options, self._tokenizer
        if options.return_offsets_mapping:
            raise NotSupportedError(
                "return_offsets_mapping is not available for this tokenizer", name="return_offsets_mapping"
            )
        strategies = resolve_strategies(
            tokenizer, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=options.verbose
        )
        max_length = strategies.max_length
        SLOW.check(options, strategies, pair_ids is not None)
        added = tokenizer.num_special_tokens_to_add(pair=pair_ids is not None) if options.add_special_tokens else 0
        total = len(ids) + len(pair_ids or ()) + added
        overflow: Ids = []
        if strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
            check_room(max_length, added)
            if max_length and total > max_length:
                ids, pair_ids, overflow = tokenizer.truncate_sequences(
                    ids, pair_ids, total - max_length, strategies.truncation, options.stride
                )
        values: dict[str, Any] = {}
        if options.return_overflowing_tokens:
            assert max_length is not None  # `SLOW.check` has seen to it
            values["overflowing_tokens"] = overflow
            values["num_truncated_tokens"] = total - max_length
        values.update(self._around(ids, pair_ids))
        if options.verbose and max_length is None and len(values["input_ids"]) > tokenizer.model_max_length > 0:
            warn_of_length(tokenizer, len(values["input_ids"]))
        with_mask = self._wants("attention_mask", options.return_attention_mask)
        if not values["input_ids"]:  # nothing to pad, as in transformers
            values.update({"attention_mask": []} if with_mask else {})
        elif with_mask or strategies.padding is not PaddingStrategy.DO_NOT_PAD:
            how = (strategies.padding, max_length, options.pad_to_multiple_of, options.padding_side, with_mask)
            values = pad_one(tokenizer, values, *how)
        if options.return_length:
            values["length"] = len(values["input_ids"])
        return BatchEncoding(values, tensor_type=options.return_tensors, prepend_batch_axis=prepend_batch_axis)

    def _around(self, ids: Ids, pair_ids: Ids | None) -> dict[str, Any]:
        """The ids with special tokens around, and the columns that go with them."""
        options, tokenizer = self._options, self._tokenizer
        if options.add_special_tokens:
            values = {
                "input_ids": tokenizer.build_inputs_with_special_tokens(ids, pair_ids),
                "token_type_ids": tokenizer.create_token_type_ids_from_sequences(ids, pair_ids),
            }
        else:
            sequence = ids if pair_ids is None else ids + pair_ids
            values = {"input_ids": sequence, "token_type_ids": [0] * len(sequence)}
        if not self._wants("token_type_ids", options.return_token_type_ids):
            del values["token_type_ids"]
        if options.return_special_tokens_mask:
            values["special_tokens_mask"] = (
                tokenizer.get_special_tokens_mask(ids, pair_ids)
                if options.add_special_tokens
                else [0] * len(values["input_ids"])
            )
        return values

    def _wants(self, name: str, asked: bool | None) -> bool:
        return name in self._tokenizer.model_input_names if asked is None else asked

    # ---- where tokens came from -------------------------------------------------------------------------------------

    def _with_details(self, encoding: Any, encoder: Encoder, texts: list[list[Any]], one: bool) -> Any:
        """A result that can be asked where its tokens came from; with the offsets, if they are asked for."""
        with_offsets = self._options.return_offsets_mapping
        if not isinstance(encoding, BatchEncoding):  # of a subclass with its own ideas
            return encoding
        if not all(has_spans(text, self._options.is_split_into_words) for sample in texts for text in sample):
            if with_offsets:
                raise NotSupportedError(
                    "tokens and ids stand for no text that could have offsets", name="offset_mapping"
                )
            return encoding
        encoding.work_out_by(self, (encoder, texts))
        if with_offsets:
            offsets = [each.offsets for each in self.encodings((encoder, texts), encoding["input_ids"])]
            kind = tensor_type_of(encoding["input_ids"])
            if kind is not None:
                encoding["offset_mapping"] = to_tensor(offsets, kind)
            else:
                encoding["offset_mapping"] = offsets[0] if one else offsets
        return encoding

    def encodings(self, given: Given, input_ids: Any) -> list[Encoding]:
        """The details of a result, worked out again from its texts.

        Args:
            given: encoder and texts.
            input_ids: what the result has now, padding included.

        Raises:
            InputError: the methods do not put the same special tokens around every text, so which id comes from where
                cannot be told.
        """
        encoder, texts = given
        tokenizer, options = self._tokenizer, self._options
        located = [[locate(encoder, text) for text in sample] for sample in texts]
        ids = to_python(to_python(input_ids))
        ids = ids if ids and isinstance(ids[0], list) else [list(ids)]
        side = options.padding_side or tokenizer.padding_side
        made = []
        for number, (sample, row_ids) in enumerate(zip(located, ids, strict=True)):
            row = self._row(number, [len(text.ids) for text in sample])
            row = replace(row, missing=max(len(row_ids) - len(row), 0), pad_left=side == "left")
            padding = (tokenizer.pad_token_id, tokenizer.pad_token, tokenizer.pad_token_type_id)
            made.append(row.encoding(sample, *padding))
        if [encoding.ids for encoding in made] != ids:
            raise InputError(
                "the tokenizer, or the ids, have changed since this was encoded, so the tokens of the text are not "
                "those of the ids any more; encode the text again"
            )
        return made

    def _row(self, number: int, lengths: list[int]) -> Row:
        options, tokenizer = self._options, self._tokenizer
        strategies = resolve_strategies(
            tokenizer, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=False
        )
        pieces = self._pieces(len(lengths) == 2)
        windows = [(0, length) for length in lengths]
        to_remove = sum(lengths) + len(pieces) - len(lengths) - (strategies.max_length or 0)
        cuts = strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE
        if cuts and strategies.max_length and to_remove > 0:
            numbers = [list(range(length)) for length in lengths]
            pair = numbers[1] if len(numbers) == 2 else None
            kept = tokenizer.truncate_sequences(numbers[0], pair, to_remove, strategies.truncation, 0)
            windows = [_window(part) for part in kept[: len(lengths)]]
        return Row(number, pieces, tuple(windows))

    def _pieces(self, pair: bool) -> tuple[Piece, ...]:
        """What stands around one text or two, and with which type ids; read off the methods that put it there."""
        tokenizer = self._tokenizer
        if not self._options.add_special_tokens:
            return tuple(Piece(0, sequence=sequence) for sequence in range(1 + pair))
        texts = ([-1], [-2] if pair else None)  # each stands for the ids of a text
        ids = tokenizer.build_inputs_with_special_tokens(*texts)
        if None in ids:
            raise ValueError("a special token of the template is not set")
        types = [*tokenizer.create_token_type_ids_from_sequences(*texts), *[0] * len(ids)]  # there may be too few
        return tuple(
            Piece(type_id, sequence=-1 - i) if i < 0 else Piece(type_id, None, tokenizer.convert_ids_to_tokens(i), i)
            for i, type_id in zip(ids, types, strict=False)
        )


def _window(numbers: Sequence[int]) -> Window:
    return (numbers[0], numbers[-1] + 1) if numbers else (0, 0)
