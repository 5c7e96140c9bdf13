"""`trietok lock`, `verify` and `conform`: what a tokenizer gives: written down, checked, given to
others.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

import trietok
from trietok.cli import options
from trietok.cli.lines import Lines
from trietok.cli.options import FileOpener, tokenizer_of
from trietok.cli.output import FOUND, TROUBLE, json_line, say_error
from trietok.cli.progress import shown_reading
from trietok.cli.results import write_lines, write_result
from trietok.files.formats import write_text
from trietok.workbench.engines.worker import OTHERS
from trietok.workbench.locking.lock import LOCK_FILE, model_there, values_of

if TYPE_CHECKING:
    from trietok.cli.tables import Screen


def _engines(what: str) -> options.Decorator:
    """The option `--with`, as `engines`: the libraries that can load a model too."""
    what = f"Also {what}, separated by commas: {', '.join(OTHERS)}."
    return options.names("--with", "engines", known=OTHERS, help=what)


@options.command()
@options.files_if_any
@options.explicit_model
@options.writes("The lock file to write.", metavar="FILE", required=False, default=LOCK_FILE)
@options.reading
@options.json_offline
def lock(files: tuple[str, ...], model: str, output: str, read: FileOpener, as_json: bool) -> None:
    """Record the ids of golden texts in a lock file, which trietok verify checks.

    Without FILES, the golden texts are a built-in sample. --json also writes the lock to standard
    output.

    \b
    Examples:
      trietok lock -m my-tokenizer
      trietok lock golden.txt -m my-tokenizer -o my.lock.json
    """
    texts = read(files) if files else None
    tokenizer = tokenizer_of(model)
    with shown_reading(texts, "locking") as shown:
        made = trietok.lock(tokenizer, shown)
    made = dataclasses.replace(made, model=model)
    made.save(output)
    write_result(values_of(made, output), as_json, lambda: [f"written to {output}: {made}"])


@options.command()
@click.argument("lock", type=options.PATH, default=LOCK_FILE)
@options.tokenizer(
    "--model", "-m", help="The tokenizer to verify; by default, the one that the lock names."
)
@options.profile
@_engines("check these libraries")
@options.page
@options.json_offline
def verify(lock: str, model: str | None, engines: list[str] | None, as_json: bool) -> None:
    """Check that a tokenizer still gives the locked ids.

    LOCK is a lock file that trietok lock wrote, by default trietok.lock.json; the profile is the
    lock's by default. The exit code is 0 if the ids are as locked, 1 if they differ, and 2 for an
    error.

    \b
    Examples:
      trietok verify
      trietok verify my.lock.json -m my-tokenizer --with transformers,tokenizers
    """
    trouble = False
    locked = trietok.Lock.load(lock)
    name = model_there(locked, model)
    ours = trietok.verify(tokenizer_of(name, locked.profile, "as the lock has it"), locked)
    ok = _written(ours, as_json)
    for engine in engines or ():
        try:
            verified = trietok.verify(engine, locked, model=name)
        # one that cannot be asked keeps no other from being asked
        except trietok.TrietokError as error:
            say_error(str(error))
            trouble = True
        else:
            ok = _written(verified, as_json) and ok
    if trouble or not ok:
        raise click.exceptions.Exit(TROUBLE if trouble else FOUND)


def _written(verified: trietok.Verified, as_json: bool) -> bool:
    def draw(screen: Screen) -> None:
        summary, *lines = verified.lines()
        screen.line((summary, "bold green" if verified.ok else "bold red"), soft_wrap=True)
        for line in lines:
            screen.line((line, ""), soft_wrap=True)

    write_result(verified, as_json, verified.lines, draw)
    return verified.ok


@options.command()
@click.argument("command", nargs=-1, metavar="[-- COMMAND...]")
@options.text_files
@options.model
@options.number("--vectors", default=1000, help="Make N texts, beside those of --file.")
@options.number("--seed", type=options.NOT_NEGATIVE, default=0, help="Make other texts.")
@options.number("--seconds", default=60, help="Wait at most N seconds for an answer.")
@options.most(type=options.NOT_NEGATIVE, default=5, help="List at most N texts that differ.")
@options.writes(
    "The file of JSON lines to write the texts to, with their ids.", metavar="FILE", required=False
)
@options.page
@options.json_offline
def conform(
    command: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    vectors: int,
    seed: int,
    seconds: int,
    most: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Test another implementation of a tokenizer, in any language.

    COMMAND reads a line of JSON for each text, and answers with a line such as {"ids": [2, 134,
    3]}. Without COMMAND, the texts are written with their tokens, ids and spans. The exit code is 1
    if any text has other ids.

    \b
    Examples:
      trietok conform -m my-tokenizer -o vectors.jsonl
      trietok conform -m my-tokenizer -- node my-port.js
    """
    # other commands do not wait for what it imports
    from trietok.workbench.locking import (
        vectors as made,
    )

    tokenizer = tokenizer_of(model)
    texts = [line.text for line in Lines(files=files)]
    if output is not None or not command:
        found = made.vectors(tokenizer, texts, limit=vectors, seed=seed)
        rows = (json_line(vector._asdict()) for vector in found)
        if output is None:
            write_lines(rows)
        else:
            write_text(output, "".join(f"{row}\n" for row in rows))
    if command:
        answer = trietok.conform(
            tokenizer, command, texts, limit=vectors, seed=seed, seconds=seconds
        )
        write_result(answer, as_json, lambda: answer.lines(most))
        if not answer.ok:
            raise click.exceptions.Exit(FOUND)
