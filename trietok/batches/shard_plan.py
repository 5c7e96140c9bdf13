"""How files are cut into shards, by their names and sizes; of a Parquet file larger than a shard by
its footer too.

In: files as a list has them, and the size of a shard. Out: the stretches of each shard; workers
read them.

A file that is larger than a shard makes shards of its own. A text file is cut into equal ranges of
bytes; a line is in the range in which it begins. A Parquet file is cut between row groups, once
they hold that much text, and a row group that is much larger between rows. A packed file is one
stretch. Smaller files follow one another in a shard. Where such a shard ends depends on its size
and on the names around that place, so that the shards of a list with a file more are the same again
a few shards later.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

from trietok.batches.input_files import TextFile
from trietok.batches.shard_files import check_text_type
from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.tables import import_pyarrow, open_parquet, type_of_column
from trietok.files.text_rows import TABLES

_BATCH_BYTES = 1 << 20
_COLUMN_BYTES = 1 << 12  # of a batch, at least about: each column of each takes time of its own
_MOST_ROWS, _LEAST_ROWS = 8192, 16  # of a batch
_LARGE = 2  # times the size of a shard: row groups of more text are cut
_MOST_PARTS = 8  # of a row group: each is read from the start of the group
_UNPACKED = 4  # times its size is about what a packed file holds


def read_batches(
    file: TextFile, table: Any, start: int, end: int | None, names: list[str]
) -> Iterator[Any]:
    """Rows of a Parquet file, from one to before another, in batches of about the same size."""
    metadata, groups, first, last = table.metadata, [], 0, 0
    end = metadata.num_rows if end is None else end
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if last + rows <= start:
            first += rows
        elif last < end:
            groups.append(group)
        else:
            break
        last += rows
    with damage_told(file.name):
        size = _rows_of_batch(table, groups, names)
        at = first
        for batch in table.iter_batches(size, groups, columns=names, use_threads=False):
            begin, stop = (min(max(place - at, 0), len(batch)) for place in (start, end))
            part = batch.slice(begin, stop - begin)
            at += len(batch)
            if len(part):
                yield part
            if end <= at < last:
                return
        check_rows(at - first, last - first)


def check_rows(read: int, wanted: int) -> None:
    """Raise an OSError for too few or many rows: no checksum covers the header of a page."""
    if read != wanted:
        raise OSError(f"it has {wanted:,} rows there, and {read:,} could be read")


def _rows_of_batch(table: Any, row_groups: Sequence[int], names: list[str]) -> int:
    """How many rows make a batch of about the same size, whatever the length of the texts."""
    rows = size = 0
    wanted = {*names}
    leaves = enumerate(_leaves(table))
    numbers = [number for number, leaf in leaves if {leaf, leaf.split(".")[0]} & wanted]
    for group in row_groups:
        metadata = table.metadata.row_group(group)
        rows += metadata.num_rows
        size += sum(metadata.column(number).total_uncompressed_size for number in numbers)
    most = max(_BATCH_BYTES, _COLUMN_BYTES * len(numbers))
    return max(_LEAST_ROWS, min(_MOST_ROWS, most * rows // max(size, 1)))


class FileStretch(NamedTuple):
    """Rows of a file that follow one another, those that begin from `start` on and before `end`."""

    file: TextFile  # holds the rows
    start: int = 0  # in bytes, of Parquet in rows
    end: int | None = None  # None for all of the file
    weight: int = 0  # its part of the file's size in bytes, for the progress display


class Shard(NamedTuple):
    """The texts of one file of the output."""

    number: int  # in the order of this run, from 0
    key: str  # follows from the stretches
    stretches: tuple[FileStretch, ...]
    known: tuple[str, ...] = ()  # the checksums that its files had when it was made before


def key_of(stretches: Iterable[FileStretch]) -> str:
    """What names a shard: names, sizes and versions of its files, and which stretches it has.

    >>> file = TextFile("a.txt", "txt", None, 9, 17)
    >>> key_of([FileStretch(file)]) == key_of([FileStretch(file)]) != key_of(
    ...     [FileStretch(file._replace(size=10))]
    ... )
    True
    """
    content = [[*stretch.file, stretch.start, stretch.end] for stretch in stretches]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:40]


def planned(
    files: Iterable[TextFile],
    column: str,
    most: int,
    apart: bool,
    set_aside: Callable[[TextFile, FileError | FileFormatError], None],
) -> Iterator[tuple[FileStretch, ...]]:
    """The stretches of each shard, of about `most` bytes of text.

    A shard has rows of one file only where files are kept `apart`, however small they are;
    `set_aside` is told of a file of which the plan cannot be made, and why.
    """
    together: list[FileStretch] = []
    held = 0
    for file in files:
        size = text_bytes_of(file)
        is_large = size >= most or apart
        is_full = 2 * held >= most and (held + size > most or _begins_a_shard(file, size, most))
        if together and (is_large or is_full):
            yield tuple(together)
            together, held = [], 0
        if not is_large:
            together.append(FileStretch(file, weight=file.size))
            held += size
            continue
        try:
            yield from ((stretch,) for stretch in stretches_of(file, column, most))
        except (FileError, FileFormatError) as error:
            set_aside(file, error)
    if together:
        yield tuple(together)


def text_bytes_of(file: TextFile) -> int:
    """About how many bytes of text a file holds."""
    return file.size * (1 if file.compression is None else _UNPACKED)


def _begins_a_shard(file: TextFile, size: int, most: int) -> bool:
    """Whether a half full shard ends before a file: twice in a shard's bytes, on average."""
    name = os.path.basename(file.name).encode("utf-8", "surrogateescape")
    return crc32(name) * most < 2 * size << 32


def stretches_of(file: TextFile, column: str, most: int) -> Iterator[FileStretch]:
    """The stretches of a file, each with about so much text."""
    # A line end may be within a value of a table.
    if file.compression is not None or file.kind in TABLES or file.size <= most:
        yield FileStretch(file, weight=file.size)
    elif file.kind == "parquet":
        yield from _of_parquet(file, column, most)
    else:
        number = max(round(file.size / most), 1)
        ends = [file.size * part // number for part in range(number + 1)]
        yield from (FileStretch(file, start, end, end - start) for start, end in pairwise(ends))


def check_can_be_read(file: TextFile, column: str, keep: tuple[str, ...] = ()) -> None:
    """See that a file can be unpacked, and has the columns, as far as can be seen."""
    if keep and file.kind == "txt":
        told = f"{file.name} holds lines of text, which have no columns to keep"
        raise InputError(f"{told}; .jsonl, .csv and .parquet have")
    if file.kind == "parquet":
        with open_parquet(file.name) as table:
            check_table(table, file, column, keep)


def check_table(table: Any, file: TextFile, column: str, keep: tuple[str, ...]) -> None:
    """Raise an InputError where an open Parquet file lacks a column."""
    _leaf_of(table, file, column)
    _check_names(table, file, keep)


def _of_parquet(file: TextFile, column: str, most: int) -> Iterator[FileStretch]:
    with damage_told(file.name), open_parquet(file.name) as table:
        index = _leaf_of(table, file, column)
        groups = [table.metadata.row_group(group) for group in range(table.metadata.num_row_groups)]
        sizes = [(group.num_rows, group.column(index).total_uncompressed_size) for group in groups]
    ends, held, at = [0], 0, 0
    for rows, size in sizes:
        parts = min(-(-size // most), _MOST_PARTS, rows) if size > _LARGE * most else 1
        if held >= most or (held and parts > 1):
            ends.append(at)
            held = 0
        ends += [at + rows * part // parts for part in range(1, parts)]
        held = most if parts > 1 else held + size
        at += rows
    for start, end in zip(ends, [*ends[1:], at], strict=True):
        if end > start:
            yield FileStretch(file, start, end, file.size * end // at - file.size * start // at)


@contextlib.contextmanager
def damage_told(name: str) -> Iterator[None]:
    """Have an error of reading a Parquet file say which file it is."""
    try:
        yield
    except InputError as error:
        raise FileFormatError(str(error), path=name) from None
    except (import_pyarrow().ArrowException, OSError) as error:
        if isinstance(error, FileError):  # it says so
            raise
        reason = "; ".join(line.rstrip(".") for line in str(error).splitlines() if line.strip("."))
        raise FileFormatError(f"{name} cannot be read: {reason}", path=name) from error


def _leaf_of(table: Any, file: TextFile, column: str) -> int:
    """The number of a Parquet file's column, which has to hold texts."""
    kind = type_of_column(table.schema_arrow, column)
    if kind is None:
        _check_names(table, file, [column])
    try:
        check_text_type(kind, column)
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None
    return _leaves(table).index(column)


def _leaves(table: Any) -> list[str]:
    return [table.schema.column(number).path for number in range(len(table.schema))]


def _check_names(table: Any, file: TextFile, columns: Iterable[str]) -> None:
    names = table.schema_arrow.names
    counts = Counter(names)
    for column in columns:
        if counts[column] != 1:
            there = ", ".join(map(repr, names))
            raise InputError(f"{file.name} has no column {column!r}; it has {there}")
