"""Files of texts to encode, and what an encoded corpus holds."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from trietok.corpus.manifest import read_manifest, with_parts

TEXTS = [
    "The people",
    "",
    "of the United States,\r",
    " in order",
    "to form a more perfect Union",
    "東京 é",
    "[SEP] x",
]


def write(path, texts=TEXTS, column="text"):
    """A file of texts, of the kind that its name says."""
    name = path.name
    if name.endswith(".parquet"):
        pq.write_table(pa.table({"id": range(len(texts)), column: texts}), path, row_group_size=2)
        return path
    if ".jsonl" in name or ".ndjson" in name:
        texts = [json.dumps({"id": number, column: text}) for number, text in enumerate(texts)]
    raw = "".join(text + "\n" for text in texts).encode()
    if name.endswith(".gz"):
        raw = gzip.compress(raw)
    elif name.endswith(".zst"):
        raw = zstandard.compress(raw)
    path.write_bytes(raw)
    return path


def manifest_in(out):
    """The manifest of a finished run, with its parts as `encode_files` returns them."""
    path = out / "manifest.json"
    return with_parts(read_manifest(path), path, lambda name: (out / name).read_bytes())


def table_in(out):
    """The rows of all shards, in order, as a list of dicts."""
    shards = manifest_in(out)["shards"]
    paths = [out / shard["file"]["name"] for shard in shards if "file" in shard]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


def rows_in(out):
    """The ids of all rows, in order."""
    return [row["input_ids"] for row in table_in(out)]


def finished(out):
    """The files of the shards that an unfinished run has finished, in order of their keys."""
    state = out / ".trietok-encode"
    try:
        records = sorted(state.glob("*.record.json"))
    except FileNotFoundError:  # the run has ended just now
        records = []
    names = [record.name.removesuffix(".record.json") for record in records]
    return [
        path
        for name in names
        for path in sorted(state.glob(f"{name}.*"))
        if "json" not in path.suffix
    ]


def contents(out):
    """Every file below a directory, hidden ones too."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def ids_of(tokenizer, texts=TEXTS, **options):
    return [tokenizer(text, **options).input_ids for text in texts]
