"""The trie: transformers' methods, leftmost-longest splits, linear cost."""

from __future__ import annotations

import copy
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import trie as reference
from trietok import Trie
from trietok.text.trie import TrieNode
from trietok.text.word_search import LOOKUPS_A_WORD, TriePart

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
    with pytest.raises(TypeError, match="bytes"):
        trie.add(b"a")
    with pytest.raises(TypeError, match="one iterable"):
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


class CountedVisits:
    """Counts how often a node is asked for a child."""

    def __init__(self, monkeypatch):
        self.count = 0

        def get(node, char, default=None):
            self.count += 1
            return dict.get(node, char, default)

        monkeypatch.setattr(TrieNode, "get", get, raising=False)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["a", "a" * 500 + "b"], "a" * 2000),
        (["ab", "ab" * 250 + "c"], "ab" * 1000),
        (["[MASK]", "[CLS]", "[SEP]"], "[MAS[CL[SE" * 200),
        (["a" * n + "c" for n in range(1, 60)], "a" * 2000),
        (
            [chr(97 + i) for i in range(26)]
            + ["".join(chr(97 + i % 26) for i in range(400)) + "!"],
            "abcdefgh" * 250,
        ),
    ],
)
def test_splitting_visits_each_character_a_bounded_number_of_times(monkeypatch, words, text):
    trie = Trie(words)
    visits = CountedVisits(monkeypatch)
    trie.split(text)
    first = visits.count
    trie.split(text)
    # Each character is asked for at most twice: once where the walk fails, once where it goes on.
    assert visits.count - first <= 2 * len(text)
    # Working the links out costs a bounded number of visits for each node, once.
    assert first <= 2 * len(text) + 4 * sum(map(len, words))


@pytest.mark.parametrize("first_wins", [False, True])
def test_words_are_looked_up_until_a_trie_pays(first_wins):
    seed = random.randrange(10**9)
    print(f"seed {seed}")
    draw = random.Random(seed)
    for _ in range(5):
        words = ["".join(draw.choices("abc-é", k=draw.randint(1, 6))) for _ in range(60)]
        text = "".join(draw.choices("abc-éx ", k=150))
        part = TriePart(dict.fromkeys(sorted(words, key=words.index)), first_wins)
        looked_up = part.find(text)
        assert part._trie is None
        for _ in range(LOOKUPS_A_WORD):
            part.find(text * 10)
        assert part._trie is not None
        assert part.find(text) == looked_up
        assert not any(part.keys.isdisjoint(word) for word in words)
        assert part.characters == set("".join(words))
