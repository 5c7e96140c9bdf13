"""What is made in bulk: the collector rests meanwhile, and then counts it as old."""

from __future__ import annotations

import gc
import os
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from trietok.collector import MANY, bulk


@pytest.fixture
def collector():
    was_enabled = gc.isenabled()
    gc.enable()
    gc.unfreeze()
    yield
    gc.freeze()  # as tests/conftest.py has it
    (gc.enable if was_enabled else gc.disable)()


def objects(number: int) -> list[list[int]]:
    return [[] for _ in range(number)]


# A free-threaded Python has no generations.
needs_generations = pytest.mark.skipif(
    not hasattr(gc, "freeze") or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="needs generations",
)


def generation_of(value: object) -> int:
    return next(i for i in (0, 1, 2) if any(value is each for each in gc.get_objects(generation=i)))


@needs_generations
def test_many_objects_are_old_at_once(collector):
    with bulk():
        made = objects(2 * MANY)
    assert generation_of(made[0]) == 2
    assert gc.isenabled()


@needs_generations
def test_a_few_objects_stay_young(collector):
    gc.collect()
    with bulk():
        made = objects(10)
    assert generation_of(made[0]) == 0


@needs_generations
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


@needs_generations
def test_what_python_itself_has_frozen_is_no_reason_to_leave_it(collector, monkeypatch):
    """Python 3.12 has frozen some hundreds of objects when a program begins."""
    monkeypatch.setattr(gc, "get_freeze_count", lambda: 400)
    with bulk():
        made = objects(2 * MANY)
    assert generation_of(made[0]) == 2


def test_who_comes_while_another_goes_does_not_leave_the_collector_off(collector, monkeypatch):
    # The second thread is stopped between its look at the collector and its pause, until the first
    # has gone.
    came, gone = threading.Event(), threading.Event()
    disable = gc.disable

    def disable_late() -> None:
        if threading.current_thread() is second:
            came.set()
            gone.wait(0.2)
        disable()

    def work() -> None:
        with bulk():
            pass

    second = threading.Thread(target=work)
    monkeypatch.setattr(gc, "disable", disable_late)
    with bulk():
        second.start()
        came.wait(5)
    gone.set()
    second.join()
    assert gc.isenabled()


def test_the_last_of_several_threads_starts_it_again(collector):
    with ThreadPoolExecutor(1) as other:
        first, second = bulk(), bulk()
        first.__enter__()
        other.submit(second.__enter__).result()
        first.__exit__(None, None, None)
        assert not gc.isenabled()
        other.submit(second.__exit__, None, None, None).result()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(collector):
    with ThreadPoolExecutor(1) as other:
        paused = bulk()
        other.submit(paused.__enter__).result()
        child = os.fork()
        if child == 0:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        other.submit(paused.__exit__, None, None, None).result()
