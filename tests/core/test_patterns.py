"""Regular expressions of a tokenizer.json: what is taken, what is refused, and how long a search
takes.
"""

from __future__ import annotations

import pickle
import random
import re
import time

import pytest
import tokenizers

from tests.conftest import often
from trietok.text.patterns import Pattern, compiled

N = 50_000  # code points of a text; a search in quadratic time takes minutes, or hours
HOSTILE = [
    *(char * N for char in "ab0 -世"),
    *(pair * (N // 2) for pair in ("ab", "a0", "-a", "é世")),
    "a" * (N // 2) + "b" * (N // 2),
    ("a" * 200 + "0") * (N // 201),
    ("a" * 300 + "b" * 300) * (N // 600),
]


def replaced(pattern: Pattern, text: str) -> str:
    parts, behind = [], 0
    for match in pattern.finditer(text):
        parts += [text[behind : match.start()], "|"]
        behind = match.end()
    return "".join([*parts, text[behind:]])


@pytest.mark.parametrize(
    ("pattern", "text", "result"),
    [
        ("[世界]", "a世界b", "a||b"),
        ("é|e", "née", "n||"),
        ("[-_]+", "a--_b-", "a|b|"),
        ("[_-]", "-a_", "|a|"),
        ("[а-я]+", "a да b", "a | b"),
        (r"[^\s世]+", "ab 世c", "| 世|"),
        (r"[\]\-\\]", r"]-\a", "|||a"),
        ("[0-9]+,[0-9]+", "1,2,34,5 6,", "|,| 6,"),
        ("[a-z]+[0-9]+", "abc1de2 f", "|| f"),
        ("([a-z]+)0", "aab0b", "|b"),
        ("x*?y", "xxyxy", "||"),
        ("<[^<>]*>", "<<a>>b<", "<|>b<"),
        ("(?:ab)+", "ababa", "|a"),
        ("(foo|foobar)x", "foobarx foox", "| |"),
        (r"\t|\n|\u00a0".replace(r"\u00a0", "\u00a0"), "a\tb\nc\u00a0", "a|b|c|"),
        ("a{2,3}?", "aaaaa", "||a"),
        ("a.b".replace(".", r"\."), "a.b axb", "| axb"),
    ],
)
def test_what_is_taken_matches(pattern, text, result):
    found = compiled(pattern)
    assert replaced(found, text) == result
    assert replaced(pickle.loads(pickle.dumps(found)), text) == result


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
def test_what_is_refused_is_refused_at_once(pattern):
    begin = time.monotonic()
    with pytest.raises(ValueError):  # noqa: PT011
        compiled(pattern)
    assert time.monotonic() - begin < 10


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


@pytest.fixture
def draw() -> random.Random:
    seed = random.randrange(2**32)
    print("seed", seed)
    return random.Random(seed)


def random_patterns(draw: random.Random, number: int) -> list[tuple[str, Pattern]]:
    """Patterns that are taken, and what they are read as."""
    taken: list[tuple[str, Pattern]] = []
    while len(taken) < number:
        pattern = "|".join(parts(draw) for _ in range(draw.choice((1, 1, 2))))
        try:
            taken.append((pattern, compiled(pattern)))
        except ValueError:
            continue
    return taken


def test_a_search_in_a_hostile_text_takes_linear_time(draw):
    for pattern, found in random_patterns(draw, often(60)):
        for text in HOSTILE:
            begin = time.monotonic()
            for _ in found.finditer(text):
                pass
            assert time.monotonic() - begin < 20, (pattern, text[:5])


def test_matches_are_those_of_python_and_of_tokenizers(draw):
    texts = ["", "ab a0-b", "é世 a世世b", "--__--a", "a b\u3000c\u00a0d", "ba0ba0ba0", "aaab"]
    texts += ["".join(draw.choices("ab0-é世 _c", k=30)) for _ in range(10)]
    for pattern, found in random_patterns(draw, often(200)):
        rust = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), "|")
        for text in texts:
            result = replaced(found, text)
            assert result == re.sub(found.anywhere, "|", text), (pattern, text)
            assert result == rust.normalize_str(text), (pattern, text)
