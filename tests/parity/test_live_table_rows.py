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
from trietok import TokenizeBatch
from trietok.files.model_files import built_in_directory

TEXT = Path(__file__).parents[2] / "README.md"
PAIRS = [
    {},
    {"truncation": True, "max_length": 20},
    {"truncation": "only_second", "max_length": 40, "stride": 8, "return_overflowing_tokens": True},
    {"truncation": "only_first", "max_length": 40, "stride": 2, "return_overflowing_tokens": True},
]
SINGLE = [
    {"truncation": True, "max_length": 9, "stride": 3, "return_overflowing_tokens": True},
    {
        "truncation": True,
        "max_length": 12,
        "return_overflowing_tokens": True,
        "padding": "max_length",
    },
]


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize("options", [*PAIRS, *SINGLE], ids=str)
def test_the_rows_of_transformers(kind: str, options: dict[str, Any]) -> None:
    directory = built_in_directory("trietok-en")
    lines = TEXT.read_text(encoding="utf-8").split("\n")[:120]
    # Questions are short: where they leave no more room than the stride, the Rust library panics.
    columns = [
        [line[:20] for line in lines],
        [line + " " + other for line, other in zip(lines, reversed(lines), strict=True)],
    ]
    if options.get("truncation") == "only_first":
        columns.reverse()
    names = ["question", "context"] if options in PAIRS else ["question"]
    options = {**options, "return_offsets_mapping": True} if kind.endswith("Fast") else options
    theirs = getattr(transformers, kind).from_pretrained(directory)(
        *columns[: len(names)], **options
    )
    ours = getattr(trietok, kind).from_pretrained(directory)
    found = TokenizeBatch(ours, *names, keep_columns=[], **options)(
        pa.table(dict(zip(names, columns, strict=False)))
    )
    assert set(found.column_names) == set(theirs.keys())
    for name in found.column_names:
        expected = theirs[name]
        if name == "offset_mapping":
            expected = [list(map(list, row)) for row in expected]
        assert found.column(name).to_pylist() == expected, name
