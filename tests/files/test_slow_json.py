"""A tokenizer.json beside the files of a slow tokenizer: what it says, and what it cannot say."""

from __future__ import annotations

import json
import logging

import pytest

import trietok
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, InputError, NotSupportedError, VocabularyError
from trietok.tokenizer_json import read_tokenizer_json


class Shouting(BertTokenizer):
    """A stage of its own."""

    def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
        return text.upper(), kwargs


def test_both_profiles_load_what_is_saved(small, tmp_path):
    tokenizer = small("a", "new", "york")
    tokenizer.add_tokens(["New York", AddedToken("<m>", lstrip=True)])
    files = tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)
    assert str(tmp_path / "saved" / "tokenizer.json") in files
    fast = trietok.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert type(fast) is BertTokenizerFast
    for pair in (("a New York <m>",), ("a", "new york [SEP]")):
        assert fast(*pair).data == tokenizer(*pair).data
    again = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert again.fingerprint() == tokenizer.fingerprint()


def test_the_options_and_the_template(vocab_file, tmp_path):
    roles = ["<s>", "</s>", "<pad>", "<mask>"]
    options = {"do_lower_case": False, "strip_accents": True, "tokenize_chinese_chars": False}
    tokenizer = trietok.MPNetTokenizer(vocab_file("[UNK]", "a", special=roles), **options)
    tokenizer.save_pretrained(tmp_path, tokenizer_json=True)
    said = read_tokenizer_json(tmp_path / "tokenizer.json")
    assert (said.normalizer.lowercase, said.normalizer.strip_accents) == (False, True)
    assert (said.normalizer.handle_chinese_chars, said.normalizer.clean_text) == (False, True)
    around = [(piece.sequence, piece.type_id) for piece in said.pieces(pair=True)]
    assert around == [(None, 0), (0, 0), (None, 0), (None, 0), (1, 0), (None, 0)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"do_basic_tokenize": False}, "do_basic_tokenize=False"),
        ({"never_split": ["x", "a-b"]}, r"never_split \('a-b', 'x'\)"),
        ({"split_special_tokens": True}, "split_special_tokens=True"),
        ({"cls_token": None}, "cls_token None"),
        ({"additional_special_tokens": ["<e>"]}, "special token '<e>', which here is found in '<E>' too"),
    ],
)
def test_what_cannot_be_said(small, tmp_path, options, message):
    tokenizer = small("a", **options)
    with pytest.raises(NotSupportedError, match=message):
        tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)
    assert not (tmp_path / "saved" / "vocab.txt").exists()
    tokenizer.save_pretrained(tmp_path / "saved")


def test_everything_that_cannot_be_said_is_named_at_once(small, tmp_path):
    tokenizer = small("a", never_split=["x"])
    tokenizer.basic_tokenizer.do_split_on_punc = False
    tokenizer.add_tokens(["é"])
    with pytest.raises(NotSupportedError, match=r"never_split.*; do_split_on_punc=False; the added token 'é', which"):
        tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)


def test_a_special_token_that_is_normalized_can_be_said(small, tmp_path):
    tokenizer = small("a")
    tokenizer.add_special_tokens({"eos_token": AddedToken("<e>", normalized=True)})
    tokenizer.save_pretrained(tmp_path, tokenizer_json=True)
    read = BertTokenizerFast(tokenizer_file=tmp_path / "tokenizer.json")
    assert read.encode("<E><e>") == tokenizer.encode("<E><e>")


def test_stages_of_ones_own_cannot_be_said(vocab_file, tmp_path):
    with pytest.raises(NotSupportedError, match="stages of its own"):
        Shouting(vocab_file("A")).save_pretrained(tmp_path / "saved", tokenizer_json=True)


def test_ids_that_the_file_cannot_keep(small, tmp_path):
    tokenizer = small("a", "b", "a")
    tokenizer.add_tokens(["new"])
    with pytest.raises(VocabularyError, match="the Rust tokenizer would give it"):
        tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)


def test_other_classes(small, tmp_path):
    class Letters(trietok.PreTrainedTokenizer):
        vocab_size = 1

        def get_vocab(self):
            return {"a": 0, **self.added_tokens_encoder}

        def save_vocabulary(self, save_directory, filename_prefix=None):
            return ()

    with pytest.raises(NotSupportedError, match=r"a Letters has no tokenizer\.json"):
        Letters().save_pretrained(tmp_path / "letters", tokenizer_json=True)
    with pytest.raises(InputError, match="tokenizer_json=True"):
        small("a").save_pretrained(tmp_path / "saved", legacy_format=False)


def test_the_fast_profile_writes_it_anyway(vocab_file, tmp_path):
    tokenizer = BertTokenizerFast(vocab_file("a"))
    tokenizer.save_pretrained(tmp_path / "one")
    tokenizer.save_pretrained(tmp_path / "two", tokenizer_json=True, legacy_format=True)
    one, two = (json.loads((tmp_path / name / "tokenizer.json").read_text()) for name in ("one", "two"))
    assert one == two


def test_a_tokenizer_json_that_a_slow_save_leaves_with_other_ids_is_warned_of_once(small, tmp_path, caplog):
    tokenizer = small("hello", "world")
    tokenizer.save_pretrained(tmp_path / "model", tokenizer_json=True)
    path = tmp_path / "model" / "tokenizer.json"
    before = path.read_bytes()
    with caplog.at_level(logging.WARNING, "trietok"):
        tokenizer.save_pretrained(tmp_path / "model")
        assert not caplog.records  # it says the same
        tokenizer.add_tokens(["<x>"])
        for _ in range(2):
            tokenizer.save_pretrained(tmp_path / "model")
        assert [record.getMessage() for record in caplog.records] == [
            f"{path} is kept as it was, and differs from what is saved in 1 token, '<x>' the first: fast classes and "
            "the package tokenizers read it; save with tokenizer_json=True to write it anew, or remove it"
        ]
        assert path.read_bytes() == before
        again = type(tokenizer).from_pretrained(tmp_path / "model")
        again.save_pretrained(tmp_path / "model", tokenizer_json=True)
        path.write_text("{}")
        again.save_pretrained(tmp_path / "model")  # not to be read, and not what is saved here
    assert len(caplog.records) == 1
