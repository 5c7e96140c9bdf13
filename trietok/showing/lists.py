"""Lists in a sentence: the first few, and how many more there are; a number with its noun; names to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST_NAMED = 10


def first_few(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first of some names, and how many more there are.

    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def number_of(count: int, what: str) -> str:
    """A number of things, to read.

    >>> number_of(1, "text"), number_of(1200, "text")
    ('1 text', '1,200 texts')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def alternatives(names: Iterable[str]) -> str:
    """Names to choose from.

    >>> alternatives(["a", "b", "c"])
    "'a', 'b' or 'c'"
    """
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}" if others else last
