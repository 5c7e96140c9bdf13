"""Counts of tokens, and chunks of a text that have at most so many."""

from __future__ import annotations

import pytest

from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    Chunk,
    InputError,
    SpecialTokenError,
)

TOKENS = "a b ##b big dog ran far . ! ' s 世 界 。 「 」 -".split()


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, kernel, vocab_file):
    return request.param(vocab_file(*TOKENS))


def cut(tokenizer, text, most, **how):
    return [chunk.text for chunk in tokenizer.chunks(text, most, add_special_tokens=False, **how)]


@pytest.mark.parametrize(
    ("arguments", "options", "count"),
    [
        (["a big dog."], {}, 6),
        (["a big dog."], {"add_special_tokens": False}, 4),
        ([["a big dog.", "", "a"]], {}, [6, 2, 3]),
        (["a big dog.", "a"], {}, 8),
        ([["a", "b"], ["a b", "b"]], {}, [6, 5]),
        ([[("a", "b"), ("a", "a big")]], {}, [5, 6]),
        ([["abb", "dog"]], {"is_split_into_words": True}, 6),
        (["a [SEP]"], {"split_special_tokens": True}, 6),
    ],
)
def test_a_count_is_the_number_of_ids_of_a_call(tokenizer, arguments, options, count):
    if not tokenizer.is_fast and "split_special_tokens" in options:
        count = 4  # by itself it is a word that the slow class keeps whole
    assert tokenizer.count(*arguments, **options) == count
    ids = tokenizer(*arguments, **options).input_ids
    assert count == ([*map(len, ids)] if isinstance(count, list) else len(ids))


def test_counts_follow_changes_of_the_tokenizer_and_truncate_nothing(tokenizer):
    tokenizer.model_max_length = 4
    assert tokenizer.count("big dog ran") == 5
    tokenizer.add_tokens(["big dog", AddedToken("ran", lstrip=True)])
    assert tokenizer.count("big dog ran") == 4
    assert tokenizer.count(["big dog", "dog big"]) == [3, 4]
    assert tokenizer.count("big dog " * 4000) == 4002
    if not tokenizer.is_fast:
        tokenizer.cls_token = None
        with pytest.raises(SpecialTokenError):
            tokenizer.count("a")
    assert tokenizer.count("a", add_special_tokens=False) == 1


@pytest.mark.parametrize(
    ("text", "most", "at", "want"),
    [
        ("", 2, "word", []),
        ("  ", 2, "word", ["  "]),
        ("big dog ran", 2, "word", ["big dog ", "ran"]),
        (" big  dog\n ran ", 2, "word", [" big  dog\n ", "ran "]),
        ("a dog. a dog ran far.", 5, "word", ["a dog. a dog ", "ran far."]),
        ("a dog ran far. dog", 4, "word", ["a dog ran ", "far. dog"]),  # a sign stays with its word
        ("a dog. a dog ran far.", 5, "sentence", ["a dog. ", "a dog ran far."]),
        ("a dog.\na dog ran far", 4, "sentence", ["a dog.\n", "a dog ran far"]),
        ("a dog\na dog ran", 4, "sentence", ["a dog\n", "a dog ran"]),
        ("a dog. ran far far far", 4, "sentence", ["a dog. ", "ran far far far"]),
        # no end of a sentence: no space follows
        ("a a a a dog.a", 4, "sentence", ["a a a a ", "dog.a"]),
        ("a 'dog.' ran", 5, "sentence", ["a 'dog.' ", "ran"]),
        ("abb b", 2, "word", ["ab", "b b"]),  # a word with three tokens
        ("a-b a-b", 4, "word", ["a-b ", "a-b"]),
        ("a-bb-a", 3, "word", ["a-", "bb-", "a"]),  # too long: beside a sign
        ("世界。世界", 4, "word", ["世界。世", "界"]),
        ("世界。世界", 2, "word", ["世", "界。", "世界"]),  # no chunk begins with a full stop
        ("世界。世界", 4, "sentence", ["世界。", "世界"]),
        ("「世界。」世", 5, "sentence", ["「世界。」", "世"]),
        ("a-b a-b", 4, None, ["a-b a", "-b"]),
        ("abb abb", 5, None, ["abb ab", "b"]),
    ],
)
def test_a_text_is_cut_as_in_the_example(tokenizer, text, most, at, want):
    assert cut(tokenizer, text, most, at=at) == want


def test_a_chunk_has_its_place_and_counts_special_tokens(tokenizer):
    chunks = [Chunk("big dog ", 0, 8, 4), Chunk("ran", 8, 11, 3)]
    assert tokenizer.chunks("big dog ran", 4) == chunks
    tokenizer.model_max_length = 4
    assert tokenizer.chunks("big dog ran") == chunks


@pytest.mark.parametrize(
    ("text", "most", "how", "want"),
    [
        ("a big dog ran far", 3, {"overlap": 1}, "a big dog |dog ran far"),
        ("a big dog ran far", 3, {"overlap": 2}, "a big dog |big dog ran |dog ran far"),
        ("a abb big dog", 4, {"overlap": 2}, "a abb |big dog"),  # half of a word is not repeated
        ("a abb abb", 4, {"overlap": 1}, "a abb |abb"),
        ("a abb abb", 4, {"overlap": 1, "at": None}, "a abb |b abb"),
        (
            "big dog. a dog ran far.",
            5,
            {"overlap": 3, "at": "sentence"},
            "big dog. |a dog ran far.",  # there is no room for it
        ),
        ("dog. big. ran.", 4, {"overlap": 2, "at": "sentence"}, "dog. big. |big. ran."),
    ],
)
def test_chunks_overlap_in_whole_words_and_sentences(tokenizer, text, most, how, want):
    assert cut(tokenizer, text, most, **how) == want.split("|")


def test_added_and_special_tokens_are_not_cut(tokenizer):
    tokenizer.add_tokens(["big dog", AddedToken("<x>", lstrip=True, rstrip=True)])
    assert cut(tokenizer, "a big dog ran", 1) == ["a ", "big dog ", "ran"]
    assert "".join(cut(tokenizer, "a  <x>  b <x>", 1)) == "a  <x>  b <x>"
    assert cut(tokenizer, "a [SEP] b", 2) == ["a [SEP] ", "b"]
    parts = [chunk.text for chunk in tokenizer.chunks("a [SEP]b", 3, split_special_tokens=True)]
    assert parts == ["a ", "[", "SEP", "]", "b"]


def test_a_chunk_that_has_more_tokens_by_itself_is_made_shorter(tokenizer):
    tokenizer.add_tokens([AddedToken("ran", single_word=True)])
    # b and unknown in one word; cut off, what follows may be a token.
    for part in cut(tokenizer, "bran", 1):
        assert tokenizer.count(part, add_special_tokens=False) <= 1
    word = "ab" + "b" * 60
    assert "".join(cut(tokenizer, word, 5)) == word


def test_one_character_with_too_many_tokens_is_an_error(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "\u1112", "##\u1161", "##\u11ab"))
    assert cut(tokenizer, "a 한", 3) == ["a ", "한"]
    with pytest.raises(InputError):
        cut(tokenizer, "a 한", 2)
