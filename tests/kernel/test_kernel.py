"""The compiled kernel gives what plain Python gives, whatever the text, the options and the
history; in bounded memory.
"""

from __future__ import annotations

import functools
import gc
import itertools
import random
import signal
import tempfile
import unicodedata
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples, often, using_kernel
from tests.kernel.twins import Recipe, Twins, kernels_alive, write_characters
from tests.strategies import CHARACTERS, directory_of, made, marked_texts, texts
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, TokenizeBatch

pytestmark = pytest.mark.kernel
KINDS = [BertTokenizer, BertTokenizerFast]
BUILT_IN = ["trietok-en", "trietok-zh", "trietok-multi"]
VARIANTS: dict[str, dict[str, Any]] = {
    "uncased": {},
    "cased": {"do_lower_case": False},
    "cased, accents stripped": {"do_lower_case": False, "strip_accents": True},
    "uncased, accents kept": {"strip_accents": False, "tokenize_chinese_chars": False},
}
TERMS = ("<ent>", "café", "世界", "ing", "x", "Ünï", "new york", "o-o")


@functools.cache
def characters() -> Path:
    """The directory of a vocabulary of characters that compose."""
    return write_characters(Path(tempfile.mkdtemp(prefix="trietok-characters-")))


@functools.cache
def twins(kind: Any, variant: str, directory: Path, *added: str | AddedToken) -> Twins:
    """A tokenizer with a kernel and one without; always the same two."""

    def make() -> Any:
        tokenizer = kind(directory / "vocab.txt", **VARIANTS[variant])
        tokenizer.add_tokens([*added])
        return tokenizer

    return Twins(make)


# ---- random texts --------------------------------------------------------------------------------


@examples(300)
@given(
    st.lists(st.one_of(texts(TERMS), marked_texts(), st.text(max_size=6)), min_size=1, max_size=3),
    st.sampled_from(KINDS),
    st.sampled_from([*VARIANTS]),
    st.sampled_from([(), TERMS]),
)
def test_kernel_equals_plain_python_on_random_texts(some_texts, kind, variant, added):
    pair = twins(kind, variant, characters(), *added)
    assert pair.different(some_texts) == []


def test_kernel_equals_plain_python_for_random_tokenizers():
    seed = random.SystemRandom().randrange(2**32)
    rng = random.Random(seed)
    directories = [characters(), characters(), *map(directory_of, BUILT_IN)]
    for _ in range(often(24)):
        recipe = Recipe(rng, directories)
        found = Twins(recipe.make).different(recipe.texts(rng, 60))
        assert found == [], f"seed {seed}, {recipe}"


@pytest.mark.parametrize("kind", KINDS)
def test_kernel_cuts_at_random_added_tokens_as_plain_python_does(kind):
    seed = random.SystemRandom().randrange(2**32)
    rng = random.Random(seed)

    def word() -> str:
        return "".join(rng.choices("abABxC[]|.1é", k=rng.randrange(1, 5)))

    for _ in range(often(24)):
        added = [
            made(
                trietok,
                {"content": word(), **{flag: rng.random() < share for flag, share in shares}},
            )
            for shares in [SHARES] * rng.choice([1, 3, 12])
        ]
        parts = ["[SEP]", "[UNK]", "[sep]", " ", "世", *[token.content for token in added] * 2]
        parts += [part.swapcase() for part in parts]
        some_texts = [
            "".join(
                rng.choice([rng.choice(parts), word()]) for _ in range(rng.choice([1, 3, 9, 60]))
            )
            for _ in range(60)
        ]

        def make(added: list[AddedToken] = added) -> Any:
            tokenizer = kind.from_pretrained("trietok-en")
            tokenizer.add_tokens(added)
            return tokenizer

        assert Twins(make).different(some_texts) == [], f"seed {seed}, {added}"


SHARES = [
    ("single_word", 0.1),
    ("lstrip", 0.1),
    ("rstrip", 0.1),
    ("normalized", 0.5),
    ("special", 0.3),
]


# ---- code points ---------------------------------------------------------------------------------

CONTEXTS = (
    *("{}", "{0}{0}", "a{}b", "A{}\u0301", "={}", "{}\u0338!", "世{}世", "ᄀ{}", "각{}", "ো{}"),
    *("e\u0323{}", "\u0301{}\u0323 x"),
)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [997, pytest.param(11, marks=pytest.mark.parity)])
def test_kernel_equals_plain_python_on_code_points_in_context(kind, variant, step):
    """On every `step`-th one, from a random one on; surrogates and what is not assigned alone."""
    pair = twins(kind, variant, directory_of("trietok-multi"))
    first = random.randrange(step)
    alone = [f"a{chr(code)}" for code in range(first, 0x110000, step)]
    chosen = CHARACTERS[first::step]
    for some in (alone, *([context.format(char) for char in chosen] for context in CONTEXTS)):
        for start in range(0, len(some), 5_000):
            batch = some[start : start + 5_000]
            assert pair.plain(batch).input_ids == pair.compiled(batch).input_ids, first


# ---- texts that are hard for it ------------------------------------------------------------------

MARKED = ("\u0301\u0316" * 300, "e" + "\u0301" * 400, "e\u200b\u0316\u0301\u0345", "\uac01\u0301")
HARD = {
    "a special token comes about once something is deleted": "[\u200bCLS] [C\u0301LS]",
    "deleted, though it can be printed": "a\ufffdb \ufffd",
    "marks change places": "e\u0323\u0302 e\u0302\u0323 ộ a\u0316\u0301 \u05d0\u05b4\u0301",
    "vowels compose": "ক\u09be ে\u09be ক\u09bc\u09be =\u0338 世\u0338世 !\u0338",
    "Hangul composes": "가\u11a8 \u1100\u1161\u11a8 \u1161\u11a8",
    "what is deleted keeps nothing apart": "e\u200b\u0301 e\x0b\u0301",
    "a token beside Chinese": "字[MASK]字\xad[MASK]、[\u0301CLS]\u0301、中",
    "whitespace of every kind": "a\u2028b a\u3000b a\x1cb a\nb",
    "words as long as one may be": "x" * 100 + " " + "x" * 101 + " " + "é" * 128,
    "special tokens side by side": "[SEP][CLS]" * 200 + "a[MASK],b[UNK][MASK[PAD]",
    "the beginning of a token a thousand times": "[MASK" * 1000,
    "half of a surrogate pair": "a\ud800b \udfff",
    "nothing": "",
    "whitespace": f"{' ' * 4097}a\0b",
    "ideographs that become others": "".join(
        f"a{chr(code)}\u3099b" for code in range(0xF900, 0xFAFF)
    ),
    **{f"many marks {number}": text for number, text in enumerate(MARKED)},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_kernel_equals_plain_python_on_hard_texts(kind, variant):
    assert twins(kind, variant, directory_of("trietok-en"), *TERMS).different(HARD.values()) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "token", ["café", "é", "e\u0301", "\u0316", "\u1100\u1161", "가", "σ", "[\u0301"]
)
def test_marks_around_an_added_token_neither_hide_nor_make_it(kind, token):
    decomposed, seed = unicodedata.normalize("NFD", token), random.randrange(2**32)
    forms = (token, decomposed, token.upper(), f"{decomposed}\u0301", f"x{decomposed}\u0316")
    some_texts = [
        f"{front}{form}{back}"
        for form in forms
        for front in ("", "a", "\u0316")
        for back in ("", "\u200b\u0301", *MARKED[1:])
    ]
    some_texts = random.Random(seed).sample(some_texts, min(len(some_texts), often(150)))
    for variant in ("uncased", "cased, accents stripped"):
        assert twins(kind, variant, characters(), token).different(some_texts) == [], seed


LONG_TERMS = ("covid19", "<ent>", "o-o", "New-York", "ab" * 60, "-" * 2000)
NO_TERM = "[1] (see [Smith]) <b> a-b covid-19 o--o <en t> -new york- [CLS ] x" + "ab" * 59
TERM = ["[MASK]", "a[SEP],b", "xcovid19,", "<ENT>", "co\u200bvid19", "co\u0301vid19", "écovid19"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_added_token_is_found_at_any_place_of_ascii(kind):
    pair = twins(kind, "uncased", directory_of("trietok-en"), *LONG_TERMS)
    first = random.randrange(140, 144)
    some_texts = [NO_TERM, NO_TERM.upper(), NO_TERM.replace(" ", "_") * 20, "ab" * 61]
    some_texts += [f"{NO_TERM} {text} {NO_TERM}" for text in TERM]
    assert pair.different(some_texts) == []
    for token in ("o-o", "ab" * 60, "-" * 2000):
        places = [*range(first, 260, 4), *range(500, 520, 3), 1190]
        some_texts += [f"{'.' * at}{token}{'[' * (1200 - at)}" for at in places]
    assert pair.plain(some_texts).input_ids == pair.compiled(some_texts).input_ids, first


def test_texts_of_any_length_are_read_to_their_ends():
    """Around the lengths of which the kernel reads the end in a copy."""
    pair = twins(BertTokenizer, "uncased", directory_of("trietok-en"))
    long = "a quick, brown fox jumps over 13 lazy dogs; café世界 supercalifragilistic " * 70
    sizes = (*range(130), *range(4_020, 4_170))
    some_texts = [long[start : start + size] for size in sizes for start in (0, 7)]
    some_texts += ["x" * size for size in (4_095, 4_096, 4_097, 70_000)]
    assert pair.plain(some_texts).input_ids == pair.compiled(some_texts).input_ids


@pytest.mark.parametrize("kind", KINDS)
def test_words_behind_a_truncation_are_not_remembered_without_ids(kind):
    pair = Twins(lambda: kind.from_pretrained("trietok-en"))
    for tokenizer in (pair.plain, pair.compiled):
        tokenizer.add_tokens(["new york", "o-o"])
    for length in range(1, 24):
        for most in (3, 5, 9, 14):
            word = f"w{length}x{most}"
            text = " ".join(["a"] * length) + f" new york,{word} {word}o-o.{word} b"
            pair.compiled(text, truncation=True, max_length=most)
            pair.compiled([text] * 3, truncation=True, max_length=most)
            for window in (f"zz new york,{word} b", f"{word}o-o.{word}"):
                assert pair.compiled(window).input_ids == pair.plain(window).input_ids


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a", 3]])
def test_what_is_no_text_raises_the_error_of_plain_python(text):
    pair = twins(BertTokenizer, "uncased", directory_of("trietok-en"))
    errors = []
    for tokenizer in (pair.plain, pair.compiled):
        with pytest.raises(trietok.InputError) as caught:
            tokenizer(text)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]


class Shouting(str):
    """A str with a method of its own, which Python's code would call."""

    def split(self, *arguments):
        return self.upper().split(*arguments)


@pytest.mark.parametrize("kind", KINDS)
def test_a_subclass_of_str_gives_the_ids_of_plain_python(kind):
    pair = twins(kind, "uncased", directory_of("trietok-en"))
    for given_text in (Shouting("loud and clear"), [Shouting("loud and clear"), "and more"]):
        assert pair.compiled(given_text).input_ids == pair.plain(given_text).input_ids


@examples(100)
@given(
    st.lists(st.one_of(st.none(), texts(max_size=4), st.text()), min_size=1, max_size=6), st.data()
)
def test_arrow_buffers_give_the_ids_of_their_texts(some_texts, data):
    # what Arrow can hold
    column = [
        None if text is None else text.encode("utf-8", "replace").decode() for text in some_texts
    ]
    first = data.draw(st.integers(0, len(column)))
    kind = data.draw(st.sampled_from([pyarrow.string(), pyarrow.large_string()]))
    table = pyarrow.table({"text": pyarrow.array(column, kind)}).slice(first)
    pair = twins(BertTokenizer, "uncased", directory_of("trietok-en"))
    rows = [
        TokenizeBatch(each, "text")(table)["input_ids"].to_pylist()
        for each in (pair.plain, pair.compiled)
    ]
    assert rows[0] == rows[1]
    wanted = [None if text is None else pair.plain(text).input_ids for text in column[first:]]
    assert rows[1] == wanted


# ---- while texts are encoded ---------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("form", ["one text", "few texts", "many texts"])
def test_an_interrupt_ends_a_call_and_the_next_call_is_right(form):
    pair = twins(BertTokenizer, "uncased", directory_of("trietok-en"))
    words = "some words here "
    given_text = {
        "one text": words * 3_000_000,
        "few texts": [words * 300_000] * 3,
        "many texts": [words * 300] * 40_000,
    }[form]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            [*map(pair.compiled, itertools.repeat(given_text, 100))]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert pair.different([words, "[MASK] é", "other words"]) == []


def test_an_error_of_a_text_ends_a_batch_and_the_next_call_is_right():
    pair = twins(BertTokenizer, "uncased", directory_of("trietok-en"))
    many = [f"word{number} [x{number}] é" for number in range(3_000)]
    for _ in range(5):
        with pytest.raises(trietok.InputError):
            pair.compiled([*many, None, *many])
    assert pair.compiled(many).input_ids == pair.plain(many).input_ids


# ---- memory --------------------------------------------------------------------------------------


def test_no_more_words_are_remembered_than_cache_limit_allows():
    def make() -> Any:
        return BertTokenizer.from_pretrained("trietok-en", cache_limit=2_000_000)

    pair = Twins(make)
    for number in range(8):
        many = [
            f"word{number}a{i} [x{number}{i}] ж{i} {'long' * 5}{i}é{number}" for i in range(1000)
        ]
        assert pair.compiled(many).input_ids[:20] == pair.plain(many[:20]).input_ids
        assert pair.compiled.cache_info().bytes <= pair.compiled.cache_info().limit == 2_000_000
    assert pair.compiled.cache_info().times_full > 0
    # every code point once
    pair.compiled([" ".join(CHARACTERS[i : i + 50]) for i in range(0, len(CHARACTERS), 50)])
    pair.compiled("\n".join(f"word{number}" for number in range(60_000)))  # one text
    assert pair.compiled.cache_info().bytes <= 2_000_000
    pair.compiled.cache_clear()
    assert pair.compiled.cache_info().words == 0
    assert pair.different(["word1a1 é", "[MASK]"]) == []


def test_a_kernel_is_freed_with_its_tokenizer_and_after_each_change():
    gc.collect()
    before = kernels_alive()
    with using_kernel("compiled"):
        tokenizer = BertTokenizer.from_pretrained("trietok-en")
        tokenizer("hello")
    assert kernels_alive() == before + 1
    for number in range(20):
        tokenizer.add_tokens([f"<{number}>"])
        tokenizer("hello")
    gc.collect()
    assert kernels_alive() <= before + 1
    del tokenizer
    gc.collect()
    assert kernels_alive() == before


# ---- which kernel --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "name", "first", "long"),
    [("0", "plain", 0, 0), ("1", "compiled", 1, 1), ("", "compiled", 0, 1)],
)
def test_the_environment_says_when_a_tokenizer_has_a_kernel(monkeypatch, value, name, first, long):
    monkeypatch.setenv("TRIETOK_KERNEL", value)
    assert trietok.kernel == name
    gc.collect()
    before = kernels_alive()
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.encode("a short query")
    assert kernels_alive() == before + first
    tokenizer(["a long text " * 1_000] * 3)
    assert kernels_alive() == before + long
