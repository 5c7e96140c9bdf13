"""Corpora of which a byte or a value is not what it was: an error that says so, or exactly the
right rows.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.shards import ids_of, rows_in, table_in, write
from trietok import FileError, FileFormatError, InputError, TextFiles, TrietokError, encode_files

ROWS = {
    "a.jsonl": ["The people", "of the", "United States"],
    "b.jsonl": ["in order"],
    "c.jsonl": ["in order"],
}
FORMS = {"ids": {}, "columns": {"keep_columns": ["id"], "return_attention_mask": True}}
GONE = object()
OTHERS = (None, "x", -1, 10**30, [], {}, True, GONE)


@pytest.fixture(params=FORMS)
def finished(english, tmp_path, request):
    """A finished run: how it was called, its directory, its rows."""
    for name, texts in ROWS.items():
        write(tmp_path / name, texts)
    with open(tmp_path / "a.jsonl", "a") as file:
        file.write("[1]\n")
    options = {"workers": 1, "shard_bytes": 50, "on_error": "skip", **FORMS[request.param]}

    def run(out, **more):
        return encode_files(tmp_path / "*.jsonl", out, english, **options, **more)

    run(tmp_path / "whole")
    return run, tmp_path / "whole", rows_in(tmp_path / "whole")


def places(value, path=()):
    """The path of every value in a value of JSON, its own first."""
    yield path
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from places(inner, (*path, key))


def changed(manifest, path, other):
    manifest = copy.deepcopy(manifest)
    inner = manifest
    for key in path[:-1]:
        inner = inner[key]
    if other is GONE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = other
    return manifest


def has_rows_or_error(run, out, rows, case, **options):
    """Go on with a run: it gives the right rows, or an error that names its directory (True)."""
    error = None
    try:
        run(out, resume=True, **options)
    except TrietokError as caught:
        error = caught
    assert str(out) in str(error) if error else rows_in(out) == rows, (case, error)
    return error is not None


@pytest.mark.parametrize("most", [20, pytest.param(None, marks=pytest.mark.faults)])
def test_any_other_value_in_a_manifest(english, finished, most):
    """Values are replaced, or left out: `most` of them, or each, in the first form by each of the
    others.
    """
    run, whole, rows = finished
    if len(rows) == 5:
        assert rows == ids_of(english, [text for texts in ROWS.values() for text in texts])
    manifest = json.loads((whole / "manifest.json").read_text())
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    is_first = "columns" not in manifest["options"]
    others = {
        path: OTHERS if is_first else [rng.choice(OTHERS)] for path in places(manifest) if path
    }
    cases = [(path, other) for path in others for other in others[path]]
    cases = rng.sample(cases, min(most or len(cases), len(cases)))
    errors = 0
    for path, other in cases:
        (whole / "manifest.json").write_text(json.dumps(changed(manifest, path, other)))
        errors += has_rows_or_error(run, whole, rows, (path, other, seed))
    assert errors > len(cases) // 5, seed


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-1])


def overwritten(path):
    path.write_bytes(b"[1]\n")


@pytest.mark.parametrize("is_over", [True, False])
@pytest.mark.parametrize("damage", [Path.unlink, cut_off, overwritten])
def test_any_damaged_file_of_a_run(finished, tmp_path, is_over, damage):
    """Of a finished run and of one that was stopped: an error, or the right rows."""
    run, whole, rows = finished

    def stop(state):
        if state.shards == 2:
            raise ZeroDivisionError

    if not is_over:
        whole = tmp_path / "stopped"
        with pytest.raises(ZeroDivisionError):
            run(whole, progress=stop)
    names = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]
    assert len(names) > 4
    for number, name in enumerate(names):
        out = tmp_path / f"copy {number}"
        shutil.copytree(whole, out)
        damage(out / name)
        has_rows_or_error(run, out, rows, name, verify=True)


def rewritten(whole, part, change):
    """Change the lines of a part of the manifest, and what `manifest.json` says of the part."""
    path = whole / "manifest.json"
    manifest = json.loads(path.read_text())
    lines = change([json.loads(line) for line in (whole / part).read_text().splitlines()])
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (whole / part).write_bytes(raw)
    for entry in manifest["parts"]:
        if entry["name"] == part:
            entry.update(bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("is_moving", [False, True])
@pytest.mark.parametrize("where", ["../../victim", "absolute"])
def test_a_manifest_moves_and_replaces_nothing_elsewhere(finished, tmp_path, where, is_moving):
    """Neither of a finished run, nor of one that was killed as its shards were put in place."""
    run, whole, _ = finished
    victim = tmp_path / "victim.parquet"
    victim.write_text("mine")
    key = str(tmp_path / "victim") if where == "absolute" else where
    rewritten(whole, "shards-00000.jsonl", lambda lines: [{**line, "key": key} for line in lines])
    if is_moving:
        (whole / ".trietok-encode").mkdir()
        (whole / "manifest.json").rename(whole / ".trietok-encode" / "manifest.json")
    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    (tmp_path / "d.jsonl").write_text('{"id": 9, "text": "one more"}\n')  # the order is another
    with pytest.raises(FileFormatError):
        run(whole, resume=True)
    assert {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()} == before
    assert victim.read_text() == "mine"


def test_a_run_writes_into_no_folder_behind_a_link(finished, tmp_path):
    run, _, _ = finished
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "temporary-notes").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".trietok-encode").symlink_to(tmp_path / "elsewhere")
    for resume in (False, True):
        with pytest.raises(InputError):
            run(tmp_path / "out", resume=resume)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["temporary-notes"]


# ---- pages of Parquet files ----------------------------------------------------------------------


def pages(path):
    """Where the bytes of the columns are in a Parquet file."""
    metadata = pq.ParquetFile(path).metadata
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            first = min(filter(None, (column.dictionary_page_offset, column.data_page_offset)))
            yield range(first, first + column.total_compressed_size)


def test_a_flipped_bit_of_a_table_with_texts(english, tmp_path):
    texts = [f"people {number} of the" for number in range(300)]
    path, options = tmp_path / "a.parquet", {"compression": "none", "use_dictionary": False}
    pq.write_table(pa.table({"text": texts}), path, write_page_checksum=True, **options)
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"people 150", b"qeople 150"))
    with pytest.raises(FileError):
        encode_files(path, tmp_path / "ids", english, workers=1)
    with pytest.raises(FileError):
        list(TextFiles(path))
    manifest = encode_files(
        [path, write(tmp_path / "b.txt")], tmp_path / "some", english, on_error="skip", workers=1
    )
    assert [entry["name"] for entry in manifest["set_aside"]] == [str(path)]
    path.write_bytes(raw)
    encode_files(path, tmp_path / "ids", english, workers=1, resume=True)
    assert rows_in(tmp_path / "ids") == ids_of(english, texts)


@pytest.mark.parametrize("keep", [[], ["text"]])
def test_a_flipped_bit_of_a_shard(english, tmp_path, keep):
    """The checksums of its pages are written, and verified by whatever reads it."""
    texts = [f"people {number} of the" for number in range(300)]
    options = {"workers": 1, "keep_columns": keep, "return_attention_mask": True}
    encode_files(write(tmp_path / "a.jsonl", texts), tmp_path / "ids", english, **options)
    path = tmp_path / "ids" / "part-00000.parquet"
    raw, whole = path.read_bytes(), table_in(tmp_path / "ids")
    size = pq.read_table(path).nbytes
    bytes_of_pages = [place for column in pages(path) for place in column]
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    checksums = 0
    for _ in range(60):
        flipped = bytearray(raw)
        flipped[rng.choice(bytes_of_pages)] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        try:
            table = pq.read_table(path, page_checksum_verification=True)
        except (OSError, pa.ArrowException) as error:
            checksums += "CRC checksum verification failed" in str(error)
            continue
        # Arrow counts neither rows nor items: the damaged header of a page may cut a column short.
        assert table.to_pylist() == whole or table.nbytes < size, seed
    assert checksums > 20, seed
    encode_files(
        tmp_path / "a.jsonl", tmp_path / "ids", english, resume=True, verify=True, **options
    )
    assert path.read_bytes() == raw
