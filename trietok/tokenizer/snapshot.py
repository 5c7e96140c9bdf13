"""A tokenizer as it is at one time: what a call uses from beginning to end.

A tokenizer keeps its last `Snapshot`. A call compares what the snapshot was made of with what the
tokenizer has now: the table of tokens by identity, and the marks that are renewed when an attribute
of the tokenizer or of a stage is set. If something differs, the call makes another snapshot, which
takes over the caches that are still valid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from trietok.inputs.batch import Call
from trietok.inputs.flat import FlatCall
from trietok.inputs.options import OF_CALLS, CallOptions, reject_unknown
from trietok.inputs.settings import SLOW, InputSettings
from trietok.inputs.template import RowPiece
from trietok.text.pipeline import Pipeline
from trietok.text.watched import Watched, is_ours, marks_of
from trietok.tokenizer import hooked
from trietok.tokenizer.hooked import HookedPipeline
from trietok.tokenizer.token_table import TokenTable

# attributes that ids depend on, beside those of the stages
_OPTIONS = (
    "do_basic_tokenize",
    "do_subword_tokenize",
    "lower_case",
    "do_lower_case",
    "cache_limit",
)
_MOST_CALLS = 64
DEFAULTS = CallOptions()
# attributes that a snapshot reads, and that a subclass may compute
_READ = (
    *("padding_side", "truncation_side", "model_max_length", "model_input_names"),
    *("pad_token_type_id", "split_special_tokens"),
)


class _NoStage(Watched):
    """In place of a basic or WordPiece tokenizer that does not exist, or is no stage of trietok."""

    never_split: frozenset[str] = frozenset()


NO_STAGE: Any = _NoStage()


class Snapshot:
    """A tokenizer as it is now.

    Args:
        tokenizer: the tokenizer.
        before: the snapshot before, whose caches are used again if they are still valid.

    Attributes:
        table: its tokens.
        pipeline: text → ids, tokens, spans.
        call_pipeline: that of a call without keywords that concern its texts.
        calls_methods: whether calls go through an `encode_plus` or `batch_encode_plus` that a user
            has overridden.
        builds_by_methods: whether methods that a user has overridden make the model inputs.
        prepares_by_methods: the same of `prepare_for_model`.
        is_plain: whether neither `calls_methods` nor `builds_by_methods` is true.
        has_own_code: whether some method or stage is a user's own.
        default_call: the call for a text alone without options; None if `encode` needs more.
        front, back: the special tokens around such a text.
        limit: the `limit` of that call.
    """

    def __init__(self, tokenizer: Any, before: Snapshot | None) -> None:
        self._tokenizer = tokenizer
        # The marks are read first: a change after that makes the next call look again.
        self.mark = marks_of(tokenizer).mark
        stages = [tokenizer.__dict__.get(name) for name in tokenizer._stage_names]
        self.basic: Any
        self.wordpiece: Any
        self.basic, self.wordpiece = (
            stage if isinstance(stage, Watched) else NO_STAGE for stage in stages
        )
        self.basic_marks, self.wordpiece_marks = marks_of(self.basic), marks_of(self.wordpiece)
        self.basic_mark, self.wordpiece_mark = self.basic_marks.mark, self.wordpiece_marks.mark
        given = getattr(self.basic, "never_split", None)
        self.never_split = type(given)(given) if given is not None else None  # of the same type
        self.names = list(tokenizer.model_input_names)
        self.table: TokenTable = tokenizer._tokens.committed
        has_foreign_stage = any(
            stage is not None
            and (not isinstance(stage, Watched) or stage.overrides(*hooked.STAGE_HOOKS))
            for stage in stages
        )
        goes_by_methods = (
            not tokenizer._has_stages
            or tokenizer.overrides(*hooked.TEXT_HOOKS)
            or (has_foreign_stage and tokenizer.profile == "slow")
        )
        self._as_text = bool(tokenizer.split_special_tokens)
        # Everything that ids depend on beside the table.
        self._depends_on = (
            *(self.basic, self.basic_mark, self.wordpiece, self.wordpiece_mark),
            frozenset(self.never_split or ()),
            goes_by_methods or has_foreign_stage,
            *(getattr(tokenizer, name, None) for name in _OPTIONS),
        )
        is_same = (
            before is not None
            and before.table is self.table
            and before._depends_on == self._depends_on
            and not goes_by_methods
        )
        if before is not None and is_same:
            self.pipeline: Pipeline = before.pipeline
        else:
            self.pipeline = self._new_pipeline(
                tokenizer,
                has_foreign_stage,
                goes_by_methods,
                None if before is None else before.pipeline,
            )
        basic = getattr(self.pipeline, "basic", None)
        if not self.is_current() or (
            basic is not None and {*basic.never_split} != {*(self.never_split or ())}
        ):
            # Another thread has set something: the pipeline may be that of neither state.
            self._depends_on = (object(),)
        if any(_is_computed(type(tokenizer), name) for name in _READ):
            self.mark = object()  # the next call reads them again
        self.calls_methods = tokenizer.overrides(*hooked.CALL_HOOKS)
        # `prepare_for_model` goes by the methods in both profiles; a call of the fast profile does
        # not.
        self.prepares_by_methods = not hasattr(tokenizer, "_input_pieces") or tokenizer.overrides(
            *hooked.INPUT_HOOKS, *hooked.ROLE_HOOKS
        )
        self.builds_by_methods = self.prepares_by_methods and tokenizer.profile == "slow"
        self.is_plain = not (self.calls_methods or self.builds_by_methods)
        self.has_own_code = not self.is_plain or has_foreign_stage or goes_by_methods
        splits = self._as_text and not isinstance(self.pipeline, HookedPipeline)
        self.call_pipeline = self.pipeline.as_text() if splits else self.pipeline
        self._calls: dict[Any, Call] = {}
        self._last_call: tuple[object, Any] = (None, None)
        self._settings: InputSettings | None = None
        if not self.builds_by_methods:  # else made at first use: methods may tokenize themselves
            self._settings = self._new_settings()
            kept = before._settings if before and not before.builds_by_methods else None
            if before is not None and kept is not None and _are_same(kept, self._settings):
                self._settings, self._calls = kept, before._calls
        self.default_call: Call | None = None
        self._set_default_call()

    def __reduce__(self) -> Any:
        raise TypeError("a snapshot cannot be copied or pickled; pickle its tokenizer")

    def is_current(self) -> bool:
        """Return whether this is the tokenizer as it is now."""
        own = self._tokenizer.__dict__  # `__getattr__` makes other ways to attributes slow
        return (
            self.table is own["_tokens"].committed
            and self.mark is own["_marks"].mark
            and self.basic_mark is self.basic_marks.mark
            and self.wordpiece_mark is self.wordpiece_marks.mark
            # these two may be changed in place
            and self.never_split == self.basic.never_split
            and self.names == self._tokenizer.model_input_names
        )

    def _new_pipeline(
        self,
        tokenizer: Any,
        has_foreign_stage: bool,
        goes_by_methods: bool,
        before: Pipeline | None,
    ) -> Pipeline:
        words = self.table.pieces_mark, self.table.special_set, self._depends_on
        pipeline: Pipeline | None = tokenizer._pipeline_of(
            self.table,
            live=has_foreign_stage,
            cache_limit=tokenizer.cache_limit,
            depends_on=words,
            earlier=None if isinstance(before, HookedPipeline) else before,
        )
        if goes_by_methods or pipeline is None:
            kind: type[HookedPipeline] = tokenizer._hooked_pipeline_class
            return kind(tokenizer, self.table, pipeline, self._as_text)
        return pipeline

    # ---- calls -----------------------------------------------------------------------------------

    @property
    def settings(self) -> InputSettings:
        """What model inputs depend on."""
        if self._settings is None:
            self._settings = self._new_settings()
        return self._settings

    def _new_settings(self) -> InputSettings:
        tokenizer, table = self._tokenizer, self.table
        pad_token = table.roles.get("pad_token")
        if self.builds_by_methods:
            single, pair = (hooked.pieces_by_methods(tokenizer, each) for each in (False, True))
        else:
            single, pair = tokenizer._input_pieces(table)
        return InputSettings(
            model_input_names=tuple(self.names),
            padding_side=tokenizer.padding_side,
            truncation_side=tokenizer.truncation_side,
            model_max_length=tokenizer.model_max_length,
            pad_token_id=_pad_id(tokenizer, table),
            pad_token=None if pad_token is None else str(pad_token),
            pad_token_type_id=tokenizer.pad_token_type_id,
            rules=tokenizer._input_rules,
            single=single,
            pair=pair,
            special_counts=(len(single) - 1, len(pair) - 2),
        )

    def pieces(self, pair: bool) -> tuple[RowPiece, ...]:
        """Return the special tokens around one text, or two, and the texts, in order."""
        return self.settings.pieces(pair)

    def call(self, options: CallOptions) -> Call:
        """Return the call with these options, the same one for the same options."""
        _, padding, truncation, max_length, stride, _, multiple_of, *_ = options
        return self.quick_call(
            tuple(options), tuple(map(type, (padding, truncation, max_length, stride, multiple_of)))
        )

    def quick_call(self, values: tuple[Any, ...], types: tuple[type, ...]) -> Call:
        """Return the call with these values of `CallOptions`.

        Of equal values of other types, such as 1 and True, some are errors: `types` has those of
        all that matter.
        """
        key, (last, call) = (values, types), self._last_call
        try:
            if key != last:  # most calls have the options of the one before
                call = self._calls.get(key)
        except (TypeError, ValueError):  # a list, say, or an array, where there should be a number
            return Call(self.settings, CallOptions(*values), self._tokenizer.warn_once)
        if call is None:
            call = Call(self.settings, CallOptions(*values), self._tokenizer.warn_once)
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            self._calls[key] = call
        self._last_call = key, call
        made: Call = call
        return made

    def call_of_ids(self, options: CallOptions) -> Call:
        """Return the call of `prepare_for_model`, which follows the slow profile in both."""
        settings = self.settings
        if settings.rules is not SLOW:
            single, pair = self._tokenizer._template_pieces(self.table)
            settings = settings._replace(rules=SLOW, single=single, pair=pair)
        return Call(settings, options, self._tokenizer.warn_once)

    def flat_call(self, options: CallOptions) -> FlatCall | None:
        """Return what makes the rows of texts as runs of bytes; None where only calls are right."""
        if self.has_own_code or not self.call_pipeline.caches:
            return None
        return FlatCall.of(self.call(options))

    def _set_default_call(self) -> None:
        """Set what `encode` needs for a text alone."""
        is_limited = isinstance(
            self._tokenizer.model_max_length, (int, float)
        )  # else a call says so
        is_usual = self.call_pipeline is self.pipeline and self.pipeline.caches
        if is_limited and self.is_plain and is_usual:
            call = self.call(DEFAULTS)
            frame = call.frames[False]
            ids = [token_id for group in frame.ids for token_id in group]
            if frame.order == (0,) and None not in ids:
                self.default_call, self.limit = call, call.limit
                self.front, self.back = frame.ids

    # ---- texts -----------------------------------------------------------------------------------

    def pipeline_for(
        self,
        options: Mapping[str, Any],
        is_split_into_words: bool = False,
        known: Sequence[str] = OF_CALLS,
    ) -> Pipeline:
        """Return the pipeline for a call with keywords that concern its texts; an error looks among
        the `known` ones for what may be meant.
        """
        pipeline = self.pipeline
        if isinstance(pipeline, HookedPipeline):
            return pipeline.with_options(options, is_split_into_words, known)
        as_text = self._as_text
        if options:
            left = {name: value for name, value in options.items() if name != "is_split_into_words"}
            as_text = left.pop("split_special_tokens", as_text)
            reject_unknown(left, known)
        return pipeline.as_text() if as_text else pipeline

    def stages_for(
        self, options: Mapping[str, Any], is_split_into_words: bool
    ) -> Callable[[str], tuple[Pipeline, str]]:
        """Return a function that gives the pipeline by which a text is explained, and the text that
        it is given; see `pipeline_for`.
        """
        pipeline = self.pipeline_for(options, is_split_into_words)
        if isinstance(pipeline, HookedPipeline):
            return pipeline.stages_for
        return lambda text: (pipeline, text)


def _is_computed(kind: type, name: str) -> bool:
    """Return whether an attribute is a property of a user's class."""
    found = getattr(kind, name, None)
    return isinstance(found, property) and not is_ours(found.fget)


def _are_same(one: InputSettings, other: InputSettings) -> bool:
    """Return whether settings are equal, and of equal types: of 1 and True one is an error."""
    return one == other and [*map(type, one)] == [*map(type, other)]


def _pad_id(tokenizer: Any, table: TokenTable) -> int | None:
    if tokenizer.overrides("pad_token", "pad_token_id"):
        return tokenizer.pad_token_id  # type: ignore[no-any-return]
    pad_token = table.roles.get("pad_token")
    return None if pad_token is None else tokenizer._ids_of_roles(table, str(pad_token))
