"""WordPiece: greedy longest match first, by a walk that visits each character a bounded number of
times.
"""

from __future__ import annotations

import pickle
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import wordpiece as reference
from tests.text.test_trie import CountedVisits
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


def walks_at_once(walking):
    """A tokenizer walks tries when looking up slices has cost much; here nothing may be spent on
    that.
    """
    with mock.patch("trietok.text.wordpiece.LOOKUPS_PER_ENTRY", 0):
        walking.match_word("a")
    return walking


def test_slices_are_looked_up_until_walking_tries_is_cheaper(monkeypatch):
    walking = tokenizer("a", "##a", "##aaa")
    visits, kinds = CountedVisits(monkeypatch), set()
    for _ in range(100):
        before = visits.count
        assert walking.match_word("aaaaaa") == ["a", "##aaa", "##a", "##a"]
        kinds.add("tries" if visits.count > before else "slices")
    assert kinds == {"slices", "tries"}
    walking.vocab["##aaaaa"] = 3
    assert walking.match_word("aaaaaa") == ["a", "##aaaaa"]


@pytest.mark.parametrize("prefix", ["", "##", "a"])
def test_both_ways_agree_on_odd_words(prefix):
    vocab = dict.fromkeys(["a", "##", "##a", "aa", "#", "b", "ab"])
    slices, tries = (tokenizer(*vocab, continuing_subword_prefix=prefix) for _ in range(2))
    walks_at_once(tries)
    for word in ["", "a", "##", "##a", "a##", "a#", "aab", "abba", "#a", "bbb", "c", "ac"]:
        assert slices.match_word(word) == tries.match_word(word), word


@given(entries, texts)
def test_the_walk_is_the_greedy_match(vocab, text):
    walking = WordpieceTokenizer(dict.fromkeys(vocab), "[UNK]", max_input_chars_per_word=12)
    expected = reference.tokenize(vocab, text, longest=12)
    assert walking.tokenize(text) == expected
    walks_at_once(walking)
    assert walking.tokenize(text) == expected
    assert walking.tokenize(text) == expected  # now with the links worked out
    assert pickle.loads(pickle.dumps(walking)).tokenize(text) == expected


@pytest.mark.parametrize(
    ("vocab", "word"),
    [
        (["a", "##a", "a" * 60 + "b", "##" + "a" * 60 + "b"], "a" * 1000),
        (["a", "##b", "##c", "##d", "##bcd" * 10], "a" + "bcd" * 300),
        (["a"] + ["##" + "a" * n for n in range(1, 50)] + ["##" + "a" * 80 + "b"], "a" * 1000),
        (["a", "##a"], "a" * 999 + "b"),
    ],
)
def test_matching_visits_each_character_a_bounded_number_of_times(monkeypatch, vocab, word):
    walking = tokenizer(*vocab)
    walks_at_once(walking)
    visits = CountedVisits(monkeypatch)
    expected = reference.pieces_of(vocab, word, len(word))
    assert walking.match_word(word) == expected
    first = visits.count - sum(map(len, vocab)) * 2  # the tries were built in this call
    again = visits.count
    assert walking.match_word(word) == expected
    assert visits.count - again <= 2 * len(word)
    assert first <= 2 * len(word) + 4 * sum(map(len, vocab))


def test_few_words_are_looked_up_without_a_copy_of_the_vocabulary():
    """Who encodes one text does not wait until 30,000 entries are copied; both ways give the same
    pieces.
    """
    walking, words = tokenizer("a", "##b", *map(str, range(1000))), ["ab", "abb", "ba", "9ab"]
    expected = [walking.match_word(word) for word in words]
    assert walking._matcher().entries is walking.vocab
    for _ in range(100):
        assert [walking.match_word(word) for word in words] == expected
    assert isinstance(walking._matcher().entries, frozenset)
