"""The compiled kernel gives the ids of plain Python, whatever the text, the options and the
history.
"""

from __future__ import annotations

import gc
import itertools
import math
import os
import random
import signal
import subprocess
import sys
import textwrap
import unicodedata
import weakref
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import trietok
from tests.text.kernel_cases import (
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
from trietok.text.characters import composing, is_chinese_char, lower_each
from trietok.text.chunk_encoder import ChunkEncoder
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.plain import IDS_OF_TEXT, NOT_PADDED, TO_LONGEST, ListRows, form_of
from trietok.text.word_search import WordSearch
from trietok.tokenizer.moment import frozen

pytestmark = pytest.mark.skipif(
    kernel.kernel_at_work() == "plain", reason="not built: python -m trietok.text.kernel.build"
)
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


@settings(max_examples=400, deadline=None)
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


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_any_tokenizer_gives_the_ids_of_plain_python(characters, seed):
    rng = random.Random(seed)
    recipe = Recipe(rng, [characters, characters, "trietok-en", "trietok-zh", "trietok-multi"])
    tokens = [token.content for token in recipe.added] or ["[CLS]", "[SEP]"]
    assert differences(recipe, [random_text(rng, tokens) for _ in range(100)]) == []


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("step", [389, pytest.param(1, marks=pytest.mark.parity)])
def test_every_code_point_in_every_context(pairs, profile, variant, step):
    plain, compiled = pairs(profile, variant, directory="trietok-multi")
    for context in CONTEXTS:
        for start in range(0, len(CHARACTERS), 5000):
            assert_same(
                plain,
                compiled,
                [context.format(char) for char in CHARACTERS[start : start + 5000 : step]],
            )
    # surrogates too, and planes of which nothing is assigned
    for start in range(0, 0x110000, 5000):
        assert_same(
            plain,
            compiled,
            [f"a{chr(code)}" for code in range(start, min(start + 5000, 0x110000), step)],
        )


def assert_same(plain, compiled, texts):
    expected, found = plain(texts)["input_ids"], compiled(texts)["input_ids"]
    assert [text for text, a, b in zip(texts, expected, found, strict=True) if a != b] == []


def test_lower_case_and_normal_forms_may_come_in_any_order_where_marks_are_stripped():
    """What the kernel relies on where it looks at each character of the slow profile by itself: NFC
    in between changes nothing that is left in the end.
    """

    def left(text):
        return "".join(
            char
            for char in unicodedata.normalize("NFD", text)
            if unicodedata.category(char) != "Mn"
        )

    changed = [
        char
        for char in map(chr, range(0x110000))
        if char.lower() != char or unicodedata.decomposition(char)
    ]
    for char in changed:
        assert all(
            part.lower() == part for part in unicodedata.normalize("NFD", lower_each(char))
        ), hex(ord(char))
        assert left(char.lower()) == "".join(
            left(part.lower()) for part in unicodedata.normalize("NFD", char)
        )
        # nothing that is lower-cased composes to it
        if unicodedata.normalize("NFC", char) == char != char.lower():
            assert any(part.lower() != part for part in unicodedata.normalize("NFD", char)), hex(
                ord(char)
            )


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


def test_marks_that_are_stripped_are_never_handed_over(pairs):
    for profile in PROFILES:
        _, compiled = pairs(profile, "uncased", directory="trietok-en")
        before = compiled._now().encoder.kernel.info()["handed_over"]
        compiled(["e\u0301\u0316 \uac01\u0301 \u0915\u093c\u094d a\u200b\u0301", *MARKED])
        assert compiled._now().encoder.kernel.info()["handed_over"] == before


TOKENS = ("covid19", "<ent>", "o-o", "New-York", "ab" * 60)
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
def test_chunks_of_ascii_are_handed_over_only_where_an_added_token_stands_in_them(pairs, profile):
    plain, compiled = pairs(profile, "uncased", TOKENS, directory="trietok-en")
    handed_over = lambda: compiled._now().encoder.kernel.info()["handed_over"]  # noqa: E731
    before = handed_over()
    assert_same(plain, compiled, [WITHOUT_TOKENS, WITHOUT_TOKENS.upper()])
    assert handed_over() == before
    for text in WITH_TOKENS:  # each of them once among words that are known
        assert_same(plain, compiled, [text, f"{WITHOUT_TOKENS} {text} {WITHOUT_TOKENS}"])
    assert handed_over() > before


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_chunk_of_ascii_is_handed_over_only_where_an_added_token_stands_in_it(
    pairs, profile
):
    """It is searched in steps, so a token may stand anywhere around the end of one."""
    plain, compiled = pairs(profile, "uncased", TOKENS, directory="trietok-en")
    handed_over = lambda: compiled._now().encoder.kernel.info()["handed_over"]  # noqa: E731
    before = handed_over()
    assert_same(plain, compiled, ["[MASK" * 1000, WITHOUT_TOKENS.replace(" ", "_") * 20])
    assert handed_over() == before
    for token in ("o-o", "ab" * 60):
        for at in [*range(140, 260), *range(500, 520), 1190]:
            assert_same(plain, compiled, [f"{'.' * at}{token}{'[' * (1200 - at)}"])
            assert handed_over() > before
            before = handed_over()


@pytest.fixture
def asked(monkeypatch):
    """The chunks that kernels made in the test have Python work out."""
    chunks = []
    work_out = ChunkEncoder._ids_of_chunk
    monkeypatch.setattr(
        ChunkEncoder,
        "_ids_of_chunk",
        lambda self, chunk: chunks.append(chunk) or work_out(self, chunk),
    )
    return chunks


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
@pytest.mark.parametrize("added", [(), ("<ent>", "New-York", "o-o"), ("ab", "abc-d", "abc")])
def test_the_kernel_cuts_ascii_at_added_tokens(profile, added, asked):
    plain, compiled = pair_with(profile, added)
    texts = [
        "[SEP][CLS]" * 200,
        "a[MASK],b[UNK][MASK[PAD]",
        "".join(f"{token}w{number}." for number, token in enumerate(("[SEP]", *added) * 99)),
        "世[SEP]世",  # the part between characters that are set apart
        *[f"x{token}" for token in added],
    ]
    expected = [ids_of(plain, text) for text in texts]
    asked.clear()
    assert [ids_of(compiled, text) for text in [*texts, *texts]] == expected * 2
    assert asked == []


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("added", "text"),
    [
        ((), "[sep]"),  # no token, but looks like one
        ((), "[SEP]\u0301[CLS]"),
        (("ab", "bc"), "[SEP]xabcx"),  # two that meet
        ((trietok.AddedToken("o-o", single_word=True),), "xo-o.o-o"),
        ((trietok.AddedToken("o-o", lstrip=True),), "x.o-o"),
        ((trietok.AddedToken("o-o", rstrip=True),), "o-o.x"),
        ((trietok.AddedToken("O-o", normalized=False),), "o-o"),
    ],
)
def test_python_cuts_where_more_than_a_token_tells(profile, added, text, asked):
    plain, compiled = pair_with(profile, added)
    expected = ids_of(plain, text)
    asked.clear()
    assert ids_of(compiled, text) == ids_of(compiled, text) == expected
    assert asked


@pytest.mark.parametrize("profile", PROFILES)
def test_random_tokens_side_by_side_are_those_of_plain_python(profile):
    seed = random.randrange(10**9)
    print("seed", seed)
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
            assert ids_of(compiled, text) == ids_of(plain, text), (added, text)


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


def test_patterns_that_are_too_long_to_look_for_are_left_to_python(pairs):
    assert kernel.patterns_of(WordSearch(["a" * 2000]).parts) is None
    plain, compiled = pairs(PROFILES[0], "uncased", ("-" * 2000,))
    assert_same(plain, compiled, ["a - b --", f"a{'-' * 2001} b"])
    for count, is_handed_over in ((32, False), (33, True)):
        asked = []
        parts = WordSearch(["x-"]).parts
        compiled = compiled_kernel(
            ["a", "-"],
            kernel.SlowClassifier(trietok.BasicTokenizer(), [WordSearch(["x-"])], True).classify,
            lambda chunk, asked=asked: asked.append(chunk) or [7],
            patterns=kernel.patterns_of(parts) * count,
        )
        assert compiled.ids("a-") == ([7] if is_handed_over else [0, 1])
        assert asked == ["a-"] * is_handed_over
    with pytest.raises(TypeError, match="tuple of Vocabulary"):
        compiled_kernel(["a"], lambda code: (1, 0, 0, b"a"), list, patterns=(1,))


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


def test_what_may_compose_is_known_of_this_unicode():
    """The kernel asks whether they may of these categories only; all that characters are composed
    of is known.
    """
    decomposed = [
        unicodedata.normalize("NFD", chr(code))
        for code in (*range(0xC0, 0xD800), *range(0xF900, 0x30000))
    ]
    found = {char for chars in decomposed for char in chars[1:]}
    assert {unicodedata.category(char) for char in found} <= {"Mn", "Mc", "Me", "Lo"}
    assert [hex(ord(char)) for char in sorted(found) if not composing(char)] == []
    assert list(composing("aé世\u0301가क\u09be")) == [3, 6]


def test_common_chinese_characters_are_words_and_the_same_in_every_form():
    chars = "".join(map(chr, range(kernel.COMMON_CHINESE[0], kernel.COMMON_CHINESE[1] + 1)))
    assert chars.isprintable()
    assert all(map(is_chinese_char, map(ord, chars)))
    assert all(unicodedata.is_normalized(form, chars) for form in ("NFC", "NFD", "NFKC", "NFKD"))


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


def test_a_stage_that_is_patched_is_used_at_once(monkeypatch):
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        own = ids_of(tokenizer, "hello world")
        monkeypatch.setattr(
            trietok.BasicTokenizer, "tokenize", lambda self, text, never_split=None: ["the"]
        )
        assert tokenizer.convert_ids_to_tokens(ids_of(tokenizer, "hello world")) == ["the"]
        monkeypatch.undo()
        assert ids_of(tokenizer, "hello world") == own


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
    rng = random.Random(7)
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
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_encodes():
    program = """
        import os, threading
        import trietok
        from trietok.text.kernel import choosing as kernel
        assert kernel.choose_kernel("compiled", text_before_kernel=0)
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        expected = tokenizer("hello world")["input_ids"]
        texts = ["some words that are encoded " * 200] * 200
        over = threading.Event()
        def encode():
            while not over.is_set():
                tokenizer(texts)
        thread = threading.Thread(target=encode)
        thread.start()
        for number in range(20):
            child = os.fork()
            if child == 0:
                os._exit(0 if tokenizer([f"hello world{number}", "hello world"])["input_ids"][1] == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
        over.set()
        thread.join()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=600)


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


@pytest.mark.parametrize(
    "answer", [None, (), (9, 0, 0, b""), (1, 0, 0, "text"), (1, 0, 0, b"x" * 65), (4, 0, 0, b"")]
)
def test_an_answer_that_says_nothing_is_an_error(answer):
    compiled = compiled_kernel(["a"], lambda code: answer, list)
    with pytest.raises((ValueError, TypeError, SystemError)):
        compiled.ids("a")


@pytest.mark.parametrize("number", [-1, 256, 100_000_000])
def test_a_character_is_folded_to_bytes(number):
    classify = kernel.SlowClassifier(trietok.BasicTokenizer(), [], True).classify
    compiled = compiled_kernel(
        ["a", "é"], classify, lambda chunk: [7], fold=lambda char: [number], terms=["aé b"]
    )
    for text in ("aé", "aé b", "é aé"):
        with pytest.raises(OverflowError, match=f"the number {number} is not from 0 to 255"):
            compiled.ids(text)


def test_an_id_that_changes_the_vocabulary_when_it_is_asked_for_is_refused():
    class Grows:
        def __index__(self) -> int:
            entries.update((f"new{number}", number) for number in range(100_000))
            return 3

    entries = {"a": Grows()}
    with pytest.raises(TypeError, match="an id is no int"):
        kernel.vocabulary_of(entries, "##", 0, 100)
    with pytest.raises(TypeError, match="an id is no int"):
        kernel.vocabulary_of({"a": 1}, "##", 0, 100, entries)


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
    tokenizer.cache_clear()
    assert tokenizer.cache_info().words == 0


def test_one_chunk_of_many_words_stays_within_the_bound():
    taken = []

    def hand_over(part: str) -> list[int]:
        taken.append(compiled.info()["bytes"])
        return [1]

    classify = kernel.SlowClassifier(trietok.BasicTokenizer(), [WordSearch(["["])], True).classify
    compiled = compiled_kernel(["word", "##1"], classify, hand_over, limit=1 << 18)
    compiled.ids(
        "\n".join(
            f"[{number}" if number % 500 == 0 else f"word{number}" for number in range(200_000)
        )
    )
    assert len(taken) == 400
    assert max(taken) <= 1 << 18
    assert compiled.info()["times_full"] > 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_interrupts_of_a_fork_stop_no_kernel():
    command = [sys.executable, "-m", "tests.text.interrupt_forks"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    assert shown.startswith("60 forks, ")


def test_a_first_text_that_is_long_gets_the_kernel(english_compiled):
    text = "the people of the world " * 1000
    with kernel_of("plain"):
        expected = trietok.BertTokenizer.from_pretrained("trietok-en").encode(text)
    made = kernel.kernels_made()
    assert english_compiled.encode(text) == expected
    assert kernel.kernels_made() == made + 1


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
    tokenizer.add_tokens(["<x>"])
    tokenizer("hello")
    del tokenizer
    gc.collect()
    assert kernel.kernels_alive() == before


def test_changes_leave_no_kernels_behind():
    """Nor former states: each change and batch makes a kernel, and the one before it goes."""
    gc.collect()
    before = kernel.kernels_alive()
    with kernel_of("compiled"):
        for profile in (trietok.BertTokenizer, trietok.BertTokenizerFast):
            tokenizer, former, states = (
                profile.from_pretrained("trietok-en"),
                weakref.WeakSet(),
                weakref.WeakSet(),
            )
            for number in range(50):
                tokenizer.add_tokens(f"term{number}")
                tokenizer([f"a text with term{number}"] * 3)
                former.add(tokenizer._now())
                tokenizer.decode([number])
                states.add(frozen(tokenizer))
            gc.collect()
            assert kernel.kernels_alive() <= before + 1
            assert list(former) == [tokenizer._now()]
            assert list(states) == [frozen(tokenizer)]
            del tokenizer
            gc.collect()
            assert kernel.kernels_alive() == before


def test_a_change_that_decides_no_id_keeps_the_kernel():
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        tokenizer("hello world and more")
        made, words = kernel.kernels_made(), tokenizer.cache_info().words
        for side in ("left", "right"):
            tokenizer.padding_side = side
            tokenizer("hello world")
        assert (kernel.kernels_made(), tokenizer.cache_info().words) == (made, words)
        tokenizer.add_tokens(["<x>"])
        assert "<x>" in tokenizer.tokenize("hello <x>")
        assert kernel.kernels_made() == made + 1


def test_a_kernel_is_made_once_however_many_chunks_are_worked_out(english_compiled):
    made = kernel.kernels_made()
    # what encodes files works chunks out itself
    work_out = english_compiled._now().encoder.work_out_chunk
    for number in range(2500):
        work_out(f"w{number}")
        english_compiled.encode(f"x{number}")
    assert kernel.kernels_made() == made + 1


# ---- when a kernel is made, and which ------------------------------------------------------------


@pytest.fixture
def english_compiled():
    """A tokenizer that makes a kernel when that is worth while."""
    with kernel.using_kernel("compiled"):
        yield trietok.BertTokenizer.from_pretrained("trietok-en")


def test_a_kernel_is_made_once_a_batch_is_long(english_compiled):
    made = kernel.kernels_made()
    english_compiled.encode("a short query")
    assert kernel.kernels_made() == made
    english_compiled(["a long text " * 1000] * 3)
    assert kernel.kernels_made() == made + 1


def test_a_kernel_is_made_after_many_chunks(english_compiled):
    made = kernel.kernels_made()
    for number in range(1500):
        english_compiled.encode(f"query {number}")
    assert kernel.kernels_made() == made + 1


@pytest.mark.parametrize("texts", [["hi"], ["a query", "another"] * 4, "hi"])
@pytest.mark.parametrize("tensors", [None, "np"])
def test_the_same_few_texts_have_a_kernel_after_at_most_50_calls(texts, tensors):
    with kernel.using_kernel("compiled"):
        tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        made, first = kernel.kernels_made(), tokenizer(texts, padding=True, return_tensors=tensors)
        assert kernel.kernels_made() == made
        for _ in range(49):
            again = tokenizer(texts, padding=True, return_tensors=tensors)
        assert kernel.kernels_made() == made + 1
        assert str(again) == str(first)


@pytest.mark.parametrize(("value", "name"), [("0", "plain"), ("", "compiled")])
def test_the_environment_switches_the_kernel_off(value, name):
    program = "import trietok; print(trietok.kernel)"
    environment = {**os.environ, "TRIETOK_KERNEL": value}
    shown = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == name


# ---- rows ----------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text("ab [é", max_size=9), max_size=5),
    room=st.none() | st.integers(0, 4),
    from_left=st.booleans(),
)
def test_rows_are_those_of_plain_python(some_letters, texts, room, from_left):
    rows, plain = some_letters.rows(texts), ListRows([some_letters.ids(text) for text in texts])
    if room is not None:
        rows.cut(room, from_left)
        plain.cut(room, from_left)
    assert rows.int32_lengths(3) == plain.int32_lengths(3)
    with pytest.raises(OverflowError):
        some_letters.rows(["a"]).int32_lengths(2**31 - 1)
    assert rows.lists() == plain.lists()


@pytest.fixture(scope="module")
def some_letters():
    classify = kernel.SlowClassifier(trietok.BasicTokenizer(), [WordSearch(["["])], True).classify
    return compiled_kernel(["a", "##a", "b", "##b", "e"], classify, lambda chunk: [3])


def of_python(shape: tuple[int, ...], dtype: object) -> bytearray:
    return bytearray(8 * math.prod(shape))


@st.composite
def forms(draw):
    in_row = draw(st.integers(1, 2))
    specials = draw(st.lists(st.integers(0, 2), min_size=in_row + 1, max_size=in_row + 1))
    numbers = st.integers(-1, 2**40)

    def column(of_texts):
        return (
            draw(numbers),
            draw(st.lists(of_texts, min_size=in_row, max_size=in_row)),
            [draw(numbers) for _ in range(sum(specials))],
        )

    form = form_of(
        specials,
        {
            "ids": column(st.just(IDS_OF_TEXT)),
            "b": column(st.integers(0, 300)),
            "zeros": (0, [0] * in_row, [0] * sum(specials)),
        },
        room=draw(st.integers(-1, 6)),
        cuts_left=draw(st.booleans()),
        width=draw(st.sampled_from([NOT_PADDED, TO_LONGEST, 0, 5, 12])),
        multiple=draw(st.sampled_from([1, 4, 64])),
        pads_left=draw(st.booleans()),
        most=draw(st.sampled_from([-1, 0, 9])),
        one=draw(st.booleans()),
    )
    return form._replace(make=draw(st.sampled_from([None, (), (of_python, of_python)])))


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(st.text("ab [é", max_size=9), max_size=6), form=forms())
def test_columns_are_those_of_plain_python(some_letters, texts, form):
    in_row = form.numbers[0]
    texts = texts[: len(texts) // in_row * in_row]
    made = some_letters.columns(tuple(texts), form, None)
    if not texts:
        assert made is None
        return
    expected = ListRows([some_letters.ids(text) for text in texts]).columns_or_rows(form)
    assert (type(made) is dict) == (type(expected) is dict)
    if type(made) is not dict:
        form = form._replace(make=None)
        made, expected = made.columns(form), expected.columns(form)
    assert list(made) == list(expected) == ["ids", "b", "zeros"]
    assert made == expected


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text("ab [é", max_size=9), min_size=1, max_size=6), room=st.integers(-1, 5)
)
def test_flat_ids_are_those_of_columns(some_letters, texts, room):
    form = form_of((1, 2), {"ids": (0, [IDS_OF_TEXT], [7, 8, 9])}, width=NOT_PADDED, room=room)
    rows = some_letters.columns(tuple(texts), form, None)["ids"]
    ids, offsets = some_letters.flat(tuple(texts), form._replace(make=()), None)
    assert array("i", ids).tolist() == [*itertools.chain(*rows)]
    assert array("i", offsets).tolist() == [0, *itertools.accumulate(map(len, rows))]


def test_a_long_text_is_read_as_far_as_it_is_kept(some_letters):
    asked = []
    compiled = compiled_kernel(
        ["a", "##a"],
        lambda code: (kernel.HAND_OVER, 0, 0, b""),
        lambda chunk: [asked.append(chunk), 3][1:],
    )
    form = form_of((0, 0), {"ids": (0, [IDS_OF_TEXT], [])}, room=2)
    assert compiled.columns((" ".join(map(str, range(1000))),), form, None) == {"ids": [[3, 3]]}
    assert len(asked) < 10


def test_what_is_no_text_or_no_form(some_letters):
    form = form_of((1, 1), {"ids": (0, [IDS_OF_TEXT], [1, 2])})

    class Text(str):
        pass

    assert some_letters.columns(("a", None), form, None) is None
    assert some_letters.columns(("a", Text("a")), form, None) is None
    for numbers in (
        b"",
        form.numbers[:-1],
        form.numbers[:-8],
        form.numbers + bytes(8),
        b"\3" + form.numbers[1:],
    ):
        with pytest.raises(ValueError, match="no form"):
            some_letters.columns(("a",), form._replace(numbers=numbers), None)
    for wrong in (7, (), form._replace(names=["ids"]), form._replace(make=7)):
        with pytest.raises(TypeError, match="a form is"):
            some_letters.columns(("a",), wrong, None)
    with pytest.raises(TypeError, match="a tuple of texts"):
        some_letters.columns(["a"], form, None)
    with pytest.raises(ValueError, match="several widths"):
        some_letters.rows(["a", "a a"]).columns(
            form_of((0, 0), {"ids": (0, [IDS_OF_TEXT], [])}, width=NOT_PADDED)._replace(make=())
        )
    with pytest.raises(MemoryError):
        some_letters.columns(
            ("a",),
            form_of((1, 1), {"ids": (0, [IDS_OF_TEXT], [1, 2])}, width=2**62)._replace(make=()),
            None,
        )
    for make in (
        len,
        lambda shape, dtype: bytearray(3),
        lambda shape, dtype: bytes(24),
        lambda shape, dtype: 1 / 0,
    ):
        with pytest.raises((TypeError, MemoryError, BufferError, ZeroDivisionError)):
            some_letters.columns(("a",), form._replace(make=(make, make)), None)


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


@settings(max_examples=200, deadline=None)
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
    edges = [
        0x00,
        0x41,
        0x7F,
        0x80,
        0x8F,
        0x90,
        0x9F,
        0xA0,
        0xBF,
        0xC0,
        0xC1,
        0xC2,
        0xDF,
        0xE0,
        0xE1,
        0xEC,
        0xED,
        0xEE,
    ]
    edges += [0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF]
    for length in (1, 2, 3, 4):
        for values in itertools.product(
            edges, *[edges[::1] if length < 4 else edges[3:9]] * (length - 1)
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
    with pytest.raises(ValueError, match="fewer offsets"):
        of_letters.rows_between(b"abc", array("q", offsets), first, count)
