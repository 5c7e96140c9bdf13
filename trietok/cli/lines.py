"""The texts and ids that a command works on: arguments, the lines of files, or standard input.

In: what the user typed. Out: lines, each with the place it comes from; ids.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import click

import trietok
from trietok.files.stores import expanded
from trietok.files.text_rows import has_text_suffix, unit_of
from trietok.files.texts import STANDARD_INPUT as STANDARD_INPUT
from trietok.files.texts import TextReader
from trietok.text.cache import cached_property

_MOST_DIGITS = 20  # numbers of more are a mistake, and would fill an error message


_ID = re.compile(f"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")


_NO_ID = 10**_MOST_DIGITS


_FORMS = "separate ids with spaces or commas, or write a JSON list, or input_ids in a JSON object"


class Line(NamedTuple):
    """A text and the place it comes from, such as `"texts.txt, line 3"`; no place for an
    argument.
    """

    text: str
    where: str = ""
    file: str = ""
    number: int = 0  # of the line or row in the file, from 1


class Lines:
    """The lines of arguments and files, one after the other; they can be read once, and no file is
    held as a whole.

    Args:
        arguments: a line each; `-` is standard input.
        files: their paths or globs, read behind the arguments; `-` is standard input. Packed ones
            are unpacked.
        column: where the texts are in files that are no lines of text; None to read all as lines.
        on_error: what to do with bytes that are not UTF-8, as `--on-error` has it.
    """

    def __init__(
        self,
        arguments: Sequence[str] = (),
        files: Sequence[str] = (),
        column: str | None = None,
        on_error: str = "fail",
    ) -> None:
        self._reader = TextReader(column, on_error, repair="convert the input to UTF-8")
        self._files = [*(argument for argument in arguments if argument == STANDARD_INPUT), *files]
        self._lines = self._all(arguments, files if column is None else expanded(files))

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[Line]:
        return self._lines

    @cached_property
    def total_bytes(self) -> int | None:
        """How many bytes the files have; None where that cannot be known, as with a pipe."""
        try:
            found = [
                os.stat(sys.stdin.fileno() if path == STANDARD_INPUT else path)
                for path in self._files
            ]
        # no such file; or standard input is closed, or no file
        except (
            OSError,
            ValueError,
            AttributeError,
        ):
            return None
        return (
            sum(each.st_size for each in found)
            if all(stat.S_ISREG(each.st_mode) for each in found)
            else None
        )

    def _all(self, arguments: Iterable[str], paths: Iterable[str]) -> Iterator[Line]:
        for argument in arguments:
            yield from self._of_file(argument) if argument == STANDARD_INPUT else [Line(argument)]
        for path in paths:
            yield from self._of_file(path)

    def _of_file(self, path: str) -> Iterator[Line]:
        """The lines of one file, or of standard input for `-`."""
        if path != STANDARD_INPUT:
            unit = unit_of(path)
            for text, number in self._reader.rows(path):
                yield Line(text, f"{path}, {unit} {number}", path, number)
        elif sys.stdin is not None:
            name = "standard input"
            for text, number in self._reader.rows_of_stream(sys.stdin.buffer, name):
                yield Line(text, f"{name}, line {number}", name, number)


def lines_asked_for(
    arguments: Sequence[str], files: Sequence[str], what: str, column: str | None = None
) -> Lines:
    """The lines to work on: the arguments, or those of the files, or those of standard input.

    `what` the command wants is named in its usage errors, in the plural; `column` is as for
    `Lines`.
    """
    if arguments and files:
        raise click.UsageError(f"Give {what} as arguments or by -f, not both.")
    if files:
        return Lines(files=files, column=column)
    if arguments:
        if what == "texts":
            _refuse_file_names(arguments)
        return Lines(arguments)
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(
            f"Give {what} as arguments, by -f FILE or through a pipe; - reads what you type."
        )
    return Lines(files=[STANDARD_INPUT])


def _refuse_file_names(texts: Sequence[str]) -> None:
    """A usage error for a text that is, or looks like, the name of a file, unless a `--` says that
    all are texts.
    """
    ctx = click.get_current_context()
    for text in () if "--" in ctx.find_root().obj else texts:
        is_file = os.path.isfile(text) and not set(text).isdisjoint("./\\")
        if is_file or (has_text_suffix(text) and text.isprintable() and " " not in text):
            said = (
                "is a file; -f reads it"
                if is_file
                else "looks like a file, and there is none of that name"
            )
            raise click.UsageError(f"{text!r} {said}; put -- before it if it is the text.")


def ids_in(text: str) -> list[int]:
    """The ids in a text: between spaces or commas, in a JSON list, or as `input_ids` in a JSON
    object.

    >>> ids_in("2 490, 3"), ids_in("[2, 490, 3]"), ids_in('{"text": "a", "input_ids": [2, 490, 3]}')
    ([2, 490, 3], [2, 490, 3], [2, 490, 3])
    """
    text = text.strip()
    if text.startswith(("{", "[")):
        return _ids_in_json(text)
    words = text.replace(",", " ").split()
    digits = "".join(words)
    if not (digits.isascii() and digits.isdigit() and len(max(words, key=len)) <= _MOST_DIGITS):
        for word in words:
            if not _ID.fullmatch(word):
                raise _not_an_id(word)
    return list(map(int, words))


def _ids_in_json(text: str) -> list[int]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise trietok.InputError(
            f"not JSON at character {error.pos + 1}: {error.msg}; {_FORMS}"
        ) from None
    except (ValueError, RecursionError):  # a number of too many digits, brackets nested too deeply
        raise trietok.InputError(f"this JSON holds no list of ids; {_FORMS}") from None
    if isinstance(value, dict):
        if "input_ids" not in value:
            raise trietok.InputError(f"the JSON object has no input_ids; {_FORMS}")
        value = value["input_ids"]
    if not isinstance(value, list):
        raise trietok.InputError(f"input_ids should be a list of ids, not {_short(value)}")
    for item in value:
        if type(item) is not int or abs(item) >= _NO_ID:
            raise _not_an_id(item)
    return value


def _not_an_id(value: Any) -> trietok.InputError:
    return trietok.InputError(f"{_short(value)} is not an id; {_FORMS}")


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
