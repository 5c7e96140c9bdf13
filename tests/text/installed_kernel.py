"""Imported before anything asks for a kernel: where these sources have none beside them, the tests use that of an
installed trietok, if it was made of the same sources."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import pathlib

from tests.text.run_with_kernel import load
from trietok.text import build_kernel


def _library() -> pathlib.Path | None:
    if importlib.util.find_spec("trietok.text._kernel") is not None:
        return None
    for installed in importlib.metadata.distributions(name="trietok"):
        library = pathlib.Path(str(installed.locate_file(f"trietok/text/{build_kernel.LIBRARY}")))
        if library.exists() and build_kernel.sources_digest().encode() in library.read_bytes():
            return library
    return None


_found = _library()
if _found is not None:
    load(str(_found))
