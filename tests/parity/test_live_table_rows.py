"""`TokenizeBatch` on pairs and overflow windows beside transformers' own tokenizers: rows and
columns are the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import transformers

import trietok
from tests.strategies import directory_of

TEXT = Path(__file__).parents[2] / "README.md"
WINDOWS = {"max_length": 40, "return_overflowing_tokens": True}


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize(
    ("is_pair", "options"),
    [
        (True, {}),
        (True, {"truncation": True, "max_length": 20}),
        (True, {"truncation": "only_second", "stride": 8, **WINDOWS}),
        (True, {"truncation": "only_first", "stride": 2, **WINDOWS}),
        (False, {"truncation": True, "stride": 3, **WINDOWS, "max_length": 9}),
        (False, {"truncation": True, "padding": "max_length", **WINDOWS, "max_length": 12}),
    ],
    ids=str,
)
def test_rows_are_those_of_transformers(kind: str, is_pair: bool, options: dict[str, Any]) -> None:
    lines = TEXT.read_text(encoding="utf-8").split("\n")[:120]
    # Short texts: where they leave no more room than the stride, the Rust library panics.
    short = [line[:20] for line in lines]
    long = [f"{line} {other}" for line, other in zip(lines, reversed(lines), strict=True)]
    columns = {"question": short, "context": long} if is_pair else {"question": short}
    if options.get("truncation") == "only_first":
        columns = {"question": long, "context": short}
    options = {**options, "return_offsets_mapping": kind.endswith("Fast")}
    theirs, ours = (
        getattr(library, kind).from_pretrained(directory_of("trietok-en"))
        for library in (transformers, trietok)
    )
    want = theirs(*columns.values(), **options)
    got = trietok.TokenizeBatch(ours, *columns, keep_columns=[], **options)(pa.table(columns))
    assert set(got.column_names) == set(want.keys())
    for name in got.column_names:
        rows = want[name]
        if name == "offset_mapping":
            rows = [list(map(list, row)) for row in rows]
        assert got.column(name).to_pylist() == rows, name
