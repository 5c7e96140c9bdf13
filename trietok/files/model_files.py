"""Find the files of a model by a path, a built-in name or a name on the hub.

No file is opened. An error says which places were searched.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from trietok.disk import is_file
from trietok.errors import FileError
from trietok.files import formats
from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE
from trietok.files.hub import download

BUILT_IN_NAMES = ("trietok-en", "trietok-multi", "trietok-zh")


_PARTS = (
    formats.CONFIG_FILE,
    formats.TOKENIZER_CONFIG_FILE,
    formats.SPECIAL_TOKENS_MAP_FILE,
    formats.ADDED_TOKENS_FILE,
)


_MOST_ENTRIES, _LONGEST_NAME = 1_000, 255  # limits of the search for a name like a mistyped one


_HUB_NAME = r"(?a)(\w([\w.-]*\w)?/)?(?=.{1,96}$)\w([\w.-]*\w)?"


class ModelFiles(NamedTuple):
    """The files found: name of the file → its path; `single_file` where the user named one file."""

    found: dict[str, str]
    single_file: str | None = None


def find_files(
    name: str, file_names: Iterable[str], *, subfolder: str | None = None, **hub_options: Any
) -> ModelFiles:
    """Find the files of `name`, opening none: a directory comes first, then a file, a built-in
    name, the hub.

    Files that are not there are left out. `subfolder` is one below the directory or hub repository,
    and the options for the hub are `cache_dir`, `force_download`, `local_files_only`, `token` and
    `revision`.

    Raises:
        FileError: there is nothing of that name, or the hub does not hand it out; or it can only be
            a hub name, and huggingface_hub is not installed.
    """
    if not name:
        raise FileError(
            "the name of the tokenizer is empty; give a directory, a file or a name on the hub",
            path=name,
        )
    # The functions of os.path, unlike those of Path, return for every string, even one that is too
    # long, or a path in a directory that may not be read.
    if os.path.isfile(name):
        _refuse_part(name)
        return ModelFiles({}, single_file=name)
    if os.path.isdir(name) or name in BUILT_IN_NAMES:
        directory = name if os.path.isdir(name) else _built_in_path(name)
        if subfolder:
            directory = os.path.join(directory, subfolder)
            if not os.path.isdir(directory):
                raise FileError(
                    f"{name} has no folder {subfolder}; check `subfolder`", path=directory
                )
        return ModelFiles(current_files(directory, file_names))
    if not _may_be_a_hub_name(name):
        raise nothing_there(name, " or a name on the hub")

    subfolder = (subfolder or "").strip("/")
    return ModelFiles(download(name, file_names, subfolder, hub_options, lambda: _suggestion(name)))


def _refuse_part(name: str) -> None:
    """Raise a FileError for a file that only says more of a tokenizer: its directory is wanted."""
    directory, file = os.path.split(name)
    if file in _PARTS:
        told = f"{name} holds no vocabulary; give its directory, {directory or os.curdir}"
        raise FileError(told, path=name)


def nothing_there(name: str, elsewhere: str = "") -> FileError:
    """The error for a name of nothing on this machine; `elsewhere` says where else it was looked
    for.
    """
    hint = "; ~ is not expanded here, os.path.expanduser does that" if name.startswith("~") else ""
    return FileError(
        f"{name} is neither a directory nor a file; nor is it a built-in vocabulary"
        f" ({', '.join(BUILT_IN_NAMES)}){elsewhere}{hint}{_suggestion(name)}",
        path=name,
    )


def current_files(directory: str, names: Iterable[str]) -> dict[str, str]:
    """Where these files of a directory are: name → path, for those that are there.

    Raises:
        FileError: one is a link that leads nowhere: without it, the tokenizer would be another.
    """
    paths = {name: os.path.join(directory, name) for name in names}
    for path in paths.values():
        if os.path.islink(path) and not os.path.exists(path):
            where = f"{path} is a link to {os.readlink(path)!r:.200}, which is not there"
            raise FileError(
                f"{where}; copy or download the file again, with links followed (cp -L)", path=path
            )
    return {name: path for name, path in paths.items() if is_file(path)}


def built_in_directory(name: str) -> Path:
    """The directory of a built-in vocabulary.

    >>> sorted(path.name for path in built_in_directory("trietok-en").glob("*.txt"))
    ['vocab.txt']
    """
    return Path(_built_in_path(name))


def _built_in_path(name: str) -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Installed, the vocabularies lie inside the package; in a checkout, beside it.
    for parent in (package, os.path.dirname(package)):
        directory = os.path.join(parent, "vocab", name)
        if os.path.isdir(directory):
            return directory
    missing = os.path.join(package, "vocab", name)
    raise FileError(
        f"the built-in vocabulary {name} is missing; install trietok again", path=missing
    )


def _may_be_a_hub_name(name: str) -> bool:
    """Whether the hub could have a model of that name, by its own rule: a mistyped path is never
    sent to it.
    """
    return (
        bool(re.fullmatch(_HUB_NAME, name))
        and "--" not in name
        and ".." not in name
        and not name.endswith(".git")
    )


def _suggestion(name: str) -> str:
    """The end of a message about a mistyped name: a similar built-in name or directory of a
    tokenizer.
    """
    parent, own = os.path.split(name.rstrip(os.sep))
    try:
        with os.scandir(parent or ".") as entries:
            there = [
                entry.name
                for entry in itertools.islice(entries, _MOST_ENTRIES)
                if os.path.isdir(entry)
            ]
    except (OSError, ValueError):  # the parent does not exist, or cannot be a path
        there = []
    names = {entry.lower(): os.path.join(parent, entry) for entry in there}
    if not parent:
        names |= dict(zip(BUILT_IN_NAMES, BUILT_IN_NAMES, strict=True))
    close = difflib.get_close_matches(own.lower()[:_LONGEST_NAME], names, cutoff=0.75)
    files = (VOCAB_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
    for known in (names[match] for match in close):
        if known in BUILT_IN_NAMES or any(
            os.path.isfile(os.path.join(known, file)) for file in files
        ):
            return f"; did you mean {known}?"
    return ""
