"""Files as texts: a line of a .txt, a field of a line of a .jsonl, a column of a .parquet; the first two also as .gz.

In: paths. Out: the texts, one after the other; a line is held at a time, or a thousand rows of a table.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from trietok.errors import FileError, FileFormatError, InputError, MissingDependencyError

STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS = 1024  # of a .parquet, held at a time


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl is read as one JSON object a line, one in .parquet as a table, any other as one text a
    line; .gz after .txt or .jsonl is unpacked. Lines end at U+000A only. The files are read in the order of their
    names and each once, also where two names lead to one file, so that nothing depends on the order they are given in.

    Args:
        paths: a path, or several.
        column: the field of a .jsonl and the column of a .parquet that holds the text. A null is no text.
        errors: what to do with bytes that are not UTF-8: "strict" refuses them, "replace" puts U+FFFD in their place.
        standard_input: what the name `-` reads.

    Attributes:
        paths: the files, as they will be read.
        total_bytes: how many bytes the files have; None if one of them is standard input.
        bytes_read: how many of them the present loop has read, before unpacking.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "texts.jsonl")
    >>> _ = path.write_text('{"id": 1, "text": "low lower"}\\n{"id": 2, "text": "lowest"}\\n')
    >>> list(TextFiles(path))
    ['low lower', 'lowest']

    Raises:
        InputError: there is no path, or `errors` is neither "strict" nor "replace".
        FileError: a file is missing or a directory.
        FileError, FileFormatError: from a loop, where a file cannot be read, is not UTF-8, not JSON, or lacks the
            column.
    """

    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        column: str = DEFAULT_COLUMN,
        errors: str = "strict",
        standard_input: BinaryIO | None = None,
    ) -> None:
        if errors not in ("strict", "replace"):
            raise InputError(f"errors is 'strict' or 'replace', not {errors!r}")
        given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        self.paths = sorted({os.fspath(path) for path in given})
        if not self.paths:
            raise InputError("there is no file to read; name at least one")
        self.column = column
        self.errors = errors
        self.bytes_read = 0
        self._standard_input = standard_input
        sizes = {path: 0 if self._is_standard_input(path) else _size(path) for path in self.paths}
        self.paths = self._each_once()
        self.total_bytes = (
            None if any(map(self._is_standard_input, self.paths)) else sum(map(sizes.__getitem__, self.paths))
        )

    def _each_once(self) -> list[str]:
        """The paths without those that lead to a file another one leads to; its shortest name stays."""
        named: dict[str, str] = {}
        for path in sorted(self.paths, key=lambda path: (len(path), path)):
            named.setdefault(path if self._is_standard_input(path) else os.path.realpath(path), path)
        return sorted(named.values())

    def __iter__(self) -> Iterator[str]:
        self.bytes_read = 0
        for path in self.paths:
            before = self.bytes_read
            try:
                if self._is_standard_input(path):
                    assert self._standard_input is not None
                    yield from self._lines(self._standard_input, "standard input", self._standard_input)
                elif path.endswith(".parquet"):
                    yield from self._rows(path)
                else:
                    yield from self._file(path)
            except OSError as error:
                if isinstance(error, FileError):
                    raise
                raise FileError(f"cannot read {path}: {error.strerror or error}", path=path) from error
            if not self._is_standard_input(path):
                self.bytes_read = before + _size(path)

    def _is_standard_input(self, path: str) -> bool:
        return path == STANDARD_INPUT and self._standard_input is not None

    def _file(self, path: str) -> Iterator[str]:
        with open(path, "rb") as raw:
            if not path.endswith(".gz"):
                yield from self._texts(raw, path, raw)
                return
            import gzip

            try:
                with gzip.open(raw, "rb") as unpacked:
                    yield from self._texts(unpacked, path, raw)  # type: ignore[arg-type]
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise FileFormatError(f"{path} cannot be unpacked: {error}; it is damaged", path=path) from None

    def _texts(self, lines: BinaryIO, path: str, raw: BinaryIO) -> Iterator[str]:
        texts = self._lines(lines, path, raw)
        return self._fields(texts, path) if path.removesuffix(".gz").endswith(".jsonl") else texts

    def _lines(self, lines: BinaryIO, name: str, raw: BinaryIO) -> Iterator[str]:
        """The lines of a file, decoded. `raw` is the file below a packed one, to see how much of it is read."""
        before, offset, packed = self.bytes_read, 0, raw is not lines
        for number, line in enumerate(lines, start=1):
            try:
                text = line.decode("utf-8", self.errors)
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{name}, line {number}: byte 0x{line[error.start]:02x} at offset {offset + error.start} of the "
                    f"{'unpacked ' * packed}file is not UTF-8; convert it to UTF-8, or go on with errors='replace' "
                    "(--errors replace)",
                    path=name,
                    line_number=number,
                ) from None
            offset += len(line)
            self.bytes_read = before + (raw.tell() if packed else offset)
            yield text.removesuffix("\n")

    def _fields(self, lines: Iterable[str], path: str) -> Iterator[str]:
        """The texts in lines of JSON."""
        for number, line in enumerate(lines, start=1):
            if number == 1:
                line = line.removeprefix("\ufeff")
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be parsed"
                raise FileFormatError(
                    f"{path}, line {number}: not JSON: {reason}", path=path, line_number=number
                ) from None
            text = self._field(row, f"{path}, line {number}", path, number)
            if text is not None:
                yield text

    def _field(self, row: Any, where: str, path: str, number: int) -> str | None:
        if not isinstance(row, dict):
            problem = f"{where}: a JSON {type(row).__name__}, not an object {{...}} with the text in {self.column!r}"
        elif self.column not in row:
            problem = f"{where}: there is no {self.column!r}; {_choose(row)}"
        elif isinstance(row[self.column], str) or row[self.column] is None:
            text: str | None = row[self.column]
            return text
        else:
            problem = f"{where}: {self.column!r} holds {row[self.column]!r:.60}, not a text"
        raise FileFormatError(problem, path=path, line_number=number)

    def _rows(self, path: str) -> Iterator[str]:
        """The texts in a column of a table."""
        try:
            import pyarrow
            import pyarrow.parquet as parquet
        except ImportError:
            raise MissingDependencyError(
                f"reading {path} needs pyarrow: pip install 'trietok[parquet]'", extra="parquet"
            ) from None
        before, size, rows = self.bytes_read, _size(path), 0
        try:
            with parquet.ParquetFile(path) as table:
                schema = table.schema_arrow
                if self.column not in schema.names:
                    raise FileFormatError(f"{path} has no column {self.column!r}; {_choose(schema.names)}", path=path)
                if schema.names.count(self.column) > 1:
                    raise FileFormatError(
                        f"{path} has {schema.names.count(self.column)} columns named {self.column!r}, and which is "
                        "meant cannot be told; write the file anew with different names",
                        path=path,
                    )
                kind = schema.field(self.column).type
                if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)):
                    raise FileFormatError(f"{path}: the column {self.column!r} holds {kind}, not texts", path=path)
                for batch in table.iter_batches(batch_size=_ROWS, columns=[self.column]):
                    texts = self._texts_of_rows(batch.column(0), path, rows)
                    rows += batch.num_rows
                    self.bytes_read = before + size * rows // max(table.metadata.num_rows, 1)
                    yield from (text for text in texts if text is not None)
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} is not a .parquet file: {error}", path=path) from None

    def _texts_of_rows(self, rows: Any, path: str, before: int) -> list[str | None]:
        """The values of a column of texts, whose bytes nothing has looked at so far; so many rows come before."""
        import pyarrow

        try:
            texts: list[str | None] = rows.to_pylist()
            return texts
        except UnicodeDecodeError:
            values = rows.cast(pyarrow.large_binary()).to_pylist()
        texts = []
        for number, value in enumerate(values, start=before + 1):
            try:
                texts.append(None if value is None else value.decode("utf-8", self.errors))
            except UnicodeDecodeError as error:
                raise FileFormatError(
                    f"{path}, row {number}: byte 0x{value[error.start]:02x} at offset {error.start} of the text in "
                    f"{self.column!r} is not UTF-8; write the file anew with texts, or go on with errors='replace' "
                    "(--errors replace)",
                    path=path,
                ) from None
        return texts


def _choose(names: Iterable[str]) -> str:
    known = ", ".join(sorted(map(repr, names))[:20])
    return f"choose one of {known} with column=... (--column)" if known else "there is nothing else either"


def _size(path: str) -> int:
    try:
        status = os.stat(path)
    except OSError as error:
        raise FileError(f"cannot read {path or repr(path)}: {error.strerror}", path=path) from error
    except ValueError:  # a NUL in the name
        raise FileError(f"cannot read {path!r}: no file can have that name", path=path) from None
    if Path(path).is_dir():
        raise FileError(f"{path} is a directory; name the files in it, as in {path.rstrip('/')}/*.txt", path=path)
    return status.st_size
