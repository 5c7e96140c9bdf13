"""The wiring: which commands there are, and what holds for all of them."""

from __future__ import annotations

import contextlib
import inspect
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

import click

import trietok
from trietok.cli.interrupts import stopped, terminable
from trietok.cli.output import Utf8, no_such, open_streams, reporting, usage_errors, writing

DOCUMENTATION = "https://github.com/trietok/trietok/tree/main/docs"


class _Entry(NamedTuple):
    """A line of the list of commands, which is read without importing any of them."""

    group: str
    name: str
    module: str  # commands that share their options share a file
    page: str  # of docs/, which the help ends with
    summary: str


with open(os.path.join(os.path.dirname(__file__), "commands.txt"), encoding="utf-8") as _lines:
    _ENTRIES = [_Entry(*map(str.strip, line.split("|"))) for line in _lines]
COMMANDS = {each.name: each.summary for each in _ENTRIES}
PAGES = {each.name: each.page for each in _ENTRIES}
_MODULES = {each.name: each.module for each in _ENTRIES}
_WIDEST = max(map(len, COMMANDS))

# What the arguments are, which click's help does not list.
_ARGUMENTS = {
    "texts": "Each argument is one text; - reads texts from standard input, one a line.",
    "files": (
        "FILES are .txt (one text a line), .jsonl, .csv, .tsv or .parquet, or quoted globs; all but"
        " .parquet may be compressed with gzip or zstd. - is standard input."
    ),
}


@cache
def _imported(name: str) -> click.Command:
    module = import_module(f"trietok.cli.{_MODULES[name]}")
    command: click.Command = getattr(module, name.replace("-", "_"))
    _prepare(command, PAGES[name])
    return command


def _prepare(command: click.Command, page: str) -> None:
    """Have the help of a command, and of those in it, say what its texts are and name its page; and
    texts be UTF-8.
    """
    for parameter in command.params:
        if parameter.type is click.STRING:
            parameter.type = Utf8()
        if (
            parameter.name in _ARGUMENTS
            and isinstance(parameter, click.Argument)
            and not parameter.required
        ):
            summary, _, rest = inspect.cleandoc(command.help or "").partition("\n\n")
            command.help = "\n\n".join([summary, _ARGUMENTS[parameter.name], rest])
    documentation = f"Documentation: {DOCUMENTATION}/{page}.md"
    command.epilog = "\n\n".join(filter(None, [command.epilog, documentation]))
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _prepare(each, page)


class _Group(click.Group):
    """Imports the command that is asked for; importing all takes longer than `trietok encode` has
    to work.

    It says what went wrong where that came before a command had begun, or wrote help; a command
    sees to that itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _imported(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, entries in groupby(_ENTRIES, lambda each: each.group):
            with formatter.section(group):
                formatter.write_dl([(f"{each.name:{_WIDEST}}", each.summary) for each in entries])

    def main(self, *args: Any, **options: Any) -> Any:
        open_streams()
        try:
            with _failures_said():  # those of completion, which click does first
                return super().main(*args, **options)
        except click.exceptions.Exit as end:
            sys.exit(end.exit_code)

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _failures_said():
            return super().make_context(*args, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = list(args)
        with usage_errors(ctx, ()):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-") and not ctx.resilient_parsing:
            raise no_such("command", name, COMMANDS, ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _failures_said(), terminable(), usage_errors(ctx, ctx.obj):
            return super().invoke(ctx)


@contextlib.contextmanager
def _failures_said() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as interrupt:
        raise click.exceptions.Exit(stopped(interrupt)) from None
    except OSError as error:
        with reporting(), writing():
            raise error


def _show_version(ctx: click.Context, parameter: click.Parameter, is_set: bool) -> None:
    if is_set and not ctx.resilient_parsing:
        click.echo(f"trietok {trietok.__version__} ({trietok.kernel} kernel)")
        ctx.exit()


@click.group(
    cls=_Group,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=f"Documentation: {DOCUMENTATION}",
)
@click.option(
    "--version",
    "-V",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,  # not click's own option: asking for the kernel loads it
    help="Show the version and the kernel, and exit.",
)
def app() -> None:
    """BERT's tokenizer: texts to tokens and ids, and back."""
