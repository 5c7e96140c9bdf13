"""What the compiled kernel asks about a character, where the answer depends on nothing around it.

The plain stages are the reference: each answer is what they make of the character by itself.
"""

from __future__ import annotations

import bisect
import functools
import re
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from trietok.text.kernel.blocks import ASKED_ALONE, CharacterBlocks
from trietok.text.unicode import (
    CHINESE_RANGES,
    REPLACEMENT_CHARACTER,
    combining_class,
    is_chinese_char,
    is_in,
    lower_case,
    lower_each,
    normalize,
    ranges_of,
)
from trietok.text.words import MARKS, PUNCTUATION

if TYPE_CHECKING:
    from trietok.text.words import BasicTokenizer, RustBasicTokenizer

# What becomes of a character, and flags; the numbers are those of `kernel.h`.
ORDINARY, DELETED, SPACE, ALONE, HAND_OVER = range(1, 6)
IS_KEY, IS_BOUNDARY, MAY_COMPOSE, IS_PLAIN, MAY_PASS = 1, 2, 4, 8, 16
# kind, combining class, flags, UTF-8 of what it becomes in a word
CharacterAnswer = tuple[int, int, int, bytes]
_HANDED_OVER: CharacterAnswer = (HAND_OVER, 0, 0, b"")


@functools.cache
def _changed_boundaries(strips: bool) -> list[int]:
    by_stripping = ("marks", "decomposed", "nonstarters") if strips else ()
    found = [-1]
    for begin, end in sorted(
        ranges_of("deleted", "space", "split_space", "punctuation", *by_stripping)
    ):
        found[-1:] = [max(end, found[-1])] if begin <= found[-1] else [found[-1], begin, end]
    return found[1:]


def is_unchanged(char: str, lowers: bool = True, strips: bool = True) -> bool:
    """Whether the Rust tokenizers leave a character as it is and in its word, but for Chinese ones;
    False if in doubt. They may lower-case texts, and strip accents.

    >>> [is_unchanged(char) for char in ("a", "A", "\u4e16", "\u0301", ".", "\xe9")]
    [True, False, True, False, False, False]
    >>> is_unchanged("A", lowers=False), is_unchanged("\xe9", strips=False)
    (True, True)
    """
    is_lowered = lowers and (char != char.lower() or ord(char) in lower_case())
    is_changed = bisect.bisect_right(_changed_boundaries(strips), ord(char)) % 2
    return not (is_lowered or is_changed or (strips and unicodedata.combining(char)))


@functools.cache
def rust_classes() -> bytearray:
    """Of each code point a number, the same for those that are in the same classes; 0 for most."""
    names = "nonstarters decomposed marks punctuation split_space space chinese deleted"
    ranges = map(ranges_of, names.split())
    return _numbered([*ranges, [(code, code + 1) for code in lower_case()]])


@functools.cache
def bert_classes() -> bytearray:
    """The same of BERT's classes that do not follow from categories."""
    replacement = ord(REPLACEMENT_CHARACTER)
    chinese = [(first, last + 1) for first, last in CHINESE_RANGES]
    # the dotted capital I has two characters in lower case
    return _numbered([chinese, [(replacement, replacement + 1), (0x130, 0x131)]])


def _numbered(classes: Iterable[Iterable[tuple[int, int]]]) -> bytearray:
    numbers = bytearray(sys.maxunicode + 1)
    for number, ranges in enumerate(classes, 1):
        for begin, end in ranges:
            numbers[begin:end] = bytes((number,)) * (end - begin)
    return numbers


# The characters that may compose with what is before them: all that are not the first of a
# decomposition, up to this version of Unicode. One of which an older version knows nothing costs a
# question that is never asked.
_NEWEST = 16
_COMPOSING = (
    "[\u0300-\u0304\u0306-\u030c\u030f\u0311\u0313\u0314\u031b\u0323-\u0328\u032d\u032e\u0330\u0331\u0338\u0342\u0345"
    "\u05b4\u05b7-\u05b9\u05bc\u05bf\u05c1\u05c2\u0653-\u0655\u093c\u09bc\u09be\u09d7\u0a3c\u0b3c\u0b3e\u0b56\u0b57\u0bbe"
    "\u0bd7\u0c56\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dca\u0dcf\u0ddf\u0f72\u0f74\u0f80\u0fb5\u0fb7\u102e\u1161-\u1175"
    "\u11a8-\u11c2\u1b35\u3099\u309a\U000110ba\U00011127\U0001133e\U00011357\U000113b8\U000113bb\U000113c2\U000113c9"
    "\U000114b0\U000114ba\U000114bd\U000115af\U00011930\U0001611e-\U00016120\U00016129\U00016d67\U0001d165"
    "\U0001d16e-\U0001d172]"
)


def composing(chars: str) -> Collection[int]:
    """The places of characters that may compose with what is before them."""
    if int(unicodedata.unidata_version.split(".")[0]) > _NEWEST:
        return range(len(chars))
    return [match.start() for match in re.finditer(_COMPOSING, chars)]


class Classifier(ABC):
    """Says what becomes of a character by itself, where that does not depend on what is around it.

    A character of an added token is a *key*: the chunk around it is handed over. Where no added
    token holds what chunks are cut at, nor looks at what is around it, the part of the chunk
    between such characters is enough. A key of ASCII may pass if the kernel finds that none of the
    added tokens stands in the chunk.

    Args:
        keys: characters of which each added token without spaces holds one.
        characters: all characters of those tokens.
        is_plain: whether a match always stands, and takes no whitespace along.
    """

    _any_order = False  # whether marks are stripped whatever their order and what they compose with
    _lowers = False
    _basic: BasicTokenizer
    _classes: Callable[[], bytearray]  # see `CharacterBlocks`

    def __init__(self, keys: Collection[str], characters: Iterable[str], is_plain: bool) -> None:
        self.keys = frozenset(keys)
        stay_in_parts = is_plain and not any(map(self.is_boundary, characters))
        self._key: CharacterAnswer = (HAND_OVER, 0, 0 if stay_in_parts else IS_KEY, b"")

    def classify(self, code_point: int) -> CharacterAnswer:
        """What becomes of a code point that is no surrogate."""
        if 0xAC00 <= code_point <= 0xD7A3 and self._any_order:  # Hangul
            jamo = normalize("NFD", chr(code_point))
            is_key = _is_key(self.keys, chr(code_point), jamo)
            return self._key if is_key else (ORDINARY, 0, 0, jamo.encode())
        answer = self._classify(code_point, self.keys)
        if code_point < 0x80 and answer is self._key:
            kind, combining_class, flags, word = self._classify(code_point, frozenset())
            if kind != HAND_OVER:
                return kind, combining_class, flags | answer[2] | MAY_PASS, word
        return answer

    def blocks(self, from_the_start: bool) -> CharacterBlocks:
        """What a kernel asks; one that encodes from the start asks at once about blocks."""
        return CharacterBlocks(
            self.classify,
            (ORDINARY, ALONE),
            self._classes,
            self._lowers,
            self._basic.normalize if self._any_order else None,
            self.keys,
            composing,
            0 if from_the_start else ASKED_ALONE,
        )

    @abstractmethod
    def is_boundary(self, char: str) -> bool:
        """Whether a character is whitespace, or is set between spaces."""

    @abstractmethod
    def _classify(self, code_point: int, keys: frozenset[str]) -> CharacterAnswer:
        """What becomes of a code point with these keys."""

    def stay_apart(self, pair: str) -> bool:
        """Whether normalization leaves two characters as they are, side by side."""
        return True

    def compose(self, part: str) -> str | None:
        """The form of a part of a chunk that normalization composes, where its ids are the same;
        None where not.
        """
        return None


def _is_key(keys: frozenset[str], *forms: str) -> bool:
    """Whether an added token may stand around a character that has these forms on its way."""
    return not keys.isdisjoint("".join(forms))


class SlowClassifier(Classifier):
    """The rules of the slow profile: lower-case, clean, compose, lower-case, strip accents, split
    at punctuation.

    Args:
        basic: the stage of these rules.
        about_tokens: the arguments of `Classifier`.

    >>> from trietok.text.words import BasicTokenizer
    >>> SlowClassifier(BasicTokenizer(), "[", "[SEP]", True).classify(ord("É"))
    (1, 0, 0, b'e')
    """

    _classes = staticmethod(bert_classes)

    def __init__(self, basic: BasicTokenizer, *about_tokens: Any) -> None:
        self._basic = basic
        super().__init__(*about_tokens)
        self._lowers = bool(basic.do_lower_case)
        self._chinese_apart = bool(basic.tokenize_chinese_chars)
        self._strips = basic.strips_accents
        # What is composed in between is decomposed in the end. Only an added token that is looked
        # for then could tell.
        keys = "".join(self.keys)
        self._any_order = self._strips and normalize("NFD", keys).translate(MARKS) == keys

    def _classify(self, code_point: int, keys: frozenset[str]) -> CharacterAnswer:
        raw = chr(code_point)
        if (
            raw.isalpha()
            and raw not in keys
            and (raw == raw.lower() or not self._lowers)
            and not unicodedata.decomposition(raw)
            and (
                raw < "\u1100"
                or not ("\uac00" <= raw <= "\ud7a3" or (not self._any_order and composing(raw)))
            )
        ):  # most letters: no stage changes them, nor what follows
            if self._chinese_apart and is_chinese_char(code_point):
                return ALONE, 0, IS_BOUNDARY, raw.encode()
            return ORDINARY, 0, IS_PLAIN, raw.encode()
        if not raw.isprintable() and self._basic.cleaning_table[code_point] is None:
            return self._key if raw in keys else (DELETED, 0, 0, b"")
        char = lower_each(raw) if self._lowers else raw
        cleaned = char.translate(self._basic.cleaning_table)
        word = self._basic.normalize(cleaned.strip(" "))
        if _is_key(keys, raw, char, word):
            return self._key
        if not cleaned:
            return DELETED, 0, 0, b""
        if cleaned == " ":
            return SPACE, 0, 0, b""
        return self._within_word(char, cleaned, word) or _HANDED_OVER

    def compose(self, part: str) -> str | None:
        if self._any_order or not self._basic.composes:
            return None
        lowered = lower_each(part) if self._lowers else part
        composed = self._basic.clean(lowered)
        # To compose it once more later changes nothing. Only an added token could tell the forms
        # apart.
        return None if _is_key(self.keys, part, lowered, composed) else composed

    def is_boundary(self, char: str) -> bool:
        return char.isspace() or char.translate(self._basic.cleaning_table) != char

    def _within_word(self, char: str, cleaned: str, word: str) -> CharacterAnswer | None:
        """What becomes of a character that is kept; None where it cannot be told of it by
        itself.
        """
        # a space
        if len(char) != 1 or char not in cleaned or (char + word).split() != [char + word]:
            return None
        combining_class = flags = 0
        if not self._any_order:
            combining_class = unicodedata.combining(char)
            if normalize("NFC", char) != char or (
                word != char and any(map(unicodedata.combining, word))
            ):
                return None
            decomposed = normalize("NFD", char)
            may_be = unicodedata.category(char)[0] == "M" or unicodedata.category(char) == "Lo"
            flags = MAY_COMPOSE if may_be and composing(decomposed[0]) else 0
            if not combining_class and decomposed == char:
                flags |= IS_PLAIN
        is_boundary = cleaned != char
        is_split = self._basic.do_split_on_punc and word.translate(PUNCTUATION) != word
        if is_boundary or is_split:
            if (
                len(word) != 1
                or combining_class
                or flags & MAY_COMPOSE
                or (is_boundary and word != char and not self._any_order)
            ):
                return None
            return ALONE, 0, flags | (IS_BOUNDARY if is_boundary else 0), word.encode()
        if self._strips and any(map(unicodedata.combining, word)):
            return None  # what is not stripped may change places with its neighbours
        return ORDINARY, combining_class, flags, word.encode()

    def stay_apart(self, pair: str) -> bool:
        pair = lower_each(pair) if self._lowers else pair
        return normalize("NFC", pair) == pair


class RustClassifier(Classifier):
    """The rules of the fast profile, where nothing is composed.

    Args:
        basic: the stage of these rules.
        about_tokens: the arguments of `Classifier`; of the added tokens as they are looked for in
            a raw text or a normalized one.
    """

    _basic: RustBasicTokenizer
    _classes = staticmethod(rust_classes)

    def __init__(self, basic: RustBasicTokenizer, *about_tokens: Any) -> None:
        self._basic = basic
        self._any_order = basic.strips_accents
        self._lowers = bool(basic.do_lower_case)
        self._changes = self._lowers, basic.strips_accents
        super().__init__(*about_tokens)

    def _classify(self, code_point: int, keys: frozenset[str]) -> CharacterAnswer:
        raw = chr(code_point)
        # most characters: no stage changes them
        if is_unchanged(raw, *self._changes) and raw not in keys and raw.lower() not in keys:
            if raw >= "\u3400" and self._basic.tokenize_chinese_chars and is_in("chinese", raw):
                return ALONE, 0, IS_BOUNDARY, raw.encode()
            return ORDINARY, 0, 0, raw.encode()
        normalized = self._basic.normalized(raw)
        if _is_key(keys, raw, raw.lower(), normalized):
            return self._key
        if len(normalized) == 1 and is_unchanged(normalized, *self._changes):  # as most are then
            return ORDINARY, 0, 0, normalized.encode()
        if not normalized:
            return DELETED, 0, 0, b""
        words = self._basic.words(normalized)
        if not words:
            return SPACE, 0, 0, b""
        if len(words) > 1 or (self._basic.strips_accents and any(map(combining_class, normalized))):
            return _HANDED_OVER
        word = words[0]
        if word != normalized:
            is_chinese = len(word) == 1 and normalized == f" {word} "
            return (ALONE, 0, IS_BOUNDARY, word.encode()) if is_chinese else _HANDED_OVER
        if self._basic.words(f"a{word}a") == ["a", word, "a"]:
            return (ALONE, 0, 0, word.encode()) if len(word) == 1 else _HANDED_OVER
        return ORDINARY, 0, 0, word.encode()

    def is_boundary(self, char: str) -> bool:
        return char.isspace() or self._basic.clean(char) != char
