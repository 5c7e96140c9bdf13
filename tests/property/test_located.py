"""Spans of both profiles' fast and plain paths against what says them plainly, character after
character.

`TRIETOK_EXAMPLES=20000` looks for longer.
"""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.parity.conftest import CASED, UNCASED, directory_of, texts
from tests.property.test_slow_offsets import CONTENTS, ROLES, SPECIAL, marks, options
from tests.reference import naive_rust_bert, naive_slow_offsets
from tests.reference import tokenizer as reference
from trietok.text.added_tokens import AddedToken
from trietok.text.text_encoder import TextEncoder

NAMES = ("do_lower_case", "tokenize_chinese_chars", "strip_accents")


def made(kind: Any, chosen: dict[str, Any]) -> Any:
    file = directory_of("uncased" if chosen["do_lower_case"] else "cased") / "vocab.txt"
    return kind(file, **chosen)


@functools.cache
def remembered(kind: Any, *chosen: Any) -> Any:
    return made(kind, dict(zip(NAMES, chosen, strict=True)))


def assert_located(tokenizer: Any, text: str, want: list[tuple[str, tuple[int, int], int]]) -> None:
    located = tokenizer.text_encoder.locate(text)
    assert [*zip(located.tokens, located.spans, located.words, strict=True)] == want, text
    for _ in range(2):  # worked out, then remembered
        assert tokenizer.text_encoder.spans(text) == located.spans, text
    assert located.ids == tokenizer.text_encoder.ids(text), text
    words = re.split("[,a]", text)
    encoder, by_stages = tokenizer.text_encoder, TextEncoder(tokenizer.text_encoder.stages)
    assert encoder.ids_of_words(words) == by_stages.ids_of_words(words), words
    assert encoder.locate_words(words) == by_stages.locate_words(words), words
    assert encoder.tokens(text) == by_stages.tokens(text), text


def added() -> st.SearchStrategy[list[reference.Token]]:
    flags = [st.booleans()] * 4
    return st.lists(st.builds(reference.Token, st.sampled_from(CONTENTS), *flags), max_size=3)


@examples(90)
@given(
    st.one_of(texts(), marks(), st.lists(st.one_of(texts(), marks()), max_size=4).map(" ".join)),
    options(),
)
def test_slow_spans(text, chosen):
    tokenizer = remembered(trietok.BertTokenizer, *(chosen[name] for name in NAMES))
    vocab = frozenset(UNCASED if chosen["do_lower_case"] else CASED)
    assert_located(
        tokenizer, text, naive_slow_offsets.tokenize(vocab, SPECIAL, ROLES, text, **chosen)
    )


@examples(40)
@given(st.lists(texts(CONTENTS), max_size=3).map(" ".join), added(), st.booleans())
def test_slow_spans_with_added_tokens(text, tokens, lower):
    tokenizer = made(trietok.BertTokenizer, {"do_lower_case": lower})
    flags = ("lstrip", "rstrip", "single_word", "special")
    for token in tokens:
        tokenizer.add_tokens(
            [AddedToken(token.content, **{name: getattr(token, name) for name in flags})]
        )
    vocab = frozenset(UNCASED if lower else CASED)
    listed = [
        reference.Token(token.content, **{name: getattr(token, name) for name in flags})
        for token in tokenizer.added_tokens_in_order()
    ]
    want = naive_slow_offsets.tokenize(
        vocab, listed, tokenizer.all_special_tokens, text, do_lower_case=lower
    )
    assert_located(tokenizer, text, want)


def of_rust(vocab: list[str], chosen: dict[str, Any]) -> naive_rust_bert.NaiveRustBert:
    plain = naive_rust_bert.NaiveRustBert(
        {token: i for i, token in enumerate(vocab)},
        lowercase=chosen["do_lower_case"],
        handle_chinese_chars=chosen["tokenize_chinese_chars"],
        strip_accents=chosen["strip_accents"],
    )
    plain.add_tokens(
        [naive_rust_bert.AddedToken(role, special=True, normalized=False) for role in ROLES]
    )
    return plain


@examples(90)
@given(
    st.one_of(texts(), marks(), st.lists(st.one_of(texts(), marks()), max_size=4).map(" ".join)),
    options(),
)
def test_rust_spans(text, chosen):
    tokenizer = remembered(trietok.BertTokenizerFast, *(chosen[name] for name in NAMES))
    plain = of_rust(UNCASED if chosen["do_lower_case"] else CASED, chosen)
    assert_located(
        tokenizer,
        text,
        [(token.token, token.span, token.word) for token in plain.encode_text(text)],
    )


@examples(40)
@given(st.lists(texts(CONTENTS), max_size=3).map(" ".join), options(), st.data())
def test_rust_spans_with_added_tokens(text, chosen, data):
    flags = {
        name: st.booleans() for name in ("single_word", "lstrip", "rstrip", "normalized", "special")
    }
    token = st.fixed_dictionaries({"content": st.sampled_from(CONTENTS), **flags})
    calls = data.draw(st.lists(st.lists(token, max_size=4), max_size=2))
    tokenizer = made(trietok.BertTokenizerFast, chosen)
    plain = of_rust(UNCASED if chosen["do_lower_case"] else CASED, chosen)
    for fields in calls:
        tokenizer.add_tokens([AddedToken(**each) for each in fields])
        plain.add_tokens([naive_rust_bert.AddedToken(**each) for each in fields])
    try:
        want = plain.encode_text(text)
    except naive_rust_bert.RustPanics:
        return
    assert_located(tokenizer, text, [(token.token, token.span, token.word) for token in want])


@pytest.mark.parametrize("kind", [trietok.BertTokenizer, trietok.BertTokenizerFast])
def test_every_kind_of_chunk_in_a_row(kind):
    tokenizer = remembered(kind, True, True, None)
    for text in (
        " a",
        "a  b",
        "  ",
        "a ",
        "é  \u0301 ab\u200b x",
        "abc, (hello)  \u200b",
        "\u200b",
        "ab\u0301 \u0301",
    ):
        encoder = tokenizer.text_encoder
        assert encoder.spans(text) == encoder.locate(text).spans, text


def test_a_special_token_that_looks_like_a_piece_begins_a_word(vocab_file):
    """It stays whole where marks are taken off to make it, and is cut into pieces of which the
    first goes on.
    """
    tokenizer = trietok.BertTokenizer(str(vocab_file("##i", "##n", "##g", "a")))
    tokenizer.add_special_tokens({"additional_special_tokens": ["##ing"]})
    encoder, text = tokenizer.text_encoder, "#\u0308#\u0301\xedn\u0308g a"
    assert encoder.locate(text) == encoder.stages.locate(text)
    assert encoder.locate(text).words == [0, 0, 0, 1]
