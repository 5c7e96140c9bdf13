"""`trietok check`: what is wrong with a tokenizer's files, and a repaired copy of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.output import FOUND
from trietok.cli.results import write_result
from trietok.files import formats
from trietok.files.model_files import BUILT_IN_NAMES, find_files

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

_ON_THE_HUB = (*formats.TOKENIZER_FILES, formats.CONFIG_FILE)
_CHANGES = 20  # so many changes are shown one by one
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}


@options.command()
@options.required_model
@options.flag("--fix", help="Write a repaired copy, or finish an interrupted save.")
@options.writes("With --fix: the directory for the repaired copy.", required=False)
@options.flag("--renumber", help="With --fix: drop duplicate and blank lines, which moves ids.")
@options.flag("--all", "every", help="Show each finding, and not a few of many alike.")
@options.page
@options.json_offline
def check(
    model: str, fix: bool, output: str | None, renumber: bool, as_json: bool, every: bool
) -> None:
    """Find contradictions in a tokenizer's files, and repair them.

    The files stay as they are; --fix writes a repaired copy. Without --output, --fix finishes a
    save to the directory that was interrupted. The exit code is 1 if there are errors (with --fix,
    in what was written), and 0 if not.

    \b
    Examples:
      trietok check -m my-tokenizer
      trietok check -m my-tokenizer --fix -o repaired
    """
    if renumber and not fix:
        raise click.UsageError("--renumber needs --fix.")
    if renumber and output is None:
        raise click.UsageError("--renumber needs --output.")
    if output is not None and not fix:
        raise click.UsageError("--output needs --fix.")
    path = model
    if model not in BUILT_IN_NAMES and not os.path.lexists(model):  # on the hub
        path = os.path.dirname(min(find_files(model, _ON_THE_HUB).found.values(), key=len))
    if not fix:
        report = trietok.check(path)
        report.path = model
        result: Any = report
    else:
        result = _fixed(path, output, renumber)
        report = result.after
    write_result(
        result,
        as_json,
        lambda: (report.text(every) if result is report else str(result)).split("\n"),
        lambda screen: _draw(screen, report, result if fix else None, every),
    )
    if not report.ok:
        raise click.exceptions.Exit(FOUND)


def _fixed(path: str, output: str | None, renumber: bool) -> trietok.FixResult:
    try:
        return trietok.fix(path, output, renumber=renumber)
    except trietok.InputError:
        if output is not None:
            raise
        raise click.UsageError(
            f"no save to {path} was interrupted; --output names the directory for a repaired copy."
        ) from None


def _draw(
    screen: Screen, report: trietok.CheckReport, result: trietok.FixResult | None, every: bool
) -> None:
    """Write the report as it is written without a terminal, in colours."""
    if result is not None:
        screen.line((f"written to {result.out}", "bold green"))
        for change in result.changes[:_CHANGES]:
            screen.line((f"  {change}", ""))
        if len(result.changes) > _CHANGES:
            screen.line((f"  ... and {len(result.changes) - _CHANGES:,} more", "dim"))
        screen.line()
    screen.line(
        (f"{report.path}: ", "bold"), (report.summary, "bold green" if report.ok else "bold red")
    )
    for kind, code, lines in report.groups(every):
        screen.line((f"{kind}: ", _STYLES[kind]), (code, "bold"))
        for line in lines:
            screen.line((f"  {line}", ""), soft_wrap=True)  # so that commands can be copied
