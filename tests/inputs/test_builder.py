"""What a tokenizer's `input_builder` makes of texts and ids, by small named cases."""

from __future__ import annotations

import itertools

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import InputError, InputTypeError, SpecialTokenError
from trietok.inputs.options import CallOptions

numpy = pytest.importorskip("numpy")

PIECES = "the sub ##ject a b ##b 中 ! . [QUESTION] <s> </s> <pad> <mask> <cls> <sep> <unk>".split()


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name, and sets some of its
    attributes.
    """

    def made(name, changes=()):
        tokenizer = getattr(trietok, name)(vocab_file(*PIECES, special=SPECIAL))
        for attribute, value in changes:
            setattr(tokenizer, attribute, value)
        return tokenizer

    return made


def plan_of(tokenizer, **options):
    return tokenizer.input_builder.plan(CallOptions(**options))


# ---- rows ----------------------------------------------------------------------------------------


def test_a_special_token_that_is_not_set(make):
    tokenizer = make("BertTokenizer", [("cls_token", None)])
    plan = plan_of(tokenizer, return_special_tokens_mask=True)
    for call in (
        lambda: plan.one(tokenizer.text_encoder, "the"),
        lambda: plan.batch(tokenizer.text_encoder, ["the"]),
    ):
        with pytest.raises(SpecialTokenError, match="cls_token is None"):
            call()
    assert plan_of(tokenizer, add_special_tokens=False).one(
        tokenizer.text_encoder, "the"
    ).input_ids == [5]


@pytest.mark.parametrize(
    ("asked", "ids"),
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
@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_on_the_left(make, name, asked, ids):
    tokenizer = make(name, [("padding_side", "left"), ("truncation_side", "left")])
    batch = plan_of(tokenizer, **asked).batch(tokenizer.text_encoder, ["the a !", "the"])
    assert (
        batch.input_ids if isinstance(batch.input_ids, list) else batch.input_ids.tolist()
    ) == ids


@pytest.mark.parametrize(("name", "ids"), [("BertTokenizer", []), ("BertTokenizerFast", [0, 0, 0])])
def test_a_text_without_ids_is_padded_in_the_rust_profile(make, name, ids):
    tokenizer = make(name)
    plan = plan_of(
        tokenizer, add_special_tokens=False, padding="max_length", truncation=True, max_length=3
    )
    encoding = plan.one(tokenizer.text_encoder, "")
    assert (encoding.input_ids, encoding.attention_mask) == (ids, ids)


def test_the_overflow_repeats_no_more_than_there_is(make):
    plan = plan_of(
        make("BertTokenizer"),
        truncation=True,
        max_length=4,
        stride=3,
        return_overflowing_tokens=True,
    )
    encoding = plan.from_ids([5, 6, 7])
    assert (encoding.overflowing_tokens, encoding.num_truncated_tokens) == ([5, 6, 7], 1)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "valid", "error", "message"),
    [
        ({"padding": "long"}, {}, InputError, "'long' is not a valid PaddingStrategy"),
        ({"padding": 1}, {"padding": True}, InputError, "1 is not a valid PaddingStrategy"),
        (
            {"truncation": 1},
            {"truncation": True},
            InputError,
            "1 is not a valid TruncationStrategy",
        ),
        ({"max_length": 8.0}, {"max_length": 8}, InputTypeError, "max_length is 8.0"),
        (
            {"pad_to_multiple_of": 8.0},
            {"pad_to_multiple_of": 8},
            InputTypeError,
            "pad_to_multiple_of is 8.0",
        ),
        ({"max_length": -1}, {}, InputError, "max_length is -1"),
        ({"padding": []}, {}, InputError, r"\[\] is not a valid PaddingStrategy"),
        ({"padding": True, "pad_to_multiple_of": 0}, {}, InputError, "pad_to_multiple_of is 0"),
    ],
)
def test_options_that_no_plan_has(make, asked, valid, error, message):
    builder = make("BertTokenizer").input_builder
    builder.plan(CallOptions(**valid))  # some are equal to what is asked
    for _ in range(2):
        with pytest.raises(error, match=message):
            builder.plan(CallOptions(**asked))


def test_padding_without_a_padding_token(make):
    with pytest.raises(SpecialTokenError):
        plan_of(make("BertTokenizer", [("pad_token", None)]), padding=True)


def test_a_side_that_is_neither_left_nor_right(make):
    slow, fast = make("BertTokenizer"), make("BertTokenizerFast")
    plan, rust_plan = (
        plan_of(tokenizer, padding=True, padding_side="up") for tokenizer in (slow, fast)
    )
    # nothing is padded
    assert plan.batch(slow.text_encoder, ["the", "a"]).input_ids == [
        [2, 5, 3],
        [2, 8, 3],
    ]
    for refusing, encoder, batch in (
        (plan, slow, ["the", "the a"]),
        (rust_plan, fast, ["the", "a"]),
    ):
        with pytest.raises(InputError, match="padding_side is 'left' or 'right', not 'up'"):
            refusing.batch(encoder.text_encoder, batch)


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("item", [5, None, b"a", ["a", 1], [1, "a"], [None], [["a"]]])
def test_what_is_no_text(make, name, words, item):
    tokenizer = make(name)
    with pytest.raises(InputError):
        plan_of(tokenizer, is_split_into_words=words).one(tokenizer.text_encoder, item)


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize("items", [[], ["the", 5], [["a"]], [["a", "b", "c"]]])
def test_what_is_no_batch(make, name, items):
    tokenizer = make(name)
    with pytest.raises(InputError):
        plan_of(tokenizer).batch(tokenizer.text_encoder, items)


# ---- plans ---------------------------------------------------------------------------------------


def test_equal_options_share_a_plan_and_plans_are_bounded(make):
    builder = make("BertTokenizer").input_builder
    first = builder.plan(CallOptions(max_length=3, truncation=True))
    assert builder.plan(CallOptions(max_length=3, truncation=True)) is first
    assert builder.plan(CallOptions(max_length=3, truncation="longest_first")) is not first
    for length in range(4, 100):
        builder.plan(CallOptions(max_length=length, truncation=True))
    assert builder.plan(CallOptions(max_length=3, truncation=True)) is not first


@pytest.mark.parametrize(
    ("name", "length"),
    [("BertTokenizer", 7), ("BertTokenizerFast", 8)],  # padding counts in the Rust profile
)
def test_a_text_that_is_too_long_is_warned_of_once(make, caplog, name, length):
    tokenizer = make(name, [("model_max_length", 6)])
    plan = plan_of(tokenizer, padding=True)
    for _ in range(2):
        plan.batch(tokenizer.text_encoder, ["the " * 5, "the " * 6, "the"])
    assert [message.split(",")[0] for message in caplog.messages] == [f"a text has {length} tokens"]


def test_a_pair_that_is_too_long_is_warned_of(make, caplog):
    tokenizer = make("BertTokenizer", [("model_max_length", 6)])
    plan_of(tokenizer, padding=True, pad_to_multiple_of=8).one(
        tokenizer.text_encoder, "the the", "the the"
    )
    assert [message.split(",")[0] for message in caplog.messages] == ["a text has 7 tokens"]


def test_details_are_those_of_what_was_encoded(make):
    tokenizer = make("BertTokenizer")
    items = [["the", "ab"], ["!"]]
    plan = plan_of(tokenizer, is_split_into_words=True, padding=True)
    encoding = plan.batch(tokenizer.text_encoder, items)
    encoding["input_ids"][0][1] = 4
    items[0][0] = "subject"
    assert encoding.tokens(0) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding.word_ids(1) == [None, 0, None, None, None]


def test_details_of_rows_of_several_lengths_in_arrays(make):
    tokenizer = make("BertTokenizer")
    plan = plan_of(tokenizer, return_tensors="np", return_offsets_mapping=True)
    encoding = plan.batch(tokenizer.text_encoder, ["the", "the ab"])
    assert encoding.tokens(1) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding["offset_mapping"][0].tolist() == [[0, 0], [0, 3], [0, 0]]


def test_rows_of_bytes(make):
    tokenizer = make("BertTokenizer")
    plan = plan_of(tokenizer, truncation=True, max_length=4, return_special_tokens_mask=True)
    texts = ["the ab !", "", "the"]
    own = [
        numpy.array(tokenizer.encode(each, add_special_tokens=False), "int32").tobytes()
        for each in texts
    ]
    want = tokenizer(texts, truncation=True, max_length=4, return_special_tokens_mask=True)
    for lengths, ids, columns in (
        plan.rows_of_bytes(own),
        plan.byte_rows(tokenizer.text_encoder.rows(texts)),
    ):
        assert lengths.tolist() == list(map(len, want.input_ids))
        assert numpy.frombuffer(ids, "int32").tolist() == list(itertools.chain(*want.input_ids))
        for name, column in columns.items():
            assert list(column) == list(itertools.chain(*want[name]))
