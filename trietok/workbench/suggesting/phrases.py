"""Phrases: words that stand side by side more often than their own frequencies would have it.

In: texts as added tokens are searched in them. Out: the phrases worth a look, and texts cut into units none of which a
phrase extends beyond.

A phrase is two to four words with one space between each two and nothing else, so none extends over punctuation. Its
cohesion is the normalized pointwise mutual information of its two parts (Bouma 2009, "Normalized (pointwise) mutual
information in collocation extraction"), the lowest over all places to part it at: ln(p(ab) / (p(a) p(b))) / -ln p(ab),
where p(x) is how often x occurs for each word of the texts. It is 1 for parts that occur only together, 0 for parts
that meet by chance: in English prose "of the" has 0.3, "new york" 0.6, "district of columbia" 0.9.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from trietok.text.word_characters import word_runs
from trietok.training.word_counts import WordCounts

LONGEST = 4  # words
COHESION = 0.55  # a choice: about where word lists of English prose turn from grammar to terms
_MOST_REMEMBERED = 200_000  # chunks
_OTHER_SPACES = re.compile(r"[\t\n\r]+")  # the spaces of `AsAddedTokens` but for the one that a phrase may hold


class _Chunk(NamedTuple):
    """What lies between two spaces: its words, and whether it begins and ends with one."""

    words: list[str]
    begins: bool
    ends: bool


class WordSequences:
    """The words of a text, as lists of those with only a space between each two.

    >>> list(WordSequences()("a (new york) minute-long  new york"))
    [['a'], ['new', 'york'], ['minute'], ['long'], ['new', 'york']]
    """

    def __init__(self) -> None:
        self._runs = word_runs()
        self._chunks: dict[str, _Chunk] = {}

    def __call__(self, text: str) -> Iterator[list[str]]:
        words: list[str] = []
        for chunk in text.split(" "):
            of_chunk, begins, ends = self._chunks.get(chunk) or self._look_into(chunk)
            if words and not begins:
                yield words
                words = []
            if not of_chunk:
                continue
            words.append(of_chunk[0])
            if len(of_chunk) > 1:
                yield words
                yield from ([word] for word in of_chunk[1:-1])
                words = [of_chunk[-1]]
            if not ends:
                yield words
                words = []
        if words:
            yield words

    def _look_into(self, text: str) -> _Chunk:
        words = self._runs.findall(text)
        begins, ends = (text.startswith(words[0]), text.endswith(words[-1])) if words else (False, False)
        if len(self._chunks) >= _MOST_REMEMBERED:
            self._chunks.clear()
        chunk = self._chunks[text] = _Chunk(words, begins, ends)
        return chunk


class PhraseCounts:
    """How often each word, and each phrase, occurs.

    Args:
        longest: the most words of a phrase.
        max_words: how many different words and phrases are held; the rarest are forgotten.

    >>> phrases = PhraseCounts(3, 1000)
    >>> phrases.add("a new york minute, new york")
    >>> phrases.counts["new york"], "minute new" in phrases.counts
    (2, False)
    """

    def __init__(self, longest: int, max_words: int) -> None:
        self.longest = longest
        self.counts = WordCounts()
        self.words = 0
        self._max_words = max_words
        self._sequences = WordSequences()

    def add(self, text: str) -> None:
        """Count the words and phrases of a text."""
        found: Counter[str] = Counter()
        for words in self._sequences(text):
            self.words += len(words)
            found.update(words)
            for length in range(2, min(self.longest, len(words)) + 1):
                found.update(map(" ".join, zip(*(words[start:] for start in range(length)), strict=False)))
        self.counts.add(found)
        self.counts.prune(self._max_words)

    def cohesion(self, phrase: str) -> float:
        """The cohesion of a phrase that was counted, at most 1."""
        count, words = self.counts[phrase], phrase.split(" ")
        return min(
            self._information(count, " ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words))
        )

    def _information(self, count: int, left: str, right: str) -> float:
        # What was forgotten occurred at least as often as the whole.
        counts = [max(self.counts.get(part, 0), count) for part in (left, right)]
        if count >= self.words:
            return 1.0
        return math.log(count * self.words / (counts[0] * counts[1])) / -math.log(count / self.words)

    def cohesive(self, min_frequency: int) -> Iterator[tuple[str, int]]:
        """The phrases that hold together, each with how often it occurs."""
        for text, count in self.counts.items():
            if count >= min_frequency and " " in text and self.cohesion(text) >= COHESION:
                yield text, count


class Joining:
    """Finds phrases in texts, and cuts texts at their spaces, but not at one inside a phrase.

    Args:
        phrases: the phrases.

    >>> Joining(["new york", "york city hall"]).units("a (new york city halls) new\\tyork new  york")
    ['a', '(new york city halls)', 'new', 'york', 'new', 'york']
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._rests: dict[str, list[list[str]]] = {}  # first word → the other words of each phrase
        for phrase in phrases:
            first, *rest = phrase.split(" ")
            self._rests.setdefault(first, []).append(rest)
        self._longest = max(map(len, self._rests), default=0)
        self._endings: dict[str, tuple[str, ...]] = {}  # chunk → the first words that it ends with

    def units(self, text: str) -> list[str]:
        """The units of a text, none empty: no phrase of a text extends beyond a unit, wherever in words it stands."""
        units: list[str] = []
        for part in _OTHER_SPACES.split(text):
            chunks = part.split(" ")
            start = reached = 0  # the unit begins at the one, and goes on to the other at least
            for place, _, end in self._found(chunks):
                if place > reached:
                    units += [" ".join(chunks[start : reached + 1]), *chunks[reached + 1 : place]]
                    start = place
                reached = max(reached, end)
            units += [" ".join(chunks[start : reached + 1]), *chunks[reached + 1 :]]
        return [unit for unit in units if unit]

    def occurring(self, text: str) -> set[str]:
        """The phrases that occur in a text, those included that a word goes on from."""
        parts = (part.split(" ") for part in _OTHER_SPACES.split(text))
        return {phrase for chunks in parts for _, phrase, _ in self._found(chunks)}

    def _found(self, chunks: list[str]) -> Iterator[tuple[int, str, int]]:
        """Each place of a phrase, by that of its first and its last chunk, in the order of the first."""
        endings = self._endings
        for place, chunk in enumerate(chunks):
            firsts = endings.get(chunk)
            if firsts is None:
                firsts = self._firsts_of(chunk)
            for first in firsts:
                for rest in self._rests[first]:
                    if _goes_on(chunks, place + 1, rest):
                        yield place, " ".join((first, *rest)), place + len(rest)

    def _firsts_of(self, chunk: str) -> tuple[str, ...]:
        starts = range(max(0, len(chunk) - self._longest), len(chunk))
        found = tuple(chunk[start:] for start in starts if chunk[start:] in self._rests)
        if len(self._endings) >= _MOST_REMEMBERED:
            self._endings.clear()
        self._endings[chunk] = found
        return found


def _goes_on(chunks: list[str], place: int, words: list[str]) -> bool:
    """Whether these words stand from a chunk on; of the last it may be the beginning."""
    last = place + len(words) - 1
    return last < len(chunks) and chunks[last].startswith(words[-1]) and chunks[place:last] == words[:-1]
