"""`trietok adapt`: a model and its tokenizer made ready for some texts, in one go."""

from __future__ import annotations

import click

import trietok
from trietok.cli import changed_vocabulary, options, training_options
from trietok.cli import rows as rows_options
from trietok.cli import suggest as suggest_options
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import Watched, shown_bars
from trietok.cli.reporting import reporting
from trietok.cli.suggest import check_phrases, words_of
from trietok.files.new_directory import checked_new


@click.command()
@rows_options.model_dir
@options.output(required=True)
@click.option(
    "--texts",
    "-t",
    type=options.PATH,
    required=True,
    multiple=True,
    metavar="FILE",
    help="Find words in this file or quoted glob (.txt, .jsonl or .parquet). May be repeated.",
)
@click.option("--most", "-n", type=options.POSITIVE, default=500, metavar="N", help="Add at most N words.")
@suggest_options.min_frequency
@click.option(
    "--as",
    "way",
    type=options.Ways(["wordpiece", "single-word", "unused"], {"added": "single-word"}),
    default="wordpiece",
    help="Add words as vocabulary entries, as added tokens that match whole words (single-word), or as whole-word "
    "tokens in the free slots [unusedN] (unused).",
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
    output: str,
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
    """Find the words of your texts that most deserve a token, and add them to a model and its tokenizer.

    MODEL_DIR is the model's directory, with its config.json and weights; it stays as it is. The command writes a copy
    in which each new word has a row, and checks that all other tokens keep their ids and rows.

    \b
    Examples:
      trietok adapt bert-small --texts 'texts/*.txt' --output adapted
      trietok adapt bert-small --texts notes.jsonl --column note --most 200 --output adapted
    """
    with reporting():
        check_phrases(phrases, way)
        checked_new(output)
        files = training_options.text_files(texts, column, errors)
        with shown_bars(transient=True) as bars:
            adapted = trietok.adapt(
                model_dir,
                output,
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
