"""Finding a tokenizer's files: a directory, a vocabulary file, a built-in name, a name on the HuggingFace hub.

In: what the user calls the tokenizer. Out: the paths of the files that are there. Only the files asked for by name are
ever fetched, and none is opened here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import FileError, MissingDependencyError
from trietok.files.formats import JOURNAL

if TYPE_CHECKING:
    from pathlib import Path  # takes longer to import than most of what encodes

BUILT_IN_NAMES = ("trietok-en", "trietok-multi", "trietok-zh")

_HUB_NAME = r"(?a)(\w([\w.-]*\w)?/)?(?=.{1,96}$)\w([\w.-]*\w)?"


class ModelFiles(NamedTuple):
    """The files found: name of the file → its path; `single_file` where the user named one file."""

    found: dict[str, str]
    single_file: str | None = None


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
        FileError: there is nothing of that name, or the hub does not hand it out.
        MissingDependencyError: it can only be a hub name, and huggingface_hub is not installed.
    """
    if not name:
        raise FileError("the name of the tokenizer is empty; give a directory, a file or a name on the hub", path=name)
    # os.path's questions, unlike Path's, have an answer for every string: too long, or in a directory closed to us.
    if os.path.isfile(name):
        return ModelFiles({}, single_file=name)
    if os.path.isdir(name) or name in BUILT_IN_NAMES:
        directory = name if os.path.isdir(name) else str(built_in_directory(name))
        if subfolder:
            directory = os.path.join(directory, subfolder)
            if not os.path.isdir(directory):
                raise FileError(f"{name} has no folder {subfolder}; check `subfolder`", path=directory)
        return ModelFiles(current_files(directory, file_names))
    if not _may_be_a_hub_name(name):
        hint = "; ~ is not expanded here, os.path.expanduser does that" if name.startswith("~") else ""
        raise FileError(
            f"{name} is neither a directory nor a file; nor is it a built-in vocabulary ({', '.join(BUILT_IN_NAMES)}) "
            f"or a name on the hub{hint}",
            path=name,
        )
    return ModelFiles(_download(name, file_names, (subfolder or "").strip("/"), hub_options))


def current_files(directory: str, names: Iterable[str]) -> dict[str, str]:
    """Where a reader finds these files of a directory: name → path, for those that are there.

    Raises:
        FileFormatError: a save was cut short and its files were changed or removed since.
    """
    if os.path.lexists(os.path.join(directory, JOURNAL)):
        from pathlib import Path

        from trietok.files.atomic import files_of_interrupted_save

        return {name: str(path) for name, path in files_of_interrupted_save(Path(directory), names).items()}
    paths = {name: os.path.join(directory, name) for name in names}
    return {name: path for name, path in paths.items() if os.path.isfile(path)}


def signature(directory: str, names: Iterable[str]) -> tuple[object, ...]:
    """What tells whether a directory's files have been replaced meanwhile."""
    marks: list[object] = []
    for name in (JOURNAL, *names):
        try:
            status = os.stat(os.path.join(directory, name))
        except (OSError, ValueError):  # not there, or no name that could be
            marks.append(None)
        else:
            marks.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(marks)


def built_in_directory(name: str) -> Path:
    """The directory of a built-in vocabulary.

    >>> sorted(path.name for path in built_in_directory("trietok-en").glob("*.txt"))
    ['vocab.txt']
    """
    from pathlib import Path

    package = Path(__file__).parent
    # Installed, the vocabularies lie inside the package; in a checkout, beside it.
    for directory in (package / "vocab" / name, package.parent / "vocab" / name):
        if directory.is_dir():
            return directory
    raise FileError(f"the built-in vocabulary {name} is missing; install trietok again", path=package / "vocab" / name)


def _may_be_a_hub_name(name: str) -> bool:
    """Whether the hub could have a model of that name, by its own rule: a mistyped path is never sent to it."""
    return bool(re.fullmatch(_HUB_NAME, name)) and "--" not in name and ".." not in name and not name.endswith(".git")


def _download(name: str, file_names: Iterable[str], subfolder: str, options: dict[str, Any]) -> dict[str, str]:
    """Fetch the files of `name` from the hub, or find them in huggingface_hub's cache.

    The first failure ends it: were a file left out because the hub faltered, the tokenizer would be another one (a
    tokenizer_config.json missing turns a cased model into an uncased one). A file is left out only when the hub says,
    or once said, that it is not there, and in offline mode, where the user has declared the cache to be all there is.
    """
    try:
        import huggingface_hub.utils
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} is neither a directory nor a file here; to look for it on the HuggingFace hub, "
            "pip install 'trietok[hub]'",
            extra="hub",
        ) from error
    hub: Any = huggingface_hub
    errors: Any = huggingface_hub.utils  # every version has them here, huggingface_hub.errors only the newer ones
    if ".." in subfolder.split("/"):
        raise FileError(f"subfolder {subfolder} leads out of {name}; give a folder inside it", path=name)
    options = {**options, "token": _clean_token(name, options.get("token"))}
    asked_revision = options.pop("revision", None)
    commit: str | None = None
    found: dict[str, str] = {}
    missing_offline: Exception | None = None
    for file in file_names:
        path = f"{subfolder}/{file}" if subfolder else file
        # After the first file its commit is the revision: one load never mixes two, and what the cache holds of that
        # commit, a file or the knowledge that there is none, is taken without asking the hub again.
        if commit and not options.get("force_download"):
            cached = hub.try_to_load_from_cache(name, path, cache_dir=options.get("cache_dir"), revision=commit)
            if cached is hub._CACHED_NO_EXIST:
                continue
        try:
            found[file] = hub.hf_hub_download(name, path, revision=commit or asked_revision, **options)
        except errors.LocalEntryNotFoundError as error:  # neither from the hub nor from the cache
            if not options.get("local_files_only") and not isinstance(error.__cause__, errors.OfflineModeIsEnabled):
                raise FileError(_message(name, file, asked_revision, error), path=name) from error
            missing_offline = error
        except errors.EntryNotFoundError:
            continue
        except Exception as error:  # the library below huggingface_hub that speaks HTTP, which changes, has its own
            raise FileError(_message(name, file, asked_revision, error), path=name) from error
        else:
            commit = commit or _commit_of(found[file], path)
    if not found:
        if missing_offline is not None:
            raise FileError(_message(name, "", asked_revision, missing_offline), path=name) from missing_offline
        where = f"folder {subfolder} of {name}" if subfolder else name
        raise FileError(f"the hub's {where} has none of the files of a tokenizer; check the name", path=name)
    return found


def _clean_token(name: str, token: Any) -> Any:
    """The token without the line break it was read with. One that HTTP would refuse is refused here, unshown."""
    if not isinstance(token, str):
        return token
    token = token.strip()
    if not re.fullmatch("[!-~]*", token):
        raise FileError(f"cannot load {name} from the HuggingFace hub: the token is malformed; check token", path=name)
    return token


def _commit_of(file: str, path_in_repository: str) -> str | None:
    """The commit a file in the cache belongs to: the cache keeps it at `…/snapshots/<commit>/<path in repository>`."""
    from pathlib import Path, PurePosixPath

    path = Path(file)
    snapshot = path.parents[len(PurePosixPath(path_in_repository).parts) - 1]
    return snapshot.name if snapshot.parent.name == "snapshots" else None


def _message(name: str, file: str, revision: str | None, error: BaseException) -> str:
    """One sentence for an error of `hf_hub_download`: what went wrong, and what to do."""
    import huggingface_hub.utils

    errors: Any = huggingface_hub.utils
    # The reason may lie below: "not in the cache either" or, where force_download was asked for, a bare ValueError.
    not_cached = isinstance(error, errors.LocalEntryNotFoundError)
    offline = isinstance(error.__cause__, errors.OfflineModeIsEnabled) or (not_cached and error.__cause__ is None)
    wrapped = not offline and (not_cached or type(error) is ValueError)
    reason = error.__cause__ if wrapped and error.__cause__ is not None else error
    status = getattr(getattr(reason, "response", None), "status_code", None)
    if isinstance(reason, errors.RevisionNotFoundError):
        why = f"it has no revision {revision}; check `revision`, a branch, tag or commit"
    elif isinstance(reason, errors.GatedRepoError):
        why = "its owner wants to be asked first; ask on the model's page, then pass token=..."
    elif isinstance(reason, errors.RepositoryNotFoundError) or status in (401, 403):
        why = "no model of that name is open to you; check the name or, if the model is private, pass token=..."
    elif status is not None:
        why = f"the hub answers with HTTP status {status} for {file}; try again later"
    elif isinstance(reason, errors.FileMetadataError):
        why = f"what answers for {file} is not the hub; check HF_ENDPOINT and the proxy"
    elif offline and not_cached:
        why = "it is not in the cache and the hub is not to be asked; load it once without the offline mode"
    elif reason is not error:
        why = (
            f"the hub cannot be reached and {file} is not in the cache; check the network, "
            "or pass local_files_only=True to take only what is in the cache"
        )
    elif isinstance(error, errors.LocalTokenNotFoundError):
        why = "token=True, and no token is stored here; log in with huggingface_hub, or pass token='...'"
    elif isinstance(error, (ValueError, TypeError)) or getattr(error, "errno", None):  # an option, the disk
        why = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    else:
        why = f"fetching {file} failed ({type(error).__name__}); try again, or check the network and the proxy"
    return f"cannot load {name} from the HuggingFace hub: {why}"
