"""The inputs of a call: lists of two, empty batches, former keywords."""

from __future__ import annotations

import collections
from collections.abc import Sequence

import numpy as np
import pyarrow
import pytest

from tests.conftest import needs
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    OptionError,
    PaddingStrategy,
    TruncationStrategy,
)

PAD, UNK, CLS, SEP, MASK, A, B, C = range(8)
BOTH = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])


@pytest.fixture
def abc(vocab_file):
    """A function that makes a tokenizer of `a`, `b` and `c`."""
    return lambda kind: kind(vocab_file("a", "b", "c"))


@pytest.mark.parametrize("two", [("a c", "b"), ["a c", "b"]])
def test_two_texts_are_a_pair_in_the_fast_class(abc, two):
    fast = abc(BertTokenizerFast)
    assert fast.encode(two) == [CLS, A, C, SEP, B, SEP]
    assert fast.encode_plus(two, return_offsets_mapping=True).data == {
        "input_ids": [CLS, A, C, SEP, B, SEP],
        "token_type_ids": [0, 0, 0, 0, 1, 1],
        "attention_mask": [1] * 6,
        "offset_mapping": [(0, 0), (0, 1), (2, 3), (0, 0), (0, 1), (0, 0)],
    }
    assert fast.encode_plus(two).sequence_ids() == [None, 0, 0, None, 1, None]
    assert fast.tokenize(two) == ["a", "c", "b"]
    assert fast.tokenize(two, add_special_tokens=True) == ["[CLS]", "a", "c", "[SEP]", "b", "[SEP]"]


def test_two_texts_are_two_tokens_in_the_slow_class(abc):
    assert abc(BertTokenizer).encode(("a", "b")) == [CLS, A, B, SEP]


def test_two_lists_of_words_are_a_pair_in_the_fast_class(abc):
    fast = abc(BertTokenizerFast)
    assert fast.encode([["a", "b"], ["c"]], is_split_into_words=True) == [CLS, A, B, SEP, C, SEP]
    assert fast.encode(["a", "b"], is_split_into_words=True) == [CLS, A, B, SEP]
    assert fast.tokenize(["a", "b c"], is_split_into_words=True) == ["a", "b", "c"]


def test_tokens_of_a_pair_show_the_text_that_an_added_token_took(abc):
    fast = abc(BertTokenizerFast)
    fast.add_tokens([AddedToken("<e>", lstrip=True, rstrip=True)])
    assert fast.tokenize("a  <e> b") == ["a", "  <e> ", "b"]
    assert fast.tokenize("a  <e> b", pair="c <e>") == ["a", "  <e> ", "b", "c", " <e>"]
    assert fast.tokenize("a <e>", add_special_tokens=True) == ["[CLS]", "a", " <e>", "[SEP]"]


def test_tokenize_takes_the_options_of_encode_plus_in_the_fast_class(abc):
    fast = abc(BertTokenizerFast)
    assert fast.tokenize("a b c", truncation=True, max_length=2) == ["a", "b"]
    assert fast.tokenize("a b c", padding="max_length", max_length=5) == [
        "a",
        "b",
        "c",
        "[PAD]",
        "[PAD]",
    ]
    options = {
        "truncation": True,
        "max_length": 2,
        "return_overflowing_tokens": True,
        "return_tensors": "np",
    }
    assert fast.tokenize("a b c", **options) == ["a", "b"]


@pytest.mark.parametrize(
    "no_pair", [("a",), ["a", "b", "c"], [], ["a", None], ["a", 5], [["a"], ["b"]]]
)
@pytest.mark.parametrize("method", ["encode", "encode_plus", "tokenize"])
def test_lists_that_are_no_pair(abc, method, no_pair):
    with pytest.raises(InputTypeError):
        getattr(abc(BertTokenizerFast), method)(no_pair)


@BOTH
@pytest.mark.parametrize(
    "column", [list, tuple, lambda texts: np.array(texts, object), pyarrow.array]
)
def test_a_missing_second_text_is_an_error_that_says_where(abc, kind, column):
    tokenizer = abc(kind)
    missing = "item 1 of the batch is a pair whose second text is None"
    with pytest.raises(InputTypeError, match=missing):
        tokenizer(column(["a", "b"]), column(["c", None]), padding=True)
    with pytest.raises(InputTypeError, match=missing):
        tokenizer([("a", "b"), ("c", None)])
    with pytest.raises(InputTypeError, match=missing):
        tokenizer([["a"], ["b"]], [["c"], None], is_split_into_words=True)
    for texts in ((column([None, "c"]), None), (column(["a", "b"]), column([None, "c"]))):
        with pytest.raises(InputError, match=r"text(_pair)?\[0\] is None; exclude it"):
            tokenizer(*texts)
    with pytest.raises(InputTypeError, match="item 0 of the batch is a pair"):
        tokenizer.batch_encode_plus([("a", None)])
    assert tokenizer(["a", "b"], None)["input_ids"] == tokenizer(["a", "b"])["input_ids"]


def test_a_pair_in_a_batch_has_two_texts(abc):
    with pytest.raises(InputTypeError):
        abc(BertTokenizer)([("a", "b"), ("a", "b", "c")])


@BOTH
@pytest.mark.parametrize(
    "options", [{}, {"padding": True}, {"return_tensors": "np"}, {"text_pair": []}]
)
@pytest.mark.parametrize("nothing", [[], (), np.array([], dtype=str)])
def test_a_batch_of_nothing_is_called_so(abc, kind, nothing, options):
    with pytest.raises(InputError):
        abc(kind)(nothing, **options)


def test_no_words_are_no_text_in_the_slow_class(abc):
    with pytest.raises(InputError):
        abc(BertTokenizer)([], is_split_into_words=True)
    assert abc(BertTokenizerFast)([], is_split_into_words=True).input_ids == [CLS, SEP]


@BOTH
@pytest.mark.parametrize(
    ("dropped", "instead"),
    [
        ({"pad_to_max_length": True, "max_length": 5}, r"padding='max_length'"),
        ({"pad_to_max_length": False}, r"padding='max_length'"),
        ({"truncation_strategy": "only_first", "max_length": 5}, r"truncation=\.\.\."),
        ({"is_pretokenized": True}, r"is_split_into_words=\.\.\."),
        ({"return_lengths": True}, r"return_length=\.\.\."),
    ],
)
def test_a_dropped_keyword_says_what_replaced_it(abc, kind, dropped, instead):
    tokenizer = abc(kind)
    calls = [tokenizer, tokenizer.encode, tokenizer.encode_plus, tokenizer.tokenize]
    for call in calls:
        with pytest.raises(OptionError, match=f"write {instead} instead"):
            call("a b", **dropped)
    for call in (tokenizer, tokenizer.batch_encode_plus):
        with pytest.raises(OptionError, match=f"write {instead} instead"):
            call(["a b", "c"], **dropped)
    with pytest.raises(OptionError, match=f"write {instead} instead"):
        tokenizer.prepare_for_model([A, B], **dropped)


class Column(Sequence):
    """As `datasets` gives a column: a sequence that is neither a list nor a tuple."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, index):
        return self.values[index]

    def __len__(self):
        return len(self.values)


@BOTH
@pytest.mark.parametrize(
    "column",
    [
        np.array,
        lambda texts: np.array(texts, dtype=object),
        Column,
        collections.deque,
        pyarrow.array,
    ],
)
def test_arrays_and_columns_are_lists_of_texts(abc, kind, column):
    tokenizer, texts, pairs = abc(kind), ["a b", "c"], ["c", "a b c"]
    options = {"padding": True, "truncation": True, "max_length": 6, "return_tensors": "np"}
    for given, wanted in (
        ((column(texts),), (texts,)),
        ((column(texts), column(pairs)), (texts, pairs)),
    ):
        got, want = tokenizer(*given, **options), tokenizer(*wanted, **options)
        assert {name: values.tolist() for name, values in got.items()} == {
            name: values.tolist() for name, values in want.items()
        }
        assert got.tokens(1) == want.tokens(1)
    assert tokenizer.batch_encode_plus(column(texts)).data == tokenizer(texts).data
    words = tokenizer(column(texts), is_split_into_words=True)
    assert words.data == tokenizer(texts, is_split_into_words=True).data
    assert tokenizer.encode(column(["a", "b"]), is_split_into_words=True) == [CLS, A, B, SEP]
    assert tokenizer([column(texts), column(pairs)], is_split_into_words=True).data == (
        tokenizer([texts, pairs], is_split_into_words=True).data
    )
    assert tokenizer(["a"], text_target=column(["b"])).labels == [[CLS, B, SEP]]


@BOTH
def test_arrays_that_are_no_texts(abc, kind):
    for value in (np.array([1, 2]), np.array([]), np.array(["a", None], dtype=object)):
        with pytest.raises(InputError):
            abc(kind)(value)
    assert (
        abc(kind)(np.array("a b")).input_ids
        == abc(kind)(np.str_("a b")).input_ids
        == [CLS, A, B, SEP]
    )


def test_set_truncation_and_padding_checks_what_a_call_takes(abc):
    fast = abc(BertTokenizerFast)
    strategies = PaddingStrategy.MAX_LENGTH, TruncationStrategy.LONGEST_FIRST
    before = fast("a b c").data
    assert fast.set_truncation_and_padding(*strategies, 4, 1, None, "left") is None
    assert fast("a b c").data == before
    with pytest.raises(InputError):
        fast.set_truncation_and_padding("longes", strategies[1], 4, 1, None, "left")
    with pytest.raises(InputError):
        fast.set_truncation_and_padding(*strategies, 4, 0, None, "up")


@BOTH
def test_calls_that_transformers_refuses(abc, kind):
    tokenizer = abc(kind)
    padded = tokenizer.pad({"input_ids": np.array([CLS, SEP])}, padding="max_length", max_length=3)
    assert padded.input_ids.tolist() == [CLS, SEP, PAD]
    made = tokenizer.prepare_for_model(
        [A], return_tensors="np", return_length=True, return_special_tokens_mask=True
    )
    assert (made["length"].tolist(), made["special_tokens_mask"].tolist()) == (3, [1, 0, 1])
    assert tokenizer("a", add_special_tokens=0, split_special_tokens=None).input_ids == [A]
    assert tokenizer(["a", "b"], is_split_into_words=1).input_ids == [CLS, A, B, SEP]
    assert tokenizer.convert_tokens_to_ids(None) is None


@BOTH
@pytest.mark.parametrize("options", [{}, {"return_offsets_mapping": True}, {"return_length": True}])
def test_padding_to_a_length_makes_no_tensor_of_a_longer_text(abc, kind, options):
    batch, options = ["a b c a b", "a"], {"padding": "max_length", "max_length": 4, **options}
    ragged = abc(kind)(batch, return_tensors="np", **options)
    assert [row.tolist() for row in ragged.input_ids] == abc(kind)(batch, **options).input_ids
    assert list(map(len, ragged.attention_mask)) == [7, 4]
    torch = needs("torch")
    with pytest.raises(InputError):
        abc(kind)(batch, return_tensors="pt", **options)
    same = abc(kind)(["a b c a b", "a b c b a"], return_tensors="pt", **options).input_ids
    assert torch.equal(same, torch.tensor([[CLS, A, B, C, A, B, SEP], [CLS, A, B, C, B, A, SEP]]))


@BOTH
@pytest.mark.parametrize("ids", [np.array([5, 6]), np.array(["a", None], object), "ab", 5, {5: 6}])
def test_ids_that_are_no_list_are_refused(vocab_file, kind, ids):
    tokenizer = kind(vocab_file("a", "b"))
    for call in (
        lambda: tokenizer.build_inputs_with_special_tokens(ids),
        lambda: tokenizer.build_inputs_with_special_tokens([5], ids),
        lambda: tokenizer.prepare_for_model(ids),
        lambda: tokenizer.prepare_for_model([5], ids, truncation=True, max_length=4),
    ):
        with pytest.raises(InputTypeError):
            call()
    assert tokenizer.build_inputs_with_special_tokens((5,), [6]) == [2, 5, 3, 6, 3]
