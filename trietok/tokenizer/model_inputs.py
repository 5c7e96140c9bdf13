"""From ids to model inputs: truncate, put special tokens around, make masks, pad, make tensors.

In: the ids of one or two sequences, or what has been encoded already. Out: a `BatchEncoding`. The results are those of
`prepare_for_model` and `pad` in transformers 4.57.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok import log
from trietok.errors import InputError, InputTypeError, NotSupportedError, SpecialTokenError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import reject_replaced
from trietok.inputs.options import Padding, Truncation, resolve_strategies
from trietok.inputs.padding import PaddingStrategy, pad_values, padded_length
from trietok.inputs.pieces_around import Piece
from trietok.inputs.tensors import TensorType, tensor_type_of, to_python
from trietok.inputs.truncation import TruncationStrategy, truncate
from trietok.tokenizer.special_tokens import SpecialTokensMixin

Ids = list[int]
Tensors = str | TensorType | None


class ModelInputsMixin(SpecialTokensMixin):
    """What follows once a text is ids. Not used by itself: tokenizers inherit it."""

    model_input_names: list[str] = ["input_ids", "token_type_ids", "attention_mask"]
    padding_side: str = "right"
    truncation_side: str = "right"
    model_max_length: int
    deprecation_warnings: dict[str, bool]

    def prepare_for_model(
        self,
        ids: Ids,
        pair_ids: Ids | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
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
        prepend_batch_axis: bool = False,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Truncate, add special tokens, make masks and pad, for ids that are there already.

        Args:
            ids, pair_ids: the ids of one or two sequences, without special tokens.
            prepend_batch_axis: give tensors a batch axis of one.

        The other arguments are those of a call.
        """
        reject_replaced(kwargs)
        reject_offsets(return_offsets_mapping)
        strategies = resolve_strategies(self, padding, truncation, max_length, pad_to_multiple_of, verbose)
        max_length = strategies.max_length
        if return_token_type_ids and not add_special_tokens:
            raise InputError("return_token_type_ids has no meaning with add_special_tokens=False; leave it at None")
        if return_overflowing_tokens:
            if pair_ids is not None and strategies.truncation is TruncationStrategy.LONGEST_FIRST:
                raise InputError(
                    "overflowing tokens of a pair cannot be returned with 'longest_first'; "
                    "select 'only_first' or 'only_second'"
                )
            if max_length is None:
                raise InputTypeError("return_overflowing_tokens needs a max_length to overflow")
        added = self.num_special_tokens_to_add(pair=pair_ids is not None) if add_special_tokens else 0
        total = len(ids) + len(pair_ids or ()) + added
        overflow: Ids = []
        if strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
            if max_length < added:
                raise InputError(
                    f"max_length is {max_length}, but the special tokens alone are {added}; raise max_length, or "
                    "leave the special tokens out"
                )
            if max_length and total > max_length:
                ids, pair_ids, overflow = self.truncate_sequences(
                    ids, pair_ids, total - max_length, strategies.truncation, stride
                )
        values: dict[str, Any] = {}
        if return_overflowing_tokens:
            assert max_length is not None
            values["overflowing_tokens"] = overflow
            values["num_truncated_tokens"] = total - max_length
        values.update(self._guard.read(self._template, ids, pair_ids, add_special_tokens))
        if not self._wants("token_type_ids", return_token_type_ids):
            del values["token_type_ids"]
        if return_special_tokens_mask:
            values["special_tokens_mask"] = (
                self.get_special_tokens_mask(ids, pair_ids) if add_special_tokens else [0] * len(values["input_ids"])
            )
        self._warn_of_length(values["input_ids"], max_length, verbose)
        with_mask = self._wants("attention_mask", return_attention_mask)
        if not values["input_ids"]:  # nothing to pad, as in transformers
            values.update({"attention_mask": []} if with_mask else {})
        elif with_mask or strategies.padding is not PaddingStrategy.DO_NOT_PAD:
            values = self._pad_one(values, strategies.padding, max_length, pad_to_multiple_of, padding_side, with_mask)
        if return_length:
            values["length"] = len(values["input_ids"])
        return BatchEncoding(values, tensor_type=return_tensors, prepend_batch_axis=prepend_batch_axis)

    def _template(self, ids: Ids, pair_ids: Ids | None, add_special_tokens: bool) -> dict[str, Ids]:
        if add_special_tokens:
            return {
                "input_ids": self._without_none(self.build_inputs_with_special_tokens(ids, pair_ids)),
                "token_type_ids": self.create_token_type_ids_from_sequences(ids, pair_ids),
            }
        sequence = ids if pair_ids is None else ids + pair_ids
        return {"input_ids": sequence, "token_type_ids": [0] * len(sequence)}

    def _without_none(self, ids: Ids) -> Ids:
        """The ids that the template gave; an error where one is None, which is so where a role has no token."""
        if None in ids:
            unset = [role for role in ("cls_token", "sep_token") if self._special_tokens_map.get(role) is None]
            raise SpecialTokenError(
                f"the template puts the token of a role that has none around the text ({', '.join(unset)} is None); "
                "give the role a token, or pass add_special_tokens=False",
                role=unset[0] if unset else None,
            )
        return ids

    def _pieces_around(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]:
        """What stands around one text or two, and with which type ids; read off the methods that put it there."""
        if not add_special_tokens:
            return tuple(Piece(0, sequence=sequence) for sequence in range(1 + pair))
        texts = ([-1], [-2] if pair else None)  # each stands for the ids of a text
        ids = self._without_none(self.build_inputs_with_special_tokens(*texts))
        types = [*self.create_token_type_ids_from_sequences(*texts), *[0] * len(ids)]  # a subclass may give too few
        return tuple(
            Piece(type_id, sequence=-1 - i) if i < 0 else Piece(type_id, None, self.convert_ids_to_tokens(i), i)
            for i, type_id in zip(ids, types, strict=False)
        )

    def _wants(self, name: str, asked: bool | None) -> bool:
        return name in self.model_input_names if asked is None else asked

    def _warn_of_length(self, ids: Ids, max_length: int | None, verbose: bool) -> None:
        if verbose and max_length is None and len(ids) > self.model_max_length > 0:
            self.warn_once(
                "sequence-length-is-longer-than-the-specified-maximum",
                f"a text has {len(ids)} tokens, more than the {self.model_max_length} the model takes; "
                "pass truncation=True",
            )

    def warn_once(self, key: str, message: str) -> None:
        """Log a warning the first time it is due."""
        if not self.deprecation_warnings.get(key):
            self.deprecation_warnings[key] = True
            log.warning(message)

    # ---- truncation, the template, padding --------------------------------------------------------------------------

    def truncate_sequences(
        self,
        ids: Ids,
        pair_ids: Ids | None = None,
        num_tokens_to_remove: int = 0,
        truncation_strategy: str | TruncationStrategy = "longest_first",
        stride: int = 0,
    ) -> tuple[Ids, Ids | None, Ids]:
        """Remove ids from one sequence or a pair; see `trietok.inputs.truncation.truncate`.

        Returns:
            ids, pair_ids, and the overflowing ids.
        """
        strategy = TruncationStrategy(truncation_strategy)
        return truncate(ids, pair_ids, num_tokens_to_remove, strategy, stride, self.truncation_side)

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens the template puts around one sequence, or around a pair."""
        return len(self.build_inputs_with_special_tokens([], [] if pair else None))

    def build_inputs_with_special_tokens(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        """Put special tokens around one sequence or a pair; a subclass overrides it. Here: none."""
        return token_ids_0 if token_ids_1 is None else token_ids_0 + token_ids_1

    def create_token_type_ids_from_sequences(self, token_ids_0: Ids, token_ids_1: Ids | None = None) -> Ids:
        """0 for the first sequence with its [CLS] and [SEP], 1 for the second with its [SEP]."""
        cls = 0 if getattr(self, "cls_token_id", None) is None else 1
        sep = 0 if getattr(self, "sep_token_id", None) is None else 1
        types = [0] * (cls + len(token_ids_0) + sep)
        return types if token_ids_1 is None else types + [1] * (len(token_ids_1) + sep)

    def get_special_tokens_mask(
        self, token_ids_0: Ids, token_ids_1: Ids | None = None, already_has_special_tokens: bool = False
    ) -> list[int]:
        """1 for each special token, 0 for the others.

        Args:
            token_ids_0, token_ids_1: ids of one or two sequences.
            already_has_special_tokens: whether the template is around them already.

        Raises:
            InputError: it is, and a second sequence is given.
        """
        if not already_has_special_tokens:
            return [0] * (len(token_ids_0) + len(token_ids_1 or ()))
        if token_ids_1 is not None:
            raise InputError("ids that have their special tokens already are one sequence; leave token_ids_1 out")
        special = set(self.all_special_ids)
        return [int(token_id in special) for token_id in token_ids_0]

    @property
    def max_len_single_sentence(self) -> int:
        """The longest text the model takes, in tokens, without the special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=False)

    @max_len_single_sentence.setter
    def max_len_single_sentence(self, value: int) -> None:
        self._refuse_length("max_len_single_sentence", value)

    @property
    def max_len_sentences_pair(self) -> int:
        """The longest pair the model takes, in tokens of both texts, without the special tokens."""
        return self.model_max_length - self.num_special_tokens_to_add(pair=True)

    @max_len_sentences_pair.setter
    def max_len_sentences_pair(self, value: int) -> None:
        self._refuse_length("max_len_sentences_pair", value)

    def _refuse_length(self, name: str, value: int) -> None:
        if value != getattr(self, name):
            raise InputError(f"{name} follows from model_max_length; set that instead")

    def pad(
        self,
        encoded_inputs: Any,
        padding: Padding = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: Tensors = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        """Pad what has been encoded: one text, a batch, or a list of texts as a data loader hands them over.

        Args:
            encoded_inputs: a `BatchEncoding` or dict of lists or tensors, or a list of those. It is not changed.

        The other arguments are those of a call. Tensors come back as tensors of their kind.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.pad([{"input_ids": [2, 7, 3]}, {"input_ids": [2, 3]}])
        {'input_ids': [[2, 7, 3], [2, 3, 0]], 'attention_mask': [[1, 1, 1], [1, 1, 0]]}

        Raises:
            InputError: the main input is missing, or values have different batch sizes.
        """
        main = self.model_input_names[0]
        if isinstance(encoded_inputs, (list, tuple)) and encoded_inputs and isinstance(encoded_inputs[0], Mapping):
            for number, example in enumerate(encoded_inputs):
                if example.keys() < encoded_inputs[0].keys():
                    lacks = sorted(encoded_inputs[0].keys() - example.keys())
                    raise InputError(f"item {number} has no {', '.join(lacks)}, which item 0 has")
            encoded_inputs = {key: [example[key] for example in encoded_inputs] for key in encoded_inputs[0]}
        if not isinstance(encoded_inputs, Mapping) or main not in encoded_inputs:
            given = list(encoded_inputs) if isinstance(encoded_inputs, Mapping) else kind_of(encoded_inputs)
            raise InputError(f"pad needs an encoding, or a list of encodings, with {main}; it was given {given}")
        values = dict(encoded_inputs)
        required = values[main]
        if required is None or (hasattr(required, "__len__") and len(required) == 0):
            if return_attention_mask:
                values["attention_mask"] = []
            return BatchEncoding(values)
        values, kind = _as_lists(values, main)
        strategies = resolve_strategies(self, padding, None, max_length, verbose=verbose)
        with_mask = self._wants("attention_mask", return_attention_mask)
        how = (pad_to_multiple_of, padding_side, with_mask)
        rows = values[main]
        if not isinstance(rows[0], (list, tuple)):
            padded = self._pad_one(values, strategies.padding, strategies.max_length, *how)
            return BatchEncoding(padded, tensor_type=return_tensors or kind)
        for key, value in values.items():
            if len(value) != len(rows):
                raise InputError(f"{key} has {len(value)} rows where {main} has {len(rows)}")
        to, length = strategies.padding, strategies.max_length
        if to is PaddingStrategy.LONGEST:
            to, length = PaddingStrategy.MAX_LENGTH, max(map(len, rows))
        batch: dict[str, list[Any]] = {}
        for index in range(len(rows)):
            row = {key: value[index] for key, value in values.items()}
            for key, value in self._pad_one(row, to, length, *how).items():
                batch.setdefault(key, []).append(value)
        return BatchEncoding(batch, tensor_type=return_tensors or kind)

    def _pad_one(
        self,
        values: dict[str, Any],
        strategy: PaddingStrategy,
        max_length: int | None,
        pad_to_multiple_of: int | None,
        padding_side: str | None,
        with_mask: bool,
    ) -> dict[str, Any]:
        """Pad one text, and give it its attention mask."""
        main = self.model_input_names[0]
        length = len(values[main])
        if with_mask and "attention_mask" not in values:
            values = {**values, "attention_mask": [1] * length}
        if strategy is PaddingStrategy.DO_NOT_PAD:
            return values
        if strategy is PaddingStrategy.MAX_LENGTH and max_length is not None:
            length = max_length
        fillers = {main: self.pad_token_id, "token_type_ids": self.pad_token_type_id, "special_tokens_mask": 1}
        if with_mask:
            fillers["attention_mask"] = 0
        side = self.padding_side if padding_side is None else padding_side
        return pad_values(
            values, padded_length(length, pad_to_multiple_of), main_input=main, fillers=fillers, side=side
        )


def reject_offsets(return_offsets_mapping: bool) -> None:
    if return_offsets_mapping:
        raise NotSupportedError(
            "return_offsets_mapping is not available for this tokenizer", name="return_offsets_mapping"
        )


def kind_of(value: Any) -> str:
    """A value for an error message: its type, and itself in short."""
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"


def _as_lists(values: dict[str, Any], main: str) -> tuple[dict[str, Any], TensorType | None]:
    """Tensors as lists, and the kind of tensor the main input was."""
    rows = values[main]
    kind = tensor_type_of(rows) or tensor_type_of(rows[0])
    if kind is None:
        first = next((row[0] for row in rows if len(row)), 0) if isinstance(rows[0], (list, tuple)) else rows[0]
        kind = tensor_type_of(first)
        if kind is None:
            if not isinstance(first, int):
                raise InputError(f"{main} holds {kind_of(first)}; it should hold ints, or be an array or tensor")
            return values, None
    return {key: to_python(value) for key, value in values.items()}, kind
