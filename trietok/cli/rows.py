"""`trietok rows`: a model's directory with the rows that its changed tokenizer needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

import trietok
from trietok.workbench.adapting.apply_rows import checked_model
from trietok.cli import changed_vocabulary, options
from trietok.cli.inputs import tokenizer_of
from trietok.cli.output import json_line, on_terminal, visible, write_line, writing
from trietok.cli.progress import Bars, shown_bars
from trietok.cli.reporting import reporting, warn
from trietok.files.formats import has_tokenizer_json
from trietok.files.new_directory import checked_new

model_dir = click.argument("model_dir", type=options.PATH)


def _way_of_rows(ctx: click.Context, parameter: click.Parameter, way: str | None) -> str | None:
    if way is None or way in ("pieces", "mean", "zeros") or way.startswith("copy:"):
        return way
    raise click.UsageError(f"--new must be pieces, mean, zeros or copy:TOKEN, not {way!r:.60}.", ctx)


new = click.option(
    "--new",
    metavar="WAY",
    callback=_way_of_rows,
    help="Make the rows of new tokens from: pieces (the default), mean, zeros or copy:TOKEN.",
)
also = click.option(
    "--also",
    multiple=True,
    metavar="NAME",
    help="Also change this tensor (or pattern of names), whose first axis has a row for each token. May be repeated.",
)
leave = click.option(
    "--leave",
    multiple=True,
    metavar="NAME",
    help="Leave this tensor (or pattern of names) as it is. May be repeated.",
)
multiple_of = click.option(
    "--multiple-of",
    type=options.POSITIVE,
    default=1,
    metavar="N",
    help="Round the number of rows up to a multiple of N.",
)


@click.command()
@model_dir
@options.output(required=True)
@click.option(
    "--tokenizer",
    type=options.PATH,
    metavar="NAME_OR_DIR",
    help="The new tokenizer, which is saved with the model.",
)
@click.option("--plan", type=options.PATH, metavar="FILE", help="Use a row plan that --save-plan wrote.")
@changed_vocabulary.save_plan
@new
@also
@leave
@multiple_of
@options.force("Write the model even if the tokenizer has another vocabulary.")
@changed_vocabulary.as_json
@options.offline
@click.pass_context
def rows(
    ctx: click.Context,
    model_dir: str,
    output: str,
    tokenizer: str | None,
    plan: str | None,
    save_plan: str | None,
    new: str | None,
    also: tuple[str, ...],
    leave: tuple[str, ...],
    multiple_of: int,
    force: bool,
    as_json: bool,
) -> None:
    """Copy a model, with a row for each token of another tokenizer.

    MODEL_DIR is the model's directory, with its config.json and weights; it stays as it is. Tokens that both tokenizers
    have keep their rows, even where their ids have moved.

    \b
    Examples:
      trietok rows bert-small --tokenizer new-tokenizer --output new-model
      trietok rows bert-small --plan plan.json --output new-model --multiple-of 8
    """
    with reporting():
        if tokenizer is None and plan is None:
            ctx.fail("Give --tokenizer DIR, the new tokenizer, or --plan FILE.")
        if plan is not None and new is not None:
            ctx.fail("--new goes with --tokenizer only: a plan already says what new rows are made of.")
        checked_new(output)
        checked_model(model_dir, output, also, leave)  # before its name is taken for one on the hub
        row_plan, after, proof = _planned(model_dir, tokenizer, plan, new or "pieces")
        if row_plan.replaces_vocabulary and not force:
            raise trietok.InputError(
                f"the tokenizer has another vocabulary than that of {model_dir}: {row_plan}; give the tokenizer that "
                "was made from the model's, or write the model nevertheless with --force"
            )
        if save_plan is not None:
            row_plan.save(save_plan)
        with shown_bars(transient=True) as bars:
            applied = trietok.apply_rows(
                row_plan,
                model_dir,
                output,
                also=also,
                leave=leave,
                multiple_of=multiple_of,
                tokenizer=after,
                progress=None if bars is None else progress(bars),
            )
        if as_json:
            write_line(json_line({**applied.to_dict(), "proof": proof or applied.proof}))
        else:
            if on_terminal():
                _write_table(applied)
            else:
                for line in applied.table():
                    write_line(visible(line))
            for line in (*applied.summary(), *((str(row_plan), proof) if proof else (applied.proof,))):
                write_line(visible(line))
        if after is None:
            warn(f"{output} has no tokenizer; give --tokenizer DIR, or save the one that the plan leads to there")


def _planned(
    model_dir: str, tokenizer: str | None, plan: str | None, new: str
) -> tuple[trietok.RowPlan, Any, str | None]:
    """The plan; the tokenizer that it leads to, if there is one to save; what becomes of the ids, if that is known."""
    if plan is not None:
        row_plan = trietok.RowPlan.load(plan)
        return row_plan, None if tokenizer is None else _tokenizer_of_plan(tokenizer, row_plan.after), None
    assert tokenizer is not None
    # The profile that the new tokenizer is saved in: with a tokenizer.json, so that it gets one again.
    fast = has_tokenizer_json(tokenizer)
    after = tokenizer_of(tokenizer, fast=fast)
    before = tokenizer_of(model_dir, fast=fast)
    return trietok.plan_rows(before, after, new), after, trietok.compare(before, after, ()).proof


def _tokenizer_of_plan(name: str, wanted: str) -> Any:
    """The tokenizer in the profile that the plan was made for, where it is one of the two."""
    fast = has_tokenizer_json(name)
    first = tokenizer_of(name, fast=fast)
    if first.fingerprint() != wanted:
        try:
            other = tokenizer_of(name, fast=not fast)
        except trietok.TrietokError:
            return first
        if other.fingerprint() == wanted:
            return other
    return first


def progress(bars: Bars) -> Callable[[int, int], None]:
    """What shows how much of a model is written."""
    return lambda done, total: bars.show("writing", done, total, "bytes")


def _write_table(applied: trietok.AppliedRows) -> None:
    """The tensors, for a terminal."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.workbench.adapting.applied import HEAD

    # Everything is put together from `Text`: a string would be searched for markup.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        table = Table.grid(padding=(0, 2))
        for _ in HEAD:
            table.add_column(overflow="fold")
        table.add_row(*(Text(name, style="dim") for name in HEAD))
        for name, before, after, dtype in applied.rows():
            table.add_row(Text(visible(name), style="bold"), Text(before), Text(after, style="cyan"), Text(dtype))
        console.print(table)
        console.print()
