"""The words that become the unknown token: counted, placed and explained."""

from __future__ import annotations

import json

import pytest

import trietok
from trietok import (
    AddedToken,
    InputError,
    InputTypeError,
    NotSupportedError,
    UnknownWord,
)
from trietok.tokenizer.unknown_words import find_unknown

WORDS = ("hello", "un", "##aff", "##able", "a", "b", "##b", ",", "世")


def shown(found):
    return [(word.word, word.count, word.reason, word.blame) for word in found.words]


def test_words_are_counted_placed_and_explained(small):
    found = small(*WORDS).find_unknown(["Hello, Zoo!", "zoo 界 unaffx", "hello zoo", "a" * 101])
    assert found.words == (
        UnknownWord("zoo", 3, "unknown-character", ("z",), ((0, 7, 10), (1, 0, 3), (2, 6, 9))),
        UnknownWord("!", 1, "unknown-character", ("!",), ((0, 10, 11),)),
        UnknownWord("界", 1, "unknown-character", ("界",), ((1, 4, 5),)),
        UnknownWord("unaffx", 1, "unknown-character", ("x",), ((1, 6, 12),)),
        UnknownWord("a" * 101, 1, "too-long", (), ((3, 0, 101),)),
    )
    assert (found.texts, found.texts_with_unknown, found.tokens, found.occurrences) == (4, 4, 10, 7)
    assert list(found.characters.items()) == [("z", 3), ("!", 1), ("界", 1), ("x", 1)]


@pytest.mark.parametrize(
    ("word", "blame"),
    [
        ("unx", "##x"),
        ("bun", "##u"),
        ("xa", "x"),
        ("una", "##a"),
        ("unaffunaff", "##u"),
        ("世b世", "##世"),
    ],
)
def test_what_would_carry_a_word_on(small, word, blame):
    tokenizer = small(*WORDS, "x,", "##,x", tokenize_chinese_chars=False)
    (found,) = tokenizer.find_unknown([word]).words
    assert (found.word, found.reason, found.blame) == (word, "no-piece", (blame,))
    tokenizer.add_wordpieces([blame])
    after = tokenizer.find_unknown([word])
    assert not after.words or after.words[0].blame != (blame,)


def test_added_tokens_and_the_unknown_token_itself_do_not_count(small):
    tokenizer = small(*WORDS, do_lower_case=False)
    tokenizer.add_tokens([AddedToken("zoo"), AddedToken("<x>", lstrip=True, rstrip=True)])
    found = tokenizer.find_unknown(["[UNK] zoo q [UNK]", "[U\0NK]", "a  <x>  q"])
    assert shown(found) == [("q", 2, "unknown-character", ("q",))]
    assert found.words[0].positions == ((0, 10, 11), (2, 8, 9))
    assert (found.texts, found.texts_with_unknown) == (3, 2)


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("İİ q", ["İİ", "q"]),
        ("\u0130q", ["\u0130q"]),
        ("q\u0301\u0323!", ["q\u0301\u0323", "!"]),
        ("q\0\u200bq", ["q\0\u200bq"]),
        ("\0q\0", ["q"]),
        ("a\x0bq", ["a\x0bq"]),
        ("世界\uf900q", ["界", "\uf900", "q"]),
        ("\u1112\u1161\u11ab", ["\u1112\u1161\u11ab"]),
        (" q\u3000\u2028q ", ["q", "q"]),
        ("ΑΣ.", ["ΑΣ", "."]),
        ("[MASK]q[mask]", ["q", "[", "mask", "]"]),
    ],
)
def test_spans_are_of_the_text_as_given(small, text, spans):
    found = small(*WORDS).find_unknown([text])
    places = sorted(place for word in found.words for place in word.positions)
    assert [text[start:end] for _, start, end in places] == spans


def test_without_basic_tokenization(small):
    found = small(*WORDS, do_basic_tokenize=False).find_unknown(["Hello,q  hello"])
    assert shown(found) == [("Hello,q", 1, "unknown-character", ("H", "q"))]
    assert found.words[0].positions == ((0, 0, 7),)


def test_words_that_are_never_split(small):
    tokenizer = small(*WORDS, never_split=["a,b", "hello"])
    found = tokenizer.find_unknown(["q a,b hello a,b,"])
    assert shown(found) == [("q", 1, "unknown-character", ("q",)), ("a,b", 1, "no-piece", ("##,",))]
    assert found.words[1].positions == ((0, 2, 5),)


def test_few_places_are_kept(small):
    tokenizer = small(*WORDS)
    assert len(tokenizer.find_unknown(["q"] * 9).words[0].positions) == 3
    assert len(tokenizer.find_unknown(["q"] * 9, positions=7).words[0].positions) == 7
    assert tokenizer.find_unknown(["q"] * 9, positions=0).words[0].positions == ()


def test_texts_are_read_one_after_the_other(small):
    read = []

    def texts():
        for number in range(3):
            read.append(number)
            yield "q"
        raise KeyError("the end")

    with pytest.raises(KeyError):
        small(*WORDS).find_unknown(texts())
    assert read == [0, 1, 2]


def test_it_can_be_printed_and_written(small):
    tokenizer = small(*WORDS)
    found = tokenizer.find_unknown(["q"] * 2 + [f"x{number}" for number in range(30)])
    lines = str(found).split("\n")
    assert (
        lines[0] == "31 kinds of unknown words, 32 times in 32 of 32 texts (100.00% of 32 tokens)"
    )
    assert lines[1] == "count  word  why                       first at"
    assert lines[2] == "    2  q     unknown character q       0:0-1 1:0-1"
    assert lines[3] == "    1  x0    unknown characters x 0    2:0-2"
    assert (len(lines), lines[-1]) == (23, "... and 11 more")
    assert json.loads(found.to_json()) == found.to_dict()
    assert (
        repr(found)
        == "UnknownWords(words=31, occurrences=32, texts=32, texts_with_unknown=32, tokens=32)"
    )
    assert str(tokenizer.find_unknown([])) == "no unknown words in 0 texts (0 tokens)"
    assert str(tokenizer.find_unknown(["q"])).startswith(
        "1 unknown word, 1 time in 1 of 1 text (100.00% of 1 token)"
    )


def test_mistakes(small):
    tokenizer = small(*WORDS)
    with pytest.raises(InputTypeError, match="pass a list"):
        tokenizer.find_unknown("a text")
    with pytest.raises(InputTypeError, match="text 1 is a NoneType"):
        tokenizer.find_unknown(["a", None])
    with pytest.raises(InputError, match="not -1"):
        tokenizer.find_unknown(["a"], positions=-1)
    with pytest.raises(InputTypeError, match="not str"):
        find_unknown("a", ["a"])


def test_special_tokens_that_are_text_may_be_unknown(small):
    tokenizer = small(*WORDS)
    assert shown(tokenizer.find_unknown(["[MASK] a"])) == []
    tokenizer.split_special_tokens = True
    found = tokenizer.find_unknown(["<x> [UNK] a"])
    assert [word.word for word in found.words] == ["<", "x", ">"]


def test_the_fast_profile_has_words_of_its_own(vocab_file):
    tokenizer = trietok.BertTokenizerFast(vocab_file(*WORDS))
    tokenizer.add_tokens([AddedToken("q q")])
    found = tokenizer.find_unknown(["Hello zé!", "q q zé"])
    assert shown(found) == [
        ("ze", 2, "unknown-character", ("z",)),
        ("!", 1, "unknown-character", ("!",)),
    ]
    assert found.words[0].positions == ((0, 6, 8), (1, 4, 6))


class InHalves(trietok.BertTokenizer):
    def _tokenize(self, text, **options):
        return [text[: len(text) // 2], text[len(text) // 2 :]]


class Upside(trietok.BertTokenizer):
    def prepare_for_tokenization(self, text, **options):
        return text, options


def test_methods_of_a_users_own(vocab_file):
    assert shown(Upside(vocab_file(*WORDS)).find_unknown(["hello q"])) == [
        ("q", 1, "unknown-character", ("q",))
    ]
    with pytest.raises(NotSupportedError, match="InHalves has stages of its own"):
        InHalves(vocab_file(*WORDS)).find_unknown(["hello q"])


def test_a_relative_with_another_unknown_token(vocab_file):
    tokenizer = trietok.FunnelTokenizer(
        vocab_file("a", special=["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"])
    )
    assert shown(tokenizer.find_unknown(["a q <unk>"])) == [("q", 1, "unknown-character", ("q",))]
