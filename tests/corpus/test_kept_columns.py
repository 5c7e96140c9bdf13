"""What goes with the rows of ids: columns that are kept, masks and type ids, and the source of each
row.
"""

from __future__ import annotations

import json
from itertools import chain

import pytest

from tests.corpus.shards import TEXTS, contents, ids_of, rows_in, write
from trietok import (
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    OptionError,
    encode_files,
)
from trietok.corpus import open_corpus, shard_files

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("zstandard")

FORMATS = ["parquet", "npy", "bin"]
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
    with pytest.raises(
        FileError, match="row 2: 'id' cannot be kept: it has half of a surrogate pair"
    ):
        encode_files(file, tmp_path / "out", english, keep_columns=["id"])
    manifest = encode_files(file, tmp_path / "rest", english, keep_columns=["id"], on_error="skip")
    assert (manifest["totals"]["rows"], manifest["totals"]["rejected"]) == (1, 1)
    assert open_corpus(tmp_path / "rest").row(0, ["id"]) == {"id": "\U0001f600"}


@pytest.mark.parametrize("file_format", FORMATS)
def test_objects_without_keys(english, tmp_path, file_format):
    """No column of a Parquet file holds them: where there are only such, they are null."""
    file = json_file(tmp_path / "a.jsonl", [{"text": "a", "id": {}}, {"text": "b", "id": {}}])
    encode_files(file, tmp_path / "out", english, keep_columns=["id"], file_format=file_format)
    assert [open_corpus(tmp_path / "out").row(row, ["id"]) for row in (0, 1)] == [
        {"id": None},
        {"id": None},
    ]
    file = json_file(tmp_path / "b.jsonl", [{"text": "a", "id": {"b": {}}}])
    with pytest.raises(
        FileError, match=r"b\.jsonl: a column to keep cannot be written: .*no child"
    ):
        encode_files(
            file, tmp_path / "within", english, keep_columns=["id"], file_format=file_format
        )


def test_rows_without_a_text_do_not_decide_the_type(english, tmp_path):
    rows = [{"text": "a", "id": 1}, {"text": None, "id": "x"}, {"text": 3, "id": [2]}]
    file = json_file(tmp_path / "a.jsonl", rows)
    for keep in ("id", "text"):
        encode_files(file, tmp_path / keep, english, keep_columns=[keep], on_error="skip")
        assert open_corpus(tmp_path / keep).row(0, [keep]) == {keep: rows[0][keep]}


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


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("shard_bytes", [100, 10**6])
@pytest.mark.parametrize("workers", [1, 2])
def test_columns_are_kept_beside_their_texts(english, labelled, file_format, shard_bytes, workers):
    out = labelled / "out"
    options = {
        "file_format": file_format,
        "shard_bytes": shard_bytes,
        "workers": workers,
        "on_error": "skip",
    }
    encode_files(labelled / "*.*", out, english, keep_columns=["id", "label"], **options)
    corpus = open_corpus(out)
    numbers = [number for number in range(len(TEXTS)) if number != 2]
    texts = [TEXTS[number] for number in numbers]
    assert corpus.column_names == ("input_ids", "id", "label")
    expected = [
        {"input_ids": ids, "id": number, "label": {"name": TEXTS[number], "at": [number]}}
        for number, ids in zip(numbers * 2, ids_of(english, texts * 2), strict=True)
    ]
    expected.append({"input_ids": ids_of(english, ["last"])[0], "id": 7.5, "label": None})
    rows = [corpus.row(number) for number in range(len(corpus))]
    assert rows == expected
    assert corpus.row(1, ["id"]) == {"id": 1}
    assert corpus.arrow_dataset().to_table().to_pylist() == expected
    encode_files(
        labelled / "*.*",
        labelled / "again",
        english,
        keep_columns=["id", "label"],
        **{**options, "workers": 1},
    )
    assert contents(out) == contents(labelled / "again")


def test_kept_values_of_torch_datasets(english, tmp_path):
    torch = pytest.importorskip("torch")
    rows = [
        {"text": text, "label": number, "name": str(number)} for number, text in enumerate(TEXTS)
    ]
    encode_files(
        json_file(tmp_path / "a.jsonl", rows),
        tmp_path / "out",
        english,
        workers=1,
        keep_columns=["label", "name"],
    )
    corpus = open_corpus(tmp_path / "out")
    assert corpus.torch_dataset()[3]["name"] == "3"
    loader = torch.utils.data.DataLoader(corpus.torch_dataset(["label"]), batch_size=7)
    assert [batch["label"].tolist() for batch in loader] == [list(range(7))]
    for ask in (corpus.torch_dataset, lambda names: corpus.row(0, names)):
        with pytest.raises(
            InputError, match="no column 'labels'; it has 'input_ids', 'label', 'name'"
        ):
            ask(["labels"])


@pytest.mark.parametrize("file_format", ["parquet", "npy"])
def test_row_groups_of_kept_columns(english, tmp_path, monkeypatch, file_format):
    """Values of JSON that are null, whole and with a point, in this order; groups are written by
    what is kept, too.
    """
    monkeypatch.setattr(shard_files, "_BYTES_AT_ONCE", 500)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 1000)
    values = [None] * 100 + list(range(100)) + [number / 2 for number in range(100)]
    path = json_file(tmp_path / "a.jsonl", [{"text": "", "n": value} for value in values])
    encode_files(
        path, tmp_path / "out", english, workers=1, keep_columns=["n"], file_format=file_format
    )
    corpus = open_corpus(tmp_path / "out")
    assert [corpus.row(number)["n"] for number in range(300)] == values
    name = "part-00000.parquet" if file_format == "parquet" else "part-00000.kept.parquet"
    assert pq.ParquetFile(tmp_path / "out" / name).metadata.num_row_groups > 2


@pytest.mark.parametrize(
    ("name", "keep", "waits"),
    [("a.jsonl", [], 0), ("a.jsonl", ["id"], 7), ("a.parquet", ["id"], 0)],
)
def test_only_values_of_json_wait_for_the_end_of_a_shard(
    english, tmp_path, monkeypatch, name, keep, waits
):
    monkeypatch.setattr(shard_files, "_IDS_AT_ONCE", 1)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 10)  # a line is read at a time
    most, original = [0], shard_files._ParquetTable.write

    def watched(self, table):
        original(self, table)
        most.append(len(self._waiting))

    monkeypatch.setattr(shard_files._ParquetTable, "write", watched)
    encode_files(write(tmp_path / name), tmp_path / "out", english, workers=1, keep_columns=keep)
    assert max(most) == waits
    assert rows_in(tmp_path / "out") == ids_of(english)


def test_a_column_may_be_the_text_and_may_be_kept_twice(english, tmp_path):
    for name in ("a.parquet", "a.jsonl"):
        encode_files(
            write(tmp_path / name),
            tmp_path / f"{name}.out",
            english,
            workers=1,
            keep_columns=["text", "id", "id"],
        )
        corpus = open_corpus(tmp_path / f"{name}.out")
        assert [corpus.row(number)["text"] for number in range(7)] == TEXTS
        assert corpus.column_names == ("input_ids", "text", "id")


def test_shards_without_rows_have_the_columns(english, tmp_path):
    json_file(tmp_path / "a.jsonl", [b"[]\n"])
    pq.write_table(
        pa.table({"text": pa.array([None], pa.string()), "n": [1]}), tmp_path / "b.parquet"
    )
    json_file(tmp_path / "c.jsonl", [{"text": "a", "n": 5}])
    for file_format in FORMATS:
        out = tmp_path / file_format
        options = {
            "keep_columns": ["n"],
            "on_error": "skip",
            "file_format": file_format,
            "workers": 1,
        }
        encode_files(tmp_path / "*.*[tl]", out, english, return_attention_mask=True, **options)
        assert open_corpus(out).row(0, ["attention_mask", "n"]) == {
            "attention_mask": [1, 1, 1],
            "n": 5,
        }
        for path in out.glob("*.parquet"):
            assert pq.read_schema(path).names[-1] == "n"


def test_values_that_go_into_no_column(english, tmp_path, monkeypatch):
    json_file(tmp_path / "fine.jsonl", [{"text": "a", "n": 1}])
    for name, values in (("mixed", [1, "a"]), ("big", [2**70])):
        path = json_file(
            tmp_path / f"{name}.jsonl", [{"text": "a", "n": value} for value in values]
        )
        with pytest.raises(
            FileError, match=rf"{name}\.jsonl: 'n' cannot be kept: .*--on-error skip"
        ):
            encode_files(path, tmp_path / f"{name}.out", english, workers=1, keep_columns=["n"])
    json_file(tmp_path / "late.jsonl", [{"text": "a", "n": value} for value in [1, 2, "a"]])
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 10)  # a line is read at a time
    manifest = encode_files(
        tmp_path / "*.jsonl",
        tmp_path / "out",
        english,
        workers=1,
        keep_columns=["n"],
        on_error="skip",
    )
    reasons = " ".join(file["reason"] for file in manifest["set_aside"])
    assert (manifest["totals"]["rows"], len(manifest["set_aside"])) == (1, 3)
    assert "late.jsonl: a column to keep changes its type: " in reasons
    assert not list((tmp_path / "out").rglob("*temporary-*"))


def test_what_cannot_be_kept(english, tmp_path):
    path = write(tmp_path / "a.parquet")

    def fails(kind, said, file=path, **options):
        with pytest.raises(kind, match=said):
            encode_files(
                file, tmp_path / "out", english, workers=1, **{"keep_columns": ["id"], **options}
            )
        assert not (tmp_path / "out").exists()

    fails(
        InputError,
        r"a\.parquet has no column 'labels'; it has 'id', 'text'",
        keep_columns=["labels"],
    )
    fails(
        InputTypeError,
        r"keep_columns is 'id'; it is a list of columns: \['id'\]",
        keep_columns="id",
    )
    fails(InputError, "keep_columns does not work with pack", pack=8)
    fails(
        InputError,
        "keep_columns has 'input_ids', which the ids' own columns have too",
        keep_columns=["input_ids"],
    )
    fails(
        InputError, r"a\.txt holds lines of text, which have no columns", write(tmp_path / "a.txt")
    )


def test_other_columns_are_another_run(english, tmp_path):
    path = write(tmp_path / "a.parquet")
    encode_files(path, tmp_path / "out", english, workers=1, keep_columns=["id"])
    with pytest.raises(InputError, match="was made with kept columns id; this call has none"):
        encode_files(path, tmp_path / "out", english, workers=1, resume=True)


# ---- masks and type ids --------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("pack", [None, 5])
def test_masks_and_type_ids(english, tmp_path, file_format, pack):
    asked = {f"return_{name}": True for name in MASKS}
    out = tmp_path / "out"
    encode_files(
        write(tmp_path / "a.txt"),
        out,
        english,
        workers=1,
        pack=pack,
        file_format=file_format,
        **asked,
    )
    expected = english(TEXTS, **asked)
    corpus = open_corpus(out)
    assert corpus.column_names == ("input_ids", *[name for name in expected if name != "input_ids"])
    for name in corpus.column_names:
        rows = [corpus.row(number)[name] for number in range(len(corpus))]
        if pack:
            rows, expected[name] = list(chain(*rows)), list(chain(*expected[name]))
        assert rows == expected[name]
    assert corpus.arrow_dataset().to_table().to_pylist() == [
        corpus.row(number) for number in range(len(corpus))
    ]


def test_numpy_reads_a_mask(english, tmp_path):
    numpy = pytest.importorskip("numpy")
    options = {"file_format": "npy", "workers": 1, "return_special_tokens_mask": True}
    encode_files(write(tmp_path / "a.txt"), tmp_path / "out", english, **options)
    mask = numpy.load(tmp_path / "out" / "part-00000.special_tokens_mask.npy")
    expected = english(TEXTS, return_special_tokens_mask=True)["special_tokens_mask"]
    assert (mask.dtype, mask.tolist()) == (numpy.int8, list(chain(*expected)))


@pytest.mark.parametrize("options", [{}, {"pack": 7}, {"truncation": True, "max_length": 9}])
@pytest.mark.parametrize("file_format", ["parquet", "bin"])
def test_masks_of_long_lines(english, tmp_path, monkeypatch, file_format, options):
    """A line that is read in pieces has the columns of one that is read whole."""
    path = tmp_path / "a.txt"
    path.write_text("the\n" + "people of the United States " * 50 + "\nthe\n")
    asked = {f"return_{name}": True for name in MASKS} | {"file_format": file_format, "workers": 1}
    encode_files(path, tmp_path / "whole", english, **asked, **options)
    monkeypatch.setattr("trietok.corpus.text_inputs.LONG", 100)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 100)
    monkeypatch.setattr("trietok.corpus.text_inputs.LONG", 100)
    encode_files(path, tmp_path / "pieces", english, **asked, **options)
    whole, pieces = open_corpus(tmp_path / "whole"), open_corpus(tmp_path / "pieces")
    assert [pieces.row(number) for number in range(len(pieces))] == [
        whole.row(number) for number in range(len(whole))
    ]


def test_files_have_no_other_columns(english, tmp_path):
    for name in ("return_offsets_mapping", "return_length"):
        with pytest.raises(
            OptionError, match=r"files hold ids, masks and type ids; leave out what asks for"
        ):
            encode_files(
                write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1, **{name: True}
            )
    encode_files(
        write(tmp_path / "a.txt"), tmp_path / "out", english, workers=1, return_attention_mask=False
    )
    assert rows_in(tmp_path / "out") == ids_of(english)


# ---- sources -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shard_bytes", [1, 40, 10**6])
def test_the_source_of_each_row(english, tmp_path, shard_bytes):
    """Rows that were skipped, at the ends too, shift no source; nor does a file of the same
    bytes.
    """
    bad = {0, 3, 4, 11, 12, 19}
    lines = [b"\xff" if number in bad else b"people %d" % number for number in range(20)]
    for name in ("a.txt", "b.txt", "d.txt"):
        (tmp_path / name).write_bytes(b"\n".join(lines))
    write(
        tmp_path / "c.parquet",
        [None if number in bad else f"people {number}" for number in range(20)],
    )
    (tmp_path / "e.txt").write_bytes(b"\xff\n")
    encode_files(
        tmp_path / "*.*",
        tmp_path / "out",
        english,
        workers=1,
        on_error="skip",
        shard_bytes=shard_bytes,
    )
    corpus = open_corpus(tmp_path / "out")
    places = [
        (str(tmp_path / name), number + 1)
        for name in ("a.txt", "b.txt", "c.parquet", "d.txt")
        for number in range(20)
        if number not in bad
    ]
    assert [corpus.source(number) for number in range(len(corpus))] == places
    assert corpus.source(-1) == places[-1]
    for number, (_, row) in enumerate(places):
        assert corpus[number] == english(f"people {row - 1}").input_ids


def test_sources_that_cannot_be_told(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the\n\xff\n")
    encode_files(
        tmp_path / "a.txt", tmp_path / "packed", english, workers=1, pack=2, on_error="skip"
    )
    with pytest.raises(InputError, match="a row of packed ids has parts of several texts"):
        open_corpus(tmp_path / "packed").source(0)
    encode_files(tmp_path / "a.txt", tmp_path / "out", english, workers=1, on_error="skip")
    (tmp_path / "out" / "rejects.jsonl").write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"rejects\.jsonl does not list the rows"):
        open_corpus(tmp_path / "out").source(0)
