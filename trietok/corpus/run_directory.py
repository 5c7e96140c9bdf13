"""The directory of a run: what an earlier run has left in it, and how finished shards become its files, all or none.

In: the plan of a run, and the shards that are wanted in it, by their keys. Out: `part-*` files in their order,
`rejects.jsonl` where rows were skipped, and `manifest.json`.

While a run is at work its shards are in a folder of the directory, each under its key with a record of it, so that they
are found again in whatever order the next run wants them. At the end they are renamed. The new manifest is written to
that folder first: where a process is killed while shards are renamed, the next one finds it there and renames the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.encode_shard import GOES_ON, RECORD, STATE_FOLDER, ShardJob, write_whole
from trietok.corpus.shard_files import FORMATS, suffixes
from trietok.corpus.text_inputs import Source
from trietok.disk import FULL, UNFINISHED, checksum, flush_directory, put_in_place, replacing
from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.atomic import DirectoryBusyError, alone
from trietok.files.formats import read_json_object
from trietok.files.texts import KINDS
from trietok.worker_pool import interrupts_held

MANIFEST, PLAN, REJECTS = "manifest.json", "plan.json", "rejects.jsonl"
MANIFEST_FORMAT = "trietok-corpus-2"
_PART = "part-"
_COUNTS = ("rows", "tokens", "texts", "text_bytes", "rejected", "dropped_tokens")


def _named(stem: Path, file: dict[str, Any]) -> Path:
    return stem.with_name(stem.name + file["suffix"])


class _Kept(NamedTuple):
    record: dict[str, Any]
    stem: Path  # the path of each of its files, without the suffix that the record names

    def paths(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for file in self.record["files"]:
            yield _named(self.stem, file), file

    def is_there(self, by_checksum: bool) -> bool:
        return all(
            path.is_file()
            and path.stat().st_size == file["bytes"]
            and (not by_checksum or checksum(path) == file["sha256"])
            for path, file in self.paths()
        )


class RunDirectory:
    """A directory that a run fills, or goes on with.

    Args:
        job: the run.
        plan: everything but the files that the content of the shards depends on.

    Attributes:
        kept: the records of the finished shards that are there, by key.
        known: checksums of files that were read, by name, size and time of change.
        removed: after `finish`, how many shards were removed of each file that is not in the run any more, by name.
    """

    def __init__(self, job: ShardJob, plan: dict[str, Any]) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.known: dict[tuple[str, int, int], str] = {}
        self.removed: dict[str, int] = {}
        self._job = job
        self._out, self._state = job.out, job.state
        self._plan = plan
        options = plan["options"]
        self._suffixes = suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))
        self._manifest: dict[str, Any] | None = None  # of an earlier run, which is finished
        self._earlier: dict[str, _Kept] = {}  # its shards, whole or not
        self._shards: dict[str, _Kept] = {}

    # ---- what is there already --------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def opened(self, resume: bool, verify: bool) -> Iterator[None]:
        """Be alone in the directory for the length of a `with` block, with what it holds of this run.

        With `verify`, the checksums of the shards that are there are compared, and those of the files not known.
        """
        self._make()
        try:
            with alone(self._state, longest_wait=0):  # one run at a time in a directory
                try:
                    self._agree(resume)
                    self._find_kept(verify)
                    yield
                except OSError as error:
                    if error.errno not in FULL:
                        raise
                    path = error.filename or self._out
                    message = f"cannot write {path}: {error.strerror}. Finished shards stay in {self._out}; {GOES_ON}"
                    raise FileError(message, path=path) from error
                finally:
                    with interrupts_held():  # of what was planned and not encoded the lines are still there
                        self._clear()
        except DirectoryBusyError as error:
            raise InputError(f"another run is at work in {self._out}, {error}; wait for its end") from None

    def _make(self) -> None:
        out = self._out
        try:
            out.mkdir(parents=True, exist_ok=True)
            there = {path.name for path in out.iterdir()}
            if there and not there & {STATE_FOLDER, MANIFEST}:
                raise InputError(f"{out} holds {min(there)!r}, which belongs to no run; give an empty directory")
            self._state.mkdir(exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError(f"{out} is a file, or below one; give a directory") from error
        except OSError as error:
            raise FileError(f"cannot write to {out}: {error.strerror}", path=out) from error

    def _agree(self, resume: bool) -> None:
        """Check that the directory holds this run; a run without a finished shard may be replaced by another."""
        out, state = self._out, self._state
        begun = (state / MANIFEST).exists()
        if (out / MANIFEST).exists() or begun or any(state.glob(f"*{RECORD}")):
            if not resume:
                how = "go on with its run (resume=True, --resume), give another directory, or replace it (--force)"
                raise InputError(f"{out} is there already; {how}")
            if begun:
                self._put_in_place(self._read_manifest(state / MANIFEST))
            if (out / MANIFEST).exists():
                self._manifest = self._read_manifest(out / MANIFEST)
                self._compare(self._manifest)
            else:
                self._compare(read_manifest(state / PLAN))
        self._refuse_other_files()
        if self._manifest is None:
            write_whole(state / PLAN, json.dumps(self._plan))

    def _read_manifest(self, path: Path) -> dict[str, Any]:
        manifest = read_manifest(path)
        if manifest.get("format") != MANIFEST_FORMAT:
            self._compare(manifest)
        check_manifest(manifest, path)
        return manifest

    def _compare(self, earlier: dict[str, Any]) -> None:
        """Raise if the run in the directory has another plan."""
        for name, value in self._plan.items():
            if earlier.get(name) != value:
                difference = _first_difference(name, earlier.get(name), value)
                raise InputError(f"{self._out} holds a run that {difference}; encode into another directory")

    def _refuse_other_files(self) -> None:
        """Raise if there is a shard file of another run: what reads all files would read that one too."""
        expected: set[str] = set()
        if self._manifest is not None:
            expected = {file["name"] for shard in self._manifest["shards"] for file in shard["files"]}
            expected |= {REJECTS} if self._manifest["totals"]["rejected"] else set()
        there = {path.name for path in self._out.iterdir() if path.name == REJECTS or path.name.startswith(_PART)}
        others = sorted(there - expected)
        if others:
            named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            raise InputError(
                f"{self._out} holds files that are not of this run: {named}; encode into another directory, or "
                "remove them"
            )

    def _find_kept(self, verify: bool) -> None:
        self._clear()
        entries = []
        for path in sorted(self._state.glob(f"*{RECORD}")):
            key = path.name.removesuffix(RECORD)
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                _check(record, _RECORD, "record")
                if [file["suffix"] for file in record["files"]] != self._suffixes:
                    continue
            except (ValueError, RecursionError):  # the system stopped before it was on the disk
                continue
            kept = _Kept(record, self._state / key)
            if kept.is_there(verify):
                self._shards[key] = kept
            entries.append(record["input"])
        if self._manifest is not None:
            self._find_earlier(self._manifest, verify)
            entries += self._manifest["inputs"]
        if not verify:
            self.known = {(entry["name"], entry["size"], entry["mtime_ns"]): entry["sha256"] for entry in entries}
        self.kept = {key: kept.record for key, kept in self._shards.items()}

    def _find_earlier(self, manifest: dict[str, Any], verify: bool) -> None:
        rejects = self._earlier_rejects(manifest)
        for number, (key, record) in enumerate(_shards_of(manifest)):
            self._earlier[key] = earlier = _Kept(record, self._out / _part(number))
            moved = _Kept(record, self._state / key)  # by a process that was killed before the new order was there
            if key not in self._shards and (rejects or not record["rejected"]):
                kept = moved if moved.is_there(False) else earlier
                if kept.is_there(verify):
                    self._shards[key] = kept

    def _earlier_rejects(self, manifest: dict[str, Any]) -> bool:
        """Give each shard of a finished run its own list of skipped rows again; False where they are not there."""
        wanted = [(key, record["rejected"]) for key, record in _shards_of(manifest) if record["rejected"]]
        try:
            lines = (self._out / REJECTS).read_bytes().splitlines(keepends=True) if wanted else []
            rejected_rows(lines)
        except (OSError, ValueError):
            return False
        if len(lines) != sum(number for _, number in wanted):
            return False
        for key, number in wanted:
            self._job.rejects(key).write_bytes(b"".join(lines[:number]))
            del lines[:number]
        return True

    def shards_of(self, source: Source) -> int | None:
        """How many shards an earlier run has made of a file; None where not all of them are there."""
        inputs = self._manifest["inputs"] if self._manifest else []
        number = next((entry["shards"] for entry in inputs if _source_of(entry) == source), None)
        is_whole = all(source.key(index) in self._shards for index in range(number or 0))
        return number if is_whole else None

    def _clear(self) -> None:
        """Remove what is unfinished."""
        for path in sorted(self._state.iterdir()) if self._state.is_dir() else ():
            if path.name.startswith((*UNFINISHED, "spool-")):
                path.unlink(missing_ok=True)

    # ---- what shall be there ----------------------------------------------------------------------------------------

    def finish(
        self, files: list[dict[str, Any]], set_aside: list[dict[str, str]], records: dict[str, dict[str, Any]]
    ) -> dict[str, Any]:
        """Put the shards of all files in place, in order, and what belongs to no file away; what is in the manifest.

        `files` is what that says of its inputs; `set_aside` has name and reason of files that are not in it, `records`
        those of the shards that were made now.
        """
        self._refuse_other_files()
        for key, record in records.items():
            self._shards[key] = _Kept(record, self._state / key)
        order = [(key, file["name"]) for file in files for key in _keys_of(file)]
        self.removed = self._not_wanted({key for key, _ in order}, files, set_aside)
        shards = [self._entry(number, key, name) for number, (key, name) in enumerate(order)]
        totals = _totals_of(shards)
        manifest = {**self._plan, "inputs": files, "set_aside": set_aside, "totals": totals, "shards": shards}
        if manifest != self._manifest or any(self._shards[key] is not self._earlier.get(key) for key, _ in order):
            if totals["rejected"]:
                self._write_rejects(order)
            self._make_room([key for key, _ in order])
            # From here on the new order is decided: a run that is killed now is brought to its end by the next one.
            write_whole(self._state / MANIFEST, json.dumps(manifest, indent=1) + "\n")
            self._put_in_place(manifest)
        shutil.rmtree(self._state, ignore_errors=True)
        return manifest

    def _not_wanted(
        self, keys: set[str], files: list[dict[str, Any]], set_aside: list[dict[str, str]]
    ) -> dict[str, int]:
        """How many shards are there of each file that is neither among the files nor set aside, by its name."""
        listed = {file["name"] for file in (*files, *set_aside)}
        there = {**self._earlier, **self._shards}
        sources = (kept.record["input"] for key, kept in there.items() if key not in keys)
        names = (source if isinstance(source, str) else source["name"] for source in sources)  # manifest's or record's
        return dict(Counter(name for name in names if name not in listed))

    def _entry(self, number: int, key: str, name: str) -> dict[str, Any]:
        """What the manifest says of a shard."""
        record = self._shards[key].record
        files = [
            {"name": _part(number) + file["suffix"], "bytes": file["bytes"], "sha256": file["sha256"]}
            for file in record["files"]
        ]
        counts = {one: value for one, value in record.items() if one not in ("input", "files")}
        return {"input": name, **counts, "files": files}

    def _write_rejects(self, order: list[tuple[str, str]]) -> None:
        with replacing(self._state / REJECTS) as rejects:
            for key, name in order:
                if self._shards[key].record["rejected"]:
                    with open(self._job.rejects(key), "rb") as rows:
                        for row in rows:
                            line = json.dumps({"file": name} | json.loads(row) | {"file": name})
                            rejects.write(line.encode() + b"\n")

    def _make_room(self, order: list[str]) -> None:
        """Take the shards of an earlier run from where they do not stay.

        What is renamed later replaces a file of its name; the other files of shards that are not wanted go.
        """
        places = {key: self._out / _part(number) for number, key in enumerate(order)}
        names = {path for key, place in places.items() for path, _ in self._shards[key]._replace(stem=place).paths()}
        for key, earlier in self._earlier.items():
            kept = self._shards.get(key)
            for path, file in earlier.paths():
                if kept is earlier and key in places:
                    if places[key] != earlier.stem:
                        os.replace(path, _named(self._state / key, file))
                elif path not in names:
                    path.unlink(missing_ok=True)
        flush_directory(self._out)

    def _put_in_place(self, manifest: dict[str, Any]) -> None:
        """Rename what a manifest names from the folder of the run; what is in its place already stays."""
        out, state = self._out, self._state
        for number, (key, record) in enumerate(_shards_of(manifest)):
            for path, file in _Kept(record, state / key).paths():
                if path.exists():
                    put_in_place(path, _named(out / _part(number), file))
        if (state / REJECTS).exists():
            put_in_place(state / REJECTS, out / REJECTS)
        elif not manifest["totals"]["rejected"]:
            (out / REJECTS).unlink(missing_ok=True)
        flush_directory(out)
        put_in_place(state / MANIFEST, out / MANIFEST)
        flush_directory(out)


def _totals_of(shards: list[dict[str, Any]]) -> dict[str, int]:
    totals = {name: sum(shard.get(name, 0) for shard in shards) for name in _COUNTS}
    return totals | {"longest_text": max((shard["longest_text"] for shard in shards), default=0)}


def _part(number: int) -> str:
    return f"{_PART}{number:05}"


# ---- what a manifest has to be --------------------------------------------------------------------------------------

_OTHERWISE = "put the file back as it was, or encode the texts into another directory"


def read_manifest(path: Path) -> dict[str, Any]:
    """The values of a manifest, or of a plan, which are still to be checked."""
    try:
        return read_json_object(path)
    except FileFormatError as error:
        raise FileFormatError(f"{str(error).rstrip('.')}; {_OTHERWISE}", path=path) from None


class _Kind(NamedTuple):
    """A kind of value: what a message calls it, and whether a value is one."""

    name: str
    fits: Callable[[Any], bool]


_TEXT = _Kind("a text", lambda value: isinstance(value, str))
_COUNT = _Kind("a whole number from 0", lambda value: type(value) is int and value >= 0)
_SIZE = _Kind("a whole number from 1", lambda value: type(value) is int and value >= 1)
_NUMBER = _Kind("a whole number", lambda value: type(value) is int)
_TRUTH = _Kind("true or false", lambda value: isinstance(value, bool))
_SHA256 = _Kind("a SHA-256", lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value)))
_READ = {
    **{"name": _TEXT, "size": _COUNT, "mtime_ns": _NUMBER, "sha256": _SHA256},
    "kind": _Kind("parquet, jsonl, csv, tsv or txt", lambda value: value in KINDS.values()),
}
# How often each is counted; one that a shard may lack has a question mark.
_NUMBERS = {**dict.fromkeys((*_COUNTS[:-1], "longest_text"), _COUNT), f"{_COUNTS[-1]}?": _COUNT}
_RECORD = {"input": _READ, **_NUMBERS, "files": [{"suffix": _TEXT, "bytes": _COUNT, "sha256": _SHA256}]}
_MANIFEST = {
    **dict.fromkeys(("trietok", "pyarrow"), _TEXT),
    "tokenizer": {"class": _TEXT, "fingerprint": _TEXT},
    "options": {
        **{"column": _TEXT, "drop_last": _TRUTH, "shard_bytes": _SIZE, "columns?": [_TEXT], "keep?": [_TEXT]},
        "file_format": _Kind(" or ".join(FORMATS), lambda value: value in FORMATS),
        "pack": _Kind("null or a whole number from 1", lambda value: value is None or _SIZE.fits(value)),
        "call": _Kind(
            "an object of texts", lambda value: isinstance(value, dict) and all(map(_TEXT.fits, value.values()))
        ),
    },
    "inputs": [{**_READ, "copy": _COUNT, "shards": _COUNT}],
    "set_aside": [{"name": _TEXT, "reason": _TEXT}],
    "totals": dict.fromkeys((*_COUNTS, "longest_text"), _COUNT),
    "shards": [{"input": _TEXT, **_NUMBERS, "files": [{"name": _TEXT, "bytes": _COUNT, "sha256": _SHA256}]}],
}


def _check(value: Any, wanted: Any, where: str) -> None:
    """Raise ValueError where a value of JSON is not what is wanted: a `_Kind`, or a list or an object of such."""
    if isinstance(wanted, _Kind):
        if not wanted.fits(value):
            raise ValueError(f"{where} is {value!r:.60}, not {wanted.name}")
    elif not isinstance(value, type(wanted)):
        raise ValueError(f"{where} is {value!r:.60}, not {'a list' if isinstance(wanted, list) else 'an object'}")
    elif isinstance(wanted, list):
        for number, one in enumerate(value):
            _check(one, wanted[0], f"{where}[{number}]")
    else:
        for key, inner in wanted.items():
            name = key.removesuffix("?")
            if name in value:
                _check(value[name], inner, f"{where}.{name}")
            elif name == key:
                raise ValueError(f"{where} has no {name!r}")


def check_manifest(manifest: dict[str, Any], path: Path) -> None:
    """Raise where the values of a manifest are not what they have to be, or do not agree with each other."""
    try:
        _check(manifest, _MANIFEST, "the manifest")
        _check_sums(manifest)
    except ValueError as error:
        raise FileFormatError(f"{path} is damaged: {error}; {_OTHERWISE}", path=path) from None


def _check_sums(manifest: dict[str, Any]) -> None:
    """Raise ValueError where numbers or names that follow from each other do not agree."""
    options, shards, totals = manifest["options"], manifest["shards"], manifest["totals"]
    names = [entry["name"] for entry in manifest["inputs"] for _ in range(min(entry["shards"], len(shards) + 1))]
    if names != [shard["input"] for shard in shards]:
        raise ValueError(f"it has {len(shards):,} shards, and they are not those of its inputs, file by file")
    for name, total in _totals_of(shards).items():
        if totals[name] != total:
            raise ValueError(f"its total of {name} is {totals[name]:,}, and the shards have {total:,}")
    ends = suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))
    for number, shard in enumerate(shards):
        if [file["name"] for file in shard["files"]] != [_part(number) + end for end in ends]:
            raise ValueError(f"shard {number} names other files than {', '.join(_part(number) + end for end in ends)}")
        rows = shard["texts"] if options["pack"] is None else -(-shard["tokens"] // options["pack"])
        if (_COUNTS[-1] in shard) != (options["pack"] is not None):
            raise ValueError(f"shard {number} has {_COUNTS[-1]} where it has no pack, or the other way round")
        if shard["rows"] != rows:
            raise ValueError(f"shard {number} has {shard['rows']:,} rows, and its options and counts make {rows:,}")


def rejected_rows(lines: list[bytes]) -> list[int]:
    """The numbers of the rows that lines of `rejects.jsonl` tell of; a ValueError where one tells of none."""
    try:
        entries = [json.loads(line) for line in lines]
    except RecursionError as error:
        raise ValueError(str(error)) from None
    _check(entries, [{"row": _COUNT, "reason": _TEXT}], REJECTS)
    return [entry["row"] for entry in entries]


# ---- keys -----------------------------------------------------------------------------------------------------------


def _source_of(entry: dict[str, Any]) -> Source:
    """What names the content of a file of a manifest."""
    return Source(entry["sha256"], entry["kind"], entry["copy"])


def _keys_of(entry: dict[str, Any]) -> Iterator[str]:
    """The keys of its shards."""
    return map(_source_of(entry).key, range(entry["shards"]))


def _shards_of(manifest: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keys of the shards of a manifest, in order, each with its record."""
    for key, shard in zip(chain.from_iterable(map(_keys_of, manifest["inputs"])), manifest["shards"], strict=True):
        files = [{**file, "suffix": "." + file["name"].partition(".")[2]} for file in shard["files"]]
        yield key, {**shard, "files": files}


def _first_difference(name: str, was: Any, now: Any) -> str:
    """Where two plans of a run differ, for the user to read: what the run was made with, and what this call has.

    >>> _first_difference("options", {"pack": 8, "call": {}}, {"pack": 8, "call": {"max_length": "8"}})
    "was made without options of the tokenizer's call; this call has max_length=8"
    >>> _first_difference("options", {"pack": 8}, {"pack": None})
    'was made with pack 8; this call has none'
    """
    what = name
    if isinstance(was, dict) and isinstance(now, dict):
        key = next(key for key in [*now, *was] if now.get(key) != was.get(key))
        what = _SAID.get(key, key if name == "options" else f"{name} {key}")
        was, now = was.get(key), now.get(key)
    made = f"with {what} {_plain(was)}" if _plain(was) else f"without {what}"
    return f"was made {made}; this call has {_plain(now) or 'none'}"


_SAID = {"call": "options of the tokenizer's call", "columns": "masks and type ids", "keep": "kept columns"}


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "" if value is None else str(value)
