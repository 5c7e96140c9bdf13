"""Masking: the shares over many tokens, whole words, spans, and repeatable seeds."""

from __future__ import annotations

import math

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from trietok import DataCollatorForLanguageModeling

SPECIAL = 4


def many_tokens(count: int = 400_000) -> list[list[list[int]]]:
    """Return batches of texts of many lengths, with random ids between [CLS] and [SEP]."""
    generator = numpy.random.default_rng(20)
    batches: list[list[list[int]]] = []
    while count > 0:
        lengths = generator.integers(1, 510, 64)
        batches.append(
            [[2, *generator.integers(5, 8000, int(length)).tolist(), 3] for length in lengths]
        )
        count -= int(lengths.sum())
    return batches


def words_of(tokens: list[str], is_maskable: list[bool]) -> list[list[int]]:
    """Return the places of each word of a text."""
    words: list[list[int]] = []
    for place, token in enumerate(tokens):
        if not is_maskable[place]:
            continue
        if token.startswith("##") and place > 0 and is_maskable[place - 1]:
            words[-1].append(place)
        else:
            words.append([place])
    return words


def within_three_deviations(count: int, of: int, share: float, spread: float = 1.0) -> bool:
    return abs(count - of * share) <= 3 * spread * math.sqrt(of * share * (1 - share))


@pytest.mark.parametrize(
    "shares",
    [(0.15, 0.8, 0.1), (0.4, 0.5, 0.4), (0.15, 0.0, 1.0)],
    ids=["as BERT", "balanced", "random only"],
)
def test_the_shares_of_chosen_masked_and_random_tokens_are_the_options(english, shares):
    chosen_share, masked_share, random_share = shares
    collator = DataCollatorForLanguageModeling(
        english,
        mlm_probability=chosen_share,
        mask_replace_prob=masked_share,
        random_replace_prob=random_share,
        return_tensors="np",
        seed=1,
    )
    tokens = chosen = masked = random = kept = 0
    for rows in many_tokens():
        batch = collator(rows)
        is_chosen = batch.labels != -100
        before = numpy.zeros_like(batch.input_ids)
        for number, row in enumerate(rows):
            before[number, : len(row)] = row
        is_special = before < SPECIAL
        assert not (is_chosen & is_special).any()
        assert (batch.input_ids == before)[~is_chosen].all()
        assert (batch.labels == before)[is_chosen].all()
        tokens += int((~is_special).sum())
        chosen += int(is_chosen.sum())
        is_masked = (batch.input_ids == 4) & is_chosen
        is_kept = (batch.input_ids == before) & is_chosen
        masked += int(is_masked.sum())
        kept += int(is_kept.sum())
        random += int((is_chosen & ~is_masked & ~is_kept).sum())
    assert tokens >= 400_000
    # A random token is the mask token, or the one it replaces, once in 8000 times each.
    same = random_share / 8000
    assert within_three_deviations(chosen, tokens, chosen_share)
    assert within_three_deviations(masked, chosen, masked_share + same)
    assert within_three_deviations(random, chosen, random_share - 2 * same)
    assert within_three_deviations(kept, chosen, 1 - masked_share - random_share + same)


def test_random_tokens_are_drawn_evenly(english):
    """A chi-squared test over all ids, special ones included, as in transformers."""
    collator = DataCollatorForLanguageModeling(
        english,
        mlm_probability=1,
        mask_replace_prob=0,
        random_replace_prob=1,
        return_tensors="np",
        seed=2,
    )
    counts = sum(
        numpy.bincount(batch.input_ids[batch.labels != -100], minlength=8000)
        for batch in map(collator, many_tokens())
    )
    expected = counts.sum() / 8000
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert len(counts) == 8000
    assert counts.all()
    assert abs(chi_squared - 7999) <= 3 * math.sqrt(2 * 7999)


def test_whole_words_are_chosen_whole_and_at_the_rate_asked(english):
    collator = DataCollatorForLanguageModeling(
        english, whole_word_mask=True, return_tensors="np", seed=3
    )
    tokens_by_id = english.convert_ids_to_tokens(range(8000))
    tokens = chosen = words = chosen_words = squares = 0
    fates = {"masked": 0, "changed": 0}
    for rows in many_tokens(300_000):
        batch = collator(rows)
        for row, seen, labels in zip(
            rows, batch.input_ids.tolist(), batch.labels.tolist(), strict=True
        ):
            is_maskable = [token_id >= SPECIAL for token_id in row]
            for word in words_of([tokens_by_id[token_id] for token_id in row], is_maskable):
                in_labels = {labels[place] != -100 for place in word}
                assert len(in_labels) == 1
                tokens += len(word)
                words += 1
                squares += len(word) ** 2
                if in_labels == {True}:
                    chosen += len(word)
                    chosen_words += 1
                    fates["masked"] += sum(seen[place] == 4 for place in word)
                    fates["changed"] += sum(seen[place] != row[place] for place in word)
    assert words < 0.8 * tokens
    assert within_three_deviations(chosen_words, words, 0.15)
    # The words are independent, so the variance of the number of tokens is that of the sum of their
    # lengths.
    assert within_three_deviations(chosen, tokens, 0.15, math.sqrt(squares / tokens))
    assert within_three_deviations(fates["masked"], chosen, 0.8)
    assert within_three_deviations(fates["changed"], chosen, 0.9)


ROWS = st.lists(st.lists(st.integers(1, 10), max_size=9), min_size=1, max_size=4)
MASKINGS = ["each", "exact", "spans"]


@pytest.fixture
def pieces(small):
    return small("a", "b", "c", "##a", "##b", "##c")


SHARE = st.sampled_from([0.0, 0.15, 0.5, 1.0])


@examples(100)
@given(ROWS, SHARE, SHARE, SHARE, st.booleans(), st.sampled_from(MASKINGS), st.integers())
def test_only_chosen_tokens_of_a_text_are_changed_and_labelled(
    pieces, rows, chosen, masked, random, whole, masking, seed
):
    collator = DataCollatorForLanguageModeling(
        pieces,
        mlm_probability=chosen,
        mask_replace_prob=masked,
        random_replace_prob=min(random, 1 - masked),
        whole_word_mask=whole,
        masking=masking,
        return_tensors="np",
        seed=seed,
    )
    batch = collator(rows)
    tokens = pieces.convert_ids_to_tokens(range(len(pieces)))
    for row, seen, labels in zip(
        rows, batch.input_ids.tolist(), batch.labels.tolist(), strict=True
    ):
        is_maskable = [token_id not in pieces.all_special_ids for token_id in row]
        places = [place for place, label in enumerate(labels) if label != -100]
        assert seen[len(row) :] == [0] * (len(seen) - len(row))
        assert all(is_maskable[place] and labels[place] == row[place] for place in places)
        assert all(seen[place] == row[place] for place in range(len(row)) if place not in places)
        if chosen in (0, 1):
            assert len(places) == chosen * sum(is_maskable)
        if masked == 1:
            assert all(seen[place] == 4 for place in places)
        if whole:
            for word in words_of([tokens[token_id] for token_id in row], is_maskable):
                assert len({place in places for place in word}) == 1


def test_a_seed_masks_the_same_tokens_in_every_version(english):
    collator = DataCollatorForLanguageModeling(english, return_tensors="np", seed=7)
    collator.set_epoch(1)
    batch = collator([[2, *range(100, 200), 3]])
    places = numpy.nonzero(batch.labels[0] != -100)[0]
    assert places.tolist() == [13, 18, 22, 23, 24, 32, 37, 40, 62, 64, 77, 84, 86, 93, 96]
    seen = batch.input_ids[0, places].tolist()
    assert seen == [4, 117, 4, 4, 4, 4, 4, 4, 4, 4, 176, 4, 4, 4, 4]


# ---- exact shares and spans ----------------------------------------------------------------------


def masked_rows(tokenizer, rows, **options):
    """Return the ids after masking rows of one length, and which tokens were chosen."""
    batch = DataCollatorForLanguageModeling(tokenizer, return_tensors="np", **options)(rows)
    assert (batch["labels"] == numpy.array(rows))[batch["labels"] != -100].all()
    return batch["input_ids"], batch["labels"] != -100


@pytest.mark.parametrize("masking", ["exact", "spans"])
def test_exact_masking_chooses_the_share_of_each_text(english, masking):
    """45.3 of 302 tokens are 45 or 46, the latter three times in ten."""
    rows = numpy.random.default_rng(3).integers(5, 8000, (600, 302)).tolist()
    _, chosen = masked_rows(english, rows, masking=masking, seed=8)
    counts = chosen.sum(axis=1)
    assert {*counts.tolist()} == {45, 46}
    assert within_three_deviations(int((counts == 46).sum()), 600, 0.3)
    by_place = chosen.sum(axis=0)
    assert by_place[5:-5].min() / by_place[5:-5].mean() > 0.5  # every place is chosen at times


def test_the_lengths_of_spans_are_geometric(english):
    """Each length up to 10 is 0.8 times as frequent as the one before.

    The share is small, so spans seldom touch.
    """
    rows = numpy.random.default_rng(4).integers(5, 8000, (4000, 400)).tolist()
    _, chosen = masked_rows(english, rows, masking="spans", mlm_probability=0.025, seed=9)
    edges = numpy.diff(numpy.pad(chosen, ((0, 0), (1, 1))).astype(int), axis=1)
    lengths = numpy.nonzero(edges == -1)[1] - numpy.nonzero(edges == 1)[1]
    shares = numpy.array([0.8**n for n in range(10)])
    assert lengths.max() > 8
    counts = numpy.bincount(lengths, minlength=11)[1:5]
    assert abs(counts[1:] / counts[:-1] - 0.8).max() < 0.12
    # The last span of a text is often shorter.
    assert 2 < lengths.mean() < (shares / shares.sum() * range(1, 11)).sum()


def test_all_tokens_of_a_span_are_masked_or_none(english):
    rows = numpy.random.default_rng(5).integers(5, 8000, (200, 300)).tolist()
    seen, chosen = masked_rows(english, rows, masking="spans", random_replace_prob=0.0, seed=1)
    inside = chosen[:, 1:] & chosen[:, :-1]
    changes = ((seen == 4)[:, 1:] != (seen == 4)[:, :-1]) & inside
    assert changes.sum() < 0.1 * inside.sum()  # only where two spans touch
    seen, chosen = masked_rows(english, rows, random_replace_prob=0.0, seed=1, mlm_probability=0.5)
    inside = chosen[:, 1:] & chosen[:, :-1]
    changes = ((seen == 4)[:, 1:] != (seen == 4)[:, :-1]) & inside
    assert changes.sum() > 0.2 * inside.sum()  # without spans, each token is replaced by itself
