"""Finding many words in a text at once, for immutable sets of words that are extended one by one.

In: words, then a text. Out: where they occur, leftmost first; of those that begin at one character the longest, or the
one that was added first.

A `WordSearch` consists of a few parts, each much smaller than the one before, as in `trietok.text.layers`. `with_words`
returns a new `WordSearch` that shares the big parts. A small part is searched by one compiled pattern, a big part by a
trie, unless a prefilter finds at the speed of C that the text contains none of its words. A pattern begins anew at each
character, so a long word that resembles the text costs its length there each time; long words therefore need a trie.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from trietok.text.changes import cached_property
from trietok.text.layers import RATIO
from trietok.text.prefilter import Prefilter
from trietok.text.trie import END, Trie, TrieNode

Span = tuple[int, int]

FEW = 32  # words: a part of at most so many is searched by one pattern,
FEW_CHARS = 1024  # if they have at most so many code points: a pattern may compare all of them at each character
SHORT = 64  # code points: a text of at most so many is searched without building the trie


class WordSearch:
    """Finds where the words of a set occur in texts.

    Args:
        words: none empty, none twice.
        first_wins: of the words that begin at one character, take the one that comes first in `words`; else the
            longest.

    >>> WordSearch(["ab", "abcd"]).find("abcx abcd"), WordSearch(["ab", "abcd"], first_wins=True).find("abcx abcd")
    ([(0, 2), (5, 9)], [(0, 2), (5, 7)])
    """

    __slots__ = ("_first_wins", "parts")

    def __init__(self, words: Iterable[str] = (), *, first_wins: bool = False) -> None:
        self._first_wins = first_wins
        words = tuple(words)
        self.parts: tuple[Part, ...] = (Part(words, first_wins),) if words else ()

    def with_words(self, words: Iterable[str]) -> WordSearch:
        """The search for these words and more, which come last."""
        new = Part(tuple(words), self._first_wins)
        if not new.words:
            return self
        parts = [*self.parts, new]
        while len(parts) > 1 and len(parts[-2].words) < RATIO * len(parts[-1].words):
            top = parts.pop()
            parts[-1] = Part(parts[-1].words + top.words, self._first_wins)
        return self._of(parts)

    def without(self, words: Iterable[str]) -> WordSearch:
        """The search without some of the words. The cost is the number of words in the parts that contain them."""
        gone = set(words)
        kept = [part if gone.isdisjoint(part.words) else part.without(gone) for part in self.parts]
        return self._of([part for part in kept if part.words])

    def _of(self, parts: Iterable[Part]) -> WordSearch:
        search = WordSearch(first_wins=self._first_wins)
        search.parts = tuple(parts)
        return search

    def find(self, text: str) -> list[Span]:
        """Where words occur: half-open spans of code points, in order, disjoint."""
        if not self.parts:
            return []
        if len(self.parts) == 1:
            return self.parts[0].find(text)
        found = [(part, spans) for part in self.parts if (spans := part.find(text))]
        if len(found) <= 1:
            return found[0][1] if found else []
        return list(self._merged(text, [part for part, _ in found]))

    def stands_in(self, text: str) -> bool:
        """Whether any word occurs in `text`."""
        for part in self.parts:  # noqa: SIM110 -- half the time of any()
            if part.stands_in(text):
                return True
        return False

    @property
    def ascii_word_keys(self) -> frozenset[str]:
        """Characters of which every word that is made of ASCII letters and digits holds one; empty if there is none."""
        return frozenset[str]().union(*[part.ascii_word_keys for part in self.parts])

    @property
    def has_spaces(self) -> bool:
        """Whether some word holds single spaces between words."""
        return any(part.heads for part in self.parts)

    @property
    def has_odd_spaces(self) -> bool:
        """Whether some word holds other whitespace."""
        return any(part.has_odd_spaces for part in self.parts)

    def may_begin_at_the_end_of(self, chunk: str) -> bool:
        """Whether a chunk ends with the part of some word before its first space."""
        return any(chunk[-length:] in heads for part in self.parts for length, heads in part.heads.items())

    def _merged(self, text: str, parts: list[Part]) -> Iterator[Span]:
        """The spans of several parts: takes the leftmost of the parts' next matches, and repeats.

        A part whose next match begins inside the match taken searches again from that match's end.
        """
        scans = [part.scan(text, 0) for part in parts]
        heads = [next(scan, None) for scan in scans]
        position = 0
        while True:
            best: Span | None = None
            for number, head in enumerate(heads):
                if head is not None and head[0] < position:
                    scans[number] = parts[number].scan(text, position)
                    head = heads[number] = next(scans[number], None)
                if head is not None and (best is None or self._comes_before(head, best)):
                    best = head
            if best is None:
                return
            yield best
            position = best[1]

    def _comes_before(self, span: Span, best: Span) -> bool:
        """Whether a later part's span is to be taken instead of that of an earlier one."""
        return span[0] < best[0] or (span[0] == best[0] and not self._first_wins and span[1] > best[1])


class Part:
    """Some words that are searched together.

    Attributes:
        words: in their order.
    """

    def __init__(self, words: tuple[str, ...], first_wins: bool) -> None:
        self.words = words
        self._first_wins = first_wins
        self._has_pattern = len(words) <= FEW and sum(map(len, words)) <= FEW_CHARS
        self._trie: Trie | None = None

    def without(self, words: set[str]) -> Part:
        """A part with fewer words."""
        return Part(tuple(word for word in self.words if word not in words), self._first_wins)

    def find(self, text: str) -> list[Span]:
        """Where words occur in `text`."""
        if self._has_pattern:
            return [match.span() for match in self._pattern.finditer(text)]
        if not self._prefilter.any_in(text):
            return []
        if len(text) <= SHORT and self._trie is None and not self._first_wins:
            return self._find_by_length(text)
        return self._built_trie().find(text)

    def scan(self, text: str, position: int) -> Iterator[Span]:
        """The spans in what follows a position, one after the other."""
        if self._has_pattern:
            return (match.span() for match in self._pattern.finditer(text, position))
        return self._built_trie().scan(text, position)

    def stands_in(self, text: str) -> bool:
        """Whether any word occurs in `text`."""
        if self._has_pattern:
            return self._pattern.search(text) is not None
        return bool(self.find(text))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = self.words if self._first_wins else sorted(self.words, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, words)))

    @cached_property
    def _prefilter(self) -> Prefilter:
        return Prefilter(self.words)

    def _built_trie(self) -> Trie:
        if self._trie is None:
            self._trie = _FirstAddedTrie(self.words) if self._first_wins else Trie(self.words)
        return self._trie

    @cached_property
    def _by_length(self) -> tuple[list[int], frozenset[str]]:
        return sorted(set(map(len, self.words)), reverse=True), frozenset(self.words)

    def _find_by_length(self, text: str) -> list[Span]:
        """`find` for a few characters, without the trie: look up every stretch that is as long as some word."""
        longest_first, words = self._by_length
        spans: list[Span] = []
        start = 0
        while start < len(text):
            for length in longest_first:
                if text[start : start + length] in words:
                    end = min(start + length, len(text))
                    spans.append((start, end))
                    start = end
                    break
            else:
                start += 1
        return spans

    # ---- what the words are like, for an encoder that cuts texts at spaces first -------------------------------------

    @cached_property
    def ascii_word_keys(self) -> frozenset[str]:
        """See `WordSearch.ascii_word_keys`."""
        if not any(word.isalnum() and word.isascii() for word in self.words):
            return frozenset()
        return frozenset(key for key in self._prefilter.keys if key.isalnum() and key.isascii())

    @cached_property
    def has_odd_spaces(self) -> bool:
        """Whether some word contains whitespace other than single spaces between words."""
        return self._has_spaces and any(word.split() != word.split(" ") for word in self.words)

    @cached_property
    def heads(self) -> dict[int, set[str]]:
        """The part before the first space, of each word with spaces between words, by the length of that part."""
        heads: dict[int, set[str]] = {}
        for word in self.words if self._has_spaces else ():
            head, space, _ = word.partition(" ")
            if space and word.split() == word.split(" "):
                heads.setdefault(len(head), set()).add(head)
        return heads

    @cached_property
    def _has_spaces(self) -> bool:
        joined = "\0".join(self.words)  # one search in C: few words contain whitespace
        return joined.split() != [joined]


class _FirstAddedTrie(Trie):
    """A trie in which, of the words that begin at one character, the one added first wins, not the longest."""

    def _end_mark(self, word: str) -> int:
        return len(self._tokens)  # the rank of the word, which has just been added

    def _settles(self, node: TrieNode) -> bool:
        rank = node.get(END)
        if rank is None:
            return False
        above = node.parent
        while above is not None:
            if above.get(END, rank) < rank:
                return False
            above = above.parent
        return True
