"""Run a module with a kernel that was compiled elsewhere, such as one with sanitizers.

python -m tests.kernel.run_with_kernel LIBRARY MODULE [ARGUMENT ...]
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import runpy
import sys

import trietok.text.kernel


def load(library: str) -> None:
    """Load a library as `trietok.text.kernel._kernel`, before anything has asked for that."""
    name = "trietok.text.kernel._kernel"
    assert name not in sys.modules
    loader = importlib.machinery.ExtensionFileLoader(name, library)
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = trietok.text.kernel._kernel = module  # type: ignore[assignment]


if __name__ == "__main__":
    sys.argv.pop(0)
    load(sys.argv.pop(0))
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
