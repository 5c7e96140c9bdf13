"""JSON, read and written: within limits, without doubled keys, and as transformers writes it.

In: a file or a text; or a value. Out: a value, or an error that says where the file is wrong; or
the text.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from trietok.disk import HALF_PAIR as HALF_PAIR
from trietok.disk import HIGHEST_ID as HIGHEST_ID
from trietok.disk import Path_, read_text
from trietok.errors import (
    FileFormatError,
)
from trietok.text.kernel.choosing import read_vocabulary
from trietok.text.vocabulary import InOrder

# of a JSON file: a million added tokens have fewer
MOST_VALUES, MOST_CONTAINERS = (
    8_000_000,
    1_200_000,
)


def read_json_text(path: Path_) -> str:
    """The text of a JSON file that holds no more values than fit into a common memory."""
    text = read_text(path)
    for what, signs, limit in (
        ("values", ",", MOST_VALUES),
        ("lists and objects", "[{", MOST_CONTAINERS),
    ):
        if len(text) > limit and sum(map(text.count, signs)) > limit:
            message = f"holds more than {limit:,} {what}, the most a tokenizer's file may hold"
            raise FileFormatError(f"{os.fspath(path)} {message}", path=path)
    return text


def object_with_vocabulary(raw: bytes) -> dict[str, Any] | None:
    """The object of a tokenizer.json whose vocabulary the kernel reads, which takes a third of the
    time; that is `InOrder`, and its tokens are short. None where not all is as it should be, or it
    is not sure.
    """
    start = raw.find(b"{", raw.find(b'"vocab"'))
    if len(raw) > MOST_CONTAINERS and sum(map(raw.count, (b"[", b"{"))) > MOST_CONTAINERS:
        return None
    if len(raw) > MOST_VALUES or b"\r" in raw or b"NaN" in raw:
        return None
    vocabulary = InOrder()
    end = read_vocabulary(raw, start, vocabulary)
    if end < 0:
        return None
    try:
        # NaN, which stood nowhere else and is no string, is where the vocabulary was
        text = (raw[:start] + b"NaN" + raw[end:]).decode("utf-8")
        value: dict[str, Any] = json.loads(
            text, parse_constant=lambda name: vocabulary if name == "NaN" else float(name)
        )
        if value["model"]["vocab"] is vocabulary and _holds_all_members(value, text, 0, len(text)):
            return value
    except (ValueError, RecursionError, LookupError, TypeError):
        pass
    return None


def read_json(path: Path_) -> Any:
    """The value of a JSON file; raises as `read_json_text`, and where it does not parse."""
    text = read_json_text(path)
    try:
        value, _ = _checked(
            text, 0, lambda hook: (json.loads(text, object_pairs_hook=hook), len(text))
        )
    except (ValueError, RecursionError) as error:
        raise _bad_json(path, error) from None
    return value


def read_json_object(path: Path_) -> dict[str, Any]:
    """A JSON file that holds one object; raises as `read_json`, and where it holds another
    value.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise FileFormatError(
            f"{os.fspath(path)} holds a JSON {kind}, not an object {{...}}", path=path
        )
    return value


def top_level_members(path: Path_, text: str | None = None) -> Iterator[tuple[str, Any]]:
    """The members of a JSON object one after the other, each parsed only when its turn comes.

    `text` is what is known of the file; without it, all is read.
    """
    text = read_json_text(path) if text is None else text

    def skip(position: int, expected: str) -> int:
        position = _past_blanks(text, position)
        if text[position : position + 1] not in tuple(expected):
            raise json.JSONDecodeError(f"Expecting one of {expected!r}", text, position)
        return position

    def raw_decode(position: int, hook: _Hook | None) -> tuple[Any, int]:
        return json.JSONDecoder(object_pairs_hook=hook).raw_decode(text, position)

    def parse(position: int) -> tuple[Any, int]:
        return _checked(text, position, lambda hook: raw_decode(position, hook))

    try:
        position = skip(0, "{") + 1
        while text[position := skip(position, '"}')] != "}":
            key, position = parse(position)
            position = skip(position, ":") + 1
            value, position = parse(_past_blanks(text, position))
            yield key, value
            position = skip(position, ",}")
            if text[position] == ",":
                position = skip(position + 1, '"')
    except (ValueError, RecursionError) as error:
        raise _bad_json(path, error) from None


def _past_blanks(text: str, position: int) -> int:
    while text[position : position + 1] in (" ", "\n", "\t", "\r"):
        position += 1
    return position


# containers inside each other: far more than any tokenizer's file has, far fewer than break a
# program
DEEPEST = 40


_LEAVES = frozenset((str, int, float, bool, type(None)))


_Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def _checked(
    text: str, start: int, parse: Callable[[_Hook | None], tuple[Any, int]]
) -> tuple[Any, int]:
    """A JSON value in a text from `start`, and where it ends.

    `parse` gives both, and takes a function that makes objects of pairs, which costs time.
    ValueError: the value does not parse, or an object holds a key twice; RecursionError: it is
    nested deeper than `DEEPEST`.
    """
    try:
        value, end = parse(None)
        if _holds_all_members(value, text, start, end):
            return value, end
    except (ValueError, RecursionError):
        pass  # the way with pairs finds the first fault
    value, end = parse(_without_doubles)
    check_depth(value)
    return value, end


def check_depth(value: Any) -> None:
    """Raise RecursionError for containers that are nested more deeply than `DEEPEST`."""
    for _ in _levels(value):
        pass


def _holds_all_members(value: Any, text: str, start: int, end: int) -> bool:
    """Whether a value that was parsed from a stretch of a text has all its members: True is
    certain.

    A text has a colon between each key and its value; any other colon stands in a string. So a
    member that was lost, since a later one has the same key, has left a colon that is neither
    counted as a member nor found in a string.
    """
    levels = list(_levels(value))
    colons = text.count(":", start, end)
    for level in levels:
        colons -= sum([len(container) for container in level if type(container) is dict])
    # a string may hold a colon that is written as \u003a
    if colons and text.find("\\u003", start, end) >= 0:
        return False
    for level in reversed(levels) if colons else ():
        for container in sorted(level, key=len, reverse=True):  # most strings are in the vocabulary
            items = container
            if type(container) is dict:
                colons -= "".join(container).count(":")
                items = container.values()
            # the ids of a vocabulary are not looked at one by one
            if colons > 0 and str in set(map(type, items)):
                colons -= "".join([item for item in items if type(item) is str]).count(":")
            if colons <= 0:
                return True
    return colons <= 0


def _levels(value: Any) -> Iterator[list[Any]]:
    """The objects and lists of a JSON value, from the outermost inwards; RecursionError if they are
    too many.
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [item for item in level if type(item) is dict or type(item) is list]
        if not level:
            return
        yield level
        inner = [
            container.values() if type(container) is dict else container for container in level
        ]
        # of many small containers all at once
        if _LEAVES.issuperset(map(type, chain.from_iterable(inner))):
            return
        level = [
            item for items in inner if not _LEAVES.issuperset(map(type, items)) for item in items
        ]
    if level:
        raise RecursionError


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object without repeated keys: parsers disagree about which of two equal keys is used."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"the key {doubled_keys(pairs)[0]!r} stands twice in one object")
    return value


def doubled_keys(pairs: list[tuple[str, Any]]) -> list[str]:
    """The keys that stand more than once in an object, in the order of the file; O(keys)."""
    return [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]


def _bad_json(path: Path_, error: Exception) -> FileFormatError:
    if isinstance(error, json.JSONDecodeError):
        where = f"{os.fspath(path)}, line {error.lineno}, column {error.colno}"
        return FileFormatError(
            f"{where}: not JSON: {error.msg}", path=path, line_number=error.lineno
        )
    if isinstance(error, RecursionError):
        return FileFormatError(
            f"{os.fspath(path)} is nested too deeply to be a tokenizer's file", path=path
        )
    return FileFormatError(f"{os.fspath(path)}: {error}", path=path)


class Written(list[str]):
    """The pieces of a JSON value that is written already."""


def json_text(value: Any, *, sort_keys: bool = False) -> str:
    """`json.dumps(value, indent=2, ensure_ascii=False)`, sooner where it is long; takes `Written`
    as it is.
    """
    pieces: list[str] = []
    try:
        _indent(value, sort_keys, "\n", pieces)
    except RecursionError:
        json.dumps(value)  # an error tells a value that holds itself from one that is nested deeply
        raise
    return "".join(pieces)


def _indent(value: Any, sort_keys: bool, line: str, pieces: list[str]) -> None:
    """Append the JSON of a value; `line` is a line's end and the indentation of the line that the
    value ends on.
    """
    is_object, inner = isinstance(value, dict), line + "  "
    if isinstance(value, Written):
        pieces += value
    elif not isinstance(value, (dict, list, tuple)) or not value:
        pieces.append(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, dict) and not sort_keys and _is_vocabulary(value):
        write = json.encoder.encode_basestring
        entries = [
            f"{key}: {number}"
            for key, number in zip(map(write, value), value.values(), strict=True)
        ]
        # json takes half as long again
        pieces += (
            "{",
            inner,
            ("," + inner).join(entries),
            line,
            "}",
        )
    elif _LEAVES.issuperset(map(type, value.values() if isinstance(value, dict) else value)):
        # With an indent json writes every line in Python. All in one line, with any separators, it
        # writes in C.
        text = json.dumps(
            value, ensure_ascii=False, sort_keys=sort_keys, separators=("," + inner, ": ")
        )
        pieces += text[0], inner, text[1:-1], line, text[-1]
    else:
        mark, items = ("{", value.items()) if isinstance(value, dict) else ("[", enumerate(value))
        for key, item in sorted(items) if is_object and sort_keys else items:
            # it need not be a string
            name = json.dumps({key: 0}, ensure_ascii=False)[1:-2] if is_object else ""
            pieces.append(f"{mark}{inner}{name}")
            _indent(item, sort_keys, inner, pieces)
            mark = ","
        pieces += line, "}" if is_object else "]"


def _is_vocabulary(value: dict[Any, Any]) -> bool:
    return set(map(type, value)) == {str} and set(map(type, value.values())) == {int}
