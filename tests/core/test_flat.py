"""The ids of many texts in one array: those of a call without padding, with and without the
kernel.
"""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest

from tests.conftest import needs
from trietok import InputError, InputTypeError, OptionError

TEXTS = ["The people of New York", "", "unaffordable", "a"]


def rows(flat):
    ends = flat.offsets.tolist()
    return [flat.ids[start:end].tolist() for start, end in pairwise(ends)]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_special_tokens": False},
        {"truncation": True, "max_length": 4},
        {"truncation": True, "max_length": 2},
        {"split_special_tokens": True},
    ],
)
def test_the_rows_are_those_of_a_call(tokenizer, options):
    flat = tokenizer.encode_flat(TEXTS, **options)
    assert rows(flat) == tokenizer(TEXTS, **options).input_ids
    assert flat.ids.dtype == flat.offsets.dtype == np.int32
    assert flat.cu_seqlens is flat.offsets
    assert flat.max_seqlen == max(map(len, rows(flat)))
    assert flat.position_ids.tolist() == [place for row in rows(flat) for place in range(len(row))]
    assert flat.position_ids.dtype == np.int32
    assert flat.token_type_ids is None
    flat.ids[:1] = 7  # it may be written to


def test_pairs_and_type_ids(tokenizer):
    flat = tokenizer.encode_flat(TEXTS, TEXTS[::-1], return_token_type_ids=True)
    batch = tokenizer(TEXTS, TEXTS[::-1])
    assert rows(flat) == batch.input_ids
    assert flat.token_type_ids.tolist() == [*chain(*batch.token_type_ids)]
    assert flat.token_type_ids.dtype == np.int32
    assert (
        tokenizer.encode_flat(TEXTS, return_token_type_ids=True).token_type_ids.any() == np.False_
    )
    assert rows(tokenizer.encode_flat(np.array(TEXTS, dtype=object))) == tokenizer(TEXTS).input_ids


def test_texts_without_ids(tokenizer):
    flat = tokenizer.encode_flat(["", ""], add_special_tokens=False)
    assert (flat.ids.tolist(), flat.offsets.tolist(), flat.max_seqlen) == ([], [0, 0, 0], 0)


def test_torch_takes_it(tokenizer):
    torch = needs("torch")
    flat = tokenizer.encode_flat(TEXTS, return_tensors="pt")
    assert rows(flat) == tokenizer(TEXTS).input_ids
    assert flat.ids.dtype == flat.cu_seqlens.dtype == flat.position_ids.dtype == torch.int32
    weights = torch.randint(-100, 100, (len(tokenizer), 3)).float()  # whose sums are exact
    bag = torch.nn.EmbeddingBag.from_pretrained(weights, mode="sum", include_last_offset=True)
    want = [bag.weight[row].sum(0) for row in tokenizer(TEXTS).input_ids]
    assert torch.equal(bag(flat.ids, flat.offsets), torch.stack(want))


def test_calls_that_cannot_be(tokenizer):
    with pytest.raises(InputTypeError):
        tokenizer.encode_flat("a text")
    with pytest.raises(InputError):
        tokenizer.encode_flat([])
    with pytest.raises(OptionError):
        tokenizer.encode_flat(["a"], padding=True)
