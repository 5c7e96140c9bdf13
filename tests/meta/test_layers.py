"""Packages import each other in the order of their layers, and none imports itself by a detour;
`[tool.importlinter]` in pyproject.toml names the layers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import needs

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(no_cache=True))
"""


def test_packages_import_only_lower_layers_and_never_in_a_circle():
    needs("importlinter")  # from Python 3.11 on
    command = [sys.executable, "-c", PROGRAM]  # a process of its own: it disables other loggers
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
