"""A user's mistake is an error of trietok's own, for both tokenizers, and changes nothing."""

from __future__ import annotations

import os

import pytest

import trietok  # noqa: F401  # in MISTAKES
from trietok import BertTokenizer, BertTokenizerFast, TrietokError

# What a user may write, with `t` for the tokenizer, `K` for its class and `empty` for a directory
# without files.
MISTAKES = """
t(123)
t(None)
t([None])
t([1, 2])
t([])
t(["a", 1])
t([["a", "b", "c"]])
t(["a"], ["b", "c"])
t(["a"], "b")
t(["a"], max_lenght=4)
t("a", padding="longes")
t("a", truncation="yes")
t("a", max_length=-1)
t("the people", max_length=1, truncation=True)
t("a", return_tensors="tf")
t("a", pad_to_max_length=True)
t("a", padding=True, pad_to_multiple_of=0)
t("a", max_length="4")
t(["a", "a b c"], return_tensors="np").convert_to_tensors("tf")
t(["a", "a b"], padding=True, padding_side="lft")
t("the people say it", max_length=4, truncation=True, stride=-1, return_overflowing_tokens=True)
t("a").inputs_ids
t("a").char_to_token(-1)
t.encode(1)
t.encode([])
t.encode(["a", 1])
t.encode("a", padding="x")
t.encode("a", return_tensors="tf")
t.encode_plus(5)
t.batch_encode_plus([5])
t.batch_encode_plus([])
t.prepare_for_model([1], return_offsets_mapping=True)
t.explain(["a"])
t.explain("a", max_lenght=3)
t.tokenize(1)
t.tokenize("a", foo=1)
t.decode("a")
t.decode(None)
t.decode([-100])
t.decode([[1]])
t.decode([1], skip_special=True)
t.batch_decode([[10**9]])
t.convert_ids_to_tokens([1.5])
t.convert_ids_to_tokens([10**9])
t.convert_tokens_to_ids(5)
t.pad([{"ids": [1]}])
t.pad([{"input_ids": [1]}], padding="x")
t.pad({"input_ids": ["a"]})
t.pad({"input_ids": [[1]]}, return_tensors="tf")
t.add_tokens([5])
t.add_tokens([""])
t.add_tokens(["x"], lstrip=True)
t.add_special_tokens({"foo": "x"})
t.add_special_tokens({"pad_token": None})
t.add_wordpieces(["a b"])
t.keep_only([1])
t.remove_tokens(["nope"])
t.remove_tokens(["[CLS]"])
t.assign_unused("the", "x")
t.keep_only([10**9])
t.save_pretrained(__file__)
t.save_vocabulary(empty + "/no/such")
t.pad_tokn
t.push_to_hub("x")
setattr(t, "pad_token", 5)
setattr(t, "cache_limit", -1)
K.from_pretrained(empty + "/no/such")
K.from_pretrained(empty)
K.from_pretrained(5)
K.from_pretrained("trietok-en", padding_side="x")
K.from_pretrained("trietok-en", pad_token=5)
K.from_pretrained("trietok-en", chat_template=3)
K.from_pretrained("trietok-en", chat_template={"a": 1})
K(empty + "/vocab.txt")
K(None)
trietok.AutoTokenizer.from_pretrained(empty)
trietok.load_vocab(empty + "/vocab.txt")
""".strip().splitlines()


@pytest.mark.parametrize("code", MISTAKES)
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_mistake_is_an_error_of_trietok(tmp_path, kind, code):
    tokenizer = kind.from_pretrained("trietok-en")
    before = tokenizer.fingerprint()
    with pytest.raises((TrietokError, AttributeError)):
        eval(code, {**globals(), "t": tokenizer, "K": kind, "empty": str(tmp_path)})
    assert tokenizer.fingerprint() == before
    assert os.listdir(tmp_path) == []
