"""The shards of a corpus to be read: runs of numbers and kept values by row, and Arrow tables.

In: the files of a shard. Out: its rows by number. Flat files are mapped into memory, not read; of Parquet files the row
groups used last are held.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from pathlib import Path
from typing import Any, Protocol

from trietok.corpus.parquet_rows import check_rows
from trietok.corpus.row_encoder import IDS
from trietok.corpus.shard_files import KEPT, NPY_HEADER, joined
from trietok.corpus.shard_plan import unreadable_table
from trietok.errors import FileFormatError
from trietok.files.text_rows import import_pyarrow, open_parquet

_ROW_GROUPS = 4


class OpenShard(Protocol):
    """A shard whose rows can be asked for."""

    def run(self, name: str, row: int) -> memoryview[int]:
        """The ids of a row, int32; of a mask or of type ids, the numbers of a row, int8."""

    def kept(self, name: str, row: int) -> Any:
        """The value of a kept column."""

    def table(self) -> Any:
        """All of it as an Arrow table."""


def open_shard(paths: Sequence[Path], file_format: str, lists: Sequence[str]) -> OpenShard:
    """A shard of a finished corpus.

    Args:
        paths: its files, in the order of the manifest.
        file_format: one of `shard_files.FORMATS`.
        lists: the columns that are lists of numbers.
    """
    if file_format == "parquet":
        return _Parquet(paths[0])
    return _Flat(paths, f".{file_format}", lists)


def arrow_dataset_of(shards: Iterable[OpenShard], names: Sequence[str]) -> Any:
    """An Arrow dataset of shards.

    Raises:
        FileFormatError: a column has types in different shards that do not go together.
    """
    pa, dataset = import_pyarrow(), import_pyarrow("pyarrow.dataset")
    files, schemas, tables = [], [], []
    for shard in shards:  # each is closed before the next is opened: there may be more than a process can have open
        if isinstance(shard, _Parquet):
            files.append(str(shard.path))
            schemas.append(shard.schema)
        else:
            tables.append(shard.table())
    if not files:
        return dataset.dataset(joined(tables) if tables else pa.table({name: pa.nulls(0) for name in names}))
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise FileFormatError(f"the shards have columns of different types: {error}", path="") from error
    return dataset.dataset(files, schema=schema, format=dataset.ParquetFileFormat(page_checksum_verification=True))


class _Flat:
    """A run of ids, and where each row starts in it; masks and type ids in runs that start in the same places."""

    def __init__(self, paths: Sequence[Path], suffix: str, lists: Sequence[str]) -> None:
        ids, index, *others = paths
        header = NPY_HEADER if suffix == ".npy" else 0
        self._starts = _mapped(index, header).cast("q")
        self._runs = {IDS: _mapped(ids, header).cast("i")}
        self._kept: _Parquet | None = None
        for path in others:
            name = path.name.removesuffix(suffix).rpartition(".")[2]
            if path.name.endswith(KEPT):
                self._kept = _Parquet(path)
            elif name in lists:
                self._runs[name] = _mapped(path, header).cast("b")

    def run(self, name: str, row: int) -> memoryview[int]:
        return self._runs[name][self._starts[row] : self._starts[row + 1]]

    def kept(self, name: str, row: int) -> Any:
        assert self._kept is not None
        return self._kept.kept(name, row)

    def table(self) -> Any:
        pa = import_pyarrow()
        columns = {}
        for name, run in self._runs.items():
            kind = pa.int32() if name == IDS else pa.int8()
            values = pa.Array.from_buffers(kind, len(run), [None, pa.py_buffer(run)])
            starts = [None, pa.py_buffer(self._starts)]
            columns[name] = pa.Array.from_buffers(pa.large_list(kind), len(self._starts) - 1, starts, children=[values])
        table = pa.table(columns)
        if self._kept is not None:
            kept = self._kept.table()
            for field, column in zip(kept.schema, kept.columns, strict=True):
                table = table.append_column(field, column)
        return table


def _mapped(path: Path, header: int) -> memoryview[int]:
    if not path.stat().st_size:
        return memoryview(b"")
    with import_pyarrow().memory_map(str(path)) as file:  # unlike Python's own, it keeps no file open
        return memoryview(file.read_buffer())[header:]


def _read_group(file: Any, path: Path, name: str, group: int) -> Any:
    with _damage_told(path):
        column = file.read_row_group(group, columns=[name]).column(0).combine_chunks()
        check_rows(len(column), file.metadata.row_group(group).num_rows)
    return column.chunk(0) if hasattr(column, "num_chunks") else column


@contextlib.contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Have an error of reading a Parquet file, such as a page unlike its checksum, say which file, and what to do."""
    try:
        yield
    except (import_pyarrow().ArrowException, OSError) as error:
        advice = "; encode-files --resume --verify makes it again"
        raise unreadable_table(str(path), error, advice) from error


class _Parquet:
    """A Parquet file, of which the row groups used last are held."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open_parquet(str(path))
        metadata = self._file.metadata
        self.schema = self._file.schema_arrow.remove_metadata()
        self._ends = list(accumulate(metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)))
        # Not a method of this object: in a circle of references it would keep its file open until these are collected.
        self._group = lru_cache(_ROW_GROUPS * len(self.schema))(partial(_read_group, self._file, path))

    def _value(self, name: str, row: int) -> Any:
        group = bisect_right(self._ends, row)
        return self._group(name, group)[row - (self._ends[group - 1] if group else 0)]

    def run(self, name: str, row: int) -> memoryview[int]:
        values = self._value(name, row).values
        data = memoryview(values.buffers()[1] or b"").cast("B")
        run = data.cast("i") if name == IDS else data.cast("b")
        return run[values.offset : values.offset + len(values)]

    def kept(self, name: str, row: int) -> Any:
        return self._value(name, row).as_py()

    def table(self) -> Any:
        with _damage_told(self.path):
            table = self._file.read()
            check_rows(len(table), self._file.metadata.num_rows)
            return table
