"""Files of texts to encode, and the rows of a run."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pathlib

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


def rows_of(result):
    """The rows of a run in the order of its inputs, as dicts."""
    return [row for path in result.paths for row in pq.read_table(path).to_pylist()]


def ids_in(result):
    """The ids of all rows of a run."""
    return [row["input_ids"] for row in rows_of(result)]


def rows_in(out):
    """The rows of all Parquet files of a directory, sorted."""
    tables = map(pq.read_table, sorted(out.glob("*.parquet")))
    return sorted((row for table in tables for row in table.to_pylist()), key=str)


def skipped_in(result):
    """The names of files and the numbers of rows that a run skipped."""
    lines = [
        json.loads(line)
        for path in result.skipped_lists
        for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    ]
    return [(row["path"].rpartition("/")[2], row["number"]) for row in lines]


def contents(out):
    """Every file below a directory, hidden ones too."""
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }


def ids_of(tokenizer, texts=TEXTS, **options):
    return [tokenizer(text, **options).input_ids for text in texts]
