"""Corpora as Megatron-LM and MosaicML Streaming read them: by their own libraries, and by readers
of their formats.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys

import pytest

from tests.corpus.shards import TEXTS, contents, ids_of, manifest_in, write
from trietok import FileFormatError, InputError, encode_files
from trietok.corpus import open_corpus

numpy = pytest.importorskip("numpy")
pytest.importorskip("pyarrow")
LONG = ["people " * 300, "of the " * 40_000]  # lengths of one, two and four bytes


@pytest.fixture(params=["megatron", "mds"])
def made(request, english, tmp_path):
    """The format, the folder, and the rows with their masks."""
    texts = [*TEXTS, *LONG]
    write(tmp_path / "a.txt", texts)
    write(tmp_path / "b.jsonl", texts[::-1])
    options = {"return_special_tokens_mask": True, "workers": 1, "shard_bytes": 200_000}
    encode_files(tmp_path / "*.*", tmp_path / "ids", english, file_format=request.param, **options)
    both = [*texts, *texts[::-1]]
    masks = [english(text, return_special_tokens_mask=True)["special_tokens_mask"] for text in both]
    return request.param, tmp_path / "ids", ids_of(english, both), masks


def read_megatron(prefix):
    """The rows of a `.bin` by its `.idx`, from the description of the format."""
    index = prefix.with_suffix(".idx").read_bytes()
    magic, version, code, rows, documents = struct.unpack_from("<9sQBQQ", index)
    assert (magic, version, code, documents) == (b"MMIDIDX\x00\x00", 1, 4, rows + 1)
    lengths = numpy.frombuffer(index, "<i4", rows, 34)
    starts = numpy.frombuffer(index, "<i8", rows, 34 + 4 * rows)
    assert numpy.frombuffer(index, "<i8", documents, 34 + 12 * rows).tolist() == list(
        range(documents)
    )
    assert len(index) == 34 + 12 * rows + 8 * documents
    raw = prefix.with_suffix(".bin").read_bytes()
    return [
        numpy.frombuffer(raw, "<i4", length, start).tolist()
        for length, start in zip(lengths, starts, strict=True)
    ]


def read_mds(folder):
    """The rows of the shards that `index.json` lists, from the description of the format."""
    found = []
    for shard in json.loads((folder / "index.json").read_bytes())["shards"]:
        raw = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert len(raw) == shard["raw_data"]["bytes"]
        (number,) = struct.unpack_from("<I", raw)
        assert number == shard["samples"]
        offsets = struct.unpack_from(f"<{number + 1}I", raw, 4)
        names, kinds = shard["column_names"], shard["column_encodings"]
        assert offsets[-1] == len(raw)
        for at in offsets[:-1]:
            sizes = struct.unpack_from(f"<{len(names)}I", raw, at)
            at, row = at + 4 * len(names), {}
            for name, kind, size in zip(names, kinds, sizes, strict=True):
                assert raw[at] >> 2 == 1  # dimensions
                width = 1 << (raw[at] & 3)
                length = int.from_bytes(raw[at + 1 : at + 1 + width], "little")
                row[name] = numpy.frombuffer(
                    raw, kind.removeprefix("ndarray:"), length, at + 1 + width
                ).tolist()
                at += size
            found.append(row)
    return found


def test_the_formats_as_they_are_described(made):
    file_format, folder, rows, masks = made
    if file_format == "mds":
        found = read_mds(folder)
        assert [row["input_ids"] for row in found] == rows
        assert [row["special_tokens_mask"] for row in found] == masks
    else:
        prefixes = [folder / shard["files"][0]["name"] for shard in manifest_in(folder)["shards"]]
        assert len(prefixes) > 1
        assert [row for prefix in prefixes for row in read_megatron(prefix)] == rows


def test_open_corpus_reads_them(made):
    _, folder, rows, masks = made
    corpus = open_corpus(folder)
    assert list(corpus) == rows
    assert [corpus.row(number)["special_tokens_mask"] for number in range(len(corpus))] == masks
    assert sorted(corpus.shuffled(1)) == list(range(len(rows)))
    table = corpus.arrow_dataset().to_table()
    assert table.column("input_ids").to_pylist() == rows
    assert table.column("special_tokens_mask").to_pylist() == masks
    order = [corpus[number] for number in corpus.shuffled(5)]
    assert order != rows


def test_workers_and_resuming_change_nothing(made, english, tmp_path):
    file_format, folder, _, _ = made
    options = {
        "return_special_tokens_mask": True,
        "shard_bytes": 200_000,
        "file_format": file_format,
    }
    encode_files(tmp_path / "*.*", tmp_path / "two", english, workers=2, **options)
    assert contents(tmp_path / "two") == contents(folder)
    if file_format == "mds":
        (folder / "index.json").unlink()
    next(folder.glob("part-00000.*")).unlink()
    encode_files(tmp_path / "*.*", folder, english, workers=1, resume=True, **options)
    assert contents(tmp_path / "two") == contents(folder)


def test_in_a_store(english, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    write(tmp_path / "a.txt")
    encode_files(tmp_path / "a.txt", "memory://mds-ids", english, workers=1, file_format="mds")
    listed = json.loads(fsspec.filesystem("memory").cat_file("/mds-ids/index.json"))["shards"]
    assert [shard["samples"] for shard in listed] == [len(TEXTS)]
    assert list(open_corpus("memory://mds-ids")) == ids_of(english)


def test_what_does_not_fit(english, tmp_path, monkeypatch):
    write(tmp_path / "a.jsonl")
    with pytest.raises(InputError, match="keep_columns does not work with mds"):
        encode_files(
            tmp_path / "a.jsonl",
            tmp_path / "o",
            english,
            workers=1,
            file_format="mds",
            keep_columns=["id"],
        )
    monkeypatch.setattr("trietok.corpus.shard_files._MOST_MDS", 300)
    with pytest.raises(
        FileFormatError, match=r"a\.jsonl: a shard of the format mds has \d+ bytes, more than 300"
    ):
        encode_files(tmp_path / "a.jsonl", tmp_path / "p", english, workers=1, file_format="mds")


READERS = {
    "megatron": (
        """
import sys, pathlib, json
from megatron.core.datasets.indexed_dataset import IndexedDataset
rows = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("part-?????.bin")):
    data = IndexedDataset(str(path.with_suffix("")))
    rows += [data[number].tolist() for number in range(len(data))]
    assert data.document_indices.tolist() == list(range(len(data) + 1))
print(json.dumps(rows))
"""
    ),
    "mds": (
        # it loads its sets of pictures, and with them torchvision, which fits one build of torch
        """
import sys, json
from unittest.mock import MagicMock
sys.modules["streaming.vision"] = MagicMock()
from streaming import StreamingDataset
data = StreamingDataset(local=sys.argv[1], batch_size=1, shuffle=False)
print(json.dumps([data[number]["input_ids"].tolist() for number in range(data.num_samples)]))
"""
    ),
}


@pytest.mark.engines
def test_their_own_libraries_read_them(made):
    """`TRIETOK_STREAMING_PYTHON` may name another Python, which has mosaicml-streaming."""
    file_format, folder, rows, _ = made
    python = (
        os.environ.get("TRIETOK_STREAMING_PYTHON", sys.executable)
        if file_format == "mds"
        else sys.executable
    )
    if python == sys.executable:
        pytest.importorskip({"mds": "streaming", "megatron": "megatron.core"}[file_format])
    shown = subprocess.run(
        [python, "-c", READERS[file_format], str(folder)], capture_output=True, text=True
    )
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout.splitlines()[-1]) == rows
