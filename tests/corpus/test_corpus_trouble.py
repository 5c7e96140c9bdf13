"""`encode_files` on rows without text, files that cannot be read and full disks."""

from __future__ import annotations

import gzip
import json
import os
import stat

import pytest

from tests.corpus.shards import contents, ids_of, manifest_in, rows_in, write
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

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")


# ---- rows without text ---------------------------------------------------------------------------

BAD_LINES = [
    (b'{"text": "fine"}', None),
    (b'{"text": null}', "'text' is null, not a text"),
    (b'{"text": 7}', "'text' is a number, not a text"),
    (b'{"text": ["a"]}', "'text' is a list, not a text"),
    (b'{"other": "a"}', "the object has no field 'text', only 'other'; choose a field"),
    (b"[1]", "a list of JSON, not an object"),
    (b"", "not JSON at character 1: Expecting value"),
    (b'{"text": "a"', "not JSON at character 13: Expecting ',' delimiter"),
    (b'{"text": "caf\xe9"}', "byte 0xe9 at offset 13 of the text is not UTF-8"),
    (b"[" * 100_000, "JSON with brackets nested too deeply"),
    (b'{"text": "fine too"}', None),
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
    with pytest.raises(FileFormatError, match="is truncated and cannot be decompressed"):
        encode_files(tmp_path / name, tmp_path / "ids", english, workers=1)


def test_pipes_and_files_in_the_place_of_directories(english, tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "a.txt").write_text("a\n")
    with pytest.raises(
        InputError, match=r"pipe\.txt is no regular file, and texts are read more than once"
    ):
        encode_files(tmp_path / "pipe.txt", tmp_path / "ids", english, workers=1)
    for place in ("a.txt", "a.txt/ids"):
        with pytest.raises(InputError, match="is a file, or below one; give a directory"):
            encode_files(tmp_path / "a.txt", tmp_path / place, english, workers=1)


@pytest.mark.parametrize("shard_bytes", [2000, 10**6])
@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_bad_lines_are_kept_aside(english, tmp_path, name, shard_bytes):
    raw = b"\n".join(line for line, _ in BAD_LINES)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    out = tmp_path / "out"
    options = {"workers": 1, "shard_bytes": shard_bytes}
    manifest = encode_files([tmp_path / name], out, english, on_error="skip", **options)
    assert rows_in(out) == ids_of(english, ["fine", "fine too"])
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    bad = [(number, reason) for number, (_, reason) in enumerate(BAD_LINES, start=1) if reason]
    assert [(row["file"], row["row"]) for row in rejects] == [
        (str(tmp_path / name), number) for number, _ in bad
    ]
    for row, (_, reason) in zip(rejects, bad, strict=True):
        assert row["reason"].startswith(reason)
    assert manifest["totals"]["rejected"] == len(bad)
    with pytest.raises(
        FileError,
        match=(
            r"row 2: 'text' is null, not a text\. .*finished shards? stays? .*--on-error skip"
            r" continues"
        ),
    ):
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
    assert [(row["row"], row["reason"]) for row in rejects] == [
        (2, "null"),
        (4, "byte 0xe9 at offset 3 of the text is not UTF-8"),
    ]
    with pytest.raises(FileError, match=r"a\.parquet, row 2: null\. \d fin"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "failed", english, **options)


def test_the_first_bad_row_is_named_whoever_meets_it(english, tmp_path):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    for workers in (1, 2):
        with pytest.raises(
            FileError, match=r"a\.txt, row 61: byte 0xff at offset 0 of the text is not UTF-8"
        ):
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
    with pytest.raises(FileError, match="row 21"):
        encode_files([tmp_path / "a.txt"], tmp_path / "out", english, **options)
    encode_files(
        [tmp_path / "a.txt"], tmp_path / "out", english, on_error="skip", resume=True, **options
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")
    assert "rejects.jsonl" in contents(tmp_path / "out")


# ---- files that cannot be read -------------------------------------------------------------------


def test_files_that_are_not_what_they_say(english, tmp_path):
    def refused(name, raw, error, said):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(error, match=said):
            encode_files([tmp_path / name], tmp_path / f"out-{name}", english, workers=1)

    many = b"".join(os.urandom(40).hex().encode() + b"\n" for _ in range(20_000))
    refused(
        "a.txt.gz",
        gzip.compress(many)[:-100],
        FileFormatError,
        r"a\.txt\.gz is truncated .*--on-error skip continues",
    )
    refused("b.txt.gz", b"plain", FileFormatError, "no gzip file")
    refused(
        "a.txt.zst", zstandard.compress(many)[:-100], FileFormatError, r"a\.txt\.zst is truncated"
    )
    refused("b.txt.zst", b"plain", FileFormatError, "no zstd file")
    refused("a.parquet", b"plain", FileFormatError, r"a\.parquet is not a Parquet file")
    refused(
        "a.pdf",
        b"plain",
        InputError,
        r"a\.pdf is of an unknown kind; files end in \.parquet, or in \.txt, \.jsonl",
    )
    refused("a.xlsx", b"plain", InputError, r"a\.xlsx is a spreadsheet; save it as \.csv in UTF-8")
    utf_16 = r"is text in UTF-16; save it in UTF-8, and give that file"
    refused("a.csv", "text\nlow\n".encode("utf-16"), FileFormatError, rf"a\.csv {utf_16}")
    for size in (1, 10**6):  # a small file is read at once
        for suffix in ("txt", "jsonl"):
            raw = ("low\n" * size).encode("utf-16")
            refused(f"a.{suffix}", raw, FileFormatError, rf"a\.{suffix} {utf_16}")
    refused("a.parquet.gz", b"plain", InputError, "of an unknown kind")
    refused("a", b"plain", InputError, "of an unknown kind")


def test_several_frames_and_members(english, tmp_path):
    (tmp_path / "a.txt.zst").write_bytes(
        zstandard.compress(b"one\ntw") + zstandard.compress(b"o\n")
    )
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\n"))
    encode_files([tmp_path / "*.*"], tmp_path / "out", english, workers=1)
    assert rows_in(tmp_path / "out") == ids_of(english, ["one", "two"] * 2)


def test_columns_that_do_not_fit(english, tmp_path):
    pq.write_table(pa.table({"body": ["a"], "n": [1]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet has no column 'text'; it has 'body', 'n'"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1)
    with pytest.raises(InputError, match=r"a\.parquet: column 'n' holds int64, not text"):
        encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="n")
    assert not (tmp_path / "out").exists()
    encode_files([tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, column="body")
    assert rows_in(tmp_path / "out") == ids_of(english, ["a"])


def test_one_path_is_one_file_and_none_is_an_error(english, tmp_path):
    path = write(tmp_path / "a.txt")
    for number, given_files in enumerate([path, str(path), str(tmp_path / "*.txt")]):
        encode_files(given_files, tmp_path / str(number), english, workers=1)
        assert rows_in(tmp_path / str(number)) == ids_of(english)
    with pytest.raises(InputError, match="no files are given"):
        encode_files([], tmp_path / "out", english)
    assert not (tmp_path / "out").exists()


def test_files_that_are_not_there(english, tmp_path):
    write(tmp_path / "a.txt")
    for files, error, said in [
        ([tmp_path / "b.txt"], FileError, r"cannot read .*b\.txt: No such file"),
        ([tmp_path / "*.parquet"], FileError, r"no file matches .*\*\.parquet"),
        ([tmp_path], FileError, r"is a directory; give its files, such as .*\*\.parquet"),
        ([tmp_path / "a.txt", tmp_path / "*.txt"], InputError, r"a\.txt is given twice"),
    ]:
        with pytest.raises(error, match=said):
            encode_files(files, tmp_path / "out", english)


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"on_error": "ignore"}, InputError, "on_error is 'ignore'"),
        ({"workers": 0}, InputError, "workers is 0"),
        *(
            (
                {"shard_bytes": size},
                InputError,
                f"shard_bytes is {size!r}; it is a whole number from 1",
            )
            for size in (0, 1.5, float("inf"), float("nan"), True, "9")
        ),
        ({"return_length": True}, OptionError, "leave out what asks for length"),
        ({"colour": "red"}, OptionError, "no such option"),
        (
            {"on_errors": "skip"},
            OptionError,
            "no such option: 'on_errors'; did you mean 'on_error'",
        ),
        ({"max_lenght": 9}, OptionError, "no such option: 'max_lenght'; did you mean 'max_length'"),
    ],
)
def test_options_that_do_not_fit(english, tmp_path, options, error, said):
    with pytest.raises(error, match=said):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", english, **options)


@pytest.mark.parametrize("given", ["trietok-en", BertTokenizer], ids=["name", "class"])
def test_a_tokenizer_is_one_that_is_loaded(tmp_path, given):
    files, said = [write(tmp_path / "a.txt")], r"pass one .* BertTokenizer.from_pretrained\('"
    with pytest.raises(InputTypeError, match=said):
        encode_files(files, tmp_path / "out", given)
    with pytest.raises(InputTypeError, match=said):
        TokenizeBatch(given, "text")


def test_zstandard_is_asked_for_where_it_is_needed(english, tmp_path, monkeypatch):
    write(tmp_path / "a.txt.zst")
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    with pytest.raises(MissingDependencyError, match=r"pip install zstandard"):
        encode_files([tmp_path / "a.txt.zst"], tmp_path / "out", english, workers=1)


def test_a_column_that_holds_no_text_is_a_type_error():
    from trietok.corpus.shard_files import check_text_type

    with pytest.raises(InputTypeError, match="cast it to string"):
        check_text_type(pa.binary(), "text")


def test_a_column_of_another_type_is_an_error_though_bad_rows_are_skipped(english, tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: column 'text' holds int64, not text"):
        encode_files(
            [tmp_path / "a.parquet"], tmp_path / "out", english, workers=1, on_error="skip"
        )


def test_the_size_of_a_parquet_shard_is_that_of_the_encoded_column(english, tmp_path):
    table = pa.table({"text": ["the people " * 50] * 400})
    for name, dictionary in (("once", True), ("plain", False)):
        pq.write_table(
            table,
            tmp_path / f"{name}.parquet",
            row_group_size=100,
            use_dictionary=dictionary,
            compression="none",
        )
        manifest = encode_files(
            tmp_path / f"{name}.parquet", tmp_path / name, english, workers=1, shard_bytes=50_000
        )
        assert len(manifest["shards"]) == (1 if dictionary else 4)


@pytest.mark.parametrize("output", ["s3://bucket/ids", "memory://ids", "file:///tmp/ids"])
def test_the_output_is_a_local_directory(english, tmp_path, output):
    with pytest.raises(
        InputError,
        match=f"a local directory, not '{output}'; write to a directory and copy it there",
    ):
        encode_files([write(tmp_path / "a.txt")], output, english)


def test_a_full_disk_names_the_file(english, tmp_path, monkeypatch):
    path = write(tmp_path / "a.txt")
    out = tmp_path / "out"
    original = os.fsync

    def full(handle):
        if (out / ".trietok-encode" / "plan.json").exists() and stat.S_ISREG(
            os.fstat(handle).st_mode
        ):
            raise OSError(28, "No space left on device")
        original(handle)

    monkeypatch.setattr(os, "fsync", full)
    options = {"workers": 1}
    with pytest.raises(
        FileError,
        match=r"cannot write .*/[0-9a-f]{40}.*: No space left on device\. 0 .*resume continues",
    ):
        encode_files(path, out, english, **options)
    monkeypatch.undo()
    encode_files(path, out, english, resume=True, **options)
    assert rows_in(out) == ids_of(english)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_a_full_disk_outside_of_a_shard(english, tmp_path, monkeypatch, name):
    from trietok import disk as whole

    opened = []

    def full_file(path, private):
        opened.append(path)
        return os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(whole, "_new_file", full_file)
    with pytest.raises(
        FileError, match=r"cannot write .*: No space left on device\. Finished shards stay"
    ) as caught:
        encode_files(write(tmp_path / name), tmp_path / "out", english, workers=1)
    assert caught.value.path == opened[-1]
    assert opened[-1] in str(caught.value)


@pytest.mark.parametrize("between", ["", " ", "\t", "\r"])
def test_two_objects_on_a_line_of_json_are_no_text(english, tmp_path, between):
    (tmp_path / "a.jsonl").write_bytes(
        f'{{"text": "a"}}\n{{"text": "b"}}{between}{{"text": "c"}}\n'.encode()
    )
    manifest = encode_files(
        tmp_path / "a.jsonl", tmp_path / "out", english, workers=1, on_error="skip"
    )
    assert (manifest["totals"]["rows"], manifest["totals"]["rejected"]) == (1, 1)
    assert manifest_in(tmp_path / "out") == manifest
