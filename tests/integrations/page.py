"""The table of `docs/clients.md`: its lines of code, which the tests run as the page prints
them.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from tests.integrations.conftest import is_five

PAGE = Path(__file__).parents[2] / "docs" / "clients.md"
_SETS = re.compile(r"[\w.\[\]]+ = ")
_ROW = re.compile(
    r"^\| (?P<client>[^|]+) \| (?P<versions>[^|]+) \| `(?P<line>[^`]+)` \|", re.MULTILINE
)


def rows() -> dict[str, str]:
    """Each client of the table, and its line."""
    found = [
        (row["client"].strip().replace("`", ""), row["line"])
        for row in _ROW.finditer(PAGE.read_text("utf-8"))
    ]
    assert len(dict(found)) == len(found), "a client has two rows"
    return dict(found)


def run_line(client: str, tokenizer: Any, **names: Any) -> Any:
    """Run the line that the page prints for a client, and return its value if it has one.

    With transformers' own tokenizer, `to_transformers` is nothing, and `to_rust` its Rust object.

    Args:
        client: the first column of its row, without backquotes.
        tokenizer: trietok's or transformers'.
        **names: what else the line speaks of.
    """
    from trietok.clients import to_rust, to_transformers

    line = rows()[client]
    space: dict[str, Any] = {"tokenizer": tokenizer}
    if hasattr(tokenizer, "profile"):  # trietok's
        is_slow = tokenizer.profile == "slow"
        space["to_rust"] = partial(to_rust, allow_differences=is_slow)
        space["to_transformers"] = to_transformers
    else:
        space["to_rust"] = lambda tokenizer: tokenizer.backend_tokenizer
        space["to_transformers"] = lambda tokenizer: tokenizer
    space |= names
    if _SETS.match(line):
        exec(line, space)
        return None
    return eval(line, space)


def saved_anyway(tokenizer: Any) -> dict[str, Any]:
    """What `to_transformers` is in a line whose client saves the tokenizer: with the option that
    the page names.
    """
    from trietok.clients import to_transformers

    is_allowed = tokenizer.profile == "slow" and is_five()
    return {"to_transformers": partial(to_transformers, allow_differences=is_allowed)}
