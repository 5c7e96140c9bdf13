"""Damaged directories load consistently or are refused with a short error; see `mutants` and
`judging`.

A failure names its seed; `python -m tests.files.test_mutants SEED` shows how that directory
was made.
"""

from __future__ import annotations

import pathlib
import random
import shutil
import sys
import tempfile
import time

import pytest

from tests.conftest import often
from tests.files.judging import faults
from tests.files.mutants import mutant, sound


def write(folder: pathlib.Path, files: dict[str, bytes]) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def failures(folder: pathlib.Path, seeds: range) -> dict[int, list[str]]:
    """Seed → what is wrong with that directory."""
    found = {seed: list(faults(write(folder / "mutant", mutant(seed)[0]))) for seed in seeds}
    return {seed: wrong for seed, wrong in found.items() if wrong}


def test_sound_directories_have_no_fault(tmp_path):
    for name, files in sound():
        assert list(faults(write(tmp_path / name, files))) == []


def test_mutants_load_consistently_or_are_refused(tmp_path):
    start = random.randrange(2**32)
    assert failures(tmp_path, range(start, start + often(200))) == {}


@pytest.mark.faults
def test_many_mutants_load_consistently_or_are_refused_in_a_moment(tmp_path):
    start = random.randrange(2**32)
    for seed in range(start, start + often(200, 3_000)):
        before = time.process_time()
        assert failures(tmp_path, range(seed, seed + 1)) == {}
        assert time.process_time() - before < 5, seed


if __name__ == "__main__":
    for given in sys.argv[1:]:
        made, steps = mutant(int(given))
        with tempfile.TemporaryDirectory() as place:
            print(given, steps, *faults(write(pathlib.Path(place) / "mutant", made)), sep="\n  ")
