"""Terms, added tokens of two and three words, a tenth of them frequent: MB/s beside Rust libraries
with the same terms.

New text, and the same once more; in turns, by CPU time, each encoder in a process that has only
that one. With `TRIETOK_CORPORA` the text is its `en.txt`, else the pages of the repository; with
`TRIETOK_MODELS` the vocabulary is bert-base-uncased, else the built-in one.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import trietok
from tests.benchmarks.texts import lines, size
from trietok.files.model_files import built_in_directory

pytestmark = pytest.mark.benchmark

COUNTS = (0, 1, 30, 1_000, 10_000)
ROUNDS = int(os.environ.get("TRIETOK_ROUNDS", "3"))
MODELS, CORPORA = os.environ.get("TRIETOK_MODELS"), os.environ.get("TRIETOK_CORPORA")
MODEL = str(Path(MODELS, "bert-base-uncased") if MODELS else built_in_directory("trietok-en"))
KINDS = {"fast profile": trietok.BertTokenizerFast, "slow profile": trietok.BertTokenizer}
WAYS = [*KINDS, *[f"{name}, plain Python" for name in KINDS]]
RUST = {"tokenizers (Rust)": "tokenizers", "nanotoken (Rust)": "nanotoken"}


def texts() -> list[str]:
    if CORPORA:
        return Path(CORPORA, "en.txt").read_text(encoding="utf-8").split("\n")[:12_000]
    return lines()


def terms(count: int, of_texts: list[str]) -> list[str]:
    """Two and three words: a tenth stand five times in the texts or more, the others are words at
    random.
    """
    rng = random.Random(count)
    found: Counter[str] = Counter()
    words = [re.findall("[a-z]{4,}", text.lower()) for text in of_texts]
    for row in words:
        for length in (2, 3):
            found.update(" ".join(row[i : i + length]) for i in range(len(row) - length + 1))
    frequent = [term for term, times in found.most_common(max(1, count // 10)) if times >= 5]
    chosen = dict.fromkeys(frequent[:count])
    known = sorted({word for row in words for word in row})
    while len(chosen) < count:
        chosen[" ".join(rng.choices(known, k=rng.choice((2, 3))))] = None
    return list(chosen)


def encoder_of(way: str, added: list[str]) -> Callable[[str], object]:
    if way in RUST:
        import tokenizers

        rust = tokenizers.Tokenizer.from_file(f"{MODEL}/tokenizer.json")
        rust.add_tokens(added)
        if way.startswith("tokenizers"):
            return rust.encode
        import nanotoken

        return nanotoken.Tokenizer.from_json(rust.to_str()).encode
    from trietok.text.kernel import choosing

    if way.endswith("plain Python"):
        choosing.choose_kernel("plain")
    tokenizer = KINDS[way.split(",")[0]].from_pretrained(MODEL, model_max_length=10**9)
    tokenizer.add_tokens(added)
    tokenizer.encode("warm up")
    return tokenizer.encode


def speeds(way: str, count: int) -> tuple[float, float]:
    """MB/s of new text, and of the same text again."""
    of_texts = texts()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    encode, taken = encoder_of(way, terms(count, of_texts)), []
    for _ in range(2):
        start = time.process_time()
        for text in of_texts:
            encode(text)
        taken.append(time.process_time() - start)
    return size(of_texts) / taken[0] / 1e6, size(of_texts) / taken[1] / 1e6


def test_terms(capsys):
    has_rust = Path(MODEL, "tokenizer.json").exists() and importlib.util.find_spec("tokenizers")
    ways = [
        *WAYS,
        *(way for way, name in RUST.items() if has_rust and importlib.util.find_spec(name)),
    ]
    taken: dict[tuple[str, int], list[tuple[float, float]]] = {
        (way, n): [] for n in COUNTS for way in ways
    }
    context = multiprocessing.get_context("spawn")
    for _ in range(ROUNDS):
        for way, count in taken:
            with context.Pool(1) as pool:
                taken[way, count].append(pool.apply(speeds, (way, count)))
    with capsys.disabled():
        print("\n| terms |", " | ".join(ways), "|\n|", "--- |" * (len(ways) + 1))
        for count in COUNTS:
            medians = [
                [statistics.median(each) for each in zip(*taken[way, count], strict=True)]
                for way in ways
            ]
            print(
                f"| {count:,} |",
                " | ".join(f"{cold:.3g} / {warm:.3g}" for cold, warm in medians),
                "|",
            )
    assert all(warm > 0 for rows in taken.values() for _, warm in rows)
