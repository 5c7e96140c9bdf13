"""Columns of texts: of a .parquet, a .csv or a .tsv.

In: a table, and the name of a column or of a field of structs. Out: batches of it, and its rows as
str, None, or `BadRow`. A batch of a .csv is held at a time.
"""

from __future__ import annotations

import contextlib
import csv
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

from trietok.errors import (
    FileFormatError,
    as_file_error,
    imported,
)
from trietok.files import stores, text_rows
from trietok.files.packed import BLOCK, decompressed, file_of_blocks
from trietok.files.stores import is_elsewhere
from trietok.files.text_files import TABLES, TextFile, refuse_other_than_text
from trietok.files.text_rows import (
    BY_COLUMN,
    BY_KEEPING,
    BadRow,
    decoded,
    lines_within,
    listed_names,
)
from trietok.later import Any, BinaryIO
from trietok.showing.characters import number_of


def import_pyarrow(module: str = "pyarrow", extra: str = "corpus") -> Any:
    """pyarrow, or a module of it; where it is not installed, an error says that `extra` brings
    it.
    """
    return imported(module, extra)


def open_parquet(path: str, extra: str = "corpus") -> Any:
    """A Parquet file, to be read stretch by stretch; a page that is not as its checksum says is an
    OSError of reading.

    Raises:
        FileError, FileFormatError: it cannot be read, or is none.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow = import_pyarrow(extra=extra)
    parquet = import_pyarrow("pyarrow.parquet", extra)
    try:
        with as_file_error(f"cannot read {path}", path):
            source = stores.open_bytes(path) if is_elsewhere(path) else path
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


_END = (  # the values of a row behind the last one: a quote that is not closed takes it in
    "\x1eend of the rows\x1e"
)


def rows_of_csv(
    raw: BinaryIO, file: TextFile, columns: Iterable[str]
) -> Iterator[tuple[Any, dict[int, BadRow]]]:
    """Columns of a .csv or .tsv with a header, in batches of strings, of which nobody has looked
    whether it is UTF-8.

    A value may stand between quotes, where it may hold line ends, and two quotes are one. Empty
    lines are no rows. A row that has more values than the header, or fewer, is null in each column;
    the places of such rows go with a batch.

    Raises:
        FileFormatError: there is no such column, a row is longer than 16 MiB, or a quote is not
            closed.
    """
    pyarrow, reader = import_pyarrow(extra="parquet"), import_pyarrow("pyarrow.csv", "parquet")
    names, delimiter = list(dict.fromkeys(columns)), TABLES[file.kind or ""]
    try:
        lines = (line.decode("utf-8-sig", "replace") for line in _lines_read(raw, file))
        header: list[str] = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    except csv.Error as error:
        raise FileFormatError(
            f"{file.name} has no header that can be read: {error}", path=file.name
        ) from None
    if not header:
        raise FileFormatError(
            f"{file.name} is empty: its first row has to name its columns", path=file.name
        )
    parted = ""
    # one column of which the name has other marks: what some spreadsheets save
    if len(header) == 1 and any(mark in header[0] for mark in ",;\t|"):
        parted = f"; {_PARTED[delimiter]}: save it so"
    for name in names:
        how = BY_COLUMN if name == names[0] else BY_KEEPING
        _check_names(header, file.name, name, f"{how}{parted}")
    raw.seek(0)
    types = dict.fromkeys(names, pyarrow.string())
    # rows of another width, by their numbers, that are in no batch yet
    wrong: deque[tuple[int, BadRow]] = deque()
    number = 2  # of the row that comes next, as Arrow counts: the header is the first

    def note(row: Any) -> str:
        told = (
            f"a row of {number_of(row.actual_columns, 'value')}, and the header has"
            f" {row.expected_columns}"
        )
        wrong.append((row.number, BadRow(f"{told}; see whether its quotes are closed")))
        return "skip"

    try:
        batches: Any = reader.open_csv(
            file_of_blocks(
                chain(
                    _blocks_of(raw, file), [f"\n{delimiter.join([_END] * len(header))}\n".encode()]
                )
            ),
            reader.ReadOptions(use_threads=False, block_size=_LONGEST_ROW),
            reader.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note
            ),
            reader.ConvertOptions(include_columns=names, column_types=types, check_utf8=False),
        )
        batches = iter(batches)
        last = next(batches, None)  # it is handed out once it is seen that it ends as it should
        while last is not None:
            batch, last = last, next(batches, None)
            if last is None:
                if not len(batch) or batch.column(0)[-1].as_buffer().to_pybytes() != _END.encode():
                    raise _not_closed(raw, file, delimiter)
                batch = batch.slice(0, len(batch) - 1)
            whole, bad = _with_nulls(batch, wrong, number)
            number += len(whole)
            if len(whole):
                yield whole, bad
    except pyarrow.ArrowInvalid as error:
        told = f"{file.name} cannot be read: {error}"
        if "straddl" in str(error):
            told = (
                f"{file.name} has a row of more than {_LONGEST_ROW:,} bytes behind row"
                f" {number - 2:,}"
            )
            told += "; see whether its quotes are closed"
        raise FileFormatError(told, path=file.name) from None


def _not_closed(raw: BinaryIO, file: TextFile, delimiter: str) -> FileFormatError:
    """What is to be said of a file that ends within quotes, with the line at which they begin."""
    raw.seek(0)
    lines = (line.decode("utf-8", "replace") for line in _lines_read(raw, file))
    rows, first = csv.reader(lines, delimiter=delimiter, strict=True), 0
    with contextlib.suppress(csv.Error, StopIteration):
        while True:
            first = rows.line_num + 1
            next(rows)
    told = (
        f"{file.name}, line {first}: a quote is not closed before the end of the file, and holds"
        " all rows behind it"
    )
    return FileFormatError(f"{told}; close it, or write it twice within quotes", path=file.name)


def _with_nulls(
    batch: Any, wrong: deque[tuple[int, BadRow]], first: int
) -> tuple[Any, dict[int, BadRow]]:
    """A batch whose first row has a number, with a null for each row that is `wrong` there; the
    places of those.
    """
    bad: dict[int, BadRow] = {}
    while wrong and wrong[0][0] <= first + len(batch) + len(bad):
        number, why = wrong.popleft()
        bad[number - first] = why
    if bad:
        good = iter(range(len(batch)))
        places = [None if place in bad else next(good) for place in range(len(batch) + len(bad))]
        batch = batch.take(import_pyarrow().array(places, "int64"))
    return batch, bad


def _blocks_of(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    return (
        iter(lambda: raw.read(BLOCK), b"") if file.compression is None else decompressed(raw, file)
    )


def _lines_read(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    """The lines of a file, of which one that is too long is an error."""
    for number, line in enumerate(lines_within(file_of_blocks(_blocks_of(raw, file))), start=1):
        if number == 1:
            refuse_other_than_text(line, file.name)
        if len(line) > text_rows.LONGEST_TEXT_LINE:
            raise FileFormatError.at_line(
                file.name, number, f": {text_rows.TOO_LONG.format(text_rows.LONGEST_TEXT_LINE)}"
            )
        yield line


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
