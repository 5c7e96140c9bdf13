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

import pytest

from trietok import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    TextFiles,
    train_wordpiece,
)
from trietok.errors import MissingDependencyError
from trietok.files import text_rows

TEXTS = ["one\r", "", "two\u2028three", "Öl 東京"]


@pytest.fixture
def file(tmp_path):
    """A function that writes a file and returns its path."""

    def write(name: str, content: bytes | str):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return path

    return write


def json_lines(texts: list[str | None], column: str = "text") -> str:
    return "".join(json.dumps({"id": 1, column: text}) + "\n" for text in texts)


def test_a_line_is_a_text_and_ends_at_a_line_feed_only(file):
    assert list(TextFiles(file("a.txt", "\n".join(TEXTS)))) == TEXTS
    assert list(TextFiles(file("b", "\n".join(TEXTS) + "\n"))) == TEXTS
    assert list(TextFiles(file("c.txt", ""))) == []


def test_packed_files(file):
    path = file("a.txt.gz", gzip.compress("\n".join(TEXTS).encode()))
    texts = TextFiles(path)
    assert list(texts) == TEXTS
    assert texts.bytes_read == texts.total_bytes == path.stat().st_size
    assert list(TextFiles(file("a.jsonl.gz", gzip.compress(json_lines(TEXTS).encode())))) == TEXTS


def test_files_packed_by_zstd_and_other_names_of_json_lines(file):
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.compress("\n".join(TEXTS).encode())
    assert list(TextFiles(file("a.txt.zst", packed))) == TEXTS
    assert (
        list(TextFiles(file("a.JSONL.zst", zstandard.compress(json_lines(TEXTS).encode()))))
        == TEXTS
    )
    assert list(TextFiles(file("a.ndjson", json_lines(TEXTS)))) == TEXTS
    assert "truncated" in refusal(file("b.txt.zst", packed[:-3]))


def test_lines_of_packed_files_may_be_longer_than_a_block(file):
    texts = ["a" * 3_000_000, "", "b" * 1_500_000]
    assert list(TextFiles(file("a.txt.gz", gzip.compress("\n".join(texts).encode())))) == texts


def test_json_lines(file):
    assert (
        list(TextFiles(file("a.jsonl", "\ufeff" + json_lines([*TEXTS, None]) + "\n \n"))) == TEXTS
    )
    assert list(TextFiles(file("a.jsonl", json_lines(TEXTS, "body")), column="body")) == TEXTS


def test_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    table = pyarrow.table(
        {
            "id": range(5),
            "text": [*TEXTS, None],
            "large": pyarrow.array([*TEXTS, ""], "large_string"),
        }
    )
    parquet.write_table(table, path, row_group_size=2)
    texts = TextFiles(path)
    assert list(texts) == TEXTS
    assert texts.bytes_read == texts.total_bytes
    assert list(TextFiles(path, column="large")) == [*TEXTS, ""]
    with pytest.raises(
        FileFormatError,
    ):
        list(TextFiles(path, column="body"))
    with pytest.raises(FileFormatError):
        list(TextFiles(path, column="id"))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FileFormatError):
        list(TextFiles(path))


def test_tables_need_pyarrow(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError):
        list(TextFiles(file("a.parquet", b"")))


def test_files_are_read_once_each_in_the_order_of_their_names(file):
    paths = [file(name, name) for name in ("b.txt", "a.txt", "c.txt")]
    texts = TextFiles([*paths, paths[0]])
    assert list(texts) == ["a.txt", "b.txt", "c.txt"] == list(texts)
    assert texts.bytes_read == texts.total_bytes == 15


def test_globs(file, tmp_path):
    for name in ("b.txt", "a.txt", "c.jsonl", "d[1].txt", "d1.txt"):
        file(name, name)
    texts = TextFiles([tmp_path / "?.txt", tmp_path / "a.txt"])
    assert list(texts) == ["a.txt", "b.txt"]
    assert list(TextFiles(str(tmp_path / "d[1].txt"))) == ["d[1].txt"]  # the file of that name
    with pytest.raises(FileError):
        TextFiles(tmp_path / "*.csv")


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
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


def test_standard_input(file):
    texts = TextFiles(["-", file("a.txt", "b")], standard_input=io.BytesIO(b"typed\nlines"))
    assert list(texts) == ["typed", "lines", "b"]
    assert texts.total_bytes is None


# ---- what is wrong -------------------------------------------------------------------------------


def refusal(path, **options) -> str:
    with pytest.raises((FileError, FileFormatError)) as caught:
        list(TextFiles(path, **options))
    assert caught.value.path == str(path)
    return str(caught.value).replace(str(path), "FILE")


def test_bytes_that_are_not_utf8(file):
    path = file("a.txt", b"fine\nnot \xff fine\n")
    message = refusal(path)
    assert message.startswith("FILE, line 2: byte 0xff at offset 9 of the file is not UTF-8;")
    assert "--on-error replace" in message
    assert list(TextFiles(path, on_error="replace")) == ["fine", "not \ufffd fine"]
    assert "offset 9 of the unpacked file" in refusal(
        file("a.txt.gz", gzip.compress(path.read_bytes()))
    )
    assert list(train_wordpiece(TextFiles(path, on_error="replace"), vocab_size=99))[-1] == "not"


def test_on_error_is_one_of_three(file):
    with pytest.raises(InputError):
        TextFiles(file("a.txt", ""), on_error="ignore")
    with pytest.raises(InputError):
        TextFiles([])


def test_several_files_are_one_argument(file):
    one, other = file("a.txt", "a"), file("b.txt", "b")
    with pytest.raises(InputTypeError):
        TextFiles(one, other)


def test_missing_files_and_directories_are_refused_before_any_is_read(tmp_path, file):
    fine = file("a.txt", "text")
    with pytest.raises(FileError):
        TextFiles([fine, tmp_path / "missing.txt"])
    with pytest.raises(FileError):
        TextFiles([fine, tmp_path])
    with pytest.raises(FileError):
        TextFiles("a\0b")


def test_damaged_packed_files(file):
    packed = gzip.compress(b"text\n" * 1000)
    assert "cannot be decompressed" in refusal(file("a.txt.gz", packed[:-20]))
    assert "cannot be decompressed" in refusal(file("b.txt.gz", b"not packed"))
    for name in ("c.txt.gz", "d.txt.zst"):
        assert "truncated and cannot be decompressed" in refusal(file(name, b""))


def test_json_lines_that_hold_no_text(file):
    assert refusal(file("a.jsonl", '{"text": "a"}\n{"text": \n')).startswith(
        "FILE, line 2: not JSON"
    )
    assert (
        refusal(file("b.jsonl", '["a"]\n'))
        == "FILE, line 1: a list of JSON, not an object {...} with the text in 'text'"
    )
    message = refusal(file("c.jsonl", '{"body": "a", "id": 3}\n'))
    assert (
        message
        == "FILE, line 1: the object has no field 'text', only 'body', 'id'; choose a field with"
        " column=... (--column)"
    )
    assert (
        refusal(file("d.jsonl", '{"text": 3}\n')) == "FILE, line 1: 'text' is a number, not a text"
    )
    assert "nested too deeply" in refusal(file("e.jsonl", "[" * 100_000))


def test_texts_of_a_table_that_are_not_utf8(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for number, (binary, text) in enumerate(
        [(pyarrow.binary(), pyarrow.string()), (pyarrow.large_binary(), pyarrow.large_string())]
    ):
        values = pyarrow.array([*["Öl".encode()] * 3000, None, b"fine", b"low\xe9r"], binary)
        texts = pyarrow.Array.from_buffers(text, len(values), values.buffers())
        path = tmp_path / f"{number}.parquet"
        parquet.write_table(pyarrow.table({"text": texts}), path)
        assert (
            refusal(path)
            == "FILE, row 3003: byte 0xe9 at offset 3 of the text in 'text' is not UTF-8; write the"
            " file anew with texts, or go on with on_error='replace' (--on-error replace)"
        )
        assert list(TextFiles(path, on_error="replace")) == [*["Öl"] * 3000, "fine", "low\ufffdr"]


def test_two_columns_of_one_name(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns = [pyarrow.array(["a"]), pyarrow.array(["b"]), pyarrow.array(["c"])]
    parquet.write_table(pyarrow.Table.from_arrays(columns, names=["text", "text", "other"]), path)
    assert refusal(path).startswith(
        "FILE has 2 columns named 'text', and which is meant cannot be told;"
    )
    assert list(TextFiles(path, column="other")) == ["c"]


def test_a_spreadsheet_is_named(tmp_path):
    path = tmp_path / "terms.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", "<row/>" * 100)
    assert (
        refusal(path)
        == "FILE is a spreadsheet (.xlsx, .ods) or another zip archive; save it as .csv in UTF-8,"
        " and give that file"
    )


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("coding", ["utf-16-le", "utf-16-be"])
def test_text_in_utf_16_is_named(tmp_path, name, coding):
    path = tmp_path / name
    path.write_bytes("\ufefftext\nlow\n".encode(coding))
    assert refusal(path) == "FILE is text in UTF-16; save it in UTF-8, and give that file"


# ---- lines that are too long ---------------------------------------------------------------------


def packed(name: str, lines: list[bytes]) -> bytes:
    raw = b"\n".join(lines) + b"\n"
    if name.endswith(".zst"):
        return pytest.importorskip("zstandard").compress(raw)
    return gzip.compress(raw, 1) if name.endswith(".gz") else raw


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.zst", "a.txt", "a.csv.gz", "a.csv"])
def test_a_line_of_any_length_takes_little_memory(file, monkeypatch, name):
    """The error names the line; who leaves such lines out reads on behind it."""
    monkeypatch.setattr(text_rows, "LONGEST_TEXT_LINE", 1 << 20)
    monkeypatch.setattr("trietok.files.tables._LONGEST_ROW", 1 << 20)
    lines = [b'{"text": "one"}', b"x" * (128 << 20), b'{"text": "three"}']
    path = file(name, packed(name, lines if "csv" not in name else lines[1:]))
    tracemalloc.start()
    try:
        said = "FILE, line 2: a line of more than 1,048,576 bytes is not read; break it into lines"
        if "csv" in name:
            said = "FILE has a row of more than 1,048,576 bytes behind row 0; see whether its"
            said += " quotes are closed"
        assert refusal(path).endswith(said)
        gc.collect()  # an error keeps the frames that it came through, and these a block
        if "csv" not in name:
            assert [text[-7:] for text in TextFiles(path, on_error="skip")] in (
                [' "one"}', 'three"}'],
                ["one", "three"],
            )
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_a_line_as_long_as_is_read(file, monkeypatch):
    monkeypatch.setattr(text_rows, "LONGEST_TEXT_LINE", 10)
    assert list(TextFiles(file("a.txt", "123456789\n123456789\n1234567890"))) == [
        "123456789",
        "123456789",
        "1234567890",
    ]
    assert "line 2: a line of more than 10 bytes" in refusal(file("b.txt", "a\n12345678901"))
    assert "line 1: a line of more than 10 bytes" in refusal(file("c.txt", "1234567890a\n"))
    assert list(TextFiles(file("d.txt", "1234567890ab\nc\n"), on_error="skip")) == ["c"]


@pytest.mark.parametrize("workers", [1, 2])
def test_training_names_the_line_that_is_too_long(file, monkeypatch, workers):
    monkeypatch.setattr(text_rows, "LONGEST_TEXT_LINE", 1000)
    path = file("a.txt", "the people\n" * 3 + "x" * 3000 + "\nof the states\n")
    with pytest.raises(FileFormatError):
        train_wordpiece(TextFiles(path), vocab_size=100)


# ---- columns of categories -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["string", "large_string", "categories", "within a struct"])
def test_texts_that_a_table_has_once_each(tmp_path, kind):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    column = pa.array(["low", None, "lower", "low"], "string")
    if kind in ("categories", "within a struct"):
        column = column.dictionary_encode()
    column = pa.StructArray.from_arrays([column], ["in"]) if kind == "within a struct" else column
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    name = "text.in" if kind == "within a struct" else "text"
    assert list(TextFiles(tmp_path / "a.parquet", column=name)) == ["low", "lower", "low"]
    raw = pa.array([b"low", b"caf\xe9", b"low"]).dictionary_encode()
    raw = pa.DictionaryArray.from_arrays(raw.indices, raw.dictionary.view("string"))
    pq.write_table(pa.table({"text": raw}), tmp_path / "b.parquet")
    assert "row 2: byte 0xe9 at offset 3" in refusal(tmp_path / "b.parquet")
    assert list(TextFiles(tmp_path / "b.parquet", on_error="skip")) == ["low", "low"]
    pq.write_table(pa.table({"text": pa.array([1, 2]).dictionary_encode()}), tmp_path / "c.parquet")
    assert "the column 'text' holds int64" in refusal(tmp_path / "c.parquet")
