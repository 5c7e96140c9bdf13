"""The files of a corpus: which they are, whether they are still the same, and their texts.

In: paths and globs. Out: a `TextFile` each, in the order given, those of a glob by name; and for
the stretches of a shard, batches of rows, each of them a str or a `BadRow`, with a checksum of what
was read of each stretch. Lines end at U+000A only, and nothing but that is taken off; the last line
of a file ends with it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from trietok.batches.input_files import Status, TextFile, files_listed
from trietok.batches.json_lines import rows_of_json, table_of
from trietok.batches.row_encoder import lines_of_block
from trietok.batches.shard_plan import FileStretch, check_table, damage_told, read_batches
from trietok.disk import naming
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    TrietokError,
)
from trietok.files import text_rows
from trietok.files.stores import identity, is_url, open_bytes, reading
from trietok.files.tables import (
    column_of,
    import_pyarrow,
    open_parquet,
    texts_of,
    without_nulls,
)
from trietok.files.text_rows import (
    FIRST_BYTES,
    TABLES,
    BadRow,
    TextOrBad,
    compression_of,
    decoded,
    refuse_other_than_text,
    rows_of_csv,
    unpacked,
    unpacking,
)

_BLOCK = 1 << 20  # bytes
_MOST_ROWS = 1 << 13  # of a table, held at a time
_LITTLE = 1 << 16  # bytes that are read behind a stretch, where its last line goes on
SetAside = Callable[[str, TrietokError], object]  # is told of a file, and why it is left out
_ENDS = "files end in .parquet, or in .txt, .jsonl, .csv or .tsv, these also with .gz or .zst"
_SHEETS = (".xlsx", ".xls", ".ods")


_OF_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def is_of_machine(error: BaseException) -> bool:
    """Whether an error comes from the machine, such as too many open files, and not from a file.

    >>> error = FileError("cannot read a.txt: Too many open files", path="a.txt")
    >>> error.__cause__ = OSError(errno.EMFILE, "Too many open files")
    >>> is_of_machine(error), is_of_machine(FileNotFoundError(errno.ENOENT, "no file"))
    (True, False)
    """
    causes = (error, error.__cause__)
    return any(isinstance(each, OSError) and each.errno in _OF_MACHINE for each in causes)


class ChangedFileError(FileError):
    """A file is not what it was when the run began."""


def check_unchanged(file: TextFile, told: Status | None = None) -> None:
    """Raise where a file is not what it was, by what a list has `told` of it, or by asking."""
    if file.is_changed(told):
        raise ChangedFileError(f"{file.name} has changed while it was read", path=file.name)


def find_inputs(
    paths: Iterable[str | os.PathLike[str]], set_aside: SetAside | None = None
) -> list[TextFile]:
    """The files behind paths and globs, which are listed and not read.

    `set_aside` is told of a path where there is no file that can be read; without it, that is an
    error.
    """
    found: dict[tuple[str, str], TextFile | None] = {}
    real_folder = lru_cache(os.path.realpath)
    for path, told in files_listed(paths):
        is_direct = not (is_url(path) or os.path.islink(path))
        folder, name = os.path.split(path if is_direct else identity(path))
        real = real_folder(folder) if is_direct else folder, name
        if real in found:
            raise InputError(f"{path} is given twice; give each file once")
        try:
            file = found[real] = TextFile.listed(path, told)
        except FileError as error:
            if set_aside is None or os.path.isdir(path) or is_of_machine(error):
                raise
            set_aside(path, error)
            found[real] = None
            continue
        if not file.size and not is_url(path) and not os.path.isfile(path):
            what = f"{path} is no regular file, and texts are read more than once"
            raise InputError(f"{what}; copy them to a file")
        if file.kind is None:
            is_sheet = path.lower().endswith(_SHEETS)
            kind = "a spreadsheet; save it as .csv in UTF-8" if is_sheet else "of an unknown kind"
            raise InputError(f"{path} is {kind}; {_ENDS}")
    if not found:
        raise InputError("no files are given; give at least one")
    return [file for file in found.values() if file is not None]


def changed_since(
    paths: Iterable[str | os.PathLike[str]], files: Iterable[TextFile]
) -> Iterator[FileError]:
    """What is to be said of the files that are not what they were, by listing all of them again."""
    told: dict[str, Status | None] = {}  # a glob may find no file any more
    with contextlib.suppress(FileError):
        told.update(files_listed(path for path in paths if is_url(os.fspath(path))))
    for file in files:
        try:
            check_unchanged(file, told.get(file.name))
        except FileError as error:
            yield error


# ---- lines too long to be held -------------------------------------------------------------------

LONG = 1 << 23  # bytes of a line that is read in pieces, and of a piece, about
_PAIR = re.compile(rb"[\xe4-\xe9][\x80-\xbf]{2}(?=[\xe4-\xe9][\x80-\xbf]{2})")  # of Chinese
_WINDOW = 1 << 12  # bytes


class LongText(NamedTuple):
    """A line that is read and encoded in pieces, so that its length takes no memory.

    The ids of its pieces in a row are those of the line: pieces end where chunks do, at spaces, or
    between two Chinese characters where those are set apart.
    """

    path: str
    start: int  # of the line, in bytes
    end: int  # without its line feed
    alone: tuple[int, int]  # the first and the last of the characters it may be cut between too
    text_bytes: int  # of the line, with its line feed

    def bad_row(self) -> BadRow | None:
        """What is wrong with the text, if it cannot be encoded; it is read through for that."""
        at = self.start
        for piece in self.pieces():
            if len(piece) > text_rows.LONGEST_TEXT_LINE:
                told = f"more than {text_rows.LONGEST_TEXT_LINE:,} bytes without a space"
                return BadRow(f"{told}; break the line somewhere there")
            text = decoded(piece, offset=at - self.start)
            if isinstance(text, BadRow):
                return text
            at += len(piece)
        return None

    def pieces(self) -> Iterator[bytes]:
        """The pieces, each to a space; one of more than `LONGEST_LINE` bytes is cut anywhere."""
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
                if end or len(held) > text_rows.LONGEST_TEXT_LINE:
                    yield held[: end or len(held)]
                    held = held[end:] if end else b""
        if held:
            yield held


def last_chunk_end(block: bytes, start: int, alone: tuple[int, int]) -> int:
    """The last place of a block, from `start` on, where a text may be cut; 0 if there is none.

    It is after a space, or between two of the characters from the first to the last of `alone`. The
    block is UTF-8, which may be cut off within a character.

    >>> (
    ...     last_chunk_end(b"one two three", 0, (1, 0)),
    ...     last_chunk_end("a東京b".encode(), 0, (0x4E00, 0x9FEF)),
    ... )
    (8, 4)
    """
    end = block.rfind(b" ", start) + 1
    if end or alone[0] > alone[1]:
        return end
    window = _WINDOW
    while True:
        first = max(len(block) - window, start)
        places = [match.start() for match in _PAIR.finditer(block, first)]
        pairs = [place + 3 for place in places if _are_alone(block, place, alone)]
        if pairs or first == start:
            return pairs[-1] if pairs else 0
        window *= 16


def _are_alone(block: bytes, at: int, alone: tuple[int, int]) -> bool:
    """Whether the two characters of three bytes each at a place stand alone."""
    try:
        return all(alone[0] <= ord(char) <= alone[1] for char in block[at : at + 6].decode())
    except UnicodeDecodeError:
        return False


# ---- the texts of stretches ----------------------------------------------------------------------


class TextBatch(NamedTuple):
    """Rows that follow one another."""

    rows: Any  # an Arrow array of `large_string`, which may not be UTF-8; or a list of texts
    text_bytes: int  # in UTF-8; of whole lines where the texts come from lines
    kept: Any = None  # a table with the columns to keep, a row for each row, if there are any

    def texts(self, column: str) -> list[TextOrBad]:
        """The rows, one by one; `column` is where they are from."""
        if isinstance(self.rows, list):
            return self.rows
        return without_nulls(texts_of(self.rows), column)


class Read:
    """What has been read of a stretch."""

    def __init__(self, stretch: FileStretch) -> None:
        self.stretch = stretch
        # Of the bytes of its lines, of a packed file, or of columns in Arrow's format for streams.
        self.digest = hashlib.sha256()
        self.rows = self.rejected = 0  # how many were handed out, and which of them hold no text
        self.blank = 0  # lines without a row

    def row(self) -> int:
        """The number in its file, from 1, of the row that is handed out next."""
        file, start = self.stretch.file, self.stretch.start
        if not start or file.kind == "parquet":
            return start + self.rows + 1
        with reading(file.name), open_bytes(file.name) as lines:
            left, before = start - 1, 1  # a line that ends with the last byte before it counts
            while left and (block := lines.read(min(left, _BLOCK))):
                left -= len(block)
                before += block.count(b"\n")
        return before + self.rows + 1


CutCharacters = Callable[[], tuple[int, int] | None]
Parts = list[tuple[Read, int]]  # how many rows are of which stretch, in their order


def read_texts(
    reads: Iterable[Read],
    column: str,
    cut_characters: CutCharacters = lambda: None,
    keep: tuple[str, ...] = (),
) -> Iterator[tuple[TextBatch | LongText, Parts]]:
    """All rows of stretches, in batches, which may have rows of several small files.

    `cut_characters` is asked where a line is very long; see `RowEncoder.cut_characters`.
    """
    waiting: list[tuple[Read, bytes]] = []
    held = 0

    def joined() -> tuple[TextBatch, Parts]:
        file = waiting[0][0].stretch.file
        whole = [block if block.endswith(b"\n") else block + b"\n" for _, block in waiting]
        block, reads_of = b"".join(whole), [read for read, _ in waiting]
        waiting.clear()
        lines = lines_of_block(block)
        numbers = [len(lines)]
        if len(whole) > 1:  # to count in Python takes the GIL
            numbers = [one.count(b"\n") for one in whole]
        rows, kept = lines, None
        if file.kind == "jsonl":
            rows, kept = rows_of_json(lines, file.name, column, keep)
        return TextBatch(rows, held, kept), [*zip(reads_of, numbers, strict=True)]

    for read in reads:
        kind = read.stretch.file.kind
        for block in read_blocks(read, column, cut_characters, keep):
            size = len(block) if isinstance(block, bytes) else _BLOCK
            is_other = keep or {one.stretch.file.kind for one, _ in waiting[:1]} != {kind}
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
    read: Read,
    column: str,
    cut_characters: CutCharacters = lambda: None,
    keep: tuple[str, ...] = (),
) -> Iterator[bytes | TextBatch | LongText]:
    """The rows of a stretch: whole lines, batches of tables, lines too long to be held."""
    file = read.stretch.file
    content = _small_file(read)
    if content is not None:
        yield from filter(None, [content])
        return
    try:
        with reading(file.name):
            if file.kind == "parquet":
                yield from _of_parquet(read, column, keep)
            elif file.kind in TABLES:
                with open_bytes(file.name) as raw:
                    first = raw.peek(FIRST_BYTES)[:FIRST_BYTES]  # type: ignore[attr-defined]
                    refuse_other_than_text(first, file.name)
                    packed = compression_of(first) or file.compression
                    with unpacking(packed, file.name):
                        content = unpacked(_summed(read.digest, raw), packed, file.name)
                        rows = rows_of_csv(content, file.name, file.kind, [column, *keep])
                        yield from _of_csv(rows, keep, file.name)
            else:
                yield from _of_lines(read, cut_characters, keep)
    except (FileError, FileFormatError):
        check_unchanged(file)  # where it has changed that is the reason
        raise
    check_unchanged(file)


# ---- lines ---------------------------------------------------------------------------------------


def _small_file(read: Read) -> bytes | None:
    """All of a small file of lines; None for others, and where it is not what it was."""
    file = read.stretch.file
    is_small = read.stretch.end is None and file.compression is None and file.size < _BLOCK
    if not is_small or file.kind not in ("txt", "jsonl") or is_url(file.name):
        return None
    try:
        with open(file.name, "rb", buffering=0) as raw:
            content, status = raw.read(file.size + 1), os.fstat(raw.fileno())
    except OSError:  # which comes again, and is told of then
        return None
    if (len(content), status.st_mtime_ns) != file[3:] or compression_of(content):
        return None
    refuse_other_than_text(content, file.name)
    read.digest.update(content)
    return content


def _of_lines(
    read: Read, cut_characters: CutCharacters, keep: tuple[str, ...]
) -> Iterator[bytes | TextBatch | LongText]:
    file, start = read.stretch.file, read.stretch.start
    with open_bytes(file.name) as raw:
        first = raw.read(FIRST_BYTES)
        refuse_other_than_text(first, file.name)
        compression = compression_of(first) or file.compression
        raw.seek(0)
        if compression is not None:
            if start:  # a packed file by another name: the stretch at its start has all of it
                return
            blocks = _unpacked_blocks(_summed(read.digest, raw), compression, file.name)
        else:
            end = file.size if read.stretch.end is None else read.stretch.end
            start = _first_line(raw, start, end)
            blocks = _range(raw, start, end, read)
        lines = _Lines(blocks, start)
        while (block := lines.block()) != b"":
            if block is not None:
                yield block
            else:
                is_packed = compression is not None
                yield from _long_line(lines, file, cut_characters, keep, is_packed=is_packed)


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
    """The bytes from a place to the end of the line with the last byte before another."""
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


def _unpacked_blocks(raw: Any, compression: str, name: str) -> Iterator[bytes]:
    with unpacking(compression, name):
        content = unpacked(raw, compression, name)
        while block := content.read(_BLOCK):
            yield block


def _summed(digest: Any, file: BinaryIO) -> io.BufferedReader:
    """A file whose bytes go into a checksum as they are read."""
    return io.BufferedReader(_SummedReading(digest, file), _BLOCK)


class _SummedReading(io.RawIOBase):
    def __init__(self, digest: Any, file: BinaryIO) -> None:
        self._digest, self._file = digest, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        size: int = self._file.readinto(buffer)  # type: ignore[attr-defined]
        self._digest.update(memoryview(buffer)[:size])
        return size


class _SummedWriting:
    """A file for Arrow, of which only the checksum is kept."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self._digest = digest

    def write(self, block: Any) -> int:
        self._digest.update(block)
        return len(block)

    def flush(self) -> None:
        """Nothing waits to be written."""


class _Lines:
    """Blocks of bytes as blocks of whole lines."""

    def __init__(self, blocks: Iterator[bytes], position: int) -> None:
        self._blocks, self._held = blocks, b""
        self.position = position  # how many bytes are before the next line
        self.has_ended = False  # whether the line that was read last, in parts, has a line feed

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
    lines: _Lines,
    file: TextFile,
    cut_characters: CutCharacters,
    keep: tuple[str, ...],
    *,
    is_packed: bool,
) -> Iterator[bytes | TextBatch | LongText]:
    """A line that is longer than a block: as it is, or in pieces if it is too long."""
    start, held, size = lines.position, [], 0
    alone = cut_characters() if file.kind == "txt" else None
    most = text_rows.LONGEST_TEXT_LINE if alone is None else LONG
    for part in (parts := lines.line()):
        held.append(part)
        size += len(part)
        if size > most:
            break
    else:
        yield b"".join(held)
        return
    if alone is None:
        size += sum(map(len, parts))
        bad = BadRow(text_rows.TOO_LONG.format(text_rows.LONGEST_TEXT_LINE))
        yield TextBatch([bad], size, table_of({key: [None] for key in keep}, file.name))
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


# ---- tables --------------------------------------------------------------------------------------


def _of_csv(
    rows: Iterable[list[bytes] | BadRow], keep: tuple[str, ...], name: str
) -> Iterator[TextBatch]:
    """Batches of the rows of a table, each of which has its text, then the values to keep."""
    batch: list[tuple[Any, ...]] = []  # a text, or what is wrong with it, and the values to keep
    text_bytes = held = 0

    def joined() -> TextBatch:
        texts, *values = map(list, zip(*batch, strict=True))
        return TextBatch(texts, text_bytes, table_of(dict(zip(keep, values, strict=True)), name))

    for row in rows:
        if isinstance(row, BadRow):
            batch.append((row, *[None] * len(keep)))
        else:
            text, *values = map(decoded, row)
            for key, value in zip(keep, values, strict=True):
                if isinstance(value, BadRow):
                    text = BadRow(f"{key!r} cannot be kept: {value.reason}")
            batch.append((text, *(values if isinstance(text, str) else [None] * len(keep))))
            text_bytes += len(row[0])
            held += sum(map(len, row))
        if held > _BLOCK or len(batch) > _MOST_ROWS:
            yield joined()
            batch, text_bytes, held = [], 0, 0
    if batch:
        yield joined()


# ---- Parquet -------------------------------------------------------------------------------------


def _of_parquet(read: Read, column: str, keep: tuple[str, ...]) -> Iterator[TextBatch]:
    file, start, end, _ = read.stretch
    pyarrow, ipc = import_pyarrow(), import_pyarrow("pyarrow.ipc")
    lengths_of = import_pyarrow("pyarrow.compute").binary_length
    writer = None
    with damage_told(file.name), open_parquet(file.name) as table:
        check_table(table, file, column, keep)
        for batch in read_batches(file, table, start, end, list(dict.fromkeys([column, *keep]))):
            if writer is None:
                writer = ipc.new_stream(
                    pyarrow.PythonFile(_SummedWriting(read.digest), "w"), batch.schema
                )
            writer.write_batch(batch)
            texts = column_of(batch, column).cast("large_string")
            size = lengths_of(texts).sum(min_count=0).as_py()
            kept = pyarrow.Table.from_batches([batch]).select(keep) if keep else None
            yield TextBatch(texts, size, kept)
