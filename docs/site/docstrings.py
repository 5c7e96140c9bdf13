"""Docstrings as Markdown: examples become blocks of code, and the names of classes and pages become
links.

griffe, which reads the sources for mkdocstrings, makes an object of the class and calls it.
"""

from __future__ import annotations

from typing import Any

import griffe
from pages import with_blocks
from reference import with_references


class Docstrings(griffe.Extension):
    """Changes every docstring before mkdocstrings reads it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_references(with_blocks(obj.docstring.value), of=obj.name)
