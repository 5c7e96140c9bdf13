"""The tokenizer whose calls take the fast path wherever it gives what the stages would: state, plans, memory.

In: a call with texts. Out: its result by a `CallPlan` over a `LocatingEncoder`, both made for the tokenizer's present
state; or None where the plain path has to be taken. Whether anything has changed since is seen by one look at a clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar

from trietok.errors import InputError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.call_plan import CallPlan, is_plannable
from trietok.inputs.options import CallOptions, resolve_strategies
from trietok.inputs.truncation import TruncationStrategy
from trietok.text.alignment import Located, Span
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.change_guard import clock
from trietok.text.locating_encoder import LocatingEncoder
from trietok.text.memory import MEMORY_LIMIT, CacheInfo, Changed, MayBeSpaced
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.tokenizer.vocabulary_tokenizer import VocabularyTokenizer

# What the fast path stands in for: where a subclass, an instance or a patch puts another in its place, the plain path
# is taken. First from a text to its ids, then from ids to what a call returns.
_TEXT_STAGES = (
    "prepare_for_tokenization",
    "_token_of",
    "_convert_id_to_token",
    "tokenize",
    "_split_text",
    "_lowered",
    "_tokenize",
    "_text_ids",
    "_plain_ids",
    "_locate",
    "convert_tokens_to_ids",
    "_convert_token_to_id_with_added_voc",
    "_convert_token_to_id",
    "do_lower_case",
    "vocab",
    "_special_tokens",
    "_special_set",
    "all_special_tokens",
    "all_special_tokens_extended",
)
_CALL_STAGES = (
    "encode_plus",
    "batch_encode_plus",
    "prepare_for_model",
    "pad",
    "truncate_sequences",
    "num_special_tokens_to_add",
    "build_inputs_with_special_tokens",
    "create_token_type_ids_from_sequences",
    "get_special_tokens_mask",
    "pad_token_type_id",
    "_call_one",
    "_check_options",
    "_input_ids",
    "_checked_ids",
    "_pad_one",
    "_template",
    "_pieces_around",
    "_wants",
    "_warn_of_length",
)
_STAGES_OF_WORDS: dict[type, dict[str, Any]] = {}


def is_stage(kind: type, *names: str) -> None:
    """Let a class stand for a stage of words, with what these methods are now.

    They are asked of its objects, too: what a user sets on one of them is a stage replaced.
    """
    _STAGES_OF_WORDS[kind] = {name: getattr(kind, name) for name in names}


is_stage(BasicTokenizer, "tokenize", "clean", "cleaning_table", "compose", "normalize", "_split_on_punctuation")
is_stage(WordpieceTokenizer, "tokenize", "pieces_of", "match_word")

# Attributes whose values follow from others: setting them changes no state.
_ONLY_REMEMBERED = frozenset(
    {"_remembered", "_looked", "_default_plan", "_plans", "_ordinary", "_inverse", "_specials", "_apart"}
)
_NEVER_LOOKED = (-1, None)
MOST_PLANS = 64


class _Plans:
    """The plans of one moment."""

    def __init__(self, epoch: int, encoder: LocatingEncoder | None) -> None:
        self.epoch = epoch
        self.encoder = encoder  # None where calls are not planned
        self.by_options: dict[tuple[Any, ...], CallPlan | None] = {}


class RememberingTokenizer(VocabularyTokenizer):
    """`VocabularyTokenizer` with a memory of what chunks became. Not used by itself: `BertTokenizer` inherits it.

    Attributes:
        cache_limit: the most bytes that may be remembered, 0 for none; a keyword of the constructor too. It is not
            saved.
    """

    cache_limit: int = MEMORY_LIMIT
    _basic_class: type[BasicTokenizer] = BasicTokenizer
    _encoder_class: type[LocatingEncoder] = LocatingEncoder
    own_stages: ClassVar[dict[str, Any]] = {}

    @classmethod
    def remember_own_stages(cls) -> None:
        """Take the stages that the class has now for those that the fast path stands in for."""
        cls.own_stages = {name: getattr(cls, name) for name in (*_TEXT_STAGES, *_CALL_STAGES)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "cache_limit" in kwargs:
            self.cache_limit = kwargs.pop("cache_limit")
        self._remembered: tuple[tuple[Any, ...], LocatingEncoder | None] | None = None
        # When it was last looked what the encoder is, and the encoder; None where only the plain path is right.
        self._looked: tuple[int, LocatingEncoder | None] = _NEVER_LOOKED
        self._default_plan: CallPlan | None = None
        self._plans = _Plans(-1, None)
        super().__init__(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        # What is remembered stays here.
        forgotten = {"_remembered": None, "_looked": _NEVER_LOOKED, "_default_plan": None, "_plans": _Plans(-1, None)}
        return {**super().__getstate__(), **forgotten}

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "cache_limit" and (type(value) is not int or value < 0):
            raise InputError(f"cache_limit is a whole number of bytes from 0, not {value!r}")
        super().__setattr__(name, value)
        if name not in _ONLY_REMEMBERED:
            if name == "cache_limit":
                self._remembered = None
            clock.tick()

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        clock.tick()

    # ---- the memory -------------------------------------------------------------------------------------------------

    def cache_info(self) -> CacheInfo:
        """What the tokenizer remembers of the texts it has encoded.

        Nothing where the fast path steps aside, as for a subclass with stages of its own.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> _ = tokenizer.encode("the people and the world")
        >>> tokenizer.cache_info().chunks, tokenizer.cache_info().limit
        (4, 64000000)
        """
        encoder = self._chunk_encoder()
        return CacheInfo(0, 0, 0, self.cache_limit, 0) if encoder is None else encoder.info()

    def cache_clear(self) -> None:
        """Forget what was remembered of the texts encoded so far; no result depends on it."""
        encoder = self._chunk_encoder()
        if encoder is not None:
            encoder.forget()

    # ---- the state --------------------------------------------------------------------------------------------------

    def _chunk_encoder(self) -> LocatingEncoder | None:
        """The encoder of the tokenizer's present state; None where only the plain path is right."""
        looked = self._looked  # moment and encoder in one: another thread may be renewing them
        return looked[1] if looked[0] == clock.now else self._guard.read(self._encoder_of_now)

    def _encoder_of_now(self) -> LocatingEncoder | None:
        now, count = clock.now, self._guard.count
        remembered = self._encoder_of_state()
        if count & 1 or self._guard.count != count:
            return None  # half of a change: nothing of it must be kept
        encoder = None
        if remembered is not None:
            self._remembered = remembered
            encoder = remembered[1]
        if encoder is not None:
            encoder.epoch = now
        self._looked = now, encoder
        return encoder

    def _encoder_of_state(self) -> tuple[tuple[Any, ...], LocatingEncoder | None] | None:
        """The state, and its encoder, the one there is if it is of that state; None where a stage is replaced."""
        basic, wordpiece = (self.__dict__.get(name) for name in ("basic_tokenizer", "wordpiece_tokenizer"))
        if (
            not isinstance(basic, self._basic_class)
            or not isinstance(wordpiece, WordpieceTokenizer)
            or not self._has_own(_TEXT_STAGES)
            or not (_is_as_made(basic) and _is_as_made(wordpiece))
            or not getattr(self, "do_basic_tokenize", True)
            or basic.never_split
            or wordpiece.vocab is not self._vocabulary.token_to_id
        ):
            return None
        state = (
            self._added.version,
            self._special_tokens(),
            basic.version,
            wordpiece.version,
            self._special_tokens_map["unk_token"],
            self._vocabulary,
        )
        remembered = self._remembered
        if remembered is not None and remembered[0] == state:
            return remembered
        return state, self._new_chunk_encoder(basic, wordpiece, state)

    def _new_chunk_encoder(
        self, basic: BasicTokenizer, wordpiece: WordpieceTokenizer, state: tuple[Any, ...]
    ) -> LocatingEncoder | None:
        added = self._added
        if not self._is_rememberable():
            return None
        encoder = self._encoder_class(
            basic=basic,
            wordpiece=wordpiece,
            vocab=self._vocabulary.token_to_id,
            added=added,
            special=self._special_tokens(),
            tokenize=self._split_text,
            locate=self._locate_plainly,
            to_id=self._id_of_piece,
            to_token=self._only_token_of,
            guard=self._guard,
            limit=self.cache_limit,
        )
        before, earlier = self._remembered or (None, None)
        if earlier is not None and before is not None and before[1:] == state[1:]:
            touched = added.touched_since(before[0])
            # What words became is remembered by word, and no text shows a piece, nor the unknown token.
            is_of_texts = touched is not None and touched.isdisjoint(self._vocabulary.token_to_id)
            if touched is not None and is_of_texts and encoder.unknown_id == earlier.unknown_id:
                encoder.inherit(earlier, frozenset(touched))
        return encoder

    @property
    def _trims_offsets(self) -> bool:
        """Whether the spans of a text are other than those of its chunks."""
        return False

    def _is_rememberable(self) -> bool:
        """Whether the ids of a text are those of its chunks."""
        return not self._added.oddly_spaced and self._added.encoder.keys() >= self._special_set()

    def _has_own(self, stages: tuple[str, ...]) -> bool:
        """Whether no subclass, instance or patch has replaced one of these stages."""
        kind = type(self)
        return self.__dict__.keys().isdisjoint(stages) and all(
            getattr(kind, name, None) is self.own_stages[name] for name in stages
        )

    def has_replaced_stages(self) -> bool:
        """Whether a subclass, an instance or a patch has a method of its own on the way from texts to model inputs."""
        as_made = _is_as_made(self.basic_tokenizer) and _is_as_made(self.wordpiece_tokenizer)
        return not (as_made and self._has_own((*_TEXT_STAGES, *_CALL_STAGES)))

    def _locate_plainly(self, text: str) -> Located:
        return self._locate(text, {})

    def _id_of_piece(self, piece: str) -> int:
        token_id = self._convert_token_to_id_with_added_voc(piece)
        assert token_id is not None  # every piece is an entry or the unknown token
        return token_id

    def _only_token_of(self, token_id: int) -> str | None:
        token = self._token_of(token_id)
        lines = self._vocabulary.tokens
        line = lines[token_id] if token_id < len(lines) else None
        return token if line in (None, token) and self._id_of_piece(token) == token_id else None

    # ---- calls ------------------------------------------------------------------------------------------------------

    def tokenize(self, text: str, **kwargs: Any) -> list[str]:
        if not (kwargs or self.split_special_tokens) and type(text) is str:
            encoder = self._chunk_encoder()
            if encoder is not None:
                try:
                    tokens = encoder.tokens(text)
                except Changed:
                    tokens = None
                if tokens is not None:
                    return tokens
        return super().tokenize(text, **kwargs)

    def _text_ids(self, text: str, options: dict[str, Any]) -> list[int]:
        if not (options or self.split_special_tokens) and type(text) is str:
            encoder = self._chunk_encoder()
            if encoder is not None:
                try:
                    return encoder.encode(text)
                except Changed:
                    pass
        return self._plain_ids(text, options)

    def _input_spans(self, text: Any, is_split_into_words: bool, options: Mapping[str, Any]) -> list[Span]:
        if not (is_split_into_words or options or self.split_special_tokens):
            encoder = self._chunk_encoder()
            if encoder is not None:
                try:
                    return encoder.spans(text)
                except Changed:
                    pass
        return super()._input_spans(text, is_split_into_words, options)

    def _default_ids(self, text: Any) -> list[int] | None:
        plan = self._default_plan
        if plan is None or plan.epoch != clock.now:
            plan = self._default_plan = self._plan(_DEFAULTS)
        if plan is None or type(text) is not str:
            return None
        try:
            try:
                # As `plan.ids`, in place: a call less for each text.
                ids = [*plan.front, *chain.from_iterable(map(plan.chunk_ids, text.split(" "))), *plan.back]
            except MayBeSpaced:
                ids = [*plan.front, *plan.encode_around_tokens(text), *plan.back]
        except Changed:
            return None
        if len(ids) > plan.limit:
            self._warn_of_length(ids, None, verbose=True)
        return ids

    def _planned(self, texts: Any, options: tuple[Any, ...]) -> BatchEncoding | None:
        try:
            plan = self._plan(options)
            if plan is None:
                return None
            if type(texts) is str:
                return plan.one(texts)
            if type(texts) is list and set(map(type, texts)) == {str}:
                return plan.batch(texts)
        except Changed:
            pass
        return None

    def _plan(self, options: tuple[Any, ...]) -> CallPlan | None:
        plans = self._plans
        if plans.epoch != clock.now:
            plans = self._plans = self._guard.read(self._plans_of_now)
        if plans.encoder is None:
            return None
        # By the types too: True equals 1, and 8.0 equals 8, where only one of them is valid.
        key = (options, *map(type, options), *self.model_input_names)
        try:
            return plans.by_options[key]
        except KeyError:
            if len(plans.by_options) >= MOST_PLANS:
                plans.by_options.clear()
            plan = plans.by_options[key] = self._guard.read(self._new_plan, plans.encoder, CallOptions(*options))
            return plan
        except TypeError:  # an option of the wrong type: the plain path says so
            return None

    def _plans_of_now(self) -> _Plans:
        now = clock.now
        planned = not self.split_special_tokens and self.__dict__.get("basic_tokenizer") is not None
        encoder = self._chunk_encoder() if planned else None
        return _Plans(now, encoder if encoder is not None and self._has_own(_CALL_STAGES) else None)

    def _new_plan(self, encoder: LocatingEncoder, options: CallOptions) -> CallPlan | None:
        if not is_plannable(options, self) or (options.return_offsets_mapping and self._trims_offsets):
            return None
        try:
            strategies = resolve_strategies(
                self, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=options.verbose
            )
            around = self.num_special_tokens_to_add() if options.add_special_tokens else 0
            cuts = strategies.truncation is not TruncationStrategy.DO_NOT_TRUNCATE
            if cuts and strategies.max_length is not None and strategies.max_length <= around:
                return None
            if type(strategies.max_length) not in (int, type(None)):
                return None
            return CallPlan(self, encoder, options, strategies)
        except (InputError, ValueError, TypeError):  # an id that is None, a type id that is no byte: as the plain path
            return None


def _is_as_made(stage: BasicTokenizer | WordpieceTokenizer) -> bool:
    """Whether a stage is of the class itself, and neither it nor the class has been patched."""
    originals = _STAGES_OF_WORDS.get(type(stage))
    return (
        originals is not None
        and stage.__dict__.keys().isdisjoint(originals)
        and all(getattr(type(stage), name, None) is original for name, original in originals.items())
    )


_DEFAULTS = CallOptions()
