"""`trietok add`, `trim`, `suggest`, `rows` and `adapt`: a tokenizer with other tokens, and a model made ready for it.

In: a tokenizer or a model, and terms or texts. Out: a new directory, a plan of rows if asked for, and lines that say
what became of the ids and what a model needs now.
"""

from __future__ import annotations

import copy
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import STANDARD_INPUT, Lines, Reader, tokenizer_of
from trietok.cli.output import on_terminal, say_choice, warn
from trietok.cli.progress import Bars, Watched, shown_bars, shown_reading
from trietok.cli.results import on_screen, write_lines, write_result
from trietok.files.atomic import checked_new
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of
from trietok.showing.characters import first_few, number_of
from trietok.tokenizer.auto import Choice, choose
from trietok.workbench.adapting.add_terms import AS_ADDED_TOKEN, RefusedTerm, WayEffect, effects_of_terms
from trietok.workbench.adapting.apply_rows import check_tokenizers, checked_model, write_rows

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

_save_plan = options.file("--save-plan", help="Also write the row plan, for trietok rows --plan, to a JSON file.")
_json = options.together(options.json_flag(help="Write one JSON object, with every number."), options.offline)
# What `add` and `trim` end with.
_changing = options.together(
    _save_plan,
    options.former_profile,
    options.reading,
    _json,
)
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin*")


def _tokenizer_to_change(model: str) -> Any:
    """The tokenizer of a name or directory; what both profiles read there must be the same tokens."""
    from trietok.workbench.adapting.adapt import require_same_tokens  # `suggest` has no use for it

    tokenizer = tokenizer_of(model)
    if tokenizer.profile == "fast" and has_tokenizer_json(model):
        try:
            require_same_tokens(tokenizer, trietok.AutoTokenizer.from_pretrained(model, use_fast=False), model)
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
    return f"trietok rows {shlex.quote(model)} --tokenizer {shlex.quote(out)} --output {shlex.quote(out + '-model')}"


def _rows_lines(tokenizer: Any, model: str, out: str) -> list[str]:
    """What a model needs now."""
    rows, rounded = tokenizer.embedding_rows(1), tokenizer.embedding_rows()
    lines = [f"written to {out}; the model needs {rows} embedding rows; {rounded} as a multiple of 8"]
    command = _rows_command(model, out)
    return lines if command is None else [*lines, f"{model} holds a model; update its rows with: {command}"]


_AS_WHAT = {
    "wordpiece": "entries of the vocabulary",
    "added": "added tokens",
    "single-word": "added tokens of single words",
    "unused": "added tokens in unused slots",
}


@options.command()
@click.argument("terms", type=options.PATH)
@options.new_directory
@options.model
@click.option(
    "--as",
    "way",
    type=click.Choice(list(_AS_WHAT)),
    default="wordpiece",
    help="Add terms as vocabulary entries, as added tokens that match inside words too (added), as added tokens that "
    "match whole words (single-word), or as added tokens in the free slots [unusedN] (unused).",
)
@options.flag("--special", help="Add special tokens, which decoding can skip.")
@options.some_files(
    "--texts", "-t", help="Show what each way of adding does to the texts of this file. May be repeated."
)
@_changing
def add(
    terms: str,
    output: str,
    model: str,
    way: str,
    special: bool,
    texts: tuple[str, ...],
    save_plan: str | None,
    read: Reader,
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
    checked_new(output)
    looked_into = read(texts) if texts else None
    where = "standard input" if terms == STANDARD_INPUT else terms
    lines = [(number, line.text) for number, line in enumerate(Lines(files=[terms]), start=1) if line.text.strip()]
    if not lines:
        raise trietok.InputError(f"there is no term in {where}; write one on each line")
    given = [text for _, text in lines]
    before = _tokenizer_to_change(model)
    effects: list[WayEffect] = []
    if looked_into is not None:
        with shown_reading(looked_into, "looking") as shown:
            effects = effects_of_terms(before, given, shown, special=special)
    after = copy.deepcopy(before)
    done = trietok.add_terms(after, given, way, special=special)
    refused = [each._replace(number=lines[each.number - 1][0], reason=_reason(each)) for each in done.refused]
    if refused and not done.added:
        known, first = done.known, refused[0]
        said = f"; {len(known):,} known already: {first_few(known)}" if known else ""
        raise trietok.InputError(
            f"no term is added{said}; {len(refused):,} refused: {where}, line {first.number}, {first.term!r:.60}: "
            f"{first.reason}"
        )
    done = done._replace(refused=refused)
    comparison = trietok.compare(before, after, ())
    _save(after, model, output, trietok.plan_rows(before, after) if save_plan is not None else None, save_plan)
    if not as_json:
        for term in refused:
            warn(f"{where}, line {term.number}: {term.term!r:.60} is not added: {term.reason}")
    if done.added:
        written = _rows_lines(after, model, output)
    else:
        written = [
            f"written to {output}; no term is new, so its ids are those of before, and a model needs no other rows"
        ]
    write_result(
        _added_values(done, effects, comparison, model, output, save_plan),
        as_json,
        lambda: (*map(str, effects), *_lines(done), *written, *comparison.slots_said, comparison.proof),
    )


def _lines(done: trietok.AddedTerms) -> list[str]:
    lines = [f"{number_of(len(done.added), 'term')} added as {_AS_WHAT[done.way]}"]
    for what, terms in (("known already", done.known), ("listed twice", done.duplicates)):
        if terms:
            lines.append(f"{len(terms):,} {what}: {first_few(terms)}")
    return lines


def _reason(refused: RefusedTerm) -> str:
    """Why a term is refused, with the option that takes it."""
    return refused.reason + (" (--as single-word)" if refused.reason.endswith(AS_ADDED_TOKEN) else "")


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
        "rows_command": _rows_command(model, out) if done.added else None,
    }


@options.command()
@click.argument("model", type=options.PATH, metavar="NAME_OR_DIR")
@options.profile
@options.files
@options.new_directory
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
    model: str,
    files: tuple[str, ...],
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

    NAME_OR_DIR is the tokenizer: a directory, a vocab.txt, a built-in name or a name on the hub. FILES are .txt (one
    text a line), .jsonl or .parquet files, or quoted globs. The first two may be compressed with gzip or zstd. - is
    standard input.

    The command checks each text with both tokenizers. Ids move; trietok rows moves the rows of a model with them.

    \b
    Examples:
      trietok trim trietok-en 'texts/*.txt' --output small
      trietok trim my-tokenizer texts.txt --keep terms.txt --characters --output small
    """
    if unused != "all" and not (unused.isascii() and unused.isdigit() and len(unused) < 10):
        raise click.UsageError("--unused takes a number, or all.")
    checked_new(output)
    texts = read(files)
    checked = read(check) if check else None
    tokenizer = _tokenizer_to_change(model)
    with shown_reading(texts, "looking") as shown:
        trimmed = trietok.trim(
            tokenizer,
            shown,
            keep=[token for line in Lines(files=keep) if (token := line.text.removesuffix("\r"))],
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
_min_frequency = options.number("--min-frequency", default=3, help="Leave out words that occur fewer than N times.")
_phrases_and_words = options.together(
    options.number(
        "--phrases",
        type=click.IntRange(min=0, max=4),
        default=0,
        help="Include phrases of 2 to N words (N at most 4), as added tokens.",
    ),
    options.some_files("--leave-out", help="Leave out the words of a file, one a line. May be repeated."),
)


@options.command()
@click.argument("files", nargs=-1, type=options.PATH)
@options.model
@options.number("--most", "-n", "max_suggestions", default=500, help="Suggest at most N words.")
@_min_frequency
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
@options.flag("--leave-others", help="Suggest no word that changes the tokens of another word.")
@options.max_words(default=1_000_000)
@_phrases_and_words
@options.output("Save a tokenizer with the words added; a new or empty directory.", also="--apply")
@options.reading
@_json
def suggest(
    files: tuple[str, ...],
    model: str,
    adding: str,
    phrases: int,
    leave_out: tuple[str, ...],
    output: str | None,
    read: Reader,
    as_json: bool,
    **which: Any,
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
    if not files:
        if sys.stdin is None or sys.stdin.isatty():
            raise click.UsageError("Give FILES, or text through a pipe; - reads what you type.")
        files = (STANDARD_INPUT,)
    _check_phrases(phrases, adding)
    if output is not None:
        checked_new(output)
    texts = read(files)
    choice = Choice(model, trietok.BertTokenizer, "because the words of texts are told in this profile")
    tokenizer = choice.load()
    say_choice(choice)
    with shown_reading(texts, "counting words") as shown:
        suggestions = trietok.suggest_tokens(
            tokenizer, shown, adding=adding, phrases=phrases, leave_out=_words_of(leave_out), **which
        )
    applied = None if output is None else _apply(tokenizer, suggestions, output)
    said = [] if applied is None else _applied_lines(applied)
    write_result(
        {**suggestions.to_dict(), "applied": applied},
        as_json,
        lambda: [*str(suggestions).split("\n"), *said],
        lambda screen: _draw_suggestions(screen, suggestions, said),
    )
    if output is not None and has_tokenizer_json(model):
        warn(
            f"{model} has a tokenizer.json, and {output} has none: its ids are those of the slow profile; trietok "
            "adapt, and trietok add with a list of the words, write one"
        )


def _check_phrases(phrases: int, way: str) -> None:
    """Raise for phrases that would be entries."""
    if phrases and way == "wordpiece":
        raise trietok.InputError(
            "a phrase cannot be an entry, since BERT cuts texts at spaces before it looks entries up; --phrases needs "
            "--as single-word"
        )


def _words_of(files: Sequence[str]) -> list[str]:
    """The words of files, one a line."""
    return [word for line in Lines(files=files) if (word := line.text.strip())]


def _apply(tokenizer: Any, suggestions: trietok.Suggestions, out: str) -> dict[str, Any]:
    applied = trietok.add_suggestions(tokenizer, suggestions)
    tokenizer.save_pretrained(out)
    rows = {"rows": tokenizer.embedding_rows(1), "rows_multiple_of_8": tokenizer.embedding_rows()}
    return {"out": out, **applied._asdict(), **rows}


def _applied_lines(applied: dict[str, Any]) -> list[str]:
    return [
        f"written to {applied['out']}: {number_of(applied['added'], 'word')} added, "
        f"{applied['verified']:,} others verified, {applied['changed']:,} of them changed as said",
        f"the model needs {applied['rows']} embedding rows; {applied['rows_multiple_of_8']} as a multiple of 8",
    ]


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


def _way_of_rows(ctx: click.Context, parameter: click.Parameter, way: str | None) -> str | None:
    if way is None or way in ("pieces", "mean", "zeros") or way.startswith("copy:"):
        return way
    raise click.UsageError(f"--new must be pieces, mean, zeros or copy:TOKEN, not {way!r:.60}.", ctx)


_model_and_output = options.together(click.argument("model_dir", type=options.PATH), options.output(required=True))
_rows_made = options.together(
    click.option(
        "--new",
        metavar="WAY",
        callback=_way_of_rows,
        help="Make the rows of new tokens from: pieces (the default), mean, zeros or copy:TOKEN.",
    ),
    options.name(
        "--also",
        multiple=True,
        help="Also change this tensor (or pattern of names), whose first axis has a row for each token. "
        "May be repeated.",
    ),
    options.name("--leave", multiple=True, help="Leave this tensor (or pattern of names) as it is. May be repeated."),
    options.number("--multiple-of", default=1, help="Round the number of rows up to a multiple of N."),
)


@options.command()
@_model_and_output
@options.tokenizer("--tokenizer", help="The new tokenizer, which is saved with the model.")
@options.profile
@options.file("--plan", help="Use a row plan that --save-plan wrote.")
@_save_plan
@_rows_made
@options.force(help="Write the model even if the tokenizer has another vocabulary.")
@_json
def rows(
    model_dir: str,
    output: str,
    tokenizer: str | None,
    plan: str | None,
    save_plan: str | None,
    new: str | None,
    force: bool,
    as_json: bool,
    **tensors: Any,
) -> None:
    """Copy a model, with a row for each token of another tokenizer.

    MODEL_DIR is the model's directory, with its config.json and weights; it stays as it is. Tokens that both tokenizers
    have keep their rows, even where their ids have moved.

    \b
    Examples:
      trietok rows bert-small --tokenizer new-tokenizer --output new-model
      trietok rows bert-small --plan plan.json --output new-model --multiple-of 8
    """
    if tokenizer is None and plan is None:
        raise click.UsageError("Give --tokenizer DIR, the new tokenizer, or --plan FILE.")
    if plan is not None and new is not None:
        raise click.UsageError("--new goes with --tokenizer only: a plan already says what new rows are made of.")
    checked_new(output)
    also, leave, multiple_of = tensors["also"], tensors["leave"], tensors["multiple_of"]
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
        how = {"multiple_of": multiple_of, "tokenizer": after, "progress": _writing(bars)}
        applied = write_rows(row_plan, checkpoint, axes, output, **how)
    said = [str(row_plan), proof] if proof else [applied.proof]
    if not as_json and on_terminal():
        on_screen(lambda screen: _draw_rows(screen, applied))
        write_lines([*applied.summary(), *said])
    else:
        values = {**applied.to_dict(), "proof": said[-1]}
        write_result(values, as_json, lambda: [*applied.table(), *applied.summary(), *said])
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
    after = tokenizer_of(tokenizer)
    before = choose(model_dir, after.profile).load()
    return trietok.plan_rows(before, after, new), after, trietok.compare(before, after, ()).proof


def _tokenizer_of_plan(name: str, wanted: str) -> Any:
    """The tokenizer in the profile that the plan was made for, where it is one of the two."""
    first = tokenizer_of(name)
    if first.fingerprint() != wanted:
        try:
            other = choose(name, "slow" if first.profile == "fast" else "fast").load()
        except trietok.TrietokError:
            return first
        if other.fingerprint() == wanted:
            return other
    return first


def _writing(bars: Bars | None) -> Callable[[int, int], None] | None:
    """What shows how much of a model is written, where somebody looks."""
    return None if bars is None else lambda done, total: bars.show("writing", done, total, "bytes")


def _draw_rows(screen: Screen, applied: trietok.AppliedRows) -> None:
    """The tensors."""
    from trietok.workbench.adapting.row_blocks import HEAD

    rows = (zip(row, ("bold", "", "cyan", ""), strict=True) for row in applied.rows())
    screen.table([{"overflow": "fold"}] * len(HEAD), [[(name, "dim") for name in HEAD], *map(list, rows)])
    screen.line()


@options.command()
@_model_and_output
@options.profile
@options.some_files(
    "--texts",
    "-t",
    required=True,
    help="Find words in this file or quoted glob (.txt, .jsonl or .parquet). May be repeated.",
)
@options.number("--most", "-n", default=500, help="Add at most N words.")
@_min_frequency
@click.option(
    "--as",
    "way",
    type=options.Ways(["wordpiece", "single-word", "unused"], {"added": "single-word"}),
    default="wordpiece",
    help="Add words as vocabulary entries, as added tokens that match whole words (single-word), or as whole-word "
    "tokens in the free slots [unusedN] (unused).",
)
@_phrases_and_words
@_rows_made
@options.reading
@_json
def adapt(
    model_dir: str,
    output: str,
    texts: tuple[str, ...],
    way: str,
    phrases: int,
    leave_out: tuple[str, ...],
    new: str | None,
    read: Reader,
    as_json: bool,
    **how: Any,
) -> None:
    """Find the words of your texts that most deserve a token, and add them to a model and its tokenizer.

    MODEL_DIR is the model's directory, with its config.json and weights; it stays as it is. The command writes a copy
    in which each new word has a row, and checks that all other tokens keep their ids and rows.

    \b
    Examples:
      trietok adapt bert-small --texts 'texts/*.txt' --output adapted
      trietok adapt bert-small --texts notes.jsonl --column note --most 200 --output adapted
    """
    _check_phrases(phrases, way)
    checked_new(output)
    files = read(texts)
    profile = options.choice_of(model_dir).kind.profile
    with shown_bars(transient=True) as bars:
        adapted = trietok.adapt(
            model_dir,
            output,
            files if bars is None else Watched(files, "reading", bars),
            way=way,
            phrases=phrases,
            leave_out=_words_of(leave_out),
            new=new or "pieces",
            profile=profile,
            progress=_writing(bars),
            **how,
        )
    write_result(adapted, as_json, lambda: str(adapted).split("\n"))
