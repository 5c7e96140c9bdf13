"""`trietok unknown`: which words of a corpus become the unknown token, how often, where and why.

And `trietok diff`: whether two tokenizers give the same ids, and what differs.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

import trietok
from trietok.cli import options
from trietok.cli.lines import Line, Lines
from trietok.cli.options import FileOpener, tokenizer_of
from trietok.cli.output import FOUND, on_one_line, on_terminal, write_line
from trietok.cli.progress import shown_reading
from trietok.cli.results import on_screen, print_json, write_result
from trietok.inputs.profiles import Profile
from trietok.tokenizer.unknown_words import HEAD_OF_WORDS, find_unknown

if TYPE_CHECKING:
    from trietok.cli.tables import Screen

_OLD, _NEW = "red", "green"


@options.command()
@options.files
@options.model
@options.most(default=20, help="List at most N words, the most frequent.")
@options.column
@options.on_error
@options.json_offline
def unknown(
    files: tuple[str, ...], model: str, most: int, column: str, on_error: str, as_json: bool
) -> None:
    """List the words that become the unknown token: how often, why, and where
    (file:line:start-end).

    \b
    Examples:
      trietok unknown texts.txt
      trietok unknown 'texts/*.jsonl' -m my-tokenizer --most 50
    """
    lines = Lines(files=files, column=column, on_error=on_error)
    places = _Places()
    with shown_reading(lines, "looking") as shown:
        found = find_unknown(tokenizer_of(model), places.noted(shown))
    if as_json:
        print_json(_with_places(found, places))
    elif on_terminal():
        on_screen(lambda screen: _draw(screen, found, places, most))
    else:
        write_line(found.summary)
        for row in found.rows(most, places.name):
            write_line("\t".join(map(on_one_line, row)))


class _Places:
    """Which line of which file a text was, by its number."""

    def __init__(self) -> None:
        # the numbers of texts that are not of the line after that of the text before
        self._firsts: list[int] = []
        self._lines: list[tuple[str, int]] = []  # their files and lines

    def noted(self, lines: Iterable[Line]) -> Iterator[str]:
        """The texts of the lines; where they come from is noted on the way."""
        file, following = "", 0
        for number, line in enumerate(lines):
            if (line.file, line.number) != (file, following):
                self._firsts.append(number)
                self._lines.append((line.file, line.number))
            file, following = line.file, line.number + 1
            yield line.text

    def place(self, text: int) -> tuple[str, int]:
        """The file and the line number, from 1."""
        which = bisect.bisect(self._firsts, text) - 1
        file, line_number = self._lines[which]
        return file, line_number + text - self._firsts[which]

    def name(self, text: int) -> str:
        file, line_number = self.place(text)
        return f"{file}:{line_number}"


def _with_places(found: trietok.UnknownWords, places: _Places) -> dict[str, Any]:
    """The findings for JSON, with file and line instead of the number of the text."""
    values = found.to_dict()
    for word in values["words"]:
        word["positions"] = [
            dict(
                zip(
                    ("file", "line", "start", "end"), (*places.place(text), start, end), strict=True
                )
            )
            for text, start, end in word["positions"]
        ]
    return values


def _draw(screen: Screen, found: trietok.UnknownWords, places: _Places, most: int) -> None:
    screen.line((found.summary, "bold yellow" if found.words else "bold green"))
    if not found.words:
        return
    styles = zip(HEAD_OF_WORDS, ("cyan", "bold", "", "dim"), strict=True)
    columns = [
        {"justify": "right" if name == "count" else "left", "style": style}
        for name, style in styles
    ]
    rows = ([(cell, "") for cell in row] for row in found.rows(most, places.name))
    screen.table(columns, [[(name, "dim") for name in HEAD_OF_WORDS], *rows])
    if len(found.words) > most:
        screen.line((f"... and {len(found.words) - most:,} more", "dim"))


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
