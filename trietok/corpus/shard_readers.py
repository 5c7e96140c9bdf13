"""The files of a shard, to be read: flat ones are mapped into memory; of Parquet the row groups
read last are held.
"""

from __future__ import annotations

import operator
import os
import struct
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from trietok.corpus.row_encoder import COLUMNS, IDS
from trietok.corpus.shard_files import GROUP_BYTES, KEPT, MEGATRON_MAGIC, NPY_HEADER, beside
from trietok.corpus.shard_plan import check_rows, damage_told
from trietok.errors import as_file_error
from trietok.files.stores import is_elsewhere, open_bytes
from trietok.files.tables import import_pyarrow, open_parquet
from trietok.forks import ForkableLock

_HELD_BYTES = 1 << 26  # of row groups of Parquet files, in a corpus
# of the rows that are mixed in an order for training: they are held meanwhile
MIXED_BYTES = _HELD_BYTES // 2
_MADE_AGAIN = "; encode-files --resume --verify makes it again"


class Held:
    """The columns of row groups that were read last, within `_HELD_BYTES`."""

    def __init__(self) -> None:
        self._columns: dict[tuple[str, str, int], tuple[Any, int]] = {}  # with the bytes of each
        self._bytes = 0
        self._lock = ForkableLock()

    def column(
        self, path: str, name: str, group: int, read: Callable[[str, int], tuple[Any, int]]
    ) -> Any:
        """A column of a row group; it is read where it is not held."""
        key = path, name, group
        found = self._columns.get(key)
        if found is None:
            found = read(name, group)
            with self._lock.held():
                if key not in self._columns:  # nor has another thread read it meanwhile
                    self._columns[key] = found
                    self._bytes += found[1]
                while self._bytes > _HELD_BYTES and len(self._columns) > 1:
                    self._bytes -= self._columns.pop(next(iter(self._columns)))[1]
        return found[0]


class FlatReader:
    """A run of ids, and where each row starts in it and in the runs of masks and type ids."""

    def __init__(self, paths: Sequence[str], suffix: str, lists: Sequence[str], held: Held) -> None:
        ids, index, *others = paths
        header, is_megatron = NPY_HEADER if suffix == ".npy" else 0, index.endswith(".idx")
        self._starts = _megatron_starts(index) if is_megatron else _mapped(index, header).cast("q")
        self._runs = {IDS: _mapped(ids, header).cast("i")}
        self._kept: ParquetReader | None = None
        for path in others:
            name = path.removesuffix(suffix).rpartition(".")[2]
            if path.endswith(KEPT):
                self._kept = ParquetReader(path, held)
            elif name in lists:
                self._runs[name] = _mapped(path, header).cast("b")

    def run(self, name: str, row: int) -> memoryview[int]:
        """The ids of a row, int32; or its mask or type ids, int8."""
        return self._runs[name][self._starts[row] : self._starts[row + 1]]

    def lengths(self, start: int, end: int) -> list[int]:
        """How many ids the rows have from one to before another."""
        starts = self._starts[start : end + 1].tolist()
        return list(map(operator.sub, starts[1:], starts))

    def kept(self, name: str, row: int) -> Any:
        assert self._kept is not None
        return self._kept.kept(name, row)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Where runs of rows end that are as long as a row group, and the bytes of each."""
        rows = len(self._starts) - 1
        step = max(1, rows * GROUP_BYTES // max(self._runs[IDS].nbytes, 1))
        return ((min(start + step, rows), GROUP_BYTES) for start in range(0, rows, step))

    def table(self) -> Any:
        pa = import_pyarrow()
        columns, rows, starts = {}, len(self._starts) - 1, [None, pa.py_buffer(self._starts)]
        for name, run in self._runs.items():
            kind = pa.int32() if name == IDS else pa.int8()
            values = pa.Array.from_buffers(kind, len(run), [None, pa.py_buffer(run)])
            lists = pa.large_list(kind)
            columns[name] = pa.Array.from_buffers(lists, rows, starts, children=[values])
        table = pa.table(columns)
        return table if self._kept is None else beside(table, self._kept.table())


def _megatron_starts(path: str) -> memoryview[int]:
    """Where each row starts, and the end of the last, by the lengths in an index of Megatron-LM."""
    index = _mapped(path, 0)
    head = len(MEGATRON_MAGIC)
    rows = struct.unpack_from("<QBQ", index, head)[2]
    lengths = index[head + 25 : head + 25 + 4 * rows].cast("i")
    return memoryview(array("q", accumulate(lengths, initial=0)))


class MdsReader(FlatReader):
    """The rows of a file of MosaicML Streaming: all columns of a row follow one another."""

    def __init__(self, path: str, lists: Sequence[str]) -> None:
        self._all = _mapped(path, 0)
        rows = struct.unpack_from("<I", self._all)[0]
        self._offsets = self._all[4 : 4 * (rows + 2)].cast("I")
        self._names, self._lists = sorted(lists), lists
        self._runs, self._kept = {}, None

    def run(self, name: str, row: int) -> memoryview[int]:
        at, place = self._offsets[row], self._names.index(name)
        sizes = struct.unpack_from(f"<{len(self._names)}I", self._all, at)
        at += 4 * len(sizes) + sum(sizes[:place])
        values = self._all[at + 1 + (1 << (self._all[at] & 3)) : at + sizes[place]]
        return values.cast("i" if name == IDS else "b")

    def lengths(self, start: int, end: int) -> list[int]:
        return [len(self.run(IDS, row)) for row in range(start, end)]

    def blocks(self) -> Iterator[tuple[int, int]]:
        rows = len(self._offsets) - 1
        step = max(1, rows * GROUP_BYTES // max(len(self._all), 1))
        return ((min(start + step, rows), GROUP_BYTES) for start in range(0, rows, step))

    def table(self) -> Any:
        rows = range(len(self._offsets) - 1)
        self._starts = memoryview(array("q", accumulate(self.lengths(0, len(rows)), initial=0)))
        for name in self._lists:
            run = memoryview(b"".join(self.run(name, row) for row in rows))
            self._runs[name] = run.cast("i" if name == IDS else "b")
        return super().table()


def _mapped(path: str, header: int) -> memoryview[int]:
    if is_elsewhere(path):
        with as_file_error(f"cannot read {path}", path), open_bytes(path) as remote:
            return memoryview(remote.read())[header:]
    if not os.path.getsize(path):
        return memoryview(b"")
    with import_pyarrow().memory_map(path) as file:  # unlike Python's own, it keeps no file open
        return memoryview(file.read_buffer())[header:]


def _read_columns(
    file: Any, path: str, groups: Sequence[int], names: Sequence[str] | None = None
) -> Any:
    """Columns of row groups of a Parquet file; an error where a damaged page cuts them short."""
    compute = import_pyarrow("pyarrow.compute")
    with damage_told(path, _MADE_AGAIN):
        table = file.read_row_groups(groups, columns=names, use_threads=len(groups) > 1)
        metadata = [file.metadata.row_group(group) for group in groups]
        check_rows(len(table), sum(group.num_rows for group in metadata))
        chunks = [group.column(number) for group in metadata for number in range(group.num_columns)]
        for name, column in zip(table.column_names, table.columns, strict=True):
            begin = f"{name}.list."
            items = [chunk.num_values for chunk in chunks if chunk.path_in_schema.startswith(begin)]
            # it is of lists of numbers
            if items and not import_pyarrow().types.is_nested(column.type.value_type):
                lengths = compute.list_value_length(column).to_pylist()
                # A list without items counts as one, as in the file.
                read = sum(filter(None, lengths)) + lengths.count(0) + lengths.count(None)
                if read != sum(items):
                    told = f"its lists have {sum(items):,} items there"
                    raise OSError(f"{told}, and {read:,} could be read")
    return table


class ParquetReader:
    """A Parquet file, of which the row groups used last are held."""

    def __init__(self, path: str, held: Held) -> None:
        self.path = path
        self._file = open_parquet(path)
        self._held = held
        metadata = self._file.metadata
        self.schema = self._file.schema_arrow.remove_metadata()
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self._ends = list(accumulate(group.num_rows for group in groups))
        self._sizes = [group.total_byte_size for group in groups]

    def blocks(self) -> Iterator[tuple[int, int]]:
        """Where each row group ends, and how many bytes it has."""
        return zip(self._ends, self._sizes, strict=True)

    def _column(self, name: str, row: int) -> tuple[Any, int]:
        """A column of the row group that a row is in, and the number of the row there."""
        group = bisect_right(self._ends, row)
        column = self._held.column(self.path, name, group, self._read_group)
        return column, row - (self._ends[group - 1] if group else 0)

    def _read_group(self, name: str, group: int) -> tuple[Any, int]:
        """A column and its bytes; of lists of numbers, where each starts, and all numbers."""
        column = _read_columns(self._file, self.path, [group], [name]).column(0).combine_chunks()
        column = column.chunk(0) if hasattr(column, "num_chunks") else column
        if name not in COLUMNS:
            return column, column.nbytes
        starts = _numbers(column.offsets, "i")
        numbers = _numbers(column.values, "i" if name == IDS else "b")
        return (starts, numbers), starts.nbytes + numbers.nbytes

    def run(self, name: str, row: int) -> memoryview[int]:
        (starts, numbers), at = self._column(name, row)
        return numbers[starts[at] : starts[at + 1]]  # type: ignore[no-any-return]

    def lengths(self, start: int, end: int) -> list[int]:
        """How many ids the rows have from one to before another, which are in one row group."""
        (starts, _), at = self._column(IDS, start)
        some = starts[at : at + end - start + 1].tolist()
        return list(map(operator.sub, some[1:], some))

    def kept(self, name: str, row: int) -> Any:
        column, at = self._column(name, row)
        return column[at].as_py()

    def table(self) -> Any:
        return _read_columns(self._file, self.path, range(self._file.metadata.num_row_groups))


def _numbers(values: Any, kind: str) -> memoryview[int]:
    """The numbers of an Arrow array without nulls, where they are."""
    data: Any = memoryview(values.buffers()[1] or b"")
    numbers: memoryview[int] = data.cast("B").cast(kind)
    return numbers[values.offset : values.offset + len(values)]
