"""Writing a file whole: a reader finds the old file or the new one, never a part of either.

In: a path, and what is written in a `with` block. Out: the file in its place, on the disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import BinaryIO

TEMPORARY = "temporary-"  # how the names of files begin that are not in their place yet
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends; where it fails nothing has changed.

    The file is written beside `path`, flushed to the disk and renamed.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.txt")
    >>> with replacing(path) as file:
    ...     _ = file.write(b"new")
    >>> path.read_text(), [other.name for other in path.parent.iterdir()]
    ('new', ['a.txt'])

    Raises:
        OSError: the file cannot be written; the error for a full disk has the name of the file that was written.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    try:
        with naming(temporary), open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    flush_directory(folder or ".")


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of the file that is written into the error for a full disk, which has none."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise


def flush_directory(directory: str | os.PathLike[str]) -> None:
    """Have the names in a directory on the disk, where the system can do that."""
    with contextlib.suppress(OSError):  # not every system lets a directory be flushed
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
