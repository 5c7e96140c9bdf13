"""Columns of texts: of a .parquet, a .csv or a .tsv.

In: a table, and the name of a column or of a field of structs. Out: batches of it, and its rows as
str, None, or `BadRow`. A batch of a .csv is held at a time.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from trietok.errors import (
    FileFormatError,
    as_file_error,
    imported,
)
from trietok.files import stores
from trietok.files.packed import BLOCK, decompressed, file_of_blocks
from trietok.files.stores import is_url
from trietok.files.text_files import TABLES, TextFile, refuse_other_than_text
from trietok.files.text_rows import (
    BY_COLUMN,
    BY_KEEPING,
    BadRow,
    decoded,
    lines_within,
    listed_names,
)
from trietok.showing.characters import number_of


def import_pyarrow(module: str = "pyarrow") -> Any:
    """pyarrow, or a module of it; where it is not installed, an error says how to install it."""
    return imported(module, "parquet")


def open_parquet(path: str) -> Any:
    """A Parquet file, to be read stretch by stretch; a page that is not as its checksum says is an
    OSError of reading.

    Raises:
        FileError, FileFormatError: it cannot be read, or is none.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow, parquet = import_pyarrow(), import_pyarrow("pyarrow.parquet")
    try:
        with as_file_error(f"cannot read {path}", path):
            source = stores.open_bytes(path) if is_url(path) else path
            return parquet.ParquetFile(
                source, buffer_size=BLOCK, pre_buffer=False, page_checksum_verification=True
            )
    except pyarrow.ArrowInvalid as error:
        raise FileFormatError(f"{path} is not a Parquet file: {error}", path=path) from None


def texts_of(column: Any, errors: str = "strict", *, of: str = "text") -> list[Any]:
    """The rows of an array as str, None where there is none, and `BadRow` where the bytes are not
    UTF-8.

    >>> import pyarrow
    >>> texts_of(pyarrow.array(["a", None]))
    ['a', None]
    """
    try:
        texts: list[Any] = column.to_pylist()
        return texts
    except UnicodeDecodeError:
        if import_pyarrow().types.is_dictionary(column.type):
            column = column.dictionary_decode()
        rows = column.cast(import_pyarrow().large_binary()).to_pylist()
    return [None if raw is None else decoded(raw, errors, of=of) for raw in rows]


def is_text_type(kind: Any) -> bool:
    """Whether a column of a type holds texts, or nothing: also one that has each text once, such as
    of categories.

    >>> import pyarrow
    >>> (
    ...     is_text_type(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    ...     is_text_type(pyarrow.binary()),
    ... )
    (True, False)
    """
    types = import_pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return str(kind) in ("null", "string", "large_string", "string_view")


def inner_column(column: Any, names: Iterable[str]) -> Any:
    """The fields of a column of structs, or of structs within them, by their names; null where a
    struct is.
    """
    for name in names:
        column = import_pyarrow("pyarrow.compute").struct_field(column, [name])
    return column


def column_of(batch: Any, column: str) -> Any:
    """The column of a batch that `type_of_column` means."""
    first, *names = [column] if column in batch.schema.names else column.split(".")
    return inner_column(batch.column(first), names)


def type_of_column(schema: Any, column: str) -> Any:
    """The type of a column, or of a field of structs such as `"meta.text"`; None where there is
    none.

    A column whose own name has a point goes before the field of one.

    >>> import pyarrow
    >>> type_of_column(
    ...     pyarrow.schema({"meta": pyarrow.struct({"text": pyarrow.string()})}), "meta.text"
    ... )
    DataType(string)
    """
    first, *names = [column] if column in schema.names else column.split(".")
    kind: Any = schema.field(first).type if schema.names.count(first) == 1 else None
    for name in names:
        is_there = (
            import_pyarrow().types.is_struct(kind) and kind.get_field_index(name) >= 0
            if kind
            else False
        )
        kind = kind.field(name).type if is_there else None
    return kind


_LONGEST_ROW = 1 << 24  # bytes


_PARTED = {
    ",": "the columns of a .csv are parted by commas",
    "\t": "the columns of a .tsv are parted by tabs",
}


# The only value of a row behind the last one: a quote that is not closed takes it in.
_END = "\x1eend of the rows\x1e"


def rows_of_csv(
    raw: BinaryIO, file: TextFile, columns: Iterable[str]
) -> Iterator[list[bytes] | BadRow]:
    """Columns of a .csv or .tsv with a header: the values of each row, in UTF-8 if the file is.

    A value may stand between quotes, where it may hold line ends, and two quotes are one. Empty
    lines are no rows. A row that has more values than the header, or fewer, is a `BadRow`.

    Raises:
        FileFormatError: there is no such column, a row is longer than 16 MiB, or a quote is not
            closed.
    """
    names, table = list(columns), iter(_CsvRows(raw, file))
    header = next(table, [])
    if not header:
        told = f"{file.name} is empty: its first row has to name its columns"
        raise FileFormatError(told, path=file.name)
    _check_header(header, file.name, names, TABLES[file.kind or ""])
    places = list(map(header.index, names))
    for row in table:
        if len(row) == len(header):
            yield [row[place].encode("utf-8", "surrogateescape") for place in places]
        else:
            told = f"a row of {number_of(len(row), 'value')}, and the header has {len(header)}"
            yield BadRow(f"{told}; see whether its quotes are closed")


class _CsvRows:
    """The rows of a .csv or .tsv that are not empty, the header first."""

    def __init__(self, raw: BinaryIO, file: TextFile) -> None:
        self._raw, self._file = raw, file
        self._number = -1  # of the row that was read last; the header is 0
        self._size = 0  # bytes of the row that is read

    def __iter__(self) -> Iterator[list[str]]:
        name, lines = self._file.name, self._lines()
        csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_ROW))
        rows = csv.reader(lines, delimiter=TABLES[self._file.kind or ""])
        begin = 1
        try:
            while (row := next(rows)) != [_END]:
                if row and row[-1].endswith(_END):
                    message = f"{name}, line {begin}: a quote is not closed before the end of the"
                    message += " file, and contains all later rows; close the quote, or write it"
                    raise FileFormatError(f"{message} twice within quotes", path=name)
                self._number += bool(row)
                self._size, begin = 0, rows.line_num + 1
                if row:
                    yield row
        except csv.Error as error:
            told = f"{name}, line {rows.line_num} cannot be read: {error}"
            raise FileFormatError(told, path=name) from None

    def _lines(self) -> Iterator[str]:
        file, is_first = self._file, True
        for line in lines_within(file_of_blocks(_blocks_of(self._raw, file))):
            self._size += len(line)
            if self._size > _LONGEST_ROW:
                told = f"{file.name} has a row of more than {_LONGEST_ROW:,} bytes behind row"
                told += f" {max(self._number, 0):,}; see whether its quotes are closed"
                raise FileFormatError(told, path=file.name)
            if is_first:
                refuse_other_than_text(line, file.name)
                line, is_first = line.removeprefix(b"\xef\xbb\xbf"), False
            # The reader refuses a \r in the middle of a line.
            for part in line.splitlines(keepends=True):
                yield part.decode("utf-8", "surrogateescape")
        yield "\n"  # the last line may have no end
        yield _END


def _check_header(header: list[str], path: str, names: list[str], delimiter: str) -> None:
    parted = ""
    # one column of which the name has other marks: what some spreadsheets save
    if len(header) == 1 and any(mark in header[0] for mark in ",;\t|"):
        parted = f"; {_PARTED[delimiter]}: save it so"
    for name in names:
        how = BY_COLUMN if name == names[0] else BY_KEEPING
        _check_names(header, path, name, f"{how}{parted}")


def _blocks_of(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    return (
        iter(lambda: raw.read(BLOCK), b"") if file.compression is None else decompressed(raw, file)
    )


def check_column(schema: Any, path: str, column: str) -> None:
    kind = type_of_column(schema, column)
    if kind is None or schema.names.count(column) > 1:
        _check_names(schema.names, path, column)
    if not is_text_type(kind):
        raise FileFormatError(f"{path}: the column {column!r} holds {kind}, not texts", path=path)


def _check_names(names: list[str], path: str, column: str, how: str = BY_COLUMN) -> None:
    number = names.count(column)
    if number == 1:
        return
    there = (
        f"choose one of {listed_names(names)} {how}" if names else "there is nothing else either"
    )
    problem = f"has no column {column!r}; {there}"
    if number:
        several = f"has {number} columns named {column!r}, and which is meant cannot be told"
        problem = f"{several}; write the file anew with different names"
    raise FileFormatError(f"{path} {problem}", path=path)
