"""Damaged directories load consistently or are refused with a short error; see `mutants` and
`judging`.

A failure names its seed; `python -m tests.robustness.test_mutants SEED` shows how that directory
was made.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile
import time

import pytest

import trietok
from tests.conftest import often
from tests.robustness.judging import faults, inconsistencies
from tests.robustness.mutants import mutant, sound

DEFAULT = often(200)
ALL = int(os.environ.get("TRIETOK_MUTANTS", 20_000))  # of the marked run


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


@pytest.mark.parametrize("start", range(0, DEFAULT, 100))
def test_mutants_load_consistently_or_are_refused(tmp_path, start):
    assert failures(tmp_path, range(start, start + 100)) == {}


@pytest.mark.faults
def test_many_mutants_load_consistently_or_are_refused(tmp_path):
    begin, slowest, wrong = time.process_time(), 0.0, {}
    for seed in range(DEFAULT, DEFAULT + ALL):
        before = time.process_time()
        wrong |= failures(tmp_path, range(seed, seed + 1))
        slowest = max(slowest, time.process_time() - before)
    spent = time.process_time() - begin
    print(
        f"\n{ALL:,} mutants, {len(wrong)} failures, slowest {slowest:.2f} s, {spent:.0f} s in all"
    )
    assert wrong == {}
    assert slowest < 5


def test_the_judge_sees_an_inconsistency():
    """Two tokens of one id, and a token whose id is another's: what the judge is there to find."""

    class Lying(trietok.BertTokenizer):
        def get_vocab(self):
            return {**super().get_vocab(), "zzzz": 7}

    tokenizer = Lying.from_pretrained("trietok-en")
    assert any("zzzz" in fault for fault in inconsistencies(tokenizer))


if __name__ == "__main__":
    for given in sys.argv[1:]:
        made, steps = mutant(int(given))
        with tempfile.TemporaryDirectory() as place:
            print(given, steps, *faults(write(pathlib.Path(place) / "mutant", made)), sep="\n  ")
