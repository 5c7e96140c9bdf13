"""Files of texts to encode, and what an encoded corpus holds."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

TEXTS = [
    "The people",
    "",
    "of the United States,\r",
    " in order",
    "to form a more perfect Union",
    "東京 é",
    "[SEP] x",
]


def write(path, texts=TEXTS, column="text", rows_in_group=2):
    """A file of texts, of the kind that its name says; with ids, but for a .txt file."""
    name = path.name.lower()
    if ".parquet" in name:
        table = pa.table({"id": range(len(texts)), column: pa.array(texts, pa.string())})
        pq.write_table(table, path, row_group_size=rows_in_group)
        return path
    if ".jsonl" in name or ".ndjson" in name:
        texts = [json.dumps({"id": number, column: text}) for number, text in enumerate(texts)]
    raw = "".join(text + "\n" for text in texts).encode()
    if ".csv" in name or ".tsv" in name:
        content = io.StringIO(newline="")
        writer = csv.writer(content, delimiter="\t" if ".tsv" in name else ",")
        writer.writerows([("id", column), *enumerate(texts)])
        raw = content.getvalue().encode()
    path.write_bytes(packed(path, raw))
    return path


def packed(path, raw):
    """Bytes as the name of their file says."""
    if path.suffix == ".gz":
        return gzip.compress(raw)
    return zstandard.compress(raw) if path.suffix == ".zst" else raw


def table_in(out):
    """The rows of all shards, in order, as a list of dicts."""
    return [row for path in sorted(out.glob("part-*")) for row in pq.read_table(path).to_pylist()]


def rows_in(out):
    """The ids of all rows, in order."""
    return [row["input_ids"] for row in table_in(out)]


def rejects_in(out):
    """The names of files and the numbers of rows that were skipped, in order."""
    path = out / "rejects.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = map(json.loads, lines)
    return [(row["file"].rpartition("/")[2], row["row"]) for row in rows]


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
