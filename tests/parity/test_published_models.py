"""Published vocabularies: the page that walks through one sentence says what comes out.

TRIETOK_MODELS names a directory with a folder for each model.
"""

from __future__ import annotations

import os
import pathlib
import re

import pytest

from tests.tokenizer.test_google_bert import SENTENCE
from trietok import AutoTokenizer, BertTokenizer, google_bert

pytestmark = pytest.mark.parity
PAGE = pathlib.Path(__file__).parent.parent.parent / "docs" / "explaining.md"


@pytest.fixture(scope="module")
def multilingual():
    models = os.environ.get("TRIETOK_MODELS")
    if not models:
        pytest.skip("TRIETOK_MODELS names no directory")
    return pathlib.Path(models) / "bert-base-multilingual-uncased"


def test_the_ids_on_the_page(multilingual):
    section = PAGE.read_text(encoding="utf-8").split("## One sentence")[1].split("## The stages")[0]
    ids = [int(number) for line in re.findall(r"^    ([\d ]+)$", section, re.MULTILINE) for number in line.split()]
    assert BertTokenizer.from_pretrained(multilingual).encode(SENTENCE) == ids


def test_googles_tokenizer_gives_the_same_pieces(multilingual):
    tokens = google_bert.FullTokenizer(multilingual / "vocab.txt").tokenize(SENTENCE)
    assert " ".join(tokens).startswith("keras 是 one ##iros （ open - ended neu ##ro - electronic")
    assert " ".join(tokens).endswith("google 工 程 师 francois cho ##llet 。")
    assert BertTokenizer.from_pretrained(multilingual).tokenize(SENTENCE) == tokens


def test_the_class_of_each_is_that_of_transformers(multilingual):
    transformers = pytest.importorskip("transformers")
    for folder in sorted(multilingual.parent.iterdir()):
        theirs = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False)
        ours = AutoTokenizer.from_pretrained(folder, use_fast=False)
        assert type(ours).__name__ == type(theirs).__name__
        assert ours(SENTENCE, SENTENCE) == dict(theirs(SENTENCE, SENTENCE))
