"""Basic tokenization: clean, set Chinese characters apart, compose, split at whitespace, lower-case, strip accents,
split off punctuation.

In: a text without added tokens. Out: words, each ready for WordPiece. The rules are those of `BasicTokenizer` in
transformers 4.57.6; each stage here is one pass in C over the whole text (`str.translate`, `normalize`,
`str.lower`). The readable version that goes character by character is the oracle in `tests/reference/`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from trietok.errors import InputTypeError
from trietok.text import characters as rust_characters
from trietok.text.changes import Changeable
from trietok.text.characters import (
    CHINESE_CLASS,
    REPLACEMENT_CHARACTER,
    TranslationTable,
    character_class,
    is_chinese_char,
    is_control,
    is_in,
    is_nonspacing_mark,
    is_punctuation,
    is_whitespace,
    normalize,
)

if TYPE_CHECKING:
    from typing_extensions import Self


def cleaning_table(is_control: Callable[[str], bool], tokenize_chinese_chars: bool) -> TranslationTable:
    """Deletes NUL, U+FFFD and control characters, turns whitespace into a space, sets Chinese characters apart.

    Args:
        is_control: whether a character is deleted; it is not asked of printable ones.
        tokenize_chinese_chars: whether Chinese characters are set apart.
    """

    def replacement(char: str) -> str | None:
        if char == REPLACEMENT_CHARACTER:
            return None
        if not char.isprintable():  # few characters are asked twice: most are printable
            if char == "\0" or is_control(char):
                return None
            if is_whitespace(char):
                return " "
        return f" {char} " if tokenize_chinese_chars and is_chinese_char(ord(char)) else char

    return TranslationTable(replacement)


# Shared by every tokenizer of the process: what a table makes of a character depends only on the table's own options.
_CLEANING = {chinese: cleaning_table(is_control, chinese) for chinese in (True, False)}
PUNCTUATION = TranslationTable(lambda char: f" {char} " if is_punctuation(char) else char)
MARKS = TranslationTable(lambda char: None if is_nonspacing_mark(char) else char)


@lru_cache(maxsize=2)
def _to_clean(tokenize_chinese_chars: bool) -> re.Pattern[str]:
    """The printable characters that cleaning changes."""
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
        other = super().snapshot()
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
    def cleaning_table(self) -> TranslationTable:
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


# ---- as the Rust tokenizers do it: BertNormalizer, then BertPreTokenizer ---------------------------------------------
#
# They have other Unicode tables, compose nothing, and strip accents before they lower-case.


def _rust_cleaning_table(clean_text: bool, tokenize_chinese_chars: bool) -> TranslationTable:
    def replacement(char: str) -> str | None:
        if clean_text and is_in("deleted", char):
            return None
        if clean_text and is_in("space", char):
            return " "
        return f" {char} " if tokenize_chinese_chars and is_in("chinese", char) else char

    return TranslationTable(replacement)


_RUST_CLEANING = {options: _rust_cleaning_table(*options) for options in product((True, False), repeat=2)}
RUST_PUNCTUATION = TranslationTable(lambda char: f" {char} " if is_in("punctuation", char) else char)
RUST_MARKS = TranslationTable(lambda char: None if is_in("marks", char) else char)
LOWER = TranslationTable(lambda char: rust_characters.lower_case().get(ord(char), char))


@cache
def _any_of(*names: str) -> re.Pattern[str]:
    return re.compile(f"[{character_class(*names)}]")


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
    composes_at_last = False

    def __init__(
        self,
        do_lower_case: bool = True,
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_text: bool = True,
    ) -> None:
        super().__init__(do_lower_case, None, tokenize_chinese_chars, strip_accents)
        self.clean_text = clean_text

    @property
    def strips_accents(self) -> bool:
        """Whether accents are stripped; `strip_accents` of None follows `do_lower_case`."""
        return bool(self.do_lower_case if self.strip_accents is None else self.strip_accents)

    @property
    def rust_cleaning_table(self) -> TranslationTable:
        """What cleaning makes of each character."""
        return _RUST_CLEANING[bool(self.clean_text), bool(self.tokenize_chinese_chars)]

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

    def normalized_each(self, texts: list[str]) -> list[str]:
        """`normalized` of each of some texts, sooner."""
        if not all(map(str.isascii, texts)) or not all(map(str.isprintable, texts)):
            return list(map(self.normalized, texts))
        return list(map(str.lower, texts)) if self.do_lower_case else texts

    def clean(self, text: str) -> str:
        """Delete control characters, make all whitespace spaces, set Chinese characters apart."""
        if text.isascii():
            to_change = self.clean_text and not text.isprintable()
        else:
            to_clean = self.clean_text and _any_of("deleted", "space").search(text) is not None
            to_change = to_clean or (self.tokenize_chinese_chars and _any_of("chinese").search(text) is not None)
        return text.translate(self.rust_cleaning_table) if to_change else text

    def normalize(self, text: str) -> str:
        """Strip accents and lower-case, as the options say."""
        if text.isascii():
            return text.lower() if self.do_lower_case else text
        if self.strips_accents:
            text = rust_characters.nfd(text).translate(RUST_MARKS)
        text = text.translate(LOWER) if self.do_lower_case else text
        return rust_characters.nfc(text) if self.composes_at_last else text

    def words(self, normalized: str) -> list[str]:
        """Cut a normalized text at whitespace and around punctuation, whatever `do_split_on_punc` says."""
        if not self.clean_text:
            normalized = _any_of("split_space").sub(" ", normalized)
        return [word for word in normalized.translate(RUST_PUNCTUATION).split(" ") if word]


class RustWordSplitter(RustBasicTokenizer):
    """Makes the words of a byte-pair encoding, as a tokenizer.json of `Bpe.save` says it; fingerprints hold its name.

    Args:
        switches: those of `RustBasicTokenizer`.
        composes_at_last: compose to NFC, when all else is done.
        splits_punctuation: make every punctuation character a word of its own.

    >>> RustWordSplitter(False, composes_at_last=True).tokenize("cafe\\u0301!") == ["caf\\xe9", "!"]
    True
    >>> RustWordSplitter(False, False, False, False, splits_punctuation=False).tokenize("Now, now!")
    ['Now,', 'now!']
    """

    def __init__(self, *switches: Any, composes_at_last: bool = False, splits_punctuation: bool = True) -> None:
        super().__init__(*switches)
        self.composes_at_last, self.do_split_on_punc = composes_at_last, splits_punctuation

    def words(self, normalized: str) -> list[str]:
        if self.do_split_on_punc:
            return super().words(normalized)
        return [word for word in _any_of("split_space").sub(" ", normalized).split(" ") if word]
