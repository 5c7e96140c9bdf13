"""The Unicode tables of the Rust tokenizers: which characters they delete, split at, set apart, strip and lower-case.

In: `rust_characters_ranges.txt`, which `tests/parity/derive_rust_ranges.py` derives. Out: the ranges of a class, and
NFD and lower case as Rust has them, the same on every Python. The file is read when a class is first needed, and each
class is parsed by itself.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
import unicodedata
from bisect import bisect_right

from trietok.text.characters import normalize

_FILE = pathlib.Path(__file__).parent / "rust_characters_ranges.txt"


@functools.cache
def _lines() -> dict[str, str]:
    lines = (line for line in _FILE.read_text(encoding="ascii").splitlines() if not line.startswith("#"))
    return {name: rest for name, _, rest in (line.partition(":") for line in lines)}


@functools.cache
def boundaries(name: str) -> tuple[int, ...]:
    """The code points where a class begins and ends: begin, end, begin, ..., each end not included.

    >>> boundaries("deleted")[:4] == (0x00, 0x09, 0x0B, 0x0D)
    True
    """
    found: list[int] = []
    for part in _lines()[name].split():
        first, _, last = part.partition("-")
        found += int(first, 16), int(last or first, 16) + 1
    return tuple(found)


def is_in(name: str, char: str) -> bool:
    """Whether a character is in a class.

    >>> is_in("deleted", "\\u200b"), is_in("deleted", "\\u0378"), is_in("punctuation", "。"), is_in("marks", "\\u0301")
    (True, False, True, True)
    """
    return bisect_right(boundaries(name), ord(char)) % 2 == 1


def character_class(*names: str) -> str:
    """The characters of some classes as the inside of a regular expression's `[...]`.

    >>> import re
    >>> re.split(f"[{character_class('split_space')}]", "a b\\u3000c\\x1cd")
    ['a', 'b', 'c\\x1cd']
    """
    bounds = [bound for name in names for bound in boundaries(name)]
    pairs = zip(bounds[::2], bounds[1::2], strict=True)
    return "".join(f"\\U{begin:08x}-\\U{end - 1:08x}" for begin, end in pairs)


@functools.cache
def lower_case() -> dict[int, str]:
    """Code point → lower case, for every character that has one; as `str.translate` takes it.

    >>> "ΟΔΟΣ İ".translate(lower_case()) == "οδοσ i\\u0307"
    True
    """
    table = {0x130: "i\u0307"}
    for part in _lines()["lower"].split():
        span, _, change = part.partition("/")
        first, _, last = span.partition("-")
        step, delta = int(change[0]), int(change[1:], 16)
        table.update((code, chr(code + delta)) for code in range(int(first, 16), int(last, 16) + 1, step))
    return table


_same_in_python: set[str] = set()  # characters met, of the basic plane, whose NFD is the same in Python and Rust


def nfd(text: str) -> str:
    """The canonical decomposition of Unicode 9: newer characters are neither decomposed nor moved.

    Python may know more characters, but no other decompositions. So each stretch of characters that Rust decomposes or
    reorders is decomposed by Python, by itself.

    >>> nfd("é") == "e\\u0301", nfd("\\U00011938") == "\\U00011938"
    (True, True)
    """
    new = set(text) - _same_in_python
    if new:
        same = {char for char in new if _is_same_in_python(char)}
        _same_in_python.update(char for char in same if char < "\U00010000")
        if len(same) < len(new):
            stretches = itertools.groupby(text, _is_moved)
            return "".join(_python_nfd("".join(chars)) if moved else "".join(chars) for moved, chars in stretches)
    return _python_nfd(text)


_python_nfd = functools.partial(normalize, "NFD")


def _is_moved(char: str) -> bool:
    return is_in("decomposed", char) or is_in("nonstarters", char)


def _is_same_in_python(char: str) -> bool:
    return _is_moved(char) or not (unicodedata.combining(char) or unicodedata.decomposition(char))
