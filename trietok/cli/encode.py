"""`trietok encode`, `tokenize` and `decode`: texts to ids or tokens, and ids to text."""

from __future__ import annotations

import re
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.lines import Line, ids_in, lines_asked_for
from trietok.cli.options import STANDARD_INPUT, EncodingOptions, tokenizer_of
from trietok.cli.output import (
    Result,
    TokenPlace,
    no_such_option,
    on_one_line,
    on_terminal,
    warn,
    write_line,
)
from trietok.cli.progress import shown_reading
from trietok.cli.results import printer, shows_all


@options.command()
@options.texts_and_model
@options.encoding
@options.column
@options.json_offline
def encode(
    texts: tuple[str, ...],
    files: tuple[str, ...],
    model: str,
    how: EncodingOptions,
    column: str,
    as_json: bool,
) -> None:
    """Turn texts into ids, special tokens included.

    \b
    Examples:
      trietok encode "Tokenizers turn text into ids."
      trietok encode -f texts.txt --max-length 512 --json
      trietok encode "Is it?" --pair "It is."
    """
    how.check_arguments(texts, files)
    lines = lines_asked_for(texts, files, "texts", column)
    tokenizer = tokenizer_of(model)
    how.check_length(tokenizer)
    write = printer(tokenizer, as_json, plain=lambda result: " ".join(map(str, result.ids)))
    with_tokens, with_places = shows_all(as_json), not as_json and on_terminal()
    settings, limit, warned = how.settings, tokenizer.model_max_length, how.max_length is not None
    with shown_reading(lines, "encoding", while_writing=True) as shown:
        for line in shown:
            encoding = tokenizer(line.text, how.pair, return_attention_mask=False, **settings)
            ids = encoding["input_ids"]
            tokens = tokenizer.convert_ids_to_tokens(ids) if with_tokens else []
            types = None if how.pair is None else encoding.get("token_type_ids")
            write(
                Result(
                    line.text,
                    tokens,
                    ids,
                    how.pair,
                    types,
                    _places(encoding) if with_places else None,
                )
            )
            if not warned and len(ids) > limit:
                warned = True
                where = line.where or "the text"
                warn(
                    f"{where} has {len(ids)} tokens, more than the {limit} the model takes; "
                    f"--max-length {limit} truncates"
                )


def _places(encoding: trietok.BatchEncoding) -> list[TokenPlace] | None:
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


@options.command()
@options.texts_and_model
@options.column
@options.json_offline
def tokenize(
    texts: tuple[str, ...], files: tuple[str, ...], model: str, column: str, as_json: bool
) -> None:
    """Split texts into tokens, without adding special tokens.

    \b
    Examples:
      trietok tokenize "Tokenizers turn text into ids."
      trietok tokenize -m my-tokenizer -f texts.txt
    """
    lines = lines_asked_for(texts, files, "texts", column)
    tokenizer = tokenizer_of(model)
    write = printer(tokenizer, as_json, plain=lambda result: " ".join(result.tokens))
    with_ids = shows_all(as_json)
    with shown_reading(lines, "tokenizing", while_writing=True) as shown:
        for line in shown:
            tokens = tokenizer.tokenize(line.text)
            write(
                Result(
                    line.text, tokens, tokenizer.convert_tokens_to_ids(tokens) if with_ids else []
                )
            )


_NEGATIVE = re.compile(r"-[0-9]")


# -1 is an id to refuse with a reason, not an option; what does look like an option is refused
# below.
@options.command(context_settings={"ignore_unknown_options": True})
@click.argument("ids", nargs=-1, metavar="[ID]...")
@options.text_files
@options.model
@options.no_special_tokens
@options.json_offline
def decode(
    ids: tuple[str, ...], files: tuple[str, ...], model: str, no_special_tokens: bool, as_json: bool
) -> None:
    """Turn ids back into text.

    The arguments are the ids of one text; - reads ids from standard input, those of one text on
    each line.

    The ids on a line are separated by spaces or commas, or are a JSON list, or the input_ids of a
    JSON object, as trietok encode --json writes it.

    \b
    Examples:
      trietok decode 2 456 490 21 3
      trietok encode --json "Hello!" | trietok decode --no-special-tokens
    """
    given = _one_sequence(ids)
    lines = lines_asked_for(given, files, "ids")
    tokenizer = tokenizer_of(model)
    with shown_reading(lines, "decoding", while_writing=True) as shown:
        for line in shown:
            result = _decode(tokenizer, line, no_special_tokens, with_tokens=as_json)
            if as_json:
                write_line(result.to_json(profile=tokenizer.profile))
            else:
                write_line(on_one_line(result.text) if on_terminal() else result.text)


def _one_sequence(arguments: tuple[str, ...]) -> list[str]:
    """The arguments as one text; unknown options come among them, so that negative ids do."""
    for argument in arguments:
        if argument == STANDARD_INPUT:
            if len(arguments) > 1:
                raise click.UsageError("- stands alone: it reads all ids from standard input.")
        elif argument.startswith("-") and not _NEGATIVE.match(argument):
            raise no_such_option(argument, click.get_current_context())
    return [" ".join(arguments)] if arguments else []


def _decode(tokenizer: Any, line: Line, skip_special_tokens: bool, with_tokens: bool) -> Result:
    try:
        ids = ids_in(line.text)
    except trietok.InputError as error:
        if not line.where:
            raise click.UsageError(str(error)) from None
        raise trietok.InputError(f"{line.where}: {error}") from None
    try:
        # of all ids, to stand beside them
        tokens = tokenizer.convert_ids_to_tokens(ids) if with_tokens else []
        text = tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
    except trietok.TokenIdError as error:
        if not line.where:
            raise
        message = f"{line.where}: {error}"
        raise trietok.TokenIdError(message, token_id=error.token_id, max_id=error.max_id) from None
    return Result(text, tokens, ids)
