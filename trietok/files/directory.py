"""Save the files of a tokenizer's directory together, and read them together.

Several files cannot be replaced in one step. So a save leaves a trail that loading understands:
`tokenizer_config.json.new`, the *plan*, which is also the next tokenizer_config.json. It is the
lock of the process that saves. A complete plan says that every new file lies beside the old one as
`NAME.new`; then these are renamed. If one of them is gone, the save has *begun* to replace files,
and any process can finish it. Renaming the plan to `tokenizer_config.json` ends it.

tokenizer_config.json records the hashes of the other files and a digest of its own text. By these
loading tells whether the files that it has read were saved together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, NamedTuple

from trietok import disk
from trietok.disk import NEW, Path_, checked_name, flush_directory, flush_file, mode_to_keep
from trietok.errors import FileError, InterruptedSaveError, as_file_error
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    BPE_VOCAB_FILE,
    CHAT_TEMPLATE_FILE,
    CHAT_TEMPLATE_FOLDER,
    MERGES_FILE,
    RECIPE_FILES,
    RECORD,
    SPECIAL_TOKENS_MAP_FILE,
    TEMPLATE_ENDING,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    json_text,
    template_files,
)
from trietok.files.new_directory import new_directory

logger = logging.getLogger("trietok")

FILES, DIGEST = "files", "digest"  # the keys of the record
_END = b'"\n  }\n}\n'  # what follows the digest, which is the last value of the file
_DIGEST_LENGTH = len(hashlib.sha256().hexdigest())
_NAMES = (  # of the files that saves write, and may remove
    *(VOCAB_FILE, TOKENIZER_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, CHAT_TEMPLATE_FILE),
    *(BPE_VOCAB_FILE, MERGES_FILE, *RECIPE_FILES),
)
# A save of a user's class may write files of other names, but never those of a model or a save.
_OTHERS = re.compile(
    r"(.*\.(safetensors|bin|pt|pth|ckpt|h5|msgpack|onnx|gguf|npz|pkl|py|md|index\.json|new))"
    r"|(.*config|modules)\.json|\..*"
)

Hashes = dict[str, str | None]  # name → SHA-256; None for a file that must not be there


# ---- what tokenizer_config.json records ----------------------------------------------------------


def _with_record(config: Mapping[str, Any], hashes: Hashes) -> bytes:
    """Return the text of a tokenizer_config.json that records the hashes, and its own digest.

    transformers keeps the record when it saves a tokenizer that it has loaded. It sorts keys, so
    that the digest is not the last value any more, and then the record does not count.
    """
    ordered = json.loads(json_text(config))
    record = {**ordered.pop(RECORD, {}), FILES: dict(sorted(hashes.items())), DIGEST: ""}
    start = json_text({**ordered, RECORD: record}, sort_keys=False).encode().removesuffix(_END)
    return start + hashlib.sha256(start).hexdigest().encode() + _END


def recorded_in(text: bytes) -> Hashes | None:
    """Return the hashes that the text of a tokenizer_config.json records.

    Returns None if it records none, is incomplete, or was written by another program since.
    """
    start, end = text[: -_DIGEST_LENGTH - len(_END)], text[-_DIGEST_LENGTH - len(_END) :]
    if end != hashlib.sha256(start).hexdigest().encode() + _END:
        return None
    try:
        hashes = json.loads(text)[RECORD][FILES]
        is_ours = all(_may_be_saved(name, digest) for name, digest in hashes.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return hashes if is_ours else None


def without_hashes(config: dict[str, Any]) -> dict[str, Any]:
    """Return a tokenizer_config.json as a program sees it that knows nothing of saves."""
    record = config.get(RECORD)
    if not isinstance(record, dict):
        return config
    rest = {key: value for key, value in record.items() if key not in (FILES, DIGEST)}
    others = {key: value for key, value in config.items() if key != RECORD}
    return {**others, RECORD: rest} if rest else others


def _may_be_saved(name: str, digest: object) -> bool:
    """Return whether a save writes such a file, or removes it if `digest` is None.

    A plan that came with a download must not reach outside the directory or change a model.
    """
    folder, _, file = name.rpartition("/")
    is_plain = file not in ("", ".", "..") and checked_name(file) == os.path.basename(file)
    if folder:
        is_template = folder.endswith(CHAT_TEMPLATE_FOLDER) and folder == os.path.basename(folder)
        return is_plain and is_template and file.endswith(TEMPLATE_ENDING)
    if digest is None:
        return is_plain and file.endswith(_NAMES)
    return is_plain and isinstance(digest, str) and _OTHERS.fullmatch(file) is None


def _hash(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


# ---- saving --------------------------------------------------------------------------------------


def save_together(
    directory: Path_,
    files: Mapping[str, bytes | None],
    config: Mapping[str, Any],
    prefix: str = "",
) -> list[Path]:
    """Replace the files of a directory, or make the directory with these files.

    Args:
        directory: where to; it appears with all its files if it does not exist.
        files: name → content; None for a file that must not be there, as it belongs to another
            tokenizer. Other files of the directory are not touched.
        config: the values of tokenizer_config.json.
        prefix: put before the name tokenizer_config.json.

    Returns:
        The paths of the files, tokenizer_config.json first.

    Raises:
        FileError: a file cannot be written. The directory is as before.
        InterruptedSaveError: the system did not let a file be replaced after others had been. All
            new files are on the disk: `finish_saves` or another save ends it.
    """
    with as_file_error(f"cannot save to {os.fspath(directory)}", directory, names_file=True):
        target = Path(os.path.realpath(checked_name(directory)))
        if target.exists() and not target.is_dir():
            raise FileError(f"cannot save to {target}: it is a file; give a directory", path=target)
        save = _Save(target, prefix + TOKENIZER_CONFIG_FILE)
        hashes = {name: _hash(content) for name, content in files.items()}
        for name, digest in hashes.items():
            if not _may_be_saved(name, digest):
                raise FileError(
                    f"cannot save to {target}: no file of a tokenizer may be named {name!r}, as"
                    " those of a model and of a save are; choose another name",
                    path=target,
                )
        if not save.make(files, hashes, config):
            save.run(files, hashes, config)
    names = [save.config, *(name for name, content in files.items() if content is not None)]
    return [Path(directory, name) for name in names]


def finish_saves(directory: Path_) -> list[str]:
    """End the saves to a directory that were interrupted.

    Returns:
        What was done, a sentence for each save.

    Raises:
        FileError: a file cannot be replaced, or another process is saving.
    """
    done = []
    with as_file_error(f"cannot finish the save to {os.fspath(directory)}", directory, True):
        path = Path(os.path.realpath(checked_name(directory)))
        for plan in sorted(path.glob(f"*{TOKENIZER_CONFIG_FILE}{NEW}")):
            save = _Save(path, plan.name.removesuffix(NEW))
            with save.alone() as (_, what):
                save.discard(())
            done.append(what)
    return done


class _Save(NamedTuple):
    """A save: the directory, and the name of its tokenizer_config.json."""

    path: Path
    config: str

    @property
    def plan(self) -> Path:
        return self.path / (self.config + NEW)

    def make(
        self, files: Mapping[str, bytes | None], hashes: Hashes, config: Mapping[str, Any]
    ) -> bool:
        """Make the directory with these files; return False if there is one already."""
        if self.path.exists():
            return False
        text = _with_record(config, hashes)
        try:
            with new_directory(self.path) as folder:
                for name, content in {**files, self.config: text}.items():
                    if content is not None:
                        (folder / name).parent.mkdir(exist_ok=True)
                        (folder / name).write_bytes(content)
        except FileError:
            if self.path.is_dir():
                return False
            raise
        return True

    def run(
        self, files: Mapping[str, bytes | None], hashes: Hashes, config: Mapping[str, Any]
    ) -> None:
        """Replace files of a directory that exists; `hashes` are those of `files`."""
        with self.alone() as (plan, _):
            others = dict.fromkeys(self._templates())  # are removed unless they are saved
            files, hashes = {**others, **files}, {**others, **hashes}
            try:
                modes = {name: mode_to_keep(self.path / name) for name in (*files, self.config)}
                mode = modes[self.config]
                if mode is not None:
                    os.chmod(self.plan, mode)
                for name, content in files.items():
                    if content is not None:
                        _write_new(self.path / (name + NEW), content, modes[name])
                self._flush_folders(files)
                # only now: a complete plan on the disk says that all its files are there
                with disk.naming(self.plan):
                    plan.write(_with_record(config, hashes))
                    flush_file(plan)
            except BaseException:
                self.discard(files)
                raise
            self._finish(hashes, plan)

    @contextlib.contextmanager
    def alone(self) -> Iterator[tuple[BinaryIO, str]]:
        """Yield the empty plan, which no other process has, and what was done before.

        If a process was killed after it had begun to replace files, its save is finished. If it had
        not, its save is undone: loading gives the old files until then.
        """
        done = "a save that had replaced no file is undone"
        try:
            while True:
                is_private = (self.path / self.config).exists()  # until the plan has its mode
                with disk.locked(self.plan, private=is_private) as plan:
                    text = plan.read()
                    hashes = recorded_in(text)
                    if hashes is not None and self.has_begun(hashes):
                        if self._is_ready(hashes, plan):
                            for name in (*hashes, self.config):
                                mode_to_keep(self.path / name)
                            self._finish(hashes, plan)  # and the plan is gone
                            done = "the save is finished"
                            continue
                        done = (
                            f"a save to {self.path} was interrupted, and its files have been"
                            " changed or removed since; those that are there stay. Check that they"
                            " belong together, or save again"
                        )
                        logger.warning("%s", done)
                    plan.seek(0)
                    plan.truncate()  # a complete one would tell of files that are gone
                    prefix = self.config.removesuffix(TOKENIZER_CONFIG_FILE)
                    names = {*(prefix + name for name in _NAMES), *(hashes or ())}
                    self._remove_new((*names, *self._templates(NEW)))
                    yield plan, done
                    return
        except disk.BusyError:
            raise FileError(
                f"cannot save to {self.path}: another process has been saving there for"
                f" {disk.PATIENCE:g} s; let it go on or end it, and save again",
                path=self.path,
            ) from None

    def has_begun(self, hashes: Hashes) -> bool:
        """Return whether a save with a complete plan has begun to replace files."""
        return any(
            digest is not None and not (self.path / (name + NEW)).exists()
            for name, digest in hashes.items()
        )

    def is_as_before(self, hashes: Hashes, config: bytes) -> bool:
        """Return whether the files are as tokenizer_config.json records them."""
        recorded = recorded_in(config)
        if recorded is None:
            return False
        for name, digest in hashes.items():
            there = _hash(_content(os.fspath(self.path / name)))
            if name in recorded and there != recorded[name]:
                return False
            if name not in recorded and digest is not None and there == digest:
                return False
        return True

    def _is_ready(self, hashes: Hashes, plan: BinaryIO) -> bool:
        """Return whether each file of a plan is there, and no other program has saved since."""
        for name, digest in hashes.items():
            new = self.path / (name + NEW)
            content = _content(os.fspath(new if new.exists() else self.path / name))
            if (digest is not None and digest != _hash(content)) or self._leads_away(name):
                return False
        try:
            config, text = os.stat(self.path / self.config), (self.path / self.config).read_bytes()
        except OSError:
            return True
        is_later = config.st_mtime_ns > os.fstat(plan.fileno()).st_mtime_ns
        return not (is_later and recorded_in(text) is None)

    def _finish(self, hashes: Hashes, plan: BinaryIO) -> None:
        """Put the new files of a complete plan in their places."""
        if os.name != "posix":  # there an open file cannot be renamed
            plan.close()
        try:
            self._put_in_place(hashes)
        except OSError as error:
            raise interrupted(self.path, f": {error.strerror} ({error.filename})") from error
        except BaseException:  # Ctrl-C: the rest takes a moment
            self._put_in_place(hashes)
            raise
        flush_directory(self.path)

    def _put_in_place(self, hashes: Hashes) -> None:
        """Rename the new files and remove those of another tokenizer; may be called again."""
        for name, digest in hashes.items():
            if digest is not None and (self.path / (name + NEW)).exists():
                os.replace(self.path / (name + NEW), self.path / name)
        for name, digest in hashes.items():
            if digest is None:
                (self.path / name).unlink(missing_ok=True)
        self._flush_folders(hashes)  # the plan has to outlive what it tells of
        if self.plan.exists():
            os.replace(self.plan, self.path / self.config)
        self._remove_folders(hashes)

    def discard(self, names: Iterable[str]) -> None:
        """Remove the new files, the plan at last: as long as it is there, no other save begins."""
        with contextlib.suppress(OSError):
            os.truncate(self.plan, 0)  # a complete one would tell of files that are gone
        with contextlib.suppress(OSError):
            self._remove_new(names)
            self.plan.unlink(missing_ok=True)

    def _remove_new(self, names: Iterable[str]) -> None:
        names = [name for name in names if not self._leads_away(name)]
        for name in names:
            (self.path / (name + NEW)).unlink(missing_ok=True)
        self._remove_folders(names)

    def _remove_folders(self, names: Iterable[str]) -> None:
        for folder in {(self.path / name).parent for name in names} - {self.path}:
            with contextlib.suppress(OSError):  # there is none, or it holds something
                folder.rmdir()

    def _flush_folders(self, names: Iterable[str]) -> None:
        for folder in {self.path, *((self.path / name).parent for name in names)}:
            if folder.is_dir():
                flush_directory(folder)

    def _templates(self, ending: str = "") -> list[str]:
        """Return the names of the chat templates that have files of their own, without `ending`."""
        folder = self.path / (
            self.config.removesuffix(TOKENIZER_CONFIG_FILE) + CHAT_TEMPLATE_FOLDER
        )
        found = folder.glob(f"*{TEMPLATE_ENDING}{ending}") if not folder.is_symlink() else ()
        return [f"{folder.name}/{path.name.removesuffix(ending)}" for path in found]

    def _leads_away(self, name: str) -> bool:
        """Return whether a file is in a folder that is a link to elsewhere."""
        return "/" in name and (self.path / name).parent.is_symlink()


def interrupted(directory: Path_, why: str = "") -> InterruptedSaveError:
    """Return the error for a directory in which some files may be old and some new."""
    place = os.fspath(directory)
    return InterruptedSaveError(
        f"a save to {place} was interrupted{why}: some of its files may be old and some new. Finish"
        f" it with `trietok check -m {quote(place)} --fix`, or save again",
        path=place,
    )


def _write_new(path: Path, content: bytes, mode: int | None) -> None:
    """Write a file and wait until it is on the disk; `mode` is that of the file it will replace."""
    folder = path.parent
    if folder.is_symlink():
        raise FileError(f"cannot write to {folder}: it is a link to elsewhere", path=folder)
    folder.mkdir(exist_ok=True)  # that of chat templates
    path.unlink(missing_ok=True)
    first_mode = 0o666 if mode is None else 0o600  # nobody else reads it before it has its mode

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags, first_mode)

    with disk.naming(path), open(path, "xb", opener=opened) as file:
        if mode is not None:
            os.chmod(path, mode)
        file.write(content)
        flush_file(file)


# ---- reading -------------------------------------------------------------------------------------


class Contents(NamedTuple):
    """The files of a directory, read together.

    Attributes:
        files: name → bytes; None for a file that is not there. A file that cannot be read is
            missing here, and whoever reads it gets the error.
        changed: names of the files that are not as tokenizer_config.json records them.
    """

    files: dict[str, bytes | None]
    changed: list[str]


def read_together(directory: Path_, names: Sequence[str]) -> Contents:
    """Read the files of a directory as one save has left them; waits while a save replaces them.

    Args:
        directory: the directory with tokenizer_config.json.
        names: of the files to read; chat templates with files of their own are read, too.

    Raises:
        InterruptedSaveError: a process ended while it replaced files.
        FileError: another process has been saving for `disk.PATIENCE` seconds.
    """
    config = os.path.join(directory, TOKENIZER_CONFIG_FILE)
    end = time.monotonic() + disk.PATIENCE
    while True:
        with as_file_error(f"cannot read {config}", config):
            contents = _read_once(directory, names)
        if contents is not None:
            return contents
        if time.monotonic() > end:
            raise FileError(
                f"cannot read {os.fspath(directory)}: another process has been saving there for"
                f" {disk.PATIENCE:g} s, or it was interrupted; `trietok check -m"
                f" {quote(os.fspath(directory))} --fix` finishes the save",
                path=directory,
            )
        time.sleep(disk.PAUSE)


def _read_once(directory: Path_, names: Sequence[str]) -> Contents | None:
    """Read the files; return None if a save has replaced some of them while they were read."""
    config = os.path.join(directory, TOKENIZER_CONFIG_FILE)
    with contextlib.ExitStack() as stack:
        opened = None  # stays open, so that no later file gets its number
        if os.path.isfile(config):
            with contextlib.suppress(FileNotFoundError):
                opened = stack.enter_context(disk.open_regular(config))
        text = b"" if opened is None else opened.read()
        found = {
            name: _content(os.path.join(directory, name))
            for name in (*names, *template_files(directory))
        }
        if _is_replacing(Path(config), text) or not disk.is_at(opened, config):
            return None
    files = {name: content for name, content in found.items() if content is not _UNREADABLE}
    if TOKENIZER_CONFIG_FILE in found and opened is not None:
        files[TOKENIZER_CONFIG_FILE] = text
    hashes = recorded_in(text)
    return Contents(files, [] if hashes is None else _changed(hashes, found))


def versions_of(directory: str, names: Iterable[str]) -> list[tuple[int, int, int] | None]:
    """Return a value for each file that is another one after the file has been replaced."""
    versions: list[tuple[int, int, int] | None] = []
    for name in names:
        try:
            status = os.stat(os.path.join(directory, name))
        except (OSError, ValueError):  # it does not exist, or cannot be a path
            versions.append(None)
        else:
            versions.append((status.st_ino, status.st_size, status.st_mtime_ns))
    return versions


_UNREADABLE = b"\0unreadable"  # stands for the content of a file that cannot be read


def _content(path: str) -> bytes | None:
    try:
        return disk.read_regular(path)
    except FileNotFoundError:
        return _UNREADABLE if os.path.islink(path) else None
    except (OSError, ValueError):
        return _UNREADABLE


def _changed(hashes: Hashes, found: Mapping[str, bytes | None]) -> list[str]:
    """Return the names of files that are not as recorded.

    A file that the record does not know and a file that is not asked for do not count.
    """
    return sorted(name for name in hashes if name in found and _hash(found[name]) != hashes[name])


def _is_replacing(config: Path, text: bytes) -> bool:
    """Return whether a process is replacing files; InterruptedSaveError if it has ended.

    `text` is that of tokenizer_config.json.
    """
    save = _Save(config.parent, config.name)
    try:
        with disk.open_regular(save.plan) as plan:
            hashes = recorded_in(plan.read())
            if hashes is None or not save.has_begun(hashes):
                return False
            if disk.lock(plan, shared=True) and disk.is_at(plan, save.plan):
                if save.is_as_before(hashes, text):
                    return False
                raise interrupted(save.path)
            return True
    except (FileNotFoundError, PermissionError):  # before its text is written it may be private
        return False
