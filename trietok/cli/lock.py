"""`trietok lock` and `verify`: what a tokenizer gives, recorded and checked."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import click

import trietok
from trietok.cli import options
from trietok.cli.options import FileOpener, tokenizer_of
from trietok.cli.output import FOUND, TROUBLE, say_error
from trietok.cli.progress import shown_reading
from trietok.cli.results import write_result
from trietok.workbench.engines.worker import ENGINES
from trietok.workbench.locking.lock import LOCK_FILE, model_there, values_of

if TYPE_CHECKING:
    from trietok.cli.tables import Screen


def _engines(what: str) -> options.Decorator:
    """The option `--with`, as `engines`: the libraries that can load a model too."""
    what = f"Also {what}, separated by commas: {', '.join(ENGINES)}."
    return options.names("--with", "engines", known=[*ENGINES], help=what)


@options.command()
@options.files_if_any
@options.required_model_and_profile
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
