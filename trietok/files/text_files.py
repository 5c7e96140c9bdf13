"""Files with texts: their kinds, by names and first bytes, and which files a glob finds.

In: paths and globs. Out: a `TextFile` each. No more of a file is read than its first bytes.
"""

from __future__ import annotations

import contextlib
import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from trietok.errors import (
    FileError,
    FileFormatError,
    as_file_error,
)
from trietok.files import stores
from trietok.files.stores import Status, is_url

KINDS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
}


TABLES = {"csv": ",", "tsv": "\t"}  # what is between the values of a row


COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}


# no text begins so: they are not UTF-8
_FIRST_BYTES = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}


FIRST_BYTES = max(map(len, _FIRST_BYTES))


class TextFile(NamedTuple):
    """A file with texts."""

    # its path, as it was given or as a glob found it, or its URL, such as `"s3://bucket/a.txt"`
    name: str
    # `"parquet"`, `"jsonl"`, `"csv"`, `"tsv"` or `"txt"`; None where the name does not say it
    kind: str | None
    # of the file as a whole: `"gzip"` or `"zstd"`; the first bytes count before the name
    compression: str | None
    size: int  # in bytes
    mtime_ns: int  # when it was last changed; with a URL, a number that changes with the file

    @classmethod
    def at(cls, path: str) -> TextFile:
        """The file at a path."""
        file, first = cls.listed(path), b""
        with contextlib.suppress(OSError):  # who reads the file says so
            if is_url(path):
                first = stores.first_bytes(path, FIRST_BYTES)
            elif os.path.isfile(path):
                with open(path, "rb") as raw:
                    first = raw.read(FIRST_BYTES)
        refuse_other_than_text(first, path)
        kind, compression = _kind_of(stores.path_in(path), first)
        return file._replace(kind=kind, compression=compression)

    @classmethod
    def listed(cls, path: str, told: Status | None = None) -> TextFile:
        """The file at a path, by its name, and by what a list has told of it: nothing of it is
        read.
        """
        if told is None:
            told = stores.status(path) if is_url(path) else _status_here(path)
        return cls(path, *_kind_of(stores.path_in(path), b""), *told)

    def is_changed(self, told: Status | None = None) -> bool:
        """Whether it is another one by now, by what a list has `told` of it, or by asking."""
        if is_url(self.name):
            return (told or stores.status(self.name)) != self[3:]
        try:
            status = os.stat(self.name)
        except OSError:
            return _status_here(self.name) != self[3:]  # which says what there is instead
        return (status.st_size, status.st_mtime_ns) != self[3:]


def refuse_other_than_text(first: bytes, name: str) -> None:
    """Raise a FileFormatError where a file begins as no text in UTF-8 does."""
    what = ""
    if first.startswith(b"PK\x03\x04"):  # a list of terms often comes so
        what = "a spreadsheet (.xlsx, .ods) or another zip archive; save it as .csv in UTF-8"
    elif first.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = "text in UTF-16; save it in UTF-8"
    if what:
        raise FileFormatError(f"{name} is {what}, and give that file", path=name)


def _status_here(path: str) -> Status:
    with as_file_error(f"cannot read {path or repr(path)}", path):
        try:
            status = os.stat(path)
        except ValueError:  # a NUL in the name
            raise FileError(
                f"cannot read {path!r}: no file can have that name", path=path
            ) from None
    if stat.S_ISDIR(status.st_mode):
        example = os.path.join(path, "*.txt")
        raise FileError(
            f"{path} is a directory; give its files, such as {example} or *.parquet", path=path
        )
    return Status(status.st_size, status.st_mtime_ns)


def has_text_suffix(name: str) -> bool:
    """Whether a name ends as those of files with texts do.

    >>> (
    ...     has_text_suffix("texts.jsonl.gz"),
    ...     has_text_suffix("Mind the gap."),
    ...     has_text_suffix("texts.parquet"),
    ... )
    (True, False, True)
    """
    return _kind_of(name, b"")[0] is not None


def _kind_of(path: str, first: bytes) -> tuple[str | None, str | None]:
    """The kind and the compression of a file, by its name and its first bytes."""
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    compression = (first and compression_of(first)) or compression
    kind = KINDS.get(suffix)
    return None if kind == "parquet" and compression is not None else kind, compression


def compression_of(first: bytes) -> str | None:
    """The compression that the first bytes of a file tell of; None where they tell of none.

    >>> compression_of(b"\\x1f\\x8b\\x08\\x00"), compression_of(b"text")
    ('gzip', None)
    """
    return _FIRST_BYTES.get(first[:2]) or _FIRST_BYTES.get(first[:4])


def expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """The paths, and for each glob the files it finds, by name."""
    return (path for path, _ in files_listed(paths))


def files_listed(
    paths: Iterable[str | os.PathLike[str]],
) -> Iterator[tuple[str, Status | None]]:
    """The files as `expanded` gives them, each with what a list of files tells of it."""
    for given in paths:
        path, hint = os.fspath(given), ""
        found: Mapping[str, Status | None] | None = None
        if is_url(path):
            found = stores.files_matching(path)
            hint = "; a URL with a [ is a glob, where [[] stands for it" if "[" in path else ""
        elif glob.has_magic(path) and not os.path.exists(path):
            found = {}
            for each in sorted(glob.glob(path, recursive=True)):
                try:
                    status = os.stat(each)
                except OSError:  # who reads it says so
                    found[each] = None
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    found[each] = Status(status.st_size, status.st_mtime_ns)
        if found is not None and not found:
            raise FileError(f"no file matches {path}{hint}", path=path)
        yield from [(path, None)] if found is None else found.items()
