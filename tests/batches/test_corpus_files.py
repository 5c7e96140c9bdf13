"""`encode_files`: rows as calls give them, whatever the files and the shards are."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.batches.shards import TEXTS, ids_of, manifest_in, rows_in, write
from tests.conftest import examples
from trietok import encode_files

# ---- rows ----------------------------------------------------------------------------------------

NAMES = [
    "a.txt",
    "a.txt.gz",
    "a.txt.zst",
    "a.jsonl",
    "a.jsonl.gz",
    "a.jsonl.zst",
    "a.ndjson",
    "a.parquet",
    "A.TXT",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shard_bytes", [1, 40, 10**6])
def test_every_kind_of_file(english, tmp_path, name, shard_bytes):
    write(tmp_path / name)
    out = tmp_path / "out"
    manifest = encode_files([tmp_path / name], out, english, workers=1, shard_bytes=shard_bytes)
    assert rows_in(out) == ids_of(english)
    assert manifest == manifest_in(out)
    assert manifest["totals"]["rows"] == len(TEXTS)
    assert manifest["totals"]["tokens"] == sum(map(len, ids_of(english)))


def test_the_output_names_its_tokenizer(english, tmp_path):
    manifest = encode_files(write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1)
    assert manifest["tokenizer"] == {"class": "BertTokenizer", "fingerprint": english.fingerprint()}
    metadata = pq.read_schema(tmp_path / "out" / "part-00000.parquet").metadata
    assert metadata[b"trietok.fingerprint"].decode() == english.fingerprint()


def test_small_files_share_shards_in_the_order_given(english, tmp_path):
    texts = [f"people {number}" for number in range(20)]
    for number, text in enumerate(texts):
        write(tmp_path / f"{number:02}.{('txt', 'jsonl', 'parquet', 'txt.gz')[number % 4]}", [text])
    files = sorted(tmp_path.glob("*.*"))
    encode_files([tmp_path / "*"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english, texts)
    encode_files(files[::-1], tmp_path / "back", english, workers=1, shard_bytes=30)
    assert rows_in(tmp_path / "back") == ids_of(english, texts)[::-1]


def test_the_last_line_of_a_file_is_not_joined_with_the_next_file(english, tmp_path):
    ends = [b"one\ntwo", b"", b"\n", b"three\r", b"four\r\n", b"caf\xc3\xa9"]
    for number, raw in enumerate(ends):
        (tmp_path / f"{number}.txt").write_bytes(raw)
    (tmp_path / "6.jsonl").write_bytes(b'{"text": "five"}')
    (tmp_path / "7.jsonl").write_bytes(b'{"text": "six"}')
    manifest = encode_files(tmp_path / "*.*", tmp_path / "out", english, workers=1)
    texts = ["one", "two", "", "three\r", "four\r", "café", "five", "six"]
    assert rows_in(tmp_path / "out") == ids_of(english, texts)
    assert manifest["totals"]["text_bytes"] == sum(map(len, ends)) + 31


def test_options_of_the_call(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, options in enumerate(
        [
            {"add_special_tokens": False},
            {"truncation": True, "max_length": 4},
            {"split_special_tokens": True},
        ]
    ):
        encode_files([path], tmp_path / str(number), english, workers=1, **options)
        assert rows_in(tmp_path / str(number)) == ids_of(english, **options)


def test_no_rows_at_all(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"")
    write(tmp_path / "a.txt.gz", [])
    write(tmp_path / "a.parquet", [])
    manifest = encode_files([tmp_path / "a.*"], tmp_path / "out", english, workers=1)
    assert manifest["totals"]["rows"] == 0
    assert rows_in(tmp_path / "out") == []


def test_a_last_line_without_an_end_and_lines_that_end_in_something_else(english, tmp_path):
    (tmp_path / "a.txt").write_bytes("one\u2028two\x0bthree\r\n\nlast".encode())
    for shard_bytes in (1, 100):
        encode_files(
            [tmp_path / "a.txt"],
            tmp_path / str(shard_bytes),
            english,
            workers=1,
            shard_bytes=shard_bytes,
        )
        assert rows_in(tmp_path / str(shard_bytes)) == ids_of(
            english, ["one\u2028two\x0bthree\r", "", "last"]
        )


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
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
    texts = [
        "people " * 100_000,
        "the",
        "of " * 200_000,
        *(f"x{number}" for number in range(10_000)),
    ]
    write(tmp_path / "a.txt", texts)
    manifest = encode_files([tmp_path / "a.txt"], tmp_path / "out", english, workers=1)
    assert manifest["totals"]["rows"] == len(texts)
    assert rows_in(tmp_path / "out") == english(texts).input_ids


@examples(40)
@given(
    lines=st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=12),
    shard_bytes=st.integers(1, 40),
    end=st.booleans(),
    packed=st.booleans(),
)
def test_however_lines_are_cut_they_come_once_and_in_order(
    english, tmp_path_factory, lines, shard_bytes, end, packed
):
    folder = tmp_path_factory.mktemp("cut")
    # the first line keeps it from looking like a packed file, or one of UTF-16
    raw = b"\n".join([b"people", *lines]) + (b"\n" if end else b"")
    path = folder / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(raw) if packed else raw)
    expected, bad = [], []
    for number, line in enumerate(raw.split(b"\n")[: -1 if raw.endswith(b"\n") else None], start=1):
        try:
            expected.append(line.decode())
        except UnicodeDecodeError:
            bad.append(number)
    options = {"workers": 1, "shard_bytes": shard_bytes, "on_error": "skip"}
    encode_files(path, folder / "out", english, **options)
    assert rows_in(folder / "out") == ids_of(english, expected)
    rejects = folder / "out" / "rejects.jsonl"
    skipped = rejects.read_text().splitlines() if rejects.exists() else []
    assert [json.loads(row)["row"] for row in skipped] == bad
