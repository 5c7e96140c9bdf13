"""Which characters are whitespace, control, punctuation or Chinese: the one home of every such rule.

In: a character. Out: a truth value. BERT's classes are those of Google's `tokenization.py` and of transformers'
`tokenization_utils.py` and `models/bert/tokenization_bert.py` (4.57.6), both on Python's own `unicodedata` tables; so
characters newer than Python's Unicode version count as unassigned here exactly as they do there.
"""

from __future__ import annotations

import unicodedata
from typing import Any

REPLACEMENT_CHARACTER = "\ufffd"

# The blocks that hold Chinese characters, both ends included. Hiragana, Katakana and Hangul are written in words and
# stay out. The same eight ranges stand in Google's tokenization.py and in transformers' tokenization_bert.py.
CHINESE_RANGES = (
    (0x4E00, 0x9FFF),  # CJK Unified Ideographs
    (0x3400, 0x4DBF),  # Extension A
    (0x20000, 0x2A6DF),  # Extension B
    (0x2A700, 0x2B73F),  # Extension C
    (0x2B740, 0x2B81F),  # Extension D
    (0x2B820, 0x2CEAF),  # Extension E
    (0xF900, 0xFAFF),  # Compatibility Ideographs
    (0x2F800, 0x2FA1F),  # Compatibility Ideographs Supplement
)


def is_whitespace(char: str) -> bool:
    r"""Whether BERT turns `char` into a space: space, tab, newline, carriage return, category Zs.

    >>> [is_whitespace(c) for c in (" ", "\u3000", "\x0b", "a")]
    [True, True, False, False]
    """
    return char in " \t\n\r" or unicodedata.category(char) == "Zs"


def is_control(char: str) -> bool:
    r"""Whether transformers deletes `char` as a control character: any category C*, so unassigned ones too.

    >>> [is_control(c) for c in ("\x00", "\u200b", "\ud800", "\n", "a")]
    [True, True, True, False, False]
    """
    return char not in "\t\n\r" and unicodedata.category(char).startswith("C")


def is_control_google(char: str) -> bool:
    r"""Whether Google's original deletes `char` as a control character: categories Cc and Cf only.

    >>> [is_control_google(c) for c in ("\x00", "\u200b", "\ud800", "\n", "a")]
    [True, True, False, False, False]
    """
    return char not in "\t\n\r" and unicodedata.category(char) in ("Cc", "Cf")


def is_punctuation(char: str) -> bool:
    """Whether `char` becomes a token of its own: every ASCII sign that is no letter or digit, and category P*.

    >>> [is_punctuation(c) for c in ("$", "^", "。", "€", "a")]
    [True, True, True, False, False]
    """
    if char.isascii():
        return char.isprintable() and not char.isalnum() and char != " "
    return unicodedata.category(char).startswith("P")


def is_chinese_char(code_point: int) -> bool:
    """Whether the code point lies in one of `CHINESE_RANGES`, so that BERT sets spaces around it.

    >>> [is_chinese_char(ord(c)) for c in ("汉", "あ", "한", "a")]
    [True, False, False, False]
    """
    return any(first <= code_point <= last for first, last in CHINESE_RANGES)


def is_nonspacing_mark(char: str) -> bool:
    r"""Whether `char` is a mark that accent stripping removes (category Mn).

    >>> [is_nonspacing_mark(c) for c in ("\u0301", "\u0903", "e")]
    [True, False, False]
    """
    return unicodedata.category(char) == "Mn"


def lower_each(text: str) -> str:
    """Lower-case every character by itself, as transformers' slow `tokenize` does.

    Python's `str.lower` looks at the neighbours of one letter only: a capital sigma that ends a word becomes a final
    one. Here it always becomes the ordinary one.

    >>> lower_each("ΟΔΟΣ"), "ΟΔΟΣ".lower()
    ('οδοσ', 'οδος')
    """
    return text.replace("Σ", "σ").lower()


class TranslationTable(dict[int, Any]):
    """A table for `str.translate` that works out a code point's replacement when it is first met.

    Only code points of the basic plane are remembered, so a table never holds more than 65,536 entries.

    >>> class Upper(TranslationTable):
    ...     def replacement(self, char):
    ...         return char.upper()
    >>> "aß".translate(Upper())
    'ASS'
    """

    def replacement(self, char: str) -> str | None:
        """What `char` becomes: a string, or None to delete it."""
        raise NotImplementedError

    def __missing__(self, code_point: int) -> str | None:
        replacement = self.replacement(chr(code_point))
        if code_point < 0x10000:
            self[code_point] = replacement
        return replacement
