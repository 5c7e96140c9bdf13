"""A run whose corpus is in a store, such as s3://bucket/ids: what is there, and how the shards
become a corpus.

In: the plan of a run, and the shards that are wanted. Out: an object for each file of a shard,
`rejects.jsonl` where rows were skipped, and `manifest.json`, which is put last.

A store renames nothing. So workers put a shard at once under the name that it keeps, `part-` and
its key, and its record into the folder of the run. All small files are copied to a directory of
this machine, where the run finds them as one of a directory does. What the manifest does not name
is removed once that is there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from trietok.corpus.encode_shard import STATE_FOLDER, ShardJob
from trietok.corpus.manifest import PART, REJECTS, named_in, parts_in
from trietok.corpus.run_directory import (
    MANIFEST,
    MDS_INDEX,
    PLAN,
    KeptShard,
    RunDirectory,
    write_whole,
)
from trietok.errors import InputError, as_file_error, told_as
from trietok.files.stores import Place, local_path, status
from trietok.files.text_files import TextFile

_IN_STATE = f"{STATE_FOLDER}/"
_PLAIN = re.compile(r"[0-9A-Za-z][-.0-9A-Za-z]{0,99}")
_SHARD = re.compile(f"{PART}[0-9a-f]{{40}}[.]")
_OURS = re.compile(
    rf"{re.escape(_IN_STATE)}|{_SHARD.pattern}|{REJECTS}$|(shards|sources)-[0-9]{{15}}[.]jsonl$"
)


class RunInStore(RunDirectory):
    """A place in a store that a run fills, or goes on with; `job.out` is a directory here."""

    def __init__(
        self, store: Place, job: ShardJob, plan: dict[str, Any], inputs: Sequence[TextFile]
    ) -> None:
        super().__init__(job, plan, inputs)
        self._store = store
        self._sizes: dict[str, int] = {}  # of what is in the store, by name
        self._run = uuid.uuid4().hex

    @contextlib.contextmanager
    def opened(self, resume: bool, verify: bool) -> Iterator[None]:
        try:
            with super().opened(resume, verify):
                yield
        finally:
            shutil.rmtree(self._out, ignore_errors=True)

    def _make(self) -> None:
        self._state.mkdir(parents=True)
        self._sizes = self._store.sizes()
        # A list may be older than what is there, so these are asked for by name.
        ours = {MANIFEST, _IN_STATE + MANIFEST, _IN_STATE + PLAN}
        self._copy(
            ours | {name for name in self._sizes if name == REJECTS or name.startswith(_IN_STATE)}
        )
        if self._sizes and not any(Path(self._out, name).exists() for name in ours):
            told = f"{self._store.name} holds {min(self._sizes)!r}, which belongs to no run"
            raise InputError(f"{told}; give an empty place")

    def _copy(self, names: Iterable[str]) -> None:
        """Copy files of the run; a store may have others, with `..` in their names, say."""
        plain = (name for name in names if _PLAIN.fullmatch(name.removeprefix(_IN_STATE)))
        for name, raw in self._store.read(plain).items():
            Path(self._out, name).write_bytes(raw)

    def _put(self, name: str, new: bool = False) -> None:
        """Put a file of the run's folder; one to be new that is there is of another run."""
        full = self._store.at(name)
        with as_file_error(f"cannot write {full}", full):
            if not self._store.put(self._state / Path(name).name, name, new):
                raise self._is_taken()
        self._sizes[name] = 0

    def _is_taken(self) -> InputError:
        how = "go on with it (resume=True, --resume), give another place, or remove what is there"
        return InputError(f"{self._store.name} holds a run already; {how}")

    def _agree(self, resume: bool) -> None:
        with told_as(self._out, self._store.name):
            super()._agree(resume)

    def _begin(self, resume: bool) -> None:
        """Note that this run has the place now; another one at work finds out at its end."""
        if not resume and (self._state / PLAN).exists():
            raise self._is_taken()
        write_whole(self._state / PLAN, json.dumps({**self._plan, "run": self._run}).encode())
        self._put(_IN_STATE + PLAN, new=not resume)

    def _refuse_other_files(self) -> None:
        for name in sorted(self._sizes.keys() - self._named_earlier()):
            if name.startswith(PART) and not _SHARD.match(name):
                told = f"{self._store.name} holds {name}, which is not of this run"
                raise InputError(f"{told}; encode elsewhere, or remove it")

    def _named_earlier(self) -> set[str]:
        return named_in(self._manifest["shards"] if self._manifest else ())

    def _made(self, key: str) -> Path:
        return self._out / f"{PART}{key}"

    def _places(self, order: list[str]) -> dict[str, Path]:
        stems = {key: self._shards[key].stem for key in order}
        # An adopted shard is copied to a name of its own: who makes the other writes over that.
        return {
            key: self._made(key) if _SHARD.match(f"{stem.name}.") else stem
            for key, stem in stems.items()
        }

    def _read_part(self, folder: Path, name: str) -> bytes:
        return self._store.read_one(name)

    def _mark(self, number: int, part: bytes) -> str:
        """It follows from what the part holds: earlier ones stay until they are replaced."""
        return f"{int(hashlib.sha256(part).hexdigest()[:12], 16):015}"

    def _is_there(self, kept: KeptShard, by_checksum: bool) -> bool:
        return all(
            self._sizes.get(path.name) == file["bytes"]
            and (
                not by_checksum
                or hashlib.sha256(self._store.read_one(path.name)).hexdigest() == file["sha256"]
            )
            for path, file in kept.paths()
        )

    def finish(self, order: list[str], set_aside: list[dict[str, str]]) -> dict[str, Any]:
        plan = self._store.read([_IN_STATE + PLAN]).get(_IN_STATE + PLAN, b"{}")
        if json.loads(plan).get("run") != self._run:
            told = f"another run has gone on with the run in {self._store.name} meanwhile"
            raise InputError(f"{told}, and this one ends; its finished shards stay")
        listed = self._store.sizes()
        for path in (path for key in order for path, _ in self._shards[key].paths()):
            if path.name not in listed:  # the list is older than it, or it is not there
                listed[path.name] = status(self._store.at(path.name), fresh=True).size
        self._sizes |= listed
        return super().finish(order, set_aside)

    def rejected(self, order: list[str]) -> Iterator[dict[str, Any]]:
        there = filter(None, map(self._shards.get, order))
        skipped = (kept.key for kept in there if kept.record["rejected"])
        records = (self._job.record(key) for key in skipped if key not in self._rejects)
        self._copy(_IN_STATE + record.name for record in records if not record.exists())
        yield from super().rejected(order)

    def _make_room(self, places: dict[str, Path]) -> None:
        moved = {}
        for key, place in places.items():
            for path, file in self._shards[key].paths():
                if path.name != place.name + file["suffix"]:
                    moved[path.name] = place.name + file["suffix"]
                    self._sizes[moved[path.name]] = file["bytes"]
        self._store.copy(moved)

    def _put_in_place(self, manifest: dict[str, Any]) -> None:
        """Put the manifest last; where rows were skipped, so that a kill leaves a whole run."""
        new = not (self._out / MANIFEST).exists()
        parts = parts_in(self._state / MANIFEST)
        names = [part for part in parts if (self._state / part).exists()]
        if manifest["totals"]["rejected"]:
            names += [_IN_STATE + REJECTS, _IN_STATE + MANIFEST, REJECTS]
        for name in (*names, MANIFEST):
            self._put(name, new and name == MANIFEST)
        shutil.copy(self._state / MANIFEST, self._out)

    def _end(self, manifest: dict[str, Any]) -> None:
        index = self._index(manifest)
        if index is not None:
            write_whole(self._state / MDS_INDEX, index)
            self._put(MDS_INDEX)
        wanted = named_in(manifest["shards"]) | parts_in(self._out / MANIFEST)
        wanted |= {REJECTS} if manifest["totals"]["rejected"] else set()
        earlier = self._named_earlier()
        here = {name for name in self._sizes if name in earlier or _OURS.match(name)}
        self._store.remove(sorted(here - wanted))


def place_of(output: str | os.PathLike[str], is_shared: bool) -> tuple[Path, Place | None]:
    """The directory of a run and its store; with one, the directory is for unfinished files."""
    path = local_path(os.fspath(output))
    if path is None:
        return Path(tempfile.gettempdir(), f"trietok-{uuid.uuid4().hex}"), Place(os.fspath(output))
    return Path(path).absolute() if is_shared else Path(path), None
