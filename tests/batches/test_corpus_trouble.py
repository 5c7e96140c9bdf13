"""`encode_files` on rows without text, files that cannot be read and full disks."""

from __future__ import annotations

import gzip
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.batches.shards import contents, ids_of, rows_in, write
from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    OptionError,
    TokenizeBatch,
    encode_files,
)

# ---- rows without text ---------------------------------------------------------------------------

GOOD_LINES = [b'{"text": "fine"}', b'{"text": "fine too"}']
BAD_LINES = [
    b'{"text": null}',
    b'{"text": 7}',
    b'{"text": ["a"]}',
    b'{"other": "a"}',
    b"[1]",
    b"",
    b'{"text": "a"',
    b'{"text": "caf\xe9"}',
    b"[" * 100_000,
    b'{"text": "a"}{"text": "b"}',
    b'{"text": "a"}\r{"text": "b"}',
]


def test_the_mark_that_some_editors_begin_a_file_with(english, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a b"}\n{"text": "c"}\n')
    assert (
        encode_files(tmp_path / "a.jsonl", tmp_path / "ids", english, workers=1)["totals"]["rows"]
        == 2
    )


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst"])
def test_a_packed_file_of_no_bytes_is_cut_off(english, tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FileFormatError):
        encode_files(tmp_path / name, tmp_path / "ids", english, workers=1)


def test_pipes_and_files_in_the_place_of_directories(english, tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(InputError):
        encode_files(tmp_path / "pipe.txt", tmp_path / "ids", english, workers=1)
    for place in ("a.txt", "a.txt/ids"):
        with pytest.raises(InputError):
            encode_files(tmp_path / "a.txt", tmp_path / place, english, workers=1)


@pytest.mark.parametrize("shard_bytes", [2000, 10**6])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_bad_lines_are_kept_aside(english, tmp_path, name, shard_bytes):
    raw = b"\n".join([GOOD_LINES[0], *BAD_LINES, GOOD_LINES[1]])
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    out = tmp_path / "out"
    options = {"workers": 1, "shard_bytes": shard_bytes}
    manifest = encode_files([tmp_path / name], out, english, on_error="skip", **options)
    assert rows_in(out) == ids_of(english, ["fine", "fine too"])
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [(row["file"], row["row"]) for row in rejects] == [
        (str(tmp_path / name), number) for number in range(2, 2 + len(BAD_LINES))
    ]
    assert all(row["reason"] for row in rejects)
    assert manifest["totals"]["rejected"] == len(BAD_LINES)
    with pytest.raises(FileError, match=r"row 2: .*--on-error skip continues"):
        encode_files([tmp_path / name], tmp_path / "failed", english, **options)


@pytest.mark.parametrize("shard_bytes", [1, 10**6])
def test_bad_parquet_rows(english, tmp_path, shard_bytes):
    raw = pa.array([b"fine", None, b"fine", b"caf\xe9", b"fine"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": raw}), tmp_path / "a.parquet", row_group_size=2)
    out = tmp_path / "out"
    options = {"workers": 1, "shard_bytes": shard_bytes}
    encode_files([tmp_path / "a.parquet"], out, english, on_error="skip", **options)
    assert rows_in(out) == ids_of(english, ["fine"] * 3)
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [row["row"] for row in rejects] == [2, 4]
    with pytest.raises(FileError, match=r"a\.parquet, row 2"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "failed", english, **options)


def test_the_first_bad_row_is_named_whoever_meets_it(english, tmp_path):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    for workers in (1, 2):
        with pytest.raises(FileError, match=r"a\.txt, row 61: byte 0xff"):
            encode_files(
                [tmp_path / "a.txt"],
                tmp_path / str(workers),
                english,
                workers=workers,
                shard_bytes=40,
            )


def test_after_a_bad_row_the_run_goes_on_with_such_rows_aside(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 20 + b"\xff\n" + b"fine\n" * 20)
    options = {"workers": 1, "shard_bytes": 25}
    encode_files([tmp_path / "a.txt"], tmp_path / "unbroken", english, on_error="skip", **options)
    with pytest.raises(FileError):
        encode_files([tmp_path / "a.txt"], tmp_path / "out", english, **options)
    encode_files(
        [tmp_path / "a.txt"], tmp_path / "out", english, on_error="skip", resume=True, **options
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")
    assert "rejects.jsonl" in contents(tmp_path / "out")


# ---- files that cannot be read -------------------------------------------------------------------


MANY = b"".join(b"%040x\n" % (number * 7**40 % 2**160) for number in range(20_000))


@pytest.mark.parametrize(
    ("name", "raw", "error"),
    [
        ("a.txt.gz", gzip.compress(MANY)[:-100], FileFormatError),
        ("b.txt.gz", b"plain", FileFormatError),
        ("a.txt.zst", zstandard.compress(MANY)[:-100], FileFormatError),
        ("b.txt.zst", b"plain", FileFormatError),
        ("a.parquet", b"plain", FileFormatError),
        ("a.csv", "text\nlow\n".encode("utf-16"), FileFormatError),
        ("a.txt", "low\n".encode("utf-16"), FileFormatError),
        ("b.txt", ("low\n" * 10**6).encode("utf-16"), FileFormatError),
        ("a.jsonl", "low\n".encode("utf-16"), FileFormatError),
        ("a.pdf", b"plain", InputError),
        ("a.xlsx", b"plain", InputError),
        ("a.parquet.gz", b"plain", InputError),
        ("a", b"plain", InputError),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_not_what_they_say(english, tmp_path, name, raw, error):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(error):
        encode_files([tmp_path / name], tmp_path / "out", english, workers=1)


def test_several_frames_and_members(english, tmp_path):
    (tmp_path / "a.txt.zst").write_bytes(
        zstandard.compress(b"one\ntw") + zstandard.compress(b"o\n")
    )
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\n"))
    encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english, ["one", "two"] * 2)


def test_columns_that_do_not_fit(english, tmp_path):
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="'body', 'n'"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    with pytest.raises(InputError):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="n")
    assert not (tmp_path / "out").exists()
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="body")
    assert rows_in(tmp_path / "out") == ids_of(english, ["a"])


def test_one_path_is_one_file_and_none_is_an_error(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, given_files in enumerate([path, str(path), str(tmp_path / "*.txt")]):
        encode_files(given_files, tmp_path / str(number), english, workers=1)
        assert rows_in(tmp_path / str(number)) == ids_of(english)
    with pytest.raises(InputError):
        encode_files([], tmp_path / "out", english)
    assert not (tmp_path / "out").exists()


def test_files_that_are_not_there(english, tmp_path):
    write(tmp_path / "a.txt")
    for files, error in [
        ([tmp_path / "b.txt"], FileError),
        ([tmp_path / "*.parquet"], FileError),
        ([tmp_path], FileError),
        ([tmp_path / "a.txt", tmp_path / "*.txt"], InputError),
    ]:
        with pytest.raises(error):
            encode_files(files, tmp_path / "out", english)


@pytest.mark.parametrize(
    "options",
    [
        {"on_error": "ignore"},
        {"workers": 0},
        *({"shard_bytes": size} for size in (0, 1.5, float("inf"), float("nan"), True, "9")),
        {"return_length": True},
        {"return_offsets_mapping": True},
        {"colour": "red"},
    ],
    ids=str,
)
def test_options_that_do_not_fit(english, tmp_path, options):
    with pytest.raises((InputError, OptionError)):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, **options)


@pytest.mark.parametrize(
    ("typed", "meant"), [("on_errors", "on_error"), ("max_lenght", "max_length")]
)
def test_an_option_that_is_mistyped_is_suggested(english, tmp_path, typed, meant):
    with pytest.raises(OptionError, match=f"did you mean '{meant}'"):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, **{typed: 1})


@pytest.mark.parametrize("given", ["trietok-en", BertTokenizer], ids=["name", "class"])
def test_a_tokenizer_is_one_that_is_loaded(tmp_path, given):
    with pytest.raises(InputTypeError):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", given)
    with pytest.raises(InputTypeError):
        TokenizeBatch(given, "text")


def test_zstandard_is_asked_for_where_it_is_needed(english, tmp_path, monkeypatch):
    write(tmp_path / "a.txt.zst")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install zstandard"):
        encode_files([tmp_path / "a.txt.zst"], tmp_path / "out", english, workers=1)


def test_a_column_of_another_type_is_an_error_though_bad_rows_are_skipped(english, tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(InputError):
        encode_files(
            [tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, on_error="skip"
        )


def test_the_output_is_a_local_directory(english, tmp_path):
    with pytest.raises(InputError):
        encode_files([write(tmp_path / "a.txt")], "s3://bucket/ids", english)
