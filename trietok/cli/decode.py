"""`trietok decode`: ids to text."""

from __future__ import annotations

import re
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.inputs import STANDARD_INPUT, Line, ids_in, lines_of, tokenizer_of
from trietok.cli.output import on_terminal, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.cli.results import Result
from trietok.cli.usage import no_such_option

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
