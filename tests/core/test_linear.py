"""Texts made to be slow: twice the characters take twice the steps and twice the memory.

Steps are the calls that Python makes, which do not depend on the machine. What C does for one call
is measured by processor time, of texts whose cost would be sixteen times as much if it were
quadratic.
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
from transformers.models.bert import tokenization_bert

import trietok
from tests.conftest import often, using_kernel
from tests.core.stopped import lines_of
from trietok import AddedToken, google_bert

KINDS = ("BertTokenizer", "BertTokenizerFast")
SEED = random.SystemRandom().randrange(10**6)
MARKS = [chr(code) for code in range(0x300, 0x1E2F0) if unicodedata.combining(chr(code))]
FALLING = sorted(MARKS, key=unicodedata.combining, reverse=True)
# What normalization changes.
CHANGED = [chr(code) for code in range(0x110000) if unicodedata.decomposition(chr(code))]
CHANGED += map(chr, range(0xAC00, 0xD7A4, 7))
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
USES: dict[str, Callable[[Any, str], Any]] = {
    "a call": lambda tokenizer, text: tokenizer(text, return_offsets_mapping=True),
    "chunks": lambda tokenizer, text: tokenizer.chunks(text, 12, at="sentence", overlap=2),
}
FLAGS: list[dict[str, bool]] = [
    {},
    {"lstrip": True},
    {"rstrip": True, "single_word": True},
    {"lstrip": True, "rstrip": True, "normalized": False},
]


def steps(action: Callable[[], Any]) -> int:
    """The calls that Python makes in an action."""
    count = 0

    def profile(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def memory(action: Callable[[], Any]) -> int:
    """The most bytes that an action takes at a time."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(tokenizer: Any, use: str, text_of: Any, measure: Any, length: int) -> None:
    # Chunks are looked for in blocks that double, and memory doubles too: both grow by jumps.
    more, at_most = (2, 2.5) if use == "a call" and measure is steps else (4, 10)
    measured = []
    for text in (text_of(length), text_of(more * length)):
        USES[use](tokenizer, text)  # what is built once is built
        tokenizer.cache_clear()
        measured.append(measure(lambda text=text: USES[use](tokenizer, text)))
    # A quadratic cost would be four times as much; sixteen times of a text four times as long.
    least = 400 if measure is steps else 500_000  # bytes
    assert measured[1] <= at_most * measured[0] + least, measured


@functools.cache
def tokenizer_of(kernel: str, kind: str) -> Any:
    """A tokenizer that is used in a block of `using_kernel(kernel)` only."""
    tokenizer = getattr(trietok, kind).from_pretrained("trietok-en", **NO_LIMIT)
    tokenizer.encode("warm up \xe9 " * 30)
    return tokenizer


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_steps_in_proportion_to_its_length(name, kernel):
    for kind in KINDS:
        assert_linear(tokenizer_of(kernel, kind), "a call", TEXTS[name], steps, 600)


@pytest.mark.usefixtures("plain_kernel")
@pytest.mark.parametrize("name", TEXTS)
def test_chunks_of_a_text_cost_steps_in_proportion_to_its_length(name):
    assert_linear(tokenizer_of("plain", KINDS[1]), "chunks", TEXTS[name], steps, 600)


@pytest.mark.benchmark
@pytest.mark.usefixtures("plain_kernel")  # what the other allocates is not seen
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_memory_in_proportion_to_its_length(name):
    for kind in KINDS:
        assert_linear(tokenizer_of("plain", kind), "a call", TEXTS[name], memory, 2000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flags", FLAGS, ids="+".join)
def test_tokens_of_spaces_cost_steps_in_proportion(vocab_file, kind, flags, kernel):
    tokenizer = getattr(trietok, kind)(vocab_file("a"), **NO_LIMIT)
    tokenizer.add_tokens([AddedToken(" ", **flags), AddedToken("  a", **flags)])
    assert_linear(tokenizer, "a call", TEXTS["spaces"], steps, 600)


@pytest.mark.parametrize("kind", KINDS)
def test_one_more_token_takes_no_longer_among_many(kind):
    def lines_among(many: int) -> int:
        tokenizer = getattr(trietok, kind).from_pretrained("trietok-en")
        tokenizer.add_tokens([f"zq{number}" for number in range(many)])
        tokenizer.encode("the people zq7")

        def add_and_encode() -> None:
            tokenizer.add_tokens(["one-more"])
            tokenizer.encode("the one-more people")

        return lines_of(add_and_encode)

    assert 0 < lines_among(5_000) < 2 * lines_among(500)


# ---- what C does ---------------------------------------------------------------------------------


def run_of_marks(length: int) -> str:
    """A run in no order; one in falling order, with the marks of one class side by side; one that
    goes up and down.
    """
    part = length // 3
    shuffled = "".join(random.Random(f"{SEED} {length}").choices(MARKS, k=part))
    by_class = "".join(FALLING[i * len(FALLING) // part] for i in range(part))
    return f"{shuffled} a{by_class} {(''.join(FALLING) * (part // len(FALLING) + 1))[:part]}"


def assert_time_is_linear(function: Callable[[str], Any], text_of: Callable[[int], str]) -> None:
    """Four times the characters take no more than ten times the processor time."""
    for attempt in range(5):
        texts = [text_of((10_000 + attempt) * factor) for factor in (1, 4)]  # so none is cached
        times = []
        for text in texts:
            start = time.process_time()
            function(text)
            times.append(time.process_time() - start)
        if times[1] <= 10 * times[0] + 0.02:
            return
    pytest.fail(f"{times[0]:.3f} and {times[1]:.3f} s, seed {SEED}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"split_special_tokens": True}], ids=["", "as text"])
def test_runs_of_marks_take_time_in_proportion(kind, options, kernel):
    tokenizer = tokenizer_of(kernel, kind)
    use = functools.partial(tokenizer, return_offsets_mapping=kernel == "plain", **options)
    assert_time_is_linear(use, run_of_marks)


OTHERS: dict[str, Callable[[trietok.BertTokenizer], Callable[[str], Any]]] = {
    "Google's tokenizer": lambda tokenizer: google_bert.BasicTokenizer().tokenize,
    "the basic tokenizer": lambda tokenizer: tokenizer.basic_tokenizer.tokenize,
    "explain": lambda tokenizer: lambda text: str(tokenizer.explain(text)),
    "suggest": lambda tokenizer: lambda text: trietok.suggest_tokens(tokenizer, [text, "a"]),
    "tokens": lambda tokenizer: lambda text: tokenizer.convert_tokens_to_string([text, text]),
    "train": lambda tokenizer: lambda text: trietok.train_wordpiece([text], vocab_size=100),
    "characters": lambda tokenizer: trietok.CharacterTokenizer({"[UNK]": 0}, "[UNK]").tokenize,
}


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_else_normalizes_takes_time_in_proportion(vocab_file, name):
    tokenizer = trietok.BertTokenizer(vocab_file("a"), **NO_LIMIT)
    assert_time_is_linear(OTHERS[name](tokenizer), run_of_marks)


@pytest.mark.parametrize("options", [{"do_lower_case": False}, {"do_basic_tokenize": False}])
def test_cased_runs_of_marks_take_time_in_proportion(vocab_file, options):
    assert_time_is_linear(
        trietok.BertTokenizer(vocab_file("a"), **options, **NO_LIMIT), run_of_marks
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("token", ["a" * 5000 + "X", "aX", " "])
def test_added_tokens_that_nearly_match_take_time_in_proportion(vocab_file, kind, token):
    tokenizer = getattr(trietok, kind)(vocab_file("a"), **NO_LIMIT)
    tokenizer.add_tokens([AddedToken(token, rstrip=True, normalized=False), "foo"])
    for letter in "a ":
        assert_time_is_linear(tokenizer, lambda length, letter=letter: letter * length)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_long_runs_of_marks_have_the_ids_and_spans_of_plain_python(kind):
    rng = random.Random(SEED)
    runs = [
        run_of_marks(400),
        *(f"{char}{run_of_marks(150)}{char}" for char in rng.sample(CHANGED, often(80))),
    ]
    texts = [f"to {run}e no" for run in runs]
    for options in ({}, {"split_special_tokens": True}):
        found = []
        for kernel in ("plain", "compiled"):
            with using_kernel(kernel):
                tokenizer = tokenizer_of(kernel, kind)
                found.append(tokenizer(texts, return_offsets_mapping=True, **options).data)
        assert found[0] == found[1], SEED


@pytest.mark.parametrize("lower", [True, False])
def test_long_runs_of_marks_become_what_they_become_in_transformers(lower):
    """A run is longer than what Python's own function is given at once."""
    ours = trietok.BasicTokenizer(do_lower_case=lower)
    theirs = tokenization_bert.BasicTokenizer(do_lower_case=lower)
    rng = random.Random(SEED)
    for char in rng.sample(CHANGED, often(80)):
        text = f"{char}{run_of_marks(600).replace(' ', char)}{char}e"
        assert ours.tokenize(text) == theirs.tokenize(text), (char, SEED)
