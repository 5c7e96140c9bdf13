"""`trietok adapt`: a model and its tokenizer made ready for some texts, in one go."""

from __future__ import annotations

import enum
from typing import Annotated

import typer

import trietok
from trietok.cli import rows as rows_options
from trietok.cli import training_options
from trietok.cli.changed_vocabulary import AsJson, require_new
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import Watched, shown_bars
from trietok.cli.reporting import reporting
from trietok.cli.suggest import LeaveOut, MinFrequency, Phrases, words_of


class _Way(str, enum.Enum):
    """How words are added."""

    wordpiece = "wordpiece"
    added = "added"
    unused = "unused"


Texts = Annotated[
    list[str],
    typer.Option(
        "--texts",
        metavar="FILES",
        help="Files or quoted globs with texts like those that the model is for; see trietok suggest. May be repeated.",
        show_default=False,
    ),
]
Most = Annotated[int, typer.Option("--most", min=1, metavar="N", help="Add at most N words.")]
As = Annotated[
    _Way,
    typer.Option(
        "--as",
        help="As entries of the WordPiece vocabulary, as added tokens that match single words, or as such tokens in "
        "the free slots [unusedN].",
    ),
]


def adapt(
    model_dir: rows_options.ModelDir,
    out: rows_options.Out,
    texts: Texts,
    most: Most = 500,
    min_frequency: MinFrequency = 3,
    way: As = _Way.wordpiece,
    phrases: Phrases = 0,
    leave_out: LeaveOut = None,
    new: rows_options.New = None,
    also: rows_options.Also = None,
    leave: rows_options.Leave = None,
    multiple_of: rows_options.MultipleOf = 1,
    column: training_options.Column = "text",
    errors: training_options.Errors = "strict",
    as_json: AsJson = False,
) -> None:
    """Write a model anew with the words of some texts that are most worth a token, and a row for each of them.

    MODEL_DIR stays as it is. No other token gets another id or row, and that is proved.
    """
    with reporting():
        require_new(out)
        files = training_options.text_files(texts, column, errors)
        with shown_bars(transient=True) as bars:
            adapted = trietok.adapt(
                model_dir,
                out,
                files if bars is None else Watched(files, "reading", bars),
                most=most,
                min_frequency=min_frequency,
                way=way.value,
                phrases=phrases,
                leave_out=words_of(leave_out),
                new=new or "pieces",
                also=also or (),
                leave=leave or (),
                multiple_of=multiple_of,
                progress=None if bars is None else rows_options.progress(bars),
            )
        if as_json:
            write_line(json_line(adapted.to_dict()))
            return
        for line in str(adapted).split("\n"):
            write_line(visible(line))
