"""The manifest of a corpus: its parts, what it has to say, and what of it has to agree.

In: `manifest.json`, and the parts that it names, with a line of JSON for each shard and for each
source of one. Out: all of it as one dict, checked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any, NamedTuple

from trietok.corpus.shard_files import FORMATS, suffixes
from trietok.errors import FileFormatError
from trietok.files.json_files import read_json_object
from trietok.files.text_files import KINDS

MANIFEST_FORMAT, FORMER_FORMAT = "trietok-corpus-3", "trietok-corpus-2"
FORMATS_READ = (MANIFEST_FORMAT, FORMER_FORMAT)
SHARDS, SOURCES = "shards", "sources"  # how the names of the manifest's parts begin
_MOST_LINES = 100_000  # of a part
_COUNTS = ("rows", "tokens", "texts", "text_bytes", "rejected", "dropped_tokens")
REJECTS = "rejects.jsonl"


def named_in(shards: Iterable[dict[str, Any]]) -> set[str]:
    """The names of the files of shards of a manifest."""
    return {file["name"] for shard in shards for file in shard["files"]}


def totals_of(shards: list[dict[str, Any]]) -> dict[str, int]:
    totals = {name: sum(shard.get(name, 0) for shard in shards) for name in _COUNTS}
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
    """A kind of value: what a message calls it, and whether a value is one."""

    name: str
    fits: Callable[[Any], bool]


_TEXT = _Kind("a text", lambda value: isinstance(value, str))
_COUNT = _Kind("a whole number from 0", lambda value: type(value) is int and value >= 0)
_SIZE = _Kind("a whole number from 1", lambda value: type(value) is int and value >= 1)
_NUMBER = _Kind("a whole number", lambda value: type(value) is int)
_TRUTH = _Kind("true or false", lambda value: isinstance(value, bool))
_SHA256 = _Kind(
    "a SHA-256", lambda value: isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value))
)
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
        **{
            "column": _TEXT,
            "drop_last": _TRUTH,
            "shard_bytes": _SIZE,
            "columns?": [_TEXT],
            "keep?": [_TEXT],
        },
        "file_format": _Kind(" or ".join(FORMATS), lambda value: value in FORMATS),
        "pack": _Kind(
            "null or a whole number from 1", lambda value: value is None or _SIZE.fits(value)
        ),
        "call": _Kind(
            "an object of texts",
            lambda value: isinstance(value, dict) and all(map(_TEXT.fits, value.values())),
        ),
    },
    "set_aside": [{"name": _TEXT, "reason": _TEXT}],
    "totals": dict.fromkeys((*_COUNTS, "longest_text"), _COUNT),
    "shards": [{"sources": [_COUNTED], **_NUMBERS, "files": [_FILE]}],
}


def _check(value: Any, wanted: Any, where: str) -> None:
    """Raise ValueError where a value of JSON is not what is wanted: a `_Kind`, or a list or an
    object of such.
    """
    if isinstance(wanted, _Kind):
        if not wanted.fits(value):
            raise ValueError(f"{where} is {value!r:.60}, not {wanted.name}")
    elif not isinstance(value, type(wanted)):
        raise ValueError(
            f"{where} is {value!r:.60}, not {'a list' if isinstance(wanted, list) else 'an object'}"
        )
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


def _all_fit(values: list[Any], wanted: Any) -> bool:
    """Whether each value is what `_check` wants, by what all of them have in one place: there may
    be very many.
    """
    if isinstance(wanted, _Kind):
        return all(map(wanted.fits, values))
    if not set(map(type, values)) <= {type(wanted)}:
        return False
    if isinstance(wanted, list):
        return _all_fit([*chain.from_iterable(values)], wanted[0])
    for key, inner in wanted.items():
        name = key.removesuffix("?")
        there = [value[name] for value in values if name in value]
        if (name == key and len(there) < len(values)) or not _all_fit(there, inner):
            return False
    return True


def check_record(record: Any) -> None:
    """Raise ValueError where a value of JSON is no record of a shard."""
    _check(record, _RECORD, "record")


def is_size(value: Any) -> bool:
    return _SIZE.fits(value)


def _check_sums(manifest: dict[str, Any]) -> None:
    """Raise ValueError where numbers or names that follow from each other do not agree."""
    options, shards, totals = manifest["options"], manifest["shards"], manifest["totals"]
    for name, total in totals_of(shards).items():
        if totals[name] != total:
            raise ValueError(
                f"its total of {name} is {totals[name]:,}, and the shards have {total:,}"
            )
    ends = suffixes(options["file_format"], options.get("columns", ()), options.get("keep", ()))
    for number, shard in enumerate(shards):
        stem = stem_of(shard)
        names = [stem + end for end in ends]
        if (
            (shard["files"] and [file["name"] for file in shard["files"]] != names)
            or "/" in stem
            or os.sep in stem
        ):
            raise ValueError(f"shard {number} names other files than {', '.join(names)}")
        check_counts(shard, options["pack"], f"shard {number}")


def check_counts(shard: dict[str, Any], pack: int | None, where: str) -> None:
    for name in ("texts", "rejected"):
        if sum(source[name] for source in shard["sources"]) != shard[name]:
            raise ValueError(f"{where} has {shard[name]:,} {name}, and its sources have others")
    if (_COUNTS[-1] in shard) != (pack is not None):
        raise ValueError(f"{where} has {_COUNTS[-1]} where it has no pack, or the other way round")
    if shard["rows"] and not shard["files"]:
        raise ValueError(f"{where} has {shard['rows']:,} rows, and no files")
    rows = shard["texts"] if pack is None else -(-shard["tokens"] // pack)
    if shard["rows"] != rows:
        raise ValueError(
            f"{where} has {shard['rows']:,} rows, and its options and counts make {rows:,}"
        )


def rejected_rows(lines: list[bytes]) -> list[dict[str, Any]]:
    """The rows that lines of `rejects.jsonl` tell of; a ValueError where one tells of none."""
    try:
        entries = [json.loads(line) for line in lines]
    except RecursionError as error:
        raise ValueError(str(error)) from None
    _check(entries, _REJECTS, REJECTS)
    return entries


# ---- the parts of a manifest ---------------------------------------------------------------------


def parts_of(shards: Sequence[dict[str, Any]]) -> Iterator[tuple[str, int, bytes]]:
    """The parts of a manifest, with kind and number: lines of JSON, one for each shard, and one for
    each source.
    """
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


def described(name: str, raw: bytes) -> dict[str, Any]:
    """What a manifest says of a part of it."""
    return {"name": name, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def with_parts(
    manifest: dict[str, Any], path: Path, read: Callable[[str], bytes]
) -> dict[str, Any]:
    """A manifest with its shards and inputs, checked; `read` gives the bytes of a part. Damage is a
    FileFormatError.
    """
    try:
        if manifest["format"] == FORMER_FORMAT:
            shards = [
                {**shard, "sources": [{**shard, "name": shard["input"]}]}
                for shard in manifest["shards"]
            ]
        else:
            _check(manifest.get("parts"), [_FILE], "the manifest.parts")
            shards = _shards_in(manifest["parts"], read)
        whole = {
            **{name: value for name, value in manifest.items() if name != "parts"},
            "shards": shards,
        }
        if not _all_fit([whole], _MANIFEST):
            _check(whole, _MANIFEST, "the manifest")
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
        if part != described(name, raw):
            raise ValueError(
                f"its part {name} does not have the size and the checksum that it says"
            )
        lines[begin] += json.loads(b"[%s]" % b",".join(raw.splitlines()))
    if sum(shard["sources"] for shard in lines[SHARDS]) != len(lines[SOURCES]):
        raise ValueError("its parts do not go together")
    sources = iter(lines[SOURCES])
    return [{**shard, "sources": [*islice(sources, shard["sources"])]} for shard in lines[SHARDS]]


def inputs_of(shards: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The files that shards were made of, in their order; the checksum of one that was read as a
    whole.
    """
    inputs: dict[str, dict[str, Any]] = {}
    for source in (source for shard in shards for source in shard["sources"]):
        told = {
            name: source[name]
            for name in _READ
            if name in source and (name != "sha256" or "end" not in source)
        }
        inputs.setdefault(source["name"], told)
    return [*inputs.values()]


def record_of(shard: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key of a shard of a manifest, and its record."""
    files = [{**file, "suffix": "." + file["name"].partition(".")[2]} for file in shard["files"]]
    return shard["key"], {
        **{name: value for name, value in shard.items() if name != "key"},
        "files": files,
    }


def stem_of(shard: dict[str, Any]) -> str:
    """How the names of a shard's files begin; nothing where there are none."""
    return str(shard["files"][0]["name"]).partition(".")[0] if shard["files"] else ""
