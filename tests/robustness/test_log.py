"""What trietok has to say is heard whether or not Python's logging is there."""

from __future__ import annotations

import subprocess
import sys

SAY = """
import sys
from trietok import log

log.warning("%d of %s", 3, "100 %")
log.warning("100 %")
assert "logging" not in sys.modules
import logging

log.warning("%d of %s", 3, "100 %")
log.warning("100 %")
del sys.modules["logging"]
sys.stderr = None
log.warning("nobody hears")
"""


def test_a_warning_without_logging_is_what_logging_makes_of_it():
    shown = subprocess.run([sys.executable, "-c", SAY], capture_output=True, text=True)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "3 of 100 %\n100 %\n" * 2)
