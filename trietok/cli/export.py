"""`trietok export`: a tokenizer as a tokenizer.json or a vocab.txt, and what the file's readers do otherwise."""
# ruff: noqa: UP045

from __future__ import annotations

import enum
import os
from typing import Annotated, Optional

import typer

import trietok
from trietok.cli import training_options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.lock_options import Engine, Texts, golden_texts
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.reporting import reporting

_DIFFERENT = 1


class _File(str, enum.Enum):
    """What can be written."""

    tokenizer_json = "tokenizer.json"
    vocab_txt = "vocab.txt"


Exported = Annotated[
    str,
    typer.Argument(
        metavar="DIR", help="A directory, a file, a built-in name or a name on the hub.", show_default=False
    ),
]
To = Annotated[_File, typer.Option("--to", help="The file to write.", show_default=False)]
Output = Annotated[
    Optional[str],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write it; without it, a new file in this directory.",
        show_default=False,
    ),
]
Show = Annotated[int, typer.Option("--show", min=0, metavar="N", help="Show the first N texts that differ.")]
Strict = Annotated[bool, typer.Option("--strict", help="Leave with 1 if a text gets other ids.")]
With = Annotated[
    Optional[list[Engine]],
    typer.Option(
        "--with",
        help="A library that reads the file too, to check. May be repeated.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]


def export(
    path: Exported,
    to: To,
    output: Output = None,
    texts: Texts = None,
    show: Show = 5,
    strict: Strict = False,
    engines: With = None,
    column: training_options.Column = "text",
    errors: training_options.Errors = "strict",
    as_json: AsJson = False,
) -> None:
    """Write a tokenizer as one file, and list the texts to which the file's readers give other ids."""
    with reporting():
        if output is None and os.path.lexists(to.value):
            raise trietok.FileError(
                f"{to.value} is there already; name the file to write with -o, {to.value} itself to replace it",
                path=to.value,
            )
        given = golden_texts(texts, column, errors, to.value if output is None else output)
        exported = trietok.export(
            tokenizer_of(path, fast=to is _File.vocab_txt),
            to.value,
            output,
            texts=given,
            most=show,
            engines=[engine.value for engine in dict.fromkeys(engines or ())],
        )
        if as_json:
            write_line(json_line(exported.to_dict()))
        else:
            for line in exported.lines():
                write_line(visible(line))
    if (strict and not exported.same_ids) or any(exported.checked.values()):
        raise typer.Exit(_DIFFERENT)
