"""A Parquet file whose row groups are much larger than a shard: it is cut between rows."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.shards import contents, ids_of, rows_in, table_in
from trietok import encode_files

TEXTS = ["people " * (number % 7) + str(number) for number in range(400)]


@pytest.fixture
def large(tmp_path):
    """One large row group between small ones."""
    path = tmp_path / "a.parquet"
    rows = pa.table(
        {"text": TEXTS, "id": list(range(400)), "more": [{"a": text} for text in TEXTS]}
    )
    with pq.ParquetWriter(path, rows.schema) as writer:
        for start, end in ((0, 3), (3, 6), (6, 390), (390, 400)):
            writer.write_table(rows.slice(start, end - start))
    return path


@pytest.mark.parametrize("compressed_with", ["none", "zstd"])
@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_a_file_of_one_row_group(english, tmp_path, kind, compressed_with):
    column = pa.array(TEXTS)
    column = column.dictionary_encode() if kind == "dictionary" else column.cast(kind)
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet", compression=compressed_with)
    options = {"workers": 1, "shard_bytes": 500}
    manifest = encode_files(tmp_path / "a.parquet", tmp_path / "out", english, **options)
    assert rows_in(tmp_path / "out") == ids_of(english, TEXTS)
    assert manifest["totals"]["rows"] == len(TEXTS)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_rows_around_and_other_columns(english, tmp_path, large, workers):
    options = {"shard_bytes": 1000, "keep_columns": ["more", "id"]}
    encode_files(large, tmp_path / "out", english, workers=workers, **options)
    encode_files(large, tmp_path / "one", english, workers=1, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "one")
    rows = table_in(tmp_path / "out")
    assert [row["input_ids"] for row in rows] == ids_of(english, TEXTS)
    for number in (0, 5, 6, 200, 389, 390, 399):
        assert (rows[number]["id"], rows[number]["more"]) == (number, {"a": TEXTS[number]})


def test_rows_without_text_have_their_numbers(english, tmp_path):
    bad = {0, 7, 250, 399}
    rows = [None if number in bad else text for number, text in enumerate(TEXTS)]
    pq.write_table(pa.table({"text": rows}), tmp_path / "a.parquet")
    options = {"workers": 1, "shard_bytes": 500, "on_error": "skip"}
    encode_files(tmp_path / "a.parquet", tmp_path / "out", english, **options)
    rejects = map(json.loads, (tmp_path / "out" / "rejects.jsonl").read_text().splitlines())
    assert [row["row"] for row in rejects] == [number + 1 for number in sorted(bad)]
    assert rows_in(tmp_path / "out") == ids_of(english, [text for text in rows if text is not None])
