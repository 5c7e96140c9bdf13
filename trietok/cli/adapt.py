"""`trietok adapt`: a model and its tokenizer made ready for some texts, in one go."""

from __future__ import annotations

import click

import trietok
from trietok.cli import changed_vocabulary, options, training_options
from trietok.cli import rows as rows_options
from trietok.cli import suggest as suggest_options
from trietok.cli.changed_vocabulary import require_new
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import Watched, shown_bars
from trietok.cli.reporting import reporting
from trietok.cli.suggest import words_of


@click.command()
@rows_options.model_dir
@rows_options.out
@click.option(
    "--texts",
    "-t",
    type=options.PATH,
    required=True,
    multiple=True,
    metavar="FILES",
    help="Files or quoted globs with texts like those that the model is for; see trietok suggest. May be repeated.",
)
@click.option("--most", "-n", type=options.POSITIVE, default=500, metavar="N", help="Add at most N words.")
@suggest_options.min_frequency
@click.option(
    "--as",
    "way",
    type=click.Choice(["wordpiece", "added", "unused"]),
    default="wordpiece",
    help="As entries of the WordPiece vocabulary, as added tokens that match single words, or as such tokens in the "
    "free slots [unusedN].",
)
@suggest_options.phrases
@suggest_options.leave_out
@rows_options.new
@rows_options.also
@rows_options.leave
@rows_options.multiple_of
@options.column
@training_options.errors
@changed_vocabulary.as_json
@options.offline
def adapt(
    model_dir: str,
    out: str,
    texts: tuple[str, ...],
    most: int,
    min_frequency: int,
    way: str,
    phrases: int,
    leave_out: tuple[str, ...],
    new: str | None,
    also: tuple[str, ...],
    leave: tuple[str, ...],
    multiple_of: int,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Write a model anew with the words of some texts that are most worth a token, and a row for each of them.

    MODEL_DIR is the model's directory, with its config.json and weights; OUT is the directory to write, a new or empty
    one. MODEL_DIR stays as it is. No other token gets another id or row, and that is proved.
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
                way=way,
                phrases=phrases,
                leave_out=words_of(leave_out),
                new=new or "pieces",
                also=also,
                leave=leave,
                multiple_of=multiple_of,
                progress=None if bars is None else rows_options.progress(bars),
            )
        if as_json:
            write_line(json_line(adapted.to_dict()))
            return
        for line in str(adapted).split("\n"):
            write_line(visible(line))
