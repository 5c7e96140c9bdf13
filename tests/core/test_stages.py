"""`BasicTokenizer`, `WordpieceTokenizer` and `Trie` alone, the first two compared with
transformers'.
"""

from __future__ import annotations

import copy
import pickle
import random
import sys
from collections.abc import Callable

import pytest
import transformers.models.bert.tokenization_bert as theirs
from hypothesis import given
from hypothesis import strategies as st
from transformers.tokenization_utils import Trie as PlainTrie

from tests.conftest import examples, often
from tests.strategies import BOOL, CHARACTERS, NEVER_SPLIT, OPTIONAL_BOOL, marked_texts, texts
from trietok import BasicTokenizer, Trie, WordpieceTokenizer

# ---- basic tokenization --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text", "words"),
    [
        ({}, " \tHeLLo!how  \n Are yoU?  ", ["hello", "!", "how", "are", "you", "?"]),
        ({}, "Héllo, Cafe\u0301", ["hello", ",", "cafe"]),
        ({"strip_accents": False}, "HÄLlo", ["hällo"]),
        ({"do_lower_case": False}, "HäLLo!", ["HäLLo", "!"]),
        ({"do_lower_case": False, "strip_accents": True}, "HäLLo!", ["HaLLo", "!"]),
        ({}, "ah博推zz", ["ah", "博", "推", "zz"]),
        ({"tokenize_chinese_chars": False}, "ah博推zz", ["ah博推zz"]),
        ({"do_split_on_punc": False}, "I can't!", ["i", "can't!"]),
        ({"never_split": ["[UNK]"]}, "A [UNK]!  [UNK]", ["a", "[", "unk", "]", "!", "[UNK]"]),
        ({}, "a\x00b\u200bc\ufffdd\x7fe", ["abcde"]),  # control characters are deleted
        ({}, "a\x1cb\x85c\u2028d\u3000e", ["abc", "d", "e"]),
        ({}, "\ud800a\u0301", ["a"]),
        ({}, "", []),
    ],
)
def test_each_rule_of_basic_tokenization_by_an_example(options, text, words):
    assert BasicTokenizer(**options).tokenize(text) == words


def test_words_that_a_call_keeps_whole_join_those_of_the_tokenizer():
    tokenizer = BasicTokenizer(never_split=["A.B"])
    assert tokenizer.tokenize("A.B C.D", never_split=["C.D"]) == ["A.B", "C.D"]
    assert tokenizer.tokenize("A.B C.D") == ["A.B", "c", ".", "d"]


kept_words = st.none() | st.lists(st.sampled_from(NEVER_SPLIT), max_size=3)


@examples(300)
@given(
    texts() | st.builds(str.__mul__, marked_texts(), st.integers(1, 40)),
    st.tuples(
        st.booleans(), kept_words, st.booleans(), st.sampled_from(OPTIONAL_BOOL), st.booleans()
    ),
    kept_words,
)
def test_basic_tokenization_equals_that_of_transformers(text, options, kept):
    ours, wanted = BasicTokenizer(*options), theirs.BasicTokenizer(*options)
    assert ours.tokenize(text, kept) == wanted.tokenize(text, kept)
    assert ours.tokenize(text) == wanted.tokenize(text)  # `kept` is of one call


@pytest.mark.parametrize("lower", BOOL)
def test_every_character_is_cleaned_and_cut_as_by_transformers(lower):
    """Every second one by day, each at night."""
    step = often(2, nightly=1)
    characters = CHARACTERS[random.randrange(step) :: step]
    for first in range(0, len(characters), 64):
        text = "x".join(characters[first : first + 64])
        wanted = theirs.BasicTokenizer(lower).tokenize(text)
        assert BasicTokenizer(lower).tokenize(text) == wanted


# ---- WordPiece -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vocab", "text", "pieces"),
    [
        ("un ##aff ##able", "unaffable", "un ##aff ##able"),
        ("ab abcd ##c", "abc abcd abce", "ab ##c abcd [UNK]"),  # one bad piece: the word is unknown
        ("a ##b ##bc", "abb abcb abc", "a ##b ##b a ##bc ##b a ##bc"),
        ("##a", "a ##a", "[UNK] ##a"),
        ("# ##b ##a", "##a #a ##ba", "##a # ##a ##b ##a"),
        ("## a", "a ## aa", "a ## [UNK]"),
        ("", "a", "[UNK]"),
        ("a ##a", "a" * 100, "a" + " ##a" * 99),
        ("a ##a", "a" * 101, "[UNK]"),  # as long as a word may be
    ],
)
def test_longest_pieces_are_matched_first(vocab, text, pieces):
    vocab = dict.fromkeys(["", *vocab.split()], 0)
    assert WordpieceTokenizer(vocab, "[UNK]").tokenize(text) == pieces.split()


# `#` is in the alphabet so that words meet tokens that begin with ##, or hold it further in.
@examples(400)
@given(
    st.sets(st.from_regex(r"\A(##)?[ab#]{1,5}\Z"), max_size=12),
    st.text("abc# ", max_size=40),
    st.sampled_from([3, 12, 100]),
)
def test_pieces_equal_those_of_transformers(vocab, text, longest):
    arguments = dict.fromkeys(vocab, 0), "[UNK]", longest
    ours, want = WordpieceTokenizer(*arguments), theirs.WordpieceTokenizer(*arguments)
    assert ours.tokenize(text) == want.tokenize(text)
    ours.tokenize("ab a## " * 200)  # after many words, others are matched by a trie
    assert ours.tokenize(text) == want.tokenize(text)
    assert pickle.loads(pickle.dumps(ours)).tokenize(text) == want.tokenize(text)


@pytest.mark.parametrize("prefix", ["", "##", "a"])
def test_pieces_are_the_same_after_many_words_with_any_prefix(prefix):
    vocab = dict.fromkeys(["a", "##", "##a", "aa", "#", "b", "ab"], 0)
    few, many = (
        WordpieceTokenizer(vocab, "[UNK]", continuing_subword_prefix=prefix) for _ in range(2)
    )
    assert few.tokenize("aba") == {"": ["ab", "a"], "##": ["ab", "##a"], "a": ["ab", "aa"]}[prefix]
    many.tokenize("ab b " * 5000)
    for word in ["a", "##", "##a", "a##", "a#", "aab", "abba", "#a", "bbb", "c", "ac"]:
        assert few.tokenize(word) == many.tokenize(word), word


def test_vocabulary_that_is_changed_after_a_text_is_used():
    vocab = {"a": 0}
    tokenizer = WordpieceTokenizer(vocab, "[UNK]")
    assert tokenizer.tokenize("ab") == ["[UNK]"]
    vocab["##b"] = 1
    assert tokenizer.tokenize("ab") == ["a", "##b"]


# ---- Trie ----------------------------------------------------------------------------------------


def test_data_is_the_nested_dict_of_transformers():
    ours, wanted = Trie(), PlainTrie()
    for trie in (ours, wanted):
        for word in ("Hello 友達", "Hello", "Hello", ""):
            trie.add(word)
    assert ours.data == wanted.data
    assert (len(ours), "Hello" in ours, "Hell" in ours) == (2, True, False)
    assert ours.cut_text("abcd", [0, 2, 2, 4]) == wanted.cut_text("abcd", [0, 2, 2, 4])


@pytest.mark.parametrize(
    ("words", "text", "pieces"),
    [
        (["[CLS]", "x_1", "x_100"], "[CLS] This is x_100", ["[CLS]", " This is ", "x_100"]),
        (["x_1", "x_100"], "x_1 x_10", ["x_1", " ", "x_1", "0"]),
        # The cases of transformers' issues 34499 and 35455: it follows a match that has failed.
        (["abc", "b"], "ab cd", ["a", "b", " cd"]),
        (["abcd", "bc"], "abcx", ["a", "bc", "x"]),
        (["AB", "B", "C"], "ABC", ["AB", "C"]),
        (["ABC", "B", "CD"], "ABCD", ["ABC", "D"]),
        (["a", "aaaab"], "aaaaaab", ["a", "a", "aaaab"]),
        (["\n", " ", "  "], "a  \n b", ["a", "  ", "\n", " ", "b"]),
        (["👩‍👩‍👧", "👩"], "👩‍👩‍👧👩", ["👩‍👩‍👧", "👩"]),
        (["-", "]", "^", "\\"], "a-]^\\b", ["a", "-", "]", "^", "\\", "b"]),
        ([], "text", ["text"]),
        (["a"], "", []),
    ],
)
def test_text_is_split_at_the_leftmost_longest_words(words, text, pieces):
    assert Trie(words).split(text) == pieces


def leftmost_longest(words: set[str], text: str) -> list[str]:
    """At every place the longest word that is there."""
    pieces = [""]
    while text:
        word = max(filter(text.startswith, words), key=len, default="")
        if word:
            pieces += [word, ""]
        else:
            pieces[-1] += text[0]
        text = text[len(word) or 1 :]
    return [piece for piece in pieces if piece]


some_words = st.lists(st.text("abc", min_size=1, max_size=6), max_size=8)


@examples(400)
@given(some_words, some_words, some_words, st.text("abcd", max_size=40))
def test_splits_are_leftmost_longest_whatever_was_added_and_removed_before(first, then, out, text):
    trie = Trie(first)
    assert trie.split(text) == leftmost_longest({*first}, text)
    trie.update(then)
    assert trie.split(text) == leftmost_longest({*first, *then}, text)
    for word in [*out, *first[:2]] * 2:
        trie.discard(word)
    left = {*first, *then} - {*out, *first[:2]}
    for other in (trie, copy.deepcopy(trie), pickle.loads(pickle.dumps(trie))):
        assert other.split(text) == leftmost_longest(left, text)
        assert other.data == Trie(left).data


def test_what_is_no_word_is_refused():
    trie = Trie()
    with pytest.raises(TypeError):
        trie.add(b"a")
    with pytest.raises(TypeError):
        trie.update(["a"], ["b"])
    assert trie.data == {}


# ---- texts made to be slow -----------------------------------------------------------------------


def lines(call: Callable[[], object]) -> int:
    """The lines of Python that a call runs."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def many_words(vocab: list[str]) -> WordpieceTokenizer:
    tokenizer = WordpieceTokenizer(dict.fromkeys(vocab, 0), "[UNK]", 10**6)
    tokenizer.tokenize("ab abc " * 1000)  # as many as a vocabulary takes for its tries
    return tokenizer


HOSTILE = {
    "a long word nearly found": lambda n: (Trie(["a", "a" * n + "b"]).split, "a" * 4 * n),
    "beginnings of it": lambda n: (Trie(["ab", "ab" * n + "c"]).split, "ab" * 4 * n),
    "a long piece nearly found": lambda n: (
        many_words(["a", "##a", "a" * n + "b", "##" + "a" * n + "b"]).tokenize,
        "a" * 4 * n,
    ),
    "pieces of it": lambda n: (
        many_words(["a", "##b", "##c", "##d", "##" + "bcd" * n]).tokenize,
        "a" + "bcd" * 4 * n,
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_runs_lines_of_python_in_proportion_to_its_length(name):
    counts = []
    for length in (200, 800):
        split, text = HOSTILE[name](length)
        counts.append(lines(lambda split=split, text=text: split(text)))
    assert counts[0] > 200
    assert counts[1] <= 5 * counts[0], counts  # if it were quadratic, sixteen times as many
