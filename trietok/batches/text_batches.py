"""Read files of texts as Arrow batches: a column of texts, and columns to keep next to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import compress
from typing import Any, NamedTuple

from trietok.batches.units import Source
from trietok.errors import FileError, FileFormatError
from trietok.files.stores import Status, open_bytes, reading, status_of
from trietok.files.tables import (
    batches_of_parquet,
    import_pyarrow,
    open_parquet,
    texts_of,
    without_nulls,
)
from trietok.files.text_rows import NO_ROW, BadRow, TextOrBad, unit_of
from trietok.files.texts import read_rows

_BLOCK = 1 << 20  # bytes


class BadText(NamedTuple):
    """A row that holds no text."""

    path: str
    number: int  # of the line, or of the row of a table, from 1
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, {unit_of(self.path)} {self.number}: {self.reason}"


OnBad = Callable[[BadText], None]


def batches_of(source: Source, columns: list[str], on_bad: OnBad) -> Iterator[Any]:
    """Yield the rows of a source as RecordBatches; the first is empty.

    Args:
        source: the file, or a part of it.
        columns: the column of the texts, and columns to keep.
        on_bad: is called with each row that holds no text. If it returns, the row is left out.

    Raises:
        FileError, FileFormatError: the file cannot be read, lacks a column, or has changed.
    """
    batches = _parquet_batches if source.kind == "parquet" else _row_batches
    try:
        yield from batches(source, columns, on_bad)
    except (FileError, FileFormatError):
        _check_unchanged(source)  # if the file has changed, that is the reason
        raise
    except import_pyarrow().ArrowException as error:
        message = f"{source.name} cannot be encoded: {error}"
        raise FileFormatError(message, path=source.name) from error
    _check_unchanged(source)


def merged(batches: Iterator[Any]) -> Iterator[Any]:
    """Join the batches of small files, if their types are the same."""
    waiting = [next(batches)]
    size = 0
    for batch in filter(len, batches):
        if size >= _BLOCK or batch.schema != waiting[0].schema:
            yield _joined(waiting)
            waiting, size = [], 0
        waiting.append(batch)
        size += batch.nbytes
    yield _joined(waiting)


def _joined(batches: list[Any]) -> Any:
    table = import_pyarrow().Table.from_batches(batches)
    return table.combine_chunks().to_batches()[0] if len(table) else batches[0]


def _check_unchanged(source: Source) -> None:
    if status_of(source.name) != Status(source.size, source.version):
        raise FileError(
            f"{source.name} has changed while it was read; run again when it is complete",
            path=source.name,
        )


def _parquet_batches(source: Source, columns: list[str], on_bad: OnBad) -> Iterator[Any]:
    pyarrow = import_pyarrow()
    groups = None if source.end is None else range(source.start, source.end)
    number = 1
    for batch in batches_of_parquet(source.name, columns, groups):
        texts = batch.column(0).cast("string")
        arrays = [texts, *batch.columns[1:]]
        if texts.null_count or not _is_utf8(texts):
            rows = without_nulls(texts_of(texts, of=f"text in {columns[0]!r}"), columns[0])
            is_text = _report(rows, source, number, on_bad)
            arrays = [array.filter(pyarrow.array(is_text)) for array in arrays]
        yield pyarrow.RecordBatch.from_arrays(arrays, columns)
        number += len(texts)


def _is_utf8(texts: Any) -> bool:
    try:
        texts.validate(full=True)
    except import_pyarrow().ArrowInvalid:
        return False
    return True


def _row_batches(source: Source, columns: list[str], on_bad: OnBad) -> Iterator[Any]:
    pyarrow = import_pyarrow()
    kept_columns = columns[1:]
    empty = [pyarrow.array([], pyarrow.string()), *map(pyarrow.nulls, [0] * len(kept_columns))]
    yield pyarrow.RecordBatch.from_arrays(empty, columns)
    number = 1
    with reading(source.name), open_bytes(source.name) as stream:
        kind, compression = source.kind, source.compression
        rows = read_rows(
            stream, source.name, kind, compression, columns, start=source.start, end=source.end
        )
        for texts, values in rows:
            size = len(texts)
            array = _text_array(texts)
            if array is None:
                texts = list(map(_without_surrogates, texts))
                is_text = _report(texts, source, number, on_bad)
                array = pyarrow.array(compress(texts, is_text), pyarrow.string())
                values = list(compress(values, is_text))
            others = zip(*values, strict=True) if values else [()] * len(kept_columns)
            kept = [
                _array_of_values(list(column), name, source.name)
                for column, name in zip(others, kept_columns, strict=True)
            ]
            yield pyarrow.RecordBatch.from_arrays([array, *kept], columns)
            number += size


def _text_array(texts: list[TextOrBad]) -> Any:
    """Return texts as an Arrow array; None if one is no text, or has half of a surrogate pair."""
    pyarrow = import_pyarrow()
    try:
        return pyarrow.array(texts, pyarrow.string())
    except (pyarrow.ArrowException, UnicodeEncodeError):
        return None


def _without_surrogates(text: TextOrBad) -> TextOrBad:
    if isinstance(text, str) and not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(text[error.start]):04x}"
            return BadRow(f"the text has half of a surrogate pair, {half}")
    return text


def _array_of_values(values: list[Any], column: str, name: str) -> Any:
    """Return values to keep as an Arrow array of whatever type they have."""
    pyarrow = import_pyarrow()
    try:
        array = pyarrow.array(values)
    except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError) as error:
        raise FileFormatError(
            f"{name}: the values of {column!r} have no common type: {error}", path=name
        ) from error
    # A column of a Parquet file cannot hold objects without keys.
    is_empty = pyarrow.types.is_struct(array.type) and not array.type.num_fields
    return pyarrow.nulls(len(values)) if is_empty else array


def _report(rows: list[TextOrBad], source: Source, number: int, on_bad: OnBad) -> list[bool]:
    """Report the rows that hold no text, and return for each row whether it holds one.

    `number` is that of the first row in the source, from 1.
    """
    for place, row in enumerate(rows, number):
        if isinstance(row, BadRow) and row != NO_ROW:
            on_bad(BadText(source.name, _rows_before(source) + place, row.reason))
    return [isinstance(row, str) for row in rows]


@lru_cache(maxsize=1)
def _rows_before(source: Source) -> int:
    """Return how many rows of the file are before the source."""
    if not source.start:
        return 0
    if source.kind == "parquet":
        with open_parquet(source.name) as table:
            groups = map(table.metadata.row_group, range(source.start))
            return sum(group.num_rows for group in groups)
    count, left = 1, source.start - 1  # a line that ends with the last byte before counts
    with reading(source.name), open_bytes(source.name) as stream:
        while left and (block := stream.read(min(left, _BLOCK))):
            left -= len(block)
            count += block.count(b"\n")
    return count
