"""`trietok rows` and `adapt`: a model with rows for other tokens.

In: a model, and terms, texts or another tokenizer. Out: a new directory, and lines that say what
became of the ids and the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.interrupts import stop_said
from trietok.cli.options import FileOpener, choice_of, tokenizer_of
from trietok.cli.progress import Bars, Watched, shown_bars
from trietok.cli.results import write_page, write_result
from trietok.cli.terms import TermList, bare_terms, no_term_in
from trietok.cli.vocabulary import (
    allow_left_out,
    found,
    require_output,
    way,
)
from trietok.showing.characters import first_few, number_of
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import choose
from trietok.workbench.adapting.add_terms import WAYS
from trietok.workbench.adapting.apply_rows import check_saving, write_rows
from trietok.workbench.adapting.checkpoint import checked_model
from trietok.workbench.adapting.distil import distil_rows
from trietok.workbench.adapting.encoder import checked_parts
from trietok.workbench.adapting.row_initialization import INITIALIZATIONS, ids_of_pieces

_MOST_NEW = 100  # rows of any model that may be new; more, up to a tenth


def _initialization(ctx: click.Context, parameter: click.Parameter, way: str) -> str:
    if way in INITIALIZATIONS or way.startswith("copy:"):
        return way
    known = ", ".join(INITIALIZATIONS)
    raise click.UsageError(f"--initialization must be {known} or copy:TOKEN, not {way!r:.60}.", ctx)


_rows_made = options.together(
    click.option(
        "--initialization",
        default="length",
        metavar="WAY",
        callback=_initialization,
        help=(
            "Make the row of a new token the mean of its pieces' rows, longer ones weighing more"
            " (length) or all alike (mean), or fit it to the model (distil, with"
            " PyTorch); or the mean of all tokens (all), zeros or copy:TOKEN."
        ),
    ),
    click.option(
        "--initialization-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="With distil, fit rows for at most S seconds; others are as with length.",
    ),
    options.name(
        "--also",
        multiple=True,
        help=(
            "Also change this tensor (or pattern of names), whose first axis has a row for each"
            " token. May be repeated."
        ),
    ),
    options.name(
        "--leave",
        multiple=True,
        help="Leave this tensor (or pattern of names) as it is. May be repeated.",
    ),
    options.number(
        "--multiple-of", default=1, help="Round the number of rows up to a multiple of N."
    ),
)


@options.command()
@options.model_directory
@options.profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@options.tokenizer("--new-tokenizer", required=True, help="The tokenizer that the model gets.")
@_rows_made
@options.flag(
    "--allow-other-vocabulary",
    help="Write the model even if the new tokenizer has another vocabulary.",
)
@options.flag(
    "--allow-many-new", help="Write the model even if more than a tenth of its rows are new."
)
@options.json_offline
def rows(
    model: str,
    output: str | None,
    dry_run: bool,
    new_tokenizer: str,
    initialization: str,
    initialization_seconds: float | None,
    allow_other_vocabulary: bool,
    allow_many_new: bool,
    as_json: bool,
    **tensors: Any,
) -> None:
    """Copy a model, with a row for each token of another tokenizer.

    The model stays as it is. Tokens that both tokenizers have keep their rows, even where their ids
    have moved.

    \b
    Examples:
      trietok rows -m bert-small --new-tokenizer new-tokenizer -o new-model
      trietok rows -m bert-small --new-tokenizer new-tokenizer -o new-model --multiple-of 8
    """
    require_output(output, dry_run)
    multiple_of = tensors.pop("multiple_of")
    # before its name is taken for one on the hub
    checkpoint, axes = checked_model(model, output, **tensors)
    after = tokenizer_of(new_tokenizer)
    before = choose(model, after.profile).load()
    fits = initialization == "distil"
    if fits:
        checked_parts(checkpoint)
    planned = "length" if fits else initialization
    row_plan = trietok.plan_rows(before, after, initialization=planned)
    proof = trietok.compare(before, after, ()).proof
    if row_plan.replaces_vocabulary and not allow_other_vocabulary:
        raise trietok.InputError(
            f"the new tokenizer has another vocabulary than that of {model}: {row_plan}; give the"
            " tokenizer that was made from the model's, or write the model nevertheless with"
            " --allow-other-vocabulary"
        )
    new = _made(row_plan, after)
    many = row_plan.made > _MOST_NEW and 10 * row_plan.made > row_plan.rows_after
    if many and not (allow_other_vocabulary or allow_many_new):
        named = f", such as those of {first_few(new, 5)}" if new else ""
        raise trietok.InputError(
            f"{row_plan.made:,} of {row_plan.rows_after:,} rows would be new{named}: {model} knows"
            " nothing of them, and they are made up of other rows; give the model that has them,"
            " such as the one that was trimmed, or write them nevertheless with --allow-many-new"
        )
    check_saving(after)
    if output is None or dry_run:
        said = [str(row_plan), proof, "dry run: nothing is written"]
        write_result({"made": new, "proof": proof}, as_json, lambda: said)
        return
    with shown_bars(transient=True) as bars:
        fitted = None
        if fits:
            progress = _writing(bars, "fitting", "rows")
            fitted = distil_rows(
                row_plan,
                checkpoint,
                before,
                after,
                seconds=initialization_seconds,
                progress=progress,
            )
        applied = write_rows(
            row_plan,
            checkpoint,
            axes,
            output,
            multiple_of=multiple_of,
            tokenizer=after,
            progress=_writing(bars),
            fitted=fitted,
        )
    said = [*([] if fitted is None else str(fitted).split("\n")), str(row_plan), proof]
    unknown = _unknown_to(before, new)
    if unknown:
        told = (
            f"no piece of {number_of(len(unknown), 'new token')} is known to the tokenizer of"
            f" {model}"
        )
        said.insert(0, f"{told}: {first_few(unknown)}")
    values = {
        **applied.to_dict(),
        "fitted": plain_values(fitted),
        "unknown": unknown,
        "proof": proof,
    }
    write_result(values, as_json, lambda: [*applied.table(), *applied.summary(), *said])


def _made(plan: trietok.RowPlan, after: Any) -> list[str]:
    """The tokens whose rows a plan makes, by id."""
    tokens = {token_id: token for token, token_id in after.get_vocab().items()}
    return [tokens[row] for row, source in enumerate(plan.sources) if source < 0 and row in tokens]


def _unknown_to(before: Any, tokens: list[str]) -> list[str]:
    """Those of whose text a tokenizer knows nothing, so that the mean of their pieces is that of
    all rows.
    """
    pairs = zip(tokens, ids_of_pieces(before, tokens), strict=True)
    return [token for token, pieces in pairs if {before.unk_token_id}.issuperset(pieces)]


def _writing(
    bars: Bars | None, phase: str = "writing", unit: str = "bytes"
) -> Callable[[int, int], None] | None:
    """What shows how much of a model is written, or of its rows fitted, where somebody looks."""
    return None if bars is None else lambda done, total: bars.show(phase, done, total, unit)


@options.command()
@options.files_if_any
@options.file(
    "--terms",
    help="Add the terms of this file, one a line or row, and find none; - is standard input.",
)
@options.some_files(
    "--remove", help="Take out the tokens of a file, one a line or row. May be repeated."
)
@options.model_directory
@options.profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@options.page_with_output
@options.section(
    "Words to add",
    options.most(default=500, help="Add at most N of the words that are found."),
    found,
    way(known=WAYS),
    allow_left_out,
)
@options.section(
    "Rows of the model",
    _rows_made,
)
@options.section("Reading texts", options.reading)
@options.json_offline
def adapt(
    files: tuple[str, ...],
    terms: str | None,
    remove: tuple[str, ...],
    model: str,
    output: str | None,
    dry_run: bool,
    leave_out: tuple[str, ...],
    allow_left_out: bool,
    page: str | None,
    read: FileOpener,
    as_json: bool,
    **how: Any,
) -> None:
    """Add terms, or the words of your texts that most deserve a token, to a model and its
    tokenizer.

    The command writes a copy in which each new word has a row, and checks that other tokens keep
    their ids and rows. With --terms, FILES say how many tokens the terms save; without, the words
    of FILES are added that save most.

    \b
    Examples:
      trietok adapt -m bert-small -o adapted --terms terms.txt
      trietok adapt -m bert-small --terms terms.txt 'texts/*.txt' --dry-run
      trietok adapt -m bert-small -o adapted --column note --most 200 notes.jsonl
    """
    if terms is None and not (files or remove):
        raise click.UsageError("Give FILES to find words in, or --terms FILE, or --remove FILE.")
    require_output(output, dry_run)
    given = None if terms is None else TermList(terms, files, read)
    checked_model(model, None)  # before its name is taken for one on the hub
    texts: Any = read(files) if files else ()
    removed = bare_terms(remove, read)
    if given is None and not (files or removed):
        raise no_term_in(remove)
    profile = choice_of(model).kind.profile
    with (
        stop_said(lambda: "nothing was written"),
        shown_bars(transient=True) as bars,
    ):
        adapted = trietok.adapt(
            model,
            None if dry_run else output,
            texts if bars is None or not files else Watched(texts, "reading", bars),
            terms=None if given is None else given.terms,
            remove=removed,
            leave_out=bare_terms(leave_out, read),
            profile=profile,
            progress=_writing(bars),
            fitting=_writing(bars, "fitting", "rows"),
            **how,
        )
    if given is not None:
        adapted = replace(adapted, terms=given.placed(adapted.terms))
    if page is not None:
        write_page(page, "adapt", [adapted.to_html()])
    write_result(adapted, as_json)
    if given is not None:
        given.end(adapted.terms, allow_left_out)
