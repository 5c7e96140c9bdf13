"""`apply_rows` killed at any moment: the directory is there with all its files, or it is not
there.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import sys
import time

import pytest

pytest.importorskip("numpy")
pytest.importorskip("safetensors")

from tests.adapting.models import bert, numbers, save_model, two_tokenizers
from trietok import apply_rows

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(sys.platform == "win32", reason="needs processes as Unix has them"),
]

KILLS = int(os.environ.get("TRIETOK_KILLS", "200"))


def contents(directory) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_nothing_or_all_of_it_after_each_of_200_kills(vocab_file, tmp_path):
    before, after, plan = two_tokenizers(vocab_file)
    tensors = {**bert(11), "large": numbers(1000, 500)}
    model = save_model(tmp_path / "model", tensors, 11, shards=3, tokenizer=before)
    place = tmp_path / "place"
    apply_rows(plan, model, place / "out", tokenizer=after)
    expected = contents(place / "out")
    rng = random.Random(7)
    tally = {"nothing": 0, "all": 0, "left beside it": 0}
    for number in range(KILLS):
        shutil.rmtree(place / "out", ignore_errors=True)
        if number % 20 == 0:
            began = time.monotonic()
            apply_rows(plan, model, place / "out", tokenizer=after)
            duration = time.monotonic() - began  # as busy as the machine is just now
            shutil.rmtree(place / "out")
        child = os.fork()
        if child == 0:
            try:
                apply_rows(plan, model, place / "out", tokenizer=after)
                time.sleep(60)
            finally:
                os._exit(1)
        # Every fourth is let come to its end, which a machine that is busier than it was would not
        # give the others.
        until = time.monotonic() + (60 if number % 4 == 0 else rng.uniform(0, 3 * duration))
        while time.monotonic() < until and not (number % 4 == 0 and (place / "out").exists()):
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if (place / "out").exists():
            assert contents(place / "out") == expected, number
            tally["all"] += 1
        else:
            tally["nothing"] += 1
        left = [name for name in os.listdir(place) if name != "out"]
        assert len(left) <= 1, left  # each run clears away what the one before has left
        tally["left beside it"] += len(left)
    print(f"\n{KILLS} kills: {tally}")
    assert min(tally.values()) > KILLS // 20
    shutil.rmtree(place / "out", ignore_errors=True)
    apply_rows(plan, model, place / "out", tokenizer=after)
    assert os.listdir(place) == ["out"]
