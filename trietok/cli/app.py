"""The wiring: which commands there are, and what holds for all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import trietok
from trietok.cli.interrupts import stopped
from trietok.cli.offline import with_offline

# Each is a module here, which holds a function of its name; `train` holds commands of its own.
COMMANDS = (
    *("encode", "tokenize", "decode", "explain", "play", "diff", "check", "bench"),
    *("encode-files", "unknown", "suggest", "adapt", "add", "trim", "rows", "lock", "verify", "export", "train"),
)
_SETTINGS = {
    # -1 is an id to refuse with a reason, not an option; decode itself refuses what does look like an option.
    "decode": {"ignore_unknown_options": True},
}


class _Group(TyperGroup):
    """Says that it was stopped where that came before a command had begun; a command sees to that itself."""

    def make_context(self, *args: Any, **options: Any) -> Any:
        with _stop_said():
            return super().make_context(*args, **options)

    def invoke(self, ctx: Any) -> Any:
        with _stop_said():
            return super().invoke(ctx)


@contextlib.contextmanager
def _stop_said() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(stopped()) from None


def make_app(arguments: Iterable[str] = ()) -> typer.Typer:
    """The command as these arguments need it.

    Importing every command takes longer than `trietok encode` has to work, so where the first argument is the name of a
    command, that command alone is there; else, as for the help, all are.
    """
    app = typer.Typer(
        cls=_Group,
        help="BERT's tokenizer: texts to tokens and ids, and back.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # the help speaks of [CLS], which would be taken for markup
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_main)
    asked = next(iter(arguments), None)
    for name in (asked,) if asked in COMMANDS else COMMANDS:
        module = import_module(f"trietok.cli.{name.replace('-', '_')}")
        if name == "train":
            app.add_typer(module.app, name=name)
        else:
            run = with_offline(getattr(module, name.replace("-", "_")))
            app.command(name, context_settings=_SETTINGS.get(name))(run)
    return app


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"trietok {trietok.__version__} ({trietok.kernel} kernel)")
        raise typer.Exit


def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show version and kernel, and leave."),
    ] = False,
) -> None:
    pass
