"""A tokenizer at one moment: what every call, batch and result uses from beginning to end.

In: a tokenizer. Out: its tokens, its encoder, and whether its calls go through methods that a user
has replaced. A `Moment` never changes. After the tokenizer changes, the next call makes a new one;
calls in progress keep theirs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from trietok.inputs.builder import MOST_PLANS, InputBuilder
from trietok.inputs.input_state import InputSettings
from trietok.inputs.options import (
    OF_CALLS,
    CallOptions,
    reject_unknown,
)
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import SLOW
from trietok.inputs.quick_plan import QuickPlan
from trietok.inputs.tensors import FlatIds
from trietok.text.changes import Changeable, Version, is_replaced
from trietok.text.pipeline import Pipeline
from trietok.tokenizer.by_methods import OfOneState, pieces_by_methods
from trietok.tokenizer.hooks import (
    CALL_HOOKS,
    INPUT_HOOKS,
    NO_STAGE,
    ROLE_HOOKS,
    STAGE_HOOKS,
    TEXT_HOOKS,
    HookEncoder,
)
from trietok.tokenizer.token_table import CurrentTable, TokenTable

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
        builds_by_methods: whether methods that a user has replaced make the model inputs instead.
        is_plain: whether neither `calls_methods` nor `builds_by_methods` is true.
        default_plan: the plan of a call for a text alone without options; None if calls do not go
            by it.
        front, back, limit: what `encode` needs for such a text: the special tokens around, and the
            number of ids above which a warning is logged.
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
                stage if isinstance(stage, Changeable) else NO_STAGE for stage in stages_of_words
            )
            self.basic: Any = basic
            # of its own type, to compare with
            given = getattr(basic, "never_split", None)
            self.never_split_given = set(given) if type(given) is set else copy.copy(given)
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
            self.encoder: Pipeline = before.encoder
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
        self._builder: InputBuilder | None = None
        if self.builds_by_methods:
            # Made at first use, because overridden methods of the template may tokenize themselves.
            self._make_builder = partial(self._new_builder, tokenizer, None)
        else:
            # Pieces that methods returned may be equal and of other types.
            kept = None if before.builds_by_methods else before.builder
            self._builder = self._new_builder(tokenizer, kept)
        self._builder_of_ids: InputBuilder | None = None
        self._plans: dict[Any, Plan] = {}
        self._last_plan: tuple[object, Any] = (None, None)
        splits = self._split_special_tokens and not isinstance(self.encoder, HookEncoder)
        self.call_encoder = self.encoder.as_text() if splits else self.encoder
        self._set_quick_way()

    @property
    def builder(self) -> InputBuilder:
        """What makes model inputs of ids."""
        if self._builder is None:
            self._builder = self._make_builder()
        return self._builder

    def _set_quick_way(self) -> None:
        """What `encode` needs for a text alone, where a default plan gives its ids."""
        self.default_plan: QuickPlan | None = None
        limited = isinstance(self._state.model_max_length, (int, float))  # else a call says so
        if (
            limited
            and self.is_plain
            and self.call_encoder is self.encoder
            and not isinstance(self.encoder, HookEncoder)
            and self.encoder.caches
        ):
            plan = self.builder.plan(DEFAULTS)
            if isinstance(plan, QuickPlan):
                self.default_plan = plan
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
        key, (last, plan) = (values, types), self._last_plan
        try:
            if key != last:  # most calls have the options of the one before
                plan = self._plans.get(key)
        except (TypeError, ValueError):  # a list, say, or an array, where there should be a number
            return self.builder.plan(CallOptions(*values))
        if plan is None:
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self.builder.plan(CallOptions(*values))
        self._last_plan = key, plan
        made: Plan = plan
        return made

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
            "basic": NO_STAGE,
            "never_split_given": frozenset(),
        }
        held.__dict__.update({"_itself": tokenizer, **self.__dict__, **given})
        return copied

    def by_methods(self, tokenizer: Any) -> OfOneState:
        """The tokenizer for `methods`, which call what the user has replaced, and take all else
        from this moment.
        """
        return OfOneState(self.__dict__.get("_itself", tokenizer), self._state, self.builder.plan)

    def _new_builder(self, tokenizer: Any, before: InputBuilder | None) -> InputBuilder:
        """A builder; the one before, with its plans, if it would be the same."""
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
        if before is not None and before.is_of(settings, tuple(pieces), tokenizer.warn_once):
            return before
        return InputBuilder(settings, *pieces, warn_once=tokenizer.warn_once)

    def _new_encoder(
        self, tokenizer: Any, has_foreign_stage: bool, before: Pipeline | None
    ) -> Pipeline:
        state = self._state
        words = self.table.pieces_mark, self.table.special_set, self._rests_on[1:]
        pipeline = state._pipeline_of(
            self.table,
            cache_limit=state.cache_limit,
            live=has_foreign_stage,
            depends_on=words,
            earlier=None if isinstance(before, HookEncoder) else before,
        )
        if self.goes_by_methods or pipeline is None:
            by_hooks: type[HookEncoder] = tokenizer._hook_encoder_class
            return by_hooks(tokenizer, self.table, pipeline, self._split_special_tokens)
        made: Pipeline = pipeline
        return made

    def __reduce__(self) -> Any:
        return _Never, ()  # a copy of the tokenizer makes a moment of its own

    def encoder_for(
        self,
        options: Mapping[str, Any],
        is_split_into_words: bool = False,
        known: Sequence[str] = OF_CALLS,
    ) -> Pipeline:
        """The encoder for a call with keywords that concern its texts; an error looks for those
        meant in `known`.
        """
        encoder = self.encoder
        if isinstance(encoder, HookEncoder):
            return encoder.with_options(options, is_split_into_words, known)
        as_text = self._split_special_tokens
        if options:
            left = {name: value for name, value in options.items() if name != "is_split_into_words"}
            as_text = left.pop("split_special_tokens", as_text)
            reject_unknown(left, known)
        return encoder.as_text() if as_text else encoder

    def stages_for(
        self, options: Mapping[str, Any], is_split_into_words: bool
    ) -> Callable[[str], tuple[Pipeline, str]]:
        """A function that gives the stages of a text, and the text that they are given; see
        `encoder_for`.
        """
        encoder = self.encoder_for(options, is_split_into_words)
        if isinstance(encoder, HookEncoder):
            return encoder.stages_for
        return lambda text: (encoder, text)


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
    own = tokenizer.__dict__
    kept: tuple[object, TokenTable, Any] | None = own["_derived"].get("state")
    if kept is not None and kept[0] is own["_own_version"].mark and kept[1] is tokenizer._table:
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
        attributes, _changes=CurrentTable(table, version), _own_version=version, _moment=NEVER
    )
    copied.__dict__["_derived"] = derived
    return copied


def _pad_id(tokenizer: Any, table: TokenTable) -> int | None:
    if is_replaced(tokenizer, ("pad_token", "pad_token_id")):
        return tokenizer.pad_token_id  # type: ignore[no-any-return]
    pad_token = table.roles.get("pad_token")
    return None if pad_token is None else tokenizer._ids_of_roles(table, str(pad_token))


class _Never:
    """The moment of a tokenizer that has made no moment yet."""

    encoder = None
    builder = None
    builds_by_methods = False
    mark = None
    version = Version()
    basic = NO_STAGE
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
