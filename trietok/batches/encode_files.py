"""`encode_files`: the files of a corpus to files of ids, shard by shard, on all cores, to be
resumed.

In: files, a tokenizer, a directory. Out: the shards in the directory and `manifest.json`, which
lists them and the files and options they were made from; `rejects.jsonl` if rows without text were
skipped.

The files are listed here; workers read them. A shard follows from the list of files, from what its
own hold and from the options, however many workers there are. So a run goes on with whatever shards
the directory has of its files.
"""

from __future__ import annotations

import itertools
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from trietok.cores import cores
from trietok.batches.encode_shard import (
    GOES_ON,
    Outcome,
    ShardEncoder,
    ShardJob,
    advice_on,
    versions_here,
)
from trietok.batches.input_files import TextFile
from trietok.batches.manifest import MANIFEST_FORMAT
from trietok.batches.row_encoder import IDS, SMALL_COLUMNS, RowEncoder, may_mean_options_of
from trietok.batches.run_directory import RunDirectory
from trietok.batches.shard_plan import Shard, check_can_be_read, key_of, planned
from trietok.batches.shard_pool import run_in_pool, run_in_threads
from trietok.batches.text_inputs import changed_since, find_inputs, is_of_machine
from trietok.errors import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    OptionError,
    TrietokError,
)
from trietok.files.stores import is_url
from trietok.files.tables import import_pyarrow
from trietok.files.text_rows import unit_of
from trietok.files.texts import DEFAULT_COLUMN
from trietok.showing.characters import number_of
from trietok.tokenizer.fingerprint import fingerprint
from trietok.worker_pool import refuse_while_starting

logger = logging.getLogger("trietok")

_MOST_NAMED = 2  # rows, and files, where too many are set aside


class RunProgress(NamedTuple):
    """How far a run is.

    Attributes:
        done_bytes, all_bytes: bytes of the files, before unpacking: those done, and all.
        text_bytes, tokens: bytes of text read and tokens written, in this run alone.
        shards: finished ones.
        kept: those of them that were there before this run.
        removed: how many shards of an earlier run were removed of each file that is not listed any
            more, by its name.
    """

    done_bytes: int
    all_bytes: int
    text_bytes: int
    tokens: int
    shards: int
    kept: int = 0
    removed: Mapping[str, int] = MappingProxyType({})


def encode_files(
    files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    tokenizer: Any,
    *,
    column: str = DEFAULT_COLUMN,
    workers: int | None = None,
    keep_columns: Sequence[str] = (),
    on_error: str = "fail",
    most_skipped: int | str | None = None,
    resume: bool = False,
    verify: bool = False,
    shard_bytes: int | None = None,
    progress: Callable[[RunProgress], None] | None = None,
    **call_options: Any,
) -> dict[str, Any]:
    """Encode the texts of files into Parquet files of ids.

    Args:
        files: paths and globs, or one: `.parquet`; `.csv`, `.tsv`, `.jsonl` and `.txt`, also as
            `.gz` or `.zst`.
        output: an empty or a new local directory; with `resume`, that of a run.
        tokenizer: encodes the texts.
        column: the column of Parquet files, or the field of JSON objects, with the texts.
        workers: how many shards are encoded at once; None for one per core. They are threads where
            the compiled kernel encodes the texts, else processes, for which a script calls this
            under `if __name__ == "__main__":`.
        keep_columns: columns of Parquet files, or keys of JSON objects, whose values go with the
            rows of ids.
        on_error: `"fail"`, or `"skip"` to set aside rows that hold no text and files that cannot be
            read.
        most_skipped: with `"skip"`, how many rows may be set aside, a number, or a share of all
            such as `"1%"`; a run with more fails. A file counts as many rows as others have in as
            many bytes, one at least.
        resume: continue the run that `output` holds. Its shards stay whose files have the same
            names, sizes and times of the last change; other shards go. `on_error` and
            `most_skipped` may differ from that run's.
        verify: with `resume`, compare the checksums of the shards that are there, and of all files.
        shard_bytes: about how much text a shard has, in bytes; of Parquet, as the file encodes it,
            so more where it holds repeated texts once. None for 16 MB, from 2 GB of text on for 128
            MB, from 1 TB on for 512 MB; with `resume` for as many as that run has.
        progress: called after each finished shard, and at the end where shards of other files were
            removed.
        **call_options: `add_special_tokens`, `truncation`, `max_length`, ... of the tokenizer's
            call. Masks and type ids are written where they are asked for: `return_attention_mask`,
            `return_token_type_ids` and `return_special_tokens_mask`.

    Returns:
        What is in `manifest.json`, and in the parts that it names: `shards`, with the `sources` of
        each, and `inputs`, the files.

    Raises:
        FileError, FileFormatError: a file cannot be read or written, a row holds no text, or more
            than `most_skipped` are set aside; finished shards stay.
        InputError: the files, the options or what is in `output` do not fit, or the workers cannot
            be started.
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
    if on_error not in ("fail", "skip"):
        raise InputError(f"on_error is {on_error!r}; select one of ['fail', 'skip']")
    for name, number in (("shard_bytes", shard_bytes), ("workers", workers)):
        if number is not None and (type(number) is not int or number < 1):
            raise InputError(f"{name} is {number!r}; it is a whole number from 1")
    limit = _limit_of(most_skipped)
    if limit is not None and on_error != "skip":
        raise InputError("most_skipped needs on_error='skip' (--most-skipped, --on-error skip)")
    if verify and not resume:
        raise InputError("verify needs resume")
    if is_url(os.fspath(output)):
        told = f"the output is a local directory, not {os.fspath(output)!r:.200}"
        raise InputError(f"{told}; write to a directory and copy it there")
    workers = workers or cores()
    none = dict.fromkeys(("return_token_type_ids", "return_attention_mask"), False)
    options = {**none, **call_options, "verbose": False}
    with may_mean_options_of(encode_files):
        encoder = RowEncoder(tokenizer, options)
    names = encoder.names
    in_threads = workers > 1 and encoder.make_kernel()
    if workers > 1 and not in_threads:
        refuse_while_starting()
    _check_columns(names, keep_columns)
    masks = [name for name in names if name in SMALL_COLUMNS]

    job = ShardJob(
        tokenizer=tokenizer,
        out=Path(output),
        column=column,
        call_options=options,
        keep=tuple(dict.fromkeys(keep_columns)),
        skip_bad_rows=on_error == "skip",
        fingerprint=fingerprint(tokenizer),
    )
    run = _Run(job, files, progress, limit)
    plan = _plan_of(job, masks, call_options, shard_bytes)
    directory = RunDirectory(job, plan, run.inputs)
    with directory.opened(resume, verify):
        return run.run(directory, workers, in_threads)


def _check_columns(names: Collection[str], keep_columns: Any) -> None:
    """Raise where the files cannot hold the columns of a call, or those to keep beside them."""
    for name in names:
        if name not in (IDS, *SMALL_COLUMNS):
            raise OptionError(
                f"files hold ids, masks and type ids; leave out what asks for {name}", name=name
            )
    if isinstance(keep_columns, str):
        told = f"keep_columns is {keep_columns!r}; it is a list of columns: [{keep_columns!r}]"
        raise InputTypeError(told, value=keep_columns)
    for name in keep_columns:
        if name in names:
            told = f"keep_columns has {name!r}, which the ids' own columns have too"
            raise InputError(f"{told}; rename it in the files")


def _plan_of(
    job: ShardJob, columns: Sequence[str], call_options: dict[str, Any], shard_bytes: int | None
) -> dict[str, Any]:
    """Everything that the content of the shards depends on, but for the files."""
    return {
        "format": MANIFEST_FORMAT,
        **versions_here(),
        "tokenizer": {"class": type(job.tokenizer).__name__, "fingerprint": job.fingerprint},
        "options": {
            "column": job.column,
            **({"columns": [*columns]} if columns else {}),
            **({"keep": [*job.keep]} if job.keep else {}),
            "shard_bytes": shard_bytes,
            "call": {name: str(value) for name, value in sorted(call_options.items())},
        },
    }


def _limit_of(most_skipped: int | str | None) -> int | Fraction | None:
    """How many rows may be set aside, or which share of them.

    >>> _limit_of(20), _limit_of("20"), _limit_of("0.5%"), _limit_of(None)
    (20, 20, Fraction(1, 200), None)
    """
    if most_skipped is None or (type(most_skipped) is int and most_skipped >= 0):
        return most_skipped
    number_or_share = r"([0-9]{1,18})|([0-9]{1,3}(?:\.[0-9]{1,9})?)%"
    found = isinstance(most_skipped, str) and re.fullmatch(number_or_share, most_skipped)
    if not found or (found[2] and float(found[2]) > 100):
        told = (
            f"most_skipped is {most_skipped!r}; it is a number of rows from 0, or a share of them"
        )
        raise InputError(f"{told} such as '1%' (--most-skipped)")
    return int(found[1]) if found[1] else Fraction(found[2]) / 100


class _ReadError(FileError, FileFormatError):
    """What a worker says of a file or of a row: it is caught as either of both."""

    def __init__(self, message: str, *, path: str | os.PathLike[str]) -> None:
        TrietokError.__init__(self, message, os.fspath(path))
        self.path, self.line_number = os.fspath(path), None


class _Run:
    """The files of a run, and what has become of them."""

    def __init__(
        self,
        job: ShardJob,
        files: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        progress: Callable[[RunProgress], None] | None,
        limit: int | Fraction | None,
    ) -> None:
        self._job, self._progress, self._limit = job, progress, limit
        self._given = [files] if isinstance(files, (str, os.PathLike)) else [*files]
        self._aside: dict[str, TrietokError] = {}  # why a file is left out
        self.inputs = self._readable(
            find_inputs(self._given, self._aside.setdefault if job.skip_bad_rows else None)
        )
        self._order: list[str] = []  # the keys of the shards
        self._made: set[str] = set()  # those of them that were not there before
        self._failures: list[Outcome] = []
        self._state = RunProgress(0, sum(file.size for file in self.inputs), 0, 0, 0)
        self._sizes = {file.name: file.size for file in self.inputs}
        self._read = self._rejected = 0  # rows of the finished shards; those without text

    def _readable(self, files: list[TextFile]) -> list[TextFile]:
        """The files that are what their names say; of tables the first is looked into."""
        first = next((file for file in files if file.kind == "parquet"), None)
        for file in files:
            try:
                if file is first or file.kind != "parquet":
                    check_can_be_read(file, self._job.column, self._job.keep)
            except (FileError, FileFormatError, InputError) as error:
                if not self._job.skip_bad_rows or is_of_machine(error):
                    raise
                self._aside[file.name] = error
        if self._job.column != DEFAULT_COLUMN and {file.kind for file in files} == {"txt"}:
            logger.warning(
                "the files have no column %r: each line of a .txt is a text", self._job.column
            )
        return self._not_aside(files)

    def _not_aside(self, files: list[TextFile]) -> list[TextFile]:
        left = [file for file in files if file.name not in self._aside]
        if not left:
            raise next(iter(self._aside.values()))
        return left

    def run(self, directory: RunDirectory, workers: int, in_threads: bool) -> dict[str, Any]:
        """Encode what the directory lacks; return its manifest."""
        self._directory, job, is_left = directory, self._job, True
        while is_left:  # once, but where a file is set aside: its shard is made without it
            number = len(self._aside)
            self._order.clear()
            self._state = self._state._replace(done_bytes=0, shards=0, kept=0)
            self._read = self._rejected = 0
            self._encode(self._shards_to_do(), workers, in_threads)
            for error in changed_since(self._given, self.inputs):
                if not job.skip_bad_rows:
                    raise FileError(
                        f"{error}. {self._what_stays()}; {GOES_ON}", path=error.path
                    ) from error
                self._aside.setdefault(error.path, error)
            is_left = number != len(self._aside)
            self.inputs = self._not_aside(self.inputs)
        self._heed_limit(self._rejected + self._rows_aside())
        aside = [
            {"name": name, "reason": str(error)} for name, error in sorted(self._aside.items())
        ]
        manifest = directory.finish(self._order, aside)
        if directory.removed and self._progress is not None:
            self._progress(self._state._replace(removed=directory.removed))
        return manifest

    def _encode(self, todo: Iterator[Shard], workers: int, in_threads: bool) -> None:
        job = self._job
        first_two = list(itertools.islice(todo, 2))
        todo = self._until_failure(itertools.chain(first_two, todo))
        if workers == 1 or len(first_two) < 2:
            encoder = ShardEncoder(job)
            for shard in todo:
                self._finished(shard, encoder.encode(shard))
        else:
            (run_in_threads if in_threads else run_in_pool)(job, todo, workers, self._finished)
        if self._failures:
            first = min(self._failures, key=lambda outcome: outcome.number)
            raise _ReadError(f"{first.error}. {self._what_stays()}; {first.advice}", path=job.out)
        if self._has_too_many():
            self._heed_limit(self._rejected + len(self._aside))

    def _until_failure(self, shards: Iterator[Shard]) -> Iterator[Shard]:
        """No shard is planned after one has failed, or too much is set aside; those at work end."""
        while not (self._failures or self._has_too_many()):
            shard = next(shards, None)
            if shard is None:
                return
            yield shard

    # ---- how much is set aside -------------------------------------------------------------------

    def _has_too_many(self) -> bool:
        """Whether more rows are set aside than a number allows; a share is known at the end."""
        return isinstance(self._limit, int) and self._rejected + len(self._aside) > self._limit

    def _rows_aside(self) -> int:
        """How many rows the files set aside may have, by what others have in as many bytes."""
        rate = self._read / max(self._state.done_bytes, 1)
        return sum(max(round(self._sizes.get(name, 0) * rate), 1) for name in self._aside)

    def _heed_limit(self, skipped: int) -> None:
        """Raise where so many rows are more than may be set aside, and say what they are."""
        limit, all_rows = self._limit, self._read + skipped - self._rejected
        if limit is None or skipped <= (limit if isinstance(limit, int) else limit * all_rows):
            return
        rows = list(itertools.islice(self._directory.rejected(self._order), _MOST_NAMED))
        reasons = [
            f"{row['file']}, {unit_of(row['file'])} {row['row']}: {row['reason']}" for row in rows
        ]
        reasons += [str(error) for _, error in sorted(self._aside.items())][:_MOST_NAMED]
        told = {"row": (self._rejected, " without text")}
        told |= {"file": (len(self._aside), " that cannot be read")}
        what = " and ".join(number_of(n, one) + which for one, (n, which) in told.items() if n)
        is_share = not isinstance(limit, int)
        what += f", about {skipped:,} of {all_rows:,} rows" if is_share else ""
        allowed = f"{100 * float(limit):g}%" if is_share else f"{int(limit):,}"
        advice = f"{GOES_ON} with what is repaired, or with a higher limit"
        raise _ReadError(
            f"set aside: {what}; most_skipped (--most-skipped) allows {allowed}:"
            f" {'; '.join(reasons)}. {self._what_stays()}; {advice}",
            path=self._job.out,
        )

    # ---- what becomes of the shards --------------------------------------------------------------

    def _finished(self, shard: Shard, outcome: Outcome) -> None:
        directory = self._directory
        if outcome.record is not None:
            self._made.add(shard.key)
            directory.add(shard.key, outcome.record)
            self._note(shard, outcome.record)
        elif outcome.is_same:
            directory.keep(shard.key)
            self._note(shard)
        elif outcome.unreadable and self._job.skip_bad_rows:
            for name, reason in outcome.unreadable:
                self._aside.setdefault(name, _ReadError(reason, path=name))
        else:
            self._failures.append(outcome)

    def _what_stays(self) -> str:
        shards = self._directory.finished
        return f"{shards} finished shard{' stays' if shards == 1 else 's stay'} in {self._job.out}"

    def _shards_to_do(self) -> Iterator[Shard]:
        """The shards that the directory lacks; planning continues while they are encoded."""
        directory, numbers, apart = self._directory, itertools.count(), bool(self._job.keep)
        for stretches in planned(
            self.inputs, self._job.column, directory.shard_bytes, apart, self._unplanned
        ):
            if any(stretch.file.name in self._aside for stretch in stretches):
                continue
            shard = Shard(next(numbers), key_of(stretches), stretches)
            self._order.append(shard.key)
            if shard.key in directory.kept:
                self._note(shard)
            else:
                yield shard._replace(known=directory.known(shard))

    def _unplanned(self, file: TextFile, error: FileError | FileFormatError) -> None:
        if not self._job.skip_bad_rows:
            message = f"{str(error).rstrip('.')}. {self._what_stays()}; {advice_on(error)}"
            raise type(error)(message, path=file.name) from error
        self._aside.setdefault(file.name, error)

    def _note(self, shard: Shard, record: dict[str, Any] | None = None) -> None:
        """Count a shard that was made now, or that was there already, and tell of it."""
        state, kept = self._state, self._directory.kept[shard.key]
        self._read += kept["rows"] + kept["rejected"]
        self._rejected += kept["rejected"]
        made = record or {"text_bytes": 0, "tokens": 0}
        self._state = state._replace(
            done_bytes=state.done_bytes + sum(stretch.weight for stretch in shard.stretches),
            text_bytes=state.text_bytes + made["text_bytes"],
            tokens=state.tokens + made["tokens"],
            shards=state.shards + 1,
            kept=state.kept + (shard.key not in self._made),
        )
        if self._progress is not None:
            self._progress(self._state)
