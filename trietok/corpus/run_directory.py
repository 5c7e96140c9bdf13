"""The directory of a run: what an earlier run has left in it, and how finished shards become its files, all or none.

In: the plan of a run, and the shards that are wanted in it, by their keys. Out: `part-*` files in their order,
`rejects.jsonl` where rows were skipped, `shards-*.jsonl` and `sources-*.jsonl` with a line for each shard and for each
stretch of a file that it was made of, and `manifest.json`, which names those.

While a run is at work its shards are in a folder of the directory, each under its key with a record of it, so that they
are found again in whatever order the next run wants them. At the end they are renamed. The new manifest is written to
that folder first: where a process is killed while shards are renamed, the next one finds it there and renames the rest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.encode_shard import GOES_ON, PART, RECORD, STATE_FOLDER, ShardJob
from trietok.corpus.shard_files import FORMATS, suffixes
from trietok.corpus.shard_plan import Shard
from trietok.disk import FULL, UNFINISHED, checksum, flush_directory, put_in_place, replacing
from trietok.errors import FileError, FileFormatError, InputError
from trietok.files.atomic import DirectoryBusyError, alone
from trietok.files.formats import read_json_object
from trietok.files.texts import KINDS
from trietok.worker_pool import interrupts_held

MANIFEST, PLAN, REJECTS = "manifest.json", "plan.json", "rejects.jsonl"
MANIFEST_FORMAT, _FORMER_FORMAT = "trietok-corpus-3", "trietok-corpus-2"
FORMATS_READ = (MANIFEST_FORMAT, _FORMER_FORMAT)
_SHARDS, _SOURCES = "shards", "sources"  # how the names of the manifest's parts begin
_MOST_LINES = 100_000  # of a part
_MOST_SIMILAR = 16  # shards of which one may be what a planned one would be
_COUNTS = ("rows", "tokens", "texts", "text_bytes", "rejected", "dropped_tokens")


def _named(stem: Path, file: dict[str, Any]) -> Path:
    return stem.with_name(stem.name + file["suffix"])


class Kept(NamedTuple):
    record: dict[str, Any]
    stem: Path  # the path of each of its files, without the suffix that the record names
    key: str  # under which it was made

    def paths(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        for file in self.record["files"]:
            yield _named(self.stem, file), file


class RunDirectory:
    """A directory that a run fills, or goes on with; its `plan` is all that shards depend on, but for the files.

    Attributes:
        kept: the records of the finished shards that are there, by key; to be verified are none.
        removed: after `finish`, how many shards were removed of each file that is not in the run any more, by name.
    """

    def __init__(self, job: ShardJob, plan: dict[str, Any]) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.removed: dict[str, int] = {}
        self._job = job
        self._out, self._state = job.out, job.state
        self._plan = plan
        options = plan["options"]
        self._suffixes = suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))
        self._manifest: dict[str, Any] | None = None  # of an earlier run, which is finished
        self._earlier: list[Kept] = []  # its shards, whole or not
        self._shards: dict[str, Kept] = {}
        self._claimed: set[str] = set()  # those of them that this run has, or puts others in the place of
        self._similar: dict[tuple[Any, ...], dict[tuple[str, ...], str]] = {}  # their keys by shape and checksums
        self._rejects: dict[str, list[dict[str, Any]]] = {}  # the rows that those of `_earlier` skipped, by key

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
                    stays = f"Finished shards stay in {self._job.name}; {GOES_ON}"
                    raise FileError(f"cannot write {path}: {error.strerror}. {stays}", path=path) from error
                finally:
                    with interrupts_held():
                        self._clear()
                        if {path.name for path in self._state.glob("*")} == {PLAN}:  # there is nothing to go on with
                            shutil.rmtree(self._state, ignore_errors=True)
        except DirectoryBusyError as error:
            raise InputError(f"another run is at work in {self._job.name}, {error}; wait for its end") from None

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
                raise self._is_taken()
            if begun:
                self._put_in_place(self._read_manifest(state / MANIFEST))
            if (out / MANIFEST).exists():
                self._manifest = self._read_manifest(out / MANIFEST)
                self._compare(self._manifest)
            else:
                self._compare(read_manifest(state / PLAN))
        self._refuse_other_files()
        self._begin(resume)

    def _is_taken(self) -> InputError:
        how = "go on with its run (resume=True, --resume), give another directory, or replace it (--force)"
        return InputError(f"{self._out} is there already; {how}")

    def _begin(self, resume: bool) -> None:
        if self._manifest is None:
            write_whole(self._state / PLAN, json.dumps(self._plan).encode())

    def _read_manifest(self, path: Path) -> dict[str, Any]:
        manifest = read_manifest(path)
        if manifest.get("format") != MANIFEST_FORMAT:
            self._compare(manifest)
        return with_parts(manifest, path, partial(self._read_part, path.parent))

    def _read_part(self, folder: Path, name: str) -> bytes:
        """A part of the manifest in a folder: one that is killed may have moved it to its place already."""
        return (folder / name if (folder / name).exists() else self._out / name).read_bytes()

    def _compare(self, earlier: dict[str, Any]) -> None:
        """Raise if the run in the directory has another plan."""
        for name, value in self._plan.items():
            if earlier.get(name) != value:
                difference = _first_difference(name, earlier.get(name), value)
                if earlier.get(name) == _FORMER_FORMAT:
                    difference += "; open_corpus reads it as it is"
                raise InputError(f"{self._job.name} holds a run that {difference}; encode into another directory")

    def _refuse_other_files(self) -> None:
        """Raise if there is a shard file of another run: what reads all files would read that one too."""
        expected: set[str] = set()
        if self._manifest is not None:
            expected = named_in(self._manifest["shards"])
            expected |= {REJECTS} if self._manifest["totals"]["rejected"] else set()
        there = {path.name for path in self._out.iterdir() if path.name == REJECTS or path.name.startswith(PART)}
        others = sorted(there - expected)
        if others:
            named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
            raise InputError(
                f"{self._out} holds files that are not of this run: {named}; encode into another directory, or "
                "remove them"
            )

    def _find_kept(self, verify: bool) -> None:
        self._clear()
        for path in sorted(self._state.glob(f"*{RECORD}")):
            key = path.name.removesuffix(RECORD)
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                _check(record, _RECORD, "record")
                _check_counts(record, self._job.pack, "record")
                has_files = [file["suffix"] for file in record["files"]] in ([], self._suffixes)
                if len(record.pop("rejects", ())) != record["rejected"] or not has_files:
                    continue
            except (ValueError, RecursionError):  # the system stopped before it was on the disk
                continue
            kept = Kept(record, self._made(key), key)
            if self._is_there(kept, verify):
                self._shards[key] = kept
        if self._manifest is not None:
            self._find_earlier(self._manifest, verify)
        for key, kept in self._shards.items():
            sources = kept.record["sources"]
            shape = tuple((one["kind"], one["size"], one.get("start", 0), one.get("end")) for one in sources)
            checksums = tuple(one["sha256"] for one in sources)
            self._similar.setdefault(shape, {})[checksums] = key
        self.kept = {} if verify else {key: kept.record for key, kept in self._shards.items()}

    def _find_earlier(self, manifest: dict[str, Any], verify: bool) -> None:
        rejects: list[dict[str, Any]] = []
        with contextlib.suppress(OSError, ValueError):
            rejects = rejected_rows((self._out / REJECTS).read_bytes().splitlines())
        left = iter(rejects if len(rejects) == manifest["totals"]["rejected"] else ())
        for shard in manifest["shards"]:
            key, record = _record_of(shard)
            earlier = Kept(record, self._out / _stem_of(shard), key)
            self._earlier.append(earlier)
            # A process may have moved it that was killed before the new order was there.
            moved = earlier._replace(stem=self._made(key))
            rows = [*islice(left, record["rejected"])]
            if key not in self._shards and len(rows) == record["rejected"]:
                kept = moved if self._is_there(moved, False) else earlier
                if self._is_there(kept, verify):
                    self._shards[key], self._rejects[key] = kept, rows

    def _made(self, key: str) -> Path:
        """Where a shard is that was made, without the suffixes of its files."""
        return self._state / key

    def _is_there(self, kept: Kept, by_checksum: bool) -> bool:
        return all(
            path.is_file()
            and path.stat().st_size == file["bytes"]
            and (not by_checksum or checksum(path) == file["sha256"])
            for path, file in kept.paths()
        )

    @property
    def finished(self) -> int:
        """How many finished shards there are."""
        return len({kept.stem for kept in self._shards.values()})

    def claim(self, key: str) -> bool:
        """Whether a shard is there already; then this run has it, and it cannot be adopted any more."""
        if key in self.kept:
            self._claimed.add(key)
        return key in self.kept

    def similar(self, shard: Shard) -> tuple[tuple[str, ...], ...]:
        """The checksums of what shards were made of that are there, and may be what a planned one would be."""
        found = self._similar.get(_shape_of(shard), {})
        return tuple(islice((sums for sums, key in found.items() if key not in self._claimed), _MOST_SIMILAR))

    def adopt(self, shard: Shard, checksums: tuple[str, ...]) -> bool:
        """Have a shard be one that is there, of files with the same bytes; False where that one is taken."""
        key = self._similar[_shape_of(shard)][checksums]
        if key in self._claimed:
            return False
        kept = self._shards[key]
        sources = [
            {**source, "name": one.file.name, "mtime_ns": one.file.mtime_ns}
            for source, one in zip(kept.record["sources"], shard.stretches, strict=True)
        ]
        self._claimed |= {key, shard.key}
        self._shards[shard.key] = kept._replace(record={**kept.record, "sources": sources})
        self.kept[shard.key] = self._shards[shard.key].record
        return True

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Have a shard that was made now."""
        self._shards[key] = Kept(record, self._made(key), key)
        self._rejects.pop(key, None)
        self.kept[key] = record
        self._claimed.add(key)

    def _clear(self) -> None:
        """Remove what is unfinished."""
        for path in sorted(self._state.iterdir()) if self._state.is_dir() else ():
            if path.name.startswith(UNFINISHED):
                path.unlink(missing_ok=True)

    # ---- what shall be there ----------------------------------------------------------------------------------------

    def finish(self, order: list[str], set_aside: list[dict[str, str]]) -> dict[str, Any]:
        """Put the shards with some keys in place, in this order, and others away; what is in the manifest."""
        self._refuse_other_files()
        places = self._places(order)
        shards = [self._entry(key, place) for key, place in places.items()]
        listed = {source["name"] for shard in shards for source in shard["sources"]}
        self.removed = self._not_wanted(listed | {file["name"] for file in set_aside}, order)
        totals = _totals_of(shards)
        whole = {**self._plan, "set_aside": set_aside, "totals": totals, "shards": shards}
        whole["inputs"] = _inputs_of(shards)
        stay = {str(earlier.stem) for earlier in self._earlier}
        if whole != self._manifest or any(str(self._shards[key].stem) not in stay for key in order):
            if totals["rejected"]:
                self._write_rejects(order)
            self._make_room(places)
            parts = []
            for begin, number, raw in parts_of(shards):
                name = f"{begin}-{self._mark(number, raw)}.jsonl"
                write_whole(self._state / name, raw)
                parts.append(_described(name, raw))
            small = {**self._plan, "set_aside": set_aside, "totals": totals, "parts": parts}
            # From here on the new order is decided: a run that is killed now is brought to its end by the next one.
            write_whole(self._state / MANIFEST, (json.dumps(small, indent=1) + "\n").encode())
            self._put_in_place(whole)
        self._end(whole)
        return whole

    def _end(self, manifest: dict[str, Any]) -> None:
        """Take away what the run needs no more."""
        shutil.rmtree(self._state, ignore_errors=True)

    def _mark(self, number: int, part: bytes) -> str:
        """What tells the name of a part of the manifest from those of others."""
        return f"{number:05}"

    def _places(self, order: list[str]) -> dict[str, Path]:
        """Where the files of each shard shall be, without what their names end with; shards without files have none."""
        numbers = count()
        has_files = {key: bool(self._shards[key].record["files"]) for key in order}
        return {key: self._out / (f"{PART}{next(numbers):05}" if has_files[key] else "") for key in order}

    def _not_wanted(self, listed: set[str], order: list[str]) -> dict[str, int]:
        """How many shards go of each file that is not listed any more, by its name."""
        stay = {self._shards[key].stem for key in order}
        gone = {kept.stem: kept for kept in (*self._earlier, *self._shards.values()) if kept.stem not in stay}
        names = (name for kept in gone.values() for name in {source["name"] for source in kept.record["sources"]})
        return dict(Counter(name for name in names if name not in listed))

    def _entry(self, key: str, place: Path) -> dict[str, Any]:
        """What the manifest says of a shard."""
        record = self._shards[key].record
        files = [
            {"name": place.name + file["suffix"], "bytes": file["bytes"], "sha256": file["sha256"]}
            for file in record["files"]
        ]
        return {"key": key, **record, "files": files}

    def _write_rejects(self, order: list[str]) -> None:
        with replacing(self._state / REJECTS) as rejects:
            for kept in (kept for kept in map(self._shards.__getitem__, order) if kept.record["rejected"]):
                rows = self._rejects.get(kept.key) or json.loads(self._job.record(kept.key).read_bytes())["rejects"]
                left = iter(rows)
                for source in kept.record["sources"]:  # a file may have another name now
                    for row in islice(left, source["rejected"]):
                        rejects.write(json.dumps({**row, "file": source["name"]}).encode() + b"\n")

    def _make_room(self, places: dict[str, Path]) -> None:
        """Take the shards of an earlier run from where they do not stay.

        What is renamed later replaces a file of its name; the other files of shards that are not wanted go.
        """
        stay = {path for key, place in places.items() for path, _ in self._shards[key]._replace(stem=place).paths()}
        for key, place in places.items():
            kept = self._shards[key]
            if kept.stem not in (place, self._state / key):
                stay |= {path for path, _ in kept.paths()}
                for path, file in kept.paths():
                    os.replace(path, _named(self._state / key, file))
        for path in (path for earlier in self._earlier for path, _ in earlier.paths()):
            if path not in stay:
                path.unlink(missing_ok=True)
        flush_directory(self._out)

    def _put_in_place(self, manifest: dict[str, Any]) -> None:
        """Rename what a manifest names from the folder of the run; what is in its place already stays."""
        out, state, parts = self._out, self._state, parts_in(self._state / MANIFEST)
        named = {name: name for name in (REJECTS, *parts)}
        for shard in manifest["shards"]:
            named |= {f"{shard['key']}.{name.partition('.')[2]}": name for name in named_in([shard])}
        for made, name in named.items():
            if (state / made).exists():
                put_in_place(state / made, out / name)
        if not manifest["totals"]["rejected"]:
            (out / REJECTS).unlink(missing_ok=True)
        flush_directory(out)
        put_in_place(state / MANIFEST, out / MANIFEST)
        flush_directory(out)
        for path in chain(*(out.glob(f"{begin}-*.jsonl") for begin in (_SHARDS, _SOURCES))):
            if path.name not in parts:
                path.unlink()


def named_in(shards: Iterable[dict[str, Any]]) -> set[str]:
    """The names of the files of shards of a manifest."""
    return {file["name"] for shard in shards for file in shard["files"]}


def write_whole(path: Path, raw: bytes) -> None:
    """Replace a file, whole or not at all; a full disk is an `OSError` that names it."""
    with replacing(path) as file:
        file.write(raw)


def _totals_of(shards: list[dict[str, Any]]) -> dict[str, int]:
    totals = {name: sum(shard.get(name, 0) for shard in shards) for name in _COUNTS}
    return totals | {"longest_text": max((shard["longest_text"] for shard in shards), default=0)}


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
_FILE = {"name": _TEXT, "bytes": _COUNT, "sha256": _SHA256}
_READ = {
    **{"name": _TEXT, "size": _COUNT, "mtime_ns": _NUMBER, "sha256": _SHA256},
    "kind": _Kind("parquet, jsonl, csv, tsv or txt", lambda value: value in KINDS.values()),
}
# How often each is counted; one that a shard may lack has a question mark.
_NUMBERS = {**dict.fromkeys((*_COUNTS[:-1], "longest_text"), _COUNT), f"{_COUNTS[-1]}?": _COUNT}
_COUNTED = {"name": _TEXT, "texts": _COUNT, "rejected": _COUNT}
_REJECTS = [{"row": _COUNT, "reason": _TEXT}]
_RECORD = {
    "sources": [{**_READ, **_COUNTED, "start?": _COUNT, "end?": _COUNT}],
    **_NUMBERS,
    "files": [{"suffix": _TEXT, "bytes": _COUNT, "sha256": _SHA256}],
    "rejects?": _REJECTS,
}
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
    "set_aside": [{"name": _TEXT, "reason": _TEXT}],
    "totals": dict.fromkeys((*_COUNTS, "longest_text"), _COUNT),
    "shards": [{"sources": [_COUNTED], **_NUMBERS, "files": [_FILE]}],
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


def _check_sums(manifest: dict[str, Any]) -> None:
    """Raise ValueError where numbers or names that follow from each other do not agree."""
    options, shards, totals = manifest["options"], manifest["shards"], manifest["totals"]
    for name, total in _totals_of(shards).items():
        if totals[name] != total:
            raise ValueError(f"its total of {name} is {totals[name]:,}, and the shards have {total:,}")
    ends = suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))
    for number, shard in enumerate(shards):
        names = [_stem_of(shard) + end for end in ends]
        if [file["name"] for file in shard["files"]] not in ([], names) or os.path.basename(names[0]) != names[0]:
            raise ValueError(f"shard {number} names other files than {', '.join(names)}")
        _check_counts(shard, options["pack"], f"shard {number}")


def _check_counts(shard: dict[str, Any], pack: int | None, where: str) -> None:
    for name in ("texts", "rejected"):
        if sum(source[name] for source in shard["sources"]) != shard[name]:
            raise ValueError(f"{where} has {shard[name]:,} {name}, and its sources have others")
    if (_COUNTS[-1] in shard) != (pack is not None):
        raise ValueError(f"{where} has {_COUNTS[-1]} where it has no pack, or the other way round")
    if shard["rows"] and not shard["files"]:
        raise ValueError(f"{where} has {shard['rows']:,} rows, and no files")
    rows = shard["texts"] if pack is None else -(-shard["tokens"] // pack)
    if shard["rows"] != rows:
        raise ValueError(f"{where} has {shard['rows']:,} rows, and its options and counts make {rows:,}")


def rejected_rows(lines: list[bytes]) -> list[dict[str, Any]]:
    """The rows that lines of `rejects.jsonl` tell of; a ValueError where one tells of none."""
    try:
        entries = [json.loads(line) for line in lines]
    except RecursionError as error:
        raise ValueError(str(error)) from None
    _check(entries, _REJECTS, REJECTS)
    return entries


# ---- the parts of a manifest -----------------------------------------------------------------------------------------


def parts_of(shards: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, bytes]]:
    """The parts of a manifest, with kind and number: lines of JSON, one for each shard, and one for each source."""
    of_shards = ({**shard, "sources": len(shard["sources"])} for shard in shards)
    of_sources = (source for shard in shards for source in shard["sources"])
    for begin, entries in ((_SHARDS, of_shards), (_SOURCES, of_sources)):
        for number in count():
            lines = [json.dumps(entry) + "\n" for entry in islice(entries, _MOST_LINES)]
            if not lines:
                break
            yield begin, number, "".join(lines).encode()


def parts_in(path: Path) -> set[str]:
    """The names of the parts of a manifest."""
    return {part["name"] for part in json.loads(path.read_bytes())["parts"]}


def _described(name: str, raw: bytes) -> dict[str, Any]:
    """What a manifest says of a part of it."""
    return {"name": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def with_parts(manifest: dict[str, Any], path: Path, read: Callable[[str], bytes]) -> dict[str, Any]:
    """A manifest with its shards and inputs, checked; `read` gives the bytes of a part. Damage is a FileFormatError."""
    try:
        if manifest["format"] == _FORMER_FORMAT:
            shards = [{**shard, "sources": [{**shard, "name": shard["input"]}]} for shard in manifest["shards"]]
        else:
            _check(manifest.get("parts"), [_FILE], "the manifest.parts")
            shards = _shards_in(manifest["parts"], read)
        whole = {**{name: value for name, value in manifest.items() if name != "parts"}, "shards": shards}
        _check(whole, _MANIFEST, "the manifest")
        _check_sums(whole)
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is damaged: {error}; {_OTHERWISE}", path=path) from None
    return {**whole, "inputs": _inputs_of(shards)}


def _shards_in(parts: list[dict[str, Any]], read: Callable[[str], bytes]) -> list[dict[str, Any]]:
    lines: dict[str, list[Any]] = {_SHARDS: [], _SOURCES: []}
    for part in parts:
        name = part["name"]
        begin = re.sub(r"-[0-9]{5,}\.jsonl$", "", name)
        if begin not in lines:
            raise ValueError(f"it names a part {name!r:.60}")
        try:
            raw = read(name)
        except OSError as error:
            raise ValueError(f"its part {name} cannot be read: {error.strerror}") from None
        if part != _described(name, raw):
            raise ValueError(f"its part {name} does not have the size and the checksum that it says")
        lines[begin] += map(json.loads, raw.splitlines())
    if sum(shard["sources"] for shard in lines[_SHARDS]) != len(lines[_SOURCES]):
        raise ValueError("its parts do not go together")
    sources = iter(lines[_SOURCES])
    return [{**shard, "sources": [*islice(sources, shard["sources"])]} for shard in lines[_SHARDS]]


def _inputs_of(shards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The files that shards were made of, in their order; the checksum of one that was read as a whole."""
    inputs: dict[str, dict[str, Any]] = {}
    for source in (source for shard in shards for source in shard["sources"]):
        told = {name: source[name] for name in _READ if name in source and (name != "sha256" or "end" not in source)}
        inputs.setdefault(source["name"], told)
    return [*inputs.values()]


def _shape_of(shard: Shard) -> tuple[Any, ...]:
    """What the files of shards must have in common to be looked into whether they are the same."""
    return tuple((one.file.kind, one.file.size, *one[1:3]) for one in shard.stretches)


def _record_of(shard: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key of a shard of a manifest, and its record."""
    files = [{**file, "suffix": "." + file["name"].partition(".")[2]} for file in shard["files"]]
    return shard["key"], {**{name: value for name, value in shard.items() if name != "key"}, "files": files}


def _stem_of(shard: dict[str, Any]) -> str:
    """How the names of a shard's files begin; nothing where there are none."""
    return str(shard["files"][0]["name"]).partition(".")[0] if shard["files"] else ""


def _first_difference(name: str, was: Any, now: Any) -> str:
    """Where two plans of a run differ, for the user to read: what the run was made with, and what this call has."""
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
