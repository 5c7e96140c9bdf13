"""The compiled kernel gives the ids of plain Python, whatever the text, the options and the
history.
"""

from __future__ import annotations

import gc
import itertools
import os
import random
import signal
import subprocess
import sys
import unicodedata
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.kernel.kernel_cases import (
    ADDED,
    BENGALI_TAMIL,
    CHARACTERS,
    COMBINING,
    COMPOSING,
    CONTEXTS,
    ODD,
    Recipe,
    compiled_kernel,
    differences,
    kernel_of,
    random_text,
    write_vocabulary_of_characters,
)
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.blocks import BLOCK_SIZE
from trietok.text.word_search import WordSearch

pytestmark = pytest.mark.kernel
PROFILES = [trietok.BertTokenizer, trietok.BertTokenizerFast]
VARIANTS = {
    "uncased": {},
    "cased": {"do_lower_case": False},
    "cased, accents stripped": {"do_lower_case": False, "strip_accents": True},
    "uncased, accents kept": {"strip_accents": False, "tokenize_chinese_chars": False},
}


@pytest.fixture(scope="module")
def characters(tmp_path_factory):
    """The directory of a vocabulary of characters."""
    return write_vocabulary_of_characters(tmp_path_factory.mktemp("characters"))


@pytest.fixture(scope="module")
def pairs(characters):
    """A function that gives two tokenizers alike: one in plain Python, one with a kernel; always
    the same two.
    """
    made = {}

    def get(profile, variant, added=(), directory=None):
        key = profile, variant, added, directory
        if key not in made:
            made[key] = []
            for name in ("plain", "compiled"):
                with kernel_of(name):
                    tokenizer = profile.from_pretrained(
                        directory or characters, **VARIANTS[variant]
                    )
                    tokenizer.add_tokens(list(added))
                    tokenizer("")
                made[key].append(tokenizer)
        return made[key]

    return get


def ids_of(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


# ---- the same ids --------------------------------------------------------------------------------

hard_characters = st.one_of(
    st.sampled_from("abEF .,[]#-12"),
    st.sampled_from(ODD),
    st.sampled_from(COMBINING),
    st.sampled_from(COMPOSING),
    st.sampled_from(BENGALI_TAMIL),
    st.sampled_from(["[MASK]", "[CLS]", *ADDED]),
    st.characters(),
)
hard_texts = st.lists(hard_characters, max_size=12).map("".join)


@examples(400)
@given(
    text=hard_texts,
    profile=st.sampled_from(PROFILES),
    variant=st.sampled_from(list(VARIANTS)),
    added=st.sampled_from([(), ("<ent>", "café", "世界"), ("ing", "x", "ß", "Ünï")]),
)
# a special token comes about once something is gone
@example("[\u200bCLS] [C\u0301LS]", PROFILES[0], "uncased", ())
@example("a\ufffdb \ufffd", PROFILES[0], "cased", ())  # printable, and deleted
@example("e\u0323\u0302 e\u0302\u0323 ộ", PROFILES[0], "uncased, accents kept", ())
@example("ক\u09be ে\u09be ক\u09bc\u09be", PROFILES[0], "cased", ())
@example("=\u0338 世\u0338世 !\u0338", PROFILES[0], "cased", ())
@example("가\u11a8 \u1100\u1161\u11a8 \u1161\u11a8", PROFILES[0], "cased", ())
# what is deleted keeps nothing apart
@example("e\u200b\u0301 e\x0b\u0301", PROFILES[0], "cased", ())
# a mark between that lets composition pass
@example("a\u0316\u0301 \u05d0\u05b4\u0301", PROFILES[0], "cased", ())
@example("字[MASK]字\xad[MASK]、[\u0301CLS]\u0301、中", PROFILES[0], "cased, accents stripped", ())
@example("a\u2028b a\u3000b a\x1cb a\nb", PROFILES[1], "uncased", ())
@example("x" * 100 + " " + "x" * 101 + " " + "é" * 128, PROFILES[0], "cased", ())
def test_ids_are_those_of_plain_python(pairs, text, profile, variant, added):
    plain, compiled = pairs(profile, variant, added)
    expected = ids_of(plain, text)
    assert ids_of(compiled, text) == expected
    assert ids_of(compiled, text) == expected  # as remembered
    assert compiled.encode(text) == plain.encode(text)


@examples(24)
@given(seed=st.integers(0, 2**32))
def test_any_tokenizer_gives_the_ids_of_plain_python(characters, seed):
    rng = random.Random(seed)
    recipe = Recipe(rng, [characters, characters, "trietok-en", "trietok-zh", "trietok-multi"])
    tokens = [token.content for token in recipe.added] or ["[CLS]", "[SEP]"]
    assert differences(recipe, [random_text(rng, tokens) for _ in range(100)]) == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("step", [389, pytest.param(11, marks=pytest.mark.parity)])
def test_code_points_in_every_context(pairs, profile, variant, step):
    plain, compiled = pairs(profile, variant, directory="trietok-multi")
    for context in CONTEXTS:
        for chars in in_steps(CHARACTERS, step):
            assert_same(plain, compiled, [context.format(char) for char in chars])
    # surrogates too, and planes of which nothing is assigned
    for codes in in_steps(range(0x110000), step):
        assert_same(plain, compiled, [f"a{chr(code)}" for code in codes])


def test_few_characters_are_asked_for_by_themselves():
    """The kernel learns of 256 characters at a time, since each question is a call of Python."""
    with kernel.using_kernel("compiled", text_before_kernel=0):
        blocks = kernel.SlowClassifier(BasicTokenizer(), [], True).blocks()
    firsts = [*range(BLOCK_SIZE, 0xD800, BLOCK_SIZE), *range(0xE000, 0x33000, BLOCK_SIZE)]
    by_themselves = sum(blocks.ask(first)[1].count(0) for first in firsts)
    assert by_themselves < 0.005 * BLOCK_SIZE * len(firsts)


def in_steps(values, step, at_once=5000):
    """Each `step`-th of the values, from a random one on, in lists that fit into memory."""
    chosen = values[random.randrange(step) :: step]
    return [chosen[start : start + at_once] for start in range(0, len(chosen), at_once)]


@pytest.mark.parametrize("profile", PROFILES)
def test_compatibility_ideographs_become_others(pairs, profile):
    """In NFC each is another character between the spaces that were set around it."""
    codes = [*range(0xF900, 0xFAFF), *range(0x2F800, 0x2FA20)]
    plain, compiled = pairs(profile, "uncased", directory="trietok-zh")
    assert_same(plain, compiled, ["".join(f"a{chr(code)}\u3099b" for code in codes)])


def assert_same(plain, compiled, texts):
    expected, found = plain(texts)["input_ids"], compiled(texts)["input_ids"]
    assert [text for text, a, b in zip(texts, expected, found, strict=True) if a != b] == []


MARKED = (
    "\u0301\u0316" * 300,
    "e" + "\u0301" * 400,
    "e\u200b\u0316\u0301\u0345",
    "\u1100\u1161\u11a8\u0301",
    "\uac01\u0301",
)


@pytest.mark.parametrize(
    "token", ["caf\xe9", "\xe9", "e\u0301", "\u0316", "\u1100\u1161", "\uac00", "\u03c3", "[\u0301"]
)
def test_marks_that_are_stripped_do_not_hide_or_make_added_tokens(pairs, characters, token):
    decomposed = unicodedata.normalize("NFD", token)
    forms = (
        token,
        decomposed,
        token.upper(),
        f"{decomposed}\u0301",
        f"x{decomposed}\u0316",
        f"{token}\u200b\u0301",
    )
    texts = [
        f"{front}{form}{back}"
        for form in forms
        for front in ("", "a", "\u0316")
        for back in ("", *MARKED[1:])
    ]
    for variant in ("uncased", "cased, accents stripped"):
        assert_same(*pairs(PROFILES[0], variant, (token,)), texts)
        both = []
        for name in ("plain", "compiled"):
            with kernel_of(name):
                # what is composed may be one of these
                special = {"additional_special_tokens": [token]}
                both.append(
                    trietok.BertTokenizer.from_pretrained(
                        characters, **special, **VARIANTS[variant]
                    )
                )
                both[-1]("")
        assert_same(*both, texts)


TOKENS = ("covid19", "<ent>", "o-o", "New-York", "ab" * 60, "-" * 2000)
WITHOUT_TOKENS = "[1] (see [Smith]) <b> a-b covid-19 o--o <en t> -new york- [CLS ] x" + "ab" * 59
WITH_TOKENS = [
    "[MASK]",
    "a[SEP],b",
    "xcovid19,",
    "<ENT>",
    "co\u200bvid19",
    "co\u0301vid19",
    "écovid19",
    "ab" * 61,
]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_token_may_stand_anywhere_in_a_chunk_of_ascii(pairs, profile):
    plain, compiled = pairs(profile, "uncased", TOKENS, directory="trietok-en")
    assert_same(plain, compiled, [WITHOUT_TOKENS, WITHOUT_TOKENS.upper()])
    for text in WITH_TOKENS:  # each of them once among words that are known
        assert_same(plain, compiled, [text, f"{WITHOUT_TOKENS} {text} {WITHOUT_TOKENS}"])
    # a long chunk is searched in steps
    assert_same(plain, compiled, ["[MASK" * 1000, WITHOUT_TOKENS.replace(" ", "_") * 20])
    for token in ("o-o", "ab" * 60, "-" * 2000):
        places = [*range(140, 260), *range(500, 520), 1190]
        texts = [f"{'.' * at}{token}{'[' * (1200 - at)}" for at in places]
        assert_same(plain, compiled, texts)


def pair_with(profile, added, **options):
    """A tokenizer in plain Python and one with a kernel, both with these tokens."""
    made = []
    for name in ("plain", "compiled"):
        with kernel_of(name):
            made.append(profile.from_pretrained("trietok-en", **options))
            made[-1].add_tokens(list(added))
            made[-1]("")
    return made


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("added", "text"),
    [
        ((), "[SEP][CLS]" * 200),
        ((), "a[MASK],b[UNK][MASK[PAD]"),
        (("<ent>", "New-York", "o-o"), "世[SEP]世x<ent>xNew-Yorkxo-o"),
        (("ab", "abc-d", "abc"), "abw1.abc-dw2.abcw3." * 99),
        ((), "[sep]"),  # no token, but looks like one
        ((), "[SEP]\u0301[CLS]"),
        (("ab", "bc"), "[SEP]xabcx"),  # two that meet
        ((trietok.AddedToken("o-o", single_word=True),), "xo-o.o-o"),
        ((trietok.AddedToken("o-o", lstrip=True),), "x.o-o"),
        ((trietok.AddedToken("o-o", rstrip=True),), "o-o.x"),
        ((trietok.AddedToken("O-o", normalized=False),), "o-o"),
    ],
)
def test_chunks_are_cut_at_added_tokens_as_in_plain_python(profile, added, text):
    plain, compiled = pair_with(profile, added)
    expected = ids_of(plain, text)
    assert ids_of(compiled, text) == ids_of(compiled, text) == expected


@pytest.mark.parametrize("profile", PROFILES)
def test_random_tokens_side_by_side_are_those_of_plain_python(profile):
    seed = random.randrange(10**9)
    rng = random.Random(seed)

    def word():
        return "".join(rng.choices("abABxC[]|.1é", k=rng.randrange(1, 5)))

    for _ in range(12):
        flags = {name: rng.random() < 0.1 for name in ("single_word", "lstrip", "rstrip")}
        added = [
            trietok.AddedToken(
                word(), normalized=rng.random() < 0.5, special=rng.random() < 0.3, **flags
            )
            for _ in range(rng.choice([1, 3, 12]))
        ]
        contents = ["[SEP]", "[UNK]", *[token.content for token in added]]
        plain, compiled = pair_with(profile, added, do_lower_case=rng.random() < 0.6)
        for _ in range(60):
            parts = [
                rng.choice(
                    [
                        rng.choice(contents),
                        rng.choice(contents),
                        rng.choice(contents).swapcase(),
                        word(),
                        " ",
                        "世",
                    ]
                )
                for _ in range(rng.choice([1, 3, 9, 60]))
            ]
            text = "".join(parts)
            assert ids_of(compiled, text) == ids_of(plain, text), (seed, added, text)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_text_that_is_cut_leaves_nothing_shorter_behind(profile):
    """What is behind the last id that is wanted is not worked out, and not remembered as having no ids."""
    plain, compiled = pair_with(profile, ["new york", "o-o"])
    for length in range(1, 24):
        for most in (3, 5, 9, 14):
            word = f"w{length}x{most}"
            text = " ".join(["a"] * length) + f" new york,{word} {word}o-o.{word} b"
            compiled(text, truncation=True, max_length=most)
            compiled([text] * 3, truncation=True, max_length=most)
            for window in (f"zz new york,{word} b", f"{word}o-o.{word}"):
                assert ids_of(compiled, window) == ids_of(plain, window)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_token_that_looks_at_what_is_around_it_has_its_whole_chunk(pairs, profile):
    """The part that is composed begins behind a character that touches the token."""
    single = trietok.AddedToken("abc", single_word=True)
    for variant in ("uncased", "cased, accents stripped"):
        plain, compiled = pairs(profile, variant, (single,))
        assert_same(
            plain,
            compiled,
            [
                "世abc\u200be\u0301",
                "abc\u200be\u0301",
                "世abc世",
                "世abce\u0301 abc=\u0338",
                "\tabc\t",
            ],
        )


def test_a_text_that_ends_anywhere_is_read_to_its_end(pairs):
    """Texts of all lengths around those of which the end is read in a copy."""
    plain, compiled = pairs(PROFILES[0], "uncased", directory="trietok-en")
    words = "a quick, brown fox jumps over 13 lazy dogs; café世界 supercalifragilistic "
    long = words * 70
    sizes = (*range(130), *range(4020, 4170))
    assert_same(plain, compiled, [long[start : start + size] for size in sizes for start in (0, 7)])
    assert_same(
        plain,
        compiled,
        ["x" * size for size in (4095, 4096, 4097, 70_000)] + [" " * 5000, f"{' ' * 4097}a"],
    )


def test_a_special_token_that_comes_about_between_punctuation_is_none(pairs):
    """As in transformers: the word is "、[CLS]、" when special words are kept whole, and is cut
    afterwards.
    """
    for tokenizer in pairs(PROFILES[0], "cased, accents stripped", directory="trietok-zh"):
        assert "[CLS]" not in tokenizer.tokenize("、[\u0301CLS]\u0301、中")
        assert tokenizer.tokenize("中[\u0301CLS]\u0301中") == ["中", "[CLS]", "中"]


# ---- texts that are no ordinary str --------------------------------------------------------------


class Shouting(str):
    def split(self, *arguments):
        return self.upper().split(*arguments)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "text", ["a\ud800b", "\udfff", "a\0b", "", " ", Shouting("loud and clear")]
)
def test_a_text_that_is_no_ordinary_one(pairs, profile, text):
    plain, compiled = pairs(profile, "uncased")
    assert ids_of(compiled, text) == ids_of(plain, text)
    assert compiled([text, "and more"])["input_ids"] == plain([text, "and more"])["input_ids"]


@pytest.mark.parametrize("text", [None, 5, b"bytes", ["a", 3]])
def test_what_is_no_text_is_the_same_error(pairs, text):
    plain, compiled = pairs(PROFILES[0], "uncased")
    with pytest.raises(Exception) as expected:  # noqa: PT011
        plain(text)
    with pytest.raises(type(expected.value)) as found:
        compiled(text)
    assert str(found.value) == str(expected.value)


# ---- what happens while texts are encoded --------------------------------------------------------


def test_an_interrupt_ends_a_long_text_and_does_no_harm(pairs):
    _, compiled = pairs(PROFILES[0], "uncased")
    expected = ids_of(compiled, "some words here")

    def encode() -> None:
        text = "some words here " * 3_000_000
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        ids_of(compiled, text)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            encode()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert ids_of(compiled, "some words here") == expected


def test_tokens_added_and_removed_between_texts_are_seen():
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        own = ids_of(tokenizer, "a hello-world b")
        tokenizer.add_tokens(["hello-world", "new york"])
        assert tokenizer.convert_ids_to_tokens(ids_of(tokenizer, "a hello-world b")) == [
            "a",
            "hello-world",
            "b",
        ]
        assert "new york" in tokenizer.tokenize("to new york and back")  # it reaches over chunks
        tokenizer.remove_tokens(["hello-world", "new york"])
        assert ids_of(tokenizer, "a hello-world b") == own


def test_many_threads_use_one_kernel(pairs):
    plain, _ = pairs(PROFILES[0], "uncased", directory="trietok-multi")
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    batches = [[random_text(rng, ["[CLS]", "a-b"]) for _ in range(80)] for _ in range(8)]
    expected = [plain(batch)["input_ids"] for batch in batches]
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-multi", cache_limit=2_000_000)
        tokenizer("")
    wrong: list[int] = []

    def work(offset: int) -> None:
        for number in range(24):
            place = (number + offset) % len(batches)
            if number % 3:
                found = tokenizer(batches[place])["input_ids"]
            else:
                found = [tokenizer(text)["input_ids"] for text in batches[place]]
            if found != expected[place]:
                wrong.append(place)
            if number % 8 == 5:
                tokenizer.cache_clear()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert wrong == [], seed


def test_python_may_encode_while_the_kernel_asks_it():
    inner: list[list[int]] = []

    def hand_over(chunk: str) -> list[int]:
        if chunk == "[outer]":
            inner.append(compiled.ids("[inner] a"))
        return [len(chunk)]

    classify = kernel.SlowClassifier(trietok.BasicTokenizer(), [WordSearch(["["])], True).classify
    compiled = compiled_kernel(["a"], classify, hand_over)
    assert compiled.ids("a [outer] b") == [0, 7, 1]
    assert inner == [[7, 0]]


# ---- memory --------------------------------------------------------------------------------------


def test_no_more_is_remembered_than_the_bound():
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en", cache_limit=4_000_000)
    with kernel_of("plain"):
        plain = trietok.BertTokenizer.from_pretrained("trietok-en")
    for number in range(40):
        texts = [
            f"word{number}a{i} [x{number}{i}] ж{i}ж{number} {'long' * 5}{i}é{number}"
            for i in range(1000)
        ]
        assert tokenizer(texts[:20])["input_ids"] == plain(texts[:20])["input_ids"]
        tokenizer(texts)
        info = tokenizer.cache_info()
        assert info.bytes <= info.limit == 4_000_000
    assert info.times_full > 0
    tokenizer("\n".join(f"word{number}" for number in range(200_000)))  # one chunk
    assert tokenizer.cache_info().bytes <= 4_000_000
    tokenizer.cache_clear()
    assert tokenizer.cache_info().words == 0


def test_every_code_point_at_once_stays_within_the_bound():
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en", cache_limit=2_000_000)
    with kernel_of("plain"):
        plain = trietok.BertTokenizer.from_pretrained("trietok-en", cache_limit=2_000_000)
    texts = [" ".join(CHARACTERS[i : i + 50]) for i in range(0, len(CHARACTERS), 250)]
    assert tokenizer(texts)["input_ids"] == plain(texts)["input_ids"]
    assert tokenizer.cache_info().bytes <= 2_000_000


def test_a_kernel_goes_with_its_encoder():
    gc.collect()
    before = kernel.kernels_alive()
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        tokenizer("hello")
    assert kernel.kernels_alive() == before + 1
    for number in range(50):
        tokenizer.add_tokens([f"<{number}>"])
        tokenizer("hello")
    gc.collect()
    assert kernel.kernels_alive() <= before + 1
    del tokenizer
    gc.collect()
    assert kernel.kernels_alive() == before


# ---- when a kernel is made, and which ------------------------------------------------------------


def test_a_kernel_is_made_once_a_batch_is_long():
    with kernel.using_kernel("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        made = kernel.kernels_made()
        tokenizer.encode("a short query")
        assert kernel.kernels_made() == made
        tokenizer(["a long text " * 1000] * 3)
        assert kernel.kernels_made() == made + 1


@pytest.mark.parametrize(("value", "name"), [("0", "plain"), ("", "compiled")])
def test_the_environment_switches_the_kernel_off(value, name):
    program = "import trietok; print(trietok.kernel)"
    environment = {**os.environ, "TRIETOK_KERNEL": value}
    shown = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == name


# ---- calls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", PROFILES)
@examples(300)
@given(
    texts=st.lists(hard_texts, max_size=6),
    with_pairs=st.booleans(),
    side=st.sampled_from(["right", "left"]),
    options=st.fixed_dictionaries(
        {"verbose": st.just(False)},
        optional={
            "add_special_tokens": st.booleans(),
            "padding": st.sampled_from([True, "max_length"]),
            "truncation": st.booleans(),
            "max_length": st.sampled_from([3, 4, 7, 12]),
            "pad_to_multiple_of": st.sampled_from([1, 4, 64]),
            "padding_side": st.sampled_from(["left", "right"]),
            "return_tensors": st.just("np"),
            "return_special_tokens_mask": st.booleans(),
            "return_length": st.booleans(),
        },
    ),
)
def test_calls_are_those_of_plain_python(pairs, profile, texts, with_pairs, side, options):
    made = []
    for tokenizer in pairs(profile, "uncased", directory="trietok-en"):
        tokenizer.truncation_side = side
        try:
            result = tokenizer(texts, texts[::-1] if with_pairs else None, **options)
        except trietok.TrietokError as error:
            made.append(type(error))
        else:
            made.append({name: (type(rows), str(rows)) for name, rows in result.items()})
    assert made[0] == made[1]


# ---- texts in a buffer ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_letters():
    """A kernel to which each letter is an entry, and of which Python gets all else."""

    def classify(code_point: int) -> tuple[int, int, int, bytes]:
        kinds = {ord(" "): kernel.SPACE}
        char = chr(code_point)
        return (
            kinds.get(code_point, kernel.ORDINARY if char in "abé" else kernel.HAND_OVER),
            0,
            0,
            char.encode(),
        )

    return compiled_kernel(
        ["a", "##a", "b", "##b", "é", "##é"], classify, lambda chunk: [len(chunk)]
    )


@examples(200)
@given(
    texts=st.lists(st.text("ab é世\0", max_size=9), max_size=5),
    first=st.integers(0, 5),
    around=st.binary(max_size=9),
)
def test_rows_of_a_buffer_are_those_of_texts(of_letters, texts, first, around):
    offsets = array("q", [len(around)])
    for text in texts:
        offsets.append(offsets[-1] + len(text.encode()))
    data = around + "".join(texts).encode() + around
    first = min(first, len(texts))
    rows = of_letters.rows_between(data, offsets, first, len(texts) - first)
    assert rows.lists() == [of_letters.ids(text) for text in texts[first:]]


def test_bytes_that_are_no_utf8_are_told(of_letters):
    edges = bytes.fromhex(
        "00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 f8 ff"
    )
    for length in (1, 2, 3, 4):
        for values in itertools.product(
            edges, *[edges if length < 4 else edges[3:9]] * (length - 1)
        ):
            data = bytes(values)
            try:
                data.decode()
            except UnicodeDecodeError:
                is_text = False
            else:
                is_text = True
            rows = of_letters.rows_between(data, array("q", [0, length]), 0, 1)
            assert (rows is not None) == is_text, data


@pytest.mark.parametrize("offsets", [[0, 9], [2, 1], [-1, 1], [2**62, 2**62]])
def test_offsets_that_lead_out_of_the_buffer(of_letters, offsets):
    assert of_letters.rows_between(b"abc", array("q", offsets), 0, 1) is None


@pytest.mark.parametrize(
    ("offsets", "first", "count"), [([0, 1], 0, 2), ([0], 1, 0), ([], 0, 0), ([0, 1], -1, 1)]
)
def test_fewer_offsets_than_rows(of_letters, offsets, first, count):
    with pytest.raises(ValueError):  # noqa: PT011
        of_letters.rows_between(b"abc", array("q", offsets), first, count)
