"""Texts made to be slow: what a character costs, and that twice the text takes twice the time."""

from __future__ import annotations

import time

import pytest

from tests.benchmarks.texts import ADVERSARIAL
from trietok import BertTokenizer

pytestmark = pytest.mark.benchmark

LENGTHS = (50_000, 100_000, 200_000)  # code points
TIMES = 3
MOST_SECONDS = 1.0  # a text that takes longer is not measured again
# Four times the text takes about 4 times as long where the time is linear, 16 times where it is
# quadratic.
MOST_TIMES_SLOWER = 8.0


def seconds(text: str) -> float:
    """The best time of a text, each time with a tokenizer that remembers nothing."""
    best, spent = float("inf"), 0.0
    for _ in range(TIMES):
        if spent > MOST_SECONDS:
            break
        tokenizer = BertTokenizer.from_pretrained("trietok-en", model_max_length=10**9)
        tokenizer.encode("warm up")
        start = time.perf_counter()
        tokenizer.encode(text)
        taken = time.perf_counter() - start
        best, spent = min(best, taken), spent + taken
    return best


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_no_text_costs_more_than_a_constant_per_character(name, capsys):
    made = [ADVERSARIAL[name](length) for length in LENGTHS]
    assert [len(text) for text in made] == list(LENGTHS)
    taken = [seconds(text) for text in made]
    each = [f"{second / length * 1e9:8.1f}" for second, length in zip(taken, LENGTHS, strict=True)]
    with capsys.disabled():
        print(
            f"\n{name:32} ns a character at {'/'.join(map(str, LENGTHS))}: {' '.join(each)}",
            end=" ",
        )
    assert taken[-1] / taken[0] < MOST_TIMES_SLOWER
