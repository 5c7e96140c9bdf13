"""What came of a command, and how it is written: as JSON, as plain lines, or as a table where a
person looks on.

In: what a command found; or texts, each with its tokens and ids. Out: what standard output is
given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from trietok.cli.output import (
    Result,
    json_line,
    on_one_line,
    on_terminal,
    said_of_profile,
    write_line,
    writing,
)
from trietok.disk import replacing
from trietok.errors import as_file_error

if TYPE_CHECKING:
    from trietok.cli.tables import Screen


def write_lines(lines: Iterable[str]) -> None:
    """Write lines that may hold what a user's files hold."""
    for line in lines:
        write_line(on_one_line(line))


def write_result(
    result: Any,
    as_json: bool,
    lines: Callable[[], Iterable[str]] | None = None,
    draw: Callable[[Screen], None] | None = None,
) -> None:
    """Write what came of a command, a report or a dict, in the form that suits who reads it: as one
    JSON object; in colour on a terminal, if there is `draw`; or as lines, by default those of the
    report.
    """
    ctx = click.get_current_context()
    if "trietok.page" in ctx.meta:
        # some commands have several results
        fragments = ctx.meta.setdefault("trietok.fragments", [])
        fragments.append(result.to_html())
        write_page(ctx.meta["trietok.page"], str(ctx.info_name), fragments)
    if as_json:
        print_json(result)
    elif draw is not None and on_terminal():
        on_screen(draw)
    else:
        write_lines(str(result).split("\n") if lines is None else lines())


def print_json(result: Any) -> None:
    """Write what came of a command as one line: `ok` says how it ended, `output` where it has
    written.
    """
    values = result if isinstance(result, dict) else result.to_dict()
    answers = {"ok": values.get("ok", values.get("same_ids", getattr(result, "ok", True)))}
    output = click.get_current_context().params.get("output")
    answers |= {} if output is None else {"output": output}
    write_line(json_line({**answers, **said_of_profile(), **values}))


_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width,initial-scale=1"><title>trietok {}</title>'
    "<style>body{{margin:12px;background:#fff}}@media(prefers-color-scheme:dark){{body{{background:#0d0f12}}}}</style>"
    "</head><body>{}</body></html>\n"
)


def write_page(path: str, command: str, fragments: Iterable[str]) -> None:
    """Write what a command found as a page for a browser."""
    with as_file_error(f"cannot write {path!r}", path), replacing(path) as file:
        file.write(_PAGE.format(command, "".join(fragments)).encode("utf-8"))


def on_screen(draw: Callable[[Screen], None]) -> None:
    """Have something drawn on the terminal."""
    from trietok.cli.tables import Screen  # only where somebody looks: rich takes long to import

    with writing():
        draw(Screen())


def printer(
    tokenizer: Any, as_json: bool, plain: Callable[[Result], str]
) -> Callable[[Result], None]:
    """What to call for each result: it writes JSON lines, tables where a person looks on, or else
    `plain` lines.
    """
    if as_json:
        return lambda result: write_line(result.to_json(profile=tokenizer.profile))
    if not on_terminal():
        return lambda result: write_line(plain(result))
    from trietok.cli.tables import TokenTables

    tables = TokenTables(tokenizer)

    def write_table(result: Result) -> None:
        with writing():
            tables.write(result)

    return write_table


def shows_all(as_json: bool) -> bool:
    """Whether a `Result` is written with its tokens and its ids; else a line has only one of them,
    or the text.
    """
    return as_json or on_terminal()
