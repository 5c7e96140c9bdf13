"""`trietok adapt`: a model and its tokenizer made ready for some texts, in one go."""

from __future__ import annotations

import copy
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import PATH, STANDARD_INPUT, Lines, tokenizer_of
from trietok.cli.output import json_line, on_terminal, reporting, visible, warn, write_line, writing
from trietok.cli.progress import Bars, Watched, shown_bars, shown_reading
from trietok.files.atomic import checked_new
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of
from trietok.showing.characters import first_few, number_of
from trietok.workbench.adapting.add_terms import AS_ADDED_TOKEN, RefusedTerm, WayEffect, effects_of_terms
from trietok.workbench.adapting.apply_rows import check_tokenizers, checked_model, write_rows

# What the commands share that write a tokenizer with other tokens: where it goes, and what is said at the end.
#
# In: the tokenizer before and after. Out: a new directory, a plan of rows if asked for, and the lines that end a
# command.


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


# `trietok add`: a list of terms made tokens, and the tokenizer with them.


_AS_WHAT = {
    "wordpiece": "entries of the vocabulary",
    "added": "added tokens",
    "single-word": "added tokens of single words",
    "unused": "added tokens in unused slots",
}


@click.command()
@click.argument("terms", type=options.PATH)
@options.new_directory
@options.model
@click.option(
    "--as",
    "way",
    type=click.Choice(["wordpiece", "added", "single-word", "unused"]),
    default="wordpiece",
    help="Add terms as vocabulary entries, as added tokens that match inside words too (added), as added tokens that "
    "match whole words (single-word), or as added tokens in the free slots [unusedN] (unused).",
)
@click.option("--special", is_flag=True, help="Add special tokens, which decoding can skip.")
@click.option(
    "--texts",
    "-t",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Show what each way of adding does to the texts of this file. May be repeated.",
)
@save_plan
@fast
@options.column
@options.errors
@as_json
@options.offline
def add(
    terms: str,
    output: str,
    model: str,
    way: str,
    special: bool,
    texts: tuple[str, ...],
    save_plan: str | None,
    fast: bool | None,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Add a list of terms to a tokenizer; no id moves.

    TERMS is a UTF-8 file with a term on each line; - is standard input. The command names the terms that are known
    already, occur twice or cannot be added.

    \b
    Examples:
      trietok add terms.txt --output with-terms
      trietok add terms.txt --model my-tokenizer --as single-word --output with-terms
    """
    with reporting():
        checked_new(output)
        read = options.text_files_of(texts, column, errors) if texts else None
        where = "standard input" if terms == STANDARD_INPUT else terms
        lines = [(number, line.text) for number, line in enumerate(Lines(files=[terms]), start=1) if line.text.strip()]
        if not lines:
            raise trietok.InputError(f"there is no term in {where}; write one on each line")
        given = [text for _, text in lines]
        before = tokenizer_to_change(model, fast)
        effects: list[WayEffect] = []
        if read is not None:
            with shown_reading(read, "looking") as shown:
                effects = effects_of_terms(before, given, shown, special=special)
        after = copy.deepcopy(before)
        done = trietok.add_terms(after, given, way, special=special)
        refused = [each._replace(number=lines[each.number - 1][0], reason=_reason(each)) for each in done.refused]
        if refused and not done.added:
            raise trietok.InputError(_none_added(done.known, refused, where))
        done = done._replace(refused=refused)
        comparison = trietok.compare(before, after, ())
        save(after, model, output, trietok.plan_rows(before, after) if save_plan is not None else None, save_plan)
        if as_json:
            write_line(json_line(_added_values(done, effects, comparison, model, output, save_plan)))
            return
        for term in refused:
            warn(f"{where}, line {term.number}: {term.term!r:.60} is not added: {term.reason}")
        written = (*_written(done, after, model, output), *comparison.slots_said, comparison.proof)
        for said in (*map(str, effects), *_lines(done), *written):
            write_line(visible(said))


def _lines(done: trietok.AddedTerms) -> list[str]:
    lines = [f"{number_of(len(done.added), 'term')} added as {_AS_WHAT[done.way]}"]
    for what, terms in (("known already", done.known), ("listed twice", done.duplicates)):
        if terms:
            lines.append(f"{len(terms):,} {what}: {first_few(terms)}")
    return lines


def _reason(refused: RefusedTerm) -> str:
    """Why a term is refused, with the option that takes it."""
    return refused.reason + (" (--as single-word)" if refused.reason.endswith(AS_ADDED_TOKEN) else "")


def _written(done: trietok.AddedTerms, tokenizer: Any, model: str, out: str) -> list[str]:
    if done.added:
        return rows_lines(tokenizer, model, out)
    return [f"written to {out}; no term is new, so its ids are those of before, and a model needs no other rows"]


def _none_added(known: list[str], refused: list[RefusedTerm], where: str) -> str:
    """The message for terms of which none is new, and some cannot be added."""
    first = refused[0]
    said = f"; {len(known):,} known already: {first_few(known)}" if known else ""
    return (
        f"no term is added{said}; {len(refused):,} refused: {where}, line {first.number}, {first.term!r:.60}: "
        f"{first.reason}"
    )


def _added_values(
    done: trietok.AddedTerms,
    effects: list[WayEffect],
    comparison: trietok.Comparison,
    model: str,
    out: str,
    plan: str | None,
) -> dict[str, Any]:
    values = done.to_dict()
    values["refused"] = [
        {"line": each["number"], "term": each["term"], "reason": each["reason"]} for each in values["refused"]
    ]
    return {
        "out": out,
        **values,
        "effects": [
            {**effect._asdict(), "other_words": [word._asdict() for word in effect.other_words]} for effect in effects
        ],
        "before": comparison.fingerprints[0],
        "after": comparison.fingerprints[1],
        "proof": comparison.proof,
        "plan": plan,
        "rows_command": rows_command(model, out) if done.added else None,
    }


# `trietok trim`: a smaller tokenizer for the user's text, with the same tokens for it.


@click.command()
@click.argument("model", type=options.PATH, metavar="NAME_OR_DIR")
@options.files
@options.new_directory
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
@save_plan
@fast
@options.column
@options.errors
@as_json
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
        texts = options.text_files_of(files, column, errors)
        checked = options.text_files_of(check, column, errors) if check else None
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
            write_line(json_line(_trimmed_values(trimmed, model, output, save_plan)))
            return
        certificate = trimmed.certificate
        for line in (*certificate.lines(), *rows_lines(trimmed.tokenizer, model, output), certificate.proof):
            write_line(visible(line))


def _trimmed_values(trimmed: trietok.Trimmed, model: str, out: str, plan: str | None) -> dict[str, Any]:
    return {
        "out": out,
        **trimmed.certificate.to_dict(),
        "plan": plan,
        "rows_command": rows_command(model, out),
    }


# `trietok suggest`: which words of the user's text to add to a tokenizer, and the tokenizer with them.


_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"

min_frequency = click.option(
    "--min-frequency",
    type=options.POSITIVE,
    default=3,
    metavar="N",
    help="Leave out words that occur fewer than N times.",
)
phrases = click.option(
    "--phrases",
    type=click.IntRange(min=0, max=4),
    default=0,
    metavar="N",
    help="Include phrases of 2 to N words (N at most 4), as added tokens.",
)
leave_out = click.option(
    "--leave-out",
    type=options.PATH,
    multiple=True,
    metavar="FILE",
    help="Leave out the words of a file, one a line. May be repeated.",
)


@click.command()
@click.argument("files", nargs=-1, type=options.PATH)
@options.model
@click.option("--most", "-n", type=options.POSITIVE, default=500, metavar="N", help="Suggest at most N words.")
@min_frequency
@click.option(
    "--unknown-weight",
    type=click.FloatRange(min=0),
    default=2.0,
    metavar="W",
    help="Count each [UNK] avoided as W saved tokens.",
)
@click.option(
    "--as",
    "adding",
    type=options.Ways(["wordpiece", "single-word"], {"added": "single-word"}),
    default="wordpiece",
    help="Add words as vocabulary entries, or as added tokens that match whole words (single-word).",
)
@click.option("--leave-others", is_flag=True, help="Suggest no word that changes the tokens of another word.")
@click.option(
    "--max-words",
    type=options.POSITIVE,
    default=1_000_000,
    metavar="N",
    help="Hold at most N different words in memory; drop the rarest.",
)
@phrases
@leave_out
@options.output("Save a tokenizer with the words added; a new or empty directory.", also="--apply")
@options.column
@options.errors
@as_json
@options.offline
@click.pass_context
def suggest(
    ctx: click.Context,
    files: tuple[str, ...],
    model: str,
    most: int,
    min_frequency: int,
    unknown_weight: float,
    adding: str,
    leave_others: bool,
    max_words: int,
    phrases: int,
    leave_out: tuple[str, ...],
    output: str | None,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """List the words of your texts that are worth adding to a tokenizer, ranked by the tokens they save.

    FILES are .txt (one text a line), .jsonl or .parquet files, or quoted globs. The first two may be compressed with
    gzip or zstd. Without FILES, or for -, texts come from standard input.

    The tokenizer stays as it is; --output saves a copy with the words added.

    \b
    Examples:
      trietok suggest 'texts/*.txt' --most 50
      trietok suggest texts.txt --model my-tokenizer --output with-words
    """
    with reporting():
        if not files:
            if sys.stdin is None or sys.stdin.isatty():
                ctx.fail("Give FILES, or text through a pipe; - reads what you type.")
            files = (STANDARD_INPUT,)
        check_phrases(phrases, adding)
        if output is not None:
            checked_new(output)
        texts = options.text_files_of(files, column, errors)
        tokenizer = trietok.BertTokenizer.from_pretrained(model)
        with shown_reading(texts, "counting words") as shown:
            suggestions = trietok.suggest_tokens(
                tokenizer,
                shown,
                max_suggestions=most,
                min_frequency=min_frequency,
                unknown_weight=unknown_weight,
                adding=adding,
                leave_others=leave_others,
                max_words=max_words,
                phrases=phrases,
                leave_out=words_of(leave_out),
            )
        applied = None if output is None else _apply(tokenizer, suggestions, output)
        if as_json:
            write_line(json_line({**suggestions.to_dict(), "applied": applied}))
        elif on_terminal():
            _write_suggestions(suggestions, applied)
        else:
            for line in [*str(suggestions).split("\n"), *_applied_lines(applied)]:
                write_line(visible(line))
        if output is not None and has_tokenizer_json(model):
            warn(
                f"{model} has a tokenizer.json, and {output} has none: its ids are those of the slow profile; trietok "
                "adapt, and trietok add with a list of the words, write one"
            )


def check_phrases(phrases: int, way: str) -> None:
    """Raise for phrases that would be entries."""
    if phrases and way == "wordpiece":
        raise trietok.InputError(
            "a phrase cannot be an entry, since BERT cuts texts at spaces before it looks entries up; --phrases needs "
            "--as single-word"
        )


def words_of(files: Sequence[str]) -> list[str]:
    """The words of files, one a line."""
    return [word for line in Lines(files=files) if (word := line.text.strip())]


def _apply(tokenizer: Any, suggestions: trietok.Suggestions, out: str) -> dict[str, Any]:
    applied = trietok.add_suggestions(tokenizer, suggestions)
    tokenizer.save_pretrained(out)
    rows = {"rows": tokenizer.embedding_rows(1), "rows_multiple_of_8": tokenizer.embedding_rows()}
    return {"out": out, **applied._asdict(), **rows}


def _applied_lines(applied: dict[str, Any] | None) -> list[str]:
    if applied is None:
        return []
    return [
        f"written to {applied['out']}: {number_of(applied['added'], 'word')} added, "
        f"{applied['verified']:,} others verified, {applied['changed']:,} of them changed as said",
        f"the model needs {applied['rows']} embedding rows; {applied['rows_multiple_of_8']} as a multiple of 8",
    ]


def _write_suggestions(suggestions: trietok.Suggestions, applied: dict[str, Any] | None) -> None:
    """For a terminal: all suggestions, unknown words in red."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.workbench.suggesting.suggest import HEAD

    # Everything is put together from `Text`: a string would be searched for markup, and [UNK] would vanish.
    console = Console(highlight=False, markup=False, emoji=False)
    with writing():
        table = Table.grid(padding=(0, 2))
        for justify in ("left", "right", "right", "left"):
            table.add_column(justify=justify)
        table.add_row(*(Text(name, style=_PIECES) for name in HEAD))
        for suggestion, row in zip(suggestions.suggestions, suggestions.rows(), strict=True):
            word, count, saved, pieces = map(visible, row)
            style = _UNKNOWN if suggestion.is_unknown else _PIECES
            table.add_row(Text(word, style=_WORD), Text(count), Text(saved, style=_NUMBER), Text(pieces, style=style))
        if suggestions.suggestions:
            console.print(table)
            console.print()
        for line in [*suggestions.summary(), *_applied_lines(applied)]:
            console.print(Text(visible(line)))


# `trietok rows`: a model's directory with the rows that its changed tokenizer needs.


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
@save_plan
@new
@also
@leave
@multiple_of
@options.force("Write the model even if the tokenizer has another vocabulary.")
@as_json
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
        checkpoint, axes = checked_model(model_dir, output, also, leave)  # before its name is taken for one on the hub
        row_plan, after, proof = _planned(model_dir, tokenizer, plan, new or "pieces")
        if row_plan.replaces_vocabulary and not force:
            raise trietok.InputError(
                f"the tokenizer has another vocabulary than that of {model_dir}: {row_plan}; give the tokenizer that "
                "was made from the model's, or write the model nevertheless with --force"
            )
        if save_plan is not None:
            row_plan.save(save_plan)
        if plan is not None:  # any other was made from the model's tokenizer just now
            check_tokenizers(row_plan, checkpoint, after)
        with shown_bars(transient=True) as bars:
            applied = write_rows(
                row_plan,
                checkpoint,
                axes,
                output,
                multiple_of=multiple_of,
                tokenizer=after,
                progress=None if bars is None else progress(bars),
            )
        if as_json:
            write_line(json_line({**applied.to_dict(), "proof": proof or applied.proof}))
        else:
            if on_terminal():
                _write_rows(applied)
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


def _write_rows(applied: trietok.AppliedRows) -> None:
    """The tensors, for a terminal."""
    from rich.console import Console  # only where somebody looks
    from rich.table import Table
    from rich.text import Text

    from trietok.workbench.adapting.row_blocks import HEAD

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


@click.command()
@model_dir
@options.output(required=True)
@click.option(
    "--texts",
    "-t",
    type=options.PATH,
    required=True,
    multiple=True,
    metavar="FILE",
    help="Find words in this file or quoted glob (.txt, .jsonl or .parquet). May be repeated.",
)
@click.option("--most", "-n", type=options.POSITIVE, default=500, metavar="N", help="Add at most N words.")
@min_frequency
@click.option(
    "--as",
    "way",
    type=options.Ways(["wordpiece", "single-word", "unused"], {"added": "single-word"}),
    default="wordpiece",
    help="Add words as vocabulary entries, as added tokens that match whole words (single-word), or as whole-word "
    "tokens in the free slots [unusedN] (unused).",
)
@phrases
@leave_out
@new
@also
@leave
@multiple_of
@options.column
@options.errors
@as_json
@options.offline
def adapt(
    model_dir: str,
    output: str,
    texts: tuple[str, ...],
    most: int,
    min_frequency: int,
    way: str,
    phrases: int,
    leave_out: tuple[str, ...],
    new: str | None,
    also: tuple[str, ...],
    leave: tuple[str, ...],
    multiple_of: int,
    column: str,
    errors: str,
    as_json: bool,
) -> None:
    """Find the words of your texts that most deserve a token, and add them to a model and its tokenizer.

    MODEL_DIR is the model's directory, with its config.json and weights; it stays as it is. The command writes a copy
    in which each new word has a row, and checks that all other tokens keep their ids and rows.

    \b
    Examples:
      trietok adapt bert-small --texts 'texts/*.txt' --output adapted
      trietok adapt bert-small --texts notes.jsonl --column note --most 200 --output adapted
    """
    with reporting():
        check_phrases(phrases, way)
        checked_new(output)
        files = options.text_files_of(texts, column, errors)
        with shown_bars(transient=True) as bars:
            adapted = trietok.adapt(
                model_dir,
                output,
                files if bars is None else Watched(files, "reading", bars),
                most=most,
                min_frequency=min_frequency,
                way=way,
                phrases=phrases,
                leave_out=words_of(leave_out),
                new=new or "pieces",
                also=also,
                leave=leave,
                multiple_of=multiple_of,
                progress=None if bars is None else progress(bars),
            )
        if as_json:
            write_line(json_line(adapted.to_dict()))
            return
        for line in str(adapted).split("\n"):
            write_line(visible(line))
