"""`trietok bench`: how fast trietok is on the user's own text, beside other tokenizers, and whether the ids agree."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from trietok.cli import options
from trietok.cli.options import lines_of
from trietok.cli.output import warn
from trietok.cli.results import write_result
from trietok.errors import InputError
from trietok.workbench.engines.worker import OTHERS

if TYPE_CHECKING:
    from trietok.cli.tables import Screen
    from trietok.workbench.benchmarking.bench import Agreement, Benchmark

_DIFFERENT = 1
_SAME, _OURS, _THEIRS, _PROBLEM, _LINE = "green", "green", "red", "yellow", "dim"


@options.command()
@click.argument("file", type=options.PATH)
@options.model
@options.name(
    "--against",
    metavar="NAMES",
    help=f"The tokenizers to compare with, separated by commas: {', '.join(OTHERS)}; '' for none. By default, those "
    "of the same profile.",
)
@options.number(
    "--rounds",
    type=options.NOT_NEGATIVE,
    default=3,
    help="Run each tokenizer in N processes; 0, with --validate, skips measuring.",
)
@options.number(
    "--passes",
    type=click.IntRange(min=2),
    default=3,
    help="Make N passes over the text in each process; the first is cold.",
)
@options.number("--limit", help="Take the first N lines.")
@options.flag("--validate", help="Compare the ids too.")
@options.flag("--strict", help="With --validate: exit with 1 if ids differ or cannot be compared.")
@options.number("--show", type=options.NOT_NEGATIVE, default=5, help="With --validate: show the first N differences.")
@options.column
@options.json_flag(help="Write one JSON object, with every number.")
@options.offline
def bench(
    file: str,
    model: str,
    against: str | None,
    limit: int | None,
    validate: bool,
    strict: bool,
    show: int,
    column: str,
    as_json: bool,
    **runs: int,
) -> None:
    """Measure how fast trietok and other tokenizers encode your text, each in its own process and on one thread.

    FILE is a .txt (one text a line), .jsonl or .parquet file; - is standard input.

    Cold is the first pass over the text in a fresh process; warm is the best of the later passes. The figures are
    medians of the rounds.

    \b
    Examples:
      trietok bench texts.txt --against transformers,tokenizers
      trietok bench texts.txt --model my-tokenizer --rounds 0 --validate --strict
    """
    from trietok.workbench.benchmarking import bench as made  # other commands do not wait for what it imports

    if strict and not validate:
        raise click.UsageError("--strict needs --validate.")
    if not runs["rounds"] and not validate:
        raise click.UsageError("--rounds 0 needs --validate.")
    names = None if against is None else [name.strip() for name in against.split(",") if name.strip()]
    if validate and names is not None and not set(names) - {"trietok"}:
        raise click.UsageError("--validate compares with others; name one with --against.")
    texts = [line.text for line in itertools.islice(lines_of((), (file,), "texts", column), limit)]
    if not any(texts):
        raise InputError(f"{'standard input' if file == '-' else file} holds no text; there is nothing to measure")
    choice = options.choice_of(model)
    like: dict[str, Any] = {"against": names, "profile": choice.kind.profile}
    benchmark, agreements = None, []
    with _progress() as progress:
        if runs["rounds"]:
            benchmark = made.measure(texts, model, **like, progress=progress, **runs)
        if validate:
            agreements = made.validate(texts, model, **like, most=show, progress=progress)
    values = {} if benchmark is None else benchmark.to_dict()
    if validate:
        values["validation"] = [agreement.to_dict() for agreement in agreements]
    parts = [*([] if benchmark is None else [benchmark]), *agreements]
    write_result(
        values,
        as_json,
        lambda: "\n".join(map(str, parts)).split("\n"),
        lambda screen: _draw(screen, benchmark, agreements),
    )
    if agreements and all(agreement.problem for agreement in agreements):
        warn("no ids were compared: none of the other tokenizers could be run; the reasons stand above")
    if strict and any(agreement.problem or agreement.differing for agreement in agreements):
        raise click.exceptions.Exit(_DIFFERENT)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None] | None]:
    """A note of what is going on, where standard error is a terminal; nothing that moves while something is timed."""
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
    from trietok.workbench.benchmarking.bench import HEAD

    if benchmark is not None:
        screen.line((benchmark.summary, "bold"))
        columns = [{"justify": "left" if number < 2 else "right", "overflow": "fold"} for number in range(len(HEAD))]
        head = [([each for each in (upper, lower) if each], _LINE) for upper, lower in HEAD]
        rows = ([(row[0], "bold"), *((cell, "") for cell in row[1:])] for row in benchmark.rows())
        screen.table(columns, [head, *rows])
        for result in benchmark.results:
            if result.problem:
                screen.line((result.contender, "bold"), ("  ", ""), (result.problem, _PROBLEM))
    for agreement in agreements:
        style = _PROBLEM if agreement.problem else _THEIRS if agreement.differing else _SAME
        first, *lines = str(agreement).split("\n")
        screen.line()
        screen.line((first, style))
        for number, line in enumerate(lines):
            screen.line((line, (_LINE, _OURS, _THEIRS)[number % 3]))
