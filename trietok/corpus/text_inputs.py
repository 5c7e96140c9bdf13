"""The files of a corpus: which they are, what names their content, and whether they are still the same.

In: paths and globs. Out: a `TextFile` each, in the order given, those of a glob by name; a `Source` of each.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from trietok.errors import FileError, InputError, TrietokError
from trietok.files.elsewhere import identity, is_elsewhere, open_bytes
from trietok.files.text_rows import TextFile, expanded
from trietok.files.whole import checksum

_BLOCK = 1 << 20  # bytes
SetAside = Callable[[str, TrietokError], None]  # is told the name of a file, and why it is left out


class ChangedFileError(FileError):
    """A file is not what it was when the run began."""


class Source(NamedTuple):
    """What a file holds, by which its shards are found again: under another name, or in another list of files.

    Attributes:
        sha256: of the file's bytes.
        kind: how they are read: `"parquet"`, `"jsonl"` or `"txt"`.
        copy: how many files of the list before it hold the same.

    >>> Source("2c26b4", "txt", 0).key(7)
    '2c26b4-txt-0-00007'
    """

    sha256: str
    kind: str
    copy: int

    def key(self, index: int) -> str:
        """The name of one of its shards, counted from 0."""
        return f"{self.sha256}-{self.kind}-{self.copy}-{index:05}"


class Sources:
    """Finds the `Source` of each file of a list.

    Args:
        known: checksums that need not be computed again, by name, size and time of change.
    """

    def __init__(self, known: dict[tuple[str, int, int], str]) -> None:
        self._known = known
        self._seen: Counter[tuple[str, str | None]] = Counter()

    def of(self, file: TextFile) -> Source:
        """The source of the next file of the list.

        Raises:
            FileError: it cannot be read.
        """
        place = (file.name, file.size, file.mtime_ns)
        try:
            sha256 = self._known.get(place) or _checksum(file.name)
        except OSError as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"cannot read {file.name}: {error.strerror or error}", path=file.name) from error
        copy = self._seen[sha256, file.kind]
        self._seen[sha256, file.kind] += 1
        return Source(sha256, file.kind or "", copy)


def _checksum(name: str) -> str:
    if not is_elsewhere(name):
        return checksum(name)
    digest = hashlib.sha256()
    with open_bytes(name) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def check_unchanged(file: TextFile) -> None:
    """Raise where a file is not what it was any more.

    Raises:
        ChangedFileError: it has changed.
        FileError: it cannot be found.
    """
    if file.is_changed():
        raise ChangedFileError(f"{file.name} has changed while it was read", path=file.name)


def find_inputs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], set_aside: SetAside | None = None
) -> list[TextFile]:
    """The files behind paths and globs.

    Args:
        paths: one or several.
        set_aside: told of a path where there is no file that can be read; without it, that is an error.

    Raises:
        FileError: there is none, or none can be read.
        InputError: a file is of an unknown kind, or is given twice; or none is given.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: dict[str, TextFile | None] = {}
    for path in expanded(paths):
        real = identity(path)
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        try:
            file = found[real] = TextFile.at(path)
        except FileError as error:
            if set_aside is None or os.path.isdir(path):
                raise
            set_aside(path, error)
            found[real] = None
            continue
        if not is_elsewhere(path) and not os.path.isfile(path):
            raise InputError(f"{path} is no regular file, and texts are read more than once; copy them to a file")
        if file.kind is None:
            raise InputError(
                f"{path} is of an unknown kind; files end in .parquet, .jsonl or .txt, the latter two also with .gz or "
                ".zst"
            )
    if not found:
        raise InputError("no files are given; give at least one")
    return [file for file in found.values() if file is not None]
