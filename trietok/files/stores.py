"""Open files by a path or by a URL such as s3://bucket/a.txt, which fsspec reads.

A name without `://` is a local path. fsspec is imported only for URLs.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from trietok.errors import FileError, MissingDependencyError, TrietokError, installing

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
_BUFFER = 1 << 20  # bytes
# What the file systems of fsspec call the ETag of a file, and the time of its last change.
_VERSIONS = (
    *("ETag", "etag", "LastModified", "last_modified", "Last-Modified"),
    *("updated", "modified", "modify", "mtime", "created"),
)


def is_url(name: str) -> bool:
    """Return whether a name is one for fsspec.

    >>> is_url("s3://bucket/a.txt"), is_url("texts/a.txt"), is_url("C:/a.txt")
    (True, False, False)
    """
    return "://" in name and _SCHEME.match(name) is not None


def is_url_glob(name: str) -> bool:
    """Return whether a name is a URL that matches several files."""
    return is_url(name) and not set("*[").isdisjoint(name)


def path_in(name: str) -> str:
    """Return the part of a name that tells the kind of a file.

    >>> path_in("https://example.org/a.jsonl.gz?key=1"), path_in("what?.txt")
    ('https://example.org/a.jsonl.gz', 'what?.txt')
    """
    return re.split("[?#]", name)[0] if name.startswith(("http://", "https://")) else name


def open_bytes(name: str) -> BinaryIO:
    """Open a file for reading bytes; use it within `reading`."""
    if not is_url(name):
        return open(name, "rb", _BUFFER)
    files, path = file_system(name)
    with reading(name):
        return io.BufferedReader(files.open(path, "rb"), _BUFFER)


@contextlib.contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn each error of reading a file into a `FileError`.

    A file system of fsspec may raise the errors of its own library; of a local file, only an
    OSError is one of reading.
    """
    try:
        yield
    except (TrietokError, MemoryError):
        raise
    except FileNotFoundError as error:
        reason = "No such file or directory"
        raise FileError(f"cannot read {name or repr(name)}: {reason}", path=name) from error
    except Exception as error:
        if not isinstance(error, OSError) and not is_url(name):
            raise
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise FileError(f"cannot read {name}: {reason}", path=name) from error


class Status(NamedTuple):
    """The state of a file."""

    size: int  # in bytes
    version: str  # differs after a change: the time of the last change, or the ETag of a store


def status_of(name: str) -> Status:
    """Return the state of a file.

    Raises:
        FileError: there is no such file, or it is a directory, or its size is unknown.
    """
    if is_url(name):
        files, path = file_system(name)
        with reading(name):
            files.invalidate_cache()
            info = files.info(path)
        if info["type"] == "directory":
            raise _directory_error(name, name.rstrip("/") + "/*.txt")
        if info.get("size") is None:
            message = f"cannot read {name}: its size is not known; copy it to this machine"
            raise FileError(message, path=name)
        version = next((info[key] for key in _VERSIONS if info.get(key)), "")
        return Status(int(info["size"]), str(version))
    with reading(name):
        try:
            status = os.stat(name)
        except ValueError:  # a NUL in the name
            raise FileError(
                f"cannot read {name!r}: no file can have that name", path=name
            ) from None
    if stat.S_ISDIR(status.st_mode):
        raise _directory_error(name, os.path.join(name, "*.txt"))
    return Status(status.st_size, str(status.st_mtime_ns))


def size_of(name: str) -> int:
    """Return the size of a file in bytes; errors as `status_of`."""
    return status_of(name).size


def _directory_error(name: str, example: str) -> FileError:
    message = f"{name} is a directory; give its files, such as {example} or *.parquet"
    return FileError(message, path=name)


def expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """Return the paths, and for each glob the files that it finds, by name.

    Raises:
        FileError: a glob finds no file.
    """
    for given in paths:
        path = os.fspath(given)
        found = [path]
        if is_url_glob(path):
            found = list(files_matching(path))
        elif not is_url(path) and glob.has_magic(path) and not os.path.exists(path):
            found = [
                each for each in sorted(glob.glob(path, recursive=True)) if not os.path.isdir(each)
            ]
        if not found:
            raise FileError(f"no file matches {path}", path=path)
        yield from found


def files_matching(url: str) -> dict[str, dict[str, Any]]:
    """Return the files that a URL with `*` or `[` matches: name → what fsspec says of it."""
    files, path = file_system(url)
    with reading(url):
        files.invalidate_cache()
        found = files.glob(path, detail=True)
    matches = {
        files.unstrip_protocol(each): info
        for each, info in sorted(found.items())
        if info["type"] != "directory"
    }
    if not matches:
        hint = "; a [ in a URL makes it a glob, in which [[] matches a [" if "[" in url else ""
        raise FileError(f"no file matches {url}{hint}", path=url)
    return matches


def identity(name: str) -> str:
    """Return what is the same for two names of one file: the path where links lead, or the URL."""
    if not is_url(name):
        return os.path.realpath(name)
    files, path = file_system(name)
    is_local = "file" in files.protocol
    return os.path.realpath(path) if is_local else str(files.unstrip_protocol(path))


def file_system(name: str) -> tuple[Any, str]:
    """Return fsspec's file system for a URL, and the path there."""
    if "::" in name:  # fsspec gives the files of a glob without the other parts of the name
        message = f"cannot read {name}: chained URLs (::) are not supported"
        raise FileError(f"{message}; copy the file to this machine", path=name)
    extra = "s3" if name.startswith(("s3:", "s3a:")) else "parquet"
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        message = f"{name} needs fsspec, which cannot be imported ({error})"
        how = installing(extra, "fsspec")
        raise MissingDependencyError(f"{message}: {how}", extra=extra) from error
    try:
        files, path = url_to_fs(name)
    except ImportError as error:
        how = f": {installing('s3', 's3fs')}" if extra == "s3" else ""
        raise MissingDependencyError(f"cannot read {name}: {error}{how}", extra=extra) from error
    except Exception as error:
        raise FileError(f"cannot read {name}: {error}", path=name) from error
    return files, path
