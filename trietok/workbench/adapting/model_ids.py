"""The ids that a model's configuration holds, after its rows have been planned anew.

In: the values of config.json or generation_config.json, or the attributes of such an object. Out: those that change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError

if TYPE_CHECKING:
    from trietok.workbench.adapting.row_plan import RowPlan

_ENDINGS = ("_token_id", "_token_ids")
_OTHERS = frozenset(("suppress_tokens", "begin_suppress_tokens", "bad_words_ids"))
# What a model's class takes where config.json does not say; those of Funnel and LXMERT take nothing.
_PAD, _QUESTION = "pad_token_id", "question_token_id"
_DEFAULTS = {
    **{name: {_PAD: 0} for name in "bert distilbert dpr electra layoutlm mobilebert retribert squeezebert".split()},
    "convbert": {_PAD: 1},
    "splinter": {_PAD: 0, _QUESTION: 104},
}
_MPNET_PAD = 1


def moved_ids(
    values: Mapping[str, Any], plan: RowPlan, *, where: str, tokenizer: Any = None, is_model: bool = True
) -> dict[str, Any]:
    """The ids among the values of a configuration that change, with what they are to be.

    Args:
        values: the configuration.
        plan: where the rows go.
        where: how an error names the configuration.
        tokenizer: tells the id of a role where the plan loses the row of the old one.
        is_model: whether it is that of the model, whose class has ids that it takes where none are given.

    Raises:
        InputError: the row of an id is lost, and no tokenizer says what is to be instead; or the model's class has an
            id built in, and the plan moves it.

    >>> from trietok.workbench.adapting.row_plan import RowPlan
    >>> moved_ids({"pad_token_id": 0, "vocab_size": 3}, RowPlan("A", "B", 3, 3, [1, 0, 2]), where="config.json")
    {'pad_token_id': 1}
    """
    new_ids = plan.new_rows_of()
    kind = values.get("model_type") if is_model else None
    if kind == "mpnet" and plan.rows_before > _MPNET_PAD and new_ids.get(_MPNET_PAD) != _MPNET_PAD:
        raise InputError(
            "MPNet takes the id 1 for padding, whatever its configuration says, and the plan moves that row; give a "
            "tokenizer whose padding token has the id 1"
        )

    def moved(key: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [moved(key, each) for each in value]
        if type(value) is not int or not 0 <= value < plan.rows_before:
            return value  # None, or an id that means nothing to this vocabulary
        if value in new_ids:
            return new_ids[value]
        role = key.removesuffix("_id")
        if tokenizer is None or not key.endswith("_token_id"):
            raise InputError(
                f"{where} has {key} {value}, and the plan drops that row; give the new tokenizer too (tokenizer=..., "
                "--tokenizer), which has another token in that role, or change the configuration first"
            )
        token = getattr(tokenizer, role, None)
        return None if token is None else tokenizer.convert_tokens_to_ids(str(token))

    ids = {key: value for key, value in values.items() if key.endswith(_ENDINGS) or key in _OTHERS}
    defaults = _DEFAULTS.get(kind, {}) if isinstance(kind, str) else {}
    ids = {key: value for key, value in defaults.items() if key not in values} | ids
    return {key: new for key, value in ids.items() if (new := moved(key, value)) != value}
