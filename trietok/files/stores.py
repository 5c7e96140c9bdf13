"""Files with a URL, such as s3://bucket/a.txt, which fsspec reads.

The functions take a name, which without `://` is a local path. fsspec is imported only for URLs. A
failed request is a `FileError` that names the file; fsspec's file systems repeat requests
themselves.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from trietok.errors import FileError, MissingDependencyError, installing

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
_BUFFER = 1 << 20  # bytes
# What the file systems of fsspec call a file's ETag, and the time of its last change.
_ETAGS = ("ETag", "etag")
_TIMES = "LastModified last_modified Last-Modified updated modified modify mtime created".split()


class Status(NamedTuple):
    """The state of a file."""

    size: int  # in bytes
    version: int  # changes with the file: made of its ETag, or of the time of its last change


def is_url(name: str) -> bool:
    """Whether a name is one for fsspec.

    >>> is_url("s3://bucket/a.txt"), is_url("texts/a.txt"), is_url("C:/a.txt")
    (True, False, False)
    """
    return "://" in name and _SCHEME.match(name) is not None


def path_in(name: str) -> str:
    """The part of a name that tells the kind of a file; in a web address, the part before the
    question mark.

    >>> path_in("https://example.org/a.jsonl.gz?key=1"), path_in("what?.txt")
    ('https://example.org/a.jsonl.gz', 'what?.txt')
    """
    return re.split("[?#]", name)[0] if name.startswith(("http://", "https://")) else name


def open_bytes(name: str) -> BinaryIO:
    """Open a local file, or one with a URL, for reading; OSError, which reading may raise too."""
    return io.BufferedReader(_StoreFile(name), _BUFFER) if is_url(name) else open(name, "rb")


def status(name: str) -> Status:
    """The size and the version of a file with a URL, as they are now."""
    files, path = _file_system(name)
    with _reading(name):
        files.invalidate_cache()
        info = files.info(path)
    if info["type"] == "directory":
        message = f"{name} is a directory; give its files, such as {name.rstrip('/')}/*.txt"
        raise FileError(message, path=name)
    found = _status_of(info)
    if found is None:
        message = f"cannot read {name}: its size is not known; copy it to this machine"
        raise FileError(message, path=name)
    return found


def _status_of(info: dict[str, Any]) -> Status | None:
    """The state in what fsspec says of a file; None if it does not say the size."""
    if info.get("size") is None:
        return None
    version = next((info[key] for key in (*_ETAGS, *_TIMES) if info.get(key)), "")

    # Some lists have an ETag without the quotes that it has elsewhere.
    text = str(version).removeprefix("W/").strip('"')
    return Status(info["size"], int(hashlib.sha256(text.encode()).hexdigest()[:12], 16))


def first_bytes(name: str, number: int) -> bytes:
    """The first bytes of a file with a URL."""
    files, path = _file_system(name)
    with _reading(name):
        return bytes(files.cat_file(path, start=0, end=number))[:number]


def files_matching(name: str) -> dict[str, Status | None] | None:
    """The files that a URL with `*` or `[` matches, by name; None for any other URL.

    The state of a file is None if the list has no ETag or no size of it. The file has to be asked
    for it then: lists round times, and those of a web server have no sizes.
    """
    if not set("*[") & set(name):
        return None
    files, path = _file_system(name)
    with _reading(name):
        files.invalidate_cache()
        found = files.glob(path, detail=True)
    return {
        files.unstrip_protocol(path): _status_of(info) if _has_etag(info) else None
        for path, info in sorted(found.items())
        if info["type"] != "directory"
    }


def _has_etag(info: dict[str, Any]) -> bool:
    return any(info.get(key) for key in _ETAGS)


def identity(name: str) -> str:
    """What is the same for two names of one file: the path where links lead, or the full URL."""
    if not is_url(name):
        return os.path.realpath(name)
    files, path = _file_system(name)
    return str(files.unstrip_protocol(path))


def _file_system(name: str) -> tuple[Any, str]:
    """The file system of a URL, and the path there."""
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


@contextlib.contextmanager
def _reading(name: str) -> Iterator[None]:
    """Turn each error of a file system into a `FileError`; some raise those of their libraries."""
    try:
        yield
    except (FileError, MemoryError):
        raise
    except FileNotFoundError as error:
        reason = "No such file or directory"
        raise FileError(f"cannot read {name}: {reason}", path=name) from error
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise FileError(f"cannot read {name}: {reason}", path=name) from error


class _StoreFile(io.RawIOBase):
    """A file with a URL, whose errors name it."""

    def __init__(self, name: str) -> None:
        self._name = name
        files, path = _file_system(name)
        with _reading(name):
            self._file = files.open(path, "rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        with _reading(self._name):
            block = self._file.read(len(buffer))
        buffer[: len(block)] = block
        return len(block)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        with _reading(self._name):
            return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
