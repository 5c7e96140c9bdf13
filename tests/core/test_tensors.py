"""The arrays and tensors that calls return, with the kernel and without: their kind, memory and
values.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.conftest import needs
from trietok import BatchEncoding, BertTokenizerFast, InputError
from trietok.text.kernel.choosing import using_kernel

TEXTS = ["The people of New York", "", "unaffordable", "a"]
PAIRS = [("The people", "of New York"), ("", "a"), ("unaffordable", "")]
OPTIONS = [
    {"padding": True},
    {
        "padding": True,
        "padding_side": "left",
        "pad_to_multiple_of": 8,
        "return_special_tokens_mask": True,
    },
    {"padding": "max_length", "truncation": True, "max_length": 12},
    {
        "padding": "max_length",
        "truncation": "only_first",
        "max_length": 7,
        "return_token_type_ids": False,
    },
    {"padding": True, "add_special_tokens": False},
    {"padding": True, "return_offsets_mapping": True},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[0], "", PAIRS, PAIRS[:1]])
def test_arrays_hold_what_lists_hold_and_own_it(tokenizer, texts, options):
    lists, arrays = tokenizer(texts, **options), tokenizer(texts, return_tensors="np", **options)
    assert list(lists) == list(arrays)
    for name, array in arrays.items():
        assert np.array_equal(array, [lists[name]] if isinstance(texts, str) else lists[name])
        assert array.dtype == np.int64
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert array.flags.aligned
        if not options.get("return_offsets_mapping"):
            assert array.flags.owndata
    for first, second in itertools.combinations(arrays.values(), 2):
        assert not np.shares_memory(first, second)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[0], PAIRS])
def test_tensors_of_torch_are_the_same(tokenizer, texts, options):
    torch = needs("torch")
    arrays, tensors = (tokenizer(texts, return_tensors=kind, **options) for kind in ("np", "pt"))
    assert list(arrays) == list(tensors)
    for name, tensor in tensors.items():
        assert tensor.dtype == torch.int64
        assert tensor.is_contiguous()
        assert tensor.numpy().tolist() == arrays[name].tolist()
        tensor += 1  # it may be written to


@pytest.mark.kernel
@pytest.mark.parametrize("wrong", [None, 7, b"a", float("nan"), ["a", "b", "c"]])
@pytest.mark.parametrize("before", [["a"], [("a", "b")], []])
def test_what_is_no_text_is_refused_with_a_kernel_as_without(wrong, before):
    told = []
    for name in ("compiled", "plain"):
        with using_kernel(name, text_before_kernel=0):
            tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
            with pytest.raises((ValueError, TypeError)) as caught:
                tokenizer([*before, wrong], padding=True, return_tensors="np")
            told.append((caught.type, str(caught.value)))
    assert told[0] == told[1]


def test_a_batch_without_texts_and_rows_of_several_lengths(tokenizer):
    with pytest.raises(InputError):
        tokenizer([], return_tensors="np")
    ragged = tokenizer(TEXTS, return_tensors="np").input_ids
    assert ragged.dtype == object
    assert [row.tolist() for row in ragged] == tokenizer(TEXTS).input_ids
    empty = tokenizer(["", ""], add_special_tokens=False, return_tensors="np").input_ids
    assert (empty.shape, empty.dtype) == ((2, 0), np.int64)


def test_a_text_that_is_longer_than_the_model_takes_is_told_once(tokenizer, caplog):
    tokenizer.model_max_length = 4
    for _ in range(2):
        assert tokenizer(TEXTS, padding=True, return_tensors="np").input_ids.shape == (4, 7)
        assert len(tokenizer(TEXTS[0]).input_ids) == 7
    assert caplog.text.count("more than the 4 the model takes") == 1


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        [[1], [2.5]],
        [[True], [False]],
        [[1], [True]],
        [1, 2],
        [[[1, 2]]],
        [[]],
        [[2**63 - 1]],
    ],
)
def test_lists_become_the_tensors_that_torch_makes_of_them(value):
    torch = needs("torch")
    made, wanted = BatchEncoding({"a": value}, tensor_type="pt")["a"], torch.tensor(value)
    assert made.tolist() == wanted.tolist()
    assert made.dtype == (wanted.dtype if wanted.numel() else torch.int64)
    for wrong in ([[1], [2, 3]], [[2**70]], [[1], None]):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            BatchEncoding({"a": wrong}, tensor_type="pt")
