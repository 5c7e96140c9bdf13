"""The split at added tokens against one written for reading: thousands of cases here, a hundred
thousand when asked.
"""

from __future__ import annotations

import random

import pytest

from tests.reference import tokenizer as reference
from trietok import AddedToken
from trietok.text import word_search
from trietok.text.added_search import AddedTokens

# Tokens of one character, of whitespace, with spaces and newlines inside, joined emoji, marks, each
# other's beginnings.
CONTENTS = [
    "a",
    "ab",
    "abc",
    "b",
    "bc",
    "a b",
    " ",
    "  ",
    "\n",
    "a\nb",
    "\t",
    "x ",
    " x",
    "<s>",
    "<",
    "s>",
    "_",
]
CONTENTS += ["é", "e\u0301", "\u0301", "👩\u200d👩\u200d👧", "👩", "\u200d"]
CONTENTS += ["中", "中文", "文字", "##b", "-", "a-b", "İ", "ß", "aa", "aaab", "baa", "\u3000"]
PARTS = [*CONTENTS, "c", "d", " ", " ", "e", "👧", "字", ".", "1", "aaa", "bb", "\u2028", "\x85"]


def case(rng: random.Random) -> tuple[list[reference.Token], str]:
    chosen = rng.sample(CONTENTS, rng.randrange(1, 7))
    tokens = [
        reference.Token(content, *(rng.random() < 0.25 for _ in range(3))) for content in chosen
    ]
    return tokens, "".join(rng.choices(PARTS, k=rng.randrange(0, 12)))


def check(number: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(number):
        tokens, text = case(rng)
        ours = [
            AddedToken(
                token.content,
                lstrip=token.lstrip,
                rstrip=token.rstrip,
                single_word=token.single_word,
            )
            for token in tokens
        ]
        added = AddedTokens(dict(enumerate(ours)))
        expected = reference.split(tokens, text)
        assert added.split(text) == expected, (tokens, text)
        rng.shuffle(ours)
        other = AddedTokens(dict(enumerate(ours[:1])))
        other.split(text)
        # in another order, and one after a split
        other = other.with_tokens(dict(enumerate(ours[1:], 1)))
        # now it is built; short texts are searched without it
        assert len(other.trie) == len(other.encoder)
        assert other.split(text) == expected, (tokens, text)


@pytest.fixture(params=[0, word_search.FEW], ids=["by trie", "by pattern"], autouse=True)
def few(request, monkeypatch):
    monkeypatch.setattr(word_search, "FEW", request.param)


def test_some_splits():
    check(1500, seed=1)


@pytest.mark.benchmark
def test_a_hundred_thousand_splits():
    check(100_000, seed=2)
