"""Sixteen threads on one tokenizer, each with lengths and sides of its own: errors, and wrong
results.

    pytest -m benchmark tests/benchmarks/test_threads.py

trietok's two profiles stand beside transformers' fast tokenizer, each in a process of its own.
TRIETOK_TRANSFORMERS5_PYTHON names a Python with transformers 5, which is asked too.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest
import transformers

from trietok import BertTokenizer

pytestmark = pytest.mark.benchmark

ROOT = pathlib.Path(__file__).parent.parent.parent
PYTHON5 = os.environ.get("TRIETOK_TRANSFORMERS5_PYTHON")
PROGRAM = """
import importlib, json, sys, threading
from collections import Counter

library, name, directory, calls, interval = sys.argv[1:]
tokenizer = getattr(importlib.import_module(library), name).from_pretrained(directory)
texts = ["we the people of the united states, in order " * 3, "do ordain", "", "naive [MASK] café"]
errors, wrong, start = Counter(), [], threading.Barrier(16)

def call(thread, number):
    options = {"max_length": 12 + thread, "padding_side": ("left", "right")[thread % 2]}
    options["padding"] = ("max_length", True, False)[number % 3]
    options["return_overflowing_tokens"] = number % 2 == 0 and number % 3 != 1
    options["stride"] = thread % 5 if options["return_overflowing_tokens"] else 0
    return dict(tokenizer([*texts[number % 3 :], str(thread)], truncation=True, **options))

alone = [[call(thread, number) for number in range(6)] for thread in range(16)]

def make_calls(thread):
    start.wait()
    for number in range(int(calls) // 16):
        try:
            if call(thread, number % 6) != alone[thread][number % 6]:
                wrong.append(thread)
        except BaseException as error:  # what a panic of Rust raises is no Exception
            errors[f"{type(error).__name__}: {error}"[:60]] += 1

sys.setswitchinterval(float(interval))
threads = [threading.Thread(target=make_calls, args=[thread]) for thread in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps({"errors": errors, "wrong": len(wrong)}))
"""
SIDES = [
    (sys.executable, "trietok", "BertTokenizer"),
    (sys.executable, "trietok", "BertTokenizerFast"),
    (sys.executable, "transformers", "BertTokenizerFast"),
    *([(PYTHON5, "transformers", "BertTokenizerFast")] if PYTHON5 else []),
]


@pytest.mark.parametrize("interval", ["5e-3", "1e-5"])  # Python's own, and one that switches often
def test_threads_with_options_of_their_own_get_right_results(tmp_path, capsys, interval):
    BertTokenizer.from_pretrained("trietok-en").save_pretrained(tmp_path)
    transformers.BertTokenizerFast.from_pretrained(tmp_path).save_pretrained(tmp_path)
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TOKENIZERS_PARALLELISM": "false",
        "HF_HUB_OFFLINE": "1",
    }
    for python, library, name in SIDES:
        command = [python, "-W", "ignore", "-c", PROGRAM, library, name, str(tmp_path)]
        done = subprocess.run(
            [*command, "4000", interval], capture_output=True, text=True, check=True, env=env
        )
        found = json.loads(done.stdout)
        with capsys.disabled():
            print(f"\n{library} {name}, threads switched after {interval} s: {found}")
        if library == "trietok":
            assert found == {"errors": {}, "wrong": 0}
