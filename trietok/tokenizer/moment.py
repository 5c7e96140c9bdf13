"""A tokenizer at one moment: what every call, batch and result uses from beginning to end.

In: a tokenizer. Out: its tokens, its encoder, and whether its calls go through methods that a user has replaced. A
`Moment` never changes. After the tokenizer changes, the next call makes a new one; calls in progress keep theirs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trietok.inputs.builder import InputBuilder, InputSettings
from trietok.inputs.options import OF_CALLS, CallOptions, reject_unknown
from trietok.inputs.profiles import SLOW
from trietok.inputs.quick_plan import QuickPlan
from trietok.text.changes import Changeable, Version
from trietok.text.chunk_encoder import ChunkEncoder, TextEncoder
from trietok.text.stages import Stages
from trietok.text.untrusted import SpecialPolicy, special_policy
from trietok.tokenizer.hooks import (
    CALL_HOOKS,
    INPUT_HOOKS,
    ROLE_HOOKS,
    STAGE_HOOKS,
    TEXT_HOOKS,
    HookEncoder,
    is_replaced,
)
from trietok.tokenizer.methods import OfOneState, pieces_by_methods
from trietok.tokenizer.token_table import Changes, TokenTable


class _NoStage(Changeable):
    """Used in place of a basic or WordPiece tokenizer that does not exist or cannot be watched."""

    never_split: frozenset[str] = frozenset()


_NO_STAGE: Any = _NoStage()
_OPTIONS = ("do_basic_tokenize", "do_subword_tokenize", "lower_case", "cache_limit")
DEFAULTS = CallOptions()


class Moment:
    """A tokenizer as it is now.

    Args:
        tokenizer: the tokenizer.
        before: the moment before; its encoder, or its cache of words, is used again if it is still valid.

    Attributes:
        table: its tokens.
        encoder: text → ids, tokens, spans.
        has_foreign_stage: whether a user has replaced the basic or WordPiece tokenizer, or one of its methods.
        goes_by_methods: whether texts go through methods that a user has replaced.
        call_encoder: the encoder of a call without keywords that concern its texts.
        calls_methods: whether calls go through an `encode_plus` or `batch_encode_plus` that a user has replaced.
        builder: ids → model inputs.
        builds_by_methods: whether methods that a user has replaced make the model inputs instead.
        is_plain: whether neither `calls_methods` nor `builds_by_methods` is true.
        default_plan: the plan of a call without options; None if calls do not go by it.
        chunk_ids, front, back, limit: what the fast path of `encode` needs: the function from a chunk to its ids, the
            special tokens around a text, and the number of ids above which a warning is logged. `chunk_ids` is None if
            that path cannot be used.
    """

    def __init__(self, tokenizer: Any, before: Moment) -> None:
        self.version: Version = tokenizer._version
        stages_of_words: list[Any] = []
        attributes: dict[str, Any] = {}

        def read() -> None:
            # Whatever is read here is watched first: a change of it gives the version another mark, so that all is read
            # again, or the next call makes another moment. What may change in place is copied before it is used.
            type(tokenizer).watch_class(self.version)
            attributes.clear()
            attributes.update(tokenizer.__dict__)
            stages_of_words[:] = [attributes.get(name) for name in tokenizer._stage_names]
            for stage in stages_of_words:
                if isinstance(stage, Changeable):
                    stage.watch(self.version)
            self.table: TokenTable = tokenizer._changes.committed
            self.names = list(tokenizer.model_input_names)
            self.has_foreign_stage = any(
                stage is not None and (not isinstance(stage, Changeable) or is_replaced(stage, STAGE_HOOKS))
                for stage in stages_of_words
            )
            basic, wordpiece = (stage if isinstance(stage, Changeable) else _NO_STAGE for stage in stages_of_words)
            self.basic: Any = basic
            self._never_split_given = copy.copy(getattr(basic, "never_split", None))  # of its own type, to compare with
            self._stages_rest_on = (basic, basic.mark, wordpiece, wordpiece.mark)
            if not self.has_foreign_stage:
                snapshots = [None if stage is None else stage.snapshot() for stage in stages_of_words]
                attributes.update(zip(tokenizer._stage_names, snapshots, strict=True))

        self.mark = read_at_once(self.version, read)
        has_foreign_stage, self._attributes = self.has_foreign_stage, attributes
        state = self._state = _standing(tokenizer, attributes, self.table)
        self.never_split = frozenset(self._never_split_given or ())
        self._split_special_tokens = bool(state.split_special_tokens)
        self.goes_by_methods = not tokenizer._has_stages or (
            is_replaced(tokenizer, TEXT_HOOKS) or (has_foreign_stage and tokenizer.profile == "slow")
        )
        # Everything that ids depend on: an encoder stays valid as long as this is equal.
        self._rests_on = (
            self.table,
            *self._stages_rest_on,
            self.never_split,
            self.goes_by_methods or has_foreign_stage,
            *(getattr(state, name, None) for name in _OPTIONS),
        )
        if before.encoder is not None and before._rests_on == self._rests_on and not self.goes_by_methods:
            self.encoder: TextEncoder = before.encoder
        else:
            self.encoder = self._new_encoder(tokenizer, has_foreign_stage, before.encoder)
        self.calls_methods = is_replaced(tokenizer, CALL_HOOKS)
        # `prepare_for_model` goes by the methods in both profiles; a call of the fast profile does not.
        self.prepares_by_methods = not hasattr(tokenizer, "_input_pieces") or (
            is_replaced(tokenizer, INPUT_HOOKS) or is_replaced(tokenizer, ROLE_HOOKS)
        )
        self.builds_by_methods = self.prepares_by_methods and tokenizer.profile == "slow"
        self.is_plain = not (self.calls_methods or self.builds_by_methods)
        self.builder = self._new_builder(tokenizer)
        self._builder_of_ids: InputBuilder | None = None
        self.call_encoder = self.encoder.as_text() if self._splits_special(self.encoder) else self.encoder
        # For the fast paths of `PreTrainedTokenizerBase.encode` and of a call for a text alone.
        self.chunk_ids = None
        self.default_plan: QuickPlan | None = None
        limited = isinstance(state.model_max_length, (int, float))  # else a call says so
        if limited and self.is_plain and self.call_encoder is self.encoder and isinstance(self.encoder, ChunkEncoder):
            plan = self.builder.plan(DEFAULTS)
            if isinstance(plan, QuickPlan):
                self.default_plan = plan
                self.chunk_ids = self.encoder.chunk_ids
                self.front, self.back, self.limit = plan.front, plan.back, plan.limit

    @property
    def builder_of_ids(self) -> InputBuilder:
        """The builder for `prepare_for_model`, which follows the slow profile's rules in both profiles."""
        if self.builder.settings.windows is SLOW:
            return self.builder
        if self._builder_of_ids is None:
            pieces = [self._state._template_pieces(self.table, pair) for pair in (False, True)]
            counts = (self.builder.special_count(False), self.builder.special_count(True))
            settings = self.builder.settings._replace(windows=SLOW)
            warn = self.builder.warn_once
            self._builder_of_ids = InputBuilder(settings, *pieces, warn_once=warn, special_counts=counts)
        return self._builder_of_ids

    def pinned(self, tokenizer: Any) -> Any:
        """The tokenizer for a method that makes several calls: a copy whose calls all use this moment.

        The methods of a user's class that encode are still called on the tokenizer itself. It is returned where such a
        class answers whole calls, which may change it.
        """
        if self.calls_methods or is_replaced(tokenizer, ("__call__", "prepare_for_model")):
            return tokenizer
        copied = _standing(tokenizer, {**self._attributes, "model_input_names": self.names}, self.table)
        held = copied.__dict__["_moment"] = object.__new__(Moment)
        version = copied._version
        given = {"version": version, "mark": version.mark, "basic": _NO_STAGE, "_never_split_given": frozenset()}
        held.__dict__.update({"_itself": tokenizer, **self.__dict__, **given})
        return copied

    def by_methods(self, tokenizer: Any) -> OfOneState:
        """The tokenizer for `methods`, which call what the user has replaced, and take all else from this moment."""
        return OfOneState(self.__dict__.get("_itself", tokenizer), self._state, self.builder)

    def _splits_special(self, encoder: TextEncoder) -> bool:
        return self._split_special_tokens and not isinstance(encoder, HookEncoder)

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
            windows=state._input_rules,
        )
        if self.builds_by_methods:
            pieces = [pieces_by_methods(tokenizer, pair) for pair in (False, True)]
        else:
            pieces = [state._input_pieces(table, pair) for pair in (False, True)]
        return InputBuilder(settings, *pieces, warn_once=tokenizer.warn_once)

    def _new_encoder(self, tokenizer: Any, has_foreign_stage: bool, before: TextEncoder | None) -> TextEncoder:
        state = self._state
        stages = state._stages_of(self.table, has_foreign_stage)
        if self.goes_by_methods or stages is None:
            return HookEncoder(tokenizer, self.table, stages, self._split_special_tokens)
        kind: type[ChunkEncoder] = tokenizer._encoder_class
        if has_foreign_stage or not kind.can_remember(stages):
            return TextEncoder(stages)
        assert self.table.vocabulary is not None  # stages have one
        words = self.table.pieces_mark, self.table.special_set, self._rests_on[1:]
        earlier = before if isinstance(before, ChunkEncoder) and before.words_are_of == words else None
        return kind(stages, self.table.vocabulary, state.cache_limit, words, earlier)

    def is_now(self, tokenizer: Any) -> bool:
        """Whether the tokenizer is unchanged since; called before every call."""
        return bool(
            self.version.mark is self.mark
            and self.basic.never_split == self._never_split_given  # these two may be changed in place
            and tokenizer.model_input_names == self.names
        )

    def __reduce__(self) -> Any:
        return _Never, ()  # a copy of the tokenizer makes a moment of its own

    def encoder_for(
        self, options: Mapping[str, Any], is_split_into_words: bool = False, known: Sequence[str] = OF_CALLS
    ) -> TextEncoder:
        """The encoder for a call with keywords that concern its texts.

        Args:
            options: `split_special_tokens`, `allowed_special`, `disallowed_special`, and what a subclass's
                `prepare_for_tokenization` takes.
            is_split_into_words: whether the texts are words.
            known: the keywords among which an error looks for the one that may be meant.

        Raises:
            OptionError: a keyword is unknown.
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

    def stages_for(self, options: Mapping[str, Any], is_split_into_words: bool) -> Callable[[str], tuple[Stages, str]]:
        """A function that gives the stages of a text, and the text that they are given; see `encoder_for`.

        Raises:
            NotSupportedError: from the function: the tokenizer's own methods give other tokens than any stages.
        """
        encoder = self.encoder_for(options, is_split_into_words)
        if isinstance(encoder, HookEncoder):
            return encoder.stages_for
        return lambda text: (encoder.stages, text)


_MOST_TRIES = 10_000  # of reading one state: more are made only where reading itself changes something


def read_at_once(version: Version, read: Callable[[], None]) -> object:
    """Read several parts of a tokenizer, again and again until none has changed meanwhile; the mark of that state."""
    for _ in range(_MOST_TRIES):
        mark = version.mark
        read()
        if version.mark is mark:
            break
    return mark


def frozen(tokenizer: Any, hooks: tuple[str, ...] = ()) -> Any:
    """A copy of a tokenizer to read several parts of: its attributes and tokens are of one state, and stay so.

    Where a user has replaced one of the methods `hooks` it is the tokenizer itself.
    """
    if hooks and is_replaced(tokenizer, hooks):
        return tokenizer
    attributes: dict[str, Any] = {}
    tables: list[TokenTable] = []

    def read() -> None:
        attributes.clear()
        attributes.update(tokenizer.__dict__)
        tables[:] = [tokenizer._changes.table]

    read_at_once(tokenizer._version, read)
    return _standing(tokenizer, attributes, tables[0])


def _standing(tokenizer: Any, attributes: Mapping[str, Any], table: TokenTable) -> Any:
    copied = object.__new__(type(tokenizer))
    version = Version()
    copied.__dict__.update(attributes, _changes=Changes(table, version), _own_version=version, _moment=NEVER)
    return copied


def _pad_id(tokenizer: Any, table: TokenTable) -> int | None:
    if is_replaced(tokenizer, ("pad_token", "pad_token_id")):
        pad_id: int | None = tokenizer.pad_token_id
        return pad_id
    pad_token = table.roles.get("pad_token")
    return None if pad_token is None else tokenizer._ids_of(table, [str(pad_token)])[0]


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

    def is_now(self, tokenizer: Any) -> bool:
        """Never."""
        return False

    def __reduce__(self) -> Any:
        return _Never, ()


class Derived(dict[str, Any]):
    """What a tokenizer has worked out of its state and keeps: name → value. A copy of it is empty."""

    def __reduce__(self) -> Any:
        return Derived, ()

    def __copy__(self) -> Derived:
        return Derived()


NEVER: Any = _Never()
