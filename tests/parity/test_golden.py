"""Golden ids: what transformers gives on the built-in vocabularies, kept in files."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.strategies import directory_of
from trietok import BertTokenizer

GOLDEN = Path(__file__).parent / "golden"
MODELS = [path.stem for path in sorted(GOLDEN.glob("*.jsonl"))]


@pytest.mark.parametrize("model", MODELS)
def test_ids_are_those_of_transformers(model):
    lines = (GOLDEN / f"{model}.jsonl").read_text(encoding="ascii").splitlines()
    cases = [json.loads(line) for line in lines]
    assert len(cases) > 300
    tokenizer = BertTokenizer.from_pretrained(model)
    wrong = [case["text"] for case in cases if tokenizer.encode(case["text"]) != case["input_ids"]]
    assert wrong == []


def test_the_checksums_in_the_readme_are_those_of_all_built_in_files():
    vocabularies = directory_of("trietok-en").parent
    readme = (vocabularies / "README.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"`([\w-]+/[\w.]+)` \| `([0-9a-f]{64})`", readme))
    files = [path for path in vocabularies.glob("*/*") if path.is_file()]
    assert {path.parent.name for path in files} == set(MODELS)
    assert stated == {
        path.relative_to(vocabularies).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }
