"""Save the files of a tokenizer's directory together, and read them together.

Several files cannot be replaced in one step. So a save leaves a trail that loading understands:
`tokenizer_config.json.new`, the *plan*, which is also the next tokenizer_config.json. It is the
lock of the process that saves. While the plan is incomplete, no file has been replaced. Once it is
complete, every new file lies beside the old one as `NAME.new`, and any process can finish the save.
Renaming the plan to `tokenizer_config.json` ends it.

tokenizer_config.json records the hashes of the other files and a digest of its own text. By these
loading tells whether the files that it has read were saved together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    CONFIG_FILE,
    MERGES_FILE,
    RECORD,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    json_text,
)
from trietok.files.new_directory import new_directory

logger = logging.getLogger("trietok")

FILES, DIGEST = "files", "digest"  # the keys of the record
_NAMES = (  # of the files that most saves write
    *(VOCAB_FILE, TOKENIZER_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE, CHAT_TEMPLATE_FILE),
    *(BPE_VOCAB_FILE, MERGES_FILE),
)
_END = b'"\n  }\n}\n'  # what follows the digest, which is the last value of the file
_DIGEST_LENGTH = len(hashlib.sha256().hexdigest())
_TEXTS = (".jinja", ".json", ".log", ".txt")  # how the names of files end that a save may remove

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

    A plan that came with a download must not reach outside the directory or remove weights.
    """
    folder, _, file = name.rpartition("/")
    is_plain = file not in ("", ".", "..") and checked_name(file) == os.path.basename(file)
    is_in_place = folder == "" or (
        folder.endswith(CHAT_TEMPLATE_FOLDER) and folder == os.path.basename(folder)
    )
    is_text = file.endswith(_TEXTS) and name != CONFIG_FILE
    return is_plain and is_in_place and (is_text if digest is None else isinstance(digest, str))


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
            new files are on the disk: `finish_save` or another save ends it.
    """
    save = _Save(Path(directory), prefix + TOKENIZER_CONFIG_FILE)
    hashes = {name: _hash(content) for name, content in files.items()}
    text = _with_record(config, hashes)
    with as_file_error(f"cannot save to {os.fspath(directory)}", directory):
        target = Path(os.path.realpath(checked_name(directory)))
        if target.exists() and not target.is_dir():
            raise FileError(f"cannot save to {target}: it is a file; give a directory", path=target)
        if not _is_made(target, save, files, text):
            save._replace(path=target).run(files, hashes, text)
    names = [save.config, *(name for name, content in files.items() if content is not None)]
    return [Path(directory, name) for name in names]


def finish_save(directory: Path_) -> str | None:
    """End a save that was interrupted.

    Returns:
        What was done, as a sentence; None if no save was interrupted.

    Raises:
        FileError: a file cannot be replaced, or another process is saving.
    """
    save = _Save(Path(os.path.realpath(checked_name(directory))), TOKENIZER_CONFIG_FILE)
    if not os.path.lexists(save.plan):
        return None
    what = f"cannot finish the save to {os.fspath(directory)}"
    with as_file_error(what, directory), save.alone() as (_, done):
        save.discard(())
    return done or "the save had replaced no file, and is undone"


class _Save(NamedTuple):
    """A save: the directory, and the name of its tokenizer_config.json."""

    path: Path
    config: str

    @property
    def plan(self) -> Path:
        return self.path / (self.config + NEW)

    def run(self, files: Mapping[str, bytes | None], hashes: Hashes, text: bytes) -> None:
        """Replace files of a directory that exists."""
        with self.alone() as (plan, _):
            try:
                modes = {name: mode_to_keep(self.path / name) for name in (*files, self.config)}
                for name, content in files.items():
                    if content is not None:
                        _write_new(self.path / (name + NEW), content, modes[name])
                _flush_folders(self.path, files)
                # only now: a complete plan on the disk says that all its files are there
                mode = modes[self.config]
                if mode is not None:
                    os.chmod(self.plan, mode)
                with disk.naming(self.plan):
                    plan.write(text)
                    flush_file(plan)
            except BaseException:
                self.discard(files)
                raise
            self.finish(hashes, plan)

    @contextlib.contextmanager
    def alone(self) -> Iterator[tuple[BinaryIO, str]]:
        """Yield the empty plan, which no other process has, and what was done before.

        What a process that was killed has left is finished or discarded.
        """
        done = ""
        try:
            while True:
                is_private = (self.path / self.config).exists()  # until the plan has its mode
                with disk.locked(self.plan, private=is_private) as plan:
                    found = plan.read()
                    hashes = recorded_in(found)
                    if hashes is not None and self._is_ready(hashes, plan):
                        self.finish(hashes, plan)  # and the plan is gone
                        done = "the save is finished"
                        continue
                    done = self._discarded(found) or done
                    plan.seek(0)
                    plan.truncate()
                    yield plan, done
                    return
        except disk.BusyError:
            raise FileError(
                f"cannot save to {self.path}: another process has been saving there for"
                f" {disk.PATIENCE:g} s; let it go on or end it, and save again",
                path=self.path,
            ) from None

    def _is_ready(self, hashes: Hashes, plan: BinaryIO) -> bool:
        """Return whether each file of a plan is there, and no other program has saved since."""
        for name, digest in hashes.items():
            new = self.path / (name + NEW)
            content = _content(os.fspath(new if new.exists() else self.path / name))
            if digest is not None and digest != _hash(content):
                return False
        return not self._is_overwritten(plan)

    def _is_overwritten(self, plan: BinaryIO) -> bool:
        """Return whether another program has written tokenizer_config.json after the plan."""
        try:
            config = os.stat(self.path / self.config)
            text = disk.read_regular(self.path / self.config)
        except (OSError, ValueError):
            return False
        is_later = config.st_mtime_ns > os.fstat(plan.fileno()).st_mtime_ns
        return is_later and recorded_in(text) is None

    def _discarded(self, text: bytes) -> str:
        """Remove the new files of a plan; return what was done if there was a complete plan."""
        hashes = recorded_in(text)
        if hashes is None:
            prefix = self.config.removesuffix(TOKENIZER_CONFIG_FILE)
            folder = self.path / (prefix + CHAT_TEMPLATE_FOLDER)
            templates = [f"{folder.name}/{path.stem}" for path in folder.glob("*.jinja" + NEW)]
            self._remove_new([*(prefix + name for name in _NAMES), *templates])
            return ""
        self._remove_new(hashes)
        message = (
            f"a save to {self.path} was interrupted, and its files have been changed or removed"
            " since; those that are there stay. Check that they belong together, or save again"
        )
        logger.warning("%s", message)
        return message

    def finish(self, hashes: Hashes, plan: BinaryIO) -> None:
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
            path, new = self.path / name, self.path / (name + NEW)
            if digest is None:
                path.unlink(missing_ok=True)
            elif new.exists():
                os.replace(new, path)
        _flush_folders(self.path, hashes)  # the plan has to outlive what it tells of
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
        for name in names:
            (self.path / (name + NEW)).unlink(missing_ok=True)
        self._remove_folders(names)

    def _remove_folders(self, names: Iterable[str]) -> None:
        for folder in {(self.path / name).parent for name in names} - {self.path}:
            with contextlib.suppress(OSError):  # there is none, or it holds something
                folder.rmdir()


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
    path.parent.mkdir(exist_ok=True)  # the folder of chat templates
    path.unlink(missing_ok=True)
    first_mode = 0o666 if mode is None else 0o600  # nobody else reads it before it has its mode

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags, first_mode)

    with disk.naming(path), open(path, "xb", opener=opened) as file:
        if mode is not None:
            os.chmod(path, mode)
        file.write(content)
        flush_file(file)


def _flush_folders(path: Path, names: Iterable[str]) -> None:
    for folder in {(path / name).parent for name in (*names, "")} | {path}:
        if folder.is_dir():
            flush_directory(folder)


def _is_made(target: Path, save: _Save, files: Mapping[str, bytes | None], text: bytes) -> bool:
    """Make a directory with these files; False if it is there, also if it appeared meanwhile."""
    if target.exists():
        return False
    try:
        with new_directory(target) as folder:
            contents = {name: content for name, content in files.items() if content is not None}
            for name, content in {**contents, save.config: text}.items():
                _write_new(folder / name, content, None)
    except FileError:
        if target.is_dir():
            return False
        raise
    return True


# ---- reading -------------------------------------------------------------------------------------


class Contents(NamedTuple):
    """The files of a directory, read together.

    Attributes:
        files: path → bytes; None for a file that is not there. A file that cannot be read is
            missing here, and whoever reads it gets the error.
        changed: names of the files that are not as tokenizer_config.json records them.
    """

    files: dict[str, bytes | None]
    changed: list[str]


def read_together(directory: Path_, find: Callable[[], Mapping[str, str]]) -> Contents:
    """Read the files of a directory as one save has left them; waits while a save replaces them.

    Args:
        directory: the directory with tokenizer_config.json.
        find: returns name → path of the files to read; called again after a save.

    Raises:
        InterruptedSaveError: a process ended while it replaced files.
        FileError: another process has been saving for `disk.PATIENCE` seconds.
    """
    config = os.path.join(directory, TOKENIZER_CONFIG_FILE)
    end = time.monotonic() + disk.PATIENCE
    while True:
        with as_file_error(f"cannot read {config}", config):
            contents = _read_once(config, find)
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


def _read_once(config: str, find: Callable[[], Mapping[str, str]]) -> Contents | None:
    """Read the files; None if a save has replaced some meanwhile."""
    with contextlib.ExitStack() as stack:
        opened = None  # stays open, so that no later file gets its number
        if os.path.isfile(config):
            with contextlib.suppress(FileNotFoundError):
                opened = stack.enter_context(disk.open_regular(config))
        text = b"" if opened is None else opened.read()
        paths = find()
        found = {name: _content(path) for name, path in paths.items()}
        hashes = recorded_in(text)
        changed = [] if hashes is None else _changed(hashes, found)
        if hashes is None or changed:
            if _is_replacing(config) or not disk.is_at(opened, config):
                return None
    files = {path: found[name] for name, path in paths.items() if found[name] is not _UNREADABLE}
    if TOKENIZER_CONFIG_FILE in paths and opened is not None:
        files[paths[TOKENIZER_CONFIG_FILE]] = text
    return Contents(files, changed)


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

    A file that the record does not know and a file that is not asked for do not count. Chat
    templates with names of their own do: a save adds and removes them.
    """
    has_templates = any("/" in name for name in found)
    names = {name for name in hashes if name in found or ("/" in name and has_templates)}
    names |= {name for name in found if "/" in name}
    return sorted(name for name in names if _hash(found.get(name)) != hashes.get(name))


def _is_replacing(config: str) -> bool:
    """Return whether a process is replacing files; InterruptedSaveError if it has ended."""
    try:
        with disk.open_regular(config + NEW) as plan:
            if recorded_in(plan.read()) is None:
                return False
            if disk.lock(plan, shared=True) and disk.is_at(plan, config + NEW):
                raise interrupted(os.path.dirname(config))
            return True
    except FileNotFoundError:
        return False
