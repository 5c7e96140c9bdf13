"""Files that cannot be read, rows without text, and damaged results: an error that says so, or
exactly the right rows.
"""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import os
import random
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.batches.shards import (
    contents,
    ids_of,
    rejects_in,
    rows_in,
    table_in,
    write,
)
from tests.cli.commands import run as run_command
from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    OptionError,
    TextFiles,
    TokenizeBatch,
    TrietokError,
    encode_files,
)

# ---- files that cannot be read -------------------------------------------------------------------

MANY = b"".join(b"%040x\n" % (number * 7**40 % 2**160) for number in range(20_000))
UTF_16 = "text\nlow\n".encode("utf-16")


def parquet(**columns):
    content = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), content, compression="none", use_dictionary=False)
    return content.getvalue().to_pybytes()


TABLE = parquet(text=[f"people {number} of the" for number in range(300)])
DAMAGED = {
    "cut off.txt.gz": gzip.compress(MANY)[:-100],
    "cut off.jsonl.gz": gzip.compress(b'{"text": "people"}\n' * 90)[:-9],
    "no gzip.txt.gz": b"plain",
    "empty.txt.gz": b"",
    "cut off.txt.zst": zstandard.compress(MANY)[:-100],
    "no zstd.txt.zst": b"plain",
    "empty.jsonl.zst": b"",
    "utf-16.txt": UTF_16,
    "long utf-16.txt": "low\n".encode("utf-16") * 10**5,
    "utf-16.jsonl": UTF_16,
    "utf-16.csv": UTF_16,
    "no parquet.parquet": b"plain",
    "cut off.parquet": TABLE[:-20],
    "damaged pages.parquet": TABLE[:4] + bytes(196) + TABLE[200:],
    "no column.parquet": parquet(body=["a"], n=[1]),
    "numbers.parquet": parquet(text=[1, 2]),
    "no column.csv": b"id,name\n1,a\n",
    "semicolons.csv": b"id;text\n1;a\n",
    "commas.tsv": b"id,text\n1,a\n",
    "column twice.csv": b"text,text\n1,a\n",
    "empty.csv": b"",
    "empty lines.csv": b"\n\n",
    "cut off.csv.gz": gzip.compress(b"text\n" + b"people\n" * 90)[:-9],
    "long row.csv": b"text\n" + b"people\n" * 40_000 + b"a" * (17 << 20) + b"\n",
    "quote.csv": b'text\none\n"two\nlines"\n"three\nfour',
    "quote of two columns.csv": b'text,id\none,1\n"two,2\nthree,3\n',
    "quote in the other.csv": b'text,id\none,1\ntwo,"2\nthree,3\n',
    "quote in the header.csv": b'\ntext,"id\none,1\n',
    "quote at the end.csv": b'text\none\n"',
}
LINES = {  # where a quote is that is not closed
    "quote.csv": 5,
    "quote of two columns.csv": 3,
    "quote in the other.csv": 3,
    "quote in the header.csv": 2,
    "quote at the end.csv": 3,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_fails_or_is_set_aside_until_it_is_repaired(english, tmp_path, name):
    path, out = tmp_path / name, tmp_path / "out"
    path.write_bytes(DAMAGED[name])
    write(tmp_path / "fine.txt", ["people"])
    files = [tmp_path / "fine.txt", path]
    for read in (
        lambda: encode_files(files, tmp_path / "failed", english, workers=1),
        lambda: list(TextFiles(path)),
        lambda: encode_files(path, tmp_path / "alone", english, workers=1, on_error="skip"),
    ):
        with pytest.raises((FileError, FileFormatError, InputError)) as caught:
            read()
        assert name in str(caught.value)
        assert name not in LINES or f"{name}, line {LINES[name]}: " in str(caught.value)
    options = {"workers": 1, "on_error": "skip", "shard_bytes": 500}
    manifest = encode_files(files, out, english, **options)
    assert [file["name"] for file in manifest["set_aside"]] == [str(path)]
    assert rows_in(out) == ids_of(english, ["people"])
    write(path, ["of the", "states"])
    manifest = encode_files(files, out, english, resume=True, **options)
    assert manifest["set_aside"] == []
    assert rows_in(out) == ids_of(english, ["people", "of the", "states"])


def test_a_link_to_nowhere_is_set_aside(english, tmp_path):
    (tmp_path / "a.txt").symlink_to("nowhere")
    write(tmp_path / "b.txt", ["people"])
    files, out = tmp_path / "*.txt", tmp_path / "out"
    with pytest.raises(FileError, match=r"a\.txt"):
        encode_files(files, tmp_path / "failed", english, workers=1)
    manifest = encode_files(files, out, english, workers=1, on_error="skip")
    assert [file["name"] for file in manifest["set_aside"]] == [str(tmp_path / "a.txt")]
    assert rows_in(out) == ids_of(english, ["people"])
    with pytest.raises(InputError, match=r"b\.txt holds lines of text, which have no columns"):
        encode_files(tmp_path / "b.txt", tmp_path / "none", english, keep_columns=["id"])


def test_a_flipped_bit_of_a_table_with_page_checksums_is_found(english, tmp_path):
    texts = [f"people {number} of the" for number in range(300)]
    path, options = tmp_path / "a.parquet", {"compression": "none", "use_dictionary": False}
    pq.write_table(pa.table({"text": texts}), path, write_page_checksum=True, **options)
    path.write_bytes(path.read_bytes().replace(b"people 150", b"qeople 150"))
    with pytest.raises(FileError):
        encode_files(path, tmp_path / "ids", english, workers=1)
    with pytest.raises(FileError):
        list(TextFiles(path))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_changes_meanwhile_fails_and_can_be_resumed(english, tmp_path, workers):
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, ["the people"] * 40)
    for name in ("c.txt", "d.txt", "e.txt"):  # together in one shard
        write(tmp_path / name, [f"the people of {name}"])
    files, options = tmp_path / "*.txt", {"workers": 1, "shard_bytes": 100}

    def change(state):
        write(tmp_path / "d.txt", ["it was replaced"])

    with pytest.raises(FileError, match=r"d\.txt has changed .*--resume continues"):
        encode_files(files, tmp_path / "failed", english, progress=change, **options)
    write(tmp_path / "d.txt", ["the people of d.txt"])
    skip = {"on_error": "skip", "progress": change, **options}
    manifest = encode_files(files, tmp_path / "out", english, **skip)
    assert [file["name"] for file in manifest["set_aside"]] == [str(tmp_path / "d.txt")]
    encode_files(files, tmp_path / "failed", english, resume=True, **options)
    texts = [*["the people"] * 80, "the people of c.txt", "it was replaced", "the people of e.txt"]
    assert rows_in(tmp_path / "failed") == ids_of(english, texts)
    assert rows_in(tmp_path / "out") == ids_of(english, [*texts[:-2], texts[-1]])


# ---- rows without text ---------------------------------------------------------------------------


def test_the_first_bad_row_is_named_with_any_number_of_workers(english, tmp_path):
    lines = [b"fine"] * 100
    lines[60] = lines[80] = lines[99] = b"\xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    for workers in (1, 2):
        path, out = tmp_path / "a.txt", tmp_path / f"out {workers}"
        options = {"workers": workers, "shard_bytes": 40}
        with pytest.raises(FileError, match=r"a\.txt, line 61: byte 0xff.*--on-error skip"):
            encode_files(path, out, english, **options)
        encode_files(path, out, english, on_error="skip", resume=True, **options)
        assert rejects_in(out) == [("a.txt", row) for row in (61, 81, 100)]
        assert rows_in(out) == ids_of(english, ["fine"] * 97)


def test_rows_as_wide_as_no_header_keep_the_numbers_of_others(english, tmp_path):
    """Row 41 is an empty line, which is no row; the rows are more than are read at once."""
    wrong = {0: "x", 1: "a,b,c", 40: '7,"a\nb",c', 41: "", 150: "b", 299: "1,2,3,4"}
    texts = [f"people {number}" for number in range(300)]
    texts[50] = texts[160] = texts[200] = "x" * (7 << 20)
    lines = [wrong.get(number, f"{number},{text}") for number, text in enumerate(texts)]
    path, out = tmp_path / "a.csv", tmp_path / "out"
    path.write_text("\n".join(["id,text", *lines, *["p"] * 60]))
    expected = [text for number, text in enumerate(texts) if number not in wrong]
    with pytest.raises(FileFormatError, match=r"a\.csv, row 1: "):
        list(TextFiles(path))
    assert list(TextFiles(path, on_error="skip")) == expected
    encode_files(path, out, english, workers=1, on_error="skip", keep_columns=["id"])
    assert rows_in(out) == ids_of(english, expected)
    rows = [number + (number < 41) for number in sorted({*wrong} - {41})]
    assert rejects_in(out) == [("a.csv", row) for row in [*rows, *range(300, 360)]]
    assert [table_in(out)[number]["id"] for number in (0, 38, -1)] == ["2", "42", "298"]


@pytest.mark.faults
def test_texts_too_long_to_be_held_are_rows_without_text(english, tmp_path):
    """More than 64 MiB without a space or in an object of JSON, and more than 33,554,432 tokens."""
    long = b"x" * ((64 << 20) + 1)
    (tmp_path / "a.txt").write_bytes(b"the\n" + long + b"\npeople\n" + b"a " * (1 << 25))
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "of"}\n{"text": "' + long + b'"}\n')
    options = {"workers": 1, "on_error": "skip"}
    encode_files(tmp_path / "*.*", tmp_path / "out", english, **options)
    assert rows_in(tmp_path / "out") == ids_of(english, ["the", "people", "of"])
    assert rejects_in(tmp_path / "out") == [("a.txt", 2), ("a.txt", 4), ("b.jsonl", 2)]
    cut = {"truncation": True, "max_length": 9}
    encode_files(tmp_path / "*.*", tmp_path / "cut", english, **options, **cut)
    assert rejects_in(tmp_path / "cut") == [("a.txt", 2), ("b.jsonl", 2)]


# ---- how much may be skipped ---------------------------------------------------------------------

SKIP = {"workers": 1, "on_error": "skip", "shard_bytes": 500}


@pytest.fixture
def rows(tmp_path):
    """Four files, of which one has five bad rows among a hundred: 400 rows."""
    for number in range(4):
        lines = [b"the people %d" % row for row in range(100)]
        for row in range(10, 60, 10) if number == 1 else ():
            lines[row] = b"\xff"
        (tmp_path / f"{number}.txt").write_bytes(b"\n".join(lines) + b"\n")
    return tmp_path / "*.txt"


@pytest.mark.parametrize("limit", [5, "5", "1.25%", "100%"])
def test_as_many_rows_as_are_allowed_are_skipped(english, tmp_path, rows, limit):
    manifest = encode_files(rows, tmp_path / "out", english, most_skipped=limit, **SKIP)
    assert manifest["totals"]["rejected"] == 5


@pytest.mark.parametrize("limit", [4, "0", "1.24%", "0%"])
def test_more_skipped_rows_than_are_allowed_end_the_run(english, tmp_path, rows, limit):
    out = tmp_path / "out"
    for resume in (False, True):
        with pytest.raises(FileFormatError, match=rf"allows {limit}: .*1\.txt, line 11"):
            encode_files(rows, out, english, most_skipped=limit, resume=resume, **SKIP)
    assert not (out / "manifest.json").exists()
    manifest = encode_files(rows, out, english, resume=True, most_skipped="2%", **SKIP)
    assert manifest["totals"]["rejected"] == 5


def test_the_exit_code_tells_a_skipped_file_from_a_skipped_row(tmp_path):
    rows = tmp_path / "rows.txt"
    rows.write_bytes(b"the\n\xff\n")
    skip = ["encode-files", str(rows), "--on-error", "skip", "-o"]
    assert run_command(*skip, str(tmp_path / "a")).exit_code == 0
    assert run_command(*skip, str(tmp_path / "b"), str(tmp_path / "none.txt")).exit_code == 1
    assert run_command(*skip, str(tmp_path / "c"), "--most-skipped", "0").exit_code == 2
    assert run_command(*skip, str(tmp_path / "d"), "--most-skipped", "few").exit_code == 2
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("limit", [-1, 1.0, True, "", "1 %", "101%", "1.5", "-1", "%", [], "1e3%"])
def test_wrong_limits_are_refused(english, tmp_path, rows, limit):
    with pytest.raises(InputError, match="most_skipped"):
        encode_files(rows, tmp_path / "out", english, most_skipped=limit, **SKIP)
    with pytest.raises(InputError, match="needs on_error='skip'"):
        encode_files(rows, tmp_path / "out", english, most_skipped=1)


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on_error": "ignore"}, "on_error"),
        ({"workers": 0}, "workers"),
        *(
            ({"shard_bytes": size}, "shard_bytes")
            for size in (0, 1.5, float("inf"), float("nan"), True, "9")
        ),
        ({"return_length": True}, "length"),
        ({"return_offsets_mapping": True}, "offset_mapping"),
        ({"verify": True}, "verify needs resume"),
        ({"on_errors": 1}, "did you mean 'on_error'"),
        ({"max_lenght": 1}, "did you mean 'max_length'"),
        ({"keep_columns": "id"}, "keep_columns"),
        ({"keep_columns": ["labels"]}, "labels"),
        ({"keep_columns": ["input_ids"]}, "input_ids"),
        ({"column": "body"}, "'id', 'text'"),
        ({"column": "id"}, "'id'"),
    ],
    ids=str,
)
def test_wrong_options_are_named_before_anything_is_written(english, tmp_path, options, said):
    with pytest.raises((InputError, OptionError)) as caught:
        encode_files(write(tmp_path / "a.parquet"), tmp_path / "out", english, **options)
    assert said in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("none.txt", FileError),
        ("*.parquet", FileError),
        ("folder", FileError),
        (["a.txt", "*.txt"], InputError),
        ([], InputError),
        ("pipe.txt", InputError),
        ("a.pdf", InputError),
        ("a.xlsx", InputError),
        ("a.parquet.gz", InputError),
        ("a", InputError),
    ],
    ids=str,
)
def test_paths_that_are_no_files_of_texts_are_refused(english, tmp_path, name, error):
    for each in ("a.txt", "a.pdf", "a.xlsx", "a.parquet.gz", "a"):
        (tmp_path / each).write_text("people\n")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    names = [name] if isinstance(name, str) else name
    with pytest.raises(error) as caught:
        encode_files([tmp_path / each for each in names], tmp_path / "out", english, workers=1)
    assert all(each in str(caught.value) for each in names[:1])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["a.txt", "a.txt/ids", ".", "s3://bucket/ids"])
def test_an_output_that_is_no_new_directory_is_refused(english, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt")
    before = contents(tmp_path)
    with pytest.raises(InputError):
        encode_files("a.txt", place, english, workers=1)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("given", ["trietok-en", BertTokenizer], ids=["name", "class"])
def test_a_tokenizer_that_is_not_loaded_is_refused(tmp_path, given):
    with pytest.raises(InputTypeError):
        encode_files([write(tmp_path / "a.txt")], tmp_path / "out", given)
    with pytest.raises(InputTypeError):
        TokenizeBatch(given, "text")


# ---- damaged results -----------------------------------------------------------------------------

CORPUS = {
    "a.jsonl": ["The people", "of the", "United States"],
    "b.jsonl": ["in order"],
    "c.jsonl": ["in order"],
}
FORMS = {"ids": {}, "columns": {"keep_columns": ["id"], "return_attention_mask": True}}
GONE = object()
OTHERS = (None, "x", -1, 10**30, [], {}, True, GONE)


@pytest.fixture(params=FORMS)
def run(english, tmp_path, request):
    """A function that encodes the same files to a directory, or goes on with it."""
    for name, texts in CORPUS.items():
        write(tmp_path / name, texts)
    with open(tmp_path / "a.jsonl", "a") as file:
        file.write("[1]\n")
    options = {"workers": 1, "shard_bytes": 50, "on_error": "skip", **FORMS[request.param]}

    def run(out, **more):
        return encode_files(tmp_path / "*.jsonl", out, english, **options, **more)

    return run


@pytest.fixture
def rows_of_corpus(english):
    return ids_of(english, [text for texts in CORPUS.values() for text in texts])


def places(value, path=()):
    """The path of every value in a value of JSON, its own first."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
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
def test_any_other_value_in_a_manifest_is_an_error_or_does_no_harm(
    run, rows_of_corpus, tmp_path, most
):
    """Values are replaced, or left out: `most` of them, or each by each of the others."""
    out = tmp_path / "out"
    run(out)
    manifest = json.loads((out / "manifest.json").read_text())
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    cases = [(path, other) for path in places(manifest) if path for other in OTHERS]
    cases = rng.sample(cases, min(most or len(cases), len(cases)))
    errors = 0
    for path, other in cases:
        (out / "manifest.json").write_text(json.dumps(changed(manifest, path, other)))
        errors += has_rows_or_error(run, out, rows_of_corpus, (path, other, seed))
    assert errors > len(cases) // 5, seed


@pytest.mark.parametrize("is_over", [True, pytest.param(False, marks=pytest.mark.faults)])
@pytest.mark.parametrize("damage", ["gone", "cut off", "overwritten", "flipped"])
def test_a_damaged_file_of_a_run_is_an_error_or_made_again(
    run, rows_of_corpus, tmp_path, is_over, damage
):
    """Of a finished run and of one that was stopped. `verify` finds what has the same size."""

    def stop(state):
        if state.shards == 2:
            raise ZeroDivisionError

    whole = tmp_path / "whole"
    if is_over:
        run(whole)
    else:
        with pytest.raises(ZeroDivisionError):
            run(whole, progress=stop)
    names = [path.relative_to(whole) for path in whole.rglob("*") if path.is_file()]
    assert len(names) > 4
    mended = 0
    for number, name in enumerate(names):
        out = tmp_path / f"copy {number}"
        shutil.copytree(whole, out)
        raw = bytearray((out / name).read_bytes())
        if damage == "gone":
            (out / name).unlink()
        elif raw:
            raw[len(raw) // 2] ^= 1
            other = {"cut off": raw[:-1], "overwritten": b"[1]\n", "flipped": raw}[damage]
            (out / name).write_bytes(other)
        mended += not has_rows_or_error(run, out, rows_of_corpus, name, verify=True)
    assert mended


def rewritten(whole, part, change):
    """Change the lines of a part of the manifest, and what `manifest.json` says of the part."""
    path = whole / "manifest.json"
    manifest = json.loads(path.read_text())
    lines = [change(json.loads(line)) for line in (whole / part).read_text().splitlines()]
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    (whole / part).write_bytes(raw)
    for entry in manifest["parts"]:
        if entry["name"] == part:
            entry.update(bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("is_moving", [False, True])
@pytest.mark.parametrize("where", ["../../victim", "absolute"])
def test_a_manifest_moves_and_replaces_nothing_elsewhere(run, tmp_path, where, is_moving):
    """Neither of a finished run, nor of one that was killed as its shards were put in place."""
    whole, victim = tmp_path / "whole", tmp_path / "victim.parquet"
    run(whole)
    victim.write_text("mine")
    key = str(tmp_path / "victim") if where == "absolute" else where
    rewritten(whole, "shards-00000.jsonl", lambda line: {**line, "key": key})
    if is_moving:
        (whole / ".trietok-encode").mkdir()
        (whole / "manifest.json").rename(whole / ".trietok-encode" / "manifest.json")
    before = contents(whole)
    (tmp_path / "d.jsonl").write_text('{"id": 9, "text": "one more"}\n')  # the order is another
    with pytest.raises(FileFormatError):
        run(whole, resume=True)
    assert contents(whole) == before
    assert victim.read_text() == "mine"


def test_a_run_writes_into_no_folder_behind_a_link(run, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "temporary-notes").write_text("mine")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".trietok-encode").symlink_to(tmp_path / "elsewhere")
    for resume in (False, True):
        with pytest.raises(InputError):
            run(tmp_path / "out", resume=resume)
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["temporary-notes"]
