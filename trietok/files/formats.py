"""Reading and writing the files of a tokenizer directory: each format to plain values and back.

In: paths. Out: lists of lines and dicts. Every error names the file, and the line where one is to blame. A file is
written whole under a temporary name, flushed to the disk and then renamed, so a reader sees the old file or the new.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from trietok.errors import FileError, FileFormatError, VocabularyError
from trietok.open_regular import LARGEST_FILE, checked_name
from trietok.text.vocab_txt import Path_, read_text

VOCAB_FILE = "vocab.txt"
ADDED_TOKENS_FILE = "added_tokens.json"
SPECIAL_TOKENS_MAP_FILE = "special_tokens_map.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
TOKENIZER_FILE = "tokenizer.json"
CHAT_TEMPLATE_FILE = "chat_template.jinja"
CHAT_TEMPLATE_FOLDER = "additional_chat_templates"  # of those with other names
CONFIG_FILE = "config.json"  # the model's, not the tokenizer's
JOURNAL = ".trietok-save.json"  # in a directory whose files are being replaced
MOST_VALUES, MOST_CONTAINERS = 8_000_000, 1_200_000  # of a JSON file: a million added tokens have fewer
RECORD = "trietok"  # the key of tokenizer_config.json for the settings that only trietok has


def has_tokenizer_json(directory: Path_) -> bool:
    """Whether this is a directory with a tokenizer.json."""
    return os.path.isfile(os.path.join(directory, TOKENIZER_FILE))


def read_json_text(path: Path_) -> str:
    """The text of a JSON file that holds no more values than fit into a common memory.

    Raises:
        FileError, FileFormatError: as `read_text`; also if the file holds more than `MOST_VALUES` values, or more than
            `MOST_CONTAINERS` lists and objects.
    """
    text = read_text(path)
    for what, signs, limit in (("values", ",", MOST_VALUES), ("lists and objects", "[{", MOST_CONTAINERS)):
        if len(text) > limit and sum(map(text.count, signs)) > limit:
            raise FileFormatError(
                f"{os.fspath(path)} holds more than {limit:,} {what}, the most a tokenizer's file may hold", path=path
            )
    return text


def read_json_object(path: Path_) -> dict[str, Any]:
    """A JSON file that holds one object.

    Raises:
        FileError, FileFormatError: as `read_text`.
        FileFormatError: it does not parse, or holds something else than an object.
    """
    text = read_json_text(path)
    try:
        value, _ = _checked(text, 0, lambda hook: (json.loads(text, object_pairs_hook=hook), len(text)))
    except (ValueError, RecursionError) as error:
        raise _bad_json(path, error) from None
    if not isinstance(value, dict):
        raise FileFormatError(
            f"{os.fspath(path)} holds a JSON {type(value).__name__}, not an object {{...}}", path=path
        )
    return value


def read_added_tokens_of_tokenizer_json(path: Path_) -> list[dict[str, Any]]:
    """The `added_tokens` list of a tokenizer.json, without parsing the vocabulary that usually follows it.

    Raises:
        FileError, FileFormatError: as `read_json_object`; also when the list is missing.
    """
    for key, value in top_level_members(path):
        if key == "added_tokens":
            if isinstance(value, list) and all(isinstance(token, dict) for token in value):
                return value
            break
    raise FileFormatError(f"{os.fspath(path)} has no list 'added_tokens' of objects", path=path)


def top_level_members(path: Path_) -> Iterator[tuple[str, Any]]:
    """The members of a JSON object one after the other, each parsed only when its turn comes."""
    text = read_json_text(path)

    def past_blanks(position: int) -> int:
        return _BLANKS.match(text, position).end()  # type: ignore[union-attr]  # it matches everywhere

    def skip(position: int, expected: str) -> int:
        position = past_blanks(position)
        if text[position : position + 1] not in tuple(expected):
            raise json.JSONDecodeError(f"Expecting one of {expected!r}", text, position)
        return position

    def parse(position: int) -> tuple[Any, int]:
        return _checked(
            text, position, lambda hook: json.JSONDecoder(object_pairs_hook=hook).raw_decode(text, position)
        )

    try:
        position = skip(0, "{") + 1
        while text[position := skip(position, '"}')] != "}":
            key, position = parse(position)
            position = skip(position, ":") + 1
            value, position = parse(past_blanks(position))
            yield key, value
            position = skip(position, ",}")
            if text[position] == ",":
                position = skip(position + 1, '"')
    except (ValueError, RecursionError) as error:
        raise _bad_json(path, error) from None


_BLANKS = re.compile(r"[ \t\n]*")
DEEPEST = 40  # containers inside each other: far more than any tokenizer's file has, far fewer than break a program
_LEAVES = frozenset((str, int, float, bool, type(None)))
_Hook = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def _checked(text: str, start: int, parse: Callable[[_Hook | None], tuple[Any, int]]) -> tuple[Any, int]:
    """A JSON value in a text, and where it ends.

    Args:
        text: the text.
        start: where the value begins.
        parse: gives the value and where it ends; takes a function that makes objects of pairs, which costs time.

    Raises:
        ValueError: the value does not parse, or an object holds a key twice.
        RecursionError: it is nested deeper than `DEEPEST`.
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
    """Whether a value that was parsed from a stretch of a text has all its members: True is certain.

    A text has a colon between each key and its value; any other colon stands in a string. So a member that was lost,
    since a later one has the same key, has left a colon that is neither counted as a member nor found in a string.
    """
    levels = list(_levels(value))
    colons = text.count(":", start, end)
    for level in levels:
        colons -= sum([len(container) for container in level if type(container) is dict])
    if colons and text.find("\\u003", start, end) >= 0:  # a string may hold a colon that is written as \u003a
        return False
    for level in reversed(levels) if colons else ():
        for container in sorted(level, key=len, reverse=True):  # most strings are in the vocabulary
            inner = [*container, *container.values()] if type(container) is dict else container
            colons -= "".join([item for item in inner if type(item) is str]).count(":")
            if colons <= 0:
                return True
    return colons <= 0


def _levels(value: Any) -> Iterator[list[Any]]:
    """The objects and lists of a JSON value, from the outermost inwards; RecursionError if they are too many."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for item in level if type(item) is dict or type(item) is list]
        if not level:
            return
        yield level
        inner = [container.values() if type(container) is dict else container for container in level]
        level = [item for items in inner if not _LEAVES.issuperset(map(type, items)) for item in items]
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
        return FileFormatError(
            f"{os.fspath(path)}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}",
            path=path,
            line_number=error.lineno,
        )
    if isinstance(error, RecursionError):
        return FileFormatError(f"{os.fspath(path)} is nested too deeply to be a tokenizer's file", path=path)
    return FileFormatError(f"{os.fspath(path)}: {error}", path=path)


def write_vocab_lines(path: Path_, tokens: list[str]) -> None:
    """Write one token a line, so that reading the file gives the same list.

    Raises:
        VocabularyError: a token holds a newline or a carriage return, which the format cannot keep.
        FileError: the file cannot be written; what was there before is untouched.
    """
    for token_id, token in enumerate(tokens):
        if "\n" in token or "\r" in token:
            raise VocabularyError(
                f"token {token!r} (id {token_id}) holds a line break, which {VOCAB_FILE} cannot keep; nothing was "
                "written",
                path=path,
                line_number=token_id + 1,
                token=token,
            )
    write_text(path, "".join(token + "\n" for token in tokens))


_HALF_PAIRS = "[\ud800-\udfff]"  # of surrogates: JSON can write them, UTF-8 cannot


def write_json(path: Path_, value: Any) -> None:
    """Write JSON as transformers writes it: sorted keys, two spaces, no ASCII escapes, a newline at the end.

    Raises:
        FileError: the file cannot be written; what was there before is untouched.
    """
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    write_text(path, re.sub(_HALF_PAIRS, lambda half: f"\\u{ord(half[0]):04x}", text) + "\n")


# Allowed in JSON as they are, yet some readers end a line at them, and lone surrogates have no UTF-8.
_ESCAPED_IN_LINES = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def json_line(values: Any) -> str:
    """`values` as one line of JSON in any reader: what could break the line, or is no UTF-8, is escaped."""
    line = json.dumps(values, ensure_ascii=False)
    return _ESCAPED_IN_LINES.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def write_text(path: Path_, text: str) -> None:
    """Replace a file by `text` in UTF-8, whole or not at all.

    Raises:
        FileError: the file cannot be written; what was there before is untouched.
        FileFormatError: the file would be too large to be read again.
    """
    from trietok.files.whole import replacing  # reading does without it

    checked_name(path)
    content = text.encode("utf-8")
    if len(content) > LARGEST_FILE:
        raise FileFormatError(
            f"{os.fspath(path)} would have {len(content):,} bytes, more than the {LARGEST_FILE:,} that are read again; "
            "nothing was written",
            path=path,
        )
    try:
        with replacing(path) as file:
            file.write(content)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write {os.fspath(path)}: {error.strerror}", path=path) from error
