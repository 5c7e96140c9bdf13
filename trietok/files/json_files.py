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


def _text_within_limits(path: Path_) -> str:
    """Return the text of a JSON file that holds no more values than fit into a common memory."""
    text = read_text(path)
    for count, most, what in (
        (text.count(","), MOST_VALUES, "values"),
        (text.count("[") + text.count("{"), MOST_CONTAINERS, "lists and objects"),
    ):
        if count > most:
            told = f"holds more than {most:,} {what}, the most a tokenizer's file may hold"
            raise FileFormatError(f"{os.fspath(path)} {told}", path=path)
    return text


def read_json(path: Path_) -> Any:
    """Return the value of a JSON file; raises as `read_text`, and where it does not parse."""
    text, name = _text_within_limits(path), os.fspath(path)
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles)
        _check_depth(value)
    except json.JSONDecodeError as error:
        told = f", column {error.colno}: not JSON: {error.msg}"
        if _ends_early(error):
            told += "; the file ends there, so it may be truncated: copy or download it again"
        raise FileFormatError.at_line(path, error.lineno, told) from None
    except RecursionError:
        told = f"{name} is nested too deeply to be a tokenizer's file"
        raise FileFormatError(told, path=path) from None
    except ValueError as error:
        raise FileFormatError(f"{name}: {error}", path=path) from None
    return value


def read_json_object(path: Path_) -> dict[str, Any]:
    """Return the object of a JSON file; raises as `read_json`, and where it holds another value."""
    value = read_json(path)
    if not isinstance(value, dict):
        kind = "null" if value is None else f"a JSON {type(value).__name__}"
        told = f"{os.fspath(path)} holds {kind}, not an object {{...}}"
        raise FileFormatError(told, path=path)
    return value


def _check_depth(value: Any) -> None:
    """Raise RecursionError for containers that are nested more deeply than `DEEPEST`."""
    level = [value]
    for _ in range(DEEPEST + 1):
        containers = [item for item in level if isinstance(item, (dict, list))]
        if not containers:
            return
        level = []
        for container in containers:
            level.extend(container.values() if isinstance(container, dict) else container)
    raise RecursionError


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise where a key is repeated, since parsers disagree on which counts."""
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"the key {doubled_keys(pairs)[0]!r} stands twice in one object")
    return value


def doubled_keys(pairs: list[tuple[str, Any]]) -> list[str]:
    """Return the keys that stand more than once in an object, in the order of the file."""
    return [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]


def _ends_early(error: json.JSONDecodeError) -> bool:
    """Return whether a text is the beginning of JSON, as far as the error tells."""
    rest = error.doc[error.pos :].rstrip()
    is_cut_word = any(word.startswith(rest) for word in ("true", "false", "null"))
    return is_cut_word or error.msg.startswith("Unterminated string")
