"""`trietok bench`: how fast trietok is on the user's own text, beside other tokenizers, and whether the ids agree."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from trietok.cli import options
from trietok.cli.options import lines_of
from trietok.cli.output import json_line, on_terminal, reporting, visible, warn, write_line, writing
from trietok.errors import InputError
from trietok.workbench.benchmarking.bench import CONTENDERS

if TYPE_CHECKING:
    from trietok.workbench.benchmarking.bench import Agreement, Benchmark

_DIFFERENT = 1
_OTHERS = ",".join(name for name in CONTENDERS if name != "trietok")
_SAME, _OURS, _THEIRS, _PROBLEM, _LINE = "green", "green", "red", "yellow", "dim"


@click.command()
@click.argument("file", type=options.PATH)
@options.model
@click.option(
    "--against",
    default=_OTHERS,
    metavar="NAMES",
    help="The tokenizers to compare with, separated by commas; '' for none.",
)
@click.option(
    "--rounds",
    type=options.NOT_NEGATIVE,
    default=3,
    metavar="N",
    help="Run each tokenizer in N processes; 0, with --validate, skips measuring.",
)
@click.option(
    "--passes",
    type=click.IntRange(min=2),
    default=3,
    metavar="N",
    help="Make N passes over the text in each process; the first is cold.",
)
@click.option("--limit", type=options.POSITIVE, metavar="N", help="Take the first N lines.")
@click.option("--validate", "validate_ids", is_flag=True, help="Compare the ids too.")
@click.option("--strict", is_flag=True, help="With --validate: exit with 1 if ids differ or cannot be compared.")
@click.option(
    "--show", type=options.NOT_NEGATIVE, default=5, metavar="N", help="With --validate: show the first N differences."
)
@options.column
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, with every number.")
@options.offline
@click.pass_context
def bench(
    ctx: click.Context,
    file: str,
    model: str,
    against: str,
    rounds: int,
    passes: int,
    limit: int | None,
    validate_ids: bool,
    strict: bool,
    show: int,
    column: str,
    as_json: bool,
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
    from trietok.workbench.benchmarking.bench import measure, validate  # other commands do not wait for what it imports

    with reporting():
        if strict and not validate_ids:
            ctx.fail("--strict needs --validate.")
        if not rounds and not validate_ids:
            ctx.fail("--rounds 0 needs --validate.")
        names = [name.strip() for name in against.split(",") if name.strip()]
        if validate_ids and not set(names) - {"trietok"}:
            ctx.fail("--validate compares with others; name one with --against.")
        texts = [line.text for line in itertools.islice(lines_of(ctx, (), (file,), "texts", column), limit)]
        if not any(texts):
            raise InputError(f"{'standard input' if file == '-' else file} holds no text; there is nothing to measure")
        benchmark, agreements = None, None
        with _progress() as progress:
            if rounds:
                benchmark = measure(texts, model, against=names, rounds=rounds, passes=passes, progress=progress)
            if validate_ids:
                agreements = validate(texts, model, against=names, most=show, progress=progress)
        if as_json:
            write_line(_as_json(benchmark, agreements))
        elif on_terminal():
            _write_tables(benchmark, agreements or [])
        else:
            parts = [] if benchmark is None else [str(benchmark)]
            parts += map(str, agreements or [])
            for line in "\n".join(parts).split("\n"):
                write_line(visible(line))
    if agreements and all(agreement.problem for agreement in agreements):
        warn("no ids were compared: none of the other tokenizers could be run; the reasons stand above")
    if strict and any(agreement.problem or agreement.differing for agreement in agreements or []):
        raise click.exceptions.Exit(_DIFFERENT)


def _as_json(benchmark: Benchmark | None, agreements: list[Agreement] | None) -> str:
    values = {} if benchmark is None else benchmark.to_dict()
    if agreements is not None:
        values["validation"] = [agreement.to_dict() for agreement in agreements]
    return json_line(values)


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


def _write_tables(benchmark: Benchmark | None, agreements: list[Agreement]) -> None:
    """For a terminal: a table of speeds, then what differs, trietok's tokens in green, the others' in red."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.workbench.benchmarking.bench import HEAD

    # Everything is put together from `Text`: a string would be searched for markup, and [CLS] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        if benchmark is not None:
            console.print(Text(visible(benchmark.summary), style="bold"))
            table = Table.grid(padding=(0, 2))
            for number in range(len(HEAD)):
                table.add_column(justify="left" if number < 2 else "right", overflow="fold")
            table.add_row(*(Text(f"{upper}\n{lower}".strip(), style=_LINE) for upper, lower in HEAD))
            for row in benchmark.rows():
                table.add_row(Text(row[0], style="bold"), *map(Text, row[1:]))
            console.print(table)
            for result in benchmark.results:
                if result.problem:
                    console.print(Text.assemble((result.contender, "bold"), "  ", (visible(result.problem), _PROBLEM)))
        for agreement in agreements:
            console.print()
            style = _PROBLEM if agreement.problem else _THEIRS if agreement.differing else _SAME
            first, *lines = str(agreement).split("\n")
            console.print(Text(visible(first), style=style))
            for number, line in enumerate(lines):
                console.print(Text(visible(line), style=(_LINE, _OURS, _THEIRS)[number % 3]))
