"""The directory of a run: what an earlier run has left in it, and how finished shards become its
files, all or none.

A finished run has `part-*.parquet`, the shards in their order, and `rejects.jsonl` if rows were
skipped. `shards-*.jsonl` has a line for each shard, and `sources-*.jsonl` one for each stretch of a
file that a shard was made of. `manifest.json` names these files.

While a run is at work its shards are in a folder of the directory, each under its key with a record
of it, so that they are found again in whatever order the next run wants them. At the end they are
renamed. The new manifest is written to that folder first: where a process is killed while shards
are renamed, the next one finds it there and renames the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.batches.encode_shard import (
    GOES_ON,
    RECORD_SUFFIX,
    STATE_FOLDER,
    TEMPORARY,
    ShardJob,
    checksum,
)
from trietok.batches.input_files import TextFile
from trietok.batches.manifest import (
    MANIFEST_FORMAT,
    PART,
    REJECTS,
    SHARDS,
    SOURCES,
    check_counts,
    check_record,
    described_part,
    inputs_of,
    is_size,
    named_in,
    parts_in,
    parts_of,
    read_manifest,
    rejected_rows,
    totals_of,
    with_parts,
)
from trietok.batches.shard_plan import Shard, text_bytes_of
from trietok.disk import FULL, NEW, flush_directory, locked_directory, replacing
from trietok.errors import FileError, InputError
from trietok.files.new_directory import make_directory
from trietok.showing.characters import first_few
from trietok.worker_pool import interrupts_held

MANIFEST, PLAN = "manifest.json", "plan.json"
# How much text a shard has where nobody says it: by how much all files have, in bytes. So a small
# corpus has shards for many workers, and a large one thousands of files, not hundreds of thousands.
_SHARD_BYTES = ((1_000_000_000_000, 512_000_000), (2_000_000_000, 128_000_000), (0, 16_000_000))


class KeptShard(NamedTuple):
    record: dict[str, Any]
    path: Path | None  # of its file; None if it has no rows, and so no file


class RunDirectory:
    """A directory that a run fills, or goes on with; `plan` is what shards depend on beside files.

    Attributes:
        kept: the records of the finished shards that are there, by key; to be verified are none.
        removed: after `finish`, how many shards were removed of each file that is not in the run
            any more, by name.
    """

    def __init__(self, job: ShardJob, plan: dict[str, Any], inputs: Sequence[TextFile]) -> None:
        self.kept: dict[str, dict[str, Any]] = {}
        self.removed: dict[str, int] = {}
        self._job, self._plan = job, plan
        self._out, self._state = job.out, job.state
        self._manifest: dict[str, Any] | None = None  # of an earlier run, which is finished
        self._earlier: dict[str, KeptShard] = {}  # its shards, whole or not, by key
        self._shards: dict[str, KeptShard] = {}  # those that are there, by key
        self._text_bytes = sum(map(text_bytes_of, inputs))
        self._rejects: dict[str, list[dict[str, Any]]] = {}  # what `_earlier` ones skipped, by key

    # ---- what is there already -------------------------------------------------------------------

    @contextlib.contextmanager
    def opened(self, resume: bool, verify: bool) -> Iterator[None]:
        """Be alone in the directory for a `with` block, with what it holds of this run.

        With `verify`, the checksums of the shards that are there are compared, and none of them is
        kept before those of its files are.
        """
        self._make()
        with locked_directory(self._state) as is_alone:  # one run at a time in a directory
            if is_alone is False:
                told = f"another run is at work in {self._out}; wait for its end"
                raise InputError(told)
            try:
                self._agree(resume)
                self._find_kept(verify)
                yield
            except OSError as error:
                if error.errno not in FULL:
                    raise
                path = error.filename or self._out
                told = f"cannot write {path}: {error.strerror}. Finished shards stay in"
                raise FileError(f"{told} {self._out}; {GOES_ON}", path=path) from error
            finally:
                with interrupts_held():
                    self._clear()
                    if {path.name for path in self._state.glob("*")} == {PLAN}:
                        shutil.rmtree(self._state, ignore_errors=True)

    def _make(self) -> None:
        out = self._out
        try:
            make_directory(out)
            there = {path.name for path in out.iterdir()}
            if there and not there & {STATE_FOLDER, MANIFEST}:
                told = f"{out} holds {min(there)!r}, which belongs to no run"
                raise InputError(f"{told}; give an empty directory")
            self._state.mkdir(exist_ok=True)
            self._refuse_odd_files()
            flush_directory(out)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError(f"{out} is a file, or below one; give a directory") from error
        except OSError as error:
            raise FileError(f"cannot write to {out}: {error.strerror}", path=out) from error

    def _refuse_odd_files(self) -> None:
        """Raise an InputError for a link, a pipe or a folder among the files of a run: what is
        written, read or given other rights through a link is elsewhere.
        """
        advice = "remove it, or give an empty directory"
        if self._state.is_symlink():
            raise InputError(f"{self._state} is not a folder; {advice}")
        ours = (PART, SHARDS, SOURCES, MANIFEST, REJECTS)
        for folder, beginnings in ((self._out, ours), (self._state, "")):
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(beginnings) and not entry.is_file(
                        follow_symlinks=False
                    ):
                        raise InputError(f"{entry.path} is not a regular file; {advice}")

    def _agree(self, resume: bool) -> None:
        """Check that the directory holds this run; one without finished shards may go."""
        out, state = self._out, self._state
        begun = (state / MANIFEST).exists()
        if (out / MANIFEST).exists() or begun or any(state.glob(f"*{RECORD_SUFFIX}")):
            if not resume:
                how = "go on with its run (resume=True, --resume), give another directory, or"
                raise InputError(f"{out} is there already; {how} replace it (--force)")
            if begun:
                self._put_in_place(self._read_manifest(state / MANIFEST))
            if (out / MANIFEST).exists():
                self._manifest = self._read_manifest(out / MANIFEST)
                self._compare(self._manifest)
            else:
                self._compare(read_manifest(state / PLAN))
        if self.shard_bytes is None:
            least = (size for of_all, size in _SHARD_BYTES if self._text_bytes >= of_all)
            self._plan["options"]["shard_bytes"] = next(least)
        self._refuse_other_files()
        if self._manifest is None:
            write_whole(self._state / PLAN, json.dumps(self._plan).encode())

    @property
    def shard_bytes(self) -> Any:
        """About how many bytes of text a shard has, where need be as in an earlier run."""
        return self._plan["options"]["shard_bytes"]

    def _read_manifest(self, path: Path) -> dict[str, Any]:
        manifest = read_manifest(path)
        if manifest.get("format") != MANIFEST_FORMAT:
            self._compare(manifest)
        return with_parts(manifest, path, partial(self._read_part, path.parent))

    def _read_part(self, folder: Path, name: str) -> bytes:
        """A part of the manifest in a folder; one that was killed may have moved it already."""
        return (folder / name if (folder / name).exists() else self._out / name).read_bytes()

    def _compare(self, earlier: dict[str, Any]) -> None:
        """Raise if the run in the directory has another plan."""
        if self.shard_bytes is None and isinstance(earlier.get("options"), dict):
            size = earlier["options"].get("shard_bytes")
            self._plan["options"]["shard_bytes"] = size if is_size(size) else None
        for name, value in self._plan.items():
            if earlier.get(name) != value:
                difference = _first_difference(name, earlier.get(name), value)
                told = f"{self._out} holds a run that {difference}"
                raise InputError(f"{told}; encode into another directory")

    def _refuse_other_files(self) -> None:
        """Raise if there is a shard file of another run, which would be read with ours."""
        expected: set[str] = set()
        if self._manifest is not None:
            expected = named_in(self._manifest["shards"])
            expected |= {REJECTS} if self._manifest["totals"]["rejected"] else set()
        there = {path.name for path in self._out.iterdir()} - expected
        others = sorted(name for name in there if name == REJECTS or name.startswith(PART))
        if others:
            told = f"{self._out} holds files that are not of this run: {first_few(others, 3)}"
            raise InputError(f"{told}; encode into another directory, or remove them")

    def _find_kept(self, verify: bool) -> None:
        self._clear()
        for path in sorted(self._state.glob(f"*{RECORD_SUFFIX}")):
            key = path.name.removesuffix(RECORD_SUFFIX)
            try:
                record = json.loads(path.read_text(encoding="utf-8"))
                check_record(record)
                check_counts(record, "record")
                if len(record.pop("rejects", ())) != record["rejected"]:
                    continue
            except (ValueError, RecursionError):  # the system stopped before it was on the disk
                continue
            kept = self._made(key, record)
            if _is_there(kept, verify):
                self._shards[key] = kept
        if self._manifest is not None:
            self._find_earlier(self._manifest, verify)
        self.kept = {} if verify else {key: kept.record for key, kept in self._shards.items()}

    def _find_earlier(self, manifest: dict[str, Any], verify: bool) -> None:
        rejects: list[dict[str, Any]] = []
        with contextlib.suppress(OSError, ValueError):
            rejects = rejected_rows((self._out / REJECTS).read_bytes().splitlines())
        left = iter(rejects if len(rejects) == manifest["totals"]["rejected"] else ())
        for shard in manifest["shards"]:
            key, record = shard["key"], {name: shard[name] for name in shard if name != "key"}
            path = self._out / record["file"]["name"] if "file" in record else None
            earlier = self._earlier[key] = KeptShard(record, path)
            # A process may have moved it that was killed before the new order was there.
            moved = self._made(key, record)
            rows = [*islice(left, record["rejected"])]
            if key not in self._shards and len(rows) == record["rejected"]:
                kept = moved if _is_there(moved, True) else earlier
                if _is_there(kept, verify):
                    self._shards[key], self._rejects[key] = kept, rows

    def _made(self, key: str, record: dict[str, Any]) -> KeptShard:
        """A shard whose file is still in the folder of the run."""
        return KeptShard(record, self._job.made(key) if "file" in record else None)

    @property
    def finished(self) -> int:
        """How many finished shards there are."""
        return len(self._shards)

    def known(self, shard: Shard) -> tuple[str, ...]:
        """The checksums of the files that a shard was made of, which are to be verified."""
        kept = self._shards.get(shard.key)
        return () if kept is None else _checksums_of(kept)

    def keep(self, key: str) -> None:
        """Have a shard that is there, whose files have the known checksums."""
        self.kept[key] = self._shards[key].record

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Have a shard that was made now."""
        self._shards[key] = self._made(key, record)
        self._rejects.pop(key, None)
        self.kept[key] = record

    def _clear(self) -> None:
        """Remove what is unfinished."""
        for path in sorted(self._state.iterdir()) if self._state.is_dir() else ():
            if path.name.startswith(TEMPORARY) or path.name.endswith(NEW):
                path.unlink(missing_ok=True)

    # ---- what shall be there ---------------------------------------------------------------------

    def finish(self, order: list[str], set_aside: list[dict[str, str]]) -> dict[str, Any]:
        """Put the shards with some keys in place, in order, and others away; the manifest."""
        self._refuse_other_files()
        self._require_all_there(order)
        places = self._places(order)
        shards = [self._entry(key, places.get(key)) for key in order]
        listed = {source["name"] for shard in shards for source in shard["sources"]}
        self.removed = self._not_wanted(listed | {file["name"] for file in set_aside}, order)
        totals = totals_of(shards)
        whole = {**self._plan, "set_aside": set_aside, "totals": totals, "shards": shards}
        whole["inputs"] = inputs_of(shards)
        is_moved = any(self._shards[key].path != place for key, place in places.items())
        if whole != self._manifest or is_moved:
            if totals["rejected"]:
                with replacing(self._state / REJECTS) as rejects:
                    for row in self.rejected(order):
                        rejects.write(json.dumps(row).encode() + b"\n")
            self._make_room(places)
            parts = []
            for begin, number, raw in parts_of(shards):
                name = f"{begin}-{number:05}.jsonl"
                write_whole(self._state / name, raw)
                parts.append(described_part(name, raw))
            small = {**self._plan, "set_aside": set_aside, "totals": totals, "parts": parts}
            # From here on the new order is decided: a run that is killed now is brought to its end
            # by the next one.
            write_whole(self._state / MANIFEST, (json.dumps(small, indent=1) + "\n").encode())
            self._put_in_place(whole)
        shutil.rmtree(self._state, ignore_errors=True)
        return whole

    def _require_all_there(self, order: list[str]) -> None:
        """Raise where a file is not there, or has another size.

        The checksum of what was there before is compared with `verify` only: it takes as long as to
        read all of it.
        """
        for kept in map(self._shards.__getitem__, order):
            if kept.path is not None and not _is_there(kept, False):
                told = f"{kept.path} has gone, or changed, while the run was at work; {GOES_ON}"
                raise FileError(told, path=kept.path)

    def _places(self, order: list[str]) -> dict[str, Path]:
        """Where the file of each shard shall be that has one."""
        numbers = count()
        return {
            key: self._out / f"{PART}{next(numbers):05}.parquet"
            for key in order
            if self._shards[key].path is not None
        }

    def _not_wanted(self, listed: set[str], order: list[str]) -> dict[str, int]:
        """How many shards go of each file that is not listed any more, by its name."""
        there, stay = {**self._earlier, **self._shards}, set(order)
        gone = (kept.record["sources"] for key, kept in there.items() if key not in stay)
        names = chain.from_iterable({source["name"] for source in sources} for sources in gone)
        return dict(Counter(name for name in names if name not in listed))

    def _entry(self, key: str, place: Path | None) -> dict[str, Any]:
        """What the manifest says of a shard."""
        entry = {"key": key, **self._shards[key].record}
        if place is not None:
            file = entry["file"]
            entry["file"] = {"name": place.name, "bytes": file["bytes"], "sha256": file["sha256"]}
        return entry

    def rejected(self, order: list[str]) -> Iterator[dict[str, Any]]:
        """The rows without text of the shards with some keys, as far as these are finished."""
        for key in order:
            if key in self._shards and self._shards[key].record["rejected"]:
                record = self._job.record(key)
                yield from self._rejects.get(key) or json.loads(record.read_bytes())["rejects"]

    def _make_room(self, places: dict[str, Path]) -> None:
        """Take the shards of an earlier run from where they do not stay.

        What is renamed later replaces a file of its name; the other files of shards that are not
        wanted go.
        """
        stay = set(places.values())
        for key, place in places.items():
            path, made = self._shards[key].path, self._job.made(key)
            if path is not None and path not in (place, made):
                stay.add(path)
                os.replace(path, made)
        for earlier in self._earlier.values():
            if earlier.path is not None and earlier.path not in stay:
                earlier.path.unlink(missing_ok=True)
        flush_directory(self._out)

    def _put_in_place(self, manifest: dict[str, Any]) -> None:
        """Rename from the run's folder what a manifest names; what is in place already stays."""
        out, state, parts = self._out, self._state, parts_in(self._state / MANIFEST)
        named = {name: name for name in (REJECTS, *parts)}
        for shard in manifest["shards"]:
            named |= {self._job.made(shard["key"]).name: name for name in named_in([shard])}
        for made, name in named.items():
            if (state / made).exists():
                os.replace(state / made, out / name)
        if not manifest["totals"]["rejected"]:
            (out / REJECTS).unlink(missing_ok=True)
        flush_directory(out)
        os.replace(state / MANIFEST, out / MANIFEST)
        flush_directory(out)
        for path in chain(*(out.glob(f"{begin}-*.jsonl") for begin in (SHARDS, SOURCES))):
            if path.name not in parts:
                path.unlink()


def write_whole(path: Path, raw: bytes) -> None:
    """Replace a file, whole or not at all; a full disk is an `OSError` that names it."""
    with replacing(path) as file:
        file.write(raw)


def _is_there(kept: KeptShard, by_checksum: bool) -> bool:
    """Whether the file of a shard is whole; one without a file is."""
    if kept.path is None:
        return True
    file = kept.record["file"]
    if not kept.path.is_file() or kept.path.stat().st_size != file["bytes"]:
        return False
    return not by_checksum or checksum(kept.path) == file["sha256"]


def _checksums_of(kept: KeptShard) -> tuple[str, ...]:
    """What says whether a shard is the same; nothing where that depends on what is elsewhere.

    Rows without text are told by their numbers: those depend on the lines before.
    """
    sources = kept.record["sources"]
    in_middle = any(one.get("start") and one["kind"] != "parquet" for one in sources)
    has_numbers = kept.record["rejected"] and in_middle
    return () if has_numbers else tuple(one["sha256"] for one in sources)


def _first_difference(name: str, was: Any, now: Any) -> str:
    """Where two plans of a run differ: what the run was made with, and what this call has."""
    what = name
    if isinstance(was, dict) and isinstance(now, dict):
        key = next(key for key in [*now, *was] if now.get(key) != was.get(key))
        what = _SAID.get(key, key if name == "options" else f"{name} {key}")
        was, now = was.get(key), now.get(key)
    made = f"with {what} {_plain(was)}" if _plain(was) else f"without {what}"
    return f"was made {made}; this call has {_plain(now) or 'none'}"


_SAID = {"columns": "masks and type ids", "keep": "kept columns"}
_SAID["call"] = "options of the tokenizer's call"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        value = [f"{name}={one}" for name, one in value.items()]
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return "" if value is None else str(value)
