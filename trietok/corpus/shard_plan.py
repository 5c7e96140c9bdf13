"""How a file is cut into shards: it depends on what the file holds, not on other files, processes or earlier runs.

In: a file and the size of a shard. Out: its stretches in order, each of which can be read by itself and makes a shard.

A text file is cut at the first line that ends at or after each multiple of the size; a Parquet file between row groups,
once they hold that much text. A compressed text file, and a row group that is much larger than a shard, can be read
from their start only, so that is done here, once: the lines or rows of a stretch are written to a temporary file (a
spool), which is removed after the shard.
"""

from __future__ import annotations

import contextlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.row_encoder import large_strings
from trietok.corpus.shard_files import check_text_type
from trietok.disk import naming
from trietok.errors import FileError, FileFormatError, InputError, as_file_error
from trietok.files.elsewhere import open_bytes
from trietok.files.texts import TABLES, TextFile, column_of, decompressed, import_pyarrow, open_parquet, type_of_column

_BATCH_BYTES = 1 << 20
_MOST_ROWS, _LEAST_ROWS = 8192, 16  # of a batch
_BLOCK = 1 << 20  # bytes
_LARGE = 2  # times the size of a shard: row groups of more text are cut


def read_batches(file: TextFile, table: Any, row_groups: Sequence[int], names: list[str]) -> Iterator[Any]:
    """The rows of row groups of a Parquet file, in batches of about the same size."""
    rows = 0
    with damage_told(file.name):
        size = _rows_of_batch(table, row_groups, names)
        for batch in table.iter_batches(size, row_groups, columns=names, use_threads=False):
            rows += len(batch)
            yield batch
        check_rows(rows, sum(table.metadata.row_group(group).num_rows for group in row_groups))


def check_rows(read: int, wanted: int) -> None:
    """Raise an OSError where fewer rows, or more, were read: the checksum of a page does not cover its header."""
    if read != wanted:
        raise OSError(f"it has {wanted:,} rows there, and {read:,} could be read")


def _rows_of_batch(table: Any, row_groups: Sequence[int], names: list[str]) -> int:
    """How many rows make a batch of about the same size, whatever the length of the texts."""
    rows = size = 0
    leaves = _leaves(table)
    numbers = [number for number, leaf in enumerate(leaves) if leaf in names or leaf.split(".")[0] in names]
    for group in row_groups:
        metadata = table.metadata.row_group(group)
        rows += metadata.num_rows
        size += sum(metadata.column(number).total_uncompressed_size for number in numbers)
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BATCH_BYTES * rows // max(size, 1)))


def _write_spools(
    batches: Iterator[Any], column: str, most: int, paths: Iterator[Path]
) -> Iterator[tuple[Path, int, int]]:
    """Cut rows behind each one with which `most` bytes of text are reached, and write each part to an Arrow file.

    Yields the path of each, how many rows it has, and how many bytes of text.
    """
    compute, ipc = import_pyarrow("pyarrow.compute"), import_pyarrow("pyarrow.ipc")
    batches = filter(len, batches)
    rest: Any = None  # of a batch that was cut
    while rest := rest or next(batches, None):
        path, rows, held = next(paths), 0, 0
        try:
            with naming(path), open(path, "wb") as file, ipc.new_file(file, rest.schema) as writer:
                while held < most and (rest := rest or next(batches, None)):
                    lengths = compute.binary_length(large_strings(column_of(rest, column)))
                    sizes = compute.add(lengths.fill_null(0), 1)  # one for the end of a text, as a line feed is one
                    ends = list(accumulate(sizes.to_pylist()))
                    end = min(bisect_left(ends, most - held) + 1, len(ends))
                    writer.write_batch(rest.slice(0, end))
                    rows, held, rest = rows + end, held + ends[end - 1], rest.slice(end)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        yield path, rows, held


def read_spool(path: str) -> Iterator[Any]:
    """The batches of a file with rows of a large row group."""
    with import_pyarrow().memory_map(path) as file:
        reader = import_pyarrow("pyarrow.ipc").open_file(file)
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


class Stretch(NamedTuple):
    """Rows of a file that follow one another."""

    file: TextFile  # holds the rows
    path: str  # the file they are read from: `file`, or a temporary file with these lines or rows alone
    start: int  # for lines, in bytes of `path`
    end: int
    first_row: int | None  # rows of the file before them; None where those are still to be counted
    row_groups: tuple[int, ...]  # for Parquet
    text_bytes: int  # how much text it is, about
    weight: int  # its part of the file's size in bytes, for the progress display

    def forget_spool(self) -> None:
        """Remove the file with its lines or rows alone, where there is one."""
        if self.path != self.file.name:
            Path(self.path).unlink(missing_ok=True)


class Shard(NamedTuple):
    """The texts of one file of the result."""

    number: int  # in the order of this run, from 0
    key: str  # names the content of the file, and which of its shards this is; see `text_inputs.Source`
    sha256: str  # of the file
    stretch: Stretch


def stretches_of(
    file: TextFile, column: str, shard_bytes: int, spools: Iterator[Path], keep: tuple[str, ...] = ()
) -> Iterator[Stretch]:
    """The stretches of a file, each with about so much text.

    `spools` are paths for the lines of compressed files, and for the rows of large row groups.
    """
    if file.kind == "parquet":
        return _of_parquet(file, column, shard_bytes, spools, keep)
    if file.kind in TABLES:  # a line end may be within a value, so it is one stretch
        return iter([Stretch(file, file.name, 0, file.size, 0, (), file.size, file.size)])
    return _of_lines(file, shard_bytes) if file.compression is None else _of_compressed(file, shard_bytes, spools)


def check_column(file: TextFile, column: str, keep: tuple[str, ...] = ()) -> None:
    """See that a file has the column with the texts and those to keep, as far as its schema tells."""
    if keep and file.kind == "txt":
        raise InputError(
            f"{file.name} holds lines of text, which have no columns to keep; .jsonl, .csv and .parquet have"
        )
    if file.kind == "parquet":
        with open_parquet(file.name) as table:
            _leaf_of(table, file, column)
            for name in keep:
                _check_name(table, file, name)


def _of_lines(file: TextFile, most: int) -> Iterator[Stretch]:
    start = 0
    with _opened(file) as lines:
        while start < file.size:
            end = end_of_line(lines, start + most - 1, file.size)
            size = end - start
            yield Stretch(file, file.name, start, end, 0 if start == 0 else None, (), size, size)
            start = end


def end_of_line(lines: BinaryIO, position: int, size: int) -> int:
    """The end of the line that the byte at `position` is in, its line feed included."""
    if position >= size:
        return size
    lines.seek(position)
    while block := lines.read(_BLOCK):
        at = block.find(b"\n")
        if at >= 0:
            return position + at + 1
        position += len(block)
    return size


def _of_compressed(file: TextFile, most: int, spools: Iterator[Path]) -> Iterator[Stretch]:
    row = read_before = 0
    with _opened(file) as raw:
        blocks = decompressed(raw, file)
        rest = b""  # of the last block
        while rest := rest or next(blocks, b""):
            path, feeds, held, is_full = next(spools), 0, 0, False
            with naming(path), open(path, "wb") as lines:
                while not is_full and (rest := rest or next(blocks, b"")):
                    end = rest.find(b"\n", max(most - 1 - held, 0)) + 1
                    part, rest, is_full = rest[: end or None], rest[end:] if end else b"", end > 0
                    lines.write(part)
                    feeds += part.count(b"\n")
                    held += len(part)
            here = raw.tell()
            yield Stretch(file, str(path), 0, held, row, (), held, here - read_before)
            row, read_before = row + feeds, here


def _of_parquet(
    file: TextFile, column: str, most: int, spools: Iterator[Path], keep: tuple[str, ...]
) -> Iterator[Stretch]:
    with open_parquet(file.name) as table:
        index = _leaf_of(table, file, column)
        metadata = table.metadata
        names = list(dict.fromkeys([column, *keep]))
        first_row = rows = held = 0
        groups: list[int] = []

        def stretch(path: str, rows: int, held: int, groups: Sequence[int]) -> Stretch:
            weight = file.size * rows // max(metadata.num_rows, 1)
            return Stretch(file, path, 0, 0, first_row, tuple(groups), held, weight)

        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).column(index).total_uncompressed_size
            is_large = size > _LARGE * most and metadata.row_group(group).num_rows > 1
            if rows and (held >= most or is_large):
                yield stretch(file.name, rows, held, groups)
                first_row, rows, held, groups = first_row + rows, 0, 0, []
            if is_large:
                batches = read_batches(file, table, [group], names)
                for path, written, size in _write_spools(batches, column, most, spools):
                    yield stretch(str(path), written, size, ())
                    first_row += written
            else:
                groups.append(group)
                rows += metadata.row_group(group).num_rows
                held += size
        if rows:
            yield stretch(file.name, rows, held, groups)


@contextlib.contextmanager
def damage_told(name: str, advice: str = "") -> Iterator[None]:
    """Have an error of reading a Parquet file, which is damaged behind its schema, say which file it is."""
    try:
        yield
    except (import_pyarrow().ArrowException, OSError) as error:
        if isinstance(error, FileError):  # it says so
            raise
        reason = "; ".join(line.rstrip(".") for line in str(error).splitlines() if line.strip("."))
        raise FileFormatError(f"{name} cannot be read: {reason}{advice}", path=name) from error


def _leaf_of(table: Any, file: TextFile, column: str) -> int:
    """The number of a Parquet file's column, which has to hold texts."""
    kind = type_of_column(table.schema_arrow, column)
    if kind is None:
        _check_name(table, file, column)
    try:
        check_text_type(kind, column)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None
    return _leaves(table).index(column)


def _leaves(table: Any) -> list[str]:
    return [table.schema.column(number).path for number in range(len(table.schema))]


def _check_name(table: Any, file: TextFile, column: str) -> None:
    names = table.schema_arrow.names
    if names.count(column) != 1:
        raise InputError(f"{file.name} has no column {column!r}; it has {', '.join(map(repr, names))}")


def _opened(file: TextFile) -> BinaryIO:
    with as_file_error(f"cannot read {file.name}", file.name):
        return open_bytes(file.name)
