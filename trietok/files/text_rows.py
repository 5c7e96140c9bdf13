"""What all readers of files with texts share: which files, of which kind, and what a row of one holds.

In: paths and globs, or the bytes of a row. Out: a `TextFile` each; or a text, None for a null, `BadRow` for what is
none. A row is a line of a .txt, a line of a .jsonl, or a row of a column of a .parquet.
"""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from trietok.errors import FileError, FileFormatError, MissingDependencyError
from trietok.files import elsewhere
from trietok.files.elsewhere import is_elsewhere
from trietok.showing.lists import first_few

KINDS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".txt": "txt"}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_MOST_NAMES = 20  # of columns, in a message
_FIRST_BYTES = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}  # no text begins so: they are not UTF-8
FIRST_BYTES = max(map(len, _FIRST_BYTES))
_BLOCK = 1 << 20  # bytes


class BadRow(NamedTuple):
    """A row that holds no text, and why."""

    reason: str


Text = str | BadRow


# ---- files ----------------------------------------------------------------------------------------------------------


class TextFile(NamedTuple):
    """A file with texts.

    Attributes:
        name: its path, as it was given or as a glob found it, or its name elsewhere, such as `"s3://bucket/a.txt"`.
        kind: `"parquet"`, `"jsonl"` or `"txt"`; None where the name does not say it.
        compression: of the file as a whole: `"gzip"`, `"zstd"` or None. The first bytes count before the name.
        size: in bytes.
        mtime_ns: when it was last changed; elsewhere a number that changes with it.
    """

    name: str
    kind: str | None
    compression: str | None
    size: int
    mtime_ns: int

    @classmethod
    def at(cls, path: str) -> TextFile:
        """The file at a path.

        Raises:
            FileError: it cannot be found, or is a directory.
        """
        if is_elsewhere(path):
            size, version = elsewhere.status(path)
            return cls(path, *_kind_of(elsewhere.path_in(path), _first_bytes(path)), size, version)
        try:
            status = os.stat(path)
        except OSError as error:
            raise FileError(f"cannot read {path or repr(path)}: {error.strerror}", path=path) from error
        except ValueError:  # a NUL in the name
            raise FileError(f"cannot read {path!r}: no file can have that name", path=path) from None
        if os.path.isdir(path):
            example = os.path.join(path, "*.txt")
            raise FileError(f"{path} is a directory; give its files, such as {example} or *.parquet", path=path)
        first = _first_bytes(path) if stat.S_ISREG(status.st_mode) else b""
        return cls(path, *_kind_of(path, first), status.st_size, status.st_mtime_ns)

    def is_changed(self) -> bool:
        """Whether it is another one by now.

        Raises:
            FileError: it cannot be found.
        """
        if is_elsewhere(self.name):
            return not elsewhere.status(self.name, fresh=True).is_of(elsewhere.Status(self.size, self.mtime_ns))
        return TextFile.at(self.name) != self


def has_text_suffix(name: str) -> bool:
    """Whether a name ends as those of files with texts do.

    >>> has_text_suffix("texts.jsonl.gz"), has_text_suffix("Mind the gap."), has_text_suffix("texts.parquet")
    (True, False, True)
    """
    return _kind_of(name, b"")[0] is not None


def _kind_of(path: str, first: bytes) -> tuple[str | None, str | None]:
    """The kind and the compression of a file, by its name and its first bytes."""
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    compression = compression_of(first) or compression
    kind = KINDS.get(suffix)
    return None if kind == "parquet" and compression is not None else kind, compression


def compression_of(first: bytes) -> str | None:
    """The compression that the first bytes of a file tell of; None where they tell of none.

    >>> compression_of(b"\\x1f\\x8b\\x08\\x00"), compression_of(b"text")
    ('gzip', None)
    """
    return next((name for begin, name in _FIRST_BYTES.items() if first.startswith(begin)), None)


def _first_bytes(path: str) -> bytes:
    try:
        if is_elsewhere(path):
            return elsewhere.first_bytes(path, FIRST_BYTES)
        with open(path, "rb") as file:
            return file.read(FIRST_BYTES)
    except OSError:  # who reads the file says so
        return b""


def expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """The paths, and for each glob the files it finds, by name.

    Raises:
        FileError: from the iterator, where a glob finds none.
    """
    for given in paths:
        path = os.fspath(given)
        if is_elsewhere(path):
            found = elsewhere.matches(path)
            if found == []:
                hint = "; a name elsewhere that holds a [ is a glob, where [[] stands for it" if "[" in path else ""
                raise FileError(f"no file matches {path}{hint}", path=path)
            yield from [path] if found is None else found
            continue
        if os.path.exists(path) or not glob.has_magic(path):
            yield path
            continue
        matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
        if not matches:
            raise FileError(f"no file matches {path}", path=path)
        yield from matches


# ---- lines ----------------------------------------------------------------------------------------------------------


def decoded(raw: bytes, errors: str = "strict", *, of: str = "text", offset: int = 0) -> Text:
    """Bytes as text, or what is wrong with them.

    Args:
        raw: the bytes.
        errors: what to do with bytes that are not UTF-8, as for `bytes.decode`.
        of: what they are counted in.
        offset: where they begin there.

    >>> decoded(b"caf\\xe9"), decoded(b"caf\\xe9", "replace")
    (BadRow(reason='byte 0xe9 at offset 3 of the text is not UTF-8'), 'caf�')
    """
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        place = offset + error.start
        return BadRow(f"byte 0x{raw[error.start]:02x} at offset {place} of the {of} is not UTF-8")


def text_of_json(line: str, column: str) -> Text | None:
    """The text in a line of JSON; None for a null.

    >>> text_of_json('{"text": "low"}', "text"), text_of_json('{"text": null}', "text"), text_of_json("[1]", "text")
    ('low', None, BadRow(reason="a list of JSON, not an object {...} with the text in 'text'"))
    """
    values = object_of_json(line, column)
    return values if isinstance(values, BadRow) else text_in_object(values, column)


def object_of_json(line: str, column: str) -> dict[str, Any] | BadRow:
    """The object in a line of JSON, which should have the text in `column`."""
    try:
        values = json.loads(line.removeprefix("\ufeff"))  # with which some editors begin a file
    except json.JSONDecodeError as error:
        return BadRow(f"not JSON at character {error.pos + 1}: {error.msg}")
    except RecursionError:
        return BadRow("JSON with brackets nested too deeply to be read")
    except ValueError as error:  # a number of too many digits
        return BadRow(f"not JSON that can be read: {error}")
    if not isinstance(values, dict):
        return BadRow(f"{_json_name(values)} of JSON, not an object {{...}} with the text in {column!r}")
    return values


def text_in_object(values: dict[str, Any], column: str) -> Text | None:
    """The text in a JSON object; None for a null."""
    if column not in values:
        there = f"only {_names(values)}; choose a field {_BY_COLUMN}" if values else "nor any other"
        return BadRow(f"the object has no field {column!r}, {there}")
    text = values[column]
    return text if text is None or isinstance(text, str) else BadRow(f"{column!r} is {_json_name(text)}, not a text")


def _json_name(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def choose_column(names: Iterable[str]) -> str:
    """What a user can do where there is no such column: take one of these."""
    known = _names(names)
    return f"choose one of {known} {_BY_COLUMN}" if known else "there is nothing else either"


_BY_COLUMN = "with column=... (--column)"


def _names(names: Iterable[str]) -> str:
    return first_few(sorted(map(repr, names)), _MOST_NAMES)


# ---- Parquet --------------------------------------------------------------------------------------------------------


def import_pyarrow(module: str = "pyarrow", extra: str = "corpus") -> Any:
    """pyarrow, or a module of it.

    Raises:
        MissingDependencyError: it is not installed; the extra says how it could be.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"{module} is needed for this and cannot be imported ({error}): pip install 'trietok[{extra}]'", extra=extra
        ) from error


def open_parquet(path: str, extra: str = "corpus") -> Any:
    """A Parquet file, to be read stretch by stretch; a page that is not as its checksum says is an OSError of reading.

    Raises:
        FileError, FileFormatError: it cannot be read, or is none.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow = import_pyarrow(extra=extra)
    try:
        source = elsewhere.open_bytes(path) if is_elsewhere(path) else path
        return import_pyarrow("pyarrow.parquet", extra).ParquetFile(
            source, buffer_size=_BLOCK, pre_buffer=False, page_checksum_verification=True
        )
    except pyarrow.ArrowInvalid as error:
        raise FileFormatError(f"{path} is not a Parquet file: {error}", path=path) from None
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}", path=path) from error


def texts_of(column: Any, errors: str = "strict", *, of: str = "text") -> list[Any]:
    """The rows of an array as str, None where there is none, and `BadRow` where the bytes are not UTF-8.

    >>> import pyarrow
    >>> texts_of(pyarrow.array(["a", None]))
    ['a', None]
    """
    try:
        texts: list[Any] = column.to_pylist()
        return texts
    except UnicodeDecodeError:
        rows = column.cast(import_pyarrow().large_binary()).to_pylist()
    return [None if raw is None else decoded(raw, errors, of=of) for raw in rows]
