"""Searches for sets of words that grow, leftmost-longest, and a fast test that rules words out.

In: words, then a text. Out: the spans where words stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count, filterfalse
from typing import Any

from trietok.text.alignment import Span
from trietok.text.changes import cached_property
from trietok.text.trie import END, RATIO, Trie, TrieNode

# A fast test that rules out that any of many words occurs in a text: every word has a *key
# character*, which is one of its characters: one already chosen for another word if it has one,
# else its rarest in ordinary text. A text without any key character contains none of the words, and
# a compiled character class finds that out at the speed of C. Words such as `<ent>` or `drug-4711`
# have key characters that most texts lack.


# Characters by how often English texts have them, the most common first; any other is rarer than
# all of these.
_BY_FREQUENCY = " etaoinshrdlcumwfgypb,.v-k'\"jx;:qz"


class Prefilter:
    """Tests whether any of some words may occur in a text; an empty word is ignored.

    Attributes:
        keys: the key characters; every word has one of them.

    >>> keys = Prefilter(["<ent>", "drug-4711", "<sep>"])
    >>> keys.any_in("plain text"), keys.any_in("a < b")
    (False, True)
    """

    __slots__ = ("_search", "keys")

    def __init__(self, words: Iterable[str] = (), keys: frozenset[str] = frozenset()) -> None:
        new = set(keys)
        for word in filter(new.isdisjoint, filter(None, words)):
            new.add(min(word, key=_commonness))
        self.keys = frozenset(new)
        self._search: Callable[[str], object] | None = None

    def any_in(self, text: str) -> bool:
        """Whether one of the words may occur in `text`: False is certain, True needs a search."""
        if self._search is None:
            chars = "".join(map(re.escape, sorted(self.keys)))
            self._search = re.compile(f"[{chars}]" if chars else r"(?!)").search
        return self._search(text) is not None


_ASCII = tuple(map(chr, range(0x80)))
_ASCII_ALPHANUMERICS = "[A-Za-z0-9]+"


def _is_ascii_word(word: str) -> bool:
    return word.isascii() and word.isalnum()


def _commonness(char: str) -> int:
    """How common a character is in texts: 0 for digits, signs, other scripts; more for letters."""
    position = _BY_FREQUENCY.find(char.lower())
    return 0 if position < 0 else len(_BY_FREQUENCY) - position


# A `WordSearch` consists of a few parts, each much smaller than the one before, as in `Layers`.
# `with_words` returns a new `WordSearch` that shares the big parts. A small part is searched by one
# compiled pattern, a big part by a trie, unless a prefilter finds at the speed of C that the text
# contains none of its words. A pattern begins anew at each character, so a long word that resembles
# the text costs its length there each time; long words therefore need a trie. To build one takes
# long: until much text has been searched, every stretch as long as some word is looked up.

FEW = 32  # words: a part of at most so many is searched by one pattern,
# if they have at most so many code points: a pattern may compare all of them at each character
FEW_CHARS = 1024
LOOKUPS_A_WORD = (
    32  # in a bigger part so many take less time than to build the trie, so that waits until then
)


class WordSearch:
    """Finds where the words of a set occur in texts.

    Args:
        words: none empty, none twice.
        first_wins: of the words that begin at one character, take the one that comes first in
            `words`; else the longest.

    >>> (
    ...     WordSearch(["ab", "abcd"]).find("abcx abcd"),
    ...     WordSearch(["ab", "abcd"], first_wins=True).find("abcx abcd"),
    ... )
    ([(0, 2), (5, 9)], [(0, 2), (5, 7)])
    """

    __slots__ = ("_first_wins", "parts")

    def __init__(self, words: Iterable[str] = (), *, first_wins: bool = False) -> None:
        self._first_wins = first_wins
        part = TriePart(dict.fromkeys(words), first_wins)
        self.parts: tuple[TriePart, ...] = (part,) if part.words else ()

    def with_words(self, words: Iterable[str]) -> WordSearch:
        """The search for these words and more, which come last."""
        new = TriePart(dict.fromkeys(words), self._first_wins)
        if not new.words:
            return self
        parts = [*self.parts, new]
        while len(parts) > 1 and len(parts[-2].words) < RATIO * len(parts[-1].words):
            top = parts.pop()
            parts[-1] = TriePart({**parts[-1].words, **top.words}, self._first_wins)
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
        """Characters of which each word of ASCII letters and digits holds one; empty for none."""
        return frozenset[str]().union(*[part.ascii_word_keys for part in self.parts])

    @property
    def has_spaces(self) -> bool:
        """Whether some word holds spaces."""
        return any(part.spaced for part in self.parts)

    @property
    def has_odd_spaces(self) -> bool:
        """Whether some word holds whitespace other than single spaces between words."""
        return any(part.has_odd_spaces for part in self.parts)

    def _merged(self, text: str, parts: list[TriePart]) -> Iterator[Span]:
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
        return span[0] < best[0] or (
            span[0] == best[0] and not self._first_wins and span[1] > best[1]
        )


class TriePart:
    """Some words that are searched together.

    Attributes:
        words: in their order, as the keys of a dict.
        patterns: those without spaces for a compiled kernel, once it has asked.
        forms: what the others look like, by what that depends on; see `trietok.text.terms`.
    """

    patterns: Any = None

    def __init__(self, words: dict[str, None], first_wins: bool) -> None:
        self.words = words
        self.forms: dict[object, Any] = {}
        self._first_wins = first_wins
        self._has_pattern = len(words) <= FEW and sum(map(len, words)) <= FEW_CHARS
        self._trie: Trie | None = None
        self._lookups_left = LOOKUPS_A_WORD * len(words)

    def find(self, text: str) -> list[Span]:
        """Where words occur in `text`."""
        if self._has_pattern:
            return [match.span() for match in self._pattern.finditer(text)]
        return list(self.scan(text, 0)) if self._prefilter.any_in(text) else []

    def scan(self, text: str, position: int) -> Iterator[Span]:
        """The spans in what follows a position, one after the other."""
        if self._has_pattern:
            return (match.span() for match in self._pattern.finditer(text, position))
        if self._trie is None:
            self._lookups_left -= len(self._lengths) * (len(text) - position)
            if self._lookups_left >= 0:
                return self._look_up(text, position)
            self._trie = _FirstAddedTrie(self.words) if self._first_wins else Trie(self.words)
        return self._trie.scan(text, position)

    def prepare(self) -> None:
        """Work out what a search needs, so that no text has to wait for it."""
        _ = self._prefilter, self._lengths, self.keys, self.characters, self.has_odd_spaces

    def stands_in(self, text: str) -> bool:
        """Whether any word occurs in `text`."""
        if not self._has_pattern:
            return bool(self.find(text))
        self._lookups_left -= 1
        if self._lookups_left > 0:  # compiling takes longer than to look for each word so often
            return any(map(text.__contains__, self.words))
        return self._pattern.search(text) is not None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        words = self.words if self._first_wins else sorted(self.words, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, words)))

    @cached_property
    def _prefilter(self) -> Prefilter:
        return Prefilter(self.words)

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted(set(map(len, self.words)), reverse=True)

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return dict(zip(self.words, count()))

    def _look_up(self, text: str, start: int) -> Iterator[Span]:
        """`scan` without the trie: looks up every stretch that is as long as some word."""
        words, lengths = self.words, self._lengths
        while start < len(text):
            found = [word for length in lengths if (word := text[start : start + length]) in words]
            if not found:
                start += 1
                continue
            word = (
                min(found, key=self._ranks.__getitem__)
                if self._first_wins and len(found) > 1
                else found[0]
            )
            yield start, start + len(word)
            start += len(word)

    # ---- what the words are like, for an encoder that cuts texts at spaces first -----------------

    @cached_property
    def characters(self) -> frozenset[str]:
        """The characters of all words without spaces."""
        joined = "".join(self.unspaced)
        return (
            frozenset(filter(joined.__contains__, _ASCII))
            if joined.isascii()
            else frozenset(joined)
        )

    @cached_property
    def keys(self) -> frozenset[str]:
        """Characters of which every word without spaces holds one.

        Letters and digits of ASCII are keys only of words made of such; of others one of their
        other characters is.

        >>> sorted(WordSearch(["<ent>", "b2b", "new-york"]).parts[0].keys)
        ['-', '2', '<']
        """
        keys: set[str] = set()
        words = self.unspaced
        is_ascii_word = str.isalnum if all(map(str.isascii, self.characters)) else _is_ascii_word
        for word in filter(keys.isdisjoint, filterfalse(is_ascii_word, words)):
            keys.add(min(re.sub(_ASCII_ALPHANUMERICS, "", word), key=_commonness))
        for word in filter(keys.isdisjoint, words):
            keys.add(min(word, key=_commonness))
        return frozenset(keys)

    @cached_property
    def ascii_word_keys(self) -> frozenset[str]:
        """See `WordSearch.ascii_word_keys`."""
        has_ascii_words = any(map(_is_ascii_word, self.unspaced))
        prefilter = Prefilter(self.unspaced) if self.spaced and has_ascii_words else self._prefilter
        return frozenset(filter(_is_ascii_word, prefilter.keys if has_ascii_words else ()))

    @cached_property
    def has_odd_spaces(self) -> bool:
        """Whether some word contains whitespace other than single spaces between words."""
        return has_odd_spaces(self.words)

    @cached_property
    def spaced(self) -> dict[str, None]:
        """The words with spaces."""
        spaced = [word for word in self.words if " " in word]
        return self.words if len(spaced) == len(self.words) else dict.fromkeys(spaced)

    @cached_property
    def unspaced(self) -> dict[str, None]:
        """The words without spaces."""
        return (
            {word: None for word in self.words if word not in self.spaced}
            if self.spaced
            else self.words
        )


def has_odd_spaces(words: Collection[str]) -> bool:
    """Whether some word contains whitespace other than single spaces between words.

    >>> (
    ...     has_odd_spaces(["a b", "c"]),
    ...     has_odd_spaces(["a  b"]),
    ...     has_odd_spaces(["a\\tb"]),
    ...     has_odd_spaces(["a "]),
    ... )
    (False, True, True, True)
    """
    lines = "\n".join(["", *words, ""])
    if lines.count("\n") > len(words) + 1 or "  " in lines or " \n" in lines or "\n " in lines:
        return True
    is_long = lines.isascii() and len(lines) > len(_ASCII)
    others = filter(lines.__contains__, _ASCII) if is_long else set(lines)
    return any(char.isspace() for char in others if char not in " \n")


class _FirstAddedTrie(Trie):
    """A trie in which, of words that begin at one character, the one added first wins."""

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
