"""`trietok diff`: whether two tokenizers give the same ids, and what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

import trietok
from trietok.cli import options
from trietok.cli.options import FileOpener, tokenizer_of
from trietok.cli.output import FOUND
from trietok.cli.progress import shown_reading
from trietok.cli.results import write_result
from trietok.inputs.settings import Profile

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

_OLD, _NEW = "red", "green"


@options.command()
@click.argument("old", type=options.MODEL)
@click.argument("new", type=options.MODEL)
@options.files_if_any
@options.profile
@options.choice("--new-profile", known=["slow", "fast"], help="Read NEW in a profile of its own")
@options.reading
@options.page
@options.json_offline
def diff(
    old: str,
    new: str,
    files: tuple[str, ...],
    new_profile: Profile | None,
    read: FileOpener,
    as_json: bool,
) -> None:
    """Compare two tokenizers, and show what differs.

    OLD and NEW are directories, vocab.txt files, built-in names or names on the hub. Without FILES,
    the texts are a built-in sample. The exit code is 0 if all ids are the same, 1 if any differ,
    and 2 for an error.

    \b
    Examples:
      trietok diff trietok-en trietok-multi
      trietok diff old-tokenizer new-tokenizer texts.txt
    """
    texts = read(files) if files else None
    before = tokenizer_of(old)
    if new_profile is not None:
        click.get_current_context().meta["trietok.profile"] = new_profile
    after = tokenizer_of(new, before.profile, "as OLD is read")
    with shown_reading(texts, "comparing") as shown:
        comparison = trietok.compare(before, after, shown)
    write_result(comparison, as_json, draw=lambda screen: _draw_comparison(screen, comparison))
    if not comparison.same_ids:
        raise click.exceptions.Exit(FOUND)


def _draw_comparison(screen: Screen, comparison: trietok.Comparison) -> None:
    """A table for each kind of difference, what was in red, what is in green."""
    screen.line((comparison.summary, "bold green" if comparison.same_ids else "bold red"))
    heads = zip(
        ("old", "new"), (_OLD, _NEW), comparison.names, comparison.fingerprints, strict=True
    )
    for side, style, name, line in heads:
        screen.line((f"{side} ", style), (f"{name} ", ""), (line, "dim"), soft_wrap=True)
    for section in comparison.sections():
        screen.line()
        screen.line((section.title, "bold"))
        rows: list[list[tuple[str, str]]] = []
        for what, old, new in section.rows:
            if section.stacked:
                rows += [[(f"    {what}", "")], [(f"  - {old}", _OLD)], [(f"  + {new}", _NEW)]]
            else:
                rows.append([(f"  {what}", ""), (old, _OLD), (new, _NEW)])
        screen.table((), rows)
        if section.left_out:
            screen.line((f"  ... and {section.left_out} more", "dim"))
    if not comparison.differing:
        screen.line((f"{comparison.texts} texts encoded, all alike", "dim"))
    screen.line()
    screen.line((comparison.proof, "bold"))
