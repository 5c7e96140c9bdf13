"""What `trietok lock`, `trietok verify` and `trietok export` share: golden texts, and the names of other libraries."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

import trietok
from trietok.cli import training_options
from trietok.cli.options import PATH
from trietok.workbench.engines.worker import OTHERS

texts = click.option(
    "--texts",
    "-t",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Read the golden texts from a .txt (one a line), .jsonl or .parquet file; - is standard input. "
    "May be repeated. Without it, use a built-in sample.",
)
LIBRARY = click.Choice(list(OTHERS))  # the libraries that can load a model too
LIBRARIES = ", ".join(OTHERS)


def golden_texts(texts: Sequence[str], column: str, errors: str, output: str) -> trietok.TextFiles | None:
    """The texts of the files that `--texts` names; None if it names none.

    Args:
        texts: paths, globs, or - for standard input.
        column: the field of .jsonl and .parquet.
        errors: what to do with bytes that are not UTF-8.
        output: the file that will be written.

    Raises:
        FileError: `output` is one of the files.
    """
    if not texts:
        return None
    files = training_options.text_files(texts, column, errors)
    for path in files.paths:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise trietok.FileError(
                f"{output} is the file with the texts, and would be overwritten; name another file with -o", path=output
            )
    return files
