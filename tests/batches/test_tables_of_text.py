"""Texts within objects and structs, and in CSV and TSV, as other readers give them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.shards import ids_of, rows_in, table_in
from trietok import FileError, FileFormatError, encode_files
from trietok.files.texts import TextFiles


def encoded(english, path, **options):
    out = path.parent / f"{path.name}.ids"
    encode_files(path, out, english, workers=1, **options)
    return rows_in(out)


# ---- within objects and structs ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
@pytest.mark.parametrize("shard_bytes", [20, 10**6])
def test_a_column_within_objects(english, tmp_path, kind, shard_bytes):
    texts = [f"people {number}" for number in range(30)]
    rows = [{"id": n, "meta": {"at": {"text": text}, "text": "no"}} for n, text in enumerate(texts)]
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=30)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(TextFiles(path, column="meta.at.text")) == texts
    rows = encoded(
        english, path, column="meta.at.text", shard_bytes=shard_bytes, keep_columns=["id"]
    )
    assert rows == ids_of(english, texts)


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_name_with_a_point_goes_before_a_field(english, tmp_path, kind):
    rows = [
        {"meta": {"text": "no"}, "meta.text": "people"},
        {"meta": {"text": "no"}, "meta.text": "states"},
    ]
    path = tmp_path / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text(
            "".join(json.dumps(row).replace("meta.text", "met\\u0061.text") + "\n" for row in rows)
        )
    assert list(TextFiles(path, column="meta.text")) == ["people", "states"]
    assert encoded(english, path, column="meta.text") == ids_of(english, ["people", "states"])


def test_what_is_not_within_objects(english, tmp_path):
    rows = [
        {"meta": {"text": "people"}},
        {"meta": 5},
        {"meta": None},
        {"meta": {}},
        {"meta": {"a": 1}},
        {"id": 1},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert encoded(english, path, column="meta.text", on_error="skip") == ids_of(
        english, ["people"]
    )
    rejects = (tmp_path / "a.jsonl.ids" / "rejects.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in rejects] == [2, 3, 4, 5, 6]
    pq.write_table(
        pa.table({"meta": [{"text": "people"}, None], "n": [{"a": 1}, {"a": 2}]}),
        tmp_path / "b.parquet",
    )
    assert list(TextFiles(tmp_path / "b.parquet", column="meta.text")) == ["people"]
    assert encoded(english, tmp_path / "b.parquet", column="meta.text", on_error="skip") == ids_of(
        english, ["people"]
    )
    for column in ("meta.id", "meta.text.a", "nothing.text", "n.a"):
        with pytest.raises(FileFormatError):
            list(TextFiles(tmp_path / "b.parquet", column=column))


# ---- CSV and TSV ---------------------------------------------------------------------------------

VALUES = [
    "people",
    "",
    " of the",
    'say "we"',
    "a,b",
    "a\tb",
    "one\ntwo",
    "a\r\nb",
    "東京 é",
    '"',
    "NA",
    "null",
    "1.5",
]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz"])
def test_tables_as_csv_reads_them(english, tmp_path, name):
    """Against Python's own module."""
    seed = random.randrange(2**32)
    drawn, delimiter = random.Random(seed), "\t" if "tsv" in name else ","
    for number in range(4):
        header = ["id", "text", "other"]
        drawn.shuffle(header)
        rows = [
            [drawn.choice(VALUES) * drawn.randrange(3) for _ in header]
            for _ in range(drawn.randrange(40))
        ]
        content = io.StringIO(newline="")
        quoting = drawn.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        csv.writer(
            content,
            delimiter=delimiter,
            quoting=quoting,
            lineterminator=drawn.choice(["\n", "\r\n"]),
        ).writerows([header, *rows])
        raw = drawn.choice([b"", b"\xef\xbb\xbf"]) + content.getvalue().encode()
        path = tmp_path / f"{number}{name}"
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        expected = [row[header.index("text")] for row in rows]
        assert list(TextFiles(path)) == expected, seed
        assert encoded(english, path, keep_columns=["other"]) == ids_of(english, expected), seed
        assert [row["other"] for row in table_in(tmp_path / f"{path.name}.ids")] == [
            r[header.index("other")] for r in rows
        ]


LONG = b"a" * 400_000 + b"\n"


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("a.csv", b"id,name\n1,a\n"),
        ("a.csv", b"id;text\n1;a\n"),
        ("a.tsv", b"id,text\n1,a\n"),
        ("a.csv", b"text,text\n1,a\n"),
        ("a.csv", b""),
        ("a.csv", b"\n\n"),
        ("a.csv.gz", gzip.compress(b"text\n" + b"people\n" * 90)[:-9]),
        ("a.csv", b"text\n" + LONG),
        ("a.csv", b"text\n" + b"people\n" * 40_000 + LONG),
    ],
    ids=range(9),
)
def test_tables_that_cannot_be_read(english, tmp_path, monkeypatch, name, raw):
    monkeypatch.setattr("trietok.files.tables._LONGEST_ROW", 100_000)
    path = tmp_path / name
    path.write_bytes(raw)
    for read in (
        lambda: list(TextFiles(path)),
        lambda: encode_files(path, tmp_path / "out", english, workers=1),
    ):
        with pytest.raises((FileError, FileFormatError)):
            read()
    (tmp_path / "b.txt").write_text("people\n")
    files = [path, tmp_path / "b.txt"]
    manifest = encode_files(files, tmp_path / "rest", english, workers=1, on_error="skip")
    assert [file["name"] for file in manifest["set_aside"]] == [str(path)]
    assert rows_in(tmp_path / "rest") == ids_of(english, ["people"])


def test_a_row_of_a_table_that_is_not_utf8(english, tmp_path):
    (tmp_path / "c.csv").write_bytes(b"text\npeople\n\xff\n")
    with pytest.raises(FileFormatError, match=r"c\.csv, row 2: byte 0xff"):
        list(TextFiles(tmp_path / "c.csv"))
    assert encoded(english, tmp_path / "c.csv", on_error="skip") == ids_of(english, ["people"])


@pytest.mark.parametrize("block", [400, 1 << 24])
def test_rows_as_wide_as_no_header(english, tmp_path, monkeypatch, block):
    """They are rows without text, wherever a batch ends; the rows behind them keep their
    numbers.
    """
    monkeypatch.setattr("trietok.files.tables._LONGEST_ROW", block)
    lines = [f"{number},people {number}" for number in range(300)]
    # 41 is empty, and so is no row
    wrong = {
        0: "x",
        1: "a,b,c",
        40: '7,"a\nb",c',
        41: "",
        150: "b",
        299: "1,2,3,4",
    }
    lines = [wrong.get(number, line) for number, line in enumerate(lines)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *lines, *["p"] * 60]))
    expected = [f"people {number}" for number in range(300) if number not in wrong]
    rows = [
        number for number in range(300 + 59) if number + (number > 40) in wrong or number >= 299
    ]
    out = tmp_path / "out"
    encode_files(tmp_path / "a.csv", out, english, workers=1, on_error="skip", keep_columns=["id"])
    assert rows_in(out) == ids_of(english, expected)
    rejects = [json.loads(line) for line in (out / "rejects.jsonl").read_text().splitlines()]
    assert [row["row"] - 1 for row in rejects] == rows
    assert [table_in(out)[number]["id"] for number in (0, 38, -1)] == ["2", "42", "298"]
    for read in (
        lambda: list(TextFiles(tmp_path / "a.csv")),
        lambda: encode_files(tmp_path / "a.csv", tmp_path / "f", english),
    ):
        with pytest.raises(FileFormatError, match=r"a\.csv, row 1: "):
            read()
    assert list(TextFiles(tmp_path / "a.csv", on_error="skip")) == expected
    (tmp_path / "b.csv").write_text("id,text\n1\n2\n")
    assert list(TextFiles(tmp_path / "b.csv", on_error="skip")) == []
    manifest = encode_files(tmp_path / "b.csv", tmp_path / "b", english, workers=1, on_error="skip")
    assert manifest["totals"]["rejected"] == 2
    assert not manifest["set_aside"]


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b'text\none\n"two\nlines"\n"three\nfour', 5),
        (b'text,id\none,1\n"two,2\nthree,3\n', 3),
        (b'text,id\none,1\ntwo,"2\nthree,3\n', 3),
        (b'text\n"' + b"people\n" * 40_000, 2),
        (b'\ntext,"id\none,1\n', 2),
        (b'text\none\n"', 3),
    ],
    ids=[
        "after two lines",
        "of two columns",
        "in the other",
        "long",
        "in the header",
        "at the end",
    ],
)
def test_a_quote_that_is_not_closed(english, tmp_path, raw, line):
    """It would take in all rows behind it as a text of many lines; rows before it are given."""
    path = tmp_path / "a.csv"
    path.write_bytes(raw)
    said = rf"a\.csv, line {line}: "
    texts = []
    with pytest.raises(FileFormatError, match=said):
        texts.extend(TextFiles(path))
    assert not any("end of the rows" in text or "four" in text for text in texts)
    with pytest.raises(FileFormatError, match=said):
        encode_files(path, tmp_path / "ids", english, workers=1)
    (tmp_path / "b.txt").write_text("fine\n")
    manifest = encode_files(
        [path, tmp_path / "b.txt"],
        tmp_path / "ids",
        english,
        workers=1,
        resume=True,
        on_error="skip",
    )
    assert [file["name"] for file in manifest["set_aside"]] == [str(path)]
    assert manifest["totals"]["rows"] == 1


@pytest.mark.parametrize("raw", [b"text", b"text\n", b"text\r\n", b"\ntext\n\n"])
def test_an_empty_table(tmp_path, raw):
    (tmp_path / "empty.csv").write_bytes(raw)
    assert list(TextFiles(tmp_path / "empty.csv")) == []
