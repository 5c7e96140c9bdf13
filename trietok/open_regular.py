"""Opening the files of a tokenizer or a model: regular files of a limited size, and nothing else.

In: a path. Out: the open file, or its bytes. A pipe, a device or a socket under the name of a tokenizer's file would
keep a reader waiting for ever or never end; it is refused before anything is read from it.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

from trietok.errors import FileError, FileFormatError

LARGEST_FILE = 1 << 28  # bytes: a million added tokens with all their flags take less
ANY_SIZE = 1 << 62


def open_regular(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> BinaryIO:
    """Open a regular file for reading bytes; symbolic links are followed.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "vocab.txt")
    >>> _ = path.write_text("[UNK]\\n")
    >>> with open_regular(path) as file:
    ...     file.read()
    b'[UNK]\\n'
    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    trietok.errors.FileError: /dev/null is not a regular file; only regular files are read

    Args:
        path: the file.
        limit: the most bytes it may have.

    Raises:
        FileError: it is a pipe, a device or a socket, or its name holds a NUL.
        FileFormatError: it has more than `limit` bytes.
        OSError: it is missing (FileNotFoundError), a directory (IsADirectoryError), or may not be read.
    """
    name = checked_name(path)
    _check(os.stat(path), name, limit)  # before it is opened: opening a device may have effects by itself
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(path, flags)
    try:
        _check(os.fstat(handle), name, limit)  # it may have been replaced since
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def checked_name(path: str | os.PathLike[str]) -> str:
    """A path as a string, if the system can have such a path.

    >>> checked_name("a" + chr(0))
    Traceback (most recent call last):
    trietok.errors.FileError: no file or directory can have the name 'a\\x00': it holds a NUL

    Raises:
        FileError: it holds a NUL, or a character that the names of files cannot keep.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise FileError(f"no file or directory can have the name {name!r}: it holds a NUL", path=name)
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise FileError(
            f"no file or directory can have the name {name!r}: it holds {name[error.start]!r}", path=name
        ) from None
    return name


def read_regular(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> bytes:
    """The bytes of a regular file.

    Raises:
        FileError, FileFormatError, OSError: as `open_regular`; also if the file grows beyond `limit` while it is read.
    """
    with open_regular(path, limit) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise _too_large(os.fspath(path), len(raw), limit)
    return raw


def _check(status: os.stat_result, name: str, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{name} is not a regular file; only regular files are read", path=name)
    if status.st_size > limit:
        raise _too_large(name, status.st_size, limit)


def _too_large(name: str, size: int, limit: int) -> FileFormatError:
    return FileFormatError(
        f"{name} has {size:,} bytes, more than the {limit:,} that such a file of a tokenizer may have", path=name
    )
