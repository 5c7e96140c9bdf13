"""`trietok add`, `trim`, `suggest`, `rows` and `adapt`: a tokenizer with other tokens, and a model made ready for it.

In: a tokenizer or a model, and terms or texts. Out: a new directory, a plan of rows if asked for, and lines that say
what became of the ids and what a model needs now.
"""

from __future__ import annotations

import contextlib
import copy
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import STANDARD_INPUT, Lines, Reader, choice_of, tokenizer_of
from trietok.cli.output import FOUND, say_choice, warn
from trietok.cli.progress import Bars, Watched, shown_bars, shown_reading
from trietok.cli.results import write_page, write_result
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of
from trietok.showing.characters import number_of
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import Choice, choose
from trietok.workbench.adapting.add_terms import WAYS, WayEffect, effects_of_terms
from trietok.workbench.adapting.apply_rows import check_tokenizers, checked_model, write_rows
from trietok.workbench.adapting.row_plan import STARTS

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

# What `add` and `trim` end with.
_changing = options.together(options.save_plan, options.reading, options.json_offline)
_MOST_SAID = 3  # terms that are left out, in an error
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin*")


def _tokenizer_to_change(model: str) -> Any:
    """The tokenizer of a name or directory; what both profiles read there must be the same tokens."""
    from trietok.workbench.adapting.adapt import require_same_tokens  # `suggest` has no use for it

    tokenizer = tokenizer_of(model)
    if tokenizer.profile == "fast" and has_tokenizer_json(model):
        try:
            slow: Any = trietok.AutoTokenizer.from_pretrained(model, use_fast=False)
            require_same_tokens(tokenizer, slow, model)
        except trietok.TrietokError as error:
            raise trietok.InputError(f"{error}; with --profile slow the tokenizer.json is not read") from error
    return tokenizer


def _save(tokenizer: Any, model: str, out: str, plan: trietok.RowPlan | None, plan_file: str | None) -> None:
    """Write the plan of rows to a file, which may not be possible, and then a tokenizer to a new directory."""
    if plan is not None and plan_file is not None:
        plan.save(plan_file)
    if _rows_command(model, out) is None:
        tokenizer.save_pretrained(out)
    else:  # `_rows_lines` says what to do with the model: nothing else has to
        save_files_of(tokenizer, out)


def _rows_command(model: str, out: str) -> str | None:
    """The command that moves the rows of the model in a directory, if there is one."""
    folder = Path(model)
    if not folder.is_dir() or not any(path for pattern in _WEIGHTS for path in folder.glob(pattern)):
        return None
    return f"trietok rows -m {shlex.quote(model)} --new-tokenizer {shlex.quote(out)} -o {shlex.quote(out + '-model')}"


def _rows_lines(tokenizer: Any, model: str, out: str, is_changed: bool = True) -> list[str]:
    """What a model needs now."""
    if not is_changed:
        return [f"written to {out}; no term is new, so its ids are those of before, and a model needs no other rows"]
    rows, rounded = tokenizer.embedding_rows(1), tokenizer.embedding_rows()
    lines = [f"written to {out}; the model needs {rows:,} embedding rows; {rounded:,} as a multiple of 8"]
    command = _rows_command(model, out)
    return lines if command is None else [*lines, f"{model} holds a model; update its rows with: {command}"]


def _listed(files: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The lines of lists that are not blank, by number, without the marks that editors of Windows put around them."""
    lines = ((line.number, line.text.removeprefix("\ufeff").removesuffix("\r")) for line in Lines(files=files))
    return (line for line in lines if line[1].strip())


# What `add` and `adapt` take.
_allow_left_out = options.flag("--allow-left-out", help="Exit with 0 even if a term is left out.")


class _Terms:
    """The terms of a file, one a line, and which line each is on."""

    def __init__(self, path: str, files: Sequence[str]) -> None:
        if path == STANDARD_INPUT in files:
            raise click.UsageError("Standard input is read once: give the terms or the texts in a file.")
        self._where = "standard input" if path == STANDARD_INPUT else path
        if os.path.isdir(path):
            raise trietok.InputError(
                f"{path} is a directory, and --terms takes a file with a term on each line; -m {shlex.quote(path)} "
                "takes the tokenizer of a directory"
            )
        lines = list(_listed([path]))
        if not lines:
            raise trietok.InputError(f"there is no term in {self._where}; write one on each line")
        self._numbers, self.terms = zip(*lines, strict=True)

    def placed(self, done: trietok.AddedTerms) -> trietok.AddedTerms:
        """What became of the terms, with the numbers of lines."""
        return replace(done, refused=[each._replace(number=self._numbers[each.number - 1]) for each in done.refused])

    def end(self, done: trietok.AddedTerms, allowed: bool) -> None:
        """End the command with the exit code that terms left out mean, which the result has named."""
        if done.refused and not allowed:
            left_out = f"{number_of(len(done.refused), 'term')} of {self._where} left out"
            warn(f"{left_out}, so the exit code is {FOUND}; --allow-left-out makes it 0")
            raise click.exceptions.Exit(FOUND)


_way = partial(
    options.choice,
    "--way",
    default="auto",
    help="Add words as entries where WordPiece can reach them, else as single-word tokens (auto), or all in one way",
)


@options.command()
@options.files_if_any
@options.file("--terms", help="Add the terms of this file, one a line; - is standard input.  [required]")
@options.model
@options.writes(options.NEW_DIRECTORY)
@_way(known=WAYS)
@options.flag("--special", help="Add special tokens, which decoding can skip.")
@_allow_left_out
@_changing
def add(
    files: tuple[str, ...],
    terms: str,
    model: str,
    output: str,
    way: str,
    special: bool,
    allow_left_out: bool,
    save_plan: str | None,
    read: Reader,
    as_json: bool,
) -> None:
    """Add a list of terms to a tokenizer; no id moves.

    The command names the terms that are known already, occur twice or are left out. With FILES, it shows what each way
    of adding does to their texts.

    \b
    Examples:
      trietok add --terms terms.txt -o with-terms
      trietok add --terms terms.txt -m my-tokenizer --way single-word -o with-terms texts.txt
    """
    texts = read(files) if files else None
    given = _Terms(terms, files)
    before = _tokenizer_to_change(model)
    effects: list[WayEffect] = []
    if texts is not None:
        with shown_reading(texts, "looking") as shown:
            effects = effects_of_terms(before, given.terms, shown, special=special)
    after = copy.deepcopy(before)
    done = given.placed(trietok.add_terms(after, given.terms, way, special=special))
    if done.refused and not done.added:
        _, *why = str(replace(done, refused=done.refused[:_MOST_SAID])).split("\n")
        raise trietok.InputError(f"no term is added: {'; '.join(why)}")
    comparison = trietok.compare(before, after, ())
    _save(after, model, output, trietok.plan_rows(before, after) if save_plan is not None else None, save_plan)
    write_result(
        {
            "out": output,
            **done.to_dict(),
            "effects": plain_values(effects),
            **dict(zip(("before", "after"), comparison.fingerprints, strict=True)),
            "proof": comparison.proof,
            "plan": save_plan,
            "rows_command": _rows_command(model, output) if done.added else None,
        },
        as_json,
        lambda: (
            *map(str, effects),
            *str(done).split("\n"),
            *_rows_lines(after, model, output, bool(done.added)),
            *comparison.slots_said,
            comparison.proof,
        ),
    )
    given.end(done, allow_left_out)


@options.command()
@options.files
@options.required_model
@options.profile
@options.writes(options.NEW_DIRECTORY)
@options.some_files("--keep", help="Keep the tokens of a file, one a line. May be repeated.")
@options.text(
    "--keep-prefix", "keep_prefixes", multiple=True, help="Keep every entry that begins with TEXT. May be repeated."
)
@click.option("--unused", default="0", metavar="N|all", help="Keep N free slots such as [unused1], or all of them.")
@options.flag("--characters", help="Keep every entry that is a single character.")
@options.number("--min-frequency", default=1, help="Drop entries that occur in the texts fewer than N times.")
@options.some_files("--check", help="Show how many texts of another file change. May be repeated.")
@_changing
def trim(
    files: tuple[str, ...],
    model: str,
    output: str,
    keep: tuple[str, ...],
    unused: str,
    check: tuple[str, ...],
    save_plan: str | None,
    read: Reader,
    as_json: bool,
    **what_else: Any,
) -> None:
    """Make a smaller tokenizer that gives your texts the same tokens.

    The command checks each text with both tokenizers. Ids move; trietok rows moves the rows of a model with them.

    \b
    Examples:
      trietok trim -m trietok-en -o small 'texts/*.txt'
      trietok trim -m my-tokenizer -o small --keep terms.txt --characters texts.txt
    """
    if unused != "all" and not (unused.isascii() and unused.isdigit() and len(unused) < 10):
        raise click.UsageError("--unused takes a number, or all.")
    texts = read(files)
    checked = read(check) if check else None
    tokenizer = _tokenizer_to_change(model)
    with shown_reading(texts, "looking") as shown:
        trimmed = trietok.trim(
            tokenizer,
            shown,
            keep=[token for _, token in _listed(keep)],
            unused=unused if unused == "all" else int(unused),
            check_texts=checked,
            **what_else,
        )
    _save(trimmed.tokenizer, model, output, trimmed.plan, save_plan)
    certificate, command = trimmed.certificate, _rows_command(model, output)
    write_result(
        {"out": output, **certificate.to_dict(), "plan": save_plan, "rows_command": command},
        as_json,
        lambda: (*certificate.lines(), *_rows_lines(trimmed.tokenizer, model, output), certificate.proof),
    )


_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"

# What `suggest` and `adapt` take.
_found = options.together(
    options.number("--min-frequency", default=3, help="Leave out words that occur fewer than N times."),
    options.number(
        "--phrases",
        type=click.IntRange(min=0, max=4),
        default=0,
        help="Include phrases of 2 to N words (N at most 4), as added tokens.",
    ),
    options.some_files("--leave-out", help="Leave out the words of a file, one a line. May be repeated."),
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
@options.reading
@options.json_offline
def suggest(
    files: tuple[str, ...],
    model: str,
    output: str | None,
    leave_out: tuple[str, ...],
    read: Reader,
    as_json: bool,
    **how: Any,
) -> None:
    """List the words of your texts that are worth adding to a tokenizer, ranked by the tokens they save.

    The tokenizer stays as it is; --output saves a copy with the words added.

    \b
    Examples:
      trietok suggest 'texts/*.txt' --most 50
      trietok suggest -m my-tokenizer -o with-words texts.txt
    """
    texts = read(files)
    choice = Choice(model, trietok.BertTokenizer, "because words are found as the slow class splits texts")
    tokenizer = choice.load()
    say_choice(choice)
    how["leave_out"] = [word.strip() for _, word in _listed(leave_out)]
    with shown_reading(texts, "counting words") as shown:
        suggestions = trietok.suggest_tokens(tokenizer, shown, **how)
    applied, said = None, []
    if output is not None:
        after = _tokenizer_to_change(model)
        done = trietok.add_terms(after, [each.word for each in suggestions.suggestions], suggestions.adding)
        _save(after, model, output, None, None)
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
    from trietok.workbench.suggesting.suggest import HEAD

    if suggestions.suggestions:
        rows = [[(name, _PIECES) for name in HEAD]]
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
    raise click.UsageError(f"--start must be {', '.join(STARTS)} or copy:TOKEN, not {start!r:.60}.", ctx)


_rows_made = options.together(
    click.option(
        "--start",
        metavar="WAY",
        callback=_start,
        help="Start the row of a new token as the mean of its pieces' rows (mean, the default), weighted by length "
        "(length), or fitted to the model (distil, with PyTorch); or as the mean of all (all), zeros or copy:TOKEN.",
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
        help="Also change this tensor (or pattern of names), whose first axis has a row for each token. "
        "May be repeated.",
    ),
    options.name("--leave", multiple=True, help="Leave this tensor (or pattern of names) as it is. May be repeated."),
    options.number("--multiple-of", default=1, help="Round the number of rows up to a multiple of N."),
    options.flag("--onnx", help="Also write .onnx files with the new rows where that is possible (with onnx)."),
)


@options.command()
@options.model_directory
@options.profile
@options.writes(options.NEW_DIRECTORY)
@options.tokenizer("--new-tokenizer", help="The tokenizer that the model gets.")
@options.file("--plan", help="Use a row plan that --save-plan wrote.")
@options.save_plan
@_rows_made
@options.flag("--allow-other-vocabulary", help="Write the model even if the new tokenizer has another vocabulary.")
@options.json_offline
def rows(
    model: str,
    output: str,
    new_tokenizer: str | None,
    plan: str | None,
    save_plan: str | None,
    start: str | None,
    start_seconds: float | None,
    allow_other_vocabulary: bool,
    as_json: bool,
    **tensors: Any,
) -> None:
    """Copy a model, with a row for each token of another tokenizer.

    The model stays as it is. Tokens that both tokenizers have keep their rows, even where their ids have moved.

    \b
    Examples:
      trietok rows -m bert-small --new-tokenizer new-tokenizer -o new-model
      trietok rows -m bert-small --plan plan.json -o new-model --multiple-of 8
    """
    if new_tokenizer is None and plan is None:
        raise click.UsageError("Give --new-tokenizer DIR, or --plan FILE.")
    if plan is not None and start is not None:
        raise click.UsageError("--start goes with --new-tokenizer only: a plan already says what new rows are made of.")
    multiple_of, onnx = tensors.pop("multiple_of"), tensors["onnx"]
    checkpoint, axes = checked_model(model, output, **tensors)  # before its name is taken for one on the hub
    row_plan, after, proof = _planned(model, new_tokenizer, plan, "length" if start == "distil" else start or "mean")
    if row_plan.replaces_vocabulary and not allow_other_vocabulary:
        raise trietok.InputError(
            f"the new tokenizer has another vocabulary than that of {model}: {row_plan}; give the tokenizer that was "
            "made from the model's, or write the model nevertheless with --allow-other-vocabulary"
        )
    if save_plan is not None:
        row_plan.save(save_plan)
    if plan is not None:  # any other was made from the model's tokenizer just now
        check_tokenizers(row_plan, checkpoint, after)
    with shown_bars(transient=True) as bars:
        fitted = None
        if start == "distil":
            from trietok.workbench.adapting.distil import distil_rows  # PyTorch: only where rows are fitted

            before, progress = choose(model, after.profile).load(), _writing(bars, "fitting", "rows")
            fitted = distil_rows(row_plan, checkpoint, before, after, seconds=start_seconds, progress=progress)
        how = {"multiple_of": multiple_of, "tokenizer": after, "progress": _writing(bars), "onnx": onnx}
        applied = write_rows(row_plan, checkpoint, axes, output, fitted=fitted, **how)
    said = [str(row_plan), proof] if proof else [applied.proof]
    said[:0] = [] if fitted is None else str(fitted).split("\n")
    values = {**applied.to_dict(), "fitted": plain_values(fitted), "proof": said[-1]}
    write_result(values, as_json, lambda: [*applied.table(), *applied.summary(), *said])
    if after is None:
        warn(f"{output} has no tokenizer; give --new-tokenizer DIR, or save the one that the plan leads to there")


def _planned(
    model: str, new_tokenizer: str | None, plan: str | None, start: str
) -> tuple[trietok.RowPlan, Any, str | None]:
    """The plan; the tokenizer that it leads to, if there is one to save; what becomes of the ids, if that is known."""
    after: Any = None if new_tokenizer is None else tokenizer_of(new_tokenizer)
    if plan is None:
        before = choose(model, after.profile).load()
        return trietok.plan_rows(before, after, start=start), after, trietok.compare(before, after, ()).proof
    row_plan = trietok.RowPlan.load(plan)
    if new_tokenizer is not None and after.fingerprint() != row_plan.after:
        # The plan may have been made for the other profile.
        with contextlib.suppress(trietok.TrietokError):
            other = choose(new_tokenizer, "slow" if after.profile == "fast" else "fast").load()
            after = other if other.fingerprint() == row_plan.after else after
    return row_plan, after, None


def _writing(bars: Bars | None, phase: str = "writing", unit: str = "bytes") -> Callable[[int, int], None] | None:
    """What shows how much of a model is written, or of its rows fitted, where somebody looks."""
    return None if bars is None else lambda done, total: bars.show(phase, done, total, unit)


@options.command()
@options.files_if_any
@options.file("--terms", help="Add the terms of this file, one a line, and find none; - is standard input.")
@options.model_directory
@options.profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.flag("--dry-run", help="Show what would be added and what left out, and write nothing.")
@options.most(default=500, help="Add at most N of the words that are found.")
@_found
@click.option(
    "--held-back",
    type=click.FloatRange(min=0, max=1, max_open=True),
    default=0.1,
    metavar="SHARE",
    help="Find no words in this share of the texts, and show what the new tokens do to them.",
)
@options.number(
    "--in-context",
    type=click.IntRange(min=0),
    default=0,
    help="With --start distil, fit rows in N texts that hold the word, too, which takes longer.",
)
@options.flag("--measure", help="Show what becomes of embeddings of held-back texts (with PyTorch; as distil does).")
@options.file("--page", help="Also write the report as a page for a browser.")
@_way(known=WAYS)
@_allow_left_out
@_rows_made
@options.reading
@options.json_offline
def adapt(
    files: tuple[str, ...],
    terms: str | None,
    model: str,
    output: str | None,
    dry_run: bool,
    leave_out: tuple[str, ...],
    allow_left_out: bool,
    start: str | None,
    page: str | None,
    read: Reader,
    as_json: bool,
    **how: Any,
) -> None:
    """Add terms, or the words of your texts that most deserve a token, to a model and its tokenizer.

    The command writes a copy in which each new word has a row, and checks that other tokens keep their ids and rows.
    With --terms, FILES say how many tokens the terms save; without, the words of FILES are added that save most.

    \b
    Examples:
      trietok adapt -m bert-small -o adapted --terms terms.txt
      trietok adapt -m bert-small --terms terms.txt 'texts/*.txt' --dry-run
      trietok adapt -m bert-small -o adapted --column note --most 200 notes.jsonl
    """
    if terms is None and not files:
        raise click.UsageError("Give FILES to find words in, or --terms FILE.")
    if output is None and not dry_run:
        raise click.UsageError("Missing option '--output' / '-o'; --dry-run goes without.")
    given = None if terms is None else _Terms(terms, files)
    checked_model(model, None)  # before its name is taken for one on the hub
    texts: Any = read(files) if files else ()
    profile = choice_of(model).kind.profile
    with shown_bars(transient=True) as bars:
        adapted = trietok.adapt(
            model,
            None if dry_run else output,
            texts if bars is None or not files else Watched(texts, "reading", bars),
            terms=None if given is None else given.terms,
            leave_out=[word.strip() for _, word in _listed(leave_out)],
            start=start or "mean",
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
