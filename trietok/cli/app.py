"""The wiring: which commands there are, and what holds for all of them."""

from __future__ import annotations

from typing import Annotated

import typer

import trietok
from trietok.cli.bench import bench
from trietok.cli.check import check
from trietok.cli.decode import decode
from trietok.cli.diff import diff
from trietok.cli.encode import encode
from trietok.cli.encode_files import encode_files
from trietok.cli.suggest import suggest
from trietok.cli.tokenize import tokenize
from trietok.cli.train import app as train
from trietok.cli.unknown import unknown

app = typer.Typer(
    help="BERT's tokenizer: texts to tokens and ids, and back.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # the help speaks of [CLS], which would be taken for markup
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(encode)
app.command()(tokenize)
# -1 is an id to refuse with a reason, not an option; decode itself refuses what does look like an option.
app.command(context_settings={"ignore_unknown_options": True})(decode)
app.command()(diff)
app.command()(check)
app.command()(bench)
app.command()(encode_files)
app.command()(unknown)
app.add_typer(train, name="train")
app.command()(suggest)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"trietok {trietok.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    pass
