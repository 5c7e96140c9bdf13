"""Files as texts: a line of a .txt, a field of a line of a .jsonl, a column of a .parquet; the first two also packed.

In: paths. Out: the texts, one after the other; a line is held at a time, or a thousand rows of a table.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.compressed import decompressed, lines_of
from trietok.files.text_rows import (
    BadRow,
    TextFile,
    choose_column,
    decoded,
    import_pyarrow,
    open_parquet,
    text_of_json,
    texts_of,
)

STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS = 1024  # of a .parquet, held at a time


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl or .ndjson is read as one JSON object a line, one in .parquet as a table, any other as
    one text a line; with .gz or .zst behind it is unpacked. Lines end at U+000A only. The files are read in the order
    of their names and each once, also where two names lead to one file, so that nothing depends on the order they are
    given in.

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
        self._files = {path: TextFile.at(path) for path in self.paths if not self._is_standard_input(path)}
        self.paths = self._each_once()
        self.total_bytes = (
            sum(self._files[path].size for path in self.paths) if self._files.keys() >= set(self.paths) else None
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
                    yield from self._texts_of_lines(self._standard_input, "standard input", self._standard_input)
                    continue
                yield from self._texts(TextFile.at(path))
            except OSError as error:
                if isinstance(error, FileError):
                    raise
                raise FileError(f"cannot read {path}: {error.strerror or error}", path=path) from error
            self.bytes_read = before + TextFile.at(path).size

    def _is_standard_input(self, path: str) -> bool:
        return path == STANDARD_INPUT and self._standard_input is not None

    def _texts(self, file: TextFile) -> Iterator[str]:
        if file.kind == "parquet":
            yield from self._texts_of_rows(file)
            return
        with open(file.name, "rb") as raw:
            lines = raw if file.compression is None else lines_of(decompressed(raw, file))
            texts = self._texts_of_lines(lines, file.name, raw)
            yield from self._texts_of_json(texts, file.name) if file.kind == "jsonl" else texts

    def _texts_of_lines(self, lines: Iterable[bytes], name: str, raw: BinaryIO) -> Iterator[str]:
        """The lines of a file, decoded. `raw` is the file below a packed one, to see how much of it is read."""
        before, offset, packed = self.bytes_read, 0, raw is not lines
        of = "unpacked file" if packed else "file"
        for number, line in enumerate(lines, start=1):
            text = decoded(line.removesuffix(b"\n"), self.errors, of=of, offset=offset)
            if isinstance(text, BadRow):
                raise _error(f"{name}, line {number}", text, name, number, "convert it to UTF-8")
            offset += len(line)
            self.bytes_read = before + (raw.tell() if packed else offset)
            yield text

    def _texts_of_json(self, lines: Iterable[str], name: str) -> Iterator[str]:
        for number, line in enumerate(lines, start=1):
            if number == 1:
                line = line.removeprefix("\ufeff")
            text = text_of_json(line, self.column) if line.strip() else None
            if isinstance(text, BadRow):
                raise _error(f"{name}, line {number}", text, name, number)
            if text is not None:
                yield text

    def _texts_of_rows(self, file: TextFile) -> Iterator[str]:
        """The texts in a column of a table."""
        path, before, number = file.name, self.bytes_read, 0
        pyarrow = import_pyarrow(extra="parquet")
        try:
            with open_parquet(path, "parquet") as table:
                self._check_column(table.schema_arrow, path)
                for batch in table.iter_batches(batch_size=_ROWS, columns=[self.column]):
                    start = number
                    number += batch.num_rows
                    self.bytes_read = before + file.size * number // max(table.metadata.num_rows, 1)
                    texts = texts_of(batch.column(0), self.errors, of=f"text in {self.column!r}")
                    for row, text in enumerate(texts, start=start + 1):
                        if isinstance(text, BadRow):
                            raise _error(f"{path}, row {row}", text, path, None, "write the file anew with texts")
                        if text is not None:
                            yield text
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} cannot be read: {error}", path=path) from None

    def _check_column(self, schema: Any, path: str) -> None:
        number = schema.names.count(self.column)
        if not number:
            raise FileFormatError(f"{path} has no column {self.column!r}; {choose_column(schema.names)}", path=path)
        if number > 1:
            raise FileFormatError(
                f"{path} has {number} columns named {self.column!r}, and which is meant cannot be told; write the file "
                "anew with different names",
                path=path,
            )
        types, kind = import_pyarrow().types, schema.field(self.column).type
        if not (types.is_string(kind) or types.is_large_string(kind)):
            raise FileFormatError(f"{path}: the column {self.column!r} holds {kind}, not texts", path=path)


def _error(where: str, bad: BadRow, path: str, line_number: int | None, repair: str = "") -> FileFormatError:
    advice = f"; {repair}, or go on with errors='replace' (--errors replace)" if repair else ""
    return FileFormatError(f"{where}: {bad.reason}{advice}", path=path, line_number=line_number)
