"""Which characters are whitespace, control, punctuation or Chinese: every such rule of both
profiles is here.

In: a character. Out: a truth value; and a text's normal forms. BERT's classes are those of Google's
`tokenization.py` and of transformers' `tokenization_utils.py` and
`models/bert/tokenization_bert.py` (4.57.6), both on Python's own `unicodedata` tables; so
characters newer than Python's Unicode version count as unassigned here exactly as they do there.
"""

from __future__ import annotations

import bisect
import functools
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, Literal

REPLACEMENT_CHARACTER = "\ufffd"

# The blocks that hold Chinese characters, both ends included. Hiragana, Katakana and Hangul are
# written in words and are left out. The same eight ranges are in Google's tokenization.py and in
# transformers' tokenization_bert.py.
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
    r"""Whether transformers deletes `char` as a control character: any category C*, so unassigned
    ones too.

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
    """Whether `char` becomes a token of its own: every ASCII sign that is no letter or digit, and
    category P*.

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
    return bisect.bisect_right(_CHINESE_BOUNDS, code_point) % 2 == 1


def is_nonspacing_mark(char: str) -> bool:
    r"""Whether `char` is a mark that accent stripping removes (category Mn).

    >>> [is_nonspacing_mark(c) for c in ("\u0301", "\u0903", "e")]
    [True, False, False]
    """
    return unicodedata.category(char) == "Mn"


def lower_each(text: str) -> str:
    """Lower-case every character by itself, as transformers' slow `tokenize` does.

    Python's `str.lower` looks at the neighbours of one letter only: a capital sigma that ends a
    word becomes a final one. Here it always becomes the ordinary one.

    >>> lower_each("ΟΔΟΣ"), "ΟΔΟΣ".lower()
    ('οδοσ', 'οδος')
    """
    return text.replace("Σ", "σ").lower()


LONG_RUN = 256  # marks
# A run that may be all marks: no characters of the commonest scripts are put in order.
_STARTERS = (
    "\x00-\u02ff\u0370-\u0482\u048a-\u058f\u3000-\u3029\u3041-\u3096\u309b-\u9fff\uac00-\ud7a3"
)
_NO_SURE_STARTERS = f"[^{_STARTERS}]{{{LONG_RUN + 1}}}"


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """`unicodedata.normalize` in linear time.

    CPython puts the marks behind a character in order by insertion: a word of 100,000 marks in the
    wrong order takes it 8 seconds. Here the marks of long runs are sorted beforehand by their
    combining class, and marks of one class stay in order. That is Unicode's canonical ordering, so
    no result changes.

    >>> normalize("NFC", "cafe\u0301") == "caf\u00e9"
    True
    """
    has_long_run = len(text) > LONG_RUN and re.search(_NO_SURE_STARTERS, text) is not None
    if not has_long_run or "m" * (LONG_RUN + 1) not in text.translate(_MARK_SIGNS):
        return unicodedata.normalize(form, text)
    words = text.split(" ")
    parts: Literal["NFD", "NFKD"] = "NFKD" if "K" in form else "NFD"
    whole = [
        unicodedata.normalize(form, _ordered(word, parts) if len(word) > LONG_RUN else word)
        for word in words
    ]
    return " ".join(whole)


def _ordered(word: str, form: Literal["NFD", "NFKD"]) -> str:
    decomposed = "".join([unicodedata.normalize(form, char) for char in word])
    runs = groupby(decomposed, lambda char: unicodedata.combining(char) > 0)
    return "".join(
        [
            "".join(sorted(run, key=unicodedata.combining) if is_mark else run)
            for is_mark, run in runs
        ]
    )


class TranslationTable(dict[int, Any]):
    """A table for `str.translate` that computes a code point's replacement when the code point is
    first met.

    Only code points of the basic multilingual plane are cached, so a table never holds more than
    65,536 entries.

    Args:
        replacement: what a character becomes: a string, or None to delete it.

    >>> "aß".translate(TranslationTable(str.upper))
    'ASS'
    """

    def __init__(self, replacement: Callable[[str], str | None]) -> None:
        super().__init__()
        self.replacement = replacement

    def __missing__(self, code_point: int) -> str | None:
        replacement = self.replacement(chr(code_point))
        if code_point < 0x10000:
            self[code_point] = replacement
        return replacement


# An m for what normalization puts in order, a space for all else.
_MARK_SIGNS = TranslationTable(
    lambda char: "m" if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]) else " "
)


# ---- the Unicode tables of the Rust tokenizers, the same on every Python -------------------------
#
# `tests/parity/derive_rust_ranges.py` derives the file, which is read when a class is first needed.

_FILE = os.path.join(os.path.dirname(__file__), "rust_characters_ranges.txt")


@functools.cache
def _lines() -> dict[str, str]:
    with open(_FILE, encoding="ascii") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
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

    >>> (
    ...     is_in("deleted", "\\u200b"),
    ...     is_in("deleted", "\\u0378"),
    ...     is_in("punctuation", "。"),
    ...     is_in("marks", "\\u0301"),
    ... )
    (True, False, True, True)
    """
    return bisect.bisect_right(boundaries(name), ord(char)) % 2 == 1


def character_class(*names: str) -> str:
    """The characters of some classes as the inside of a regular expression's `[...]`.

    >>> import re
    >>> re.split(f"[{character_class('split_space')}]", "a b\\u3000c\\x1cd")
    ['a', 'b', 'c\\x1cd']
    """
    return "".join(f"\\U{begin:08x}-\\U{end - 1:08x}" for begin, end in ranges_of(*names))


@functools.cache
def characters_in(name: str) -> str:
    """All characters of a class, such as `str.strip` takes."""
    return "".join(chr(code) for begin, end in ranges_of(name) for code in range(begin, end))


def ranges_of(*names: str) -> Iterator[tuple[int, int]]:
    """Return where some classes begin and end; each end is the first code point behind."""
    bounds = [bound for name in names for bound in boundaries(name)]
    return zip(bounds[::2], bounds[1::2], strict=True)


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
        table.update(
            (code, chr(code + delta)) for code in range(int(first, 16), int(last, 16) + 1, step)
        )
    return table


# characters met, of the basic plane, with the same normal forms in Python and Rust
_same_in_python: set[str] = set()


def nfd(text: str) -> str:
    """The canonical decomposition of Unicode 9: newer characters are neither decomposed nor moved.

    >>> nfd("é") == "e\\u0301", nfd("\\U00011938") == "\\U00011938"
    (True, True)
    """
    return _by_python("NFD", text)


def nfc(text: str) -> str:
    """The canonical composition of Unicode 9: no newer character comes of it, and newer marks stay
    where they are.

    >>> nfc("e\\u0301") == "é", nfc("e\\u08d3\\u0301") == "e\\u08d3\\u0301"
    (True, True)
    >>> nfc("\\U00011935\\U00011930") == "\\U00011935\\U00011930"
    True
    """
    return _by_python("NFC", text)


def normal_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A normal form of Unicode 9.

    >>> normal_form("NFKC", "ﬁ ①"), normal_form("NFKD", "㋿")
    ('fi 1', '㋿')
    """
    return _by_python(form, text)


def combining_class(char: str) -> int:
    """The class by which marks are put in order; 0 for those that are newer than Unicode 9."""
    return unicodedata.combining(char) if is_in("nonstarters", char) else 0


def _by_python(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A normal form by Python, which may know more characters, but gives the others the same form.

    So each stretch between newer characters that Python decomposes or reorders is normalized by
    itself.
    """
    is_same = _has_same_parts if "K" in form else _is_same_in_python
    if all(map(is_same, set(text))) if "K" in form else not _newer(set(text)):
        return _stretch(form, text)
    stretches = ("".join(chars) for _, chars in groupby(text, is_same))
    return "".join(_stretch(form, chars) if is_same(chars[0]) else chars for chars in stretches)


def _stretch(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A normal form of Python without the newer characters that others compose to."""
    whole = normalize(form, text)
    newer = {ord(char): normalize("NFD", char) for char in _newer(set(whole).difference(text))}
    return whole.translate(newer) if newer else whole


def _newer(chars: set[str]) -> set[str]:
    new = chars - _same_in_python
    same = set(filter(_is_same_in_python, new))
    _same_in_python.update(char for char in same if char < "\U00010000")
    return new - same


def _is_same_in_python(char: str) -> bool:
    taken_apart = unicodedata.decomposition(char)
    if not unicodedata.combining(char) and (not taken_apart or taken_apart.startswith("<")):
        return True
    return is_in("decomposed", char) or is_in("nonstarters", char)


def _has_same_parts(char: str) -> bool:
    """Whether Python takes a character apart as Rust does, compatible ones too."""
    is_newer = unicodedata.decomposition(char).startswith("<") and not is_in("compatible", char)
    return not is_newer and _is_same_in_python(char)


# Word characters, which may not touch an added token with `single_word`, are those of `\w` in
# Unicode Technical Standard 18, annex C, which the Rust tokenizers use: alphabetic, marks, decimal
# digits, connector punctuation, joiners. Python's own `\w` has no marks and more digits; the
# package `regex` has these.


@functools.cache
def word_runs() -> Any:
    """Return a compiled pattern of as many word characters as there are.

    >>> word_runs().findall("co-op_é ² ⅷ")
    ['co', 'op_é', 'ⅷ']
    """
    import regex  # 20 ms: only where a single-word token asks

    return regex.compile(r"\w+")


def touches_word(text: str, position: int) -> bool:
    """Whether the character at `position` is a word character; False outside the text.

    >>> touches_word("a-b", 0), touches_word("a-b", 1), touches_word("a-b", 3)
    (True, False, False)
    """
    return 0 <= position < len(text) and _is_word_character(text[position])


@functools.lru_cache(maxsize=4096)
def _is_word_character(char: str) -> bool:
    return word_runs().match(char) is not None
