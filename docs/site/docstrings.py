"""Docstrings as Markdown: examples become blocks of code, which they are for a reader of the source already."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^[ \t]*>>> .*\n?(?:^[ \t]*\S.*\n?)*)(?:\n*^[ \t]*>>> .*\n?(?:^[ \t]*\S.*\n?)*)*", re.MULTILINE)
_FLAGS = re.compile(r"[ \t]*#[ \t]*doctest:.*$", re.MULTILINE)


def with_blocks(docstring: str) -> str:
    """A docstring whose examples stand between fences.

    >>> print(with_blocks("A sum.\\n\\n>>> 1 + 1  # doctest: +SKIP\\n2\\n\\nRaises:\\n    InputError: never.\\n"))
    A sum.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    Raises:
        InputError: never.
    <BLANKLINE>
    """
    return _EXAMPLE.sub(_block, docstring)


def _block(example: re.Match[str]) -> str:
    code = _FLAGS.sub("", example[0]).replace("<BLANKLINE>", "").rstrip()
    indent = re.match(r"[ \t]*", code)[0]  # type: ignore[index]
    end = "\n" if example[0].endswith("\n") else ""
    return f"{indent}```pycon\n{code}\n{indent}```{end}"


class Docstrings(griffe.Extension):
    """Changes every docstring before mkdocstrings reads it."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = with_blocks(obj.docstring.value)
