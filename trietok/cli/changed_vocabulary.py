"""What the commands share that write a tokenizer with other tokens: where it goes, and what is said at the end.

In: the tokenizer before and after. Out: a new directory, a plan of rows if asked for, and the lines that end a command.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

import trietok
from trietok.cli.inputs import tokenizer_of
from trietok.cli.options import PATH
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of

fast = click.option(
    "--fast/--slow",
    default=None,
    show_default=False,
    help="Use the fast profile, and write a tokenizer.json beside the vocab.txt; or the slow one, which writes none. "
    "By default, fast if the directory has a tokenizer.json.",
)
save_plan = click.option(
    "--save-plan", type=PATH, metavar="FILE", help="Also write the row plan, for trietok rows --plan, to a JSON file."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Write one JSON object, with every number.")

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin*")


def tokenizer_to_change(model: str, fast: bool | None) -> Any:
    """The tokenizer of a name or directory.

    Args:
        model: the name or directory.
        fast: the profile; None for the fast one where a directory has a tokenizer.json, so that the new one has it too.
    """
    if fast is not None or not has_tokenizer_json(model):
        return tokenizer_of(model, fast=bool(fast))
    from trietok.workbench.adapting.adapt import require_same_tokens  # `suggest` has no use for it

    slow = tokenizer_of(model)
    try:
        tokenizer = tokenizer_of(model, fast=True)
        require_same_tokens(tokenizer, slow, model)
    except trietok.TrietokError as error:
        raise trietok.InputError(f"{error}; with --slow the tokenizer.json is not read") from error
    return tokenizer


def save(tokenizer: Any, model: str, out: str, plan: trietok.RowPlan | None, plan_file: str | None) -> None:
    """Write the plan of rows to a file, which may not be possible, and then a tokenizer to a new directory."""
    if plan is not None and plan_file is not None:
        plan.save(plan_file)
    if rows_command(model, out) is None:
        tokenizer.save_pretrained(out)
    else:  # `rows_lines` says what to do with the model: nothing else has to
        save_files_of(tokenizer, out)


def rows_command(model: str, out: str) -> str | None:
    """The command that moves the rows of the model in a directory, if there is one."""
    folder = Path(model)
    if not folder.is_dir() or not any(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
        return None
    return f"trietok rows {shlex.quote(model)} --tokenizer {shlex.quote(out)} --output {shlex.quote(out + '-model')}"


def rows_lines(tokenizer: Any, model: str, out: str) -> list[str]:
    """What a model needs now."""
    rows, rounded = tokenizer.embedding_rows(1), tokenizer.embedding_rows()
    lines = [f"written to {out}; the model needs {rows} embedding rows; {rounded} as a multiple of 8"]
    command = rows_command(model, out)
    return lines if command is None else [*lines, f"{model} holds a model; update its rows with: {command}"]
