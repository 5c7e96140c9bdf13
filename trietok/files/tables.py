"""Read columns of texts with pyarrow: of Parquet files and of Arrow arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from trietok.errors import FileFormatError, imported
from trietok.files.stores import is_url, open_bytes, reading
from trietok.files.text_rows import BY_KEEPING, BadRow, TextOrBad, decoded, wrong_column

_BUFFER = 1 << 20  # bytes
# Of a batch, at most about. A row group may hold long texts that are equal in few bytes.
_BATCH_BYTES, _BATCH_ROWS = 1 << 22, 1 << 11


def import_pyarrow(module: str = "pyarrow") -> Any:
    """Import pyarrow, or a module of it; an error says how to install it."""
    return imported(module, "parquet")


def open_parquet(path: str) -> Any:
    """Open a Parquet file to read it in parts.

    Raises:
        FileError, FileFormatError: it cannot be read, or is not a Parquet file.
        OSError: from reading, where a page is not as its checksum says.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow, parquet = import_pyarrow(), import_pyarrow("pyarrow.parquet")
    with reading(path):
        source = open_bytes(path) if is_url(path) else pyarrow.OSFile(os.fsencode(path))
        try:
            return parquet.ParquetFile(
                source, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True
            )
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} is not a Parquet file: {error}", path=path) from None


def texts_of(column: Any, errors: str = "strict", *, of: str = "text") -> list[Any]:
    """Return the rows of an array as str, None for a null, and `BadRow` for bytes that are not
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


def without_nulls(texts: Iterable[Any], column: str) -> list[TextOrBad]:
    """Return the texts of a column, with a `BadRow` for each None.

    >>> without_nulls(["a", None], "text")[1].reason
    "'text' is null, not a text; remove the row or fill the column"
    """
    null = BadRow(f"{column!r} is null, not a text; remove the row or fill the column")
    return [null if text is None else text for text in texts]


def is_text_type(kind: Any) -> bool:
    """Return whether a column of a type holds texts, or nothing; categories are texts, too.

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


def column_of(batch: Any, column: str) -> Any:
    """Return the column of a batch that `type_of_column` means; null where a struct is null."""
    first, *names = [column] if column in batch.schema.names else column.split(".")
    found = batch.column(first)
    for name in names:
        found = import_pyarrow("pyarrow.compute").struct_field(found, [name])
    return found


def type_of_column(schema: Any, column: str) -> Any:
    """Return the type of a column, or of a field of structs such as `"meta.text"`; None if there is
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
        is_there = kind and import_pyarrow().types.is_struct(kind)
        is_there = is_there and kind.get_field_index(name) >= 0
        kind = kind.field(name).type if is_there else None
    return kind


def check_column(schema: Any, path: str, column: str) -> None:
    """Raise a FileFormatError if a table has no such column of texts."""
    kind = type_of_column(schema, column)
    if kind is None or schema.names.count(column) > 1:
        raise wrong_column(schema.names, path, column)
    if not is_text_type(kind):
        raise FileFormatError(f"{path}: the column {column!r} holds {kind}, not texts", path=path)


def batches_of_parquet(
    path: str, columns: Sequence[str], groups: range | None = None
) -> Iterator[Any]:
    """Yield columns of a Parquet file as RecordBatches, the column of texts first.

    The first batch is empty.

    Args:
        path: the file, or its URL.
        columns: the column of the texts, and others; `"meta.id"` is a field of structs, too.
        groups: the numbers of the row groups to read; by default all.
    """
    pyarrow = import_pyarrow()
    try:
        with open_parquet(path) as table, reading(path):
            schema, metadata = table.schema_arrow, table.metadata
            check_column(schema, path, columns[0])
            kinds = [type_of_column(schema, name) for name in columns]
            if None in kinds:
                raise wrong_column(schema.names, path, columns[kinds.index(None)], BY_KEEPING)
            empty = [pyarrow.nulls(0, kind) for kind in kinds]
            yield pyarrow.RecordBatch.from_arrays(empty, columns)
            numbers = range(metadata.num_row_groups) if groups is None else groups
            row_groups = list(map(metadata.row_group, numbers))
            rows = sum(group.num_rows for group in row_groups)
            size = sum(group.total_byte_size for group in row_groups)
            batch_size = min(max(_BATCH_BYTES * rows // max(size, 1), 1), _BATCH_ROWS)
            read = 0
            for batch in table.iter_batches(batch_size, numbers, columns):
                read += len(batch)
                arrays = [column_of(batch, name) for name in columns]
                yield pyarrow.RecordBatch.from_arrays(arrays, columns)
            if read != rows:  # the checksum of a page does not cover its header
                raise FileFormatError(
                    f"{path} has {rows:,} rows, and {read:,} could be read", path=path
                )
    except pyarrow.ArrowException as error:
        raise FileFormatError(f"{path} cannot be read: {error}", path=path) from None


def rows_of_parquet(path: str, column: str, errors: str) -> Iterator[list[TextOrBad]]:
    """Yield the texts of a column in batches."""
    for batch in batches_of_parquet(path, [column]):
        yield without_nulls(texts_of(batch.column(0), errors, of=f"text in {column!r}"), column)
