"""What becomes of characters, told to a kernel a block at a time: to ask for each takes longer.

In: a code point. Out: what becomes of it, or of all code points around it. Which is not decided here: of characters of
one sort the same becomes, so one is classified and tells of the others.
"""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Callable, Collection
from typing import Any

from trietok.text.characters import normalize

BLOCK = 256  # code points
FLAGS_SHIFT = 3
# What normalization makes of a character: itself, nothing, letters and digits; else each is asked for by itself.
_ITSELF, _NOTHING, _WORD, _OTHER = range(4)
_MARKS = frozenset(("Mn", "Mc", "Me"))
_LETTERS = "letters and digits"  # of several categories
Sort = tuple[str, int, int]  # its category, its class, and which of these
# The first of a block; of each a byte, kind and flags, or 0 where it is to be asked for by itself; UTF-8 of what each
# becomes with line feeds between, or nothing where those that are kept become themselves.
BlockAnswer = tuple[int, bytes, bytes]


class Blocks:
    """What a kernel asks about code points.

    Args:
        classify: kind, combining class, flags and UTF-8 of what becomes of a code point by itself.
        keeps: the kinds of characters that become that UTF-8.
        classes: of each code point a number, the same for those to which the same rules apply, if their categories are
            the same too; 0 for most.
        lowers: whether letters are lower-cased.
        normalize: lower-cases a text and strips marks; None where what is around a mark counts.
        keys: of characters that become one of these nothing is told.
        may_compose: whether one of some characters may compose with what is before it; that counts without `normalize`.
    """

    def __init__(
        self,
        classify: Callable[[int], tuple[int, int, int, bytes]],
        keeps: Collection[int],
        classes: Callable[[], bytearray],
        lowers: bool,
        normalize: Callable[[str], str] | None,
        keys: Collection[str],
        may_compose: Callable[[str], bool],
    ) -> None:
        self._classify, self._keeps, self._classes = classify, keeps, classes
        self._lowers, self._normalize = lowers, normalize
        self._keys, self._may_compose = keys, may_compose
        self._asked: set[int] = set()
        self._told: dict[Sort, int] = {}

    def ask(self, code_point: int) -> Any:
        """What becomes of a code point; at first a `BlockAnswer`, of all around it beyond Latin-1."""
        first = code_point - code_point % BLOCK
        if not first or first in self._asked:
            return self._classify(code_point)
        self._asked.add(first)
        return (first, *self._tell(array("I", range(first, first + BLOCK)).tobytes().decode("utf-32")))

    def _tell(self, chars: str) -> tuple[bytes, bytes]:
        lined, first = "\n".join(chars), ord(chars[0])
        forms = normalize("NFD", lined.lower() if self._lowers else lined)
        has_key = any(key in chars or key in forms for key in self._keys)
        if has_key or (self._normalize is None and self._may_compose(chars)):
            return bytes(BLOCK), b""
        if self._normalize is not None and "\uac00" <= chars[0] and chars[-1] <= "\ud7a3":
            kind, _, flags, _ = self._classify(first)  # all of Hangul is of one sort
            return bytes((kind | flags << FLAGS_SHIFT,)) * BLOCK, forms.encode()
        classes = self._classes()[first : first + BLOCK]
        categories = [_LETTERS] if chars.isalnum() else [*map(unicodedata.category, chars)]
        is_changed = forms != lined or not _MARKS.isdisjoint(categories)
        if not is_changed and len(set(categories)) == 1 and classes.count(classes[:1]) == BLOCK:
            sort = categories[0], classes[0], _ITSELF
            return bytes((self._values({sort: (chars[0], chars[0])})[sort],)) * BLOCK, b""
        natures = [_ITSELF] * BLOCK
        becomes = [*chars]
        categories *= BLOCK // len(categories)
        if is_changed:
            lines = forms.split("\n")
            odd = [i for i in range(BLOCK) if lines[i] != chars[i] or categories[i] in _MARKS]
            self._normalize_odd(odd, becomes, natures)
        sorts = [*zip(categories, classes, natures, strict=True)]
        values = self._values(dict(zip(sorts, zip(chars, becomes, strict=True), strict=True)))
        outputs = "\n".join(becomes).encode() if is_changed else b""
        return bytes(map(values.__getitem__, sorts)), outputs

    def _normalize_odd(self, odd: list[int], becomes: list[str], natures: list[int]) -> None:
        """Work out what becomes of those at some places, which is not sure to be themselves."""
        if self._normalize is None:
            for i in odd:
                natures[i] = _OTHER
            return
        forms = self._normalize("\n".join([becomes[i] for i in odd])).split("\n")
        classes = self._classes()
        letters = {char for char in set("".join(forms)) if char.isalnum() and not classes[ord(char)]}
        for i, form in zip(odd, forms, strict=True):
            is_word = letters.issuperset(form) and form != becomes[i]
            natures[i] = _OTHER if not is_word else _WORD if form else _NOTHING
            becomes[i] = form

    def _values(self, examples: dict[Sort, tuple[str, str]]) -> dict[Sort, int]:
        """A byte for each sort, of which there is a character and what becomes of it."""
        for sort, (char, becomes) in examples.items():
            if sort not in self._told and sort[2] != _OTHER:
                kind, _, flags, word = self._classify(ord(char))
                if word == (becomes.encode() if kind in self._keeps else b""):
                    self._told[sort] = kind | flags << FLAGS_SHIFT
        return {sort: self._told.get(sort, 0) for sort in examples}
