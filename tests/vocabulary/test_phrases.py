"""Phrases: which words belong together, and that adding what is suggested gives the tokens it
says.
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL, examples
from trietok import BertTokenizer, InputError, add_terms
from trietok.workbench.suggesting import adding_words as module

LETTERS = ["a", "b", "c", "##a", "##b", "##c", ",", "the", "of", "is", "in"]


def suggest(tokenizer, texts, **options):
    return trietok.suggest_tokens(
        tokenizer, texts, **{"min_frequency": 2, "way": "single-word", "phrases": 4, **options}
    )


def said(suggestions) -> list[str]:
    return [each.word for each in suggestions.suggestions]


def number_of_tokens(tokenizer, texts) -> int:
    return sum(len(tokenizer.tokenize(text)) for text in texts)


def check_added(tokenizer, texts, found) -> None:
    """Adding what is suggested, all of it and the first of it, gives the tokens that were said."""
    assert number_of_tokens(tokenizer, texts) == found.tokens_before
    grown = copy.deepcopy(tokenizer)
    add_terms(grown, found)
    assert number_of_tokens(grown, texts) == found.tokens_after
    assert sum(grown.tokenize(text).count("[UNK]") for text in texts) == found.unknown_after


def test_words_that_stand_together(small):
    tokenizer = small(*LETTERS)
    texts = ["The abc cab of a bac.", "An abc cab, (abc cab) in the abc cab!", "in bac is the a"]
    texts += ["of the", "the is", "is of", "in the", "the, of", "in is"] * 4
    found = suggest(tokenizer, texts)
    assert said(found) == ["abc cab", "bac"]
    first = found.suggestions[0]
    assert (first.frequency, first.pieces, first.tokens_saved) == (
        4,
        ["a", "##b", "##c", "c", "##a", "##b"],
        20,
    )
    check_added(tokenizer, texts, found)
    assert [each.word for each in suggest(tokenizer, texts, phrases=0).suggestions] == [
        "abc",
        "cab",
        "bac",
    ]


def test_no_phrase_over_punctuation_two_spaces_or_lines(small):
    texts = ["abc, cab"] * 3 + ["abc  cab"] * 3 + ["abc\ncab", "abc-cab", "abc\tcab"] * 3
    assert said(suggest(small(*LETTERS), texts)) == ["abc", "cab"]


def test_a_phrase_inside_another_is_no_suggestion_of_its_own(small):
    texts = ["abc cab bac"] * 5 + ["the", "of", "is", "in"] * 5
    found = suggest(small(*LETTERS), texts)
    assert said(found) == ["abc cab bac"]
    assert {each.reason for each in found.left_out} == {
        "what it would save, the suggestions before it save"
    }
    assert "left out since other suggestions save the same tokens" in str(found)


WORDS = st.sampled_from(
    ["ab", "abc", "ba", "bca", "c", "AB", "xab", "b-a", "ab,", "(ba", "é", "cab"]
)
TEXTS = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from([" "] * 8 + ["  ", "\t", ", "])), max_size=8).map(
        lambda pairs: "".join(word + space for word, space in pairs)
    ),
    min_size=1,
    max_size=8,
)


@examples(40)
@given(
    st.lists(st.sampled_from([*LETTERS, "ab", "##bc", "ba", "x", "-", "(", "##ab"]), max_size=14),
    TEXTS,
    st.lists(st.sampled_from(["ab", "b-a", "a b", "ba ab", "-", "b a"]), max_size=2),
    st.integers(1, 6),
)
def test_what_is_said_is_what_adding_gives(vocabulary, texts, there, most):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COHESION", -9.0)  # any words that stand side by side
        path = Path(folder, "vocab.txt")
        path.write_text(
            "".join(f"{token}\n" for token in [*SPECIAL, *dict.fromkeys(vocabulary)]),
            encoding="utf-8",
        )
        tokenizer = BertTokenizer(path)
        tokenizer.add_tokens(there)
        if not any(text.split() for text in texts):
            return
        check_added(tokenizer, texts, suggest(tokenizer, texts, most=most, min_frequency=1))


def test_an_iterator_and_little_memory(small):
    texts = ["The abc cab of the bac."] * 3 + ["abc cab abcabc"]
    tokenizer = small(*LETTERS)
    assert suggest(tokenizer, iter(texts)) == suggest(tokenizer, texts)
    few = suggest(tokenizer, texts, max_words=3)
    assert few.tokens_before == number_of_tokens(tokenizer, texts)


def test_what_is_refused(small):
    for options, message in (
        ({"way": "wordpiece"}, "a phrase cannot be an entry"),
        ({"phrases": 1}, "phrases is 1; it is the most words of a phrase, 2 to 4, or 0"),
        ({"phrases": 5}, "phrases is 5"),
        ({"phrases": True}, "phrases is True"),
    ):
        with pytest.raises(InputError, match=message):
            suggest(small("a"), ["a b"], **options)
