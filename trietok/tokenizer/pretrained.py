"""The tokenizer that users subclass: its calls, settings, added tokens, decoding, loading and
saving.

In: texts, pairs, words, ids or batches of them, and the options of a call. Out: a `BatchEncoding`,
tokens, ids or text. The methods check arguments and delegate to the current `Moment`, which holds
an encoder (text to ids) and a builder (ids to model inputs), both of one state of the tokenizer.
Texts go transformers' way: prepare, lower-case outside the tokens that must match as they are
written, split at the added tokens, tokenize the pieces between. Other threads see a change of
tokens completely or not at all; a change that raises has no effect.
"""

from __future__ import annotations

import copy
import os
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, overload

from trietok import log
from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    TrietokError,
    VocabularyError,
    brief,
    kind_of,
    shorten_traceback,
)
from trietok.files.formats import ADDITIONAL, RECORD
from trietok.inputs.batch_encoding import BatchEncoding, of_no_text, telling
from trietok.inputs.builder import InputBuilder, QuickPlan
from trietok.inputs.call_inputs import as_lists, is_text_input
from trietok.inputs.options import (
    OF_DECODING,
    OF_TEXTS,
    VERY_LARGE_INTEGER,
    Array,
    CallKeywords,
    CallOptions,
    CallTextKeywords,
    DecodeKeywords,
    EncodeKeywords,
    Padding,
    PaddingStrategy,
    PolicyKeywords,
    Self,
    Side,
    SpanKeywords,
    TensorKeywords,
    Text,
    TextKeywords,
    TextOrIds,
    TokenIds,
    Truncation,
    Unpack,
    padded_length,
    reject_replaced,
    reject_unknown,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.pad import pad as inputs_pad
from trietok.inputs.pad import pad_one
from trietok.inputs.profiles import SLOW, Profile
from trietok.inputs.template import BERT, Template
from trietok.inputs.tensors import FlatIds, Tensors, TensorType, flat_ids, to_python
from trietok.inputs.truncation import TruncationStrategy, truncate
from trietok.text.added_search import AddedTokens
from trietok.text.added_tokens import AddedToken, convert_added_tokens
from trietok.text.alignment import Ids
from trietok.text.changes import is_replaced
from trietok.text.chunk_encoder import TextEncoder
from trietok.text.decoding import clean_up_tokenization, join_tokens
from trietok.text.memory import MEMORY_LIMIT
from trietok.text.stages import Stages, require_text
from trietok.text.trie import Trie, bulk
from trietok.text.untrusted import PLAIN_TEXT, Untrusted
from trietok.tokenizer import chat
from trietok.tokenizer import moment as by_methods
from trietok.tokenizer import token_table as editing
from trietok.tokenizer.moment import (
    DECODE_HOOKS,
    INPUT_HOOKS,
    NEVER,
    PAD_HOOKS,
    Derived,
    Moment,
    frozen,
)
from trietok.tokenizer.special_tokens import SpecialTokensMixin
from trietok.tokenizer.token_table import SPECIAL_HOOKS, Token, TokenTable

if TYPE_CHECKING:
    import numpy
    import numpy.typing
    import torch

    from trietok.explaining.explanation import Explanation
    from trietok.tokenizer.chunks import Chunk


MOST_IN_REPR = 10  # added tokens

_TEXT_HINT = (
    "pass a str, a list of str (a batch, or words with is_split_into_words=True), or a list of"
    " those"
)
_SETTINGS = tuple(
    """name_or_path model_max_length max_len padding_side truncation_side model_input_names
    clean_up_tokenization_spaces split_special_tokens chat_template extra_special_tokens
    added_tokens_decoder max_embedding_rows cache_limit""".split()
)
_UNKNOWN_KEYWORDS = 100  # whose spelling is looked at; a file may hold any number


class PreTrainedTokenizer(SpecialTokensMixin):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Every tokenizer takes the parameters below as keywords, when it is made and in
    `from_pretrained`.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token`
    and, to save, `save_vocabulary`; override `convert_tokens_to_string`,
    `build_inputs_with_special_tokens`, `prepare_for_tokenization` and the others where the model
    asks for it. Set what those need before calling `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        max_embedding_rows: how many rows the model's embeddings have, if that number is fixed:
            adding a token whose id would have no row is then an error.
        model_max_length: the longest sequence the model takes, in tokens; what truncation and
            `max_length` padding use when a call gives no `max_length`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_input_names: what a call returns by default, the main input first.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        split_special_tokens: treat special tokens in a text as ordinary text.
        chat_template: a template for `apply_chat_template`, or a dict name → template.
        extra_special_tokens: more roles, as a dict role → token; a list of tokens, as in
            transformers 5, gives additional special tokens.
        name_or_path: where the tokenizer was loaded from.
        **kwargs: a token for each role (`pad_token`, ...), and anything else, which is kept and
            saved.

    Raises:
        InputError: a side is neither right nor left.
        AttributeError: a keyword has the name of a method.
    """

    model_input_names: list[str] = ["input_ids", "token_type_ids", "attention_mask"]
    padding_side: Side = "right"
    truncation_side: Side = "right"
    vocab_files_names: dict[str, str] = {}
    _input_rules = SLOW
    pretrained_vocab_files_map: dict[str, dict[str, str]] = {}
    slow_tokenizer_class: type[PreTrainedTokenizer] | None = None
    profile: Profile = (
        "slow"  # whose ids it gives: those of transformers' Python tokenizers, or of its Rust ones
    )
    cache_limit: int = MEMORY_LIMIT
    _hook_encoder_class: type[by_methods.HookEncoder] = by_methods.HookEncoder
    # what makes words, and what makes subwords
    _stage_names = (
        "basic_tokenizer",
        "wordpiece_tokenizer",
    )
    _plan_adding = staticmethod(editing.plan_adding)
    _has_stages = False  # whether `_tokenize` uses trietok's `Stages`

    def __init__(self, **kwargs: Any) -> None:
        for key in kwargs:
            if callable(getattr(type(self), key, None)):
                kind = type(self).__name__
                raise NotSupportedError(
                    f"{key} conflicts with the method {key} in {kind}", name=key
                )
        self.__dict__["_moment"] = NEVER
        self.__dict__["_derived"] = Derived()
        self.init_inputs: tuple[Any, ...] = ()
        self.config_rows: int | None = (
            None  # `vocab_size` of the config.json beside the files, once loaded
        )
        self.max_embedding_rows: int | None = kwargs.pop("max_embedding_rows", None)
        decoder = kwargs.pop("added_tokens_decoder", {})
        record = kwargs.pop(RECORD, None) or {}
        self.init_kwargs: dict[str, Any] = copy.deepcopy(kwargs)
        # the keys of the warnings that have been logged
        self.deprecation_warnings: dict[str, bool] = {}
        self.name_or_path: str = kwargs.pop("name_or_path", "")
        max_length = kwargs.pop("model_max_length", kwargs.pop("max_len", None))
        # files may say 512.0, and a slice takes no float
        if isinstance(max_length, float) and max_length.is_integer():
            max_length = int(max_length)
        self.model_max_length: int = VERY_LARGE_INTEGER if max_length is None else max_length
        for name in ("padding_side", "truncation_side"):
            side = kwargs.pop(name, getattr(self, name))
            if side not in ("right", "left"):
                raise InputError(f"{name} is 'right' or 'left', not {side!r}")
            setattr(self, name, side)
        self.model_input_names = kwargs.pop("model_input_names", self.model_input_names)
        self.clean_up_tokenization_spaces: bool = kwargs.pop("clean_up_tokenization_spaces", False)
        self.chat_template: chat.Templates = chat.named_templates(kwargs.pop("chat_template", None))
        self.split_special_tokens: bool = kwargs.pop("split_special_tokens", False)
        extra = kwargs.pop("extra_special_tokens", None) or {}
        if not isinstance(extra, Mapping):
            kwargs["additional_special_tokens"] = [
                *(kwargs.get("additional_special_tokens") or ()),
                *extra,
            ]
            self.init_kwargs.pop("extra_special_tokens")
            extra = {}
        self.extra_special_tokens: dict[str, Any] = dict(extra)
        super().__init__(**kwargs)
        self._set_model_specific_special_tokens(self.extra_special_tokens)
        # any keyword is kept and saved, as in transformers
        for keyword, meant in self.misspellings(kwargs):
            log.warning("the keyword %r changes nothing; did you mean %r?", keyword, meant)
        self._load_added_tokens(editing.all_as_added(decoder))
        self._restore(record)
        # A role's token that neither a file nor the vocabulary holds is added now; any other is
        # marked as special.
        self._add_role_tokens()

    @classmethod
    def known_settings(cls) -> set[str]:
        """The names of the settings that the class and those it inherits take."""
        known = set(_SETTINGS)
        for kind in cls.__mro__:
            code = getattr(vars(kind).get("__init__"), "__code__", None)
            known.update(
                code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
            )
        return known

    @classmethod
    def misspellings(
        cls, keywords: Iterable[str], others: Iterable[str] = ()
    ) -> list[tuple[str, str]]:
        """The keywords that look like misspelt settings or roles, each with the one that may be
        meant.

        Only the first 100 unknown keywords are looked at. `others` are names of options that are
        known beside those.

        >>> PreTrainedTokenizer.misspellings(["padding_sid", "paddingSide", "my_note"])
        [('padding_sid', 'padding_side'), ('paddingSide', 'padding_side')]
        """
        known = {*cls.known_settings(), *cls.SPECIAL_TOKENS_ATTRIBUTES, *others}
        unknown = [keyword for keyword in keywords if keyword not in known][:_UNKNOWN_KEYWORDS]
        if not unknown:
            return []
        import difflib  # 2 ms: only where a keyword is unknown

        squeezed = {name.replace("_", ""): name for name in sorted(known)}
        pairs = []
        for keyword in unknown:
            # such as doLowerCase
            same = squeezed.get(keyword.lower().replace("_", "").replace("-", ""))
            close = [same] if same else difflib.get_close_matches(keyword, known, n=1, cutoff=0.85)
            pairs += [(keyword, meant) for meant in close]
        return pairs

    def _now(self) -> Moment:
        """The tokenizer as it is now: one state, which a call uses from beginning to end."""
        moment: Moment = self._moment
        if (
            moment.version.mark is not moment.mark
            or moment.basic.never_split != moment.never_split_given
            or self.model_input_names != moment.names
        ):
            moment = self.__dict__["_moment"] = Moment(self, moment)
        return moment

    def _pinned(self) -> Self:
        """The tokenizer as it is now, for a method that makes several calls; see
        `Moment.pinned`.
        """
        pinned: Self = self._now().pinned(self)
        return pinned

    def _frozen(self) -> Any:
        """The settings, roles and tokens of one state, for a method that makes no calls; see
        `frozen`.
        """
        return frozen(self)

    # ---- what each kind of tokenizer defines -----------------------------------------------------

    @property
    def is_fast(self) -> bool:
        """Whether results have details such as `word_ids`, as those of transformers' Rust
        tokenizers do.
        """
        return self._input_rules.is_fast

    @property
    def vocab_size(self) -> int:
        """The number of different tokens without the added ones; see `max_id` for embedding
        rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has no vocab_size")

    def get_vocab(self) -> dict[str, int]:
        """The whole vocabulary with the added tokens: token → id."""
        raise NotImplementedError(f"{type(self).__name__} has no get_vocab()")

    def save_vocabulary(
        self, save_directory: str, filename_prefix: str | None = None
    ) -> tuple[str, ...]:
        """Write the vocabulary file; return its path."""
        raise NotImplementedError(
            f"{type(self).__name__} has no save_vocabulary(save_directory, filename_prefix); return"
            " () there if it has no file"
        )

    # ---- calls -----------------------------------------------------------------------------------

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
        **kwargs: Unpack[CallTextKeywords],
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
            truncation: True or `"longest_first"`, `"only_first"`, `"only_second"`, False for none;
                `"head_tail"`, not in transformers, cuts out the middle: of what stays, a quarter is
                the text's beginning.
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
                in transformers; `allowed_special` and `disallowed_special`, each `"all"` or a set
                of special tokens, to let some be special and to refuse others (tiktoken's names;
                see `docs/guides/add_tokens.md`); `on_truncation`, where truncation cuts tokens off:
                `"warn"` logs it, `"error"` raises an InputError, and a function is called for each
                item with what `BatchEncoding.truncated` says of it; and what
                `prepare_for_tokenization` takes.

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
        try:
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
        except TrietokError as error:
            shorten_traceback(error)
            raise

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
                raise InputError(f"{name} is {kind_of(value)}; {_TEXT_HINT}")
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
        if "on_truncation" in kwargs:
            return telling(self._encode_item, moment, text, text_pair, options, options=kwargs)  # type: ignore[no-any-return]
        encoder = moment.encoder_for(kwargs, options.is_split_into_words)
        if moment.builds_by_methods:
            return by_methods.encode_item(
                moment.by_methods(self), encoder, text, text_pair, options
            )
        return moment.builder.plan(options).one(
            encoder, *self._item(text, text_pair, options.is_split_into_words)
        )

    def _encode_batch(
        self, moment: Moment, items: Any, options: CallOptions, kwargs: Mapping[str, Any]
    ) -> BatchEncoding:
        if "on_truncation" in kwargs:
            return telling(self._encode_batch, moment, items, options, options=kwargs)  # type: ignore[no-any-return]
        encoder = moment.encoder_for(kwargs, options.is_split_into_words)
        if moment.builds_by_methods:
            return by_methods.encode_batch(moment.by_methods(self), encoder, items, options)
        return moment.builder.plan(options).batch(encoder, items)

    def _item(self, text: Any, text_pair: Any, is_split_into_words: bool) -> tuple[Any, Any]:
        """The one or two texts of a call for one item."""
        return text, text_pair

    def explain(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        text_pair: Text | None = None,
        **options: Unpack[CallKeywords],
    ) -> Explanation:
        """Why a text, or a pair, has the ids that a call gives it: what each stage did, and why
        each token is one.

        Args:
            text, pair: a str each; with `is_split_into_words` a list of words each. `text_pair`, as
                a call has it, is another name of `pair`.
            **options: those of a call.

        Returns:
            An `Explanation`. Its `input_ids` are those of the call.

        Raises:
            InputTypeError: `text` is a batch, or a text is given as tokens.
            NotSupportedError: a class has stages of its own, so its ids cannot be explained.
            TrietokError: whatever a call raises for the text and the options.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> token = tokenizer.explain("unaffable").tokens[2]
        >>> token.token, token.match.entries
        ('##aff', ('##a', '##af', '##aff'))
        """
        with brief:
            if text_pair is not None:
                if pair is not None:
                    raise InputError("pair and text_pair are the same; give one of them")
                pair = text_pair
            pinned = self._pinned()
            moment = pinned._now()
            input_ids = pinned(text, pair, **options)["input_ids"]
            words = bool(options.get("is_split_into_words"))
            for given in (text, pair):
                if isinstance(given, (list, tuple)) and (
                    not words or isinstance(next(iter(given), ""), (list, tuple))
                ):
                    raise InputTypeError(
                        f"explain takes one text, or two as a pair, not {kind_of(given)}; call it"
                        " for each text",
                        value=given,
                    )
            # not needed to encode
            from trietok.explaining.explanation import (
                ONLY_WORDPIECE,
                explain,
            )

            others: dict[str, Any] = {**options, "return_tensors": None}
            named = {name: others.pop(name) for name in CallOptions._fields if name in others}
            plan = moment.builder.plan(CallOptions(**named))
            first, second = self._item(text, pair, words)
            vocabulary = moment.table.vocabulary
            if vocabulary is None:
                raise NotSupportedError(ONLY_WORDPIECE, name="explain")
            of = type(self).__name__, self.name_or_path, self.profile, vocabulary
            texts = (first,) if second is None else (first, second)
            return explain(*of, plan, moment.stages_for(others, words), texts, input_ids)

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
        try:
            if type(text) is str and text_pair is None and return_tensors is None and not kwargs:
                moment = self._moment
                if moment.mark is not moment.version.mark or moment.basic.never_split:
                    moment = self._now()
                if moment.chunk_ids is not None:
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
                        elif len(text) > moment.longest_quick:
                            ids = moment.encoder.ids_between(moment.front, text, moment.back)
                        else:
                            chunks = chain.from_iterable(map(moment.chunk_ids, text.split(" ")))
                            ids = [*moment.front, *chunks, *moment.back]
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
        except TrietokError as error:
            shorten_traceback(error)
            raise

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
            **kwargs: `split_special_tokens`, `allowed_special` and `disallowed_special`, as in a
                call.

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
        try:
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
        except TrietokError as error:
            shorten_traceback(error)
            raise

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
            **kwargs: `split_special_tokens`, `allowed_special` and `disallowed_special`, as in a
                call.

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
        with brief:
            require_text(text)
            from trietok.tokenizer.chunks import chunker  # not needed to encode

            pinned = self._pinned()

            def count(part: str) -> int:
                return PreTrainedTokenizer.count(
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
        **kwargs: Unpack[CallTextKeywords],
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
        try:
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
                raise InputTypeError(
                    "texts is a str; encode_flat takes a list of them", value=texts
                )
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
            numbers = array("i", chain(*rows["input_ids"]))
            types = bytes(chain(*rows["token_type_ids"])) if return_token_type_ids else None
            return flat_ids(
                array("i", map(len, rows["input_ids"])), numbers.tobytes(), types, tensors
            )
        except TrietokError as error:
            shorten_traceback(error)
            raise

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
        **kwargs: Unpack[CallTextKeywords],
    ) -> BatchEncoding:
        """Encode one text or pair; as a call, but a list is taken as tokens (str) or ids (int), not
        as a batch.
        """
        with brief:
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
        **kwargs: Unpack[PolicyKeywords],
    ) -> BatchEncoding:
        """Encode a batch: each item a text, a list of two for a pair, or with `is_split_into_words`
        words or a pair.
        """
        keywords: dict[str, Any] = {**kwargs}
        if split_special_tokens is not None:
            keywords["split_special_tokens"] = split_special_tokens
        texts = as_lists(batch_text_or_text_pairs)
        with brief:
            return self._encode_batch(self._now(), texts, CallOptions.of(locals()), keywords)

    def encode_spans(
        self,
        spans: Sequence[str | Untrusted],
        pair_spans: Sequence[str | Untrusted] | None = None,
        **options: Unpack[SpanKeywords],
    ) -> BatchEncoding:
        """Encode one text, or a pair, made of trusted and untrusted spans.

        Each span is tokenized by itself, so no word crosses a border.

        Args:
            spans: a str for a span in which special tokens are special, `Untrusted(text)` for one
                in which they are plain text.
            pair_spans: the second text, likewise.
            **options: those of a call for one text.

        Raises:
            InputTypeError: a span is neither.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> encoding = tokenizer.encode_spans(["people [SEP] say:", trietok.Untrusted("[SEP]")])
        >>> tokenizer.convert_ids_to_tokens(encoding.input_ids)
        ['[CLS]', 'people', '[SEP]', 'say', ':', '[', 'se', '##p', ']', '[SEP]']
        """
        with brief:
            pinned = self._pinned()
            moment = pinned._now()
            ids = self._ids_of_spans(moment, spans)
            pair_ids = None if pair_spans is None else self._ids_of_spans(moment, pair_spans)
            return pinned.prepare_for_model(ids, pair_ids, prepend_batch_axis=True, **options)

    def _ids_of_spans(self, moment: Moment, spans: Sequence[str | Untrusted]) -> Ids:
        trusted, untrusted = moment.encoder_for({}), moment.encoder_for(PLAIN_TEXT)
        ids: Ids = []
        for number, span in enumerate(spans):
            if isinstance(span, Untrusted):
                ids += untrusted.ids(span.text)
            elif isinstance(span, str):
                ids += trusted.ids(span)
            else:
                raise InputTypeError(
                    f"span {number} is {kind_of(span)}; a span is a str or Untrusted(text)",
                    value=span,
                )
        return ids

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
        if "on_truncation" in kwargs:
            raise of_no_text()
        options = CallOptions.of({**locals(), "is_split_into_words": False})
        with brief:
            moment = self._now()
            if moment.prepares_by_methods:
                return by_methods.prepare_by_methods(
                    moment.by_methods(self), ids, pair_ids, options, prepend_batch_axis
                )
            return moment.builder_of_ids.plan(options).from_ids(ids, pair_ids, prepend_batch_axis)

    def warn_once(self, key: str, message: str) -> None:
        """Log a warning, unless one with the same key has been logged."""
        if not self.deprecation_warnings.get(key):
            self.deprecation_warnings[key] = True
            log.warning(message)

    # ---- truncation, the template, padding -------------------------------------------------------

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
        with brief:
            strategy = TruncationStrategy(truncation_strategy)
            return truncate(
                ids, pair_ids, num_tokens_to_remove, strategy, stride, self.truncation_side
            )

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
        unset = [role for role, token in state._table.roles.items() if token is None]
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
        with brief:
            return inputs_pad(
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

    apply_chat_template = chat.apply_chat_template
    encode_message_with_chat_template = chat.encode_message_with_chat_template
    get_chat_template = chat.get_chat_template

    # ---- decoding --------------------------------------------------------------------------------

    def decode(
        self,
        token_ids: TokenIds,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> str:
        """Ids back to text.

        Args:
            token_ids: an id, a list of ids, or an array or tensor of shape (sequence,).
            skip_special_tokens: leave special tokens out.
            clean_up_tokenization_spaces: take out the spaces before punctuation; None for the
                tokenizer's own setting.
            **kwargs: `spaces_between_special_tokens`, True by default.

        Raises:
            TokenIdError: an id is negative or above `max_id`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.decode(tokenizer.encode("The people, united!"), skip_special_tokens=True)
        'the people, united!'
        """
        try:
            return self._decode(
                to_python(token_ids),
                skip_special_tokens=skip_special_tokens,
                clean_up_tokenization_spaces=clean_up_tokenization_spaces,
                **kwargs,
            )
        except TrietokError as error:
            shorten_traceback(error)
            raise

    def batch_decode(
        self,
        sequences: Iterable[TokenIds],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Unpack[DecodeKeywords],
    ) -> list[str]:
        """`decode` for every sequence of a list, or every row of an array or tensor of shape
        (batch, sequence).
        """
        with brief:
            tokenizer = frozen(self, DECODE_HOOKS)
            return [
                tokenizer.decode(
                    sequence, skip_special_tokens, clean_up_tokenization_spaces, **kwargs
                )
                for sequence in sequences
            ]

    clean_up_tokenization = staticmethod(clean_up_tokenization)

    # ---- files -----------------------------------------------------------------------------------

    def holding(self) -> AbstractContextManager[None]:
        """A context for reading several parts of the tokenizer: changes by other threads wait until
        it ends.
        """
        return self._changes.holding()

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *init_inputs: Any,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Load a tokenizer from a directory, a vocabulary file, a built-in name or the hub.

        Args:
            pretrained_model_name_or_path: a directory as `save_pretrained` or transformers writes
                it; a vocab.txt; a built-in name such as `trietok-en`; or a name on the HuggingFace
                hub (needs the `hub` extra).
            cache_dir, force_download, local_files_only, token, revision: how to ask the hub; see
                `docs/saving.md`.
            trust_remote_code: accepted and ignored: no code of a model is ever run.
            **kwargs: `subfolder` names a folder below; all others go to the tokenizer and override
                what its files say.

        Raises:
            FileError: there is nothing of that name, or a file cannot be read. It is an `OSError`.
            FileFormatError: a file does not hold what it should.
            MissingDependencyError: it is a hub name and huggingface_hub is not installed.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained(
        ...     "trietok-en", model_max_length=128
        ... ).model_max_length
        128
        """
        hub_options = {
            "cache_dir": cache_dir,
            "force_download": force_download,
            "local_files_only": local_files_only,
            "token": token,
            "revision": revision,
        }
        with brief, bulk():
            from trietok.files.load import load  # not needed to encode

            tokenizer: Self = load(
                cls, pretrained_model_name_or_path, *init_inputs, hub_options=hub_options, **kwargs
            )
        return tokenizer

    def class_to_save(self) -> dict[str, Any]:
        """What tokenizer_config.json says of the class: the slow one, since `AutoTokenizer` finds
        either from it.
        """
        return {
            "tokenizer_class": (
                type(self).__name__.removesuffix("Fast" if self.profile == "fast" else "")
            )
        }

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        tokenizer_json: bool | None = None,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write the tokenizer's files to a directory, which is made if need be, as transformers
        writes them.

        Args:
            save_directory: where to.
            legacy_format: True for a vocab.txt, False for a tokenizer.json, None for both; the slow
                profile writes a tokenizer.json only where `tokenizer_json` asks for it, or one is
                there that gives other ids.
            filename_prefix: put before every file's name, with a hyphen.
            tokenizer_json: True to write a tokenizer.json in the slow profile too. A program that
                reads that file gets the ids of the fast profile, which equal those of the slow
                profile except for what `docs/profiles.md` lists. False to have none in the
                directory afterwards. By default, one that is there stays as it is if it has the
                tokens, settings and template of this tokenizer, and is written anew if not.

        Returns:
            The paths of the files written.

        Raises:
            FileError: a file cannot be written.
            VocabularyError: a token cannot be kept in its file, the unknown token is None, or a
                role has a token that is not added. Nothing is written.
            NotSupportedError: the files, or a tokenizer.json that is to be written or is there,
                cannot hold all of the tokenizer: such as `continuing_subword_prefix` in the slow
                profile. Nothing is written.
        """
        from trietok.files.save import save  # not needed to encode

        with brief:
            return save(
                self,
                save_directory,
                legacy_format,
                filename_prefix,
                push_to_hub,
                tokenizer_json=tokenizer_json,
                **kwargs,
            )

    convert_added_tokens = staticmethod(convert_added_tokens)

    def __repr__(self) -> str:
        tokens = self.added_tokens_decoder
        added = "".join(
            f"\t{token_id}: {token!r},\n"
            for token_id, token in islice(tokens.items(), MOST_IN_REPR)
        )
        if len(tokens) > MOST_IN_REPR:
            added += f"\t… {len(tokens) - MOST_IN_REPR:,} more\n"
        return (
            f"{type(self).__name__}(name_or_path='{self.name_or_path}',"
            f" vocab_size={self.vocab_size}, model_max_length={self.model_max_length},"
            f" is_fast={self.is_fast}, padding_side='{self.padding_side}',"
            f" truncation_side='{self.truncation_side}', special_tokens={self.special_tokens_map},"
            f" clean_up_tokenization_spaces={self.clean_up_tokenization_spaces},"
            f" added_tokens_decoder={{\n{added}}}\n)"
        )

    def _load_added_tokens(self, decoder: Mapping[int, AddedToken]) -> None:
        """Add the tokens that were saved."""
        table = self._table
        self._changes.table = table.replace(added=table.added.with_tokens(decoder))

    def _add_role_tokens(self) -> None:
        self._add_tokens(self.all_special_tokens_extended, special_tokens=True)

    def _restore(self, record: Mapping[str, Any]) -> None:
        """Restore what `record` has saved."""
        table = self._table
        added = table.added.reordered(record.get("added_order", ()))
        added = added.with_max_id(max(added.max_id, record.get("max_id", -1)))
        self._changes.table = table.replace(added=added)

    def record(self) -> dict[str, Any]:
        """The values to save beside transformers' settings, so that a reloaded tokenizer gives the
        same ids.
        """
        record: dict[str, Any] = {}
        added = self._table.added
        if added.max_id > max(added.decoder, default=-1):
            record["max_id"] = added.max_id
        # The files list tokens by id, but the order of adding decides which tokens are kept from
        # lower-casing.
        ordinary = [
            token_id for token_id, token in added.decoder.flat().items() if not token.special
        ]
        if getattr(self, "do_lower_case", False) and ordinary != sorted(ordinary):
            record["added_order"] = ordinary
        return record

    def __getstate__(self) -> dict[str, Any]:
        # Not what it has warned of, either: datasets takes a tokenizer that is pickled otherwise
        # for another one.
        return {
            **self.__dict__,
            "_moment": NEVER,
            "_derived": Derived(),
            "deprecation_warnings": {},
        }

    def _stages_of(self, table: TokenTable, live: bool) -> Stages | None:
        """The stages that texts go through now; None for a class that defines `_tokenize` only.

        `live`: use the basic and WordPiece tokenizer themselves, since a user has replaced methods
        of theirs.
        """
        return None

    # ---- added tokens ----------------------------------------------------------------------------

    @property
    def added_tokens_encoder(self) -> Mapping[str, int]:
        """The added tokens: content → id, in the order of their ids; read-only."""
        return self._table.added.ids_by_content

    @property
    def added_tokens_decoder(self) -> Mapping[int, AddedToken]:
        """The added tokens: id → `AddedToken`, in the order of their ids; read-only."""
        return self._table.added.by_id

    @added_tokens_decoder.setter
    def added_tokens_decoder(self, value: Mapping[int, Token]) -> None:
        tokens = editing.all_as_added(value)
        with self._changes.changing():
            table = self._table
            self._changes.table = table.replace(
                added=self._with_set(table.added, tokens, tokens.values())
            )

    def _with_set(
        self, added: AddedTokens, tokens: Mapping[int, AddedToken], listed: Iterable[AddedToken]
    ) -> AddedTokens:
        """The added tokens with others; in the fast profile texts are searched for those `listed`
        too.
        """
        return added.with_tokens(tokens)

    def added_tokens_in_order(self) -> list[AddedToken]:
        """The added tokens in the order of adding, by which texts are kept from lower-casing."""
        return list(self._table.added.decoder.flat().values())

    def get_added_vocab(self) -> dict[str, int]:
        """The added tokens: content → id, in the order of adding."""
        return dict(self._table.added.encoder.flat())

    @property
    def tokens_trie(self) -> Trie:
        """The trie that splits texts at the added tokens."""
        return self._table.added.trie

    @property
    def _added_tokens_encoder(self) -> dict[str, int]:
        return self._table.added.encoder.flat()

    @property
    def _added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self._table.added.decoder.flat()

    @property
    def max_id(self) -> int:
        """The highest id that any token has or, if it was removed, had; the next new token gets
        this id plus one.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.max_id, tokenizer.add_tokens(["covid-19"]), tokenizer.max_id
        (7999, 1, 8000)
        """
        return max(self._table.added.max_id, *self.get_vocab().values(), -1)

    def embedding_rows(self, multiple_of: int = 8) -> int:
        """How many embedding rows a model needs for every id, rounded up to a multiple.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = tokenizer.add_tokens(["covid-19"])
        >>> (
        ...     tokenizer.embedding_rows(),
        ...     tokenizer.embedding_rows(multiple_of=1),
        ...     tokenizer.embedding_rows(64),
        ... )
        (8008, 8001, 8064)

        Raises:
            InputError: `multiple_of` is below 1.
        """
        if type(multiple_of) is not int or multiple_of < 1:
            raise InputError(f"multiple_of is {multiple_of!r}; it is a whole number from 1")
        return padded_length(self.max_id + 1, multiple_of)

    def _require_rows(self, rows: int) -> None:
        """Raise if new tokens need more embedding rows than the model has, as the caller says.

        What only the model's config.json says is logged for those who listen; saving warns of it,
        which is when it can be said what to do with which directories.
        """
        if self.config_rows is not None and rows > self.config_rows and log.is_info_heard():
            log.info(
                "the new tokens need %d embedding rows, and the model's config.json says it has %d",
                rows,
                self.config_rows,
            )
        if self.max_embedding_rows is not None and rows > self.max_embedding_rows:
            raise VocabularyError(
                f"the new tokens would need {rows:,} embedding rows, and the model has"
                f" {self.max_embedding_rows:,}; give the model more rows and raise"
                " max_embedding_rows, or use assign_unused",
                expected_id=self.max_embedding_rows - 1,
                found_id=rows - 1,
            )

    def __len__(self) -> int:
        """The number of different tokens with the added ones."""
        table = self._table
        kept: tuple[TokenTable, int] | None = self._derived.get("size")
        if kept is None or kept[0] is not table:
            kept = self._derived["size"] = table, len(self.get_vocab())
        return kept[1]

    @property
    def total_vocab_size(self) -> int:
        """The number of different tokens with the added ones: `len(tokenizer)`."""
        return len(self)

    def _known_ids(self) -> Mapping[str, int]:
        """Token → id, without the added tokens or with them: `add_tokens` looks tokens up in it."""
        return self.get_vocab()

    def known_tokens(
        self, tokens: Token | Sequence[Token], special_tokens: bool = False
    ) -> list[str]:
        """Those of the tokens that `add_tokens` would give no new id; nothing is added.

        Such a token has an id already, or equals an earlier token of the list, after lower-casing
        if the tokenizer lower-cases.

        Args:
            tokens, special_tokens: what `add_tokens` would be given.

        Raises:
            InputTypeError, InputError: a token is neither a string nor an `AddedToken`, or is
                empty.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> terms = ["covid-19", "People", "COVID-19", "mrna"]
        >>> tokenizer.known_tokens(terms)
        ['People', 'COVID-19']
        >>> tokenizer.add_tokens(terms)
        2
        """
        given: Sequence[Any] = tokens if isinstance(tokens, (list, tuple)) else [tokens]
        lowers = self.profile == "slow" and bool(getattr(self, "do_lower_case", False))
        known = self.get_vocab()
        return editing.known_among(
            self._table, given, known, special_tokens=special_tokens, lowers=lowers
        )

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._changes.changing(), bulk():
            table, lowers = self._table, bool(getattr(self, "do_lower_case", False))
            check = self._check_addable if table.assigned else None
            asked = editing.Asked(
                new_tokens, special_tokens, lowers, self._known_ids(), self.max_id + 1, check
            )
            adding = self._plan_adding(table, asked)
            self._require_rows(adding.rows)
            roles, more = table.roles, adding.additional
            if more:
                roles = {**roles, ADDITIONAL: [*roles[ADDITIONAL], *more]}
            if more or adding.to_set:
                added = self._with_set(table.added, adding.to_set, adding.listed)
                self._changes.table = table.with_tokens(added, adding.to_set, roles)
        return adding.told

    def _check_addable(self, content: str) -> None:
        """Raise if a token cannot be added; called if slots of the vocabulary have been assigned to
        tokens.
        """

    def remove_tokens(
        self, tokens: Token | Iterable[Token], compact: bool = False
    ) -> dict[int, int]:
        """Remove added tokens. Their text is tokenized like any other text again.

        Args:
            tokens: one token or several, as strings or `AddedToken`.
            compact: renumber the added tokens whose ids follow the vocabulary, so that no id is
                missing there. By default no id changes, and the ids of removed tokens are not used
                again.

        Returns:
            Every remaining id: old id → new id. Embedding rows have to be moved accordingly.

        Raises:
            UnknownTokenError: a token is no added token. Nothing is removed.
            SpecialTokenError: a token has a role, such as [CLS]. Nothing is removed.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.add_tokens(["covid-19", "long-covid"])
        2
        >>> new_ids = tokenizer.remove_tokens(["covid-19"], compact=True)
        >>> new_ids[8001], 8000 in new_ids, tokenizer.convert_tokens_to_ids("long-covid")
        (8000, False, 8000)
        """
        with brief, self._changes.changing():
            known = self.get_vocab()
            table = self._table
            contents = editing.contents_to_remove(tokens, table, known)
            before = set(known.values())
            additional = [token for token in table.roles[ADDITIONAL] if str(token) not in contents]
            self._changes.table = table.replace(
                added=table.added.without(set(contents)),
                roles={**table.roles, ADDITIONAL: additional},
            )
            self._removed(contents)
            left = before & set(self.get_vocab().values())
            return (
                self._close_holes(left)
                if compact
                else {token_id: token_id for token_id in sorted(left)}
            )

    def _removed(self, contents: Iterable[str]) -> None:
        """Called after added tokens were removed; a subclass may override it."""

    def _close_holes(self, left: set[int]) -> dict[int, int]:
        """Number the added tokens behind the vocabulary without holes; return old id → new id for
        all that remain.
        """
        table = self._table
        added = table.added
        known = self._known_ids().items()
        own = left - added.decoder.keys() | {
            token_id for token, token_id in known if token not in added.encoder
        }
        decoder, new_ids = editing.without_holes(added.decoder.flat(), max(own, default=-1) + 1)
        self._changes.table = table.replace(added=added.renumbered(decoder))
        all_ids = {token_id: new_ids.get(token_id, token_id) for token_id in sorted(left)}
        self._renumbered(all_ids)
        return all_ids

    def _renumbered(self, new_ids: Mapping[int, int]) -> None:
        """Called when ids have moved: old id → new id; a subclass may override it."""

    # ---- text to tokens --------------------------------------------------------------------------

    _of_tokenize: tuple[str, ...] = OF_TEXTS

    def tokenize(self, text: str, **kwargs: Unpack[TextKeywords]) -> list[str]:
        """Split one text into tokens, without special tokens around it.

        Args:
            text: the text.
            **kwargs: `split_special_tokens`, `allowed_special` and `disallowed_special`, as in a
                call; and what `prepare_for_tokenization` takes.

        Raises:
            InputTypeError: `text` is not a str.
            OptionError: a keyword is unknown.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").tokenize("The people, united!")
        ['the', 'people', ',', 'united', '!']
        """
        try:
            require_text(text)
            return self._now().encoder_for(kwargs, known=self._of_tokenize).tokens(text)
        except TrietokError as error:
            shorten_traceback(error)
            raise

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")

    @property
    def text_encoder(self) -> TextEncoder:
        """The current encoder: texts to ids, tokens and spans, without special tokens around. It
        never changes.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.text_encoder.ids("the people"), tokenizer.text_encoder.spans("the people")
        ([134, 289], [(0, 3), (4, 10)])
        """
        return self._now().call_encoder

    @property
    def is_plain(self) -> bool:
        """Whether calls use only `text_encoder` and `input_builder`, since no method or stage is a
        user's.
        """
        moment = self._now()
        return moment.is_plain and not moment.has_foreign_stage and not moment.goes_by_methods

    @property
    def input_builder(self) -> InputBuilder:
        """The current builder: ids to model inputs. It never changes."""
        return self._now().builder

    def fingerprint(self) -> str:
        """A hash of every setting and token that affects ids: `trietok-1:` and 64 hexadecimal
        digits (SHA-256).

        Tokenizers with equal fingerprints give equal ids. It includes the vocabulary, the added
        tokens with their flags, the roles, and the settings of every stage; settings that affect no
        id, such as `model_max_length`, are left out. It is the same in every process and on every
        machine, and after saving and loading. Of a subclass it includes the name, not the code.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> before = tokenizer.fingerprint()
        >>> tokenizer.add_tokens(["covid-19"]), tokenizer.fingerprint() == before
        (1, False)
        """
        from trietok.tokenizer.fingerprint import fingerprint  # hashing is not needed to encode

        return fingerprint(self)

    # ---- tokens to ids and back ------------------------------------------------------------------

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int: ...  # type: ignore[overload-overlap]
    @overload
    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int]: ...
    @overload
    def convert_tokens_to_ids(self, tokens: None) -> None: ...
    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the
        unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [
        ...     0,
        ...     tokenizer.unk_token_id,
        ... ]
        True
        """
        with brief:
            if tokens is None:
                return None
            if isinstance(tokens, str):
                return self._convert_token_to_id_with_added_voc(tokens)
            if not isinstance(tokens, Iterable):
                raise InputTypeError(
                    f"tokens are a str or a list of str, not {kind_of(tokens)}", value=tokens
                )
            return self._ids_of(self._table, tokens)

    def _ids_of(self, table: TokenTable, tokens: Iterable[str]) -> list[Any]:
        """The ids of tokens, all from one state of the tokenizer if no method is overridden."""
        if is_replaced(self, ("_convert_token_to_id_with_added_voc",)):
            return [self._convert_token_to_id_with_added_voc(token) for token in tokens]
        return [self._id_in(table, token) for token in tokens]

    def _ids_of_roles(self, table: TokenTable, tokens: str | Sequence[str]) -> Any:
        """The id of a token that has a role, or ids of several, by a `convert_tokens_to_ids` of the
        user's if any.
        """
        if is_replaced(self, ("convert_tokens_to_ids",)):
            return self.convert_tokens_to_ids(tokens if isinstance(tokens, str) else list(tokens))
        return (
            self._ids_of(table, [tokens])[0]
            if isinstance(tokens, str)
            else self._ids_of(table, tokens)
        )

    def _special_in(self, table: TokenTable) -> tuple[str, ...]:
        """The special tokens, by one state where a user's class does not say which they are."""
        return (
            tuple(self.all_special_tokens)
            if is_replaced(self, SPECIAL_HOOKS)
            else table.special_tokens
        )

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of `all_special_tokens`, in that order."""
        return self._special_ids(self._table)

    def _special_ids(self, table: TokenTable) -> list[Any]:
        """The ids of special tokens, by one state where the list of them is not a user's own."""
        ids: list[Any] = self._ids_of_roles(table, self._special_in(table))
        return ids

    def _convert_token_to_id_with_added_voc(self, token: str | None) -> int | None:
        return self._id_in(self._table, token)

    def _id_in(self, table: TokenTable, token: str | None) -> int | None:
        if token is None:
            return None
        added = table.added.encoder.get(token)
        return self._convert_token_to_id(token) if added is None else added

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_token_to_id(token)")

    @overload
    def convert_ids_to_tokens(self, ids: int, skip_special_tokens: bool = False) -> str: ...
    @overload
    def convert_ids_to_tokens(
        self, ids: Iterable[int], skip_special_tokens: bool = False
    ) -> list[str]: ...
    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above `max_id`.
        """
        with brief:
            return self._converted(self._table, ids, skip_special_tokens)

    def _converted(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """`convert_ids_to_tokens` by one state."""
        if isinstance(ids, int):
            return self._token_of(ids)
        if type(ids) is not list and (
            isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable)
        ):
            raise InputTypeError(f"ids are an int or a list of ints, not {kind_of(ids)}", value=ids)
        special: Collection[int] = ()
        if skip_special_tokens:
            is_own = is_replaced(self, ("all_special_ids",))
            special = set(self.all_special_ids if is_own else self._special_ids(table))
        return self._tokens_of(table, ids, special)

    def _tokens_of(
        self, table: TokenTable, ids: Iterable[Any], left_out: Collection[int]
    ) -> list[str]:
        """The tokens of ids, all from one state of the tokenizer."""
        return [
            self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in left_out
        ]

    def _token_of(self, token_id: int) -> str:
        added = self._table.added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    def _tokens_to_join(self, table: TokenTable, ids: Any, skip_special_tokens: bool) -> Any:
        """What `convert_ids_to_tokens` returns, by one state where it is not a user's own."""
        if is_replaced(self, ("convert_ids_to_tokens",)):
            return self.convert_ids_to_tokens(ids, skip_special_tokens=skip_special_tokens)
        return self._converted(table, ids, skip_special_tokens)

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, with spaces."""
        return " ".join(tokens)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        spaces_between_special_tokens: bool = True,
        **kwargs: Any,
    ) -> str:
        if kwargs:
            kwargs.pop("use_source_tokenizer", None)
            reject_unknown(kwargs, OF_DECODING)
        state = frozen(self)
        text = self._joined(state, token_ids, skip_special_tokens, spaces_between_special_tokens)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = state.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _joined(self, state: Any, token_ids: Any, skip_special_tokens: bool, spaces: bool) -> str:
        """The text of ids before it is cleaned up; `state` is the tokenizer as it was when decoding
        began.
        """
        table: TokenTable = state._table
        tokens = self._tokens_to_join(table, token_ids, skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            special = frozenset(self._special_in(table))
            tokens = [token for token in tokens if token not in special]
        separator = " " if spaces else ""
        return join_tokens(
            tokens, state._standing_alone(table), self.convert_tokens_to_string, separator
        )

    def _standing_alone(self, table: TokenTable) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but tokens of roles that are in
        the vocabulary.
        """
        kept: tuple[TokenTable, frozenset[str]] | None = self._derived.get("alone")
        is_own = is_replaced(self, SPECIAL_HOOKS)
        if kept is None or kept[0] is not table or is_own:
            size = self.vocab_size
            listed = list(map(str, table.roles[ADDITIONAL]))
            additional = {
                token
                for token, i in zip(listed, self._ids_of(table, listed), strict=True)
                if i >= size
            }
            alone = frozenset(
                table.added.encoder.flat().keys() - set(self._special_in(table)) | additional
            )
            kept = self._derived["alone"] = table, alone
        return kept[1]


def _import_for_child() -> None:
    """Import what saving needs: a child that is forked while another thread imports it would wait
    for that for ever.
    """
    for name in ("trietok.files.save", "trietok.inputs.rows", "hashlib", "fcntl"):
        with suppress(ImportError):  # not every system has all
            import_module(name)


# not when trietok is imported: few programs fork, and fewer save
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_import_for_child)


def _int_id(token_id: Any) -> int:
    try:
        whole = int(token_id)
        if isinstance(token_id, (str, bytes)) or whole != token_id:
            raise ValueError
        return whole
    except (TypeError, ValueError):
        raise InputTypeError(
            f"an id is a whole number, not {kind_of(token_id)}", value=token_id
        ) from None
