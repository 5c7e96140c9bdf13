"""Batches to arrays and to lists: microseconds a call, beside nanotoken and tokenizers where they
are installed.

A query is the first words of a line, a *block* has 64 texts that are cut and padded to 128 tokens.
All contenders are in one process, on one CPU, and take turns; a figure is the median of CPU time
over the turns, with the quartiles. The texts are always the same few, and not new to anybody. A
process that has seen no more than them is measured, too.

With `TRIETOK_CORPORA` the text is its `en.txt`, else the pages of the repository; with
`TRIETOK_MODELS` the vocabulary is bert-base-uncased, else the built-in one.
"""

from __future__ import annotations

import importlib.util
import itertools
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable
from itertools import starmap
from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.benchmarks.texts import lines
from trietok.files.model_files import built_in_directory

pytestmark = pytest.mark.benchmark

ROUNDS = 15
MODELS, CORPORA = os.environ.get("TRIETOK_MODELS"), os.environ.get("TRIETOK_CORPORA")
MODEL = str(Path(MODELS, "bert-base-uncased") if MODELS else built_in_directory("trietok-en"))
SECONDS_A_TURN = 0.01
SIZES = (1, 8, 32, 256)
BLOCK = {"padding": "max_length", "truncation": True, "max_length": 128}
NO_COLUMNS = {"return_attention_mask": False, "return_token_type_ids": False}
Calls = dict[str, Callable[[], object]]


def texts() -> list[str]:
    if CORPORA:
        return Path(CORPORA, "en.txt").read_text(encoding="utf-8").split("\n")[:12_000]
    return lines()


def queries(count: int) -> list[str]:
    words = [text.split()[:6] for text in texts()]
    return [" ".join(row) for row in words if len(row) == 6][:count]


class Nanotoken:
    """Its own calls, and those that are like transformers'."""

    def __init__(self) -> None:
        import nanotoken

        file = Path(MODEL, "tokenizer.json")
        own = nanotoken.Tokenizer
        self.own = (
            own.from_json(file.read_bytes())
            if file.exists()
            else own.from_vocab(Path(MODEL, "vocab.txt"))
        )
        self.like_transformers = self.own.as_hf()


def calls(kind: str, some: list[str], tokenizer: Any, nano: Nanotoken | None, rust: Any) -> Calls:
    """What gives the same of the same texts: by trietok, and by the others that are there."""
    own, like = (nano.own, nano.like_transformers) if nano else (None, None)
    first = some[0]
    of_kind: dict[str, Calls] = {
        "a text to arrays": {
            "trietok": lambda: tokenizer(first, return_tensors="np"),
            "nanotoken": lambda: own.encode_batch_padded([first]),
            "nanotoken, like transformers": lambda: like(first, return_tensors="np"),
        },
        "padded arrays": {
            "trietok": lambda: tokenizer(some, padding=True, return_tensors="np"),
            "nanotoken": lambda: own.encode_batch_padded(some),
            "nanotoken, like transformers": lambda: like(some, padding=True, return_tensors="np"),
        },
        "a block": {
            "trietok": lambda: tokenizer(some, return_tensors="np", **BLOCK),
            "nanotoken": lambda: own.encode_batch_padded(
                some, padding="max_length", max_length=128
            ),
            "nanotoken, like transformers": lambda: like(some, return_tensors="np", **BLOCK),
        },
        "lists of ids": {
            "trietok": lambda: tokenizer(some, **NO_COLUMNS),
            "nanotoken": lambda: own.encode_batch_list(some),
            "tokenizers": lambda: [each.ids for each in rust.encode_batch(some)],
        },
        "lists": {
            "trietok": lambda: tokenizer(some),
            "nanotoken, like transformers": lambda: like(some),
        },
        "flat arrays": {
            "trietok": lambda: tokenizer.encode_flat(some),
            "nanotoken": lambda: own.encode_batch(some),
        },
    }
    there = {
        "nanotoken": nano,
        "nanotoken, like transformers": nano,
        "tokenizers": rust,
        "trietok": tokenizer,
    }
    return {name: call for name, call in of_kind[kind].items() if there[name] is not None}


def timed(call: Callable[[], object], times: int) -> float:
    """Microseconds of CPU time a call."""
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times * 1e6


def in_turns(each: Calls) -> dict[str, list[float]]:
    """Microseconds a call, from the shortest to the longest."""
    times = {}
    for name, call in each.items():
        timed(call, 3)
        times[name] = max(1, int(SECONDS_A_TURN * 1e6 / max(timed(call, 5), 0.5)))
    taken: dict[str, list[float]] = {name: [] for name in each}
    for _ in range(ROUNDS):
        for name, call in each.items():
            taken[name].append(timed(call, times[name]))
    return {name: sorted(row) for name, row in taken.items()}


def with_spread(row: list[float]) -> str:
    first, middle, last = statistics.quantiles(row, n=4) if len(row) > 1 else row * 3
    return f"{middle:.3g} ({first:.3g}-{last:.3g})"


def on_one_cpu() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def rows(profile: type[Any]) -> list[tuple[str, int, str]]:
    """Of each kind and number of texts: the figures of the contenders."""
    tokenizer = profile.from_pretrained(MODEL, model_max_length=10**9)
    nano = Nanotoken() if importlib.util.find_spec("nanotoken") else None
    rust = None
    if importlib.util.find_spec("tokenizers") and Path(MODEL, "tokenizer.json").exists():
        import tokenizers

        rust = tokenizers.Tokenizer.from_file(str(Path(MODEL, "tokenizer.json")))
        rust.no_truncation()
        rust.no_padding()
    jobs = [("a text to arrays", queries(1))]
    for kind in ("padded arrays", "lists of ids", "lists", "flat arrays"):
        jobs += [(f"{kind}, queries", queries(size)) for size in SIZES]
        jobs += [(f"{kind}, lines", [text for text in texts() if text][:size]) for size in SIZES]
    jobs.append(("a block", [" ".join(texts()[i : i + 20])[:1000] for i in range(0, 64 * 20, 20)]))
    found = []
    for kind, some in jobs:
        taken = in_turns(calls(kind.split(",")[0], some, tokenizer, nano, rust))
        found.append(
            (
                kind,
                len(some),
                "; ".join(
                    starmap("{}: {}".format, ((k, with_spread(v)) for k, v in taken.items()))
                ),
            )
        )
    return found


def few_texts(name: str, count: int) -> list[float]:
    """Microseconds of each of 50 calls for the same few queries, and of many more, in a process
    that does only that.
    """
    on_one_cpu()
    some = queries(count)
    if name == "nanotoken":
        own = Nanotoken().own
        call = lambda: own.encode_batch_padded(some)  # noqa: E731
    else:
        tokenizer = getattr(trietok, name).from_pretrained(MODEL, model_max_length=10**9)
        call = lambda: tokenizer(some, padding=True, return_tensors="np")  # noqa: E731
    taken = [timed(call, 1) for _ in range(50)]
    return [taken[0], sum(taken), timed(call, max(50, 20_000 // count))]


def test_batches(capsys):
    on_one_cpu()
    for profile in (trietok.BertTokenizer, trietok.BertTokenizerFast):
        with capsys.disabled():
            print(f"\n{profile.__name__}: microseconds a call")
            for kind, count, figures in rows(profile):
                print(f"{kind}, {count}: {figures}")


def test_few_texts(capsys):
    names = [
        "BertTokenizer",
        "BertTokenizerFast",
        *(["nanotoken"] if importlib.util.find_spec("nanotoken") else []),
    ]
    context = multiprocessing.get_context("spawn")
    for count, name in itertools.product((1, 8, 256), names):
        runs = []
        for _ in range(5):
            with context.Pool(1) as pool:
                runs.append(pool.apply(few_texts, (name, count)))
        first, fifty, later = (with_spread(sorted(each)) for each in zip(*runs, strict=True))
        with capsys.disabled():
            print(
                f"\n{name}, {count} queries: the first {first}, 50 together {fifty}, later"
                f" {later} µs",
                end="",
            )


if __name__ == "__main__":
    on_one_cpu()
    for profile_name in sys.argv[1:] or ["BertTokenizer"]:
        for row in rows(getattr(trietok, profile_name)):
            print(*row, sep=" | ", flush=True)
