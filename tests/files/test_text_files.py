"""Files as texts: lines, JSON lines, tables, packed ones, and what is wrong with them."""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import sys
import tracemalloc
import zipfile

import pyarrow
import pytest
import zstandard
from pyarrow import parquet

from trietok import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    TextFiles,
    train_wordpiece,
)

TEXTS = ["one\r", "", "two\u2028three", "Öl 東京"]


@pytest.fixture
def file(tmp_path):
    """A function that writes a file and returns its path."""

    def write(name: str, content: bytes | str):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def json_lines(texts: list[str], column: str = "text") -> str:
    return "".join(json.dumps({"id": 1, column: text}) + "\n" for text in texts)


def test_a_line_is_a_text_and_ends_at_a_line_feed_only(file):
    assert list(TextFiles(file("a.txt", "\n".join(TEXTS)))) == TEXTS
    assert list(TextFiles(file("b", "\n".join(TEXTS) + "\n"))) == TEXTS
    assert list(TextFiles(file("c.txt", ""))) == []


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.zst", "a.jsonl.gz", "a.JSONL.zst", "a.ndjson"])
def test_packed_files_give_their_lines_and_all_their_bytes_are_counted(file, name):
    """Also where a line is longer than a block."""
    wanted = [*TEXTS, "a" * 3_000_000, "", "b" * 1_500_000]
    text = json_lines(wanted) if "json" in name.lower() else "\n".join(wanted)
    pack = {"gz": gzip.compress, "zst": zstandard.compress}.get(name.rpartition(".")[2], bytes)
    path = file(name, pack(text.encode()))
    texts = TextFiles(path)
    assert list(texts) == wanted
    assert texts.bytes_read == texts.total_bytes == path.stat().st_size


def test_json_lines_give_the_text_of_a_column(file):
    path = file("a.jsonl", "\ufeff" + json_lines(TEXTS) + "\n \n")
    assert list(TextFiles(path)) == TEXTS
    assert list(TextFiles(file("a.jsonl", json_lines(TEXTS, "body")), column="body")) == TEXTS


def test_tables_give_the_texts_of_a_column(tmp_path):
    path = tmp_path / "a.parquet"
    table = pyarrow.table(
        {
            "id": range(5),
            "text": [*TEXTS, "end"],
            "large": pyarrow.array([*TEXTS, ""], "large_string"),
        }
    )
    parquet.write_table(table, path, row_group_size=2)
    texts = TextFiles(path)
    assert list(texts) == [*TEXTS, "end"]
    assert texts.bytes_read == texts.total_bytes
    assert list(TextFiles(path, column="large")) == [*TEXTS, ""]
    with pytest.raises(FileFormatError, match="'id', 'large', 'text'"):
        list(TextFiles(path, column="body"))
    with pytest.raises(FileFormatError):
        list(TextFiles(path, column="id"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileFormatError):
        list(TextFiles(path))


def test_tables_need_pyarrow(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="pip install pyarrow"):
        list(TextFiles(file("a.parquet", b"")))


def test_files_are_read_once_each_in_the_order_of_their_names(file):
    paths = [file(name, name) for name in ("b.txt", "a.txt", "c.txt")]
    texts = TextFiles([*paths, paths[0]])
    assert list(texts) == ["a.txt", "b.txt", "c.txt"] == list(texts)
    assert texts.bytes_read == texts.total_bytes == 15


def test_globs_name_files_and_a_file_of_that_name_wins(file, tmp_path):
    for name in ("b.txt", "a.txt", "c.jsonl", "d[1].txt", "d1.txt"):
        file(name, name)
    texts = TextFiles([tmp_path / "?.txt", tmp_path / "a.txt"])
    assert list(texts) == ["a.txt", "b.txt"]
    assert list(TextFiles(str(tmp_path / "d[1].txt"))) == ["d[1].txt"]  # the file of that name
    with pytest.raises(FileError):
        TextFiles(tmp_path / "*.csv")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX: symbolic links")
def test_a_file_under_several_names_is_read_once(file, tmp_path, monkeypatch):
    path = file("q.txt", "once")
    (tmp_path / "link.txt").symlink_to("q.txt")
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path)
    names = ["./q.txt", "q.txt", "in/../q.txt", "link.txt", path]
    for order in (names, names[::-1]):
        texts = TextFiles(order)
        assert (texts.paths, list(texts), texts.total_bytes) == (["q.txt"], ["once"], 4)
    file("r.txt", "once")
    assert list(TextFiles(["./r.txt", "q.txt"])) == ["once", "once"]


def test_standard_input_is_read_in_its_place_among_the_files(file):
    texts = TextFiles(["-", file("a.txt", "b")], standard_input=io.BytesIO(b"typed\nlines"))
    assert list(texts) == ["typed", "lines", "b"]
    assert texts.total_bytes is None


# ---- what is wrong -------------------------------------------------------------------------------


def refusal(path, **options) -> str:
    with pytest.raises((FileError, FileFormatError)) as caught:
        list(TextFiles(path, **options))
    assert caught.value.path == str(path)
    return str(caught.value).replace(str(path), "FILE")


def test_bytes_that_are_not_utf8_are_named_or_replaced(file):
    path = file("a.txt", b"fine\nnot \xff fine\n")
    message = refusal(path)
    assert message.startswith("FILE, line 2: byte 0xff at offset 4 of the line")
    assert "--on-error replace" in message
    assert list(TextFiles(path, on_error="replace")) == ["fine", "not \ufffd fine"]
    assert "offset 4 of the line" in refusal(file("a.txt.gz", gzip.compress(path.read_bytes())))
    assert list(train_wordpiece(TextFiles(path, on_error="replace"), vocab_size=99))[-1] == "not"


def test_what_no_file_can_be_is_refused_before_any_is_read(tmp_path, file):
    fine = file("a.txt", "text")
    for paths in (tmp_path / "missing.txt", tmp_path, "a\0b"):
        with pytest.raises(FileError):
            TextFiles([fine, paths])
    with pytest.raises(InputError):
        TextFiles(fine, on_error="ignore")
    with pytest.raises(InputError):
        TextFiles([])
    with pytest.raises(InputTypeError):  # several files are one argument
        TextFiles(fine, fine)


def test_damaged_packed_files_are_refused(file):
    packed = gzip.compress(b"text\n" * 1000)
    assert "cannot be decompressed" in refusal(file("a.txt.gz", packed[:-20]))
    assert "cannot be decompressed" in refusal(file("b.txt.gz", b"not packed"))
    for name in ("c.txt.gz", "d.txt.zst"):
        assert "truncated and cannot be decompressed" in refusal(file(name, b""))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"text": "a"}\n{"text": \n', ["line 2", "not JSON"]),
        ('["a"]\n', ["line 1", "list"]),
        ('{"body": "a", "id": 3}\n', ["line 1", "'body', 'id'", "--column"]),
        ('{"text": 3}\n', ["line 1", "number"]),
        ('\n \n{"text": null}\n', ["line 3", "'text' is null, not a text; remove the line"]),
        ("[" * 100_000, ["nested"]),
    ],
)
def test_json_lines_without_a_text_are_named_by_their_line(file, content, words):
    message = refusal(file("a.jsonl", content))
    assert [word for word in words if word not in message] == []


def test_a_table_with_texts_that_are_not_utf8_names_the_row(tmp_path):
    kinds = [
        (pyarrow.binary(), pyarrow.string()),
        (pyarrow.large_binary(), pyarrow.large_string()),
    ]
    for number, (binary, text) in enumerate(kinds):
        values = pyarrow.array([*["Öl".encode()] * 3000, b"fine", b"low\xe9r", None], binary)
        texts = pyarrow.Array.from_buffers(text, len(values), values.buffers())
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(pyarrow.table({"text": texts}), path)
        assert "row 3002: byte 0xe9 at offset 3" in refusal(path)
        null = "FILE, row 3003: 'text' is null, not a text; remove the row or fill the column"
        assert refusal(path, on_error="replace") == null
        assert list(TextFiles(path, on_error="skip")) == [*["Öl"] * 3000, "fine"]


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
def test_a_spreadsheet_and_text_in_utf_16_are_named(tmp_path, name):
    path = tmp_path / name
    for coding in ("utf-16-le", "utf-16-be"):
        path.write_bytes("\ufefftext\nlow\n".encode(coding))
        assert "UTF-16" in refusal(path)
    path = tmp_path / "terms.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "<row/>" * 100)
    assert "spreadsheet" in refusal(path)


# ---- lines that are too long ---------------------------------------------------------------------


def packed(name: str, lines: list[bytes]) -> bytes:
    raw = b"\n".join(lines) + b"\n"
    if name.endswith(".zst"):
        return zstandard.compress(raw)
    return gzip.compress(raw, 1) if name.endswith(".gz") else raw


@pytest.mark.faults
@pytest.mark.parametrize("name", ["a.txt.gz", "a.csv.gz"])
def test_a_line_of_any_length_takes_bounded_memory(file, name):
    """The error names the line; who leaves such lines out reads on behind it."""
    is_table = "csv" in name
    lines = [b'{"text": "one"}', b"x" * (400 << 20), b'{"text": "three"}']
    path = file(name, packed(name, lines[1:] if is_table else lines))
    tracemalloc.start()
    try:
        assert ("row 0" if is_table else "line 2") in refusal(path)
        gc.collect()  # an error keeps the frames that it came through, and these a block
        if not is_table:
            read = [text[-7:] for text in TextFiles(path, on_error="skip")]
            assert read in ([' "one"}', 'three"}'], ["one", "three"])
        assert tracemalloc.get_traced_memory()[1] < 320 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.faults
def test_the_longest_line_is_read_and_a_longer_one_is_refused_or_skipped(file):
    longest = "x" * ((1 << 26) - 1)  # and the line feed
    assert list(TextFiles(file("a.txt", f"a\n{longest}\nb"))) == ["a", longest, "b"]
    path = file("b.txt", f"a\nxx{longest}\nb")
    assert "line 2: a line of more than 67,108,864 bytes" in refusal(path)
    assert list(TextFiles(path, on_error="skip")) == ["a", "b"]
    with pytest.raises(FileFormatError, match="line 2"):
        train_wordpiece(TextFiles(path), vocab_size=100)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_of_any_size_may_have_any_line_ends(file, end):
    rows = f"1,the people of the united states{end}" * (20_000_000 // 34)
    path = file("a.csv", f"id,text{end}{rows}")
    assert set(TextFiles(path)) == {"the people of the united states"}
