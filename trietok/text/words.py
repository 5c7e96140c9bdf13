"""Basic tokenization: clean, set Chinese characters apart, compose, split at whitespace,
lower-case, strip accents, split off punctuation.

In: a text without added tokens. Out: words, each ready for WordPiece. The rules are those of
`BasicTokenizer` in transformers 4.57.6; each stage here is one pass in C over the whole text
(`str.translate`, `normalize`, `str.lower`). `tests/core/test_stages.py` compares the result with
that of transformers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Set
from functools import cache, lru_cache
from itertools import groupby, product
from typing import TYPE_CHECKING, Any

from trietok.errors import InputTypeError
from trietok.text.aligned import AlignedText, StageName, Watch, places
from trietok.text.normalizers import (
    LOWERCASE,
    EachCharacter,
    Lower,
    NormalForm,
    NormalFormOfPython,
    Step,
    run,
    stages_of,
)
from trietok.text.unicode import (
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
from trietok.text.watched import Watched
from trietok.typing_compat import Self

if TYPE_CHECKING:
    from trietok.text.pre_tokenizers import Components


def cleaning_table(
    is_control: Callable[[str], bool], tokenize_chinese_chars: bool
) -> TranslationTable:
    """Deletes NUL, U+FFFD and control characters, turns whitespace into a space, sets Chinese
    characters apart.

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


# Shared by every tokenizer of the process: what a table makes of a character depends only on the
# table's own options.
_CLEANING = {chinese: cleaning_table(is_control, chinese) for chinese in (True, False)}
PUNCTUATION = TranslationTable(lambda char: f" {char} " if is_punctuation(char) else char)
MARKS = TranslationTable(lambda char: None if is_nonspacing_mark(char) else char)
FEW_CHARACTERS = 256  # so many characters are looked up: a pattern takes milliseconds to compile


@lru_cache(maxsize=2)
def _to_clean(tokenize_chinese_chars: bool) -> re.Pattern[str]:
    """The printable characters that cleaning changes."""
    return re.compile(f"[{REPLACEMENT_CHARACTER}{CHINESE_CLASS if tokenize_chinese_chars else ''}]")


def cleaning_step(table: TranslationTable, tokenize_chinese_chars: bool) -> Step:
    """The step that cleans by a `cleaning_table`."""

    def changes(text: str) -> bool:
        may_change = len(text) <= FEW_CHARACTERS or not text.isprintable()
        return may_change or _to_clean(tokenize_chinese_chars).search(text) is not None

    return EachCharacter("clean", table, changes)


def _is_beyond_ascii(text: str) -> bool:
    return not text.isascii()


@lru_cache(maxsize=4)
def _steps(tokenize_chinese_chars: bool, composes: bool) -> tuple[Step, ...]:
    cleaning = cleaning_step(_CLEANING[tokenize_chinese_chars], tokenize_chinese_chars)
    return (cleaning, NormalFormOfPython("NFC", "compose")) if composes else (cleaning,)


@lru_cache(maxsize=4)
def _steps_of_words(lowers: bool, strips: bool) -> tuple[Step, ...]:
    stripping = (
        NormalFormOfPython("NFD", "accents"),
        EachCharacter("accents", MARKS, _is_beyond_ascii),
    )
    return (*([Lower()] if lowers else ()), *(stripping if strips else ()))


# transformers' names for the steps. Texts go through them only where one is replaced: they go by
# characters.
STEPS = (
    "_clean_text",
    "_tokenize_chinese_chars",
    "_is_chinese_char",
    "_run_strip_accents",
    "_run_split_on_punc",
)


class BasicTokenizer(Watched):
    """Splits a text into words and punctuation, with the parameters of transformers'
    `BasicTokenizer`.

    A subclass may override its steps under transformers' names, such as `_run_split_on_punc`.

    Args:
        do_lower_case: lower-case every word, and strip accents unless `strip_accents` says
            otherwise.
        never_split: words that are left as they are, neither lower-cased nor split at punctuation.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        do_split_on_punc: make every punctuation character a word of its own.

    >>> BasicTokenizer().tokenize("Héllo, 世界!\\u200b")
    ['hello', ',', '世', '界', '!']
    >>> BasicTokenizer(do_lower_case=False, never_split=["Ph.D."]).tokenize("A Ph.D. in C++")
    ['A', 'Ph.D.', 'in', 'C', '+', '+']
    """

    is_berts = True  # whether it cuts as BERT does
    is_local = True  # whether it cuts what lies between two spaces by itself
    composes = True  # to NFC, so that one character written in two ways is one
    _tells_never_split = True  # to `_run_split_on_punc`; Google's takes the word alone

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
            raise InputTypeError(
                f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
            )
        kept = self.never_split
        if not isinstance(kept, (set, frozenset)):  # a user may set any iterable, or None
            kept = frozenset(kept or ())
        if never_split:  # a set is taken as it is where it can be: special tokens may be many
            alone = not kept and isinstance(never_split, (set, frozenset))
            kept = never_split if alone else {*kept, *never_split}  # type: ignore[assignment]
        if self.overrides(*STEPS):
            return self._words_by_steps(text, kept)
        return self.words_of(text, kept)

    def words_of(self, text: str, kept: Set[str]) -> list[str]:
        """`tokenize` where no step is a user's own; `kept` are all words to leave as they are."""
        is_plain = text.isascii() and text.isprintable()  # there is nothing but case to change
        words = (text if is_plain else self.clean(text)).split()
        if kept and not kept.isdisjoint(words):
            return [piece for word in words for piece in self._split_word(word, kept)]
        # No word is kept as it is, so each stage can run on the whole text: no stage changes a
        # space or looks across one.
        joined = text = words[0] if len(words) == 1 else " ".join(words)
        if not is_plain:
            text = self.normalize(joined)
        elif self.do_lower_case:
            text = joined.lower()
        if self.do_split_on_punc and (text == joined or kept.isdisjoint(text.split())):
            return text.translate(PUNCTUATION).split()
        return [
            piece for word in text.split(" ") for piece in self._split_on_punctuation(word, kept)
        ]

    def places(
        self, part: AlignedText, kept: Collection[str], watch: Watch
    ) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of `tokenize` with their spans, each by its place; `watch` is told of steps."""
        cleaned = run(self.steps, part, watch)
        for text, start, end in places(cleaned.text, cleaned.text.split()):
            word, is_kept = cleaned[start:end], text in kept
            watch.split(cleaned, start, end, is_kept)
            if is_kept:
                for stage in stages_of(self.word_steps):
                    watch.changed(stage, word, word)
            else:
                word = run(self.word_steps, word, watch)
            for _, first, last in places(word.text, self._split_on_punctuation(word.text, kept)):
                yield word, first, last

    @property
    def steps(self) -> tuple[Step, ...]:
        """What is done with a text before it is cut into words."""
        return _steps(bool(self.tokenize_chinese_chars), self.composes)

    @property
    def word_steps(self) -> tuple[Step, ...]:
        """What is done with a word that is not kept as it is."""
        return _steps_of_words(bool(self.do_lower_case), self.strips_accents)

    @property
    def stages(self) -> tuple[StageName, ...]:
        """What the options switch on, in order: the steps, and the cuts."""
        first = self._cleaning_stages() + stages_of(self.steps[1:])
        punctuation: tuple[StageName, ...] = ("punctuation",) if self.do_split_on_punc else ()
        return (*first, "whitespace", *stages_of(self.word_steps), *punctuation)

    def _cleaning_stages(self, clean_text: bool = True) -> tuple[StageName, ...]:
        names: tuple[StageName, ...] = ("clean",) if clean_text else ()
        return (*names, "chinese") if self.tokenize_chinese_chars else names

    @property
    def strips_accents(self) -> bool:
        """Whether accents are stripped; `strip_accents` of None follows `do_lower_case`."""
        return bool(self.do_lower_case if self.strip_accents is None else self.strip_accents)

    @property
    def cleaning_table(self) -> TranslationTable:
        """What cleaning makes of each character."""
        return _CLEANING[bool(self.tokenize_chinese_chars)]

    def clean(self, text: str) -> str:
        """Delete controls, make whitespace spaces, set Chinese apart, compose (NFC)."""
        return run(self.steps, text)

    def compose(self, text: str) -> str:
        """To NFC."""
        return normalize("NFC", text) if self.composes and not text.isascii() else text

    def normalize(self, text: str) -> str:
        """Lower-case and strip accents, as the options say."""
        return run(self.word_steps, text)

    def _split_word(self, word: str, kept: Collection[str]) -> list[str]:
        return self._split_on_punctuation(word if word in kept else self.normalize(word), kept)

    def _split_on_punctuation(self, word: str, kept: Collection[str]) -> list[str]:
        if not self.do_split_on_punc or word in kept:
            return word.split()
        return word.translate(PUNCTUATION).split()

    # ---- transformers' names for the steps -------------------------------------------------------

    def _words_by_steps(self, text: str, kept: Collection[str]) -> list[str]:
        """The words by the steps in transformers' order, of which a user has replaced some."""
        text = self._clean_text(text)
        if self.tokenize_chinese_chars:
            text = self._tokenize_chinese_chars(text)
        words: list[str] = []
        for word in self.compose(text).split():
            if word not in kept:
                word = word.lower() if self.do_lower_case else word
                word = self._run_strip_accents(word) if self.strips_accents else word
            words += (
                self._run_split_on_punc(word, kept)
                if self._tells_never_split
                else self._run_split_on_punc(word)
            )
        return " ".join(words).split()

    def _clean_text(self, text: str) -> str:
        """Delete control characters, and make each whitespace a space."""
        return text.translate(_CLEANING[False])

    def _tokenize_chinese_chars(self, text: str) -> str:
        """Put spaces around Chinese characters."""
        return "".join(f" {char} " if self._is_chinese_char(ord(char)) else char for char in text)

    def _is_chinese_char(self, cp: int) -> bool:
        """Whether a code point is a Chinese character."""
        return is_chinese_char(cp)

    def _run_strip_accents(self, text: str) -> str:
        """Decompose a word, and delete its marks."""
        return normalize("NFD", text).translate(MARKS)

    def _run_split_on_punc(
        self, text: str, never_split: Collection[str] | None = None
    ) -> list[str]:
        """A word cut around punctuation; one of `never_split` stays whole."""
        if not self.do_split_on_punc or (never_split is not None and text in never_split):
            return [text]
        # a number for each mark
        parts = groupby(enumerate(text, 1), lambda at: is_punctuation(at[1]) and at[0])
        return ["".join(char for _, char in part) for _, part in parts]


# ---- as the Rust tokenizers do it: BertNormalizer, then BertPreTokenizer -------------------------
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


_RUST_CLEANING = {
    options: _rust_cleaning_table(*options) for options in product((True, False), repeat=2)
}
RUST_PUNCTUATION = TranslationTable(
    lambda char: f" {char} " if is_in("punctuation", char) else char
)
RUST_MARKS = TranslationTable(lambda char: None if is_in("marks", char) else char)


@cache
def _any_of(*names: str) -> re.Pattern[str]:
    return re.compile(f"[{character_class(*names)}]")


@lru_cache(maxsize=32)
def _rust_steps(cleans: bool, chinese: bool, strips: bool, lowers: bool) -> tuple[Step, ...]:
    def changes(text: str) -> bool:
        if text.isascii():
            return cleans and not text.isprintable()
        if len(text) <= FEW_CHARACTERS or (cleans and _any_of("deleted", "space").search(text)):
            return True
        return chinese and _any_of("chinese").search(text) is not None

    cleaning = EachCharacter("clean", _RUST_CLEANING[cleans, chinese], changes)
    stripping = NormalForm("NFD"), EachCharacter("accents", RUST_MARKS, _is_beyond_ascii)
    steps = [*([cleaning] if cleans or chinese else ()), *(stripping if strips else ())]
    return (*steps, *([LOWERCASE] if lowers else ()))


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
    def steps(self) -> tuple[Step, ...]:
        options = (
            self.clean_text,
            self.tokenize_chinese_chars,
            self.strips_accents,
            self.do_lower_case,
        )
        return _rust_steps(*map(bool, options))

    @property
    def word_steps(self) -> tuple[Step, ...]:
        return ()

    @property
    def stages(self) -> tuple[StageName, ...]:
        cleaning = self._cleaning_stages(self.clean_text)
        others = stages_of(self.steps[bool(cleaning) :])
        return (*cleaning, *others, "punctuation" if self.is_berts else "words")

    @property
    def normalizing_options(self) -> tuple[object, ...]:
        """The options that decide what a text is normalized to."""
        return self.do_lower_case, self.tokenize_chinese_chars, self.strip_accents, self.clean_text

    def tokenize(self, text: str, never_split: Iterable[str] | None = None) -> list[str]:
        """Split `text` into words.

        Args:
            text: any string.
            never_split: accepted and ignored: the Rust tokenizers have no such option.
        """
        return self.words(self.normalized(text))

    def words_of(self, text: str, kept: Set[str]) -> list[str]:
        return self.words(self.normalized(text))

    def places(
        self, part: AlignedText, kept: Collection[str], watch: Watch
    ) -> Iterator[tuple[AlignedText, int, int]]:
        return self.places_in_normalized(run(self.steps, part, watch))

    def places_in_normalized(self, part: AlignedText) -> Iterator[tuple[AlignedText, int, int]]:
        """The words of a normalized text: each by its place in it."""
        return ((part, start, end) for _, start, end in places(part.text, self.words(part.text)))

    def normalized(self, text: str) -> str:
        """The text as BertNormalizer leaves it.

        >>> RustBasicTokenizer().normalized("Ünı 世")
        'unı  世 '
        """
        if text.isascii() and text.isprintable():
            return text.lower() if self.do_lower_case else text
        return run(self.steps, text)

    def normalized_each(self, texts: list[str]) -> list[str]:
        """`normalized` of each of some texts, sooner."""
        if not all(map(str.isascii, texts)) or not all(map(str.isprintable, texts)):
            return list(map(self.normalized, texts))
        return list(map(str.lower, texts)) if self.do_lower_case else texts

    def clean(self, text: str) -> str:
        """Delete control characters, make all whitespace spaces, set Chinese characters apart."""
        return run([step for step in self.steps if step.stage == "clean"], text)

    def normalize(self, text: str) -> str:
        """Strip accents and lower-case, as the options say."""
        return run([step for step in self.steps if step.stage != "clean"], text)

    def words(self, normalized: str) -> list[str]:
        """Cut a normalized text at whitespace and punctuation, whatever `do_split_on_punc` says."""
        if not self.clean_text:
            normalized = _any_of("split_space").sub(" ", normalized)
        return [*filter(None, normalized.translate(RUST_PUNCTUATION).split(" "))]


class ComponentsTokenizer(RustBasicTokenizer):
    """Splits a text into words as the components of a tokenizer.json do.

    Args:
        components: what a text goes through.
        switches: those of `RustBasicTokenizer`, of a BertNormalizer that comes first; without them
            there is none.

    >>> from trietok.text.pre_tokenizers import Components, digits_cut, whitespace_cuts
    >>> cuts = (digits_cut(True), *whitespace_cuts("WhitespaceSplit"))
    >>> ComponentsTokenizer(Components((LOWERCASE,), cuts)).tokenize("May 24th")
    ['may', '2', '4', 'th']
    """

    def __init__(self, components: Components, *switches: Any) -> None:
        super().__init__(*(switches or (False, False, False, False)))
        self.components = components
        self.is_berts, self.is_local = components.is_berts, components.is_local

    @property
    def steps(self) -> tuple[Step, ...]:
        return super().steps + self.components.normalizers

    def normalized(self, text: str) -> str:
        return run(self.steps, text)

    def normalized_each(self, texts: list[str]) -> list[str]:
        return list(map(self.normalized, texts))

    def places_in_normalized(self, part: AlignedText) -> Iterator[tuple[AlignedText, int, int]]:
        return ((part, start, end) for start, end in self.components.places(part.text))

    def words(self, normalized: str) -> list[str]:
        return [normalized[start:end] for start, end in self.components.places(normalized)]
