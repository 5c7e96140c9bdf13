"""The manifest of a corpus: its parts, what it has to say, and what of it has to agree.

In: `manifest.json`, and the parts that it names, with a line of JSON for each shard and for each
source of one. Out: all of it as one dict, checked.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.errors import FileFormatError
from trietok.files.json_files import read_json_object
from trietok.files.text_rows import KINDS

MANIFEST_FORMAT = "trietok-corpus-4"
SHARDS, SOURCES = "shards", "sources"  # how the names of the manifest's parts begin
_MOST_LINES = 100_000  # of a part
_COUNTS = ("rows", "tokens", "text_bytes", "rejected")
REJECTS = "rejects.jsonl"
PART = "part-"  # how the name of a shard's file begins
_PART_NAME = re.compile(f"{PART}[0-9]{{5,}}[.]parquet")


def named_in(shards: Iterable[dict[str, Any]]) -> set[str]:
    """The names of the files of shards of a manifest."""
    return {shard["file"]["name"] for shard in shards if "file" in shard}


def totals_of(shards: list[dict[str, Any]]) -> dict[str, int]:
    totals = {name: sum([shard[name] for shard in shards]) for name in _COUNTS}
    return totals | {"longest_text": max((shard["longest_text"] for shard in shards), default=0)}


# ---- what a manifest has to be -------------------------------------------------------------------

_OTHERWISE = "put the file back as it was, or encode the texts into another directory"


def read_manifest(path: Path) -> dict[str, Any]:
    """The values of a manifest, or of a plan, which are still to be checked."""
    try:
        return read_json_object(path)
    except FileFormatError as error:
        raise FileFormatError(f"{str(error).rstrip('.')}; {_OTHERWISE}", path=path) from None


class _Kind(NamedTuple):
    """A kind of value: what a message calls it, and whether all of some values are of it."""

    name: str
    fits: Callable[[Sequence[Any]], bool]


def _all_of(*types: type) -> Callable[[Sequence[Any]], bool]:
    return lambda values: set(map(type, values)) <= {*types}


def _all_from(least: int) -> Callable[[Sequence[Any]], bool]:
    return lambda values: _NUMBER.fits(values) and min(values, default=least) >= least


def _are_keys(values: Sequence[str]) -> bool:
    """Whether they name files of the run's folder, as `shard_plan.key_of` makes them."""
    return all(re.fullmatch("[0-9a-f]{40}", value) for value in values)


def _are_sha256(values: Sequence[str]) -> bool:
    return {*map(len, values)} <= {64} and bool(re.fullmatch("[0-9a-f]*", "".join(values)))


_TEXT = _Kind("a text", _all_of(str))
_NUMBER = _Kind("a whole number", _all_of(int))
_COUNT = _Kind("a whole number from 0", _all_from(0))
_SIZE = _Kind("a whole number from 1", _all_from(1))
_KEY = _Kind("40 hexadecimal digits", lambda values: _TEXT.fits(values) and _are_keys(values))
_SHA256 = _Kind("a SHA-256", lambda values: _TEXT.fits(values) and _are_sha256(values))


def _one_of(*known: str) -> _Kind:
    return _Kind(" or ".join(known), lambda values: _TEXT.fits(values) and {*values} <= {*known})


_FILE = {"name": _TEXT, "bytes": _COUNT, "sha256": _SHA256}
_READ = {
    **{"name": _TEXT, "size": _COUNT, "mtime_ns": _NUMBER, "sha256": _SHA256},
    "kind": _one_of(*dict.fromkeys(KINDS.values())),
}
_OF_PARTS = [name for name in _READ if name != "sha256"]
# A key with a question mark may be missing; a shard without rows has no file.
_NUMBERS = dict.fromkeys((*_COUNTS, "longest_text"), _COUNT)
_COUNTED = {"name": _TEXT, "rows": _COUNT, "rejected": _COUNT}
_REJECTS = [{"file": _TEXT, "row": _COUNT, "reason": _TEXT}]
_RECORD = {
    "sources": [{**_READ, **_COUNTED, "start?": _COUNT, "end?": _COUNT}],
    **_NUMBERS,
    "file?": {"bytes": _COUNT, "sha256": _SHA256},
    "rejects?": _REJECTS,
}
_MANIFEST = {
    **dict.fromkeys(("trietok", "pyarrow"), _TEXT),
    "tokenizer": {"class": _TEXT, "fingerprint": _TEXT},
    "options": {
        **{"column": _TEXT, "shard_bytes": _SIZE, "columns?": [_TEXT], "keep?": [_TEXT]},
        "call": _Kind(
            "an object of texts",
            lambda values: (
                _all_of(dict)(values) and all(_TEXT.fits(value.values()) for value in values)
            ),
        ),
    },
    "set_aside": [{"name": _TEXT, "reason": _TEXT}],
    "totals": _NUMBERS,
    "shards": [{"key": _KEY, "sources": [_COUNTED], **_NUMBERS, "file?": _FILE}],
}


def _check_value(values: Sequence[Any], wanted: Any, where: Callable[[int], str]) -> None:
    """Raise ValueError where one of some values is not what is wanted: a `_Kind`, or what a list or
    an object holds. There may be very many, so all that stand in like places are checked at once.
    """
    if not isinstance(wanted, _Kind):
        name = "a list" if isinstance(wanted, list) else "an object"
        _check_value(values, _Kind(name, _all_of(type(wanted))), where)
    elif not wanted.fits(values):
        number = next(number for number, one in enumerate(values) if not wanted.fits([one]))
        raise ValueError(f"{where(number)} is {values[number]!r:.60}, not {wanted.name}")
    if isinstance(wanted, list):
        ends = list(accumulate(map(len, values), initial=0))

        def place(number: int) -> str:
            of = bisect_right(ends, number) - 1
            return f"{where(of)}[{number - ends[of]}]"

        _check_value([*chain.from_iterable(values)], wanted[0], place)
    for key, inner in wanted.items() if isinstance(wanted, dict) else ():
        name = key.removesuffix("?")
        numbers: Sequence[int] = range(len(values))
        if name != key:
            numbers = [number for number in numbers if name in values[number]]
        try:
            found = [values[number][name] for number in numbers]
        except KeyError:
            lacking = next(number for number in numbers if name not in values[number])
            raise ValueError(f"{where(lacking)} has no {name!r}") from None
        _check_value(found, inner, partial(_within, where, numbers, name))


def _within(where: Callable[[int], str], numbers: Sequence[int], name: str, number: int) -> str:
    return f"{where(numbers[number])}.{name}"


def check_record(record: Any) -> None:
    """Raise ValueError where a value of JSON is no record of a shard."""
    _check_value([record], _RECORD, lambda _: "record")


def is_size(value: Any) -> bool:
    return _SIZE.fits([value])


def _check_sums(manifest: dict[str, Any]) -> None:
    """Raise ValueError where numbers or names that follow from each other do not agree."""
    shards, totals = manifest["shards"], manifest["totals"]
    for name, total in totals_of(shards).items():
        if totals[name] != total:
            told = f"its total of {name} is {totals[name]:,}, and the shards have {total:,}"
            raise ValueError(told)
    for number, shard in enumerate(shards):
        for name in named_in([shard]):
            if not _PART_NAME.fullmatch(name):
                told = f"shard {number} has the file {name!r:.60}, not {PART}NUMBER.parquet"
                raise ValueError(told)
        check_counts(shard, f"shard {number}")
    files = sum("file" in shard for shard in shards)
    if len(named_in(shards)) < files or len({shard["key"] for shard in shards}) < len(shards):
        raise ValueError("two of its shards have the same file or key")


def check_counts(shard: dict[str, Any], where: str) -> None:
    for name in ("rows", "rejected"):
        if sum([source[name] for source in shard["sources"]]) != shard[name]:
            raise ValueError(f"{where} has {shard[name]:,} {name}, and its sources have others")
    if shard["rows"] and "file" not in shard:
        raise ValueError(f"{where} has {shard['rows']:,} rows, and no file")


def rejected_rows(lines: list[bytes]) -> list[dict[str, Any]]:
    """The rows that lines of `rejects.jsonl` tell of; a ValueError where one tells of none."""
    try:
        entries = [json.loads(line) for line in lines]
    except RecursionError as error:
        raise ValueError(str(error)) from None
    _check_value([entries], _REJECTS, lambda _: REJECTS)
    return entries


# ---- the parts of a manifest ---------------------------------------------------------------------


def parts_of(shards: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, bytes]]:
    """The parts of a manifest, with kind and number: a line for each shard, and each source."""
    of_shards = ({**shard, "sources": len(shard["sources"])} for shard in shards)
    of_sources = (source for shard in shards for source in shard["sources"])
    for begin, entries in ((SHARDS, of_shards), (SOURCES, of_sources)):
        for number in count():
            lines = [json.dumps(entry) + "\n" for entry in islice(entries, _MOST_LINES)]
            if not lines:
                break
            yield begin, number, "".join(lines).encode()


def parts_in(path: Path) -> set[str]:
    """The names of the parts of a manifest."""
    return {part["name"] for part in json.loads(path.read_bytes())["parts"]}


def described_part(name: str, raw: bytes) -> dict[str, Any]:
    """What a manifest says of a part of it."""
    return {"name": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def with_parts(
    manifest: dict[str, Any], path: Path, read: Callable[[str], bytes]
) -> dict[str, Any]:
    """A manifest with its shards and inputs, checked; `read` gives the bytes of a part."""
    try:
        _check_value([manifest.get("parts")], [_FILE], lambda _: "the manifest.parts")
        shards = _shards_in(manifest["parts"], read)
        whole = {
            **{name: value for name, value in manifest.items() if name != "parts"},
            "shards": shards,
        }
        _check_value([whole], _MANIFEST, lambda _: "the manifest")
        _check_sums(whole)
    except (ValueError, KeyError, TypeError) as error:
        raise FileFormatError(f"{path} is damaged: {error}; {_OTHERWISE}", path=path) from None
    return {**whole, "inputs": inputs_of(shards)}


def _shards_in(parts: list[dict[str, Any]], read: Callable[[str], bytes]) -> list[dict[str, Any]]:
    lines: dict[str, list[Any]] = {SHARDS: [], SOURCES: []}
    for part in parts:
        name = part["name"]
        begin = re.sub(r"-[0-9]{5,}\.jsonl$", "", name)
        if begin not in lines:
            raise ValueError(f"it names a part {name!r:.60}")
        try:
            raw = read(name)
        except OSError as error:
            raise ValueError(f"its part {name} cannot be read: {error.strerror}") from None
        if part != described_part(name, raw):
            told = f"its part {name} does not have the size and the checksum that it says"
            raise ValueError(told)
        lines[begin] += json.loads(b"[%s]" % b",".join(raw.splitlines()))
    if sum(shard["sources"] for shard in lines[SHARDS]) != len(lines[SOURCES]):
        raise ValueError("its parts do not go together")
    sources = iter(lines[SOURCES])
    for shard in lines[SHARDS]:
        shard["sources"] = [*islice(sources, shard["sources"])]
    return lines[SHARDS]


def inputs_of(shards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The files that shards were made of, in order; the checksum of one that was read whole."""
    inputs: dict[str, dict[str, Any]] = {}
    for source in chain.from_iterable([shard["sources"] for shard in shards]):
        if source["name"] not in inputs:
            names = _OF_PARTS if "end" in source else _READ
            inputs[source["name"]] = {name: source[name] for name in names if name in source}
    return [*inputs.values()]
