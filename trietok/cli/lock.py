"""`trietok lock`: what a tokenizer gives for golden texts, written down for `trietok verify`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

import trietok
from trietok.cli import training_options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.lock_options import Texts, golden_texts
from trietok.cli.options import DEFAULT_MODEL, Model
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.locking.lock_file import LOCK_FILE, as_json
from trietok.showing.lists import number_of

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
        files = golden_texts(texts, column, errors, output)
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
            count = number_of(len(made.texts), "text")
            ids = f"{sum(len(each.ids) for each in made.texts):,} ids"
            line = f"{output}: {count}, {ids}, {len(made.special_tokens)} special ids, {made.fingerprint}"
            write_line(visible(line))
