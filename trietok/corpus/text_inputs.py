"""The files of a corpus: which they are, whether they are still the same, and their texts.

In: paths and globs. Out: a `TextFile` each, in the order given, those of a glob by name; and for the stretches of a
shard, batches of rows, each of them a str or a `BadRow`, with a checksum of what was read of each stretch. Lines end at
U+000A only, and nothing but that is taken off; the last line of a file ends with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.corpus.row_encoder import large_strings, lines_of
from trietok.corpus.shard_plan import Stretch, check_table, damage_told, read_batches
from trietok.disk import naming
from trietok.errors import FileError, FileFormatError, InputError, TrietokError, as_file_error
from trietok.files import texts as text_files
from trietok.files.elsewhere import Status, identity, is_elsewhere, open_bytes
from trietok.files.texts import TABLES, BadRow, Text, TextFile, decoded, import_pyarrow, listed, open_parquet, texts_of

_BLOCK = 1 << 20  # bytes
_LITTLE = 1 << 16  # bytes that are read behind a stretch, where its last line goes on
SetAside = Callable[[str, TrietokError], object]  # is told the name of a file, and why it is left out


class ChangedFileError(FileError):
    """A file is not what it was when the run began."""


def check_unchanged(file: TextFile, told: Status | None = None) -> None:
    """Raise where a file is not what it was any more, by what a list has `told` of it, or by asking."""
    if file.is_changed(told):
        raise ChangedFileError(f"{file.name} has changed while it was read", path=file.name)


def find_inputs(paths: Iterable[str | os.PathLike[str]], set_aside: SetAside | None = None) -> list[TextFile]:
    """The files behind paths and globs, which are listed and not read.

    `set_aside` is told of a path where there is no file that can be read; without it, that is an error.
    """
    found: dict[str, TextFile | None] = {}
    real_folder = lru_cache(os.path.realpath)
    for path, told in listed(paths):
        if is_elsewhere(path) or os.path.islink(path):
            real = identity(path)
        else:
            folder, name = os.path.split(path)
            real = os.path.join(real_folder(folder), name)
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        try:
            file = found[real] = TextFile.listed(path, told)
        except FileError as error:
            if set_aside is None or os.path.isdir(path):
                raise
            set_aside(path, error)
            found[real] = None
            continue
        if not file.size and not is_elsewhere(path) and not os.path.isfile(path):
            raise InputError(f"{path} is no regular file, and texts are read more than once; copy them to a file")
        if file.kind is None:
            raise InputError(
                f"{path} is of an unknown kind; files end in .parquet, or in .txt, .jsonl, .csv or .tsv, these also "
                "with .gz or .zst"
            )
    if not found:
        raise InputError("no files are given; give at least one")
    return [file for file in found.values() if file is not None]


def changed_since(paths: Iterable[str | os.PathLike[str]], files: Iterable[TextFile]) -> Iterator[FileError]:
    """What is to be said of the files that are not what they were, by listing all of them again."""
    told: dict[str, Status | None] = {}
    with contextlib.suppress(FileError):  # there is no such file any more
        told.update(listed((path for path in paths if is_elsewhere(os.fspath(path))), fresh=True))
    for file in files:
        try:
            check_unchanged(file, told.get(file.name))
        except FileError as error:
            yield error


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


# ---- the texts of stretches ------------------------------------------------------------------------------------------

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


class Read:
    """What has been read of a stretch.

    Attributes:
        digest: the checksum of it: of the bytes of its lines, of a packed file, or of the columns of Parquet in Arrow's
            format for streams.
        rows: how many were handed out.
        rejected: those of them that hold no text.
    """

    def __init__(self, stretch: Stretch) -> None:
        self.stretch = stretch
        self.digest = hashlib.sha256()
        self.rows = self.rejected = 0

    def row(self) -> int:
        """The number in its file of the row that is handed out next, from 1; lines before a stretch are counted now."""
        file, start = self.stretch.file, self.stretch.start
        if not start or file.kind == "parquet":
            return start + self.rows + 1
        with as_file_error(f"cannot read {file.name}", file.name), open_bytes(file.name) as lines:
            left, before = start - 1, 1  # a line that ends with the last byte before the stretch counts
            while left and (block := lines.read(min(left, _BLOCK))):
                left -= len(block)
                before += block.count(b"\n")
        return before + self.rows + 1


Cut = Callable[[], tuple[int, int] | None]
Parts = list[tuple[Read, int]]  # how many rows are of which stretch, in their order


def read_texts(
    reads: Iterable[Read], column: str, cut_characters: Cut = lambda: None, keep: tuple[str, ...] = ()
) -> Iterator[tuple[TextBatch | LongText, Parts]]:
    """All rows of stretches, in batches, which may have rows of several small files.

    `cut_characters` is asked where a line is very long; see `RowEncoder.cut_characters`.
    """
    waiting: list[tuple[Read, bytes]] = []
    held = 0
    json_lines: dict[str, JsonLines] = {}

    def joined() -> tuple[TextBatch, Parts]:
        file = waiting[0][0].stretch.file
        parts = [(read, block.count(b"\n") + (not block.endswith(b"\n"))) for read, block in waiting]
        blocks = [block if block.endswith(b"\n") else block + b"\n" for _, block in waiting]
        block, size = b"".join(blocks), held
        waiting.clear()
        if file.kind != "jsonl":
            return TextBatch(lines_of(block), size), parts
        if file.name not in json_lines:  # it learns from block to block of a file
            json_lines.clear()
            json_lines[file.name] = JsonLines(file.name, column, keep)
        return json_lines[file.name].batch(block)._replace(text_bytes=size), parts

    for read in reads:
        for block in read_blocks(read, column, cut_characters, keep):
            size = len(block) if isinstance(block, bytes) else _BLOCK
            is_other = waiting and (keep or waiting[0][0].stretch.file.kind != read.stretch.file.kind)
            if waiting and (is_other or held + size > _BLOCK):
                yield joined()
                held = 0
            if isinstance(block, bytes):
                waiting.append((read, block))
                held += size
            else:
                yield block, [(read, 1 if isinstance(block, LongText) else len(block.rows))]
    if waiting:
        yield joined()


def read_blocks(
    read: Read, column: str, cut_characters: Cut = lambda: None, keep: tuple[str, ...] = ()
) -> Iterator[bytes | TextBatch | LongText]:
    """The rows of a stretch: whole lines as bytes, the rows of tables in batches, and lines too long to be held."""
    file = read.stretch.file
    try:
        with as_file_error(f"cannot read {file.name}", file.name):
            if file.kind == "parquet":
                yield from _of_parquet(read, column, keep)
            elif file.kind in TABLES:
                with open_bytes(file.name) as raw:
                    yield from _of_batches(read, text_files.rows_of_csv(raw, file, [column, *keep]), column, keep)
            else:
                yield from _of_lines(read, JsonLines(file.name, column, keep), cut_characters)
    except (FileError, FileFormatError):
        check_unchanged(file)  # where it has changed that is the reason
        raise
    check_unchanged(file)


# ---- lines ----------------------------------------------------------------------------------------------------------


def _of_lines(read: Read, json_lines: JsonLines, cut_characters: Cut) -> Iterator[bytes | TextBatch | LongText]:
    file, start = read.stretch.file, read.stretch.start
    is_small = read.stretch.end is None and file.compression is None and file.size < _BLOCK
    with open_bytes(file.name) as raw:
        first = raw.read(file.size if is_small else text_files.FIRST_BYTES)
        compression = text_files.compression_of(first) or file.compression
        if compression is None and is_small and len(first) == file.size:  # the way of many small files is short
            read.digest.update(first)
            if first:
                yield first
            return
        raw.seek(0)
        if compression is not None:
            if start:  # a packed file whose name does not say so: the stretch at its start has all of it
                return
            blocks = text_files.decompressed(_Summed(read.digest, raw), file._replace(compression=compression))  # type: ignore[arg-type]
        else:
            end = file.size if read.stretch.end is None else read.stretch.end
            start = _first_line(raw, start, end)
            blocks = _range(raw, start, end, read)
        lines = _Lines(blocks, start)
        while (block := lines.block()) != b"":
            if block is not None:
                yield block
            else:
                yield from _long_line(lines, file, json_lines, cut_characters, is_packed=compression is not None)


def _first_line(raw: BinaryIO, start: int, end: int) -> int:
    """Where the first line begins that begins in a range of bytes; its end where none does."""
    at = start - 1
    if start:
        raw.seek(at)
    while 0 <= at < end - 1 and (block := raw.read(min(end - 1 - at, _BLOCK))):
        found = block.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(block)
    return end if start else 0


def _range(raw: BinaryIO, start: int, end: int, read: Read) -> Iterator[bytes]:
    """The bytes from a place to the end of the line that has the last byte before another, with their checksum."""
    raw.seek(start)
    at = start
    while start < end and (block := raw.read(min(max(end - at, _LITTLE), _BLOCK))):
        last = block.find(b"\n", max(end - 1 - at, 0)) + 1 if at + len(block) >= end else 0
        at += len(block)
        read.digest.update(block[: last or None])
        yield block[: last or None]
        if last:
            return
    if at < end:
        name = read.stretch.file.name
        raise ChangedFileError(f"{name} has become shorter while it was read", path=name)


class _Summed:
    """A file whose bytes go into a checksum as they are read; also one for Arrow, which writes into it."""

    closed = False

    def __init__(self, digest: Any, file: Any = None) -> None:
        self._file = file
        self._digest = digest

    def read(self, size: int = -1) -> bytes:
        block: bytes = self._file.read(size)
        self._digest.update(block)
        return block

    def peek(self, size: int) -> bytes:
        return bytes(self._file.peek(size))

    def write(self, block: Any) -> int:
        self._digest.update(block)
        return len(block)

    def flush(self) -> None:
        """Nothing waits to be written."""


class _Lines:
    """Blocks of bytes as blocks of whole lines.

    Attributes:
        position: how many bytes are before the next line.
        has_ended: whether the line that was read last, in parts, has a line feed.
    """

    def __init__(self, blocks: Iterator[bytes], position: int) -> None:
        self._blocks = blocks
        self._held = b""
        self.position = position
        self.has_ended = False

    def block(self) -> bytes | None:
        """The next lines; nothing at the end, and None where a line is longer than a block."""
        while len(self._held) < _BLOCK and (more := next(self._blocks, b"")):
            self._held += more
        end = len(self._held)
        if end >= _BLOCK:
            end = self._held.rfind(b"\n", 0, _BLOCK) + 1
            if not end:
                return None
        block, self._held = self._held[:end], self._held[end:]
        self.position += end
        return block

    def line(self) -> Iterator[bytes]:
        """The parts of the next line, with its line feed."""
        while self._held:
            end = self._held.find(b"\n") + 1
            part, self._held = (self._held[:end], self._held[end:]) if end else (self._held, b"")
            self.position += len(part)
            self.has_ended = end > 0
            yield part
            if end:
                return
            self._held = next(self._blocks, b"")


def _long_line(
    lines: _Lines, file: TextFile, json_lines: JsonLines, cut_characters: Cut, *, is_packed: bool
) -> Iterator[bytes | TextBatch | LongText]:
    """A line that is longer than a block: as it is, or in pieces where it is too long to be held."""
    start, held, size = lines.position, [], 0
    alone = cut_characters() if file.kind == "txt" else None
    most = LONGEST_JSON if file.kind == "jsonl" else None if alone is None else LONG
    for part in (parts := lines.line()):
        held.append(part)
        size += len(part)
        if most is not None and size > most:
            break
    else:
        yield b"".join(held)
        return
    if alone is None:
        size += sum(map(len, parts))
        bad = BadRow(f"a line of {size:,} bytes; JSON of more than {LONGEST_JSON:,} is not read")
        yield TextBatch([bad], size, json_lines.kept([{}]))
    elif is_packed:  # it is encoded in pieces from a file of its own
        with tempfile.TemporaryDirectory(prefix="trietok-line-") as folder:
            path = Path(folder, "line")
            with naming(path), open(path, "wb") as line:
                line.writelines(chain(held, parts))
            size = lines.position - start
            yield LongText(str(path), 0, size - lines.has_ended, alone, size)
    else:
        size += sum(map(len, parts))
        yield LongText(file.name, start, start + size - lines.has_ended, alone, size)


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
        texts = text_files.inner_column(table.column(names[0]), names[1:]).combine_chunks()
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
        objects = [text_files.object_of_json(line, self.column) if isinstance(line, str) else line for line in lines]
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
        text = text_files.text_in_object(values, self.column)
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
    of = import_pyarrow().types
    return any(test(kind) for test in (of.is_null, of.is_string, of.is_int64, of.is_float64, of.is_boolean))


def _is_as_in_json(column: Any) -> bool:
    """Whether numbers that have become such with a point are the same; those of other types are."""
    if not import_pyarrow().types.is_float64(column.type):
        return True
    values = [value for value in column.to_pylist() if value is not None]
    return all(abs(value) < 1 << 53 and str(value) != "-0.0" for value in values)


def _is_unicode(value: Any) -> bool:
    """Whether all strings in a value of JSON can be written."""
    if isinstance(value, str):
        return not _HALF.search(value)
    if isinstance(value, dict):
        return all(_is_unicode(one) for pair in value.items() for one in pair)
    return all(map(_is_unicode, value)) if isinstance(value, list) else True


# ---- Parquet --------------------------------------------------------------------------------------------------------


def _of_parquet(read: Read, column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    file, start, end, _ = read.stretch
    with damage_told(file.name), open_parquet(file.name) as table:
        check_table(table, file, column, keep)
        batches = read_batches(file, table, start, end, list(dict.fromkeys([column, *keep])))
        yield from _of_batches(read, batches, column, keep)


def _of_batches(read: Read, batches: Iterable[Any], column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    pyarrow, compute, ipc = import_pyarrow(), import_pyarrow("pyarrow.compute"), import_pyarrow("pyarrow.ipc")
    writer = None
    for batch in batches:
        if writer is None:
            writer = ipc.new_stream(pyarrow.PythonFile(_Summed(read.digest), "w"), batch.schema)
        writer.write_batch(batch)
        texts = large_strings(text_files.column_of(batch, column))
        size = 0 if texts.null_count == len(texts) else compute.sum(compute.binary_length(texts)).as_py()
        yield TextBatch(texts, size, pyarrow.Table.from_batches([batch]).select(keep) if keep else None)
