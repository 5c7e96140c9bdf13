"""Basic tokenization: each rule by a small case, all together against the version that goes
character by character.
"""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import often
from tests.reference import basic_tokenizer as reference
from trietok import BasicTokenizer
from trietok.text.characters import is_chinese_char, is_punctuation, normalize
from trietok.text.chunk_encoder import CHINESE_PUNCTUATION

NASTY = (
    "aAzZ09"
    " \t\n\r\x00\x0b\x0c\x1c\x1f\x7f\x85\xa0\xad\u1680\u180e\u2002\u200b\u200d\u2028\u2029\u202f\u3000\ufeff"
    "éÉÅ\u212bñßẞİıſΣσς\u0301\u0327\u0344\u0345\u1e9b가각ᄀ\u11a8豈中𠀀𪜀𫠠鿿々〇あアー한،؟।—“”€$^`_|[]#"
    "\ufffd\u037e\u1fef"
    "\ud800\udfff\U000e0001\U0010ffff👩🏽"
)
texts = st.lists(st.sampled_from(NASTY) | st.characters() | st.just(" "), max_size=24).map("".join)
kept_words = st.sampled_from([None, ["[CLS]"], ["a", "É", "a]"], ["aa", "don't"]])


@pytest.mark.parametrize(
    ("options", "text", "words"),
    [
        ({}, " \tHeLLo!how  \n Are yoU?  ", ["hello", "!", "how", "are", "you", "?"]),
        ({}, "H\u00e9llo, Cafe\u0301", ["hello", ",", "cafe"]),
        ({"strip_accents": False}, "H\u00c4Llo", ["h\u00e4llo"]),
        ({"do_lower_case": False}, "HäLLo!", ["HäLLo", "!"]),
        ({"do_lower_case": False, "strip_accents": True}, "HäLLo!", ["HaLLo", "!"]),
        ({}, "ah\u535a\u63a8zz", ["ah", "\u535a", "\u63a8", "zz"]),
        ({"tokenize_chinese_chars": False}, "ah\u535a\u63a8zz", ["ah\u535a\u63a8zz"]),
        ({"do_split_on_punc": False}, "I can't!", ["i", "can't!"]),
        (
            {"never_split": ["[UNK]"]},
            "HeLLo [UNK]!  [UNK]",
            ["hello", "[", "unk", "]", "!", "[UNK]"],
        ),
        ({"never_split": ["don't"]}, "DON'T don't", ["don't", "don't"]),
        ({}, "a\x00b\u200bc\ufffdd\x7fe", ["abcde"]),
        ({}, "a\x1cb\x85c\u2028d\u3000e", ["abc", "d", "e"]),
        ({}, "a\u180eb", ["ab"]),
        ({}, "\ud800a", ["a"]),
        ({}, "\u0301", []),
        ({}, "", []),
    ],
)
def test_rules(options, text, words):
    assert BasicTokenizer(**options).tokenize(text) == words


def test_never_split_of_a_call_joins_that_of_the_tokenizer():
    tokenizer = BasicTokenizer(never_split=["A.B"])
    assert tokenizer.tokenize("A.B C.D", never_split=["C.D"]) == ["A.B", "C.D"]
    assert tokenizer.tokenize("A.B C.D") == ["A.B", "c", ".", "d"]


@given(
    texts,
    st.booleans(),
    kept_words,
    kept_words,
    st.booleans(),
    st.sampled_from([None, True, False]),
    st.booleans(),
)
def test_as_the_readable_version(
    text, lower, kept, also_kept, chinese, strip_accents, split_on_punc
):
    tokenizer = BasicTokenizer(lower, kept, chinese, strip_accents, split_on_punc)
    assert tokenizer.tokenize(text, also_kept) == reference.tokenize(
        text,
        do_lower_case=lower,
        never_split={*(kept or ()), *(also_kept or ())},
        tokenize_chinese_chars=chinese,
        strip_accents=strip_accents,
        do_split_on_punc=split_on_punc,
    )


marks = st.lists(
    st.sampled_from("e\u00e9\u0301\u0316\u0327\u0345\u0344\u0f73\u0f71\u0f72\uac00\u1100 x"),
    max_size=30,
)


@given(marks.map("".join), st.sampled_from(["NFC", "NFD"]), st.integers(0, 40))
def test_normalizing_long_runs_gives_what_unicodedata_gives(text, form, times):
    long = text * times
    assert normalize(form, long) == unicodedata.normalize(form, long)


@pytest.mark.parametrize("lower", [True, False])
def test_what_is_letters_and_digits_is_one_word(lower):
    basic = BasicTokenizer(do_lower_case=lower)
    for code_point in range(0x110000):
        char = chr(code_point)
        if char.isalnum() and not is_chinese_char(code_point):
            assert basic.tokenize(char) == [basic.normalize(basic.compose(char))], hex(code_point)


def test_chinese_punctuation_is_a_word_and_composes_with_nothing():
    for char in CHINESE_PUNCTUATION:
        assert is_punctuation(char)
        assert BasicTokenizer().tokenize(f"a{char}\u0338b") == ["a", char, "b"]


def test_the_classes_of_every_character_are_those_of_the_readable_version():
    """All of the three planes that are in use, and some of the others: random texts find no one
    among a million.
    """
    seed = random.randrange(2**32)
    codes = {
        *range(0x30000),
        *range(0xE0000, 0xE0200),
        *random.Random(seed).sample(range(0x110000), often(40_000)),
    }
    wrong = [
        f"U+{code:04X}"
        for code, char in ((code, chr(code)) for code in sorted(codes))
        if is_punctuation(char) != reference.is_punctuation(char)
        or is_chinese_char(code) != reference.is_chinese(char)
    ]
    assert wrong == [], seed
