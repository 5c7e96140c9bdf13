"""Encode files of texts into Parquet files of ids, on the cores of one machine or on an engine."""

from __future__ import annotations

import json
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.batches.on_engines import encode_on_engine
from trietok.batches.output_directory import Output, OutputDirectory, read_output
from trietok.batches.parquet_parts import PartWriter
from trietok.batches.text_batches import BadText, batches_of, merged
from trietok.batches.tokenize_batch import TokenizeBatch, check_names, suggesting_options_of
from trietok.batches.units import Source, Unit, inputs_of, pieces_of, size_of, units_of
from trietok.cores import cores
from trietok.disk import flush_file
from trietok.errors import FileError, FileFormatError, InputError, OptionError, TrietokError
from trietok.files.formats import TOKENIZER_CONFIG_FILE
from trietok.files.json_files import read_json_object
from trietok.files.model_files import find_files
from trietok.files.stores import expanded
from trietok.files.tables import import_pyarrow
from trietok.files.texts import DEFAULT_COLUMN
from trietok.tokenizer.fingerprint import fingerprint
from trietok.worker_pool import Submit, finished_of, worker_pool

_FORMAT = 1  # of the records; increase it if the same record can produce different rows
_ROWS_AT_ONCE = 4096  # texts that are encoded together
_AHEAD = 2  # units that are submitted beyond those in work
_SENTENCE_CONFIG_FILE = "sentence_bert_config.json"
_UNLIMITED = 10**9  # a model_max_length above it means none


@dataclass(frozen=True)
class Limit:
    """The number of tokens that a model takes, and where it is stated."""

    tokens: int
    where: str


@dataclass(frozen=True)
class EncodedFiles:
    """What a run of `encode_files` wrote, or has written so far.

    Attributes:
        paths: the Parquet files with the rows of the inputs, in the order of the inputs, except
            that small inputs share a file at the place of the first.
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


def encode_files(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    tokenizer: Any,
    *,
    column: str = DEFAULT_COLUMN,
    keep_columns: Sequence[str] = (),
    workers: int | None = None,
    on_error: str = "fail",
    force: bool = False,
    engine: str | None = None,
    address: str | None = None,
    progress: Callable[[EncodedFiles], None] | None = None,
    **call_options: Any,
) -> EncodedFiles:
    """Encode the texts of files into Parquet files of ids.

    Each input becomes one Parquet file with the column `input_ids`, list<int32>. An output of more
    than about 256 MB is written in parts, an input of more than 128 MB is split, and inputs below
    1 MB share outputs. An output appears when it is complete. A later run skips complete outputs,
    so an interrupted run can be continued.

    Args:
        files: paths, globs or fsspec URLs, or one of them: `.txt` (a text a line), `.jsonl`,
            `.csv`, `.tsv`, also compressed as `.gz` or `.zst`, and `.parquet`.
        output: a directory, or a URL of a directory.
        tokenizer: encodes the texts.
        column: the column of the tables, or the field of the JSON objects, that holds the texts.
        keep_columns: columns or fields to write next to the ids.
        workers: number of processes; by default one a core. A script that uses several calls this
            under `if __name__ == "__main__":`.
        on_error: what to do with a row that holds no text: `"fail"`, or `"skip"` to leave it out
            and list it in `_NAME.skipped.jsonl`.
        force: replace outputs of these inputs that were made with other options, or before an
            input changed.
        engine: `"ray"` or `"spark"` to read, encode and write there, with the engine's own readers.
        address: the engine's address; by default it is started on this machine.
        progress: called after each output with the state of the run.
        **call_options: options of the tokenizer's call. `return_attention_mask=True` and the like
            add columns, see `TokenizeBatch`. With `truncation` and without `max_length`, texts are
            truncated to the model's limit: `max_seq_length` in its sentence_bert_config.json, or
            the tokenizer's `model_max_length`.

    Raises:
        FileError, FileFormatError: a file cannot be read or written, or a row holds no text;
            complete outputs stay.
        InputError: an option is wrong, or outputs do not fit the inputs and options.
        TrietokError: a worker process was killed, or the engine failed.

    >>> import pathlib, tempfile, trietok
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.txt").write_text("The people\\nof the United States\\n")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> result = encode_files(folder / "a.txt", folder / "ids", tokenizer)
    >>> result.rows, result.tokens, [pathlib.Path(path).name for path in result.paths]
    (2, 10, ['a.txt.parquet'])
    """
    start = time.monotonic()
    if on_error not in ("fail", "skip"):
        raise InputError(f"on_error is {on_error!r}; choose 'fail' or 'skip'")
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InputError(f"workers is {workers!r}; it is a whole number from 1")
    check_names("keep_columns", keep_columns)
    if "pair_column" in call_options:
        message = "encode_files encodes single texts; use TokenizeBatch for pairs"
        raise OptionError(message, name="pair_column")
    keep_columns = list(dict.fromkeys(keep_columns or ()))
    options = {
        **dict.fromkeys(("return_token_type_ids", "return_attention_mask"), False),
        **call_options,
        "verbose": False,
    }
    is_limited = options.get("truncation") and options.get("max_length") is None
    try:
        limit = model_limit(tokenizer)
    except FileError:  # the files are gone, or the hub does not respond
        if is_limited:
            raise
        limit = None
    if is_limited and limit is not None:
        options["max_length"] = limit.tokens
    with suggesting_options_of(encode_files):
        tokenize = TokenizeBatch(tokenizer, column, keep_columns=keep_columns, **options)
    names = list(expanded([files] if isinstance(files, (str, os.PathLike)) else files))
    if engine is not None:
        options = {"on_error": on_error != "fail", "force": force, "workers": workers is not None}
        for name, is_set in options.items():
            if is_set:
                raise InputError(f"an engine does not support {name}; leave it out")
        rows = encode_on_engine(engine, address, names, os.fspath(output), tokenize)
        seconds = time.monotonic() - start
        return EncodedFiles((os.fspath(output),), rows, seconds=seconds, limit=limit)
    job = Job(tokenize, on_error == "skip", _record_of(tokenizer, tokenize))
    directory = OutputDirectory(output)
    inputs = inputs_of(names)
    directory.check_inputs(inputs)
    text_file = next((one.name for one in inputs if one.kind == "txt" and keep_columns), None)
    if text_file is not None:
        raise InputError(
            f"{text_file} has lines and no columns to keep (keep_columns, --keep-columns)"
        )
    with directory.opened():
        run = _Run(job, directory, inputs, EncodedFiles(limit=limit), progress)
        run.keep_outputs(force)
        run.encode(workers or cores())
    return run.state


def model_limit(tokenizer: Any) -> Limit | None:
    """Return how many tokens the model of a tokenizer takes; None if that is not stated.

    This is `max_seq_length` in the sentence_bert_config.json next to the tokenizer, which
    sentence-transformers writes, or the tokenizer's `model_max_length`.
    """
    name = getattr(tokenizer, "name_or_path", "")
    if name:
        paths = find_files(name, [TOKENIZER_CONFIG_FILE, _SENTENCE_CONFIG_FILE]).found
        path = paths.get(_SENTENCE_CONFIG_FILE)
        length = None if path is None else read_json_object(path).get("max_seq_length")
        if type(length) is int and length > 0:
            return Limit(length, f"max_seq_length in {_SENTENCE_CONFIG_FILE}")
    length = getattr(tokenizer, "model_max_length", None)
    if not isinstance(length, (int, float)) or length > _UNLIMITED:
        return None
    return Limit(int(length), "model_max_length of the tokenizer")


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
                for start in range(0, len(batch) or 1, _ROWS_AT_ONCE):
                    check_stop()
                    writer.write(tokenize(batch.slice(start, _ROWS_AT_ONCE)))
            writer.close(count)
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


def _record_of(tokenizer: Any, tokenize: TokenizeBatch) -> dict[str, Any]:
    options = {name: _as_json(value) for name, value in tokenize.call_options.items()}
    options |= {"column": tokenize.column, "keep_columns": list(tokenize.keep_columns or ())}
    return {
        "format": _FORMAT,
        "tokenizer": {
            "class": type(tokenizer).__name__,
            "fingerprint": fingerprint(tokenizer),
            "truncation_side": tokenizer.truncation_side,
            "Unicode version": unicodedata.unidata_version,
        },
        "options": options,
    }


def _as_json(value: Any) -> Any:
    is_json = value is None or isinstance(value, (str, int, float))
    return value if is_json and not isinstance(value, Enum) else str(value)


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


class _Run:
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
        self._order = {piece: number for number, piece in enumerate(self._pieces)}
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
        units: dict[tuple[Source, ...], list[Output]] = {}
        for output in outputs:
            if self._problem_of(output) is None:
                units.setdefault(output.sources, []).append(output)
        for unit in units.values():
            unit.sort(key=lambda output: output.record["part"])
            parts = [output.record["part"] for output in unit]
            if parts == [*range(len(parts))] and unit[-1].record["is_last"]:
                self._add(unit)
        for path in {output.path for output in outputs} - {one.path for one in self._outputs}:
            self._directory.remove(path)  # also parts of a run that was stopped
        self._directory.remove_skipped_lists(keep=self.state.skipped_lists)
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
        if record.get("format") != _FORMAT:
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
        self._outputs.sort(
            key=lambda output: (self._order[output.sources[0]], output.record["part"])
        )
        records = [output.record for output in outputs]
        skipped = sum(record["skipped"] for record in records)
        lists = (self._directory.path_of_skipped(records[0]["unit"]),) if skipped else ()
        size = sum(map(size_of, outputs[0].sources))
        self.state = replace(
            state,
            paths=tuple(output.path for output in self._outputs),
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
