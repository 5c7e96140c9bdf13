"""Encodes one shard, in any process.

In: a `Shard`, and the `ShardJob`, which is the same for every shard of the run. Out: the shard's
file under its key in the folder of the run, and a record of it. The record is written last, so a
shard that has one is whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from array import array
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import trietok
from trietok.batches.row_encoder import ID_BYTES, SMALL_COLUMNS, EncodedRows, RowEncoder
from trietok.batches.shard_files import Content, ParquetShard
from trietok.batches.shard_plan import Shard
from trietok.batches.text_inputs import (
    ChangedFileError,
    LongText,
    Parts,
    Read,
    is_of_machine,
    read_blocks,
    read_texts,
)
from trietok.disk import flush_directory, flush_file
from trietok.errors import FileError, FileFormatError, TrietokError
from trietok.files.tables import import_pyarrow
from trietok.files.text_rows import NO_ROW, BadRow, unit_of

STATE_FOLDER = ".trietok-encode"
TEMPORARY = ".temporary-"  # how the names of files begin that are not in their place yet
RECORD_SUFFIX = ".record.json"  # how the name of a shard's record ends
GOES_ON = "--resume continues"


class ShardJob(NamedTuple):
    """The options with which every shard of a run is encoded."""

    tokenizer: Any
    out: Path  # the directory of the corpus
    column: str  # of Parquet files, or the field of JSON objects, with the texts
    call_options: dict[str, Any]  # of the tokenizer's call
    keep: tuple[str, ...]  # columns that are carried through to the rows of their texts
    skip_bad_rows: bool  # rows without text are skipped and listed; else they raise an error
    fingerprint: str  # the tokenizer's

    @property
    def state(self) -> Path:
        """The folder of unfinished files and of records."""
        return self.out / STATE_FOLDER

    def made(self, key: str) -> Path:
        """The path of a shard's file until the run ends."""
        return self.state / f"{key}.parquet"

    def record(self, key: str) -> Path:
        """The path of a shard's record."""
        return self.state / f"{key}{RECORD_SUFFIX}"


class Outcome(NamedTuple):
    """The result of encoding a shard."""

    number: int
    record: dict[str, Any] | None  # what its record holds; None where it failed
    error: str | None  # why it failed, for the user to read
    advice: str = GOES_ON  # how the user can continue the run then
    unreadable: tuple[tuple[str, str], ...] = ()  # its files that cannot be read, and why
    is_same: bool = False  # whether its files have the known checksums; then nothing was encoded


class Stopped(Exception):
    """The run is to end; the shard was not finished."""


class ShardEncoder:
    """Encodes the shards of a run; `is_stopped` is asked between batches, and ends in `Stopped`."""

    def __init__(
        self,
        job: ShardJob,
        is_stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self._job = job
        self._is_stopped = is_stopped
        self._encoder = RowEncoder(job.tokenizer, job.call_options)
        self._encoder.threads = None  # workers are what a run has threads or processes for

    def encode(self, shard: Shard) -> Outcome:
        """Put a shard's file in place; or see that its files have the known checksums."""
        reads = [Read(stretch) for stretch in shard.stretches]
        try:
            if shard.known:
                checksums = tuple(self._checksum(read) for read in map(Read, shard.stretches))
                if checksums == shard.known:
                    return Outcome(shard.number, None, None, is_same=True)
            return Outcome(shard.number, self._encode(shard.key, reads), None)
        except TrietokError as error:
            said, names = str(error).rstrip("."), {stretch.file.name for stretch in shard.stretches}
            if is_of_machine(error):
                return Outcome(shard.number, None, said, GOES_ON)
            unreadable = {}
            if isinstance(error, (FileError, FileFormatError)) and not _is_of_row(error):
                unreadable = {error.path: said} if error.path in names else {}
            if unreadable and self._job.skip_bad_rows:
                unreadable |= self._unreadable(shard)
            return Outcome(shard.number, None, said, advice_on(error), tuple(unreadable.items()))
        except OSError as error:
            # An error of writing names no file: it is about the shard's.
            path = error.filename or self._job.made(shard.key)
            return Outcome(shard.number, None, f"cannot write {path}: {error.strerror or error}")

    def _checksum(self, read: Read) -> str:
        for _ in read_blocks(read, self._job.column, self._encoder.cut_characters, self._job.keep):
            self._heed_stop()
        return str(read.digest.hexdigest())

    def _unreadable(self, shard: Shard) -> dict[str, str]:
        """Which files of a shard cannot be read, and why: all at once, not one with each try."""
        found: dict[str, str] = {}
        for read in map(Read, shard.stretches if len(shard.stretches) > 1 else ()):
            try:
                self._checksum(read)
            except (FileError, FileFormatError) as error:
                if not is_of_machine(error):
                    found[read.stretch.file.name] = str(error).rstrip(".")
        return found

    def _heed_stop(self) -> None:
        if self._is_stopped():
            raise Stopped

    def _encode(self, key: str, reads: Sequence[Read]) -> dict[str, Any]:
        counts = dict.fromkeys(("rows", "rejected", "text_bytes", "tokens", "longest_text"), 0)
        rejects: list[dict[str, Any]] = []
        keep = self._job.keep
        is_typed = not keep or all(read.stretch.file.kind == "parquet" for read in reads)
        with self._shard_file(key, is_typed) as (path, file):
            for encoded, kept in self._encoded(reads, counts, rejects, file):
                counts["longest_text"] = max(counts["longest_text"], *encoded.lengths, 0)
                if encoded.lengths or encoded.ids or kept is not None:
                    file.write(encoded, kept)
                    counts["rows"] += len(encoded.lengths)
                    counts["tokens"] += sum(encoded.lengths)
            try:
                file.close()
            except FileFormatError as error:
                if error.path:
                    raise
                name = reads[0].stretch.file.name
                raise FileFormatError(f"{name}: {error}", path=name) from error
            counts["rejected"] = len(rejects)
            record = {"sources": [source_of(read) for read in reads], **counts}
            return self._put(key, path, record, rejects)

    @contextlib.contextmanager
    def _shard_file(self, key: str, is_typed: bool) -> Iterator[tuple[Path, ParquetShard]]:
        """The file of a shard, to be written, and its path; if that fails, nothing of it stays."""
        job = self._job
        path = job.state / f"{TEMPORARY}{os.getpid()}-{key}.parquet"
        columns = tuple(name for name in self._encoder.names if name in SMALL_COLUMNS)
        content = Content(job.fingerprint, columns, job.keep, is_typed)
        try:
            yield path, ParquetShard(path, content)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def _put(
        self, key: str, path: Path, record: dict[str, Any], rejects: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """Put the file of a shard in place, none if it has no rows; then its record."""
        job = self._job
        if record["rows"]:
            record["file"] = {"bytes": path.stat().st_size, "sha256": checksum(path)}
            os.replace(path, job.made(key))
        else:
            path.unlink()
        temporary = job.state / f"{TEMPORARY}{os.getpid()}-{key}{RECORD_SUFFIX}"
        temporary.write_text(json.dumps({**record, "rejects": rejects}), encoding="utf-8")
        with open(temporary, "rb") as written:
            flush_file(written)
        os.replace(temporary, job.record(key))
        flush_directory(job.state)
        return record

    def _encoded(
        self,
        reads: Sequence[Read],
        counts: dict[str, int],
        rejects: list[Any],
        shard_file: ParquetShard,
    ) -> Iterator[tuple[EncodedRows, Any]]:
        """The ids of a shard's texts and what is kept with them, without the rows that hold none.

        The ids of a long text come part by part.
        """
        job = self._job
        for batch, parts in read_texts(reads, job.column, self._encoder.cut_characters, job.keep):
            self._heed_stop()
            if isinstance(batch, LongText):
                bad = batch.bad_row() or (yield from self._long_row(batch, shard_file))
                counts["text_bytes"] += batch.text_bytes
                self._count(parts, ["" if bad is None else bad], rejects)
                continue
            kept, texts = batch.kept, None
            is_whole_column = not isinstance(batch.rows, list) and not batch.rows.null_count
            encoded = self._encoder.encode_column(batch.rows) if is_whole_column else None
            if encoded is None:
                texts = batch.texts(job.column)
                if set(map(type, texts)) - {str}:
                    are_texts = [isinstance(text, str) for text in texts]
                    kept = None if kept is None else kept.filter(import_pyarrow().array(are_texts))
                encoded = self._encoder.encode([text for text in texts if isinstance(text, str)])
            counts["text_bytes"] += batch.text_bytes
            self._count(parts, texts, rejects)
            yield encoded, kept

    def _long_row(
        self, text: LongText, shard_file: ParquetShard
    ) -> Generator[tuple[EncodedRows, Any], None, BadRow | None]:
        """The ids of a long text, and at their end their number; or why it cannot be a row."""
        number = 0
        columns: dict[str, bytes] = {}
        for part in self._encoder.encode_pieces(text.pieces()):
            self._heed_stop()
            number += len(part.ids) // ID_BYTES
            if number > shard_file.most_ids:
                shard_file.drop_open_row()
                told = f"a text of more than {shard_file.most_ids:,} tokens, too long for a row"
                return BadRow(f"{told} of a Parquet file; truncate it")
            columns = dict.fromkeys(part.columns, b"")
            yield part, None
        yield EncodedRows(array("i", [number]), b"", columns), None
        return None

    def _count(
        self, parts: Parts, texts: Sequence[Any] | None, rejects: list[dict[str, Any]]
    ) -> None:
        """Count the rows of a batch for what they are from; those without text are set aside.

        `texts` is None where all are.
        """
        at = 0
        for read, number in parts:
            of_read = enumerate(texts[at : at + number]) if texts is not None else ()
            odd = [(place, text) for place, text in of_read if not isinstance(text, str)]
            bad = [(place, text.reason) for place, text in odd if text != NO_ROW]
            name, first = read.stretch.file.name, read.row() if bad else 0
            for place, reason in bad:
                row = first + place
                if not self._job.skip_bad_rows:
                    told = f"{name}, {unit_of(name)} {row}: {reason}"
                    raise FileFormatError(told, path=name, line_number=row)
                rejects.append({"file": name, "row": row, "reason": reason})
            read.rows += number
            read.rejected += len(bad)
            read.blank += len(odd) - len(bad)
            at += number


def _is_of_row(error: TrietokError) -> bool:
    """Whether an error says that a row holds no text, and not that its file cannot be read."""
    return getattr(error, "line_number", None) is not None


def advice_on(error: TrietokError) -> str:
    """How the user can continue a run after an error."""
    if isinstance(error, ChangedFileError) or not isinstance(error, (FileFormatError, FileError)):
        return GOES_ON
    if "(--column)" in str(error):  # it says which there are
        anew = "with another column a run begins anew"
        return f"{anew}, and --resume --on-error skip leaves out what lacks this one"
    once = "the text is corrected" if _is_of_row(error) else "the file is repaired or taken away"
    return f"--resume continues once {once}; --resume --on-error skip continues without it"


def versions_here() -> dict[str, str]:
    """The versions on which the bytes of shards depend, by package."""
    return {"trietok": trietok.__version__, "pyarrow": import_pyarrow().__version__}


def source_of(read: Read) -> dict[str, Any]:
    """What was read for a shard, as manifests have it; which part of a file where it is one."""
    file, start, end, _ = read.stretch
    return {
        **{"name": file.name, "kind": file.kind, "size": file.size, "mtime_ns": file.mtime_ns},
        **({} if end is None else {"start": start, "end": end}),
        **{"sha256": read.digest.hexdigest(), "rows": read.rows - read.rejected - read.blank},
        "rejected": read.rejected,
    }


# ---- in a worker process -------------------------------------------------------------------------

_worker: ShardEncoder | None = None


def start_worker(job: ShardJob, stop: Any) -> None:
    """Prepare this process to encode shards."""
    global _worker
    pyarrow = import_pyarrow()  # whose other pools keep tens of megabytes of freed memory
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    _worker = ShardEncoder(job, stop.is_set)


def encode_in_worker(shard: Shard) -> Outcome:
    """Encode a shard in a process that `start_worker` made ready."""
    assert _worker is not None
    try:
        return _worker.encode(shard)
    except Stopped:
        return Outcome(shard.number, None, None)


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
