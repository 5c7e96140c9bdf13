"""Columns of a terminal: how many a text takes, and lines that fit.

In: printable text. Out: its width, or its lines.
"""

from __future__ import annotations

import unicodedata


def width(text: str) -> int:
    """How many columns of a terminal a text takes.

    >>> width("abc"), width("東京"), width("e\\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    return sum(map(_width, text))


def _width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """A text with spaces behind it, or before it, up to a number of columns.

    >>> padded("東", 4), padded("7", 3, right=True)
    ('東  ', '  7')
    """
    spaces = " " * max(columns - width(text), 0)
    return spaces + text if right else text + spaces


def cut_to(text: str, columns: int) -> str:
    """A text that takes at most so many columns; an ellipsis stands for the rest.

    >>> cut_to("東京タワー", 6), cut_to("abc", 3)
    ('東京…', 'abc')
    """
    if width(text) <= columns:
        return text
    used, kept = 1, []  # one for the ellipsis
    for char in text:
        used += _width(char)
        if used > columns:
            break
        kept.append(char)
    return "".join(kept) + "…"


def wrapped(text: str, columns: int) -> list[str]:
    """The lines of a text: broken at spaces where they can be, within a word where it is too long; at least one.

    >>> wrapped("one two three", 8), wrapped("東京タワー", 5)
    (['one two', 'three'], ['東京', 'タワ', 'ー'])
    """
    columns = max(columns, 2)
    lines, line, used = [], "", 0
    for word in text.split(" "):
        size = width(word)
        if line and used + 1 + size <= columns:
            line, used = f"{line} {word}", used + 1 + size
            continue
        if line:
            lines.append(line)
        while size > columns:
            taken = cut_to(word, columns + 1)[:-1] or word[0]
            lines.append(taken)
            word = word[len(taken) :]
            size = width(word)
        line, used = word, size
    return [*lines, line] if line or not lines else lines
