"""Memory while new words never stop: it has to level off."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

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
for step in range({STEPS}):
    for _ in range({LINES}):
        tokenizer.encode(" ".join(f"x{{random.randrange(10**12)}}y" for _ in range({WORDS})))
    with open("{STATM}") as file:
        resident = int(file.read().split()[1]) * resource.getpagesize() / 1e6
    info = tokenizer.cache_info()
    print(round(resident, 1), info.bytes, info.limit)
"""


@pytest.mark.skipif(not STATM.exists(), reason="needs Linux: reads /proc")
def test_memory_levels_off_while_new_words_come(capsys):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    with capsys.disabled():
        print(f"\nresident memory in MB, {LINES * WORDS:,} new words between the rows")
        print(*(f"{resident:>7} {cached}" for resident, cached, _ in rows), sep="\n")
    assert len(rows) == STEPS
    assert all(int(cached) <= int(limit) for _, cached, limit in rows)
    resident = [float(row[0]) for row in rows]
    assert max(resident[STEPS // 2 :]) <= max(resident[: STEPS // 2]) + SLACK
