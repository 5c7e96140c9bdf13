"""The start of training: the alphabet, the first tokens with their ids, every word spelled in them.

In: word counts and the options. Out: a `Spelling`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from trietok.errors import InputError, VocabularyError
from trietok.text.vocab_txt import LONGEST_LINE
from trietok.training.pairs import bytes_of

_LARGEST_CHARACTER = 4  # bytes


class Options(NamedTuple):
    """The options of `WordPieceTrainer` and `BpeTrainer` of HuggingFace's tokenizers, under the same names."""

    vocab_size: int
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: Iterable[str]
    special_tokens: Iterable[object]
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    max_token_length: int | None

    def check(self) -> None:
        """Raise for invalid options.

        Raises:
            InputError: an option is out of range, or a special token is empty or too long to be loaded.
        """
        numbers = {"vocab_size": 1, "min_frequency": 0, "limit_alphabet": 1, "max_token_length": 1}
        for name, least in numbers.items():
            value = getattr(self, name)
            if value is None and name in ("limit_alphabet", "max_token_length"):
                continue
            if type(value) is not int or value < least:
                raise InputError(f"{name} is a whole number from {least}, not {value!r}")
        if isinstance(self.special_tokens, str):
            raise InputError(f"special_tokens is a list of tokens, not one string: {self.special_tokens!r}")
        if "" in map(str, self.special_tokens):
            raise InputError("a special token is empty; give it at least one character, or leave it out")
        marks = f"{self.continuing_subword_prefix or ''}{self.end_of_word_suffix or ''}"
        sizes = {"a special token": max(map(bytes_of, map(str, self.special_tokens)), default=0)}
        sizes["a character with continuing_subword_prefix or end_of_word_suffix"] = _LARGEST_CHARACTER + bytes_of(marks)
        for what, size in sizes.items():
            if size > LONGEST_LINE:
                raise InputError(
                    f"{what} has {size:,} bytes, and a token of a vocabulary may have {LONGEST_LINE:,}; make it shorter"
                )


class Spelling(NamedTuple):
    """The state before the first merge.

    Attributes:
        tokens: the special tokens, the alphabet, then its forms with a prefix or suffix; the ids are the positions.
        token_to_id: the inverse of `tokens`.
        words: each word as a str with a character for each of its tokens, `chr(id)`.
        counts: how often each of them occurs.
    """

    tokens: list[str]
    token_to_id: dict[str, int]
    words: list[str]
    counts: list[int]


def spell(word_counts: Mapping[str, int], options: Options) -> Spelling:
    """Give ids to special tokens and characters, and spell the words in them.

    The special tokens come first, in the order given; then the alphabet by code point; then the alphabet with
    a prefix or suffix, by code point too. A character that is not in the alphabet is left out of its words.

    Raises:
        VocabularyError: `vocab_size` has no room for all of these.
    """
    tokens: dict[str, None] = dict.fromkeys(str(token) for token in options.special_tokens)
    special = len(tokens)
    tokens.update(dict.fromkeys(alphabet(word_counts, options.limit_alphabet, options.initial_alphabet)))
    characters = len(tokens) - special
    forms = _Forms(tokens, options.continuing_subword_prefix or "", options.end_of_word_suffix or "")
    tokens.update(dict.fromkeys(sorted(forms.of_words(word_counts))))
    _check_size(options, special, characters, len(tokens) - special - characters)
    token_to_id = {token: token_id for token_id, token in enumerate(tokens)}
    words = list(map(forms.speller(token_to_id), word_counts))
    return Spelling(list(tokens), token_to_id, words, list(word_counts.values()))


def alphabet(word_counts: Mapping[str, int], limit: int | None, initial: Iterable[str]) -> list[str]:
    """The characters to start from, by code point.

    Args:
        word_counts: the words that the characters are taken from.
        limit: keep so many, the most frequent; of equally frequent ones those with the lower code points.
        initial: strings whose first characters come before all others, whether they occur or not.

    >>> alphabet({"hug": 10, "pug": 5, "hi": 1}, 3, ["x"])
    ['g', 'u', 'x']
    """
    words_of: dict[int, list[str]] = {}  # by their counts, of which there are few
    for word, count in word_counts.items():
        words_of.setdefault(count, []).append(word)
    counts: Counter[str] = Counter()
    for count, words in words_of.items():
        for char, number in Counter("".join(words)).items():
            counts[char] += count * number
    first = {string[0] for string in initial if string}
    chars = sorted(counts.keys() | first, key=lambda char: (char not in first, -counts[char], char))
    return sorted(chars if limit is None else chars[:limit])


class _Forms:
    """The token of each character of a word: with the prefix, unless it is the first; with the suffix, if the last."""

    def __init__(self, known: Iterable[str], prefix: str, suffix: str) -> None:
        self._known = frozenset(known)
        self._prefix = prefix
        self._suffix = suffix

    def of_words(self, words: Iterable[str]) -> set[str]:
        """The forms that the known characters of words have."""
        only, first, inner, last = set[str](), set[str](), set[str](), set[str]()
        for word in words:
            if len(word) < 2:
                only.add(word)
            else:
                first.add(word[0])
                last.add(word[-1])
                inner.update(word[1:-1])
        prefix, suffix, known = self._prefix, self._suffix, self._known
        forms = first & known
        forms |= {char + suffix for char in only & known}
        forms |= {prefix + char for char in inner & known}
        return forms | {prefix + char + suffix for char in last & known}

    def speller(self, token_to_id: Mapping[str, int]) -> Callable[[str], str]:
        """A function from a word to its `chr(id)`s; characters that are not known are left out."""
        prefix, suffix = self._prefix, self._suffix
        only, first, inner, last = (
            _Symbols(
                (char, chr(token_to_id[form])) for char in self._known if (form := before + char + after) in token_to_id
            )
            for before, after in (("", suffix), ("", ""), (prefix, ""), (prefix, suffix))
        )
        of_inner = inner.__getitem__
        if not prefix and not suffix:
            return lambda word: "".join(map(of_inner, word))

        def spelled(word: str) -> str:
            if len(word) < 2:
                return only[word] if word else ""
            return f"{first[word[0]]}{''.join(map(of_inner, word[1:-1]))}{last[word[-1]]}"

        return spelled


class _Symbols(dict[str, str]):
    def __missing__(self, char: str) -> str:
        return ""


def _check_size(options: Options, special: int, characters: int, forms: int) -> None:
    needed = special + characters + forms
    if needed <= options.vocab_size:
        return
    parts = f"{special:,} special tokens, {characters:,} characters"
    if forms:
        marks = filter(None, (options.continuing_subword_prefix, options.end_of_word_suffix))
        parts += f", {forms:,} of their forms with {' or '.join(map(repr, marks))}"
    raise VocabularyError(
        f"a vocabulary of {options.vocab_size:,} has no room for the {needed:,} tokens to start from ({parts}); raise "
        f"vocab_size (--vocab-size) to {needed:,} at least, or keep fewer characters with limit_alphabet "
        "(--limit-alphabet)"
    )
