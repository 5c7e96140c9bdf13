"""What becomes of characters, told to a kernel a block at a time: to ask for each takes longer.

In: a code point. Out: what becomes of it, or of all code points around it. Which that is, is not
decided here: the same becomes of all characters of one sort, so the first that is met is classified
and tells of the others.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Sequence
from typing import Any

from trietok.text.cache import cached_property

BLOCK_SIZE = 256  # code points
# The first and the last block of which all characters are Chinese, assigned, and the same in every
# form.
FIRST_CHINESE, LAST_CHINESE = 0x4E00, 0x9E00
# Of texts in 190 languages fewer are asked: few of a block, which takes as long as 10 to 100 alone.
ASKED_ALONE = 2_000
_FROM_0_ON, _ONES = (
    int.from_bytes(b"".join(number.to_bytes(4, "little") for number in numbers), "little")
    for numbers in (range(BLOCK_SIZE), [1] * BLOCK_SIZE)
)
FLAGS_SHIFT = 3
# What normalization makes of a character: itself, nothing, letters and digits; of what else it may
# make, each is asked for by itself.
_ITSELF, _NOTHING, _WORD, _OTHER = range(4)
_MARKS = frozenset(("Mn", "Mc", "Me"))
_ALPHANUMERIC = "several"  # categories
Sort = tuple[str, int, int]  # its category, its class, and which of these


class CharacterBlocks:
    """What a kernel asks about code points.

    Args:
        classify: kind, combining class, flags and UTF-8 of what becomes of a code point by itself.
        keeps: the kinds of those that become that UTF-8; others have none.
        classes: of each code point a number, the same for those of a category to which the same
            rules apply; 0 for most.
        lowers: whether letters are lower-cased.
        strip: lower-cases a text and strips its marks; None where what is around a mark counts.
        keys: of blocks with characters that may become one of these nothing is told.
        composing: the places of those that may compose with what is before them, which counts
            without `strip`.
        alone: how many are told of alone, before the blocks of others.
    """

    def __init__(
        self,
        classify: Callable[[int], tuple[int, int, int, bytes]],
        keeps: Collection[int],
        classes: Callable[[], bytearray],
        lowers: bool,
        strip: Callable[[str], str] | None,
        keys: Collection[str],
        composing: Callable[[str], Collection[int]],
        alone: int,
    ) -> None:
        self._classify, self._keeps, self._classes = classify, keeps, classes
        self._lowers, self._strip, self._keys = lowers, strip, keys
        self._composing = composing
        self._left_alone = alone
        self._answers: dict[int, tuple[int, bytes, bytes]] = {}  # by the first of a block
        self._told: dict[Sort, int] = {}

    def ask(self, code_point: int) -> Any:
        """What becomes of a code point; or, where many are asked, of all in the block around it.

        Returns:
            What `classify` says; or the first of a block, of each in it a byte, its kind and flags
            or 0 where it is to be asked for by itself, and UTF-8 of what each becomes, with line
            feeds between; nothing where those that are kept become themselves.
        """
        first = code_point - code_point % BLOCK_SIZE
        if FIRST_CHINESE <= first <= LAST_CHINESE and self._chinese:
            return first, self._chinese, b""
        answer = self._answers.get(first)
        self._left_alone -= answer is None
        if answer is None and first and self._left_alone < 0:
            answer = self._answers[first] = self._answer(first)
            return answer  # it may leave out this code point; then the kernel asks again
        return answer if answer and answer[1][code_point - first] else self._classify(code_point)

    def _answer(self, first: int) -> tuple[int, bytes, bytes]:
        chars = (_FROM_0_ON + first * _ONES).to_bytes(4 * BLOCK_SIZE, "little").decode("utf-32-le")
        forms = self._forms(chars)
        if any(key in chars or key in forms for key in self._keys):
            return first, bytes(BLOCK_SIZE), b""
        if self._strip is not None and chars[0] >= "\uac00" and chars[-1] <= "\ud7a3":
            kind, _, flags, _ = self._classify(first)  # all of Hangul is of one sort
            return first, bytes((kind | flags << FLAGS_SHIFT,)) * BLOCK_SIZE, forms.encode()
        return first, *self._tell(chars, chars if forms is chars else forms.split("\n"))

    @cached_property
    def _chinese(self) -> bytes:
        """What to tell of a block of Chinese characters, all of which have the same sort; nothing
        if one of them is a key.
        """
        if any(FIRST_CHINESE <= ord(key) < LAST_CHINESE + BLOCK_SIZE for key in self._keys):
            return b""
        char = chr(FIRST_CHINESE)
        value = self._value(("Chinese", 0, _ITSELF), char, char)
        return bytes((value,)) * BLOCK_SIZE if value else b""

    def _forms(self, chars: str) -> str:
        """What becomes of each character without a look at marks, with line feeds between; the same
        str where all become themselves.
        """
        lowered = chars.lower() if self._lowers else chars
        if lowered == chars and unicodedata.is_normalized("NFD", chars):
            return chars
        lined = "\n".join(chars)
        return unicodedata.normalize("NFD", lined.lower() if self._lowers else lined)

    def _tell(self, chars: str, forms: Sequence[str]) -> tuple[bytes, bytes]:
        classes = self._classes()[ord(chars[0]) : ord(chars[0]) + BLOCK_SIZE]
        if chars.isalnum():
            categories = [_ALPHANUMERIC] * BLOCK_SIZE
        else:
            categories = [*map(unicodedata.category, chars)]
        composing = self._composing(chars) if self._strip is None else ()
        if forms is chars and not composing and _MARKS.isdisjoint(categories):
            if len(set(categories)) == 1 and classes.count(classes[:1]) == BLOCK_SIZE:
                sort = categories[0], classes[0], _ITSELF
                return bytes((self._value(sort, chars[0], chars[0]),)) * BLOCK_SIZE, b""
            becomes, natures, outputs = [*chars], [_ITSELF] * BLOCK_SIZE, ""
        else:
            becomes, natures = self._normalized(chars, forms, categories, composing)
            outputs = "\n".join(becomes)
        sorts = [*zip(categories, classes, natures, strict=True)]
        values = {}
        for sort in set(sorts):
            i = sorts.index(sort)
            values[sort] = self._value(sort, chars[i], becomes[i])
        return bytes(map(values.__getitem__, sorts)), outputs.encode()

    def _normalized(
        self, chars: str, forms: Sequence[str], categories: list[str], composing: Collection[int]
    ) -> tuple[list[str], list[int]]:
        """What becomes of each character, and of which nature that is."""
        becomes, natures = [*chars], [_ITSELF] * BLOCK_SIZE
        odd = [i for i in range(BLOCK_SIZE) if forms[i] != chars[i] or categories[i] in _MARKS]
        if self._strip is None:
            for i in (*odd, *composing):
                natures[i] = _OTHER
            return becomes, natures
        stripped = self._strip("\n".join([chars[i] for i in odd])).split("\n")
        classes = self._classes()
        letters = {
            char for char in set("".join(stripped)) if char.isalnum() and not classes[ord(char)]
        }
        for i, form in zip(odd, stripped, strict=True):
            becomes[i] = form
            if form == chars[i]:
                natures[i] = _OTHER if unicodedata.combining(form) else _ITSELF
            elif letters.issuperset(form):
                natures[i] = _WORD if form else _NOTHING
            else:  # such as one Chinese character that becomes another one
                is_like = form.isalnum() and len(form) == 1
                is_like = is_like and classes[ord(form)] == classes[ord(chars[i])]
                natures[i] = _WORD if is_like else _OTHER
        return becomes, natures

    def _value(self, sort: Sort, char: str, becomes: str) -> int:
        """The byte of a sort, of which a character is and what becomes of it."""
        if sort not in self._told and sort[2] != _OTHER:
            kind, _, flags, word = self._classify(ord(char))
            if word == (becomes.encode() if kind in self._keeps else b""):
                self._told[sort] = kind | flags << FLAGS_SHIFT
        return self._told.get(sort, 0)
