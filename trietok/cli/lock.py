"""`trietok lock`: what a tokenizer gives for golden texts, written down for `trietok verify`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import PATH, tokenizer_of
from trietok.cli.output import json_line, on_terminal, reporting, say_error, visible, write_line, writing
from trietok.cli.progress import shown_reading
from trietok.showing.characters import number_of
from trietok.workbench.engines.worker import OTHERS
from trietok.workbench.locking.lock import LOCK_FILE, model_there
from trietok.workbench.locking.lock import as_json as values_of

# What `trietok lock`, `trietok verify` and `trietok export` share: golden texts, and the names of other libraries.


lock_texts = click.option(
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
    files = options.text_files_of(texts, column, errors)
    for path in files.paths:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise trietok.FileError(
                f"{output} is the file with the texts, and would be overwritten; name another file with -o", path=output
            )
    return files


@click.command()
@options.model
@lock_texts
@click.option("--output", "-o", type=options.OUTPUT, default=LOCK_FILE, metavar="FILE", help="The lock file to write.")
@options.force("Replace a file that is there already.")
@click.option("--fast", is_flag=True, help="Lock the fast profile (that of the Rust tokenizers).")
@options.column
@options.errors
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


# `trietok verify`: whether a model, and other libraries that load it, still give the ids of a lock.
#
# The exit codes are those of diff(1): 0 for the locked ids, 1 for a difference, 2 for trouble.


_CHANGED, _TROUBLE = 1, 2


@click.command()
@click.argument("lock", type=options.PATH, default=LOCK_FILE)
@click.option(
    "--model",
    "-m",
    type=options.PATH,
    metavar="NAME_OR_DIR",
    help="The tokenizer to verify; without it, the one that the lock names.",
)
@click.option(
    "--with",
    "engines",
    type=LIBRARY,
    multiple=True,
    metavar="NAME",
    help=f"Also check a library: {LIBRARIES}. May be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object for trietok and each library.")
@options.offline
def verify(lock: str, model: str | None, engines: tuple[str, ...], as_json: bool) -> None:
    """Check that a tokenizer still gives the locked ids.

    LOCK is a lock file that trietok lock wrote; without it, trietok.lock.json. The exit code is 0 if the ids are as
    locked, 1 if they differ, and 2 for an error.

    \b
    Examples:
      trietok verify
      trietok verify my.lock.json --model my-tokenizer --with transformers
    """
    trouble = False
    with reporting(_TROUBLE):
        locked = trietok.Lock.load(lock)
        name = model_there(locked, model)
        ours = trietok.verify(tokenizer_of(name, fast=locked.profile == "fast"), locked)
        ok = _write(ours, as_json)
        for engine in dict.fromkeys(engines):
            try:
                verified = trietok.verify(engine, locked, model=name)
            except trietok.TrietokError as error:  # one that cannot be asked keeps no other from being asked
                say_error(str(error))
                trouble = True
            else:
                ok = _write(verified, as_json) and ok
    if trouble or not ok:
        raise click.exceptions.Exit(_TROUBLE if trouble else _CHANGED)


def _write(verified: trietok.Verified, as_json: bool) -> bool:
    if as_json:
        write_line(json_line(verified.to_dict()))
    elif on_terminal():
        _write_coloured(verified)
    else:
        for line in verified.lines():
            write_line(visible(line))
    return verified.ok


def _write_coloured(verified: trietok.Verified) -> None:
    """For a terminal: the summary in green or red."""
    from rich.console import Console  # only where somebody looks
    from rich.text import Text

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        for number, line in enumerate(verified.lines()):
            style = ("bold green" if verified.ok else "bold red") if number == 0 else ""
            console.print(Text(visible(line), style=style), soft_wrap=True)


# `trietok export`: a tokenizer as a tokenizer.json or a vocab.txt, and what the file's readers do otherwise.


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
@lock_texts
@click.option("--show", type=options.NOT_NEGATIVE, default=5, metavar="N", help="Show the first N texts that differ.")
@click.option("--strict", is_flag=True, help="Exit with 1 if a text gets other ids.")
@click.option(
    "--with",
    "engines",
    type=LIBRARY,
    multiple=True,
    metavar="NAME",
    help=f"Also read the file with a library: {LIBRARIES}. May be repeated.",
)
@options.column
@options.errors
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
