"""Read JSON files within limits and without doubled keys. An error names the place in the file."""

from __future__ import annotations

import json
import os
from collections import Counter
from typing import Any

from trietok.disk import Path_, read_text
from trietok.errors import FileFormatError

# Of a JSON file: a million added tokens have fewer.
MOST_VALUES = 8_000_000
MOST_CONTAINERS = 1_200_000

# Containers inside each other: far more than any tokenizer's file has, far fewer than break a
# program.
DEEPEST = 40


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


def read_json(path: Path_) -> Any:
    """The value of a JSON file; raises as `read_json_text`, and where it does not parse."""
    text = read_json_text(path)
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles)
        check_depth(value)
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


def check_depth(value: Any) -> None:
    """Raise RecursionError for containers that are nested more deeply than `DEEPEST`."""
    level = [value]
    for _ in range(DEEPEST + 1):
        if {dict, list}.isdisjoint(map(type, level)):
            return
        containers = [item for item in level if isinstance(item, (dict, list))]
        level = []
        for container in containers:
            level.extend(container.values() if isinstance(container, dict) else container)
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
        told = f"{where}: not JSON: {error.msg}"
        if _ends_early(error):
            told += "; the file ends there, so it may be truncated: copy or download it again"
        return FileFormatError(told, path=path, line_number=error.lineno)
    if isinstance(error, RecursionError):
        return FileFormatError(
            f"{os.fspath(path)} is nested too deeply to be a tokenizer's file", path=path
        )
    return FileFormatError(f"{os.fspath(path)}: {error}", path=path)


def _ends_early(error: json.JSONDecodeError) -> bool:
    """Return whether a text is the beginning of JSON, as far as the error tells."""
    rest = error.doc[error.pos :].rstrip()
    is_cut_word = any(word.startswith(rest) for word in ("true", "false", "null"))
    return is_cut_word or error.msg.startswith("Unterminated string")
