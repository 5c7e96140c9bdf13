"""What many empty rows, and many columns to keep, cost: counted in steps and in objects."""

from __future__ import annotations

import json

import pytest

from trietok import BertTokenizer, encode_files
from trietok.corpus.row_encoder import RowEncoder
from trietok.corpus.shard_plan import check_table, read_batches
from trietok.files.text_files import TextFile
from trietok.text.kernel.plain import ListRows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS, ROWS = 400, 1000


@pytest.fixture
def wide():
    return pa.table(
        {"text": ["the"] * ROWS, **{f"c{number}": range(ROWS) for number in range(COLUMNS)}}
    )


def test_many_empty_lines_are_encoded_by_the_kernel(tmp_path, monkeypatch):
    """They have no bytes, so that how much text there is does not say that a kernel is worth its
    time.
    """
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    if not RowEncoder(BertTokenizer.from_pretrained("trietok-en"), {}).make_kernel():
        pytest.skip("there is no kernel")
    made, make = [], ListRows.__init__

    def counted(self, rows):
        make(self, rows)
        made.append(len(self._rows))

    monkeypatch.setattr(ListRows, "__init__", counted)
    (tmp_path / "a.txt").write_bytes(b"\n" * 100_000)
    assert (
        encode_files([tmp_path / "a.txt"], tmp_path / "out", tokenizer, workers=1)["totals"][
            "tokens"
        ]
        == 200_000
    )
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer([""] * 100_000)
    assert max(made, default=0) < 10


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl"])
def test_a_column_of_many_has_as_much_in_a_row_group_as_one_of_few(english, tmp_path, wide, name):
    if name.endswith("parquet"):
        pq.write_table(wide, tmp_path / name)
    else:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in wide.to_pylist()))
    columns = wide.column_names[1:]
    encode_files([tmp_path / name], tmp_path / "out", english, workers=1, keep_columns=columns)
    with pq.ParquetFile(tmp_path / "out" / "part-00000.parquet") as made:
        number = made.metadata.num_row_groups * made.metadata.num_columns
    assert number <= 2 * wide.nbytes // 4096


def test_many_columns_are_read_in_batches_of_as_much_of_each(tmp_path, wide):
    pq.write_table(wide, tmp_path / "a.parquet", use_dictionary=False)
    file = TextFile("a.parquet", "parquet", None, 0, 0)
    with pq.ParquetFile(tmp_path / "a.parquet") as table:
        batches = list(read_batches(file, table, 0, None, wide.column_names))
    assert sum(map(len, batches)) == ROWS
    assert len(batches) * COLUMNS <= 2 * wide.nbytes // 4096


def test_the_names_of_columns_are_asked_for_once(tmp_path, wide):
    pq.write_table(wide, tmp_path / "a.parquet")
    asked = []
    with pq.ParquetFile(tmp_path / "a.parquet") as opened:

        class Table:
            schema = opened.schema

            @property
            def schema_arrow(self):
                asked.append(1)
                return opened.schema_arrow

        check_table(
            Table(),
            TextFile("a.parquet", "parquet", None, 0, 0),
            "text",
            tuple(wide.column_names[1:]),
        )
    assert len(asked) <= 3
