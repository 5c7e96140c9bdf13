"""How a file is cut into shards: it depends on what the file holds, not on other files, processes or earlier runs.

In: a file and the size of a shard. Out: its stretches in order, each of which can be read by itself and makes a shard.

A text file is cut at the first line that ends at or after each multiple of the size; a Parquet file between row groups,
once they hold that much text. A compressed text file, and a row group that is much larger than a shard, can be read
from their start only, so that is done here, once: the lines or rows of a stretch are written to a temporary file, which
is removed after the shard.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.shard_files import check_text_type
from trietok.disk import naming
from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.elsewhere import open_bytes
from trietok.files.texts import TextFile, decompressed, import_pyarrow, open_parquet

# Rows of Parquet files, batch by batch; and the rows of a large row group in files of their own.
#
# In: an open Parquet file. Out: batches of about the same size. A row group can only be read from its start, so one
# that is larger than a shard is read once, and its rows are written to temporary Arrow files, a shard each.


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


_BLOCK = 1 << 20  # bytes
_LARGE = 2  # times the size of a shard: row groups of more text are cut


class Stretch(NamedTuple):
    """Rows of a file that follow one another.

    Attributes:
        file: the file that holds the rows.
        path: the file they are read from: `file`, or a temporary file with these lines or rows alone.
        start, end: for lines, in bytes of `path`.
        first_row: rows of the file before them; None where those are still to be counted.
        row_groups: for Parquet.
        text_bytes: how much text it is, about.
        weight: its part of the file's size in bytes, for the progress display.
    """

    file: TextFile
    path: str
    start: int
    end: int
    first_row: int | None
    row_groups: tuple[int, ...]
    text_bytes: int
    weight: int

    def forget_spool(self) -> None:
        """Remove the file with its lines or rows alone, where there is one."""
        if self.path != self.file.name:
            Path(self.path).unlink(missing_ok=True)


class Shard(NamedTuple):
    """The texts of one file of the result.

    Attributes:
        number: in the order of this run, from 0.
        key: names the content of the file, and which of its shards this is; see `text_inputs.Source`.
        sha256: of the file.
        stretch: the texts.
    """

    number: int
    key: str
    sha256: str
    stretch: Stretch


def stretches_of(
    file: TextFile, column: str, shard_bytes: int, spools: Iterator[Path], keep: tuple[str, ...] = ()
) -> Iterator[Stretch]:
    """The stretches of a file.

    Args:
        file: with texts.
        column: the column of a Parquet file that holds them.
        shard_bytes: about how much text a stretch has.
        spools: paths for the lines of compressed files, and for the rows of large row groups.
        keep: other columns of a Parquet file that are read.

    Raises:
        FileError, FileFormatError: the file cannot be read.
        InputError: a Parquet file has no such column, or it holds no text.
    """
    if file.kind == "parquet":
        return _of_parquet(file, column, shard_bytes, spools, keep)
    return _of_lines(file, shard_bytes) if file.compression is None else _of_compressed(file, shard_bytes, spools)


def check_column(file: TextFile, column: str, keep: tuple[str, ...] = ()) -> None:
    """See that a file has the column with the texts and those to keep, as far as its schema tells.

    Raises:
        FileError, FileFormatError: the file cannot be read.
        InputError: it has no such column, or it holds no text.
    """
    if keep and file.kind == "txt":
        raise InputError(f"{file.name} holds lines of text, which have no columns to keep; .jsonl and .parquet have")
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
        rest = b""
        while True:
            path = next(spools)
            lines, held, rest = _write_lines(blocks, rest, most, path)
            if not held:
                path.unlink()
                return
            here = raw.tell()
            yield Stretch(file, str(path), 0, held, row, (), held, here - read_before)
            row, read_before = row + lines, here


def _write_lines(blocks: Iterator[bytes], rest: bytes, most: int, path: Path) -> tuple[int, int, bytes]:
    """Take the lines of one stretch off the blocks.

    Args:
        blocks: what follows `rest`.
        rest: of the block that ended the stretch before.
        path: where the lines go.

    Returns:
        How many line feeds there were, how many bytes, and what is left of the last block.
    """
    feeds = held = 0
    with naming(path), open(path, "wb") as lines:
        block = rest or next(blocks, b"")
        while block:
            at = block.find(b"\n", max(most - 1 - held, 0))
            part = block if at < 0 else block[: at + 1]
            lines.write(part)
            feeds += part.count(b"\n")
            held += len(part)
            if at >= 0:
                return feeds, held, block[at + 1 :]
            block = next(blocks, b"")
    return feeds, held, b""


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
                for spool in write_spools(_batches_of(file, table, group, names), column, most, spools):
                    yield stretch(str(spool.path), spool.rows, spool.text_bytes, ())
                    first_row += spool.rows
            else:
                groups.append(group)
                rows += metadata.row_group(group).num_rows
                held += size
        if rows:
            yield stretch(file.name, rows, held, groups)


def _batches_of(file: TextFile, table: Any, group: int, names: list[str]) -> Iterator[Any]:
    try:
        yield from read_batches(table, [group], names)
    except (import_pyarrow().ArrowException, OSError) as error:
        raise unreadable_table(file.name, error) from error


def unreadable_table(name: str, error: Exception, advice: str = "") -> FileFormatError:
    """The error for a Parquet file that is damaged behind its schema."""
    reason = "; ".join(line.rstrip(".") for line in str(error).splitlines() if line.strip("."))
    return FileFormatError(f"{name} cannot be read: {reason}{advice}", path=name)


def _leaf_of(table: Any, file: TextFile, column: str) -> int:
    """The number of a Parquet file's column, which has to hold texts."""
    _check_name(table, file, column)
    kind = table.schema_arrow.field(column).type
    try:
        check_text_type(kind, column)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None
    leaves = [table.schema.column(number).path for number in range(len(table.schema))]
    return leaves.index(column)


def _check_name(table: Any, file: TextFile, column: str) -> None:
    names = table.schema_arrow.names
    if names.count(column) != 1:
        raise InputError(f"{file.name} has no column {column!r}; it has {', '.join(map(repr, names))}")


def _opened(file: TextFile) -> BinaryIO:
    try:
        return open_bytes(file.name)
    except OSError as error:
        raise FileError(f"cannot read {file.name}: {error.strerror}", path=file.name) from error
