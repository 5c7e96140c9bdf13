"""A seed makes the same batch in any worker; without one, the global random state decides."""

from __future__ import annotations

import multiprocessing
import pickle
import random
from concurrent.futures import ProcessPoolExecutor

import numpy
import pytest

from tests.batches.test_collators import TENSORS, lists
from tests.conftest import needs


def test_the_seed_the_epoch_and_the_batch_decide_the_masks(examples, collator):
    seeded = collator()
    first = lists(seeded(examples))
    assert lists(seeded(examples)) == first
    assert lists(collator(seed=numpy.int64(5))(examples)) == first
    seeded.set_epoch(1)
    assert lists(seeded(examples)) != first
    seeded.set_epoch(0)
    assert lists(seeded(examples)) == first
    for seed in (0, -3, 2**80):
        batch = lists(collator(seed=seed)(examples))
        assert batch == lists(collator(seed=seed)(examples)) != first


def test_a_text_gets_other_masks_in_a_batch_with_other_texts(examples, collator):
    """So a shuffled data set has other masks in each epoch."""
    seeded = collator()
    masks = {tuple(seeded([examples[2], other]).labels[0][:13].tolist()) for other in examples[:9]}
    assert len(masks) > 1


def test_without_a_seed_every_batch_gets_other_masks(examples, collator):
    unseeded = collator(seed=None)
    copied = pickle.loads(pickle.dumps(unseeded))
    batches = [lists(one(examples * 4)) for one in (unseeded, unseeded, copied, copied)]
    assert all(batches[i] != batches[j] for i in range(4) for j in range(i))


def seed_all(seed: int) -> None:
    """Do what `transformers.set_seed` does."""
    random.seed(seed)
    numpy.random.seed(seed)
    if "pt" in TENSORS:
        import torch

        torch.manual_seed(seed)


@pytest.mark.parametrize("tensors", TENSORS)
@pytest.mark.parametrize("options", [{}, {"whole_word_mask": True}], ids=str)
def test_without_a_seed_the_global_one_decides(examples, collator, tensors, options):
    def two_epochs(seed):
        seed_all(seed)
        unseeded = collator(seed=None, return_tensors=tensors, **options)
        return [lists(unseeded(examples)) for _ in range(2)]

    first, second = two_epochs(42)
    assert first != second  # the same batch in the next epoch
    assert two_epochs(42) == [first, second]
    assert first not in two_epochs(43)


def test_processes_with_the_same_global_state_mask_other_batches_otherwise(collator):
    """Forked processes start with the same state of numpy."""
    unseeded = collator(seed=None, mlm_probability=0.5)
    masks = []
    for word in (6, 7):
        seed_all(1)
        masks.append((unseeded([{"input_ids": [2, *[word] * 200, 3]}]).labels != -100).tolist())
    assert masks[0] != masks[1]


def test_no_global_state_is_read_or_changed_with_a_seed(examples, collator):
    def global_states():
        states = [random.getstate(), [str(part) for part in numpy.random.get_state()]]
        if "pt" in TENSORS:
            import torch

            states.append(torch.get_rng_state().tolist())
        return states

    results = []
    for global_seed in (1, 2):
        seed_all(global_seed)
        before = global_states()
        for options in ({}, {"whole_word_mask": True}, {"seed": None, "mlm": False}):
            results += [
                lists(collator(return_tensors=tensors, **options)(examples)) for tensors in TENSORS
            ]
        assert global_states() == before
    assert results[: len(results) // 2] == results[len(results) // 2 :]


def collate(collator, examples) -> dict[str, list]:
    return lists(collator(examples))


def test_spawned_processes_make_the_same_batches(examples, collator):
    seeded = collator(whole_word_mask=True)
    seeded.set_epoch(3)
    batches = [examples[start : start + 4] for start in range(0, 16, 2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        results = list(processes.map(collate, [seeded] * len(batches), batches))
    assert results == [collate(seeded, batch) for batch in batches]


def loaded(collator, examples, **options) -> list[dict[str, list]]:
    """Return the batches of an epoch in an order that is shuffled the same way each time."""
    torch = needs("torch")
    order = torch.Generator().manual_seed(8)
    loader = torch.utils.data.DataLoader(
        examples, batch_size=3, shuffle=True, generator=order, collate_fn=collator, **options
    )
    return [lists(batch) for batch in loader]


@pytest.mark.parametrize("epoch", [0, 1])
def test_torch_workers_make_the_same_batches(examples, collator, epoch):
    seeded = collator(return_tensors="pt")
    seeded.set_epoch(epoch)
    batches = loaded(seeded, examples, num_workers=0)
    assert len(batches) == 6
    for workers in (1, 2):
        assert loaded(seeded, examples, num_workers=workers) == batches
    seeded.set_epoch(1 - epoch)
    assert loaded(seeded, examples, num_workers=2) != batches


@pytest.mark.parametrize("tensors", ["pt", "np"])
def test_torch_workers_follow_the_global_seed(examples, collator, tensors):
    torch = needs("torch")
    unseeded = collator(return_tensors=tensors, seed=None)

    def two_epochs(seed):
        seed_all(seed)
        loader = torch.utils.data.DataLoader(
            examples, batch_size=3, collate_fn=unseeded, num_workers=2
        )
        return [[lists(batch) for batch in loader] for _ in range(2)]

    first, second = two_epochs(42)
    assert two_epochs(42) == [first, second]
    assert first != second
    assert first not in two_epochs(43)


def test_torch_workers_without_a_seed_differ(collator):
    """Two workers that start as copies of one process give the same batch different masks."""
    needs("torch")
    long = [{"input_ids": [2, *range(5, 205), 3]}] * 12
    batches = loaded(collator(return_tensors="pt", seed=None), long, num_workers=2)
    assert len({str(batch) for batch in batches}) == len(batches) == 4
