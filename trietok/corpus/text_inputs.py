"""The files of a corpus: which they are, what names their content, whether they are still the same, and their texts.

In: paths and globs. Out: a `TextFile` each, in the order given, those of a glob by name; a `Source` of each; and for a
`Stretch` of one, batches of rows, each of them a str or a `BadRow`. Lines end at U+000A only, and nothing but that is
taken off.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.row_encoder import large_strings, lines_of
from trietok.corpus.shard_plan import Stretch, damage_told, end_of_line, read_batches, read_spool
from trietok.disk import checksum
from trietok.errors import FileError, FileFormatError, InputError, TrietokError, as_file_error
from trietok.files.elsewhere import identity, is_elsewhere, open_bytes
from trietok.files.texts import (
    TABLES,
    BadRow,
    Text,
    TextFile,
    column_of,
    decoded,
    expanded,
    import_pyarrow,
    inner_column,
    object_of_json,
    open_parquet,
    rows_of_csv,
    text_in_object,
    texts_of,
)

_BLOCK = 1 << 20  # bytes
SetAside = Callable[[str, TrietokError], None]  # is told the name of a file, and why it is left out


class ChangedFileError(FileError):
    """A file is not what it was when the run began."""


class Source(NamedTuple):
    """What a file holds, by which its shards are found again: under another name, or in another list of files.

    >>> Source("2c26b4", "txt", 0).key(7)
    '2c26b4-txt-0-00007'
    """

    sha256: str  # of the file's bytes
    kind: str  # how they are read: `"parquet"`, `"jsonl"` or `"txt"`
    copy: int  # how many files of the list before it hold the same

    def key(self, index: int) -> str:
        """The name of one of its shards, counted from 0."""
        return f"{self.sha256}-{self.kind}-{self.copy}-{index:05}"


def source_of(file: TextFile, known: dict[tuple[str, int, int], str], seen: Counter[tuple[str, str | None]]) -> Source:
    """What the next file of a list holds.

    `known` are checksums by name, size and time of change; `seen` counts what the files of the list hold.
    """
    with as_file_error(f"cannot read {file.name}", file.name):
        sha256 = known.get((file.name, file.size, file.mtime_ns)) or _checksum(file.name)
    seen[sha256, file.kind] += 1
    return Source(sha256, file.kind or "", seen[sha256, file.kind] - 1)


def _checksum(name: str) -> str:
    if not is_elsewhere(name):
        return checksum(name)
    digest = hashlib.sha256()
    with open_bytes(name) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def check_unchanged(file: TextFile) -> None:
    """Raise where a file is not what it was any more."""
    if file.is_changed():
        raise ChangedFileError(f"{file.name} has changed while it was read", path=file.name)


def find_inputs(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], set_aside: SetAside | None = None
) -> list[TextFile]:
    """The files behind paths and globs.

    `set_aside` is told of a path where there is no file that can be read; without it, that is an error.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found: dict[str, TextFile | None] = {}
    for path in expanded(paths):
        real = identity(path)
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        try:
            file = found[real] = TextFile.at(path)
        except FileError as error:
            if set_aside is None or os.path.isdir(path):
                raise
            set_aside(path, error)
            found[real] = None
            continue
        if not is_elsewhere(path) and not os.path.isfile(path):
            raise InputError(f"{path} is no regular file, and texts are read more than once; copy them to a file")
        if file.kind is None:
            raise InputError(
                f"{path} is of an unknown kind; files end in .parquet, or in .txt, .jsonl, .csv or .tsv, these also "
                "with .gz or .zst"
            )
    if not found:
        raise InputError("no files are given; give at least one")
    return [file for file in found.values() if file is not None]


# ---- lines too long to be held --------------------------------------------------------------------------------------

LONG = 1 << 23  # bytes of a line that is read in pieces, and of a piece, about
LONGEST_CHUNK = 1 << 26  # bytes
LONGEST_JSON = 1 << 26  # bytes; it is held whole
_PAIR = re.compile(rb"[\xe4-\xe9][\x80-\xbf]{2}(?=[\xe4-\xe9][\x80-\xbf]{2})")  # of three bytes each in UTF-8
_WINDOW = 1 << 12  # bytes


class LongText(NamedTuple):
    """A line that is read and encoded in pieces, so that its length takes no memory.

    The ids of its pieces in a row are those of the line: pieces end where chunks do, at spaces, or between two Chinese
    characters where those are set apart.
    """

    path: str
    start: int  # of the line, in bytes
    end: int  # without its line feed
    alone: tuple[int, int]  # the first and the last of the characters between which it may be cut too
    text_bytes: int  # of the line, with its line feed

    def bad_row(self) -> BadRow | None:
        """What is wrong with the text, if it cannot be encoded; it is read through for that."""
        at = self.start
        for piece in self.pieces():
            if len(piece) > LONGEST_CHUNK:
                return BadRow(f"more than {LONGEST_CHUNK:,} bytes without a space; break the line somewhere there")
            text = decoded(piece, offset=at - self.start)
            if isinstance(text, BadRow):
                return text
            at += len(piece)
        return None

    def pieces(self) -> Iterator[bytes]:
        """The pieces, each with the space that it ends at; one of more than `LONGEST_CHUNK` bytes is cut anywhere."""
        held = b""
        with open_bytes(self.path) as file:
            file.seek(self.start)
            left = self.end - self.start
            while left:
                block = file.read(min(left, LONG))
                if not block:  # the file has become shorter, which is found out afterwards
                    break
                left -= len(block)
                searched = max(len(held) - 6, 0)
                held += block
                end = len(held) if not left else last_chunk_end(held, searched, self.alone)
                if end or len(held) > LONGEST_CHUNK:
                    yield held[: end or len(held)]
                    held = held[end:] if end else b""
        if held:
            yield held


def last_chunk_end(block: bytes, start: int, alone: tuple[int, int]) -> int:
    """The last place of a block, from `start` on, at which a text may be cut; 0 where there is none.

    It is after a space, or between two of the characters from the first to the last of `alone`. The block is UTF-8,
    which may be cut off within a character.

    >>> last_chunk_end(b"one two three", 0, (1, 0)), last_chunk_end("a東京b".encode(), 0, (0x4E00, 0x9FEF))
    (8, 4)
    """
    end = block.rfind(b" ", start) + 1
    if end or alone[0] > alone[1]:
        return end
    window = _WINDOW
    while True:
        first = max(len(block) - window, start)
        pairs = [match.end() for match in _PAIR.finditer(block, first) if _are_alone(block, match.start(), alone)]
        if pairs or first == start:
            return pairs[-1] if pairs else 0
        window *= 16


def _are_alone(block: bytes, at: int, alone: tuple[int, int]) -> bool:
    """Whether the two characters of three bytes each at a place are among those that stand alone."""
    try:
        return all(alone[0] <= ord(char) <= alone[1] for char in block[at : at + 6].decode())
    except UnicodeDecodeError:
        return False


# ---- the texts of a stretch -----------------------------------------------------------------------------------------

_HALF = re.compile("[\ud800-\udfff]")


class TextBatch(NamedTuple):
    """Rows that follow one another."""

    rows: Any  # an Arrow array of `large_string`, of which nobody has looked whether it is UTF-8; or a list of texts
    text_bytes: int  # in UTF-8; of whole lines where the texts come from lines
    kept: Any = None  # a table with the columns to keep, a row for each row; None where there are none

    def texts(self) -> list[Text]:
        """The rows, one by one."""
        texts = self.rows if isinstance(self.rows, list) else texts_of(self.rows)
        return [BadRow("null") if text is None else text for text in texts]


Cut = Callable[[], tuple[int, int] | None]


def read_texts(
    stretch: Stretch, column: str, cut_characters: Cut = lambda: None, keep: tuple[str, ...] = ()
) -> Iterator[TextBatch | LongText]:
    """All rows of a stretch. `cut_characters` is asked where a line is very long; see `RowEncoder.cut_characters`."""
    if stretch.file.kind == "parquet":
        return _of_parquet(stretch, column, keep)
    if stretch.file.kind in TABLES:
        return _of_table(stretch, column, keep)
    if stretch.file.kind == "jsonl":
        return _of_lines(stretch, JsonLines(stretch.file.name, column, keep), cut_characters)
    return _of_lines(stretch, None, cut_characters)


def first_row(stretch: Stretch) -> int:
    """How many rows of its file come before it; the lines are counted only when this is called."""
    if stretch.first_row is not None:
        return stretch.first_row
    with open_bytes(stretch.path) as file:
        left, rows = stretch.start, 0
        while left and (block := file.read(min(left, _BLOCK))):
            left -= len(block)
            rows += block.count(b"\n")
    return rows


# ---- lines ----------------------------------------------------------------------------------------------------------


def _of_lines(stretch: Stretch, json_lines: JsonLines | None, cut_characters: Cut) -> Iterator[TextBatch | LongText]:
    name, start = stretch.file.name, stretch.start
    with as_file_error(f"cannot read {name}", name), open_bytes(stretch.path) as file:
        while start < stretch.end:
            end = _end_of_lines(file, start, stretch.end)
            size = end - start
            alone = cut_characters() if size > LONG and json_lines is None else None
            if alone is not None:
                file.seek(end - 1)
                yield LongText(stretch.path, start, end - (file.read(1) == b"\n"), alone, size)
            elif json_lines is not None and size > LONGEST_JSON:
                bad = BadRow(f"a line of {size:,} bytes; JSON of more than {LONGEST_JSON:,} is not read")
                yield TextBatch([bad], size, json_lines.kept([{}]))
            else:
                file.seek(start)
                block = file.read(size)
                if len(block) < size:
                    raise ChangedFileError(f"{name} has become shorter while it was read", path=name)
                yield TextBatch(lines_of(block), size) if json_lines is None else json_lines.batch(block)
            start = end


def _end_of_lines(file: BinaryIO, start: int, end: int) -> int:
    """The end of the lines that a block from `start` on holds whole; if it holds none, of the line it begins."""
    file.seek(start)
    block = file.read(min(end - start, _BLOCK))
    if start + len(block) >= end:
        return end
    return start + block.rfind(b"\n") + 1 if b"\n" in block else end_of_line(file, start + len(block), end)


class JsonLines:
    """What is in lines of JSON of a file: texts under one key, and the values of others, which are kept.

    Arrow's parser reads blocks of lines, where it is certain to give what `json` gives. It makes no Python object for a
    row, and releases the GIL. All other lines are left to `json`.
    """

    def __init__(self, name: str, column: str, keep: tuple[str, ...]) -> None:
        self.name, self.column, self.keep = name, column, keep
        self._types = dict.fromkeys(keep, import_pyarrow().null())  # of what is kept, as `json` has shown them

    def batch(self, block: bytes) -> TextBatch:
        """The rows of a block of lines."""
        sample = block[: block.find(b"\n", _SAMPLE) + 1]
        if self.keep and sample and all(map(import_pyarrow().types.is_null, self._types.values())):
            with contextlib.suppress(FileFormatError):
                self._by_json(sample)
        batch = self._by_arrow(block)
        if batch is not None or self.keep or len(block) < _SAMPLE:
            return batch or self._by_json(block)
        parts, start = [], 0
        while start < len(block):
            end = block.find(b"\n", start + len(block) // _PARTS) + 1 or len(block)
            parts.append(self._by_arrow(block[start:end]) or self._by_json(block[start:end]))
            start = end
        return TextBatch([text for part in parts for text in part.texts()], len(block))

    def _by_arrow(self, block: bytes) -> TextBatch | None:
        """The rows of a block of lines that each hold one object with a text; None where that is not certain."""
        pa, read = import_pyarrow(), import_pyarrow("pyarrow.json")
        names = self.column.split(".")
        if len(names) > 1 and (names[0] in self.keep or self._may_be_a_name(block)):
            return None
        if not all(map(_is_simple, self._types.values())):
            return None
        kind = pa.large_string()
        for name in reversed(names[1:]):
            kind = pa.struct([(name, kind)])
        fields = {**self._types, names[0]: kind}
        parsing = read.ParseOptions(pa.schema(list(fields.items())), unexpected_field_behavior="ignore")
        reading = read.ReadOptions(use_threads=False, block_size=len(block) + 1)
        lines = lines_of(block)
        try:
            lines.validate(full=True)  # whether it is UTF-8
            if _may_be_read_otherwise(block, lines):
                return None
            table = read.read_json(pa.BufferReader(block), reading, parsing)
        except pa.ArrowInvalid:
            return None
        texts = inner_column(table.column(names[0]), names[1:]).combine_chunks()
        if len(texts) != len(lines) or texts.null_count or not all(map(_is_as_in_json, table.columns)):
            return None
        if not self.keep:
            return TextBatch(texts, len(block))
        kept = {key: texts.cast(pa.string()) if key == self.column else table.column(key) for key in self.keep}
        return TextBatch(texts, len(block), pa.table(kept))

    def _may_be_a_name(self, block: bytes) -> bool:
        """Whether an object may have a field whose name is that of the column with its points."""
        escape = _ASCII_ESCAPED if self.column.isascii() else _ESCAPED
        return escape.search(block) is not None or self.column.encode("utf-8", "surrogatepass") in block

    def _by_json(self, block: bytes) -> TextBatch:
        lines = texts_of(lines_of(block))
        objects = [object_of_json(line, self.column) if isinstance(line, str) else line for line in lines]
        texts = [self._text(values) for values in objects]
        if not self.keep:
            return TextBatch(texts, len(block))
        # What is kept of rows without a text goes with them.
        rows = zip(objects, texts, strict=True)
        kept = self.kept([one if isinstance(text, str) else {} for one, text in rows])
        pa = import_pyarrow()
        self._types |= {field.name: field.type for field in kept.schema if not pa.types.is_null(field.type)}
        return TextBatch(texts, len(block), kept)

    def _text(self, values: dict[str, Any] | BadRow) -> Text:
        text = values if isinstance(values, BadRow) else text_in_object(values, self.column)
        if text is None:
            return BadRow(f"{self.column!r} is null, not a text")
        if isinstance(text, BadRow) or isinstance(values, BadRow):
            return text
        bad = next((key for key in self.keep if not _is_unicode(values.get(key))), None)
        return text if bad is None else BadRow(f"{bad!r} cannot be kept: it has half of a surrogate pair")

    def kept(self, objects: Sequence[Any]) -> Any:
        """A table of the values to keep, of whatever types they have; null where there is none."""
        if not self.keep:
            return None
        pa = import_pyarrow()
        columns = {}
        for key in self.keep:
            try:
                values = pa.array([one.get(key) for one in objects])
            except (pa.ArrowException, OverflowError) as error:
                raise FileFormatError(f"{self.name}: {key!r} cannot be kept: {error}", path=self.name) from error
            # No column of a Parquet file holds objects without keys.
            is_empty = pa.types.is_struct(values.type) and not values.type.num_fields
            columns[key] = pa.nulls(len(values)) if is_empty else values
        return pa.table(columns)


_SAMPLE = 1 << 14  # bytes of lines that show the types of what is kept
_PARTS = 16  # of a block that not all of can be read at once
_MOST_BRACKETS, _MOST_DIGITS = 200, 320
_ESCAPED, _ASCII_ESCAPED = re.compile(rb"\\u"), re.compile(rb"\\u00[2-7]")
_NO_NUMBER = re.compile(rb"Inf[ \t\r]*[],}]")


def _may_be_read_otherwise(block: bytes, lines: Any) -> bool:
    """Whether Arrow may read lines of a block that `json` refuses, or otherwise: if there is one object for each."""
    compute = import_pyarrow("pyarrow.compute")
    # Within an object, no brace that closes is followed by one that opens: where all lines have these, each ends one.
    opened = compute.starts_with(lines, "{").true_count
    closed = compute.or_(compute.ends_with(lines, "}"), compute.ends_with(lines, "}\r")).true_count
    if min(opened, closed) < len(lines):
        return True
    if (b"NaN" in block and b"-NaN" in block) or (b"Inf" in block and _NO_NUMBER.search(block)):
        return True
    # How many brackets may be nested, and how many digits a number may have, is Python's to say.
    if block.count(b"{") > len(lines) + _MOST_BRACKETS or block.count(b"[") > _MOST_BRACKETS:
        if max(line.count(b"[") + line.count(b"{") for line in block.split(b"\n")) > _MOST_BRACKETS:
            return True
    starts = (at * _MOST_DIGITS for at, byte in enumerate(block[::_MOST_DIGITS]) if byte in b"0123456789")
    return any(block[at : at + _MOST_DIGITS].isdigit() for at in starts)


def _is_simple(kind: Any) -> bool:
    """Whether values of a type look the same to Arrow's parser and to `json`; for numbers with a point, see below."""
    types = import_pyarrow().types
    return any(
        test(kind) for test in (types.is_null, types.is_string, types.is_int64, types.is_float64, types.is_boolean)
    )


def _is_as_in_json(column: Any) -> bool:
    """Whether numbers that have become such with a point are the same; those of other types are."""
    if not import_pyarrow().types.is_float64(column.type):
        return True
    values = [value for value in column.to_pylist() if value is not None]
    return all(abs(value) < 1 << 53 for value in values) and not any(
        value == 0 and str(value)[0] == "-" for value in values
    )


def _is_unicode(value: Any) -> bool:
    """Whether all strings in a value of JSON can be written."""
    if isinstance(value, str):
        return not _HALF.search(value)
    if isinstance(value, dict):
        return all(_is_unicode(one) for pair in value.items() for one in pair)
    return all(map(_is_unicode, value)) if isinstance(value, list) else True


# ---- Parquet --------------------------------------------------------------------------------------------------------


def _of_parquet(stretch: Stretch, column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    is_spool = stretch.path != stretch.file.name
    table_of = contextlib.nullcontext() if is_spool else open_parquet(stretch.path)
    with damage_told(stretch.file.name), table_of as table:
        names = list(dict.fromkeys([column, *keep]))
        batches = read_spool(stretch.path) if is_spool else read_batches(stretch.file, table, stretch.row_groups, names)
        for batch in batches:
            yield _batch_of(batch, column, keep)


def _of_table(stretch: Stretch, column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    with as_file_error(f"cannot read {stretch.file.name}", stretch.file.name), open_bytes(stretch.path) as raw:
        for batch in rows_of_csv(raw, stretch.file, [column, *keep]):
            yield _batch_of(batch, column, keep)


def _batch_of(batch: Any, column: str, keep: tuple[str, ...]) -> TextBatch:
    texts = large_strings(column_of(batch, column))
    lengths = import_pyarrow("pyarrow.compute").binary_length(texts)
    size = 0 if texts.null_count == len(texts) else import_pyarrow("pyarrow.compute").sum(lengths).as_py()
    kept = import_pyarrow().Table.from_batches([batch]).select(keep) if keep else None
    return TextBatch(texts, size, kept)
