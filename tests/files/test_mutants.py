"""Directories that are damaged at random load consistently, or are refused with a short error.

A failure names its seed; `python -m tests.files.test_mutants SEED` shows how that directory was
made.
"""

from __future__ import annotations

import collections
import pathlib
import random
import shutil
import sys
import tempfile

from tests.conftest import assert_share, often
from tests.files.mutants import DAMAGES, judge, mutant, sound

LOADERS = ["BertTokenizer", "BertTokenizerFast", "AutoTokenizer"]


def write(folder: pathlib.Path, files: dict[str, bytes]) -> pathlib.Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def test_sound_directories_load_in_every_class_and_have_no_fault(tmp_path):
    for name, files in sound():
        assert judge(write(tmp_path / name, files)) == (LOADERS, []), name


def test_damaged_directories_load_consistently_or_are_refused(tmp_path):
    start, number = random.randrange(2**32), often(300)
    loaded, refused, damages = 0, 0, collections.Counter()
    for seed in range(start, start + number):
        files, steps = mutant(seed)
        judged = judge(write(tmp_path / "mutant", files))
        assert judged.faults == [], f"seed {seed}: {steps}"
        loaded += bool(judged.loaded)
        refused += len(judged.loaded) < len(LOADERS)
        damages.update(step.partition("(")[0] for step in steps[1:])
    assert_share(loaded, number, 0.2)
    assert_share(refused, number, 0.2)
    for damage in DAMAGES:
        assert_share(damages[damage.__name__], number, 0.05, damage.__name__)


if __name__ == "__main__":
    for given in sys.argv[1:]:
        made, steps = mutant(int(given))
        with tempfile.TemporaryDirectory() as place:
            print(given, steps, *judge(write(pathlib.Path(place) / "mutant", made)), sep="\n  ")
