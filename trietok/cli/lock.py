"""`trietok lock`: what a tokenizer gives for golden texts, written down for `trietok verify`."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import click

import trietok
from trietok.cli import lock_options, options, training_options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.lock_options import golden_texts
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.workbench.locking.lock_file import LOCK_FILE
from trietok.workbench.locking.lock_file import as_json as values_of
from trietok.showing.lists import number_of


@click.command()
@options.model
@lock_options.texts
@click.option("--output", "-o", type=options.OUTPUT, default=LOCK_FILE, metavar="FILE", help="The lock file to write.")
@options.force("Replace a file that is there already.")
@click.option("--fast", is_flag=True, help="Lock the fast profile (that of the Rust tokenizers).")
@options.column
@training_options.errors
@click.option("--json", "as_json", is_flag=True, help="Also write the lock to standard output, as one JSON object.")
@options.offline
def lock(
    model: str,
    texts: tuple[str, ...],
    output: str,
    force: bool,
    fast: bool,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Record the ids of golden texts in a lock file, which trietok verify checks.

    \b
    Examples:
      trietok lock
      trietok lock --model my-tokenizer --texts golden.txt --output my.lock.json
    """
    with reporting():
        files = golden_texts(texts, column, errors, output)
        tokenizer = tokenizer_of(model, fast=fast)
        if not force and os.path.lexists(output):
            raise trietok.FileError(
                f"{output} is there already, {_what_is_there(output, tokenizer)}; name another file with -o, or "
                "replace it with --force",
                path=output,
            )
        if files is None:
            made = trietok.lock(tokenizer)
        else:
            with shown_reading(files, "locking") as shown:
                made = trietok.lock(tokenizer, shown)
        made = dataclasses.replace(made, model=model)
        made.save(output)
        if as_json:
            write_line(json_line(values_of(made, output)))
        else:
            count = number_of(len(made.texts), "text")
            ids = f"{sum(len(each.ids) for each in made.texts):,} ids"
            line = f"{output}: {count}, {ids}, {len(made.special_tokens)} special ids, {made.fingerprint}"
            write_line(visible(line))


def _what_is_there(path: str, tokenizer: Any) -> str:
    """What a lock of a tokenizer would replace."""
    try:
        there = trietok.Lock.load(path)
    except (trietok.TrietokError, OSError):
        return "and is no lock that can be read"
    if there.fingerprint == tokenizer.fingerprint():
        return "a lock of this tokenizer"
    of = "another tokenizer" if there.model is None else f"another tokenizer, {there.model}"
    return f"a lock of {of} ({there.fingerprint})"
