"""Run a module with a kernel that was compiled elsewhere, such as one with sanitizers.

python -m tests.text.run_with_kernel LIBRARY MODULE [ARGUMENT ...]
"""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import importlib.util
import pathlib
import runpy
import sys

import trietok.text
from trietok.text import build_kernel


def load(library: str) -> None:
    """Load a library as `trietok.text._kernel`, before anything has asked for that."""
    name = "trietok.text._kernel"
    assert name not in sys.modules
    loader = importlib.machinery.ExtensionFileLoader(name, library)
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = trietok.text._kernel = module  # type: ignore[assignment]


def load_installed() -> None:
    """Where these sources have no kernel beside them, load that of an installed trietok, if it was made of the same."""
    if importlib.util.find_spec("trietok.text._kernel") is not None:
        return
    for installed in importlib.metadata.distributions(name="trietok"):
        library = pathlib.Path(str(installed.locate_file(f"trietok/text/{build_kernel.LIBRARY}")))
        if library.exists() and build_kernel.sources_digest().encode() in library.read_bytes():
            load(str(library))
            return


if __name__ == "__main__":
    sys.argv.pop(0)
    load(sys.argv.pop(0))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
