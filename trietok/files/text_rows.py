"""Read a row of a file as a text, or say what is wrong with it: a line, JSON, a row of a table."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from trietok.errors import FileFormatError, imported
from trietok.files.stores import path_in
from trietok.showing.characters import first_few, number_of

_MOST_NAMES = 20  # of columns, in a message
# Bytes that are held of a line: a small packed file may have one of gigabytes.
LONGEST_TEXT_LINE = 1 << 26
TOO_LONG = "a line of more than {:,} bytes is not read; break it into lines"
_BLOCK = 1 << 20  # bytes that are read at once
_LONGEST_ROW = 1 << 24  # characters of a row of a table
_NOT_UTF8 = "is not UTF-8"
BY_COLUMN = "with column=... (--column)"
BY_KEEPING = "with keep_columns=... (--keep-columns)"


class BadRow(NamedTuple):
    """A row that holds no text, and why."""

    reason: str

    @property
    def is_encoding(self) -> bool:
        """Whether its bytes are not UTF-8."""
        return self.reason.endswith(_NOT_UTF8)


TextOrBad = str | BadRow
NO_ROW = BadRow("")  # a blank line between objects of JSON


def decoded(raw: bytes, errors: str = "strict", *, of: str = "text", offset: int = 0) -> TextOrBad:
    """Return bytes as text, or what is wrong with them; `errors` is as for `bytes.decode`.

    An error counts bytes in what `of` names, where `raw` begins at `offset`.

    >>> decoded(b"caf\\xe9"), decoded(b"caf\\xe9", "replace")
    (BadRow(reason='byte 0xe9 at offset 3 of the text is not UTF-8'), 'caf�')
    """
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        place = offset + error.start
        return BadRow(f"byte 0x{raw[error.start]:02x} at offset {place} of the {of} {_NOT_UTF8}")


# ---- kinds of files ------------------------------------------------------------------------------

KINDS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
}
TABLES = {"csv": ",", "tsv": "\t"}  # what is between the values of a row
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # no text in UTF-8 begins so
FIRST_BYTES = max(map(len, _FIRST_BYTES))


def kind_of(path: str) -> tuple[str | None, str | None]:
    """Return the kind of a file and its compression, by its name.

    >>> kind_of("texts.jsonl.gz"), kind_of("notes")
    (('jsonl', 'gzip'), (None, None))
    """
    stem, suffix = os.path.splitext(path.lower())
    compression = _COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    kind = KINDS.get(suffix)
    return None if kind == "parquet" and compression is not None else kind, compression


def unit_of(name: str) -> str:
    """Return what errors call the place of a text in a file, by its name.

    >>> unit_of("texts.jsonl.gz"), unit_of("notes"), unit_of("texts.csv.gz")
    ('line', 'line', 'row')
    """
    kind = kind_of(path_in(name))[0]
    return "row" if kind == "parquet" or kind in TABLES else "line"


def has_text_suffix(name: str) -> bool:
    """Return whether a name ends as those of files with texts do.

    >>> (
    ...     has_text_suffix("texts.jsonl.gz"),
    ...     has_text_suffix("Mind the gap."),
    ...     has_text_suffix("texts.parquet"),
    ... )
    (True, False, True)
    """
    return kind_of(name)[0] is not None


def compression_of(first: bytes) -> str | None:
    """Return the compression that the first bytes of a file tell of.

    >>> compression_of(b"\\x1f\\x8b\\x08\\x00"), compression_of(b"text")
    ('gzip', None)
    """
    return _FIRST_BYTES.get(first[:2]) or _FIRST_BYTES.get(first[:4])


def refuse_other_than_text(first: bytes, name: str) -> None:
    """Raise a FileFormatError for a file that begins as no text in UTF-8 does."""
    what = ""
    if first.startswith(b"PK\x03\x04"):  # a list of terms often comes so
        what = "a spreadsheet (.xlsx, .ods) or another zip archive; save it as .csv in UTF-8"
    elif first.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = "text in UTF-16; save it in UTF-8"
    if what:
        raise FileFormatError(f"{name} is {what}, and give that file", path=name)


# ---- lines ---------------------------------------------------------------------------------------


def unpacked(raw: Any, compression: str | None, name: str) -> Any:
    """Return a compressed file as one of its content; read it within `unpacking`."""
    if compression is None:
        return raw
    if not raw.peek(1):  # even nothing has some bytes when it is packed
        raise _truncated(name)
    if compression == "gzip":
        return io.BufferedReader(gzip.GzipFile(fileobj=raw), _BLOCK)
    pyarrow = imported("pyarrow", "parquet", f"to read {name}")
    return io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.PythonFile(raw, "r"), "zstd"))


@contextmanager
def unpacking(compression: str | None, name: str) -> Iterator[None]:
    """Name the file in an error of its decompression."""
    try:
        yield
    except EOFError:
        raise _truncated(name) from None
    except (zlib.error, OSError) as error:
        if compression is None or getattr(error, "errno", None) is not None:
            raise
        if "Truncated" in str(error):  # pyarrow has no class for it
            raise _truncated(name) from None
        raise FileFormatError(
            f"{name} is damaged, or no {compression} file, and cannot be decompressed: {error}",
            path=name,
        ) from None


def _truncated(name: str) -> FileFormatError:
    told = f"{name} is truncated and cannot be decompressed: it ends before its compressed data"
    return FileFormatError(f"{told} does", path=name)


def blocks_of_lines(content: Any, start: int = 0, end: int | None = None) -> Iterator[bytes | None]:
    """Yield blocks of whole lines; the last line may lack its line feed.

    Yields None for a line of more than `LONGEST_TEXT_LINE` bytes, which is not kept in memory.

    Args:
        content: a buffered file of bytes.
        start, end: the range of bytes in which the lines begin; by default the whole file.
    """
    position = _first_line(content, start)
    if end is not None and position >= end:
        return
    parts: list[bytes] = []  # of a line whose end was not read yet
    size = last = 0
    while last <= 0 and (block := content.read1(_BLOCK)):
        if end is not None and position + len(block) >= end:
            last = block.find(b"\n", max(end - 1 - position, 0)) + 1
        position += len(block)
        block = block[: last or None]
        first = block.find(b"\n")
        if first >= 0 and size + first > LONGEST_TEXT_LINE:
            yield None
            parts, size, block = [], 0, block[first + 1 :]
        lines_end = block.rfind(b"\n") + 1
        if lines_end:
            yield b"".join((*parts, block[:lines_end]))
            parts, size, block = [], 0, block[lines_end:]
        size += len(block)
        if size <= LONGEST_TEXT_LINE:
            parts.append(block)
    if size:
        yield b"".join(parts) if size <= LONGEST_TEXT_LINE else None


def _first_line(content: Any, start: int) -> int:
    """Go to the first line that begins at `start` or after it, and return its position."""
    if not start:
        return 0
    content.seek(start - 1)
    position = start - 1
    for line in iter(partial(content.readline, _BLOCK), b""):
        position += len(line)
        if line.endswith(b"\n"):
            break
    return position


def texts_of_lines(block: bytes | None, errors: str = "strict") -> list[TextOrBad]:
    """Return the lines of a block of `blocks_of_lines`.

    >>> texts_of_lines(b"a\\n\\nb\\r\\n"), len(texts_of_lines(b"a\\n\\xff"))
    (['a', '', 'b\\r'], 2)
    """
    if block is None:
        return [BadRow(TOO_LONG.format(LONGEST_TEXT_LINE))]
    block = block.removesuffix(b"\n")
    try:
        return [*block.decode("utf-8", errors).split("\n")]
    except UnicodeDecodeError:
        return [decoded(line, errors, of="line") for line in block.split(b"\n")]


# ---- objects of JSON -----------------------------------------------------------------------------


def object_of_json(line: str, column: str) -> dict[str, Any] | BadRow:
    """Return the object in a line of JSON, which should have the text in `column`.

    >>> object_of_json('{"text": null}', "text"), object_of_json("[1]", "text")
    ({'text': None}, BadRow(reason="a list of JSON, not an object {...} with the text in 'text'"))
    """
    try:
        values = json.loads(line.removeprefix("\ufeff"))  # with which some editors begin a file
    except json.JSONDecodeError as error:
        if not line.removeprefix("\ufeff").strip():
            return NO_ROW
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


def text_in_object(values: dict[str, Any] | BadRow, column: str) -> TextOrBad:
    """Return the text in a JSON object, or in objects within it.

    A `BadRow` is returned as it is.

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
            break
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
    if isinstance(text, str):
        return text
    advice = "; remove the line or fill the field" if text is None else ""
    return BadRow(f"{column!r} is {_json_name(text)}, not a text{advice}")


MISSING: Any = object()


def field_in_object(values: dict[str, Any], column: str) -> Any:
    """Return a value in a JSON object, or in objects within it; `MISSING` if there is none.

    >>> field_in_object({"meta": {"id": 7}}, "meta.id"), field_in_object({}, "id") is MISSING
    (7, True)
    """
    value: Any = values
    for name in [column] if column in values else column.split("."):
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


def _json_name(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


# ---- tables --------------------------------------------------------------------------------------

# The only value of a row after the last one: a quote that is not closed takes it in.
_END = "\x1eend of the rows\x1e"


def rows_of_csv(
    content: Any, name: str, kind: str, columns: Sequence[str]
) -> Iterator[list[bytes] | BadRow]:
    """Yield columns of a .csv or .tsv with a header: the values of each row as bytes.

    A value may stand between quotes, where it may hold line ends, and two quotes are one. Lines end
    at a line feed, a carriage return or both. Empty lines are no rows. A row that has more values
    than the header, or fewer, is a `BadRow`.

    Raises:
        FileFormatError: there is no header, or it has none of the columns or one twice; a quote is
            not closed; or a row has more than 16 MiB.
    """
    rows = _csv_rows(content, name, TABLES[kind])
    header = next(rows, [])
    for column in columns:
        if header.count(column) != 1:
            how = BY_COLUMN if column == columns[0] else BY_KEEPING
            raise wrong_column(header, name, column, f"{how}{_other_mark(header, kind)}")
    places = list(map(header.index, columns))
    for row in rows:
        if len(row) == len(header):
            yield [row[place].encode("utf-8", "surrogateescape") for place in places]
        else:
            told = f"a row of {number_of(len(row), 'value')}, and the header has {len(header)}"
            yield BadRow(f"{told}; see whether its quotes are closed")


def _csv_rows(content: Any, name: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows that are not empty, the header first."""
    text = io.TextIOWrapper(content, "utf-8-sig", "surrogateescape", newline="")
    size, number, begin = 0, -1, 1  # characters of the row, its number, and its first line

    def lines() -> Iterator[str]:
        nonlocal size
        for line in iter(partial(text.readline, _LONGEST_ROW + 1), ""):
            size += len(line)
            if size > _LONGEST_ROW:
                message = f"{name} has a row of more than {_LONGEST_ROW:,} bytes after row"
                message += f" {max(number, 0):,}; see whether its quotes are closed"
                raise FileFormatError(message, path=name)
            yield line
        yield "\n"  # the last line may have no end
        yield _END

    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_ROW))
    rows = csv.reader(lines(), delimiter=delimiter)
    try:
        while (row := next(rows)) != [_END]:
            if row and row[-1].endswith(_END):
                message = f"{name}, line {begin}: a quote is not closed before the end of the"
                message += " file, and contains all later rows; close the quote, or write it"
                raise FileFormatError(f"{message} twice within quotes", path=name)
            number += bool(row)
            size, begin = 0, rows.line_num + 1
            if row:
                yield row
        text.detach()  # which would close the file
    except csv.Error as error:
        told = f"{name}, line {rows.line_num} cannot be read: {error}"
        raise FileFormatError(told, path=name) from None


def _other_mark(header: Sequence[str], kind: str) -> str:
    """Return a hint for one column of which the name has other marks, as some spreadsheets save."""
    if len(header) != 1 or not any(mark in header[0] for mark in ",;\t|"):
        return ""
    marks = {"csv": "commas", "tsv": "tabs"}[kind]
    return f"; separate the columns of a .{kind} with {marks}"


def wrong_column(
    names: Sequence[str], path: str, column: str, how: str = BY_COLUMN
) -> FileFormatError:
    """Return the error for a table that has no such column, or several."""
    number = names.count(column)
    if number:
        problem = (
            f"has {number} columns named {column!r}; rename them, because the name is ambiguous"
        )
    elif names:
        problem = f"has no column {column!r}; choose one of {listed_names(names)} {how}"
    else:
        problem = f"has no column {column!r}; the table has no columns"
    return FileFormatError(f"{path} {problem}", path=path)


def listed_names(names: Iterable[str]) -> str:
    return first_few(sorted(map(repr, names)), _MOST_NAMES)
