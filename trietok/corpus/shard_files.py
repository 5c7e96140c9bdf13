"""The files of a shard: rows of ids as Parquet, or as a flat run of ids with an index of where each
row starts.

In: rows of ids as int32 bytes. Out: files under temporary names, complete and flushed to the disk
when they are closed. The same rows in the same portions give the same bytes.

| format  | ids                                 | index                                    |
| ------- | ----------------------------------- | ---------------------------------------- |
| parquet | `input_ids`, list<int32>            | none                                     |
| npy     | `.npy`, int32, one dimension        | `.index.npy`, int64, one more than rows  |
| bin     | `.bin`, int32, little-endian        | `.index.bin`, int64, one more than rows  |
| megatron | as `bin`                           | `.idx` of Megatron-LM, each row a document |
| mds     | `.mds`, of MosaicML Streaming, all columns | in it; and `index.json` for all shards |

Masks and type ids are columns of list<int8>, or runs of int8 that have the ids' index. Columns that
are carried through are columns of the Parquet file too, or of one beside the others,
`.kept.parquet`, with a row for each row of ids.
"""

from __future__ import annotations

import json
import os
import struct
import tempfile
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.row_encoder import (
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

FORMATS = ("parquet", "npy", "bin", "megatron", "mds")
KEPT = ".kept.parquet"  # how the file's name ends with the columns kept beside `npy` and `bin`
NPY_HEADER = 128  # bytes
MEGATRON_MAGIC = b"MMIDIDX\x00\x00"
_MOST_MDS = 2**32 - 1  # bytes of a file
_MOST_OFFSET = 2**31 - 1  # of a list array
_MOST_IDS = 1 << 25  # of a row of a Parquet file, whose writer takes 16 bytes for each id of it
GROUP_BYTES = 1 << 17  # of a row group, about: a reader of one row decodes all of it
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

    fingerprint: str  # the tokenizer's, which is noted in Parquet files
    columns: tuple[str, ...] = ()  # masks and type ids beside the ids
    keep: tuple[str, ...] = ()  # columns that are carried through
    is_typed: bool = True  # whether the first rows show the types of those


def suffixes(file_format: str, columns: Sequence[str], keep: Sequence[str]) -> list[str]:
    """How the names of a shard's files end, in their order.

    >>> suffixes("npy", ["attention_mask"], ["id"])
    ['.npy', '.index.npy', '.attention_mask.npy', '.kept.parquet']
    """
    suffix = ".bin" if file_format == "megatron" else f".{file_format}"
    if file_format in ("parquet", "mds"):
        return [suffix]
    index = ".idx" if file_format == "megatron" else f".index{suffix}"
    return [suffix, index, *(f".{name}{suffix}" for name in columns), *([KEPT] if keep else [])]


def suffixes_of(options: dict[str, Any]) -> list[str]:
    """`suffixes` by the options of a manifest."""
    return suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))


class ParquetShard:
    """A Parquet file that grows some row groups at a time."""

    most_ids: int | None = _MOST_IDS  # of a row

    def __init__(self, folder: Path, stem: str, content: Content) -> None:
        self.paths = {".parquet": folder / f"{stem}.parquet"}
        self._content = content
        if content.columns:  # they take room beside the ids
            self.most_ids = _MOST_IDS // 2
        self._table = _ParquetTable(self.paths[".parquet"], content)
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
        self._table.write(beside(table, self._table.kept()))

    def close(self) -> None:
        """Write what is left, and have all of it on the disk."""
        if self._lengths or self._table.is_empty:
            self._write_groups()
        self._table.close()


class FlatShard:
    """Ids, masks and type ids in a run each, an index, and kept columns in a Parquet file.

    Once they are closed, `.npy` files have their headers.
    """

    most_ids: int | None = None  # of a row: any number

    def __init__(self, folder: Path, stem: str, content: Content, file_format: str) -> None:
        names = suffixes(file_format, content.columns, content.keep)
        self.paths = {name: folder / f"{stem}{name}" for name in names}
        self._with_header, self._is_megatron = file_format == "npy", file_format == "megatron"
        self._lengths = array("i")  # of Megatron's rows: its index has them all behind one another
        self._ids, self._index, *others = (
            path.open("wb") for name, path in self.paths.items() if name != KEPT
        )
        self._columns = dict(zip(content.columns, others, strict=True))
        self._table = _ParquetTable(self.paths[KEPT], content) if content.keep else None
        self._total = self._rows = 0
        if self._with_header:
            for file in (self._ids, self._index, *others):
                file.write(bytes(NPY_HEADER))
        if not self._is_megatron:
            self._index.write(array("q", [0]).tobytes())

    def write(self, rows: EncodedRows, kept: Any = None) -> None:
        """Append rows; the ids of a row may come before its length, in parts."""
        self._ids.write(rows.ids)
        for name, file in self._columns.items():
            file.write(rows.columns[name])
        if self._table is not None:
            self._table.keep(kept)
            if self._table.kept_bytes >= _BYTES_AT_ONCE:
                self._table.write(self._table.kept())
        ends = array("q", accumulate(rows.lengths, initial=self._total))
        if self._is_megatron:
            self._lengths += rows.lengths
        else:
            self._index.write(ends[1:].tobytes())
        self._total, self._rows = ends[-1], self._rows + len(rows.lengths)

    def close(self) -> None:
        """Have all of it on the disk."""
        if self._table is not None:
            self._table.write(self._table.kept())
            self._table.close()
        if self._is_megatron:
            self._index.write(megatron_index(self._lengths))
        kinds = [(self._ids, "<i4", self._total), (self._index, "<i8", self._rows + 1)]
        kinds += [(file, "|i1", self._total) for file in self._columns.values()]
        for file, kind, number in kinds:
            if self._with_header:
                file.seek(0)
                file.write(npy_header(kind, number))
            _flush(file)


def megatron_index(lengths: array[int]) -> bytes:
    """The index of int32 ids for Megatron-LM's `IndexedDataset`: each row is a document.

    A magic, the version 1, the code 4 for int32, how many rows and how many ends of documents with
    the first; the lengths, int32; where each row begins, in bytes, and the numbers of the
    documents' first rows, int64.
    """
    number = len(lengths)
    head = MEGATRON_MAGIC + struct.pack("<QBQQ", 1, 4, number, number + 1)
    starts = array("q", (ID_BYTES * start for start in accumulate(lengths, initial=0)))[:-1]
    return head + lengths.tobytes() + starts.tobytes() + array("q", range(number + 1)).tobytes()


class MdsShard:
    """A file of MosaicML Streaming's MDS: how many rows, where each begins, columns, rows.

    The rows wait in files of their own, since the beginning says where all of them are.
    """

    most_ids: int | None = None  # of a row: any number

    def __init__(self, folder: Path, stem: str, content: Content) -> None:
        self.paths = {".mds": folder / f"{stem}.mds"}
        self._names = sorted((IDS, *content.columns))
        self._waiting = {name: tempfile.TemporaryFile(dir=folder) for name in self._names}  # noqa: SIM115 - closed by close
        self._lengths = array("i")

    def write(self, rows: EncodedRows, kept: Any = None) -> None:
        """Append rows; the ids of a row may come before its length, in parts."""
        for name, file in self._waiting.items():
            file.write(rows.ids if name == IDS else rows.columns[name])
        self._lengths += rows.lengths

    def close(self) -> None:
        """Write all of it to the disk."""
        sizes = [(name, ID_BYTES if name == IDS else 1) for name in self._names]
        per_id, rows = sum(size for _, size in sizes), len(self._lengths)
        config = json.dumps(mds_columns(self._names), sort_keys=True).encode()
        begin = 4 * (rows + 2) + len(config)
        heads = [_mds_shape(length) for length in self._lengths]
        each = (
            len(sizes) * (4 + len(head)) + per_id * length
            for head, length in zip(heads, self._lengths, strict=True)
        )
        offsets = list(accumulate(each, initial=begin))
        if offsets[-1] > _MOST_MDS:
            told = f"a shard of the format mds has {offsets[-1]:,} bytes, more than {_MOST_MDS:,}"
            how = "divide the file, or give less with shard_bytes (--shard-size)"
            raise FileFormatError(f"{told}; {how}", path="")
        with open(self.paths[".mds"], "wb") as out:
            out.write(struct.pack("<I", rows) + array("I", offsets).tobytes() + config)
            for file in self._waiting.values():
                file.seek(0)
            for head, length in zip(heads, self._lengths, strict=True):
                in_row = [len(head) + size * length for _, size in sizes]
                out.write(struct.pack(f"<{len(in_row)}I", *in_row))
                for name, size in sizes:
                    out.write(head + self._waiting[name].read(size * length))
            for file in self._waiting.values():
                file.close()
            _flush(out)


def _mds_shape(length: int) -> bytes:
    """What stands before an array of one dimension: its length, in as few bytes as hold it."""
    code = next(code for code in range(3) if length < 1 << 8 * (1 << code))
    return struct.pack(f"<B{'BHI'[code]}", 1 << 2 | code, length)


def mds_columns(names: Sequence[str]) -> dict[str, Any]:
    """What an MDS shard says of its columns."""
    kinds = [f"ndarray:{'int32' if name == IDS else 'int8'}" for name in names]
    told: dict[str, Any] = {"column_names": [*names], "column_encodings": kinds}
    told |= {"column_sizes": [None] * len(kinds), "compression": None, "size_limit": None}
    return {**told, "format": "mds", "hashes": [], "version": 2}


def mds_index(shards: Iterable[dict[str, Any]], columns: Sequence[str]) -> bytes:
    """`index.json`, which lists the shards of a manifest for MosaicML Streaming."""
    told = {**mds_columns(sorted((IDS, *columns))), "zip_data": None}
    files = [(shard["rows"], file) for shard in shards for file in shard["files"]]
    listed = []
    for rows, file in files:
        data = {"basename": file["name"], "bytes": file["bytes"], "hashes": {}}
        listed.append({**told, "samples": rows, "raw_data": data})
    return json.dumps({"shards": listed, "version": 2}, sort_keys=True).encode()


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
        table = joined(tables).select(self._content.keep)
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
            ours = [name for name in (IDS, *self._content.columns) if name in schema.names]
            encodings = {f"{name}.list.element": "DELTA_BINARY_PACKED" for name in ours}
            try:
                self._writer = import_pyarrow("pyarrow.parquet").ParquetWriter(
                    self._file,
                    schema,
                    column_encoding=encodings or None,
                    compression="zstd" if self._content.keep else "none",
                    use_dictionary=[*self._content.keep] or False,
                    write_statistics=False,
                    write_page_checksum=True,
                )
            # of objects without keys within others
            except import_pyarrow().ArrowNotImplementedError as error:
                told = f"a column to keep cannot be written: {error}"
                raise FileFormatError(told, path="") from error
        size = GROUP_BYTES * max(_FEW_COLUMNS, table.num_columns) // _FEW_COLUMNS
        self._writer.write_table(table, max(1, len(table) * size // max(table.nbytes, 1)))

    def close(self) -> None:
        if self._waiting:
            empty = joined([table.slice(0, 0) for table in self._waiting])
            for table in self._waiting:
                self._write(joined([empty, table]))
        self._writer.close()
        _flush(self._file)


def joined(tables: list[Any]) -> Any:
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


def beside(table: Any, other: Any) -> Any:
    """A table with the columns of another behind its own."""
    schema = table.schema
    fields = import_pyarrow().schema([*schema, *other.schema], schema.metadata)
    return import_pyarrow().table([*table.columns, *other.columns], fields)


def npy_header(kind: str, number: int) -> bytes:
    """The first 128 bytes of a `.npy` file (version 1.0) of so many values in one dimension."""
    says = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({number},), }}"
    magic = b"\x93NUMPY\x01\x00" + (NPY_HEADER - 10).to_bytes(2, "little")
    return magic + says.ljust(NPY_HEADER - 11).encode("ascii") + b"\n"


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
    file.close()
