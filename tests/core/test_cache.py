"""What is cached is bounded, and never wrong: ids are those of a tokenizer that caches nothing."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.conftest import using_kernel
from trietok import BertTokenizer, InputError

PIECES = "the subj sub ##j ##ect un ##able a b ##b e x ##x 中 。".split()


@pytest.fixture
def make(small):
    """A function that makes a tokenizer with any options."""
    return lambda **options: small(*PIECES, **options)


@pytest.mark.parametrize("value", [None, "64MB", -5, True])
def test_a_limit_that_is_no_number_of_bytes_is_refused(make, value):
    tokenizer = make(cache_limit=1000)
    with pytest.raises(InputError):
        tokenizer.cache_limit = value
    with pytest.raises(InputError):
        make(cache_limit=value)
    assert make(cache_limit=1000).cache_info().limit == 1000


def test_no_more_is_cached_than_the_limit_and_ids_stay_right(make, kernel):
    tokenizer, plain = make(cache_limit=12_000), make(cache_limit=0)
    for number in range(400):
        text = f"a{number} the b{number}"
        assert tokenizer.encode(text) == plain.encode(text)
        if number % 40 == 0:
            for each in (tokenizer, plain):
                each.add_tokens([f"<{number}>"])
        info = tokenizer.cache_info()
        assert info.bytes <= info.limit == 12_000
    assert plain.cache_info()[:3] == (0, 0, 0)


@pytest.mark.usefixtures("plain_kernel")
def test_a_full_cache_is_emptied_and_takes_no_word_that_is_too_long(make):
    tokenizer = make(cache_limit=12_000)
    for number in range(400):
        tokenizer.encode(f"a{number} the b{number}")
    before = tokenizer.cache_info()
    assert before.times_full > 5
    tokenizer.encode("x" * 1000)
    assert tokenizer.cache_info() == before


@pytest.mark.usefixtures("plain_kernel")
def test_the_estimate_of_bytes_is_from_above(make):
    tokenizer = make()
    tokenizer.add_wordpieces(["w", "ж", "𝒳", *(f"##{digit}" for digit in range(10))])
    words = [f"{char}{number}" for number in range(2000) for char in ("w", "ж", "𝒳")]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for word in words:
            tokenizer.encode(word)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    info = tokenizer.cache_info()
    assert info.chunks == len(words)
    assert taken <= info.bytes <= 3 * taken


@pytest.mark.usefixtures("plain_kernel")
def test_clearing_the_cache_changes_no_result(make):
    tokenizer = make()
    tokenizer.add_tokens(["<x>"])
    ids = tokenizer.encode("the subject unable <x>")
    assert tokenizer.cache_info().chunks > 0
    tokenizer.cache_clear()
    assert tokenizer.cache_info()[:3] == (0, 0, 0)
    assert tokenizer.encode("the subject unable <x>") == ids


def test_what_is_changed_in_place_counts(make, kernel):
    tokenizer = make()
    tokenizer.model_input_names = list(tokenizer.model_input_names)
    assert "token_type_ids" in tokenizer("the")
    tokenizer.model_input_names.remove("token_type_ids")
    assert "token_type_ids" not in tokenizer("the")
    own = dict(tokenizer.vocab)
    tokenizer.wordpiece_tokenizer.vocab = own
    assert tokenizer.tokenize("zzx") == ["[UNK]"]
    own["zzx"] = 1
    assert tokenizer.tokenize("zzx") == ["zzx"]


def test_a_removed_token_that_is_a_piece_gives_the_piece_its_id_back(make, kernel):
    tokenizer = make()
    ids = tokenizer.encode("unable xunable")
    tokenizer.added_tokens_decoder = {50: "##able"}
    assert tokenizer.encode("unable xunable") != ids
    tokenizer.remove_tokens(["##able"])
    assert tokenizer.encode("unable xunable") == ids


@pytest.mark.parametrize("number", [1, 23, 24, 100])
def test_runs_of_chinese_of_any_length_give_the_ids_of_their_characters(small, number, kernel):
    tokenizer = small(*PIECES)
    tokenizer.add_tokens(["中一"])
    # some compose to others
    for chars in ("中", "中。", "\ufadb中\U00020000", "中\U0002fa1d"):
        text = (chars * number)[:number]
        by_character = tokenizer.encode(" ".join(text), add_special_tokens=False)
        for _ in range(2):  # worked out, and from the cache
            assert tokenizer.encode(text, add_special_tokens=False) == by_character


def test_both_kernels_cache_the_same_texts_within_the_limit(make):
    for name in ("compiled", "plain"):
        with using_kernel(name):
            tokenizer: BertTokenizer = make(cache_limit=100_000)
            tokenizer(["the subject unable"] * 100)
            assert 0 < tokenizer.cache_info().bytes <= 100_000
