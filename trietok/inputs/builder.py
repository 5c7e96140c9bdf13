"""`InputBuilder`: the plans of calls of one state of a tokenizer.

In: the settings of a tokenizer and the options of a call. Out: a `Plan`, or a `QuickPlan` where the
options allow it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trietok.inputs.input_state import InputSettings, InputState
from trietok.inputs.options import (
    CallOptions,
    resolve_strategies,
)
from trietok.inputs.plan import Plan
from trietok.inputs.quick_plan import QuickPlan
from trietok.inputs.template import RowPiece

MOST_PLANS = 64


class InputBuilder(InputState):
    """Makes plans for one state of a tokenizer. It never changes: a tokenizer whose settings change
    makes another one.

    Its arguments are those of `InputState`.

    >>> from trietok.inputs.profiles import SLOW
    >>> settings = InputSettings(
    ...     ("input_ids", "attention_mask"), "right", "right", 512, 0, "[PAD]", 0, SLOW
    ... )
    >>> cls, sep = RowPiece(0, token="[CLS]", token_id=2), RowPiece(0, token="[SEP]", token_id=3)
    >>> single = (cls, RowPiece(0, sequence=0), sep)
    >>> builder = InputBuilder(
    ...     settings,
    ...     single,
    ...     (*single, RowPiece(1, sequence=1), sep),
    ...     warn_once=lambda key, text: None,
    ... )
    >>> builder.plan(CallOptions(truncation=True, max_length=4)).from_ids([7, 8, 9])
    {'input_ids': [2, 7, 8, 3], 'attention_mask': [1, 1, 1, 1]}
    """

    def __init__(
        self,
        settings: InputSettings,
        single: tuple[RowPiece, ...],
        pair: tuple[RowPiece, ...],
        *,
        warn_once: Callable[[str, str], None],
        special_counts: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(settings, single, pair, warn_once=warn_once, special_counts=special_counts)
        self._plans: dict[Any, Plan] = {}

    def plan(self, options: CallOptions) -> Plan:
        """The plan for a call with these options, the same one for the same options; see
        `resolve_strategies`.
        """
        # Equal options share a plan. 8.0 equals 8 and True equals 1, but for some options only one
        # of the two is valid: the key holds the types of those.
        _, padding, truncation, max_length, stride, _, multiple_of, *_ = options
        key = (
            options,
            type(padding),
            type(truncation),
            type(max_length),
            type(stride),
            type(multiple_of),
        )
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
            self,
            *options[1:4],
            pad_to_multiple_of=options.pad_to_multiple_of,
            verbose=options.verbose,
        )
        kind = QuickPlan if QuickPlan.does(self, options, strategies) else Plan
        return kind(self, options, strategies)
