"""What became of a text, and how it is written: as a JSON line, a plain line, or a table where a person looks on.

In: texts with their tokens and ids. Out: what standard output is given for each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from trietok.cli.output import json_line, on_terminal, write_line, writing

Place = tuple[int, int, int] | None  # the text, and the half-open span in it; None for a special token


class Result(NamedTuple):
    """A text, or a pair, and what it was turned into; tokens and ids may be empty where nobody will see them."""

    text: str
    tokens: list[str]
    ids: list[int]
    text_pair: str | None = None
    token_type_ids: list[int] | None = None
    places: list[Place] | None = None

    def to_json(self) -> str:
        r"""One line of JSON.

        >>> print(Result("東\u2028", ["[UNK]"], [1]).to_json())
        {"text": "東\u2028", "tokens": ["[UNK]"], "input_ids": [1]}
        """
        values: dict[str, Any] = {"text": self.text, "tokens": self.tokens, "input_ids": self.ids}
        if self.text_pair is not None:
            values = {"text": self.text, "text_pair": self.text_pair, **values, "token_type_ids": self.token_type_ids}
        return json_line(values)


def printer(tokenizer: Any, as_json: bool, plain: Callable[[Result], str]) -> Callable[[Result], None]:
    """How results are to be written: what to call for each.

    Args:
        tokenizer: tells the tables which tokens are special.
        as_json: as JSON lines, wherever they go.
        plain: the line for a result that goes to a file or a pipe.
    """
    if as_json:
        return lambda result: write_line(result.to_json())
    if not on_terminal():
        return lambda result: write_line(plain(result))
    from trietok.cli.tables import TokenTables

    tables = TokenTables(tokenizer)

    def write_table(result: Result) -> None:
        with writing():
            tables.write(result)

    return write_table


def shows_all(as_json: bool) -> bool:
    """Whether a `Result` is written with its tokens and its ids; else a line has only one of them, or the text."""
    return as_json or on_terminal()
