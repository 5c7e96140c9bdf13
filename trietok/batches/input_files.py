"""The files of a corpus, and whether they are still the same."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trietok.files import stores
from trietok.files.stores import (
    checked_info,
    expanded,
    is_url,
    reading,
    size_of,
)
from trietok.files.text_rows import kind_of

# What the file systems of fsspec call a file's ETag, and the time of its last change.
_ETAGS = ("ETag", "etag")
_TIMES = "LastModified last_modified Last-Modified updated modified modify mtime created".split()


class Status(NamedTuple):
    """The state of a file."""

    size: int  # in bytes
    version: int  # changes with the file: its ETag, or the time of its last change


class TextFile(NamedTuple):
    """A file with texts."""

    # its path, as it was given or as a glob found it, or its URL, such as `"s3://bucket/a.txt"`
    name: str
    # `"parquet"`, `"jsonl"`, `"csv"`, `"tsv"` or `"txt"`; None for other names
    kind: str | None
    compression: str | None  # of the file as a whole, by its name: `"gzip"` or `"zstd"`
    size: int  # in bytes
    mtime_ns: int  # when it was last changed; with a URL, a number that changes with the file

    @classmethod
    def listed(cls, path: str, told: Status | None = None) -> TextFile:
        """The file at a path, by its name, and by what a list has told of it."""
        return cls(path, *kind_of(stores.path_in(path)), *(told or status(path)))

    def is_changed(self, told: Status | None = None) -> bool:
        """Whether it is another one by now, by what a list has `told` of it, or by asking."""
        return (told or status(self.name)) != self[3:]


def status(name: str) -> Status:
    """The size and the version of a file, as they are now."""
    if not is_url(name):
        size = size_of(name)
        with reading(name):
            return Status(size, os.stat(name).st_mtime_ns)
    files, path = stores.file_system(name)
    with reading(name):
        files.invalidate_cache()
        info = files.info(path)
    return Status(checked_info(name, info), _version(info))


def _version(info: Mapping[str, Any]) -> int:
    version = next((info[key] for key in (*_ETAGS, *_TIMES) if info.get(key)), "")
    # Some lists have an ETag without the quotes that it has elsewhere.
    text = str(version).removeprefix("W/").strip('"')
    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def files_listed(
    paths: Iterable[str | os.PathLike[str]],
) -> Iterator[tuple[str, Status | None]]:
    """The paths, and for each glob the files that it finds, each with what a list tells of it.

    The state of a file with a URL is None if the list has no ETag or no size of it: lists round
    times, and those of a web server have no sizes.
    """
    for given in paths:
        path = os.fspath(given)
        if stores.is_url_glob(path):
            found = stores.files_matching(path)
            yield from ((name, _listed(info)) for name, info in found.items())
        else:
            yield from ((each, None) for each in expanded([path]))


def _listed(info: Mapping[str, Any]) -> Status | None:
    has_etag = any(info.get(key) for key in _ETAGS)
    return Status(info["size"], _version(info)) if has_etag and info.get("size") else None
