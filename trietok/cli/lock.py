"""`trietok lock`, `verify` and `export`: what a tokenizer gives: written down, checked, given to other libraries."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import Reader, tokenizer_of
from trietok.cli.output import say_error
from trietok.cli.progress import shown_reading
from trietok.cli.results import write_result
from trietok.showing.characters import number_of
from trietok.workbench.engines.worker import OTHERS
from trietok.workbench.locking.lock import LOCK_FILE, model_there
from trietok.workbench.locking.lock import as_json as values_of

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

# The exit codes are those of diff(1): 0 for the locked ids, 1 for a difference, 2 for trouble.
_DIFFERENT, _TROUBLE = 1, 2

_golden = options.some_files(
    "--texts",
    "-t",
    help="Read the golden texts from a .txt (one a line), .jsonl or .parquet file; - is standard input. "
    "May be repeated. Without it, use a built-in sample.",
)


def _engines(what: str) -> options.Decorator:
    """The option `--with`, as `engines`: the libraries that can load a model too."""
    said = f"Also {what}: {', '.join(OTHERS)}. May be repeated."
    return options.name("--with", "engines", type=click.Choice(list(OTHERS)), multiple=True, help=said)


def _golden_texts(texts: Sequence[str], read: Reader, output: str) -> trietok.TextFiles | None:
    """The texts of the files that `--texts` names, which `output` must not be one of; None if it names none."""
    if not texts:
        return None
    files = read(texts)
    for path in files.paths:
        if os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output):
            raise trietok.FileError(
                f"{output} is the file with the texts, and would be overwritten; name another file with -o", path=output
            )
    return files


@options.command()
@options.model
@_golden
@options.file("--output", "-o", type=options.OUTPUT, default=LOCK_FILE, help="The lock file to write.")
@options.force(help="Replace a file that is there already.")
@options.former_profile
@options.reading
@options.json_flag(help="Also write the lock to standard output, as one JSON object.")
@options.offline
def lock(model: str, texts: tuple[str, ...], output: str, force: bool, read: Reader, as_json: bool) -> None:
    """Record the ids of golden texts in a lock file, which trietok verify checks.

    \b
    Examples:
      trietok lock
      trietok lock --model my-tokenizer --texts golden.txt --output my.lock.json
    """
    files = _golden_texts(texts, read, output)
    tokenizer = tokenizer_of(model)
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
    ids = f"{sum(len(each.ids) for each in made.texts):,} ids, {len(made.special_tokens)} special ids"
    line = f"{output}: {number_of(len(made.texts), 'text')}, {ids}, {made.fingerprint}"
    write_result(values_of(made, output), as_json, lambda: [line])


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


@options.command(_TROUBLE)
@click.argument("lock", type=options.PATH, default=LOCK_FILE)
@options.tokenizer("--model", "-m", help="The tokenizer to verify; without it, the one that the lock names.")
@options.profile
@_engines("check a library")
@options.json_flag(help="Write one JSON object for trietok and each library.")
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
    locked = trietok.Lock.load(lock)
    name = model_there(locked, model)
    ours = trietok.verify(tokenizer_of(name, locked.profile, "as the lock has it"), locked)
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
        raise click.exceptions.Exit(_TROUBLE if trouble else _DIFFERENT)


def _write(verified: trietok.Verified, as_json: bool) -> bool:
    write_result(verified, as_json, verified.lines, lambda screen: _draw(screen, verified))
    return verified.ok


def _draw(screen: Screen, verified: trietok.Verified) -> None:
    """The summary in green or red."""
    for number, line in enumerate(verified.lines()):
        style = ("bold green" if verified.ok else "bold red") if number == 0 else ""
        screen.line((line, style), soft_wrap=True)


@options.command()
@click.argument("path", type=options.PATH, metavar="NAME_OR_DIR")
@options.profile
@click.option("--to", type=click.Choice(["tokenizer.json", "vocab.txt"]), required=True, help="The kind of file.")
@options.file("--output", "-o", help="The path to write; without it, a new file in this directory.")
@_golden
@options.number("--show", type=options.NOT_NEGATIVE, default=5, help="Show the first N texts that differ.")
@options.flag("--strict", help="Exit with 1 if a text gets other ids.")
@_engines("read the file with a library")
@options.reading
@options.json_flag(help="Write one JSON object.")
@options.offline
def export(
    path: str,
    to: str,
    output: str | None,
    texts: tuple[str, ...],
    show: int,
    strict: bool,
    engines: tuple[str, ...],
    read: Reader,
    as_json: bool,
) -> None:
    """Write a tokenizer as one file, and list the texts that get other ids from that file.

    NAME_OR_DIR is a directory, a file, a built-in name or a name on the hub.

    \b
    Examples:
      trietok export trietok-en --to tokenizer.json
      trietok export my-tokenizer --to vocab.txt --output export/vocab.txt --texts golden.txt
    """
    if output is None and os.path.lexists(to):
        message = f"{to} is there already; name the file to write with -o, {to} itself to replace it"
        raise trietok.FileError(message, path=to)
    given = _golden_texts(texts, read, to if output is None else output)
    tokenizer = tokenizer_of(path)
    exported = trietok.export(tokenizer, to, output, texts=given, most=show, engines=list(dict.fromkeys(engines)))
    write_result(exported, as_json, exported.lines)
    if (strict and not exported.same_ids) or any(exported.checked.values()):
        raise click.exceptions.Exit(_DIFFERENT)
