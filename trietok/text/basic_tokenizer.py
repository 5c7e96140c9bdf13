"""Basic tokenization: clean, set Chinese characters apart, compose, split at whitespace, lower-case, strip accents,
split off punctuation.

In: a text without added tokens. Out: words, each ready for WordPiece. The rules are those of `BasicTokenizer` in
transformers 4.57.6; each stage here is one pass in C over the whole text (`str.translate`, `normalize`,
`str.lower`). The readable version that goes character by character is the oracle in `tests/reference/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from trietok.errors import InputTypeError
from trietok.text.changes import Changeable
from trietok.text.characters import (
    CHINESE_CLASS,
    REPLACEMENT_CHARACTER,
    TranslationTable,
    is_chinese_char,
    is_control,
    is_nonspacing_mark,
    is_punctuation,
    is_whitespace,
    normalize,
)

if TYPE_CHECKING:
    from typing_extensions import Self


class CleaningTable(TranslationTable):
    """Deletes NUL, U+FFFD and control characters, turns whitespace into a space, sets Chinese characters apart.

    Args:
        is_control: whether a character is deleted; it is not asked of printable ones.
        tokenize_chinese_chars: whether Chinese characters are set apart.
    """

    def __init__(self, is_control: Callable[[str], bool], tokenize_chinese_chars: bool) -> None:
        super().__init__()
        self.is_control = is_control
        self.tokenize_chinese_chars = tokenize_chinese_chars

    def replacement(self, char: str) -> str | None:
        if char == REPLACEMENT_CHARACTER:
            return None
        if not char.isprintable():  # few characters are asked twice: most are printable
            if char == "\0" or self.is_control(char):
                return None
            if is_whitespace(char):
                return " "
        if self.tokenize_chinese_chars and is_chinese_char(ord(char)):
            return f" {char} "
        return char


class PunctuationTable(TranslationTable):
    """Sets every punctuation character apart."""

    def replacement(self, char: str) -> str:
        return f" {char} " if is_punctuation(char) else char


class MarkTable(TranslationTable):
    """Deletes non-spacing marks."""

    def replacement(self, char: str) -> str | None:
        return None if is_nonspacing_mark(char) else char


# Shared by every tokenizer of the process: what a table makes of a character depends only on the table's own options.
_CLEANING = {chinese: CleaningTable(is_control, chinese) for chinese in (True, False)}
PUNCTUATION = PunctuationTable()
MARKS = MarkTable()


@lru_cache(maxsize=2)
def _to_clean(tokenize_chinese_chars: bool) -> re.Pattern[str]:
    """The printable characters that a `CleaningTable` changes."""
    return re.compile(f"[{REPLACEMENT_CHARACTER}{CHINESE_CLASS if tokenize_chinese_chars else ''}]")


class BasicTokenizer(Changeable):
    """Splits a text into words and punctuation, with the parameters of transformers' `BasicTokenizer`.

    Args:
        do_lower_case: lower-case every word, and strip accents unless `strip_accents` says otherwise.
        never_split: words that are left as they are, neither lower-cased nor split at punctuation.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        do_split_on_punc: make every punctuation character a word of its own.

    >>> BasicTokenizer().tokenize("Héllo, 世界!\\u200b")
    ['hello', ',', '世', '界', '!']
    >>> BasicTokenizer(do_lower_case=False, never_split=["Ph.D."]).tokenize("A Ph.D. in C++")
    ['A', 'Ph.D.', 'in', 'C', '+', '+']
    """

    composes = True  # to NFC, so that one character written in two ways is one

    def __init__(
        self,
        do_lower_case: bool = True,
        never_split: Iterable[str] | None = None,
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        do_split_on_punc: bool = True,
    ) -> None:
        self.do_lower_case = do_lower_case
        self.never_split: set[str] | frozenset[str] = set(never_split or ())
        self.tokenize_chinese_chars = tokenize_chinese_chars
        self.strip_accents = strip_accents
        self.do_split_on_punc = do_split_on_punc

    def snapshot(self) -> Self:
        """A copy of the options as they are now; it does not follow later changes."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        other.never_split = frozenset(self.never_split or ())
        return other

    def tokenize(self, text: str, never_split: Iterable[str] | None = None) -> list[str]:
        """Split `text` into words.

        Args:
            text: any string; lone surrogates are deleted like other control characters.
            never_split: more words to leave as they are, in this call.

        Returns:
            The words in order; none is empty or holds whitespace.
        """
        if not isinstance(text, str):
            raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
        words = self.clean(text).split()
        kept = self.never_split
        if never_split:  # a set is taken as it is where it can be: special tokens may be many
            alone = not kept and isinstance(never_split, (set, frozenset))
            kept = never_split if alone else {*kept, *never_split}  # type: ignore[assignment]
        if kept and not kept.isdisjoint(words):
            return [piece for word in words for piece in self._split_word(word, kept)]
        if not words:
            return words
        # No word is kept as it is, so each stage can run on the whole text: no stage changes a space or looks across
        # one.
        text = self.normalize(" ".join(words))
        if self.do_split_on_punc and (not kept or kept.isdisjoint(text.split())):
            return text.translate(PUNCTUATION).split()
        return [piece for word in text.split(" ") for piece in self._split_on_punctuation(word, kept)]

    @property
    def cleaning_table(self) -> CleaningTable:
        """What cleaning makes of each character."""
        return _CLEANING[bool(self.tokenize_chinese_chars)]

    def clean(self, text: str) -> str:
        """Delete control characters, make all whitespace spaces, set Chinese characters apart, compose (NFC)."""
        if not text.isprintable() or _to_clean(bool(self.tokenize_chinese_chars)).search(text):
            text = text.translate(self.cleaning_table)
        return self.compose(text)

    def compose(self, text: str) -> str:
        """To NFC."""
        return normalize("NFC", text) if self.composes and not text.isascii() else text

    def normalize(self, text: str) -> str:
        """Lower-case and strip accents, as the options say."""
        if self.do_lower_case:
            text = text.lower()
        strip_accents = self.do_lower_case if self.strip_accents is None else self.strip_accents
        if strip_accents and not text.isascii():
            text = normalize("NFD", text).translate(MARKS)
        return text

    def _split_word(self, word: str, kept: Collection[str]) -> list[str]:
        return self._split_on_punctuation(word if word in kept else self.normalize(word), kept)

    def _split_on_punctuation(self, word: str, kept: Collection[str]) -> list[str]:
        if not self.do_split_on_punc or word in kept:
            return word.split()
        return word.translate(PUNCTUATION).split()
