"""Read files as texts: lines of a .txt, objects of a .jsonl, a column of a .csv, .tsv or .parquet.

All but the last may be compressed. Every command that reads texts or terms reads them here. Memory
holds about a megabyte of lines, or a thousand rows of a table. A line has at most
`LONGEST_TEXT_LINE` bytes.
"""

from __future__ import annotations

import io
import itertools
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from trietok.errors import FileFormatError, InputError, InputTypeError
from trietok.files.stores import expanded, identity, open_bytes, path_in, reading, size_of
from trietok.files.tables import rows_of_parquet
from trietok.files.text_rows import (
    BY_COLUMN,
    BY_KEEPING,
    FIRST_BYTES,
    MISSING,
    NO_ROW,
    TABLES,
    BadRow,
    TextOrBad,
    blocks_of_lines,
    compression_of,
    decoded,
    field_in_object,
    kind_of,
    object_of_json,
    refuse_other_than_text,
    rows_of_csv,
    text_in_object,
    texts_of_lines,
    unpacked,
    unpacking,
)

logger = logging.getLogger("trietok")

STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS, _CHARACTERS = 1024, 1 << 20  # of a .csv, held at a time
_COUNTED = 64  # so many texts are read before their bytes are counted
_OR_REPLACE = ", or go on with on_error='replace' (--on-error replace)"


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl or .ndjson is read as one JSON object a line, one in .parquet as a
    table, one in .csv or .tsv as a table with a header, any other as one text a line. Files that
    are compressed by gzip or zstd are decompressed, whatever their names. A line of text ends at
    U+000A only. An empty line of a file with one text a line is an empty text; blank lines of a
    .jsonl, and empty lines of a .csv or .tsv, are no texts. A null instead of a text is an error.
    The files are read in the order of their names and each once, even if two names lead to one
    file, so that nothing depends on the order they are given in.

    Args:
        paths: a path or a glob, or several.
        column: the field of a .jsonl and the column of a .parquet, .csv or .tsv that holds the
            text; `"meta.text"` is also the field `text` of objects or structs `meta`.
        on_error: what to do with bytes that are not UTF-8: "fail" refuses them, "replace" puts
            U+FFFD in their place; "skip" leaves out texts with such bytes, nulls, and what is not
            JSON as it should be, and logs the first.
        standard_input: what the name `-` reads.

    Attributes:
        paths: the files, as they will be read.
        total_bytes: how many bytes the files have; None if one of them is standard input.
        bytes_read: how many of them the present loop has read, before unpacking.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "texts.jsonl")
    >>> _ = path.write_text('{"id": 1, "text": "low lower"}\\n{"id": 2, "text": "lowest"}\\n')
    >>> list(TextFiles(path))
    ['low lower', 'lowest']

    Raises:
        InputError: there is no path, or `on_error` is none of the three.
        FileError: a file is missing or a directory, or a glob finds none.
        FileError, FileFormatError: from a loop, where a file cannot be read, is not UTF-8, not
            JSON, has a null, or lacks the column.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *more: object,
        column: str = DEFAULT_COLUMN,
        on_error: str = "fail",
        standard_input: BinaryIO | None = None,
    ) -> None:
        if more:
            raise InputTypeError("several files are one argument: TextFiles([a, b])", value=more[0])
        if on_error not in ("fail", "replace", "skip"):
            raise InputError(f"on_error is 'fail', 'replace' or 'skip', not {on_error!r}")
        given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        names = sorted(set(expanded(given)))
        if not names:
            raise InputError("there is no file to read; name at least one")
        self.column = column
        self.on_error = on_error
        self._reader = TextReader(column, on_error)
        self._standard_input = standard_input
        sizes = {path: size_of(path) for path in names if not self._is_standard_input(path)}
        named: dict[str, str] = {}  # of several names of one file the shortest stays
        for path in sorted(names, key=lambda path: (len(path), path)):
            named.setdefault(identity(path) if path in sizes else path, path)
        self.paths = sorted(named.values())
        self.total_bytes = (
            sum(map(sizes.__getitem__, self.paths)) if sizes.keys() >= set(self.paths) else None
        )

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[str]:
        self._reader.bytes_read = 0
        for path in self.paths:
            if self._is_standard_input(path):
                assert self._standard_input is not None
                rows = self._reader.rows_of_stream(self._standard_input, "standard input")
            else:
                rows = self._reader.rows(path)
            for row in rows:
                yield row.text

    def _is_standard_input(self, path: str) -> bool:
        return path == STANDARD_INPUT and self._standard_input is not None


class TextRow(NamedTuple):
    """A text of a file, and the number of its line or row, from 1."""

    text: str
    number: int


class Rows(NamedTuple):
    """Rows of a file that follow one another."""

    texts: list[TextOrBad]
    values: list[tuple[Any, ...]]  # of further columns, a tuple for each row; empty without any


def read_rows(
    stream: Any,
    name: str,
    kind: str | None,
    compression: str | None,
    columns: Sequence[str],
    errors: str = "strict",
    start: int = 0,
    end: int | None = None,
) -> Iterator[Rows]:
    """Yield the rows of a file that is not a Parquet file, in batches.

    Args:
        stream: the file, buffered.
        name: its name, for errors.
        kind, compression: as `kind_of` returns them. A file that is compressed is decompressed,
            whatever its name.
        columns: the column of the texts, and others whose values are wanted, too; empty to read
            every file as lines.
        errors: as for `bytes.decode`.
        start, end: the range of bytes in which the lines begin; by default the whole file.
    """
    first = stream.peek(FIRST_BYTES)[:FIRST_BYTES]
    refuse_other_than_text(first, name)
    compression = compression_of(first) or compression
    if compression is not None:
        if start:  # the range at the beginning has all lines
            return
        end = None
    with unpacking(compression, name):
        content = unpacked(stream, compression, name)
        if kind in TABLES and columns:
            yield from _rows_of_table(content, name, kind, columns, errors)
            return
        blocks = blocks_of_lines(content, start, end)
        texts = (texts_of_lines(block, errors) for block in blocks)
        if kind == "jsonl" and columns:
            yield from _rows_of_json(texts, name, columns, is_begin=not start)
        else:
            yield from (Rows(lines, []) for lines in texts)


def _rows_of_json(
    blocks: Iterable[list[TextOrBad]], name: str, columns: Sequence[str], *, is_begin: bool
) -> Iterator[Rows]:
    """Yield the rows of blocks of lines.

    A field that no object of the beginning of a file has is a FileFormatError.
    """
    column, *others = columns
    missing: set[str] = set()
    for lines in blocks:
        rows = [object_of_json(line, column) if isinstance(line, str) else line for line in lines]
        objects = [row for row in rows if isinstance(row, dict)]
        if is_begin and objects:
            missing, is_begin = {*columns}, False
        if missing:
            missing = {field for field in missing if not _has_field(objects, field)}
        values = [tuple(_value(row, other) for other in others) for row in rows if others]
        yield Rows([text_in_object(row, column) for row in rows], values)
    for field in columns:
        if field in missing:
            how = BY_COLUMN if field == column else BY_KEEPING
            message = f"{name}: no object has the field {field!r}; choose a field {how}"
            raise FileFormatError(message, path=name)


def _has_field(objects: list[dict[str, Any]], field: str) -> bool:
    return any(field_in_object(values, field) is not MISSING for values in objects)


def _value(row: dict[str, Any] | BadRow, field: str) -> Any:
    value = MISSING if isinstance(row, BadRow) else field_in_object(row, field)
    return None if value is MISSING else value


def _rows_of_table(
    content: Any, name: str, kind: str, columns: Sequence[str], errors: str
) -> Iterator[Rows]:
    empty = (None,) * (len(columns) - 1)
    texts: list[TextOrBad] = []
    values: list[tuple[Any, ...]] = []
    size = 0
    for row in rows_of_csv(content, name, kind, columns):
        fields = row if isinstance(row, BadRow) else _decoded_fields(row, columns, errors)
        if isinstance(fields, BadRow):
            texts.append(fields)
            values.append(empty)
        else:
            texts.append(fields[0])
            values.append(tuple(fields[1:]))
            size += sum(map(len, fields))
        if len(texts) >= _ROWS or size >= _CHARACTERS:
            yield Rows(texts, values)
            texts, values, size = [], [], 0
    yield Rows(texts, values)


def _decoded_fields(row: list[bytes], columns: Sequence[str], errors: str) -> list[str] | BadRow:
    fields = [
        decoded(field, errors, of=f"text in {column!r}")
        for field, column in zip(row, columns, strict=True)
    ]
    bad = [field for field in fields if isinstance(field, BadRow)]
    return bad[0] if bad else fields  # type: ignore[return-value]


class TextReader:
    """Reads the texts of one file after the other.

    Args:
        column: the field of a .jsonl and the column of a table that holds the text; None to read
            every file as lines.
        on_error: as for `TextFiles`.
        repair: what can be done about bytes in lines that are not UTF-8.

    Attributes:
        bytes_read: of all files that were read, before decompression.
    """

    def __init__(
        self,
        column: str | None,
        on_error: str = "fail",
        *,
        repair: str = f"convert it to UTF-8{_OR_REPLACE}",
    ) -> None:
        self.bytes_read = 0
        self._column = column
        self._errors = "replace" if on_error == "replace" else "strict"
        self._skips, self._has_skipped = on_error == "skip", False
        self._repair = repair

    def rows(self, path: str) -> Iterator[TextRow]:
        """Yield the texts of a file."""
        before, size = self.bytes_read, size_of(path)
        kind, compression = kind_of(path_in(path))
        with reading(path):
            if kind == "parquet" and self._column is not None:
                yield from self._rows_of_parquet(path, self._column)
            else:
                with open_bytes(path) as raw:
                    yield from self._rows(raw, path, kind, compression)
        self.bytes_read = before + size

    def rows_of_stream(self, raw: Any, name: str) -> Iterator[TextRow]:
        """Yield the lines of what has no name, such as standard input."""
        yield from self._rows(raw, name, "txt", None)

    def _rows(
        self, raw: Any, name: str, kind: str | None, compression: str | None
    ) -> Iterator[TextRow]:
        stream = raw if hasattr(raw, "peek") else io.BufferedReader(raw)
        columns = [] if self._column is None else [self._column]
        batches = read_rows(stream, name, kind, compression, columns, self._errors)
        texts = itertools.chain.from_iterable(rows.texts for rows in batches)
        is_table = kind in TABLES and columns
        unit, repair = ("row", "save the file in UTF-8") if is_table else ("line", self._repair)
        yield from self._numbered(texts, name, unit, repair, stream)

    def _rows_of_parquet(self, path: str, column: str) -> Iterator[TextRow]:
        batches = rows_of_parquet(path, column, self._errors)
        texts = itertools.chain.from_iterable(batches)
        yield from self._numbered(texts, path, "row", "write the file again with texts")

    def _numbered(
        self, texts: Iterable[Any], name: str, unit: str, repair: str, stream: Any = None
    ) -> Iterator[TextRow]:
        """Yield the texts with their numbers, and keep count of the bytes that were read.

        What is no text raises, or is left out; the first of it is logged then.
        """
        before, has_place = self.bytes_read, stream is not None and stream.seekable()
        for number, text in enumerate(texts, start=1):
            if has_place and number % _COUNTED == 0:
                self.bytes_read = before + stream.tell()
            if isinstance(text, str):
                yield TextRow(text, number)
            elif text != NO_ROW:
                self._refuse(text, name, unit, number, repair)

    def _refuse(self, bad: BadRow, name: str, unit: str, number: int, repair: str) -> None:
        where = f"{name}, {unit} {number}: {bad.reason}"
        if not self._skips:
            if bad.is_encoding:
                or_replace = _OR_REPLACE if self._repair.endswith(_OR_REPLACE) else ""
                where += f"; {repair.removesuffix(or_replace)}{or_replace}"
            raise FileFormatError(where, path=name, line_number=number if unit == "line" else None)
        if not self._has_skipped:
            self._has_skipped = True
            logger.warning("%s; it is left out, as are all texts that cannot be read", where)
