"""The files of a corpus: which they are, what they hold, and whether they are still the same.

In: paths and globs. Out: an `InputFile` each, in the order given, those of a glob by name.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from trietok.errors import FileError, InputError

KINDS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "txt"}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


class ChangedFileError(FileError):
    """A file is not what it was when the run began, so the run cannot go on with it."""


class InputFile(NamedTuple):
    """A file with texts.

    Attributes:
        name: its path, as it was given or as a glob found it.
        kind: `"parquet"`, `"jsonl"` or `"txt"`.
        compression: of the file as a whole: `"gzip"`, `"zstd"` or None.
        size: in bytes.
        mtime_ns: when it was last changed.
    """

    name: str
    kind: str
    compression: str | None
    size: int
    mtime_ns: int

    def identity(self) -> dict[str, Any]:
        """What tells it from the same file with other content."""
        return {"name": self.name, "size": self.size, "mtime_ns": self.mtime_ns}

    def check_unchanged(self) -> None:
        """Raise where the file is not what it was any more.

        Raises:
            ChangedFileError: it has changed.
            FileError: it cannot be found.
        """
        if _look_at(self.name) != self:
            raise ChangedFileError(
                f"{self.name} has changed while it was read; encode into a new directory", path=self.name
            )


def find_inputs(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[InputFile]:
    """The files behind paths and globs.

    Raises:
        FileError: there is none, or none can be read.
        InputError: a file is of no known kind, or is given twice; or none is given.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: dict[str, InputFile] = {}
    for path in _expanded(paths):
        real = os.path.realpath(path)
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        found[real] = _look_at(path)
    if not found:
        raise InputError("no files are given; give at least one")
    return list(found.values())


def _expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    for given in paths:
        path = os.fspath(given)
        if os.path.exists(path) or not glob.has_magic(path):
            yield path
            continue
        matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
        if not matches:
            raise FileError(f"no file matches {path}", path=path)
        yield from matches


def _look_at(path: str) -> InputFile:
    if os.path.isdir(path):
        raise FileError(f"{path} is a directory; give its files, such as {os.path.join(path, '*.parquet')}", path=path)
    try:
        status = os.stat(path)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror}", path=path) from error
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    kind = KINDS.get(suffix)
    if kind is None or (kind == "parquet" and compression is not None):
        raise InputError(
            f"{path} is of no known kind; files end in .parquet, .jsonl or .txt, the latter two also with .gz or .zst"
        )
    return InputFile(path, kind, compression, status.st_size, status.st_mtime_ns)
