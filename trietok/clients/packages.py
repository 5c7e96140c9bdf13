"""Import a client's package, or say how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from trietok.errors import MissingDependencyError


def package(name: str, needed_by: str) -> Any:
    """The package, imported.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the package is there, and lacks one of its own
            raise
        raise MissingDependencyError(f"{needed_by} needs the package {name}: pip install {name}", extra=name) from None
