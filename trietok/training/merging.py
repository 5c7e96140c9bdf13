"""What WordPiece and byte-pair training share: words spelled in characters, then the most frequent
pair joined.

In: word counts and the options. Out: a `Spelling`, whose tokens have grown and whose words have
become shorter, and the merges in their order: the most frequent pair of neighbours is joined,
everywhere, again and again.

The order is that of `BpeTrainer` in tokenizers 0.22.2: the higher count first; of equal counts the
lower id of the left token, then of the right one. Three more of its rules matter only where two
merges make the same token, as in words that contain the prefix themselves ("#" + "###" and "##" +
"##"):

- Each entry has its own words, noted when the pair came up; they are merged when that entry's turn
  comes.
- Merging a pair does not reset its count: if the pair occurs again later, the earlier occurrences
  are still included.
- A pair that is merged once more moves to the end of the merges.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from trietok.disk import LONGEST_LINE
from trietok.errors import InputError, VocabularyError
from trietok.training.pairs import MostFrequent, Pairs, Sizes, bytes_of
from trietok.training.word_counts import (
    MERGING,
    OnProgress,
    Progress,
    as_word_counts,
    require_whole,
)

# ---- the start: the alphabet, the first tokens, every word spelled in them -----------------------

_LARGEST_CHARACTER = 4  # bytes


class Options(NamedTuple):
    """The options of `WordPieceTrainer` and `BpeTrainer` of HuggingFace's tokenizers, under the
    same names.
    """

    vocab_size: int
    min_frequency: int
    limit_alphabet: int | None
    initial_alphabet: Iterable[str]
    special_tokens: Iterable[object]
    continuing_subword_prefix: str | None
    end_of_word_suffix: str | None
    max_token_length: int | None

    def check(self) -> None:
        """Raise for an option that is out of range, and a special token that is empty or too long
        to be loaded.
        """
        require_whole("vocab_size", self.vocab_size, 1)
        require_whole("min_frequency", self.min_frequency, 0)
        require_whole("limit_alphabet", self.limit_alphabet, 1, or_none=True)
        require_whole("max_token_length", self.max_token_length, 1, or_none=True)
        if isinstance(self.special_tokens, str):
            raise InputError(
                f"special_tokens is a list of tokens, not one string: {self.special_tokens!r}"
            )
        if "" in map(str, self.special_tokens):
            raise InputError(
                "a special token is empty; give it at least one character, or leave it out"
            )
        marks = f"{self.continuing_subword_prefix or ''}{self.end_of_word_suffix or ''}"
        sizes = {"a special token": max(map(bytes_of, map(str, self.special_tokens)), default=0)}
        sizes["a character with continuing_subword_prefix or end_of_word_suffix"] = (
            _LARGEST_CHARACTER + bytes_of(marks)
        )
        for what, size in sizes.items():
            if size > LONGEST_LINE:
                raise InputError(
                    f"{what} has {size:,} bytes, and a token of a vocabulary may have"
                    f" {LONGEST_LINE:,}; make it shorter"
                )


class Spelling(NamedTuple):
    """The state before the first merge.

    Attributes:
        tokens: the special tokens, the alphabet, then its forms with a prefix or suffix; the ids
            are the positions.
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

    The special tokens come first, in the order given; then the alphabet by code point; then the
    alphabet with a prefix or suffix, by code point too. A character that is not in the alphabet is
    left out of its words.
    """
    tokens: dict[str, None] = dict.fromkeys(str(token) for token in options.special_tokens)
    special = len(tokens)
    tokens.update(
        dict.fromkeys(alphabet(word_counts, options.limit_alphabet, options.initial_alphabet))
    )
    characters = len(tokens) - special
    known, marks = (
        frozenset(tokens),
        (options.continuing_subword_prefix or "", options.end_of_word_suffix or ""),
    )
    tokens.update(dict.fromkeys(sorted(_forms(word_counts, known, *marks))))
    parts = f"{special:,} special tokens, {characters:,} characters"
    if forms := len(tokens) - special - characters:
        parts += f", {forms:,} of their forms with {' or '.join(map(repr, filter(None, marks)))}"
    require_room(options.vocab_size, len(tokens), f"tokens to start from ({parts})")
    token_to_id = {token: token_id for token_id, token in enumerate(tokens)}
    words = list(map(_speller(token_to_id, known, *marks), word_counts))
    return Spelling(list(tokens), token_to_id, words, list(word_counts.values()))


def characters_of(word_counts: Mapping[str, int]) -> Counter[str]:
    """The characters of words, and how often they occur."""
    words_of: dict[int, list[str]] = {}  # by their counts, of which there are few
    for word, count in word_counts.items():
        words_of.setdefault(count, []).append(word)
    counts: Counter[str] = Counter()
    for count, words in words_of.items():
        for char, number in Counter("".join(words)).items():
            counts[char] += count * number
    return counts


def alphabet(
    word_counts: Mapping[str, int], limit: int | None, initial: Iterable[str]
) -> list[str]:
    """The characters to start from, by code point.

    Args:
        word_counts: the words that the characters are taken from.
        limit: keep so many, the most frequent; of equally frequent ones those with the lower code
            points.
        initial: strings whose first characters come before all others, whether they occur or not.

    >>> alphabet({"hug": 10, "pug": 5, "hi": 1}, 3, ["x"])
    ['g', 'u', 'x']
    """
    counts = characters_of(word_counts)
    first = {string[0] for string in initial if string}
    chars = sorted(counts.keys() | first, key=lambda char: (char not in first, -counts[char], char))
    return sorted(chars if limit is None else chars[:limit])


# The token of a character has the prefix, unless the character is the first of its word, and the
# suffix, if the last.


def _forms(words: Iterable[str], known: frozenset[str], prefix: str, suffix: str) -> set[str]:
    """The tokens of the known characters of words."""
    only, first, inner, last = set[str](), set[str](), set[str](), set[str]()
    for word in words:
        if len(word) < 2:
            only.add(word)
        else:
            first.add(word[0])
            last.add(word[-1])
            inner.update(word[1:-1])
    forms = first & known
    forms |= {char + suffix for char in only & known}
    forms |= {prefix + char for char in inner & known}
    return forms | {prefix + char + suffix for char in last & known}


def _speller(
    token_to_id: Mapping[str, int], known: frozenset[str], prefix: str, suffix: str
) -> Callable[[str], str]:
    """A function from a word to its `chr(id)`s; characters that are not known are left out."""
    only, first, inner, last = (
        defaultdict(
            str,
            (
                (c, chr(token_to_id[form]))
                for c in known
                if (form := before + c + after) in token_to_id
            ),
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


def require_room(vocab_size: int, needed: int, what: str) -> None:
    """Raise where a vocabulary of this size does not hold what it has to begin with."""
    if needed > vocab_size:
        raise VocabularyError(
            f"a vocabulary of {vocab_size:,} has no room for the {needed:,} {what}; raise"
            f" vocab_size (--vocab-size) to {needed:,} at least, or keep fewer characters with"
            " limit_alphabet (--limit-alphabet)"
        )


# ---- the merges ----------------------------------------------------------------------------------

_MERGES_PER_REPORT = 100


def learnt(
    texts: Iterable[str] | Mapping[str, int],
    options: Options,
    on_progress: OnProgress | None,
    **counting: Any,
) -> tuple[Spelling, list[tuple[str, str]]]:
    """What training makes of texts, or of words counted before; `counting` are the options of
    `count_words`.

    Pairs are merged until the vocabulary has its size, or none occurs `min_frequency` times: the
    tokens of the spelling grow, its words get shorter. O(n log n) for n pairs of neighbours.
    """
    options.check()
    spelling = spell(as_word_counts(texts, progress=on_progress, **counting), options)
    return spelling, _Merging(spelling, options, on_progress or (lambda progress: None)).run()


class _Merging:
    def __init__(self, spelling: Spelling, options: Options, report: OnProgress) -> None:
        self.tokens, self.token_to_id, words, counts = spelling
        self.pairs = Pairs(words, counts)
        self.options = options
        self.report = report
        self.merges: dict[tuple[int, int], None] = {}
        self._bounds = options.vocab_size, max(options.min_frequency, 1)
        self._prefix = options.continuing_subword_prefix or ""

    def run(self) -> list[tuple[str, str]]:
        """Make the merges; the result is the pairs in their order."""
        pair_counts = self.pairs.counts
        where = self.pairs.count(self.report)
        waiting: MostFrequent[tuple[str, int, list[int]]] = MostFrequent()
        for pair, positions in where.items():
            waiting.push(pair_counts[pair], (pair, 0, positions))
        vocab_size, least = self._bounds
        lengths, sizes = [1] * len(self.tokens), Sizes(self.tokens)  # in characters, and in bytes
        serial = 0
        while len(self.tokens) < vocab_size and (best := waiting.best(pair_counts, least)):
            pair, _, positions = best[1]
            left, right = map(ord, pair)
            merged = self._merge(left, right)
            if merged == len(lengths):
                lengths.append(0)
                sizes.add(self.tokens[merged])
            # also of a special token that words make
            lengths[merged] = lengths[left] + lengths[right]
            _, new = self.pairs.merge(
                pair, chr(merged), positions, self._limit(merged, lengths, sizes)
            )
            for come_up, in_words in new.items():
                if pair_counts[come_up] > 0:
                    serial += 1  # of two entries of one pair the older comes first
                    waiting.push(pair_counts[come_up], (come_up, serial, in_words))
        self.report(Progress(MERGING, len(self.tokens), len(self.tokens), "tokens"))
        return [(self.tokens[left], self.tokens[right]) for left, right in self.merges]

    def _merge(self, left: int, right: int) -> int:
        """Note a merge; return the token that the pair becomes, which another merge may have made
        before.
        """
        merges, tokens = self.merges, self.tokens
        merges.pop((left, right), None)  # a pair merged once more goes to the end
        merges[left, right] = None
        if not len(merges) % _MERGES_PER_REPORT:
            self.report(Progress(MERGING, len(tokens), self.options.vocab_size, "tokens"))
        token = tokens[left] + tokens[right].removeprefix(self._prefix)
        merged = self.token_to_id.setdefault(token, len(tokens))
        if merged == len(tokens):
            if merged >= sys.maxunicode:  # a word has a character for each of its tokens
                told = (
                    f"training makes {merged:,} tokens at most; give a lower vocab_size"
                    " (--vocab-size)"
                )
                raise VocabularyError(told)
            tokens.append(token)
        return merged

    def _limit(self, merged: int, lengths: list[int], sizes: Sizes) -> Callable[[str], bool] | None:
        """Whether a token beside a merged one would make too long a token with it.

        As in tokenizers 0.22.2 `max_token_length` is one that a token stays below, and two
        characters are never too long.
        """
        longest, too_large = self.options.max_token_length, sizes.limit(merged)
        if longest is None:
            return too_large
        return lambda token: (
            lengths[ord(token)] + lengths[merged] >= longest
            or (too_large is not None and too_large(token))
        )
