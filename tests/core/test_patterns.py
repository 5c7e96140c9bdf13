"""Regular expressions of a tokenizer.json: they match as in the Rust library, or they are refused
before a text can make them slow.
"""

from __future__ import annotations

import json
import random

import pytest
import tokenizers

import trietok
from tests.conftest import SPECIAL, often
from tests.core.test_linear import assert_time_is_linear

LETTERS = "abcdefxy0129-_,|<> é世да".replace(" ", "")
TAKEN = [
    *("[世界]", "é|e", "[-_]+", "[_-]", "[а-я]+", r"[^\s世]+", r"[\]\-\\]", "[0-9]+,[0-9]+"),
    *("[a-z]+[0-9]+", "([a-z]+)0", "x*?y", "<[^<>]*>", "(?:ab)+", "(foo|foobar)x", "\t|\n|\u00a0"),
    *("a{2,3}?", r"a\.b"),
]
REFUSED = [
    # a repeated group that holds a repeat or alternatives
    *("(a|a)*b", "(a*)*b", "(a|b)+", "(a{2})+", "(a?b){3}", "((ab)+c)*d", "((a|b))*c"),
    # a repeat before something that matches the same characters
    *("a?a", "a{1,3}a", "a?" * 30 + "a" * 30, "x[ab]+(b|c)?", "[a-z]*[a-z]*[a-z]*0"),
    # a repeat without a limit that something must follow
    *("<[^>]*>", "(ab)+c", "-?[a-z]*0", "[ab]+0|a", "(a|b[a-z]+)0"),
    # read in several ways, long, high counts, deep groups
    *(
        "a++",
        "a{2}?",
        "(a|ab)" * 8 + "c",
        "a{9999}",
        "b{999}c{1002}",
        "(" * 2000 + "a" + ")" * 2000,
    ),
    *("a" * 3_000_000, "ab|" * 500 + "a", "(" * 900),
    # what matches the empty text, is invalid, or is read otherwise by another library
    *("", "a*", "a|", "(a", "[z-a]", "a{3,2}", r"\p{L}", r"\d", r"\b", ".", "^a", "(?i)a", "(?=a)"),
    *(r"(a)\1", "{", "*a", "[]", "[^]", "[a", "[[:alpha:]]", "[a&&b]"),
]


@pytest.fixture
def load(tmp_path):
    """A function that loads a tokenizer.json whose normalizer replaces what a pattern matches."""
    pieces = [*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    rust = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]")
    )
    rust.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    whole = json.loads(rust.to_str())

    def make(pattern: str):
        replace = {"type": "Replace", "pattern": {"Regex": pattern}, "content": " | "}
        text = json.dumps({**whole, "normalizer": replace})
        (tmp_path / "tokenizer.json").write_text(text)
        return trietok.BertTokenizerFast.from_pretrained(tmp_path), text

    return make


def assert_matches_as_in_rust(tokenizer, text: str, rng: random.Random) -> None:
    rust = tokenizers.Tokenizer.from_str(text)
    texts = ["ab a0-b", "é世 a世世b", "--__--a", "xxyxy b\u3000c", "<<a>>b<", "foobarx 1,2", "a.b"]
    texts += ["".join(rng.choices("ab0-é世 _cxy\t", k=30)) for _ in range(10)]
    for each in texts:
        ids = tokenizer.encode(each, add_special_tokens=False)
        assert ids == rust.encode(each).ids, (text[:200], each)


@pytest.mark.parametrize("pattern", TAKEN)
def test_a_pattern_that_is_taken_matches_as_in_the_rust_library(load, pattern):
    assert_matches_as_in_rust(*load(pattern), random.Random(pattern))


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: ascii(pattern[:20]))
def test_a_pattern_that_may_be_slow_or_ambiguous_is_refused(load, pattern):
    with pytest.raises(trietok.FileFormatError):
        load(pattern)


def random_pattern(rng: random.Random, depth: int = 0) -> str:
    counts = ("", "", "", "+", "*", "?", "{2}", "{1,3}", "+?", "*?", "{2,}", "??", "{1,2}?")
    sets = r"[ab] [a-c] [^a] [-_] [世é] [^ab0] [0-9] \s [\sa] \- [a-] [^-]".split()
    parts = []
    for _ in range(rng.choice((1, 1, 2, 3, 4))):
        part = rng.choice([*"ab0-é世 ", *sets])
        if depth < 3 and rng.random() < 0.25:
            inside = [random_pattern(rng, depth + 1) for _ in range(rng.choice((1, 1, 2, 3)))]
            part = f"{rng.choice(('(', '(?:'))}{'|'.join(inside)})"
        parts.append(part + rng.choice(counts))
    return "".join(parts)


def test_random_patterns_match_as_in_the_rust_library_or_are_refused(load):
    seed = random.randrange(2**32)
    rng, taken, refused = random.Random(seed), 0, 0
    while taken < often(60):
        try:
            tokenizer, text = load(random_pattern(rng))
        except trietok.FileFormatError:
            refused += 1
            continue
        assert_matches_as_in_rust(tokenizer, text, random.Random(seed))
        taken += 1
    assert taken > refused / 20, seed


@pytest.mark.parametrize(
    ("pattern", "part"),
    [("x*?y", "x"), ("[0-9]+,[0-9]+", "1"), ("(?:ab)+", "ab"), ("<[^<>]*>", "<"), ("[a-z]+0", "a")],
)
def test_a_search_in_a_hostile_text_takes_time_in_proportion(load, pattern, part):
    tokenizer, _ = load(pattern)
    tokenizer.model_max_length = 10**9
    assert_time_is_linear(tokenizer, lambda length: part * (length // len(part)))
