"""`trietok encode`: texts to ids, special tokens included."""

from __future__ import annotations

import re
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import STANDARD_INPUT, Line, check_length, check_pair, ids_in, lines_of, tokenizer_of
from trietok.cli.output import no_such_option, on_terminal, reporting, visible, warn, write_line
from trietok.cli.progress import shown_reading
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


# `trietok tokenize`: texts to tokens, without special tokens around them.


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


# `trietok decode`: ids to text.


_NEGATIVE = re.compile(r"-[0-9]")


# -1 is an id to refuse with a reason, not an option; what does look like an option is refused below.
@click.command(context_settings={"ignore_unknown_options": True})
@options.ids
@options.id_files
@options.model
@options.skip_special_tokens
@options.json_lines
@options.offline
@click.pass_context
def decode(
    ctx: click.Context,
    ids: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    skip_special_tokens: bool,
    as_json: bool,
) -> None:
    """Turn ids back into text.

    The arguments are the ids of one text; - reads ids from standard input, those of one text on each line.

    The ids on a line are separated by spaces or commas, or are a JSON list, or the input_ids of a JSON object, as
    trietok encode --json writes it.

    \b
    Examples:
      trietok decode 2 456 490 21 3
      trietok encode --json "Hello!" | trietok decode --skip-special-tokens
    """
    with reporting():
        given = _one_sequence(ctx, ids)
        lines = lines_of(ctx, given, files, "ids")
        tokenizer = tokenizer_of(model)
        with shown_reading(lines, "decoding", while_writing=True) as shown:
            for line in shown:
                result = _decode(ctx, tokenizer, line, skip_special_tokens, with_tokens=as_json)
                if as_json:
                    write_line(result.to_json())
                else:
                    write_line(visible(result.text) if on_terminal() else result.text)


def _one_sequence(ctx: click.Context, arguments: tuple[str, ...]) -> list[str]:
    """The arguments as one text; unknown options come among them, so that negative ids do."""
    for argument in arguments:
        if argument == STANDARD_INPUT:
            if len(arguments) > 1:
                ctx.fail("- stands alone: it reads all ids from standard input.")
        elif argument.startswith("-") and not _NEGATIVE.match(argument):
            raise no_such_option(argument, ctx)
    return [" ".join(arguments)] if arguments else []


def _decode(ctx: click.Context, tokenizer: Any, line: Line, skip_special_tokens: bool, with_tokens: bool) -> Result:
    try:
        ids = ids_in(line.text)
    except trietok.InputError as error:
        if not line.where:
            ctx.fail(str(error))
        raise trietok.InputError(f"{line.where}: {error}") from None
    try:
        tokens = tokenizer.convert_ids_to_tokens(ids) if with_tokens else []  # of all ids, to stand beside them
        text = tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
    except trietok.TokenIdError as error:
        if not line.where:
            raise
        message = f"{line.where}: {error}"
        raise trietok.TokenIdError(message, token_id=error.token_id, max_id=error.max_id) from None
    return Result(text, tokens, ids)
