"""Texts to tokens, ids and numbers of them, without the other columns of a call.

In: texts. Out: tokens, lists or arrays of ids, counts, or stretches of a text. What a call gives,
sooner.
"""

from __future__ import annotations

import array
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, overload

from trietok.errors import (
    InputTypeError,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import (
    OF_TEXTS,
    Array,
    CallOptions,
    EncodeKeywords,
    Padding,
    Side,
    TensorKeywords,
    Text,
    TextKeywords,
    TextOrIds,
    Truncation,
    warn_of_length,
)
from trietok.inputs.quick_plan import QuickPlan
from trietok.inputs.tensors import FlatIds, Tensors, TensorType, flat_ids
from trietok.text.pipeline import require_text
from trietok.tokenizer.chunks import chunker
from trietok.tokenizer.state import TokenizerState
from trietok.typing_compat import Unpack

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import torch

    from trietok.tokenizer.chunks import Chunk


class EncodingMixin(TokenizerState):
    """How a tokenizer encodes texts to ids alone."""

    if TYPE_CHECKING:  # of `CallsMixin`
        encode_plus: Callable[..., BatchEncoding]
        _call_any: Callable[..., Any]

    @overload
    def encode(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: Side | None = None,
        return_tensors: None = None,
        **kwargs: Unpack[EncodeKeywords],
    ) -> list[int]: ...

    @overload
    def encode(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        *,
        return_tensors: Literal["np", TensorType.NUMPY],
        **kwargs: Unpack[TensorKeywords],
    ) -> numpy.typing.NDArray[numpy.int64]: ...

    @overload
    def encode(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        *,
        return_tensors: Literal["pt", TensorType.PYTORCH],
        **kwargs: Unpack[TensorKeywords],
    ) -> torch.Tensor: ...

    @overload
    def encode(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: Side | None = None,
        return_tensors: Tensors = None,
        **kwargs: Unpack[EncodeKeywords],
    ) -> Any: ...

    def encode(
        self,
        text: TextOrIds,
        text_pair: TextOrIds | None = None,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: Truncation = None,
        max_length: int | None = None,
        stride: int = 0,
        padding_side: Side | None = None,
        return_tensors: Tensors = None,
        **kwargs: Any,
    ) -> Any:
        """The ids of one text or pair: `encode_plus(...)["input_ids"]`. The options are those of a
        call.

        Args:
            text: a str, a list of tokens, or a list of ids.
            text_pair: likewise.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_ids_to_tokens(tokenizer.encode("Hello!"))[-2:]
        ['!', '[SEP]']
        """
        if type(text) is str and text_pair is None and return_tensors is None and not kwargs:
            moment = self._moment
            if moment.mark is not moment.version.mark or moment.basic.never_split:
                moment = self._now()
            if moment.default_plan is not None:
                if (
                    add_special_tokens is True
                    and padding is False
                    and truncation is None
                    and max_length is None
                ):
                    # A copy of what a call does with a text alone: by its methods a short text
                    # takes 15 % longer.
                    kernel = moment.encoder.kernel
                    if kernel is not None:
                        ids = kernel.ids(text, moment.front, moment.back)
                    else:
                        ids = moment.encoder.ids_between(moment.front, text, moment.back)
                    if len(ids) > moment.limit:
                        warn_of_length(moment.builder, len(ids))
                    return ids
                options = (
                    add_special_tokens,
                    padding,
                    truncation,
                    max_length,
                    stride,
                    False,
                    None,
                    padding_side,
                )
                ids = moment.quick_ids(text, options)
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

    @overload
    def count(  # type: ignore[overload-overlap]
        self,
        text: str,
        text_pair: str | None = None,
        add_special_tokens: bool = True,
        *,
        is_split_into_words: Literal[False] = False,
        **kwargs: Unpack[TextKeywords],
    ) -> int: ...

    @overload
    def count(
        self,
        text: Sequence[str] | Array,
        text_pair: Sequence[str] | Array | None = None,
        add_special_tokens: bool = True,
        *,
        is_split_into_words: Literal[False] = False,
        **kwargs: Unpack[TextKeywords],
    ) -> list[int]: ...

    @overload
    def count(
        self,
        text: Text,
        text_pair: Text | None = None,
        add_special_tokens: bool = True,
        *,
        is_split_into_words: bool = False,
        **kwargs: Unpack[TextKeywords],
    ) -> Any: ...

    def count(
        self,
        text: Any,
        text_pair: Any = None,
        add_special_tokens: bool = True,
        *,
        is_split_into_words: bool = False,
        **kwargs: Any,
    ) -> Any:
        """How many ids a call gives a text, or each text of a batch, without truncation; sooner
        than by a call.

        Args:
            text, text_pair, is_split_into_words: as in a call.
            add_special_tokens: count the special tokens around a text too.
            **kwargs: `split_special_tokens`, as in a call.

        Returns:
            An int for one text or pair, a list of ints for a batch. A text that is longer than the
            model takes is not warned of.

        Raises:
            TrietokError: whatever a call raises.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> (
        ...     tokenizer.count("The people"),
        ...     tokenizer.count(["The people", "people"], add_special_tokens=False),
        ... )
        (4, [2, 1])
        """
        moment = self._moment
        if moment.mark is not moment.version.mark or moment.basic.never_split:
            moment = self._now()
        plan = moment.default_plan
        if plan is not None and text_pair is None and not (is_split_into_words or kwargs):
            around = plan.around if add_special_tokens else 0
            if type(text) is str:
                kernel = moment.encoder.kernel
                return (
                    moment.encoder.count(text) if kernel is None else kernel.count(text)
                ) + around
            if type(text) is list and set(map(type, text)) == {str}:
                return moment.encoder.counts(text, around)
        options = CallOptions(
            add_special_tokens,
            is_split_into_words=is_split_into_words,
            return_token_type_ids=False,
            return_attention_mask=False,
            verbose=False,
        )
        ids = self._call_any(moment, text, text_pair, options, kwargs)["input_ids"]
        return list(map(len, ids)) if ids and isinstance(ids[0], list) else len(ids)

    def chunks(
        self,
        text: str,
        max_tokens: int | None = None,
        *,
        overlap: int = 0,
        at: Literal["word", "sentence"] | None = "word",
        add_special_tokens: bool = True,
        **kwargs: Unpack[TextKeywords],
    ) -> list[Chunk]:
        """Cut a text into stretches of at most `max_tokens` tokens each, without losing a
        character.

        Without overlap, the stretches joined are the text. Whitespace between two stays with the
        first. Each is counted by itself, as a call for it counts. The time is linear in the length
        of the text.

        Args:
            text: a str.
            max_tokens: how many tokens a stretch may have; None for `model_max_length`.
            overlap: how many tokens at the end of a stretch the next one may repeat, in whole
                words.
            at: where to cut. `"word"`: beside whitespace and Chinese characters; within what lies
                between only where that alone has more than `max_tokens`, and there beside a sign if
                there is one. `"sentence"`: behind the last `.`, `!`, `?`, `。`, `！`, `？` or line
                end that leaves room, else as `"word"`. None: between any two tokens.
            add_special_tokens: `max_tokens` counts the special tokens around a stretch, too.
            **kwargs: `split_special_tokens`, as in a call.

        Returns:
            `Chunk`s, with `text`, `start`, `end` and `tokens`.

        Raises:
            InputError: `max_tokens` leaves no room for a token, or not for one character; `overlap`
                is not below what it leaves; there is no `max_tokens`, and the model has no maximum.
            NotSupportedError: the class does not tell which characters its tokens stand for.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> text = "The people are many. They are here!  Now they say no."
        >>> [(chunk.text, chunk.tokens) for chunk in tokenizer.chunks(text, 8, at="sentence")]
        [('The people are many. ', 7), ('They are here!  ', 6), ('Now they say no.', 7)]
        """
        require_text(text)

        pinned = self._pinned()

        def count(part: str) -> int:
            return EncodingMixin.count(
                pinned, part, add_special_tokens=add_special_tokens, **kwargs
            )

        spans = pinned._now().encoder_for(kwargs).spans
        limit = self.model_max_length if max_tokens is None else max_tokens
        return list(chunker(limit, overlap, at, count, spans).chunks(text))

    def encode_flat(
        self,
        texts: Sequence[str] | Array,
        text_pair: Sequence[str] | Array | None = None,
        add_special_tokens: bool = True,
        truncation: Truncation = None,
        max_length: int | None = None,
        *,
        return_token_type_ids: bool = False,
        return_tensors: Literal["np", "pt"] | TensorType = "np",
        **kwargs: Unpack[TextKeywords],
    ) -> FlatIds:
        """The ids of several texts in one array, without padding, for attention over sequences of
        any lengths.

        It takes numpy; with the compiled kernel no list is made and nothing is copied.

        Args:
            texts, text_pair: a list of str each.
            add_special_tokens, truncation, max_length, **kwargs: as in a call.
            return_token_type_ids: also `token_type_ids`.
            return_tensors: `"np"` or `"pt"`.

        Returns:
            `FlatIds`, of int32: `ids` (tokens,) and `offsets` (texts + 1,), which FlashAttention
            calls `cu_seqlens`.

        Raises:
            InputError: a text cannot be encoded so, or there are more than 2,147,483,647 ids.
            MissingDependencyError: numpy or torch is not installed.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> flat = tokenizer.encode_flat(["The people", "people"])
        >>> flat.ids.tolist(), flat.cu_seqlens.tolist(), flat.max_seqlen, flat.position_ids.tolist()
        ([2, 134, 289, 3, 2, 289, 3], [0, 4, 7], 4, [0, 1, 2, 3, 0, 1, 2])
        """
        moment = self._now()
        is_plain = moment.is_plain and text_pair is None and not kwargs
        if (
            is_plain
            and type(texts) is list
            and return_tensors == "np"
            and not return_token_type_ids
        ):
            flat = moment.flat(texts, (add_special_tokens, truncation, max_length))
            if flat is not None:
                return flat
        options = CallOptions(add_special_tokens, False, truncation, max_length)
        options = options._replace(
            return_token_type_ids=return_token_type_ids, return_attention_mask=False
        )
        if isinstance(texts, str):
            raise InputTypeError("texts is a str; encode_flat takes a list of them", value=texts)
        tensors = TensorType(return_tensors)
        plan = moment.builder.plan(options)
        if (
            is_plain
            and isinstance(plan, QuickPlan)
            and type(texts) is list
            and set(map(type, texts)) == {str}
        ):
            lengths, ids, columns = plan.byte_rows(moment.call_encoder.rows(texts))
            return flat_ids(lengths, ids, columns.get("token_type_ids"), tensors)
        rows = self._call_any(moment, texts, text_pair, options, kwargs)
        numbers = array.array("i", chain(*rows["input_ids"]))
        types = bytes(chain(*rows["token_type_ids"])) if return_token_type_ids else None
        return flat_ids(
            array.array("i", map(len, rows["input_ids"])), numbers.tobytes(), types, tensors
        )

    _of_tokenize: tuple[str, ...] = OF_TEXTS

    def tokenize(self, text: str, **kwargs: Unpack[TextKeywords]) -> list[str]:
        """Split one text into tokens, without special tokens around it.

        Args:
            text: the text.
            **kwargs: `split_special_tokens`, as in a call; and what `prepare_for_tokenization`
                takes.

        Raises:
            InputTypeError: `text` is not a str.
            OptionError: a keyword is unknown.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").tokenize("The people, united!")
        ['the', 'people', ',', 'united', '!']
        """
        require_text(text)
        return self._now().encoder_for(kwargs, known=self._of_tokenize).tokens(text)

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")
