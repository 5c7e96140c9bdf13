"""Compare the collators with those of transformers.

The random numbers differ. With shares of 0 and 1 the batches are equal; with others the tests
compare the rates.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from inspect import signature
from typing import Any

import numpy
import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import assert_share, examples
from tests.parity.comparing import TENSORS, assert_same, torch
from tests.parity.programs import tokenizers
from tests.strategies import short_texts

BATCHES = st.lists(short_texts(), min_size=1, max_size=4)
ALL_MASKED = {"mlm_probability": 1, "mask_replace_prob": 1, "random_replace_prob": 0}
# Classes, and options that leave nothing to chance.
COLLATORS: list[tuple[str, dict[str, Any]]] = [
    ("DataCollatorForLanguageModeling", {"mlm": False}),
    ("DataCollatorForLanguageModeling", {"mlm_probability": 0}),
    ("DataCollatorForLanguageModeling", ALL_MASKED),
    ("DataCollatorForLanguageModeling", {**ALL_MASKED, "mask_replace_prob": 0}),
    ("DataCollatorForWholeWordMask", ALL_MASKED),
    ("DataCollatorWithPadding", {}),
    ("DataCollatorWithPadding", {"padding": "max_length", "max_length": 24}),
]
FORMS = ["encodings", "with a special_tokens_mask", "lists", "arrays", "tensors", "dicts of arrays"]
LABELS = ["label", "label_ids", "labels", "weight"]


def encoded(tokenizer: Any, texts: list[str], form: str) -> list[Any]:
    """Return the texts as examples of a data set, in one of the forms that data sets have."""
    match form:
        case "encodings":
            return [tokenizer(text) for text in texts]
        case "with a special_tokens_mask":
            return [dict(tokenizer(text, return_special_tokens_mask=True)) for text in texts]
        case _ if form in LABELS:
            return [{**tokenizer(text), form: len(text) / 2} for text in texts]
    rows = [tokenizer(text).input_ids for text in texts]
    if form == "lists":
        return rows
    if form == "tensors":
        return [torch.tensor(row) for row in rows]
    arrays = [numpy.array(row, dtype=numpy.int64) for row in rows]
    return [{"input_ids": array} for array in arrays] if form == "dicts of arrays" else arrays


@pytest.mark.parametrize(("name", "certain"), COLLATORS)
@pytest.mark.parametrize("tensors", TENSORS)
def test_batches_without_chance_are_equal(name: str, certain: dict[str, Any], tensors: str) -> None:
    counts: Counter[bool] = Counter()
    if name == "DataCollatorWithPadding":
        forms = LABELS
    elif name == "DataCollatorForWholeWordMask":
        forms = ["encodings"]
    else:  # transformers makes no arrays of tensors
        forms = [form for form in FORMS if form != "tensors" or tensors == "pt"]

    @examples(30)
    @given(
        BATCHES,
        st.sampled_from([None, None, 1, 4, 8]),
        st.sampled_from(forms),
        st.sampled_from(["right", "left"]),
    )
    def each(texts: list[str], multiple: int | None, form: str, side: str) -> None:
        options = {"return_tensors": tensors, **certain}
        if name != "DataCollatorForWholeWordMask":
            options["pad_to_multiple_of"] = multiple

        def batch(library: Any, tokenizer: Any) -> dict[str, Any]:
            collator = getattr(library, name)(tokenizer, **options)
            values = dict(collator(encoded(tokenizer, texts, form)))
            if name == "DataCollatorForWholeWordMask":  # departure 41: it has no attention mask
                return {key: values[key] for key in ("input_ids", "labels")}
            return values

        theirs, ours = tokenizers("BertTokenizer", padding_side=side)
        returned = assert_same(lambda: batch(transformers, theirs), lambda: batch(trietok, ours))
        counts[returned] += 1

    each()
    assert_share(counts[True], counts.total(), 0.4)


@pytest.mark.parametrize("tensors", TENSORS)
def test_words_are_chosen_together_as_in_transformers(tensors: str) -> None:
    """Both choose the same groups of tokens together, with and without `chinese_ref`."""
    theirs, ours = tokenizers("BertTokenizer")
    text = "unaffable hello world 世界 abcd unaffable a b"
    for more in ({}, {"chinese_ref": [7, 12]}):
        together = []
        for library, tokenizer in ((transformers, theirs), (trietok, ours)):
            histories = []
            for seed in range(1, 80):
                collator = library.DataCollatorForWholeWordMask(
                    tokenizer, mlm_probability=0.5, return_tensors=tensors, seed=seed
                )
                histories.append(
                    (collator([{**tokenizer(text), **more}])["labels"] != -100)[0].tolist()
                )
            by_place = list(zip(*histories, strict=True))
            together.append(
                [
                    [place for place in range(len(by_place)) if by_place[place] == one]
                    for one in by_place
                ]
            )
        assert together[0] == together[1]
        assert max(map(len, together[1])) > 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("DataCollatorForLanguageModeling", {}),
        ("DataCollatorForWholeWordMask", {}),
        ("DataCollatorForLanguageModeling", {"masking": "exact"}),
        ("DataCollatorForLanguageModeling", {"masking": "spans"}),
        ("DataCollatorForLanguageModeling", {"masking": "spans", "whole_word_mask": True}),
    ],
)
def test_shares_of_masked_kept_and_random_tokens_are_the_same(
    name: str, options: dict[str, Any]
) -> None:
    """Over the same 200,000 tokens, the counts differ by at most three standard deviations."""
    theirs, ours = tokenizers("BertTokenizer")
    rows = numpy.random.default_rng(1).integers(5, len(ours), (400, 500))
    counts = []
    for library, tokenizer, more in ((transformers, theirs, {}), (trietok, ours, options)):
        collator = getattr(library, name)(tokenizer, return_tensors="np", seed=1, **more)
        batch = collator([{"input_ids": row} for row in rows.copy()])
        chosen = batch["labels"] != -100
        masked, kept = batch["input_ids"] == ours.mask_token_id, batch["input_ids"] == rows
        counts.append(
            [
                int(part.sum())
                for part in (chosen, chosen & masked, chosen & kept, chosen & ~masked & ~kept)
            ]
        )
    # The tokens of a span are replaced alike, so their counts vary more.
    spread = 3 if options.get("masking") == "spans" else 1
    totals = (rows.size, *[counts[1][0]] * 3)
    shares = (0.15, 0.8, 0.1, 0.1)
    for count, other, total, share in zip(*counts, totals, shares, strict=True):
        assert abs(count - other) <= 3 * math.sqrt(2 * spread * total * share)


# ---- flattening ----------------------------------------------------------------------------------

FLATTENING_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "return_position_ids": st.booleans(),
        "separator_id": st.integers(-200, 200),
        "return_flash_attn_kwargs": st.booleans(),
        "return_seq_idx": st.booleans(),
    },
)


@st.composite
def sequences(draw: Any) -> list[dict[str, list[int]]]:
    """Draw examples of which all, none, or all but the first have labels."""
    texts = draw(st.lists(st.lists(st.integers(0, 30_000), min_size=1), min_size=1, max_size=5))
    batch = [{"input_ids": ids, "token_type_ids": [0] * len(ids)} for ids in texts]
    for example in batch[draw(st.sampled_from([0, 1, len(batch)])) :]:
        example["labels"] = [draw(st.integers(-100, 30_000)) for _ in example["input_ids"]]
    return batch


@pytest.mark.parametrize("tensors", TENSORS)
def test_flat_batches_are_equal(tensors: str) -> None:
    @examples(100)
    @given(sequences(), FLATTENING_OPTIONS, st.none() | st.integers(-200, 200), st.booleans())
    def compare(
        batch: list[Any], options: dict[str, Any], separator_id: int | None, at_call: bool
    ) -> None:
        def flat(library: Any) -> dict[str, Any]:
            kind = library.DataCollatorWithFlattening
            if at_call:
                collator = kind(**options)
                return dict(collator(batch, return_tensors=tensors, separator_id=separator_id))
            return dict(kind(tensors, **options)(batch, separator_id=separator_id))

        assert assert_same(lambda: flat(transformers), lambda: flat(trietok))

    compare()


def test_flattening_has_the_same_options_and_defaults() -> None:
    theirs, ours = (
        {
            parameter.name: parameter.default
            for parameter in signature(library.DataCollatorWithFlattening).parameters.values()
            if parameter.kind is parameter.KEYWORD_ONLY
        }
        for library in (transformers, trietok)
    )
    assert theirs == ours


# ---- parameters ----------------------------------------------------------------------------------

CHANGED = {"return_tensors"}
OWN = {"masking"}


@pytest.mark.parametrize(
    "name",
    ["DataCollatorForLanguageModeling", "DataCollatorForWholeWordMask", "DataCollatorWithPadding"],
)
def test_the_parameters_have_the_same_order_and_defaults(name: str) -> None:
    theirs, ours = (
        [
            (field.name, None if field.name in CHANGED else field.default)
            for field in dataclasses.fields(kind)
            if field.init and field.name not in OWN
        ]
        for kind in (getattr(transformers, name), getattr(trietok, name))
    )
    assert theirs == ours


@pytest.mark.parametrize(
    "options",
    [
        {"mlm_probability": 1.5},
        {"mlm_probability": -1},
        {"mlm_probability": None},
        {"mask_replace_prob": 1.1},
        {"random_replace_prob": -0.5},
        {"mask_replace_prob": 0.6, "random_replace_prob": 0.5},
        {"mlm": False, "whole_word_mask": True},
        {"mlm": False, "mlm_probability": 7},
    ],
)
def test_impossible_rates_are_refused_alike(options: dict[str, Any]) -> None:
    theirs, ours = tokenizers("BertTokenizer")

    def batch(library: Any, tokenizer: Any) -> list[Any]:
        collator = library.DataCollatorForLanguageModeling(
            tokenizer, **options, return_tensors="np"
        )
        return collator([[2, 3]])["labels"].tolist()

    assert_same(lambda: batch(transformers, theirs), lambda: batch(trietok, ours))


def test_a_tokenizer_without_a_mask_token_is_refused_alike() -> None:
    theirs, ours = tokenizers("BertTokenizer", mask_token=None)
    assert not assert_same(
        lambda: transformers.DataCollatorForLanguageModeling(theirs),
        lambda: trietok.DataCollatorForLanguageModeling(ours),
    )
