"""Texts made to be slow: twice the characters take twice the steps and twice the memory, in both profiles.

Steps are the calls that Python makes, which do not depend on the machine; what a single call does in C is bounded by
the tests that count visits, compared characters and characters of whitespace.
"""

from __future__ import annotations

import random
import re
import sys
import tracemalloc
import unicodedata

import pytest

import trietok
from tests.text.test_trie import CountedVisits
from trietok import AddedToken
from trietok.text import rust_added_tokens
from trietok.text.word_search import FEW_CHARS, WordSearch

KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
MARKS = [chr(code) for code in range(0x300, 0x1E2F0) if unicodedata.combining(chr(code))]
FALLING = sorted(MARKS, key=unicodedata.combining, reverse=True)


def words(letters: str, size: int):
    def text(length: int) -> str:
        rng = random.Random(length)
        return " ".join("".join(rng.choices(letters, k=size)) for _ in range(length // (size + 1)))

    return text


TEXTS = {
    "one letter": lambda n: "a" * n,
    "U+1D160, which decomposes to three": lambda n: "\U0001d160" * n,
    "marks of one class": lambda n: "a" + "\u0301" * n,
    "marks of two classes": lambda n: "\u0301\u0316" * (n // 2),
    "marks of many classes": lambda n: "".join(random.Random(n).choices(MARKS, k=n)),
    "marks in falling order": lambda n: "".join(FALLING[i * len(FALLING) // n] for i in range(n)),
    "unique words": words("abcdefghijklmnopqrstuvwxyz", 9),
    "unique unknown words": words("ᚠᚡᚢᚣᚤꙮꙬ", 9),
    "unique accents": words("àáâãäåçèéêëìíîïñòóôõö", 5),
    "ligatures": lambda n: "\ufdfa" * n,
    "Chinese": lambda n: "世" * n,
    "Hangul": lambda n: "\u1112\u1161\u11ab" * (n // 3),
    "punctuation": lambda n: "!" * n,
    "spaces": lambda n: " " * n,
    "beginnings of special tokens": lambda n: "[MASK" * (n // 5),
    "special tokens": lambda n: "[MASK]" * (n // 6),
    "control characters": lambda n: "a\x85\0" * (n // 3),
}
NAMES = ("lstrip", "rstrip", "single_word", "normalized")
FLAGS = [{name: bool(number >> place & 1) for place, name in enumerate(NAMES)} for number in range(16)]


def steps(tokenizer, text: str) -> int:
    """The calls that Python makes for a text."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    tokenizer.cache_clear()
    sys.setprofile(profile)
    try:
        tokenizer(text, return_offsets_mapping=True)
    finally:
        sys.setprofile(None)
    return count


def memory(tokenizer, text: str) -> int:
    """The most bytes that a text takes at a time."""
    tokenizer.cache_clear()
    tracemalloc.start()
    try:
        tokenizer(text, return_offsets_mapping=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(tokenizer, text_of, measure, smallest: int) -> None:
    tokenizer.model_max_length = 10**9
    texts = [text_of(smallest * factor) for factor in (1, 2, 4)]
    for text in texts:
        tokenizer(text, return_offsets_mapping=True)  # what is built once is built
    _, half, whole = measured = [min(measure(tokenizer, text) for _ in range(2)) for text in texts]
    assert whole <= 2.5 * half + 400, measured  # a quadratic cost would be four times as much


@pytest.fixture(scope="module")
def tokenizers():
    return [kind.from_pretrained("trietok-en") for kind in KINDS]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_steps_in_proportion_to_its_length(tokenizers, name):
    for tokenizer in tokenizers:
        assert_linear(tokenizer, TEXTS[name], steps, 300)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_memory_in_proportion_to_its_length(tokenizers, name):
    for tokenizer in tokenizers:
        assert_linear(tokenizer, TEXTS[name], memory, 2000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "flags", FLAGS, ids=lambda flags: "+".join(name for name, value in flags.items() if value) or "-"
)
def test_tokens_of_spaces_cost_steps_in_proportion(vocab_file, kind, flags):
    assert_linear(with_spaces(kind, vocab_file, flags), lambda n: " " * n, steps, 300)


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "+".join(filter(flags.get, flags)) or "none")
def test_tokens_of_spaces_cost_memory_in_proportion(vocab_file, kind, flags):
    assert_linear(with_spaces(kind, vocab_file, flags), lambda n: " " * n, memory, 2000)


def with_spaces(kind, vocab_file, flags):
    tokenizer = kind(vocab_file("a"))
    tokenizer.add_tokens([AddedToken(" ", **flags), AddedToken("  a", **flags)])
    return tokenizer


# ---- what one call does in C -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first_wins", [False, True])
def test_long_words_are_searched_with_a_bounded_number_of_visits(monkeypatch, first_wins):
    visits = CountedVisits(monkeypatch)
    for length in (1500, 3000, 6000):
        search = WordSearch(["a" * length + "X", "foo"], first_wins=first_wins)
        assert search.find("a" * length + "bX") == []  # the links are worked out
        before = visits.count
        assert search.find("a" * length + "Xa") == [(0, length + 1)]
        assert length <= visits.count - before <= 3 * length


def test_a_pattern_compares_a_bounded_number_of_characters():
    """Whatever the words are: one pattern is used only where all its words together are short."""
    for words_ in (["a" * 100 + "X"] * 1, ["b" * 30] * 32, ["a" * 600, "a" * 500]):
        words_ = [f"{i}{word}" for i, word in enumerate(words_)]
        patterns = [part for part in WordSearch(words_).parts if part._has_pattern]
        assert all(sum(map(len, part.words)) <= FEW_CHARS for part in patterns)
    assert not WordSearch(["a" * (FEW_CHARS + 1)]).parts[0]._has_pattern


def test_long_and_short_words_are_found_alike():
    """A trie and a pattern find the same, whichever the lengths choose."""
    rng = random.Random(5)
    for _ in range(40):
        some = {"".join(rng.choices("ab", k=rng.choice((1, 2, 3, 8)))) for _ in range(4)}
        text = "".join(rng.choices("ab", k=100))
        found = WordSearch(some).find(text)
        assert found == WordSearch([*some, "c" * (FEW_CHARS + 1)]).find(text)


def test_a_run_of_whitespace_is_looked_at_once(monkeypatch):
    looked_at = []

    class Counting:
        def match(self, text, position):
            found = re.compile(" *").match(text, position)
            looked_at.append(found.end() - position)
            return found

    monkeypatch.setattr(rust_added_tokens, "_run_of_whitespace", Counting)
    tokens = rust_added_tokens.RustAddedTokens({5: AddedToken(" ", rstrip=True, normalized=False)})
    parts = tokens.raw_parts("a" + " " * 500 + "a" + " " * 500)
    assert len(parts) == 1002
    assert parts[1] == (1, 501, " ")
    assert sum(looked_at) <= 1000


def test_spans_are_made_without_the_texts_of_added_tokens(vocab_file):
    """Each token of a run takes the run's rest, so what they show is quadratic in its length; their spans are not."""
    tokenizer = trietok.BertTokenizerFast(vocab_file("a"))
    tokenizer.add_tokens([AddedToken(" ", rstrip=True, normalized=False)])
    stages = tokenizer._now().encoder.stages
    assert stages.spans("a" + " " * 50) == stages.locate("a" + " " * 50).spans
    assert sum(map(len, stages._located(" " * 50, shows_added=False).tokens)) == 0
    assert stages.locate(" " * 3).tokens == ["   ", "  ", " "]
