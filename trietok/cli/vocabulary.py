"""`trietok add`, `trim` and `suggest`: a tokenizer with other tokens.

A command writes a new directory. Its report tells which ids changed and what a model needs now.
"""

from __future__ import annotations

import copy
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import FileOpener, tokenizer_of
from trietok.cli.output import say_choice
from trietok.cli.progress import shown_reading
from trietok.cli.results import write_result
from trietok.cli.terms import TermList, bare_terms
from trietok.files.formats import has_tokenizer_json
from trietok.files.save import save_files_of
from trietok.showing.report import plain_values
from trietok.tokenizer.auto import Choice
from trietok.workbench.adapting.add_terms import (
    WAYS,
    WayEffect,
    effects_of_terms,
    require_same_tokens,
    way_to_add,
)
from trietok.workbench.suggesting.suggestions import HEAD_OF_SUGGESTIONS

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

# What `add` and `trim` end with.
_changing = options.together(options.reading, options.json_offline)
_MOST_SAID = 3  # terms that are left out, in an error
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*.bin*")


def _tokenizer_to_change(model: str) -> Any:
    """The tokenizer of a name or directory; what both profiles read there must be the same
    tokens.
    """
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


def require_output(output: str | None, dry_run: bool) -> None:
    if output is None and not dry_run:
        raise click.UsageError("Missing option '--output' / '-o'; --dry-run goes without.")


def _save(tokenizer: Any, model: str, out: str | None) -> None:
    """Write a tokenizer to a new directory. Without a directory, a dry run writes nothing."""
    if out is None:
        return
    if _rows_command(model, out) is None:
        tokenizer.save_pretrained(out)
    else:  # `_rows_lines` says what to do with the model: nothing else has to
        save_files_of(tokenizer, out)


def _rows_command(model: str, out: str) -> str | None:
    """The command that moves the rows of the model in a directory, if there is one."""
    folder = Path(model)
    if not folder.is_dir() or not any(
        path for pattern in _WEIGHTS for path in folder.glob(pattern)
    ):
        return None
    return (
        f"trietok rows -m {shlex.quote(model)} --new-tokenizer {shlex.quote(out)} -o"
        f" {shlex.quote(out + '-model')}"
    )


def _rows_lines(
    tokenizer: Any,
    model: str,
    out: str | None,
    is_changed: bool = True,
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
    command = _rows_command(model, out)
    return (
        lines
        if command is None
        else [*lines, f"{model} holds a model; update its rows with: {command}"]
    )


# What `add` and `adapt` take.
allow_left_out = options.flag("--allow-left-out", help="Exit with 0 even if a term is left out.")


way = partial(
    options.choice,
    "--way",
    default="auto",
    help=(
        "Add words as entries where WordPiece can reach them, else as single-word tokens (auto), or"
        " all in one way"
    ),
)


@options.command()
@options.files_if_any
@options.file(
    "--terms",
    required=True,
    help="Add the terms of this file, one a line or row; - is standard input.",
)
@options.required_model_and_profile
@options.writes(options.NEW_DIRECTORY, required=False)
@options.dry_run
@way(known=WAYS)
@options.flag("--special", help="Add special tokens, which decoding can skip.")
@allow_left_out
@_changing
def add(
    files: tuple[str, ...],
    terms: str,
    model: str,
    output: str | None,
    dry_run: bool,
    way: str,
    special: bool,
    allow_left_out: bool,
    read: FileOpener,
    as_json: bool,
) -> None:
    """Add a list of terms to a tokenizer; no id moves.

    The command names the terms that are known already, occur twice or are left out. With FILES, it
    shows what each way of adding does to their texts.

    \b
    Examples:
      trietok add --terms terms.txt -m my-tokenizer -o with-terms
      trietok add --terms terms.txt -m my-tokenizer --way single-word -o with-terms texts.txt
    """
    require_output(output, dry_run)
    texts = read(files) if files else None
    given = TermList(terms, files, read)
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
    output = None if dry_run else output
    _save(after, model, output)
    is_changed = bool(done.added)
    write_result(
        {
            "ok": done.ok or allow_left_out,
            **done.to_dict(),
            "effects": plain_values(effects),
            **dict(zip(("before", "after"), comparison.fingerprints, strict=True)),
            "proof": comparison.proof,
            "rows_command": (
                _rows_command(model, output) if is_changed and output is not None else None
            ),
        },
        as_json,
        lambda: (
            *map(str, effects),
            *str(done).split("\n"),
            *_rows_lines(after, model, output, is_changed),
            *comparison.slots_said,
            comparison.proof,
        ),
    )
    given.end(done, allow_left_out)


@options.command()
@options.files
@options.required_model_and_profile
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
    require_output(output, dry_run)
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
    _save(trimmed.tokenizer, model, output)
    certificate, command = (
        trimmed.certificate,
        None if output is None else _rows_command(model, output),
    )
    write_result(
        {**certificate.to_dict(), "rows_command": command},
        as_json,
        lambda: (
            *certificate.lines(),
            *_rows_lines(trimmed.tokenizer, model, output),
            certificate.proof,
        ),
    )


_WORD, _NUMBER, _PIECES, _UNKNOWN = "bold", "cyan", "dim", "bold red"

# What `suggest` and `adapt` take.
found = options.together(
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
@found
@click.option(
    "--unknown-weight",
    type=click.FloatRange(min=0),
    default=2.0,
    metavar="W",
    help="Count each [UNK] avoided as W saved tokens.",
)
@way(known=WAYS[:3])
@options.flag("--leave-others", help="Suggest no word that changes the tokens of another word.")
@options.max_words(default=1_000_000)
@_changing
def suggest(
    files: tuple[str, ...],
    model: str,
    output: str | None,
    leave_out: tuple[str, ...],
    read: FileOpener,
    as_json: bool,
    **how: Any,
) -> None:
    """List the words of your texts that are worth adding to a tokenizer, ranked by the tokens they
    save.

    It also lists the words that become the unknown token. The tokenizer stays as it is; --output
    saves a copy with the words added.

    \b
    Examples:
      trietok suggest 'texts/*.txt' --most 50
      trietok suggest -m my-tokenizer -o with-words texts.txt
    """
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
        before, way = _tokenizer_to_change(model), way_to_add(suggestions, how["way"])
        after = copy.deepcopy(before)
        done = trietok.add_terms(after, [each.word for each in suggestions.suggestions], way)
        _save(after, model, output)
        applied = {**done.to_dict(), "rows_command": _rows_command(model, output)}
        said = [*str(done).split("\n"), *_rows_lines(after, model, output, bool(done.added))]
    write_result(
        {**suggestions.to_dict(), "applied": applied},
        as_json,
        lambda: [*str(suggestions).split("\n"), *said],
        lambda screen: _draw_suggestions(screen, suggestions, said),
    )


def _draw_suggestions(screen: Screen, suggestions: trietok.Suggestions, said: list[str]) -> None:
    """All suggestions, and the unknown words in red."""
    if suggestions.suggestions:
        rows = [[(name, _PIECES) for name in HEAD_OF_SUGGESTIONS]]
        for suggestion, row in zip(suggestions.suggestions, suggestions.rows(), strict=True):
            styles = (_WORD, "", _NUMBER, _UNKNOWN if suggestion.is_unknown else _PIECES)
            rows.append(list(zip(row, styles, strict=True)))
        screen.table([{"justify": side} for side in ("left", "right", "right", "left")], rows)
        screen.line()
    for part in suggestions.unknown_parts():
        if isinstance(part, str):
            screen.line((part, ""))
        else:
            rows = [[(name, _PIECES) for name in part.head]]
            rows += [[(word, _UNKNOWN), (frequency, "")] for word, frequency in part.rows]
            screen.table([{"justify": "left"}, {"justify": "right"}], rows)
    if suggestions.unknown:
        screen.line()
    for line in [*suggestions.summary(), *said]:
        screen.line((line, ""))
