"""What people ask of a text: how many tokens it has, and stretches of it that have at most so
many.
"""

from __future__ import annotations

import pytest

from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    ChineseBpeTokenizer,
    Chunk,
    DPRReaderTokenizer,
    InputError,
    InputTypeError,
    NotSupportedError,
    OptionError,
    SpecialTokenError,
)
from trietok.text.kernel.choosing import using_kernel

TOKENS = "a b ##b big dog ran far . ! ' s 世 界 。 「 」 -".split()


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, vocab_file):
    return request.param(vocab_file(*TOKENS))


def cut(tokenizer, text, most, **how):
    return [chunk.text for chunk in tokenizer.chunks(text, most, add_special_tokens=False, **how)]


# ---- count ---------------------------------------------------------------------------------------


def test_a_text_a_batch_a_pair_and_words_are_counted(tokenizer):
    assert tokenizer.count("a big dog.") == 6
    assert tokenizer.count("a big dog.", add_special_tokens=False) == 4
    assert tokenizer.count(["a big dog.", "", "a"]) == [6, 2, 3]
    assert tokenizer.count("a big dog.", "a") == 8
    assert tokenizer.count(["a", "b"], ["a b", "b"]) == [6, 5]
    assert tokenizer.count([("a", "b"), ("a", "a big")]) == [5, 6]
    assert tokenizer.count(["abb", "dog"], is_split_into_words=True) == len(
        tokenizer(["abb", "dog"], is_split_into_words=True).input_ids
    )
    assert tokenizer.count("a [SEP]", split_special_tokens=True) == len(
        tokenizer("a [SEP]", split_special_tokens=True).input_ids
    )


@pytest.mark.parametrize("kernel", ["compiled", "plain"])
def test_what_is_counted_follows_the_tokenizer(vocab_file, kernel):
    with using_kernel(kernel, text_before_kernel=0):
        tokenizer = BertTokenizer(vocab_file(*TOKENS), model_max_length=4)
        assert tokenizer.count("big dog ran") == 5  # nothing is truncated
        tokenizer.add_tokens(["big dog", AddedToken("ran", lstrip=True)])
        assert (tokenizer.count("big dog ran"), tokenizer.count(["big dog", "dog big"])) == (
            4,
            [3, 4],
        )
        assert tokenizer.count("big dog " * 4000) == 4002
        tokenizer.cls_token = None
        with pytest.raises(SpecialTokenError):
            tokenizer.count("a")
        assert tokenizer.count("a", add_special_tokens=False) == 1


def test_methods_of_ones_own_are_counted_by(vocab_file):
    class Mine(BertTokenizer):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return [*token_ids_0, 3, 3, 3]

    assert Mine(vocab_file(*TOKENS)).count("a dog") == 5
    assert Mine(vocab_file(*TOKENS)).count(["a dog", "a"]) == [5, 4]
    reader = DPRReaderTokenizer(vocab_file(*TOKENS))  # whose calls take titles and texts
    assert reader.count("a dog") == 4


@pytest.mark.parametrize("text", [None, 5, b"a", [], ["a", None], {"a": 1}])
def test_what_is_no_text_is_refused_as_in_a_call(tokenizer, text):
    with pytest.raises((InputError, InputTypeError)):
        tokenizer(text)
    with pytest.raises((InputError, InputTypeError)):
        tokenizer.count(text)
    with pytest.raises(OptionError):
        tokenizer.count("a", split_special_token=True)


# ---- chunks --------------------------------------------------------------------------------------


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
def test_where_a_text_is_cut(tokenizer, text, most, at, want):
    assert cut(tokenizer, text, most, at=at) == want


def test_a_chunk_says_where_it_stands_and_counts_special_tokens(tokenizer):
    assert tokenizer.chunks("big dog ran", 4) == [
        Chunk("big dog ", 0, 8, 4),
        Chunk("ran", 8, 11, 3),
    ]
    tokenizer.model_max_length = 4
    assert tokenizer.chunks("big dog ran") == tokenizer.chunks("big dog ran", 4)


def test_chunks_overlap_in_whole_words_and_make_room_for_what_follows(tokenizer):
    assert cut(tokenizer, "a big dog ran far", 3, overlap=1) == ["a big dog ", "dog ran far"]
    assert cut(tokenizer, "a big dog ran far", 3, overlap=2) == [
        "a big dog ",
        "big dog ran ",
        "dog ran far",
    ]
    # half of a word is not repeated
    assert cut(tokenizer, "a abb big dog", 4, overlap=2) == ["a abb ", "big dog"]
    assert cut(tokenizer, "a abb abb", 4, overlap=1) == ["a abb ", "abb"]
    assert cut(tokenizer, "a abb abb", 4, overlap=1, at=None) == ["a abb ", "b abb"]
    assert cut(tokenizer, "big dog. a dog ran far.", 5, overlap=3, at="sentence") == [
        "big dog. ",
        "a dog ran far.",
    ]
    assert cut(tokenizer, "dog. big. ran.", 4, overlap=2, at="sentence") == [
        "dog. big. ",
        "big. ran.",
    ]


def test_added_tokens_are_not_cut(tokenizer):
    tokenizer.add_tokens(["big dog", AddedToken("<x>", lstrip=True, rstrip=True)])
    assert cut(tokenizer, "a big dog ran", 1) == ["a ", "big dog ", "ran"]
    assert "".join(cut(tokenizer, "a  <x>  b <x>", 1)) == "a  <x>  b <x>"


def test_a_chunk_that_has_more_tokens_by_itself_is_made_shorter(tokenizer):
    tokenizer.add_tokens([AddedToken("ran", single_word=True)])
    text = "bran"  # b and unknown in one word; cut off, what follows may be a token
    assert all(
        tokenizer.count(part, add_special_tokens=False) <= 1 for part in cut(tokenizer, text, 1)
    )
    word = "ab" + "b" * 60
    assert "".join(cut(tokenizer, word, 5)) == word


def test_one_character_with_too_many_tokens_is_an_error(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "\u1112", "##\u1161", "##\u11ab"))
    assert cut(tokenizer, "a 한", 3) == ["a ", "한"]
    with pytest.raises(InputError):
        cut(tokenizer, "a 한", 2)


@pytest.mark.parametrize(
    ("most", "how"),
    [
        (2, {}),
        (0, {"add_special_tokens": False}),
        ("8", {}),
        (None, {}),
        (8, {"overlap": 6}),
        (8, {"overlap": -1}),
        (8, {"at": "words"}),
    ],
)
def test_arguments_that_cannot_be(tokenizer, most, how):
    with pytest.raises(InputError):
        tokenizer.chunks("a dog", most, **how)


def test_only_texts_are_cut(tokenizer):
    with pytest.raises(InputTypeError):
        tokenizer.chunks(["a"], 8)
    parts = [chunk.text for chunk in tokenizer.chunks("a [SEP]b", 3, split_special_tokens=True)]
    assert parts == ["a ", "[", "SEP", "]", "b"]
    assert cut(tokenizer, "a [SEP] b", 2) == ["a [SEP] ", "b"]


def test_classes_without_offsets_count_and_do_not_cut(vocab_file):
    chinese = ChineseBpeTokenizer(vocab_file("世", "界", special=["<unk>"], name="zh.txt"))
    assert chinese.count(["世界", "世"]) == [2, 1]
    with pytest.raises(NotSupportedError):
        chinese.chunks("世界", 1)
