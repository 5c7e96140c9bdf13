"""Saving several files at once: a reader of the directory finds all the old ones or all the new ones.

In: a directory, and a function that writes files into a folder. Out: those files in place, or the old ones.

A save goes through three states. (1) The new files are written to a staging folder inside the directory, read back and
flushed to the disk, and the old ones are kept there too; no file of the directory has changed. (2) The new files come
to count in one step: `Staging.publish` does that for every program that reads them; where the system has no symbolic
links, `publish` does it for readers that ask `files_of_interrupted_save`. An error before that step leaves the old
files. (3) The staging folder is removed. A process killed at any moment leaves the old files or the new ones, and the
next save clears away what else it left. Saves into one directory wait for each other (`alone`); a directory that is not
there yet is filled beside its path and renamed (`new_directory`).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from trietok import disk, log
from trietok.disk import Rights, checked_name, checksum, flush_directory, flush_file, is_running, process_number
from trietok.errors import FileError, FileFormatError, as_file_error, told_as
from trietok.files.formats import JOURNAL, write_text

# ---- the staging folder ----------------------------------------------------------------------------------------------
#
#     .trietok-save-PID/
#         new/NAME       the new files
#         old/NAME       the old files: hard links where the system has them, else copies
#         current        a symbolic link to `old`, later to `new`
#
# `Staging.publish` first replaces each file of the directory by a *pointer*, the symbolic link
# `NAME -> .trietok-save-PID/current/NAME`. As long as `current` leads to `old`, whoever opens NAME reads what was there
# before. One rename makes `current` lead to `new`, and whoever opens any NAME reads the new file. At last the files
# replace their pointers. So at every moment all files of the directory are the old ones or all are the new ones, for
# every program that opens them, and also after the process was killed: `settle` ends what it began, from what it finds.


STAGING = ".trietok-save-"  # and the number of the process
_OLD, _NEW, _CURRENT = "old", "new", "current"
_UP = os.path.join("..", "..", "")  # from a file in `old` to the directory
_REASONS = {
    errno.EBUSY: "; it is a mount point",
    errno.EPERM: "; the file is immutable (lsattr tells), or it is another user's in a sticky directory",
}


class Staging:
    """A staging folder.

    Attributes:
        directory: where the files belong; `path`: the folder inside it; `new`, `old`: the folders in that.
        process: the number of the process that made it; None where its name tells none.

    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp())
    >>> (directory / ".trietok-save-999999999").mkdir()
    >>> [(staging.process, staging.is_at_work(), staging.pointers()) for staging in Staging.all_in(directory)]
    [(999999999, False, [])]
    """

    def __init__(self, path: Path) -> None:
        self.path, self.directory = path, path.parent
        self.new, self.old = path / _NEW, path / _OLD
        self.process = process_number(path.name.removeprefix(STAGING))

    @classmethod
    def all_in(cls, directory: str | os.PathLike[str]) -> list[Staging]:
        """Those in a directory, of saves that go on or were cut short; real folders only, no links to some."""
        return [cls(path) for path in sorted(_folders(directory, STAGING))]

    @classmethod
    def make(cls, directory: Path) -> Staging:
        """An empty one for this process. Only this user can look into it until `open_to_readers`."""
        staging = cls(directory / f"{STAGING}{os.getpid()}")
        staging.path.mkdir(mode=0o700)
        staging.new.mkdir()
        staging.old.mkdir()
        return staging

    def is_at_work(self) -> bool:
        """Whether its process runs on this machine, so that its save may be going on; on Windows that is not told."""
        return self.process is not None and is_running(self.process)

    def open_to_readers(self) -> None:
        """Let those who may read the directory read the folder: pointers lead them through it."""
        status = os.stat(self.directory)
        for folder in (self.path, self.new, self.old):
            with contextlib.suppress(OSError, AttributeError):  # root may give it to another user
                os.chown(folder, status.st_uid, status.st_gid)
            with contextlib.suppress(OSError):
                os.chmod(folder, status.st_mode & 0o775 | 0o700)

    def keep_old(self, name: str, rights: Rights | None) -> None:
        """Have the old file of that name, if there is one, in `old`, flushed; `rights` are its rights."""
        file, kept = self.directory / name, self.old / name
        if file.is_symlink():
            target = os.readlink(file)
            os.symlink(target if os.path.isabs(target) else _UP + target, kept)
            return
        if rights is None:
            return
        try:
            os.link(file, kept)
        except OSError:  # FAT has no hard links, and an immutable file may get none
            shutil.copyfile(file, kept)
            rights.give(kept)
            shutil.copystat(file, kept)
            flush_file(kept)

    def can_point(self) -> bool:
        """Whether pointers are possible here; makes `current`, which leads to `old`."""
        if os.name != "posix":  # elsewhere a link to a folder cannot be replaced in one step
            return False
        try:
            self._switch(_OLD)
            return (self.path / _CURRENT / ".").is_dir()
        except OSError:
            return False

    def flush(self) -> None:
        """Have the names in the folder, and its own, on the disk."""
        for folder in (self.new, self.old, self.path, self.directory):
            flush_directory(folder)

    def publish(self, names: Iterable[str]) -> None:
        """Make the new files count in place of the old ones; an error leaves the old. `names` are those of both."""
        try:
            # Killed within this loop: some names are pointers and some are files, and all of them lead to old content.
            for name in names:
                self._replace(self._link(f"{self.path.name}/{_CURRENT}/{name}"), name)
            flush_directory(self.directory)
            self._switch(_NEW)
            flush_directory(self.path)  # the switch is on the disk before the pointers go
        except BaseException:  # Ctrl-C too: whoever catches it finds the directory as it was
            self._switch(_OLD)
            self.settle()
            raise

    def settle(self) -> None:
        """Replace each pointer by the file it leads to, or remove it where it leads to none.

        One that cannot be replaced leads to the right file as before.
        """
        try:
            side = os.readlink(self.path / _CURRENT)
        except OSError:  # it had not come to pointers
            return
        if side not in (_OLD, _NEW) or self.leads_elsewhere():  # not made by `publish`
            return
        for name in self.pointers():
            if os.path.lexists(self.path / side / name):
                self.put(self.path / side / name)
            else:
                (self.directory / name).unlink()
        flush_directory(self.directory)

    def pointers(self) -> list[str]:
        """The files of the directory that lead through this folder, so that removing it would lose them."""
        folders = [folder for folder in (self.old, self.new) if folder.is_dir() and not folder.is_symlink()]
        return sorted(filter(self._is_pointer, {name for folder in folders for name in os.listdir(folder)}))

    def leads_elsewhere(self) -> bool:
        """Whether somebody made links of its folders, by which files outside of the directory would be moved."""
        return any(folder.is_symlink() for folder in (self.path, self.old, self.new))

    def remove(self) -> None:
        """Remove the folder, as far as this user may, unless files lead through it."""
        if not self.pointers():
            shutil.rmtree(self.path, ignore_errors=True)

    def _is_pointer(self, name: str) -> bool:
        try:
            return os.readlink(self.directory / name) == f"{self.path.name}/{_CURRENT}/{name}"
        except OSError:  # no link, or nothing
            return False

    def put(self, source: Path) -> None:
        """Put a file of `old` or `new` in its place."""
        if source.is_symlink():  # of `keep_old`
            self._replace(self._link(os.readlink(source).removeprefix(_UP)), source.name)
            source.unlink()
        else:
            self._replace(source, source.name)

    def _replace(self, source: Path, name: str) -> None:
        with _telling_of(self.directory / name):
            os.replace(source, self.directory / name)

    def _link(self, target: str) -> Path:
        """A symbolic link that is not in its place yet."""
        link = self.path / "link"
        link.unlink(missing_ok=True)
        os.symlink(target, link)
        return link

    def _switch(self, side: str) -> None:
        os.replace(self._link(side), self.path / _CURRENT)


@contextlib.contextmanager
def _telling_of(path: Path) -> Iterator[None]:
    """Say what can be done about a file that the system does not let be replaced."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "")
        raise FileError(
            f"cannot replace {path}: {error.strerror}{reason}. The old files are as they were; save into another "
            "directory, or make the file replaceable",
            path=path,
        ) from error


def _folders(directory: str | os.PathLike[str], prefix: str) -> list[Path]:
    with os.scandir(directory) as entries:
        found = [entry for entry in entries if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)]
    return [Path(entry.path) for entry in found]


# ---- one process, and one thread of it, at a time in a directory -----------------------------------------------------
#
# The lock belongs to an open directory, so it ends with its process, and a directory gets no file for it. A forked
# process inherits what is open: there it is closed at once, so that a child that goes on keeps nobody waiting.


LONGEST_WAIT = 30.0  # seconds
_LONGEST_COMMAND = 120  # characters of a command line in an error
# A file system answers with one of these where directories cannot be locked.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

_handles: set[int] = set()  # open in this process for a lock


class DirectoryBusyError(Exception):
    """Another process, or thread, is at work in the directory. The message names it: `process 12 (python a.py)`."""


@contextlib.contextmanager
def alone(directory: str | os.PathLike[str], longest_wait: float | None = None) -> Iterator[bool]:
    """Let no other process or thread into a block like this one for the same directory, which has to exist.

    Another block is waited for, `LONGEST_WAIT` unless `longest_wait` is given; then that is a DirectoryBusyError.
    Yields whether that is certain: where the system has no such locks (Windows, some network file systems), the block
    is entered at once, and two at a time are the caller's to avoid.
    """
    try:
        import fcntl
    except ImportError:  # not on every system
        yield False
        return
    handle = os.open(directory, os.O_RDONLY)
    _handles.add(handle)
    try:
        yield _locked(handle, directory, LONGEST_WAIT if longest_wait is None else longest_wait)
    finally:
        if handle in _handles:  # else this is a forked child, in which it is closed already
            _handles.remove(handle)
            with contextlib.suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # also for a child that was forked without Python's knowledge
            os.close(handle)


def _locked(handle: int, directory: str | os.PathLike[str], longest_wait: float) -> bool:
    import fcntl

    end, pause = time.monotonic() + longest_wait, 0.001
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            left = end - time.monotonic()
            if left <= 0:
                raise DirectoryBusyError(_described(_holder(handle, directory))) from None
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.1)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False


def _holder(handle: int, directory: str | os.PathLike[str]) -> int | None:
    """The process that has the lock, as far as the system or a staging folder tells."""
    status = os.fstat(handle)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with contextlib.suppress(OSError, ValueError), open("/proc/locks", encoding="ascii") as locks:
        for line in locks:
            # 3: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF; a line with -> is of a process that waits
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5] == place and int(fields[4]) > 0:
                return int(fields[4])
    pids = [staging.process for staging in Staging.all_in(directory) if staging.process is not None]
    return pids[0] if len(pids) == 1 else None


def _described(pid: int | None) -> str:
    if pid is None:
        return "another process"
    if pid == os.getpid():
        return f"another thread of this process ({pid})"
    command, stopped = "", ""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            words = file.read(4 * _LONGEST_COMMAND).rstrip("\0").replace("\0", " ")
        shown = "".join(char if char.isprintable() else "?" for char in words)
        command = f" ({shown[:_LONGEST_COMMAND]}{'...' if len(shown) > _LONGEST_COMMAND else ''})" if shown else ""
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stopped = ", which is stopped," if file.read().rpartition(")")[2].split()[:1] == ["T"] else ""
    return f"process {pid}{command}{stopped}"


def _close_in_child() -> None:
    for handle in _handles:
        with contextlib.suppress(OSError):
            os.close(handle)
    _handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)


# ---- where the system has no symbolic links: renames, and a note to undo them ----------------------------------------
#
# The journal, `.trietok-save.json`, says which files are being replaced. As long as it is there, the old files count:
# trietok reads them from the staging folder where they are no longer in place, and `undo` puts them back. Taking the
# journal away is the one step with which the new files count. A program that knows no journal sees some of either until
# then.


_SAVED = (".jinja", ".json", ".log", ".txt")  # how the names of all files end that are saved
LARGEST_JOURNAL = 1 << 20  # bytes: it names a few files


class Journal(NamedTuple):
    """The staging folder, and of each file its checksums before and after the save; None for no file."""

    staging: Staging
    files: dict[str, tuple[str | None, str | None]]


def publish(staging: Staging, names: Iterable[str]) -> None:
    """Make the new files of a staging folder count in place of the old ones, as `Staging.publish` does it."""
    files = {name: (_checksum_or_none(staging.old / name), _checksum_or_none(staging.new / name)) for name in names}
    directory = staging.directory
    write_text(staging.path / JOURNAL, json.dumps({"staging": staging.path.name, "files": files}, indent=1))
    os.replace(staging.path / JOURNAL, directory / JOURNAL)
    flush_directory(directory)  # else a power failure could keep a new file and lose the note that undoes it
    try:
        for name, (_, new) in files.items():
            with _telling_of(directory / name):
                if new is None:
                    (directory / name).unlink(missing_ok=True)
                else:
                    os.replace(staging.new / name, directory / name)
        flush_directory(directory)
        os.replace(directory / JOURNAL, staging.path / JOURNAL)
        flush_directory(directory)
    except BaseException:
        if (staging.path / JOURNAL).exists():
            os.replace(staging.path / JOURNAL, directory / JOURNAL)
        undo(directory)
        raise


def undo(directory: Path) -> None:
    """Put the old files back that a save had replaced when it was cut short; nothing if there is no journal."""
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

    A file that is neither the old nor the new one was changed by somebody else, which is a FileFormatError.
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
            f"a save to {directory} was cut short and its files have been changed since: {', '.join(mixed)} "
            f"{'is' if len(mixed) == 1 else 'are'} neither what was there before nor what was saved, so old and new "
            f"would be mixed; remove {JOURNAL} if the files are as they should be, or remove all of them and save the "
            "tokenizer again",
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
        raise FileError(f"cannot read {path}, left by a save that was cut short: {error}", path=path) from error
    try:
        content = json.loads(text)
        folder, files = content["staging"], content["files"]
        checksums = [checksum for both in files.values() for checksum in both]
        is_ours = (
            folder.startswith(STAGING)
            and all(map(_is_plain_name, [folder, *files]))
            and all(name.endswith(_SAVED) for name in files)  # a journal from elsewhere takes no weights away
            and all(isinstance(checksum, str | None) for checksum in checksums)
        )
        staging = Staging(directory / folder)
        if not is_ours or staging.leads_elsewhere():
            raise ValueError
        return Journal(staging, {name: (old, new) for name, (old, new) in files.items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileFormatError(
            f"{path}, left by a save that was cut short, is damaged; remove it if the other files are as they should "
            "be, or remove all of them and save the tokenizer again",
            path=path,
        ) from None


def _is_plain_name(name: object) -> bool:
    """Whether it names something in the directory itself: a journal from elsewhere must not reach outside."""
    return isinstance(name, str) and name == os.path.basename(name) and name not in ("", ".", "..") and "\0" not in name


def _checksum_or_none(path: Path) -> str | None:
    try:
        return checksum(path)
    except FileNotFoundError:
        return None


def save_files(directory: Path, write: Callable[[Path], None], obsolete: Iterable[str] = ()) -> list[Path]:
    """Put files into a directory, which is made if need be, all of them or none; their paths, sorted by name.

    `write` writes them into the folder it is given; files named in `obsolete` must not stay beside them. It is a
    FileError where one cannot be written or replaced, or another save does not end; the old files are as they were.
    """
    with made_while(directory), _waiting(directory) as is_alone:
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
    """Make a directory, if need be, for the block to fill; where that fails, what was made is gone again."""
    process = os.getpid()
    missing = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    try:
        with as_file_error(f"cannot make the directory {directory}", directory):
            directory.mkdir(parents=True, exist_ok=True)
            for folder in missing:
                flush_directory(folder.parent)
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # one that holds something by now
            for folder in missing if os.getpid() == process else ():  # not in a child that was forked in the block
                folder.rmdir()
        raise


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
    """Let the files replace the links to them. They count already, so that what goes wrong here is no error."""
    try:
        staging.settle()
        staging.remove()
    except OSError:  # the next save does it
        log.warning("%s stays until the next save: files of the directory lead through it", staging.path)


def finish_save(directory: Path, *, is_alone: bool = False) -> None:
    """Clear away what saves that were cut short have left: every file is then the old one, or every one the new.

    With `is_alone` nobody else saves there now, so that every folder was left; else those of processes that run stay.
    """
    undo(directory)
    for staging in Staging.all_in(directory):
        if is_alone or staging.process == os.getpid() or not staging.is_at_work():
            staging.settle()
            staging.remove()


def files_of_interrupted_save(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Where a reader finds these files of a directory in which a save may have been cut short: name → path."""
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
                f"cannot save to {directory}: {error} is saving there and has not ended within {LONGEST_WAIT:g} s; "
                "let it go on or end it, and save again",
                path=directory,
            ) from None


# ---- a directory that appears with all its files or not at all -------------------------------------------------------
#
# It is filled inside a folder beside its path and renamed, so a process killed at any moment leaves nothing under the
# path; what it leaves beside it the next one clears away.


_STAGING = ".trietok-new-"  # then the name of the directory, the number of the process and another number
_numbers = count()  # no two folders of a process have the same name, whichever thread makes them


def save_into(directory: str | os.PathLike[str], save: Callable[[Path], Iterable[Path]]) -> list[Path]:
    """Have `save` write into a directory; one that is not there yet appears with all that is saved, or not at all.

    `save` is given the directory or the folder that becomes it, and returns paths in it; it may be called again.
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

    It is a FileError where `path` is neither free nor an empty directory, or something cannot be written.
    """
    target = checked_new(path)
    with as_file_error(f"cannot write {target}", target, names_file=True), made_while(target.parent):
        _clear(target)
        folders = (target.parent / f"{_beginning(target)}{os.getpid()}-{number}" for number in _numbers)
        staging = next(folder for folder in folders if not os.path.lexists(folder))
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
                for root, _, names in os.walk(new):
                    for name in names:
                        flush_file(os.path.join(root, name))
                    flush_directory(root)
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
    """The path, links resolved, if a new directory can take it; clears away what a killed save has left there."""
    target = Path(os.path.realpath(checked_name(path)))
    with as_file_error(f"cannot write to {os.fspath(path)}", path):
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
    return target


def _beginning(target: Path) -> str:
    return f"{_STAGING}{target.name[:40]}-"  # a name may have 255 bytes


def _clear(target: Path) -> None:
    """Remove what processes have left that were to make the same directory and were killed."""
    prefix = _beginning(target)
    for folder in _folders(target.parent, prefix):
        if not re.fullmatch("[0-9]+-[0-9]+", rest := folder.name.removeprefix(prefix)):
            continue  # of a directory whose name begins like this one's
        pid = process_number(rest.partition("-")[0])
        if pid is not None and pid != os.getpid() and is_running(pid):
            continue
        with contextlib.suppress(OSError, DirectoryBusyError), alone(folder, longest_wait=0) as is_alone:
            if is_alone or pid != os.getpid():
                shutil.rmtree(folder, ignore_errors=True)
