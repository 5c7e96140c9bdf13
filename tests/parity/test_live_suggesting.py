"""Suggestions added and saved: transformers loads the directory and gives the same ids."""

from __future__ import annotations

import pytest
import transformers

import trietok

TEXTS = [
    "Covid spreads; the covid-vaccines help, COVID!",
    "Long covid is real, and Covidien is a company.",
    "Vaccines of mRNA; mRNA vaccines against cövid",
    "東京 and 東京都 for 100€, mRNA²",
]


def added_and_saved(directory, adding: str, number: int) -> trietok.BertTokenizer:
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens(["covid-vaccines"])
    found = trietok.suggest_tokens(tokenizer, TEXTS, min_frequency=1, way=adding)
    assert len(trietok.add_terms(tokenizer, found).added) >= number
    tokenizer.save_pretrained(directory)
    return tokenizer


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
def test_entries(tmp_path, kind):
    ours = added_and_saved(tmp_path, "wordpiece", number=10)
    theirs = getattr(transformers, kind).from_pretrained(tmp_path)
    for text in TEXTS:
        assert theirs(text)["input_ids"] == ours(text)["input_ids"]


def test_single_words(tmp_path):
    """The fast one gives the same ids, but strips accents before it looks; the slow one looks for
    spaces only.
    """
    ours = added_and_saved(tmp_path, "single-word", number=4)
    theirs = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    for text in TEXTS:
        text = text.replace("ö", "o")
        assert theirs(text)["input_ids"] == ours(text)["input_ids"]
    assert "covid" in theirs.tokenize("cövid")
    assert "covid" not in ours.tokenize("cövid")
    slow = transformers.BertTokenizer.from_pretrained(tmp_path)
    assert "covid" in ours.tokenize("covid, too")
    assert "covid" not in slow.tokenize("covid, too")
