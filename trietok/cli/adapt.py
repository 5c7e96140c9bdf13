"""`trietok add`, `trim`, `suggest`, `rows` and `adapt`: a tokenizer with other tokens, and a model
made ready for it.

In: a tokenizer or a model, and terms or texts. Out: a new directory, a plan of rows if asked for,
and lines that say what became of the ids and what a model needs now.
"""

from __future__ import annotations

import contextlib
import copy
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.interrupts import stop_said
from trietok.cli.options import FileOpener, choice_of, tokenizer_of
from trietok.cli.output import say_choice, warn
from trietok.cli.progress import Bars, Watched, shown_bars, shown_reading
from trietok.cli.results import write_page, write_result
from trietok.cli.terms import TermList, bare_terms
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of
from trietok.showing.characters import first_few, number_of
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import Choice, choose
from trietok.workbench.adapting.add_terms import WAYS, WayEffect, effects_of_terms
from trietok.workbench.adapting.apply_rows import (
    check_saving,
    check_tokenizers,
    checked_model,
    write_rows,
)
from trietok.workbench.adapting.row_plan import STARTS, ids_of_pieces
from trietok.workbench.adapting.variants import Spellings, add_spellings, with_same_rows

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

# What `add` and `trim` end with.
_changing = options.together(options.save_plan, options.reading, options.json_offline)
_MOST_SAID = 3  # terms that are left out, in an error
_MOST_NEW = 100  # rows of any model that may be new; more, up to a tenth
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin*")


def _tokenizer_to_change(model: str) -> Any:
    """The tokenizer of a name or directory; what both profiles read there must be the same
    tokens.
    """
    from trietok.workbench.adapting.adapt import require_same_tokens  # `suggest` has no use for it

    tokenizer = tokenizer_of(model)
    if tokenizer.profile == "fast" and has_tokenizer_json(model):
        try:
            slow: Any = trietok.AutoTokenizer.from_pretrained(model, use_fast=False)
            require_same_tokens(tokenizer, slow, model)
        except trietok.TrietokError as error:
            raise trietok.InputError(
                f"{error}; with --profile slow the tokenizer.json is not read"
            ) from error
    return tokenizer


def _require_output(output: str | None, dry_run: bool) -> None:
    if output is None and not dry_run:
        raise click.UsageError("Missing option '--output' / '-o'; --dry-run goes without.")


def _save(
    tokenizer: Any, model: str, out: str | None, plan: trietok.RowPlan | None, plan_file: str | None
) -> None:
    """Write the plan of rows to a file, which may not be possible, and then a tokenizer to a new
    directory.

    Without a directory there is a dry run, which writes neither.
    """
    if out is None:
        return
    if plan is not None and plan_file is not None:
        options.save_row_plan(plan, plan_file)
    if _rows_command(model, out) is None:
        tokenizer.save_pretrained(out)
    else:  # `_rows_lines` says what to do with the model: nothing else has to
        save_files_of(tokenizer, out)


def _rows_command(model: str, out: str, plan_file: str | None = None) -> str | None:
    """The command that moves the rows of the model in a directory, if there is one; by a plan
    where the tokenizer alone does not say how rows start.
    """
    folder = Path(model)
    if not folder.is_dir() or not any(
        path for pattern in _WEIGHTS for path in folder.glob(pattern)
    ):
        return None
    plan = "" if plan_file is None else f" --plan {shlex.quote(plan_file)}"
    return (
        f"trietok rows -m {shlex.quote(model)} --new-tokenizer {shlex.quote(out)}{plan} -o"
        f" {shlex.quote(out + '-model')}"
    )


def _rows_lines(
    tokenizer: Any,
    model: str,
    out: str | None,
    is_changed: bool = True,
    plan_file: str | None = None,
) -> list[str]:
    """What a model needs now."""
    if out is None:
        return ["dry run: nothing is written"]
    if not is_changed:
        return [
            f"written to {out}; no term is new, so its ids are those of before, and a model needs"
            " no other rows"
        ]
    rows, rounded = tokenizer.embedding_rows(1), tokenizer.embedding_rows()
    lines = [
        f"written to {out}; the model needs {rows:,} embedding rows; {rounded:,} as a multiple of 8"
    ]
    command = _rows_command(model, out, plan_file)
    return (
        lines
        if command is None
        else [*lines, f"{model} holds a model; update its rows with: {command}"]
    )


# What `add` and `adapt` take.
_allow_left_out = options.flag("--allow-left-out", help="Exit with 0 even if a term is left out.")


_way = partial(
    options.choice,
    "--way",
    default="auto",
    help=(
        "Add words as entries where WordPiece can reach them, else as single-word tokens (auto), or"
        " all in one way"
    ),
)


_VARIANTS = ("list", "own", "same")


@options.command()
@options.files_if_any
@options.file(
    "--terms",
    help="Add the terms of this file, one a line or row; - is standard input.  [required]",
)
@options.model
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@_way(known=WAYS)
@options.flag("--special", help="Add special tokens, which decoding can skip.")
@options.choice(
    "--variants",
    known=_VARIANTS,
    help=(
        "List other spellings of terms that FILES have and that are not matched (list), or add"
        " them, too, with rows of their own (own) or rows that start as the term's (same, with"
        " --save-plan)"
    ),
)
@_allow_left_out
@_changing
def add(
    files: tuple[str, ...],
    terms: str,
    model: str,
    output: str | None,
    dry_run: bool,
    way: str,
    special: bool,
    variants: str | None,
    allow_left_out: bool,
    save_plan: str | None,
    read: FileOpener,
    as_json: bool,
) -> None:
    """Add a list of terms to a tokenizer; no id moves.

    The command names the terms that are known already, occur twice or are left out. With FILES, it
    shows what each way of adding does to their texts.

    \b
    Examples:
      trietok add --terms terms.txt -o with-terms
      trietok add --terms terms.txt -m my-tokenizer --way single-word -o with-terms texts.txt
    """
    _require_output(output, dry_run)
    if variants is not None and not files:
        raise click.UsageError("--variants needs FILES: it counts the spellings in their texts.")
    if variants == "same" and save_plan is None and not dry_run:
        raise click.UsageError(
            "--variants same needs --save-plan: the plan says which rows start alike."
        )
    texts = read(files) if files else None
    given = TermList(terms, files, read)
    before = _tokenizer_to_change(model)
    effects: list[WayEffect] = []
    spellings = Spellings(given.terms if variants else ())
    if texts is not None:
        with shown_reading(texts, "looking") as shown:
            counted = spellings.counted(shown) if variants else shown
            effects = effects_of_terms(before, given.terms, counted, special=special)
    after = copy.deepcopy(before)
    done = given.placed(trietok.add_terms(after, given.terms, way, special=special))
    if done.refused and not done.added:
        _, *why = str(replace(done, refused=done.refused[:_MOST_SAID])).split("\n")
        raise trietok.InputError(f"no term is added: {'; '.join(why)}")
    missed = None if variants is None else spellings.near_misses(after)
    others, same = None, dict[int, int]()
    if missed is not None and variants != "list":
        others, alike = add_spellings(after, missed, way, special=special)
        same = alike if variants == "same" else {}
    comparison = trietok.compare(before, after, ())
    output = None if dry_run else output
    plan = None if save_plan is None else with_same_rows(trietok.plan_rows(before, after), same)
    _save(after, model, output, plan, save_plan)
    plan_file = save_plan if same else None
    is_changed = bool(done.added or (others and others.added))
    write_result(
        {
            "ok": done.ok or allow_left_out,
            "out": output,
            **done.to_dict(),
            "effects": plain_values(effects),
            "variants": plain_values(missed),
            "variants_added": plain_values(others),
            **dict(zip(("before", "after"), comparison.fingerprints, strict=True)),
            "proof": comparison.proof,
            "plan": save_plan,
            "rows_command": (
                _rows_command(model, output, plan_file)
                if is_changed and output is not None
                else None
            ),
        },
        as_json,
        lambda: (
            *map(str, effects),
            *str(done).split("\n"),
            *([] if missed is None else str(missed).split("\n")),
            *([] if others is None else f"of these spellings: {others}".split("\n")),
            *_rows_lines(after, model, output, is_changed, plan_file),
            *comparison.slots_said,
            comparison.proof,
        ),
    )
    given.end(done, allow_left_out)


@options.command()
@options.files
@options.required_model
@options.profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@options.some_files("--keep", help="Keep the tokens of a file, one a line or row. May be repeated.")
@options.text(
    "--keep-prefix",
    "keep_prefixes",
    multiple=True,
    help="Keep every entry that begins with TEXT. May be repeated.",
)
@click.option(
    "--unused",
    default="0",
    metavar="N|all",
    help="Keep N free slots such as [unused1], or all of them.",
)
@options.flag("--characters", help="Keep every entry that is a single character.")
@options.number(
    "--min-frequency", default=1, help="Drop entries that occur in the texts fewer than N times."
)
@options.some_files("--check", help="Show how many texts of another file change. May be repeated.")
@_changing
def trim(
    files: tuple[str, ...],
    model: str,
    output: str | None,
    dry_run: bool,
    keep: tuple[str, ...],
    unused: str,
    check: tuple[str, ...],
    save_plan: str | None,
    read: FileOpener,
    as_json: bool,
    **what_else: Any,
) -> None:
    """Make a smaller tokenizer that gives your texts the same tokens.

    The command checks each text with both tokenizers. Ids move; trietok rows moves the rows of a
    model with them.

    \b
    Examples:
      trietok trim -m trietok-en -o small 'texts/*.txt'
      trietok trim -m my-tokenizer -o small --keep terms.txt --characters texts.txt
    """
    if unused != "all" and not (unused.isascii() and unused.isdigit() and len(unused) < 10):
        raise click.UsageError("--unused takes a number, or all.")
    _require_output(output, dry_run)
    texts = read(files)
    checked = read(check) if check else None
    tokenizer = _tokenizer_to_change(model)
    kept = bare_terms(keep, read)
    with shown_reading(texts, "looking") as shown:
        trimmed = trietok.trim(
            tokenizer,
            shown,
            keep=kept,
            unused=unused if unused == "all" else int(unused),
            check_texts=checked,
            **what_else,
        )
    output = None if dry_run else output
    _save(trimmed.tokenizer, model, output, trimmed.plan, save_plan)
    certificate, command = (
        trimmed.certificate,
        None if output is None else _rows_command(model, output),
    )
    write_result(
        {"out": output, **certificate.to_dict(), "plan": save_plan, "rows_command": command},
        as_json,
        lambda: (
            *certificate.lines(),
            *_rows_lines(trimmed.tokenizer, model, output),
            certificate.proof,
        ),
    )


_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"

# What `suggest` and `adapt` take.
_found = options.together(
    options.number(
        "--min-frequency", default=3, help="Leave out words that occur fewer than N times."
    ),
    options.number(
        "--phrases",
        type=click.IntRange(min=0, max=4),
        default=0,
        help="Include phrases of 2 to N words (N at most 4), as added tokens.",
    ),
    options.some_files(
        "--leave-out", help="Leave out the words of a file, one a line or row. May be repeated."
    ),
)


@options.command()
@options.files
@options.model
@options.writes("Save the tokenizer with the words added to this directory.", required=False)
@options.most(default=500, help="Suggest at most N words.")
@_found
@click.option(
    "--unknown-weight",
    type=click.FloatRange(min=0),
    default=2.0,
    metavar="W",
    help="Count each [UNK] avoided as W saved tokens.",
)
@_way(known=WAYS[:3], former={"added": "single-word"})
@options.flag("--leave-others", help="Suggest no word that changes the tokens of another word.")
@options.max_words(default=1_000_000)
@_changing
def suggest(
    files: tuple[str, ...],
    model: str,
    output: str | None,
    save_plan: str | None,
    leave_out: tuple[str, ...],
    read: FileOpener,
    as_json: bool,
    **how: Any,
) -> None:
    """List the words of your texts that are worth adding to a tokenizer, ranked by the tokens they
    save.

    The tokenizer stays as it is; --output saves a copy with the words added.

    \b
    Examples:
      trietok suggest 'texts/*.txt' --most 50
      trietok suggest -m my-tokenizer -o with-words texts.txt
    """
    if save_plan is not None and output is None:
        raise click.UsageError(
            "--save-plan needs --output: the row plan leads to the tokenizer there."
        )
    texts = read(files)
    choice = Choice(
        model, trietok.BertTokenizer, "because words are found as the slow class splits texts"
    )
    tokenizer = choice.load()
    say_choice(choice)
    how["leave_out"] = bare_terms(leave_out, read)
    with shown_reading(texts, "counting words") as shown:
        suggestions = trietok.suggest_tokens(tokenizer, shown, **how)
    applied, said = None, []
    if output is not None:
        from trietok.workbench.adapting.adapt import way_to_add  # seldom needed

        before, way = _tokenizer_to_change(model), way_to_add(suggestions, how["way"])
        after = copy.deepcopy(before)
        done = trietok.add_terms(after, [each.word for each in suggestions.suggestions], way)
        _save(
            after,
            model,
            output,
            None if save_plan is None else trietok.plan_rows(before, after),
            save_plan,
        )
        applied = {"out": output, **done.to_dict(), "rows_command": _rows_command(model, output)}
        said = [*str(done).split("\n"), *_rows_lines(after, model, output, bool(done.added))]
    write_result(
        {**suggestions.to_dict(), "applied": applied},
        as_json,
        lambda: [*str(suggestions).split("\n"), *said],
        lambda screen: _draw_suggestions(screen, suggestions, said),
    )


def _draw_suggestions(screen: Screen, suggestions: trietok.Suggestions, said: list[str]) -> None:
    """All suggestions, unknown words in red."""
    from trietok.workbench.suggesting.suggestions import HEAD_OF_SUGGESTIONS

    if suggestions.suggestions:
        rows = [[(name, _PIECES) for name in HEAD_OF_SUGGESTIONS]]
        for suggestion, row in zip(suggestions.suggestions, suggestions.rows(), strict=True):
            styles = (_WORD, "", _NUMBER, _UNKNOWN if suggestion.is_unknown else _PIECES)
            rows.append(list(zip(row, styles, strict=True)))
        screen.table([{"justify": side} for side in ("left", "right", "right", "left")], rows)
        screen.line()
    for line in [*suggestions.summary(), *said]:
        screen.line((line, ""))


def _start(ctx: click.Context, parameter: click.Parameter, start: str | None) -> str | None:
    if start is None or start in STARTS or start.startswith("copy:"):
        return start
    raise click.UsageError(
        f"--start must be {', '.join(STARTS)} or copy:TOKEN, not {start!r:.60}.", ctx
    )


_rows_made = options.together(
    click.option(
        "--start",
        metavar="WAY",
        callback=_start,
        help=(
            "Start the row of a new token as the mean of its pieces' rows, longer ones weighing"
            " more (length, the default) or all alike (mean), or fitted to the model (distil, with"
            " PyTorch); or as the mean of all tokens (all), zeros or copy:TOKEN."
        ),
    ),
    click.option(
        "--start-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="With --start distil, fit rows for at most S seconds; others start as with length.",
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
    options.flag(
        "--onnx",
        help="Also write .onnx files with the new rows where that is possible (with onnx).",
    ),
)


@options.command()
@options.model_directory
@options.profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@options.tokenizer("--new-tokenizer", help="The tokenizer that the model gets.")
@options.file("--plan", help="Use a row plan that --save-plan wrote.")
@options.save_plan
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
    new_tokenizer: str | None,
    plan: str | None,
    save_plan: str | None,
    start: str | None,
    start_seconds: float | None,
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
      trietok rows -m bert-small --plan plan.json -o new-model --multiple-of 8
    """
    _require_output(output, dry_run)
    if new_tokenizer is None and plan is None:
        raise click.UsageError("Give --new-tokenizer DIR, or --plan FILE.")
    if plan is not None and start is not None:
        raise click.UsageError(
            "--start goes with --new-tokenizer only: a plan already says what new rows are made of."
        )
    multiple_of, onnx = tensors.pop("multiple_of"), tensors["onnx"]
    # before its name is taken for one on the hub
    checkpoint, axes = checked_model(model, output, **tensors)
    planned = _planned(
        model, new_tokenizer, plan, "length" if start == "distil" else start or "length"
    )
    row_plan, before, after, proof = planned
    if row_plan.replaces_vocabulary and not allow_other_vocabulary:
        raise trietok.InputError(
            f"the new tokenizer has another vocabulary than that of {model}: {row_plan}; give the"
            " tokenizer that was made from the model's, or write the model nevertheless with"
            " --allow-other-vocabulary"
        )
    new = [] if after is None else _made(row_plan, after)
    many = row_plan.made > _MOST_NEW and 10 * row_plan.made > row_plan.rows_after
    if many and not (allow_other_vocabulary or allow_many_new):
        named = f", such as those of {first_few(new, 5)}" if new else ""
        raise trietok.InputError(
            f"{row_plan.made:,} of {row_plan.rows_after:,} rows would be new{named}: {model} knows"
            " nothing of them, and they are made up of other rows; give the model that has them,"
            " such as the one that was trimmed, or write them nevertheless with --allow-many-new"
        )
    if plan is not None:  # any other was made from the model's tokenizer just now
        check_tokenizers(row_plan, checkpoint, after)
    elif after is not None:
        check_saving(after)
    if output is None or dry_run:
        said = [str(row_plan), *([proof] if proof else []), "dry run: nothing is written"]
        write_result({"made": new, "proof": proof}, as_json, lambda: said)
        return
    if save_plan is not None:
        options.save_row_plan(row_plan, save_plan)
    with shown_bars(transient=True) as bars:
        fitted = None
        if start == "distil":
            # PyTorch: only where rows are fitted
            from trietok.workbench.adapting.distil import (
                distil_rows,
            )

            progress = _writing(bars, "fitting", "rows")
            fitted = distil_rows(
                row_plan, checkpoint, before, after, seconds=start_seconds, progress=progress
            )
        how = {
            "multiple_of": multiple_of,
            "tokenizer": after,
            "progress": _writing(bars),
            "onnx": onnx,
        }
        applied = write_rows(row_plan, checkpoint, axes, output, fitted=fitted, **how)
    said = [str(row_plan), proof] if proof else [applied.proof]
    said[:0] = [] if fitted is None else str(fitted).split("\n")
    unknown = [] if before is None else _unknown_to(before, new)
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
        "proof": said[-1],
    }
    write_result(values, as_json, lambda: [*applied.table(), *applied.summary(), *said])
    if after is None:
        warn(
            f"{output} has no tokenizer; give --new-tokenizer DIR, or save the one that the plan"
            " leads to there"
        )


def _planned(
    model: str, new_tokenizer: str | None, plan: str | None, start: str
) -> tuple[trietok.RowPlan, Any, Any, str | None]:
    """The plan; the tokenizers that it leads from and to, if they are known; and what becomes of
    the ids.
    """
    after: Any = None if new_tokenizer is None else tokenizer_of(new_tokenizer)
    if plan is None:
        before = choose(model, after.profile).load()
        return (
            trietok.plan_rows(before, after, start=start),
            before,
            after,
            trietok.compare(before, after, ()).proof,
        )
    row_plan = trietok.RowPlan.load(plan)
    if new_tokenizer is not None and after.fingerprint() != row_plan.after:
        # The plan may have been made for the other profile.
        with contextlib.suppress(trietok.TrietokError):
            other = choose(new_tokenizer, "slow" if after.profile == "fast" else "fast").load()
            after = other if other.fingerprint() == row_plan.after else after
    return row_plan, None, after, None


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
    _found,
    _way(known=WAYS),
    _allow_left_out,
)
@options.section(
    "What they do",
    click.option(
        "--held-back",
        type=click.FloatRange(min=0, max=1, max_open=True),
        default=0.1,
        metavar="SHARE",
        help="Find no words in this share of the texts, and show what the new tokens do to them.",
    ),
    options.flag(
        "--measure",
        help="Show what becomes of embeddings of held-back texts (with PyTorch; as distil does).",
    ),
)
@options.section(
    "Rows of the model",
    options.number(
        "--in-context",
        type=click.IntRange(min=0),
        default=0,
        help=(
            "With --start distil, fit rows in N texts that hold the word, too, which takes longer."
        ),
    ),
    options.some_files(
        "--heal",
        help=(
            "Fit rows in the whole texts of a file, too (with --start distil, its default then)."
            " May be repeated."
        ),
    ),
    options.flag(
        "--resume",
        help="Go on with the rows that a run kept that was stopped, in a file beside --output.",
    ),
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
    start: str | None,
    heal: tuple[str, ...],
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
    _require_output(output, dry_run)
    given = None if terms is None else TermList(terms, files, read)
    checked_model(model, None)  # before its name is taken for one on the hub
    texts: Any = read(files) if files else ()
    profile = choice_of(model).kind.profile
    kept, left = (
        Path(f"{output}.rows"),
        f"fitted rows stay in {output}.rows, and --resume goes on with them",
    )
    with (
        stop_said(lambda: left if kept.exists() else "nothing was written"),
        shown_bars(transient=True) as bars,
    ):
        adapted = trietok.adapt(
            model,
            None if dry_run else output,
            texts if bars is None or not files else Watched(texts, "reading", bars),
            terms=given.terms if given is not None else None if files else (),
            remove=bare_terms(remove, read),
            leave_out=bare_terms(leave_out, read),
            start=start or ("distil" if heal else "length"),
            heal=read(heal) if heal else (),
            profile=profile,
            progress=_writing(bars),
            fitting=_writing(bars, "fitting", "rows"),
            healing=_writing(bars, "healing", "steps"),
            **how,
        )
    if given is not None:
        adapted = replace(adapted, terms=given.placed(adapted.terms))
    if page is not None:
        write_page(page, "adapt", [adapted.to_html()])
    write_result(adapted, as_json)
    if given is not None:
        given.end(adapted.terms, allow_left_out)
