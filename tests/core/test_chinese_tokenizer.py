"""`ChineseBpeTokenizer`: loading, calls, saving, what it refuses."""

from __future__ import annotations

import pytest

from trietok import (
    AutoTokenizer,
    ChineseBpeTokenizer,
    FileError,
    FileFormatError,
    NotSupportedError,
    train_bpe,
    train_chinese_bpe,
)
from trietok.training import save_chinese_bpe

SPECIAL = {"pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


@pytest.fixture
def recipe(tmp_path):
    """The path of a trained vocabulary."""
    trained = train_chinese_bpe(["处处闻啼鸟", "处处风雨声", "夜来风雨声。"])
    save_chinese_bpe(trained, tmp_path / "recipe")
    return tmp_path / "recipe"


def test_the_longest_token_is_cut_first_and_a_save_is_loaded(recipe, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(recipe, pad_token="[PAD]", cls_token="[CLS]")
    tokens = ["<unk>", "处处", "风雨声", "[PAD]", "鸟", "。"]
    assert tokenizer.tokenize("大 处处风 雨声[PAD]鸟。") == tokens
    assert tokenizer.unk_token_id == 0
    last = len(tokenizer) - 1
    assert {tokenizer.pad_token_id, tokenizer.cls_token_id} == {last, last - 1}
    assert tokenizer(["处处", "鸟大鸟"], padding=True).input_ids[0][-1] == tokenizer.pad_token_id
    assert tokenizer.count(["处处", "鸟大鸟"]) == [1, 3]
    assert tokenizer.decode(tokenizer.encode("处处 风雨声")) == "处处风雨声"
    with pytest.raises(NotSupportedError):
        tokenizer.chunks("处处", 1)
    tokenizer.save_pretrained(tmp_path / "saved")
    again = AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert isinstance(again, ChineseBpeTokenizer)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again.encode("[CLS]夜来") == tokenizer.encode("[CLS]夜来")


def test_ids_are_those_of_the_tokens_and_of_a_class_with_an_overridden_hook(recipe):
    class Overridden(ChineseBpeTokenizer):
        def _tokenize(self, text, **kwargs):
            return super()._tokenize(text)

    plain = AutoTokenizer.from_pretrained(recipe, **SPECIAL)
    overridden = Overridden.from_pretrained(recipe, **SPECIAL)
    for tokenizer in (plain, overridden):
        tokenizer.add_tokens(["夜 来", "x"])
    texts = ["处处 [SEP]x夜 来风\0雨\t声\ud800鸟", "", "<unk>大。", "夜\n来"]
    for asked in ({}, {"split_special_tokens": True}):
        assert dict(plain(texts, texts, **asked)) == dict(overridden(texts, texts, **asked))
        assert plain(texts, **asked).input_ids == [plain.encode(text, **asked) for text in texts]
        for text in texts:
            ids = plain.convert_tokens_to_ids(plain.tokenize(text, **asked))
            assert plain.encode(text, **asked) == overridden.encode(text, **asked) == ids


def test_a_directory_of_another_kind_is_refused(tmp_path):
    train_bpe(["low lower lowest"], vocab_size=12).save(tmp_path)
    with pytest.raises(FileFormatError):
        ChineseBpeTokenizer(tmp_path / "tokenizer.json")
    with pytest.raises(FileError):
        ChineseBpeTokenizer.from_pretrained(tmp_path)


def test_the_unknown_token_may_be_that_of_bert(recipe):
    path = recipe / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("<unk>", "[UNK]"), encoding="utf-8")
    tokenizer = ChineseBpeTokenizer.from_pretrained(recipe)
    assert tokenizer.tokenize("处处大") == ["处处", "[UNK]"]
    assert tokenizer.encode("大") == [0]
