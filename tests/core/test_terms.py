"""Added tokens with spaces stand where the stages find them: by the kernel, in plain Python, and in
transformers.
"""

from __future__ import annotations

import random
from array import array

import pytest

import trietok
from tests.conftest import often
from tests.kernel.kernel_cases import kernel_of, write_vocabulary_of_characters
from trietok.text.kernel import choosing as kernel

KERNELS = ["plain", pytest.param("compiled", marks=pytest.mark.kernel)]
PROFILES = [trietok.BertTokenizer, trietok.BertTokenizerFast]
WORDS = "a b ab the new york in of x é É ö İ ß K Σ ς st st. u.s. covid-19 1 12 世 世界 [CLS] [new] _ -".split()
WORDS += ["e\u0301", "\u0301", "renew", "yorkers"]
GAPS = [" "] * 12 + [
    "  ",
    *"\t\n\xa0\u3000\u200b",
    " \u200b",
    "\x0b",
    "\x7f",
    "",
    "-",
    ", ",
    "\x1c",
    "\x85",
    "中",
]


def random_term(rng: random.Random) -> str:
    """A term; some of its words are parts of others, and some of its gaps are no single space."""
    words = [
        rng.choice(WORDS) + (rng.choice(WORDS) if rng.random() < 0.15 else "")
        for _ in range(rng.choice([2, 2, 2, 3, 4]))
    ]
    term = words[0]
    for word in words[1:]:
        term += (" " if rng.random() < 0.97 else rng.choice(GAPS)) + word
    return rng.choice([str, str, str, str.upper, str.title, str.swapcase])(term)


def random_tokens(rng: random.Random) -> list[trietok.AddedToken]:
    """Terms and other tokens, with all flags."""
    flags = rng.choice([0.0, 0.0, 0.1, 0.5])
    contents = [random_term(rng) for _ in range(rng.choice([1, 2, 4, 10, 60]))]
    contents += [
        content[: rng.randrange(1, len(content))].strip() or "x"
        for content in contents
        if rng.random() < 0.2
    ]
    contents += rng.sample(WORDS, rng.choice([0, 0, 1, 3]))
    return [
        trietok.AddedToken(
            content,
            lstrip=rng.random() < flags,
            rstrip=rng.random() < flags,
            single_word=rng.random() < flags,
            normalized=rng.random() >= flags,
            special=rng.random() < flags / 2,
        )
        for content in contents
    ]


def random_text(rng: random.Random, contents: list[str]) -> str:
    """Words, terms and parts of terms, most of them with a space between."""
    parts: list[str] = []
    strange = rng.choice([0.0, 0.05, 0.3])
    for _ in range(rng.randrange(1, 14)):
        part = rng.choice(contents) if rng.random() < 0.6 else rng.choice(WORDS)
        if rng.random() < 0.3:
            at = rng.randrange(len(part) + 1)
            part = rng.choice([part[:at], part[at:], part[:at] + rng.choice(GAPS) + part[at:]])
        if rng.random() < 0.3:
            part = rng.choice([str.upper, str.lower, str.title])(part)
        parts.append(part)
        parts.append(" " if rng.random() >= strange else rng.choice(GAPS))
    return "".join(parts[: rng.choice([-1, len(parts)])])


@pytest.fixture(scope="module")
def directories(tmp_path_factory):
    return [
        write_vocabulary_of_characters(tmp_path_factory.mktemp("characters")),
        "trietok-en",
        "trietok-multi",
    ]


def differences(tokenizer, texts: list[str]) -> list[str]:
    """The texts whose ids or spans are not those of the stages: worked out, remembered, and in a
    batch.
    """
    encoder, found = tokenizer.text_encoder, []
    for text in texts:
        ids = encoder.stages.ids(text)
        if (
            encoder.ids(text) != ids
            or encoder.ids(text) != ids
            or encoder.spans(text) != (spans := encoder.stages.spans(text))
            or encoder.spans(text) != spans
        ):
            found.append(text)
    if encoder.rows(texts).lists() != [encoder.stages.ids(text) for text in texts]:
        found.append("a batch")
    return found


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_random_terms_in_random_texts(kind, name, directories):
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    for _ in range(often(4)):  # tokenizers, each with 404 texts
        options = {
            "do_lower_case": rng.random() < 0.7,
            "strip_accents": rng.choice([None, None, True, False]),
            "tokenize_chinese_chars": rng.random() < 0.8,
            "cache_limit": rng.choice([64_000_000, 2_000_000]),
        }
        with kernel_of("compiled") if name == "compiled" else kernel.using_kernel("plain"):
            tokenizer = kind.from_pretrained(rng.choice(directories), **options)
            tokens = random_tokens(rng)
            for _ in range(4):  # a history of adding and removing
                some = rng.sample(tokens, rng.randrange(1, len(tokens) + 1))
                tokenizer.add_tokens(some)
                if rng.random() < 0.3:
                    there = [
                        token
                        for token in tokenizer.added_tokens_encoder
                        if token not in tokenizer.all_special_tokens
                    ]
                    tokenizer.remove_tokens(rng.sample(there, min(len(there), 2)))
                contents = [token.content for token in tokens]
                texts = [random_text(rng, contents) for _ in range(100)]
                # a long one is read in parts
                texts.append(" ".join(rng.choices(texts, k=rng.choice([3, 100, 300]))))
                assert differences(tokenizer, texts) == [], (
                    seed,
                    options,
                    tokenizer.added_tokens_decoder,
                )


# ---- small cases ---------------------------------------------------------------------------------


def tokens_of(kind, name: str, added: list, text: str, **options) -> list[str]:
    """The tokens of a text, which are those of the stages."""
    with kernel_of("compiled") if name == "compiled" else kernel.using_kernel("plain"):
        tokenizer = kind.from_pretrained("trietok-en", **options)
        tokenizer.add_tokens(added)
        assert differences(tokenizer, [text]) == []
        return tokenizer.convert_ids_to_tokens(tokenizer.text_encoder.ids(text))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_a_term_stands_wherever_its_words_do(kind, name):
    assert tokens_of(kind, name, ["new york"], "xnew yorker") == ["x", "new york", "er"]
    assert tokens_of(kind, name, ["new york"], "(New York)") == ["(", "new york", ")"]
    assert "new york" not in tokens_of(kind, name, ["new york"], "new  york")
    assert tokens_of(kind, name, ["new york"], "reNEW York") == ["re", "new york"]
    assert "new york" not in tokens_of(
        kind, name, [trietok.AddedToken("new york", single_word=True)], "new yorker"
    )


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_the_leftmost_longest_of_terms_that_overlap(kind, name):
    added = ["a b", "b c d", "c d e f"]
    assert tokens_of(kind, name, added, "a b c d e f") == ["a b", "c d e f"]
    assert tokens_of(kind, name, added, "b c d e f") == ["b c d", "e", "f"]
    assert tokens_of(kind, name, [*added, "xa"], "xa b c d e f") == ["xa", "b c d", "e", "f"]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_what_is_cut_off_behind_a_term_is_there_the_next_time(kind, name):
    """A window is remembered whole, whatever is cut off in it."""
    with kernel_of(name):
        tokenizer = kind.from_pretrained("trietok-en")
        tokenizer.add_tokens(["of the"])
        text = "some of thesecond time"
        whole = [*tokenizer.tokenize("some"), "of the", *tokenizer.tokenize("second time")]
        for length in range(1, len(whole)):
            cut = tokenizer([text], truncation=True, max_length=length, add_special_tokens=False)
            assert tokenizer.convert_ids_to_tokens(cut.input_ids[0]) == whole[:length]
        assert tokenizer.convert_ids_to_tokens(tokenizer.encode(text)[1:-1]) == whole


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_terms_whose_first_words_have_one_hash(kind, name):
    """The upper half of the kernel's hash, by which it finds where a term goes on."""

    def half(word: str) -> int:
        found = 0
        for byte in reversed(word.encode()):
            found = (found + byte + 1) * 0x9E3779B97F4A7C15 % 2**64
        return found >> 32

    words, others = ("atqdyxu", "imifc"), ("blmxntbs", "qgmjibs")
    assert [*map(half, words)] == [*map(half, others)]
    added = [f"{word} then" for word in words] + [f"{word} york" for word in others]
    for term in added:
        assert term in tokens_of(kind, name, added, f"so {term} is")


@pytest.mark.parametrize("name", KERNELS)
def test_a_term_reaches_across_other_whitespace_once_it_has_become_a_space(name):
    assert tokens_of(PROFILES[1], name, ["new york"], "of new\nyork, new\xa0york") == [
        "of",
        "new york",
        ",",
        "new york",
    ]
    assert "new york" not in tokens_of(PROFILES[0], name, ["new york"], "of new\nyork")
    assert tokens_of(PROFILES[1], name, ["new york"], "new \x7fyo\x01rk") == ["new york"]


@pytest.mark.parametrize("name", KERNELS)
def test_a_term_that_is_lower_cased_around_one_that_is_not(name):
    """The slow profile keeps the case of what is matched as it is written, and searches once
    more.
    """
    added = [trietok.AddedToken(content, special=True) for content in ("X", "X new")]
    assert (
        tokens_of(PROFILES[0], name, added, "X NEW x new", split_special_tokens=False)[0] == "X new"
    )


@pytest.mark.parametrize("name", KERNELS)
def test_a_term_as_it_is_written_goes_before_a_longer_one_that_is_lower_cased(name):
    added = [trietok.AddedToken("NEW YOR", normalized=False), trietok.AddedToken("new york")]
    assert tokens_of(PROFILES[0], name, added, "NEW YORK new york") == ["NEW YOR", "k", "new york"]
    assert tokens_of(PROFILES[0], name, added, "NEW YORK") == ["NEW YOR", "k"]


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("kind", PROFILES)
def test_terms_that_begin_in_each_other_cost_a_bounded_number_of_steps(kind, name):
    """They are longer than what is walked for each character: then the text is left to one search
    in linear time.
    """
    added = ["a " * 300 + "b", "a " * 20 + "c"]
    text = "a " * 2000 + "c"
    assert tokens_of(kind, name, added, text)[-1] == added[1]


@pytest.mark.kernel
def test_rows_of_a_buffer_with_terms():
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        tokenizer.add_tokens(["new york"])
        encoder = tokenizer.text_encoder
        rows = encoder.kernel.rows_between(b"in New Yorkof new", array("q", [0, 11, 17]), 0, 2)
        assert rows.lists() == [encoder.stages.ids("in New York"), encoder.stages.ids("of new")]
