"""Throughput on the built-in vocabulary, over the text in the repository: trietok beside `str.split`."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import pytest

from tests.benchmarks.texts import lines, size
from trietok import BertTokenizer
from trietok.benchmarking import measure
from trietok.files.load import built_in_directory

pytestmark = pytest.mark.benchmark


def mb_per_second(call: Callable[[str], object], texts: list[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        call(text)
    return size(texts) / (time.perf_counter() - start) / 1e6


def test_beside_others(tmp_path, capsys):
    """Those that are installed, each in a process of its own."""
    model = "trietok-en"
    if importlib.util.find_spec("transformers"):  # it writes the tokenizer.json that tokenizers wants
        import transformers

        transformers.BertTokenizerFast.from_pretrained(built_in_directory(model)).save_pretrained(tmp_path)
        model = str(tmp_path)
    benchmark = measure(lines(), model)
    with capsys.disabled():
        print(f"\n{benchmark}")
    assert benchmark.results[0].problem == ""


@pytest.mark.parametrize("method", ["encode", "tokenize", "__call__"])
def test_methods(method, capsys):
    texts = lines()
    split = max(mb_per_second(str.split, texts) for _ in range(5))
    passes = []
    for _ in range(3):
        tokenizer = BertTokenizer.from_pretrained("trietok-en", model_max_length=10**9)
        call = getattr(tokenizer, method)
        call("warm up")
        cold = mb_per_second(call, texts)
        passes.append((cold, max(mb_per_second(call, texts) for _ in range(3))))
    cold, warm = (sorted(speeds)[1] for speeds in zip(*passes, strict=True))
    with capsys.disabled():
        print(f"\n{method:8} cold {cold:6.2f} MB/s, warm {warm:6.2f} MB/s; str.split {split:6.2f} MB/s", end=" ")
    assert warm > 0
