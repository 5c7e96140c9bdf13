"""Rows of ids: sides, warnings, what is refused, and what a result says about its texts."""

from __future__ import annotations

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import InputError

PIECES = "the sub ##ject a b ##b 中 ! .".split()
BOTH = pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name."""

    def made(name, **options):
        return getattr(trietok, name)(vocab_file(*PIECES, special=SPECIAL), **options)

    return made


# ---- rows ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"truncation": True, "max_length": 4}, [[2, 8, 12, 3], [2, 5, 3]]),
        ({"padding": True}, [[2, 5, 8, 12, 3], [0, 0, 2, 5, 3]]),
        ({"padding": True, "return_tensors": "np"}, [[2, 5, 8, 12, 3], [0, 0, 2, 5, 3]]),
        (
            {"padding": "max_length", "max_length": 6, "add_special_tokens": False},
            [[0, 0, 0, 5, 8, 12], [0] * 5 + [5]],
        ),
    ],
)
@BOTH
def test_on_the_left(make, name, options, ids):
    tokenizer = make(name, padding_side="left", truncation_side="left")
    batch = tokenizer(["the a !", "the"], **options)
    assert [list(row) for row in batch.input_ids] == ids


@pytest.mark.parametrize(("name", "ids"), [("BertTokenizer", []), ("BertTokenizerFast", [0, 0, 0])])
def test_a_text_without_ids_is_padded_in_the_fast_class(make, name, ids):
    encoding = make(name)(
        "", add_special_tokens=False, padding="max_length", truncation=True, max_length=3
    )
    assert (encoding.input_ids, encoding.attention_mask) == (ids, ids)


def test_the_overflow_repeats_no_more_than_there_is(make):
    encoding = make("BertTokenizer").prepare_for_model(
        [5, 6, 7], truncation=True, max_length=4, stride=3, return_overflowing_tokens=True
    )
    assert (encoding.overflowing_tokens, encoding.num_truncated_tokens) == ([5, 6, 7], 1)


# ---- what is refused -----------------------------------------------------------------------------


def test_a_side_that_is_neither_left_nor_right(make):
    slow, fast = make("BertTokenizer"), make("BertTokenizerFast")
    options = {"padding": True, "padding_side": "up"}
    # nothing is padded
    assert slow(["the", "a"], **options).input_ids == [[2, 5, 3], [2, 8, 3]]
    for tokenizer, batch in ((slow, ["the", "the a"]), (fast, ["the", "a"])):
        with pytest.raises(InputError):
            tokenizer(batch, **options)


@BOTH
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("item", [5, None, b"a", ["a", 1], [1, "a"], [None], [["a", 5]]])
def test_what_is_no_text(make, name, words, item):
    tokenizer = make(name)
    for call in (tokenizer, tokenizer.encode_plus):
        with pytest.raises(InputError):
            call(item, is_split_into_words=words)


@BOTH
@pytest.mark.parametrize("items", [[], ["the", 5], [["a"]], [["a", "b", "c"]]])
def test_what_is_no_batch(make, name, items):
    with pytest.raises(InputError):
        make(name)(items)


# ---- warnings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "length"),
    [("BertTokenizer", 7), ("BertTokenizerFast", 8)],  # padding counts in the fast class
)
def test_a_text_that_is_too_long_is_warned_of_once(make, caplog, name, length):
    tokenizer = make(name, model_max_length=6)
    for _ in range(2):
        tokenizer(["the " * 5, "the " * 6, "the"], padding=True)
    assert [message.split(",")[0] for message in caplog.messages] == [f"a text has {length} tokens"]


def test_a_pair_that_is_too_long_is_warned_of(make, caplog):
    tokenizer = make("BertTokenizer", model_max_length=6)
    tokenizer("the the", "the the", padding=True, pad_to_multiple_of=8)
    assert [message.split(",")[0] for message in caplog.messages] == ["a text has 7 tokens"]


# ---- what a result says --------------------------------------------------------------------------


def test_a_result_says_what_was_encoded(make):
    items = [["the", "ab"], ["!"]]
    encoding = make("BertTokenizer")(items, is_split_into_words=True, padding=True)
    encoding["input_ids"][0][1] = 4
    items[0][0] = "subject"
    assert encoding.tokens(0) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding.word_ids(1) == [None, 0, None, None, None]


def test_rows_of_several_lengths_in_arrays(make):
    encoding = make("BertTokenizer")(
        ["the", "the ab"], return_tensors="np", return_offsets_mapping=True
    )
    assert encoding.tokens(1) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding["offset_mapping"][0].tolist() == [[0, 0], [0, 3], [0, 0]]
