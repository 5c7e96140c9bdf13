"""From ids to what a model takes, one step at a time: truncation, special tokens, masks, padding.

In: ids, or encoded texts. Out: ids, masks, or a `BatchEncoding`. A call does all of it at once, by
a `Plan`; these methods are for those who have ids, and for classes that override them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trietok.errors import (
    InputError,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import (
    CallOptions,
    Padding,
    PaddingStrategy,
    Side,
    TextKeywords,
    Truncation,
    reject_replaced,
    resolve_strategies,
)
from trietok.inputs.pad import pad, pad_one
from trietok.inputs.template import BERT, Template
from trietok.inputs.tensors import Tensors
from trietok.inputs.truncation import TruncationStrategy, truncate
from trietok.text.aligned import Ids
from trietok.text.changes import is_replaced
from trietok.tokenizer.hooks import INPUT_HOOKS, PAD_HOOKS
from trietok.tokenizer.moment import frozen
from trietok.tokenizer.state import TokenizerState
from trietok.typing_compat import Self, Unpack


class ModelInputsMixin(TokenizerState):
    """How a tokenizer makes model inputs of ids."""

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
        padding_side: Side | None = None,
        return_tensors: Tensors = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        prepend_batch_axis: bool = False,
        **kwargs: Unpack[TextKeywords],
    ) -> BatchEncoding:
        """Truncate, add special tokens, make masks and pad, for texts that are given as ids.

        Args:
            ids, pair_ids: the ids of one or two sequences, without special tokens.
            prepend_batch_axis: give tensors a batch axis of one.

        The other arguments are those of a call.
        """
        reject_replaced(kwargs)
        options = CallOptions.of({**locals(), "is_split_into_words": False})
        moment = self._now()
        if moment.prepares_by_methods:
            return moment.by_methods(self).prepare(ids, pair_ids, options, prepend_batch_axis)
        return moment.builder_of_ids.plan(options).from_ids(ids, pair_ids, prepend_batch_axis)

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

    def build_inputs_with_special_tokens(
        self, token_ids_0: Ids, token_ids_1: Ids | None = None
    ) -> Ids:
        """Put special tokens around one sequence or a pair; a subclass overrides it. Here: none."""
        return token_ids_0 if token_ids_1 is None else token_ids_0 + token_ids_1

    def create_token_type_ids_from_sequences(
        self, token_ids_0: Ids, token_ids_1: Ids | None = None
    ) -> Ids:
        """What `template` says: 0 for the first sequence with its special tokens, 1 for the second,
        in BERT.
        """
        state = frozen(self)
        # A role whose token has no id leaves no place, as one without a token.
        unset = [role for role in state._table.roles if getattr(state, f"{role}_id", 0) is None]
        template: Template = getattr(state, "template", BERT)
        return template.token_type_ids(token_ids_0, token_ids_1, unset)

    def get_special_tokens_mask(
        self,
        token_ids_0: Ids,
        token_ids_1: Ids | None = None,
        already_has_special_tokens: bool = False,
    ) -> list[int]:
        """1 for each special token, 0 for the others.

        Args:
            token_ids_0, token_ids_1: ids of one or two sequences.
            already_has_special_tokens: whether the ids include the special tokens already.

        Raises:
            InputError: they do, and a second sequence is given.
        """
        if not already_has_special_tokens:
            return [0] * (len(token_ids_0) + len(token_ids_1 or ()))
        if token_ids_1 is not None:
            raise InputError(
                "ids that have their special tokens already are one sequence; leave token_ids_1 out"
            )
        special = set(self.all_special_ids)
        return [int(token_id in special) for token_id in token_ids_0]

    @property
    def max_len_single_sentence(self) -> int:
        """The longest text the model takes, in tokens, without the special tokens."""
        state: Self = frozen(self, INPUT_HOOKS)
        return state.model_max_length - state.num_special_tokens_to_add(pair=False)

    @max_len_single_sentence.setter
    def max_len_single_sentence(self, value: int) -> None:
        self._refuse_length("max_len_single_sentence", value)

    @property
    def max_len_sentences_pair(self) -> int:
        """The longest pair the model takes, in tokens of both texts, without the special tokens."""
        state: Self = frozen(self, INPUT_HOOKS)
        return state.model_max_length - state.num_special_tokens_to_add(pair=True)

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
        padding_side: Side | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: Tensors = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        """Pad encoded texts: one text, a batch, or a list of texts as a data loader hands them
        over.

        Args:
            encoded_inputs: a `BatchEncoding` or dict of lists or tensors, or a list of those. It is
                not changed.

        The other arguments are those of a call. Tensors come back as tensors of their kind.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.pad([{"input_ids": [2, 7, 3]}, {"input_ids": [2, 3]}])
        {'input_ids': [[2, 7, 3], [2, 3, 0]], 'attention_mask': [[1, 1, 1], [1, 1, 0]]}

        Raises:
            InputError: the main input is missing, or values have different batch sizes.
        """
        return pad(
            frozen(self, PAD_HOOKS),
            encoded_inputs,
            padding,
            max_length,
            pad_to_multiple_of,
            padding_side,
            return_attention_mask,
            return_tensors,
            verbose,
            pad_row=self._pad if is_replaced(self, ("_pad",)) else None,
        )

    def _pad(
        self,
        encoded_inputs: Mapping[str, Any],
        max_length: int | None = None,
        padding_strategy: PaddingStrategy = PaddingStrategy.DO_NOT_PAD,
        pad_to_multiple_of: int | None = None,
        padding_side: Side | None = None,
        return_attention_mask: bool | None = None,
    ) -> dict[str, Any]:
        """Pad one text; a subclass may override it: `pad` calls it for each text, and so do the
        calls of slow classes.

        Unlike that of transformers it returns another dict, and does not change the one that it is
        given.
        """
        return pad_one(
            frozen(self),
            encoded_inputs,
            max_length,
            padding_strategy,
            pad_to_multiple_of,
            padding_side,
            return_attention_mask,
        )

    def _get_padding_truncation_strategies(
        self,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        verbose: bool = True,
        **kwargs: Any,
    ) -> tuple[PaddingStrategy, TruncationStrategy, int | None, dict[str, Any]]:
        """The strategies of a call, the length that they use, and the keywords that are left."""
        state = frozen(self)
        return (
            *resolve_strategies(
                state, padding, truncation, max_length, pad_to_multiple_of, verbose
            ),
            kwargs,
        )
