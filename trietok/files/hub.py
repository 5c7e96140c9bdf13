"""Fetching a tokenizer's files from the HuggingFace hub, or finding them in huggingface_hub's
cache.

In: a name on the hub and the files to look for. Out: the paths of those that the model has.

Where the hub cannot be reached, or has trouble of its own, huggingface_hub tries five times more,
with pauses of 23 seconds in all and two lines on standard error each time. So this module first
tests whether the hub can be reached, and asks for the first file itself; if that is in vain, only
the cache is used.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from trietok.errors import FileError, installing
from trietok.files.formats import (
    CHAT_TEMPLATE_FILE,
    CHAT_TEMPLATE_FOLDER,
    checked_count,
    template_files,
)

_PATIENCE = 1.5  # seconds for the hub to take a connection, unless HF_HUB_ETAG_TIMEOUT is set
_PAUSES = (0.2, 0.5)  # seconds, before a hub that has trouble is asked again
_UNREACHABLE = "the hub cannot be reached"
_TROUBLED = "the hub answers with HTTP status "
_NOT_OPEN = (
    "no model of that name is open to you; check the name or, if the model is private, pass"
    " token=..."
)
_NOT_IN_THE_CACHE = (
    "it is not in the cache, and the offline mode is on; load it once without the offline mode"
)


def download(
    name: str,
    file_names: Iterable[str],
    subfolder: str,
    options: dict[str, Any],
    suggest: Callable[[], str],
) -> dict[str, str]:
    """Fetch the files of a model.

    The first failure raises: without a file that the hub failed to send, the tokenizer would be
    another one (a missing tokenizer_config.json turns a cased model into an uncased one). A file is
    left out only if the hub says, or once said, that the model does not have it, or in offline
    mode, where only the cache is used.

    `subfolder` is that of the model which holds them, empty for none; `options` are those of
    `hf_hub_download`, and `suggest` gives the end of a message about a name that may be mistyped.

    Raises:
        FileError: the hub does not hand them out, or cannot be reached and one is not in the cache;
            or huggingface_hub is not installed.
    """
    try:
        import huggingface_hub.constants
        import huggingface_hub.utils
    except ImportError:
        # a mistyped directory comes here, too, which callers expect to be an OSError
        raise FileError(
            f"{name} is neither a directory nor a file here; to look for it on the HuggingFace hub,"
            f" {installing('hub')}{suggest()}",
            path=name,
        ) from None
    if ".." in subfolder.split("/"):
        raise FileError(
            f"subfolder {subfolder} leads out of {name}; give a folder inside it", path=name
        )
    model = _Model(huggingface_hub, name, options, suggest)
    prefix = f"{subfolder}/" if subfolder else ""
    for file in file_names:
        model.fetch(file, prefix + file)
    if CHAT_TEMPLATE_FILE in model.found:
        for file in model.template_files(prefix):
            model.fetch(file, prefix + file)
    if not model.found:
        if model.missing_offline is not None:
            model.fail("", model.missing_offline)
        where = f"folder {subfolder} of {name}" if subfolder else name
        raise FileError(
            f"the hub's {where} has none of the files of a tokenizer; check the name", path=name
        )
    return model.found


class _Model:
    """A model of the hub while its files are fetched, one after the other.

    Attributes:
        found: name of the file → its path.
        missing_offline: why a file was left out in offline mode.
    """

    def __init__(
        self, hub: Any, name: str, options: dict[str, Any], suggest: Callable[[], str]
    ) -> None:
        self.found: dict[str, str] = {}
        self.missing_offline: Exception | None = None
        self._hub = hub
        # every version has them here, huggingface_hub.errors only the newer ones
        self._errors = hub.utils
        self._name = name
        self._options = {**options, "token": _clean_token(name, options.get("token"))}
        self._asked_revision = self._options.pop("revision", None)
        self._suggest = suggest
        self._commit: str | None = None
        # huggingface_hub looks into the environment only when it is imported, and that may have
        # been long ago.
        is_offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
        self._asks = not (
            options.get("local_files_only") or hub.constants.HF_HUB_OFFLINE or is_offline
        )
        if not self._asks:
            self._options["local_files_only"] = True
        self._looked = False  # whether the hub can be reached
        self._unreachable: str | None = None  # why not
        self._current: str | None = None  # the commit that the hub has now, where it said so

    def fetch(self, file: str, path: str) -> None:
        """Note where a file is; one that the model does not have is left out."""
        # After the first file its commit is the revision, so one load never mixes two commits. If
        # the cache holds a file of that commit, or knows that there is none, no request is sent.
        revision = self._commit or self._asked_revision
        cached = self._in_cache(path, revision)
        is_at_hand = cached is not None and re.fullmatch("[0-9a-f]{40}", revision or "")
        if not is_at_hand:
            self._look(path)
        if cached is self._hub._CACHED_NO_EXIST and (self._commit or self._unreachable):
            return
        if self._unreachable:
            if not isinstance(cached, str):
                self._fail(self._not_in_the_cache(self._unreachable, file))
            self._take(file, path, cached)
        elif (
            isinstance(cached, str)
            and self._current is not None
            and self._current == _commit_of(cached, path)
        ):
            self._take(file, path, cached)
        else:
            self._download(file, path, revision)

    def template_files(self, prefix: str) -> list[str]:
        """The chat templates in the folder beside chat_template.jinja; without the hub, those that
        the cache holds.
        """
        self._look(prefix + CHAT_TEMPLATE_FILE)
        if self._unreachable or not self._asks:
            return template_files(os.path.dirname(self.found[CHAT_TEMPLATE_FILE]))
        folder = prefix + CHAT_TEMPLATE_FOLDER
        revision = self._commit or self._asked_revision
        try:
            entries = self._hub.list_repo_tree(
                self._name, folder, revision=revision, token=self._options["token"]
            )
            names = sorted(
                entry.path.removeprefix(prefix)
                for entry in entries
                if entry.path.endswith(".jinja")
            )
        except self._errors.EntryNotFoundError:
            return []
        except Exception as error:  # as in `_download`
            self.fail(folder, error)
        return checked_count(names, f"{self._name}/{folder}")

    def _look(self, path: str) -> None:
        """Find out, once, whether the hub can be reached and answers for a file."""
        if self._asks and not self._looked:
            self._looked, self._unreachable = True, _unreachable(self._hub) or self._trouble(path)

    def _trouble(self, path: str) -> str | None:
        """Why a hub that can be reached gives no answer; None if it gives one, whatever it says."""
        hub, status = self._hub, 0
        try:
            url = hub.hf_hub_url(self._name, path, revision=self._asked_revision)
            headers = hub.utils.build_hf_headers(token=self._options["token"])
        except Exception:  # an option that cannot be, which `hf_hub_download` meets again
            return None
        for pause in (*_PAUSES, None):
            try:
                answer = hub.utils.get_session().head(
                    url, headers=headers, timeout=hub.constants.HF_HUB_ETAG_TIMEOUT
                )
            except Exception:  # the library that speaks HTTP has its own
                return _UNREACHABLE
            status = answer.status_code
            if status != 429 and status < 500:
                self._current = answer.headers.get("X-Repo-Commit")
                return None
            if pause is not None:
                time.sleep(pause)
        return f"{_TROUBLED}{status}"

    def _in_cache(self, path: str, revision: str | None) -> Any:
        """The path of a file in huggingface_hub's cache, its mark for a file that the model lacks,
        or None.
        """
        if self._options.get("force_download"):
            return None
        cache_dir = self._options.get("cache_dir")
        return self._hub.try_to_load_from_cache(
            self._name, path, cache_dir=cache_dir, revision=revision
        )

    def _download(self, file: str, path: str, revision: str | None) -> None:
        errors = self._errors
        try:
            place = self._hub.hf_hub_download(self._name, path, revision=revision, **self._options)
        except errors.LocalEntryNotFoundError as error:  # neither from the hub nor from the cache
            if self._asks and not isinstance(error.__cause__, errors.OfflineModeIsEnabled):
                self.fail(file, error)
            self.missing_offline = error
        except errors.EntryNotFoundError:
            pass
        # the library below huggingface_hub that speaks HTTP, which changes, has its own
        except Exception as error:
            self.fail(file, error)
        else:
            self._take(file, path, place)

    def _take(self, file: str, path: str, place: str) -> None:
        self.found[file] = place
        self._commit = self._commit or _commit_of(place, path)

    def fail(self, file: str, error: Exception) -> NoReturn:
        """Raise a `FileError` for an error of huggingface_hub; one that is not known here is
        named.
        """
        why = _said_of(file, self._asked_revision, error, self._errors)
        if why == _UNREACHABLE:
            why = self._not_in_the_cache(why, file)
        elif why in (_NOT_OPEN, _NOT_IN_THE_CACHE):
            why += self._suggest()
        said = "".join(f": {line}" for line in str(error).strip().splitlines()[:1])
        failed = f"fetching {file} failed ({type(error).__name__}{said})"
        self._fail(why or f"{failed}; try again, or check the network and the proxy")

    def _fail(self, why: str) -> NoReturn:
        message = (
            f"{self._name} is neither a directory nor a file here; cannot load it from the"
            f" HuggingFace hub: {why}"
        )
        raise FileError(message, path=self._name) from None

    def _not_in_the_cache(self, why: str, file: str) -> str:
        if self._options.get("force_download"):
            return f"{why}, and force_download takes nothing from the cache; check the network"
        if why.startswith(_TROUBLED):
            return f"{why} for {file}, which is not in the cache; try again later"
        why += f" and {file} is not in the cache; "
        if self.found:
            return (
                f"{why}check the network, or pass local_files_only=True to take only what is in the"
                " cache"
            )
        return f"{why}check the name and the network{self._suggest()}"


def _unreachable(hub: Any) -> str | None:
    """Why the hub cannot be reached; None if it can.

    A connection is opened and no request is sent. If the user has set up a proxy, or another way to
    the hub, huggingface_hub's session is used to test it.
    """
    asked = os.environ.get("HF_HUB_ETAG_TIMEOUT")
    patience = float(hub.constants.HF_HUB_ETAG_TIMEOUT) if asked else _PATIENCE
    endpoint = hub.constants.ENDPOINT
    reached: list[bool] = []

    def look() -> None:
        reached.append(_takes_connection(endpoint, patience) or _answers(hub, endpoint, patience))

    # In a thread of its own, because nothing bounds how long looking a host's name up takes.
    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(patience)
    if not reached:
        return (
            f"the hub has not answered within {patience:g} seconds (HF_HUB_ETAG_TIMEOUT sets"
            " another number)"
        )
    return None if reached[0] else _UNREACHABLE


def _takes_connection(endpoint: str, patience: float) -> bool:
    """Whether a server takes a direct connection."""
    # A browser's Python lacks sockets, and urllib takes long to import.
    import socket
    from urllib.parse import urlsplit
    from urllib.request import getproxies

    if getproxies():
        return False
    try:
        parts = urlsplit(endpoint)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), patience).close()
    except (OSError, ValueError):  # a ValueError for an invalid address
        return False
    return True


def _answers(hub: Any, endpoint: str, patience: float) -> bool:
    """Whether a server answers in the way that huggingface_hub asks."""
    try:
        hub.utils.get_session().head(endpoint, timeout=patience)
    except Exception:  # the library that speaks HTTP has its own
        return False
    return True


def _clean_token(name: str, token: Any) -> Any:
    """The token without whitespace around it. A malformed one raises an error, which does not show
    the token.
    """
    if not isinstance(token, str):
        return token
    token = token.strip()
    if not re.fullmatch("[!-~]*", token):
        raise FileError(
            f"cannot load {name} from the HuggingFace hub: the token is malformed; check token",
            path=name,
        )
    return token


def _commit_of(file: str, path_in_repository: str) -> str | None:
    """The commit a file in the cache belongs to: the cache keeps it at
    `…/snapshots/<commit>/<path in repository>`.
    """
    path = Path(file)
    snapshot = path.parents[len(PurePosixPath(path_in_repository).parts) - 1]
    return snapshot.name if snapshot.parent.name == "snapshots" else None


def _said_of(file: str, revision: str | None, error: BaseException, errors: Any) -> str | None:
    """A message for an error of `hf_hub_download`, with what to do; None for an error that is not
    known here.
    """
    # The reason may be in the cause: "not in the cache either" or, with force_download, a bare
    # ValueError.
    not_cached = isinstance(error, errors.LocalEntryNotFoundError)
    offline = isinstance(error.__cause__, errors.OfflineModeIsEnabled) or (
        not_cached and error.__cause__ is None
    )
    wrapped = not offline and (not_cached or type(error) is ValueError)
    reason = error.__cause__ if wrapped and error.__cause__ is not None else error
    status = getattr(getattr(reason, "response", None), "status_code", None)
    if isinstance(reason, errors.RevisionNotFoundError):
        return f"it has no revision {revision}; check `revision`, a branch, tag or commit"
    if isinstance(reason, errors.GatedRepoError):
        return "its owner wants to be asked first; ask on the model's page, then pass token=..."
    if isinstance(reason, errors.RepositoryNotFoundError) or status in (401, 403):
        return _NOT_OPEN
    if status == 404:  # from what is not the hub itself: that says what it is that it does not find
        return f"the server answers with HTTP status 404 for {file}; check the name and HF_ENDPOINT"
    if status is not None:
        return f"{_TROUBLED}{status} for {file}; try again later"
    if isinstance(reason, errors.FileMetadataError):
        return f"what answers for {file} is not the hub; check HF_ENDPOINT and the proxy"
    if offline and not_cached:
        return _NOT_IN_THE_CACHE
    if reason is not error:
        return _UNREACHABLE
    if isinstance(error, errors.LocalTokenNotFoundError):
        return (
            "token=True, and no token is stored here; log in with huggingface_hub, or pass"
            " token='...'"
        )
    # an option, the disk
    if isinstance(error, (ValueError, TypeError)) or getattr(error, "errno", None):
        return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return None
