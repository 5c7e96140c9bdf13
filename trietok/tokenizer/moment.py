"""A tokenizer at one moment: what every call, batch and result uses from beginning to end.

In: a tokenizer. Out: its tokens, its encoder, and whether its calls go through methods that a user
has replaced. A `Moment` never changes. After the tokenizer changes, the next call makes a new one;
calls in progress keep theirs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from trietok.errors import NotSupportedError, SpecialTokenError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.builder import MOST_PLANS, InputBuilder, InputSettings, QuickPlan
from trietok.inputs.call_inputs import has_spans, ids_of
from trietok.inputs.options import (
    OF_CALLS,
    CallOptions,
    PaddingStrategy,
    Strategies,
    reject_unknown,
    resolve_strategies,
    warn_of_length,
)
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import SLOW
from trietok.inputs.template import Piece, require_ids
from trietok.inputs.tensors import FlatIds, tensor_type_of, to_python, to_tensor
from trietok.inputs.truncation import TruncationStrategy, check_room
from trietok.text.alignment import Ids, Span
from trietok.text.basic_tokenizer import STEPS
from trietok.text.changes import Changeable, Version, is_replaced
from trietok.text.chunk_encoder import ChunkEncoder, TextEncoder
from trietok.text.stages import Located, Stages, require_text
from trietok.text.untrusted import OPTIONS, SpecialPolicy, special_policy
from trietok.tokenizer.token_table import SPECIAL_HOOKS, Changes, TokenTable

if TYPE_CHECKING:
    from typing_extensions import Self

# HuggingFace's methods that a user may replace; `HookEncoder` and `OfOneState` call them then. From
# a text to its ids:
TEXT_HOOKS = (
    *"""tokenize prepare_for_tokenization _tokenize convert_tokens_to_ids
    _convert_token_to_id_with_added_voc _convert_token_to_id do_lower_case vocab""".split(),
    *SPECIAL_HOOKS,
)
CALL_HOOKS = ("encode_plus", "batch_encode_plus")
# From ids to texts:
DECODE_HOOKS = (
    *"""decode _decode convert_ids_to_tokens _convert_id_to_token convert_tokens_to_string
    clean_up_tokenization convert_tokens_to_ids all_special_ids vocab ids_to_tokens""".split(),
    *SPECIAL_HOOKS,
)
# From ids to what a call returns:
INPUT_HOOKS = tuple(
    """prepare_for_model pad _pad truncate_sequences num_special_tokens_to_add
    build_inputs_with_special_tokens create_token_type_ids_from_sequences get_special_tokens_mask
    pad_token_type_id convert_tokens_to_ids""".split()
)
PAD_HOOKS = ("_pad", "pad_token", "pad_token_id", "pad_token_type_id", "convert_tokens_to_ids")
# Roles that a user's class answers for itself:
ROLE_HOOKS = tuple(
    name
    for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
    for name in (f"{role}_token", f"{role}_token_id")
)
# The methods of `basic_tokenizer` and `wordpiece_tokenizer`, and the methods that those call.
STAGE_HOOKS = (
    *"""tokenize clean cleaning_table steps word_steps compose normalize normalized words
    _split_on_punctuation pieces_of match_word""".split(),
    *STEPS,
)

_KNOWN = frozenset({"split_special_tokens", "is_split_into_words", *OPTIONS})


class HookEncoder(TextEncoder):
    """Encodes texts by the methods of a tokenizer, in the order in which transformers calls
    them.
    """

    def __init__(
        self,
        tokenizer: Any,
        table: TokenTable,
        stages: Stages | None,
        as_text: bool,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._table = table
        self._stages = stages
        self._as_text = as_text
        self._options = dict(options or {})

    def _table_now(self) -> TokenTable:
        """The tokens: those of the moment, unless the user's `prepare_for_tokenization` may have
        added some.
        """
        prepares = is_replaced(self._tokenizer, ("prepare_for_tokenization",))
        table: TokenTable = self._tokenizer._table if prepares else self._table
        return table

    def with_options(
        self, options: Mapping[str, Any], is_split_into_words: bool, known: Sequence[str]
    ) -> HookEncoder:
        """The encoder for a call with other keywords; an error looks among the known ones for what
        may be meant.
        """
        others = {name: value for name, value in options.items() if name not in _KNOWN}
        if others:
            _, unknown = self._tokenizer.prepare_for_tokenization(
                "", **{"is_split_into_words": is_split_into_words, **others}
            )
            reject_unknown(unknown, known)
        if is_split_into_words:
            options = {**options, "is_split_into_words": True}
        return (
            HookEncoder(self._tokenizer, self._table, self._stages, self._as_text, options)
            if options
            else self
        )

    def ids_of_tokens(self, tokens: list[str]) -> list[int]:
        """The ids of tokens, by `convert_tokens_to_ids`."""
        tokenizer = self._tokenizer
        if is_replaced(tokenizer, ("convert_tokens_to_ids",)):
            return tokenizer.convert_tokens_to_ids(tokens)  # type: ignore[no-any-return]
        return tokenizer._ids_of(self._table_now(), tokens)  # type: ignore[no-any-return]

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, by `tokenize` and `convert_tokens_to_ids`."""
        if self._tokenizer.profile == "fast":
            stages, text = self._prepared_stages(text)
            return stages.ids(text)
        return self.ids_of_tokens(self._tokens_by_methods(text))

    def _tokens_by_methods(self, text: str) -> list[str]:
        is_own = is_replaced(self._tokenizer, ("tokenize",))
        return self._tokenizer.tokenize(text, **self._options) if is_own else self.tokens(text)

    def tokens(self, text: str) -> list[str]:
        """The tokens of `text`: prepared, lower-cased, cut at the added tokens; `_tokenize` cuts
        the parts between.
        """
        require_text(text)
        stages, text = self._prepared_stages(text, self._tokenizer.profile == "slow")
        return stages.tokens(text)

    def _prepared_stages(self, text: str, by_methods: bool = False) -> tuple[Stages, str]:
        """The stages for these options, and the text as `prepare_for_tokenization` leaves it.

        Raises for keywords that nobody takes.
        """
        options = dict(self._options)
        as_text = options.pop("split_special_tokens", self._as_text)
        policy = special_policy(self._table.special_contents, options) if options else None
        text, unknown = self._tokenizer.prepare_for_tokenization(text, **options)
        reject_unknown(unknown)
        stages = StagesByMethods(self._tokenizer, self._table_now()) if by_methods else self._stages
        assert stages is not None  # called only if there are some
        if policy is not None:
            if policy.refused:
                policy.check(stages.specials_in(text), text)
            return stages.untrusted(self._table.special_contents, policy.allowed), text
        return stages.as_text() if as_text else stages, text

    # ---- where tokens came from ------------------------------------------------------------------

    def locate(self, text: str) -> Located:
        """The tokens of `text` with their spans, if the methods give the same tokens as the
        stages.
        """
        kind = type(self._tokenizer).__name__
        if self._stages is None:
            raise NotSupportedError(
                f"{kind} does not tell which characters its tokens stand for",
                name="return_offsets_mapping",
            )
        stages, prepared = self._prepared_stages(text)
        if self._tokenizer.profile == "fast":
            return stages.locate(prepared)
        located = stages.locate(text)
        if located.tokens != self._tokens_by_methods(text):
            raise NotSupportedError(
                f"{kind} has stages of its own, so where its tokens came from cannot be told",
                name="return_offsets_mapping",
            )
        return located

    def words(self, text: str) -> Iterator[tuple[str, list[str], Span]]:
        self.locate(text)  # refuses methods whose tokens are not those of the stages
        stages, prepared = self._prepared_stages(text)
        return stages.words_between(prepared)

    def spans(self, text: str, count: int = -1) -> list[Span]:
        return self.locate(text).spans

    def stages_for(self, text: str) -> tuple[Stages, str]:
        """The stages that give the tokens of `text`, and the text that they are given."""
        self.locate(text)
        stages, prepared = self._prepared_stages(text)
        return (
            (stages, prepared)
            if self._tokenizer.profile == "fast"
            else (self._stages or stages, text)
        )


class StagesByMethods(Stages):
    """The stages of a class of the slow profile whose `_tokenize` makes tokens of what lies between
    added tokens.
    """

    def __init__(self, tokenizer: Any, table: TokenTable) -> None:
        lowers, special = (
            bool(getattr(tokenizer, "do_lower_case", False)),
            tokenizer._special_in(table),
        )
        super().__init__(None, _NO_STAGE, {}, table.added, special, unknown_id=None, lowers=lowers)
        self._tokenizer = tokenizer
        self._refused: frozenset[str] = frozenset()

    def untrusted(self, special: frozenset[str], allowed: frozenset[str]) -> Self:
        return super().untrusted(special, allowed)._with(_refused=special)

    def words_of(self, part: str) -> list[str]:
        return [part]

    def pieces_of(self, word: str) -> list[str]:
        tokens: list[str] = self._tokenizer._tokenize(word)
        for token in tokens if self._refused else ():
            if token in self._refused and token != self.unk_token:
                raise SpecialTokenError(
                    f"{type(self._tokenizer).__name__} cannot take {token!r} for plain text: its"
                    " _tokenize gives the special token"
                )
        return tokens

    @property
    def unk_token(self) -> Any:
        return self._tokenizer.unk_token


_METHODS = frozenset((*INPUT_HOOKS, *ROLE_HOOKS))


class OfOneState:
    """A tokenizer at one moment: methods that the user has replaced are the tokenizer's own, all
    else is as it was.
    """

    def __init__(self, tokenizer: Any, state: Any, builder: InputBuilder) -> None:
        self._tokenizer = tokenizer
        self._state = state
        self.builder = builder

    def __getattr__(self, name: str) -> Any:
        names = ("pad", "_pad") if name == "pad" else (name,)
        is_own = name in _METHODS and is_replaced(self._tokenizer, names)
        return getattr(self._tokenizer if is_own else self._state, name)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self._tokenizer).__name__

    def row(
        self, ids: Ids, pair_ids: Ids | None, prepend_batch_axis: bool = False, **options: Any
    ) -> BatchEncoding:
        """What `prepare_for_model` returns."""
        if is_replaced(self._tokenizer, ("prepare_for_model",)):
            more = {"prepend_batch_axis": True} if prepend_batch_axis else {}
            row: BatchEncoding = self._tokenizer.prepare_for_model(ids, pair_ids, **options, **more)
            return row
        return prepare(self, ids, pair_ids, CallOptions(**options), prepend_batch_axis)


def prepare(
    tokenizer: OfOneState,
    ids: Ids,
    pair_ids: Ids | None,
    options: CallOptions,
    prepend_batch_axis: bool,
) -> BatchEncoding:
    """What `prepare_for_model` returns, by the methods for truncation, template, masks and
    padding.
    """
    if options.return_offsets_mapping:
        raise NotSupportedError(
            "return_offsets_mapping is not available for this tokenizer",
            name="return_offsets_mapping",
        )
    options = options.of_ints()
    strategies = _strategies(tokenizer, options)
    max_length = strategies.max_length
    SLOW.check(options, strategies, pair_ids is not None)
    with_special = options.add_special_tokens
    added = tokenizer.num_special_tokens_to_add(pair=pair_ids is not None) if with_special else 0
    total = len(ids) + len(pair_ids or ()) + added
    overflow: Ids = []
    if strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE and max_length is not None:
        check_room(max_length, added)
        if max_length and total > max_length:
            ids, pair_ids, overflow = tokenizer.truncate_sequences(
                ids, pair_ids, total - max_length, strategies.truncation, options.stride
            )
            left = len(ids) + len(pair_ids or ()) + added
            if left > max_length and strategies.truncation is TruncationStrategy.HEAD_TAIL:
                raise NotSupportedError(
                    f"truncate_sequences of {tokenizer.kind} does not cut out the middle"
                    f" (truncation='head_tail'): {left} tokens are left of at most {max_length};"
                    " choose another truncation",
                    name="truncation",
                )
    values: dict[str, Any] = {}
    if options.return_overflowing_tokens:
        values["overflowing_tokens"] = overflow
        values["num_truncated_tokens"] = total - (max_length or 0)
    values.update(_with_template(tokenizer, ids, pair_ids, with_special))
    if not _wants(tokenizer, "token_type_ids", options.return_token_type_ids):
        del values["token_type_ids"]
    length = len(values["input_ids"])
    if options.return_special_tokens_mask:
        mask = tokenizer.get_special_tokens_mask(ids, pair_ids) if with_special else [0] * length
        values["special_tokens_mask"] = mask
    if options.verbose and max_length is None and length > tokenizer.model_max_length > 0:
        warn_of_length(tokenizer, length)
    with_mask = _wants(tokenizer, "attention_mask", options.return_attention_mask)
    if not length:  # nothing to pad, as in transformers
        values.update({"attention_mask": []} if with_mask else {})
    elif with_mask or strategies.padding is not PaddingStrategy.DO_NOT_PAD:
        padded = tokenizer.pad(
            values,
            padding=strategies.padding,
            max_length=max_length if strategies.padding is PaddingStrategy.MAX_LENGTH else None,
            pad_to_multiple_of=options.pad_to_multiple_of,
            padding_side=options.padding_side,
            return_attention_mask=with_mask,
            verbose=False,
        )
        values = dict(padded)
    if options.return_length:
        values["length"] = len(values["input_ids"])
    return BatchEncoding(
        values, tensor_type=options.return_tensors, prepend_batch_axis=prepend_batch_axis
    )


def encode_item(
    tokenizer: OfOneState, encoder: TextEncoder, text: Any, text_pair: Any, options: CallOptions
) -> BatchEncoding:
    """What `encode_plus` returns for one text or pair, by `prepare_for_model`."""
    _strategies(tokenizer, options.of_ints())  # raises for invalid options before the text is read
    words = options.is_split_into_words
    ids = ids_of(encoder, text, words, "the text")
    pair_ids = None if text_pair is None else ids_of(encoder, text_pair, words, "the pair")
    asked = options._replace(return_offsets_mapping=False)._asdict()
    del asked["is_split_into_words"]
    encoding = tokenizer.row(ids, pair_ids, True, **asked)
    texts = (text,) if text_pair is None else (text, text_pair)
    return _with_details(tokenizer, encoding, encoder, [texts], options, one=True)


def encode_batch(
    tokenizer: OfOneState, encoder: TextEncoder, items: Any, options: CallOptions
) -> BatchEncoding:
    """What `batch_encode_plus` returns, by `prepare_for_model` for each item and `pad` for all."""
    options = options.of_ints()
    strategies = _strategies(tokenizer, options)
    words = options.is_split_into_words
    rows: dict[str, list[Any]] = {}
    texts: list[tuple[Any, ...]] = []
    for index, (first, second) in enumerate(SLOW.batch_of(items, words)):
        where = f"item {index} of the batch"
        texts.append((first,) if second is None else (first, second))
        row = tokenizer.row(
            ids_of(encoder, first, words, where),
            None if second is None else ids_of(encoder, second, words, where),
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
    return _with_details(tokenizer, encoding, encoder, texts, options, one=False)


def pieces_by_methods(tokenizer: Any, pair: bool) -> tuple[Piece, ...]:
    """The pieces of a row of one text or two, derived from what the template methods return."""
    texts = ([-1], [-2] if pair else None)  # placeholders for the ids of each text
    ids = tokenizer.build_inputs_with_special_tokens(*texts)
    # a subclass may give too few
    types = [
        *tokenizer.create_token_type_ids_from_sequences(*texts),
        *[0] * len(ids),
    ]
    pieces: list[Piece] = []
    for token_id, type_id in zip(ids, types, strict=False):
        if token_id is None:
            pieces.append(Piece(type_id, role="one of its roles"))
        elif token_id in (-1, -2):  # a user's own may be no number
            pieces.append(Piece(type_id, sequence=-1 - token_id))
        else:
            pieces.append(Piece(type_id, None, tokenizer.convert_ids_to_tokens(token_id), token_id))
    return tuple(pieces)


def _strategies(tokenizer: OfOneState, options: CallOptions) -> Strategies:
    return resolve_strategies(
        tokenizer,
        *options[1:4],
        pad_to_multiple_of=options.pad_to_multiple_of,
        verbose=options.verbose,
    )


def _wants(tokenizer: OfOneState, name: str, asked: bool | None) -> bool:
    return name in tokenizer.model_input_names if asked is None else asked


def _with_template(
    tokenizer: OfOneState, ids: Ids, pair_ids: Ids | None, add_special_tokens: bool
) -> dict[str, Ids]:
    if add_special_tokens:
        return {
            "input_ids": _without_none(
                tokenizer, tokenizer.build_inputs_with_special_tokens(ids, pair_ids)
            ),
            "token_type_ids": tokenizer.create_token_type_ids_from_sequences(ids, pair_ids),
        }
    sequence = ids if pair_ids is None else ids + pair_ids
    return {"input_ids": sequence, "token_type_ids": [0] * len(sequence)}


def _without_none(tokenizer: OfOneState, ids: Ids) -> Ids:
    """`ids`; an error if one of them is None, which the template gives for a role without a
    token.
    """
    if None in ids:
        roles = [
            role for role in ("cls_token", "sep_token") if getattr(tokenizer, f"{role}_id") is None
        ]
        role = roles[0] if roles else None
        require_ids([Piece(0, token=None if role is None else getattr(tokenizer, role), role=role)])
    return ids


def _with_details(
    tokenizer: OfOneState,
    encoding: BatchEncoding,
    encoder: TextEncoder,
    texts: list[tuple[Any, ...]],
    options: CallOptions,
    one: bool,
) -> BatchEncoding:
    """A result whose methods can tell where its tokens came from; with `offset_mapping` if the call
    asks for it.
    """
    if not isinstance(encoding, BatchEncoding):  # a subclass may return something else
        return encoding
    if not all(has_spans(text, options.is_split_into_words) for sample in texts for text in sample):
        if options.return_offsets_mapping:
            raise NotSupportedError(
                "tokens and ids stand for no text that could have offsets", name="offset_mapping"
            )
        return encoding
    plan = tokenizer.builder.plan(options)
    encoding.work_out_by(plan, (encoder, texts, one))
    if options.return_offsets_mapping:
        details = plan.encodings((encoder, texts, one), encoding["input_ids"])
        _require_same_ids(tokenizer, details, encoding["input_ids"], one)
        offsets = [each.offsets for each in details]
        kind = tensor_type_of(encoding["input_ids"])
        encoding["offset_mapping"] = (
            to_tensor(offsets, kind) if kind else offsets[0] if one else offsets
        )
    return encoding


def _require_same_ids(tokenizer: OfOneState, details: list[Any], input_ids: Any, one: bool) -> None:
    """Raise where a method of the user's has made other ids than the details are of."""
    # twice: rows of different lengths are an array of arrays
    given = to_python(to_python(input_ids))
    rows = [given] if one and not (given and isinstance(given[0], list)) else given
    if [each.ids for each in details] != rows:
        raise NotSupportedError(
            f"{tokenizer.kind} has methods of its own that give other ids than its texts, so where"
            " its tokens came from cannot be told",
            name="return_offsets_mapping",
        )


class _NoStage(Changeable):
    """Used in place of a basic or WordPiece tokenizer that does not exist or cannot be watched."""

    never_split: frozenset[str] = frozenset()

    def without(self, entries: object) -> Self:
        """The same."""
        return self


_NO_STAGE: Any = _NoStage()
_OPTIONS = ("do_basic_tokenize", "do_subword_tokenize", "lower_case", "cache_limit")
DEFAULTS = CallOptions()


class Moment:
    """A tokenizer as it is now.

    Args:
        tokenizer: the tokenizer.
        before: the moment before; its encoder, or its cache of words, is used again if it is still
            valid.

    Attributes:
        version, mark, basic, never_split_given, names: the tokenizer is unchanged since as long as
            the version has this mark, and the basic tokenizer's `never_split` and the tokenizer's
            `model_input_names`, which may be changed in place, are equal to these.
        table: its tokens.
        encoder: text → ids, tokens, spans.
        has_foreign_stage: whether a user has replaced the basic or WordPiece tokenizer, or one of
            its methods.
        goes_by_methods: whether texts go through methods that a user has replaced.
        call_encoder: the encoder of a call without keywords that concern its texts.
        calls_methods: whether calls go through an `encode_plus` or `batch_encode_plus` that a user
            has replaced.
        builder: ids → model inputs.
        builds_by_methods: whether methods that a user has replaced make the model inputs instead.
        is_plain: whether neither `calls_methods` nor `builds_by_methods` is true.
        default_plan: the plan of a call for a text alone without options; None if calls do not go
            by it.
        chunk_ids, longest_quick, front, back, limit: what `encode` needs for such a text: the
            function from a chunk to its ids, up to how many code points a text is that goes by
            chunks, the special tokens around, and the number of ids above which a warning is
            logged; `chunk_ids` is None if calls do not go by `default_plan`.
    """

    def __init__(self, tokenizer: Any, before: Moment) -> None:
        self.version: Version = tokenizer._version
        stages_of_words: list[Any] = []
        attributes: dict[str, Any] = {}

        def read() -> None:
            # Whatever is read here is watched first: a change of it gives the version another mark,
            # so that all is read again, or the next call makes another moment. What may change in
            # place is copied before it is used.
            type(tokenizer).watch_class(self.version)
            attributes.clear()
            # or each moment would keep the one before it alive
            attributes.update(tokenizer.__dict__, _moment=NEVER)
            stages_of_words[:] = [attributes.get(name) for name in tokenizer._stage_names]
            for stage in stages_of_words:
                if isinstance(stage, Changeable):
                    stage.watch(self.version)
            self.table: TokenTable = tokenizer._changes.committed
            self.names = list(tokenizer.model_input_names)
            self.has_foreign_stage = any(
                stage is not None
                and (not isinstance(stage, Changeable) or is_replaced(stage, STAGE_HOOKS))
                for stage in stages_of_words
            )
            basic, wordpiece = (
                stage if isinstance(stage, Changeable) else _NO_STAGE for stage in stages_of_words
            )
            self.basic: Any = basic
            # of its own type, to compare with
            self.never_split_given = copy.copy(getattr(basic, "never_split", None))
            self._stages_rest_on = (basic, basic.mark, wordpiece, wordpiece.mark)
            if not self.has_foreign_stage:
                snapshots = [
                    None if stage is None else stage.snapshot() for stage in stages_of_words
                ]
                attributes.update(zip(tokenizer._stage_names, snapshots, strict=True))

        self.mark = read_at_once(self.version, read)
        has_foreign_stage, self._attributes = self.has_foreign_stage, attributes
        state = self._state = _standing(tokenizer, attributes, self.table)
        self.never_split = frozenset(self.never_split_given or ())
        self._split_special_tokens = bool(state.split_special_tokens)
        self.goes_by_methods = not tokenizer._has_stages or (
            is_replaced(tokenizer, TEXT_HOOKS)
            or (has_foreign_stage and tokenizer.profile == "slow")
        )
        # Everything that ids depend on: an encoder stays valid as long as this is equal.
        self._rests_on = (
            self.table,
            *self._stages_rest_on,
            self.never_split,
            self.goes_by_methods or has_foreign_stage,
            *(getattr(state, name, None) for name in _OPTIONS),
        )
        if (
            before.encoder is not None
            and before._rests_on == self._rests_on
            and not self.goes_by_methods
        ):
            self.encoder: TextEncoder = before.encoder
        else:
            self.encoder = self._new_encoder(tokenizer, has_foreign_stage, before.encoder)
        self.calls_methods = is_replaced(tokenizer, CALL_HOOKS)
        # `prepare_for_model` goes by the methods in both profiles; a call of the fast profile does
        # not.
        self.prepares_by_methods = not hasattr(tokenizer, "_input_pieces") or (
            is_replaced(tokenizer, INPUT_HOOKS) or is_replaced(tokenizer, ROLE_HOOKS)
        )
        self.builds_by_methods = self.prepares_by_methods and tokenizer.profile == "slow"
        self.is_plain = not (self.calls_methods or self.builds_by_methods)
        self.builder = self._new_builder(tokenizer)
        self._builder_of_ids: InputBuilder | None = None
        self._plans: dict[Any, Plan] = {}
        splits = self._split_special_tokens and not isinstance(self.encoder, HookEncoder)
        self.call_encoder = self.encoder.as_text() if splits else self.encoder
        self.chunk_ids = None  # these are for `encode`
        self.default_plan: QuickPlan | None = None
        limited = isinstance(state.model_max_length, (int, float))  # else a call says so
        if (
            limited
            and self.is_plain
            and self.call_encoder is self.encoder
            and isinstance(self.encoder, ChunkEncoder)
        ):
            plan = self.builder.plan(DEFAULTS)
            if isinstance(plan, QuickPlan):
                self.default_plan = plan
                self.chunk_ids = self.encoder.chunk_ids
                # A longer text gains nothing by its chunks, and may be worth a kernel; and terms
                # reach across them.
                self.longest_quick = 1000 if self.encoder.terms is None else -1
                self.front, self.back, self.limit = plan.front, plan.back, plan.limit
                # Typed: of equal arguments of other types, such as 1 and True, some are errors.
                self._quick_plan = lru_cache(MOST_PLANS, typed=True)(
                    partial(_quick_plan, self.builder)
                )

    def quick_ids(self, text: str, options: tuple[Any, ...]) -> list[int] | None:
        """The ids of a text alone with the first options of a call, beside a `default_plan`; None
        where no quick plan gives them.
        """
        try:
            plan = self._quick_plan(*options)
        except TypeError:  # an option is no value of its kind, which the call says
            return None
        return None if plan is None else plan.ids(self.encoder, text)

    def plan(self, values: tuple[Any, ...], types: tuple[type, ...]) -> Plan:
        """The plan of a call with these values of `CallOptions`.

        Of equal values of other types, such as 1 and True, some are errors: `types` has those of
        all that matter.
        """
        key = values, types
        try:
            plan = self._plans.get(key)
        except TypeError:  # a list, say, where there should be a number
            return self.builder.plan(CallOptions(*values))
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self.builder.plan(CallOptions(*values))
        return plan

    def flat(self, texts: list[Any], options: tuple[Any, ...]) -> FlatIds | None:
        """The ids of texts one behind the other, with the options of `encode_flat`; None where a
        kernel alone does not make them.
        """
        add_special_tokens, truncation, max_length = options
        key = options, (type(truncation), type(max_length))
        try:
            plan = self._plans.get(key)
        except TypeError:
            return None
        if plan is None:
            values = CallOptions(add_special_tokens, False, truncation, max_length)
            plan = self.builder.plan(
                values._replace(return_attention_mask=False, return_token_type_ids=False)
            )
            self._plans[key] = plan
        return plan.flat(self.call_encoder, texts) if isinstance(plan, QuickPlan) else None

    @property
    def builder_of_ids(self) -> InputBuilder:
        """The builder for `prepare_for_model`, which follows the slow profile's rules in both
        profiles.
        """
        if self.builder.settings.rules is SLOW:
            return self.builder
        if self._builder_of_ids is None:
            pieces = self._state._template_pieces(self.table)
            settings, counts = (
                self.builder.settings._replace(rules=SLOW),
                self.builder.special_counts,
            )
            warn = self.builder.warn_once
            self._builder_of_ids = InputBuilder(
                settings, *pieces, warn_once=warn, special_counts=counts
            )
        return self._builder_of_ids

    def pinned(self, tokenizer: Any) -> Any:
        """The tokenizer for a method that makes several calls: a copy whose calls all use this
        moment.

        The methods of a user's class that encode are still called on the tokenizer itself. It is
        returned where such a class answers whole calls, which may change it.
        """
        if self.calls_methods or is_replaced(tokenizer, ("__call__", "prepare_for_model")):
            return tokenizer
        copied = _standing(
            tokenizer, {**self._attributes, "model_input_names": self.names}, self.table
        )
        held = copied.__dict__["_moment"] = object.__new__(Moment)
        version = copied._version
        given = {
            "version": version,
            "mark": version.mark,
            "basic": _NO_STAGE,
            "never_split_given": frozenset(),
        }
        held.__dict__.update({"_itself": tokenizer, **self.__dict__, **given})
        return copied

    def by_methods(self, tokenizer: Any) -> OfOneState:
        """The tokenizer for `methods`, which call what the user has replaced, and take all else
        from this moment.
        """
        return OfOneState(self.__dict__.get("_itself", tokenizer), self._state, self.builder)

    def _new_builder(self, tokenizer: Any) -> InputBuilder:
        table, state = self.table, self._state
        pad_token = table.roles.get("pad_token")
        settings = InputSettings(
            model_input_names=tuple(self.names),
            padding_side=state.padding_side,
            truncation_side=state.truncation_side,
            model_max_length=state.model_max_length,
            pad_token_id=_pad_id(state, table),
            pad_token=None if pad_token is None else str(pad_token),
            pad_token_type_id=state.pad_token_type_id,
            rules=state._input_rules,
        )
        if self.builds_by_methods:
            pieces = pieces_by_methods(tokenizer, False), pieces_by_methods(tokenizer, True)
        else:
            pieces = state._input_pieces(table)
        return InputBuilder(settings, *pieces, warn_once=tokenizer.warn_once)

    def _new_encoder(
        self, tokenizer: Any, has_foreign_stage: bool, before: TextEncoder | None
    ) -> TextEncoder:
        state = self._state
        stages = state._stages_of(self.table, has_foreign_stage)
        if self.goes_by_methods or stages is None:
            by_hooks: type[HookEncoder] = tokenizer._hook_encoder_class
            return by_hooks(tokenizer, self.table, stages, self._split_special_tokens)
        if has_foreign_stage or not stages.go_by_chunks:
            return TextEncoder(stages)
        assert self.table.vocabulary is not None  # stages have one
        words = self.table.pieces_mark, self.table.special_set, self._rests_on[1:]
        earlier = (
            before if isinstance(before, ChunkEncoder) and before.words_are_of == words else None
        )
        return ChunkEncoder(stages, self.table.vocabulary, state.cache_limit, words, earlier)

    def __reduce__(self) -> Any:
        return _Never, ()  # a copy of the tokenizer makes a moment of its own

    def encoder_for(
        self,
        options: Mapping[str, Any],
        is_split_into_words: bool = False,
        known: Sequence[str] = OF_CALLS,
    ) -> TextEncoder:
        """The encoder for a call with keywords that concern its texts; an error looks for those
        meant in `known`.
        """
        encoder = self.encoder
        if isinstance(encoder, HookEncoder):
            return encoder.with_options(options, is_split_into_words, known)
        as_text, policy = self._split_special_tokens, None
        if options:
            left = {name: value for name, value in options.items() if name != "is_split_into_words"}
            as_text = left.pop("split_special_tokens", as_text)
            policy = special_policy(self.table.special_contents, left)
            reject_unknown(left, known)
        if policy is not None:
            allowed = encoder.untrusted(self.table.special_contents, policy.allowed)
            return RefusingEncoder(encoder, allowed, policy) if policy.refused else allowed
        return encoder.as_text() if as_text else encoder

    def stages_for(
        self, options: Mapping[str, Any], is_split_into_words: bool
    ) -> Callable[[str], tuple[Stages, str]]:
        """A function that gives the stages of a text, and the text that they are given; see
        `encoder_for`.
        """
        encoder = self.encoder_for(options, is_split_into_words)
        if isinstance(encoder, HookEncoder):
            return encoder.stages_for
        return lambda text: (encoder.stages, text)


def _quick_plan(builder: InputBuilder, *options: Any) -> QuickPlan | None:
    """The plan for a call with the first options, in their order; None where it is not a quick
    one.
    """
    plan = builder.plan(CallOptions(*options))
    return plan if isinstance(plan, QuickPlan) else None


_MOST_TRIES = (
    10_000  # of reading one state: more are made only where reading itself changes something
)


def read_at_once(version: Version, read: Callable[[], None]) -> object:
    """Read several parts of a tokenizer, again and again until none has changed meanwhile; the mark
    of that state.
    """
    for _ in range(_MOST_TRIES):
        mark = version.mark
        read()
        if version.mark is mark:
            break
    return mark


def frozen(tokenizer: Any, hooks: tuple[str, ...] = ()) -> Any:
    """A copy of a tokenizer to read several parts of: its attributes and tokens are of one state,
    and stay so.

    Where a user has replaced one of the methods `hooks` it is the tokenizer itself.
    """
    if hooks and is_replaced(tokenizer, hooks):
        return tokenizer
    kept: tuple[object, TokenTable, Any] | None = tokenizer._derived.get("state")
    if kept is not None and kept[0] is tokenizer._version.mark and kept[1] is tokenizer._table:
        return tokenizer if kept[2] is None else kept[2]
    attributes: dict[str, Any] = {}
    tables: list[TokenTable] = []

    def read() -> None:
        attributes.clear()
        attributes.update(tokenizer.__dict__)
        tables[:] = [tokenizer._changes.table]

    mark = read_at_once(tokenizer._version, read)
    state = _standing(tokenizer, attributes, tables[0])
    tokenizer._derived["state"] = mark, tables[0], state
    return state


def _standing(tokenizer: Any, attributes: Mapping[str, Any], table: TokenTable) -> Any:
    copied = object.__new__(type(tokenizer))
    version = Version()
    # it stands already
    derived = Derived(attributes["_derived"], state=(version.mark, table, None))
    copied.__dict__.update(
        attributes, _changes=Changes(table, version), _own_version=version, _moment=NEVER
    )
    copied.__dict__["_derived"] = derived
    return copied


def _pad_id(tokenizer: Any, table: TokenTable) -> int | None:
    if is_replaced(tokenizer, ("pad_token", "pad_token_id")):
        return tokenizer.pad_token_id  # type: ignore[no-any-return]
    pad_token = table.roles.get("pad_token")
    return None if pad_token is None else tokenizer._ids_of_roles(table, str(pad_token))


class RefusingEncoder(TextEncoder):
    """Encodes texts without the refused special tokens, and raises for texts that contain one."""

    def __init__(self, full: TextEncoder, allowed: TextEncoder, policy: SpecialPolicy) -> None:
        super().__init__(allowed.stages)
        self._full = full
        self._policy = policy

    def _checked(self, text: str) -> str:
        self._policy.check(self._full.stages.specials_in(text), text)
        return text

    def ids(self, text: str) -> list[int]:
        return super().ids(self._checked(text))

    def tokens(self, text: str) -> list[str]:
        return super().tokens(self._checked(text))

    def locate(self, text: str) -> Any:
        return super().locate(self._checked(text))


class _Never:
    """The moment of a tokenizer that has made no moment yet."""

    encoder = None
    mark = None
    version = Version()
    basic = _NO_STAGE
    _rests_on = ()

    def __reduce__(self) -> Any:
        return _Never, ()


class Derived(dict[str, Any]):
    """What a tokenizer has worked out of its state and keeps: name → value. A copy of it is
    empty.
    """

    def __reduce__(self) -> Any:
        return Derived, ()


NEVER: Any = _Never()
