"""Added tokens with spaces stand where transformers finds them, with the kernel and without.

`tests/parity` compares terms with transformers; here the kernel is compared with plain Python, on
vocabularies that change, and small cases say what holds.
"""

from __future__ import annotations

import random

import pytest

import trietok
from tests.conftest import assert_share, often
from tests.kernel.twins import Twins
from trietok import AddedToken, BertTokenizer, BertTokenizerFast

KINDS = [BertTokenizer, BertTokenizerFast]
WORDS = "a b ab the new york in of x é É ö İ ß K Σ ς st st. u.s. covid-19 1 12 世 世界 [CLS] [new] _ -".split()
WORDS += ["e\u0301", "\u0301", "renew", "yorkers"]
GAPS = [*[" "] * 12, "  ", *"\t\n\xa0\u3000\u200b\x0b\x7f\x1c\x85中-", " \u200b", "", ", "]


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


def random_tokens(rng: random.Random) -> list[AddedToken]:
    """Terms, beginnings of terms and words, with all flags."""
    share = rng.choice([0.0, 0.0, 0.1, 0.5])
    contents = [random_term(rng) for _ in range(rng.choice([1, 2, 4, 10, 60]))]
    contents += [term[: rng.randrange(1, len(term))].strip() or "x" for term in contents[::5]]
    contents += rng.sample(WORDS, rng.choice([0, 0, 1, 3]))
    return [
        AddedToken(
            content,
            lstrip=rng.random() < share,
            rstrip=rng.random() < share,
            single_word=rng.random() < share,
            normalized=rng.random() >= share,
            special=rng.random() < share / 2,
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
        parts.append(rng.choice([str, str, str.upper, str.lower, str.title])(part))
        parts.append(" " if rng.random() >= strange else rng.choice(GAPS))
    return "".join(parts)


@pytest.mark.kernel
@pytest.mark.parametrize("kind", KINDS)
def test_kernel_equals_plain_python_on_random_terms_that_come_and_go(kind):
    seed = random.SystemRandom().randrange(2**32)
    rng = random.Random(seed)
    found, compared = 0, 0
    for _ in range(often(12)):
        options = {"do_lower_case": rng.random() < 0.7, "cache_limit": rng.choice([64, 2]) * 10**6}
        twins = Twins(lambda options=options: kind.from_pretrained("trietok-en", **options))
        tokens = random_tokens(rng)
        for _ in range(3):
            some = rng.sample(tokens, rng.randrange(1, len(tokens) + 1))
            for tokenizer in (twins.plain, twins.compiled):
                tokenizer.add_tokens(some)
            there = [*{*twins.plain.added_tokens_encoder} - {*twins.plain.all_special_tokens}]
            gone = rng.sample(sorted(there), min(len(there), 2)) if rng.random() < 0.3 else []
            for tokenizer in (twins.plain, twins.compiled):
                tokenizer.remove_tokens(gone)
            texts = [random_text(rng, [token.content for token in tokens]) for _ in range(40)]
            texts.append(" ".join(rng.choices(texts, k=rng.choice([3, 100]))))  # read in parts
            assert twins.different(texts) == [], (seed, options, twins.plain.added_tokens_decoder)
            added = {*twins.plain.added_tokens_decoder}
            compared += len(texts)
            found += sum(not added.isdisjoint(twins.plain(text).input_ids[1:-1]) for text in texts)
    assert_share(found, compared, 0.4)


# ---- small cases ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("added", "text", "tokens"),
    [
        (["new york"], "xnew yorker", ["x", "new york", "er"]),
        (["new york"], "(New York)", ["(", "new york", ")"]),
        (["new york"], "reNEW York", ["re", "new york"]),
        # leftmost, then longest
        (["a b", "b c d", "c d e f"], "a b c d e f", ["a b", "c d e f"]),
        (["a b", "b c d", "c d e f"], "b c d e f", ["b c d", "e", "f"]),
        (["a b", "b c d", "c d e f", "xa"], "xa b c d e f", ["xa", "b c d", "e", "f"]),
        # terms that begin in each other, longer than what is walked for each character
        (["a " * 300 + "b", "a " * 20 + "c"], "a " * 40 + "c", ["a"] * 20 + ["a " * 20 + "c"]),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_terms_are_found_leftmost_longest_also_inside_words(kernel, kind, added, text, tokens):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(added)
    assert tokenizer.tokenize(text) == tokens


@pytest.mark.parametrize("kind", KINDS)
def test_a_term_needs_its_own_spaces_and_a_single_word_its_borders(kernel, kind):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["new york", AddedToken("of the", single_word=True)])
    assert "new york" not in tokenizer.tokenize("new  york")
    assert "of the" not in tokenizer.tokenize("of them")


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_truncation_cuts_off_behind_a_term_is_there_the_next_time(kernel, kind):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["of the"])
    text = "some of thesecond time"
    whole = [*tokenizer.tokenize("some"), "of the", *tokenizer.tokenize("second time")]
    for length in range(1, len(whole)):
        cut = tokenizer([text], truncation=True, max_length=length, add_special_tokens=False)
        assert tokenizer.convert_ids_to_tokens(cut.input_ids[0]) == whole[:length]
    assert tokenizer.convert_ids_to_tokens(tokenizer.encode(text)[1:-1]) == whole


def test_other_whitespace_within_a_term_counts_as_a_space_in_the_fast_class_only(kernel):
    fast, slow = (kind.from_pretrained("trietok-en") for kind in (BertTokenizerFast, BertTokenizer))
    for tokenizer in (fast, slow):
        tokenizer.add_tokens(["new york"])
    text = "of new\nyork, new\xa0york"
    assert fast.tokenize(text) == ["of", "new york", ",", "new york"]
    assert "new york" not in slow.tokenize("of new\nyork")
    assert fast.tokenize("new \x7fyo\x01rk") == ["new york"]


def test_a_term_as_it_is_written_goes_before_a_longer_one_that_is_lower_cased(kernel):
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens([AddedToken("NEW YOR", normalized=False), trietok.AddedToken("new york")])
    assert tokenizer.tokenize("NEW YORK new york") == ["NEW YOR", "k", "new york"]
    special = BertTokenizer.from_pretrained("trietok-en")
    special.add_tokens([AddedToken(content, special=True) for content in ("X", "X new")])
    assert special.tokenize("X NEW x new")[0] == "X new"
