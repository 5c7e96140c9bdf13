"""`apply_rows` killed at any moment: the directory is there with all its files, or it is not
there.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import time

import pytest

from tests.cli.commands import posix
from tests.conftest import often
from tests.vocabulary.models import (
    bert,
    numbers,
    save_model,
    stop_at_the_rename,
    two_tokenizers,
)
from trietok import apply_rows

pytestmark = [
    pytest.mark.faults,
    posix,
]

KILLS = often(10, nightly=40)


def contents(directory) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_nothing_or_all_of_it_after_each_kill(vocab_file, tmp_path):
    before, after, plan = two_tokenizers(vocab_file)
    tensors = {**bert(11), "large": numbers(1000, 500)}
    model = save_model(tmp_path / "model", tensors, 11, shards=3, tokenizer=before)
    place = tmp_path / "place"
    apply_rows(plan, model, place / "out", tokenizer=after)
    expected = contents(place / "out")
    tally = {"nothing": 0, "all": 0, "left beside it": 0}
    for number in range(KILLS):
        shutil.rmtree(place / "out", ignore_errors=True)
        if number % 20 == 0:
            began = time.monotonic()
            apply_rows(plan, model, place / "out", tokenizer=after)
            duration = time.monotonic() - began  # as busy as the machine is just now
            shutil.rmtree(place / "out")
        # Of four, one is killed before the directory gets its name, one after that, two at any
        # moment.
        ends_itself = number % 4 < 2
        child = os.fork()
        if child == 0:
            try:
                if ends_itself:
                    stop_at_the_rename(place / "out", signal.SIGKILL, is_before=number % 4 == 0)
                apply_rows(plan, model, place / "out", tokenizer=after)
                time.sleep(600)
            finally:
                os._exit(1)
        if not ends_itself:
            time.sleep(random.uniform(0, 3 * duration))
            os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        left = [name for name in os.listdir(place) if name != "out"]
        assert len(left) <= 1, left  # each run clears away what the one before has left
        is_there = (place / "out").exists()
        if is_there:
            assert contents(place / "out") == expected, number
        if ends_itself:
            assert (is_there, len(left)) == (number % 4 == 1, 1), number
        tally["all" if is_there else "nothing"] += 1
        tally["left beside it"] += len(left)
    print(f"\n{KILLS} kills: {tally}")
    shutil.rmtree(place / "out", ignore_errors=True)
    apply_rows(plan, model, place / "out", tokenizer=after)
    assert os.listdir(place) == ["out"]
