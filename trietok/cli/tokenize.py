"""`trietok tokenize`: texts to tokens, without special tokens around them."""

from __future__ import annotations

import typer

from trietok.cli.inputs import lines_of, tokenizer_of
from trietok.cli.options import DEFAULT_MODEL, AsJson, Model, TextFiles, Texts
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.cli.results import Result, printer, shows_all
from trietok.cli.training_options import Column


def tokenize(
    ctx: typer.Context,
    texts: Texts = None,
    file: TextFiles = None,
    model: Model = DEFAULT_MODEL,
    column: Column = "text",
    as_json: AsJson = False,
) -> None:
    """Split texts into tokens, without special tokens around them."""
    with reporting():
        lines = lines_of(ctx, texts, file, "texts", column)
        tokenizer = tokenizer_of(model)
        write = printer(tokenizer, as_json, plain=lambda result: " ".join(result.tokens))
        with_ids = shows_all(as_json)
        with shown_reading(lines, "tokenizing", while_writing=True) as shown:
            for line in shown:
                tokens = tokenizer.tokenize(line.text)
                write(Result(line.text, tokens, tokenizer.convert_tokens_to_ids(tokens) if with_ids else []))
