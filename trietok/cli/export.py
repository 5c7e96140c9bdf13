"""`trietok export`: a tokenizer as a tokenizer.json or a vocab.txt, and what the file's readers do otherwise."""

from __future__ import annotations

import os

import click

import trietok
from trietok.cli import lock_options, options, training_options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.lock_options import golden_texts
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.reporting import reporting

_DIFFERENT = 1


@click.command()
@click.argument("path", type=options.PATH, metavar="NAME_OR_DIR")
@click.option("--to", type=click.Choice(["tokenizer.json", "vocab.txt"]), required=True, help="The kind of file.")
@click.option(
    "--output",
    "-o",
    type=options.PATH,
    metavar="FILE",
    help="The path to write; without it, a new file in this directory.",
)
@lock_options.texts
@click.option("--show", type=options.NOT_NEGATIVE, default=5, metavar="N", help="Show the first N texts that differ.")
@click.option("--strict", is_flag=True, help="Exit with 1 if a text gets other ids.")
@click.option(
    "--with",
    "engines",
    type=lock_options.LIBRARY,
    multiple=True,
    metavar="NAME",
    help=f"Also read the file with a library: {lock_options.LIBRARIES}. May be repeated.",
)
@options.column
@training_options.errors
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object.")
@options.offline
def export(
    path: str,
    to: str,
    output: str | None,
    texts: tuple[str, ...],
    show: int,
    strict: bool,
    engines: tuple[str, ...],
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Write a tokenizer as one file, and list the texts that get other ids from that file.

    NAME_OR_DIR is a directory, a file, a built-in name or a name on the hub.

    \b
    Examples:
      trietok export trietok-en --to tokenizer.json
      trietok export my-tokenizer --to vocab.txt --output export/vocab.txt --texts golden.txt
    """
    with reporting():
        if output is None and os.path.lexists(to):
            raise trietok.FileError(
                f"{to} is there already; name the file to write with -o, {to} itself to replace it",
                path=to,
            )
        given = golden_texts(texts, column, errors, to if output is None else output)
        exported = trietok.export(
            tokenizer_of(path, fast=to == "vocab.txt"),
            to,
            output,
            texts=given,
            most=show,
            engines=list(dict.fromkeys(engines)),
        )
        if as_json:
            write_line(json_line(exported.to_dict()))
        else:
            for line in exported.lines():
                write_line(visible(line))
    if (strict and not exported.same_ids) or any(exported.checked.values()):
        raise click.exceptions.Exit(_DIFFERENT)
