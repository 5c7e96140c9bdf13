"""Imported before anything asks for a kernel: where these sources have none beside them, that of an
installed trietok is copied there, if it was made of the same sources. So
`pip install ".[test]" && pytest` tests the kernel, too.
"""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import shutil

from trietok.text.kernel import build as build_kernel

_LIBRARY = build_kernel.FOLDER / build_kernel.LIBRARY
_DIGEST = build_kernel.sources_digest().encode()


def _copy_installed() -> None:
    for installed in importlib.metadata.distributions(name="trietok"):
        library = pathlib.Path(
            str(installed.locate_file(f"trietok/text/kernel/{build_kernel.LIBRARY}"))
        )
        if library.exists() and _DIGEST in library.read_bytes():
            copy = _LIBRARY.with_name(f"{_LIBRARY.name}.{os.getpid()}")
            shutil.copy(library, copy)
            copy.replace(_LIBRARY)  # at once: other processes of the tests do the same
            return


def is_there() -> bool:
    """Whether the tests can use a compiled kernel."""
    from trietok.text.kernel import choosing

    return bool(choosing.IS_THERE)


if not _LIBRARY.exists():
    _copy_installed()
IS_STALE = _LIBRARY.exists() and _DIGEST not in _LIBRARY.read_bytes()
STALE = f"{_LIBRARY.name} was made of other sources; run `python -m trietok.text.kernel.build`"
if IS_STALE:  # the tests of Python code run without it, those marked `kernel` fail
    os.environ["TRIETOK_KERNEL"] = "0"
