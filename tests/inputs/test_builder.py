"""Plans of an `InputBuilder`: what calls return, whatever is asked for, in both profiles."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL
from tests.inputs.live import LiveEncoder, builder_of, builder_of_ids, outcome
from trietok import PaddingStrategy, TensorType
from trietok.inputs.options import CallOptions

pytest.importorskip("numpy")

PIECES = ["the", "sub", "##ject", "a", "b", "##b", "中", "!", ".", "[QUESTION]"]
MORE = ["<s>", "</s>", "<pad>", "<mask>", "<cls>", "<sep>", "<unk>"]
KINDS = ["BertTokenizer", "FunnelTokenizer", "MPNetTokenizer", "SplinterTokenizer", "DistilBertTokenizer"]
KINDS += [f"{kind}Fast" for kind in KINDS]

text = st.lists(st.sampled_from(["the", "subject", "ab", "zz", "中a", "!", "[SEP]", ""]), max_size=6).map(" ".join)
words = st.lists(st.sampled_from(["the", "subject", "ab c", "", "中a"]), max_size=4)
ids = st.lists(st.integers(0, 12), max_size=8)
odd = st.sampled_from([5, [], ["a", 1], [1, "a"], b"a", [None]])
OPTIONS = {
    "add_special_tokens": st.booleans(),
    "padding": st.sampled_from([True, False, "longest", "max_length", PaddingStrategy.MAX_LENGTH, 1, "long"]),
    "truncation": st.sampled_from([True, True, False, None, "longest_first", "only_first", "only_second", 1]),
    "max_length": st.sampled_from([None, None, 0, 1, 2, 3, 4, 5, 6, 8, 12, 8.0, True, -1]),
    "stride": st.sampled_from([0, 0, 1, 2, -1, 1.0]),
    "pad_to_multiple_of": st.sampled_from([None, None, 1, 4, 8, 0, 4.0]),
    "padding_side": st.sampled_from([None, None, "left", "right", "up"]),
    "return_tensors": st.sampled_from([None, None, "np", TensorType.NUMPY, "pt", "xx"]),
    "return_token_type_ids": st.sampled_from([None, True, False]),
    "return_attention_mask": st.sampled_from([None, True, False]),
    "return_special_tokens_mask": st.booleans(),
    "return_overflowing_tokens": st.booleans(),
    "return_offsets_mapping": st.booleans(),
    "return_length": st.booleans(),
    "verbose": st.booleans(),
}
options = st.fixed_dictionaries({}, optional=OPTIONS)
changes = st.lists(
    st.tuples(st.sampled_from(["padding_side", "truncation_side"]), st.sampled_from(["left", "right"]))
    | st.tuples(st.just("model_max_length"), st.sampled_from([2, 4, 6, 512, int(1e30)]))
    | st.tuples(st.just("model_input_names"), st.sampled_from([["input_ids"], ["input_ids", "attention_mask"]]))
    | st.tuples(st.just("pad_token"), st.sampled_from([None, "[PAD]", "[MASK]"])),
    max_size=2,
)


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that makes a tokenizer of a class by its name."""
    path = tmp_path_factory.mktemp("builder") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES, *MORE]), encoding="utf-8")

    def made(name, changes=()):
        tokenizer = getattr(trietok, name)(path)
        for attribute, value in changes:
            setattr(tokenizer, attribute, value)
        return tokenizer

    return made


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=200, deadline=None)
@given(
    item=st.tuples(text) | st.tuples(text, text) | st.tuples(st.one_of(text, words, ids, odd)),
    options=options,
    changes=changes,
    is_split=st.booleans(),
)
def test_one_item(make, name, item, options, changes, is_split):
    tokenizer = make(name, changes)
    if is_split:
        item = tuple([part] if isinstance(part, str) else part for part in item)
    options["is_split_into_words"] = is_split
    want = outcome(lambda: tokenizer.encode_plus(*item, **options))
    encoder = LiveEncoder(tokenizer)
    built = outcome(lambda: builder_of(make(name, changes)).plan(CallOptions(**options)).one(encoder, *item))
    assert built == want


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=200, deadline=None)
@given(
    items=st.lists(text, max_size=4) | st.lists(st.tuples(text, text), max_size=3) | st.lists(text | words | ids),
    options=options,
    changes=changes,
    is_split=st.booleans(),
)
def test_a_batch(make, name, items, options, changes, is_split):
    tokenizer = make(name, changes)
    options["is_split_into_words"] = is_split
    want = outcome(lambda: tokenizer.batch_encode_plus(items, **options))
    encoder = LiveEncoder(tokenizer)
    built = outcome(lambda: builder_of(make(name, changes)).plan(CallOptions(**options)).batch(encoder, items))
    assert built == want


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=100, deadline=None)
@given(ids=ids, pair_ids=st.none() | ids, options=options, changes=changes, batch_axis=st.booleans())
def test_ids_that_are_there_already(make, name, ids, pair_ids, options, changes, batch_axis):
    tokenizer = make(name, changes)
    want = outcome(lambda: tokenizer.prepare_for_model(ids, pair_ids, prepend_batch_axis=batch_axis, **options), False)
    builder = builder_of_ids(make(name, changes))
    assert outcome(lambda: builder.plan(CallOptions(**options)).from_ids(ids, pair_ids, batch_axis), False) == want


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_every_length_and_stride_of_a_pair(make, name):
    tokenizer = make(name)
    builder, encoder = builder_of(tokenizer), LiveEncoder(tokenizer)
    lengths = itertools.product((0, 1, 3, 5), (1, 4), ("longest_first", "only_first", "only_second"), range(3, 11))
    for first, second, truncation, max_length in lengths:
        for stride, side in itertools.product((0, 1, 2), ("left", "right")):
            given = (" ".join(["the"] * first), " ".join(["ab"] * second))
            options = {"truncation": truncation, "max_length": max_length, "stride": stride, "padding_side": side}
            options |= {"padding": "max_length", "return_overflowing_tokens": truncation != "longest_first"}
            want = outcome(lambda: tokenizer.encode_plus(*given, **options))  # noqa: B023
            assert outcome(lambda: builder.plan(CallOptions(**options)).one(encoder, *given)) == want  # noqa: B023
