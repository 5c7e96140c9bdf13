"""Regular expressions of a tokenizer.json: those that are taken match as in tokenizers and in linear
time; the others are refused when the file is loaded.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers

import trietok
from tests.conftest import often
from tests.core.test_linear import assert_linear, steps

CHARACTERS = "ab0-é世_cx|,<>fo"
VOCABULARY = ["[UNK]", *CHARACTERS, *(f"##{char}" for char in CHARACTERS)]


def tokenizer_json(pattern: str) -> str:
    """A file that replaces what matches by "|"; then each character is a token."""
    rust = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(
            {token: i for i, token in enumerate(VOCABULARY)}, unk_token="[UNK]"
        )
    )
    values = json.loads(rust.to_str())
    values["normalizer"] = {"type": "Replace", "pattern": {"Regex": pattern}, "content": "|"}
    values["pre_tokenizer"] = {"type": "BertPreTokenizer"}
    return json.dumps(values)


def loaded(folder: Path, pattern: str) -> trietok.BertTokenizerFast:
    (folder / "tokenizer.json").write_text(tokenizer_json(pattern), encoding="utf-8")
    return trietok.BertTokenizerFast.from_pretrained(folder, model_max_length=10**9)


TAKEN = [
    *("[世界]", "é|e", "[-_]+", "[_-]", "[а-я]+", r"[^\s世]+", r"[\]\-\\]", "[0-9]+,[0-9]+"),
    *("[a-z]+[0-9]+", "([a-z]+)0", "x*?y", "<[^<>]*>", "(?:ab)+", "(foo|foobar)x", "\t|\n|\u00a0"),
    *("a{2,3}?", r"a\.b"),
]
EXAMPLES = [
    "",
    "ab a0-b",
    "é世 a世世b",
    "--__--a",
    "a b\u3000c\u00a0d",
    "ba0ba0ba0",
    "aaab",
    "<<a>>b<",
]
EXAMPLES += ["foobarx foox", "1,2,34,5 6,", "a.b axb", "xxyxy", r"]-\a", "a\tb\nc"]


def assert_matches_as_in_tokenizers(folder: Path, pattern: str, texts: list[str]) -> None:
    ours = loaded(folder, pattern)
    rust = tokenizers.Tokenizer.from_str(tokenizer_json(pattern))
    for text in texts:
        encoding = ours(text, add_special_tokens=False, return_offsets_mapping=True)
        want = rust.encode(text)
        assert encoding.tokens() == want.tokens, (pattern, text)
        assert encoding.offset_mapping == want.offsets, (pattern, text)


@pytest.mark.parametrize("pattern", TAKEN)
def test_a_pattern_that_is_taken_matches_as_in_tokenizers(tmp_path, pattern):
    assert_matches_as_in_tokenizers(tmp_path, pattern, EXAMPLES)


ASTRAL = "".join(chr(0x10000 + 2 * number) for number in range(900))
REFUSED = [
    # a repeated group that holds a repeat or alternatives
    *("(a|a)*b", "(a*)*b", "(a|b)+", "(a{2})+", "(a?b){3}"),
    *("((ab)+c)*d", "(?:(a|b)c){2,}", "((a|b))*c"),
    # a repeat before something that matches the same characters
    *("a?a", "a{1,3}a", "a?" * 30 + "a" * 30, "(ab)?ac"),
    *("x[ab]+(b|c)?", "x[ab]{2,4}[bc]", "[a-z]*[a-z]*[a-z]*0"),
    # a repeat without a limit that something must follow
    *("<[^>]*>", "(ab)+c", "-?[a-z]*0", "(a+)?b"),
    *("[ab]+0|a", "x(a|b)[0-9]+c", "(a|b[a-z]+)0"),
    # read in several ways
    *("a++", "a{2}?", "a+*"),
    # long patterns, many alternatives, high counts, deep groups
    *("(a|ab)" * 8 + "c", "a{9999}", "b{999}c{1002}"),
    *(f"[{ASTRAL}]{{0,90}}0", f"(?:{'[bc]|' * 99}b)[bc]{{0,80}}d"),
    *("(" * 2000 + "a" + ")" * 2000, "a(?:" + "|" * 100_000 + "b)"),
    *("a" * 3_000_000, "ab|" * 500 + "a", "(" * 400 + "a" + ")" * 400, "(" * 900),
    # patterns that match the empty text, and invalid ones
    *("", "a*", "()", "a|", "(a|b?)", "(a", "a)", "[z-a]", "a[^\x00-\U0010ffff]", "a{3,2}"),
    # what the libraries may read otherwise
    *(r"\p{L}", r"\d", r"\w+", r"\b", ".", "^a", "a$", "(?i)a"),
    *("(?=a)", "(?<!a)b", r"(a)\1", "a{,3}", "{", "*a", "]"),
    *("[]", "[^]", "[a", "[a-c-e]", "[[:alpha:]]", "[a&&b]"),
]


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: ascii(pattern[:20]))
def test_a_pattern_that_may_take_long_or_match_otherwise_is_refused(tmp_path, pattern):
    with pytest.raises((trietok.NotSupportedError, trietok.FileFormatError)):
        loaded(tmp_path, pattern)


def part(draw: random.Random, depth: int) -> str:
    if depth < 3 and draw.random() < 0.25:
        inside = "|".join(parts(draw, depth + 1) for _ in range(draw.choice((1, 1, 2, 3))))
        return f"{draw.choice(('(', '(?:'))}{inside})"
    sets = "[ab] [a-c] [^a] [-_] [世é] [^ab0] [0-9] \\s [\\sa] \\- [a-] [^-]".split()
    return draw.choice([*"ab0-é世 ", *sets])


def parts(draw: random.Random, depth: int = 0) -> str:
    counts = ("", "", "", "+", "*", "?", "{2}", "{1,3}", "+?", "*?", "{2,}", "??", "{1,2}?")
    number = draw.choice((1, 1, 2, 3, 4))
    return "".join(part(draw, depth) + draw.choice(counts) for _ in range(number))


def test_random_patterns_match_as_in_tokenizers_in_linear_time_or_are_refused(tmp_path):
    seed = random.SystemRandom().randrange(2**32)
    draw = random.Random(seed)
    taken = refused = 0
    while taken < often(160):
        pattern = "|".join(parts(draw) for _ in range(draw.choice((1, 1, 2))))
        try:
            ours = loaded(tmp_path, pattern)
        except (trietok.NotSupportedError, trietok.FileFormatError):
            refused += 1
            assert refused < 20 * (taken + 20), f"seed {seed}"
            continue
        taken += 1
        texts = ["".join(draw.choices("ab0-é世 _c", k=30)) for _ in range(6)]
        assert_matches_as_in_tokenizers(tmp_path, pattern, [*EXAMPLES, *texts])
        part = draw.choice(["a", "ab", "a0", "-a", "é世"])
        text_of = lambda length, part=part: part * (length // len(part))  # noqa: E731
        assert_linear(ours, text_of, steps, 300, spare=800)
