"""`trietok suggest`: which words of the user's text to add to a tokenizer, and the tokenizer with them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

import trietok
from trietok.cli import changed_vocabulary, options, training_options
from trietok.cli.inputs import STANDARD_INPUT, Lines
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting, warn
from trietok.files.formats import has_tokenizer_json
from trietok.files.new_directory import checked_new
from trietok.showing.lists import number_of

_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"

min_frequency = click.option(
    "--min-frequency",
    type=options.POSITIVE,
    default=3,
    metavar="N",
    help="Leave out words that occur fewer than N times.",
)
phrases = click.option(
    "--phrases",
    type=click.IntRange(min=0, max=4),
    default=0,
    metavar="N",
    help="Include phrases of 2 to N words (N at most 4), as added tokens.",
)
leave_out = click.option(
    "--leave-out",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Leave out the words of a file, one a line. May be repeated.",
)


@click.command()
@click.argument("files", nargs=-1, type=options.PATH)
@options.model
@click.option("--most", "-n", type=options.POSITIVE, default=500, metavar="N", help="Suggest at most N words.")
@min_frequency
@click.option(
    "--unknown-weight",
    type=click.FloatRange(min=0),
    default=2.0,
    metavar="W",
    help="Count each [UNK] avoided as W saved tokens.",
)
@click.option(
    "--as",
    "adding",
    type=options.Ways(["wordpiece", "single-word"], {"added": "single-word"}),
    default="wordpiece",
    help="Add words as vocabulary entries, or as added tokens that match whole words (single-word).",
)
@click.option("--leave-others", is_flag=True, help="Suggest no word that changes the tokens of another word.")
@click.option(
    "--max-words",
    type=options.POSITIVE,
    default=1_000_000,
    metavar="N",
    help="Hold at most N different words in memory; drop the rarest.",
)
@phrases
@leave_out
@options.output("Save a tokenizer with the words added; a new or empty directory.", also="--apply")
@options.column
@training_options.errors
@changed_vocabulary.as_json
@options.offline
@click.pass_context
def suggest(
    ctx: click.Context,
    files: tuple[str, ...],
    model: str,
    most: int,
    min_frequency: int,
    unknown_weight: float,
    adding: str,
    leave_others: bool,
    max_words: int,
    phrases: int,
    leave_out: tuple[str, ...],
    output: str | None,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """List the words of your texts that are worth adding to a tokenizer, ranked by the tokens they save.

    FILES are .txt (one text a line), .jsonl or .parquet files, or quoted globs. The first two may be compressed with
    gzip or zstd. Without FILES, or for -, texts come from standard input.

    The tokenizer stays as it is; --output saves a copy with the words added.

    \b
    Examples:
      trietok suggest 'texts/*.txt' --most 50
      trietok suggest texts.txt --model my-tokenizer --output with-words
    """
    with reporting():
        if not files:
            if sys.stdin is None or sys.stdin.isatty():
                ctx.fail("Give FILES, or text through a pipe; - reads what you type.")
            files = (STANDARD_INPUT,)
        check_phrases(phrases, adding)
        if output is not None:
            checked_new(output)
        texts = training_options.text_files(files, column, errors)
        tokenizer = trietok.BertTokenizer.from_pretrained(model)
        with shown_reading(texts, "counting words") as shown:
            suggestions = trietok.suggest_tokens(
                tokenizer,
                shown,
                max_suggestions=most,
                min_frequency=min_frequency,
                unknown_weight=unknown_weight,
                adding=adding,
                leave_others=leave_others,
                max_words=max_words,
                phrases=phrases,
                leave_out=words_of(leave_out),
            )
        applied = None if output is None else _apply(tokenizer, suggestions, output)
        if as_json:
            write_line(json_line({**suggestions.to_dict(), "applied": applied}))
        elif on_terminal():
            _write_table(suggestions, applied)
        else:
            for line in [*str(suggestions).split("\n"), *_applied_lines(applied)]:
                write_line(visible(line))
        if output is not None and has_tokenizer_json(model):
            warn(
                f"{model} has a tokenizer.json, and {output} has none: its ids are those of the slow profile; trietok "
                "adapt, and trietok add with a list of the words, write one"
            )


def check_phrases(phrases: int, way: str) -> None:
    """Raise for phrases that would be entries."""
    if phrases and way == "wordpiece":
        raise trietok.InputError(
            "a phrase cannot be an entry, since BERT cuts texts at spaces before it looks entries up; --phrases needs "
            "--as single-word"
        )


def words_of(files: Sequence[str]) -> list[str]:
    """The words of files, one a line."""
    return [word for line in Lines(files=files) if (word := line.text.strip())]


def _apply(tokenizer: Any, suggestions: trietok.Suggestions, out: str) -> dict[str, Any]:
    applied = trietok.add_suggestions(tokenizer, suggestions)
    tokenizer.save_pretrained(out)
    rows = {"rows": tokenizer.embedding_rows(1), "rows_multiple_of_8": tokenizer.embedding_rows()}
    return {"out": out, **applied._asdict(), **rows}


def _applied_lines(applied: dict[str, Any] | None) -> list[str]:
    if applied is None:
        return []
    return [
        f"written to {applied['out']}: {number_of(applied['added'], 'word')} added, "
        f"{applied['verified']:,} others verified, {applied['changed']:,} of them changed as said",
        f"the model needs {applied['rows']} embedding rows; {applied['rows_multiple_of_8']} as a multiple of 8",
    ]


def _write_table(suggestions: trietok.Suggestions, applied: dict[str, Any] | None) -> None:
    """For a terminal: all suggestions, unknown words in red."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.workbench.suggesting.report import HEAD

    # Everything is put together from `Text`: a string would be searched for markup, and [UNK] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        table = Table.grid(padding=(0, 2))
        for justify in ("left", "right", "right", "left"):
            table.add_column(justify=justify)
        table.add_row(*(Text(name, style=_PIECES) for name in HEAD))
        for suggestion, row in zip(suggestions.suggestions, suggestions.rows(), strict=True):
            word, count, saved, pieces = map(visible, row)
            style = _UNKNOWN if suggestion.is_unknown else _PIECES
            table.add_row(Text(word, style=_WORD), Text(count), Text(saved, style=_NUMBER), Text(pieces, style=style))
        if suggestions.suggestions:
            console.print(table)
            console.print()
        for line in [*suggestions.summary(), *_applied_lines(applied)]:
            console.print(Text(visible(line)))
