"""Encodes one shard, in any process: all files of the shard are put in place, or none.

In: a `Shard`, and the `ShardJob`, which is the same for every shard of the run. Out: the shard's files under its key in
the folder of the run, and a record of them. The record is written last, so a shard that has one is whole.
"""

from __future__ import annotations

import json
import os
import platform
from array import array
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.row_encoder import ID_BYTES, SMALL_COLUMNS, RowEncoder, Rows
from trietok.corpus.shard_files import Content, open_shard
from trietok.corpus.shard_plan import Shard, Stretch
from trietok.corpus.text_inputs import ChangedFileError, LongText, check_unchanged, first_row, read_texts
from trietok.disk import TEMPORARY, checksum, put_in_place, replacing
from trietok.errors import FileError, FileFormatError, TrietokError
from trietok.files.elsewhere import Place
from trietok.files.texts import BadRow, TextFile, import_pyarrow


class Blocks:
    """Joins rows, with the special tokens that are in them, and cuts the run every `length` ids.

    With `drop_last`, a last block that is shorter is left out; `dropped` says how many ids it had.

    >>> blocks = Blocks(2)
    >>> blocks.add(Rows(array("i", [3]), bytes(4 * 3), {"attention_mask": b"\\1\\1\\1"}))
    Rows(lengths=array('i', [2]), ids=b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00',
         columns={'attention_mask': b'\\x01\\x01'}, offsets=None, samples=None, overflow=None)
    >>> blocks.end().lengths
    array('i', [1])
    """

    def __init__(self, length: int, drop_last: bool = False) -> None:
        self._length = length
        self._drop_last = drop_last
        self._rest: bytes | bytearray = b""
        self._rests: dict[str, bytes] = {}
        self.dropped = 0

    def add(self, rows: Rows) -> Rows:
        """The blocks that some more rows complete."""
        run = self._rest + rows.ids
        number = len(run) // (self._length * ID_BYTES)
        cut = number * self._length
        self._rest = run[cut * ID_BYTES :]
        columns = {name: self._rests.get(name, b"") + more for name, more in rows.columns.items()}
        self._rests = {name: run[cut:] for name, run in columns.items()}
        complete = {name: run[:cut] for name, run in columns.items()}
        return Rows(array("i", [self._length] * number), run[: cut * ID_BYTES], complete)

    def end(self) -> Rows:
        """What is left: one shorter block, or none."""
        rest, rests = self._rest, self._rests
        self._rest, self._rests = b"", {}
        left = len(rest) // ID_BYTES
        if self._drop_last:
            self.dropped += left
            return Rows(array("i"), b"", dict.fromkeys(rests, b""))
        return Rows(array("i", [left] if left else []), rest, rests)


STATE_FOLDER = ".trietok-encode"
RECORD, REJECTED = ".record.json", ".rejects.jsonl"  # how the names of a shard's record and of its bad rows end
PART = "part-"
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
    drop_last: bool  # whether a shard's last block is left out where it is shorter
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
        return self.state / f"{key}{RECORD}"

    def rejects(self, key: str) -> Path:
        """The path of a shard's rows without text."""
        return self.state / f"{key}{REJECTED}"

    def put_in_store(self, key: str, suffixes: Iterable[str]) -> None:
        """Have a shard that is finished in a store: its files, its rows without text, and its record last."""
        if self.store is None:
            return
        put = {self.state / f"{key}{suffix}": f"{PART}{key}{suffix}" for suffix in suffixes}
        put |= {path: f"{STATE_FOLDER}/{path.name}" for path in (self.rejects(key), self.record(key))}
        try:
            for path, name in put.items():
                if path.exists():
                    self.store.put(path, name)
        finally:
            for path in put:
                path.unlink(missing_ok=True)

    def spool(self, number: int) -> Path:
        """A path for the lines of a shard of a compressed file, of this process."""
        return self.state / f"spool-{number:05}-{os.getpid()}"


class Outcome(NamedTuple):
    """The result of encoding a shard."""

    number: int
    record: dict[str, Any] | None  # what its record holds; None where it failed
    error: str | None  # why it failed, for the user to read
    advice: str = GOES_ON  # how the user can continue the run then
    is_of_file: bool = False  # its file cannot be read, so all of the file is of no use


class Stopped(Exception):
    """The run is to end; the shard was not finished."""


class ShardEncoder:
    """Encodes the shards of a run with one tokenizer; `is_stopped` is asked between batches, and ends in `Stopped`."""

    def __init__(
        self, job: ShardJob, is_stopped: Callable[[], bool] = lambda: False, encoder: RowEncoder | None = None
    ) -> None:
        self._job = job
        self._is_stopped = is_stopped
        self._encoder = RowEncoder(job.tokenizer, job.call_options) if encoder is None else encoder
        self._encoder.threads = None  # workers are what a run has threads or processes for

    def encode(self, shard: Shard) -> Outcome:
        """Put a shard's files in place."""
        try:
            return Outcome(shard.number, self._encode(shard), None)
        except TrietokError as error:
            of_file = is_of_file(error, shard.stretch.file.name)
            return Outcome(shard.number, None, str(error).rstrip("."), advice_on(error), of_file)
        except OSError as error:
            reason = error.strerror or str(error)
            # An error of reading names its file. An error of writing names none: it is about the shard's files.
            path = error.filename or self._job.state / shard.key
            return Outcome(shard.number, None, f"cannot write {path}: {reason}")
        finally:
            shard.stretch.forget_spool()

    def _encode(self, shard: Shard) -> dict[str, Any]:
        job = self._job
        file_read = shard.stretch.file
        check_unchanged(file_read)
        blocks = None if job.pack is None else Blocks(job.pack, job.drop_last)
        counts = dict.fromkeys(("rows", "rejected", "texts", "text_bytes", "tokens", "longest_text"), 0)
        rejects: list[dict[str, Any]] = []
        # An engine may have the same shard encoded twice, on machines that share the directory.
        begun = f"{TEMPORARY}{os.getpid()}-{platform.node()}-{shard.key}"
        try:
            columns = tuple(name for name in self._encoder.names if name in SMALL_COLUMNS)
            is_typed = file_read.kind == "parquet" or not job.keep
            content = Content(job.fingerprint, columns, job.keep, is_typed)
            files = open_shard(job.state, begun, job.file_format, content)
            for encoded, kept in self._encoded(shard, counts, rejects, files if blocks is None else None):
                counts["texts"] += len(encoded.lengths)
                counts["longest_text"] = max(counts["longest_text"], max(encoded.lengths, default=0))
                self._write(files, counts, blocks.add(encoded) if blocks else encoded, kept)
            if blocks:
                self._write(files, counts, blocks.end())
            try:
                files.close()
            except FileFormatError as error:
                if error.path:
                    raise
                raise FileFormatError(f"{file_read.name}: {error}", path=file_read.name) from error
            check_unchanged(file_read)
            counts["rejected"] = len(rejects)
            record = {
                "input": input_of(file_read, shard.sha256),
                **counts,
                **({"dropped_tokens": blocks.dropped} if blocks else {}),
                "files": [
                    {"suffix": suffix, "bytes": path.stat().st_size, "sha256": checksum(path)}
                    for suffix, path in files.paths.items()
                ],
            }
            if rejects:
                write_whole(job.rejects(shard.key), "".join(json.dumps(row) + "\n" for row in rejects))
            for suffix, path in files.paths.items():
                put_in_place(path, job.state / f"{shard.key}{suffix}")
        except BaseException:
            for path in job.state.glob(f"{begun}[.-]*"):  # by their names: an interrupt may come while they are opened
                path.unlink(missing_ok=True)
            raise
        # Neither the names nor the record are flushed: what a power failure takes of them is a shard to make again.
        temporary = job.state / f"{begun}{RECORD}"
        temporary.write_text(json.dumps(record), encoding="utf-8")
        os.replace(temporary, job.record(shard.key))
        job.put_in_store(shard.key, files.paths)
        return record

    def _write(self, files: Any, counts: dict[str, int], rows: Rows, kept: Any = None) -> None:
        if rows.lengths or rows.ids or kept is not None:
            files.write(rows, kept)
            counts["rows"] += len(rows.lengths)
            counts["tokens"] += sum(rows.lengths)

    def _encoded(
        self, shard: Shard, counts: dict[str, int], rejects: list[dict[str, Any]], files: Any
    ) -> Iterator[tuple[Rows, Any]]:
        """The ids of a shard's texts and what is kept with them, without the rows that hold none.

        The ids of a long text come part by part.
        """
        stretch, read = shard.stretch, 0
        for batch in read_texts(stretch, self._job.column, self._encoder.cut_characters, self._job.keep):
            if self._is_stopped():
                raise Stopped
            if isinstance(batch, LongText):
                bad = batch.bad_row() or (yield from self._long_row(batch, files))
                if bad is not None:
                    self._set_aside(stretch, read, [bad], rejects)
                counts["text_bytes"] += batch.text_bytes
                read += 1
                continue
            kept = batch.kept
            is_whole_column = not isinstance(batch.rows, list) and not batch.rows.null_count
            encoded = self._encoder.encode_column(batch.rows) if is_whole_column else None
            if encoded is None:
                texts = batch.texts()
                if set(map(type, texts)) - {str}:
                    self._set_aside(stretch, read, texts, rejects)
                    are_texts = [isinstance(text, str) for text in texts]
                    kept = None if kept is None else kept.filter(import_pyarrow().array(are_texts))
                    texts = [text for text in texts if isinstance(text, str)]
                encoded = self._encoder.encode(texts)
            counts["text_bytes"] += batch.text_bytes
            read += len(batch.rows)
            yield encoded, kept

    def _long_row(self, text: LongText, files: Any) -> Generator[tuple[Rows, Any], None, BadRow | None]:
        """The ids of a long text, and at their end how many there are; returns why it cannot be a row, if it cannot."""
        number = 0
        most = None if files is None else files.most_ids
        columns: dict[str, bytes] = {}
        for part in self._encoder.encode_pieces(text.pieces()):
            if self._is_stopped():
                raise Stopped
            number += len(part.ids) // ID_BYTES
            if most is not None and number > most:
                files.drop_open_row()
                return BadRow(
                    f"a text of more than {most:,} tokens, too long for a row of a Parquet file; the formats npy and "
                    "bin, pack or truncation take it"
                )
            columns = dict.fromkeys(part.columns, b"")
            yield part, None
        yield Rows(array("i", [number]), b"", columns), None
        return None

    def _set_aside(self, stretch: Stretch, read: int, texts: list[Any], rejects: list[dict[str, Any]]) -> None:
        before = first_row(stretch) + read + 1
        for number, text in enumerate(texts):
            if isinstance(text, str):
                continue
            row = before + number
            if not self._job.skip_bad_rows:
                name = stretch.file.name
                raise FileFormatError(f"{name}, row {row}: {text.reason}", path=name, line_number=row)
            rejects.append({"row": row, "reason": text.reason})


def is_of_file(error: TrietokError, name: str) -> bool:
    """Whether an error says that a file cannot be read, and not that one of its rows holds no text."""
    is_of_row = getattr(error, "line_number", None) is not None
    return isinstance(error, (FileError, FileFormatError)) and error.path == name and not is_of_row


def advice_on(error: TrietokError) -> str:
    """How the user can continue a run after an error."""
    if isinstance(error, ChangedFileError) or not isinstance(error, (FileFormatError, FileError)):
        return GOES_ON
    is_of_row = getattr(error, "line_number", None) is not None
    once = "the row is corrected" if is_of_row else "the file is repaired or taken away"
    return f"--resume continues once {once}; --resume --on-error skip continues without it"


def versions_here() -> dict[str, str]:
    """The versions on which the bytes of shards depend, by package."""
    import trietok

    return {"trietok": trietok.__version__, "pyarrow": import_pyarrow().__version__}


def input_of(file: TextFile, sha256: str) -> dict[str, Any]:
    """A file that was read, as records and the manifest have it."""
    return {"name": file.name, "size": file.size, "mtime_ns": file.mtime_ns, "sha256": sha256, "kind": file.kind}


def write_whole(path: Path, text: str) -> None:
    """Replace a file of a run, whole or not at all; a full disk is an `OSError` that names it."""
    with replacing(path, clears=False) as file:  # a run clears its folder by itself
        file.write(text.encode("utf-8"))


# ---- in a worker process --------------------------------------------------------------------------------------------

_worker: ShardEncoder | None = None


def start_worker(job: ShardJob, stop: Any) -> None:
    """Prepare this process to encode shards."""
    global _worker
    pyarrow = import_pyarrow()
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())  # other pools keep tens of megabytes of freed memory
    _worker = ShardEncoder(job, stop.is_set)


def encode_in_worker(shard: Shard) -> Outcome:
    """Encode a shard in a process that `start_worker` made ready."""
    assert _worker is not None
    try:
        return _worker.encode(shard)
    except Stopped:
        return Outcome(shard.number, None, None)
