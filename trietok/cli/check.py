"""`trietok check`: what is wrong with a tokenizer's files, and a repaired copy of them."""

from __future__ import annotations

import os
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.output import json_line, on_terminal, reporting, visible, write_line, writing
from trietok.files.load import BUILT_IN_NAMES, nothing_there

_FOUND = 1
_CHANGES = 20  # so many changes are shown one by one
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@click.command()
@click.argument("path", type=options.PATH, metavar="NAME_OR_DIR")
@click.option("--fix", is_flag=True, help="Write a repaired copy; needs --output.")
@options.output("With --fix: the directory to write, new or empty.")
@click.option("--renumber", is_flag=True, help="With --fix: drop duplicate and blank lines, which moves ids.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, with every finding.")
@click.option("--all", "every", is_flag=True, help="Show each finding, and not a few of many alike.")
@click.pass_context
def check(
    ctx: click.Context, path: str, fix: bool, output: str | None, renumber: bool, as_json: bool, every: bool
) -> None:
    """Find contradictions in a tokenizer's files, and repair them.

    NAME_OR_DIR is a tokenizer's directory, a vocab.txt or a built-in name, and stays as it is; --fix writes a repaired
    copy. The exit code is 1 if there are errors (with --fix, in the copy), and 0 if not.

    \b
    Examples:
      trietok check my-tokenizer
      trietok check my-tokenizer --fix --output repaired
    """
    with reporting():
        if renumber and not fix:
            ctx.fail("--renumber needs --fix.")
        if fix != (output is not None):
            ctx.fail("--fix and --output go together: --fix --output DIR.")
        if path and path not in BUILT_IN_NAMES and not os.path.lexists(path):
            raise nothing_there(path)
        if output is None:
            report = trietok.check(path)
            result: Any = report
        else:
            result = trietok.fix(path, output, renumber=renumber)
            report = result.after
        if as_json:
            write_line(json_line(result.to_dict()))
        elif on_terminal():
            _write_table(report, result if fix else None, every)
        else:
            for line in (report.text(every) if result is report else str(result)).split("\n"):
                write_line(visible(line))
    if not report.ok:
        raise click.exceptions.Exit(_FOUND)


def _write_table(report: trietok.CheckReport, result: trietok.FixResult | None, every: bool) -> None:
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
        for severity, code, lines in report.groups(every):
            text = Text("\n".join(map(visible, lines)))
            table.add_row(Text(severity, style=_STYLES[severity]), Text(code, style="bold"), text)
        console.print(table)
