"""Replacing the files of a directory where the system has no symbolic links: by renames, and by a note to undo them.

In: a staging folder with the old and the new files. Out: the new files in place, or the old ones.

The journal, `.trietok-save.json`, says which files are being replaced. As long as it is there, the old files count:
trietok reads them from the staging folder where they are no longer in place, and `undo` puts them back. Taking the
journal away is the one step with which the new files count. A program that knows no journal sees some of either until
then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from trietok.errors import FileError, FileFormatError
from trietok.files.formats import JOURNAL, write_text
from trietok.files.saves.staging import STAGING, Staging, not_replaced
from trietok.files.whole import checksum, flush_directory
from trietok.open_regular import read_regular

_SAVED = (".jinja", ".json", ".log", ".txt")  # how the names of all files end that are saved
LARGEST_JOURNAL = 1 << 20  # bytes: it names a few files


class Journal(NamedTuple):
    """The staging folder, and of each file its checksums before and after the save; None for no file."""

    staging: Staging
    files: dict[str, tuple[str | None, str | None]]


def publish(staging: Staging, names: Iterable[str]) -> None:
    """Make the new files of a staging folder count in place of the old ones; `names` are those of both.

    Raises:
        FileError: a file cannot be replaced; every file is the old one again.
    """
    files = {name: (_checksum_or_none(staging.old / name), _checksum_or_none(staging.new / name)) for name in names}
    directory = staging.directory
    write_text(staging.path / JOURNAL, json.dumps({"staging": staging.path.name, "files": files}, indent=1))
    os.replace(staging.path / JOURNAL, directory / JOURNAL)
    flush_directory(directory)
    try:
        for name, (_, new) in files.items():
            try:
                if new is None:
                    (directory / name).unlink(missing_ok=True)
                else:
                    os.replace(staging.new / name, directory / name)
            except OSError as error:
                raise not_replaced(directory / name, error) from error
        flush_directory(directory)
        os.replace(directory / JOURNAL, staging.path / JOURNAL)
        flush_directory(directory)
    except BaseException:
        if (staging.path / JOURNAL).exists():
            os.replace(staging.path / JOURNAL, directory / JOURNAL)
        undo(directory)
        raise


def undo(directory: Path) -> None:
    """Put the old files back that a save had replaced when it was cut short; nothing if there is no journal.

    Raises:
        FileError: one cannot be put back, or the journal cannot be read.
        FileFormatError: as `old_files`.
    """
    journal = read_journal(directory)
    if journal is None:
        return
    for name, path in old_files(directory, journal).items():
        if path is None:
            (directory / name).unlink(missing_ok=True)
        elif path.parent != directory:
            journal.staging.put_back(name)
    flush_directory(directory)
    (directory / JOURNAL).unlink(missing_ok=True)


def old_files(directory: Path, journal: Journal) -> dict[str, Path | None]:
    """Where the files are that count: name → path; None for a name that had no file.

    Raises:
        FileFormatError: somebody else has changed or removed a file since; the error names them.
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
    """The journal of a directory; None if there is none.

    Raises:
        FileError: it cannot be read, or is no regular file.
        FileFormatError: it is damaged.
    """
    path = directory / JOURNAL
    try:
        text = read_regular(path, LARGEST_JOURNAL).decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, FileFormatError) as error:
        raise FileError(f"cannot read {path}, left by a save that was cut short: {error}", path=path) from error
    try:
        content = json.loads(text)
        folder, files = content["staging"], content["files"]
        if not (folder.startswith(STAGING) and all(map(_is_plain_name, [folder, *files]))):
            raise ValueError
        if not all(name.endswith(_SAVED) for name in files):  # a journal from elsewhere takes no weights away
            raise ValueError
        if not all(isinstance(value, str | None) for old, new in files.values() for value in (old, new)):
            raise ValueError
        staging = Staging(directory / folder)
        if staging.leads_elsewhere():
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
