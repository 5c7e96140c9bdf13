"""Texts made to be slow: four times the characters take about four times the steps, in both classes.

A step is a call that Python makes, which does not depend on the machine. What is done in C makes
none: the tests that are marked as benchmarks compare the processor time and the memory of that, with
the kernel and in plain Python. They run at night.
"""

from __future__ import annotations

import functools
import random
import sys
import time
import tracemalloc
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

import trietok
from tests.conftest import using_kernel
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, google_bert

KINDS = (BertTokenizer, BertTokenizerFast)
MARKS = [chr(code) for code in range(0x300, 0x1E2F0) if unicodedata.combining(chr(code))]
FALLING = sorted(MARKS, key=unicodedata.combining, reverse=True)
NO_LIMIT = {"model_max_length": 10**9}


def words(letters: str, size: int) -> Callable[[int], str]:
    def text(length: int) -> str:
        rng = random.Random(length)
        return " ".join("".join(rng.choices(letters, k=size)) for _ in range(length // (size + 1)))

    return text


TEXTS: dict[str, Callable[[int], str]] = {
    "one letter": lambda n: "a" * n,
    "U+1D160, which decomposes to three": lambda n: "\U0001d160" * n,
    "marks of one class": lambda n: "a" + "\u0301" * n,
    "marks of two classes": lambda n: "\u0301\u0316" * (n // 2),
    "marks of many classes": lambda n: "".join(random.Random(n).choices(MARKS, k=n)),
    "marks in falling order": lambda n: "".join(FALLING[i * len(FALLING) // n] for i in range(n)),
    "Tibetan vowels that decompose": lambda n: "\u0f73\u0f75\u0f81" * (n // 3),
    "kana with marks": lambda n: "か\u3099ハ\u309a\uff8a\uff9f\uff76\uff9e\u0323" * (n // 9),
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


def steps(call: Callable[[], Any]) -> int:
    """The calls that Python makes."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def milliseconds(call: Callable[[], Any]) -> float:
    """The processor time of the quicker of two calls."""
    times = []
    for _ in range(2):
        start = time.process_time()
        call()
        times.append(1_000 * (time.process_time() - start))
    return min(times)


def memory(call: Callable[[], Any]) -> int:
    """The most bytes that a call takes at a time."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(
    use: Callable[[str], Any],
    text_of: Callable[[int], str],
    measure: Any,
    size: int,
    spare: int,
    times: int = 4,
) -> None:
    """Four times the characters cost at most eight times as much; sixteen would be quadratic. In
    general, `times` the characters cost `times` ** 1.5.
    """
    texts = [text_of(size), text_of(size * times)]
    for text in texts:
        use(text)  # what is built once is built
    few, many = (measure(lambda text=text: use(text)) for text in texts)
    assert many <= times**1.5 * few + spare, (few, many)


@functools.cache
def built_in(kind: Any, kernel: str) -> Any:
    """The tokenizer that the tests with this kernel share."""
    return kind.from_pretrained("trietok-en", **NO_LIMIT)


def fresh(tokenizer: Any, use: Callable[..., Any], **options: Any) -> Callable[[str], Any]:
    """What is done with a text, each time as if it were the first."""

    def clear_and_use(text: str) -> Any:
        tokenizer.cache_clear()
        return use(text, **options)

    return clear_and_use


def call(tokenizer: Any) -> Callable[[str], Any]:
    return fresh(tokenizer, tokenizer)


def spans(tokenizer: Any) -> Callable[[str], Any]:
    return fresh(tokenizer, tokenizer, return_offsets_mapping=True)


def chunks(tokenizer: Any) -> Callable[[str], Any]:
    return fresh(tokenizer, tokenizer.chunks, max_tokens=12, at="sentence", overlap=2)


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "kernel",
    ["plain", pytest.param("compiled", marks=[pytest.mark.kernel, pytest.mark.benchmark])],
    indirect=True,
)
def test_a_text_costs_steps_in_proportion_to_its_length(kernel, kind, name):
    tokenizer = built_in(kind, kernel)
    for use in (spans(tokenizer), chunks(tokenizer)):
        assert_linear(use, TEXTS[name], steps, 300, spare=800)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", [name for name in TEXTS if "mark" in name or "Tibetan" in name])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_marks_costs_processor_time_in_proportion(kernel, kind, name):
    tokenizer = built_in(kind, kernel)
    for use in (call(tokenizer), spans(tokenizer)):
        assert_linear(use, TEXTS[name], milliseconds, 8_000, spare=60)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_costs_memory_in_proportion_to_its_length(kernel, kind, name):
    tokenizer = built_in(kind, kernel)
    # What grows in steps, such as tables of what is remembered, hides it at four times the length.
    assert_linear(spans(tokenizer), TEXTS[name], memory, 4_000, spare=20_000, times=16)


@pytest.mark.benchmark
def test_whatever_normalizes_costs_processor_time_in_proportion(vocab_file):
    path = vocab_file("a")
    tokenizer = BertTokenizer(path, **NO_LIMIT)
    for use in (
        BertTokenizer(path, do_lower_case=False, **NO_LIMIT),
        BertTokenizer(path, do_basic_tokenize=False, **NO_LIMIT),
        google_bert.BasicTokenizer().tokenize,
        tokenizer.basic_tokenizer.tokenize,
        lambda text: str(tokenizer.explain(text)),
        lambda text: trietok.suggest_tokens(tokenizer, [text, "a"]),
        lambda text: tokenizer.convert_tokens_to_string([text, text]),
        lambda text: trietok.train_wordpiece([text], vocab_size=100),
    ):
        assert_linear(use, TEXTS["marks of many classes"], milliseconds, 5_000, spare=60)


@pytest.mark.benchmark
@pytest.mark.parametrize("token", ["a" * 5_000 + "X", "aX", " ", "a " * 300 + "b"])
@pytest.mark.parametrize("kind", KINDS)
def test_added_tokens_that_nearly_match_cost_processor_time_in_proportion(kernel, kind, token):
    tokenizer = kind.from_pretrained("trietok-en", **NO_LIMIT)
    tokenizer.add_tokens([AddedToken(token, rstrip=True, normalized=False), "foo", "  a"])
    for part in ("a", " ", "a "):
        text_of = lambda length, part=part: part * (length // len(part))  # noqa: E731
        assert_linear(call(tokenizer), text_of, milliseconds, 8_000, spare=60)


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", KINDS)
def test_overlapping_tokens_that_are_added_later_cost_time_in_proportion(kernel, kind):
    tokenizer = kind.from_pretrained("trietok-en", **NO_LIMIT)
    tokenizer.add_tokens(["aax" * 4_000 + "b", "aa", *[f"z{number}" for number in range(40)]])
    tokenizer.add_tokens("xa")
    text_of = lambda length: "xaa" * (length // 3)  # noqa: E731
    assert_linear(call(tokenizer), text_of, milliseconds, 8_000, spare=60)


@pytest.mark.kernel
def test_long_runs_of_marks_have_the_ids_and_spans_of_plain_python():
    texts = [f"to {TEXTS[name](1_500)}e no" for name in TEXTS]
    results = []
    for kernel in ("compiled", "plain"):
        with using_kernel(kernel):
            tokenizer = BertTokenizer.from_pretrained("trietok-en", **NO_LIMIT)
            results.append(dict(tokenizer(texts, return_offsets_mapping=True)))
    assert results[0] == results[1]
