"""`ChineseBpeTokenizer`: loading, calls, saving, what it refuses."""

from __future__ import annotations

import pathlib

import pytest

from trietok import (
    AutoTokenizer,
    ChineseBpeTokenizer,
    FileError,
    FileFormatError,
    train_bpe,
    train_chinese_bpe,
)
from trietok.training import save_chinese_bpe


@pytest.fixture
def recipe(tmp_path) -> pathlib.Path:
    save_chinese_bpe(
        train_chinese_bpe(["处处闻啼鸟", "处处风雨声", "夜来风雨声。"]), tmp_path / "recipe"
    )
    return tmp_path / "recipe"


def test_the_recipe_cuts_the_longest_token_first(recipe, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(recipe, pad_token="[PAD]", cls_token="[CLS]")
    assert isinstance(tokenizer, ChineseBpeTokenizer)
    assert tokenizer.tokenize("大 处处风 雨声[PAD]鸟。") == [
        "<unk>",
        "处处",
        "风雨声",
        "[PAD]",
        "鸟",
        "。",
    ]
    assert tokenizer.unk_token_id == 0
    assert {tokenizer.pad_token_id, tokenizer.cls_token_id} == {
        len(tokenizer) - 1,
        len(tokenizer) - 2,
    }
    assert tokenizer(["处处", "鸟大鸟"], padding=True).input_ids[0][-1] == tokenizer.pad_token_id
    assert tokenizer.decode(tokenizer.encode("处处 风雨声")) == "处处风雨声"
    tokenizer.save_pretrained(tmp_path / "saved")
    again = AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert isinstance(again, ChineseBpeTokenizer)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again.encode("[CLS]夜来") == tokenizer.encode("[CLS]夜来")


def test_ids_are_those_of_the_tokens(recipe):
    """Whether a user has replaced a method, and tokens are made first, or not."""
    tokenizer = AutoTokenizer.from_pretrained(
        recipe, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    tokenizer.add_tokens(["夜 来", "x"])

    class ByTokens(ChineseBpeTokenizer):
        def _tokenize(self, text, **kwargs):
            return super()._tokenize(text)

    by_tokens = ByTokens.from_pretrained(
        recipe, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    by_tokens.add_tokens(["夜 来", "x"])
    texts = ["处处 [SEP]x夜 来风\0雨\t声\ud800鸟", "", "<unk>大。", "夜\n来"]
    for asked in ({}, {"split_special_tokens": True}):
        assert dict(tokenizer(texts, texts, **asked)) == dict(by_tokens(texts, texts, **asked))
        assert [tokenizer.encode(text, **asked) for text in texts] == tokenizer(
            texts, **asked
        ).input_ids
        for text in texts:
            ids = tokenizer.convert_tokens_to_ids(tokenizer.tokenize(text, **asked))
            assert tokenizer.encode(text, **asked) == by_tokens.encode(text, **asked) == ids
    encoded = tokenizer(texts, padding=True)
    assert {len(row) for rows in encoded.values() for row in rows} == {
        max(map(len, tokenizer(texts).input_ids))
    }


def test_a_directory_of_another_kind(tmp_path):
    train_bpe(["low lower lowest"], vocab_size=12).save(tmp_path)
    with pytest.raises(FileFormatError):
        ChineseBpeTokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(FileError):
        ChineseBpeTokenizer.from_pretrained(tmp_path)


def test_the_unknown_token_of_bert(recipe):
    path = recipe / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("<unk>", "[UNK]"), encoding="utf-8")
    tokenizer = ChineseBpeTokenizer.from_pretrained(recipe)
    assert tokenizer.tokenize("处处大") == ["处处", "[UNK]"]
    assert tokenizer.encode("大") == [0]
