"""`trietok lock`: what a tokenizer gives for golden texts, written down for `trietok verify`."""
# ruff: noqa: UP045

from __future__ import annotations

import dataclasses
from typing import Annotated, Optional

import typer

import trietok
from trietok.cli import training_options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.options import DEFAULT_MODEL, Model
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.locking.lock_file import LOCK_FILE, as_json

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
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The lock to write.")]
Fast = Annotated[bool, typer.Option("--fast", help="Lock the fast profile, that of the Rust tokenizers.")]
AsJson = Annotated[bool, typer.Option("--json", help="Also write the lock to standard output, as one JSON object.")]


def lock(
    model: Model = DEFAULT_MODEL,
    texts: Texts = None,
    output: Output = LOCK_FILE,
    fast: Fast = False,
    column: training_options.Column = "text",
    errors: training_options.Errors = "strict",
    as_json_: AsJson = False,
) -> None:
    """Write down the ids of golden texts, for trietok verify to compare with."""
    with reporting():
        files = training_options.text_files(texts, column, errors) if texts else None
        tokenizer = tokenizer_of(model, fast=fast)
        if files is None:
            made = trietok.lock(tokenizer)
        else:
            with shown_reading(files, "locking") as shown:
                made = trietok.lock(tokenizer, shown)
        made = dataclasses.replace(made, model=model)
        made.save(output)
        if as_json_:
            write_line(json_line(as_json(made, output)))
        else:
            count = f"{len(made.texts):,} text{'' if len(made.texts) == 1 else 's'}"
            ids = f"{sum(len(each.ids) for each in made.texts):,} ids"
            line = f"{output}: {count}, {ids}, {len(made.special_tokens)} special ids, {made.fingerprint}"
            write_line(visible(line))
