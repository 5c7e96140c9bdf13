"""`trietok decode`: ids to text."""

from __future__ import annotations

import re
from typing import Any

import typer

import trietok
from trietok.cli.inputs import STANDARD_INPUT, Line, ids_in, lines_of, tokenizer_of
from trietok.cli.options import DEFAULT_MODEL, AsJson, IdFiles, Ids, Model, SkipSpecialTokens
from trietok.cli.output import on_terminal, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.cli.results import Result

_NEGATIVE = re.compile(r"-[0-9]")


def decode(
    ctx: typer.Context,
    ids: Ids = None,
    file: IdFiles = None,
    model: Model = DEFAULT_MODEL,
    skip_special_tokens: SkipSpecialTokens = False,
    as_json: AsJson = False,
) -> None:
    """Turn ids back into text.

    A line of a file holds ids between spaces or commas, a JSON list of them, or a JSON object with input_ids, as
    trietok encode --json writes it.
    """
    with reporting():
        given = _one_sequence(ctx, ids or [])
        lines = lines_of(ctx, given, file, "ids")
        tokenizer = tokenizer_of(model)
        with shown_reading(lines, "decoding", while_writing=True) as shown:
            for line in shown:
                result = _decode(ctx, tokenizer, line, skip_special_tokens, with_tokens=as_json)
                if as_json:
                    write_line(result.to_json())
                else:
                    write_line(visible(result.text) if on_terminal() else result.text)


def _one_sequence(ctx: typer.Context, arguments: list[str]) -> list[str]:
    """The arguments as one text; unknown options come among them, so that negative ids do."""
    for argument in arguments:
        if argument == STANDARD_INPUT:
            if len(arguments) > 1:
                ctx.fail("- stands alone: it reads all ids from standard input.")
        elif argument.startswith("-") and not _NEGATIVE.match(argument):
            ctx.fail(f"No such option: {argument}")
    return [" ".join(arguments)] if arguments else []


def _decode(ctx: typer.Context, tokenizer: Any, line: Line, skip_special_tokens: bool, with_tokens: bool) -> Result:
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
