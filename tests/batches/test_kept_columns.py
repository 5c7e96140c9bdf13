"""What goes with the rows of ids: columns that are kept, masks and type ids."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.shards import TEXTS, contents, ids_of, rows_in, table_in, write
from trietok import (
    FileError,
    InputError,
    InputTypeError,
    OptionError,
    encode_files,
)

MASKS = ["token_type_ids", "attention_mask", "special_tokens_mask"]


def json_file(path, rows):
    path.write_bytes(
        b"".join(
            row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n" for row in rows
        )
    )
    return path


@pytest.mark.parametrize("value", ["\ud800", {"a": ["\udfff"]}, {"\ud800": 1}])
def test_half_a_surrogate_pair_is_a_row_that_cannot_be_kept(english, tmp_path, value):
    file = json_file(
        tmp_path / "a.jsonl", [{"text": "a", "id": "\U0001f600"}, {"text": "b", "id": value}]
    )
    with pytest.raises(FileError, match="row 2"):
        encode_files(file, tmp_path / "out", english, keep_columns=["id"])
    manifest = encode_files(file, tmp_path / "rest", english, keep_columns=["id"], on_error="skip")
    assert (manifest["totals"]["rows"], manifest["totals"]["rejected"]) == (1, 1)
    assert table_in(tmp_path / "rest")[0]["id"] == "\U0001f600"


def test_objects_without_keys(english, tmp_path):
    """No column of a Parquet file holds them: where there are only such, they are null."""
    file = json_file(tmp_path / "a.jsonl", [{"text": "a", "id": {}}, {"text": "b", "id": {}}])
    encode_files(file, tmp_path / "out", english, keep_columns=["id"])
    assert [row["id"] for row in table_in(tmp_path / "out")] == [None, None]
    file = json_file(tmp_path / "b.jsonl", [{"text": "a", "id": {"b": {}}}])
    with pytest.raises(FileError):
        encode_files(file, tmp_path / "within", english, keep_columns=["id"])


def test_rows_without_a_text_do_not_decide_the_type(english, tmp_path):
    rows = [{"text": "a", "id": 1}, {"text": None, "id": "x"}, {"text": 3, "id": [2]}]
    file = json_file(tmp_path / "a.jsonl", rows)
    for keep in ("id", "text"):
        encode_files(file, tmp_path / keep, english, keep_columns=[keep], on_error="skip")
        assert table_in(tmp_path / keep)[0][keep] == rows[0][keep]


# ---- columns that are kept -----------------------------------------------------------------------


@pytest.fixture
def labelled(tmp_path):
    """A Parquet file and lines of JSON with other columns than texts; three rows hold no text."""
    rows = [
        {"text": text, "id": number, "label": {"name": text, "at": [number]}}
        for number, text in enumerate(TEXTS)
    ]
    rows[2]["text"] = None
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=3)
    json_file(tmp_path / "b.jsonl", [*rows, b"no JSON\n", {"text": "last", "id": 7.5}])
    return tmp_path


@pytest.mark.parametrize("shard_bytes", [100, 10**6])
@pytest.mark.parametrize("workers", [1, 2])
def test_columns_are_kept_beside_their_texts(english, labelled, shard_bytes, workers):
    out = labelled / "out"
    options = {
        "shard_bytes": shard_bytes,
        "workers": workers,
        "on_error": "skip",
    }
    encode_files(labelled / "*.*", out, english, keep_columns=["id", "label"], **options)
    numbers = [number for number in range(len(TEXTS)) if number != 2]
    texts = [TEXTS[number] for number in numbers]
    expected = [
        {"input_ids": ids, "id": number, "label": {"name": TEXTS[number], "at": [number]}}
        for number, ids in zip(numbers * 2, ids_of(english, texts * 2), strict=True)
    ]
    expected.append({"input_ids": ids_of(english, ["last"])[0], "id": 7.5, "label": None})
    assert table_in(out) == expected
    assert list(table_in(out)[0]) == ["input_ids", "id", "label"]
    encode_files(
        labelled / "*.*",
        labelled / "again",
        english,
        keep_columns=["id", "label"],
        **{**options, "workers": 1},
    )
    assert contents(out) == contents(labelled / "again")


def test_a_column_may_be_the_text_and_may_be_kept_twice(english, tmp_path):
    for name in ("a.parquet", "a.jsonl"):
        encode_files(
            write(tmp_path / name),
            tmp_path / f"{name}.out",
            english,
            workers=1,
            keep_columns=["text", "id", "id"],
        )
        rows = table_in(tmp_path / f"{name}.out")
        assert [row["text"] for row in rows] == TEXTS
        assert list(rows[0]) == ["input_ids", "text", "id"]


def test_shards_without_rows_have_the_columns(english, tmp_path):
    json_file(tmp_path / "a.jsonl", [b"[]\n"])
    pq.write_table(
        pa.table({"text": pa.array([None], pa.string()), "n": [1]}), tmp_path / "b.parquet"
    )
    json_file(tmp_path / "c.jsonl", [{"text": "a", "n": 5}])
    out = tmp_path / "out"
    options = {"keep_columns": ["n"], "on_error": "skip", "workers": 1}
    encode_files(tmp_path / "*.*[tl]", out, english, return_attention_mask=True, **options)
    (row,) = table_in(out)
    assert (row["attention_mask"], row["n"]) == ([1, 1, 1], 5)
    for path in out.glob("*.parquet"):
        assert pq.read_schema(path).names[-1] == "n"


def test_values_that_go_into_no_column(english, tmp_path):
    json_file(tmp_path / "fine.jsonl", [{"text": "a", "n": 1}])
    for name, values in (("mixed", [1, "a"]), ("big", [2**70])):
        path = json_file(
            tmp_path / f"{name}.jsonl", [{"text": "a", "n": value} for value in values]
        )
        with pytest.raises(FileError):
            encode_files(path, tmp_path / f"{name}.out", english, workers=1, keep_columns=["n"])
    options = {"workers": 1, "keep_columns": ["n"], "on_error": "skip"}
    manifest = encode_files(tmp_path / "*.jsonl", tmp_path / "out", english, **options)
    assert (manifest["totals"]["rows"], len(manifest["set_aside"])) == (1, 2)


def test_values_that_are_null_first_then_whole_then_with_a_point(english, tmp_path):
    values = [None] * 100 + list(range(100)) + [number / 2 for number in range(100)]
    path = json_file(tmp_path / "a.jsonl", [{"text": "", "n": value} for value in values])
    encode_files(path, tmp_path / "out", english, workers=1, keep_columns=["n"])
    assert [row["n"] for row in table_in(tmp_path / "out")] == values


def test_what_cannot_be_kept(english, tmp_path):
    parquet, text = write(tmp_path / "a.parquet"), write(tmp_path / "a.txt")
    for file, keep, error in (
        (parquet, ["labels"], InputError),
        (parquet, "id", InputTypeError),
        (parquet, ["input_ids"], InputError),
        (text, ["id"], InputError),
    ):
        with pytest.raises(error):
            encode_files(file, tmp_path / "out", english, workers=1, keep_columns=keep)
        assert not (tmp_path / "out").exists()


def test_other_columns_are_another_run(english, tmp_path):
    path = write(tmp_path / "a.parquet")
    encode_files(path, tmp_path / "out", english, workers=1, keep_columns=["id"])
    with pytest.raises(InputError):
        encode_files(path, tmp_path / "out", english, workers=1, resume=True)


# ---- masks and type ids --------------------------------------------------------------------------


def test_masks_and_type_ids(english, tmp_path):
    asked = {f"return_{name}": True for name in MASKS}
    out = tmp_path / "out"
    encode_files(write(tmp_path / "a.txt"), out, english, workers=1, **asked)
    expected = english(TEXTS, **asked)
    rows = table_in(out)
    assert list(rows[0]) == ["input_ids", *[name for name in expected if name != "input_ids"]]
    assert {name: [row[name] for row in rows] for name in rows[0]} == dict(expected)


@pytest.mark.parametrize("options", [{}, {"truncation": True, "max_length": 9}])
def test_masks_of_long_lines(english, tmp_path, monkeypatch, options):
    """A line that is read in pieces has the columns of one that is read whole."""
    path = tmp_path / "a.txt"
    path.write_text("the\n" + "people of the United States " * 50 + "\nthe\n")
    asked = {f"return_{name}": True for name in MASKS} | {"workers": 1}
    encode_files(path, tmp_path / "whole", english, **asked, **options)
    monkeypatch.setattr("trietok.corpus.text_inputs.LONG", 100)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 100)
    monkeypatch.setattr("trietok.corpus.text_inputs.LONG", 100)
    encode_files(path, tmp_path / "pieces", english, **asked, **options)
    assert table_in(tmp_path / "pieces") == table_in(tmp_path / "whole")


def test_files_have_no_other_columns(english, tmp_path):
    for name in ("return_offsets_mapping", "return_length"):
        with pytest.raises(OptionError):
            encode_files(
                write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1, **{name: True}
            )
    encode_files(
        write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1, return_attention_mask=False
    )
    assert rows_in(tmp_path / "out") == ids_of(english)
