"""The arguments and options of the commands, as annotations of their parameters.

`Optional` is not written `| None`: typer takes that only from 0.12.4 on.
"""
# ruff: noqa: UP045

from __future__ import annotations

from typing import Annotated, Optional

import typer

DEFAULT_MODEL = "trietok-en"

Texts = Annotated[
    Optional[list[str]],
    typer.Argument(metavar="TEXT", help="The texts; - reads them from standard input.", show_default=False),
]
TextFiles = Annotated[
    Optional[list[str]],
    typer.Option(
        "--file",
        "-f",
        metavar="PATH",
        help="Read a .txt, one text a line, a .jsonl or a .parquet; also packed. May be repeated.",
        show_default=False,
    ),
]
Ids = Annotated[
    Optional[list[str]],
    typer.Argument(
        metavar="ID",
        help="The ids of one text; - reads ids from standard input, a text's on each line.",
        show_default=False,
    ),
]
IdFiles = Annotated[
    Optional[list[str]],
    typer.Option(
        "--file",
        "-f",
        metavar="PATH",
        help="Read a file, a text's ids on each line. May be repeated.",
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Option(
        "--model", "-m", metavar="NAME_OR_DIR", help="A directory, a vocab.txt, a built-in name or a name on the hub."
    ),
]
Pair = Annotated[
    Optional[str],
    typer.Option("--pair", metavar="TEXT", help="Encode the one text given and TEXT as a pair.", show_default=False),
]
NoSpecialTokens = Annotated[bool, typer.Option("--no-special-tokens", help="Leave out [CLS], [SEP] and the like.")]
SkipSpecialTokens = Annotated[bool, typer.Option("--skip-special-tokens", help="Leave out [CLS], [SEP] and the like.")]
MaxLength = Annotated[
    Optional[int],
    typer.Option(
        "--max-length", min=1, metavar="N", help="Truncate to N tokens, special ones included.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object a line.")]
