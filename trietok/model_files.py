"""Finding a tokenizer's files: a directory, a vocabulary file, a built-in name, a name on the HuggingFace hub.

In: what the user calls the tokenizer. Out: the paths of the files that are there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import FileError, MissingDependencyError

BUILT_IN_NAMES = ("trietok-en",)


class ModelFiles(NamedTuple):
    """The files found: name of the file → its path; `single_file` where the user named one file."""

    found: dict[str, Path]
    single_file: Path | None = None


def locate(
    name: str,
    file_names: Iterable[str],
    *,
    subfolder: str | None = None,
    **hub_options: Any,
) -> ModelFiles:
    """Find the files of `name`: a directory comes first, then a file, a built-in name, the hub.

    Args:
        name: what the user gave.
        file_names: the files to look for; those that are not there are left out.
        subfolder: a folder below the directory or hub repository.
        **hub_options: `cache_dir`, `force_download`, `local_files_only`, `token`, `revision` for the hub.

    Raises:
        FileError: there is nothing of that name.
        MissingDependencyError: it can only be a hub name, and huggingface_hub is not installed.
    """
    path = Path(name)
    if not path.exists() and name in BUILT_IN_NAMES:
        path = built_in_directory(name)
    if path.is_dir():
        directory = path / subfolder if subfolder else path
        return ModelFiles({file: directory / file for file in file_names if (directory / file).is_file()})
    if path.is_file():
        return ModelFiles({}, single_file=path)
    if not _may_be_a_hub_name(name):
        raise FileError(
            f"{name} is neither a directory nor a file; nor is it a built-in vocabulary ({', '.join(BUILT_IN_NAMES)}) "
            "or a name on the hub",
            path=name,
        )
    return ModelFiles(_download(name, file_names, subfolder, hub_options))


def built_in_directory(name: str) -> Path:
    """The directory of a built-in vocabulary.

    >>> sorted(path.name for path in built_in_directory("trietok-en").glob("*.txt"))
    ['vocab.txt']
    """
    package = Path(__file__).parent
    # Installed, the vocabularies lie inside the package; in a checkout, beside it.
    for directory in (package / "vocab" / name, package.parent / "vocab" / name):
        if directory.is_dir():
            return directory
    raise FileError(f"the built-in vocabulary {name} is missing; install trietok again", path=package / "vocab" / name)


def _may_be_a_hub_name(name: str) -> bool:
    parts = name.split("/")
    return len(parts) <= 2 and all(
        part and part[0].isalnum() and all(c.isalnum() or c in "-_." for c in part) for part in parts
    )


def _download(name: str, file_names: Iterable[str], subfolder: str | None, options: dict[str, Any]) -> dict[str, Path]:
    try:
        import huggingface_hub
        from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} is neither a directory nor a file here; to look for it on the HuggingFace hub, "
            "pip install 'trietok[hub]'",
            extra="hub",
        ) from error
    found: dict[str, Path] = {}
    unreachable: Exception | None = None
    for file in file_names:
        try:
            found[file] = Path(huggingface_hub.hf_hub_download(name, file, subfolder=subfolder, **options))
        except LocalEntryNotFoundError as error:  # not in the cache, and the hub is out of reach or not to be asked
            unreachable = error
        except EntryNotFoundError:
            continue
        except (HfHubHTTPError, OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise FileError(f"cannot load {name} from the HuggingFace hub: {reason}", path=name) from error
    if not found:
        offline = options.get("local_files_only") or os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
        if unreachable is not None:
            why = "it is not in the cache and the hub is not to be asked" if offline else "the hub cannot be reached"
            raise FileError(f"cannot load {name} from the HuggingFace hub: {why}", path=name) from unreachable
        raise FileError(f"the hub's {name} has none of the files of a tokenizer", path=name)
    return found
