"""`trietok verify`: whether a model, and other libraries that load it, still give the ids of a lock."""
# ruff: noqa: UP045

from __future__ import annotations

import enum
from typing import Annotated, Optional

import typer

import trietok
from trietok.cli.inputs import tokenizer_of
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.reporting import reporting
from trietok.locking.lock_file import LOCK_FILE, model_there

_CHANGED = 1


class Engine(str, enum.Enum):
    """The libraries that can load a model too."""

    transformers = "transformers"
    transformers_slow = "transformers-slow"
    transformers_fast = "transformers-fast"
    tokenizers = "tokenizers"
    flash_tokenizer = "flash-tokenizer"


LockFile = Annotated[str, typer.Argument(metavar="LOCK", help="The lock, as trietok lock wrote it.")]
Model = Annotated[
    Optional[str],
    typer.Option(
        "--model",
        "-m",
        metavar="NAME_OR_DIR",
        help="The model to verify. Without it, the one that the lock names.",
        show_default=False,
    ),
]
With = Annotated[
    Optional[list[Engine]],
    typer.Option("--with", help="A library that shall give the locked ids too. May be repeated.", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object for trietok and each library.")]


def verify(lock: LockFile = LOCK_FILE, model: Model = None, engines: With = None, as_json: AsJson = False) -> None:
    """Say whether a tokenizer gives the locked ids: 0 if it does, 1 with what differs if not."""
    ok = True
    with reporting():
        locked = trietok.Lock.load(lock)
        name = model_there(locked, model)
        ours = trietok.verify(tokenizer_of(name, fast=locked.profile == "fast"), locked)
        ok = _write(ours, as_json)
        for engine in dict.fromkeys(engines or ()):
            ok = _write(trietok.verify(engine.value, locked, model=name), as_json) and ok
    if not ok:
        raise typer.Exit(_CHANGED)


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
