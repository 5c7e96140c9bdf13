"""Counts and chunks of random texts, with marks, Chinese, odd whitespace and added tokens, for both
tokenizers.
"""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import examples, often
from trietok import Chunk, InputError

KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast)
PLACES = st.sampled_from(["word", "sentence", None])
ADDED = st.lists(strategies.flagged_terms(), max_size=4)


def make(kind: Any, options: dict[str, Any], added: list[dict[str, Any]]) -> Any:
    lower = options.get("do_lower_case", True)
    directory = strategies.directory_of("uncased" if lower else "cased")
    tokenizer = kind(directory / "vocab.txt", **options)
    tokenizer.add_tokens(strategies.made(trietok, added))
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
@given(
    st.sampled_from(KINDS), strategies.long_texts(), ADDED, strategies.fast_options(), st.booleans()
)
def test_a_count_is_the_number_of_ids(kind, text, added, options, special):
    tokenizer = make(kind, options, added)
    batch = [text, text[: len(text) // 2], ""]
    rows = tokenizer(batch, add_special_tokens=special, verbose=False).input_ids
    want = [len(ids) for ids in rows]
    for _ in range(2):  # in plain Python, then by the kernel, if it has been made
        assert tokenizer.count(batch, add_special_tokens=special) == want
        assert [tokenizer.count(each, add_special_tokens=special) for each in batch] == want
        tokenizer.count(text + " a" * 10_000)
    assert tokenizer.count(text, text) == len(tokenizer(text, text, verbose=False).input_ids)


@examples(150)
@given(
    kind=st.sampled_from(KINDS),
    text=strategies.long_texts(),
    added=ADDED,
    options=strategies.fast_options(),
    at=PLACES,
    most=st.integers(3, 12),
    special=st.booleans(),
)
def test_chunks_joined_are_the_text_and_fit(kind, text, added, options, at, most, special):
    tokenizer = make(kind, options, added)
    chunks = chunks_of(tokenizer, text, most, at=at, add_special_tokens=special)
    assert "".join(chunk.text for chunk in chunks) in (text, "")
    if chunks:
        whole = Chunk(text, 0, len(text), tokenizer.count(text))
        assert tokenizer.chunks(text, 100_000, at=at) == [whole]


@examples(80)
@given(
    kind=st.sampled_from(KINDS),
    text=strategies.long_texts(),
    added=ADDED,
    at=PLACES,
    most=st.integers(4, 12),
    data=st.data(),
)
def test_chunks_overlap_by_as_many_tokens_as_asked_for_at_most(kind, text, added, at, most, data):
    tokenizer = make(kind, {}, added)
    overlap = data.draw(st.integers(1, most - 3))
    chunks = chunks_of(tokenizer, text, most, at=at, overlap=overlap)
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True).offset_mapping
    for chunk, following in pairwise(chunks):
        repeated = [span for span in spans if following.start <= span[0] and span[1] <= chunk.end]
        assert len(repeated) <= overlap or following.start == chunk.end


ORDINARY = [*"hello aA dog York unaffable world".split(), "x" * 30, *("a", "b", "世") * 2]


@examples(60)
@given(
    st.sampled_from(KINDS),
    st.lists(st.sampled_from(ORDINARY), max_size=40),
    st.sampled_from(["word", "sentence"]),
    st.integers(4, 12),
)
def test_a_word_is_cut_only_where_it_alone_is_too_long(kind, words, at, most):
    tokenizer, text = make(kind, {}, []), " ".join(words)
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    for chunk in chunks_of(tokenizer, text, most, at=at)[:-1]:
        if text[chunk.end - 1] != " " and text[chunk.end] != " ":
            number = max(i for i, start in enumerate(starts) if start < chunk.end)
            assert tokenizer.count(words[number]) > most, (words[number], chunk)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [{}, {"overlap": 3}, {"at": "sentence"}, {"at": None}])
def test_a_chunk_in_a_long_text_is_the_first_of_the_text_from_there_on(kind, how):
    """A long text is read block by block; where a block ends makes no difference."""
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    added = [{"content": "New York"}, {"content": "<a>", "lstrip": True, "rstrip": True}]
    tokenizer = make(kind, {}, added)
    parts = [
        *strategies.SENTENCES,
        "New York ",
        "<a> ",
        "世界",
        "hello ",
        " " * 50,
        "x" * 120 + " ",
    ]
    text = "".join(rng.choices(parts, k=1_500))
    chunks = chunks_of(tokenizer, text, 8, **how)
    # Blocks end at places that are not known here: all chunks are tried that there is time for.
    for chunk in rng.sample(chunks[:-1], min(often(400), len(chunks) - 1)):
        rest = text[chunk.start : chunk.end + 400]
        assert tokenizer.chunks(rest, 8, **how)[0].text == chunk.text, (seed, chunk.start)
