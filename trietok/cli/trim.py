"""`trietok trim`: a smaller tokenizer for the user's text, with the same tokens for it."""
# ruff: noqa: UP045

from __future__ import annotations

from typing import Annotated, Any, Optional

import typer

import trietok
from trietok.cli import training_options
from trietok.cli.changed_vocabulary import AsJson, Fast, Plan, require_new, rows_command, rows_lines, save
from trietok.cli.inputs import Lines, tokenizer_of
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting

Trimmed = Annotated[
    str,
    typer.Argument(
        metavar="NAME_OR_DIR",
        help="The tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub.",
        show_default=False,
    ),
]
Keep = Annotated[
    Optional[list[str]],
    typer.Option("--keep", metavar="FILE", help="Keep the tokens of a file, one a line. May be repeated."),
]
KeepPrefix = Annotated[
    Optional[list[str]],
    typer.Option("--keep-prefix", metavar="TEXT", help="Keep every entry that begins with TEXT. May be repeated."),
]
Unused = Annotated[
    str, typer.Option("--unused", metavar="N|all", help="Keep N free slots such as [unused1], or all of them.")
]
Characters = Annotated[bool, typer.Option("--characters", help="Keep every entry that is a single character.")]
MinFrequency = Annotated[
    int,
    typer.Option("--min-frequency", min=1, metavar="N", help="Drop entries that the text gives fewer than N times."),
]
Check = Annotated[
    Optional[list[str]],
    typer.Option(
        "--check", metavar="FILE", help="Say how much other text changes. May be repeated.", show_default=False
    ),
]


def trim(
    ctx: typer.Context,
    model: Trimmed,
    files: training_options.Files,
    output: training_options.Output,
    keep: Keep = None,
    keep_prefix: KeepPrefix = None,
    unused: Unused = "0",
    characters: Characters = False,
    min_frequency: MinFrequency = 1,
    check: Check = None,
    plan: Plan = None,
    fast: Fast = False,
    column: training_options.Column = "text",
    errors: training_options.Errors = "strict",
    as_json: AsJson = False,
) -> None:
    """Make a smaller tokenizer that keeps what a text needs: the text keeps its tokens, and that is proved.

    Each text is encoded with both tokenizers. The ids move, and the rows of a model have to follow.
    """
    with reporting():
        if unused != "all" and not (unused.isascii() and unused.isdigit() and len(unused) < 10):
            ctx.fail("--unused takes a number, or all.")
        require_new(output)
        texts = training_options.text_files(files, column, errors)
        checked = training_options.text_files(check, column, errors) if check else None
        tokenizer = tokenizer_of(model, fast=fast)
        with shown_reading(texts, "looking") as shown:
            trimmed = trietok.trim(
                tokenizer,
                shown,
                keep=[token for line in Lines(files=keep or ()) if (token := line.text.removesuffix("\r"))],
                keep_prefixes=keep_prefix or (),
                unused=unused if unused == "all" else int(unused),
                characters=characters,
                min_frequency=min_frequency,
                check_texts=checked,
            )
        save(trimmed.tokenizer, model, output, trimmed.plan, plan)
        if as_json:
            write_line(json_line(_values(trimmed, model, output, plan)))
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
