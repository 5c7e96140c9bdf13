"""What is made in bulk: the collector rests meanwhile, and then counts it as old."""

from __future__ import annotations

import gc

import pytest

from trietok.text.bulk import MANY, bulk


@pytest.fixture
def collector():
    was_enabled = gc.isenabled()
    gc.enable()
    yield
    gc.unfreeze()
    (gc.enable if was_enabled else gc.disable)()


def objects(number: int) -> list[list[int]]:
    return [[] for _ in range(number)]


def generation_of(value: object) -> int:
    return next(i for i in (0, 1, 2) if any(value is each for each in gc.get_objects(generation=i)))


@pytest.mark.skipif(not hasattr(gc, "freeze"), reason="needs generations")
def test_many_objects_are_old_at_once(collector):
    with bulk():
        made = objects(2 * MANY)
    assert generation_of(made[0]) == 2
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(gc, "freeze"), reason="needs generations")
def test_a_few_objects_stay_young(collector):
    gc.collect()
    with bulk():
        made = objects(10)
    assert generation_of(made[0]) == 0


@pytest.mark.skipif(not hasattr(gc, "freeze"), reason="needs generations")
def test_what_a_program_has_frozen_stays_frozen(collector):
    gc.freeze()
    frozen = gc.get_freeze_count()
    with bulk():
        made = objects(2 * MANY)
    assert gc.get_freeze_count() == frozen > 0
    assert len(made) == 2 * MANY


def test_a_program_that_has_no_collector_at_work_keeps_it_so(collector):
    gc.disable()
    with bulk():
        made = objects(2 * MANY)
    assert not gc.isenabled()
    assert len(made) == 2 * MANY
