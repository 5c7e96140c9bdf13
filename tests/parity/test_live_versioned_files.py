"""`fast_tokenizer_files` of tokenizer_config.json: which tokenizer.json each library reads."""

from __future__ import annotations

import json
import random
import shutil

import pytest
import transformers
import transformers.tokenization_utils_base as base

import trietok
from trietok.files.load import fast_file_of

NAMES = [
    "tokenizer.json",
    "tokenizer.4.0.0.json",
    "tokenizer.4.57.6.json",
    "tokenizer.4.57.7.json",
    "tokenizer.5.0.json",
]


def test_the_file_is_the_one_that_transformers_chooses():
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    ends = ["", ".0", "rc1", ".dev0", ".post1", "+local", "a1.post2", "-1", "b2.dev3"]
    for _ in range(2_000):
        versions = [
            draw.choice("3.9 4 4.0 4.9 4.10.0 4.57 4.57.5 4.57.6 4.57.6.0 4.58 5 1!1".split())
            + draw.choice(ends)
            for _ in range(draw.randrange(4))
        ]
        names = [f"tokenizer.{version}.json" for version in versions] + draw.sample(
            ["tokenizer.json", "x"], 1
        )
        assert fast_file_of(names, "c") == base.get_fast_tokenizer_file(names), (seed, names)


@pytest.mark.parametrize("kinds", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize(
    "listed", [["tokenizer.4.0.0.json"], NAMES, NAMES[3:], ["tokenizer.4.1.0.json"], []]
)
def test_both_libraries_read_the_same_file(tmp_path, kinds, listed):
    entries = "[PAD] [UNK] [CLS] [SEP] [MASK] a b c d e".split()
    for number, name in enumerate(NAMES):  # the vocabulary of each has other ids
        (tmp_path / "vocab.txt").write_text(
            "\n".join(entries[:5] + entries[5 + number :] + entries[5 : 5 + number])
        )
        trietok.BertTokenizerFast(tmp_path / "vocab.txt").save_pretrained(tmp_path / name)
        shutil.move(tmp_path / name / "tokenizer.json", tmp_path / f"{name}.new")
        shutil.rmtree(tmp_path / name)
        shutil.move(tmp_path / f"{name}.new", tmp_path / name)
    config = {"tokenizer_class": "BertTokenizer", "fast_tokenizer_files": listed}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ours, theirs = (
        getattr(library, kinds).from_pretrained(tmp_path) for library in (trietok, transformers)
    )
    assert ours("a b c d e").input_ids == theirs("a b c d e").input_ids
    # What is saved has one tokenizer.json, and says no more of others.
    ours.save_pretrained(tmp_path / "saved")
    again = getattr(trietok, kinds).from_pretrained(tmp_path / "saved")
    assert again("a b c d e").input_ids == ours("a b c d e").input_ids
    named = fast_file_of(listed, "c") != "tokenizer.json"
    found = [finding.code for finding in trietok.check(tmp_path).findings]
    assert ("tokenizer-json-version" in found) == named


@pytest.mark.parametrize(
    "listed", ["tokenizer.4.0.0.json", ["../tokenizer.4.0.0.json"], [4], ["tokenizer.x.json"]]
)
def test_no_path_and_no_other_value_is_followed(tmp_path, listed):
    (tmp_path / "vocab.txt").write_text("[UNK]\na\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"fast_tokenizer_files": listed}))
    with pytest.raises(trietok.FileFormatError, match="fast_tokenizer_files"):
        trietok.BertTokenizerFast.from_pretrained(tmp_path)
    assert "wrong-shape" in {finding.code for finding in trietok.check(tmp_path).findings}
