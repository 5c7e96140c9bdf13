"""`trietok encode`: texts to ids, special tokens included."""

from __future__ import annotations

from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.inputs import Line, check_length, check_pair, lines_of, tokenizer_of
from trietok.cli.output import on_terminal
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting, warn
from trietok.cli.results import Place, Result, printer, shows_all


@click.command()
@options.texts
@options.text_files
@options.model
@options.pair
@options.no_special_tokens
@options.max_length
@options.column
@options.json_lines
@options.offline
@click.pass_context
def encode(
    ctx: click.Context,
    texts: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    pair: str | None,
    no_special_tokens: bool,
    max_length: int | None,
    column: str,
    as_json: bool,
) -> None:
    """Turn texts into ids, special tokens included.

    Each argument is one text; - reads texts from standard input, one a line.

    \b
    Examples:
      trietok encode "Tokenizers turn text into ids."
      trietok encode --file texts.txt --max-length 512 --json
      trietok encode "Is it?" --pair "It is."
    """
    with reporting():
        check_pair(ctx, pair, texts, files)
        lines = lines_of(ctx, texts, files, "texts", column)
        tokenizer = tokenizer_of(model)
        if not no_special_tokens:
            check_length(tokenizer, max_length, is_pair=pair is not None)
        write = printer(tokenizer, as_json, plain=lambda result: " ".join(map(str, result.ids)))
        with_tokens, with_places = shows_all(as_json), not as_json and on_terminal()
        warned = max_length is not None
        with shown_reading(lines, "encoding", while_writing=True) as shown:
            for line in shown:
                encoding = _encode(tokenizer, line.text, pair, not no_special_tokens, max_length)
                result = _result(tokenizer, line.text, pair, encoding, with_tokens)
                if with_places:
                    result = result._replace(places=_places(encoding))
                write(result)
                if not warned and len(result.ids) > tokenizer.model_max_length:
                    warned = True
                    _warn_of_length(line, len(result.ids), tokenizer.model_max_length)


def _encode(
    tokenizer: Any, text: str, pair: str | None, add_special_tokens: bool, max_length: int | None
) -> trietok.BatchEncoding:
    encoding: trietok.BatchEncoding = tokenizer(
        text,
        pair,
        add_special_tokens=add_special_tokens,
        truncation=max_length is not None,
        max_length=max_length,
        return_attention_mask=False,
        verbose=False,
    )
    return encoding


def _result(tokenizer: Any, text: str, pair: str | None, encoding: trietok.BatchEncoding, with_tokens: bool) -> Result:
    ids = encoding["input_ids"]
    types = None if pair is None else encoding.get("token_type_ids")
    return Result(text, tokenizer.convert_ids_to_tokens(ids) if with_tokens else [], ids, pair, types)


def _places(encoding: trietok.BatchEncoding) -> list[Place] | None:
    """Where each token is from; None where the tokenizer does not tell."""
    try:
        texts = encoding.sequence_ids()
        spans = [encoding.token_to_chars(number) for number in range(len(texts))]
    except trietok.TrietokError:
        return None
    return [
        None if which is None or span is None else (which, span.start, span.end)
        for which, span in zip(texts, spans, strict=True)
    ]


def _warn_of_length(line: Line, length: int, limit: int) -> None:
    where = line.where or "the text"
    warn(f"{where} has {length} tokens, more than the {limit} the model takes; --max-length {limit} truncates")
