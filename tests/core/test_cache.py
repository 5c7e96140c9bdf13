"""What a tokenizer remembers of texts: it is bounded, and no result depends on it."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.conftest import SPECIAL, using_kernel
from trietok import BertTokenizer, InputError

PIECES = "the sub ##ject subject un ##able a b ab x [unused0] 中 一".split()


class Plain(BertTokenizer):
    """The same tokenizer, whose texts go through its methods."""

    def _tokenize(self, text, **kwargs):
        return super()._tokenize(text, **kwargs)


@pytest.fixture(scope="module")
def vocab_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("cache") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES]), encoding="utf-8")
    return path


def test_a_list_or_dict_that_is_changed_in_place_counts_for_the_next_call(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.model_input_names = list(tokenizer.model_input_names)
    assert "token_type_ids" in tokenizer("the")
    tokenizer.model_input_names.remove("token_type_ids")
    assert "token_type_ids" not in tokenizer("the")
    own = dict(tokenizer.vocab)
    tokenizer.wordpiece_tokenizer.vocab = own
    assert tokenizer.tokenize("zzx") == ["[UNK]"]
    own["zzx"] = 1
    assert tokenizer.tokenize("zzx") == ["zzx"]


def test_a_removed_token_that_is_a_piece_gives_the_piece_its_id_back(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    own = tokenizer.encode("unable xunable")
    tokenizer.added_tokens_decoder = {50: "##able"}
    assert tokenizer.encode("unable xunable") != own
    tokenizer.remove_tokens(["##able"])
    assert tokenizer.encode("unable xunable") == own


@pytest.mark.parametrize("value", [None, "64MB", -5, True])
def test_cache_limit_is_a_number_of_bytes(vocab_path, value):
    tokenizer = BertTokenizer(vocab_path)
    with pytest.raises(InputError):
        tokenizer.cache_limit = value
    with pytest.raises(InputError):
        BertTokenizer(vocab_path, cache_limit=value)
    assert BertTokenizer(vocab_path, cache_limit=1000).cache_info().limit == 1000


def test_no_more_is_remembered_than_cache_limit_allows(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.cache_limit = 12_000
    plain = Plain(vocab_path)
    for number in range(400):
        text = f"a{number} the b{number}"
        assert tokenizer.encode(text) == plain.encode(text)
        if number % 40 == 0:
            for each in (tokenizer, plain):
                each.add_tokens([f"<{number}>"])
        info = tokenizer.cache_info()
        assert info.bytes <= info.limit == 12_000
    assert info.times_full > 5
    before = tokenizer.cache_info()
    tokenizer.encode("x" * 1000)
    assert tokenizer.cache_info() == before  # too long to be met again


def test_cache_info_tells_at_least_the_bytes_that_are_taken(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.add_wordpieces(["w", "ж", "𝒳", *(f"##{digit}" for digit in range(10))])
    words = [f"{char}{number}" for number in range(8000) for char in ("w", "ж", "𝒳")]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        # the compiled kernel counts its memory exactly, and tracemalloc does not see it
        with using_kernel("plain"):
            for word in words:
                tokenizer.encode(word)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    info = tokenizer.cache_info()
    assert info.chunks == 24_000
    assert taken <= info.bytes <= 3 * taken


def test_nothing_is_remembered_with_a_limit_of_0(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    tokenizer.cache_limit = 0
    assert tokenizer.encode("the subject") == Plain(vocab_path).encode("the subject")
    assert tokenizer.cache_info()[:3] == (0, 0, 0)


@pytest.mark.usefixtures("plain_kernel")
def test_cache_clear_forgets_and_changes_no_result(vocab_path):
    tokenizer = BertTokenizer(vocab_path)
    ids = tokenizer.encode("the subject unable")
    tokenizer.add_tokens(["<x>"])
    assert tokenizer.encode("the subject unable <x>")[:-2] == ids[:-1]
    assert tokenizer.cache_info().chunks > 0
    tokenizer.cache_clear()
    assert tokenizer.cache_info()[:3] == (0, 0, 0)
    assert tokenizer.encode("the subject unable") == ids


@pytest.mark.parametrize("number", [1, 23, 24, 100])
def test_runs_of_chinese_of_any_length_have_the_ids_of_the_methods(vocab_path, number):
    with using_kernel("plain"):
        tokenizer, plain = BertTokenizer(vocab_path), Plain(vocab_path)
        for tokens in ([], ["中一"]):
            for each in (tokenizer, plain):
                each.add_tokens(tokens)
            # some compose to others
            for chars in (
                "中",
                "中一",
                "中。",
                "\ufadb中\U00020000",
                "中\U0002fa1d",
            ):
                text = (chars * number)[:number] + "the"
                assert tokenizer.encode(text) == plain.encode(text)
                assert tokenizer.encode(text) == plain.encode(text)  # from the caches
        tokenizer.cache_clear()
        assert tokenizer.encode("中" * number) == plain.encode("中" * number)
