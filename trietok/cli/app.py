"""The wiring: which commands there are, and what holds for all of them."""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import click

import trietok
from trietok.cli.interrupts import stopped
from trietok.cli.output import Utf8, no_such, open_streams, reporting, usage_errors, writing

# The module of a command, where it is not the one of its name: commands that share their options share a file.
_MODULES = {
    **dict.fromkeys(("tokenize", "decode"), "encode"),
    "diff": "unknown",
    "docs": "play",
    **dict.fromkeys(("verify", "export"), "lock"),
    **dict.fromkeys(("add", "trim", "suggest", "rows"), "adapt"),
}


_GROUPS = {
    "Texts to ids": "encode tokenize decode encode-files",
    "Questions": "explain unknown diff check lock verify bench play docs",
    "Vocabularies": "train suggest add trim export",
    "Models": "adapt rows",
}
# The summary of each command, so that listing them imports none; and the page of docs/ that its help ends with.
_COMMANDS = {
    "encode": ("Turn texts into ids, special tokens included.", "command_line"),
    "tokenize": ("Split texts into tokens, without adding special tokens.", "command_line"),
    "decode": ("Turn ids back into text.", "command_line"),
    "explain": ("Show what each stage does to a text, and why.", "explaining"),
    "play": ("Serve the playground, a page for trying texts.", "explaining"),
    "docs": ("Show a page of the documentation.", "command_line"),
    "diff": ("Compare two tokenizers, and show what differs.", "locking"),
    "check": ("Find contradictions in a tokenizer's files, and repair them.", "checking"),
    "bench": ("Measure speed on your text, beside other tokenizers.", "benchmarks"),
    "encode-files": ("Encode files of texts into files of ids.", "corpora"),
    "unknown": ("List the words that become the unknown token.", "explaining"),
    "suggest": ("List the words of your texts that are worth adding.", "vocabularies"),
    "adapt": ("Find words that deserve a token, and add them to a model.", "adapting"),
    "add": ("Add a list of terms to a tokenizer; no id moves.", "vocabularies"),
    "trim": ("Make a smaller tokenizer with the same tokens for your texts.", "vocabularies"),
    "rows": ("Copy a model with the rows that a changed tokenizer needs.", "adapting"),
    "lock": ("Record the ids of golden texts in a lock file.", "locking"),
    "verify": ("Check that a tokenizer still gives the locked ids.", "locking"),
    "export": ("Write a tokenizer as one file.", "locking"),
    "train": ("Train a vocabulary from text.", "training"),
}
COMMANDS = {name: summary for name, (summary, _) in _COMMANDS.items()}
PAGES = {name: page for name, (_, page) in _COMMANDS.items()}
_WIDEST = max(map(len, COMMANDS))


# What the arguments are, which click's help does not list.
_ARGUMENTS = {
    "texts": "Each argument is one text; - reads texts from standard input, one a line.",
    "files": "FILES are .txt (one text a line), .jsonl, .csv, .tsv or .parquet, or quoted globs; all but .parquet may "
    "be compressed with gzip or zstd. - is standard input.",
}


@cache
def _imported(name: str) -> click.Command:
    function = name.replace("-", "_")
    command: click.Command = getattr(import_module(f"trietok.cli.{_MODULES.get(name, function)}"), function)
    _prepare(command, PAGES[name])
    return command


def _prepare(command: click.Command, page: str) -> None:
    """Have the help of a command, and of those in it, say what its texts are and name its page; and texts be UTF-8."""
    for parameter in command.params:
        if parameter.type is click.STRING:
            parameter.type = Utf8()
        if parameter.name in _ARGUMENTS and isinstance(parameter, click.Argument) and not parameter.required:
            summary, _, rest = inspect.cleandoc(command.help or "").partition("\n\n")
            command.help = "\n\n".join([summary, _ARGUMENTS[parameter.name], rest])
    command.epilog = "\n\n".join(filter(None, [command.epilog, f"Documentation: trietok docs {page}"]))
    if isinstance(command, click.Group):
        for each in command.commands.values():
            _prepare(each, page)


class _Group(click.Group):
    """Imports the command that is asked for; importing all takes longer than `trietok encode` has to work.

    It says what went wrong where that came before a command had begun, or wrote help; a command sees to that itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return " ".join(_GROUPS.values()).split()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _imported(cmd_name) if cmd_name in COMMANDS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for group, commands in _GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{_WIDEST}}", COMMANDS[name]) for name in commands.split()])

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
        with _failures_said(), usage_errors(ctx, ctx.obj):
            return super().invoke(ctx)


@contextlib.contextmanager
def _failures_said() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise click.exceptions.Exit(stopped()) from None
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
    epilog="Documentation: trietok docs get_started; trietok docs lists all pages",
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,  # not click's own option: asking for the kernel loads it
    help="Show the version and the kernel, and exit.",
)
def app() -> None:
    """BERT's tokenizer: texts to tokens and ids, and back."""
