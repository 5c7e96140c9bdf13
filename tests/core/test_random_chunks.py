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
from tests.core.test_located import CONTENTS, made, marks, options
from tests.parity.conftest import texts
from trietok import AddedToken, Chunk, InputError
from trietok.text.characters import is_chinese_char, is_whitespace
from trietok.tokenizer import chunks as module

CHINESE_PUNCTUATION = "、。〈〉《》「」『』【】〔〕！（），．／：；？〜“”‘’…—·"
KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
SENTENCES = [
    "A dog. ",
    "Is it? ",
    "(No!) ",
    "你好。",
    "「好！」",
    "\n",
    "it's 3.14 ",
    "world " * 5,
    "abc-" * 4,
]
long_texts = st.lists(st.one_of(texts(), marks(), st.sampled_from(SENTENCES)), max_size=8).map(
    "".join
)
places = st.sampled_from(["word", "sentence", None])
flags = st.fixed_dictionaries(
    {name: st.booleans() for name in ("lstrip", "rstrip", "single_word", "special")}
)
added = st.lists(
    st.builds(lambda content, flags: AddedToken(content, **flags), st.sampled_from(CONTENTS), flags)
)


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
@given(st.sampled_from(KINDS), long_texts, added, options(), st.booleans())
def test_a_count_is_the_length_of_the_ids(kind, text, tokens, chosen, special):
    tokenizer = made(kind, chosen)
    tokenizer.add_tokens(tokens)
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
    st.sampled_from(KINDS), long_texts, added, options(), places, st.integers(3, 12), st.booleans()
)
def test_chunks_joined_are_the_text_and_fit(kind, text, tokens, chosen, at, most, special):
    tokenizer = made(kind, chosen)
    tokenizer.add_tokens(tokens)
    chunks = chunks_of(tokenizer, text, most, at=at, add_special_tokens=special)
    assert "".join(chunk.text for chunk in chunks) in (text, "")
    if chunks:
        assert tokenizer.chunks(text, 100_000, at=at) == [
            Chunk(text, 0, len(text), tokenizer.count(text))
        ]


@examples(80)
@given(st.sampled_from(KINDS), long_texts, added, places, st.integers(4, 12), st.data())
def test_chunks_overlap_by_as_many_tokens_as_asked_for_at_most(kind, text, tokens, at, most, data):
    tokenizer = made(kind, {"do_lower_case": True})
    tokenizer.add_tokens(tokens)
    overlap = data.draw(st.integers(1, most - 3))
    chunks = chunks_of(tokenizer, text, most, at=at, overlap=overlap)
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    for chunk, following in pairwise(chunks):
        repeated = [span for span in spans if following.start <= span[0] and span[1] <= chunk.end]
        assert len(repeated) <= overlap or following.start == chunk.end


def is_between_words(text: str, place: int) -> bool:
    """Whether whitespace or a Chinese character is beside a place."""
    before, after = text[place - 1], text[place]
    if is_whitespace(before) or is_whitespace(after):
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
        or is_chinese_char(ord(before))
        or is_chinese_char(ord(after))
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
    tokenizer = made(kind, {"do_lower_case": True})
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
def test_a_long_text_is_cut_as_if_it_were_read_at_once(kind, how, monkeypatch):
    """It is read block by block; what is read ahead is enough for the end of a block to make no
    difference.
    """
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    tokenizer = made(kind, {"do_lower_case": True})
    tokenizer.add_tokens(["New York", AddedToken("<a>", lstrip=True, rstrip=True)])
    parts = [*SENTENCES, "New York ", "<a> ", "世界", "hello ", " " * 50, "x" * 120 + " ", "\u0301"]
    text = "".join(rng.choices(parts, k=1_500))
    by_blocks = chunks_of(tokenizer, text, 8, **how)
    monkeypatch.setattr(module, "_TOKENS_AHEAD", len(text))
    assert tokenizer.chunks(text, 8, **how) == by_blocks, seed
