"""trietok and transformers side by side: batches for training. Random numbers differ, so what they
decide is fixed.

With a share of 0 or 1 nothing is left to chance, and the batches are equal; elsewhere the rates are
compared.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
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
# The class, what leaves nothing to chance, and whether the examples are only encodings of a call.
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
    """The texts as the examples of a data set, in one of the forms that such have."""
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
            made = dict(collator(encoded(tokenizer, texts, form)))
            if name == "DataCollatorForWholeWordMask":  # departure 41: it has no attention mask
                return {key: made[key] for key in ("input_ids", "labels")}
            return made

        theirs, ours = tokenizers("BertTokenizer", padding_side=side)
        returned = assert_same(lambda: batch(transformers, theirs), lambda: batch(trietok, ours))
        counts[returned] += 1

    each()
    assert_share(counts[True], counts.total(), 0.4)


@pytest.mark.parametrize("tensors", TENSORS)
def test_words_are_chosen_together_as_in_transformers(tensors: str) -> None:
    """What transformers chooses together, its `chinese_ref` included, is chosen together here."""
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
    """Each share, counted in both over the same 200,000 tokens: within three deviations of the
    difference.
    """
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
    # tokens of a span share their fate
    chosen, spread = (
        counts[1][0],
        3 if options.get("masking") == "spans" else 1,
    )
    for mine, yours, of, share in zip(
        counts[1], counts[0], (rows.size, *[chosen] * 3), (0.15, 0.8, 0.1, 0.1), strict=True
    ):
        assert abs(mine - yours) <= 3 * math.sqrt(2 * spread * of * share)


CHANGED = {"return_tensors", "epoch", "_known_ids"}
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
