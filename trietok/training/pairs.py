"""Pairs of neighbours in words, kept up to date merge by merge, and the most frequent first.

In: words spelled in characters, each with its count. Out: `Pairs`, whose counts change by what a
merge changes, and `MostFrequent`, which hands out the best pair: a merge costs what it changes, the
words that hold the pair. No merge looks at all words again. An entry whose count has changed since
is put in again when it is taken out.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import add
from typing import Any, Generic, TypeVar

from trietok.disk import LONGEST_LINE
from trietok.training.word_counts import COUNTING_PAIRS, OnProgress, Progress

# A word is a str with one character for each of its tokens, `chr(id)`: it takes little memory, and
# a merge in it is a `split` and a `join`. A merge is made in the words that hold the pair, from the
# left to the right of each. Each of these words is scanned as a whole, so a word of more than
# `LONG_FROM` tokens is kept as a `LongWord` instead, in which a merge touches only the places of
# the pair and their neighbours: all merges together take O(n) there for n tokens.

LONG_FROM = 1_000  # tokens
_WORDS_PER_REPORT = 20_000

# a token beside merged pairs → how often it stands there, then in which words
WordsOfPairs = dict[str, list[int]]


class Sizes:
    """How many bytes each token has, so that no merge makes one that the readers of vocabularies
    refuse.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._bytes: list[int] = []
        self._largest = 0
        for token in tokens:
            self.add(token)

    def add(self, token: str) -> None:
        """Note the next token."""
        self._bytes.append(bytes_of(token))
        self._largest = max(self._largest, self._bytes[-1])

    def limit(self, merged: int) -> Callable[[str], bool] | None:
        """Whether a token, as `chr(id)`, makes a too long one with a token that was merged; None if
        none can.

        A prefix that the right one of the two loses is counted, since which of them is the right
        one is not known.
        """
        sizes, room = self._bytes, LONGEST_LINE - self._bytes[merged]
        return None if self._largest <= room else lambda token: sizes[ord(token)] > room


def bytes_of(token: str) -> int:
    """How many bytes a token takes in a file."""
    return len(token) if token.isascii() else len(token.encode("utf-8", "surrogatepass"))


class Pairs:
    """The pairs of neighbours in words.

    Args:
        words: each with a character for each token; merges change them in place. Long ones are
            replaced by "".
        word_counts: how often each occurs.

    Attributes:
        counts: pair → how often it occurs, as a str of the characters of its two tokens.

    >>> pairs = Pairs(["abab", "ab"], [1, 5])
    >>> pairs.count(), pairs.counts
    ({'ba': [0], 'ab': [0, 1]}, {'ba': 1, 'ab': 7})
    >>> pairs.merge("ab", "c", [0, 1]), pairs.words, pairs.counts
    ((7, {'cc': [0], 'ca': [0]}), ['cc', 'c'], {'ba': 0, 'ab': 7, 'cc': 1, 'ca': 0})

    `ab` itself keeps its count, which the caller sets.
    """

    def __init__(self, words: list[str], word_counts: list[int]) -> None:
        self.words = words
        self.word_counts = word_counts
        self.counts: dict[str, int] = {}
        self._long: dict[int, LongWord] = {}

    def count(
        self, report: OnProgress = lambda progress: None, least: int = 1
    ) -> dict[str, list[int]]:
        """Count all pairs; return in which words each occurs.

        Args:
            report: called with a `Progress` every now and then.
            least: rarer pairs are left out, of `counts` too. For a caller that merges none of them,
                and whose tokens at the start are none that merges make.
        """
        # pair → the word it occurs in; in a list where it occurs again
        found: dict[str, int | list[int]] = {}
        get = found.get
        total = len(self.words)
        for position, word in enumerate(self.words):
            for pair in map(add, word, word[1:]):
                where = get(pair)
                if where is None:
                    found[pair] = position
                elif isinstance(where, int):
                    found[pair] = [where, position]
                else:
                    where.append(position)
            if len(word) > LONG_FROM:
                self._long[position] = LongWord(word)
                self.words[position] = ""
            if not position % _WORDS_PER_REPORT:
                report(Progress(COUNTING_PAIRS, position, total, "words"))
        report(Progress(COUNTING_PAIRS, total, total, "words"))
        in_words: dict[str, list[int]] = {}  # pair → the words it occurs in, each once
        count_of = self.word_counts.__getitem__
        while found:  # emptied on the way, which takes less memory
            pair, where = found.popitem()
            positions = [where] if isinstance(where, int) else where
            count = sum(map(count_of, positions))
            if count >= least:
                self.counts[pair] = count
                in_words[pair] = list(dict.fromkeys(positions))
        return in_words

    def merge(
        self,
        pair: str,
        merged: str,
        positions: list[int],
        is_too_long: Callable[[str], bool] | None = None,
    ) -> tuple[int, dict[str, list[int]]]:
        """Merge a pair in these words, and bring the counts of all other pairs up to date.

        Args:
            pair: the two tokens.
            merged: the token that they become.
            positions: which words; no word twice.
            is_too_long: whether a token, and `merged` beside it, make no pair because they would
                make too long a token.

        Returns:
            In how many places the pair was merged; and the pairs that came about, each with the
            words that hold it.
        """
        before, after, made = self._merged(pair, merged, positions)
        left, right = pair[0], pair[1]
        counts = self.counts
        new: dict[str, list[int]] = {}
        # Where the pair repeats (abab), the token after the first is before the second: gains are
        # booked before losses.
        lost: list[tuple[str, int]] = []
        for found, is_before in ((before, True), (after, False)):
            for token, where in found.items():
                count = where.pop(0)
                lost.append((token + left if is_before else right + token, count))
                if is_too_long is not None and is_too_long(token):
                    continue
                gained = token + merged if is_before else merged + token
                counts[gained] = counts.get(gained, 0) + count
                # Each word once: it is scanned as a whole for every time it is here.
                new[gained] = list(dict.fromkeys(new[gained] + where)) if gained in new else where
        for gone, count in lost:
            counts[gone] = counts.get(gone, 0) - count
        return made, new

    def _merged(
        self, pair: str, merged: str, positions: list[int]
    ) -> tuple[WordsOfPairs, WordsOfPairs, int]:
        """Merge; return what stood before and after the merged pairs. Training spends its time in
        this loop.
        """
        words, word_counts = self.words, self.word_counts
        before: WordsOfPairs = {}
        after: WordsOfPairs = {}
        made = 0
        for position in positions:
            parts = words[position].split(pair)
            if len(parts) != 2:
                if len(parts) > 2 or position in self._long:
                    made += self._merge_often(position, pair, merged, parts, before, after)
                continue  # or else an earlier merge took it
            count = word_counts[position]
            made += count
            words[position] = merged.join(parts)
            head, tail = parts
            if head:
                where = before.get(head[-1])
                if where is None:
                    before[head[-1]] = [count, position]
                else:
                    where[0] += count
                    where.append(position)
            if tail:
                where = after.get(tail[0])
                if where is None:
                    after[tail[0]] = [count, position]
                else:
                    where[0] += count
                    where.append(position)
        return before, after, made

    def _merge_often(
        self,
        position: int,
        pair: str,
        merged: str,
        parts: list[str],
        before: WordsOfPairs,
        after: WordsOfPairs,
    ) -> int:
        """Merge in a word that holds the pair several times, or is long."""
        count = self.word_counts[position]
        word = self._long.get(position)
        if word is None:
            word = LongWord(self.words[position])
            self.words[position] = merged.join(parts)
        made = 0
        for front, behind in word.merge(pair, merged):
            made += count
            if front:
                _note(before, front, count, position)
            if behind:
                _note(after, behind, count, position)
        return made


def _note(found: WordsOfPairs, token: str, count: int, position: int) -> None:
    where = found.setdefault(token, [0])
    where[0] += count
    if where[-1] != position or len(where) == 1:
        where.append(position)


class LongWord:
    """A word whose tokens know their neighbours, and whose pairs know their places.

    >>> word = LongWord("ababa")
    >>> list(word.merge("ab", "c")), list(word.merge("cc", "d"))
    ([('', 'a'), ('c', 'a')], [('', 'a')])
    """

    def __init__(self, word: str) -> None:
        end = len(word)
        self._tokens = [*word, ""]  # "" where the right token of a pair was, and at the end
        self._before = array("l", range(-1, end))
        self._after = array("l", range(1, end + 2))
        # pair → where it stood when that was noted; some are over
        self._places: dict[str, list[int]] = {}
        for place, pair in enumerate(map(add, word, word[1:])):
            self._places.setdefault(pair, []).append(place)

    def merge(self, pair: str, merged: str) -> Iterator[tuple[str, str]]:
        """Merge a pair wherever it is, from the left; yield for each place the tokens before and
        after it.
        """
        left, right = pair[0], pair[1]
        tokens, before, after, places = self._tokens, self._before, self._after, self._places
        for place in sorted(set(places.pop(pair, ()))):
            second = after[place]
            if tokens[place] != left or tokens[second] != right:
                continue
            tokens[place], tokens[second] = merged, ""
            after[place] = next_place = after[second]
            behind = tokens[next_place]
            before[next_place] = place
            front = tokens[before[place]] if before[place] >= 0 else ""
            if front:
                places.setdefault(front + merged, []).append(before[place])
            if behind:
                places.setdefault(merged + behind, []).append(place)
            yield front, behind


# ---- the most frequent first ---------------------------------------------------------------------
#
# Training puts in far more pairs than it takes out, and most of them are rare. So the entries of
# one count lie in a list of their own, which becomes a heap when its turn comes. Putting an entry
# in costs O(1), taking one out O(log n) for the n entries of its count.

Entry = TypeVar("Entry", bound="tuple[Any, ...]")


class MostFrequent(Generic[Entry]):
    """Hands out entries, those with the highest count first.

    >>> entries = MostFrequent()
    >>> for count, name in ((1, "a"), (3, "c"), (3, "b")):
    ...     entries.push(count, (name,))
    >>> (
    ...     entries.pop(),
    ...     entries.push(3, ("d",)),
    ...     entries.push(7, ("e",)),
    ...     [entries.pop() for _ in range(4)],
    ... )
    ((3, ('b',)), None, None, [(7, ('e',)), (3, ('c',)), (3, ('d',)), (1, ('a',))])
    """

    def __init__(self) -> None:
        self._by_count: dict[int, list[Entry]] = {}
        self._counts: list[int] = []  # a heap, each negative: the counts of which there are entries
        self._heap = 0  # the count whose list is a heap

    def push(self, count: int, entry: Entry) -> None:
        """Put an entry in; a count is at least 1."""
        alike = self._by_count.get(count)
        if alike is None:
            self._by_count[count] = [entry]
            heapq.heappush(self._counts, -count)
        elif count == self._heap:
            heapq.heappush(alike, entry)
        else:
            alike.append(entry)

    def pop(self) -> tuple[int, Entry]:
        """Take the first entry out, with its count."""
        count = -self._counts[0]
        alike = self._by_count[count]
        if count != self._heap:
            heapq.heapify(alike)
            self._heap = count
        entry = heapq.heappop(alike)
        if not alike:
            del self._by_count[count]
            heapq.heappop(self._counts)
        return count, entry

    def best(
        self, counts: Mapping[str, int], least: int, of: int = 0, keeps: int = 1
    ) -> tuple[int, Entry] | None:
        """Take out the first entry that has the count it was put in with; None where that is below
        `least`.

        Entries whose count has changed are put in again on the way, unless it is below `keeps`. The
        counts are those of the item number `of` of each entry.
        """
        while self._counts:
            noted, entry = self.pop()
            count = counts[entry[of]]
            if count == noted:
                return (count, entry) if count >= least else None
            if count >= keeps:
                self.push(count, entry)
        return None
