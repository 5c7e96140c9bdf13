"""Trained byte-pair encodings as tokenizers: loading, calls, added tokens, saving, what they
refuse.
"""

from __future__ import annotations

import copy
import json
import pathlib
import pickle

import pytest

from trietok import (
    AutoTokenizer,
    BertTokenizerFast,
    Bpe,
    ChineseBpeTokenizer,
    FileError,
    FileFormatError,
    NotSupportedError,
    PreTrainedTokenizerFast,
    VocabularyError,
    check,
    train_bpe,
    train_chinese_bpe,
)
from trietok.training import save_chinese_bpe

TEXTS = ["low lower lowest, newer newest!", "caf\u00e9 au lait", "wide wider widest"]


@pytest.fixture
def directory(tmp_path) -> pathlib.Path:
    bpe = train_bpe(TEXTS, vocab_size=60, unk_token="<unk>", special_tokens=["<pad>", "<mask>"])
    bpe.save(tmp_path / "bpe", do_lower_case=False)
    return tmp_path / "bpe"


def test_a_bpe_directory_is_a_tokenizer(directory):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    assert isinstance(tokenizer, PreTrainedTokenizerFast)
    assert tokenizer.is_fast
    bpe = Bpe.from_directory(directory)
    assert tokenizer.tokenize("lowest newer") == [*bpe.tokenize("lowest"), *bpe.tokenize("newer")]
    assert (tokenizer.unk_token, tokenizer.pad_token, tokenizer.mask_token) == (
        "<unk>",
        "<pad>",
        "<mask>",
    )
    assert tokenizer.cls_token is None
    assert tokenizer.tokenize("low<mask> \u2603") == ["low", "<mask>", "<unk>"]
    result = tokenizer(["low", "lowest \u2603"], padding=True, return_offsets_mapping=True)
    assert result.input_ids[0][1:] == [tokenizer.pad_token_id] * (len(result.input_ids[1]) - 1)
    assert result.offset_mapping[1][-1] == (7, 8)
    assert tokenizer.decode(tokenizer.encode("low")) == "low"
    assert tokenizer.encode("<mask>", split_special_tokens=True) != [tokenizer.mask_token_id]
    assert tokenizer.encode("low", "low", truncation=True, max_length=1) == tokenizer.encode("low")


def test_composed_words_and_their_spans(directory):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    plain, composed = "caf\u00e9 au", "cafe\u0301 au"
    assert tokenizer.encode(composed) == tokenizer.encode(plain)
    offsets = tokenizer(composed, return_offsets_mapping=True).offset_mapping
    assert offsets[-1] == (6, 8)


def test_characters_that_are_left_out_have_places(tmp_path):
    train_bpe(TEXTS, vocab_size=60).save(tmp_path, do_lower_case=False)
    result = AutoTokenizer.from_pretrained(tmp_path)(
        "x\u2603low \u2603 lo\u2603w", return_offsets_mapping=True
    )
    assert result.tokens() == ["low", "low"]
    assert result.offset_mapping == [(2, 5), (8, 12)]
    assert result.word_ids() == [0, 1]


def test_changes_are_saved(directory, tmp_path):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    assert tokenizer.add_tokens(["covid-19"]) == 1
    assert tokenizer.add_special_tokens({"sep_token": "<sep>"}) == 1
    tokenizer.save_pretrained(tmp_path / "saved")
    config = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    assert config["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert "do_lower_case" not in config
    again = AutoTokenizer.from_pretrained(tmp_path / "saved")
    text = "covid-19 lowest<sep>caf\u00e9"
    assert again.encode(text) == tokenizer.encode(text) == copy.deepcopy(tokenizer).encode(text)
    assert pickle.loads(pickle.dumps(tokenizer)).encode(text) == tokenizer.encode(text)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again.sep_token == "<sep>"
    files = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert files == sorted(
        "added_tokens.json merges.txt special_tokens_map.json tokenizer.json tokenizer_config.json"
        " vocab.json".split()
    )
    for name in ("vocab.json", "merges.txt"):
        assert (tmp_path / "saved" / name).read_bytes() == (directory / name).read_bytes()


def test_a_vocabulary_with_merges_does_not_change(directory):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    before = tokenizer.encode(TEXTS[0])
    for change in (
        lambda: tokenizer.add_wordpieces(["zo"]),
        lambda: tokenizer.keep_only(range(20)),
        lambda: tokenizer.train_new_from_iterator([["low"]], 30),
        lambda: setattr(tokenizer, "vocab", {"<unk>": 0}),
        lambda: tokenizer.explain("low"),
    ):
        with pytest.raises(NotSupportedError):
            change()
    assert tokenizer.encode(TEXTS[0]) == before


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("normalizer", {"type": "NFKC"}, "NFKC"),
        ("pre_tokenizer", {"type": "Whitespace"}, "Whitespace"),
        ("model.dropout", 0.1, "dropout"),
        ("model.byte_fallback", True, "byte_fallback"),
        ("model.merges", [["l"]], "list of two tokens"),
        ("model.merges", [["l", "missing"]], "missing"),
        ("model.unk_token", "<other>", "<other>"),
        ("decoder", {"type": "ByteLevel"}, "ByteLevel"),
    ],
)
def test_what_it_does_not_do_is_an_error(directory, key, value, message):
    path = directory / "tokenizer.json"
    content = json.loads(path.read_text())
    place = content
    *parents, last = key.split(".")
    for name in parents:
        place = place[name]
    place[last] = value
    path.write_text(json.dumps(content))
    with pytest.raises(FileFormatError, match=message):
        PreTrainedTokenizerFast(tokenizer_file=path)
    with pytest.raises((FileError, FileFormatError, VocabularyError), match=message):
        AutoTokenizer.from_pretrained(directory)
    assert not check(directory).ok


def test_a_wordpiece_file_is_named_as_such(tmp_path):
    BertTokenizerFast.from_pretrained("trietok-en").save_pretrained(tmp_path)
    with pytest.raises(FileFormatError, match="BertTokenizerFast loads it"):
        PreTrainedTokenizerFast(tokenizer_file=tmp_path / "tokenizer.json")


# ---- the Chinese recipe --------------------------------------------------------------------------


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


def test_a_directory_of_another_kind(directory, recipe):
    with pytest.raises(FileFormatError, match=r"tokenizer.json is no vocab.txt"):
        ChineseBpeTokenizer(directory / "tokenizer.json")
    with pytest.raises(FileError, match=r"has no vocab.txt, which ChineseBpeTokenizer needs"):
        ChineseBpeTokenizer.from_pretrained(directory)
    with pytest.raises(
        FileError, match=r"has no tokenizer.json, which PreTrainedTokenizerFast needs"
    ):
        PreTrainedTokenizerFast.from_pretrained(recipe)


def test_the_unknown_token_of_bert(recipe):
    path = recipe / "vocab.txt"
    path.write_text(path.read_text(encoding="utf-8").replace("<unk>", "[UNK]"), encoding="utf-8")
    tokenizer = ChineseBpeTokenizer.from_pretrained(recipe)
    assert tokenizer.tokenize("处处大") == ["处处", "[UNK]"]
    assert tokenizer.encode("大") == [0]
