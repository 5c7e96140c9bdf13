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
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path

from trietok.errors import FileError, FileFormatError, told_as
from trietok.files.atomic import finish_save, made_while
from trietok.files.saves.lock import DirectoryBusyError, alone
from trietok.files.whole import flush_directory, flush_file, is_running
from trietok.open_regular import checked_name

_STAGING = ".trietok-new-"  # then the name of the directory, the number of the process and another number
_numbers = count()  # no two folders of a process have the same name, whichever thread makes them


def save_into(directory: str | os.PathLike[str], save: Callable[[Path], Iterable[Path]]) -> list[Path]:
    """Have `save` write into a directory; one that is not there yet appears with all that is saved, or not at all.

    Args:
        directory: where to; one that is there is left to `save`, which replaces its files.
        save: is given the directory or the folder that becomes it, and returns paths in it; it may be called again.

    Returns:
        The paths in the directory.

    Raises:
        FileError: something cannot be written.
    """
    if not os.path.exists(checked_name(directory)):
        try:
            with told_as(os.path.realpath(directory), directory), new_directory(directory) as staging:
                return [Path(directory, path.relative_to(staging)) for path in save(staging)]
        except FileError:
            # Another process has made the directory meanwhile, or the file system renames none; else it fails again,
            # with the name that the user gave.
            pass
    return list(save(Path(directory)))


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
    with _told(target), made_while(target.parent):
        _clear(target)
        staging = _free_name(target)
        process = os.getpid()
        try:
            staging.mkdir()
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
                try:
                    shutil.rmtree(staging, ignore_errors=True)
                except BaseException:  # Ctrl-C: the folder goes before the program does
                    shutil.rmtree(staging, ignore_errors=True)
                    raise


def checked_new(path: str | os.PathLike[str]) -> Path:
    """The path itself, links resolved, if a new directory can take it; clears away what a killed save has left there.

    Raises:
        FileError: there is a file, or a directory that is not empty.
    """
    target = Path(os.path.realpath(checked_name(path)))
    try:
        if target.is_dir():
            unfinished = (FileError, FileFormatError, DirectoryBusyError)  # then it is not empty
            with contextlib.suppress(*unfinished), alone(target, longest_wait=0) as is_alone:
                finish_save(target, is_alone=is_alone)
        taken = "a file" if not target.is_dir() else "not empty" if any(target.iterdir()) else ""
        if taken and os.path.lexists(target):
            raise FileError(
                f"{os.fspath(path) or target} is there already, and is {taken}; give a directory that does not exist "
                "or is empty",
                path=path,
            )
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot write to {os.fspath(path)}: {error.strerror}", path=path) from error
    return target


def _beginning(target: Path) -> str:
    return f"{_STAGING}{target.name[:40]}-"  # a name may have 255 bytes


def _free_name(target: Path) -> Path:
    names = (target.parent / f"{_beginning(target)}{os.getpid()}-{number}" for number in _numbers)
    return next(name for name in names if not os.path.lexists(name))


def _clear(target: Path) -> None:
    """Remove what processes have left that were to make the same directory and were killed."""
    prefix = _beginning(target)
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
