"""Files as texts: a line of a .txt, a field of a line of a .jsonl, a column of a .csv, .tsv or
.parquet.

All but the last may be packed.

In: paths and globs. Out: the texts, one after the other. A line is held at a time, of at most
`LONGEST_LINE` bytes, or a thousand rows of a table.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from trietok.errors import (
    FileFormatError,
    InputError,
    InputTypeError,
    as_file_error,
)
from trietok.files import text_rows
from trietok.files.packed import decompressed, file_of_blocks
from trietok.files.stores import identity, open_bytes
from trietok.files.tables import (
    check_column,
    column_of,
    import_pyarrow,
    open_parquet,
    rows_of_csv,
    texts_of,
)
from trietok.files.text_files import (
    FIRST_BYTES,
    TABLES,
    TextFile,
    compression_of,
    expanded,
    refuse_other_than_text,
)
from trietok.files.text_rows import (
    BadRow,
    decoded,
    lines_within,
    object_of_json,
    text_in_object,
)

logger = logging.getLogger("trietok")

STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS = 1024  # of a .parquet, held at a time
_OR_REPLACE = ", or go on with on_error='replace' (--on-error replace)"


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl or .ndjson is read as one JSON object a line, one in .parquet as a
    table, one in .csv or .tsv as a table with a header, any other as one text a line. What is
    packed by gzip or zstd is unpacked, whatever its name. Lines end at U+000A only. The files are
    read in the order of their names and each once, also where two names lead to one file, so that
    nothing depends on the order they are given in.

    Args:
        paths: a path or a glob, or several.
        column: the field of a .jsonl and the column of a .parquet, .csv or .tsv that holds the
            text; `"meta.text"` is also the field `text` of objects or structs `meta`. A null is no
            text.
        on_error: what to do with bytes that are not UTF-8: "fail" refuses them, "replace" puts
            U+FFFD in their place; "skip" leaves out texts with such bytes, or that are not JSON as
            they should be, and logs the first.
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
            JSON, or lacks the column.
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
        sizes = {
            path: TextFile.at(path).size for path in names if not self._is_standard_input(path)
        }
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


class TextReader:
    """Reads the texts of one file after the other.

    Args:
        column: the field of a .jsonl and the column of a .parquet that holds the text; None to read
            all as lines.
        on_error: as for `TextFiles`.
        counts_lines: whether the place of bad bytes is counted from the begin of their line; else
            of their file.
        repair: what can be done about bad bytes in lines.

    `bytes_read` is of all files that were read, before unpacking.
    """

    def __init__(
        self,
        column: str | None,
        on_error: str = "fail",
        *,
        counts_lines: bool = False,
        repair: str = f"convert it to UTF-8{_OR_REPLACE}",
    ) -> None:
        self.bytes_read = 0
        self._column = column
        self._errors = "replace" if on_error == "replace" else "strict"
        self._skips, self._has_skipped = on_error == "skip", False
        self._counts_lines = counts_lines
        self._repair = repair

    def rows(self, path: str) -> Iterator[TextRow]:
        """The texts of a file."""
        file = TextFile.at(path)
        before = self.bytes_read
        with as_file_error(f"cannot read {path}", path):
            if file.kind == "parquet" and self._column is not None:
                yield from self._rows_of_parquet(file, self._column)
            else:
                with open_bytes(path) as raw:
                    if file.kind in TABLES and self._column is not None:
                        yield from self._rows_of_csv(raw, file, self._column)
                    else:
                        yield from self._rows_of_lines(raw, file, path)
        self.bytes_read = before + file.size

    def rows_of_stream(self, raw: Any, name: str) -> Iterator[TextRow]:
        """The texts of the lines of what has no name, such as standard input; unpacked where they
        are packed.
        """
        yield from self._rows_of_lines(raw, TextFile(name, "txt", None, 0, 0), name)

    def _rows_of_lines(self, raw: BinaryIO, file: TextFile, name: str) -> Iterator[TextRow]:
        # a pipe can be looked into only where it is read
        if file.compression is None and hasattr(raw, "peek"):
            first = raw.peek(FIRST_BYTES)[:FIRST_BYTES]
            refuse_other_than_text(first, name)
            file = file._replace(compression=compression_of(first))
        packed = file.compression is not None
        content: Any = file_of_blocks(decompressed(raw, file)) if packed else raw
        lines = lines_within(content) if hasattr(content, "readline") else content
        rows = self._decoded(lines, name, raw, packed)
        yield from (
            rows
            if file.kind != "jsonl" or self._column is None
            else self._of_json(rows, name, self._column)
        )

    def _decoded(
        self, lines: Iterable[bytes], name: str, raw: BinaryIO, packed: bool
    ) -> Iterator[TextRow]:
        """The lines of a file, decoded. `raw` is the file below a packed one, to see how much of it
        is read.
        """
        before, offset = self.bytes_read, 0
        seekable = packed and raw.seekable()
        of = "line" if self._counts_lines else "unpacked file" if packed else "file"
        for number, line in enumerate(lines, start=1):
            start = 0 if self._counts_lines else offset
            if len(line) > text_rows.LONGEST_TEXT_LINE:
                self._refuse(
                    f"{name}, line {number}",
                    BadRow(text_rows.TOO_LONG.format(text_rows.LONGEST_TEXT_LINE)),
                    name,
                    number,
                )
                continue
            text = decoded(line.removesuffix(b"\n"), self._errors, of=of, offset=start)
            offset += len(line)
            if not packed or seekable:
                self.bytes_read = before + (raw.tell() if packed else offset)
            if isinstance(text, BadRow):
                self._refuse(f"{name}, line {number}", text, name, number, self._repair)
            else:
                yield TextRow(text, number)

    def _of_json(self, rows: Iterable[TextRow], name: str, column: str) -> Iterator[TextRow]:
        for line, number in rows:
            text = text_in_object(object_of_json(line, column), column) if line.strip() else None
            if isinstance(text, BadRow):
                self._refuse(f"{name}, line {number}", text, name, number)
            elif text is not None:
                yield TextRow(text, number)

    def _rows_of_csv(self, raw: BinaryIO, file: TextFile, column: str) -> Iterator[TextRow]:
        before = self.bytes_read
        for number, row in enumerate(rows_of_csv(raw, file, [column]), start=1):
            self.bytes_read = before + raw.tell()
            text: Any = row
            if not isinstance(row, BadRow):
                text = decoded(row[0], self._errors, of=f"text in {column!r}")
            if isinstance(text, BadRow):
                repair = "" if text is row else f"save the file in UTF-8{self._or_replace()}"
                self._refuse(f"{file.name}, row {number}", text, file.name, None, repair)
            else:
                yield TextRow(text, number)

    def _rows_of_parquet(self, file: TextFile, column: str) -> Iterator[TextRow]:
        path, before, number = file.name, self.bytes_read, 0
        pyarrow = import_pyarrow()
        try:
            with open_parquet(path) as table:
                check_column(table.schema_arrow, path, column)
                for batch in table.iter_batches(batch_size=_ROWS, columns=[column]):
                    self.bytes_read = (
                        before + file.size * (number + batch.num_rows) // table.metadata.num_rows
                    )
                    yield from self._rows_of_column(column_of(batch, column), path, column, number)
                    number += batch.num_rows
                # the checksum of a page does not cover its header
                if number != table.metadata.num_rows:
                    rows = table.metadata.num_rows
                    raise FileFormatError(
                        f"{path} has {rows:,} rows, and {number:,} could be read", path=path
                    )
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} cannot be read: {error}", path=path) from None

    def _rows_of_column(self, texts: Any, path: str, column: str, before: int) -> Iterator[TextRow]:
        """The texts of a column of a table, in a batch with so many rows before it."""
        for row, text in enumerate(
            texts_of(texts, self._errors, of=f"text in {column!r}"), start=before + 1
        ):
            if isinstance(text, BadRow):
                repair = f"write the file anew with texts{self._or_replace()}"
                self._refuse(f"{path}, row {row}", text, path, None, repair)
            elif text is not None:
                yield TextRow(text, row)

    def _or_replace(self) -> str:
        return _OR_REPLACE if self._repair.endswith(_OR_REPLACE) else ""

    def _refuse(
        self, where: str, bad: BadRow, path: str, line_number: int | None, repair: str = ""
    ) -> None:
        """Raise the error for what is no text; where such texts are left out, log the first."""
        if not self._skips:
            advice = f"; {repair}" if repair else ""
            raise FileFormatError(
                f"{where}: {bad.reason}{advice}", path=path, line_number=line_number
            )
        if not self._has_skipped:
            self._has_skipped = True
            logger.warning(
                "%s: %s; it is left out, as are all texts that cannot be read", where, bad.reason
            )
