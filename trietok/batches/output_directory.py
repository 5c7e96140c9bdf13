"""The directory or store that `encode_files` writes to, and the Parquet files in it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Any, NamedTuple

from trietok.batches.parquet_parts import RECORD_KEY
from trietok.batches.units import Source
from trietok.disk import checked_name, flush_directory, locked_directory
from trietok.errors import FileError, FileFormatError, InputError, TrietokError
from trietok.files.stores import file_system, identity, is_url, reading
from trietok.files.tables import open_parquet

_FOLDER = ".trietok-encoding"  # for files that are being written
# The types of what a record holds beside its sources.
_RECORD = {
    **{"unit": str, "tokenizer": dict, "options": dict, "is_last": bool},
    **dict.fromkeys(("format", "part", "tokens", "longest", "skipped"), int),
}
_IGNORED = (".", "_")  # readers of Parquet directories ignore names that begin so
_SKIPPED = ("_", ".skipped.jsonl")  # what is around the name of a unit


class Output(NamedTuple):
    """A Parquet file of a run, and what its metadata say."""

    path: str
    rows: int
    record: dict[str, Any]
    sources: tuple[Source, ...]


def read_output(path: str) -> Output:
    """Return what the metadata of a Parquet file say.

    Raises:
        InputError: `encode_files` did not write it.
        FileFormatError: it is damaged.
    """
    try:
        with open_parquet(path) as table:
            content = (table.metadata.metadata or {}).get(RECORD_KEY)
            rows = table.metadata.num_rows
    except FileFormatError as error:
        message = f"{str(error).rstrip('.')}; remove it, and run again"
        raise FileFormatError(message, path=path) from error
    try:
        record = json.loads(content or b"null")
        sources = [Source(*values) for values in record["sources"]]
        is_record = all(isinstance(record[name], kind) for name, kind in _RECORD.items())
    except (ValueError, TypeError, KeyError):
        is_record = False
    if not is_record:
        raise InputError(f"{path} was not written by encode-files; choose another directory")
    return Output(path, rows, record, tuple(sources))


class OutputDirectory:
    """A local directory, or a URL that fsspec writes to. Files appear in it when they are complete.

    Attributes:
        name: its path or URL.
        folder: a local directory for files that are being written.
    """

    folder: Path

    def __init__(self, name: str | os.PathLike[str]) -> None:
        if not os.fspath(name):
            raise InputError("the output is empty; name a directory")
        self.name = checked_name(name).rstrip("/") or "/"
        self._files: Any = None  # of a store
        self._root = self.name
        if is_url(self.name):
            self._files, self._root = file_system(self.name)
            if "file" in self._files.protocol:
                self._files, self.name = None, self._root

    def path_of(self, name: str) -> str:
        """Return the path or URL of a file."""
        return f"{self.name}/{name}" if self._files is not None else os.path.join(self.name, name)

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Keep other runs out, and have a `folder`.

        Raises:
            InputError: another run is writing to the directory.
            FileError: it cannot be written.
        """
        with contextlib.ExitStack() as stack:
            try:
                if self._files is not None:
                    temporary = tempfile.TemporaryDirectory(prefix="trietok-")
                    self.folder = Path(stack.enter_context(temporary))
                else:
                    if os.path.lexists(self.name) and not os.path.isdir(self.name):
                        raise InputError(f"{self.name} is a file; the output is a directory")
                    os.makedirs(self.name, exist_ok=True)
                    if stack.enter_context(locked_directory(os.path.realpath(self.name))) is False:
                        raise InputError(
                            f"another run is writing to {self.name}; run again when it is complete"
                        )
                    self.folder = Path(self.name, _FOLDER)
                    shutil.rmtree(self.folder, ignore_errors=True)  # of a run that was killed
                    self.folder.mkdir()
                    stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            except OSError as error:
                raise _write_error(self.name, error) from error
            yield

    def new_folder(self) -> Path:
        """Return a new folder for the files of one unit of work.

        Its name is new: a process of a run that was killed may still write for a moment.
        """
        return Path(tempfile.mkdtemp(dir=self.folder))

    def outputs(self) -> list[Output]:
        """Return the Parquet files in it.

        Raises:
            InputError: one of them is not of `encode_files`.
            FileFormatError: one is damaged.
        """
        return [
            read_output(self.path_of(name))
            for name in self.names()
            if name.endswith(".parquet") and not name.startswith(_IGNORED)
        ]

    def check_inputs(self, inputs: Iterable[Source]) -> None:
        """Raise an InputError if an input is one of the files that runs write here."""
        place = identity(self.name)
        for source in inputs:
            folder, name = os.path.split(source.path)
            if folder == place and name.endswith((".parquet", _SKIPPED[-1])):
                raise InputError(
                    f"{source.name} is in the output directory; exclude it from the inputs, or"
                    " choose another directory"
                )

    def taken_names(self) -> set[str]:
        """Return the names that new units cannot have."""
        return {re.sub(r"(\.[0-9]{5})?\.parquet$", "", name) for name in self.names()}

    def names(self) -> list[str]:
        """Return the names of its files, sorted."""
        if self._files is None:
            return sorted(os.listdir(self.name)) if os.path.isdir(self.name) else []
        with reading(self.name):
            self._files.invalidate_cache()
            if not self._files.exists(self._root):
                return []
            paths = {path.rstrip("/") for path in self._files.ls(self._root, detail=False)}
        paths.discard(self._root.rstrip("/"))  # which some stores list as an object
        return sorted(path.rpartition("/")[2] for path in paths)

    def publish(self, unit: str, parts: list[Path], skipped: Path | None) -> list[str]:
        """Move the complete files of a unit of work into the directory; return their paths.

        Args:
            unit: the name of the unit.
            parts: its Parquet files, in their order.
            skipped: the list of its rows that were skipped, if there are any.

        Raises:
            InputError: another run has written a file of that name.
            FileError: the directory cannot be written.
        """
        names = [f"{unit}.parquet"]
        if len(parts) > 1:
            names = [f"{unit}.{number:05d}.parquet" for number in range(len(parts))]
        targets = dict(zip(names, parts, strict=True))
        if skipped is not None:
            targets = {unit.join(_SKIPPED): skipped, **targets}
        try:
            for name, part in targets.items():
                self._publish_file(part, name)
            if self._files is None:
                flush_directory(self.name)
        except TrietokError:
            raise
        except Exception as error:
            raise _write_error(self.name, error) from error
        return list(map(self.path_of, names))

    def _publish_file(self, part: Path, name: str) -> None:
        if self._files is not None:
            if self._files.exists(f"{self._root}/{name}"):
                raise self._exists(name)
            self._upload(part, f"{self._root}/{name}")
            part.unlink()
        elif os.path.lexists(self.path_of(name)):
            raise self._exists(name)
        else:
            os.replace(part, self.path_of(name))

    def _exists(self, name: str) -> InputError:
        path = self.path_of(name)
        return InputError(f"another program has written {path}; remove it, and run again")

    def _upload(self, part: Path, path: str) -> None:
        try:
            self._files.put_file(os.fspath(part), path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._files.rm_file(path)  # some stores keep the bytes before the error
            raise

    def remove_skipped_lists(self, keep: Set[str]) -> None:
        """Remove the lists of skipped rows whose outputs are not complete."""
        beginning, ending = _SKIPPED
        for name in self.names():
            path = self.path_of(name)
            if name.startswith(beginning) and name.endswith(ending) and path not in keep:
                self.remove(path)

    def remove(self, path: str) -> None:
        """Remove a file of the directory."""
        try:
            if self._files is None:
                os.unlink(path)
            else:
                self._files.rm_file(f"{self._root}/{path.rpartition('/')[2]}")
        except FileNotFoundError:
            pass
        except Exception as error:
            raise _write_error(path, error) from error

    def path_of_skipped(self, unit: str) -> str:
        """Return the path of the list of rows that were skipped."""
        return self.path_of(unit.join(_SKIPPED))


def _write_error(path: str, error: Exception) -> FileError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return FileError(f"cannot write {path}: {reason}", path=path)
