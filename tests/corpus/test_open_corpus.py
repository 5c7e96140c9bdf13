"""`open_corpus`: the rows that `encode_files` has written, by number, for torch and for Arrow."""

from __future__ import annotations

import os
import pickle
import random
from itertools import chain

import pytest

from tests.corpus.shards import TEXTS, ids_of, write
from trietok import FileError, FileFormatError, InputError, InputTypeError, encode_files
from trietok.corpus import open_corpus, shard_readers, training_order
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
        with pytest.raises(
            InputTypeError, match=r"columns is 'text'; it is a list of names: \['text'\]"
        ):
            ask("text")
    assert corpus.row(0, []) == {}


def test_few_shards_are_held(corpus, monkeypatch):
    monkeypatch.setattr(opened_module, "_OPEN_SHARDS", 2)
    again = pickle.loads(pickle.dumps(corpus))
    assert list(again) == list(corpus)
    assert again.opened.cache_info().currsize == 2


def test_row_groups(english, tmp_path, monkeypatch):
    from trietok.corpus import shard_files

    monkeypatch.setattr(shard_files, "_IDS_AT_ONCE", 5)
    monkeypatch.setattr("trietok.corpus.text_inputs._BLOCK", 10)
    encode_files(write(tmp_path / "a.txt"), tmp_path / "ids", english, workers=1)
    corpus = open_corpus(tmp_path / "ids")
    assert list(corpus) == ids_of(english)
    assert len(list(corpus.opened(0).blocks())) > 2


def test_what_is_no_corpus(english, tmp_path):
    with pytest.raises(
        FileError, match=r"holds no finished corpus: it has no manifest\.json; encode-files"
    ):
        open_corpus(tmp_path)
    encode_files(write(tmp_path / "a.txt"), tmp_path / "ids", english, workers=1)
    shard = tmp_path / "ids" / "part-00000.parquet"
    shard.write_bytes(b"")
    with pytest.raises(
        FileFormatError, match=r"part-00000\.parquet is not of the size .*--resume makes it again"
    ):
        open_corpus(tmp_path / "ids")
    shard.unlink()
    with pytest.raises(
        FileError, match=r"cannot read .*part-00000\.parquet: No such file .*--resume makes it"
    ):
        open_corpus(tmp_path / "ids")
    for other in ('{"format": "trietok-corpus-1"}', '{"format": "trietok-corpus-99"}'):
        (tmp_path / "ids" / "manifest.json").write_text(other)
        with pytest.raises(
            FileFormatError,
            match=r"is of the format trietok-corpus-9?\d, and what this version .* reads",
        ):
            open_corpus(tmp_path / "ids")
    (tmp_path / "ids" / "manifest.json").write_text("[]")
    with pytest.raises(
        FileFormatError,
        match=r"manifest\.json holds a JSON list, not an object .*; put the file back",
    ):
        open_corpus(tmp_path / "ids")


def test_row_groups_are_small(english, tmp_path, monkeypatch):
    """A reader of one row decodes a row group; groups of ids, of masks and of kept columns have
    about as many bytes.
    """
    pq = pytest.importorskip("pyarrow.parquet")
    from trietok.corpus import shard_files

    monkeypatch.setattr(shard_files, "GROUP_BYTES", 1000)
    write(tmp_path / "a.jsonl", TEXTS * 100)
    for file_format, name in (
        ("parquet", "part-00000.parquet"),
        ("npy", "part-00000.kept.parquet"),
    ):
        out = tmp_path / file_format
        encode_files(
            tmp_path / "a.jsonl",
            out,
            english,
            workers=1,
            keep_columns=["text"],
            file_format=file_format,
        )
        assert 5 < pq.read_metadata(out / name).row_group(0).num_rows < 100
        assert [row["text"] for row in map(open_corpus(out).row, range(700))] == TEXTS * 100


def test_decoded_row_groups_are_held_within_bytes(corpus, monkeypatch):
    """However few bytes are allowed, rows are the same, and those of one row group are read
    once.
    """
    monkeypatch.setattr(shard_readers, "_HELD_BYTES", 300)
    again = pickle.loads(pickle.dumps(corpus))
    assert [again[number] for number in range(-1, -len(corpus) - 1, -1)] == list(corpus)[::-1]
    held = again._held
    sizes = [size for _, size in held._columns.values()]
    assert sum(sizes) == held._bytes <= 300 or len(sizes) == 1


# ---- orders for training -------------------------------------------------------------------------


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks are mixed at once, of several shards, and not all of them."""
    from trietok.corpus import shard_files

    for module in (shard_files, shard_readers):
        monkeypatch.setattr(module, "GROUP_BYTES", 100)
    monkeypatch.setattr(shard_readers, "MIXED_BYTES", 1000)
    monkeypatch.setattr(training_order, "_MIXED_SHARDS", 3)


def test_a_shuffled_corpus(small_blocks, corpus):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    all_rows = list(range(len(corpus)))
    order = list(corpus.shuffled(seed))
    assert sorted(order) == all_rows != order
    assert order == list(pickle.loads(pickle.dumps(corpus)).shuffled(seed))
    assert order != list(corpus.shuffled(seed, epoch=1)) != list(corpus.shuffled(seed + 1))
    for parts in (1, 2, 3, 7, len(corpus), len(corpus) + 3):
        rows = [list(corpus.shuffled(seed, 5, part, parts)) for part in range(parts)]
        assert sorted(chain(*rows)) == all_rows
        assert max(map(len, rows)) - min(map(len, rows)) <= 1
    for part, parts in ((1, 1), (-1, 2), (0, 0)):
        with pytest.raises(
            InputError, match=f"there is no part {part} of {parts}; parts are counted from 0"
        ):
            next(corpus.shuffled(1, part=part, parts=parts))
    for seed, epoch in (("one", 0), (1.0, 0), (1, None)):
        with pytest.raises(InputTypeError, match=r"^(seed|epoch) is .*; it is a whole number$"):
            next(corpus.shuffled(seed, epoch))


def test_an_order_reads_each_row_group_once(small_blocks, english, tmp_path, monkeypatch):
    for name in "abcdef":
        write(tmp_path / f"{name}.txt", TEXTS * 9)
    encode_files(tmp_path / "*.txt", tmp_path / "ids", english, workers=1)
    corpus, read = open_corpus(tmp_path / "ids"), []
    original = shard_readers._read_columns
    monkeypatch.setattr(
        shard_readers,
        "_read_columns",
        lambda *given: read.append((given[1], *given[2])) or original(*given),
    )
    rows = [corpus[number] for number in corpus.shuffled(3)]
    assert sorted(rows) == sorted(corpus)
    assert len(read) > 12
    assert len(read) // 2 == len(set(read[: len(read) // 2]))


def test_a_shuffled_torch_dataset(small_blocks, corpus):
    torch = pytest.importorskip("torch")
    rows = sorted(corpus)
    dataset = corpus.torch_dataset(seed=5)
    assert isinstance(dataset, torch.utils.data.IterableDataset)

    def read(dataset, **options):
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, **options)
        return [row["input_ids"].tolist() for row in loader]

    first = read(dataset)
    assert first == [corpus[number] for number in corpus.shuffled(5)]
    assert sorted(first) == rows
    assert len(dataset) == len(rows)
    parts = [corpus.torch_dataset(seed=5, rank=rank, ranks=3) for rank in range(3)]
    assert sum(map(len, parts)) == len(rows)
    assert sorted(chain(*map(read, parts))) == rows
    assert [len(read(part)) for part in parts] == [len(part) for part in parts]
    for wrong in (lambda: dataset.set_epoch(1.5), lambda: corpus.torch_dataset(seed="one")):
        with pytest.raises(InputTypeError, match="it is a whole number"):
            wrong()
    dataset.set_epoch(2)
    assert (
        read(pickle.loads(pickle.dumps(dataset)))
        == read(dataset)
        == [corpus[n] for n in corpus.shuffled(5, 2)]
    )
    for rank, ranks in ((2, 2), (-1, 2)):
        with pytest.raises(
            InputError, match=f"there is no rank {rank} of {ranks}; ranks are counted from 0"
        ):
            corpus.torch_dataset(seed=5, rank=rank, ranks=ranks)


def test_processes_of_a_loader_share_the_epoch(english, tmp_path):
    """They get each row once between them, also where they were started in an epoch before; or the
    first has all.
    """
    torch = pytest.importorskip("torch")
    encode_files(write(tmp_path / "a.txt", TEXTS * 5), tmp_path / "ids", english, workers=1)
    corpus, orders = open_corpus(tmp_path / "ids"), []
    dataset = corpus.torch_dataset(seed=1, rank=1, ranks=2, batch_size=1)
    loader = torch.utils.data.DataLoader(
        dataset, batch_size=None, num_workers=2, persistent_workers=True
    )
    for epoch in (0, 3):
        dataset.set_epoch(epoch)
        rows = [row["input_ids"].tolist() for row in loader]
        alone = [row["input_ids"].tolist() for row in dataset]
        assert rows == alone
        orders.append(rows)
    assert orders[0] != orders[1]
