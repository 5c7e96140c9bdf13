"""What is set aside: files that cannot be read, rows without text, and how many at most."""

from __future__ import annotations

import os

import fsspec
import pytest

from tests.batches.shards import contents
from tests.cli.commands import error, run
from trietok import FileFormatError, InputError, encode_files

OPTIONS = {"workers": 1, "on_error": "skip", "shard_bytes": 500}


def test_a_damaged_file_with_a_url_is_set_aside(english, tmp_path):
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pipe_file("/texts/a.txt", b"the\n")
    memory.pipe_file("/texts/c.parquet", b"PAR1 and no more")
    memory.pipe_file("/texts/d.txt.gz", b"plain")
    manifest = encode_files("memory://texts/*", tmp_path / "out", english, **OPTIONS)
    assert [file["name"][-9:] for file in manifest["set_aside"]] == ["c.parquet", "/d.txt.gz"]
    assert manifest["totals"]["rows"] == 1
    memory.store.clear()


def test_the_exit_code_tells_a_file_from_a_row(tmp_path):
    def code(*files, out, **options):
        more = [
            part
            for name, value in options.items()
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        result = run(
            "encode-files", *map(str, files), "-o", str(tmp_path / out), "--on-error", "skip", *more
        )
        return result.exit_code

    rows = tmp_path / "rows.txt"
    rows.write_bytes(b"the\n\xff\n")
    assert code(rows, out="a") == 0
    assert code(rows, tmp_path / "none.txt", out="b") == 1
    assert code(rows, out="c", most_skipped=0) == 2


BAD = range(10, 60, 10)
LIMITED = ["--on-error", "skip", "--most-skipped"]


@pytest.fixture
def rows(tmp_path):
    """Four files, of which one has five bad rows among a hundred: 400 rows."""
    for number in range(4):
        lines = [b"the people %d" % row for row in range(100)]
        for row in BAD if number == 1 else ():
            lines[row] = b"\xff"
        (tmp_path / f"{number}.txt").write_bytes(b"\n".join(lines) + b"\n")
    return tmp_path / "*.txt"


@pytest.mark.parametrize("limit", [5, "5", "1.25%", "100%"])
def test_as_much_as_is_allowed(english, tmp_path, rows, limit):
    manifest = encode_files(rows, tmp_path / "out", english, most_skipped=limit, **OPTIONS)
    assert manifest["totals"]["rejected"] == 5


@pytest.mark.parametrize(
    ("limit", "allowed"), [(4, "4"), ("0", "0"), ("1.24%", "1.24%"), ("0%", "0%")]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_more_than_is_allowed(english, tmp_path, rows, limit, allowed, workers):
    options, out = {**OPTIONS, "workers": workers}, tmp_path / "out"
    with pytest.raises(FileFormatError) as info:
        encode_files(rows, out, english, most_skipped=limit, **options)
    assert f"allows {allowed}: " in str(info.value)
    assert "1.txt, row 11" in str(info.value)
    assert not (out / "manifest.json").exists()
    manifest = encode_files(rows, out, english, resume=True, most_skipped="2%", **options)
    assert manifest["totals"]["rejected"] == 5
    encode_files(rows, tmp_path / "unbroken", english, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_a_number_ends_a_run_before_all_is_read(english, tmp_path, rows):
    seen, options = [], {**OPTIONS, "most_skipped": 2, "progress": lambda state: seen.append(state)}
    for resume in (False, True):  # the shards that stay count
        with pytest.raises(FileFormatError):
            encode_files(rows, tmp_path / "out", english, resume=resume, **options)
    assert max(state.shards for state in seen) < 8


def test_a_file_counts_as_so_many_rows_as_its_bytes_have_elsewhere(english, tmp_path, rows):
    raw = (tmp_path / "3.txt").read_bytes()
    (tmp_path / "3.txt").unlink()
    (tmp_path / "3.txt.gz").write_bytes(b"plain" + raw[5:])
    files, out = [rows, tmp_path / "3.txt.gz"], tmp_path / "out"
    with pytest.raises(FileFormatError, match=r"about 10[0-9] of 40[0-9] rows"):
        encode_files(files, out, english, most_skipped="25%", **OPTIONS)
    manifest = encode_files(files, out, english, resume=True, most_skipped="27%", **OPTIONS)
    assert manifest["set_aside"]
    files = [tmp_path / "0.txt", tmp_path / "n.txt"]
    with pytest.raises(FileFormatError):
        encode_files(files, tmp_path / "n", english, most_skipped=0, **OPTIONS)


@pytest.mark.parametrize("limit", [-1, 1.0, True, "", "1 %", "101%", "1.5", "-1", "%", [], "1e3%"])
def test_what_is_no_limit(english, tmp_path, rows, limit):
    with pytest.raises(InputError):
        encode_files(rows, tmp_path / "out", english, most_skipped=limit, **OPTIONS)


def test_a_limit_is_for_what_is_skipped(english, tmp_path, rows):
    with pytest.raises(InputError, match="needs on_error='skip'"):
        encode_files(rows, tmp_path / "out", english, most_skipped=1)
    said = error("encode-files", str(rows), "-o", str(tmp_path / "out"), *LIMITED, "few")
    assert "most_skipped is 'few'" in said
    assert not os.path.exists(tmp_path / "out")
