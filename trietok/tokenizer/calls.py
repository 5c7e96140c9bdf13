"""Calls: texts to what a model takes.

In: a text, a pair, words, ids or a batch of them, and the options of a call. Out: a
`BatchEncoding`. The methods check arguments and delegate to the current `Moment`, which holds an
encoder (text to ids) and a builder (ids to model inputs), both of one state of the tokenizer. Texts
go transformers' way: prepare, lower-case outside the tokens that must match as they are written,
split at the added tokens, tokenize the pieces between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trietok.errors import (
    InputError,
    InputTypeError,
    kind_of,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import as_lists, is_text_input
from trietok.inputs.options import (
    Array,
    CallOptions,
    OwnKeywords,
    Padding,
    Side,
    Text,
    TextKeywords,
    TextOrIds,
    Truncation,
)
from trietok.inputs.tensors import Tensors
from trietok.tokenizer.moment import Moment
from trietok.tokenizer.state import TokenizerState
from trietok.typing_compat import Unpack

_TEXT_HINT = (
    "pass a str, a list of str (a batch, or words with is_split_into_words=True), or a list of"
    " those"
)


class CallsMixin(TokenizerState):
    """How a tokenizer is called, for texts and batches."""

    def prepare_for_tokenization(
        self, text: str, is_split_into_words: bool = False, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """Change a text before it is tokenized; a subclass may override it, and remove the keywords
        that it uses.

        Returns:
            The text, and the keywords that are left. Calls reject keywords that are left.
        """
        return text, kwargs

    def __call__(
        self,
        text: Text | None = None,
        text_pair: Text | None = None,
        text_target: Text | None = None,
        text_pair_target: Text | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
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
        **kwargs: Unpack[TextKeywords],
    ) -> BatchEncoding:
        """Encode one text, one pair, or a batch of either.

        Args:
            text: a str, or a list of str for a batch; with `is_split_into_words` a list of words,
                or a list of those.
            text_pair: the second texts, in the same form.
            text_target, text_pair_target: texts whose ids are returned as `labels`.
            add_special_tokens: put [CLS] and [SEP] (or what the model has) around the ids.
            padding: True or `"longest"` to the longest of the batch, `"max_length"`, False for
                none.
            truncation: True or `"longest_first"`, `"only_first"`, `"only_second"`, False for none.
            max_length: in tokens, special ones included; None for `model_max_length`.
            stride: tokens repeated before the overflowing ones.
            is_split_into_words: the input is words already.
            pad_to_multiple_of: round the padded length up.
            padding_side: `"right"` or `"left"`, for this call.
            return_tensors: `"np"`, `"pt"`, or None for lists.
            return_token_type_ids, return_attention_mask: None for the model's default.
            return_overflowing_tokens: also `overflowing_tokens` and `num_truncated_tokens`.
            return_special_tokens_mask: also `special_tokens_mask`, 1 for special tokens.
            return_offsets_mapping: also the span of each token in the text.
            return_length: also `length`.
            verbose: log warnings.
            **kwargs: `split_special_tokens`, to treat special tokens in the text as plain text, as
                in transformers; and what `prepare_for_tokenization` takes.

        Returns:
            A `BatchEncoding`: lists of length (sequence,) for one text, (batch, sequence) for a
            batch.

        Raises:
            InputError: the input cannot be encoded so. It is a `ValueError`.
            OptionError: a keyword is unknown. It is a `TypeError`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> batch = tokenizer(["a text", "a longer text"], padding=True)
        >>> [len(ids) for ids in batch.input_ids], batch.attention_mask[0]
        ([5, 5], [1, 1, 1, 1, 0])
        """
        values = (
            add_special_tokens,
            padding,
            truncation,
            max_length,
            stride,
            is_split_into_words,
            pad_to_multiple_of,
            padding_side,
            return_tensors,
            return_token_type_ids,
            return_attention_mask,
            return_overflowing_tokens,
            return_special_tokens_mask,
            return_offsets_mapping,
            return_length,
            verbose,
        )
        moment = self._now()
        if (
            text_pair is None
            and text_target is None
            and moment.is_plain
            and not (kwargs or is_split_into_words)
        ):
            types = (
                type(padding),
                type(truncation),
                type(max_length),
                type(stride),
                type(pad_to_multiple_of),
            )
            if type(text) is str:
                return moment.plan(values, types).one(moment.call_encoder, text)
            if type(text) is list and text and type(text[0]) is str:
                return moment.plan(values, types).batch(moment.call_encoder, text)
        if text is None and text_target is None:
            raise InputError("give text, text_target or both")
        options = CallOptions(*values)
        if text is None:
            return self._call_any(moment, text_target, text_pair_target, options, kwargs)
        encoding = self._call_any(moment, text, text_pair, options, kwargs)
        if text_target is not None:
            encoding["labels"] = self._call_any(
                moment, text_target, text_pair_target, options, kwargs
            )["input_ids"]
        return encoding

    def _call_any(
        self,
        moment: Moment,
        text: Any,
        text_pair: Any,
        options: CallOptions,
        kwargs: Mapping[str, Any],
    ) -> BatchEncoding:
        """Encode a single input or a batch, whichever the input is."""
        text, text_pair = as_lists(text), as_lists(text_pair)
        for name, value in (("text", text), ("text_pair", text_pair)):
            if not (value is None and name == "text_pair") and not is_text_input(value):
                is_missing = isinstance(value, (list, tuple)) and value and value[0] is None
                raise InputError(
                    f'{name}[0] is None; exclude it, or pass "" in its place'
                    if is_missing
                    else f"{name} is {kind_of(value)}; {_TEXT_HINT}"
                )
        first = text[0] if isinstance(text, (list, tuple)) and text else None
        if not isinstance(first if options.is_split_into_words else text, (list, tuple)):
            if moment.calls_methods:
                return self.encode_plus(text, text_pair, **options._asdict(), **kwargs)
            return self._encode_item(moment, text, text_pair, options, kwargs)
        if isinstance(text_pair, str):
            raise InputTypeError(
                "text is a batch, so text_pair must be a list of the same length, not a str"
            )
        if text_pair is not None:
            if len(text) != len(text_pair):
                raise InputError(
                    f"text has {len(text)} items and text_pair {len(text_pair)}; give a pair for"
                    " each text"
                )
            text = list(zip(text, text_pair, strict=True))
        if moment.calls_methods:
            return self.batch_encode_plus(text, **options._asdict(), **kwargs)
        return self._encode_batch(moment, text, options, kwargs)

    def _encode_item(
        self,
        moment: Moment,
        text: Any,
        text_pair: Any,
        options: CallOptions,
        kwargs: Mapping[str, Any],
    ) -> BatchEncoding:
        encoder = moment.encoder_for(kwargs, options.is_split_into_words)
        if moment.builds_by_methods:
            return moment.by_methods(self).encode_item(encoder, text, text_pair, options)
        return moment.builder.plan(options).one(
            encoder, *self._item(text, text_pair, options.is_split_into_words)
        )

    def _encode_batch(
        self, moment: Moment, items: Any, options: CallOptions, kwargs: Mapping[str, Any]
    ) -> BatchEncoding:
        encoder = moment.encoder_for(kwargs, options.is_split_into_words)
        if moment.builds_by_methods:
            return moment.by_methods(self).encode_batch(encoder, items, options)
        return moment.builder.plan(options).batch(encoder, items)

    def _item(self, text: Any, text_pair: Any, is_split_into_words: bool) -> tuple[Any, Any]:
        """The one or two texts of a call for one item."""
        return text, text_pair

    def encode_plus(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
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
        **kwargs: Unpack[TextKeywords],
    ) -> BatchEncoding:
        """Encode one text or pair; as a call, but a list is taken as tokens (str) or ids (int), not
        as a batch.
        """
        texts = as_lists(text), as_lists(text_pair)
        return self._encode_item(self._now(), *texts, CallOptions.of(locals()), kwargs)

    def batch_encode_plus(
        self,
        batch_text_or_text_pairs: Sequence[TextOrIds] | Array,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
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
        split_special_tokens: bool | None = None,
        **kwargs: Unpack[OwnKeywords],
    ) -> BatchEncoding:
        """Encode a batch: each item a text, a list of two for a pair, or with `is_split_into_words`
        words or a pair.
        """
        keywords: dict[str, Any] = {**kwargs}
        if split_special_tokens is not None:
            keywords["split_special_tokens"] = split_special_tokens
        texts = as_lists(batch_text_or_text_pairs)
        return self._encode_batch(self._now(), texts, CallOptions.of(locals()), keywords)
