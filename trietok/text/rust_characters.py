"""The Unicode tables of the Rust tokenizers: which characters they delete, split at, set apart, strip and lower-case.

In: `rust_characters_ranges.txt`, which `tests/parity/derive_rust_ranges.py` derives. Out: the ranges of a class, and
NFD, NFC and lower case as Rust has them, the same on every Python. The file is read when a class is first needed, and
each class is parsed by itself.
"""

from __future__ import annotations

import functools
import itertools
import pathlib
import unicodedata
from bisect import bisect_right
from typing import Literal

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


_same_in_python: set[str] = set()  # characters met, of the basic plane, with the same normal forms in Python and Rust


def nfd(text: str) -> str:
    """The canonical decomposition of Unicode 9: newer characters are neither decomposed nor moved.

    >>> nfd("é") == "e\\u0301", nfd("\\U00011938") == "\\U00011938"
    (True, True)
    """
    return _by_python("NFD", text)


def nfc(text: str) -> str:
    """The canonical composition of Unicode 9: no newer character comes of it, and newer marks stay where they are.

    >>> nfc("e\\u0301") == "é", nfc("e\\u08d3\\u0301") == "e\\u08d3\\u0301"
    (True, True)
    >>> nfc("\\U00011935\\U00011930") == "\\U00011935\\U00011930"
    True
    """
    return _by_python("NFC", text)


def combining_class(char: str) -> int:
    """The class by which marks are put in order; 0 for those that are newer than Unicode 9."""
    return unicodedata.combining(char) if is_in("nonstarters", char) else 0


def _by_python(form: Literal["NFC", "NFD"], text: str) -> str:
    """A normal form by Python, which may know more characters, but gives the others the same form.

    So each stretch between newer characters that Python decomposes or reorders is normalized by itself.
    """
    new = set(text) - _same_in_python
    if new:
        same = {char for char in new if _is_same_in_python(char)}
        _same_in_python.update(char for char in same if char < "\U00010000")
        if len(same) < len(new):
            stretches = ("".join(chars) for _, chars in itertools.groupby(text, _is_same_in_python))
            return "".join(_stretch(form, chars) if _is_same_in_python(chars[0]) else chars for chars in stretches)
    return _stretch(form, text)


def _stretch(form: Literal["NFC", "NFD"], text: str) -> str:
    """A normal form of characters that are the same in Python, without the newer characters that they compose to."""
    whole = normalize(form, text)
    newer = {ord(char): normalize("NFD", char) for char in set(whole).difference(text) if not _is_same_in_python(char)}
    return whole.translate(newer) if newer else whole


def _is_same_in_python(char: str) -> bool:
    if is_in("decomposed", char) or is_in("nonstarters", char):
        return True
    taken_apart = unicodedata.decomposition(char)
    return not unicodedata.combining(char) and (not taken_apart or taken_apart.startswith("<"))
