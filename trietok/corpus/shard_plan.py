"""How a corpus is cut into shards: it depends on the files only, not on the processes or on how often a run is resumed.

In: files and the size of a shard. Out: `Shard`s in order, each of stretches of files that can be read by themselves.

A text file is cut at the first line that ends at or after each multiple of the size; a Parquet file between row groups,
once they hold that much text. Small files share a shard. A compressed text file can be read from its start only, so
that is done here, once: the lines of a stretch are written to a temporary file, which is removed after the shard.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.arrow_columns import check_text_type
from trietok.errors import FileError, InputError
from trietok.files.compressed import decompressed
from trietok.files.text_rows import TextFile, open_parquet
from trietok.files.whole import naming

_BLOCK = 1 << 20  # bytes


class Stretch(NamedTuple):
    """Rows of a file that follow one another.

    Attributes:
        file: the file that holds the rows.
        path: the file they are read from: `file`, or a temporary file with these lines alone.
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
        """Remove the file with its lines alone, where there is one."""
        if self.path != self.file.name:
            Path(self.path).unlink(missing_ok=True)


class Shard(NamedTuple):
    """The texts of one file of the result.

    Attributes:
        number: from 0.
        stretches: in order.
    """

    number: int
    stretches: tuple[Stretch, ...]

    @property
    def weight(self) -> int:
        """Its part of the files' size in bytes."""
        return sum(stretch.weight for stretch in self.stretches)


def plan_shards(
    files: list[TextFile], column: str, shard_bytes: int, finished: Collection[int], spool: Callable[[int], Path]
) -> Iterator[Shard]:
    """The shards of all files.

    Args:
        files: in the order of the result.
        column: the column of Parquet files that holds the texts.
        shard_bytes: about how much text a shard has.
        finished: numbers of shards that are not read any more.
        spool: a path for the lines of a stretch, by a number.

    Raises:
        FileError, FileFormatError: a file cannot be read.
        InputError: a Parquet file has no such column, or it holds no text.
    """
    number = held = 0
    spools = map(spool, itertools.count())
    stretches: list[Stretch] = []
    for file in files:
        for stretch in _stretches(file, column, shard_bytes, spools):
            if stretches and held + stretch.text_bytes > shard_bytes:
                yield Shard(number, tuple(stretches))
                number, held, stretches = number + 1, 0, []
            held += stretch.text_bytes
            stretches.append(stretch)
            if number in finished:
                stretch.forget_spool()
    if stretches:
        yield Shard(number, tuple(stretches))


def _stretches(file: TextFile, column: str, most: int, spools: Iterator[Path]) -> Iterator[Stretch]:
    if file.kind == "parquet":
        return _of_parquet(file, column, most)
    return _of_lines(file, most) if file.compression is None else _of_compressed(file, most, spools)


def check_columns(files: list[TextFile], column: str) -> None:
    """Check that all Parquet files have a column of texts.

    Raises:
        FileError, FileFormatError: a file cannot be read.
        InputError: one has no such column, or it holds no text.
    """
    for file in files:
        if file.kind == "parquet":
            with open_parquet(file.name) as table:
                _leaf_of(table, file, column)


def _of_lines(file: TextFile, most: int) -> Iterator[Stretch]:
    start = 0
    with _opened(file) as lines:
        while start < file.size:
            end = _end_of_line(lines, start + most - 1, file.size)
            size = end - start
            yield Stretch(file, file.name, start, end, 0 if start == 0 else None, (), size, size)
            start = end


def _end_of_line(lines: BinaryIO, position: int, size: int) -> int:
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


def _of_parquet(file: TextFile, column: str, most: int) -> Iterator[Stretch]:
    with open_parquet(file.name) as table:
        index = _leaf_of(table, file, column)
        metadata = table.metadata
        first_row = rows = held = 0
        groups: list[int] = []
        for group in range(metadata.num_row_groups):
            groups.append(group)
            rows += metadata.row_group(group).num_rows
            held += metadata.row_group(group).column(index).total_uncompressed_size
            if rows and (held >= most or group == metadata.num_row_groups - 1):
                weight = file.size * rows // max(metadata.num_rows, 1)
                yield Stretch(file, file.name, 0, 0, first_row, tuple(groups), held, weight)
                first_row, rows, held, groups = first_row + rows, 0, 0, []


def _leaf_of(table: Any, file: TextFile, column: str) -> int:
    """The number of a Parquet file's column, which has to hold texts."""
    schema = table.schema_arrow
    if schema.names.count(column) != 1:
        raise InputError(f"{file.name} has no column {column!r}; it has {', '.join(map(repr, schema.names))}")
    kind = schema.field(column).type
    try:
        check_text_type(kind, column)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None
    leaves = [table.schema.column(number).path for number in range(len(table.schema))]
    return leaves.index(column)


def _opened(file: TextFile) -> BinaryIO:
    try:
        return open(file.name, "rb")
    except OSError as error:
        raise FileError(f"cannot read {file.name}: {error.strerror}", path=file.name) from error


def first_difference(name: str, was: Any, now: Any) -> tuple[str, str, str]:
    """Where two plans of a run differ, for the user to read.

    Args:
        name: of a part of the plan.
        was, now: that part in the one and in the other.

    Returns:
        What differs, and what it is in each.

    >>> first_difference("options", {"pack": None, "call": {}}, {"pack": None, "call": {"max_length": "8"}})
    ('options call', 'nothing', 'max_length=8')
    """
    if isinstance(was, dict) and isinstance(now, dict):
        key = next(key for key in [*now, *was] if now.get(key) != was.get(key))
        return f"{name} {key}", _plain(was.get(key)), _plain(now.get(key))
    if isinstance(was, list) and isinstance(now, list):
        for one, other in zip(was, now, strict=False):
            if one != other:
                return name, _plain(one), _plain(other)
        return name, f"{len(was)} files", f"{len(now)} files"
    return name, _plain(was), _plain(now)


def _plain(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    if "mtime_ns" in value:
        changed = datetime.fromtimestamp(value["mtime_ns"] / 1e9).isoformat(" ", "microseconds")
        return f"{value['name']} ({value['size']} bytes, changed {changed})"
    return ", ".join(f"{name}={one}" for name, one in value.items()) or "nothing"
