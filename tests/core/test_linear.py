"""Texts made to be slow: twice the characters take twice the steps and twice the memory, in both
profiles.

Steps are the calls that Python makes, which do not depend on the machine. What is done in C is
measured by processor time, of texts whose cost would be sixteen times as much if it were quadratic.
"""

from __future__ import annotations

import functools
import random
import sys
import time
import tracemalloc
import unicodedata
from collections import defaultdict

import pytest

import trietok
from tests.conftest import often
from tests.core import fake_analyzers
from trietok import AddedToken, google_bert
from trietok.text.characters import LONG_RUN, normalize
from trietok.text.kernel.choosing import using_kernel

KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
MARKS = [chr(code) for code in range(0x300, 0x1E2F0) if unicodedata.combining(chr(code))]
FALLING = sorted(MARKS, key=unicodedata.combining, reverse=True)


def words(letters: str, size: int):
    def text(length: int) -> str:
        rng = random.Random(length)
        return " ".join("".join(rng.choices(letters, k=size)) for _ in range(length // (size + 1)))

    return text


TEXTS = {
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
NAMES = ("lstrip", "rstrip", "single_word", "normalized")
FLAGS = [
    {name: bool(number >> place & 1) for place, name in enumerate(NAMES)} for number in range(16)
]


def steps(tokenizer, text: str, encode=None) -> int:
    """The calls that Python makes for a text."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    tokenizer.cache_clear()
    sys.setprofile(profile)
    try:
        if encode is None:
            tokenizer(text, return_offsets_mapping=True)
        else:
            encode(text)
    finally:
        sys.setprofile(None)
    return count


def memory(tokenizer, text: str) -> int:
    """The most bytes that a text takes at a time."""
    tokenizer.cache_clear()
    tracemalloc.start()
    try:
        tokenizer(text, return_offsets_mapping=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def assert_linear(tokenizer, text_of, measure, smallest: int) -> None:
    tokenizer.model_max_length = 10**9
    texts = [text_of(smallest * factor) for factor in (1, 2, 4)]
    for text in texts:
        tokenizer(text, return_offsets_mapping=True)  # what is built once is built
    _, half, whole = measured = [min(measure(tokenizer, text) for _ in range(2)) for text in texts]
    assert whole <= 2.5 * half + 400, measured  # a quadratic cost would be four times as much


@pytest.fixture(scope="module")
def tokenizers():
    return [kind.from_pretrained("trietok-en") for kind in KINDS]


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_steps_in_proportion_to_its_length(tokenizers, name):
    for tokenizer in tokenizers:
        assert_linear(tokenizer, TEXTS[name], steps, 300)


@pytest.mark.parametrize("name", TEXTS)
def test_chunks_cost_steps_in_proportion(tokenizers, name):
    for tokenizer in tokenizers:
        counts = []
        for length in (600, 2_400):
            text = TEXTS[name](length)
            tokenizer.chunks(text, 12, at="sentence", overlap=2)  # what is built once is built
            cut = functools.partial(tokenizer.chunks, max_tokens=12, at="sentence", overlap=2)
            counts.append(steps(tokenizer, text, cut))
        # A text with few tokens is read in blocks that double. A quadratic cost would be sixteen
        # times as much.
        assert counts[1] <= 10 * counts[0] + 400, counts


@pytest.mark.benchmark
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_costs_memory_in_proportion_to_its_length(tokenizers, name):
    for tokenizer in tokenizers:
        assert_linear(tokenizer, TEXTS[name], memory, 2000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "flags",
    FLAGS,
    ids=lambda flags: "+".join(name for name, value in flags.items() if value) or "-",
)
def test_tokens_of_spaces_cost_steps_in_proportion(vocab_file, kind, flags):
    assert_linear(with_spaces(kind, vocab_file, flags), lambda n: " " * n, steps, 300)


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "flags", FLAGS, ids=lambda flags: "+".join(filter(flags.get, flags)) or "none"
)
def test_tokens_of_spaces_cost_memory_in_proportion(vocab_file, kind, flags):
    assert_linear(with_spaces(kind, vocab_file, flags), lambda n: " " * n, memory, 2000)


def with_spaces(kind, vocab_file, flags):
    tokenizer = kind(vocab_file("a"))
    tokenizer.add_tokens([AddedToken(" ", **flags), AddedToken("  a", **flags)])
    return tokenizer


# ---- runs of marks -------------------------------------------------------------------------------

PYTHONS = unicodedata.normalize
PROCESS_SEED = random.SystemRandom().randrange(10**6)
SPLITTING = ({}, {"split_special_tokens": True})


def scripts() -> dict[str, str]:
    """What normalization may put in order, or may compose with what is before it: by the first word
    of the names.
    """
    found = defaultdict(list)
    for code in range(0x110000):
        char = chr(code)
        is_jamo = 0x1100 <= code < 0x1200
        if unicodedata.combining(PYTHONS("NFKD", char)[0]) or is_jamo:
            found[unicodedata.name(char, "-").split()[0]].append(char)
    assert {char for chars in found.values() for char in chars} >= set(MARKS)
    return {
        **{name: "".join(chars) for name, chars in found.items()},
        "all": "".join(MARKS),
        "Tibetan that decomposes": "\u0f73\u0f75\u0f81",
        "kana": "か\u3099ハ\u309a\uff8a\uff9f\uff76\uff9e\u0323",
        "nukta": "\u0915\u093c\u0958\u094d\u0301",
        "composed": "\u1e69\u01d5\u0344\u0345\u0323\u0307",
    }


SCRIPTS = scripts()

# The marked test tries every script at night.
OTHERS = random.Random(PROCESS_SEED).sample(sorted(SCRIPTS), often(3, len(SCRIPTS)))
FEW = ["all", "kana", OTHERS[0]]


def run_of(script: str, length: int) -> str:
    """A run in no order; one in falling order, with the marks of one class side by side; one that
    goes up and down.
    """
    marks = SCRIPTS[script]
    falling = sorted(marks, key=unicodedata.combining, reverse=True)
    part = length // 3
    shuffled = "".join(random.Random(f"{PROCESS_SEED} {length}").choices(marks, k=part))
    by_class = "".join(falling[i * len(falling) // part] for i in range(part))
    return f"{shuffled} a{by_class} {(''.join(falling) * (part // len(falling) + 1))[:part]}"


def assert_time_is_linear(function, text_of) -> None:
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
    pytest.fail(f"{times[0]:.3f} and {times[1]:.3f} s, seed {PROCESS_SEED}")


def assert_calls_are_linear(kind, kernel: str, scripts: list[str]) -> None:
    with using_kernel(kernel, text_before_kernel=0):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=10**9)
        tokenizer("warm up \xe9 " * 30)
        for script in scripts:
            for options in SPLITTING:
                for details in ({}, {"return_offsets_mapping": True}):

                    def call(text, options=options, details=details):
                        tokenizer.cache_clear()
                        tokenizer(text, **options, **details)

                    assert_time_is_linear(call, functools.partial(run_of, script))


@pytest.mark.parametrize("kernel", ["compiled", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_marks_take_time_in_proportion(kind, kernel):
    assert_calls_are_linear(kind, kernel, ["all", "Tibetan that decomposes"])


@pytest.mark.faults
@pytest.mark.parametrize("kernel", ["compiled", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_marks_of_every_script_take_time_in_proportion(kind, kernel):
    assert_calls_are_linear(kind, kernel, OTHERS)


@pytest.fixture
def analyzers(monkeypatch, tmp_path):
    for name, module in fake_analyzers.modules(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)


def test_whatever_normalizes_takes_time_in_proportion(analyzers, vocab_file):
    path, longest = vocab_file("a"), {"model_max_length": 10**9}
    tokenizer = trietok.BertTokenizer(path, **longest)
    functions = [
        trietok.BertTokenizer(path, do_lower_case=False, **longest),
        trietok.BertTokenizer(path, do_basic_tokenize=False, **longest),
        google_bert.BasicTokenizer().tokenize,
        tokenizer.basic_tokenizer.tokenize,
        lambda text: str(tokenizer.explain(text)),
        lambda text: trietok.suggest_tokens(tokenizer, [text, "a"]),
        lambda text: tokenizer.convert_tokens_to_string([text, text]),
        lambda text: trietok.train_wordpiece([text], vocab_size=100),
    ]
    for subword in ("wordpiece", "character"):
        japanese = trietok.BertJapaneseTokenizer(
            path, word_tokenizer_type="mecab", subword_tokenizer_type=subword, **longest
        )
        functions += [japanese, functools.partial(japanese, return_offsets_mapping=True)]
    for number, function in enumerate(functions):
        print(number)
        assert_time_is_linear(function, functools.partial(run_of, "all"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("token", ["a" * 5000 + "X", "aX", " "])
def test_added_tokens_that_nearly_match_take_time_in_proportion(vocab_file, kind, token):
    tokenizer = kind(vocab_file("a"), model_max_length=10**9)
    tokenizer.add_tokens([AddedToken(token, rstrip=True, normalized=False), "foo"])
    for letter in "a ":
        assert_time_is_linear(tokenizer, lambda length, letter=letter: letter * length)


def assert_same_forms(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert normalize(form, text) == PYTHONS(form, text), (form, PROCESS_SEED)


def test_runs_of_marks_have_the_forms_of_unicodedata():
    """Runs of all scripts; and behind and before long runs, characters that normalization
    changes.
    """
    rng = random.Random(PROCESS_SEED)
    for script in SCRIPTS:
        assert_same_forms(run_of(script, 6 * LONG_RUN))
    changed = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.decomposition(chr(code)) or 0xAC00 <= code < 0xD7A4
    ]
    for char in rng.sample(changed, often(100)):
        assert_same_forms(
            f"{char}{run_of('all', 2 * LONG_RUN).replace(' ', char)}{char}{run_of('kana', LONG_RUN)}"
        )


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_marks_have_the_ids_and_spans_of_plain_python(kind):
    results = []
    for kernel in ("compiled", "plain"):
        with using_kernel(kernel, text_before_kernel=0):
            tokenizer = kind.from_pretrained("trietok-en", model_max_length=10**9)
            texts = [f"to {run_of(script, 6 * LONG_RUN)}e no" for script in FEW]
            results.append(
                [
                    [*tokenizer(texts, return_offsets_mapping=True, **given).values()]
                    for given in SPLITTING
                ]
            )
    assert results[0] == results[1], PROCESS_SEED
