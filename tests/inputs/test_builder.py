"""Plans of an `InputBuilder` give what a tokenizer's calls give, whatever is asked for, in both profiles."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trietok.inputs.method_inputs import MethodInputs

import trietok
from tests.conftest import SPECIAL
from tests.inputs.live import LiveEncoder, builder_of, builder_of_ids, outcome
from trietok import InputError, InputTypeError, PaddingStrategy, SpecialTokenError, TensorType
from trietok.inputs.options import CallOptions
from trietok.inputs.pad import pad

numpy = pytest.importorskip("numpy")

PIECES = ["the", "sub", "##ject", "a", "b", "##b", "中", "!", ".", "[QUESTION]"]
MORE = ["<s>", "</s>", "<pad>", "<mask>", "<cls>", "<sep>", "<unk>"]
SLOW_KINDS = ["BertTokenizer", "FunnelTokenizer", "MPNetTokenizer", "SplinterTokenizer"]
KINDS = [*SLOW_KINDS, *(f"{kind}Fast" for kind in SLOW_KINDS)]

text = st.lists(st.sampled_from(["the", "subject", "ab", "zz", "中a", "!", "[SEP]", ""]), max_size=6).map(" ".join)
words = st.lists(st.sampled_from(["the", "subject", "ab c", "", "中a"]), min_size=1, max_size=4)
ids = st.lists(st.integers(0, 12), max_size=8)
options = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": st.booleans(),
        "padding": st.sampled_from([True, False, "longest", "max_length", PaddingStrategy.MAX_LENGTH]),
        "truncation": st.sampled_from([True, False, None, "longest_first", "only_first", "only_second"]),
        "max_length": st.sampled_from([None, None, 0, 1, 2, 3, 4, 5, 6, 8, 12, True]),
        "stride": st.sampled_from([0, 0, 1, 2]),
        "pad_to_multiple_of": st.sampled_from([None, None, 1, 4]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "return_token_type_ids": st.sampled_from([None, True, False]),
        "return_attention_mask": st.sampled_from([None, True, False]),
        "return_special_tokens_mask": st.booleans(),
        "return_overflowing_tokens": st.booleans(),
        "return_length": st.booleans(),
        "verbose": st.booleans(),
    },
)
tensors = st.sampled_from([None, None, "np", TensorType.NUMPY, "xx"])
changes = st.lists(
    st.tuples(st.sampled_from(["padding_side", "truncation_side"]), st.sampled_from(["left", "right"]))
    | st.tuples(st.just("model_input_names"), st.sampled_from([["input_ids"], ["input_ids", "attention_mask"]]))
    | st.tuples(st.just("pad_token"), st.sampled_from([None, "[MASK]"])),
    max_size=2,
)


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """A function that makes a tokenizer of a class, or of its name, and sets some of its attributes."""
    path = tmp_path_factory.mktemp("builder") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES, *MORE]), encoding="utf-8")

    def made(name, changes=()):
        tokenizer = (getattr(trietok, name) if isinstance(name, str) else name)(path)
        for attribute, value in changes:
            setattr(tokenizer, attribute, value)
        return tokenizer

    return made


def assert_same(call, built, questions=True):
    """The result, what it can be asked, and what was logged, each message once."""
    (*want, said), (*got, logged) = outcome(call, questions), outcome(built, questions)
    assert got == want
    if not isinstance(want[0], type):
        assert list(dict.fromkeys(logged)) == list(dict.fromkeys(said))


# ---- what calls return ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40, deadline=None)
@given(
    item=st.tuples(text) | st.tuples(text, text),
    options=options,
    tensors=tensors,
    offsets=st.booleans(),
    changes=changes,
)
def test_one_text_or_pair(make, name, item, options, tensors, offsets, changes):
    tokenizer = make(name, changes)
    given_pair = item if item[1:] != ("",) or not tokenizer.is_fast else item[:1]  # no second text in that profile
    asked = {**options, "return_tensors": tensors, "return_offsets_mapping": offsets}
    builder, encoder = builder_of(tokenizer), LiveEncoder(tokenizer)
    assert_same(
        lambda: tokenizer.encode_plus(*item, **asked),
        lambda: builder.plan(CallOptions(**asked)).one(encoder, *given_pair),
        questions=tensors is None,
    )


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40, deadline=None)
@given(
    items=st.lists(text, min_size=1, max_size=4) | st.lists(st.tuples(text, text) | text, min_size=1, max_size=3),
    options=options,
    tensors=tensors,
    changes=changes,
)
def test_a_batch(make, name, items, options, tensors, changes):
    tokenizer = make(name, changes)
    asked = {**options, "return_tensors": tensors, "return_offsets_mapping": tensors is None}
    builder, encoder = builder_of(tokenizer), LiveEncoder(tokenizer)
    assert_same(
        lambda: tokenizer.batch_encode_plus(items, **asked),
        lambda: builder.plan(CallOptions(**asked)).batch(encoder, items),
        questions=tensors is None,
    )


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
@settings(max_examples=60, deadline=None)
@given(items=st.lists(words | st.tuples(words, words), min_size=1, max_size=3), options=options, changes=changes)
def test_words(make, name, items, options, changes):
    tokenizer = make(name, changes)
    asked = {**options, "is_split_into_words": True, "return_offsets_mapping": True}
    builder, encoder = builder_of(tokenizer), LiveEncoder(tokenizer)
    assert_same(
        lambda: tokenizer.batch_encode_plus(items, **asked),
        lambda: builder.plan(CallOptions(**asked)).batch(encoder, items),
    )


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=40, deadline=None)
@given(ids=ids, pair_ids=st.none() | ids, options=options, tensors=tensors, changes=changes, batch_axis=st.booleans())
def test_ids_that_are_there_already(make, name, ids, pair_ids, options, tensors, changes, batch_axis):
    tokenizer = make(name, changes)
    asked = {**options, "return_tensors": tensors}
    builder = builder_of_ids(tokenizer)
    assert_same(
        lambda: tokenizer.prepare_for_model(ids, pair_ids, prepend_batch_axis=batch_axis, **asked),
        lambda: builder.plan(CallOptions(**asked)).from_ids(ids, pair_ids, batch_axis),
        questions=False,
    )


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_every_length_and_stride_of_a_pair(make, name):
    tokenizer = make(name)
    builder, encoder = builder_of(tokenizer), LiveEncoder(tokenizer)
    for first, second, truncation, max_length, stride in itertools.product(
        (0, 1, 4), (1, 3), ("longest_first", "only_first", "only_second"), (3, 4, 6, 8), (0, 1, 2)
    ):
        item = " ".join(["the"] * first), " ".join(["ab"] * second)
        asked = {"truncation": truncation, "max_length": max_length, "stride": stride, "padding": "max_length"}
        asked["return_overflowing_tokens"] = truncation != "longest_first" or tokenizer.is_fast
        assert_same(
            lambda item=item, asked=asked: tokenizer.encode_plus(*item, **asked),
            lambda item=item, asked=asked: builder.plan(CallOptions(**asked)).one(encoder, *item),
        )


def test_a_special_token_that_is_not_set(make):
    tokenizer = make("BertTokenizer", [("cls_token", None)])
    plan = builder_of(tokenizer).plan(CallOptions(return_special_tokens_mask=True))
    encoding = plan.one(LiveEncoder(tokenizer), "the")
    assert encoding == tokenizer("the", return_special_tokens_mask=True)
    assert (encoding.input_ids, encoding.token_type_ids, encoding.special_tokens_mask) == (
        [None, 5, 3],
        [0, 0],
        [1, 0, 1],
    )
    with pytest.raises(InputError, match="input_ids holds NoneType None"):
        plan.batch(LiveEncoder(tokenizer), ["the"])
    with pytest.raises(ValueError, match="a special token of the template is not set"):
        encoding.tokens()


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({"truncation": True, "max_length": 4}, [[2, 8, 12, 3], [2, 5, 3]]),
        ({"padding": True}, [[2, 5, 8, 12, 3], [0, 0, 2, 5, 3]]),
        ({"padding": True, "return_tensors": "np"}, [[2, 5, 8, 12, 3], [0, 0, 2, 5, 3]]),
        ({"padding": "max_length", "max_length": 6, "add_special_tokens": False}, [[0, 0, 0, 5, 8, 12], [0] * 5 + [5]]),
    ],
)
@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_on_the_left(make, name, asked, ids):
    tokenizer = make(name, [("padding_side", "left"), ("truncation_side", "left")])
    batch = builder_of(tokenizer).plan(CallOptions(**asked)).batch(LiveEncoder(tokenizer), ["the a !", "the"])
    assert (batch.input_ids if isinstance(batch.input_ids, list) else batch.input_ids.tolist()) == ids


@pytest.mark.parametrize(("name", "ids"), [("BertTokenizer", []), ("BertTokenizerFast", [0, 0, 0])])
def test_a_text_without_ids_is_padded_in_the_rust_profile(make, name, ids):
    tokenizer = make(name)
    asked = CallOptions(add_special_tokens=False, padding="max_length", truncation=True, max_length=3)
    encoding = builder_of(tokenizer).plan(asked).one(LiveEncoder(tokenizer), "")
    assert (encoding.input_ids, encoding.attention_mask) == (ids, ids)


def test_the_overflow_repeats_no_more_than_there_is(make):
    asked = CallOptions(truncation=True, max_length=4, stride=3, return_overflowing_tokens=True)
    encoding = builder_of(make("BertTokenizer")).plan(asked).from_ids([5, 6, 7])
    assert (encoding.overflowing_tokens, encoding.num_truncated_tokens) == ([5, 6, 7], 1)


# ---- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "valid", "error", "message"),
    [
        ({"padding": "long"}, {}, InputError, "'long' is not a valid PaddingStrategy"),
        ({"padding": 1}, {"padding": True}, InputError, "1 is not a valid PaddingStrategy"),
        ({"truncation": 1}, {"truncation": True}, InputError, "1 is not a valid TruncationStrategy"),
        ({"max_length": 8.0}, {"max_length": 8}, InputTypeError, "max_length is 8.0"),
        ({"pad_to_multiple_of": 8.0}, {"pad_to_multiple_of": 8}, InputTypeError, "pad_to_multiple_of is 8.0"),
        ({"max_length": -1}, {}, InputError, "max_length is -1"),
        ({"padding": []}, {}, InputError, r"\[\] is not a valid PaddingStrategy"),
        ({"padding": True, "pad_to_multiple_of": 0}, {}, InputError, "pad_to_multiple_of is 0"),
    ],
)
def test_options_that_no_plan_has(make, asked, valid, error, message):
    builder = builder_of(make("BertTokenizer"))
    builder.plan(CallOptions(**valid))  # some are equal to what is asked
    for _ in range(2):
        with pytest.raises(error, match=message):
            builder.plan(CallOptions(**asked))


def test_padding_without_a_padding_token(make):
    with pytest.raises(SpecialTokenError):
        builder_of(make("BertTokenizer", [("pad_token", None)])).plan(CallOptions(padding=True))


def test_a_side_that_is_none(make):
    asked = CallOptions(padding=True, padding_side="up")
    slow, fast = make("BertTokenizer"), make("BertTokenizerFast")
    encoder = LiveEncoder(slow)
    plan, rust_plan = builder_of(slow).plan(asked), builder_of(fast).plan(asked)
    assert plan.batch(encoder, ["the", "a"]).input_ids == [[2, 5, 3], [2, 8, 3]]  # nothing is padded
    for refusing, batch in ((plan, ["the", "the a"]), (rust_plan, ["the", "a"])):
        with pytest.raises(InputError, match="padding_side is 'left' or 'right', not 'up'"):
            refusing.batch(encoder, batch)


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("item", [5, None, b"a", ["a", 1], [1, "a"], [None], [["a"]]])
def test_what_is_no_text(make, name, words, item):
    tokenizer = make(name)
    plan = builder_of(tokenizer).plan(CallOptions(is_split_into_words=words))
    want = outcome(lambda: tokenizer.encode_plus(item, is_split_into_words=words))
    assert issubclass(want[0], InputError)
    assert outcome(lambda: plan.one(LiveEncoder(tokenizer), item)) == want


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
@pytest.mark.parametrize("items", [[], ["the", 5], [["a"]], [["a", "b", "c"]]])
def test_what_is_no_batch(make, name, items):
    tokenizer = make(name)
    plan = builder_of(tokenizer).plan(CallOptions())
    want = outcome(lambda: tokenizer.batch_encode_plus(items))
    assert issubclass(want[0], InputError)
    assert outcome(lambda: plan.batch(LiveEncoder(tokenizer), items)) == want


# ---- plans ----------------------------------------------------------------------------------------------------------


def test_equal_options_share_a_plan_and_plans_are_bounded(make):
    builder = builder_of(make("BertTokenizer"))
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
def test_a_text_that_is_too_long_is_warned_of_once(make, name, length):
    tokenizer = make(name, [("model_max_length", 6)])
    plan = builder_of(tokenizer).plan(CallOptions(padding=True))
    batch = ["the " * 5, "the " * 6, "the"]
    *_, logged = outcome(lambda: {number: plan.batch(LiveEncoder(tokenizer), batch) for number in range(2)}, False)
    assert [message.split(",")[0] for _, message in logged] == [f"a text has {length} tokens"]


def test_a_pair_that_is_too_long_is_warned_of(make):
    tokenizer = make("BertTokenizer", [("model_max_length", 6)])
    plan = builder_of(tokenizer).plan(CallOptions(padding=True, pad_to_multiple_of=8))
    *_, logged = outcome(lambda: plan.one(LiveEncoder(tokenizer), "the the", "the the"))
    assert [message.split(",")[0] for _, message in logged] == ["a text has 7 tokens"]


def test_details_are_those_of_what_was_encoded(make):
    tokenizer = make("BertTokenizer")
    items = [["the", "ab"], ["!"]]
    plan = builder_of(tokenizer).plan(CallOptions(is_split_into_words=True, padding=True))
    encoding = plan.batch(LiveEncoder(tokenizer), items)
    encoding["input_ids"][0][1] = 4
    items[0][0] = "subject"
    assert encoding.tokens(0) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding.word_ids(1) == [None, 0, None, None, None]


def test_details_of_rows_of_several_lengths_in_arrays(make):
    tokenizer = make("BertTokenizer")
    plan = builder_of(tokenizer).plan(CallOptions(return_tensors="np", return_offsets_mapping=True))
    encoding = plan.batch(LiveEncoder(tokenizer), ["the", "the ab"])
    assert encoding.tokens(1) == ["[CLS]", "the", "a", "##b", "[SEP]"]
    assert encoding["offset_mapping"][0].tolist() == [[0, 0], [0, 3], [0, 0]]


def test_rows_of_bytes(make):
    tokenizer = make("BertTokenizer")
    plan = builder_of(tokenizer).plan(CallOptions(truncation=True, max_length=4, return_special_tokens_mask=True))
    texts = ["the ab !", "", "the"]
    own = [numpy.array(tokenizer.encode(each, add_special_tokens=False), "int32").tobytes() for each in texts]
    rows = plan.rows_of_bytes(own)
    want = tokenizer(texts, truncation=True, max_length=4, return_special_tokens_mask=True)
    assert rows.lengths == list(map(len, want.input_ids))
    assert numpy.frombuffer(rows.ids, "int32").tolist() == list(itertools.chain(*want.input_ids))
    for name, column in rows.columns.items():
        assert list(column) == list(itertools.chain(*want[name]))


# ---- classes with methods of their own, and padding -----------------------------------------------------------------


class Framed(trietok.BertTokenizer):
    """Two [CLS] before a text, and a type id and a mask of its own; it is cut from the left."""

    def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
        return [2, 2, *token_ids_0, 3] + ([] if token_ids_1 is None else [*token_ids_1, 4])

    def create_token_type_ids_from_sequences(self, token_ids_0, token_ids_1=None):
        return [7] * (len(token_ids_0) + 3) + ([] if token_ids_1 is None else [8] * (len(token_ids_1) + 1))

    def get_special_tokens_mask(self, token_ids_0, token_ids_1=None, already_has_special_tokens=False):
        return [5] * len(self.build_inputs_with_special_tokens(token_ids_0, token_ids_1))

    def truncate_sequences(self, ids, pair_ids=None, num_tokens_to_remove=0, *args, **kwargs):
        return ids[num_tokens_to_remove:], pair_ids, ids[:num_tokens_to_remove]

    def pad(self, encoded_inputs, **options):
        padded = super().pad(encoded_inputs, **options)
        padded["mine"] = 1
        return padded


@settings(max_examples=100, deadline=None)
@given(items=st.lists(st.tuples(text, text) | text, min_size=1, max_size=3), options=options, own_methods=st.booleans())
def test_methods_of_ones_own(make, items, options, own_methods):
    def made():
        return make(Framed if own_methods else "BertTokenizer")

    def plan(**asked):
        return MethodInputs(made()).plan(CallOptions(**asked))

    encoder = LiveEncoder(made())
    asked = {**options, "return_offsets_mapping": not options.get("return_length")}
    item = items[0] if isinstance(items[0], tuple) else (items[0],)
    assert_same(lambda: made().batch_encode_plus(items, **asked), lambda: plan(**asked).batch(encoder, items))
    assert_same(lambda: made().encode_plus(*item, **asked), lambda: plan(**asked).one(encoder, *item))
    assert_same(
        lambda: made().prepare_for_model([5, 6, 7], [8], **options),
        lambda: plan(**options).from_ids([5, 6, 7], [8]),
        questions=False,
    )


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("asked", [{}, {"padding": "max_length", "max_length": 6}, {"pad_to_multiple_of": 4}])
def test_pad(make, side, asked):
    tokenizer = make("BertTokenizer", [("padding_side", side)])
    rows = [{"input_ids": [2, 7, 3], "special_tokens_mask": [1, 0, 1], "label": 1}, {"input_ids": [2, 3], "label": 0}]
    rows[1]["special_tokens_mask"] = [1, 1]
    for form in (rows, rows[0], {"input_ids": [[2, 3], [2]]}, [{"input_ids": numpy.array([2, 3])}]):
        assert_same(
            lambda form=form: tokenizer.pad(form, **asked),
            lambda form=form: pad(tokenizer, form, **asked),
            questions=False,
        )
