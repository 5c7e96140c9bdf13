"""A call gives what it gives through a user's methods: values, their order and kinds, warnings and
errors.

A tokenizer whose class overrides a method goes through all the methods, one step after the other;
any other tokenizer takes a shorter way. Here the override only calls the inherited method, so both
must agree.
"""

from __future__ import annotations

import itertools
import logging

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SPECIAL, examples
from trietok import (
    BertTokenizer,
    FunnelTokenizer,
    InputError,
    InputTypeError,
    MPNetTokenizer,
    PaddingStrategy,
    SplinterTokenizer,
    TensorType,
)

PIECES = "the sub ##ject a b ##b 中 ! . [QUESTION] <s> </s> <pad> <mask> <cls> <sep> <unk>".split()
texts = st.lists(
    st.sampled_from(["the", "subject", "ab", "zz", "中a", "!", "[SEP]", ""]), max_size=9
).map(" ".join)
words = st.lists(st.sampled_from(["the", "subject", "ab c", "", "中a"]), min_size=1, max_size=4)
options = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from(
            [True, False, "longest", "max_length", PaddingStrategy.MAX_LENGTH, 1, "long"]
        ),
        "truncation": st.sampled_from(
            [True, False, None, "longest_first", "only_first", "only_second", 1]
        ),
        "max_length": st.sampled_from([None, 0, 1, 2, 3, 5, 8, 8.0, True, -1]),
        "stride": st.sampled_from([0, 1, -1]),
        "pad_to_multiple_of": st.sampled_from([None, 1, 4, 0]),
        "padding_side": st.sampled_from([None, "left", "right", "up"]),
        "return_tensors": st.sampled_from([None, "np", TensorType.NUMPY, "xx"]),
        "return_token_type_ids": st.sampled_from([None, True, False]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_special_tokens_mask": st.booleans(),
        "return_overflowing_tokens": st.booleans(),
        "return_length": st.booleans(),
        "verbose": st.booleans(),
        "is_split_into_words": st.booleans(),
    },
)
changes = st.lists(
    st.tuples(st.just("padding_side"), st.sampled_from(["left", "right"]))
    | st.tuples(st.just("truncation_side"), st.sampled_from(["left", "right"]))
    | st.tuples(st.just("model_max_length"), st.sampled_from([4, 512, int(1e30)]))
    | st.tuples(
        st.just("model_input_names"),
        st.sampled_from([["input_ids"], ["input_ids", "attention_mask"]]),
    )
    | st.tuples(st.just("pad_token"), st.sampled_from([None, "[PAD]", "[MASK]"]))
    | st.tuples(st.just("cls_token"), st.sampled_from([None, "[CLS]"]))
    | st.tuples(st.just("_pad_token_type_id"), st.sampled_from([1, 300, -1])),
    max_size=2,
)
KINDS = {
    kind.__name__: kind
    for kind in (BertTokenizer, FunnelTokenizer, MPNetTokenizer, SplinterTokenizer)
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES]), encoding="utf-8")

    def make(name, kind=None):
        kind = kind or KINDS[name]

        # a method of its own, so that calls go through all of them
        def build(self, token_ids_0, token_ids_1=None):
            return kind.build_inputs_with_special_tokens(self, token_ids_0, token_ids_1)

        by_methods = type(name, (kind,), {"build_inputs_with_special_tokens": build})
        return kind(path), by_methods(path)

    return make


def outcome(call):
    records = []

    class Kept(logging.Handler):
        def emit(self, record):
            records.append((record.levelname, record.getMessage()))

    handler = Kept()
    logging.getLogger("trietok").addHandler(handler)
    try:
        result = call()
    except Exception as error:
        return type(error), str(error), records
    finally:
        logging.getLogger("trietok").removeHandler(handler)
    return shown(result), records


def shown(value):
    if isinstance(value, list):
        return list(map(shown, value))
    if hasattr(value, "items"):
        return [(key, shown(item)) for key, item in value.items()]
    if isinstance(value, numpy.ndarray):
        return value.dtype, value.shape, shown(value.tolist()), value.flags.writeable
    return value


def details(encoding, items):
    """What a result says about the rows of so many items."""
    asked = []
    for row, name in itertools.product(range(items), ("tokens", "word_ids", "sequence_ids")):
        try:
            asked.append(getattr(encoding, name)(row))
        except Exception as error:
            asked.append((type(error), str(error)))
    return asked


def assert_the_same(tokenizers, changes, call):
    """Compare two calls of each, since a second call finds caches and has been warned of."""
    outcomes = []
    for tokenizer in tokenizers:
        for attribute, value in changes:
            setattr(tokenizer, attribute, value)
        outcomes.append([outcome(lambda t=tokenizer: call(t)) for _ in range(2)])
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("name", KINDS)
@examples(40)
@given(text=texts | st.lists(texts, max_size=4), options=options, changes=changes)
def test_a_text_or_a_batch(pairs, name, text, options, changes):
    assert_the_same(pairs(name), changes, lambda tokenizer: tokenizer(text, **options))


@pytest.mark.parametrize("name", KINDS)
@examples(30)
@given(
    batch=st.lists(st.tuples(texts, texts), min_size=1, max_size=3),
    options=options,
    changes=changes,
    one=st.booleans(),
)
def test_pairs(pairs, name, batch, options, changes, one):
    options.pop("is_split_into_words", None)
    assert_the_same(
        pairs(name), changes, lambda t: t(*batch[0], **options) if one else t(batch, **options)
    )


@examples(50)
@given(
    batch=st.lists(words | st.tuples(words, words), min_size=1, max_size=3),
    options=options,
    changes=changes,
)
def test_words(pairs, batch, options, changes):
    options["is_split_into_words"] = True
    assert_the_same(
        pairs("BertTokenizer"), changes, lambda t: t.batch_encode_plus(batch, **options)
    )


@pytest.mark.parametrize("name", ["BertTokenizer", "SplinterTokenizer"])
@examples(30)
@given(
    batch=st.lists(st.tuples(texts, texts) | texts, min_size=1, max_size=3),
    options=options,
    changes=changes,
)
def test_offsets_and_what_a_result_can_be_asked(pairs, name, batch, options, changes):
    options.pop("is_split_into_words", None)

    def call(tokenizer):
        encoding = tokenizer.batch_encode_plus(batch, return_offsets_mapping=True, **options)
        return {**encoding, "asked": details(encoding, len(batch))}

    assert_the_same(pairs(name), changes, call)


@pytest.mark.parametrize("name", KINDS)
@examples(30)
@given(
    ids=st.lists(st.integers(0, 12), max_size=8),
    pair_ids=st.none() | st.lists(st.integers(0, 12), max_size=8),
    options=options,
    changes=changes,
    batch_axis=st.booleans(),
)
def test_ids_that_are_there_already(pairs, name, ids, pair_ids, options, changes, batch_axis):
    options.pop("is_split_into_words", None)
    options["prepend_batch_axis"] = batch_axis
    assert_the_same(
        pairs(name),
        changes,
        lambda tokenizer: tokenizer.prepare_for_model(ids, pair_ids, **options),
    )


@examples(100)
@given(text=texts, options=options, changes=changes)
def test_encode(pairs, text, options, changes):
    named = "add_special_tokens padding truncation max_length stride padding_side".split()
    for asked in (options, {name: options[name] for name in named if name in options}):
        assert_the_same(
            pairs("BertTokenizer"),
            changes,
            lambda tokenizer, asked=asked: tokenizer.encode(text, **asked),
        )


def test_options_that_equal_valid_ones_are_still_refused(pairs):
    tokenizer, _ = pairs("BertTokenizer")
    assert len(tokenizer.encode("the subject", truncation=True, max_length=3)) == 3
    for wrong in (
        {"truncation": 1, "max_length": 3},
        {"truncation": True, "max_length": 3.0},
        {"padding": 0},
    ):
        with pytest.raises((InputError, InputTypeError)):
            tokenizer.encode("the subject", **wrong)
    tokenizer.model_max_length = 3
    assert len(tokenizer.encode("the subject", truncation=True)) == 3
    tokenizer.model_max_length = 3.0
    with pytest.raises(InputTypeError):
        tokenizer.encode("the subject", truncation=True)


def test_every_length_and_stride_of_a_pair(pairs):
    tokenizers = pairs("BertTokenizer")
    for first, second, truncation, max_length, stride in itertools.product(
        (0, 1, 4), (1, 3), ("longest_first", "only_first", "only_second"), (3, 4, 6, 8), (0, 1, 2)
    ):
        pair = " ".join(["the"] * first), " ".join(["ab"] * second)
        asked = {
            "truncation": truncation,
            "max_length": max_length,
            "stride": stride,
            "padding": "max_length",
        }
        asked["return_overflowing_tokens"] = truncation != "longest_first"
        assert_the_same(
            tokenizers, (), lambda tokenizer, pair=pair, asked=asked: tokenizer(*pair, **asked)
        )


def test_a_call_heeds_what_a_subclass_changes(pairs):
    tokenizer, _ = pairs("BertTokenizer")
    before = tokenizer("the").input_ids

    class Mine(BertTokenizer):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return [*token_ids_0, 1]

    mine, _ = pairs("BertTokenizer", Mine)
    assert mine("the").input_ids == [before[1], 1]
    assert mine.encode("the") == [before[1], 1]
    tokenizer.prepare_for_model = lambda ids, *args, **kwargs: {"input_ids": [9]}
    assert tokenizer("the") == {"input_ids": [9]}
