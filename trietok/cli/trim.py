"""`trietok trim`: a smaller tokenizer for the user's text, with the same tokens for it."""

from __future__ import annotations

from typing import Any

import click

import trietok
from trietok.cli import changed_vocabulary, options, training_options
from trietok.cli.changed_vocabulary import rows_command, rows_lines, save, tokenizer_to_change
from trietok.cli.inputs import Lines
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting
from trietok.files.new_directory import checked_new


@click.command()
@click.argument("model", type=options.PATH, metavar="NAME_OR_DIR")
@training_options.files
@training_options.output
@click.option(
    "--keep",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Keep the tokens of a file, one a line. May be repeated.",
)
@click.option(
    "--keep-prefix", multiple=True, metavar="TEXT", help="Keep every entry that begins with TEXT. May be repeated."
)
@click.option("--unused", default="0", metavar="N|all", help="Keep N free slots such as [unused1], or all of them.")
@click.option("--characters", is_flag=True, help="Keep every entry that is a single character.")
@click.option(
    "--min-frequency",
    type=options.POSITIVE,
    default=1,
    metavar="N",
    help="Drop entries that occur in the texts fewer than N times.",
)
@click.option(
    "--check",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Show how many texts of another file change. May be repeated.",
)
@changed_vocabulary.save_plan
@changed_vocabulary.fast
@options.column
@training_options.errors
@changed_vocabulary.as_json
@options.offline
@click.pass_context
def trim(
    ctx: click.Context,
    model: str,
    files: tuple[str, ...],
    output: str,
    keep: tuple[str, ...],
    keep_prefix: tuple[str, ...],
    unused: str,
    characters: bool,
    min_frequency: int,
    check: tuple[str, ...],
    save_plan: str | None,
    fast: bool | None,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Make a smaller tokenizer that gives your texts the same tokens.

    NAME_OR_DIR is the tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub. FILES are .txt (one
    text a line), .jsonl or .parquet files, or quoted globs. The first two may be compressed with gzip or zstd. - is
    standard input.

    The command checks each text with both tokenizers. Ids move; trietok rows moves the rows of a model with them.

    \b
    Examples:
      trietok trim trietok-en 'texts/*.txt' --output small
      trietok trim my-tokenizer texts.txt --keep terms.txt --characters --output small
    """
    with reporting():
        if unused != "all" and not (unused.isascii() and unused.isdigit() and len(unused) < 10):
            ctx.fail("--unused takes a number, or all.")
        checked_new(output)
        texts = training_options.text_files(files, column, errors)
        checked = training_options.text_files(check, column, errors) if check else None
        tokenizer = tokenizer_to_change(model, fast)
        with shown_reading(texts, "looking") as shown:
            trimmed = trietok.trim(
                tokenizer,
                shown,
                keep=[token for line in Lines(files=keep) if (token := line.text.removesuffix("\r"))],
                keep_prefixes=keep_prefix,
                unused=unused if unused == "all" else int(unused),
                characters=characters,
                min_frequency=min_frequency,
                check_texts=checked,
            )
        save(trimmed.tokenizer, model, output, trimmed.plan, save_plan)
        if as_json:
            write_line(json_line(_values(trimmed, model, output, save_plan)))
            return
        certificate = trimmed.certificate
        for line in (*certificate.lines(), *rows_lines(trimmed.tokenizer, model, output), certificate.proof):
            write_line(visible(line))


def _values(trimmed: trietok.Trimmed, model: str, out: str, plan: str | None) -> dict[str, Any]:
    return {
        "out": out,
        **trimmed.certificate.to_dict(),
        "plan": plan,
        "rows_command": rows_command(model, out),
    }
