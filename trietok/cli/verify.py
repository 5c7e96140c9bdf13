"""`trietok verify`: whether a model, and other libraries that load it, still give the ids of a lock.

The exit codes are those of diff(1): 0 for the locked ids, 1 for a difference, 2 for trouble.
"""

from __future__ import annotations

import click

import trietok
from trietok.cli import lock_options, options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.reporting import reporting, say_error
from trietok.workbench.locking.lock_file import LOCK_FILE, model_there

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
    type=lock_options.LIBRARY,
    multiple=True,
    metavar="NAME",
    help=f"Also check a library: {lock_options.LIBRARIES}. May be repeated.",
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
