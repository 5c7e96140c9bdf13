"""`trietok suggest`: which words of the user's text to add to a tokenizer, and the tokenizer with them."""
# ruff: noqa: UP045

from __future__ import annotations

import enum
import sys
from typing import Annotated, Any, Optional

import typer

import trietok
from trietok.cli import training_options
from trietok.cli.changed_vocabulary import require_new
from trietok.cli.inputs import STANDARD_INPUT, Lines
from trietok.cli.options import DEFAULT_MODEL, Model
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting

_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"


class _Way(str, enum.Enum):
    """How words are added."""

    wordpiece = "wordpiece"
    added = "added"


Files = Annotated[
    Optional[list[str]],
    typer.Argument(
        metavar="FILES",
        help="Files or quoted globs: .txt, one text a line; .jsonl, one object a line; .parquet. .txt and .jsonl also "
        "with .gz. - is standard input, read without FILES too.",
        show_default=False,
    ),
]
Most = Annotated[int, typer.Option("--max", min=1, metavar="N", help="Suggest at most N words.")]
MinFrequency = Annotated[
    int, typer.Option("--min-frequency", min=1, metavar="N", help="Leave out words that stand fewer times in the text.")
]
UnknownWeight = Annotated[
    float,
    typer.Option("--unknown-weight", min=0, metavar="W", help="How many saved tokens one [UNK] less is worth."),
]
As = Annotated[
    _Way,
    typer.Option("--as", help="As entries of the WordPiece vocabulary, or as added tokens that match single words."),
]
LeaveOthers = Annotated[
    bool, typer.Option("--leave-others", help="Suggest no word that changes the tokens of another word.")
]
MaxWords = Annotated[
    int, typer.Option("--max-words", min=1, metavar="N", help="Hold N different words in memory; forget the rarest.")
]
Phrases = Annotated[
    int,
    typer.Option(
        "--phrases",
        min=0,
        max=4,
        metavar="N",
        help="Phrases of 2 to N words too, N at most 4, as added tokens.",
    ),
]
LeaveOut = Annotated[
    Optional[list[str]],
    typer.Option(
        "--leave-out",
        metavar="FILE",
        help="Suggest none of the words of a file, one a line. May be repeated.",
        show_default=False,
    ),
]
Apply = Annotated[
    Optional[str],
    typer.Option(
        "--apply", metavar="OUT", help="Save the tokenizer with the words added to a new directory.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write one JSON object, with every number.")]


def suggest(
    ctx: typer.Context,
    files: Files = None,
    model: Model = DEFAULT_MODEL,
    most: Most = 500,
    min_frequency: MinFrequency = 3,
    unknown_weight: UnknownWeight = 2.0,
    adding: As = _Way.wordpiece,
    leave_others: LeaveOthers = False,
    max_words: MaxWords = 1_000_000,
    phrases: Phrases = 0,
    leave_out: LeaveOut = None,
    out: Apply = None,
    column: training_options.Column = "text",
    errors: training_options.Errors = "strict",
    as_json: AsJson = False,
) -> None:
    """Say which words of a text to add to a tokenizer, ranked by the tokens that saves.

    The tokenizer stays as it is; with --apply OUT a copy with the words added is saved.
    """
    with reporting():
        if not files:
            if sys.stdin is None or sys.stdin.isatty():
                ctx.fail("Give FILES, or text through a pipe; - reads what you type.")
            files = [STANDARD_INPUT]
        if out is not None:
            require_new(out)
        texts = training_options.text_files(files, column, errors)
        tokenizer = trietok.BertTokenizer.from_pretrained(model)
        with shown_reading(texts, "counting words") as shown:
            suggestions = trietok.suggest_tokens(
                tokenizer,
                shown,
                max_suggestions=most,
                min_frequency=min_frequency,
                unknown_weight=unknown_weight,
                adding=adding.value,
                leave_others=leave_others,
                max_words=max_words,
                phrases=phrases,
                leave_out=words_of(leave_out),
            )
        applied = None if out is None else _apply(tokenizer, suggestions, out)
        if as_json:
            write_line(json_line({**suggestions.to_dict(), "applied": applied}))
        elif on_terminal():
            _write_table(suggestions, applied)
        else:
            for line in [*str(suggestions).split("\n"), *_applied_lines(applied)]:
                write_line(visible(line))


def words_of(files: list[str] | None) -> list[str]:
    """The words of files, one a line."""
    return [word for line in Lines(files=files or ()) if (word := line.text.strip())]


def _apply(tokenizer: Any, suggestions: trietok.Suggestions, out: str) -> dict[str, Any]:
    applied = trietok.add_suggestions(tokenizer, suggestions)
    tokenizer.save_pretrained(out)
    rows = {"rows": tokenizer.embedding_rows(1), "rows_multiple_of_8": tokenizer.embedding_rows()}
    return {"out": out, **applied._asdict(), **rows}


def _applied_lines(applied: dict[str, Any] | None) -> list[str]:
    if applied is None:
        return []
    return [
        f"written to {applied['out']}: {applied['added']:,} word{'' if applied['added'] == 1 else 's'} added, "
        f"{applied['verified']:,} others verified, {applied['changed']:,} of them changed as said",
        f"the model needs {applied['rows']} embedding rows; {applied['rows_multiple_of_8']} as a multiple of 8",
    ]


def _write_table(suggestions: trietok.Suggestions, applied: dict[str, Any] | None) -> None:
    """For a terminal: all suggestions, unknown words in red."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.suggesting.report import HEAD

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
