"""Rows of Parquet files, batch by batch; and the rows of a large row group in files of their own.

In: an open Parquet file. Out: batches of about the same size. A row group can only be read from its start, so one that
is larger than a shard is read once, and its rows are written to temporary Arrow files, a shard each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from trietok.files.text_rows import import_pyarrow
from trietok.files.whole import naming

_BATCH_BYTES = 1 << 20
_MOST_ROWS, _LEAST_ROWS = 8192, 16


class Spool(NamedTuple):
    """Rows in a file of their own.

    Attributes:
        path: of the file.
        rows: how many.
        text_bytes: of their texts.
    """

    path: Path
    rows: int
    text_bytes: int


def read_batches(table: Any, row_groups: Sequence[int], names: list[str]) -> Iterator[Any]:
    """The rows of row groups.

    Args:
        table: a ParquetFile.
        row_groups: their numbers.
        names: the columns to read.

    Raises:
        OSError, pyarrow.ArrowException: from the iterator, where the file is damaged.
    """
    size = _rows_of_batch(table, row_groups, names)
    rows = 0
    for batch in table.iter_batches(size, row_groups, columns=names, use_threads=False):
        rows += len(batch)
        yield batch
    check_rows(rows, sum(table.metadata.row_group(group).num_rows for group in row_groups))


def check_rows(read: int, wanted: int) -> None:
    """Raise where fewer rows were read than there should be: the checksum of a page does not cover its header.

    Raises:
        OSError: there were fewer, or more.
    """
    if read != wanted:
        raise OSError(f"it has {wanted:,} rows there, and {read:,} could be read")


def _rows_of_batch(table: Any, row_groups: Sequence[int], names: list[str]) -> int:
    """How many rows make a batch of about the same size, whatever the length of the texts."""
    rows = size = 0
    leaves = [table.schema.column(number).path for number in range(len(table.schema))]
    numbers = [number for number, leaf in enumerate(leaves) if leaf in names or leaf.split(".")[0] in names]
    for group in row_groups:
        metadata = table.metadata.row_group(group)
        rows += metadata.num_rows
        size += sum(metadata.column(number).total_uncompressed_size for number in numbers)
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BATCH_BYTES * rows // max(size, 1)))


def write_spools(batches: Iterator[Any], column: str, most: int, paths: Iterator[Path]) -> Iterator[Spool]:
    """Cut rows behind each one with which so much text is reached, and write each part to a file.

    Args:
        batches: the rows.
        column: the texts.
        most: bytes of text in a part, about.
        paths: of the files.
    """
    part: _Part | None = None
    try:
        for batch in batches:
            start = 0
            ends = list(accumulate(_sizes(batch.column(batch.schema.get_field_index(column)))))
            while start < len(ends):
                part = part or _Part(next(paths), batch.schema)
                before = ends[start - 1] if start else 0
                end = min(bisect_left(ends, before + most - part.text_bytes, start) + 1, len(ends))
                part.write(batch.slice(start, end - start), ends[end - 1] - before)
                start = end
                if part.text_bytes >= most:
                    spool, part = part.close(), None
                    yield spool
        if part is not None:
            spool, part = part.close(), None
            yield spool
    finally:
        if part is not None:
            part.remove()


class _Part:
    def __init__(self, path: Path, schema: Any) -> None:
        self._path = path
        self.text_bytes = self._rows = 0
        with naming(path):
            self._file = open(path, "wb")  # noqa: SIM115 - closed by close and remove
            self._writer = import_pyarrow("pyarrow.ipc").new_file(self._file, schema)

    def write(self, batch: Any, size: int) -> None:
        with naming(self._path):
            self._writer.write_batch(batch)
        self.text_bytes += size
        self._rows += len(batch)

    def close(self) -> Spool:
        try:
            with naming(self._path):
                self._writer.close()
                self._file.close()
        except BaseException:
            self.remove()
            raise
        return Spool(self._path, self._rows, self.text_bytes)

    def remove(self) -> None:
        try:
            self._file.close()
        except OSError:  # the disk is full: what it still holds has no room
            pass
        finally:
            self._path.unlink(missing_ok=True)


def _sizes(texts: Any) -> list[int]:
    """The bytes of each text, and one for its end, as a line feed is one."""
    compute, pa = import_pyarrow("pyarrow.compute"), import_pyarrow()
    lengths = compute.binary_length(texts.cast(pa.large_string()))
    sizes: list[int] = compute.add(lengths.fill_null(0), 1).to_pylist()
    return sizes


def read_spool(path: str) -> Iterator[Any]:
    """The batches of a file that `write_spools` has written."""
    with import_pyarrow().memory_map(path) as file:
        reader = import_pyarrow("pyarrow.ipc").open_file(file)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)
