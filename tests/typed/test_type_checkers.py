"""What type checkers say of a user's scripts: nothing of `passes.py`, an error on each marked line
of `fails.py`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import needs

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
SCRIPTS = ["passes.py", "fails.py"]
WANTED = {
    number: line.rpartition("  # ")[2]
    for number, line in enumerate((FOLDER / "fails.py").read_text(encoding="utf-8").splitlines(), 1)
    if re.search(r"  # [a-z-]+$", line)
}


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


@pytest.mark.clients
def test_mypy_finds_only_the_marked_mistakes(tmp_path):
    needs("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file=",
        "--strict",
        "--follow-imports=silent",
        "--no-pretty",
    ]
    scripts = [str(FOLDER / script) for script in SCRIPTS]
    said = run([*command, f"--cache-dir={tmp_path}", *scripts], MYPYPATH=str(ROOT))
    assert not said.stderr
    found = re.findall(r"(\w+)\.py:(\d+): error: .*\[([a-z-]+)\]$", said.stdout, re.MULTILINE)
    assert {(int(line), code) for name, line, code in found if name == "fails"} == set(
        WANTED.items()
    )
    assert [each for each in found if each[0] != "fails"] == []


@pytest.mark.clients
def test_pyright_finds_only_the_marked_mistakes():
    pyright = shutil.which("pyright") or shutil.which(
        "pyright", path=os.path.dirname(sys.executable)
    )
    if pyright is None:
        pytest.skip("needs pyright")
    scripts = [str(FOLDER / script) for script in SCRIPTS]
    said = json.loads(
        run([pyright, "--outputjson", "--pythonpath", sys.executable, *scripts]).stdout
    )
    found = {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1)
        for each in said["generalDiagnostics"]
    }
    assert found == {("fails.py", line) for line in WANTED}
