"""Writing to standard output: lines that any reader can take, and that leave a terminal as it is.

In: lines, or values as JSON. Out: lines on standard output, each written out before the next text is read.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from typing import Any

import trietok

# Allowed in JSON as they are, yet some readers end a line at them, and lone surrogates have no UTF-8.
_ESCAPED_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# On a terminal these turn the direction of what stands around them, beyond the text they are in.
_TURNS_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def json_line(values: Any) -> str:
    """`values` as one line of JSON in any reader: what could break the line, or is no UTF-8, is escaped."""
    line = json.dumps(values, ensure_ascii=False)
    return _ESCAPED_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout is not None and sys.stdout.isatty()


def prepare_output() -> None:
    """Make standard output take any text, and pass on every line at once."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace", newline="\n", line_buffering=True)


def write_line(line: str) -> None:
    """Write one line to standard output."""
    with writing():
        print(line)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Name standard output in what goes wrong while it is written to.

    Raises:
        FileError: it cannot be written to.
        BrokenPipeError: nobody reads it any more.
    """
    if sys.stdout is None:
        raise trietok.FileError("cannot write: standard output is closed", path="standard output")
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise trietok.FileError(f"cannot write to standard output: {error.strerror}", path="standard output") from error


def visible(text: str) -> str:
    r"""A text for one line of a terminal: what would move the cursor, break the line or turn the text is escaped.

    >>> print(visible("a\tb\x1b[2J\u2028"))
    a\tb\x1b[2J\u2028
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(char)[1:-1] if _is_escaped(char) else char for char in text)


def _is_escaped(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _TURNS_DIRECTION
