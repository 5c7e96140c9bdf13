"""Files as texts: a line of a .txt, a field of a line of a .jsonl, a column of a .csv, .tsv or
.parquet.

All but the last may be packed.

In: paths and globs. Out: a `TextFile` each; the texts, one after the other; or for a row `BadRow`,
where it holds none. A line is held at a time, of at most `LONGEST_TEXT_LINE` bytes, or a thousand
rows of a table. A compressed file that is damaged or cut off is an error, never a short file.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import json
import os
import stat
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

from trietok import log
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    as_file_error,
    imported,
    installing,
)
from trietok.files import stores
from trietok.files.stores import Status, identity, is_elsewhere, open_bytes
from trietok.showing.characters import first_few, number_of

KINDS = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".txt": "txt",
    ".csv": "csv",
    ".tsv": "tsv",
}
TABLES = {"csv": ",", "tsv": "\t"}  # what is between the values of a row
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
_MOST_NAMES = 20  # of columns, in a message
# no text begins so: they are not UTF-8
_FIRST_BYTES = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
FIRST_BYTES = max(map(len, _FIRST_BYTES))
_BLOCK = 1 << 20  # bytes
_PACKED = 1 << 9  # bytes that are unpacked at once: zstd makes up to 16 MiB of them
# bytes that are held of a line, whoever reads it: a small packed file may have one of gigabytes
LONGEST_TEXT_LINE = 1 << 26
TOO_LONG = "a line of more than {:,} bytes is not read; break it into lines"


class BadRow(NamedTuple):
    """A row that holds no text, and why."""

    reason: str


TextOrBad = str | BadRow
NONE_BAD: Mapping[int, BadRow] = MappingProxyType({})


# ---- files ---------------------------------------------------------------------------------------


class TextFile(NamedTuple):
    """A file with texts."""

    # its path, as it was given or as a glob found it, or its name elsewhere, such as
    # `"s3://bucket/a.txt"`
    name: str
    # `"parquet"`, `"jsonl"`, `"csv"`, `"tsv"` or `"txt"`; None where the name does not say it
    kind: str | None
    # of the file as a whole: `"gzip"` or `"zstd"`; the first bytes count before the name
    compression: str | None
    size: int  # in bytes
    mtime_ns: int  # when it was last changed; elsewhere a number that changes with it

    @classmethod
    def at(cls, path: str) -> TextFile:
        """The file at a path."""
        file, first = cls.listed(path), b""
        with contextlib.suppress(OSError):  # who reads the file says so
            if is_elsewhere(path):
                first = stores.first_bytes(path, FIRST_BYTES)
            elif os.path.isfile(path):
                with open(path, "rb") as raw:
                    first = raw.read(FIRST_BYTES)
        if first == b"PK\x03\x04":  # a list of terms often comes so
            what = (
                "a spreadsheet (.xlsx, .ods) or another zip archive; save it as .csv in UTF-8, and"
                " give that file"
            )
            raise FileFormatError(f"{path} is {what}", path=path)
        kind, compression = _kind_of(stores.path_in(path), first)
        return file._replace(kind=kind, compression=compression)

    @classmethod
    def listed(cls, path: str, told: Status | None = None) -> TextFile:
        """The file at a path, by its name, and by what a list has told of it: nothing of it is
        read.
        """
        if told is None:
            told = stores.status(path) if is_elsewhere(path) else _status_here(path)
        return cls(path, *_kind_of(stores.path_in(path), b""), *told)

    def is_changed(self, told: Status | None = None) -> bool:
        """Whether it is another one by now, by what a list has `told` of it, or by asking."""
        if is_elsewhere(self.name):
            return not (told or stores.status(self.name, fresh=True)).is_of(
                Status(self.size, self.mtime_ns)
            )
        try:
            status = os.stat(self.name)
        except OSError:
            return _status_here(self.name) != self[3:]  # which says what there is instead
        return (status.st_size, status.st_mtime_ns) != self[3:]


def _status_here(path: str) -> Status:
    with as_file_error(f"cannot read {path or repr(path)}", path):
        try:
            status = os.stat(path)
        except ValueError:  # a NUL in the name
            raise FileError(
                f"cannot read {path!r}: no file can have that name", path=path
            ) from None
    if stat.S_ISDIR(status.st_mode):
        example = os.path.join(path, "*.txt")
        raise FileError(
            f"{path} is a directory; give its files, such as {example} or *.parquet", path=path
        )
    return Status(status.st_size, status.st_mtime_ns)


def has_text_suffix(name: str) -> bool:
    """Whether a name ends as those of files with texts do.

    >>> (
    ...     has_text_suffix("texts.jsonl.gz"),
    ...     has_text_suffix("Mind the gap."),
    ...     has_text_suffix("texts.parquet"),
    ... )
    (True, False, True)
    """
    return _kind_of(name, b"")[0] is not None


def _kind_of(path: str, first: bytes) -> tuple[str | None, str | None]:
    """The kind and the compression of a file, by its name and its first bytes."""
    stem, suffix = os.path.splitext(path.lower())
    compression = COMPRESSIONS.get(suffix)
    if compression is not None:
        suffix = os.path.splitext(stem)[1]
    compression = (first and compression_of(first)) or compression
    kind = KINDS.get(suffix)
    return None if kind == "parquet" and compression is not None else kind, compression


def compression_of(first: bytes) -> str | None:
    """The compression that the first bytes of a file tell of; None where they tell of none.

    >>> compression_of(b"\\x1f\\x8b\\x08\\x00"), compression_of(b"text")
    ('gzip', None)
    """
    return _FIRST_BYTES.get(first[:2]) or _FIRST_BYTES.get(first[:4])


def expanded(paths: Iterable[str | os.PathLike[str]]) -> Iterator[str]:
    """The paths, and for each glob the files it finds, by name."""
    return (path for path, _ in files_listed(paths))


def files_listed(
    paths: Iterable[str | os.PathLike[str]], fresh: bool = False
) -> Iterator[tuple[str, Status | None]]:
    """The files as `expanded` gives them, each with what a list of files tells of it.

    `fresh`: lists that are remembered are asked for again.
    """
    for given in paths:
        path, hint = os.fspath(given), ""
        found: dict[str, Status | None] | None = None
        if is_elsewhere(path):
            found = stores.files_matching(path, fresh)
            hint = (
                "; a name elsewhere that holds a [ is a glob, where [[] stands for it"
                if "[" in path
                else ""
            )
        elif glob.has_magic(path) and not os.path.exists(path):
            found = {}
            for each in sorted(glob.glob(path, recursive=True)):
                try:
                    status = os.stat(each)
                except OSError:  # who reads it says so
                    found[each] = None
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    found[each] = Status(status.st_size, status.st_mtime_ns)
        if found is not None and not found:
            raise FileError(f"no file matches {path}{hint}", path=path)
        yield from [(path, None)] if found is None else found.items()


# ---- lines ---------------------------------------------------------------------------------------


def decoded(raw: bytes, errors: str = "strict", *, of: str = "text", offset: int = 0) -> TextOrBad:
    """Bytes as text, or what is wrong with them: `errors` is as for `bytes.decode`.

    An error counts bytes in what `of` names, where `raw` begins at `offset`.

    >>> decoded(b"caf\\xe9"), decoded(b"caf\\xe9", "replace")
    (BadRow(reason='byte 0xe9 at offset 3 of the text is not UTF-8'), 'caf�')
    """
    try:
        return raw.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        place = offset + error.start
        return BadRow(f"byte 0x{raw[error.start]:02x} at offset {place} of the {of} is not UTF-8")


def object_of_json(line: str, column: str) -> dict[str, Any] | BadRow:
    """The object in a line of JSON, which should have the text in `column`.

    >>> object_of_json('{"text": null}', "text"), object_of_json("[1]", "text")
    ({'text': None}, BadRow(reason="a list of JSON, not an object {...} with the text in 'text'"))
    """
    try:
        values = json.loads(line.removeprefix("\ufeff"))  # with which some editors begin a file
    except json.JSONDecodeError as error:
        return BadRow(f"not JSON at character {error.pos + 1}: {error.msg}")
    except RecursionError:
        return BadRow("JSON with brackets nested too deeply to be read")
    except ValueError as error:  # a number of too many digits
        return BadRow(f"not JSON that can be read: {error}")
    if not isinstance(values, dict):
        return BadRow(
            f"{_json_name(values)} of JSON, not an object {{...}} with the text in {column!r}"
        )
    return values


def text_in_object(values: dict[str, Any] | BadRow, column: str) -> TextOrBad | None:
    """The text in a JSON object, or in objects within it; None for a null. What is no object is
    handed on.

    >>> (
    ...     text_in_object({"meta": {"text": "low"}}, "meta.text"),
    ...     text_in_object({"a.b": "low", "a": {}}, "a.b"),
    ... )
    ('low', 'low')
    """
    if isinstance(values, BadRow):
        return values
    names = [column] if column in values else column.split(".")
    text: Any = values
    for number, name in enumerate(names):
        within = ".".join(names[:number])
        if text is None:
            return None
        if not isinstance(text, dict):
            return BadRow(
                f"{within!r} is {_json_name(text)}, not an object with the field {name!r}"
            )
        if name not in text:
            there = f"only {_names(text)}; choose a field {_BY_COLUMN}" if text else "nor any other"
            missing = (
                f"{within!r} has no field {name!r}"
                if within
                else f"the object has no field {column!r}"
            )
            return BadRow(f"{missing}, {there}")
        text = text[name]
    return (
        text
        if text is None or isinstance(text, str)
        else BadRow(f"{column!r} is {_json_name(text)}, not a text")
    )


def _json_name(value: Any) -> str:
    names = {
        dict: "an object",
        list: "a list",
        str: "a text",
        bool: "true or false",
        type(None): "null",
    }
    return names.get(type(value), "a number")


_BY_COLUMN = "with column=... (--column)"
_BY_KEEPING = "with keep_columns=... (--keep-columns)"


def _names(names: Iterable[str]) -> str:
    return first_few(sorted(map(repr, names)), _MOST_NAMES)


# ---- Parquet -------------------------------------------------------------------------------------


def import_pyarrow(module: str = "pyarrow", extra: str = "corpus") -> Any:
    """pyarrow, or a module of it; where it is not installed, an error says that `extra` brings
    it.
    """
    return imported(module, extra)


def open_parquet(path: str, extra: str = "corpus") -> Any:
    """A Parquet file, to be read stretch by stretch; a page that is not as its checksum says is an
    OSError of reading.

    Raises:
        FileError, FileFormatError: it cannot be read, or is none.
        MissingDependencyError: pyarrow is not installed.
    """
    pyarrow = import_pyarrow(extra=extra)
    parquet = import_pyarrow("pyarrow.parquet", extra)
    try:
        with as_file_error(f"cannot read {path}", path):
            source = stores.open_bytes(path) if is_elsewhere(path) else path
            return parquet.ParquetFile(
                source, buffer_size=_BLOCK, pre_buffer=False, page_checksum_verification=True
            )
    except pyarrow.ArrowInvalid as error:
        raise FileFormatError(f"{path} is not a Parquet file: {error}", path=path) from None


def texts_of(column: Any, errors: str = "strict", *, of: str = "text") -> list[Any]:
    """The rows of an array as str, None where there is none, and `BadRow` where the bytes are not
    UTF-8.

    >>> import pyarrow
    >>> texts_of(pyarrow.array(["a", None]))
    ['a', None]
    """
    try:
        texts: list[Any] = column.to_pylist()
        return texts
    except UnicodeDecodeError:
        if import_pyarrow().types.is_dictionary(column.type):
            column = column.dictionary_decode()
        rows = column.cast(import_pyarrow().large_binary()).to_pylist()
    return [None if raw is None else decoded(raw, errors, of=of) for raw in rows]


def is_text_type(kind: Any) -> bool:
    """Whether a column of a type holds texts, or nothing: also one that has each text once, such as
    of categories.

    >>> import pyarrow
    >>> (
    ...     is_text_type(pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
    ...     is_text_type(pyarrow.binary()),
    ... )
    (True, False)
    """
    types = import_pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return str(kind) in ("null", "string", "large_string", "string_view")


def inner_column(column: Any, names: Iterable[str]) -> Any:
    """The fields of a column of structs, or of structs within them, by their names; null where a
    struct is.
    """
    for name in names:
        column = import_pyarrow("pyarrow.compute").struct_field(column, [name])
    return column


def column_of(batch: Any, column: str) -> Any:
    """The column of a batch that `type_of_column` means."""
    first, *names = [column] if column in batch.schema.names else column.split(".")
    return inner_column(batch.column(first), names)


def type_of_column(schema: Any, column: str) -> Any:
    """The type of a column, or of a field of structs such as `"meta.text"`; None where there is
    none.

    A column whose own name has a point goes before the field of one.

    >>> import pyarrow
    >>> type_of_column(
    ...     pyarrow.schema({"meta": pyarrow.struct({"text": pyarrow.string()})}), "meta.text"
    ... )
    DataType(string)
    """
    first, *names = [column] if column in schema.names else column.split(".")
    kind: Any = schema.field(first).type if schema.names.count(first) == 1 else None
    for name in names:
        is_there = (
            import_pyarrow().types.is_struct(kind) and kind.get_field_index(name) >= 0
            if kind
            else False
        )
        kind = kind.field(name).type if is_there else None
    return kind


# ---- CSV and TSV ---------------------------------------------------------------------------------

_LONGEST_ROW = 1 << 24  # bytes
_END = (  # the values of a row behind the last one: a quote that is not closed takes it in
    "\x1eend of the rows\x1e"
)


def rows_of_csv(
    raw: BinaryIO, file: TextFile, columns: Iterable[str]
) -> Iterator[tuple[Any, dict[int, BadRow]]]:
    """Columns of a .csv or .tsv with a header, in batches of strings, of which nobody has looked
    whether it is UTF-8.

    A value may stand between quotes, where it may hold line ends, and two quotes are one. Empty
    lines are no rows. A row that has more values than the header, or fewer, is null in each column;
    the places of such rows go with a batch.

    Raises:
        FileFormatError: there is no such column, a row is longer than 16 MiB, or a quote is not
            closed.
    """
    pyarrow, reader = import_pyarrow(extra="parquet"), import_pyarrow("pyarrow.csv", "parquet")
    names, delimiter = list(dict.fromkeys(columns)), TABLES[file.kind or ""]
    try:
        lines = (line.decode("utf-8-sig", "replace") for line in _lines_read(raw, file))
        header: list[str] = next(filter(None, csv.reader(lines, delimiter=delimiter)), [])
    except csv.Error as error:
        raise FileFormatError(
            f"{file.name} has no header that can be read: {error}", path=file.name
        ) from None
    if not header:
        raise FileFormatError(
            f"{file.name} is empty: its first row has to name its columns", path=file.name
        )
    for name in names:
        _check_names(header, file.name, name, _BY_COLUMN if name == names[0] else _BY_KEEPING)
    raw.seek(0)
    types = dict.fromkeys(names, pyarrow.string())
    # rows of another width, by their numbers, that are in no batch yet
    wrong: deque[tuple[int, BadRow]] = deque()
    number = 2  # of the row that comes next, as Arrow counts: the header is the first

    def note(row: Any) -> str:
        told = (
            f"a row of {number_of(row.actual_columns, 'value')}, and the header has"
            f" {row.expected_columns}"
        )
        wrong.append((row.number, BadRow(f"{told}; see whether its quotes are closed")))
        return "skip"

    try:
        batches: Any = reader.open_csv(
            file_of_blocks(
                chain(
                    _blocks_of(raw, file), [f"\n{delimiter.join([_END] * len(header))}\n".encode()]
                )
            ),
            reader.ReadOptions(use_threads=False, block_size=_LONGEST_ROW),
            reader.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note
            ),
            reader.ConvertOptions(include_columns=names, column_types=types, check_utf8=False),
        )
        batches = iter(batches)
        last = next(batches, None)  # it is handed out once it is seen that it ends as it should
        while last is not None:
            batch, last = last, next(batches, None)
            if last is None:
                if not len(batch) or batch.column(0)[-1].as_buffer().to_pybytes() != _END.encode():
                    raise _not_closed(raw, file, delimiter)
                batch = batch.slice(0, len(batch) - 1)
            whole, bad = _with_nulls(batch, wrong, number)
            number += len(whole)
            if len(whole):
                yield whole, bad
    except pyarrow.ArrowInvalid as error:
        told = f"{file.name} cannot be read: {error}"
        if "straddl" in str(error):
            told = (
                f"{file.name} has a row of more than {_LONGEST_ROW:,} bytes behind row"
                f" {number - 2:,}"
            )
            told += "; see whether its quotes are closed"
        raise FileFormatError(told, path=file.name) from None


def _not_closed(raw: BinaryIO, file: TextFile, delimiter: str) -> FileFormatError:
    """What is to be said of a file that ends within quotes, with the line at which they begin."""
    raw.seek(0)
    lines = (line.decode("utf-8", "replace") for line in _lines_read(raw, file))
    rows, first = csv.reader(lines, delimiter=delimiter, strict=True), 0
    with contextlib.suppress(csv.Error, StopIteration):
        while True:
            first = rows.line_num + 1
            next(rows)
    told = (
        f"{file.name}, line {first}: a quote is not closed before the end of the file, and holds"
        " all rows behind it"
    )
    return FileFormatError(f"{told}; close it, or write it twice within quotes", path=file.name)


def _with_nulls(
    batch: Any, wrong: deque[tuple[int, BadRow]], first: int
) -> tuple[Any, dict[int, BadRow]]:
    """A batch whose first row has a number, with a null for each row that is `wrong` there; the
    places of those.
    """
    bad: dict[int, BadRow] = {}
    while wrong and wrong[0][0] <= first + len(batch) + len(bad):
        number, why = wrong.popleft()
        bad[number - first] = why
    if bad:
        good = iter(range(len(batch)))
        places = [None if place in bad else next(good) for place in range(len(batch) + len(bad))]
        batch = batch.take(import_pyarrow().array(places, "int64"))
    return batch, bad


def _blocks_of(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    return (
        iter(lambda: raw.read(_BLOCK), b"") if file.compression is None else decompressed(raw, file)
    )


def _lines_read(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    """The lines of a file, of which one that is too long is an error."""
    for number, line in enumerate(lines_within(file_of_blocks(_blocks_of(raw, file))), start=1):
        if len(line) > LONGEST_TEXT_LINE:
            raise FileFormatError.at_line(
                file.name, number, f": {TOO_LONG.format(LONGEST_TEXT_LINE)}"
            )
        yield line


# ---- compressed files ----------------------------------------------------------------------------


def decompressed(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    """The content of a compressed file."""
    if hasattr(raw, "peek") and not raw.peek(1):  # even nothing has some bytes when it is packed
        raise _cut_off(file)
    return _of_gzip(raw, file) if file.compression == "gzip" else _of_zstd(raw, file)


class _Content(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            # an empty rest would keep its block while the next one is made
            self._rest = memoryview(b"")
            self._rest = memoryview(next(self._blocks, b""))
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def file_of_blocks(blocks: Iterable[bytes]) -> io.BufferedReader:
    """Blocks of bytes as a file of them, which gives its lines.

    >>> list(file_of_blocks([b"one\\ntw", b"o\\nthree"]))
    [b'one\\n', b'two\\n', b'three']
    """
    return io.BufferedReader(_Content(iter(blocks)), _BLOCK)


def lines_within(file: Any) -> Iterator[bytes]:
    """The lines of a file; of one that is longer than `LONGEST_TEXT_LINE`, only so many bytes and
    one more.
    """
    is_whole = True
    for line in iter(partial(file.readline, LONGEST_TEXT_LINE + 1), b""):
        if is_whole:
            yield line
        is_whole = line.endswith(b"\n")


def _of_gzip(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=raw) as content:
            while block := content.read(_BLOCK):
                yield block
    except EOFError:
        raise _cut_off(file) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(file, error) from None


def import_zstandard(file: TextFile) -> Any:
    """The package that unpacks a file; where it is not installed, an error says how to have it."""
    return imported(
        "zstandard", "corpus", f"to read {file.name}, {installing('corpus', 'zstandard')}"
    )


def _of_zstd(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    zstandard = import_zstandard(file)
    frame: Any = None
    unpacked, size = [], 0
    try:
        while compressed := raw.read(_PACKED):
            while compressed:
                if frame is None:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                unpacked.append(frame.decompress(compressed))
                size += len(unpacked[-1])
                compressed = frame.unused_data
                if frame.eof:
                    frame = None
            if size >= _BLOCK:
                block = b"".join(unpacked)
                unpacked, size = [], 0  # before the reader goes on: a part has up to 16 MiB
                yield block
                del block
    except zstandard.ZstdError as error:
        raise _damaged(file, error) from None
    if size:
        yield b"".join(unpacked)
    if frame is not None:
        raise _cut_off(file)


def _cut_off(file: TextFile) -> FileFormatError:
    told = (
        f"{file.name} is truncated and cannot be decompressed: it ends before its compressed data"
        " does"
    )
    return FileFormatError(told, path=file.name)


def _damaged(file: TextFile, error: Exception) -> FileFormatError:
    told = (
        f"{file.name} is damaged, or no {file.compression} file, and cannot be decompressed:"
        f" {error}"
    )
    return FileFormatError(told, path=file.name)


STANDARD_INPUT = "-"
DEFAULT_COLUMN = "text"
_ROWS = 1024  # of a .parquet, held at a time
_OR_REPLACE = ", or go on with on_error='replace' (--on-error replace)"


class TextFiles:
    """The texts of files, read anew by every loop over them.

    A name that ends in .jsonl or .ndjson is read as one JSON object a line, one in .parquet as a
    table, one in .csv or .tsv as a table with a header, any other as one text a line. What is
    packed by gzip or zstd is unpacked, whatever its name. Lines end at U+000A only. The files are
    read in the order of their names and each once, also where two names lead to one file, so that
    nothing depends on the order they are given in.

    Args:
        paths: a path or a glob, or several.
        column: the field of a .jsonl and the column of a .parquet, .csv or .tsv that holds the
            text; `"meta.text"` is also the field `text` of objects or structs `meta`. A null is no
            text.
        on_error: what to do with bytes that are not UTF-8: "fail" refuses them, "replace" puts
            U+FFFD in their place; "skip" leaves out texts with such bytes, or that are not JSON as
            they should be, and logs the first.
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
        InputError: there is no path, or `on_error` is none of the three.
        FileError: a file is missing or a directory, or a glob finds none.
        FileError, FileFormatError: from a loop, where a file cannot be read, is not UTF-8, not
            JSON, or lacks the column.
    """

    @log.renamed({"errors": {"strict": "fail"}}, errors="on_error")
    def __init__(
        self,
        paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *more: object,
        column: str = DEFAULT_COLUMN,
        on_error: str = "fail",
        standard_input: BinaryIO | None = None,
    ) -> None:
        if more:
            raise InputTypeError("several files are one argument: TextFiles([a, b])", value=more[0])
        if on_error not in ("fail", "replace", "skip"):
            raise InputError(f"on_error is 'fail', 'replace' or 'skip', not {on_error!r}")
        given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        names = sorted(set(expanded(given)))
        if not names:
            raise InputError("there is no file to read; name at least one")
        self.column = column
        self.on_error = on_error
        self._reader = TextReader(column, on_error)
        self._standard_input = standard_input
        sizes = {
            path: TextFile.at(path).size for path in names if not self._is_standard_input(path)
        }
        named: dict[str, str] = {}  # of several names of one file the shortest stays
        for path in sorted(names, key=lambda path: (len(path), path)):
            named.setdefault(identity(path) if path in sizes else path, path)
        self.paths = sorted(named.values())
        self.total_bytes = (
            sum(map(sizes.__getitem__, self.paths)) if sizes.keys() >= set(self.paths) else None
        )

    @property
    def bytes_read(self) -> int:
        return self._reader.bytes_read

    def __iter__(self) -> Iterator[str]:
        self._reader.bytes_read = 0
        for path in self.paths:
            if self._is_standard_input(path):
                assert self._standard_input is not None
                rows = self._reader.rows_of_stream(self._standard_input, "standard input")
            else:
                rows = self._reader.rows(path)
            for row in rows:
                yield row.text

    def _is_standard_input(self, path: str) -> bool:
        return path == STANDARD_INPUT and self._standard_input is not None


class TextRow(NamedTuple):
    """A text of a file, and the number of its line or row, from 1."""

    text: str
    number: int


class TextReader:
    """Reads the texts of one file after the other.

    Args:
        column: the field of a .jsonl and the column of a .parquet that holds the text; None to read
            all as lines.
        on_error: as for `TextFiles`.
        counts_lines: whether the place of bad bytes is counted from the begin of their line; else
            of their file.
        repair: what can be done about bad bytes in lines.

    `bytes_read` is of all files that were read, before unpacking.
    """

    def __init__(
        self,
        column: str | None,
        on_error: str = "fail",
        *,
        counts_lines: bool = False,
        repair: str = f"convert it to UTF-8{_OR_REPLACE}",
    ) -> None:
        self.bytes_read = 0
        self._column = column
        self._errors = "replace" if on_error == "replace" else "strict"
        self._skips, self._has_skipped = on_error == "skip", False
        self._counts_lines = counts_lines
        self._repair = repair

    def rows(self, path: str) -> Iterator[TextRow]:
        """The texts of a file."""
        file = TextFile.at(path)
        before = self.bytes_read
        with as_file_error(f"cannot read {path}", path):
            if file.kind == "parquet" and self._column is not None:
                yield from self._rows_of_parquet(file, self._column)
            else:
                with open_bytes(path) as raw:
                    if file.kind in TABLES and self._column is not None:
                        yield from self._rows_of_csv(raw, file, self._column)
                    else:
                        yield from self._rows_of_lines(raw, file, path)
        self.bytes_read = before + file.size

    def rows_of_stream(self, raw: Any, name: str, kind: str | None = "txt") -> Iterator[TextRow]:
        """The texts of lines: of what has no name, such as standard input, unpacked where they are
        packed, or some.
        """
        yield from self._rows_of_lines(raw, TextFile(name, kind, None, 0, 0), name)

    def _rows_of_lines(self, raw: BinaryIO, file: TextFile, name: str) -> Iterator[TextRow]:
        # a pipe can be looked into only where it is read
        if file.compression is None and hasattr(raw, "peek"):
            file = file._replace(compression=compression_of(raw.peek(FIRST_BYTES)[:FIRST_BYTES]))
        packed = file.compression is not None
        content: Any = file_of_blocks(decompressed(raw, file)) if packed else raw
        lines = lines_within(content) if hasattr(content, "readline") else content
        rows = self._decoded(lines, name, raw, packed)
        yield from (
            rows
            if file.kind != "jsonl" or self._column is None
            else self._of_json(rows, name, self._column)
        )

    def _decoded(
        self, lines: Iterable[bytes], name: str, raw: BinaryIO, packed: bool
    ) -> Iterator[TextRow]:
        """The lines of a file, decoded. `raw` is the file below a packed one, to see how much of it
        is read.
        """
        before, offset = self.bytes_read, 0
        seekable = packed and raw.seekable()
        of = "line" if self._counts_lines else "unpacked file" if packed else "file"
        for number, line in enumerate(lines, start=1):
            start = 0 if self._counts_lines else offset
            if len(line) > LONGEST_TEXT_LINE:
                self._refuse(
                    f"{name}, line {number}",
                    BadRow(TOO_LONG.format(LONGEST_TEXT_LINE)),
                    name,
                    number,
                )
                continue
            text = decoded(line.removesuffix(b"\n"), self._errors, of=of, offset=start)
            offset += len(line)
            if not packed or seekable:
                self.bytes_read = before + (raw.tell() if packed else offset)
            if isinstance(text, BadRow):
                self._refuse(f"{name}, line {number}", text, name, number, self._repair)
            else:
                yield TextRow(text, number)

    def _of_json(self, rows: Iterable[TextRow], name: str, column: str) -> Iterator[TextRow]:
        for line, number in rows:
            text = text_in_object(object_of_json(line, column), column) if line.strip() else None
            if isinstance(text, BadRow):
                self._refuse(f"{name}, line {number}", text, name, number)
            elif text is not None:
                yield TextRow(text, number)

    def _rows_of_csv(self, raw: BinaryIO, file: TextFile, column: str) -> Iterator[TextRow]:
        number, before = 0, self.bytes_read
        for batch, bad in rows_of_csv(raw, file, [column]):
            self.bytes_read = before + raw.tell()
            yield from self._rows_of_column(batch.column(0), file.name, column, number, bad)
            number += batch.num_rows

    def _rows_of_parquet(self, file: TextFile, column: str) -> Iterator[TextRow]:
        path, before, number = file.name, self.bytes_read, 0
        pyarrow = import_pyarrow(extra="parquet")
        try:
            with open_parquet(path, "parquet") as table:
                _check_column(table.schema_arrow, path, column)
                for batch in table.iter_batches(batch_size=_ROWS, columns=[column]):
                    self.bytes_read = (
                        before + file.size * (number + batch.num_rows) // table.metadata.num_rows
                    )
                    yield from self._rows_of_column(column_of(batch, column), path, column, number)
                    number += batch.num_rows
                # the checksum of a page does not cover its header
                if number != table.metadata.num_rows:
                    rows = table.metadata.num_rows
                    raise FileFormatError(
                        f"{path} has {rows:,} rows, and {number:,} could be read", path=path
                    )
        except pyarrow.ArrowInvalid as error:
            raise FileFormatError(f"{path} cannot be read: {error}", path=path) from None

    def _rows_of_column(
        self, texts: Any, path: str, column: str, before: int, bad: Mapping[int, BadRow] = NONE_BAD
    ) -> Iterator[TextRow]:
        """The texts of a column of a table, in a batch with so many rows before it, some of which
        may be bad.
        """
        for row, text in enumerate(
            texts_of(texts, self._errors, of=f"text in {column!r}"), start=before + 1
        ):
            if row - before - 1 in bad:
                self._refuse(f"{path}, row {row}", bad[row - before - 1], path, None)
            elif isinstance(text, BadRow):
                self._refuse(
                    f"{path}, row {row}",
                    text,
                    path,
                    None,
                    f"write the file anew with texts{_OR_REPLACE}",
                )
            elif text is not None:
                yield TextRow(text, row)

    def _refuse(
        self, where: str, bad: BadRow, path: str, line_number: int | None, repair: str = ""
    ) -> None:
        """Raise the error for what is no text; where such texts are left out, log the first."""
        if not self._skips:
            advice = f"; {repair}" if repair else ""
            raise FileFormatError(
                f"{where}: {bad.reason}{advice}", path=path, line_number=line_number
            )
        if not self._has_skipped:
            self._has_skipped = True
            log.warning(
                "%s: %s; it is left out, as are all texts that cannot be read", where, bad.reason
            )


def _check_column(schema: Any, path: str, column: str) -> None:
    kind = type_of_column(schema, column)
    if kind is None or schema.names.count(column) > 1:
        _check_names(schema.names, path, column)
    if not is_text_type(kind):
        raise FileFormatError(f"{path}: the column {column!r} holds {kind}, not texts", path=path)


def _check_names(names: list[str], path: str, column: str, how: str = _BY_COLUMN) -> None:
    number = names.count(column)
    if number == 1:
        return
    there = f"choose one of {_names(names)} {how}" if names else "there is nothing else either"
    problem = f"has no column {column!r}; {there}"
    if number:
        several = f"has {number} columns named {column!r}, and which is meant cannot be told"
        problem = f"{several}; write the file anew with different names"
    raise FileFormatError(f"{path} {problem}", path=path)
