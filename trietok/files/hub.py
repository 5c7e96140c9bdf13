"""Fetch a tokenizer's files from the HuggingFace hub, or find them in huggingface_hub's cache."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from trietok.errors import FileError, installing
from trietok.files import formats


def download(
    name: str,
    file_names: Iterable[str],
    subfolder: str,
    options: dict[str, Any],
    suggest: Callable[[], str],
) -> dict[str, str]:
    """Fetch the files of a model; return name of the file → its path.

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
    if formats.CHAT_TEMPLATE_FILE in model.found:
        for file in model.template_files(prefix):
            model.fetch(file, prefix + file)
    if not model.found:
        model.refuse_all(subfolder)
    return model.found


class _Model:
    """A model of the hub while its files are fetched, one after the other.

    Attributes:
        found: name of the file → its path.
    """

    def __init__(
        self, hub: Any, name: str, options: dict[str, Any], suggest: Callable[[], str]
    ) -> None:
        self.found: dict[str, str] = {}
        self._hub, self._name, self._suggest = hub, name, suggest
        token = options.get("token")
        if isinstance(token, str):
            token = token.strip()
            if not re.fullmatch("[!-~]*", token):  # the error of a library would show it
                self._refuse("the token is malformed; check token")
        self._options = {**options, "token": token}
        # Once a file's commit is known, that is the revision, so that one load never mixes two.
        self._revision = self._options.pop("revision", None)
        # huggingface_hub looks into the environment only when it is imported, perhaps long ago.
        variable = os.environ.get("HF_HUB_OFFLINE", "").upper()
        self._is_offline = (
            self._options.pop("local_files_only", False)
            or hub.constants.HF_HUB_OFFLINE
            or variable in hub.constants.ENV_VARS_TRUE_VALUES
        )
        # Why only the cache is used: empty if the hub is used too, None before the first request.
        self._obstacle = "the offline mode is on" if self._is_offline else None

    def fetch(self, file: str, path: str) -> None:
        """Note where a file is; leave out one that the model does not have."""
        try:
            place = self._place(path)
        except Exception as error:  # the libraries below huggingface_hub, which change, have theirs
            self._refuse_for(error, file)
        if self._obstacle and self._options.get("force_download"):
            self._refuse(f"{self._obstacle}, and force_download=True takes nothing from the cache")
        if isinstance(place, str):
            self.found[file] = place
            # the cache keeps it at `…/snapshots/<commit>/<path in the model>`
            self._revision = Path(place).parents[len(PurePosixPath(path).parts) - 1].name
        elif place is None and not self._is_offline:
            self._refuse_uncached(f"{file} is")

    def _place(self, path: str) -> Any:
        """Return the path of a file, or huggingface_hub's mark for one that the model does not
        have; None if the hub is not asked and the cache does not know.
        """
        cached, absent = None, self._hub._CACHED_NO_EXIST
        if not self._options.get("force_download"):
            cached = self._hub.try_to_load_from_cache(
                self._name, path, self._options.get("cache_dir"), self._revision
            )
        # A branch or a tag may have moved; a commit stays as it is.
        is_commit = re.fullmatch("[0-9a-f]{40}", self._revision or "")
        if (is_commit and cached) or not self._asks():
            return cached
        try:
            return self._hub.hf_hub_download(
                self._name, path, revision=self._revision, **self._options
            )
        except self._hub.utils.LocalEntryNotFoundError:  # the hub failed
            if cached is not absent:
                raise
            # The rest comes from the cache, too: by now the hub may have another commit.
            self._obstacle = "the hub failed"
        except self._hub.utils.EntryNotFoundError as error:
            self._revision = error.response.headers.get("X-Repo-Commit", self._revision)
        return absent

    def _asks(self) -> bool:
        """Return whether the hub is asked; the first call tries whether it can be reached."""
        # Otherwise huggingface_hub 0.36 tries for 23 seconds, and prints lines, for each file.
        if self._obstacle is None:
            address, timeout = self._hub.constants.ENDPOINT, self._hub.constants.HF_HUB_ETAG_TIMEOUT
            try:
                self._hub.utils.get_session().head(address, timeout=timeout)
                self._obstacle = ""
            except Exception as error:  # as in `fetch`
                self._obstacle = f"the hub cannot be reached ({type(error).__name__})"
        return not self._obstacle

    def template_files(self, prefix: str) -> list[str]:
        """Return the chat templates in the folder beside chat_template.jinja; without the hub,
        those that the cache holds.
        """
        if not self._asks():
            directory = os.path.dirname(self.found[formats.CHAT_TEMPLATE_FILE])
            return formats.template_files(directory)
        folder = prefix + formats.CHAT_TEMPLATE_FOLDER
        try:
            entries = self._hub.list_repo_tree(
                self._name, folder, revision=self._revision, token=self._options["token"]
            )
            paths = sorted(entry.path for entry in entries if entry.path.endswith(".jinja"))
        except self._hub.utils.EntryNotFoundError:
            return []
        except Exception as error:  # as in `fetch`
            self._refuse_for(error, folder)
        names = [path.removeprefix(prefix) for path in paths]
        return formats.checked_count(names, f"{self._name}/{folder}")

    def refuse_all(self, subfolder: str) -> NoReturn:
        """Raise the error for a model of which no file was found."""
        if self._is_offline:
            self._refuse_uncached("its files are")
        where = f"folder {subfolder} of {self._name}" if subfolder else self._name
        self._refuse(f"{where} has none of the files of a tokenizer; check the name")

    def _refuse_uncached(self, what: str) -> NoReturn:
        self._refuse(
            f"{self._obstacle}, and {what} not in the cache; check the name, or load it once while"
            f" the hub can be reached{self._suggest()}"
        )

    def _refuse_for(self, error: Exception, file: str) -> NoReturn:
        """Raise a `FileError` for another error, of huggingface_hub or below."""
        errors = self._hub.utils
        # "Not in the cache either" and "force_download failed" wrap what the hub answered.
        is_answer = getattr(error, "response", None) is not None
        reason = error if is_answer else error.__cause__ or error
        status = getattr(getattr(reason, "response", None), "status_code", None)
        if isinstance(reason, errors.RevisionNotFoundError):
            why = f"it has no revision {self._revision}; check `revision`, a branch, tag or commit"
        elif isinstance(reason, errors.GatedRepoError):
            why = "its owner wants to be asked first; ask on the model's page, then pass token=..."
        elif isinstance(reason, errors.RepositoryNotFoundError) or status in (401, 403):
            why = (
                "no model of that name is open to you; check the name or, if the model is private,"
                f" pass token=...{self._suggest()}"
            )
        else:
            said = "".join(f": {line}" for line in str(reason).strip().splitlines()[:1])
            why = (
                f"fetching {file} failed ({type(reason).__name__}{said}); try again, or check the"
                " options, the network and HF_ENDPOINT"
            )
        self._refuse(why)

    def _refuse(self, why: str) -> NoReturn:
        message = (
            f"{self._name} is neither a directory nor a file here; cannot load it from the"
            f" HuggingFace hub: {why}"
        )
        raise FileError(message, path=self._name) from None
