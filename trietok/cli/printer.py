"""How results are written: as JSON lines, as plain lines, or as tables where a person looks at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trietok.cli.output import Result, on_terminal, write_line, writing


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
    from trietok.cli.tables import TokenTables  # rich takes long to import

    tables = TokenTables(tokenizer)

    def write_table(result: Result) -> None:
        with writing():
            tables.write(result)

    return write_table
