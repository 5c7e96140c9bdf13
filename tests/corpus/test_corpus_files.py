"""`encode_files`: rows as calls give them, whatever the files and the shards are."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.corpus.shards import TEXTS, contents, ids_of, rows_in, write
from trietok import encode_files
from trietok.corpus.shard_plan import stretches_of
from trietok.corpus.text_inputs import find_inputs, first_row, read_texts
from trietok.files.texts import compression_of

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

# ---- rows -----------------------------------------------------------------------------------------------------------

NAMES = ["a.txt", "a.txt.gz", "a.txt.zst", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.ndjson", "a.parquet", "A.TXT"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shard_bytes", [1, 40, 10**6])
def test_every_kind_of_file(english, tmp_path, name, shard_bytes):
    write(tmp_path / name)
    out = tmp_path / "out"
    manifest = encode_files([tmp_path / name], out, english, workers=1, shard_bytes=shard_bytes)
    assert rows_in(out) == ids_of(english)
    assert manifest == json.loads((out / "manifest.json").read_text())
    assert manifest["totals"]["texts"] == manifest["totals"]["rows"] == len(TEXTS)
    assert manifest["totals"]["tokens"] == sum(map(len, ids_of(english)))
    assert (len(manifest["shards"]) == 1) == (shard_bytes == 10**6)


def test_the_manifest_says_what_is_there(english, tmp_path):
    from trietok import fingerprint

    path = write(tmp_path / "a.txt")
    out = tmp_path / "out"
    manifest = encode_files([path], out, english, workers=1, shard_bytes=40, max_length=9, truncation=True)
    names = {"manifest.json"}
    for shard in manifest["shards"]:
        for file in shard["files"]:
            raw = (out / file["name"]).read_bytes()
            assert (len(raw), hashlib.sha256(raw).hexdigest()) == (file["bytes"], file["sha256"])
            names.add(file["name"])
    assert set(contents(out)) == names
    assert manifest["tokenizer"] == {"class": "BertTokenizer", "fingerprint": fingerprint(english)}
    assert manifest["options"]["call"] == {"max_length": "9", "truncation": "True"}
    status = path.stat()
    assert manifest["inputs"] == [
        {
            "name": str(path),
            "size": status.st_size,
            "mtime_ns": status.st_mtime_ns,
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "kind": "txt",
            "copy": 0,
            "shards": len(manifest["shards"]),
        }
    ]
    for shard in manifest["shards"]:
        assert shard["input"] == str(path)
    assert pq.read_schema(out / "part-00000.parquet").metadata[b"trietok.fingerprint"].decode() == fingerprint(english)


def test_each_file_has_shards_of_its_own_in_the_order_given(english, tmp_path):
    texts = [f"people {number}" for number in range(20)]
    for number, text in enumerate(texts):
        write(tmp_path / f"{number:02}.{('txt', 'jsonl', 'parquet', 'txt.gz')[number % 4]}", [text])
    manifest = encode_files([tmp_path / "*"], tmp_path / "out", english, workers=1)
    assert [shard["input"] for shard in manifest["shards"]] == [str(path) for path in sorted(tmp_path.glob("*.*"))]
    assert rows_in(tmp_path / "out") == ids_of(english, texts)
    backwards = sorted(tmp_path.glob("*.*"), reverse=True)
    encode_files(backwards, tmp_path / "back", english, workers=1, shard_bytes=30)
    assert rows_in(tmp_path / "back") == ids_of(english, texts)[::-1]


@pytest.mark.parametrize("file_format", ["npy", "bin"])
def test_flat_files(english, tmp_path, file_format):
    encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, workers=1, file_format=file_format)
    assert rows_in(tmp_path / "out") == ids_of(english)
    if file_format == "npy":
        numpy = pytest.importorskip("numpy")
        ids, index = (numpy.load(tmp_path / "out" / f"part-00000{kind}") for kind in (".npy", ".index.npy"))
        assert (ids.dtype, index.dtype) == (numpy.int32, numpy.int64)
        assert [ids[start:end].tolist() for start, end in pairwise(index)] == ids_of(english)


def test_options_of_the_call(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, options in enumerate(
        [{"add_special_tokens": False}, {"truncation": True, "max_length": 4}, {"split_special_tokens": True}]
    ):
        encode_files([path], tmp_path / str(number), english, workers=1, **options)
        assert rows_in(tmp_path / str(number)) == ids_of(english, **options)


def test_no_rows_at_all(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    write(tmp_path / "a.txt.gz", [])
    write(tmp_path / "a.parquet", [])
    manifest = encode_files([tmp_path / "a.*"], tmp_path / "out", english, workers=1)
    assert manifest["shards"] == []
    assert manifest["totals"]["rows"] == 0


def test_a_last_line_without_an_end_and_lines_that_end_in_something_else(english, tmp_path):
    (tmp_path / "a.txt").write_bytes("one\u2028two\x0bthree\r\n\nlast".encode())
    for shard_bytes in (1, 100):
        encode_files([tmp_path / "a.txt"], tmp_path / str(shard_bytes), english, workers=1, shard_bytes=shard_bytes)
        assert rows_in(tmp_path / str(shard_bytes)) == ids_of(english, ["one\u2028two\x0bthree\r", "", "last"])


@pytest.mark.parametrize("kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_parquet_kinds_of_text(english, tmp_path, kind):
    pq.write_table(pa.table({"text": pa.array(TEXTS).cast(kind)}), tmp_path / "a.parquet")
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english)


def test_a_column_beside_one_that_has_parts(english, tmp_path):
    table = pa.table({"more": [{"text": "no"}] * 3, "n": [1, 2, 3], "text": TEXTS[:3]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, shard_bytes=1)
    assert rows_in(tmp_path / "out") == ids_of(english, TEXTS[:3])


def test_long_texts_and_many_blocks(english, tmp_path):
    texts = ["people " * 100_000, "the", "of " * 200_000, *(f"x{number}" for number in range(10_000))]
    write(tmp_path / "a.txt", texts)
    manifest = encode_files([tmp_path / "a.txt"], tmp_path / "out", english, workers=1, file_format="bin", pack=10**9)
    assert manifest["totals"]["texts"] == len(texts)
    assert rows_in(tmp_path / "out")[0] == [token_id for row in english(texts).input_ids for token_id in row]


@examples(40)
@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=12),
    shard_bytes=st.integers(1, 40),
    end=st.booleans(),
    packed=st.booleans(),
)
def test_however_lines_are_cut_they_come_once_and_in_order(tmp_path_factory, lines, shard_bytes, end, packed):
    folder = tmp_path_factory.mktemp("cut")
    raw = b"\n".join(lines) + (b"\n" if end and lines else b"")
    assume(compression_of(raw) is None)  # such a file is unpacked
    path = folder / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    expected = raw.split(b"\n")[: -1 if raw.endswith(b"\n") or not raw else None]
    found = []
    for stretch in stretches_of(find_inputs([path])[0], "text", shard_bytes, (folder / str(n) for n in range(99))):
        assert first_row(stretch) == len(found)
        for batch in read_texts(stretch, "text"):
            found += batch.texts()
        stretch.forget_spool()
    assert sorted(os.listdir(folder)) == [path.name]
    for line, text in zip(expected, found, strict=True):
        try:
            assert line.decode() == text
        except UnicodeDecodeError:
            assert "is not UTF-8" in text.reason


# ---- blocks ---------------------------------------------------------------------------------------------------------


def naive_blocks(shards, length, drop_last):
    rows = []
    for ids in shards:
        joined = [token_id for row in ids for token_id in row]
        cut = [joined[start : start + length] for start in range(0, len(joined), length)]
        rows += [block for block in cut if len(block) == length or not drop_last]
    return rows


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("pack", [1, 3, 8, 1000])
def test_packed(english, tmp_path, pack, drop_last):
    write(tmp_path / "a.txt")
    options = {"workers": 1, "shard_bytes": 40}
    plain = encode_files([tmp_path / "a.txt"], tmp_path / "plain", english, **options)
    rows = iter(rows_in(tmp_path / "plain"))
    shards = [[next(rows) for _ in range(shard["rows"])] for shard in plain["shards"]]
    out = tmp_path / "out"
    manifest = encode_files([tmp_path / "a.txt"], out, english, pack=pack, drop_last=drop_last, **options)
    assert rows_in(out) == naive_blocks(shards, pack, drop_last)
    totals = manifest["totals"]
    assert totals["texts"] == len(TEXTS)
    assert totals["tokens"] + totals["dropped_tokens"] == plain["totals"]["tokens"]
    assert (totals["dropped_tokens"] > 0) == (drop_last and pack > 1)
