"""Spans of the plain slow profile: its tokens are the other references', and the spans are what
their definition says.

`TRIETOK_EXAMPLES=20000` looks for longer.
"""

from __future__ import annotations

import functools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.parity.conftest import CASED, UNCASED, directory_of, texts
from tests.reference import basic_tokenizer, naive_slow_offsets
from tests.reference import tokenizer as reference
from tests.reference.naive_slow_offsets import Found

ROLES = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]
SPECIAL = [reference.Token(role, special=True) for role in ROLES]
VOCAB = frozenset(
    [*CASED, "\u1112", "##\u1161", "##\u11ab", "##\u0301", "##\u0307", "e", "##\u0323"]
)
CONTENTS = ["<a>", "<B>", "ab", "abc", "New York", "é", "İ", "世", "!", " ", "x ", "\u3000y", "zz"]

found = functools.partial(naive_slow_offsets.tokenize, VOCAB)


def tokens_of(
    text: str, added: list[reference.Token] = SPECIAL, **options: bool | None
) -> list[Found]:
    return found(added, ROLES, text, **options)


def options() -> st.SearchStrategy[dict[str, bool | None]]:
    lower, chinese = st.booleans(), st.booleans()
    accents = st.sampled_from([None, True, False])
    return st.fixed_dictionaries(
        {"do_lower_case": lower, "tokenize_chinese_chars": chinese, "strip_accents": accents}
    )


def marks() -> st.SearchStrategy[str]:
    parts = [
        *"aeE \u0301\u0323\u0307\u0327\u0345\u0316\u302e\u200b!가\u11a8\u1100\u1161",
        "İ",
        "ǖ",
        "각",
        "世",
        "Σ",
        "\U0001d165",
    ]
    return st.lists(st.sampled_from(parts), max_size=10).map("".join)


@examples(60)
@given(st.one_of(texts(), marks(), texts(CONTENTS)), st.data())
def test_tokens_are_those_of_the_reference(text, data):
    flags = [st.booleans()] * 4
    added = data.draw(
        st.lists(st.builds(reference.Token, st.sampled_from(CONTENTS), *flags), max_size=3)
    )
    lower = data.draw(st.booleans())
    want = reference.tokenize(VOCAB, [*SPECIAL, *added], ROLES, text, do_lower_case=lower)
    assert [
        token for token, _, _ in tokens_of(text, [*SPECIAL, *added], do_lower_case=lower)
    ] == want


@functools.cache
def tokenizer(**chosen: bool | None) -> trietok.BertTokenizer:
    file = directory_of("uncased" if chosen["do_lower_case"] else "cased") / "vocab.txt"
    return trietok.BertTokenizer(file, **chosen)


@examples(60)
@given(st.one_of(texts(), marks()), options())
def test_tokens_are_those_of_the_tokenizer(text, chosen):
    vocab = frozenset(UNCASED if chosen["do_lower_case"] else CASED)
    got = naive_slow_offsets.tokenize(vocab, SPECIAL, ROLES, text, **chosen)
    assert [token for token, _, _ in got] == tokenizer(**chosen).tokenize(text)


@examples(90)
@given(st.one_of(texts(), marks(), texts(CONTENTS)), options(), st.data())
def test_spans_are_inside_and_in_order(text, chosen, data):
    flags = [st.booleans()] * 4
    added = data.draw(
        st.lists(st.builds(reference.Token, st.sampled_from(CONTENTS), *flags), max_size=3)
    )
    got = tokens_of(text, [*SPECIAL, *added], **chosen)
    spans = [span for _, span, _ in got]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    for column in zip(*spans, strict=True):
        assert list(column) == sorted(column)
    numbers = [number for _, _, number in got]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(set(numbers))))


@examples(150)
@given(st.one_of(texts(), marks()), options())
def test_a_word_is_what_its_span_gives(text, chosen):
    got = tokens_of(text, **chosen)
    for number in {number for _, _, number in got}:
        word = [(token, span) for token, span, of in got if of == number]
        span = text[word[0][1][0] : word[-1][1][1]]
        assert [token for token, _, _ in tokens_of(span, **chosen)] == [
            token for token, _ in word
        ], span


@examples(150)
@given(st.one_of(texts(), marks()), options())
def test_a_piece_is_what_its_span_gives(text, chosen):
    assume(not any(role.lower() in text.lower() for role in ROLES))
    got = tokens_of(text, **chosen)
    bounds = [(0, 0), *(span for _, span, _ in got), (len(text), len(text))]
    for (token, (start, end), _), before, after in zip(got, bounds, bounds[2:], strict=False):
        if token != "[UNK]" and before[1] <= start and end <= after[0]:
            words = basic_tokenizer.tokenize(text[start:end], **chosen)
            assert "".join(words) == token.removeprefix("##")


@pytest.mark.parametrize(
    ("text", "chosen", "want"),
    [
        ("Unáffable", {}, [("un", (0, 2)), ("##aff", (2, 5)), ("##able", (5, 9))]),
        # á is a and its accent
        (
            "Una\u0301ffable",
            {},
            [("un", (0, 2)), ("##aff", (2, 6)), ("##able", (6, 10))],
        ),
        # there is no such character: the accent is nobody's
        (
            "x\u0301 a",
            {},
            [("x", (0, 1)), ("a", (3, 4))],
        ),
        ("\u200ba\u200bb\u200b", {}, [("ab", (1, 4))]),
        ("İ", {"strip_accents": False}, [("i̇", (0, 1))]),
        ("한", {}, [("\u1112", (0, 1)), ("##\u1161", (0, 1)), ("##\u11ab", (0, 1))]),
        ("世界!", {}, [("世", (0, 1)), ("界", (1, 2)), ("!", (2, 3))]),
        (" qq\u200bq ", {}, [("[UNK]", (1, 5))]),
        ("a [MASK]b", {}, [("a", (0, 1)), ("[MASK]", (2, 8)), ("b", (8, 9))]),
        ("e\u0301\u0323", {"do_lower_case": False}, [("[UNK]", (0, 3))]),
    ],
)
def test_small_cases(text, chosen, want):
    assert [(token, span) for token, span, _ in tokens_of(text, **chosen)] == want


def test_whitespace_that_a_token_eats_is_not_in_its_span():
    added = [*SPECIAL, reference.Token("<a>", lstrip=True, rstrip=True)]
    assert tokens_of("x  <a> \n a", added) == [
        ("x", (0, 1), 0),
        ("<a>", (3, 6), 1),
        ("a", (9, 10), 2),
    ]


def test_disordered_accents_share_their_stretch():
    got = naive_slow_offsets.tokenize(
        {"ẹ", "##\u0301", "[UNK]"}, SPECIAL, ROLES, "e\u0301\u0323", do_lower_case=False
    )
    assert [(token, span) for token, span, _ in got] == [("ẹ", (0, 3)), ("##\u0301", (1, 3))]
