"""Make a directory that appears with all its files, or not at all.

It is filled inside a hidden directory beside its path and renamed. A process that is killed leaves
nothing under the path; the next one removes what it has left beside it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from trietok import disk
from trietok.disk import NEW, Path_, checked_name, flush_directory, flush_file
from trietok.errors import FileError, as_file_error, errors_naming


@contextlib.contextmanager
def new_directory(path: Path_) -> Iterator[Path]:
    """Yield a directory to fill, which takes the place of `path` when the block ends.

    It is filled inside a hidden directory beside the path and renamed. An error leaves nothing.

    Raises:
        FileError: `path` is neither free nor an empty directory, or something cannot be written.
    """
    target = checked_new(path)
    with (
        as_file_error(f"cannot write {target}", target, names_file=True),
        _made_while(target.parent),
    ):
        _remove_abandoned(target)
        with _hidden_directory(target) as hidden:
            new = hidden / "new"
            new.mkdir()
            with errors_naming(path, instead_of=new):
                yield new
            if target.is_dir():
                os.chmod(new, stat.S_IMODE(target.stat().st_mode))
            _flush_tree(new)
            if os.name != "posix" and target.is_dir():  # there a rename replaces no directory
                target.rmdir()
            os.rename(new, target)
        flush_directory(target.parent)


def checked_new(path: Path_) -> Path:
    """Return the path, links resolved, if a new directory can take it; else raise a FileError."""
    with as_file_error(f"cannot write to {os.fspath(path)}", path):
        target = Path(os.path.realpath(checked_name(path)))
        taken = "a file" if not target.is_dir() else "not empty" if any(target.iterdir()) else ""
        if taken and os.path.lexists(target):
            raise FileError(
                f"{os.fspath(path) or target} is there already, and is {taken}; give a directory"
                " that does not exist or is empty",
                path=path,
            )
    return target


def make_directory(directory: Path_) -> list[Path]:
    """Make a directory and those above it, unless they are there; return those that were made."""
    path = Path(directory)
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        flush_directory(folder.parent)
    return missing


@contextlib.contextmanager
def _made_while(directory: Path) -> Iterator[None]:
    """Make a directory for the block; if that fails, what was made is gone again."""
    made = make_directory(directory)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # one that holds something by now
            for folder in made:
                folder.rmdir()
        raise


def _hidden_start(target: Path) -> str:
    return f".{target.name[:40]}-"  # a name may have 255 bytes


@contextlib.contextmanager
def _hidden_directory(target: Path) -> Iterator[Path]:
    """Make a hidden directory beside a path, locked until the block ends and it is removed."""
    while True:
        hidden = target.parent / f"{_hidden_start(target)}{secrets.token_hex(4)}{NEW}"
        is_ours = False
        try:
            hidden.mkdir(mode=0o700)
            # Between the two, another process may have taken it for an abandoned one.
            with contextlib.ExitStack() as stack:
                with contextlib.suppress(FileNotFoundError):
                    is_locked = stack.enter_context(disk.locked_directory(hidden))
                    is_ours = is_locked is not False and hidden.is_dir()
                if is_ours:
                    yield hidden
                    return
        finally:
            shutil.rmtree(hidden, ignore_errors=True)


def _remove_abandoned(target: Path) -> None:
    """Remove the hidden directories of processes that were killed while they made this one."""
    start = _hidden_start(target)
    for entry in disk.entries_in(target.parent):
        if entry.name.startswith(start) and entry.name.endswith(NEW):
            with contextlib.suppress(OSError):
                is_ours = entry.is_dir(follow_symlinks=False) and os.listdir(entry.path) in (
                    [],
                    ["new"],
                )
                if is_ours:
                    with disk.locked_directory(entry.path) as is_locked:
                        if is_locked:
                            shutil.rmtree(entry.path, ignore_errors=True)


def _flush_tree(directory: Path) -> None:
    for root, _, names in os.walk(directory):
        for name in names:
            with open(os.path.join(root, name), "r+b") as file:
                flush_file(file)
        flush_directory(root)
