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
PROGRAM = str(ROOT / "tests" / "core" / "thread_calls.py")
ENGINES = [
    (sys.executable, "trietok"),
    (sys.executable, "trietok-fast"),
    (sys.executable, "transformers"),
    *([(PYTHON5, "transformers")] if PYTHON5 else []),
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
    for python, engine in ENGINES:
        command = [python, "-W", "ignore", PROGRAM, engine, str(tmp_path), "4000", interval]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        found = json.loads(done.stdout)
        with capsys.disabled():
            print(f"\n{engine}, threads switched after {interval} s: {found}")
        if engine != "transformers":
            assert (found["calls"], found["errors"], found["wrong"]) == (4000, {}, 0)
