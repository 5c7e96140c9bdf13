"""Calls by worked examples, with the slow and the fast class, the kernel and plain Python; what they
return as lists, arrays and tensors; and calls through methods that a user overrides.
"""

from __future__ import annotations

import collections
import copy
import itertools
import logging
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import assert_share, examples, needs
from tests.strategies import MISTAKEN_OPTIONS, UNCASED, call_options, short_texts, some_of
from trietok import (
    AddedToken,
    BatchEncoding,
    BertTokenizer,
    BertTokenizerFast,
    FunnelTokenizer,
    MPNetTokenizer,
    SplinterTokenizer,
    TrietokError,
)

PAD, UNK, CLS, SEP, MASK, A, B, C = range(8)


@pytest.fixture
def slow(kernel, vocab_file):
    return BertTokenizer(vocab_file("a", "b", "c"))


@pytest.fixture
def fast(kernel, vocab_file):
    return BertTokenizerFast(vocab_file("a", "b", "c"))


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def abc(request, kernel, vocab_file):
    return request.param(vocab_file("a", "b", "c"))


def rows(tokenizer, ids):
    """The tokens of one sequence of ids, or of several."""
    if len(ids) and not isinstance(ids[0], int):
        return [rows(tokenizer, row) for row in ids]
    return " ".join(tokenizer.convert_ids_to_tokens(list(ids)))


LEFT = {"padding_side": "left"}


@pytest.mark.parametrize(
    ("arguments", "options", "want"),
    [
        # One text, a pair, a batch, words.
        (["A b?"], {}, "[CLS] a b [UNK] [SEP]"),
        (["a b", "c"], {}, "[CLS] a b [SEP] c [SEP]"),
        ([""], {}, "[CLS] [SEP]"),
        (["a b"], {"add_special_tokens": False}, "a b"),
        ([["a", "b c"]], {}, ["[CLS] a [SEP]", "[CLS] b c [SEP]"]),
        ([["a", "b"], ["c", ""]], {}, ["[CLS] a [SEP] c [SEP]", "[CLS] b [SEP] [SEP]"]),
        ([[("a", "b"), ("c", "a")]], {}, ["[CLS] a [SEP] b [SEP]", "[CLS] c [SEP] a [SEP]"]),
        ([["a", "b c"]], {"is_split_into_words": True}, "[CLS] a b c [SEP]"),
        ([[["a"], ["b", "c"]]], {"is_split_into_words": 1}, ["[CLS] a [SEP]", "[CLS] b c [SEP]"]),
        ([], {"text_target": "b"}, "[CLS] b [SEP]"),
        ([np.str_("a b")], {}, "[CLS] a b [SEP]"),
        ([np.array("a b")], {}, "[CLS] a b [SEP]"),
        # Padding: to the longest, to a length, on the left, to a multiple.
        ([["a", "a b"]], {"padding": True}, ["[CLS] a [SEP] [PAD]", "[CLS] a b [SEP]"]),
        ([["a", "b c"]], {"padding": True, **LEFT}, ["[PAD] [CLS] a [SEP]", "[CLS] b c [SEP]"]),
        (["a b"], {"padding": "max_length", "max_length": 5}, "[CLS] a b [SEP] [PAD]"),
        (["a b"], {"padding": "max_length", "max_length": 5, **LEFT}, "[PAD] [CLS] a b [SEP]"),
        (["a b"], {"padding": "max_length", "max_length": 2}, "[CLS] a b [SEP]"),
        (["a"], {"padding": True, "pad_to_multiple_of": 8}, "[CLS] a [SEP]" + " [PAD]" * 5),
        (
            [["a", ""]],
            {"padding": "max_length", "max_length": 2, "add_special_tokens": False},
            ["a [PAD]", "[PAD] [PAD]"],
        ),
        # Truncation: the longer one of a pair first, or one of the two.
        (["a b"], {"truncation": True, "max_length": 3}, "[CLS] a [SEP]"),
        (["a b"], {"max_length": 3}, "[CLS] a [SEP]"),
        (["a b"], {"truncation": "only_first", "max_length": 3}, "[CLS] a [SEP]"),
        (["a a a a", "b b"], {"truncation": True, "max_length": 7}, "[CLS] a a [SEP] b b [SEP]"),
        (["a a a a", "b b"], {"truncation": True, "max_length": 6}, "[CLS] a a [SEP] b [SEP]"),
        (
            ["a a a a", "b b"],
            {"truncation": "only_second", "max_length": 8},
            "[CLS] a a a a [SEP] b [SEP]",
        ),
        # numpy's whole numbers are lengths.
        (
            ["a b c"],
            {"truncation": True, "max_length": np.int64(4), "stride": np.int32(1)},
            "[CLS] a b [SEP]",
        ),
    ],
)
def test_calls_return_the_tokens_of_the_example(abc, arguments, options, want):
    encoding = abc(*arguments, **options)
    assert rows(abc, encoding.input_ids) == want
    if isinstance(want, str) and arguments:
        assert abc.encode(*arguments, **options) == encoding.input_ids
        assert abc.encode_plus(*arguments, **options).data == encoding.data


def test_a_call_returns_type_ids_and_masks(abc):
    asked = {"return_special_tokens_mask": True, "return_length": True}
    assert abc("a b", "c", padding="max_length", max_length=7, **asked).data == {
        "input_ids": [CLS, A, B, SEP, C, SEP, PAD],
        "token_type_ids": [0, 0, 0, 0, 1, 1, 0],
        "attention_mask": [1, 1, 1, 1, 1, 1, 0],
        "special_tokens_mask": [1, 0, 0, 1, 0, 1, 1],
        "length": 7 if not abc.is_fast else [7],
    }
    assert list(abc("a", return_token_type_ids=False, return_attention_mask=False)) == ["input_ids"]
    abc.model_input_names = ["input_ids"]
    assert list(abc("a")) == ["input_ids"]
    assert abc("a", text_target="b")["labels"] == [CLS, B, SEP]


def test_the_side_of_truncation_and_padding_follows_the_tokenizer(abc):
    abc.truncation_side = abc.padding_side = "left"
    short = abc(["a b c", "a"], truncation=True, max_length=4, padding=True, return_tensors="np")
    assert rows(abc, short.input_ids.tolist()) == ["[CLS] b c [SEP]", "[PAD] [CLS] a [SEP]"]


def test_the_length_of_the_model_truncates_and_pads(abc):
    abc.model_max_length = 4
    assert rows(abc, abc.encode("a a a a a", truncation=True)) == "[CLS] a a [SEP]"
    assert rows(abc, abc.encode("a", padding="max_length")) == "[CLS] a [SEP] [PAD]"
    assert (abc.max_len_single_sentence, abc.max_len_sentences_pair) == (2, 1)


def test_a_text_that_is_too_long_is_warned_of_once(abc, caplog):
    abc.model_max_length = 4
    for _ in range(2):
        abc(["a a a", "a", "a a a a"], padding=True, return_tensors="np")
        abc("a a a")
    length = 6 if abc.is_fast else 5  # in the fast class, padding counts
    assert caplog.messages == [
        f"a text has {length} tokens, more than the 4 the model takes; pass truncation=True"
    ]


def test_overflowing_tokens_follow_the_slow_class_or_become_rows_of_the_fast_one(slow, fast):
    options = {"truncation": True, "max_length": 5, "return_overflowing_tokens": True}
    one = slow("a b c a b", stride=1, **options)
    assert one.input_ids == [CLS, A, B, C, SEP]
    assert (one.overflowing_tokens, one.num_truncated_tokens) == ([C, A, B], 2)
    all_of_it = slow.prepare_for_model([A, B, C, A], stride=9, **options)
    assert (all_of_it.overflowing_tokens, all_of_it.num_truncated_tokens) == ([A, B, C, A], 1)
    batch = fast(["a b c a b", "a"], stride=1, **options)
    assert batch.input_ids == [[CLS, A, B, C, SEP], [CLS, C, A, B, SEP], [CLS, A, SEP]]
    assert batch.overflow_to_sample_mapping == [0, 0, 1]
    assert batch[0].overflowing == [batch[1]]
    assert fast("a b c a", **options).input_ids == [[CLS, A, B, C, SEP], [CLS, A, SEP]]


def test_a_single_text_without_ids_is_padded_only_in_the_fast_class(slow, fast):
    options = {"add_special_tokens": False, "padding": "max_length", "max_length": 3}
    assert slow("", **options).input_ids == []
    assert fast("", **options).input_ids == [PAD] * 3
    assert slow([""], **options).input_ids == fast([""], **options).input_ids == [[PAD] * 3]


# ---- inputs --------------------------------------------------------------------------------------


def test_tokens_and_ids_are_inputs_of_the_slow_class(slow):
    assert slow.encode(["a", "nothing"]) == [CLS, A, UNK, SEP]
    assert slow.encode(("a", "b")) == [CLS, A, B, SEP]
    assert slow.encode([A, 99], add_special_tokens=False) == [A, 99]


@pytest.mark.parametrize("two", [("a c", "b"), ["a c", "b"]])
def test_two_texts_are_a_pair_in_the_fast_class(fast, two):
    encoding = fast.encode_plus(two, return_offsets_mapping=True)
    assert fast.encode(two) == encoding.input_ids == [CLS, A, C, SEP, B, SEP]
    assert encoding.offset_mapping == [(0, 0), (0, 1), (2, 3), (0, 0), (0, 1), (0, 0)]
    assert encoding.sequence_ids() == [None, 0, 0, None, 1, None]
    assert fast.tokenize(two) == ["a", "c", "b"]
    assert fast.tokenize(two, add_special_tokens=True) == "[CLS] a c [SEP] b [SEP]".split()
    words = [["a", "b"], ["c"]]
    assert fast.encode(words, is_split_into_words=True) == [CLS, A, B, SEP, C, SEP]
    assert fast.tokenize(["a", "b c"], is_split_into_words=True) == ["a", "b", "c"]


def test_tokenize_takes_the_options_of_a_call_in_the_fast_class(fast):
    options = {"return_overflowing_tokens": True, "return_tensors": "np"}
    assert fast.tokenize("a b c", truncation=True, max_length=2, **options) == ["a", "b"]
    padded = fast.tokenize("a b", padding="max_length", max_length=4)
    assert padded == ["a", "b", "[PAD]", "[PAD]"]
    fast.add_tokens([AddedToken("<e>", lstrip=True, rstrip=True)])
    assert fast.tokenize("a  <e> b", pair="c <e>") == ["a", "  <e> ", "b", "c", " <e>"]


def test_half_of_a_surrogate_pair_is_deleted_by_the_slow_class_and_unknown_to_the_fast(slow, fast):
    assert slow.encode("\ud800a\udfff") == [CLS, A, SEP]
    assert fast.encode("a \ud800 b") == [CLS, A, UNK, B, SEP]


class Column(Sequence):
    """As `datasets` gives a column: a sequence that is neither a list nor a tuple."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, index):
        return self.values[index]

    def __len__(self):
        return len(self.values)


COLUMNS = [np.array, lambda t: np.array(t, object), Column, collections.deque, pyarrow.array]


@pytest.mark.parametrize("column", COLUMNS)
def test_arrays_and_columns_are_lists_of_texts(abc, column):
    texts, pairs = ["a b", "c"], ["c", "a b c"]
    options = {"padding": True, "truncation": True, "max_length": 6}
    assert abc(column(texts), **options).data == abc(texts, **options).data
    assert abc(column(texts), column(pairs), **options).data == abc(texts, pairs, **options).data
    assert abc(column(texts), column(pairs)).tokens(1) == abc(texts, pairs).tokens(1)
    assert abc.batch_encode_plus(column(texts)).data == abc(texts).data
    assert abc(["a"], text_target=column(["b"])).labels == [[CLS, B, SEP]]
    words = {"is_split_into_words": True}
    assert abc(column(texts), **words).data == abc(texts, **words).data
    assert abc([column(texts), column(pairs)], **words).data == abc([texts, pairs], **words).data


def test_some_calls_work_that_transformers_refuses(abc):
    padded = abc.pad({"input_ids": np.array([CLS, SEP])}, padding="max_length", max_length=3)
    assert padded.input_ids.tolist() == [CLS, SEP, PAD]
    options = {"return_tensors": "np", "return_length": True, "return_special_tokens_mask": True}
    encoding = abc.prepare_for_model([A], **options)
    assert (encoding["length"].tolist(), encoding["special_tokens_mask"].tolist()) == (3, [1, 0, 1])
    assert abc("a", add_special_tokens=0, split_special_tokens=None).input_ids == [A]
    assert abc.convert_tokens_to_ids(None) is None


def test_an_added_token_is_the_unknown_token_where_special_tokens_are_text(slow):
    slow.add_tokens("<u>")
    slow.unk_token = slow.wordpiece_tokenizer.unk_token = "<u>"
    unknown = slow.convert_tokens_to_ids("<u>")
    assert slow("zz", split_special_tokens=True).input_ids == [CLS, unknown, SEP]


def test_an_unknown_token_that_is_added_later_has_its_id_from_then_on(slow):
    slow.wordpiece_tokenizer.unk_token = "<u>"
    assert slow.encode("zz") == [CLS, UNK, SEP]
    slow.add_tokens("<u>")
    assert slow.encode("zz") == [CLS, slow.convert_tokens_to_ids("<u>"), SEP]


def test_words_are_kept_whole_while_never_split_has_them(slow):
    before = slow.encode("a,b")
    slow.basic_tokenizer.never_split.add("a,b")
    assert slow.encode("a,b") == [CLS, UNK, SEP]
    slow.basic_tokenizer.never_split.discard("a,b")
    assert slow.encode("a,b") == before


# ---- the parts of a call -------------------------------------------------------------------------


def test_pad_leaves_the_callers_rows_as_they_are(abc):
    encodings = [{"input_ids": [CLS, A, SEP], "labels": 1}, {"input_ids": [CLS, SEP], "labels": 0}]
    before = copy.deepcopy(encodings)
    assert abc.pad(encodings, padding="max_length", max_length=4) == {
        "input_ids": [[CLS, A, SEP, PAD], [CLS, SEP, PAD, PAD]],
        "labels": [1, 0],
        "attention_mask": [[1, 1, 1, 0], [1, 1, 0, 0]],
    }
    assert encodings == before
    empty = {"input_ids": [], "attention_mask": []}
    assert abc.pad({"input_ids": []}, return_attention_mask=True) == empty
    assert isinstance(abc.pad(abc("a", return_tensors="np")).input_ids, np.ndarray)


def test_templates_and_masks_of_ids(abc):
    assert abc.get_special_tokens_mask([CLS, A, SEP], already_has_special_tokens=True) == [1, 0, 1]
    assert abc.num_special_tokens_to_add() == 2
    assert abc.num_special_tokens_to_add(pair=True) == 3
    assert abc.create_token_type_ids_from_sequences([A], [B, C]) == [0, 0, 0, 1, 1, 1]
    assert abc.build_inputs_with_special_tokens((A,), [B]) == [CLS, A, SEP, B, SEP]
    assert abc.truncate_sequences([A, B, C], num_tokens_to_remove=2) == ([A], None, [B, C])
    assert abc.truncate_sequences((A, B), [C], 1) == ((A,), [C], [])
    assert abc.prepare_for_model([A], [B]).input_ids == [CLS, A, SEP, B, SEP]
    if not abc.is_fast:
        assert abc.get_special_tokens_mask([A], [B]) == [1, 0, 1, 0, 1]


# ---- arrays, tensors, flat ids -------------------------------------------------------------------

TEXTS = ["a b c", "", "c b", "b"]
PAIRS = [("a b", "b c"), ("", "c"), ("abc", "")]
OPTIONS = [
    {"padding": True},
    {
        "padding": True,
        "padding_side": "left",
        "pad_to_multiple_of": 8,
        "return_special_tokens_mask": True,
    },
    {"padding": "max_length", "truncation": True, "max_length": 12},
    {"padding": "max_length", "truncation": "only_first", "max_length": 6},
    {"padding": True, "add_special_tokens": False},
    {"padding": True, "return_offsets_mapping": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[0], "", PAIRS, PAIRS[:1]])
def test_arrays_hold_what_lists_hold_and_own_their_memory(abc, texts, options):
    lists, arrays = abc(texts, **options), abc(texts, return_tensors="np", **options)
    assert list(lists) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(array, [lists[name]] if isinstance(texts, str) else lists[name])
        assert array.dtype == np.int64
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.aligned
        assert array.flags.owndata or options.get("return_offsets_mapping")
    for first, second in itertools.combinations(arrays.values(), 2):
        assert not np.shares_memory(first, second)
    assert abc.batch_decode(arrays.input_ids) == abc.batch_decode(arrays.input_ids.tolist())


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[0], PAIRS])
def test_tensors_of_torch_hold_what_arrays_hold(abc, texts, options):
    torch = needs("torch")
    arrays, tensors = (abc(texts, return_tensors=kind, **options) for kind in ("np", "pt"))
    assert list(arrays) == list(tensors)
    for name, tensor in tensors.items():
        assert tensor.dtype == torch.int64
        assert tensor.is_contiguous()
        assert tensor.numpy().tolist() == arrays[name].tolist()
        tensor += 1  # it may be written to
    ids = [{"input_ids": row} for row in tensors.input_ids]
    assert isinstance(abc.pad(ids).attention_mask, torch.Tensor)


def test_an_encoding_moves_to_a_device_and_is_not_cast(abc, caplog):
    torch = needs("torch")
    batch = abc("a", return_tensors="pt")
    for other in (torch.float16, torch.tensor([1.0]), None):
        assert batch.to(other) is batch
        assert batch.input_ids.dtype == torch.int64
        assert f"to({other}) was ignored" in caplog.text
    caplog.clear()
    assert batch.to(torch.device("cpu"), non_blocking=True) is batch.to("cpu") is batch
    assert not caplog.text


@pytest.mark.parametrize("options", [{}, {"return_offsets_mapping": True}, {"return_length": True}])
def test_rows_of_several_lengths_are_arrays_in_an_array(abc, options):
    batch, options = ["a b c a b", "a"], {"padding": "max_length", "max_length": 4, **options}
    ragged = abc(batch, return_tensors="np", **options)
    assert ragged.input_ids.dtype == object
    assert [row.tolist() for row in ragged.input_ids] == abc(batch, **options).input_ids
    assert list(map(len, ragged.attention_mask)) == [7, 4]
    empty = abc(["", ""], add_special_tokens=False, return_tensors="np").input_ids
    assert (empty.shape, empty.dtype) == ((2, 0), np.int64)


@pytest.mark.parametrize(
    "value", [[[1, 2], [3, 4]], [[1], [2.5]], [[True], [False]], [1, 2], [[[1, 2]]], [[2**63 - 1]]]
)
def test_lists_become_the_tensors_that_torch_makes_of_them(value):
    torch = needs("torch")
    tensor = BatchEncoding({"a": value}, tensor_type="pt")["a"]
    assert torch.equal(tensor, torch.tensor(value))
    for wrong in ([[1], [2, 3]], [[2**70]], [[1], None]):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            BatchEncoding({"a": wrong}, tensor_type="pt")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_special_tokens": False},
        {"truncation": True, "max_length": 4},
        {"split_special_tokens": True},
    ],
)
def test_flat_ids_are_those_of_a_call(abc, options):
    texts = [*TEXTS, "[SEP] a"]
    flat, batch = abc.encode_flat(texts, **options), abc(texts, **options)
    sequences = [flat.ids[start:end].tolist() for start, end in pairwise(flat.offsets.tolist())]
    assert sequences == batch.input_ids
    assert flat.ids.dtype == flat.offsets.dtype == flat.position_ids.dtype == np.int32
    assert flat.cu_seqlens is flat.offsets
    assert flat.max_seqlen == max(map(len, sequences))
    assert flat.position_ids.tolist() == [i for row in sequences for i in range(len(row))]
    assert flat.token_type_ids is None
    flat.ids[:1] = 7  # it may be written to


def test_flat_ids_of_pairs_have_type_ids(abc):
    pairs = abc.encode_flat(TEXTS, TEXTS[::-1], return_token_type_ids=True)
    batch = abc(TEXTS, TEXTS[::-1])
    assert pairs.ids.tolist() == [*itertools.chain(*batch.input_ids)]
    assert pairs.token_type_ids.tolist() == [*itertools.chain(*batch.token_type_ids)]


def test_flat_ids_are_input_of_an_embedding_bag(abc):
    torch = needs("torch")
    flat = abc.encode_flat(TEXTS, return_tensors="pt")
    assert flat.ids.dtype == flat.cu_seqlens.dtype == flat.position_ids.dtype == torch.int32
    weights = torch.randint(-100, 100, (len(abc), 3)).float()  # whose sums are exact
    bag = torch.nn.EmbeddingBag.from_pretrained(weights, mode="sum", include_last_offset=True)
    want = [bag.weight[row].sum(0) for row in abc(TEXTS).input_ids]
    assert torch.equal(bag(flat.ids, flat.offsets), torch.stack(want))


# ---- methods of a user's own ---------------------------------------------------------------------


def test_calls_go_through_the_methods_that_a_user_replaces(slow, vocab_file):
    class Mine(BertTokenizer):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return [*token_ids_0, SEP]

    mine = Mine(vocab_file("a", "b", "c"))
    options = {"truncation": True, "padding": "max_length", "max_length": np.int64(3)}
    assert mine("a").input_ids == mine.encode("a") == [A, SEP]
    assert mine.count(["a", "a b"]) == [2, 3]
    assert mine(["a b c", "c"], **options).input_ids == [[A, B, SEP], [C, SEP, PAD]]
    slow.prepare_for_model = lambda ids, *args, **kwargs: {"input_ids": [9]}
    assert slow("a") == {"input_ids": [9]}


def outcome(tokenizer, call):
    """What a call returns, the types of its values, and what it logs; or the error."""
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append((record.levelname, record.getMessage()))
    logging.getLogger("trietok").addHandler(handler)
    try:
        encoding = call(tokenizer)
    except TrietokError as error:
        return None, (type(error), str(error), records)
    finally:
        logging.getLogger("trietok").removeHandler(handler)
    values = [(name, type(value), repr(value)) for name, value in encoding.items()]
    return values, records


OF_TEXTS = {"is_split_into_words", "split_special_tokens", "return_offsets_mapping"}
KINDS = {
    BertTokenizer: ("[PAD]", "[PAD]", "[PAD]", None),
    FunnelTokenizer: ("<pad>", "<pad>", "<pad>", None),
    MPNetTokenizer: ("<pad>", "<pad>", "<pad>", None),
    SplinterTokenizer: ("[PAD]", "[PAD]", "[PAD]", None),
}


@pytest.mark.parametrize("kind", KINDS)
def test_calls_through_an_overridden_hook_equal_those_of_the_plain_class(kernel, kind, vocab_file):
    class Overridden(kind):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return super().build_inputs_with_special_tokens(token_ids_0, token_ids_1)

    roles = "<s> </s> <pad> <mask> <cls> <sep> <unk> [QUESTION]".split()
    file = vocab_file(*roles, *UNCASED[5:])
    plain, overridden = kind(file), Overridden(file)
    returned = collections.Counter()
    text = short_texts()

    @examples(100)
    @given(st.data())
    def compare(data):
        options = data.draw(call_options())
        if not data.draw(st.integers(0, 5)):
            options |= data.draw(some_of(**MISTAKEN_OPTIONS))
        changes = {
            "padding_side": data.draw(st.sampled_from(["right", "left"])),
            "truncation_side": data.draw(st.sampled_from(["right", "left"])),
            "model_max_length": data.draw(st.sampled_from([512, 4])),
            "model_input_names": data.draw(
                st.sampled_from([kind.model_input_names, ["input_ids", "attention_mask"]])
            ),
            "pad_token": data.draw(st.sampled_from(KINDS[kind])),
        }
        batch = data.draw(
            st.one_of(text, st.lists(text, max_size=4), st.lists(st.tuples(text, text)))
        )
        ids = data.draw(st.lists(st.lists(st.integers(0, 12), max_size=8), min_size=1, max_size=2))
        one = batch if isinstance(batch, str) else data.draw(text)
        of_ids = {name: options[name] for name in options if name not in OF_TEXTS}
        for call in (
            lambda tokenizer: tokenizer(batch, **options),
            lambda tokenizer: tokenizer(batch, **options),  # the second one finds caches
            lambda tokenizer: {"input_ids": tokenizer.encode(one, **options)},
            lambda tokenizer: tokenizer.prepare_for_model(*ids, **of_ids),
        ):
            found = []
            for tokenizer in (plain, overridden):
                for name, value in changes.items():
                    setattr(tokenizer, name, value)
                found.append(outcome(tokenizer, call))
            assert found[0] == found[1]
            returned[found[0][0] is not None] += 1

    compare()
    assert_share(returned[True], returned.total(), 0.1)
