"""Where the command's input comes from: arguments, files, standard input; and the ids in a text.

In: the arguments, or the bytes of files. Out: one `Line` after the other, each with the place it was read at. A file
is never held as a whole. Lines end at U+000A only, and nothing but that is taken off.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import click

import trietok
from trietok.cli.reporting import warn
from trietok.files.text_rows import expanded, has_text_suffix
from trietok.files.texts import TextReader
from trietok.text.changes import cached_property
from trietok.tokenizer.auto import load_any

STANDARD_INPUT = "-"
tokenizer_of = load_any

_MOST_DIGITS = 20  # numbers of more are a mistake, and would fill an error message
_ID = re.compile(f"[+-]?[0-9]{{1,{_MOST_DIGITS}}}")
_NO_ID = 10**_MOST_DIGITS
_FORMS = "separate ids with spaces or commas, or write a JSON list, or input_ids in a JSON object"


class Line(NamedTuple):
    """A text and the place it comes from, such as `"texts.txt, line 3"`; no place for an argument.

    Attributes:
        file, number: the name of the file, and the number of the line or row in it, from 1.
    """

    text: str
    where: str = ""
    file: str = ""
    number: int = 0


class Lines:
    """The lines of arguments and files, one after the other; they can be read once.

    Args:
        arguments: a line each; `-` is standard input.
        files: their paths or globs, read behind the arguments; `-` is standard input. Packed ones are unpacked.
        column: where the texts are in .jsonl and .parquet files; None to read these as lines, too.

    Attributes:
        bytes_read: how many bytes of files have been read.

    Raises:
        FileError, FileFormatError: from the iterator, where a file cannot be read or is not UTF-8.
    """

    def __init__(self, arguments: Sequence[str] = (), files: Sequence[str] = (), column: str | None = None) -> None:
        self._reader = TextReader(column, counts_lines=True, repair="convert the input to UTF-8")
        self._files = [*(argument for argument in arguments if argument == STANDARD_INPUT), *files]
        paths = files if column is None else expanded(files)
        self._lines = chain(self._of_arguments(arguments), chain.from_iterable(map(self._of_file, paths)))

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[Line]:
        return self._lines

    @cached_property
    def total_bytes(self) -> int | None:
        """How many bytes the files have; None where that cannot be known, as with a pipe."""
        try:
            found = [os.stat(sys.stdin.fileno() if path == STANDARD_INPUT else path) for path in self._files]
        except (OSError, ValueError, AttributeError):  # no such file; or standard input is closed, or no file
            return None
        return sum(each.st_size for each in found) if all(stat.S_ISREG(each.st_mode) for each in found) else None

    def _of_arguments(self, arguments: Iterable[str]) -> Iterator[Line]:
        for argument in arguments:
            if argument == STANDARD_INPUT:
                yield from self._of_file(STANDARD_INPUT)
            else:
                yield Line(argument)

    def _of_file(self, path: str) -> Iterator[Line]:
        """The lines of one file, or of standard input for `-`."""
        if path != STANDARD_INPUT:
            unit = "row" if path.lower().endswith(".parquet") else "line"
            for text, number in self._reader.rows(path):
                yield Line(text, f"{path}, {unit} {number}", path, number)
        elif sys.stdin is not None:
            name = "standard input"
            for text, number in self._reader.rows_of_stream(sys.stdin.buffer, name):
                yield Line(text, f"{name}, line {number}", name, number)


def lines_of(
    ctx: click.Context, arguments: Sequence[str], files: Sequence[str], what: str, column: str | None = None
) -> Lines:
    """The lines to work on: the arguments, or those of the files, or those of standard input.

    Args:
        ctx: the command, for its usage errors.
        arguments, files: what the user gave.
        what: what the command wants, in the plural, for its usage errors.
        column: where the texts are in .jsonl and .parquet files; None to read these as lines, too.
    """
    if arguments and files:
        ctx.fail(f"Give {what} as arguments or with --file, not both.")
    if files:
        return Lines(files=files, column=column)
    if arguments:
        if what == "texts":
            _say_file_names(arguments)
        return Lines(arguments)
    if sys.stdin is None or sys.stdin.isatty():
        ctx.fail(f"Give {what} as arguments, with --file FILE or through a pipe; - reads what you type.")
    return Lines(files=[STANDARD_INPUT])


def _say_file_names(texts: Sequence[str]) -> None:
    """Warn of texts that are, or look like, the names of files of texts, which are not read."""
    files = [text for text in texts if has_text_suffix(text) and os.path.isfile(text)]
    if files:
        more = f" (and {len(files) - 1} more)" if len(files) > 1 else ""
        reading = f"--file {shlex.quote(files[0])}"
        warn(f"{files[0]!r}{more} is a file, and its name is taken as the text; {reading} reads the file")
        return
    names = [text for text in texts if has_text_suffix(text) and text.isprintable() and " " not in text]
    if names:
        warn(f"there is no file {names[0]!r}, and the name is taken as the text; --file reads files")


def check_pair(ctx: click.Context, pair: str | None, arguments: Sequence[str], files: Sequence[str]) -> None:
    """A usage error for a second text unless there is one text, given as an argument."""
    if pair is not None and (len(arguments) != 1 or arguments[0] == STANDARD_INPUT or files):
        ctx.fail("--pair goes with exactly one text, given as an argument.")


def check_length(tokenizer: Any, max_length: int | None, *, is_pair: bool = False) -> None:
    """A usage error for a length that the special tokens alone take up, before anything is read or written."""
    around = 0 if max_length is None else tokenizer.num_special_tokens_to_add(is_pair)
    if max_length is not None and max_length <= around:
        raise click.UsageError(
            f"--max-length {max_length} has no room for a token beside the {around} special ones; raise it, or leave "
            "them out with --no-special-tokens."
        )


def ids_in(text: str) -> list[int]:
    """The ids in a text: between spaces or commas, in a JSON list, or as `input_ids` in a JSON object.

    >>> ids_in("2 490, 3"), ids_in("[2, 490, 3]"), ids_in('{"text": "a", "input_ids": [2, 490, 3]}')
    ([2, 490, 3], [2, 490, 3], [2, 490, 3])

    Raises:
        InputError: the text is something else.
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
        raise trietok.InputError(f"not JSON at character {error.pos + 1}: {error.msg}; {_FORMS}") from None
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
