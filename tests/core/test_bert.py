"""`BertTokenizer`: special tokens, settings, copies."""

from __future__ import annotations

import copy
import pickle

import pytest

from trietok import AddedToken, BertTokenizer, SpecialTokenError

UNK, CLS, SEP, A, B, C = 1, 2, 3, 5, 6, 7


@pytest.fixture
def abc(kernel, small):
    return small("a", "b", "c")


def test_special_tokens_and_their_ids_are_set_by_attributes(abc):
    assert (abc.cls_token, abc.cls_token_id) == ("[CLS]", CLS)
    assert abc.bos_token is abc.bos_token_id is None
    abc.bos_token = "a"
    assert abc.bos_token_id == A
    abc.eos_token_id = B
    assert abc.eos_token == "b"
    abc.additional_special_tokens = ["c"]
    assert abc.additional_special_tokens_ids == [C]
    assert abc.special_tokens_map["bos_token"] == "a"
    assert abc.all_special_tokens == ["a", "b", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", "c"]
    abc.cls_token = "a"
    assert abc.encode("b") == [A, B, SEP]


def test_special_tokens_that_the_vocabulary_lacks_are_added(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", special=["[UNK]"]))
    assert tokenizer.tokenize("[CLS] a") == ["[CLS]", "a"]
    assert (tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.cls_token_id) == (2, 3, 4)


def test_extra_special_tokens_have_attributes_or_are_additional(small):
    tokenizer = small("a", extra_special_tokens={"image_token": "<image>"})
    assert tokenizer.image_token == "<image>"
    assert tokenizer.image_token_id == tokenizer.max_id
    assert "<image>" in tokenizer.all_special_tokens
    assert small("a", extra_special_tokens=["<x>"]).additional_special_tokens == ["<x>"]


def test_additional_special_tokens_of_none_are_an_empty_list(small):
    tokenizer = small("a", additional_special_tokens=["<x>"])
    tokenizer.additional_special_tokens = None
    assert tokenizer.additional_special_tokens == tokenizer.additional_special_tokens_ids == []
    tokenizer.add_tokens(["<y>"], special_tokens=True)
    assert tokenizer.additional_special_tokens == ["<y>"]


def test_a_special_token_that_is_refused_adds_none_of_the_others(abc):
    for bad in ({"no_token": "x"}, {"cls_token": 5}, {"additional_special_tokens": "x"}):
        with pytest.raises(SpecialTokenError):
            abc.add_special_tokens({"bos_token": "<s>", **bad})
        assert abc.bos_token is None
        assert len(abc) == 8


def test_without_basic_tokenization_words_are_cut_at_whitespace_only(vocab_file):
    tokenizer = BertTokenizer(vocab_file("A", "a,"), do_basic_tokenize=False)
    assert tokenizer.tokenize("A a,  a") == ["A", "a,", "[UNK]"]
    assert not hasattr(tokenizer, "do_lower_case")


def test_words_of_never_split_stay_whole(small):
    tokenizer = small("a.b", "a", ".", "b", never_split=["a.b", "c.d"])
    assert tokenizer.tokenize("a.b A.B c.d") == ["a.b", "a.b", "c.d"]


def test_special_tokens_in_a_text_are_text_with_split_special_tokens(kernel, small):
    tokenizer = small("[", "]", "cls", "##]")
    as_text = ["[UNK]", "[", "cls", "]"]
    assert tokenizer.tokenize("x[CLS]", split_special_tokens=True) == as_text
    assert tokenizer("x[CLS]", split_special_tokens=True).input_ids[1:-1] == [UNK, 5, 7, 6]
    assert tokenizer(["x[CLS]"], split_special_tokens=True).input_ids[0][1:-1] == [UNK, 5, 7, 6]
    tokenizer.split_special_tokens = True
    assert tokenizer.tokenize("x[CLS]") == as_text


def test_copies_and_pickles_are_alike_and_independent(kernel, small):
    tokenizer = small("a", "##b", additional_special_tokens=[AddedToken("<x>", lstrip=True)])
    tokenizer.add_tokens(["<y>"])
    assert list(tokenizer.added_tokens_encoder)[-1] == "<y>"  # a view, which cannot be pickled
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert other("ab <x><y>") == tokenizer("ab <x><y>")
        assert repr(other) == repr(tokenizer)
        other.add_tokens(["<z>"])
        assert "<z>" not in tokenizer.get_vocab()


def test_repr_shows_the_settings(abc):
    assert repr(abc).startswith("BertTokenizer(name_or_path='', vocab_size=8, model_max_length=")
    assert '\t2: AddedToken("[CLS]", rstrip=False' in repr(abc)
