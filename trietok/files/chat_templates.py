"""The files of chat templates: chat_template.jinja, and the folder of those with other names.

In: a directory. Out: the templates, as a str or a dict name → template; and back. Nothing here runs a template.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from trietok.errors import FileFormatError, InputError, InputTypeError
from trietok.files.formats import CHAT_TEMPLATE_FILE, CHAT_TEMPLATE_FOLDER, write_text
from trietok.text.vocab_txt import read_text

if TYPE_CHECKING:
    from pathlib import Path  # takes longer to import than most modules that encode

DEFAULT = "default"  # the name of the template in chat_template.jinja
MOST_TEMPLATES = 100
_ENDING = ".jinja"


def template_files(directory: str | os.PathLike[str]) -> list[str]:
    """The paths, from the directory, of the templates in its folder, sorted; empty where there is no such folder.

    Raises:
        FileFormatError: there are more than `MOST_TEMPLATES`.
    """
    folder = os.path.join(directory, CHAT_TEMPLATE_FOLDER)
    try:
        with os.scandir(folder) as entries:
            found = (entry.name for entry in entries if entry.name.endswith(_ENDING) and entry.is_file())
            names = sorted(islice(found, MOST_TEMPLATES + 1))
    except (OSError, ValueError):  # there is none, or the directory is no path
        return []
    return [f"{CHAT_TEMPLATE_FOLDER}/{name}" for name in checked_count(names, folder)]


def checked_count(names: list[str], folder: str) -> list[str]:
    """The names, unless they are too many."""
    if len(names) > MOST_TEMPLATES:
        message = f"{folder} holds more than {MOST_TEMPLATES} chat templates, the most a tokenizer may have"
        raise FileFormatError(message, path=folder)
    return names


def read_templates(found: Mapping[str, str]) -> str | dict[str, str] | None:
    """The templates among the files that were found: one alone as a str, several by their names; None for none.

    Raises:
        FileError, FileFormatError: as `read_text`.
    """
    templates = {DEFAULT: read_text(found[CHAT_TEMPLATE_FILE])} if CHAT_TEMPLATE_FILE in found else {}
    for name, path in found.items():
        folder, _, file = name.rpartition("/")
        if folder == CHAT_TEMPLATE_FOLDER:
            templates[file.removesuffix(_ENDING)] = read_text(path)
    return templates[DEFAULT] if list(templates) == [DEFAULT] else templates or None


def files_of(templates: Any) -> tuple[str | None, dict[str, str]]:
    """What is written for a tokenizer's `chat_template`: chat_template.jinja, and name → text of the others.

    Raises:
        InputTypeError: it is neither None, a str, nor a dict of them.
        InputError: a name cannot be a file's.
    """
    if templates is None or isinstance(templates, str):
        return templates, {}
    if not isinstance(templates, dict) or not all(isinstance(text, str) for pair in templates.items() for text in pair):
        raise InputTypeError(
            f"chat_template is a str, or a dict of names and templates, not {templates!r:.60}", value=templates
        )
    others = {name: text for name, text in templates.items() if name != DEFAULT}
    for name in others:
        if name != os.path.basename(name) or name.startswith(".") or "\0" in name or "\\" in name or not name:
            raise InputError(f"a chat template is saved as a file of its name, which {name!r:.60} cannot be; rename it")
    return templates.get(DEFAULT), others


def save_others(directory: Path, prefix: str, templates: Mapping[str, str]) -> list[Path]:
    """Write the templates with names of their own to their folder, all or none; others that it holds are removed.

    Returns:
        Their paths.

    Raises:
        FileError: as `save_files`.
    """
    folder = directory / (prefix + CHAT_TEMPLATE_FOLDER)
    there = _names_in(folder)
    if not templates and not there:
        return []
    from trietok.files.atomic import save_files  # few tokenizers have any

    def write(staging: Path) -> None:
        for name, text in templates.items():
            write_text(staging / (name + _ENDING), text)

    save_files(folder, write, obsolete=there)
    if not templates:
        with contextlib.suppress(OSError):  # it holds something else
            folder.rmdir()
    return [folder / (name + _ENDING) for name in templates]


def _names_in(folder: Path) -> Iterable[str]:
    with contextlib.suppress(OSError):
        return [name for name in os.listdir(folder) if name.endswith(_ENDING)]
    return []
