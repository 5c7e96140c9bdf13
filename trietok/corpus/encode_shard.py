"""Encodes one shard, in any process: all files of the shard are put in place, or none.

In: a `Shard`, and the `ShardJob`, which is the same for every shard of the run. Out: the shard's
files under its key in the folder of the run, and a record of them. The record is written last, so a
shard that has one is whole.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import platform
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.manifest import PART
from trietok.corpus.row_encoder import ID_BYTES, IDS, SMALL_COLUMNS, EncodedRows, RowEncoder
from trietok.corpus.shard_files import Content, FlatShard, MdsShard, ParquetShard
from trietok.corpus.shard_plan import Shard
from trietok.corpus.text_inputs import (
    ChangedFileError,
    LongText,
    Parts,
    Read,
    read_blocks,
    read_texts,
)
from trietok.disk import TEMPORARY, checksum, flush_directory, flush_file, put_in_place
from trietok.errors import FileError, FileFormatError, TemporaryError, TrietokError, is_passing
from trietok.files.stores import Place
from trietok.files.tables import import_pyarrow
from trietok.files.text_rows import BadRow


class Blocks:
    """Joins rows, with the special tokens that are in them, and cuts the run every `length` ids.

    >>> blocks = Blocks(2)
    >>> blocks.add(EncodedRows(array("i", [3]), bytes(4 * 3), {})).lengths, blocks.end().lengths
    (array('i', [2]), array('i', [1]))
    """

    def __init__(self, length: int) -> None:
        self._length = length
        self._rest: bytes | bytearray = b""
        self._rests: dict[str, bytes] = {}

    def add(self, rows: EncodedRows) -> EncodedRows:
        """The blocks that some more rows complete."""
        run = self._rest + rows.ids
        number = len(run) // (self._length * ID_BYTES)
        cut = number * self._length
        self._rest = run[cut * ID_BYTES :]
        columns = {name: self._rests.get(name, b"") + more for name, more in rows.columns.items()}
        self._rests = {name: run[cut:] for name, run in columns.items()}
        complete = {name: run[:cut] for name, run in columns.items()}
        return EncodedRows(array("i", [self._length] * number), run[: cut * ID_BYTES], complete)

    def end(self) -> EncodedRows:
        """What is left: one shorter block, or none."""
        left = len(self._rest) // ID_BYTES
        return EncodedRows(array("i", [left] if left else []), self._rest, self._rests)


STATE_FOLDER = ".trietok-encode"
RECORD_SUFFIX = ".record.json"  # how the name of a shard's record ends
GOES_ON = "--resume continues"


class ShardJob(NamedTuple):
    """The options with which every shard of a run is encoded."""

    tokenizer: Any
    out: Path  # the directory of the corpus; where that is in a store, one for unfinished files
    store: Place | None
    column: str  # of Parquet files, or the field of JSON objects, with the texts
    call_options: dict[str, Any]  # of the tokenizer's call
    file_format: str  # one of `shard_files.FORMATS`
    pack: int | None  # ids of a block; None for a row a text
    drop_last: bool  # what shards have behind their last whole blocks goes into blocks of all
    keep: tuple[str, ...]  # columns that are carried through to the rows of their texts
    skip_bad_rows: bool  # rows without text are skipped and listed; else they raise an error
    fingerprint: str  # the tokenizer's

    @property
    def name(self) -> str:
        """Where the corpus shall be, for the user to read."""
        return str(self.out) if self.store is None else self.store.name

    @property
    def state(self) -> Path:
        """The folder of unfinished files and of records."""
        return self.out / STATE_FOLDER

    def record(self, key: str) -> Path:
        """The path of a shard's record."""
        return self.state / f"{key}{RECORD_SUFFIX}"

    def put_in_store(self, key: str, suffixes: Iterable[str]) -> None:
        """Have a shard that is finished in a store: its files, and its record last."""
        if self.store is None:
            return
        put = {self.state / f"{key}{suffix}": f"{PART}{key}{suffix}" for suffix in suffixes}
        put[self.record(key)] = f"{STATE_FOLDER}/{self.record(key).name}"
        try:
            for path, name in put.items():
                if path.exists():
                    self.store.put(path, name)
        finally:
            for path in put:
                path.unlink(missing_ok=True)


class Outcome(NamedTuple):
    """The result of encoding a shard."""

    number: int
    record: dict[str, Any] | None  # what its record holds; None where it failed
    error: str | None  # why it failed, for the user to read
    advice: str = GOES_ON  # how the user can continue the run then
    unreadable: tuple[tuple[str, str], ...] = ()  # its files that cannot be read, and why
    same: tuple[str, ...] | None = None  # the known checksums that it has; nothing was encoded
    is_temporary: bool = False  # whether the reason passes, and says nothing of its files


class Stopped(Exception):
    """The run is to end; the shard was not finished."""


class ShardEncoder:
    """Encodes the shards of a run; `is_stopped` is asked between batches, and ends in `Stopped`."""

    def __init__(
        self,
        job: ShardJob,
        is_stopped: Callable[[], bool] = lambda: False,
        encoder: RowEncoder | None = None,
    ) -> None:
        self._job = job
        self._is_stopped = is_stopped
        self._encoder = RowEncoder(job.tokenizer, job.call_options) if encoder is None else encoder
        self._encoder.threads = None  # workers are what a run has threads or processes for

    def encode(self, shard: Shard) -> Outcome:
        """Put a shard's files in place; or see that there is a shard of the same already."""
        reads = [Read(stretch) for stretch in shard.stretches]
        try:
            if shard.known:
                checksums = tuple(self._checksum(read) for read in map(Read, shard.stretches))
                if checksums in shard.known:
                    return Outcome(shard.number, None, None, same=checksums)
            return Outcome(shard.number, self._encode(shard.key, reads), None)
        except TrietokError as error:
            said, names = str(error).rstrip("."), {stretch.file.name for stretch in shard.stretches}
            unreadable, is_temporary = {}, isinstance(error, TemporaryError)
            if isinstance(error, (FileError, FileFormatError)) and not _is_of_row(error):
                unreadable = {error.path: said} if error.path in names else {}
            if unreadable and self._job.skip_bad_rows:
                try:
                    unreadable |= self._unreadable(shard)
                except TemporaryError as trouble:
                    unreadable, said, is_temporary = {}, str(trouble).rstrip("."), True
            advice, files = GOES_ON if is_temporary else advice_on(error), tuple(unreadable.items())
            return Outcome(shard.number, None, said, advice, files, is_temporary=is_temporary)
        except OSError as error:
            # An error of writing names no file: it is about the shard's.
            path = error.filename or self._job.state / shard.key
            said = f"cannot write {path}: {error.strerror or error}"
            return Outcome(shard.number, None, said, is_temporary=is_passing(error))

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
                found[read.stretch.file.name] = str(error).rstrip(".")
        return found

    def _heed_stop(self) -> None:
        if self._is_stopped():
            raise Stopped

    def _encode(self, key: str, reads: Sequence[Read]) -> dict[str, Any]:
        job = self._job
        blocks = None if job.pack is None else Blocks(job.pack)
        names = ("rows", "rejected", "texts", "text_bytes", "tokens", "longest_text")
        counts = dict.fromkeys(names, 0)
        rejects: list[dict[str, Any]] = []
        rest: EncodedRows | None = None
        is_typed = not job.keep or all(read.stretch.file.kind == "parquet" for read in reads)
        with self._shard_files(key, is_typed) as files:
            of_rows = files if blocks is None else None
            for encoded, kept in self._encoded(reads, counts, rejects, of_rows):
                counts["texts"] += len(encoded.lengths)
                counts["longest_text"] = max(counts["longest_text"], *encoded.lengths, 0)
                self._write(files, counts, blocks.add(encoded) if blocks else encoded, kept)
            if blocks:
                rest = blocks.end()
                if not job.drop_last:
                    self._write(files, counts, rest)
            try:
                files.close()
            except FileFormatError as error:
                if error.path:
                    raise
                name = reads[0].stretch.file.name
                raise FileFormatError(f"{name}: {error}", path=name) from error
            counts["rejected"] = len(rejects)
            record = {"sources": [source_of(read) for read in reads], **counts}
            if blocks:
                record["dropped_tokens"] = 0
            if rest is not None and job.drop_last and rest.ids:
                columns = {IDS: bytes(rest.ids), **rest.columns}
                encoded_runs = {name: base64.b64encode(run) for name, run in columns.items()}
                record["rest"] = {name: run.decode() for name, run in encoded_runs.items()}
            return self._put(key, files, record, rejects)

    def encode_rests(self, key: str, rests: Iterable[dict[str, str]]) -> dict[str, Any]:
        """Put the shard in place that has the blocks of what others have behind their last."""
        assert self._job.pack is not None
        blocks, counts = Blocks(self._job.pack), dict.fromkeys(("rows", "tokens"), 0)
        nothing = dict.fromkeys(("rejected", "texts", "text_bytes", "longest_text"), 0)
        with self._shard_files(key, is_typed=True) as files:
            for rest in rests:
                columns = {name: base64.b64decode(run) for name, run in rest.items()}
                self._write(
                    files, counts, blocks.add(EncodedRows(array("i"), columns.pop(IDS), columns))
                )
            files.close()
            record = {"sources": [], **counts, **nothing}
            record["dropped_tokens"] = len(blocks.end().ids) // ID_BYTES
            return self._put(key, files, record)

    @contextlib.contextmanager
    def _shard_files(self, key: str, is_typed: bool) -> Iterator[Any]:
        """The files of a shard, to be written; where that fails nothing of them is left."""
        job = self._job
        # An engine may have the same shard encoded twice, on machines that share the directory.
        begun = f"{TEMPORARY}{os.getpid()}-{platform.node()}-{key}"
        columns = tuple(name for name in self._encoder.names if name in SMALL_COLUMNS)
        content = Content(job.fingerprint, columns, job.keep, is_typed)
        try:
            if job.file_format == "parquet":
                yield ParquetShard(job.state, begun, content)
            elif job.file_format == "mds":
                yield MdsShard(job.state, begun, content)
            else:
                yield FlatShard(job.state, begun, content, job.file_format)
        except BaseException:
            # by their names: an interrupt may come while they are opened
            for path in job.state.glob(f"{begun}[.-]*"):
                path.unlink(missing_ok=True)
            raise

    def _put(
        self, key: str, files: Any, record: dict[str, Any], rejects: Sequence[dict[str, Any]] = ()
    ) -> dict[str, Any]:
        """Put the files of a shard in place, none where it has no rows; then its record."""
        job, made = self._job, record["rows"]
        record["files"] = [
            {"suffix": suffix, "bytes": path.stat().st_size, "sha256": checksum(path)}
            for suffix, path in (files.paths.items() if made else ())
        ]
        for suffix, path in files.paths.items():
            if made:
                put_in_place(path, job.state / f"{key}{suffix}")
            else:
                path.unlink()
        temporary = job.state / f"{TEMPORARY}{os.getpid()}-{platform.node()}-{key}{RECORD_SUFFIX}"
        temporary.write_text(json.dumps({**record, "rejects": rejects}), encoding="utf-8")
        flush_file(temporary)
        os.replace(temporary, job.record(key))
        flush_directory(job.state)
        job.put_in_store(key, files.paths)
        return record

    def _write(
        self, files: Any, counts: dict[str, int], rows: EncodedRows, kept: Any = None
    ) -> None:
        if rows.lengths or rows.ids or kept is not None:
            files.write(rows, kept)
            counts["rows"] += len(rows.lengths)
            counts["tokens"] += sum(rows.lengths)

    def _encoded(
        self, reads: Sequence[Read], counts: dict[str, int], rejects: list[Any], files: Any
    ) -> Iterator[tuple[EncodedRows, Any]]:
        """The ids of a shard's texts and what is kept with them, without the rows that hold none.

        The ids of a long text come part by part.
        """
        job = self._job
        for batch, parts in read_texts(reads, job.column, self._encoder.cut_characters, job.keep):
            self._heed_stop()
            if isinstance(batch, LongText):
                bad = batch.bad_row() or (yield from self._long_row(batch, files))
                counts["text_bytes"] += batch.text_bytes
                self._count(parts, ["" if bad is None else bad], rejects)
                continue
            kept, texts = batch.kept, None
            is_whole_column = not isinstance(batch.rows, list) and not batch.rows.null_count
            encoded = self._encoder.encode_column(batch.rows) if is_whole_column else None
            if encoded is None:
                texts = batch.texts()
                if set(map(type, texts)) - {str}:
                    are_texts = [isinstance(text, str) for text in texts]
                    kept = None if kept is None else kept.filter(import_pyarrow().array(are_texts))
                encoded = self._encoder.encode([text for text in texts if isinstance(text, str)])
            counts["text_bytes"] += batch.text_bytes
            self._count(parts, texts, rejects)
            yield encoded, kept

    def _long_row(
        self, text: LongText, files: Any
    ) -> Generator[tuple[EncodedRows, Any], None, BadRow | None]:
        """The ids of a long text, and at their end their number; or why it cannot be a row."""
        number = 0
        most = None if files is None else files.most_ids
        columns: dict[str, bytes] = {}
        for part in self._encoder.encode_pieces(text.pieces()):
            self._heed_stop()
            number += len(part.ids) // ID_BYTES
            if most is not None and number > most:
                files.drop_open_row()
                told = f"a text of more than {most:,} tokens, too long for a row of a Parquet file"
                return BadRow(f"{told}; the formats npy and bin, pack or truncation take it")
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
            bad = [(place, text.reason) for place, text in of_read if not isinstance(text, str)]
            name, first = read.stretch.file.name, read.row() if bad else 0
            for place, reason in bad:
                row = first + place
                if not self._job.skip_bad_rows:
                    told = f"{name}, row {row}: {reason}"
                    raise FileFormatError(told, path=name, line_number=row)
                rejects.append({"file": name, "row": row, "reason": reason})
            read.rows += number
            read.rejected += len(bad)
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
    once = "the row is corrected" if _is_of_row(error) else "the file is repaired or taken away"
    return f"--resume continues once {once}; --resume --on-error skip continues without it"


def versions_here() -> dict[str, str]:
    """The versions on which the bytes of shards depend, by package."""
    import trietok

    return {"trietok": trietok.__version__, "pyarrow": import_pyarrow().__version__}


def source_of(read: Read) -> dict[str, Any]:
    """What was read for a shard, as manifests have it; which part of a file where it is one."""
    file, start, end, _ = read.stretch
    return {
        **{"name": file.name, "kind": file.kind, "size": file.size, "mtime_ns": file.mtime_ns},
        **({} if end is None else {"start": start, "end": end}),
        **{"sha256": read.digest.hexdigest(), "texts": read.rows - read.rejected},
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
