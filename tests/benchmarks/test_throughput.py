"""Throughput on the built-in vocabulary, over the text in the repository: trietok beside
`str.split`.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.benchmarks.texts import lines, size
from trietok import BertTokenizer

pytestmark = pytest.mark.benchmark


def made_anew(texts: list[str]) -> list[str]:
    """The same texts, of which none keeps its UTF-8: a str that is not ASCII has it from its first
    use on.
    """
    return [text.encode().decode() for text in texts]


def mb_per_second(call: Callable[[str], object], texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        call(text)
    return size(texts) / (time.process_time() - start) / 1e6


@pytest.mark.parametrize("method", ["encode", "tokenize", "__call__"])
def test_methods(method, capsys):
    texts = lines()
    split = max(mb_per_second(str.split, texts) for _ in range(5))
    passes = []
    for _ in range(3):
        tokenizer = BertTokenizer.from_pretrained("trietok-en", model_max_length=10**9)
        call = getattr(tokenizer, method)
        call("warm up")
        cold = mb_per_second(call, made_anew(texts))
        warm = max(mb_per_second(call, texts) for _ in range(3))
        passes.append((cold, warm, max(mb_per_second(call, made_anew(texts)) for _ in range(3))))
    cold, warm, anew = (sorted(speeds)[1] for speeds in zip(*passes, strict=True))
    with capsys.disabled():
        print(
            f"\n{method:8} MB/s: cold {cold:6.2f}, warm {warm:6.2f}, with strings made anew"
            f" {anew:6.2f};",
            end=" ",
        )
        print(f"str.split {split:6.2f}", end=" ")
    assert warm > 0
