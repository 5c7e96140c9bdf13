"""Tokens, spans and word numbers of `BertTokenizer`, compared with `slow_oracle`; and the split of
a text at added tokens.
"""

from __future__ import annotations

import collections
import functools
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import assert_share, examples, often
from tests.core import slow_oracle
from tests.strategies import (
    CASED,
    CONTENTS,
    FLAGS,
    UNCASED,
    directory_of,
    fast_options,
    flagged_terms,
    marked_texts,
    random_text,
    texts,
)
from trietok import AddedToken, BertTokenizer, PreTrainedTokenizer

WITHOUT_SPECIAL = {"add_special_tokens": False}


def made(options: dict[str, Any]) -> BertTokenizer:
    vocabulary = "uncased" if options.get("do_lower_case", True) else "cased"
    return BertTokenizer(directory_of(vocabulary) / "vocab.txt", **options)


@functools.cache
def remembered(kernel: str, *options: Any) -> BertTokenizer:
    return made(dict(options))


def assert_same(tokenizer: BertTokenizer, options: dict[str, Any], text: str) -> None:
    options = {"do_lower_case": True, **options}
    vocab = dict.fromkeys(UNCASED if options["do_lower_case"] else CASED, 0)
    added = list(tokenizer.added_tokens_decoder.values())
    want = [*slow_oracle.tokenize(vocab, added, tokenizer.all_special_tokens, text, **options)]
    for _ in range(2):  # the second call finds caches
        found = tokenizer(text, return_offsets_mapping=True, **WITHOUT_SPECIAL)
        columns = (found.tokens(), found.offset_mapping, found.word_ids())
        assert [*zip(*columns, strict=True)] == want, text
        assert tokenizer.encode(text, **WITHOUT_SPECIAL) == found.input_ids, text
    words = re.split("[,a]", text)
    asked = {"return_offsets_mapping": True, **WITHOUT_SPECIAL}
    of_words = tokenizer(words, is_split_into_words=True, **asked)
    each = [tokenizer(word, **asked) for word in words]
    assert of_words.input_ids == [token_id for one in each for token_id in one.input_ids], words
    assert of_words.offset_mapping == [span for one in each for span in one.offset_mapping], words


@examples(160)
@given(st.lists(st.one_of(texts(), marked_texts()), max_size=4).map(" ".join), fast_options())
def test_spans_equal_those_of_the_oracle(kernel, text, options):
    assert_same(remembered(kernel, *options.items()), options, text)


def test_spans_with_added_tokens_equal_those_of_the_oracle(kernel):
    found = collections.Counter()

    @examples(240)
    @given(st.booleans(), st.data())
    def compare(lower, data):
        contents = data.draw(st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=4))
        tokenizer = made({"do_lower_case": lower})
        for fields in data.draw(st.lists(flagged_terms(contents), min_size=1, max_size=4)):
            tokenizer.add_tokens([AddedToken(**fields)])
        text = random_text(random.Random(data.draw(st.integers(0, 2**32))), contents)
        assert_same(tokenizer, {"do_lower_case": lower}, text)
        found[not {*contents}.isdisjoint(tokenizer.tokenize(text))] += 1

    compare()
    assert_share(found[True], found.total(), 0.3)


class Pieces(PreTrainedTokenizer):
    """Marks each piece of text between added tokens and leaves it whole."""

    vocab_size = 0

    def get_vocab(self):
        return dict(self.added_tokens_encoder)

    def _tokenize(self, text, **options):
        return [f"text: {text}"]


# Each other's beginnings, whitespace, and letters that touch each other.
OVERLAPPING = [
    *"a ab abc b bc x_ _ 👩 \u200d 👩\u200d👩\u200d👧 中 中文 文字 \u0301 - a-b aa aaab baa".split(),
    *("a b", "a\nb", " ", "  ", "\n", "x ", " x", "\u3000"),
]


@pytest.mark.parametrize("others", [0, 100], ids=["few tokens", "many tokens"])
def test_text_is_split_at_added_tokens_as_by_the_oracle(others):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    never_found = [AddedToken(f"\ue000{number}") for number in range(others)]
    found = collections.Counter()
    for _ in range(often(2_000)):
        added = [
            AddedToken(content, **{flag: rng.random() < 0.3 for flag in FLAGS[:3]})
            for content in rng.sample(OVERLAPPING, rng.randrange(1, 7))
        ]
        parts = [*OVERLAPPING, *"cdé👧字.1 \x85", *map(str, added * 4)]
        text = "".join(rng.choices(parts, k=rng.randrange(12)))
        want = slow_oracle.split(added, text)
        pieces = [("" if token else "text: ") + text[start:end] for start, end, token in want]
        at_once, after_a_text = Pieces(), Pieces()
        at_once.add_tokens([*never_found, *added])
        assert at_once.tokenize(text) == pieces, (seed, added, text)
        rng.shuffle(added)
        after_a_text.add_tokens([*never_found, added[0]])
        after_a_text.tokenize(text)
        after_a_text.add_tokens(added[1:])
        assert after_a_text.tokenize(text) == pieces, (seed, added, text)
        found[any(token for _, _, token in want)] += 1
    assert_share(found[True], found.total(), 0.3)


def test_a_single_word_that_touches_a_letter_stays_text_when_whitespace_before_it_is_stripped():
    tokenizer = Pieces()
    tokenizer.add_tokens(
        [AddedToken("<a>", rstrip=True), AddedToken("ab", single_word=True), AddedToken("中")]
    )
    assert tokenizer.tokenize("<a> ab中") == ["<a>", "text: ab", "中"]


def test_a_special_token_that_looks_like_a_piece_begins_a_word(small):
    """Removing marks makes it, so it is not cut out before, and its first piece continues a word."""
    tokenizer = small("##i", "##n", "##g", "a", additional_special_tokens=["##ing"])
    encoding = tokenizer("#\u0308#\u0301\xedn\u0308g a", **WITHOUT_SPECIAL)
    assert encoding.tokens() == ["##i", "##n", "##g", "a"]
    assert encoding.word_ids() == [0, 0, 0, 1]
