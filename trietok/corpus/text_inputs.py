"""The files of a corpus: which they are, what they hold, and whether they are still the same.

In: paths and globs. Out: a `TextFile` each, in the order given, those of a glob by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from trietok.errors import FileError, InputError
from trietok.files.text_rows import TextFile, expanded


class ChangedFileError(FileError):
    """A file is not what it was when the run began, so the run cannot go on with it."""


def check_unchanged(file: TextFile) -> None:
    """Raise where a file is not what it was any more.

    Raises:
        ChangedFileError: it has changed.
        FileError: it cannot be found.
    """
    if TextFile.at(file.name) != file:
        raise ChangedFileError(
            f"{file.name} has changed while it was read; encode into a new directory", path=file.name
        )


def find_inputs(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[TextFile]:
    """The files behind paths and globs.

    Raises:
        FileError: there is none, or none can be read.
        InputError: a file is of no known kind, or is given twice; or none is given.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: dict[str, TextFile] = {}
    for path in expanded(paths):
        real = os.path.realpath(path)
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        file = found[real] = TextFile.at(path)
        if file.kind is None:
            raise InputError(
                f"{path} is of no known kind; files end in .parquet, .jsonl or .txt, the latter two also with .gz or "
                ".zst"
            )
    if not found:
        raise InputError("no files are given; give at least one")
    return list(found.values())
