"""Lists of terms, tokens or words: what `--terms`, `--keep` and `--leave-out` name.

In: a file, with a term on each line, or in a column where it is a table or has JSON lines. Out: the
terms, each with the number of its line or row; and warnings of lines that somebody may not have
meant as a term. None is dropped.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import click

import trietok
from trietok.cli.lines import Line, Lines
from trietok.cli.options import STANDARD_INPUT, FileOpener
from trietok.cli.output import FOUND, warn
from trietok.files.text_rows import has_text_suffix
from trietok.showing.characters import number_of, visible

_MOST_SHOWN = 3  # doubtful lines, and their characters
_LONGEST_SHOWN = 40
_QUOTES = ('""', "''", "``", "“”", "„“", "‘’", "«»")
_NAME_IT = "if the file is a table with a header, call it {} and give its --column"


def _begins_with_number_sign(text: str) -> bool:
    """As comments do, and headings; an entry such as `##ology` continues a word."""
    return (
        text.startswith("#")
        and len(text) > 1
        and (text[1] != "#" or text[2:3] in ("", "#") or text[2].isspace())
    )


def _is_quoted(text: str) -> bool:
    return (text[:1] + text[-1:] in _QUOTES and len(text) > 2) or (
        text.startswith('"') and '"' in text[2:]
    )


# What is odd about a line: (predicate, what is done, advice).
_DOUBTS: tuple[tuple[Callable[[str], bool], str, str], ...] = (
    (
        _begins_with_number_sign,
        "with # in front, taken as terms like others",
        "take them out if they are comments",
    ),
    (
        _is_quoted,
        "with quotes, which stay in the terms",
        f"take them out, or {_NAME_IT.format('.csv')}",
    ),
    (lambda text: "\t" in text, "with a TAB, which becomes a space", _NAME_IT.format(".tsv")),
)


def terms_in(files: Sequence[str], read: FileOpener) -> list[Line]:
    """The terms of some files that are not blank, without spaces around, and with one space for
    several inside.

    The marks that editors of Windows put around lines are none of theirs.
    """
    found: list[Line] = []
    doubtful: dict[tuple[str, int], list[Line]] = {}
    for line in Lines(files=files, column=read.column, on_error=read.on_error):
        text = line.text.removeprefix("\ufeff").strip()
        if not text:
            continue
        if _is_of_lines(line.file):
            for number, (is_odd, _, _) in enumerate(_DOUBTS):
                if is_odd(text):
                    doubtful.setdefault((line.file, number), []).append(line._replace(text=text))
        found.append(line._replace(text=" ".join(text.split())))
    for (file, number), lines in doubtful.items():
        _, told, advice = _DOUBTS[number]
        warn(f"{file}: {number_of(len(lines), 'line')} {told}: {_shown_lines(lines)}; {advice}")
    return found


def _is_of_lines(name: str) -> bool:
    """Whether each line of a file is a term, by its name."""
    stem = (
        os.path.splitext(name.lower())[0]
        if name.lower().endswith((".gz", ".zst"))
        else name.lower()
    )
    return stem.endswith(".txt") or not has_text_suffix(stem)


def _shown_lines(lines: Sequence[Line]) -> str:
    shown = [
        f"line {each.number} ({visible(each.text[:_LONGEST_SHOWN])})"
        for each in lines[:_MOST_SHOWN]
    ]
    return ", ".join(shown) + (", ..." if len(lines) > _MOST_SHOWN else "")


def bare_terms(files: Iterable[str], read: FileOpener) -> list[str]:
    """The terms of some files alone."""
    return [line.text for line in terms_in(list(files), read)]


def _place(path: str) -> str:
    return "standard input" if path == STANDARD_INPUT else path


def no_term_in(files: Iterable[str]) -> trietok.InputError:
    """The error where files have no term."""
    places = ", ".join(map(_place, files))
    return trietok.InputError(f"there is no term in {places}; write one on each line")


class TermList:
    """The terms of the file that `--terms` names, and which line or row each is on."""

    def __init__(self, path: str, files: Sequence[str], read: FileOpener) -> None:
        if path == STANDARD_INPUT in files:
            raise click.UsageError(
                "Standard input is read once: give the terms or the texts in a file."
            )
        self._where = _place(path)
        if os.path.isdir(path):
            raise trietok.InputError(
                f"{path} is a directory, and --terms takes a file with a term on each line; -m"
                f" {shlex.quote(path)} takes the tokenizer of a directory"
            )
        lines = terms_in([path], read)
        if not lines:
            raise no_term_in([path])
        self._numbers, self.terms = [line.number for line in lines], [line.text for line in lines]

    def placed(self, done: trietok.AddedTerms) -> trietok.AddedTerms:
        """What became of the terms, with the numbers of lines."""
        return replace(
            done,
            refused=[each._replace(number=self._numbers[each.number - 1]) for each in done.refused],
        )

    def end(self, done: trietok.AddedTerms, allowed: bool) -> None:
        """End the command with the exit code that terms left out mean, which the result has
        named.
        """
        if done.refused and not allowed:
            left_out = f"{number_of(len(done.refused), 'term')} of {self._where} left out"
            warn(f"{left_out}, so the exit code is {FOUND}; --allow-left-out makes it 0")
            raise click.exceptions.Exit(FOUND)
