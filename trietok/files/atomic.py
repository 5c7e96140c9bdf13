"""Replacing several files of a directory at once: a reader finds all the old ones or all the new ones.

In: a function that writes files into a directory. Out: those files in place.

A save goes through three states. (1) The new files are written to a staging folder inside the directory, read back and
flushed to the disk, and the old ones are kept there too; no file of the directory has changed. (2) The new files come
to count in one step: `saves.staging` does that for every program that reads them; where the system has no symbolic
links, `saves.journal` does it for readers that ask `files_of_interrupted_save`. An error before that step leaves the
old files. (3) The staging folder is removed. A process killed at any moment leaves the old files or the new ones, and
the next save clears away what else it left.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from trietok.errors import FileError, told_as
from trietok.files.rights import rights_to_keep
from trietok.files.saves import journal, lock
from trietok.files.saves.lock import DirectoryBusyError, alone
from trietok.files.saves.staging import Staging, pid_of, staging_folders
from trietok.files.whole import flush_directory, flush_file, is_running


def save_files(directory: Path, write: Callable[[Path], None], obsolete: Iterable[str] = ()) -> list[Path]:
    """Put files into a directory, which is made if need be, all of them or none.

    Args:
        directory: where they belong.
        write: writes them into the folder it is given.
        obsolete: names of files that must not stay beside them, where `write` has not written them.

    Returns:
        The files' paths, sorted by name.

    Raises:
        FileError: something cannot be written or replaced, or another save into the directory does not end; the old
            files are as they were.
    """
    with made_while(directory), _told(directory), alone(directory) as is_alone:
        finish_save(directory, is_alone=is_alone)
        process = os.getpid()
        try:
            staging = Staging.make(directory)
            with told_as(staging.new, directory):
                write(staging.new)
            names = sorted(path.name for path in staging.new.iterdir())
            gone = set(obsolete) - set(names)
            _replace(staging, [*names, *sorted(name for name in gone if os.path.lexists(directory / name))])
            _tidy(staging)
        except BaseException:
            if os.getpid() == process:  # not in a child that was forked in `write`: there the save goes on
                with contextlib.suppress(OSError):
                    finish_save(directory, is_alone=is_alone)
            raise
    return [directory / name for name in names]


@contextlib.contextmanager
def made_while(directory: Path) -> Iterator[None]:
    """Make a directory, if need be, for the block to fill; where that fails, what was made is gone again.

    Raises:
        FileError: it cannot be made.
    """
    process = os.getpid()
    missing = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    try:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for folder in missing:
                flush_directory(folder.parent)
        except OSError as error:
            raise FileError(f"cannot make the directory {directory}: {error.strerror}", path=directory) from error
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # one that holds something by now
            for folder in missing if os.getpid() == process else ():  # not in a child that was forked in the block
                folder.rmdir()
        raise


def _replace(staging: Staging, names: list[str]) -> None:
    """Make the new files count; `names` are those of the old and new ones."""
    for name in names:
        rights = rights_to_keep(staging.directory / name)
        if (staging.new / name).exists():
            if rights is not None:
                rights.give(staging.new / name)
            flush_file(staging.new / name)
        staging.keep_old(name, rights)
    staging.open_to_readers()
    has_links = staging.can_point()
    staging.flush()
    if has_links:
        staging.publish(names)
    else:
        journal.publish(staging, names)


def _tidy(staging: Staging) -> None:
    """Let the files replace the links to them. They count already, so that what goes wrong here is no error."""
    try:
        staging.settle()
        staging.remove()
    except OSError:  # the next save does it
        from trietok.log import warning

        warning("%s stays until the next save: files of the directory lead through it", staging.path)


def finish_save(directory: Path, *, is_alone: bool = False) -> None:
    """Clear away what saves that were cut short have left: every file is then the old one, or every one the new.

    Args:
        directory: where they saved to.
        is_alone: nobody else saves there now, so that every folder is one that was left; else those of processes that
            run, other than this one, stay.

    Raises:
        FileError, FileFormatError: a file cannot be put in its place, or files were changed since.
    """
    journal.undo(directory)
    for folder in staging_folders(directory):
        pid = pid_of(folder)
        if is_alone or pid == os.getpid() or not (pid is not None and is_running(pid)):
            staging = Staging(folder)
            staging.settle()
            staging.remove()


def files_of_interrupted_save(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Where a reader finds these files of a directory in which a save may have been cut short: name → path.

    Raises:
        FileFormatError: its files were changed or removed since, so that old and new ones may be mixed; the error names
            them.
    """
    found = {name: directory / name for name in names if (directory / name).is_file()}
    cut_short = journal.read_journal(directory)
    if cut_short is not None:
        for name, path in journal.old_files(directory, cut_short).items():
            found.pop(name, None)
            if path is not None and name in set(names):
                found[name] = path
    return found


class LeftFolder(NamedTuple):
    """A staging folder that is in a directory.

    Attributes:
        path: the folder.
        process: the number of the process that made it; None where its name tells none.
        is_running: whether there is a process of that number on this machine, whose save may be going on; True where
            that cannot be told (Windows).
        is_needed: whether files of the directory lead through the folder, so that removing it would lose them.
    """

    path: Path
    process: int | None
    is_running: bool
    is_needed: bool


def left_folders(directory: Path) -> list[LeftFolder]:
    """The staging folders in a directory, of saves that go on or were cut short.

    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp())
    >>> (directory / ".trietok-save-999999999").mkdir()
    >>> [(folder.path.name, folder.is_running, folder.is_needed) for folder in left_folders(directory)]
    [('.trietok-save-999999999', False, False)]

    Raises:
        OSError: the directory cannot be read.
    """
    left = []
    for folder in staging_folders(directory):
        pid = pid_of(folder)
        left.append(LeftFolder(folder, pid, pid is not None and is_running(pid), Staging(folder).has_pointers()))
    return left


@contextlib.contextmanager
def _told(directory: Path) -> Iterator[None]:
    """Say in every error where the save was to go."""
    try:
        yield
    except FileError:
        raise
    except DirectoryBusyError as error:
        raise FileError(
            f"cannot save to {directory}: {error} is saving there and has not ended within {lock.LONGEST_WAIT:g} s; "
            "let it go on or end it, and save again",
            path=directory,
        ) from None
    except OSError as error:
        raise FileError(f"cannot save to {directory}: {error.strerror or error}", path=directory) from error
