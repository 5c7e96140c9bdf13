"""`trietok add`: a list of terms made tokens, and the tokenizer with them."""

from __future__ import annotations

import copy
from typing import Any

import click

import trietok
from trietok.workbench.adapting.add_terms import AS_ADDED_TOKEN, RefusedTerm, WayEffect, effects_of_terms
from trietok.cli import changed_vocabulary, options, training_options
from trietok.cli.changed_vocabulary import rows_command, rows_lines, save, tokenizer_to_change
from trietok.cli.inputs import STANDARD_INPUT, Lines
from trietok.cli.output import json_line, visible, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.reporting import reporting, warn
from trietok.files.new_directory import checked_new
from trietok.showing.lists import first_few, number_of

_AS_WHAT = {
    "wordpiece": "entries of the vocabulary",
    "added": "added tokens",
    "single-word": "added tokens of single words",
    "unused": "added tokens in unused slots",
}


@click.command()
@click.argument("terms", type=options.PATH)
@training_options.output
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
@changed_vocabulary.save_plan
@changed_vocabulary.fast
@options.column
@training_options.errors
@changed_vocabulary.as_json
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
        read = training_options.text_files(texts, column, errors) if texts else None
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
            write_line(json_line(_values(done, effects, comparison, model, output, save_plan)))
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


def _values(
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
