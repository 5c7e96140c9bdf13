"""Divide files of texts into units of work: files that share an output, or parts of large files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from trietok.errors import InputError
from trietok.files.stores import identity, is_url, path_in, status_of
from trietok.files.tables import open_parquet
from trietok.files.text_rows import kind_of

_PIECE_BYTES = 128_000_000  # larger files are split; smaller ones share an output up to this size
_SMALL_BYTES = 1_000_000  # smaller files share an output
_LONGEST_NAME = 150  # bytes of a file's name in the name of an output


class Source(NamedTuple):
    """A file, or a part of one: a range of bytes in which lines begin, or of row groups."""

    path: str  # where links lead, or the URL
    kind: str
    compression: str | None
    size: int  # of the whole file, in bytes
    version: str  # as in `Status`
    start: int = 0
    end: int | None = None
    name: str = ""  # as the user wrote it

    @property
    def record(self) -> Source:
        """The source as outputs record it."""
        return self._replace(name="")

    @property
    def piece_size(self) -> int:
        """The bytes of this part; the first part of a Parquet file counts as the whole file."""
        if self.end is None:
            return self.size
        if self.kind == "parquet":
            return 0 if self.start else self.size
        return self.end - self.start


class Unit(NamedTuple):
    """Files, or a part of one, that become one output."""

    name: str
    sources: tuple[Source, ...]


def inputs_of(names: Iterable[str]) -> list[Source]:
    """Return the files, each once.

    Raises:
        InputError: a name does not end as one of the kinds of files do, or there is none.
        FileError: there is no such file, or it is a directory.
    """
    sources: dict[str, Source] = {}
    for name in names:
        status = status_of(name)
        kind, compression = kind_of(path_in(name))
        if kind is None:
            endings = ".txt, .jsonl, .csv, .tsv (also with .gz or .zst) or .parquet"
            raise InputError(f"{name}: unknown kind of file; its name should end in {endings}")
        if not is_url(name) and not os.path.isfile(name):
            raise InputError(f"{name} is not a regular file; write its content to one")
        path = identity(name)
        sources.setdefault(path, Source(path, kind, compression, *status, name=name))
    if not sources:
        raise InputError("there is no file to read; name at least one")
    return list(sources.values())


def pieces_of(inputs: Iterable[Source]) -> Iterator[Source]:
    """Yield the files, large ones in pieces: ranges of bytes or of row groups.

    A compressed file or a .csv file is one piece.
    """
    for source in inputs:
        is_whole = source.compression is not None or source.kind in ("csv", "tsv")
        if source.size <= _PIECE_BYTES or is_whole:
            yield source
            continue
        if source.kind == "parquet":
            ends = _ends_of_groups(source.path)
        else:
            count = -(-source.size // _PIECE_BYTES)
            ends = [source.size * number // count for number in range(count + 1)]
        for start, end in pairwise(ends):
            yield source._replace(start=start, end=end)


def _ends_of_groups(path: str) -> list[int]:
    """Return the numbers of row groups at which the pieces of a Parquet file begin and end."""
    with open_parquet(path) as table:
        groups = map(table.metadata.row_group, range(table.metadata.num_row_groups))
        sizes = [group.total_byte_size for group in groups]
    ends, size = [0], 0
    for group, group_size in enumerate(sizes):
        if size and size + group_size > _PIECE_BYTES:
            ends.append(group)
            size = 0
        size += group_size
    return [*ends, len(sizes)]


def units_of(pieces: Iterable[Source], taken: set[str]) -> list[Unit]:
    """Return units with the pieces: small files share one. Their names are not among `taken`."""
    units: list[tuple[Source, ...]] = []
    small: list[Source] = []
    size = 0
    for piece in pieces:
        if piece.size >= _SMALL_BYTES:
            units.append((piece,))
            continue
        if small and size + piece.size > _PIECE_BYTES:
            units.append(tuple(small))
            small, size = [], 0
        small.append(piece)
        size += piece.size
    if small:
        units.append(tuple(small))
    names = _short_names([sources[0].name for sources in units])
    return [
        Unit(_free_name(name + _ending(sources), taken), sources)
        for name, sources in zip(names, units, strict=True)
    ]


def _short_names(names: list[str]) -> list[str]:
    """Return names below their common folder as names of files.

    Readers of directories ignore names that begin with a point or `_`.

    >>> _short_names(["/texts/2025/a.txt", "/texts/2026/_a.txt"]), _short_names(["/texts/_a.txt"])
    (['2025-a.txt', '2026-_a.txt'], ['a.txt'])
    """
    paths = [path_in(name) if is_url(name) else os.path.abspath(name) for name in names]
    parts = [path.replace(os.sep, "/").split("/") for path in paths]
    folders = zip(*(path[:-1] for path in parts), strict=False)
    common = len([*takewhile(lambda names: len({*names}) == 1, folders)])
    endings = [os.fsencode("-".join(path[common:]))[-_LONGEST_NAME:] for path in parts]
    return [ending.decode("utf-8", "ignore").lstrip("._-") for ending in endings]


def _ending(sources: tuple[Source, ...]) -> str:
    first, *others = sources
    if first.end is not None:
        return f"-from-{first.start:012d}"
    return f"-and-{len(others)}-more" if others else ""


def _free_name(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, and take it."""
    free, number = name, 2
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    taken.add(free)
    return free
