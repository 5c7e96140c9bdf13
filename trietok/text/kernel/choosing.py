"""Which kernel is at work, and what the compiled one asks Python.

In: a `ChunkEncoder`. Out: its `Kernel`, which does what `ChunkEncoder.ids` does sooner; or None,
and the encoder does it all in plain Python. The plain way is the reference: the compiled kernel
asks it what becomes of a character, and hands over to it what cannot be told of each character by
itself.

The environment variable `TRIETOK_KERNEL=0` switches the compiled kernel off, and
`TRIETOK_PARALLELISM=0` the threads among which it shares large batches.
"""

from __future__ import annotations

import array
import os
import sys
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.cores import cores
from trietok.forks import ForkableLock
from trietok.text.basic_tokenizer import MARKS, PUNCTUATION
from trietok.text.characters import (
    bert_classes,
    combining_class,
    composing,
    is_chinese_char,
    is_in,
    is_unchanged,
    lower_each,
    normalize,
    rust_classes,
)
from trietok.text.kernel.blocks import ASKED_ALONE, CharacterBlocks
from trietok.text.terms import Forms, Terms, forms_of
from trietok.text.word_search import TriePart, WordSearch

if TYPE_CHECKING:
    from trietok.text.basic_tokenizer import BasicTokenizer, RustBasicTokenizer
    from trietok.text.stages import Stages

try:
    # A free-threaded Python before 3.15 finds the library by its name, and cannot load it: its
    # objects are laid out otherwise. What then happens is no ImportError, and need not be an error.
    # Neither need it be with Python 3.10, which is older than the stable ABI that the library was
    # made for.
    if sys.version_info < (3, 11) or "t" in getattr(sys, "abiflags", ""):
        raise ImportError
    from trietok.text.kernel import _kernel
except ImportError:  # not built, or not for this Python
    _IS_THERE = False
else:
    _IS_THERE = getattr(_kernel, "INTERFACE", None) == 13  # else it was made of other sources

# Code points. To make a kernel takes as long as to work out some 10,000 in plain Python; who has
# worked out some hundreds will most likely have more. A text of a batch counts as so many more than
# it has: batches of the same few short texts are to have a kernel after some ten calls.
TEXT_BEFORE_KERNEL = 1_000
TEXT_AT_ONCE_BEFORE_KERNEL = 20_000
CODE_POINTS_OF_A_TEXT = 20

# What becomes of a character, and flags; the numbers are those of `_kernel.c`.
ORDINARY, DELETED, SPACE, ALONE, HAND_OVER = range(1, 6)
IS_KEY, IS_BOUNDARY, MAY_COMPOSE, IS_PLAIN, MAY_PASS = 1, 2, 4, 8, 16
DELETED_FOLD = chr(255)  # of ASCII that is not there where terms are looked for
END_OF_WORD = chr(sys.maxunicode)  # of a word whose pairs are merged
WORDS_AT_ONCE = 10_000
Name = Callable[[int, int], int]  # of the token that two tokens become
# kind, combining class, flags, UTF-8 of what it becomes in a word
CharacterAnswer = tuple[int, int, int, bytes]
_HANDED_OVER: CharacterAnswer = (HAND_OVER, 0, 0, b"")

LEAST_LIMIT = 1 << 18  # bytes; a smaller memory is left to Python
MOST_LIMIT = (1 << 32) - 1
LONGEST_WORD = 1 << 40
MANY_WORDS = 1_000
COMMON_CHINESE = (0x4E00, 0x9FEF)  # all assigned, and the same in every form


class _Choice(NamedTuple):
    is_compiled: bool
    text_before_kernel: int = TEXT_BEFORE_KERNEL


_made = 0
_choice = _Choice(_IS_THERE and os.environ.get("TRIETOK_KERNEL") != "0")


def kernel_at_work() -> str:
    """`"compiled"` where texts are encoded by the C kernel, `"plain"` where by Python alone.

    >>> kernel_at_work() in ("compiled", "plain")
    True
    """
    return "compiled" if _choice.is_compiled else "plain"


def choose_kernel(name: str, *, text_before_kernel: int = TEXT_BEFORE_KERNEL) -> bool:
    """Choose the kernel of the encoders that are made from now on.

    Args:
        name: `"compiled"` or `"plain"`.
        text_before_kernel: how many code points an encoder works out in plain Python before it
            makes a compiled kernel.

    Returns:
        Whether that one is at work now: the compiled one may not be there.
    """
    global _choice
    _choice = _Choice(_IS_THERE and name == "compiled", text_before_kernel)
    return kernel_at_work() == name


@contextmanager
def using_kernel(name: str, *, text_before_kernel: int = TEXT_BEFORE_KERNEL) -> Iterator[bool]:
    """`choose_kernel` for a block of code; what was chosen before is chosen again after it."""
    global _choice
    before = _choice
    try:
        yield choose_kernel(name, text_before_kernel=text_before_kernel)
    finally:
        _choice = before


def kernels_alive() -> int:
    """How many encoders of this process have a compiled kernel now."""
    return _kernel.count_kernels() if _IS_THERE else 0


def kernels_made() -> int:
    """How many compiled kernels this process has made."""
    return _made


def merge_pairs(
    words: list[str], counts: list[int], tokens: int, most: int, least: int, name: Name
) -> None:
    """Merge the pairs of neighbours in words by the compiled kernel, as `trietok.training.merging`
    says it.
    """
    buffer = bytearray()
    for first in range(0, len(words), WORDS_AT_ONCE):
        some = END_OF_WORD.join([*words[first : first + WORDS_AT_ONCE], ""])
        buffer += some.encode("utf-32-le", "surrogatepass")
    words.clear()  # which takes less memory
    _kernel.merge_pairs(buffer, array.array("q", counts), tokens, most, least, name)


def cutter_anywhere(
    entries: dict[str, int], unknown: int
) -> Callable[[str], list[int] | None] | None:
    """A function that cuts a text as `Segmenter.ids_anywhere` does; None where there is no kernel
    for these entries.

    For a text that the kernel cannot read it returns None.
    """
    try:
        return (
            vocabulary_of(entries, "\n", unknown, 0).ids_anywhere if _choice.is_compiled else None
        )
    except (OverflowError, ValueError):
        return None


def text_before_kernel() -> int:
    """How many code points an encoder works out before it makes a kernel."""
    return _choice.text_before_kernel


# What `TRIETOK_PARALLELISM`, and without it `TOKENIZERS_PARALLELISM`, holds for no threads beside
# the one that calls.
_OFF = ("", "0", "f", "false", "n", "no", "off")


def threads_allowed(forks: int = 0) -> int:
    """How many threads may encode a large batch, the one that calls included.

    In a process that was forked (as often as `forks` says) or that multiprocessing has started, it
    is one, unless a variable asks for more: there are others beside it, each of which does its
    part.
    """
    wanted = os.environ.get("TRIETOK_PARALLELISM", os.environ.get("TOKENIZERS_PARALLELISM"))
    process = sys.modules.get("multiprocessing.process")
    is_child = forks or (process and process.parent_process())
    if is_child if wanted is None else wanted.lower() in _OFF:
        return 1

    return min(int(wanted), cores()) if wanted and wanted.isdecimal() else cores()


# ---- what the kernel asks of a character ---------------------------------------------------------


class Classifier(ABC):
    """Says what becomes of a character by itself, where that does not depend on what is around it.

    A character of an added token is a *key*: the chunk around it is handed over. Where no added
    token holds what chunks are cut at, nor looks at what is around it, the part of the chunk
    between such characters is enough. A key of ASCII may pass if the kernel finds that none of the
    added tokens stands in the chunk.

    Args:
        added: the searches for the added tokens as they look in a text, of which none may be
            missed.
        is_plain: whether a match always stands, and takes no whitespace along.
    """

    _any_order = False  # whether marks are stripped whatever their order and what they compose with
    _lowers = False
    _basic: BasicTokenizer
    _classes: Callable[[], bytearray]  # see `CharacterBlocks`

    def __init__(self, added: Sequence[WordSearch], is_plain: bool) -> None:
        parts = [part for search in added for part in search.parts]
        self.keys = frozenset[str]().union(*[part.keys for part in parts])
        self.patterns = patterns_of(parts)
        characters = frozenset[str]().union(*[part.characters for part in parts])
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

    def blocks(self) -> CharacterBlocks:
        """What a kernel asks: one that is there from the first text on asks at once of blocks."""
        return CharacterBlocks(
            self.classify,
            (ORDINARY, ALONE),
            self._classes,
            self._lowers,
            self._basic.normalize if self._any_order else None,
            self.keys,
            composing,
            ASKED_ALONE if _choice.text_before_kernel > 0 else 0,
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

    def alone(self) -> tuple[int, int]:
        """The first and the last of code points that are set between spaces and become themselves;
        (1, 0) for none.
        """
        first, last = COMMON_CHINESE
        kind, _, flags, _ = self.classify(first)
        has_keys = any(first <= ord(key) <= last for key in self.keys)
        return (1, 0) if has_keys or kind != ALONE or not flags & IS_BOUNDARY else COMMON_CHINESE


def prepare_searches(searches: Iterable[WordSearch]) -> None:
    """Work out what encoders will ask of many added tokens, so that no text has to wait for it."""
    parts = [part for search in searches for part in search.parts if len(part.words) >= MANY_WORDS]
    patterns_of(parts if _choice.is_compiled else ())
    for part in parts:
        part.prepare()
        if part.spaced and not part.has_odd_spaces and _choice.is_compiled:
            _tree_of(forms_of(part))


def _tree_of(forms: Forms) -> _kernel.Terms:
    """The same forms for a kernel. They stay with the others."""
    tree: _kernel.Terms | None = forms.tree
    if tree is None:
        tree = forms.tree = _kernel.Terms(sorted(forms.forms))
    return tree


def patterns_of(parts: Sequence[TriePart]) -> tuple[_kernel.Vocabulary, ...] | None:
    """What added tokens without spaces look like, for a kernel to look for; None where it cannot.

    They stay with their parts.
    """
    try:
        for part in parts:
            if _IS_THERE and part.patterns is None:
                part.patterns = _kernel.Vocabulary(part.unspaced, {}, None, 0, 0, os.urandom(16))
    except ValueError:  # some are too long
        return None
    return tuple([part.patterns for part in parts]) if _IS_THERE else None


def _is_key(keys: frozenset[str], *forms: str) -> bool:
    """Whether an added token may stand around a character that has these forms on its way."""
    return not keys.isdisjoint("".join(forms))


class SlowClassifier(Classifier):
    """The rules of the slow profile: lower-case, clean, compose, lower-case, strip accents, split
    at punctuation.

    Args:
        basic: the stage of these rules.
        added, is_plain: see `Classifier`.

    >>> from trietok.text.basic_tokenizer import BasicTokenizer
    >>> SlowClassifier(BasicTokenizer(), [WordSearch(["[SEP]"])], True).classify(ord("É")) == (
    ...     ORDINARY,
    ...     0,
    ...     0,
    ...     b"e",
    ... )
    True
    """

    _classes = staticmethod(bert_classes)

    def __init__(self, basic: BasicTokenizer, added: Sequence[WordSearch], is_plain: bool) -> None:
        self._basic = basic
        super().__init__(added, is_plain)
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
        added, is_plain: see `Classifier`; of the added tokens as they are looked for in a raw text
            or a normalized one.
    """

    _basic: RustBasicTokenizer
    _classes = staticmethod(rust_classes)

    def __init__(
        self, basic: RustBasicTokenizer, added: Sequence[WordSearch], is_plain: bool
    ) -> None:
        self._basic = basic
        self._any_order = basic.strips_accents
        self._lowers = bool(basic.do_lower_case)
        self._changes = self._lowers, basic.strips_accents
        super().__init__(added, is_plain)

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


# ---- the kernel of an encoder --------------------------------------------------------------------


def new_vocabulary(stages: Stages) -> _kernel.Vocabulary | None:
    """The entries that words are cut into, for the kernels of all encoders with these; None where
    there is none.
    """
    if not _choice.is_compiled:
        return None
    wordpiece = stages.wordpiece
    try:
        unknown = stages.to_id(wordpiece.unk_token)
        entries: Any = wordpiece.vocab  # a dict
        changes = {
            content: stages.to_id(content)
            for content in entries.keys() & stages.added.encoder.flat().keys()
        }
        longest_word = wordpiece.max_input_chars_per_word
        return vocabulary_of(
            entries, wordpiece.continuing_subword_prefix, unknown, longest_word, changes
        )
    except (LookupError, OverflowError, TypeError, ValueError):
        return None  # an entry or an id is no text or number of use


def vocabulary_of(
    entries: dict[str, int],
    prefix: str,
    unknown: int,
    longest_word: int,
    changes: dict[str, int] | None = None,
) -> _kernel.Vocabulary:
    """Entries with their ids for a kernel.

    Args:
        entries: the ids by entry; those that no text gives do not matter.
        prefix: what entries begin with that continue a word.
        unknown: the id of what no entries make up.
        longest_word: how many code points a word may have that is cut.
        changes: other ids for some of the entries.

    Raises:
        OverflowError, TypeError, ValueError: an entry or an id is no text or number that the kernel
            can use.
    """
    return _kernel.Vocabulary(
        entries, changes or {}, prefix, unknown, min(longest_word, LONGEST_WORD), os.urandom(16)
    )


def new_kernel(
    vocabulary: _kernel.Vocabulary,
    classifier: Classifier,
    hand_over: Callable[[str], Iterable[int]],
    plain: Callable[[str], list[int]],
    steps: Callable[[str], Iterable[int]],
    terms: Terms | None,
    settle: Callable[[str], Iterable[int]],
    limit: int,
) -> _kernel.Kernel | None:
    """A kernel for one encoder; None where there is none.

    Args:
        vocabulary: of `new_vocabulary`.
        classifier: what it asks of characters.
        hand_over: what it asks of chunks between spaces, and of windows: their ids.
        plain: what it asks of texts that it cannot read.
        steps: what it asks of the same: the steps between the bounds of their tokens.
        terms: the added tokens with spaces.
        settle: what it asks of their forms: the id, and whether it is a single word; nothing where
            the form does not tell.
        limit: how many bytes it may remember.
    """
    global _made
    if limit < LEAST_LIMIT:
        return None
    fold = str if terms is None else terms.fold
    forms = [] if terms is None else terms.forms
    _made += 1
    return _kernel.Kernel(
        vocabulary,
        classifier.patterns,
        tuple(map(_tree_of, forms)),
        classifier.blocks().ask,
        classifier.stay_apart,
        classifier.compose,
        hand_over,
        plain,
        steps,
        lambda char: fold(char).encode(),
        settle,
        bytes(ord(fold(chr(code)) or DELETED_FOLD) for code in range(0x80)),
        classifier.alone(),
        min(limit, MOST_LIMIT),
        os.urandom(16),
    )


# Of threads that make a kernel: of two that want one for the same encoder, one waits for the
# other's.
one_at_a_time = ForkableLock()
