"""`trietok bench`: how fast trietok is on the user's own text, beside other tokenizers, and whether
the ids agree.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from trietok.cli import options
from trietok.cli.options import FileOpener
from trietok.cli.output import FOUND, TROUBLE, warn
from trietok.cli.results import write_result
from trietok.errors import InputError
from trietok.workbench.engines.worker import OTHERS

if TYPE_CHECKING:
    from trietok.cli.tables import Screen
    from trietok.workbench.benchmarking.bench import Agreement, Benchmark

_SAME, _OURS, _THEIRS, _PROBLEM, _LINE = "green", "green", "red", "yellow", "dim"


@options.command()
@options.files
@options.model
@options.names(
    "--with",
    "engines",
    known=["trietok", *OTHERS],
    help=(
        f"Ask these libraries too, separated by commas: {', '.join(OTHERS)}; '' for none. By"
        " default, those of the same profile."
    ),
)
@options.number(
    "--rounds",
    type=options.NOT_NEGATIVE,
    default=5,
    help="Run each tokenizer in N processes; 0, with --validate, skips measuring.",
)
@options.number(
    "--passes",
    type=click.IntRange(min=2),
    default=3,
    help="Make N passes over the text in each process; the first is cold.",
)
@options.number("--limit", help="Take the first N lines.")
@options.flag("--validate", help="Compare the ids too; the exit code is 1 if any differ.")
@options.most(
    type=options.NOT_NEGATIVE, default=5, help="With --validate: list at most N differences."
)
@options.reading
@options.json_offline
def bench(
    files: tuple[str, ...],
    model: str,
    engines: list[str] | None,
    limit: int | None,
    validate: bool,
    most: int,
    read: FileOpener,
    as_json: bool,
    **runs: Any,
) -> None:
    """Measure how fast trietok and other tokenizers encode your text, each in its own process, on
    one CPU and thread.

    Cold is the first pass over the text in a fresh process; warm is the best of the later passes.
    The figures are medians of the rounds, in CPU time, with half the spread from the lowest to the
    highest as a share of the median.

    \b
    Examples:
      trietok bench texts.txt --with transformers,tokenizers
      trietok bench texts.txt -m my-tokenizer --rounds 0 --validate
    """
    # other commands do not wait for what it imports
    from trietok.workbench.benchmarking import (
        bench as made,
    )

    if not runs["rounds"] and not validate:
        raise click.UsageError("--rounds 0 needs --validate.")
    if validate and engines is not None and not set(engines) - {"trietok"}:
        raise click.UsageError("--validate compares with others; name one by --with.")
    texts = list(itertools.islice(read(files), limit))
    if not any(texts):
        raise InputError("the files hold no text; there is nothing to measure")
    choice = options.choice_of(model)
    like: dict[str, Any] = {"engines": engines, "profile": choice.kind.profile}
    benchmark, agreements = None, []
    with _progress() as progress:
        if runs["rounds"]:
            benchmark = made.measure(texts, model, **like, progress=progress, **runs)
        if validate:
            agreements = made.validate(texts, model, **like, most=most, progress=progress)
    values = {} if benchmark is None else benchmark.to_dict()
    if validate:
        values["validation"] = [agreement.to_dict() for agreement in agreements]
    values["ok"] = not any(agreement.differing for agreement in agreements)
    parts = [*([] if benchmark is None else [benchmark]), *agreements]
    write_result(
        values,
        as_json,
        lambda: "\n".join(map(str, parts)).split("\n"),
        lambda screen: _draw(screen, benchmark, agreements),
    )
    if agreements and all(agreement.problem for agreement in agreements):
        warn(
            "no ids were compared: none of the other tokenizers could be run; the reasons stand"
            " above"
        )
    problems = [bool(agreement.problem) for agreement in agreements]
    if problems and (all(problems) if engines is None else any(problems)):
        raise click.exceptions.Exit(TROUBLE)
    if any(agreement.differing for agreement in agreements):
        raise click.exceptions.Exit(FOUND)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    """A note of what is going on, where standard error is a terminal; nothing that moves while
    something is timed.
    """
    stream = sys.stderr
    if not stream.isatty():
        yield None
        return

    def note(what: str) -> None:
        stream.write(f"\r\x1b[K{what}")
        stream.flush()

    try:
        yield note
    finally:
        note("")


def _draw(screen: Screen, benchmark: Benchmark | None, agreements: list[Agreement]) -> None:
    """A table of speeds, then what differs, trietok's tokens in green, the others' in red."""
    from trietok.workbench.benchmarking.bench import HEAD_OF_SPEEDS

    if benchmark is not None:
        screen.line((benchmark.summary, "bold"))
        columns = [
            {"justify": "left" if number < 2 else "right", "overflow": "fold"}
            for number in range(len(HEAD_OF_SPEEDS))
        ]
        head = [
            ([each for each in (upper, lower) if each], _LINE) for upper, lower in HEAD_OF_SPEEDS
        ]
        rows = ([(row[0], "bold"), *((cell, "") for cell in row[1:])] for row in benchmark.rows())
        screen.table(columns, [head, *rows])
        for result in benchmark.results:
            if result.problem:
                screen.line((result.contender, "bold"), ("  ", ""), (result.problem, _PROBLEM))
        if benchmark.too_small:
            screen.line((benchmark.too_small, _PROBLEM))
    for agreement in agreements:
        style = _PROBLEM if agreement.problem else _THEIRS if agreement.differing else _SAME
        first, *lines = str(agreement).split("\n")
        screen.line()
        screen.line((first, style))
        for number, line in enumerate(lines):
            screen.line((line, (_LINE, _OURS, _THEIRS)[number % 3]))
