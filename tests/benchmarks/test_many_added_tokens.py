"""100,000 added tokens: adding, adding one more, the first pass over texts, saving and loading, in
CPU seconds.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict

import pytest

import trietok
from tests.benchmarks.texts import lines

pytestmark = pytest.mark.benchmark

COUNT, ROUNDS = 100_000, 3
# A longer chunk that may hold a token, and a text with a special one that is lower-cased around it,
# are searched with a trie of all tokens, which takes longer to make than all else; it is made once.
LONGEST_CHUNK = 40


def seconds(function, argument) -> float:
    start = time.process_time()
    function(argument)
    return time.process_time() - start


def encode_all(tokenizer) -> None:
    for text in TEXTS:
        tokenizer.encode(text)


TEXTS = [
    line for line in lines() if max(map(len, line.split(" "))) <= LONGEST_CHUNK and "[" not in line
]


@pytest.mark.parametrize("kind", [trietok.BertTokenizer, trietok.BertTokenizerFast])
def test_many_added_tokens_cost_little(kind, tmp_path, capsys):
    figures: dict[str, list[float]] = defaultdict(list)
    tokens = [f"zq{number:06d}" for number in range(COUNT)]
    for _ in range(ROUNDS):
        bare, full = (kind.from_pretrained("trietok-en", model_max_length=10**9) for _ in range(2))
        figures["add"].append(seconds(full.add_tokens, tokens))
        bare.encode("warm up")
        figures["first call"].append(seconds(full.encode, "warm up"))
        figures["share of the rate"].append(seconds(encode_all, bare) / seconds(encode_all, full))
        figures["one more"].append(seconds(full.add_tokens, ["one-more"]))
        figures["save"].append(seconds(full.save_pretrained, tmp_path))
        figures["load"].append(seconds(kind.from_pretrained, tmp_path))
    medians = {name: statistics.median(each) for name, each in figures.items()}
    with capsys.disabled():
        print(
            f"\n{kind.__name__:18}",
            *(f"{name} {value:.4f}" for name, value in medians.items()),
            sep="  ",
        )
    # Loose, for busy machines: what is quadratic, or is set up again for each state, takes far
    # longer.
    assert medians["one more"] < 0.02
    assert medians["share of the rate"] > 0.3
    assert max(medians["add"], medians["save"], medians["load"]) < 10
