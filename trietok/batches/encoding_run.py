"""A run of `encode_files`: which outputs of earlier runs it keeps, and how it writes the others."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.batches.output_directory import Output, OutputDirectory, read_output
from trietok.batches.parquet_parts import PartWriter
from trietok.batches.text_batches import BadText, batches_of, merged
from trietok.batches.tokenize_batch import ROWS_AT_ONCE, TokenizeBatch
from trietok.batches.units import Source, Unit, pieces_of, units_of
from trietok.disk import flush_file
from trietok.errors import FileError, FileFormatError, InputError, TrietokError
from trietok.files.tables import import_pyarrow
from trietok.worker_pool import Submit, finished_of, worker_pool

FORMAT = 1  # of the records; increase it if the same record can produce different rows
_AHEAD = 2  # units that are submitted beyond those in work


@dataclass(frozen=True)
class Limit:
    """The number of tokens that a model takes, and where it is stated."""

    tokens: int
    where: str


@dataclass(frozen=True)
class EncodedFiles:
    """The result of a run of `encode_files`, or its state during the run.

    Attributes:
        paths: the Parquet files with the rows of the inputs; at the end in the order of the inputs,
            except that small inputs share a file at the place of the first.
        rows, tokens, skipped, longest: of all these files: their rows and tokens, rows that were
            skipped, and the tokens of the longest row.
        kept: how many of the files an earlier run had written.
        replaced: how many files were removed because they did not fit (`force`).
        skipped_lists: the files that list the rows that were skipped.
        done_bytes, input_bytes: input bytes that are encoded, and the total.
        seconds: how long this run took.
        encoded_bytes: input bytes that this run encoded.
        limit: the model's limit, or None if it has none.
    """

    paths: tuple[str, ...] = ()
    rows: int = 0
    tokens: int = 0
    skipped: int = 0
    longest: int = 0
    kept: int = 0
    replaced: int = 0
    skipped_lists: tuple[str, ...] = ()
    done_bytes: int = 0
    input_bytes: int = 0
    seconds: float = 0.0
    encoded_bytes: int = 0
    limit: Limit | None = None


# ---- one unit of work ----------------------------------------------------------------------------


class Job(NamedTuple):
    """What all units of a run have in common."""

    tokenize: TokenizeBatch
    skips: bool  # rows that hold no text
    record: dict[str, Any]  # the tokenizer and the options, which determine the rows


class EncodedUnit(NamedTuple):
    """The complete files of a unit, not published yet."""

    parts: list[Path]
    skipped: Path | None  # the list of rows that were skipped


def encode_unit(
    job: Job, unit: Unit, folder: Path, check_stop: Callable[[], None] = lambda: None
) -> EncodedUnit:
    """Write the ids of a unit to new files in a folder."""
    tokenize = job.tokenize
    sources = [source.record for source in unit.sources]
    record = {"unit": unit.name, "sources": sources, "columns": tokenize.names, **job.record}
    path = folder / "skipped.jsonl"
    count = 0

    def on_bad(bad: BadText) -> None:
        nonlocal count
        if not job.skips:
            advice = "Skip such rows with on_error='skip' (--on-error skip)"
            raise FileFormatError(f"{bad}. {advice}", path=bad.path, line_number=bad.number)
        skipped.write(json.dumps(bad._asdict()) + "\n")
        count += 1

    try:
        with open(path, "w", encoding="utf-8") as skipped, PartWriter(folder, record) as writer:
            batches = (batches_of(one, tokenize.columns_read, on_bad) for one in unit.sources)
            for batch in merged(chain.from_iterable(batches)):
                for start in range(0, len(batch) or 1, ROWS_AT_ONCE):
                    check_stop()
                    writer.write(tokenize(batch.slice(start, ROWS_AT_ONCE)))
            writer.close(count)
            if count:
                flush_file(skipped)
    except import_pyarrow().ArrowException as error:
        name = unit.sources[0].name
        message = f"{name}: a kept column cannot be written to Parquet: {error}"
        raise FileFormatError(message, path=name) from error
    except OSError as error:
        if isinstance(error, TrietokError):
            raise
        reason = error.strerror or str(error)
        raise FileError(f"cannot write to {folder.parent}: {reason}", path=folder) from error
    return EncodedUnit(writer.paths, path if count else None)


# ---- in a worker process -------------------------------------------------------------------------

_worker: tuple[Job, Any]


def _start_worker(job: Job, stop: Any) -> None:
    global _worker
    _worker = job, stop


def _encode_in_worker(unit: Unit, folder: Path) -> EncodedUnit:
    job, stop = _worker

    def check_stop() -> None:
        if stop.is_set():
            raise InputError("the run was stopped")

    return encode_unit(job, unit, folder, check_stop)


# ---- a run ---------------------------------------------------------------------------------------


class Run:
    """The units of a run, and the outputs that are complete."""

    def __init__(
        self,
        job: Job,
        directory: OutputDirectory,
        inputs: list[Source],
        state: EncodedFiles,
        progress: Callable[[EncodedFiles], None] | None,
    ) -> None:
        self._job, self._directory, self._progress = job, directory, progress
        self._start = time.monotonic()
        self._pieces = {piece.record: piece for piece in pieces_of(inputs)}
        self._inputs = {source.path: source for source in inputs}
        self._outputs: list[Output] = []
        self.state = replace(state, input_bytes=sum(source.size for source in inputs))

    # ---- earlier outputs -------------------------------------------------------------------------

    def keep_outputs(self, force: bool) -> None:
        """Keep the complete outputs of earlier runs.

        Raises:
            InputError: an output does not fit. With `force`, it is removed if one of its inputs is
                among those of this run, which writes it again.
        """
        outputs = self._directory.outputs()
        problems = self._problems_of(outputs)
        refused = [
            (output, problem)
            for output, problem in problems
            if not (force and self._is_of_inputs(output))
        ]
        if refused:
            raise self._refusal(refused)
        misfits = {output.path for output, _ in problems}
        units: dict[tuple[Source, ...], list[Output]] = {}
        for output in outputs:
            if output.path not in misfits:
                units.setdefault(output.sources, []).append(output)
        for unit in units.values():
            unit.sort(key=lambda output: output.record["part"])
            parts = [output.record["part"] for output in unit]
            if parts == [*range(len(parts))] and unit[-1].record["is_last"]:
                self._add(unit)
        for path in {output.path for output in outputs} - {one.path for one in self._outputs}:
            self._directory.remove(path)  # also parts of a run that was stopped
        self._directory.remove_skipped_lists(keep={*self.state.skipped_lists})
        kept, replaced = len(self._outputs), len(problems)
        self.state = replace(self.state, kept=kept, replaced=replaced, encoded_bytes=0)

    def _is_of_inputs(self, output: Output) -> bool:
        return any(source.path in self._inputs for source in output.sources)

    def _refusal(self, refused: list[tuple[Output, str]]) -> InputError:
        output, problem = refused[0]
        advice = "replace it with force=True (--force)"
        if not self._is_of_inputs(output):
            advice = "remove it, or add its inputs"
        others = f" In all, {len(refused):,} files do not fit." if len(refused) > 1 else ""
        return InputError(
            f"{output.path} does not fit this run: {problem}.{others} Choose another directory, or"
            f" {advice}"
        )

    def _problems_of(self, outputs: list[Output]) -> list[tuple[Output, str]]:
        """Return the outputs that do not fit this run, and why."""
        problems = []
        covered: dict[tuple[Source, int], str] = {}
        for output in outputs:
            problem = self._problem_of(output)
            for source in output.sources:
                other = covered.setdefault((source, output.record["part"]), output.path)
                if other != output.path and problem is None:
                    problem = f"{other} also has the rows of {source.path}"
            if problem is not None:
                problems.append((output, problem))
        return problems

    def _problem_of(self, output: Output) -> str | None:
        """Return why a file is not one that this run would write; None if it is one."""
        record = output.record
        if record["format"] != FORMAT:
            return "another version of trietok wrote it"
        for part in ("tokenizer", "options"):
            old, new = record[part], self._job.record[part]
            for name in sorted({*old, *new}):
                values = [repr(one[name]) if name in one else "unset" for one in (old, new)]
                if values[0] != values[1]:
                    reason = "another tokenizer made it: " if part == "tokenizer" else ""
                    return f"{reason}{name} was {values[0]} and is {values[1]}"
        if record["skipped"] and not self._job.skips:
            number = record["skipped"]
            rows = "1 row was" if number == 1 else f"{number:,} rows were"
            return f"{rows} skipped, and on_error is now 'fail'"
        for source in output.sources:
            if source in self._pieces:
                continue
            input_file = self._inputs.get(source.path)
            if input_file is None:
                return f"{source.path} is not among the inputs"
            if input_file.size != source.size:
                return f"{source.path} had {source.size:,} bytes and has {input_file.size:,}"
            if input_file.version != source.version:
                return f"{source.path} was modified after it was encoded"
            return f"{source.path} was read as another kind of file, or split at other places"
        return None

    # ---- new outputs -----------------------------------------------------------------------------

    def encode(self, workers: int) -> None:
        """Write the outputs that are missing."""
        self._encode_units(workers)
        order = {piece: number for number, piece in enumerate(self._pieces)}
        self._outputs.sort(key=lambda one: (order[one.sources[0]], one.record["part"]))
        self.state = replace(self.state, paths=tuple(output.path for output in self._outputs))

    def _encode_units(self, workers: int) -> None:
        done = {source for output in self._outputs for source in output.sources}
        pieces = [piece for record, piece in self._pieces.items() if record not in done]
        units = units_of(pieces, self._directory.taken_names())
        if workers == 1 or len(units) < 2:
            for unit in units:
                self._publish(unit, encode_unit(self._job, unit, self._directory.new_folder()))
            return
        try:
            with worker_pool(min(workers, len(units)), _start_worker, self._job) as submit:
                self._encode_in_pool(iter(units), submit, workers)
        except BrokenExecutor:
            raise TrietokError(
                "a worker process was killed, perhaps because memory ran out; run again, with fewer"
                f" workers. Complete outputs stay in {self._directory.name}"
            ) from None

    def _encode_in_pool(self, units: Iterator[Unit], submit: Submit, workers: int) -> None:
        pending: dict[Any, Unit] = {}
        while True:
            for unit in islice(units, workers + _AHEAD - len(pending)):
                pending[submit(_encode_in_worker, unit, self._directory.new_folder())] = unit
            if not pending:
                return
            for future in finished_of(pending):
                self._publish(pending.pop(future), future.result())

    def _publish(self, unit: Unit, encoded: EncodedUnit) -> None:
        paths = self._directory.publish(unit.name, encoded.parts, encoded.skipped)
        self._add([*map(read_output, paths)])

    def _add(self, outputs: list[Output]) -> None:
        """Count the outputs of a unit."""
        state = self.state
        self._outputs += outputs
        records = [output.record for output in outputs]
        skipped = sum(record["skipped"] for record in records)
        lists = (self._directory.path_of_skipped(records[0]["unit"]),) if skipped else ()
        size = sum(source.piece_size for source in outputs[0].sources)
        self.state = replace(
            state,
            paths=(*state.paths, *(output.path for output in outputs)),
            rows=state.rows + sum(output.rows for output in outputs),
            tokens=state.tokens + sum(record["tokens"] for record in records),
            skipped=state.skipped + skipped,
            longest=max(state.longest, *(record["longest"] for record in records)),
            skipped_lists=(*state.skipped_lists, *lists),
            done_bytes=state.done_bytes + size,
            encoded_bytes=state.encoded_bytes + size,
            seconds=time.monotonic() - self._start,
        )
        if self._progress is not None:
            self._progress(self.state)
