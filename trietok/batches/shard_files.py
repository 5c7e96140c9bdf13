"""The Parquet file of a shard.

It is written from int32 bytes under a temporary name, and is complete and flushed to the disk when
it is closed. The same rows in the same portions give the same bytes.

The ids are the column `input_ids`, list<int32>; masks and type ids are columns of list<int8>.
Columns that are carried through follow them.
"""

from __future__ import annotations

import os
from array import array
from pathlib import Path
from typing import Any, NamedTuple

from trietok.batches.row_encoder import (
    ID_BYTES,
    IDS,
    LENGTH,
    OFFSETS,
    OVERFLOWING,
    SAMPLES,
    TRUNCATED,
    EncodedRows,
)
from trietok.errors import FileFormatError, InputError, InputTypeError
from trietok.files.tables import import_pyarrow, is_text_type

_MOST_OFFSET = 2**31 - 1  # of a list array
_MOST_IDS = 1 << 25  # of a row of a Parquet file, whose writer takes 16 bytes for each id of it
_GROUP_BYTES = 1 << 17  # of a row group, about: a reader of one row decodes all of it
_FEW_COLUMNS = 32  # with more, row groups grow: each column of each takes time of its own
_IDS_AT_ONCE = 1 << 20  # that wait to be written to a Parquet file, about
_BYTES_AT_ONCE = 1 << 26  # of the columns kept beside them, at most about


def check_text_type(kind: Any, column: str, words: bool = False) -> None:
    """Raise an InputTypeError for a column whose type is not text (or lists of words)."""
    types = import_pyarrow().types
    if types.is_null(kind):
        return
    texts = kind
    if words:
        inner = kind.value_type if types.is_dictionary(kind) else kind
        if not any(
            is_(inner) for is_ in (types.is_list, types.is_large_list, types.is_fixed_size_list)
        ):
            told = f"column {column!r} holds {kind}; is_split_into_words wants lists of strings"
            raise InputTypeError(told)
        texts = inner.value_type
    if not is_text_type(texts):
        told = f"column {column!r} holds {kind}, not text; cast it to string first"
        raise InputTypeError(told, value=str(kind))


def column_types(names: tuple[str, ...]) -> dict[str, Any]:
    """The Arrow type of each column that an encoding gives, whatever the batch holds."""
    pa = import_pyarrow()
    types = {
        **dict.fromkeys((IDS, OVERFLOWING), pa.list_(pa.int32())),
        **dict.fromkeys((LENGTH, SAMPLES, TRUNCATED), pa.int32()),
        OFFSETS: pa.list_(pa.list_(pa.int32(), 2)),
    }
    return {name: types.get(name, pa.list_(pa.int8())) for name in names}


def require_list_room(number: int) -> None:
    """Raise where an array of lists cannot hold so many ids."""
    if number > _MOST_OFFSET:
        told = f"a batch with {number:,} ids is too large for an Arrow array of lists"
        raise InputError(f"{told}; give smaller batches")


def arrow_columns(
    rows: EncodedRows, names: tuple[str, ...], present: list[bool] | None = None
) -> dict[str, Any]:
    """Rows as Arrow arrays, made from buffers, so that no token becomes a Python object.

    `present` says for each row of the result whether it has a text; None for all. Others become
    null in every column.

    >>> columns = arrow_columns(
    ...     EncodedRows(array("i", [2, 1]), b"\\1\\0\\0\\0" * 3, {}),
    ...     ("input_ids",),
    ...     [True, False, True],
    ... )
    >>> columns["input_ids"].to_pylist()
    [[1, 1], None, [1]]
    """
    pa = import_pyarrow()
    validity, nulls = None, 0
    if present is not None and not all(present):
        nulls = present.count(False)
        validity = pa.array(present, pa.bool_()).buffers()[1]

    def spread(values: array[int]) -> array[int]:
        """The values of the rows there are, and 0 for the others."""
        following = iter(values)
        found = (next(following) if there else 0 for there in present or ())
        return array("i", found) if nulls else values

    def flat(kind: Any, values: Any, number: int, validity: Any = None, nulls: int = 0) -> Any:
        return pa.Array.from_buffers(kind, number, [validity, pa.py_buffer(values)], nulls)

    def starts_of(lengths: array[int]) -> Any:
        require_list_room(sum(lengths))
        steps = flat(pa.int32(), array("i", [0]) + lengths, 1 + len(lengths))
        return import_pyarrow("pyarrow.compute").cumulative_sum(steps).buffers()[1]

    lengths = spread(rows.lengths)
    total, starts = len(rows.ids) // ID_BYTES, starts_of(lengths)

    def lists(kind: Any, values: Any, starts: Any = starts) -> Any:
        return pa.Array.from_buffers(kind, len(lengths), [validity, starts], nulls, 0, [values])

    numbers = {LENGTH: rows.lengths, SAMPLES: rows.samples}
    if rows.overflow is not None:
        numbers[TRUNCATED] = rows.overflow.truncated
    made = {}
    for name, kind in column_types(names).items():
        if name == IDS:
            made[name] = lists(kind, flat(pa.int32(), rows.ids, total))
        elif name == OFFSETS:
            ends = flat(pa.int32(), rows.offsets or b"", 2 * total)
            pairs = pa.Array.from_buffers(kind.value_type, total, [None], 0, 0, [ends])
            made[name] = lists(kind, pairs)
        elif name == OVERFLOWING and rows.overflow is not None:
            cut_off = flat(pa.int32(), rows.overflow.ids, len(rows.overflow.ids) // ID_BYTES)
            made[name] = lists(kind, cut_off, starts_of(spread(rows.overflow.lengths)))
        elif (values := numbers.get(name)) is not None:
            made[name] = flat(kind, spread(values), len(lengths), validity, nulls)
        else:
            made[name] = lists(kind, flat(pa.int8(), rows.columns[name], total))
    return made


class Content(NamedTuple):
    """The columns of a shard."""

    fingerprint: str  # the tokenizer's, which is noted in the file
    columns: tuple[str, ...] = ()  # masks and type ids beside the ids
    keep: tuple[str, ...] = ()  # columns that are carried through
    is_typed: bool = True  # whether the first rows show the types of those


class ParquetShard:
    """A Parquet file that grows some row groups at a time."""

    def __init__(self, path: Path, content: Content) -> None:
        self._content = content
        # Columns beside the ids take room too.
        self.most_ids = _MOST_IDS // 2 if content.columns else _MOST_IDS  # of a row
        self._table = _ParquetTable(path, content)
        self._forget()

    def _forget(self) -> None:
        self._lengths = array("i")
        self._ids = bytearray()
        self._columns = {name: bytearray() for name in self._content.columns}
        self._ended = 0  # bytes of the ids that are of rows with a length

    def write(self, rows: EncodedRows, kept: Any = None) -> None:
        """Append rows, and a table of what is kept; ids may come in parts, before a length."""
        self._lengths += rows.lengths
        self._ids += rows.ids
        for name, run in self._columns.items():
            run += rows.columns[name]
        self._table.keep(kept)
        if rows.lengths:
            self._ended = len(self._ids)
            if self._ended >= _IDS_AT_ONCE * ID_BYTES or self._table.kept_bytes >= _BYTES_AT_ONCE:
                self._write_groups()

    def drop_open_row(self) -> None:
        """Forget the ids of the row that has no length yet."""
        del self._ids[self._ended :]
        for run in self._columns.values():
            del run[self._ended // ID_BYTES :]

    def _write_groups(self) -> None:
        columns = {name: bytes(run) for name, run in self._columns.items()}
        rows = EncodedRows(self._lengths, self._ids, columns)
        table = import_pyarrow().table(arrow_columns(rows, (IDS, *columns)))
        self._forget()
        self._table.write(_beside(table, self._table.kept()))

    def close(self) -> None:
        """Write what is left, and have all of it on the disk."""
        if self._lengths or self._table.is_empty:
            self._write_groups()
        self._table.close()


class _ParquetTable:
    """A Parquet file, written table by table; and the kept columns of the next rows.

    The types of values from JSON are known only when all have been seen: then all tables wait for
    the end.
    """

    def __init__(self, path: Path, content: Content) -> None:
        self._content = content
        self._file = open(path, "wb")  # noqa: SIM115 - closed by close
        self._writer: Any = None
        self._waiting: list[Any] = []
        self._kept: list[Any] = []
        self.kept_bytes = 0

    def keep(self, table: Any) -> None:
        """Note the kept columns of some rows, batch by batch."""
        if table is not None:
            self._kept.append(table)
            self.kept_bytes += table.nbytes

    def kept(self) -> Any:
        """Give out what was noted; columns of no type where there were no rows."""
        pa = import_pyarrow()
        tables, self._kept, self.kept_bytes = self._kept, [], 0
        if not tables:
            return pa.table({name: pa.nulls(0) for name in self._content.keep})
        table = _joined(tables).select(self._content.keep)
        fields = [field.remove_metadata() for field in table.schema]
        return pa.table(table.columns, pa.schema(fields))

    @property
    def is_empty(self) -> bool:
        return self._writer is None and not self._waiting

    def write(self, table: Any) -> None:
        if self._content.is_typed:
            self._write(table)
        else:
            self._waiting.append(table)

    def _write(self, table: Any) -> None:
        if self._writer is None:
            schema = table.schema.with_metadata({"trietok.fingerprint": self._content.fingerprint})
            # Differences of ids are written in half the time of zstd, in a sixth more bytes, for
            # all readers.
            ours = (IDS, *self._content.columns)
            encodings = {f"{name}.list.element": "DELTA_BINARY_PACKED" for name in ours}
            try:
                self._writer = import_pyarrow("pyarrow.parquet").ParquetWriter(
                    self._file,
                    schema,
                    column_encoding=encodings,
                    compression="zstd" if self._content.keep else "none",
                    use_dictionary=[*self._content.keep] or False,
                    write_statistics=False,
                    write_page_checksum=True,
                )
            # of objects without keys within others
            except import_pyarrow().ArrowNotImplementedError as error:
                told = f"a column to keep cannot be written: {error}"
                raise FileFormatError(told, path="") from error
        size = _GROUP_BYTES * max(_FEW_COLUMNS, table.num_columns) // _FEW_COLUMNS
        self._writer.write_table(table, max(1, len(table) * size // max(table.nbytes, 1)))

    def close(self) -> None:
        if self._waiting:
            empty = _joined([table.slice(0, 0) for table in self._waiting])
            for table in self._waiting:
                self._write(_joined([empty, table]))
        self._writer.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()


def _joined(tables: list[Any]) -> Any:
    """Tables one behind the other; types that differ become one that holds both.

    Where no type holds both, that is a FileFormatError that names no file.
    """
    pa = import_pyarrow()
    if len(tables) == 1:
        return tables[0]
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        raise FileFormatError(f"a column to keep changes its type: {error}", path="") from error


def _beside(table: Any, other: Any) -> Any:
    """A table with the columns of another behind its own."""
    schema = table.schema
    fields = import_pyarrow().schema([*schema, *other.schema], schema.metadata)
    return import_pyarrow().table([*table.columns, *other.columns], fields)
