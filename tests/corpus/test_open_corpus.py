"""`open_corpus`: the rows that `encode_files` has written, by number, for torch and for Arrow."""

from __future__ import annotations

import os
import pickle

import pytest

from tests.corpus.shards import TEXTS, ids_of, write
from trietok import FileError, FileFormatError, InputTypeError, encode_files
from trietok.corpus import open_corpus
from trietok.corpus import opened as opened_module

pytest.importorskip("pyarrow")
FORMATS = ["parquet", "npy", "bin"]


@pytest.fixture(params=FORMATS)
def corpus(request, english, tmp_path):
    """Several files of several shards each, one of which has no row."""
    for name in ("a.txt", "b.jsonl", "d.txt"):
        write(tmp_path / name, TEXTS * 5)
    (tmp_path / "c.txt").write_bytes(b"\xff\n")
    options = {"workers": 1, "shard_bytes": 100, "file_format": request.param, "on_error": "skip"}
    encode_files([tmp_path / "*.*"], tmp_path / "ids", english, add_special_tokens=False, **options)
    return open_corpus(tmp_path / "ids")


def test_rows_by_number(english, corpus, tmp_path):
    expected = ids_of(english, TEXTS * 15, add_special_tokens=False)
    assert len(corpus) == len(expected)
    assert list(corpus) == expected
    assert [corpus[number] for number in range(-1, -len(expected) - 1, -1)] == expected[::-1]
    assert corpus[3:40:7] == expected[3:40:7]
    assert corpus.ids(2).format == "i"
    assert [corpus.source(number).file[-6:] for number in (0, 34, 35, 69, 70, -1)] == [
        *("/a.txt", "/a.txt", ".jsonl", ".jsonl", "/d.txt", "/d.txt")
    ]
    for number in (len(expected), -len(expected) - 1):
        with pytest.raises(IndexError, match=f"there is no row {number}; the corpus has 105"):
            corpus[number]


def test_it_pickles_as_its_name(corpus):
    pickled = pickle.dumps(corpus)
    assert len(pickled) < 500
    assert list(pickle.loads(pickled)) == list(corpus)


def test_an_arrow_dataset(corpus):
    dataset = corpus.arrow_dataset()
    assert dataset.to_table().column("input_ids").to_pylist() == list(corpus)
    assert dataset.count_rows() == len(corpus)


def test_a_torch_dataset(corpus):
    torch = pytest.importorskip("torch")
    dataset = corpus.torch_dataset()
    assert isinstance(dataset, torch.utils.data.Dataset)
    assert len(dataset) == len(corpus)
    rows = [dataset[number]["input_ids"] for number in range(len(dataset))]
    assert {row.dtype for row in rows} == {torch.int64}
    assert [row.tolist() for row in rows] == list(corpus)
    again = pickle.loads(pickle.dumps(dataset))
    assert again[7]["input_ids"].tolist() == corpus[7]
    loader = torch.utils.data.DataLoader(dataset, batch_size=None)
    assert [row["input_ids"].tolist() for row in loader] == list(corpus)


@pytest.mark.parametrize("file_format", FORMATS)
def test_more_shards_than_files_can_be_open(english, tmp_path, file_format):
    resource = pytest.importorskip("resource")
    for number in range(90):
        write(tmp_path / f"{number}.txt", TEXTS[:1])
    encode_files(tmp_path / "*.txt", tmp_path / "ids", english, file_format=file_format, workers=1)
    corpus = open_corpus(tmp_path / "ids")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 70, before[1]))
    try:
        dataset = corpus.arrow_dataset()
        assert dataset.count_rows() == 90
        assert list(corpus) == ids_of(english, TEXTS[:1]) * 90
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_what_is_no_row_and_no_list_of_columns(corpus):
    for number in ("a", 1.0, None):
        with pytest.raises(InputTypeError, match="a row is named by its number, not by"):
            corpus[number]
    for ask in (lambda columns: corpus.row(0, columns), corpus.torch_dataset):
        with pytest.raises(InputTypeError, match=r"columns is 'text'; it is a list of names: \['text'\]"):
            ask("text")
    assert corpus.row(0, []) == {}


def test_few_shards_are_held(corpus, monkeypatch):
    monkeypatch.setattr(opened_module, "_OPEN_SHARDS", 2)
    again = pickle.loads(pickle.dumps(corpus))
    assert list(again) == list(corpus)
    assert again._opened.cache_info().currsize == 2


def test_row_groups(english, tmp_path, monkeypatch):
    from trietok.corpus import shard_files

    monkeypatch.setattr(shard_files, "_GROUP_IDS", 5)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 10)
    encode_files(write(tmp_path / "a.txt"), tmp_path / "ids", english, workers=1)
    corpus = open_corpus(tmp_path / "ids")
    assert list(corpus) == ids_of(english)
    assert corpus._opened(0)._group.cache_info().misses > 2


def test_what_is_no_corpus(english, tmp_path):
    with pytest.raises(FileError, match=r"holds no finished corpus: it has no manifest\.json; encode-files"):
        open_corpus(tmp_path)
    encode_files(write(tmp_path / "a.txt"), tmp_path / "ids", english, workers=1)
    shard = tmp_path / "ids" / "part-00000.parquet"
    shard.write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"part-00000\.parquet is not of the size .*--resume makes it again"):
        open_corpus(tmp_path / "ids")
    shard.unlink()
    with pytest.raises(FileError, match=r"cannot read .*part-00000\.parquet: No such file .*--resume makes it"):
        open_corpus(tmp_path / "ids")
    for other in ('{"format": "trietok-corpus-1"}', '{"format": "trietok-corpus-99"}'):
        (tmp_path / "ids" / "manifest.json").write_text(other)
        with pytest.raises(
            FileFormatError, match=r"is of the format trietok-corpus-9?\d, and what this version .* reads"
        ):
            open_corpus(tmp_path / "ids")
    (tmp_path / "ids" / "manifest.json").write_text("[]")
    with pytest.raises(FileFormatError, match=r"manifest\.json holds a JSON list, not an object .*; put the file back"):
        open_corpus(tmp_path / "ids")
