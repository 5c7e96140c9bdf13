"""Writing to standard output: lines that any reader can take, and that leave a terminal as it is.

In: lines, or values as JSON. Out: lines on standard output, each written out before the next text is read.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unicodedata
from collections.abc import Iterator

import trietok
from trietok.files.formats import json_line as json_line

# On a terminal these turn the direction of what stands around them, beyond the text they are in.
_TURNS_DIRECTION = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Closed(io.TextIOBase):
    """Standard output where there is none: whoever writes to it is told."""

    def write(self, text: str) -> int:
        raise trietok.FileError("cannot write: standard output is closed", path="standard output")


def open_streams() -> None:
    """Put something in the place of closed standard streams, which click takes for the other one or passes over."""
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process lasts


def on_terminal() -> bool:
    """Whether a person looks at the output."""
    return sys.stdout.isatty()


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
    try:
        yield
    except (BrokenPipeError, trietok.FileError):
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
