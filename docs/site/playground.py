"""The playground as a part of the site: built where npm is there.

`TRIETOK_PLAYGROUND` names a folder that `docs/playground/build.py` has built already.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

BUILD = Path(__file__).parents[1] / "playground" / "build.py"
FOLDER = "playground"

THERE = """!!! tip "Try it here"

    [Open the playground](playground/index.html): it is a part of this site. Python starts in
    your browser, which takes some seconds, and nothing that you type leaves it.
"""
NOT_THERE = """!!! note "Not a part of this copy"

    This copy of the site was built where there is no npm, which fetches Python for the browser, so
    it has no playground. The commands below start one on your machine.
"""


@cache
def built() -> Path | None:
    """The folder of the built playground, which is gone when the process ends; None where npm is
    not there.
    """
    ready = os.environ.get("TRIETOK_PLAYGROUND")
    if ready:
        return Path(ready)
    if shutil.which("npm") is None:
        return None
    scratch = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    folder = Path(scratch, FOLDER)
    subprocess.run([sys.executable, str(BUILD), str(folder)], check=True, stdout=subprocess.DEVNULL)
    return folder


def with_link(markdown: str, folder: Path | None) -> str:
    """The page about the playground, which says under its heading whether it is a part of the
    site.
    """
    heading = "## The playground\n"
    return markdown.replace(heading, f"{heading}\n{NOT_THERE if folder is None else THERE}", 1)
