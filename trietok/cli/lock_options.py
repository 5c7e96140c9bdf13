"""What `trietok lock`, `trietok verify` and `trietok export` share: golden texts, and the names of other libraries."""
# ruff: noqa: UP045

from __future__ import annotations

import enum
import os
from typing import TYPE_CHECKING, Annotated, Optional

import typer

import trietok
from trietok.cli import training_options
from trietok.engines.worker import OTHERS

Texts = Annotated[
    Optional[list[str]],
    typer.Option(
        "--texts",
        "-t",
        metavar="FILE",
        help="The golden texts: .txt, one a line; .jsonl, one object a line; .parquet; the first two also with .gz or "
        ".zst; - is standard input. May be repeated. Without it, a built-in sample.",
        show_default=False,
    ),
]
if TYPE_CHECKING:

    class Engine(str, enum.Enum):
        """The libraries that can load a model too."""
else:
    Engine = enum.Enum("Engine", [(name.replace("-", "_"), name) for name in OTHERS], type=str)


def golden_texts(texts: list[str] | None, column: str, errors: str, output: str) -> trietok.TextFiles | None:
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
