"""Memory while new words never stop: it has to level off."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from trietok.text.memory import MEMORY_LIMIT

pytestmark = pytest.mark.benchmark

STATM = pathlib.Path("/proc/self/statm")
ROOT = pathlib.Path(__file__).parent.parent.parent
STEPS, LINES, WORDS = 16, 1250, 100  # a step is 125,000 words, all of them 2 million
SLACK = 8  # MB; pages that the allocator keeps come and go

PROGRAM = f"""
import random, resource
from trietok import BertTokenizer

tokenizer = BertTokenizer.from_pretrained("trietok-en")
random.seed(9)

def show(what):
    with open("{STATM}") as file:
        resident = int(file.read().split()[1]) * resource.getpagesize() / 1e6
    print(what, round(resident, 1), tokenizer.cache_info().bytes, sep="\\t", flush=True)

show("loaded")
for step in range({STEPS}):
    for _ in range({LINES}):
        tokenizer.encode(" ".join(f"x{{random.randrange(10**12)}}y" for _ in range({WORDS})))
    show("words")
tokenizer.cache_clear()
show("cleared")
"""


@pytest.mark.skipif(not STATM.exists(), reason="needs Linux: reads /proc")
def test_memory_levels_off(capsys):
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=env
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    with capsys.disabled():
        print(f"\nresident memory in MB, {LINES * WORDS:,} new words between the rows")
        for what, resident, info in rows:
            print(f"{what:8} {resident:>7} {info}")
    resident = [float(row[1]) for row in rows if row[0] == "words"]
    assert len(resident) == STEPS
    remembered = [int(row[2]) for row in rows if row[0] == "words"]
    assert max(remembered) <= MEMORY_LIMIT
    half = STEPS // 2
    assert max(resident[half:]) <= max(resident[:half]) + SLACK
