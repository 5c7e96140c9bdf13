"""Texts made to be slow: twice the characters take twice the steps and twice the memory, in both
profiles.

Steps are the calls that Python makes, which do not depend on the machine; what a single call does
in C is bounded by the tests that count visits, compared characters and characters of whitespace.
"""

from __future__ import annotations

import ast
import functools
import os
import pathlib
import random
import re
import sys
import time
import tracemalloc
import unicodedata
from collections import Counter, defaultdict

import pytest

import trietok
from tests.text.test_trie import CountedVisits
from tests.tokenizer import fake_analyzers
from trietok import AddedToken, google_bert
from trietok.explaining.contrast import why_differ
from trietok.text import added_search
from trietok.text.alignment import AlignedText
from trietok.text.basic_tokenizer import BasicTokenizer, RustBasicTokenizer
from trietok.text.characters import LONG_RUN, normalize
from trietok.text.japanese import CharacterTokenizer
from trietok.text.kernel.blocks import BLOCK_SIZE
from trietok.text.kernel.choosing import kernel_at_work, using_kernel
from trietok.text.normalizers import NormalForm
from trietok.text.word_search import FEW_CHARS, WordSearch
from trietok.workbench.checking.reach import Reach

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


# ---- what one call does in C ---------------------------------------------------------------------


@pytest.mark.parametrize("first_wins", [False, True])
def test_long_words_are_searched_with_a_bounded_number_of_visits(monkeypatch, first_wins):
    visits = CountedVisits(monkeypatch)
    for length in (1500, 3000, 6000):
        search = WordSearch(["a" * length + "X", "foo"], first_wins=first_wins)
        assert search.find("a" * length + "bX") == []  # the links are worked out
        before = visits.count
        assert search.find("a" * length + "Xa") == [(0, length + 1)]
        assert length <= visits.count - before <= 3 * length


def test_a_pattern_compares_a_bounded_number_of_characters():
    """Whatever the words are: one pattern is used only where all its words together are short."""
    for words_ in (["a" * 100 + "X"] * 1, ["b" * 30] * 32, ["a" * 600, "a" * 500]):
        words_ = [f"{i}{word}" for i, word in enumerate(words_)]
        patterns = [part for part in WordSearch(words_).parts if part._has_pattern]
        assert all(sum(map(len, part.words)) <= FEW_CHARS for part in patterns)
    assert not WordSearch(["a" * (FEW_CHARS + 1)]).parts[0]._has_pattern


def test_long_and_short_words_are_found_alike():
    """A trie and a pattern find the same, whichever the lengths choose."""
    rng = random.Random(5)
    for _ in range(40):
        some = {"".join(rng.choices("ab", k=rng.choice((1, 2, 3, 8)))) for _ in range(4)}
        text = "".join(rng.choices("ab", k=100))
        found = WordSearch(some).find(text)
        assert found == WordSearch([*some, "c" * (FEW_CHARS + 1)]).find(text)


def test_a_run_of_whitespace_is_looked_at_once(monkeypatch):
    looked_at = []

    class Counting:
        def match(self, text, position):
            found = re.compile(" *").match(text, position)
            looked_at.append(found.end() - position)
            return found

    monkeypatch.setattr(added_search, "_run_of_whitespace", Counting)
    tokens = added_search.AddedTokens(
        {5: AddedToken(" ", rstrip=True, normalized=False)}, basic=RustBasicTokenizer()
    )
    parts = tokens.parts("a" + " " * 500 + "a" + " " * 500)
    assert len(parts) == 1002
    assert parts[1] == (1, 501, " ")
    assert sum(looked_at) <= 1000


def test_spans_are_made_without_the_texts_of_added_tokens(vocab_file):
    """Each token of a run takes the run's rest, so what they show is quadratic in its length; their
    spans are not.
    """
    tokenizer = trietok.BertTokenizerFast(vocab_file("a"))
    tokenizer.add_tokens([AddedToken(" ", rstrip=True, normalized=False)])
    stages = tokenizer._now().encoder.stages
    assert stages.spans("a" + " " * 50) == stages.locate("a" + " " * 50).spans
    assert sum(map(len, stages._located(" " * 50, shows_added=False).tokens)) == 0
    assert stages.locate(" " * 3).tokens == ["   ", "  ", " "]


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
FEW = ["all", "kana"]  # the marked tests try every script, or as many as `TRIETOK_SCRIPTS` says
OTHERS = random.Random(PROCESS_SEED).sample(
    sorted(set(SCRIPTS) - set(FEW)), len(SCRIPTS) - len(FEW)
)
MANY = [*FEW, *OTHERS[: int(os.environ.get("TRIETOK_SCRIPTS", "1000"))]]
FEW += OTHERS[:1]


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


class Swaps:
    """Stands for `unicodedata.normalize`, and counts what it does: a step a character, and one for
    each two marks that change places, since CPython puts marks in order by insertion.
    """

    def __init__(self, monkeypatch) -> None:
        self.steps = 0
        self.counts: dict[tuple[str, str], int] = {}
        monkeypatch.setattr(unicodedata, "normalize", self)

    def __call__(self, form: str, text: str) -> str:
        if (form, text) not in self.counts:
            self.counts[form, text] = self._count("NFKD" if "K" in form else "NFD", text)
        self.steps += self.counts[form, text]
        return PYTHONS(form, text)

    @staticmethod
    def _count(form: str, text: str) -> int:
        steps, before = len(text), Counter()
        for char in text:
            for part in PYTHONS(form, char):
                own = unicodedata.combining(part)
                if not own:
                    before.clear()
                    continue
                steps += sum(number for other, number in before.items() if other > own)
                before[own] += 1
        return steps

    def of(self, function, text: str) -> int:
        self.steps = 0
        function(text)
        return self.steps

    def assert_linear(self, function, script: str, smallest: int = 8 * LONG_RUN) -> None:
        _, half, whole = measured = [
            self.of(function, run_of(script, smallest * factor)) for factor in (1, 2, 4)
        ]
        # Up to so many marks are put in order by insertion: so many steps a mark at most.
        assert whole <= 3 * half + 400 * LONG_RUN, (script, measured, PROCESS_SEED)


def swaps_of_calls(monkeypatch, script: str, kernel: str) -> None:
    swaps = Swaps(monkeypatch)
    with using_kernel(kernel, text_before_kernel=0):
        for kind in KINDS:
            tokenizer = kind.from_pretrained("trietok-en", model_max_length=10**9)
            tokenizer("warm up \xe9 " * 30)
            for options in SPLITTING:
                for details in ({}, {"return_offsets_mapping": True}):

                    def call(text, tokenizer=tokenizer, options=options, details=details):
                        tokenizer.cache_clear()
                        tokenizer(text, **options, **details)

                    swaps.assert_linear(call, script)


@pytest.mark.parametrize("kernel", ["compiled", "plain"])
@pytest.mark.parametrize("number", range(len(FEW)))
def test_marks_are_put_in_order_in_linear_time(monkeypatch, number, kernel):
    print("seed", PROCESS_SEED, FEW[number])
    swaps_of_calls(monkeypatch, FEW[number], kernel)


@pytest.mark.faults
@pytest.mark.parametrize("kernel", ["compiled", "plain"])
def test_the_marks_of_every_script_are_put_in_order_in_linear_time(monkeypatch, kernel):
    for script in MANY:
        swaps_of_calls(monkeypatch, script, kernel)


class Different:
    """Of `why_differ`: words that only one side has, so that they are compared in their normal
    forms.
    """

    def __init__(self, word: str) -> None:
        self.kind, self.token, self.word, self.word_text, self.unknown = (
            "wordpiece",
            word,
            0,
            word,
            None,
        )
        self.stages = ()


def others(vocab_file) -> dict[str, object]:
    """Whatever else normalizes a text."""
    tokenizer = trietok.BertTokenizer(vocab_file("a"), model_max_length=10**9)
    cased = trietok.BertTokenizer(vocab_file("a"), model_max_length=10**9, do_lower_case=False)
    whole = trietok.BertTokenizer(vocab_file("a"), model_max_length=10**9, do_basic_tokenize=False)
    japanese = {"word_tokenizer_type": "mecab", "model_max_length": 10**9}
    words = trietok.BertJapaneseTokenizer(vocab_file("a"), **japanese)
    characters = trietok.BertJapaneseTokenizer(
        vocab_file("a"), subword_tokenizer_type="character", **japanese
    )
    located = {"return_offsets_mapping": True}
    return {
        "BasicTokenizer": BasicTokenizer().tokenize,
        "BasicTokenizer.normalize": BasicTokenizer().normalize,
        "Google's": google_bert.BasicTokenizer().tokenize,
        "composed": NormalForm("NFC"),
        "characters": CharacterTokenizer({"a": 0}, "[UNK]").tokenize,
        "characters with spans": (
            lambda text: CharacterTokenizer({"a": 0}, "[UNK]").locate(AlignedText.of(text))
        ),
        "Japanese": words,
        "Japanese with spans": lambda text: words(text, **located),
        "Japanese characters with spans": lambda text: characters(text, **located),
        "cased": lambda text: cased(text, **located),
        "no basic tokenizer": lambda text: whole(text, **located),
        "explain": lambda text: tokenizer.explain(text).to_dict(),
        "explain as text": lambda text: str(tokenizer.explain(text)),
        "unknown words": lambda text: trietok.suggest_tokens(tokenizer, [text, "a"]),
        "decoding": lambda text: tokenizer.convert_tokens_to_string([text, text]),
        "reach": Reach(tokenizer).reason,
        "never matched": words._never_matched,
        "differing": lambda text: why_differ(
            Different(text), Different(text), [Different(text)], [Different(f"b{text}")], (0, 1)
        ),
        "training": lambda text: trietok.train_wordpiece([text], vocab_size=3000),
        "training of merges": lambda text: trietok.train_bpe([text], vocab_size=3000),
    }


@pytest.fixture
def analyzers(monkeypatch, tmp_path):
    for name, module in fake_analyzers.modules(tmp_path).items():
        monkeypatch.setitem(sys.modules, name, module)


def test_whatever_normalizes_puts_marks_in_order_in_linear_time(monkeypatch, analyzers, vocab_file):
    swaps, functions = Swaps(monkeypatch), others(vocab_file)
    for name, function in functions.items():
        print(name, PROCESS_SEED)
        swaps.assert_linear(function, "all")


def test_one_place_normalizes():
    """All others call `characters.normalize`, which is linear; but what normalizes one block of
    characters, each of them on a line.
    """
    calls = {
        path.name
        for path in pathlib.Path(trietok.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in ("normalize", "is_normalized")
        if isinstance(node.value, ast.Name) and node.value.id == "unicodedata"
        if node.attr == "normalize"
        or path.name != "choosing.py"  # of the common Chinese characters
    }
    assert calls == {"characters.py", "blocks.py"}
    assert BLOCK_SIZE <= LONG_RUN


def cpu_of(function, text: str) -> float:
    start = time.process_time()
    function(text)
    return time.process_time() - start


@pytest.mark.faults
@pytest.mark.parametrize("kernel", ["compiled", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_runs_of_marks_take_processor_time_in_proportion(kind, kernel):
    """What is done in C, which cannot be counted: four times the marks take no more than ten times
    the time.
    """
    with using_kernel(kernel, text_before_kernel=0):
        tokenizer = kind.from_pretrained("trietok-en", model_max_length=10**9)
        tokenizer("warm up \xe9 " * 30)
        for script in MANY:
            for options in SPLITTING:
                for details in ({}, {"return_offsets_mapping": True}):

                    def call(text, options=options, details=details):
                        tokenizer.cache_clear()
                        tokenizer(text, **options, **details)

                    texts = [run_of(script, 5000 * factor) for factor in (1, 4)]
                    for _ in range(5):
                        few, many = (cpu_of(call, text) for text in texts)
                        if many <= 10 * few + 0.02:
                            break
                    else:
                        pytest.fail(
                            f"{script}, {options}, {details}: {few:.3f} and {many:.3f} s,"
                            f" {PROCESS_SEED}"
                        )


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
    for char in rng.sample(changed, 50):
        assert_same_forms(
            f"{char}{run_of('all', 2 * LONG_RUN).replace(' ', char)}{char}{run_of('kana', LONG_RUN)}"
        )


@pytest.mark.faults
def test_characters_in_a_run_of_marks_have_the_form_of_unicodedata():
    """Every character that normalization moves, takes apart or joins to one before it, and as many
    of all others; or as many blocks of them as `TRIETOK_BLOCKS` says.
    """
    syllables, rng = range(0xAC00, 0xD7A4), random.Random(PROCESS_SEED)
    apart = {
        chr(code)
        for code in range(0x110000)
        if code not in syllables and unicodedata.decomposition(chr(code))
    }
    touched = apart | {unicodedata.normalize("NFD", char)[-1] for char in apart}
    touched |= {chr(code) for code in range(0x110000) if unicodedata.combining(chr(code))}
    touched |= {chr(code) for code in range(0x1100, 0x1200)}  # jamo are joined to syllables
    chars = sorted(touched) + [chr(code) for code in rng.sample(range(0x110000), len(touched))]
    run = run_of("all", LONG_RUN + 40).replace(" ", "")
    starts = range(0, len(chars), 256)
    most = int(os.environ.get("TRIETOK_BLOCKS", len(starts)))
    for start in rng.sample(starts, min(most, len(starts))):
        assert_same_forms(" ".join(f"{run}{char}\u0323" for char in chars[start : start + 256]))


@pytest.mark.skipif(kernel_at_work() != "compiled", reason="no kernel")
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
