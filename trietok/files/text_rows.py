"""A row of a file as a text, or what is wrong with it.

In: bytes, or a line of JSON. Out: a str, None for a null, or a `BadRow`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from trietok.showing.characters import first_few

_MOST_NAMES = 20  # of columns, in a message


# bytes that are held of a line, whoever reads it: a small packed file may have one of gigabytes
LONGEST_TEXT_LINE = 1 << 26
TOO_LONG = "a line of more than {:,} bytes is not read; break it into lines"


class BadRow(NamedTuple):
    """A row that holds no text, and why."""

    reason: str


TextOrBad = str | BadRow


def decoded(raw: bytes, errors: str = "strict", *, of: str = "text", offset: int = 0) -> TextOrBad:
    """Bytes as text, or what is wrong with them: `errors` is as for `bytes.decode`.

    An error counts bytes in what `of` names, where `raw` begins at `offset`.

    >>> decoded(b"caf\\xe9"), decoded(b"caf\\xe9", "replace")
    (BadRow(reason='byte 0xe9 at offset 3 of the text is not UTF-8'), 'caf�')
    """
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        place = offset + error.start
        return BadRow(f"byte 0x{raw[error.start]:02x} at offset {place} of the {of} is not UTF-8")


def object_of_json(line: str, column: str) -> dict[str, Any] | BadRow:
    """The object in a line of JSON, which should have the text in `column`.

    >>> object_of_json('{"text": null}', "text"), object_of_json("[1]", "text")
    ({'text': None}, BadRow(reason="a list of JSON, not an object {...} with the text in 'text'"))
    """
    try:
        values = json.loads(line.removeprefix("\ufeff"))  # with which some editors begin a file
    except json.JSONDecodeError as error:
        return BadRow(f"not JSON at character {error.pos + 1}: {error.msg}")
    except RecursionError:
        return BadRow("JSON with brackets nested too deeply to be read")
    except ValueError as error:  # a number of too many digits
        return BadRow(f"not JSON that can be read: {error}")
    if not isinstance(values, dict):
        return BadRow(
            f"{_json_name(values)} of JSON, not an object {{...}} with the text in {column!r}"
        )
    return values


def text_in_object(values: dict[str, Any] | BadRow, column: str) -> TextOrBad | None:
    """The text in a JSON object, or in objects within it; None for a null. What is no object is
    handed on.

    >>> (
    ...     text_in_object({"meta": {"text": "low"}}, "meta.text"),
    ...     text_in_object({"a.b": "low", "a": {}}, "a.b"),
    ... )
    ('low', 'low')
    """
    if isinstance(values, BadRow):
        return values
    names = [column] if column in values else column.split(".")
    text: Any = values
    for number, name in enumerate(names):
        within = ".".join(names[:number])
        if text is None:
            return None
        if not isinstance(text, dict):
            return BadRow(
                f"{within!r} is {_json_name(text)}, not an object with the field {name!r}"
            )
        if name not in text:
            there = (
                f"only {listed_names(text)}; choose a field {BY_COLUMN}"
                if text
                else "nor any other"
            )
            missing = (
                f"{within!r} has no field {name!r}"
                if within
                else f"the object has no field {column!r}"
            )
            return BadRow(f"{missing}, {there}")
        text = text[name]
    return (
        text
        if text is None or isinstance(text, str)
        else BadRow(f"{column!r} is {_json_name(text)}, not a text")
    )


def _json_name(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


BY_COLUMN = "with column=... (--column)"


BY_KEEPING = "with keep_columns=... (--keep-columns)"


def listed_names(names: Iterable[str]) -> str:
    return first_few(sorted(map(repr, names)), _MOST_NAMES)


def lines_within(file: Any) -> Iterator[bytes]:
    """The lines of a file; of one that is longer than `LONGEST_TEXT_LINE`, only so many bytes and
    one more.
    """
    is_whole = True
    for line in iter(partial(file.readline, LONGEST_TEXT_LINE + 1), b""):
        if is_whole:
            yield line
        is_whole = line.endswith(b"\n")
