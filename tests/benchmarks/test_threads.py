"""Sixteen threads on one tokenizer, each with lengths, sides and strides of its own: errors, and
wrong results.

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

from tests.core.thread_calls import OFTEN
from trietok.files.model_files import built_in_directory

pytestmark = pytest.mark.benchmark

ROOT = pathlib.Path(__file__).parent.parent.parent
PROGRAM = ROOT / "tests" / "tokenizer" / "thread_calls.py"
PYTHON5 = os.environ.get("TRIETOK_TRANSFORMERS5_PYTHON")
CALLS = 4000
PYTHONS_OWN = 5e-3


def stressed(python: str, engine: str, directory: pathlib.Path, interval: float) -> dict:
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [python, "-W", "ignore", str(PROGRAM), engine, str(directory), str(CALLS), str(interval)],
        capture_output=True,
        text=True,
        check=True,
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
        },
    )
    return json.loads(done.stdout)


def test_threads(tmp_path, capsys):
    transformers.BertTokenizerFast.from_pretrained(
        built_in_directory("trietok-en")
    ).save_pretrained(tmp_path)
    sides = [
        (sys.executable, "trietok"),
        (sys.executable, "trietok-fast"),
        (sys.executable, "transformers"),
    ]
    if PYTHON5:
        sides.append((PYTHON5, "transformers"))
    for interval in (PYTHONS_OWN, OFTEN):
        with capsys.disabled():
            print(f"\n{CALLS:,} calls, threads switched after {interval * 1e6:.0f} µs")
        for python, engine in sides:
            found = stressed(python, engine, tmp_path, interval)
            with capsys.disabled():
                print(
                    f"{engine:13} {found['version']:8} {sum(found['errors'].values()):5} errors,",
                    end=" ",
                )
                print(f"{found['wrong']:5} wrong without an error")
                for message, count in sorted(found["errors"].items(), key=lambda item: -item[1]):
                    print(f"{'':24}{count:5} × {message}", flush=True)
            if engine != "transformers":
                assert (found["errors"], found["wrong"]) == ({}, 0)
