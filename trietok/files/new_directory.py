"""A directory that appears with all its files or not at all.

In: a path that is free, and what is written in a `with` block. Out: the directory, on the disk. It is filled inside a
folder beside that path and renamed, so a process killed at any moment leaves nothing under the path; what it
leaves beside it the next one clears away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from trietok.errors import FileError, told_as
from trietok.files.atomic import is_running
from trietok.files.saves.lock import DirectoryBusyError, alone
from trietok.files.whole import flush_directory, flush_file
from trietok.open_regular import checked_name

_STAGING = ".trietok-new-"  # then the name of the directory, the number of the process and another number


@contextlib.contextmanager
def new_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A directory to fill, which takes the place of `path` when the block ends; where it fails there is none.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "new")
    >>> with new_directory(path) as staging:
    ...     _ = (staging / "a.txt").write_text("a")
    ...     path.exists()
    False
    >>> [file.name for file in path.iterdir()], [folder.name for folder in path.parent.iterdir()]
    (['a.txt'], ['new'])

    Args:
        path: a path that does not exist, or is an empty directory.

    Raises:
        FileError: the path is not free, or something cannot be written.
    """
    target = checked_new(path)
    with _told(target):
        _make_parents(target.parent)
        _clear(target)
        staging = _made(target)
        process = os.getpid()
        try:
            with alone(staging):
                new = staging / "new"  # a directory of its own: to save into it may need its lock
                new.mkdir()
                with told_as(new, target):
                    yield new
                if target.is_dir():
                    os.chmod(new, stat.S_IMODE(target.stat().st_mode))
                _flush(new)
                if os.name != "posix" and target.is_dir():  # elsewhere a rename replaces no directory
                    target.rmdir()
                os.rename(new, target)
            flush_directory(target.parent)
        finally:
            if os.getpid() == process:  # not in a child that was forked in the block
                shutil.rmtree(staging, ignore_errors=True)


def checked_new(path: str | os.PathLike[str]) -> Path:
    """The path itself, links resolved, if a new directory can take it.

    Raises:
        FileError: there is a file, or a directory that is not empty.
    """
    target = Path(os.path.realpath(checked_name(path)))
    try:
        taken = "a file" if not target.is_dir() else "not empty" if any(target.iterdir()) else ""
        if taken and os.path.lexists(target):
            raise FileError(
                f"{os.fspath(path)} is {taken}; give a directory that does not exist or is empty", path=path
            )
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write to {os.fspath(path)}: {error.strerror}", path=path) from error
    return target


def _made(target: Path) -> Path:
    for number in count():
        staging = target.parent / f"{_STAGING}{target.name}-{os.getpid()}-{number}"
        with contextlib.suppress(FileExistsError):
            staging.mkdir()
            return staging
    raise AssertionError


def _make_parents(folder: Path) -> None:
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for each in missing:
        flush_directory(each.parent)


def _clear(target: Path) -> None:
    """Remove what processes have left that were to make the same directory and were killed."""
    prefix = f"{_STAGING}{target.name}-"
    with os.scandir(target.parent) as entries:
        left = [
            (Path(entry.path), entry.name.removeprefix(prefix).split("-"))
            for entry in entries
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
        ]
    for folder, numbers in left:
        if len(numbers) != 2 or not all(number.isascii() and number.isdigit() for number in numbers):
            continue  # of a directory whose name begins like this one's
        if len(numbers[0]) < 10 and is_running(int(numbers[0])) and int(numbers[0]) != os.getpid():
            continue
        with contextlib.suppress(OSError, DirectoryBusyError), alone(folder, longest_wait=0) as is_alone:
            if is_alone or int(numbers[0]) != os.getpid():
                shutil.rmtree(folder, ignore_errors=True)


def _flush(folder: Path) -> None:
    """Have everything in a folder on the disk."""
    for root, _, names in os.walk(folder):
        for name in names:
            flush_file(os.path.join(root, name))
        flush_directory(root)


@contextlib.contextmanager
def _told(target: Path) -> Iterator[None]:
    """Say in an error of the system where the directory was to be."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        named = f" ({error.filename})" if error.filename else ""
        raise FileError(f"cannot write {target}: {error.strerror or error}{named}", path=target) from error
