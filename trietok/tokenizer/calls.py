"""The calls: from texts to a `BatchEncoding`, around what a tokenizer does with one text.

In: a text, a pair, words, tokens or ids, or a batch of them, and the options of the call. Out: a `BatchEncoding`.
Names, defaults and results are those of transformers 4.57.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError, NotSupportedError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_inputs import empty_batch, is_text_input, pair_of, reject_unknown
from trietok.inputs.options import CallOptions, Padding, Truncation, resolve_strategies
from trietok.inputs.tensors import tensor_type_of, to_tensor
from trietok.text import untrusted
from trietok.tokenizer.model_inputs import Ids, ModelInputsMixin, Tensors, kind_of

if TYPE_CHECKING:
    from trietok.inputs.details import PlainDetails

_TEXT_HINT = "pass a str, a list of str (a batch, or words with is_split_into_words=True), or a list of those"


class CallsMixin(ModelInputsMixin):
    """The methods that take texts. Not used by itself: tokenizers inherit it."""

    def tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split one text into tokens, without special tokens around it."""
        raise NotImplementedError

    def prepare_for_tokenization(
        self, text: str, is_split_into_words: bool = False, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        """Change a text before it is tokenized; a subclass may override it, and take keywords of its own out.

        Returns:
            The text, and the keywords that are left. Calls reject keywords that are left.
        """
        return text, kwargs

    def __call__(
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
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
        """Encode one text, one pair, or a batch of either.

        Args:
            text: a str, or a list of str for a batch; with `is_split_into_words` a list of words, or a list of those.
            text_pair: the second texts, in the same form.
            text_target, text_pair_target: texts whose ids are returned as `labels`.
            add_special_tokens: put [CLS] and [SEP] (or what the model has) around the ids.
            padding: True or `"longest"` to the longest of the batch, `"max_length"`, False for none.
            truncation: True or `"longest_first"`, `"only_first"`, `"only_second"`, False for none.
            max_length: in tokens, special ones included; None for the model's own.
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
            **kwargs: `split_special_tokens`, to take special tokens in the text as text, as transformers does it;
                `allowed_special` and `disallowed_special`, each `"all"` or a set of special tokens, to let some be
                special and to refuse others (tiktoken's names; see `docs/untrusted_text.md`); and what
                `prepare_for_tokenization` takes.

        Returns:
            A `BatchEncoding`: lists of length (sequence,) for one text, (batch, sequence) for a batch.

        Raises:
            InputError: the input cannot be encoded so. It is a `ValueError`.
            OptionError: a keyword that nothing understands. It is a `TypeError`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> batch = tokenizer(["a text", "a longer text"], padding=True)
        >>> [len(ids) for ids in batch.input_ids], batch.attention_mask[0]
        ([5, 5], [1, 1, 1, 1, 0])
        """
        if text is None and text_target is None:
            raise InputError("give text, text_target or both")
        values = (  # of `CallOptions`
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
        if text_pair is None and text_target is None and not kwargs:
            encoding = self._planned(text, values)
            if encoding is not None:
                return encoding
        options = {**dict(zip(CallOptions._fields, values, strict=True)), **kwargs}
        if text is None:
            return self._call_one(text_target, text_pair_target, options)
        encoding = self._call_one(text, text_pair, options)
        if text_target is not None:
            encoding["labels"] = self._call_one(text_target, text_pair_target, options)["input_ids"]
        return encoding

    def _default_ids(self, text: Any) -> Ids | None:
        """The ids of one text under the options' defaults, where a tokenizer has a faster way to them than calls."""
        return None

    def _planned(self, texts: Any, options: tuple[Any, ...]) -> BatchEncoding | None:
        """The encoding of a text or a batch of texts, where a tokenizer has a faster way to it than calls.

        Args:
            texts: what a call was given; anything but texts without pairs is left to the plain path.
            options: those of `CallOptions`.
        """
        return None

    def _call_one(self, text: Any, text_pair: Any, options: dict[str, Any]) -> BatchEncoding:
        """Tell a single input from a batch."""
        for name, value in (("text", text), ("text_pair", text_pair)):
            if not (value is None and name == "text_pair") and not is_text_input(value):
                raise InputError(f"{name} is {kind_of(value)}; {_TEXT_HINT}")
        first = text[0] if isinstance(text, (list, tuple)) and text else None
        batched = isinstance(first if options["is_split_into_words"] else text, (list, tuple))
        if not batched:
            return self.encode_plus(text, text_pair, **options)
        if text_pair is None:
            return self.batch_encode_plus(text, **options)
        if isinstance(text_pair, str):
            raise InputTypeError("text is a batch, so text_pair must be a list of the same length, not a str")
        if len(text) != len(text_pair):
            raise InputError(f"text has {len(text)} items and text_pair {len(text_pair)}; give a pair for each text")
        return self.batch_encode_plus(list(zip(text, text_pair, strict=True)), **options)

    def encode(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: str | None = None,
        return_tensors: Tensors = None,
        **kwargs: Any,
    ) -> Any:
        """The ids of one text or pair: `encode_plus(...)["input_ids"]`. The options are those of a call.

        Args:
            text: a str, a list of tokens, or a list of ids.
            text_pair: likewise.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_ids_to_tokens(tokenizer.encode("Hello!"))[-2:]
        ['!', '[SEP]']
        """
        if (
            text_pair is None
            and add_special_tokens is True
            and padding is False
            and truncation is None
            and max_length is None
            and return_tensors is None
            and not kwargs
        ):
            ids = self._default_ids(text)
            if ids is not None:
                return ids
        return self.encode_plus(
            text,
            text_pair,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            padding_side=padding_side,
            return_tensors=return_tensors,
            **kwargs,
        )["input_ids"]

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
        """Encode one text or pair; as a call, but a list is taken as tokens (str) or ids (int), not as a batch."""
        self._check_options(is_split_into_words, kwargs)
        ids = self._input_ids(text, is_split_into_words, kwargs, "the text")
        pair_ids = None if text_pair is None else self._input_ids(text_pair, is_split_into_words, kwargs, "the pair")
        strategies = resolve_strategies(self, padding, truncation, max_length, pad_to_multiple_of, verbose=False)
        encoding = self.prepare_for_model(
            ids,
            pair_ids,
            add_special_tokens=add_special_tokens,
            padding=padding,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_tensors=return_tensors,
            return_token_type_ids=return_token_type_ids,
            return_attention_mask=return_attention_mask,
            return_overflowing_tokens=return_overflowing_tokens,
            return_special_tokens_mask=return_special_tokens_mask,
            return_length=return_length,
            verbose=verbose,
            prepend_batch_axis=True,
        )
        texts = [[text for text in (text, text_pair) if text is not None]]
        how = (add_special_tokens, strategies, padding_side)
        return _with_details(
            encoding, _plain_details(self, texts, is_split_into_words, kwargs, *how), return_offsets_mapping, one=True
        )

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
        self._check_options(is_split_into_words, kwargs)
        strategies = resolve_strategies(self, padding, truncation, max_length, pad_to_multiple_of, verbose)
        rows: dict[str, list[Any]] = {}
        texts: list[list[Any]] = []
        for index, item in enumerate(batch_text_or_text_pairs):
            where = f"item {index} of the batch"
            first, second = pair_of(item, is_split_into_words, where)
            texts.append([text for text in (first, second) if text is not None])
            ids = self._input_ids(first, is_split_into_words, kwargs, where)
            pair_ids = None if second is None else self._input_ids(second, is_split_into_words, kwargs, where)
            row = self.prepare_for_model(
                ids,
                pair_ids,
                add_special_tokens=add_special_tokens,
                truncation=strategies.truncation,
                max_length=strategies.max_length,
                stride=stride,
                return_token_type_ids=return_token_type_ids,
                return_attention_mask=False,  # made for the whole batch by pad
                return_overflowing_tokens=return_overflowing_tokens,
                return_special_tokens_mask=return_special_tokens_mask,
                return_length=return_length,
                verbose=verbose,
            )
            for key, value in row.items():
                rows.setdefault(key, []).append(value)
        if not texts:
            raise empty_batch()
        encoding = self.pad(
            rows,
            padding=strategies.padding,
            max_length=strategies.max_length,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            return_attention_mask=return_attention_mask,
            return_tensors=return_tensors,
            verbose=False,
        )
        how = (add_special_tokens, strategies, padding_side)
        return _with_details(
            encoding, _plain_details(self, texts, is_split_into_words, kwargs, *how), return_offsets_mapping, one=False
        )

    def _input_ids(self, text: Any, is_split_into_words: bool, options: dict[str, Any], where: str) -> Ids:
        """The ids of one input: a text, words, tokens or ids."""
        if isinstance(text, str):
            return self._text_ids(text, options)
        if isinstance(text, (list, tuple)) and text:
            kind = str if isinstance(text[0], str) else int
            for position, item in enumerate(text):
                if not isinstance(item, kind):
                    raise InputError(f"{where}: position {position} holds {kind_of(item)} among {kind.__name__}s")
            if kind is int:
                return list(text)
            if not is_split_into_words:
                return self._checked_ids(list(text))
            words = (self.tokenize(word, is_split_into_words=True, **options) for word in text)
            return self._checked_ids([token for tokens in words for token in tokens])
        wanted = (
            "a str or a list of at least one word"
            if is_split_into_words
            else "a str, a list of tokens or a list of ids"
        )
        raise InputError(f"{where} is {kind_of(text)}; it should be {wanted}")

    def _text_ids(self, text: str, options: dict[str, Any]) -> Ids:
        """The ids of one text."""
        return self._plain_ids(text, options)

    def _plain_ids(self, text: str, options: dict[str, Any]) -> Ids:
        """The ids of one text, by the stages."""
        # Tokens and ids of one state: a token may have another id a moment later.
        return self._guard.read(lambda: self._checked_ids(self.tokenize(text, **options)))

    def _checked_ids(self, tokens: list[str]) -> Ids:
        ids: Ids = self.convert_tokens_to_ids(tokens)
        return ids

    def _check_options(self, is_split_into_words: bool, options: dict[str, Any]) -> None:
        """Refuse keywords that neither trietok nor the subclass's `prepare_for_tokenization` takes."""
        others = {
            key: value for key, value in options.items() if key not in ("split_special_tokens", *untrusted.OPTIONS)
        }
        if others:
            _, unknown = self.prepare_for_tokenization("", is_split_into_words=is_split_into_words, **others)
            reject_unknown(unknown)


def _plain_details(*what: Any) -> PlainDetails:
    from trietok.inputs.details import PlainDetails  # a planned call does without it

    return PlainDetails(*what)


def _with_details(encoding: BatchEncoding, details: PlainDetails, with_offsets: bool, one: bool) -> BatchEncoding:
    """A result that can be asked where its tokens came from; with the offsets, if they are asked for now."""
    if not isinstance(encoding, BatchEncoding):  # of a subclass with its own ideas
        return encoding
    if not all(details.is_of_text(text) for texts in details.texts for text in texts):
        if with_offsets:
            raise NotSupportedError("tokens and ids stand for no text that could have offsets", name="offset_mapping")
        return encoding
    encoding.work_out_by(details)
    if with_offsets:
        offsets = [each.offsets for each in details.encodings(None, encoding["input_ids"])]
        kind = tensor_type_of(encoding["input_ids"])
        if kind is not None:
            encoding["offset_mapping"] = to_tensor(offsets, kind)
        else:
            encoding["offset_mapping"] = offsets[0] if one else offsets
    return encoding
