"""The trie: transformers' methods, leftmost-longest splits, linear time."""

from __future__ import annotations

import copy
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import trie as reference
from trietok import Trie

words = st.text("abc", min_size=1, max_size=6)
texts = st.text("abcd", max_size=40)


def test_the_worked_case():
    trie = Trie()
    assert trie.split("[CLS] This is a extra_id_100") == ["[CLS] This is a extra_id_100"]
    trie.add("[CLS]")
    trie.add("extra_id_1")
    trie.add("extra_id_100")
    assert trie.split("[CLS] This is a extra_id_100") == ["[CLS]", " This is a ", "extra_id_100"]
    assert trie.split("extra_id_1 extra_id_10") == ["extra_id_1", " ", "extra_id_1", "0"]


def test_data_is_the_nested_dict_of_transformers():
    trie = Trie()
    trie.add("Hello 友達")
    assert trie.data == {"H": {"e": {"l": {"l": {"o": {" ": {"友": {"達": {"": 1}}}}}}}}}
    trie.add("Hello")
    trie.add("Hello")
    trie.add("")
    assert trie.data["H"]["e"]["l"]["l"]["o"] == {"": 1, " ": {"友": {"達": {"": 1}}}}
    assert len(trie) == 2
    assert "Hello" in trie
    assert "Hell" not in trie


@pytest.mark.parametrize(
    ("words", "text", "pieces"),
    [
        # the cases of transformers' issues 34499 and 35455: a match that is dead must not be
        # followed
        (["abc", "b"], "ab cd", ["a", "b", " cd"]),
        (["abcd", "bc"], "abcx", ["a", "bc", "x"]),
        (["AB", "B", "C"], "ABC", ["AB", "C"]),
        (["ABC", "B", "CD"], "ABCD", ["ABC", "D"]),
        (["[CLS]", "L"], "[CLS] L", ["[CLS]", " ", "L"]),
        (["a", "aaaab"], "aaaaaab", ["a", "a", "aaaab"]),
        (["\n", " ", "  "], "a  \n b", ["a", "  ", "\n", " ", "b"]),
        (["👩‍👩‍👧", "👩"], "👩‍👩‍👧👩", ["👩‍👩‍👧", "👩"]),
        (["-", "]", "^", "\\"], "a-]^\\b", ["a", "-", "]", "^", "\\", "b"]),
        ([], "text", ["text"]),
        (["a"], "", []),
    ],
)
def test_split(words, text, pieces):
    assert Trie(words).split(text) == pieces


def test_cut_text_leaves_empty_pieces_out():
    assert Trie().cut_text("abcd", [0, 2, 2, 4]) == ["ab", "cd"]
    assert Trie().cut_text("", [0]) == []


def test_what_is_no_word_is_refused():
    trie = Trie()
    with pytest.raises(TypeError):
        trie.add(b"a")
    with pytest.raises(TypeError):
        trie.update(["a"], ["b"])
    assert trie.data == {}


@given(st.sets(words, max_size=8), texts)
def test_split_is_leftmost_longest(vocabulary, text):
    pieces = Trie(vocabulary).split(text)
    assert "".join(pieces) == text
    assert pieces == reference.split(vocabulary, text)


@given(st.lists(words, max_size=8), st.lists(words, max_size=4), texts)
def test_adding_after_a_split_is_as_adding_before(first, then, text):
    grown = Trie(first)
    grown.split(text)  # leaves failure links behind
    grown.update(then)
    assert (
        grown.split(text) == Trie([*first, *then]).split(text) == Trie([*then, *first]).split(text)
    )


@given(st.lists(words, max_size=8), st.lists(words, max_size=4), texts)
def test_what_was_taken_out_is_as_never_there(vocabulary, out, text):
    trie = Trie([*vocabulary, *out])
    trie.split(text)
    for word in out:
        trie.discard(word)
        trie.discard(word)
    left = [word for word in vocabulary if word not in out]
    assert trie.split(text) == Trie(left).split(text)
    assert trie.data == Trie(left).data


@given(st.lists(words, max_size=8), texts)
def test_copies_split_alike(vocabulary, text):
    trie = Trie(vocabulary)
    trie.split(text)
    for other in (copy.deepcopy(trie), pickle.loads(pickle.dumps(trie))):
        assert other.split(text) == trie.split(text)
        assert other.data == trie.data


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a", "a" * 10_000 + "b"], "a" * 200_000),
        (["ab", "ab" * 5_000 + "c"], "ab" * 100_000),
        (["a" * n + "c" for n in range(1, 600)], "a" * 200_000),
    ],
)
def test_a_hostile_text_is_split_in_linear_time(words, text):
    """In quadratic time it would take minutes."""
    begin = time.monotonic()
    assert "".join(Trie(words).split(text)) == text
    assert time.monotonic() - begin < 20
