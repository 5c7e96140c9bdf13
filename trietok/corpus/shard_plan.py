"""How a file is cut into shards: it depends on what the file holds, not on other files, processes or earlier runs.

In: a file and the size of a shard. Out: its stretches in order, each of which can be read by itself and makes a shard.

A text file is cut at the first line that ends at or after each multiple of the size; a Parquet file between row groups,
once they hold that much text. A compressed text file, and a row group that is much larger than a shard, can be read
from their start only, so that is done here, once: the lines or rows of a stretch are written to a temporary file, which
is removed after the shard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.arrow_columns import check_text_type
from trietok.corpus.parquet_rows import read_batches, write_spools
from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.compressed import decompressed
from trietok.files.elsewhere import open_bytes
from trietok.files.text_rows import TextFile, import_pyarrow, open_parquet
from trietok.files.whole import naming

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
