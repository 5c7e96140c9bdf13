"""Sub-interpreters: the kernel works in those that share the GIL; one with a GIL of its own has
plain Python.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import trietok

ROOT = Path(__file__).parents[2]
NAMES = {(3, 11): "_xxsubinterpreters", (3, 12): "_xxsubinterpreters"}
NAME = NAMES.get(sys.version_info[:2], "_interpreters")

ENCODES = """
import trietok
tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
ids = tokenizer(["The people, united, en São Paulo!"] * 1000)["input_ids"]
assert ids == [[2, 134, 289, 32, 509, 32, 266, 408, 120, 1684, 259, 120, 21, 3]] * 1000
print(trietok.kernel, flush=True)
"""
PROGRAM = f"""
import {NAME} as interpreters

code = {ENCODES!r}
exec(code)
for _ in range(2):  # the second finds what the first left
    one = interpreters.create()
    problem = getattr(interpreters, "exec", interpreters.run_string)(one, code)
    assert problem is None, problem
    interpreters.destroy(one)
exec(code)
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs Python 3.11")
def test_each_interpreter_has_a_kernel_or_none():
    pytest.importorskip(NAME, reason="needs sub-interpreters")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    # from 3.12 on they have a GIL of their own
    inside = trietok.kernel if sys.version_info < (3, 12) else "plain"
    assert done.stdout.split() == [trietok.kernel, inside, inside, trietok.kernel]
