"""The built-in vocabularies, and the ids transformers gives on them, kept in files: no transformers
needed here.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re

import pytest

from trietok import BertTokenizer
from trietok.files.model_files import BUILT_IN_NAMES, built_in_directory

GOLDEN = pathlib.Path(__file__).parents[1] / "parity" / "golden"


@pytest.mark.parametrize("model", BUILT_IN_NAMES)
def test_ids_are_those_of_transformers(model):
    tokenizer = BertTokenizer.from_pretrained(model)
    cases = [
        json.loads(line)
        for line in (GOLDEN / f"{model}.jsonl").read_text(encoding="ascii").splitlines()
    ]
    assert len(cases) > 300
    wrong = [case["text"] for case in cases if tokenizer.encode(case["text"]) != case["input_ids"]]
    assert wrong == []


@pytest.mark.parametrize("model", BUILT_IN_NAMES)
def test_the_files_are_those_of_the_readme(model):
    directory = built_in_directory(model)
    readme = (directory.parent / "README.md").read_text(encoding="utf-8")
    stated = dict(re.findall(rf"`{model}/([\w.]+)` \| `([0-9a-f]{{64}})`", readme))
    assert stated == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.iterdir()
        if path.is_file()
    }
