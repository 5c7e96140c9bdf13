"""`trietok tokenize`: texts to tokens, without special tokens around them."""

from __future__ import annotations

import click

from trietok.cli import options
from trietok.cli.inputs import lines_of, tokenizer_of
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.cli.results import Result, printer, shows_all


@click.command()
@options.texts
@options.text_files
@options.model
@options.column
@options.json_lines
@options.offline
@click.pass_context
def tokenize(
    ctx: click.Context, texts: tuple[str, ...], files: tuple[str, ...], model: str, column: str, as_json: bool
) -> None:
    """Split texts into tokens, without adding special tokens.

    Each argument is one text; - reads texts from standard input, one a line.

    \b
    Examples:
      trietok tokenize "Tokenizers turn text into ids."
      trietok tokenize --model my-tokenizer --file texts.txt
    """
    with reporting():
        lines = lines_of(ctx, texts, files, "texts", column)
        tokenizer = tokenizer_of(model)
        write = printer(tokenizer, as_json, plain=lambda result: " ".join(result.tokens))
        with_ids = shows_all(as_json)
        with shown_reading(lines, "tokenizing", while_writing=True) as shown:
            for line in shown:
                tokens = tokenizer.tokenize(line.text)
                write(Result(line.text, tokens, tokenizer.convert_tokens_to_ids(tokens) if with_ids else []))
