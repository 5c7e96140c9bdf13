"""`trietok check`: what is wrong with a tokenizer's files, and a repaired copy of them."""
# ruff: noqa: UP045

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

import trietok
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.reporting import reporting

_FOUND = 1
_CHANGES = 20  # so many changes are shown one by one
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}

Checked = Annotated[
    str,
    typer.Argument(
        metavar="DIR_OR_FILE", help="A tokenizer's directory, a vocab.txt or a built-in name.", show_default=False
    ),
]
Out = Annotated[
    Optional[str],
    typer.Option("--fix", metavar="OUT", help="Write a repaired copy to a new directory.", show_default=False),
]
Renumber = Annotated[
    bool, typer.Option("--renumber", help="With --fix: drop duplicate and blank lines, so that ids move.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object, with every finding.")]


def check(
    ctx: typer.Context, path: Checked, fix: Out = None, renumber: Renumber = False, as_json: AsJson = False
) -> None:
    """Look for contradictions in a tokenizer's files: 1 if there are errors, 0 if not.

    Nothing is changed; with --fix a repaired copy is written, and the exit code is that of the copy.
    """
    with reporting():
        if renumber and fix is None:
            ctx.fail("--renumber goes with --fix OUT.")
        if fix is None:
            report = trietok.check(path)
            result: Any = report
        else:
            result = trietok.fix(path, fix, renumber=renumber)
            report = result.after
        if as_json:
            write_line(json_line(result.to_dict()))
        elif on_terminal():
            _write_table(report, None if fix is None else result)
        else:
            for line in str(result).split("\n"):
                write_line(visible(line))
    if not report.ok:
        raise typer.Exit(_FOUND)


def _write_table(report: trietok.CheckReport, result: trietok.FixResult | None) -> None:
    """For a terminal: a row for each kind of finding."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        if result is not None:
            console.print(Text(f"written to {visible(result.out)}", style="bold green"))
            for change in result.changes[:_CHANGES]:
                console.print(Text(f"  {visible(change)}"))
            if len(result.changes) > _CHANGES:
                console.print(Text(f"  ... and {len(result.changes) - _CHANGES:,} more", style="dim"))
            console.print()
        style = "bold green" if report.ok else "bold red"
        console.print(Text.assemble((f"{visible(report.path)}: ", "bold"), (report.summary, style)))
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for severity, code, lines in report.groups():
            text = Text("\n".join(map(visible, lines)))
            table.add_row(Text(severity, style=_STYLES[severity]), Text(code, style="bold"), text)
        console.print(table)
