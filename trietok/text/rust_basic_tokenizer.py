"""Basic tokenization as the Rust tokenizers do it: BertNormalizer, then BertPreTokenizer.

In: a text without added tokens. Out: words, each ready for WordPiece. It has other Unicode tables
than `BasicTokenizer`, composes nothing, and strips accents before it lower-cases. Each stage is one pass in C over the
whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from trietok.text import rust_characters
from trietok.text.basic_tokenizer import BasicTokenizer
from trietok.text.characters import TranslationTable
from trietok.text.rust_characters import character_class, is_in


class RustCleaningTable(TranslationTable):
    """Deletes control characters, turns whitespace into a space, sets Chinese characters apart, as the options say."""

    def __init__(self, clean_text: bool, tokenize_chinese_chars: bool) -> None:
        super().__init__()
        self.clean_text = clean_text
        self.tokenize_chinese_chars = tokenize_chinese_chars

    def replacement(self, char: str) -> str | None:
        if self.clean_text:
            if is_in("deleted", char):
                return None
            if is_in("space", char):
                return " "
        return f" {char} " if self.tokenize_chinese_chars and is_in("chinese", char) else char


class RustPunctuationTable(TranslationTable):
    """Sets every punctuation character apart."""

    def replacement(self, char: str) -> str:
        return f" {char} " if is_in("punctuation", char) else char


class RustMarkTable(TranslationTable):
    """Deletes marks."""

    def replacement(self, char: str) -> str | None:
        return None if is_in("marks", char) else char


class RustLowerTable(TranslationTable):
    """Lower-cases every character by itself."""

    def replacement(self, char: str) -> str:
        return rust_characters.lower_case().get(ord(char), char)


# Shared by every tokenizer of the process.
_CLEANING = {
    (clean, chinese): RustCleaningTable(clean, chinese) for clean in (True, False) for chinese in (True, False)
}
PUNCTUATION = RustPunctuationTable()
MARKS = RustMarkTable()
LOWER = RustLowerTable()


@cache
def _cleaned() -> re.Pattern[str]:
    return re.compile(f"[{character_class('deleted', 'space')}]")


@cache
def _chinese() -> re.Pattern[str]:
    return re.compile(f"[{character_class('chinese')}]")


@cache
def _split_space() -> re.Pattern[str]:
    return re.compile(f"[{character_class('split_space')}]")


class RustBasicTokenizer(BasicTokenizer):
    """Splits a text into words and punctuation as the Rust tokenizers do.

    Args:
        do_lower_case: lower-case, and strip accents unless `strip_accents` says otherwise.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        clean_text: delete control characters and make every whitespace a space.

    >>> RustBasicTokenizer().tokenize("Héllo, 世界!\\u200b")
    ['hello', ',', '世', '界', '!']
    >>> RustBasicTokenizer(do_lower_case=False).tokenize("e\\u0301 a\\x0bb") == ["e\\u0301", "ab"]
    True
    """

    composes = False
    composes_at_last = False  # to NFC, when all else is done

    def __init__(
        self,
        do_lower_case: bool = True,
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_text: bool = True,
    ) -> None:
        super().__init__(
            do_lower_case=do_lower_case, tokenize_chinese_chars=tokenize_chinese_chars, strip_accents=strip_accents
        )
        self.clean_text = clean_text

    @property
    def strips_accents(self) -> bool:
        """Whether accents are stripped; `strip_accents` of None follows `do_lower_case`."""
        return bool(self.do_lower_case if self.strip_accents is None else self.strip_accents)

    @property
    def rust_cleaning_table(self) -> RustCleaningTable:
        """What cleaning makes of each character."""
        return _CLEANING[bool(self.clean_text), bool(self.tokenize_chinese_chars)]

    def tokenize(self, text: str, never_split: Iterable[str] | None = None) -> list[str]:
        """Split `text` into words.

        Args:
            text: any string.
            never_split: accepted and ignored: the Rust tokenizers have no such option.
        """
        return self.words(self.normalized(text))

    def normalized(self, text: str) -> str:
        """The text as BertNormalizer leaves it.

        >>> RustBasicTokenizer().normalized("Ünı 世")
        'unı  世 '
        """
        return self.normalize(self.clean(text))

    def clean(self, text: str) -> str:
        """Delete control characters, make all whitespace spaces, set Chinese characters apart."""
        if text.isascii():
            to_change = self.clean_text and not text.isprintable()
        else:
            to_clean = self.clean_text and _cleaned().search(text) is not None
            to_change = to_clean or (self.tokenize_chinese_chars and _chinese().search(text) is not None)
        return text.translate(self.rust_cleaning_table) if to_change else text

    def normalize(self, text: str) -> str:
        """Strip accents and lower-case, as the options say."""
        if text.isascii():
            return text.lower() if self.do_lower_case else text
        if self.strips_accents:
            text = rust_characters.nfd(text).translate(MARKS)
        return text.translate(LOWER) if self.do_lower_case else text

    def words(self, normalized: str) -> list[str]:
        """Cut a normalized text at whitespace and around punctuation."""
        if not self.clean_text:
            normalized = _split_space().sub(" ", normalized)
        return [word for word in normalized.translate(PUNCTUATION).split(" ") if word]


class RustWordSplitter(RustBasicTokenizer):
    """Makes the words of a byte-pair encoding, as a tokenizer.json of `Bpe.save` says it.

    Args:
        do_lower_case, tokenize_chinese_chars, strip_accents, clean_text: see `RustBasicTokenizer`.
        composes_at_last: compose to NFC, when all else is done.
        splits_punctuation: make every punctuation character a word of its own.

    >>> RustWordSplitter(False, composes_at_last=True).tokenize("cafe\u0301!") == ["caf\xe9", "!"]
    True
    >>> RustWordSplitter(False, False, False, False, splits_punctuation=False).tokenize("Now, now!")
    ['Now,', 'now!']
    """

    def __init__(
        self,
        do_lower_case: bool = True,
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_text: bool = True,
        *,
        composes_at_last: bool = False,
        splits_punctuation: bool = True,
    ) -> None:
        super().__init__(do_lower_case, tokenize_chinese_chars, strip_accents, clean_text)
        self.composes_at_last = composes_at_last
        self.do_split_on_punc = splits_punctuation

    def normalize(self, text: str) -> str:
        text = super().normalize(text)
        return rust_characters.nfc(text) if self.composes_at_last and not text.isascii() else text

    def words(self, normalized: str) -> list[str]:
        """Cut a normalized text at whitespace, and around punctuation."""
        if self.do_split_on_punc:
            return super().words(normalized)
        return [word for word in _split_space().sub(" ", normalized).split(" ") if word]
