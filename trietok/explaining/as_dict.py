"""An explanation as plain values, which can be written as JSON; `docs/explaining.md` documents the schema.

In: an `Explanation`. Out: dicts, lists, strings and numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trietok.explaining.explanation import Explanation, Stage
    from trietok.explaining.values import Token


def dict_of(explanation: Explanation) -> dict[str, Any]:
    """All of an explanation."""
    truncation = explanation.truncation
    return {
        "tokenizer": explanation.tokenizer,
        "name": explanation.name,
        "profile": explanation.profile,
        "input_ids": explanation.input_ids,
        "template": list(explanation.template),
        "truncation": {**truncation._asdict(), "removed": list(truncation.removed)},
        "texts": [
            {
                "text": text.text,
                "stages": [_stage(stage) for stage in text.stages],
                "tokens": [_token(token) for token in text.tokens],
            }
            for text in explanation.texts
        ],
        "rows": [[_place(token) for token in row] for row in explanation.rows],
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "name": stage.name,
        "title": stage.title,
        "given": stage.given,
        "gave": stage.gave,
        "changes": [change.to_dict() for change in stage.changes],
        "found": [each._asdict() for each in stage.found],
        "rejected": [{**each._asdict(), "touching": list(each.touching)} for each in stage.rejected],
    }


def _token(token: Token) -> dict[str, Any]:
    values = token._asdict()
    for name in ("cut", "match", "unknown", "added"):
        values[name] = None if values[name] is None else _listed(values[name]._asdict())
    values["rejected"] = [_listed(each._asdict()) for each in token.rejected]
    return {**values, "story": token.story}


def _place(token: Token) -> dict[str, Any]:
    """A token of a row: those of a text are told of among its tokens, at `position`."""
    names = ("token", "id", "kind", "type_id", "text", "position")
    return {name: getattr(token, name) for name in names}


def _listed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
