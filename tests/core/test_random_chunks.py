"""Counts and chunks of random texts, with marks, Chinese, odd whitespace and added tokens, for both
tokenizers.
"""

from __future__ import annotations

import random
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.strategies import (
    SENTENCES,
    directory_of,
    fast_options,
    flagged_terms,
    long_texts,
    made,
)
from trietok import Chunk, InputError

CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
places = st.sampled_from(["word", "sentence", None])
added = st.lists(flagged_terms(), max_size=4)


def tokenizer_of(kind: Any, options: dict[str, Any], tokens: list[dict[str, Any]]) -> Any:
    vocabulary = "uncased" if options.get("do_lower_case", True) else "cased"
    tokenizer = kind(directory_of(vocabulary) / "vocab.txt", **options)
    tokenizer.add_tokens(made(trietok, tokens))
    return tokenizer


def chunks_of(tokenizer: Any, text: str, most: int, **how: Any) -> list[Chunk]:
    """The chunks, after what holds of all has been checked; none where a character alone has too
    many tokens.
    """
    special = how.get("add_special_tokens", True)
    try:
        chunks: list[Chunk] = tokenizer.chunks(text, most, **how)
    except InputError:
        assert max(tokenizer.count(char, add_special_tokens=special) for char in text) > most
        return []
    for chunk in chunks:
        encoded = tokenizer(chunk.text, add_special_tokens=special, verbose=False).input_ids
        assert chunk.tokens == len(encoded) <= most
        assert chunk.text == text[chunk.start : chunk.end] != ""
    bounds = [(0, 0), *((chunk.start, chunk.end) for chunk in chunks)]
    assert bounds[-1][1] == len(text)
    for (before, end_before), (start, end) in pairwise(bounds):
        assert before <= start <= end_before < end
    return chunks


@examples(80)
@given(st.sampled_from(KINDS), long_texts(), added, fast_options(), st.booleans())
def test_a_count_is_the_length_of_the_ids(kind, text, tokens, chosen, special):
    tokenizer = tokenizer_of(kind, chosen, tokens)
    batch = [text, text[: len(text) // 2], ""]
    want = [
        len(ids) for ids in tokenizer(batch, add_special_tokens=special, verbose=False).input_ids
    ]
    for _ in range(2):  # in plain Python, then by the kernel, if it has been made
        assert tokenizer.count(batch, add_special_tokens=special) == want
        assert [tokenizer.count(each, add_special_tokens=special) for each in batch] == want
        tokenizer.count(text + " a" * 10_000)
    assert tokenizer.count(text, text) == len(tokenizer(text, text, verbose=False).input_ids)


@examples(150)
@given(
    st.sampled_from(KINDS),
    long_texts(),
    added,
    fast_options(),
    places,
    st.integers(3, 12),
    st.booleans(),
)
def test_joined_chunks_are_the_text_and_each_fits(kind, text, tokens, chosen, at, most, special):
    tokenizer = tokenizer_of(kind, chosen, tokens)
    chunks = chunks_of(tokenizer, text, most, at=at, add_special_tokens=special)
    assert "".join(chunk.text for chunk in chunks) in (text, "")
    if chunks:
        assert tokenizer.chunks(text, 100_000, at=at) == [
            Chunk(text, 0, len(text), tokenizer.count(text))
        ]


@examples(80)
@given(st.sampled_from(KINDS), long_texts(), added, places, st.integers(4, 12), st.data())
def test_chunks_overlap_by_as_many_tokens_as_asked_for_at_most(kind, text, tokens, at, most, data):
    tokenizer = tokenizer_of(kind, {}, tokens)
    overlap = data.draw(st.integers(1, most - 3))
    chunks = chunks_of(tokenizer, text, most, at=at, overlap=overlap)
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    for chunk, following in pairwise(chunks):
        repeated = [span for span in spans if following.start <= span[0] and span[1] <= chunk.end]
        assert len(repeated) <= overlap or following.start == chunk.end


def is_between_words(text: str, place: int) -> bool:
    """Whether whitespace or a Chinese character is beside a place."""
    before, after = text[place - 1], text[place]
    if before.isspace() or after.isspace():
        return True
    kinds = unicodedata.category(before), unicodedata.category(after)
    if kinds[0] in ("Ps", "Pi") or kinds[1] in ("Pe", "Pf", "Po", "Mn", "Mc", "Me"):
        return False
    said = text[:place]
    while said and (said[-1] in "\"'" or unicodedata.category(said[-1]) in ("Pe", "Pf")):
        said = said[:-1]
    ends = said[-1:] in tuple("。！？｡")
    return (
        ends
        or "\u4e00" <= before <= "\u9fff"
        or "\u4e00" <= after <= "\u9fff"
        or before in CHINESE_PUNCTUATION
    )


ORDINARY = [
    *"hello aA dog York 世界 你好 。 ！ , . ( ) ' 。」 ”".split(),
    "x" * 30,
    *([" "] * 6),
    "\n",
    ", ",
    ". ",
]
ordinary_texts = st.lists(st.sampled_from(ORDINARY), max_size=40).map("".join)


@examples(100)
@given(
    st.sampled_from(KINDS),
    ordinary_texts,
    st.sampled_from(["word", "sentence"]),
    st.integers(4, 12),
)
def test_a_word_is_cut_only_where_it_alone_is_too_long(kind, text, at, most):
    tokenizer = tokenizer_of(kind, {}, [])
    borders = [
        0,
        *(place for place in range(1, len(text)) if is_between_words(text, place)),
        len(text),
    ]
    for chunk in chunks_of(tokenizer, text, most, at=at)[:-1]:
        if chunk.end not in borders:
            start = max(place for place in borders if place <= chunk.start)
            words = (text[start:end] for end in borders if end > chunk.start)
            word = next(word for word in words if tokenizer.tokenize(word))
            assert tokenizer.count(word) > most, (word, chunk)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "how", [{}, {"overlap": 3}, {"at": "sentence"}, {"at": None, "overlap": 5}]
)
def test_a_long_text_is_cut_as_its_beginning(kind, how):
    """It is read block by block; what comes behind a block makes no difference to its chunks."""
    seed = random.SystemRandom().randrange(10**9)
    rng = random.Random(seed)
    tokenizer = tokenizer_of(
        kind, {}, [{"content": "New York"}, {"content": "<a>", "rstrip": True}]
    )
    parts = [*SENTENCES, "New York ", "<a> ", "世界", "hello ", " " * 50, "x" * 120 + " ", "\u0301"]
    text = "".join(rng.choices(parts, k=1_500))
    chunks = chunks_of(tokenizer, text, 8, **how)
    for place in rng.sample(range(50, len(chunks)), 5):
        beginning = chunks_of(tokenizer, text[: chunks[place].end], 8, **how)
        assert beginning[: place - 20] == chunks[: place - 20], seed
