"""Writing a file whole: a reader finds the old file or the new one, never a part of either.

In: a path, and what is written in a `with` block. Out: the file in its place, on the disk, with the mode and the owner
of the file that it replaces.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from trietok.files.rights import rights_to_keep
from trietok.open_regular import ANY_SIZE, open_regular

TEMPORARY = ".temporary-"  # how the names of files begin that are not in their place yet
UNFINISHED = (TEMPORARY, "temporary-")  # 0.2.0 did not hide them
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LOST = FULL | {errno.EIO}  # after these, what was written may not be on the disk


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, clears: bool = True) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends; where it fails nothing has changed.

    The file is written beside `path`, from front to back, flushed to the disk, read back and renamed. What processes
    have left there that were killed as they wrote the same file is removed, unless not `clears`: the folder is listed
    for that.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> with replacing(path) as file:
    ...     _ = file.write(b"new")
    >>> path.read_text(), [other.name for other in path.parent.iterdir()]
    ('new', ['a.txt'])

    Raises:
        FileError: the file that is there is write-protected, or its owner and mode cannot be kept.
        OSError: the file cannot be written; the error for a full disk has the name of the file that was written.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    rights = rights_to_keep(path)
    if clears:
        _clear(folder or ".", name)
    try:
        with naming(temporary), _Summed(_new_file(temporary, private=rights is not None)) as file:
            if rights is not None:
                rights.give(temporary)
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        if checksum(temporary, from_disk=True) != file.digest.hexdigest():
            raise OSError(errno.EIO, "what was written reads back differently", temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    flush_directory(folder or ".")


class _Summed(io.BufferedWriter):
    """A file to write that keeps the checksum of what was written."""

    def __init__(self, handle: int) -> None:
        super().__init__(io.FileIO(handle, "w"))
        self.digest = hashlib.sha256()

    def write(self, content: Any, /) -> int:
        self.digest.update(content)
        return super().write(content)


def _clear(folder: str, name: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            process, _, of = entry.name.removeprefix(TEMPORARY).partition("-")
            if entry.name.startswith(TEMPORARY) and of == name and process.isascii() and process.isdigit():
                if len(process) < 10 and not is_running(int(process)):
                    os.unlink(entry.path)


def is_running(process: int) -> bool:
    if os.name != "posix":  # there is no harmless question: a signal 0 is a Ctrl-C on Windows
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)  # it runs, and is not ours
    return True


def _new_file(path: str, private: bool) -> int:
    """Create a file, in place of one that a killed process left; `private`: nobody else may open it yet."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o600 if private else 0o666)


def checksum(path: str | os.PathLike[str], *, from_disk: bool = False) -> str:
    """The SHA-256 of a regular file, in hexadecimal; `from_disk`: not of what memory holds of it, where that can be."""
    digest = hashlib.sha256()
    with open_regular(path, limit=ANY_SIZE) as file:
        if from_disk:
            with contextlib.suppress(OSError, AttributeError):  # not every system lets it be forgotten
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def put_in_place(finished: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Rename a finished file, which is on the disk already; it gets the mode and the owner of one that it replaces.

    Raises:
        FileError: as `replacing`.
        OSError: it cannot be renamed.
    """
    rights = rights_to_keep(path)
    if rights is not None:
        rights.give(finished)
    os.replace(finished, path)


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of the file that is written into the error for a full disk, which has none."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise


def flush_file(path: str | os.PathLike[str]) -> None:
    """Have a file on the disk that was written by other means."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_directory(directory: str | os.PathLike[str]) -> None:
    """Have the names in a directory on the disk, where the system can do that.

    Raises:
        OSError: the disk is full or damaged.
    """
    try:
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in _LOST:  # else this system does not let a directory be flushed
            raise OSError(error.errno, error.strerror, os.fspath(directory)) from error
