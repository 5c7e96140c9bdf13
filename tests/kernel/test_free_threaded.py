"""A free-threaded Python: the compiled kernel is left alone there, and what trietok imports leaves
the GIL off.

TRIETOK_FREE_THREADED_PYTHON names one that has `regex` and `pygtrie`; it needs no pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FREE_THREADED = os.environ.get("TRIETOK_FREE_THREADED_PYTHON")

ENCODES = """
import sys, trietok
ids = trietok.BertTokenizer.from_pretrained("trietok-en").encode("the people")
print(ids, trietok.kernel, "trietok.text.kernel._kernel" in sys.modules)
"""
IMPORTS_ALL = """
import json, sys, trietok
missing = []
for name in trietok.__all__:
    try:
        getattr(trietok, name)
    except ImportError:  # numpy, or another package of an extra
        missing.append(name)
print(json.dumps([sys._is_gil_enabled(), trietok.kernel, missing]))
"""


def run(python: str, *arguments: str) -> str:
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [python, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert "GIL" not in done.stderr  # Python warns where a module switches it on
    return done.stdout


def test_a_python_that_cannot_load_the_kernel_does_not_try():
    """Its flags say what it is; the library has a name that it would find."""
    code = "import sys; sys.abiflags += 't'\n" + ENCODES
    assert run(sys.executable, "-c", code).split("] ") == ["[2, 134, 289, 3", "plain False\n"]


@pytest.mark.clients
@pytest.mark.skipif(not FREE_THREADED, reason="needs TRIETOK_FREE_THREADED_PYTHON")
def test_the_gil_stays_off():
    assert json.loads(run(FREE_THREADED, "-c", IMPORTS_ALL)) == [False, "plain", []]


@pytest.mark.clients
@pytest.mark.skipif(not FREE_THREADED, reason="needs TRIETOK_FREE_THREADED_PYTHON")
@pytest.mark.parametrize("engine", ["trietok", "trietok-fast"])
def test_sixteen_free_threads_get_the_results_of_one(engine):
    program = str(ROOT / "tests" / "core" / "thread_calls.py")
    found = json.loads(run(FREE_THREADED, program, engine, "trietok-en", "8000", "0.005"))
    assert (found["calls"], found["errors"], found["wrong"]) == (8000, {}, 0)
