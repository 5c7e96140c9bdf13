"""Calls: texts to what a model takes, to ids alone, to numbers of tokens; and ids to model inputs.

The methods check arguments and take the `Snapshot` of the tokenizer, which a call uses from
beginning to end. Where a user has overridden a method, the call goes through it; see `hooked`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from trietok.errors import InputError, InputTypeError, kind_of
from trietok.inputs.batch import (
    as_lists,
    build_from_ids,
    build_many,
    build_one,
    is_text_input,
)
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.flat import flat_of_lists
from trietok.inputs.options import (
    OF_TEXTS,
    Array,
    CallOptions,
    EncodeKeywords,
    OwnKeywords,
    Padding,
    PaddingStrategy,
    Side,
    TensorKeywords,
    Text,
    TextKeywords,
    TextOrIds,
    Truncation,
    reject_replaced,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.pad import pad, pad_one
from trietok.inputs.settings import SLOW, InputRules
from trietok.inputs.template import BERT, Template
from trietok.inputs.tensors import FlatIds, Tensors, TensorType, flat_ids
from trietok.inputs.truncation import TruncationStrategy, truncate
from trietok.text.aligned import Ids
from trietok.text.pipeline import require_text
from trietok.text.watched import marks_of
from trietok.tokenizer import hooked
from trietok.tokenizer.chunks import chunker
from trietok.tokenizer.snapshot import Snapshot
from trietok.tokenizer.special_tokens import SpecialTokensMixin
from trietok.typing_compat import Unpack

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import torch

    from trietok.tokenizer.chunks import Chunk

_TEXT_HINT = (
    "pass a str, a list of str (a batch, or words with is_split_into_words=True), or a list of"
    " those"
)


class Calls(SpecialTokensMixin):
    """How a tokenizer is called. Not used by itself: `PreTrainedTokenizer` inherits it."""

    model_input_names: list[str] = ["input_ids", "token_type_ids", "attention_mask"]
    padding_side: Side = "right"
    truncation_side: Side = "right"
    model_max_length: int
    if TYPE_CHECKING:  # the class that inherits defines these

        @property
        def all_special_ids(self) -> list[int]: ...
        def warn_once(self, key: str, message: str) -> None: ...

    _input_rules: InputRules = SLOW
    _hooked_pipeline_class: type[hooked.HookedPipeline] = hooked.HookedPipeline
    # what makes words, and what makes subwords
    _stage_names: tuple[str, str] = ("basic_tokenizer", "wordpiece_tokenizer")
    _has_stages = False  # whether `_tokenize` uses trietok's stages

    def _now(self) -> Snapshot:
        """The tokenizer as it is now, which a call uses from beginning to end."""
        marks = marks_of(self)
        snapshot: Snapshot | None = marks.snapshot
        if snapshot is None or not snapshot.is_current():
            snapshot = marks.snapshot = Snapshot(self, snapshot)
        return snapshot

    def snapshot(self) -> Snapshot:
        """The tokenizer as it is now: its `table`, its `pipeline` (text to ids), and calls.

        It never changes.

        >>> import trietok
        >>> snapshot = trietok.BertTokenizer.from_pretrained("trietok-en").snapshot()
        >>> snapshot.pipeline.ids("the people"), snapshot.pipeline.spans("the people")
        ([134, 289], [(0, 3), (4, 10)])
        """
        return self._now()

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
        snapshot = self._now()
        if (
            text_pair is None
            and text_target is None
            and snapshot.is_plain
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
                call = snapshot.quick_call(values, types)
                return build_one(call, snapshot.call_pipeline, text)
            if type(text) is list and text and type(text[0]) is str:
                call = snapshot.quick_call(values, types)
                return build_many(call, snapshot.call_pipeline, text)
        if text is None and text_target is None:
            raise InputError('text is None; give a str or a list of str, or pass "" in its place')
        options = CallOptions(*values)
        if text is None:
            return self._call_any(snapshot, text_target, text_pair_target, options, kwargs)
        encoding = self._call_any(snapshot, text, text_pair, options, kwargs)
        if text_target is not None:
            encoding["labels"] = self._call_any(
                snapshot, text_target, text_pair_target, options, kwargs
            )["input_ids"]
        return encoding

    def _call_any(
        self,
        snapshot: Snapshot,
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
            if snapshot.calls_methods:
                return self.encode_plus(text, text_pair, **options._asdict(), **kwargs)
            return self._encode_item(snapshot, text, text_pair, options, kwargs)
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
        if snapshot.calls_methods:
            return self.batch_encode_plus(text, **options._asdict(), **kwargs)
        return self._encode_batch(snapshot, text, options, kwargs)

    def _encode_item(
        self,
        snapshot: Snapshot,
        text: Any,
        text_pair: Any,
        options: CallOptions,
        kwargs: Mapping[str, Any],
    ) -> BatchEncoding:
        pipeline = snapshot.pipeline_for(kwargs, options.is_split_into_words)
        if snapshot.builds_by_methods:
            return hooked.encode_item(self, snapshot, pipeline, text, text_pair, options)
        texts = self._item(text, text_pair, options.is_split_into_words)
        return build_one(snapshot.call(options), pipeline, *texts)

    def _encode_batch(
        self, snapshot: Snapshot, items: Any, options: CallOptions, kwargs: Mapping[str, Any]
    ) -> BatchEncoding:
        pipeline = snapshot.pipeline_for(kwargs, options.is_split_into_words)
        if snapshot.builds_by_methods:
            return hooked.encode_batch(self, snapshot, pipeline, items, options)
        return build_many(snapshot.call(options), pipeline, items)

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

    # ---- ids alone -------------------------------------------------------------------------------

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
        if (
            type(text) is str
            and text_pair is None
            and return_tensors is None
            and padding is False
            and not (kwargs or max_length is not None)
        ):
            # What a call does with a text alone: by its methods a short text takes twice as long.
            own = self.__dict__
            marks = own.get("_marks") or marks_of(self)
            snapshot: Snapshot = marks.snapshot or self._now()
            if (
                snapshot.table is not own["_tokens"].committed
                or snapshot.mark is not marks.mark
                or snapshot.basic_mark is not snapshot.basic_marks.mark
                or snapshot.wordpiece_mark is not snapshot.wordpiece_marks.mark
                or snapshot.basic.never_split  # these two may differ after a change in place
                or snapshot.never_split
            ):
                snapshot = self._now()
            call = snapshot.default_call
            if call is not None and add_special_tokens is True and truncation is None:
                kernel = snapshot.pipeline.kernel
                if kernel is None:
                    ids = snapshot.pipeline.ids_between(snapshot.front, text, snapshot.back)
                else:
                    ids = kernel.ids(text, snapshot.front, snapshot.back)
                if len(ids) > snapshot.limit:
                    warn_of_length(call, len(ids))
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
        return self._count(
            self._now(), text, text_pair, add_special_tokens, is_split_into_words, kwargs
        )

    def _count(
        self,
        snapshot: Snapshot,
        text: Any,
        text_pair: Any,
        add_special_tokens: bool,
        is_split_into_words: bool,
        kwargs: Mapping[str, Any],
    ) -> Any:
        call = snapshot.default_call
        if call is not None and text_pair is None and not (is_split_into_words or kwargs):
            around = call.frames[False].around if add_special_tokens else 0
            if type(text) is str:
                return snapshot.pipeline.count(text) + around
            if type(text) is list and set(map(type, text)) == {str}:
                return snapshot.pipeline.counts(text, around)
        options = CallOptions(
            add_special_tokens,
            is_split_into_words=is_split_into_words,
            return_token_type_ids=False,
            return_attention_mask=False,
            verbose=False,
        )
        ids = self._call_any(snapshot, text, text_pair, options, kwargs)["input_ids"]
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
        snapshot = self._now()

        def count(part: str) -> int:
            number: int = self._count(snapshot, part, None, add_special_tokens, False, kwargs)
            return number

        spans = snapshot.pipeline_for(kwargs).spans
        limit = snapshot.settings.model_max_length if max_tokens is None else max_tokens
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
        if isinstance(texts, str):
            raise InputTypeError("texts is a str; encode_flat takes a list of them", value=texts)
        snapshot, tensors = self._now(), TensorType(return_tensors)
        options = CallOptions(
            add_special_tokens,
            False,
            truncation,
            max_length,
            return_token_type_ids=return_token_type_ids,
            return_attention_mask=False,
        )
        if snapshot.is_plain and text_pair is None and not kwargs and type(texts) is list:
            pipeline = snapshot.call_pipeline
            if {*map(type, texts)} == {str}:
                flat_call = snapshot.flat_call(options)
                if flat_call is not None:
                    flat = pipeline.flat(texts, *flat_call.cut)
                    lengths, ids, columns = flat_call.rows(flat)
                    return flat_ids(lengths, ids, columns.get("token_type_ids"), tensors)
        rows = self._call_any(snapshot, texts, text_pair, options, kwargs)
        lengths, ids = flat_of_lists(rows["input_ids"])
        types = None
        if return_token_type_ids:
            types = bytes([number for row in rows["token_type_ids"] for number in row])
        return flat_ids(lengths, ids, types, tensors)

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
        return self._now().pipeline_for(kwargs, known=self._of_tokenize).tokens(text)

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")

    # ---- from ids to what a model takes, one step at a time --------------------------------------

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
        snapshot = self._now()
        if snapshot.prepares_by_methods:
            return hooked.prepare(self, ids, pair_ids, options, prepend_batch_axis)
        call = snapshot.call_of_ids(options)
        return build_from_ids(call, ids, pair_ids, prepend_batch_axis)

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
            ids, pair_ids (None without one), and the overflowing ids: lists, or tuples if you pass
            tuples.
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
        # A role whose token has no id leaves no place, as one without a token.
        unset = [role for role in self._table.roles if getattr(self, f"{role}_id", 0) is None]
        template: Template = getattr(self, "template", BERT)
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
            self,
            encoded_inputs,
            padding,
            max_length,
            pad_to_multiple_of,
            padding_side,
            return_attention_mask,
            return_tensors,
            verbose,
            pad_row=self._pad if self.overrides("_pad") else None,
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
            self,
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
        return (
            *resolve_strategies(self, padding, truncation, max_length, pad_to_multiple_of, verbose),
            kwargs,
        )
