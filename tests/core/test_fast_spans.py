"""Tokens, spans and word numbers of `BertTokenizerFast`, compared with those of a
`tokenizers.Tokenizer` that is put together here.
"""

from __future__ import annotations

import collections
import functools
import random
import re
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

import trietok
from tests.conftest import assert_share, examples, often
from tests.strategies import (
    BOOL,
    CHARACTERS,
    CONTENTS,
    OPTIONAL_BOOL,
    directory_of,
    flagged_terms,
    is_valid,
    marked_texts,
    random_text,
    texts,
)

ROLES = ["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"]  # in the order that they are added in
WITHOUT_SPECIAL = {"add_special_tokens": False}

STEP = often(80, nightly=1)  # between the characters that are compared
options = st.tuples(*map(st.sampled_from, (BOOL, BOOL, OPTIONAL_BOOL, BOOL)))


def both(lower: bool, chinese: bool, accents: bool | None, clean: bool) -> tuple[Any, Any]:
    """A tokenizer of the Rust library, and trietok's."""
    file = str(directory_of("uncased" if lower else "cased") / "vocab.txt")
    rust = tokenizers.Tokenizer(WordPiece.from_file(file, unk_token="[UNK]"))
    rust.normalizer = BertNormalizer(clean, chinese, accents, lower)
    rust.pre_tokenizer = BertPreTokenizer()
    rust.add_special_tokens(ROLES)
    ours = trietok.BertTokenizerFast(
        file, do_lower_case=lower, tokenize_chinese_chars=chinese, strip_accents=accents
    )
    ours.basic_tokenizer.clean_text = clean
    return rust, ours


@functools.cache
def remembered(kernel: str, *chosen: Any) -> tuple[Any, Any]:
    return both(*chosen)


def assert_same(rust: Any, ours: Any, text: str) -> None:
    for source in (text, text, re.split("[,a]", text)):  # new, cached, as words
        split = source is not text
        want = rust.encode(source, is_pretokenized=split, **WITHOUT_SPECIAL)
        asked = {"is_split_into_words": split, **WITHOUT_SPECIAL}
        found = ours(source, return_offsets_mapping=True, **asked)
        assert found.input_ids == ours.encode(source, **asked) == want.ids, source
        assert found.tokens() == want.tokens, source
        assert found.offset_mapping == want.offsets, source
        assert found.word_ids() == want.word_ids, source


@examples(160)
@given(
    st.lists(st.one_of(texts(), marked_texts()), max_size=4).map(" ".join).filter(is_valid), options
)
def test_spans_equal_those_of_the_rust_library(kernel, text, chosen):
    assert_same(*remembered(kernel, *chosen), text)


@pytest.mark.parametrize("lower", BOOL)
def test_every_character_has_the_span_of_the_rust_library(kernel, lower):
    tokenizers = remembered(kernel, lower, True, None, True)
    for first in range(random.randrange(STEP), len(CHARACTERS), 64 * STEP):
        assert_same(*tokenizers, "a".join(CHARACTERS[first : first + 64 * STEP : STEP]))


def test_spans_with_added_tokens_of_any_flags_equal_those_of_the_rust_library(kernel):
    outcomes = collections.Counter()

    @examples(240)
    @given(options, st.data())
    def compare(chosen, data):
        rust, ours = both(*chosen)
        contents = data.draw(st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=4))
        for terms in data.draw(st.lists(st.lists(flagged_terms(contents), min_size=1), min_size=1)):
            rust.add_tokens([rust_token(**fields) for fields in terms])
            ours.add_tokens([trietok.AddedToken(**fields) for fields in terms])
        rng = random.Random(data.draw(st.integers(0, 2**32)))
        text = "".join(filter(is_valid, random_text(rng, contents)))
        if has_panicked(rust, text):
            outcomes["panic"] += 1
        else:
            assert_same(rust, ours, text)
            ids = ours.convert_tokens_to_ids(contents)
            found = not {*ids}.isdisjoint(ours.encode(text))
            outcomes["added token found" if found else "none found"] += 1

    compare()
    assert_share(outcomes["added token found"], outcomes.total(), 0.2)


def test_of_tokens_alike_once_normalized_the_first_special_one_is_found(kernel):
    rust, ours = both(False, False, None, True)
    terms = [
        {"content": content, "special": special, "normalized": True}
        for content, special in (("\n", False), (" ", True), ("\n", True))
    ]
    rust.add_tokens([rust_token(**fields) for fields in terms])
    ours.add_tokens([trietok.AddedToken(**fields) for fields in terms])
    assert ours.tokenize(" ") == [" "]
    assert_same(rust, ours, "a \nb")


def rust_token(content: str, special: bool, **flags: bool) -> Any:
    return tokenizers.AddedToken(content, special=special, **flags)


def has_panicked(rust: Any, text: str) -> bool:
    """Where whitespace that one token took ends after the beginning of a token of whitespace, the
    Rust library panics (docs/hf_compatibility.md, 46).
    """
    try:
        rust.encode(text)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return True
    return False
