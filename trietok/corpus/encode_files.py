"""`encode_files`: the files of a corpus to files of ids, shard by shard, on all cores, to be resumed.

In: files, a tokenizer, a directory. Out: the shards in the directory and `manifest.json`, which lists them and
the files and options they were made from; `rejects.jsonl` if rows without text were skipped.

While it runs, a folder in the directory holds the plan and a record of each finished shard. Shards, and what is in
them, follow from the plan alone: not from how many workers there were, nor from how often the run was begun.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.encode_shard import (
    REJECTS,
    STATE_FOLDER,
    Outcome,
    ShardEncoder,
    ShardJob,
    full_disk_reported,
    refuse_other_files,
    write_whole,
)
from trietok.corpus.row_encoder import RowEncoder
from trietok.corpus.shard_files import FORMATS
from trietok.corpus.shard_plan import Shard, check_columns, first_difference, plan_shards
from trietok.corpus.shard_pool import run_in_pool, run_in_threads
from trietok.corpus.text_inputs import check_unchanged, find_inputs
from trietok.errors import FileError, InputError, OptionError
from trietok.files.saves.lock import DirectoryBusyError, alone
from trietok.files.text_rows import TextFile, import_pyarrow
from trietok.files.whole import TEMPORARY, flush_directory, put_in_place, replacing
from trietok.worker_pool import refuse_while_starting

MANIFEST, PLAN = "manifest.json", "plan.json"
MANIFEST_FORMAT = "trietok-corpus-1"
SHARD_BYTES = 16_000_000
_IDENTITY = ("name", "size", "mtime_ns")  # of an input file: what tells it from the same file with other content
_COUNTS = ("rows", "tokens", "texts", "text_bytes", "rejected", "dropped_tokens")


class Progress(NamedTuple):
    """How far a run is.

    Attributes:
        done_bytes, all_bytes: bytes of the files, before unpacking: those done, and all.
        text_bytes, tokens: bytes of text read and tokens written, in this run alone.
        shards: finished ones.
    """

    done_bytes: int
    all_bytes: int
    text_bytes: int
    tokens: int
    shards: int


def encode_files(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    tokenizer: Any,
    *,
    column: str = "text",
    workers: int | None = None,
    file_format: str = "parquet",
    pack: int | None = None,
    drop_last: bool = False,
    on_error: str = "fail",
    resume: bool = False,
    shard_bytes: int = SHARD_BYTES,
    progress: Callable[[Progress], None] | None = None,
    **call_options: Any,
) -> dict[str, Any]:
    """Encode the texts of files into files of ids.

    Args:
        files: paths and globs, or one: `.parquet`; `.jsonl` and `.txt`, a row a line, also as `.gz` or `.zst`.
        out: a directory that is empty or not there yet; with `resume`, one that a run has begun.
        tokenizer: encodes the texts.
        column: the column of Parquet files, or the field of JSON objects, with the texts.
        workers: how many shards are encoded at once; None for one per core. They are threads where the compiled kernel
            encodes the texts, else processes. Processes import the program's main module, so a script calls this under
            `if __name__ == "__main__":`.
        file_format: `"parquet"`, `"npy"` or `"bin"`; see `trietok.corpus.shard_files`.
        pack: join the texts of a shard, with their special tokens, and cut them into rows of so many ids.
        drop_last: with `pack`, leave out the last row of a shard where it is shorter.
        on_error: `"fail"`, or `"skip"` to keep aside rows that hold no text.
        resume: continue the run that `out` holds, on the same files. `on_error` may differ from that run's.
        shard_bytes: about how much text a shard has, in bytes; of Parquet, as the file encodes it, so more where it
            holds repeated texts once.
        progress: called after each finished shard.
        **call_options: `add_special_tokens`, `truncation`, `max_length`, ... of the tokenizer's call.

    Returns:
        What is in `manifest.json`.

    Raises:
        FileError, FileFormatError: a file cannot be read or written, or a row holds no text; shards that are finished
            stay.
        InputError: the files, the options or what is in `out` do not fit, or the workers cannot be started.
        TrietokError: a worker process has died.

    >>> import pathlib, tempfile, trietok
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("The people\\nof the United States\\n")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> manifest = encode_files([folder / "a.txt"], folder / "ids", tokenizer, workers=1)
    >>> manifest["totals"]["rows"], manifest["totals"]["tokens"]
    (2, 10)
    """
    import_pyarrow()
    _check_options(file_format, pack, drop_last, on_error, shard_bytes, workers)
    workers = workers or _cores()
    options = {**call_options, "return_token_type_ids": False, "return_attention_mask": False, "verbose": False}
    encoder = RowEncoder(tokenizer, options)
    names = encoder.names
    in_threads = workers > 1 and encoder.make_kernel()
    if workers > 1 and not in_threads:
        refuse_while_starting("workers")
    if len(names) > 1:
        raise OptionError(f"files hold ids alone; leave out what asks for {names[1]}", name=names[1])
    inputs = find_inputs(files)
    check_columns(inputs, column)
    from trietok.tokenizer.fingerprint import fingerprint

    job = ShardJob(
        tokenizer=tokenizer,
        out=Path(out),
        column=column,
        call_options=options,
        file_format=file_format,
        pack=pack,
        drop_last=drop_last,
        skip_bad_rows=on_error == "skip",
        fingerprint=fingerprint(tokenizer),
    )
    return _Run(job, inputs, call_options, shard_bytes, progress).run(resume, workers, in_threads)


def _check_options(
    file_format: str, pack: int | None, drop_last: bool, on_error: str, shard_bytes: int, workers: int | None
) -> None:
    for name, value, known in (("file_format", file_format, FORMATS), ("on_error", on_error, ("fail", "skip"))):
        if value not in known:
            raise InputError(f"{name} is {value!r}; select one of {list(known)}")
    for name, number in (("pack", pack), ("shard_bytes", shard_bytes), ("workers", workers)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
            raise InputError(f"{name} is {number!r}; it is a whole number from 1")
    if drop_last and pack is None:
        raise InputError("drop_last goes with pack")


def _cores() -> int:
    with contextlib.suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Run:
    def __init__(
        self,
        job: ShardJob,
        inputs: list[TextFile],
        call_options: dict[str, Any],
        shard_bytes: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._job = job
        self._inputs = inputs
        self._shard_bytes = shard_bytes
        self._progress = progress
        self._plan = self._plan_of(call_options)
        self._records: dict[int, dict[str, Any]] = {}
        self._number_of_shards = 0
        self._state = Progress(0, sum(file.size for file in inputs), 0, 0, 0)

    def _plan_of(self, call_options: dict[str, Any]) -> dict[str, Any]:
        """Everything that the content of the shards depends on."""
        import trietok

        job = self._job
        return {
            "format": MANIFEST_FORMAT,
            "trietok": trietok.__version__,
            "pyarrow": import_pyarrow().__version__,
            "tokenizer": {"class": type(job.tokenizer).__name__, "fingerprint": job.fingerprint},
            "options": {
                "column": job.column,
                "file_format": job.file_format,
                "pack": job.pack,
                "drop_last": job.drop_last,
                "shard_bytes": self._shard_bytes,
                "call": {name: str(value) for name, value in sorted(call_options.items())},
            },
            "inputs": [{name: getattr(file, name) for name in _IDENTITY} for file in self._inputs],
        }

    def run(self, resume: bool, workers: int, in_threads: bool) -> dict[str, Any]:
        self._make_directory()
        with self._alone(), full_disk_reported(self._job.out):
            self._agree(resume)
            manifest = self._earlier_manifest()
            if manifest is None or self._is_to_be_mended(manifest):
                self._clear()
                self._encode(workers, in_threads)
                manifest = self._finish()
            shutil.rmtree(self._job.state, ignore_errors=True)
        return manifest

    # ---- what `out` holds already -----------------------------------------------------------------------------------

    def _make_directory(self) -> None:
        out = self._job.out
        try:
            out.mkdir(parents=True, exist_ok=True)
            there = {path.name for path in out.iterdir()}
            if there and not there & {STATE_FOLDER, MANIFEST}:
                raise InputError(f"{out} holds {min(there)!r}, which is of no run; give an empty directory")
            self._job.state.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot write to {out}: {error.strerror}", path=out) from error

    def _agree(self, resume: bool) -> None:
        """Check that the directory holds this run; a run without a finished shard may be replaced by another."""
        out, state = self._job.out, self._job.state
        if (out / MANIFEST).exists() or any(map(_is_record, state.iterdir())):
            if not resume:
                raise InputError(f"{out} holds a run already; resume it (--resume), or give another directory")
            self._compare(out / MANIFEST if (out / MANIFEST).exists() else state / PLAN)
        else:
            if not self._is_planned(state / PLAN):  # else they are of a shard whose record was still to come
                refuse_other_files(out, [])
            write_whole(state / PLAN, json.dumps(self._plan))

    def _is_planned(self, path: Path) -> bool:
        try:
            planned: bool = json.loads(path.read_text(encoding="utf-8")) == self._plan
        except (OSError, ValueError):
            return False
        return planned

    def _compare(self, path: Path) -> None:
        """Raise if the run in the directory has another plan."""
        try:
            earlier = json.loads(path.read_text(encoding="utf-8"))
            changed = [name for name, value in self._plan.items() if earlier.get(name) != value]
        except (OSError, ValueError, AttributeError):
            raise InputError(f"{path} is missing or damaged; encode into another directory") from None
        if changed:
            name, was, now = first_difference(changed[0], earlier.get(changed[0]), self._plan[changed[0]])
            raise InputError(
                f"{self._job.out} holds a run that differs in its {name}: it was {was} and is {now}; encode into "
                "another directory"
            )

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One run at a time in a directory."""
        try:
            with alone(self._job.state, longest_wait=0):
                yield
        except DirectoryBusyError as error:
            raise InputError(f"another run is at work in {self._job.out}, {error}; wait for its end") from None

    def _earlier_manifest(self) -> dict[str, Any] | None:
        path = self._job.out / MANIFEST
        if not path.exists():
            return None
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        refuse_other_files(self._job.out, manifest["shards"])
        return manifest

    def _is_to_be_mended(self, manifest: dict[str, Any]) -> bool:
        """Whether files of a finished run are missing; then the other files are kept.

        Shards with skipped rows are made again: the list of those rows for each shard exists only then.
        """
        shards = manifest["shards"]
        rejects = not manifest["totals"]["rejected"] or (self._job.out / REJECTS).is_file()
        if rejects and all(map(self._are_there, shards)):
            return False
        kept = enumerate(shards)
        self._records = {number: shard for number, shard in kept if self._are_there(shard) and not shard["rejected"]}
        return True

    def _clear(self) -> None:
        """Remove unfinished files; read the records of the finished shards."""
        state = self._job.state
        for path in sorted(state.iterdir()):
            if path.name.startswith((TEMPORARY, "spool-")):
                path.unlink(missing_ok=True)
            elif _is_record(path):
                record = json.loads(path.read_text(encoding="utf-8"))
                if self._are_there(record):
                    self._records[int(path.stem)] = record

    def _are_there(self, record: dict[str, Any]) -> bool:
        for file in record["files"]:
            path = self._job.out / file["name"]
            if not path.is_file() or path.stat().st_size != file["bytes"]:
                return False
        return True

    # ---- the work ---------------------------------------------------------------------------------------------------

    def _encode(self, workers: int, in_threads: bool) -> None:
        job = self._job
        failures: list[Outcome] = []

        def finished(shard: Shard, outcome: Outcome) -> None:
            if outcome.record is None:
                failures.append(outcome)
            else:
                self._records[shard.number] = outcome.record
                self._note(shard, outcome.record)

        todo = self._shards_to_do()
        first_two = list(itertools.islice(todo, 2))
        todo = itertools.chain(first_two, todo)
        if workers == 1 or len(first_two) < 2:
            encoder = ShardEncoder(job)
            for shard in todo:
                finished(shard, encoder.encode(shard))
                if failures:
                    break
        else:
            run = run_in_threads if in_threads else run_in_pool
            run(job, todo, workers, finished, lambda: bool(failures))
        if failures:
            first = min(failures, key=lambda outcome: outcome.number)
            raise FileError(
                f"{first.error}. {self._state.shards} finished shards stay in {job.out}; {first.advice}", path=job.out
            )

    def _shards_to_do(self) -> Iterator[Shard]:
        """The shards without a record; planning continues while they are encoded."""
        kept = set(self._records)
        shards = plan_shards(self._inputs, self._job.column, self._shard_bytes, kept, self._job.spool)
        for shard in shards:
            self._number_of_shards += 1
            if shard.number in kept:
                self._note(shard, None)
            else:
                yield shard

    def _note(self, shard: Shard, record: dict[str, Any] | None) -> None:
        state = self._state
        record = record or {"text_bytes": 0, "tokens": 0}
        self._state = state._replace(
            done_bytes=state.done_bytes + shard.weight,
            text_bytes=state.text_bytes + record["text_bytes"],
            tokens=state.tokens + record["tokens"],
            shards=state.shards + 1,
        )
        if self._progress is not None:
            self._progress(self._state)

    def _finish(self) -> dict[str, Any]:
        """Write the manifest, and the list of skipped rows."""
        job = self._job
        shards = [self._records[number] for number in range(self._number_of_shards)]
        for file in self._inputs:
            check_unchanged(file)
        refuse_other_files(job.out, shards)
        if any(shard["rejected"] for shard in shards):
            with replacing(job.state / REJECTS) as rejects:
                for number, shard in enumerate(shards):
                    if shard["rejected"]:
                        with open(job.rejects(number), "rb") as part:
                            shutil.copyfileobj(part, rejects)
            put_in_place(job.state / REJECTS, job.out / REJECTS)
        totals = {name: sum(shard.get(name, 0) for shard in shards) for name in _COUNTS}
        totals["longest_text"] = max((shard["longest_text"] for shard in shards), default=0)
        manifest = {**self._plan, "totals": totals, "shards": shards}
        write_whole(job.state / MANIFEST, json.dumps(manifest, indent=1) + "\n")
        put_in_place(job.state / MANIFEST, job.out / MANIFEST)
        flush_directory(job.out)
        return manifest


def _is_record(path: Path) -> bool:
    return path.stem.isdigit() and path.suffix == ".json"
