"""Files as texts: a line of a .txt, a field of a line of a .jsonl, a column of a .parquet; the first two also packed.

In: paths and globs. Out: the texts, one after the other; a line is held at a time, or a thousand rows of a table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.compressed import decompressed, lines_of
from trietok.files.elsewhere import identity, open_bytes
from trietok.files.text_rows import (
    FIRST_BYTES,
    BadRow,
    TextFile,
    choose_column,
    compression_of,
    decoded,
    expanded,
    import_pyarrow,
    open_parquet,
    text_of_json,
    texts_of,
)

STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS = 1024  # of a .parquet, held at a time
_OR_REPLACE = ", or go on with errors='replace' (--errors replace)"


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl or .ndjson is read as one JSON object a line, one in .parquet as a table, any other as
    one text a line. What is packed by gzip or zstd is unpacked, whatever its name. Lines end at U+000A only. The files
    are read in the order of their names and each once, also where two names lead to one file, so that nothing depends
    on the order they are given in.

    Args:
        paths: a path or a glob, or several.
        column: the field of a .jsonl and the column of a .parquet that holds the text. A null is no text.
        errors: what to do with bytes that are not UTF-8: "strict" refuses them, "replace" puts U+FFFD in their place.
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
        InputError: there is no path, or `errors` is neither "strict" nor "replace".
        FileError: a file is missing or a directory, or a glob finds none.
        FileError, FileFormatError: from a loop, where a file cannot be read, is not UTF-8, not JSON, or lacks the
            column.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        column: str = DEFAULT_COLUMN,
        errors: str = "strict",
        standard_input: BinaryIO | None = None,
    ) -> None:
        if errors not in ("strict", "replace"):
            raise InputError(f"errors is 'strict' or 'replace', not {errors!r}")
        given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        self.paths = sorted(set(expanded(given)))
        if not self.paths:
            raise InputError("there is no file to read; name at least one")
        self.column = column
        self.errors = errors
        self._reader = TextReader(column, errors)
        self._standard_input = standard_input
        self._files = {path: TextFile.at(path) for path in self.paths if not self._is_standard_input(path)}
        self.paths = self._each_once()
        self.total_bytes = (
            sum(self._files[path].size for path in self.paths) if self._files.keys() >= set(self.paths) else None
        )

    def _each_once(self) -> list[str]:
        """The paths without those that lead to a file another one leads to; its shortest name stays."""
        named: dict[str, str] = {}
        for path in sorted(self.paths, key=lambda path: (len(path), path)):
            named.setdefault(path if self._is_standard_input(path) else identity(path), path)
        return sorted(named.values())

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


class TextReader:
    """Reads the texts of one file after the other.

    Args:
        column: the field of a .jsonl and the column of a .parquet that holds the text; None to read all as lines.
        errors: as for `TextFiles`.
        counts_lines: whether the place of bad bytes is counted from the begin of their line; else of their file.
        repair: what can be done about bad bytes in lines.

    Attributes:
        bytes_read: of all files that were read, before unpacking.
    """

    def __init__(
        self,
        column: str | None,
        errors: str = "strict",
        *,
        counts_lines: bool = False,
        repair: str = f"convert it to UTF-8{_OR_REPLACE}",
    ) -> None:
        self.bytes_read = 0
        self._column = column
        self._errors = errors
        self._counts_lines = counts_lines
        self._repair = repair

    def rows(self, path: str) -> Iterator[TextRow]:
        """The texts of a file.

        Raises:
            FileError, FileFormatError: from the iterator, where the file cannot be read, is not UTF-8, not JSON, or
                lacks the column.
        """
        file = TextFile.at(path)
        before = self.bytes_read
        try:
            if file.kind == "parquet" and self._column is not None:
                yield from self._rows_of_table(file, self._column)
            else:
                with open_bytes(path) as raw:
                    yield from self._rows_of_lines(raw, file, path)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"cannot read {path}: {error.strerror or error}", path=path) from error
        self.bytes_read = before + file.size

    def rows_of_stream(self, raw: BinaryIO, name: str) -> Iterator[TextRow]:
        """The lines of what has no name, such as standard input, unpacked where they are packed."""
        yield from self._rows_of_lines(raw, TextFile(name, "txt", None, 0, 0), name)

    def _rows_of_lines(self, raw: BinaryIO, file: TextFile, name: str) -> Iterator[TextRow]:
        if file.compression is None and hasattr(raw, "peek"):  # a pipe can be looked into only where it is read
            file = file._replace(compression=compression_of(raw.peek(FIRST_BYTES)[:FIRST_BYTES]))
        lines = raw if file.compression is None else lines_of(decompressed(raw, file))
        rows = self._decoded(lines, name, raw)
        yield from rows if file.kind != "jsonl" or self._column is None else self._of_json(rows, name, self._column)

    def _decoded(self, lines: Iterable[bytes], name: str, raw: BinaryIO) -> Iterator[TextRow]:
        """The lines of a file, decoded. `raw` is the file below a packed one, to see how much of it is read."""
        before, offset, packed = self.bytes_read, 0, raw is not lines
        seekable = packed and raw.seekable()
        of = "line" if self._counts_lines else "unpacked file" if packed else "file"
        for number, line in enumerate(lines, start=1):
            start = 0 if self._counts_lines else offset
            text = decoded(line.removesuffix(b"\n"), self._errors, of=of, offset=start)
            if isinstance(text, BadRow):
                raise _error(f"{name}, line {number}", text, name, number, self._repair)
            offset += len(line)
            if not packed or seekable:
                self.bytes_read = before + (raw.tell() if packed else offset)
            yield TextRow(text, number)

    def _of_json(self, rows: Iterable[TextRow], name: str, column: str) -> Iterator[TextRow]:
        for line, number in rows:
            text = text_of_json(line, column) if line.strip() else None
            if isinstance(text, BadRow):
                raise _error(f"{name}, line {number}", text, name, number)
            if text is not None:
                yield TextRow(text, number)

    def _rows_of_table(self, file: TextFile, column: str) -> Iterator[TextRow]:
        """The texts in a column of a table."""
        path, before, number = file.name, self.bytes_read, 0
        pyarrow = import_pyarrow(extra="parquet")
        try:
            with open_parquet(path, "parquet") as table:
                _check_column(table.schema_arrow, path, column)
                for batch in table.iter_batches(batch_size=_ROWS, columns=[column]):
                    start = number
                    number += batch.num_rows
                    self.bytes_read = before + file.size * number // max(table.metadata.num_rows, 1)
                    texts = texts_of(batch.column(0), self._errors, of=f"text in {column!r}")
                    for row, text in enumerate(texts, start=start + 1):
                        if isinstance(text, BadRow):
                            repair = f"write the file anew with texts{_OR_REPLACE}"
                            raise _error(f"{path}, row {row}", text, path, None, repair)
                        if text is not None:
                            yield TextRow(text, row)
                if number != table.metadata.num_rows:  # the checksum of a page does not cover its header
                    rows = table.metadata.num_rows
                    raise FileFormatError(f"{path} has {rows:,} rows, and {number:,} could be read", path=path)
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} cannot be read: {error}", path=path) from None


def _check_column(schema: Any, path: str, column: str) -> None:
    number = schema.names.count(column)
    if not number:
        raise FileFormatError(f"{path} has no column {column!r}; {choose_column(schema.names)}", path=path)
    if number > 1:
        raise FileFormatError(
            f"{path} has {number} columns named {column!r}, and which is meant cannot be told; write the file "
            "anew with different names",
            path=path,
        )
    types, kind = import_pyarrow().types, schema.field(column).type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        raise FileFormatError(f"{path}: the column {column!r} holds {kind}, not texts", path=path)


def _error(where: str, bad: BadRow, path: str, line_number: int | None, repair: str = "") -> FileFormatError:
    advice = f"; {repair}" if repair else ""
    return FileFormatError(f"{where}: {bad.reason}{advice}", path=path, line_number=line_number)
