"""Replacing several files of a directory at once: a reader finds all the old ones or all the new ones.

In: a function that writes files into a directory. Out: those files in place.

A save goes through four states. (1) The new files are written to a staging folder inside the directory and flushed to
the disk; nothing of the old has changed. (2) A journal is put in place by one rename: from here on the save is done. It
names the new files with their checksums, and old ones that have to go. (3) The new files are renamed into place one
after the other. (4) The journal and the staging folder are removed. A process killed in (1) leaves the old files; one
killed later leaves a journal, by which a reader takes what is still in the staging folder from there. The next save
finishes or clears away what an earlier one left.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from trietok.errors import FileError, FileFormatError
from trietok.files.formats import JOURNAL, write_text
from trietok.files.open_regular import open_regular, read_regular
from trietok.files.whole import flush_directory

STAGING = ".trietok-save-"  # and the number of the process: the folder it writes to
_LARGEST_JOURNAL = 1 << 20  # bytes: it names a few files
_TAKEN_AWAY = ("added_tokens.json", "tokenizer.json", "vocab.txt")  # the files that a save may remove


def save_files(directory: Path, write: Callable[[Path], None], obsolete: Iterable[str] = ()) -> list[Path]:
    """Put files into a directory, which is made if need be, all of them or none.

    Args:
        directory: where they belong.
        write: writes them into the folder it is given.
        obsolete: names of files that must not stay beside them, where `write` has not written them.

    Returns:
        The files' paths, sorted by name.

    Raises:
        FileError: something cannot be written; the old files are as they were.
        ValueError: a name in `obsolete` is not one that a save may take away.
    """
    obsolete = list(obsolete)
    unknown = [name for name in obsolete if not name.endswith(_TAKEN_AWAY)]
    if unknown:  # a journal with such a name would be taken for a damaged one
        raise ValueError(f"a save may not take away {', '.join(unknown)}; it may: {', '.join(_TAKEN_AWAY)}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the directory {directory}: {error.strerror}", path=directory) from error
    with _alone(directory):
        return _save_files(directory, write, obsolete)


def _save_files(directory: Path, write: Callable[[Path], None], obsolete: Iterable[str]) -> list[Path]:
    staging = directory / f"{STAGING}{os.getpid()}"
    try:
        finish_save(directory)
        try:
            _clear_abandoned(directory)
            staging.mkdir()
            write(staging)
            names = sorted(path.name for path in staging.iterdir())
            checksums = {name: _flushed_checksum(staging / name) for name in names}
            gone = sorted(set(obsolete) - set(names))
            for name in (*names, *gone):
                if (directory / name).is_dir():
                    raise FileError(f"cannot save to {directory}: {name} is a directory", path=directory / name)
            journal = {"staging": staging.name, "files": checksums, "obsolete": gone}
            write_text(staging / JOURNAL, json.dumps(journal, indent=1))
            os.replace(staging / JOURNAL, directory / JOURNAL)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        finish_save(directory)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot save to {directory}: {error.strerror}", path=directory) from error
    return [directory / name for name in names]


def finish_save(directory: Path) -> None:
    """Do what is left of a save that was interrupted after its journal was written; nothing if there is none."""
    journal = _read_journal(directory)
    if journal is None:
        return
    for name, path in _resolved(directory, journal).items():
        if path.parent != directory:
            os.replace(path, directory / name)
    for name in journal["obsolete"]:
        (directory / name).unlink(missing_ok=True)
    flush_directory(directory)
    (directory / JOURNAL).unlink(missing_ok=True)
    shutil.rmtree(directory / journal["staging"], ignore_errors=True)


def files_of_interrupted_save(directory: Path, names: Iterable[str]) -> dict[str, Path]:
    """Where a reader finds these files of a directory in which a save may have been cut short: name → path.

    Raises:
        FileFormatError: its files were changed or removed since, so that old and new ones may be mixed; the error names
            them.
    """
    journal = _read_journal(directory)
    obsolete = set(journal["obsolete"]) if journal else set()
    found = {name: directory / name for name in names if (directory / name).is_file() and name not in obsolete}
    resolved = _resolved(directory, journal) if journal else {}
    return {**found, **{name: path for name, path in resolved.items() if name in set(names)}}


@contextlib.contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """One save at a time into a directory, of all threads and processes that save with this."""
    try:
        import fcntl
    except ImportError:  # not on every system: there, two saves at once are the caller's to avoid
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _clear_abandoned(directory: Path) -> None:
    """Remove the staging folders of processes that are gone, and of this one."""
    for staging in directory.glob(STAGING + "*"):
        process = staging.name.removeprefix(STAGING)
        if process.isdigit() and not _is_running(int(process)):
            shutil.rmtree(staging, ignore_errors=True)


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)  # it runs, and is not ours
    return True


def _read_journal(directory: Path) -> dict[str, Any] | None:
    path = directory / JOURNAL
    try:
        text = read_regular(path, _LARGEST_JOURNAL).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, FileFormatError) as error:
        raise FileError(f"cannot read {path}, left by a save that was cut short: {error}", path=path) from error
    try:
        journal = json.loads(text)
        staging, files, obsolete = journal["staging"], journal["files"], journal["obsolete"]
        if not (isinstance(files, dict) and isinstance(obsolete, list) and staging.startswith(STAGING)):
            raise ValueError
        # A journal from elsewhere must not reach outside the directory, nor take away what is not a tokenizer's.
        if not all(map(_is_plain_name, [staging, *files, *obsolete])):
            raise ValueError
        if not all(name.endswith(_TAKEN_AWAY) for name in obsolete):
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FileFormatError(
            f"{path}, left by a save that was cut short, is damaged; remove it if the other files are as they should "
            "be, or remove all of them and save the tokenizer again",
            path=path,
        ) from None
    loaded: dict[str, Any] = journal
    return loaded


def _is_plain_name(name: Any) -> bool:
    """Whether it names something in the directory itself: a journal from elsewhere must not reach outside."""
    return isinstance(name, str) and name == os.path.basename(name) and name not in ("", ".", "..")


def _resolved(directory: Path, journal: dict[str, Any]) -> dict[str, Path]:
    """The new files of a save whose journal was written: name → the path where the file is now."""
    resolved: dict[str, Path] = {}
    mixed: list[str] = []
    for name, expected in journal["files"].items():
        for path in (directory / journal["staging"] / name, directory / name):
            if path.is_file() and checksum(path) == expected:
                resolved[name] = path
                break
        else:
            mixed.append(name)
    if mixed:
        raise FileFormatError(
            f"a save to {directory} was cut short and its files have been changed since: {', '.join(mixed)} "
            f"{'is' if len(mixed) == 1 else 'are'} not what was saved, so old and new would be mixed; remove {JOURNAL} "
            "if the files are as they should be, or remove all of them and save the tokenizer again",
            path=directory,
        )
    return resolved


def checksum(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _flushed_checksum(path: Path) -> str:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
    return checksum(path)
