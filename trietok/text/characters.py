"""Which characters are whitespace, control, punctuation or Chinese: every such rule of the slow profile is here.

In: a character. Out: a truth value. BERT's classes are those of Google's `tokenization.py` and of transformers'
`tokenization_utils.py` and `models/bert/tokenization_bert.py` (4.57.6), both on Python's own `unicodedata` tables; so
characters newer than Python's Unicode version count as unassigned here exactly as they do there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import groupby
from typing import Any, Literal

REPLACEMENT_CHARACTER = "\ufffd"

# The blocks that hold Chinese characters, both ends included. Hiragana, Katakana and Hangul are written in words and
# are left out. The same eight ranges are in Google's tokenization.py and in transformers' tokenization_bert.py.
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
# The first Chinese code point of each range and the first one behind it, in ascending order.
_CHINESE_BOUNDS = sorted(bound for first, last in CHINESE_RANGES for bound in (first, last + 1))
# The same for patterns.
CHINESE_CLASS = "".join(f"{chr(first)}-{chr(last)}" for first, last in CHINESE_RANGES)


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
    return bisect_right(_CHINESE_BOUNDS, code_point) % 2 == 1


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


LONG_RUN = 256  # marks
# A run that may be all marks: neither ASCII nor the common Chinese characters and Hangul are put in order.
_NO_SURE_STARTERS = f"[^\x00-\x7f\u3400-\u9fff\uac00-\ud7a3]{{{LONG_RUN + 1}}}"


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """`unicodedata.normalize` in linear time.

    CPython puts the marks behind a character in order by insertion: a word of 100,000 marks in the wrong order takes it
    8 seconds. Here the marks of long runs are sorted beforehand by their combining class, and marks of one class stay
    in order. That is Unicode's canonical ordering, so no result changes.

    >>> normalize("NFC", "cafe\u0301") == "caf\u00e9"
    True
    """
    if len(text) <= LONG_RUN or not _has_long_run_of_marks(text):
        return unicodedata.normalize(form, text)
    words = text.split(" ")
    parts: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
    whole = [unicodedata.normalize(form, _ordered(word, parts) if len(word) > LONG_RUN else word) for word in words]
    return " ".join(whole)


def _has_long_run_of_marks(text: str) -> bool:
    if re.search(_NO_SURE_STARTERS, text) is None:
        return False
    return "m" * (LONG_RUN + 1) in text.translate(_MARK_SIGNS)


def _ordered(word: str, form: Literal["NFD", "NFKD"]) -> str:
    decomposed = "".join([unicodedata.normalize(form, char) for char in word])
    runs = groupby(decomposed, lambda char: unicodedata.combining(char) > 0)
    return "".join(["".join(sorted(run, key=unicodedata.combining) if is_mark else run) for is_mark, run in runs])


class TranslationTable(dict[int, Any]):
    """A table for `str.translate` that computes a code point's replacement when the code point is first met.

    Only code points of the basic multilingual plane are cached, so a table never holds more than 65,536 entries.

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


class _MarkSigns(TranslationTable):
    """An m for what normalization puts in order, a space for all else."""

    def replacement(self, char: str) -> str:
        return "m" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else " "


_MARK_SIGNS = _MarkSigns()
