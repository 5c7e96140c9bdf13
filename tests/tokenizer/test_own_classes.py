"""Classes of a user's own: which of their methods and properties calls, ids and offsets heed, in both profiles."""

from __future__ import annotations

from typing import Any

import pytest

from trietok import BertTokenizer, BertTokenizerFast, NotSupportedError, SpecialTokenError

PAD, UNK, CLS, SEP, MASK, A, B = range(7)


@pytest.fixture
def file(vocab_file):
    return vocab_file("a", "b")


def test_refused_special_tokens_are_refused_after_the_users_own_preparation(file):
    class Prepares(BertTokenizerFast):
        def prepare_for_tokenization(self, text, **options):
            return text.replace("x", "a"), options

    tokenizer = Prepares(file)
    assert tokenizer.tokenize("x b", disallowed_special="all") == ["a", "b"]
    for method in (tokenizer, tokenizer.tokenize):
        with pytest.raises(SpecialTokenError, match=r"holds the special token '\[SEP\]' at 2"):
            method("x [SEP] b", disallowed_special="all")


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_ids_are_prepared_with_the_users_own_special_tokens(file, kind):
    class Builds(kind):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return [MASK, *token_ids_0]

        def num_special_tokens_to_add(self, pair=False):
            return 1

        def create_token_type_ids_from_sequences(self, token_ids_0, token_ids_1=None):
            return [7] * (len(token_ids_0) + 1)

    encoding = Builds(file).prepare_for_model([A, B], truncation=True, max_length=2)
    assert (encoding.input_ids, encoding.token_type_ids) == ([MASK, A], [7, 7])


def test_a_slow_call_heeds_the_users_own_roles(file):
    class Roles(BertTokenizer):
        @property
        def cls_token_id(self):
            return MASK

        @property
        def pad_token_id(self):
            return B

    assert Roles(file)(["a", "a b"], padding=True).input_ids == [[MASK, A, SEP, B], [MASK, A, B, SEP]]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_special_ids_are_those_of_the_users_own_special_tokens(file, kind):
    class MoreSpecial(kind):
        @property
        def all_special_tokens(self):
            return [*super().all_special_tokens, "a"]

    tokenizer = MoreSpecial(file)
    assert A in tokenizer.all_special_ids
    assert tokenizer.convert_ids_to_tokens([CLS, A, B, SEP], skip_special_tokens=True) == ["b"]


def test_offsets_are_refused_where_the_users_own_method_changes_the_ids(file):
    class Drops(BertTokenizer):
        def prepare_for_model(self, ids, *args, **options):
            return super().prepare_for_model([token_id for token_id in ids if token_id != A], *args, **options)

    class CutsLeft(BertTokenizer):
        def truncate_sequences(self, ids, pair_ids=None, num_tokens_to_remove=0, *args, **options):
            return ids[num_tokens_to_remove:], pair_ids, []

    for tokenizer, options, kept in (
        (Drops(file), {}, [CLS, B, SEP]),
        (CutsLeft(file), {"truncation": True, "max_length": 3}, [CLS, B, SEP]),
    ):
        assert tokenizer("a b", **options).input_ids == kept
        assert tokenizer("b", return_offsets_mapping=True, **options).offset_mapping == [(0, 0), (0, 1), (0, 0)]
        with pytest.raises(NotSupportedError, match="methods of its own that give other ids"):
            tokenizer("a b", return_offsets_mapping=True, **options)
        with pytest.raises(NotSupportedError, match="methods of its own that give other ids"):
            tokenizer(["a b", "b"], return_offsets_mapping=True, **options)


def with_own_pad(base: Any) -> Any:
    class Pads(base):
        """Pads a column of its own, as transformers' classes for documents do."""

        def _pad(self, encoded_inputs: Any, max_length: Any = None, **how: Any) -> Any:
            padded = super()._pad(encoded_inputs, max_length, **how)
            self.padded = getattr(self, "padded", 0) + 1
            padded["boxes"] = [7] * len(padded["input_ids"])
            return padded

    return Pads


def test_a_classs_own_pad_is_called_for_each_text(vocab_file):
    tokenizer = with_own_pad(BertTokenizer)(vocab_file("a", "b", "c"))
    batch = tokenizer(["a b", "c"], padding=True)
    assert batch.input_ids == [[2, 5, 6, 3], [2, 7, 3, 0]]
    assert (batch.boxes, batch.attention_mask[1], tokenizer.padded) == ([[7] * 4] * 2, [1, 1, 1, 0], 2)
    assert tokenizer("a").boxes == [7] * 3
    assert tokenizer.pad({"input_ids": [[5], [6, 7]]}).boxes == [[7, 7]] * 2
    assert tokenizer.prepare_for_model([5], padding="max_length", max_length=4).boxes == [7] * 4
    fast = with_own_pad(BertTokenizerFast)(vocab_file("a", "b", "c"))  # whose calls pad in Rust, in transformers
    assert "boxes" not in fast(["a b", "c"], padding=True)
    assert fast.pad({"input_ids": [[5], [6, 7]]}).boxes == [[7, 7]] * 2


def test_a_pad_that_is_replaced_on_one_tokenizer_is_called(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", "b", "c"))
    own = tokenizer._pad
    tokenizer._pad = lambda *args, **kwargs: {**own(*args, **kwargs), "seen": 1}
    assert tokenizer(["a", "b c"], padding=True).seen == [1, 1]
    del tokenizer._pad
    assert "seen" not in tokenizer(["a", "b c"], padding=True)
