"""The seed of a collator: the same batch for the same seed in any worker; without one, the global
seed decides.
"""

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
    one = collator()
    first = lists(one(examples))
    assert lists(one(examples)) == first == lists(collator()(examples))
    assert lists(collator(seed=6)(examples)) != first
    one.set_epoch(1)
    assert lists(one(examples)) != first
    one.set_epoch(0)
    assert lists(one(examples)) == first
    assert lists(collator(seed=numpy.int64(5))(examples)) == first
    others = [lists(collator(seed=seed)(examples)) for seed in (0, -3, 2**80, 0, -3, 2**80)]
    assert others[:3] == others[3:]
    assert all(other != first for other in others)
    # Among other texts a text gets another mask, so a shuffled data set is masked anew each epoch.
    masks = {
        tuple(one([examples[2], *others]).labels[0][:13].tolist())
        for others in zip(examples[:9], strict=True)
    }
    assert len(masks) > 1


def test_without_a_seed_every_batch_is_masked_anew(examples, collator):
    one = collator(seed=None)
    copied = pickle.loads(pickle.dumps(one))
    batches = [lists(make(examples * 4)) for make in (one, one, copied, copied)]
    assert all(batches[i] != batches[j] for i in range(4) for j in range(i))


def seed_all(seed: int) -> None:
    """What `transformers.set_seed` does."""
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
        one = collator(seed=None, return_tensors=tensors, **options)
        return [lists(one(examples)) for _ in range(2)]

    first, second = two_epochs(42)
    assert first != second  # the same batch in the next epoch
    assert two_epochs(42) == [first, second]
    assert first not in two_epochs(43)


def test_processes_with_the_same_global_state_mask_other_batches_otherwise(english, collator):
    """numpy's state is the same in processes that were forked from one."""
    one = collator(seed=None, mlm_probability=0.5)
    masks = []
    for word in (6, 7):
        seed_all(1)
        masks.append((one([{"input_ids": [2, *[word] * 200, 3]}]).labels != -100).tolist())
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
    one = collator(whole_word_mask=True)
    one.set_epoch(3)
    batches = [examples[start : start + 4] for start in range(0, 16, 2)]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        made = list(processes.map(collate, [one] * len(batches), batches))
    assert made == [collate(one, batch) for batch in batches]


def loaded(collator, examples, **options) -> list[dict[str, list]]:
    """The batches of an epoch, shuffled in an order that is the same each time."""
    torch = needs("torch")
    order = torch.Generator().manual_seed(8)
    loader = torch.utils.data.DataLoader(
        examples, batch_size=3, shuffle=True, generator=order, collate_fn=collator, **options
    )
    return [lists(batch) for batch in loader]


@pytest.mark.parametrize("epoch", [0, 1])
def test_torch_workers_make_the_same_batches(examples, collator, epoch):
    one = collator(return_tensors="pt")
    one.set_epoch(epoch)
    batches = loaded(one, examples, num_workers=0)
    assert len(batches) == 6
    for workers in (1, 2):
        assert loaded(one, examples, num_workers=workers) == batches
    if epoch:
        one.set_epoch(0)
        assert loaded(one, examples, num_workers=2) != batches


@pytest.mark.parametrize("tensors", ["pt", "np"])
def test_torch_workers_follow_the_global_seed(examples, collator, tensors):
    torch = needs("torch")
    one = collator(return_tensors=tensors, seed=None)

    def two_epochs(seed):
        seed_all(seed)
        loader = torch.utils.data.DataLoader(examples, batch_size=3, collate_fn=one, num_workers=2)
        return [[lists(batch) for batch in loader] for _ in range(2)]

    first, second = two_epochs(42)
    assert two_epochs(42) == [first, second]
    assert first != second
    assert first not in two_epochs(43)


def test_torch_workers_without_a_seed_differ(examples, collator):
    """Two workers that begin as copies of one process give the same batch different masks."""
    needs("torch")
    long = [{"input_ids": [2, *range(5, 205), 3]}] * 12
    batches = loaded(collator(return_tensors="pt", seed=None), long, num_workers=2)
    assert len({str(batch) for batch in batches}) == len(batches) == 4
