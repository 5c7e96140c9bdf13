"""Tokens, spans and word numbers of both tokenizers, compared with references that are written for
reading.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.parity.conftest import CASED, UNCASED, directory_of, texts
from tests.reference import naive_rust_bert, naive_slow_offsets
from tests.reference import tokenizer as reference
from trietok import AddedToken

NAMES = ("do_lower_case", "tokenize_chinese_chars", "strip_accents")
ROLES = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]
SPECIAL = [reference.Token(role, special=True) for role in ROLES]
CONTENTS = ["<a>", "<B>", "ab", "abc", "New York", "é", "İ", "世", "!", " ", "x ", "\u3000y", "zz"]


def options() -> st.SearchStrategy[dict[str, bool | None]]:
    lower, chinese = st.booleans(), st.booleans()
    accents = st.sampled_from([None, True, False])
    return st.fixed_dictionaries(
        {"do_lower_case": lower, "tokenize_chinese_chars": chinese, "strip_accents": accents}
    )


def marks() -> st.SearchStrategy[str]:
    parts = [
        *"aeE \u0301\u0323\u0307\u0327\u0345\u0316\u302e\u200b!가\u11a8\u1100\u1161",
        *("İ", "ǖ", "각", "世", "Σ", "\U0001d165"),
    ]
    return st.lists(st.sampled_from(parts), max_size=10).map("".join)


def made(kind: Any, chosen: dict[str, Any]) -> Any:
    file = directory_of("uncased" if chosen["do_lower_case"] else "cased") / "vocab.txt"
    return kind(file, **chosen)


@functools.cache
def remembered(kind: Any, *chosen: Any) -> Any:
    return made(kind, dict(zip(NAMES, chosen, strict=True)))


def assert_located(tokenizer: Any, text: str, want: list[tuple[str, tuple[int, int], int]]) -> None:
    for _ in range(2):  # the second call finds caches
        found = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
        columns = (found.tokens(), found.offset_mapping, found.word_ids())
        assert [*zip(*columns, strict=True)] == want, text
        assert tokenizer.encode(text, add_special_tokens=False) == found.input_ids, text
    words = re.split("[,a]", text)
    of_words = tokenizer(
        words, is_split_into_words=True, return_offsets_mapping=True, add_special_tokens=False
    )
    each = [
        tokenizer(word, return_offsets_mapping=True, add_special_tokens=False) for word in words
    ]
    assert of_words.input_ids == [token_id for one in each for token_id in one.input_ids], words
    assert of_words.offset_mapping == [span for one in each for span in one.offset_mapping], words


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


def test_a_special_token_that_looks_like_a_piece_begins_a_word(vocab_file):
    """It stays whole where removing marks makes it, and is cut into pieces of which the first
    continues a word.
    """
    tokenizer = trietok.BertTokenizer(str(vocab_file("##i", "##n", "##g", "a")))
    tokenizer.add_special_tokens({"additional_special_tokens": ["##ing"]})
    encoding = tokenizer("#\u0308#\u0301\xedn\u0308g a", add_special_tokens=False)
    assert encoding.tokens() == ["##i", "##n", "##g", "a"]
    assert encoding.word_ids() == [0, 0, 0, 1]
