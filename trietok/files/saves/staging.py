"""The folder inside a directory in which a save is prepared, and from which all its files come to count in one step.

In: a directory, new files. Out: the new files in place, or the old ones.

    .trietok-save-PID/
        new/NAME       the new files
        old/NAME       the old files: hard links where the system has them, else copies
        current        a symbolic link to `old`, later to `new`

`publish` first replaces each file of the directory by a *pointer*, the symbolic link
`NAME -> .trietok-save-PID/current/NAME`. As long as `current` leads to `old`, whoever opens NAME reads what was there
before. One rename makes `current` lead to `new`, and whoever opens any NAME reads the new file. At last the files
replace their pointers. So at every moment all files of the directory are the old ones or all are the new ones, for
every program that opens them, and also after the process was killed: `settle` ends what it began, from what it finds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from trietok.errors import FileError
from trietok.files.rights import Rights
from trietok.files.whole import flush_directory, flush_file

STAGING = ".trietok-save-"  # and the number of the process
_OLD, _NEW, _CURRENT = "old", "new", "current"
_UP = os.path.join("..", "..", "")  # from a file in `old` to the directory
_REASONS = {
    "EBUSY": "it is a mount point",
    "EPERM": "the file is immutable (lsattr tells), or it is another user's in a sticky directory",
}


class Staging:
    """A staging folder.

    Attributes:
        directory: where the files belong; `path`: the folder inside it; `new`, `old`: the folders in that.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.directory = path, path.parent
        self.new, self.old = path / _NEW, path / _OLD

    @classmethod
    def make(cls, directory: Path) -> Staging:
        """An empty one for this process. Only this user can look into it until `open_to_readers`."""
        staging = cls(directory / f"{STAGING}{os.getpid()}")
        staging.path.mkdir(mode=0o700)
        staging.new.mkdir()
        staging.old.mkdir()
        return staging

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
        except OSError:  # the file system has none, or the file may have none
            shutil.copyfile(file, kept)
            rights.give(kept)
            shutil.copystat(file, kept)
            flush_file(kept)

    def put_back(self, name: str) -> None:
        """Put a file of `old` in its place."""
        self._put(self.old / name, name)

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
        """Make the new files count in place of the old ones; `names` are those of both.

        Raises:
            FileError: a file cannot be replaced; every file is the old one again.
        """
        try:
            for name in names:
                self._replace(self._link(f"{self.path.name}/{_CURRENT}/{name}"), name)
            flush_directory(self.directory)
            self._switch(_NEW)
            flush_directory(self.path)  # the switch is on the disk before the pointers go
        except BaseException:
            self._switch(_OLD)
            self.settle()
            raise

    def settle(self) -> None:
        """Replace each pointer by the file it leads to, or remove it where it leads to none.

        Raises:
            FileError: a pointer cannot be replaced; it leads to the right file as before.
        """
        try:
            side = os.readlink(self.path / _CURRENT)
        except OSError:  # it had not come to pointers
            return
        if side not in (_OLD, _NEW) or self.leads_elsewhere():  # not made by `publish`
            return
        for name in sorted({name for folder in (self.old, self.new) for name in _names_in(folder)}):
            if self._is_pointer(name):
                if os.path.lexists(self.path / side / name):
                    self._put(self.path / side / name, name)
                else:
                    (self.directory / name).unlink()
        flush_directory(self.directory)

    def has_pointers(self) -> bool:
        """Whether a file of the directory leads through this folder, so that removing it would lose that file."""
        return any(self._is_pointer(name) for folder in (self.old, self.new) for name in _names_in(folder))

    def leads_elsewhere(self) -> bool:
        """Whether somebody made links of its folders, by which files outside of the directory would be moved."""
        return any(folder.is_symlink() for folder in (self.path, self.old, self.new))

    def remove(self) -> None:
        """Remove the folder, as far as this user may, unless files lead through it."""
        if not self.has_pointers():
            shutil.rmtree(self.path, ignore_errors=True)

    def _is_pointer(self, name: str) -> bool:
        try:
            return os.readlink(self.directory / name) == f"{self.path.name}/{_CURRENT}/{name}"
        except OSError:  # no link, or nothing
            return False

    def _put(self, source: Path, name: str) -> None:
        if source.is_symlink():  # of `keep_old`
            target = os.readlink(source)
            self._replace(self._link(target.removeprefix(_UP)), name)
            source.unlink()
        else:
            self._replace(source, name)

    def _replace(self, source: Path, name: str) -> None:
        try:
            os.replace(source, self.directory / name)
        except OSError as error:
            raise not_replaced(self.directory / name, error) from error

    def _link(self, target: str) -> Path:
        """A symbolic link that is not in its place yet."""
        link = self.path / "link"
        link.unlink(missing_ok=True)
        os.symlink(target, link)
        return link

    def _switch(self, side: str) -> None:
        os.replace(self._link(side), self.path / _CURRENT)


def not_replaced(path: Path, error: OSError) -> FileError:
    """What to tell of a file that the system does not let be replaced."""
    import errno

    reason = _REASONS.get(errno.errorcode.get(error.errno or 0, ""), "")
    return FileError(
        f"cannot replace {path}: {error.strerror}{f'; {reason}' if reason else ''}. The old files are as they were; "
        "save into another directory, or make the file replaceable",
        path=path,
    )


def staging_folders(directory: str | os.PathLike[str]) -> list[Path]:
    """The staging folders in a directory; real folders only, no links to some."""
    with os.scandir(directory) as entries:
        folders = [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(STAGING) and entry.is_dir(follow_symlinks=False)
        ]
    return sorted(folders)


def pid_of(folder: Path) -> int | None:
    """The process that made a staging folder; None where its name tells none."""
    process = folder.name.removeprefix(STAGING)
    return int(process) if process.isascii() and process.isdigit() and len(process) < 10 else None


def _names_in(folder: Path) -> list[str]:
    return [] if folder.is_symlink() or not folder.is_dir() else os.listdir(folder)
