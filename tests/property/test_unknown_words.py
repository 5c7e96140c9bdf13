"""Unknown words against the plain tokenizer: each is found once, and its span gives it again."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from tests.conftest import SPECIAL
from tests.reference import basic_tokenizer
from tests.reference import tokenizer as reference
from trietok import AddedToken, BertTokenizer

ENTRIES = [
    "a",
    "ab",
    "##b",
    "##c",
    "hello",
    "!",
    ",",
    "e",
    "##e",
    "世",
    "한",
    "ᄒ",
    "##ᅡ",
    "##ᆫ",
    "i",
    "##\u0307",
    "σ",
]
ADDED = [
    AddedToken("<x>", lstrip=True),
    AddedToken("[E 1]", rstrip=True),
    AddedToken("b!", normalized=False),
]
PARTS = [
    "a",
    "b",
    "c",
    "z",
    "A",
    "B",
    "Z",
    "hello",
    "Hello",
    "!",
    ",",
    ".",
    "-",
    " ",
    " ",
    " ",
    "\n",
    "\t",
    "\u3000",
]
PARTS += [
    "é",
    "e\u0301",
    "\u0301",
    "\u0323",
    "ễ",
    "İ",
    "I\u0307",
    "Σ",
    "ΑΣ",
    "ß",
    "世",
    "界",
    "\uf900",
    "한",
    "국",
]
PARTS += [
    "\u1112\u1161\u11ab",
    "\u0344",
    "\u0f73",
    "\u09c7\u09be",
    "が",
    "か\u3099",
    "ﬁ",
    "😀",
    "\u200d",
    "\ufe0f",
]
PARTS += [
    "\0",
    "\x0b",
    "\x1c",
    "\x85",
    "\u200b",
    "\xad",
    "\ufffd",
    "\u2028",
    "\ud800",
    "x" * 60,
    "a" * 101,
]
PARTS += ["<x>", " <x>", "<X>", "[e 1]", "[E 1] ", "B!", "[MASK]", "[mask]", "[MA\0SK]", "z\x0bz"]


@pytest.fixture(params=[True, False], ids=["uncased", "cased"])
def tokenizer(request, vocab_file):
    made = BertTokenizer(vocab_file(*ENTRIES), do_lower_case=request.param)
    made.add_tokens(ADDED)
    return made


def check(tokenizer: BertTokenizer, number: int, seed: int) -> None:
    rng = random.Random(seed)
    lower = tokenizer.do_lower_case
    added = [
        reference.Token(token.content, token.lstrip, token.rstrip, token.single_word, token.special)
        for token in tokenizer.added_tokens_decoder.values()
    ]
    for _ in range(number):
        text = "".join(rng.choices(PARTS, k=rng.randrange(0, 12)))
        found = tokenizer.find_unknown([text], positions=1000)
        # A token that is not normalized matches as written here, whatever the case of the text.
        tokens = tokenizer.tokenize(text)
        if "B!" not in text:
            assert tokens == reference.tokenize(
                tokenizer.vocab, added, SPECIAL, text, do_lower_case=lower
            )
        assert found.occurrences == tokens.count("[UNK]"), text
        assert found.tokens == len(tokens)
        spans = sorted(
            (start, end, word.word) for word in found.words for _, start, end in word.positions
        )
        for (_, end, _), (start, _, _) in pairwise(spans):
            assert end <= start, (text, spans)
        for start, end, word in spans:
            piece = text[start:end]
            if lower:
                piece = "".join(map(reference.lower, piece))
            words = basic_tokenizer.tokenize(piece, do_lower_case=lower, never_split=SPECIAL)
            assert words == [word], (text, start, end)


def test_a_thousand_texts(tokenizer):
    check(tokenizer, 1000, seed=5)


@pytest.mark.benchmark
def test_a_hundred_thousand_texts(tokenizer):
    check(tokenizer, 100_000, seed=6)


def test_many_texts_are_the_sum_of_each(tokenizer):
    rng = random.Random(7)
    texts = ["".join(rng.choices(PARTS, k=8)) for _ in range(300)]
    whole = tokenizer.find_unknown(iter(texts), positions=1000)
    single = [tokenizer.find_unknown([text], positions=1000) for text in texts]
    assert whole.occurrences == sum(found.occurrences for found in single)
    assert whole.texts_with_unknown == sum(found.occurrences > 0 for found in single)
    places = {
        (index, *place[1:], word.word)
        for index, found in enumerate(single)
        for word in found.words
        for place in word.positions
    }
    assert {(*place, word.word) for word in whole.words for place in word.positions} == places
    counts = [word.count for word in whole.words]
    assert counts == sorted(counts, reverse=True)
