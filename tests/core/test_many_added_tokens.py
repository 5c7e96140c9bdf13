"""Many added tokens are added and loaded all at once: they become what they become in small
steps.
"""

from __future__ import annotations

import random

import pytest

import trietok
from tests.core.stopped import lines_of

FEW, MANY = 300, 1_500  # strings: so many are added one after the other, or all at once
LETTERS = "abcXYZ09-é世İΣ"


def strings(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(LETTERS, k=rng.randint(2, 6))) for _ in range(count)]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kind", [trietok.BertTokenizer, trietok.BertTokenizerFast])
def test_many_at_once_become_what_a_few_at_a_time_become(kind, special):
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    given = ["people", "The", *strings(rng, MANY), "The", "people", "[SEP]"]
    for tokens in (given[:-1], given):  # with a known one, they go one after the other
        at_once, in_steps = (kind.from_pretrained("trietok-en") for _ in range(2))
        number = at_once.add_tokens(tokens, special_tokens=special)
        parts = [tokens[start : start + FEW] for start in range(0, len(tokens), FEW)]
        assert number == sum(in_steps.add_tokens(part, special_tokens=special) for part in parts), (
            seed
        )
        assert list(at_once.added_tokens_decoder.items()) == list(
            in_steps.added_tokens_decoder.items()
        ), seed
        assert at_once.special_tokens_map == in_steps.special_tokens_map, seed
        assert len(at_once) == len(in_steps), seed
        for text in (" ".join(strings(rng, 50)), "x".join(rng.sample(tokens, 50))):
            assert at_once.encode(text) == in_steps.encode(text), (seed, text)


@pytest.mark.parametrize("wrong", ["", "\ud800", 5, None, "a" * 100_001])
def test_one_that_cannot_be_added_keeps_all_of_many_out(wrong):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    before = len(tokenizer)
    with pytest.raises((trietok.errors.InputError, trietok.errors.InputTypeError)):
        tokenizer.add_tokens([*(f"zq{number}" for number in range(MANY)), wrong])
    assert len(tokenizer) == before
    assert "zq7" not in tokenizer.get_added_vocab()


@pytest.mark.parametrize("kind", [trietok.BertTokenizer, trietok.BertTokenizerFast])
def test_one_more_token_takes_no_longer_among_many(kind):
    def lines_among(many):
        tokenizer = kind.from_pretrained("trietok-en")
        tokenizer.add_tokens([f"zq{number}" for number in range(many)])
        tokenizer.encode("the people zq7")

        def add_and_encode():
            tokenizer.add_tokens(["one-more"])
            tokenizer.encode("the one-more people")

        return lines_of(add_and_encode)

    assert 0 < lines_among(5_000) < 2 * lines_among(500)
