"""WordPiece: greedy longest match first, in linear time."""

from __future__ import annotations

import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import wordpiece as reference
from trietok import WordpieceTokenizer

# `#` is in the alphabet so that words meet entries that begin with ##, or hold it further in.
entries = st.sets(st.from_regex(r"\A(##)?[ab#]{1,5}\Z"), max_size=12)
texts = st.text("abc# ", max_size=40)


def tokenizer(*vocab, **options):
    return WordpieceTokenizer(dict.fromkeys(vocab), "[UNK]", **options)


def test_the_papers_example():
    assert tokenizer("un", "##aff", "##able").tokenize("unaffable") == ["un", "##aff", "##able"]


@pytest.mark.parametrize(
    ("vocab", "text", "pieces"),
    [
        (["ab", "abcd", "##c"], "abc abcd abce", ["ab", "##c", "abcd", "[UNK]"]),
        (["a", "##b"], "ab ba", ["a", "##b", "[UNK]"]),
        (
            ["a", "##b", "##bc"],
            "abb abcb abc",
            ["a", "##b", "##b", "a", "##bc", "##b", "a", "##bc"],
        ),
        (["##a"], "a ##a", ["[UNK]", "##a"]),
        (["#", "##b", "##a"], "##a #a ##ba", ["##a", "#", "##a", "##b", "##a"]),
        (["", "##", "a"], "a ## aa", ["a", "##", "[UNK]"]),
        (["a"], "", []),
        ([], "a", ["[UNK]"]),
    ],
)
def test_tokenize(vocab, text, pieces):
    assert tokenizer(*vocab).tokenize(text) == pieces


def test_a_word_may_have_max_input_chars_per_word():
    four = tokenizer("a", "##a", "aaaaa", max_input_chars_per_word=4)
    assert four.tokenize("aaaa aaaaa") == ["a", "##a", "##a", "##a", "[UNK]"]
    assert tokenizer("a", "##a").tokenize("a" * 100) == ["a"] + ["##a"] * 99
    assert tokenizer("a", "##a").tokenize("a" * 101) == ["[UNK]"]


def test_another_prefix_for_pieces_that_continue():
    assert tokenizer("a", "@b", continuing_subword_prefix="@").tokenize("ab") == ["a", "@b"]


def test_entries_added_later_are_seen():
    vocab = {"a": 0}
    tokenizer = WordpieceTokenizer(vocab, "[UNK]")
    assert tokenizer.tokenize("ab") == ["[UNK]"]
    vocab["##b"] = 1
    assert tokenizer.tokenize("ab") == ["a", "##b"]


@pytest.mark.parametrize("prefix", ["", "##", "a"])
def test_odd_words_after_many_others(prefix):
    """Many words are matched by tries, which are made once they are worth while."""
    vocab = dict.fromkeys(["a", "##", "##a", "aa", "#", "b", "ab"])
    few, many = (tokenizer(*vocab, continuing_subword_prefix=prefix) for _ in range(2))
    many.tokenize("ab b " * 5000)
    for word in ["", "a", "##", "##a", "a##", "a#", "aab", "abba", "#a", "bbb", "c", "ac"]:
        assert few.match_word(word) == many.match_word(word), word


@given(entries, texts)
def test_the_longest_match_goes_first(vocab, text):
    made = WordpieceTokenizer(dict.fromkeys(vocab), "[UNK]", max_input_chars_per_word=12)
    expected = reference.tokenize(vocab, text, longest=12)
    assert made.tokenize(text) == expected
    made.tokenize("ab a## " * 200)
    assert made.tokenize(text) == expected
    assert pickle.loads(pickle.dumps(made)).tokenize(text) == expected


@pytest.mark.parametrize(
    ("vocab", "word"),
    [
        (["a", "##a", "a" * 5000 + "b", "##" + "a" * 5000 + "b"], "a" * 200_000),
        (["a", "##b", "##c", "##d", "##bcd" * 2000], "a" + "bcd" * 60_000),
    ],
)
def test_a_hostile_word_is_matched_in_linear_time(vocab, word):
    """In quadratic time it would take minutes."""
    made = tokenizer(*vocab, max_input_chars_per_word=len(word))
    made.tokenize("ab abc " * 1000)  # after as many words as a vocabulary takes for its tries
    begin = time.monotonic()
    assert len(made.tokenize(f"{word} {word}")) == 2 * len(word)
    assert time.monotonic() - begin < 20
