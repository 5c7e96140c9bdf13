"""`InputBuilder` holds the template, sides and lengths of a tokenizer and caches a `Plan` per set of options.

In: the settings of a tokenizer at one moment, and the options of a call. Out: a `Plan`, which turns texts and ids into
model inputs. A builder never changes: a tokenizer whose settings change makes another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from trietok.inputs.options import CallOptions, resolve_strategies
from trietok.inputs.pieces import Piece
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import WindowRule
from trietok.inputs.quick_plan import QuickPlan

MOST_PLANS = 64


class InputSettings(NamedTuple):
    """The settings of a tokenizer that model inputs depend on, apart from the template.

    Attributes:
        model_input_names: the columns that a call returns unless it is told otherwise; the first is `input_ids`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_max_length: in tokens; more than 1e20 for no limit.
        pad_token_id, pad_token, pad_token_type_id: the values of padding; None where there is no padding token.
        windows: the rules of the profile.
    """

    model_input_names: tuple[str, ...]
    padding_side: str
    truncation_side: str
    model_max_length: int
    pad_token_id: int | None
    pad_token: str | None
    pad_token_type_id: int
    windows: WindowRule


class InputBuilder:
    """Makes model inputs from ids, for one state of a tokenizer.

    Args:
        settings: those of the tokenizer.
        single, pair: the pieces of a row of one text, and of two.
        warn_once: logs a message the first time it gets that key.
        special_counts: how many special tokens truncation makes room for, around one text and around two, if that
            differs from the template.

    Attributes:
        lacks_ids: whether a special token of a template has no id.

    >>> from trietok.inputs.profiles import SLOW
    >>> settings = InputSettings(("input_ids", "attention_mask"), "right", "right", 512, 0, "[PAD]", 0, SLOW)
    >>> cls, sep = Piece(0, token="[CLS]", token_id=2), Piece(0, token="[SEP]", token_id=3)
    >>> single = (cls, Piece(0, sequence=0), sep)
    >>> builder = InputBuilder(settings, single, (*single, Piece(1, sequence=1), sep), warn_once=lambda key, text: None)
    >>> builder.plan(CallOptions(truncation=True, max_length=4)).from_ids([7, 8, 9])
    {'input_ids': [2, 7, 8, 3], 'attention_mask': [1, 1, 1, 1]}
    """

    def __init__(
        self,
        settings: InputSettings,
        single: tuple[Piece, ...],
        pair: tuple[Piece, ...],
        *,
        warn_once: Callable[[str, str], None],
        special_counts: tuple[int, int] | None = None,
    ) -> None:
        self.settings = settings
        self.warn_once = warn_once
        self._templates = (single, pair)
        self._special_counts = special_counts or (len(single) - 1, len(pair) - 2)
        self._plans: dict[Any, Plan] = {}
        self.lacks_ids = any(piece.sequence is None and piece.token_id is None for piece in (*single, *pair))
        self.model_max_length = settings.model_max_length
        self.pad_token_id = settings.pad_token_id

    def pieces(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]:
        """The pieces of a row of one text, or of a pair."""
        pieces = self._templates[pair]
        if add_special_tokens:
            return pieces
        texts = [piece for piece in pieces if piece.sequence is not None]
        return tuple(texts if self.settings.windows.types_stay else [text._replace(type_id=0) for text in texts])

    def special_count(self, pair: bool) -> int:
        """How many special tokens truncation makes room for."""
        return self._special_counts[pair]

    def plan(self, options: CallOptions) -> Plan:
        """The plan for a call with these options, the same one for the same options.

        Raises:
            InputError: a strategy is unknown, or a length cannot be.
            SpecialTokenError: padding is asked for and there is no padding token.
        """
        # Equal options share a plan. 8.0 equals 8 and True equals 1, but for some options only one of the two is valid:
        # the key holds the types of those.
        _, padding, truncation, max_length, stride, _, multiple_of, *_ = options
        key = (options, type(padding), type(truncation), type(max_length), type(stride), type(multiple_of))
        try:
            plan = self._plans.get(key)
        except TypeError:  # a list, say, where there should be a number: resolving says so
            return self._new_plan(options)
        if plan is None:
            plan = self._new_plan(options)
            if len(self._plans) >= MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _new_plan(self, options: CallOptions) -> Plan:
        options = CallOptions(*options).of_ints()
        strategies = resolve_strategies(
            self, *options[1:4], pad_to_multiple_of=options.pad_to_multiple_of, verbose=options.verbose
        )
        kind = QuickPlan if QuickPlan.does(self, options, strategies) else Plan
        return kind(self, options, strategies)
