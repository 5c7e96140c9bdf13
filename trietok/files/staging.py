"""The staging folder of a save: the new files beside the old ones, and links that make either count
in one step.

In: a directory. Out: a `Staging` below it, whose `publish` makes its new files count and whose
`settle` ends what a killed process began.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from trietok.disk import Rights, flush_directory, flush_file, is_running, process_number
from trietok.errors import FileError

# The folder:
#
#     .trietok-save-PID/
#         new/NAME       the new files
#         old/NAME       the old files: hard links where the system has them, else copies
#         current        a symbolic link to `old`, later to `new`
#
# `Staging.publish` first replaces each file of the directory by a *pointer*, the symbolic link
# `NAME -> .trietok-save-PID/current/NAME`. As long as `current` leads to `old`, whoever opens NAME
# reads what was there before. One rename makes `current` lead to `new`, and whoever opens any NAME
# reads the new file. At last the files replace their pointers. So at every moment all files of the
# directory are the old ones or all are the new ones, for every program that opens them, and also
# after the process was killed: `settle` ends what it began, from what it finds.


STAGING = ".trietok-save-"  # and the number of the process
_OLD, _NEW, _CURRENT = "old", "new", "current"
_UP = os.path.join("..", "..", "")  # from a file in `old` to the directory
_REASONS = {
    errno.EBUSY: "; it is a mount point",
    errno.EPERM: (
        "; the file is immutable (lsattr tells), or it is another user's in a sticky directory"
    ),
}


class Staging:
    """A staging folder.

    Attributes:
        directory: where the files belong; `path`: the folder inside it; `new`, `old`: the folders
            in that.
        process: the number of the process that made it; None where its name tells none.

    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp())
    >>> (directory / ".trietok-save-999999999").mkdir()
    >>> [
    ...     (staging.process, staging.is_at_work(), staging.pointers())
    ...     for staging in Staging.all_in(directory)
    ... ]
    [(999999999, False, [])]
    """

    def __init__(self, path: Path) -> None:
        self.path, self.directory = path, path.parent
        self.new, self.old = path / _NEW, path / _OLD
        self.process = process_number(path.name.removeprefix(STAGING))

    @classmethod
    def all_in(cls, directory: str | os.PathLike[str]) -> list[Staging]:
        """Those in a directory, of saves that go on or were cut short; real folders only, no links
        to some.
        """
        return [cls(path) for path in sorted(folders_of(directory, STAGING))]

    @classmethod
    def make(cls, directory: Path) -> Staging:
        """An empty one for this process. Only this user can look into it until
        `open_to_readers`.
        """
        staging = cls(directory / f"{STAGING}{os.getpid()}")
        staging.path.mkdir(mode=0o700)
        staging.new.mkdir()
        staging.old.mkdir()
        return staging

    def is_at_work(self) -> bool:
        """Whether its process runs on this machine, so that its save may be going on; on Windows
        that is not told.
        """
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
        """Have the old file of that name, if there is one, in `old`, flushed; `rights` are its
        rights.
        """
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
        """Make the new files count in place of the old ones; an error leaves the old. `names` are
        those of both.
        """
        try:
            # Killed within this loop: some names are pointers and some are files, and all of them
            # lead to old content.
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
        """The files of the directory that lead through this folder, so that removing it would lose
        them.
        """
        folders = [
            folder for folder in (self.old, self.new) if folder.is_dir() and not folder.is_symlink()
        ]
        return sorted(
            filter(self._is_pointer, {name for folder in folders for name in os.listdir(folder)})
        )

    def leads_elsewhere(self) -> bool:
        """Whether somebody made links of its folders, by which files outside of the directory would
        be moved.
        """
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
        with telling_of(self.directory / name):
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
def telling_of(path: Path) -> Iterator[None]:
    """Say what can be done about a file that the system does not let be replaced."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, "")
        raise FileError(
            f"cannot replace {path}: {error.strerror}{reason}. The old files are as they were; save"
            " into another directory, or make the file replaceable",
            path=path,
        ) from error


def folders_of(directory: str | os.PathLike[str], prefix: str) -> list[Path]:
    with os.scandir(directory) as entries:
        found = [
            entry
            for entry in entries
            if entry.name.startswith(prefix) and entry.is_dir(follow_symlinks=False)
        ]
    return [Path(entry.path) for entry in found]
