"""Saving several files at once: a reader of the directory finds all the old ones or all the new
ones.

In: a directory, and a function that writes files into a folder. Out: those files in place, or the
old ones.

A save goes through three states. (1) The new files are written to a staging folder inside the
directory, read back and flushed to the disk, and the old ones are kept there too; no file of the
directory has changed. (2) The new files come to count in one step: `Staging.publish` does that for
every program that reads them; where the system has no symbolic links, `publish` does it for readers
that ask `files_of_interrupted_save`. An error before that step leaves the old files. (3) The
staging folder is removed. A process killed at any moment leaves the old files or the new ones, and
the next save clears away what else it left. Saves into one directory wait for each other (`alone`);
a directory that is not there yet is filled beside its path and renamed (`new_directory`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from trietok import disk
from trietok.disk import (
    checked_name,
    checksum,
    flush_directory,
    flush_file,
    is_running,
    process_number,
)
from trietok.errors import FileError, FileFormatError, as_file_error, errors_naming
from trietok.files import directory_lock
from trietok.files.directory_lock import DirectoryBusyError, alone
from trietok.files.formats import JOURNAL, write_text
from trietok.files.staging import STAGING, Staging, folders_of, telling_of

logger = logging.getLogger("trietok")

# ---- where the system has no symbolic links: renames, and a note to undo them --------------------
#
# The journal, `.trietok-save.json`, says which files are being replaced. As long as it is there,
# the old files count: trietok reads them from the staging folder where they are no longer in place,
# and `undo` puts them back. Taking the journal away is the one step with which the new files count.
# A program that knows no journal sees some of either until then.


_SAVED = (".jinja", ".json", ".log", ".txt")  # how the names of all files end that are saved
LARGEST_JOURNAL = 1 << 20  # bytes: it names a few files


class Journal(NamedTuple):
    """The staging folder, and of each file its checksums before and after the save; None for no
    file.
    """

    staging: Staging
    files: dict[str, tuple[str | None, str | None]]


def publish(staging: Staging, names: Iterable[str]) -> None:
    """Make the new files of a staging folder count in place of the old ones, as `Staging.publish`
    does it.
    """
    files = {
        name: (_checksum_or_none(staging.old / name), _checksum_or_none(staging.new / name))
        for name in names
    }
    directory = staging.directory
    write_text(
        staging.path / JOURNAL, json.dumps({"staging": staging.path.name, "files": files}, indent=1)
    )
    os.replace(staging.path / JOURNAL, directory / JOURNAL)
    # else a power failure could keep a new file and lose the note that undoes it
    flush_directory(directory)
    try:
        for name, (_, new) in files.items():
            with telling_of(directory / name):
                if new is None:
                    (directory / name).unlink(missing_ok=True)
                else:
                    os.replace(staging.new / name, directory / name)
        flush_directory(directory)
        os.replace(directory / JOURNAL, staging.path / JOURNAL)
        flush_directory(directory)
    except BaseException:
        # the journal was taken away, and that may not be on the disk: only by it `undo` knows what
        # was there
        if (staging.path / JOURNAL).exists():
            os.replace(staging.path / JOURNAL, directory / JOURNAL)
        undo(directory)
        raise


def undo(directory: Path) -> None:
    """Put the old files back that a save had replaced when it was cut short; nothing if there is no
    journal.
    """
    journal = read_journal(directory)
    if journal is None:
        return
    for name, path in old_files(directory, journal).items():
        if path is None:
            (directory / name).unlink(missing_ok=True)
        elif path.parent != directory:
            journal.staging.put(path)
    flush_directory(directory)
    (directory / JOURNAL).unlink(missing_ok=True)


def old_files(directory: Path, journal: Journal) -> dict[str, Path | None]:
    """Where the files are that count: name → path; None for a name that had no file.

    A file that is neither the old nor the new one was changed by somebody else, which is a
    FileFormatError.
    """
    found: dict[str, Path | None] = {}
    mixed: list[str] = []
    for name, (old, new) in journal.files.items():
        there, kept = directory / name, journal.staging.old / name
        present = _checksum_or_none(there)
        if present == old:
            found[name] = None if old is None else there
        elif present == new and (old is None or _checksum_or_none(kept) == old):
            found[name] = None if old is None else kept
        else:
            mixed.append(name)
    if mixed:
        raise FileFormatError(
            f"a save to {directory} was cut short and its files have been changed since:"
            f" {', '.join(mixed)} {'is' if len(mixed) == 1 else 'are'} neither what was there"
            f" before nor what was saved, so old and new would be mixed; remove {JOURNAL} if the"
            " files are as they should be, or remove all of them and save the tokenizer again",
            path=directory,
        )
    return found


def read_journal(directory: Path) -> Journal | None:
    """The journal of a directory; None if there is none."""
    path = directory / JOURNAL
    try:
        text = disk.read_regular(path, LARGEST_JOURNAL).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, FileFormatError) as error:
        raise FileError(
            f"cannot read {path}, left by a save that was cut short: {error}", path=path
        ) from error
    try:
        content = json.loads(text)
        folder, files = content["staging"], content["files"]
        checksums = [checksum for both in files.values() for checksum in both]
        is_ours = (
            folder.startswith(STAGING)
            and all(map(_is_plain_name, [folder, *files]))
            # a journal from elsewhere takes no weights away
            and all(name.endswith(_SAVED) for name in files)
            and all(isinstance(checksum, str | None) for checksum in checksums)
        )
        staging = Staging(directory / folder)
        if not is_ours or staging.leads_elsewhere():
            raise ValueError
        return Journal(staging, {name: (old, new) for name, (old, new) in files.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileFormatError(
            f"{path}, left by a save that was cut short, is damaged; remove it if the other files"
            " are as they should be, or remove all of them and save the tokenizer again",
            path=path,
        ) from None


def _is_plain_name(name: object) -> bool:
    """Whether it names something in the directory itself: a journal from elsewhere must not reach
    outside.
    """
    return (
        isinstance(name, str)
        and name == os.path.basename(name)
        and name not in ("", ".", "..")
        and "\0" not in name
    )


def _checksum_or_none(path: Path) -> str | None:
    try:
        return checksum(path)
    except FileNotFoundError:
        return None


def save_files(
    directory: Path, write: Callable[[Path], None], obsolete: Iterable[str] = ()
) -> list[Path]:
    """Put files into a directory, which is made if need be, all of them or none; their paths,
    sorted by name.

    `write` writes them into the folder it is given; files named in `obsolete` must not stay beside
    them. It is a FileError where one cannot be written or replaced, or another save does not end;
    the old files are as they were.
    """
    with made_while(directory), _waiting(directory) as is_alone:
        finish_save(directory, is_alone=is_alone)
        process = os.getpid()
        try:
            staging = Staging.make(directory)
            with errors_naming(directory, instead_of=staging.new):
                write(staging.new)
            names = sorted(path.name for path in staging.new.iterdir())
            gone = set(obsolete) - set(names)
            _replace(
                staging,
                [*names, *sorted(name for name in gone if os.path.lexists(directory / name))],
            )
            _tidy(staging)
        except BaseException:
            # not in a child that was forked in `write`: there the save goes on
            if os.getpid() == process:
                with contextlib.suppress(OSError):
                    finish_save(directory, is_alone=is_alone)
            raise
    return [directory / name for name in names]


@contextlib.contextmanager
def made_while(directory: Path) -> Iterator[None]:
    """Make a directory, if need be, for the block to fill; where that fails, what was made is gone
    again.
    """
    process, made = os.getpid(), _missing(directory)
    try:
        with as_file_error(f"cannot make the directory {directory}", directory):
            make_directory(directory)
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # one that holds something by now
            # not in a child that was forked in the block
            for folder in made if os.getpid() == process else ():
                folder.rmdir()
        raise


def make_directory(directory: Path) -> None:
    """Make a directory, and those above it, unless they are there; their names are on the disk
    then.
    """
    missing = _missing(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        flush_directory(folder.parent)


def _missing(directory: Path) -> list[Path]:
    return [folder for folder in (directory, *directory.parents) if not folder.exists()]


def _replace(staging: Staging, names: list[str]) -> None:
    """Make the new files count; `names` are those of the old and new ones."""
    for name in names:
        rights = disk.rights_to_keep(staging.directory / name)
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
        publish(staging, names)


def _tidy(staging: Staging) -> None:
    """Let the files replace the links to them. They count already, so that what goes wrong here is
    no error.
    """
    try:
        staging.settle()
        staging.remove()
    except OSError:  # the next save does it
        logger.warning(
            "%s stays until the next save: files of the directory lead through it", staging.path
        )


def finish_save(directory: Path, *, is_alone: bool = False) -> None:
    """Clear away what saves that were cut short have left: every file is then the old one, or every
    one the new.

    With `is_alone` nobody else saves there now, so that every folder was left; else those of
    processes that run stay.
    """
    undo(directory)
    for staging in Staging.all_in(directory):
        if is_alone or staging.process == os.getpid() or not staging.is_at_work():
            staging.settle()
            staging.remove()


def files_of_interrupted_save(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Where a reader finds these files of a directory in which a save may have been cut short: name
    → path.
    """
    found = {name: directory / name for name in names if (directory / name).is_file()}
    cut_short = read_journal(directory)
    if cut_short is not None:
        for name, path in old_files(directory, cut_short).items():
            found.pop(name, None)
            if path is not None and name in set(names):
                found[name] = path
    return found


@contextlib.contextmanager
def _waiting(directory: Path) -> Iterator[bool]:
    """`alone` in a directory to save to; every error says where the save was to go."""
    with as_file_error(f"cannot save to {directory}", directory):
        try:
            with alone(directory) as is_alone:
                yield is_alone
        except DirectoryBusyError as error:
            raise FileError(
                f"cannot save to {directory}: {error} is saving there and has not ended within "
                f"{directory_lock.LONGEST_WAIT:g} s; let it go on or end it, and save again",
                path=directory,
            ) from None


# ---- a directory that appears with all its files or not at all -----------------------------------
#
# It is filled inside a folder beside its path and renamed, so a process killed at any moment leaves
# nothing under the path; what it leaves beside it the next one clears away.


_STAGING = (  # then the name of the directory, the number of the process and another number
    ".trietok-new-"
)
_numbers = count()  # no two folders of a process have the same name, whichever thread makes them


def save_into(
    directory: str | os.PathLike[str], save: Callable[[Path], Iterable[Path]]
) -> list[Path]:
    """Have `save` write into a directory; one that is not there yet appears with all that is saved,
    or not at all.

    `save` is given the directory or the folder that becomes it, and returns paths in it; it may be
    called again.
    """
    if not os.path.exists(checked_name(directory)):
        try:
            with new_directory(directory) as staging:
                return [Path(directory, path.relative_to(staging)) for path in save(staging)]
        except FileError:
            # Another process has made the directory meanwhile, or the file system renames none;
            # else it fails again, with the name that the user gave.
            pass
    return list(save(Path(directory)))


@contextlib.contextmanager
def new_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A directory to fill, which takes the place of `path` when the block ends; where it fails
    there is none.

    It is a FileError where `path` is neither free nor an empty directory, or something cannot be
    written.
    """
    target = checked_new(path)
    with (
        as_file_error(f"cannot write {target}", target, names_file=True),
        made_while(target.parent),
    ):
        _clear(target)
        folders = (
            target.parent / f"{_beginning(target)}{os.getpid()}-{number}" for number in _numbers
        )
        staging = next(folder for folder in folders if not os.path.lexists(folder))
        process = os.getpid()
        try:
            staging.mkdir()
            with alone(staging):
                new = staging / "new"  # a directory of its own: to save into it may need its lock
                new.mkdir()
                with errors_naming(path, instead_of=new):
                    yield new
                if target.is_dir():
                    os.chmod(new, stat.S_IMODE(target.stat().st_mode))
                for root, _, names in os.walk(new):
                    for name in names:
                        flush_file(os.path.join(root, name))
                    flush_directory(root)
                # elsewhere a rename replaces no directory
                if os.name != "posix" and target.is_dir():
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
    """The path, links resolved, if a new directory can take it; clears away what a killed save has
    left there.
    """
    target = Path(os.path.realpath(checked_name(path)))
    with as_file_error(f"cannot write to {os.fspath(path)}", path):
        if target.is_dir():
            unfinished = (FileError, FileFormatError, DirectoryBusyError)  # then it is not empty
            with contextlib.suppress(*unfinished), alone(target, longest_wait=0) as is_alone:
                finish_save(target, is_alone=is_alone)
        taken = "a file" if not target.is_dir() else "not empty" if any(target.iterdir()) else ""
        if taken and os.path.lexists(target):
            raise FileError(
                f"{os.fspath(path) or target} is there already, and is {taken}; give a directory"
                " that does not exist or is empty",
                path=path,
            )
    return target


def _beginning(target: Path) -> str:
    return f"{_STAGING}{target.name[:40]}-"  # a name may have 255 bytes


def _clear(target: Path) -> None:
    """Remove what processes have left that were to make the same directory and were killed."""
    prefix = _beginning(target)
    for folder in folders_of(target.parent, prefix):
        if not re.fullmatch("[0-9]+-[0-9]+", rest := folder.name.removeprefix(prefix)):
            continue  # of a directory whose name begins like this one's
        pid = process_number(rest.partition("-")[0])
        if pid is not None and pid != os.getpid() and is_running(pid):
            continue
        with (
            contextlib.suppress(OSError, DirectoryBusyError),
            alone(folder, longest_wait=0) as is_alone,
        ):
            # without locks, another thread of this process may be at work in one of its own
            if is_alone or pid != os.getpid():
                shutil.rmtree(folder, ignore_errors=True)
