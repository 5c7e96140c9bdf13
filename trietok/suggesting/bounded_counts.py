"""How often each word stands in texts, in memory that has a bound.

In: the words of one text after the other. Out: their counts. When more different words than the bound are held, the
rarest go until three quarters are left; what they added up to is kept, so totals stay exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping


class BoundedCounts:
    """Counts words, and forgets the rarest where they become too many.

    Args:
        most: how many different words are held after a text.
        forgotten: called with each word that is forgotten, and its count.

    Attributes:
        counts: word → count, since the word was last forgotten.
        forgotten_occurrences: the sum of the counts that were forgotten.
        lost_at_most: by how much the count of a word that is held may be too low.

    >>> counts = BoundedCounts(most=2)
    >>> for text in ("a b a", "b c", "c"):
    ...     counts.add(text.split())
    >>> dict(counts.counts), counts.forgotten_occurrences, counts.lost_at_most
    ({'c': 1}, 5, 2)

    Cost: O(words) in time, all forgetting included; O(most + different words of one text) in memory.
    """

    def __init__(self, most: int, forgotten: Callable[[str, int], None] | None = None) -> None:
        self.most = most
        self.counts: Counter[str] = Counter()
        self.forgotten_occurrences = 0
        self.lost_at_most = 0
        self._forgotten = forgotten

    def add(self, words: Iterable[str]) -> None:
        """Count the words of one text."""
        self.counts.update(words)
        if len(self.counts) > self.most:
            self._forget_the_rarest()

    def _forget_the_rarest(self) -> None:
        highest = highest_to_drop(self.counts, self.most)
        for word, count in list(self.counts.items()):
            if count <= highest:
                del self.counts[word]
                self.forgotten_occurrences += count
                if self._forgotten is not None:
                    self._forgotten(word, count)
        self.lost_at_most += highest


def highest_to_drop(counts: Mapping[str, int], most: int) -> int:
    """Up to which count words have to go, so that three quarters of `most` are left, or fewer.

    All words of the lowest count go, then of the next: no choice among equals, so no order decides.

    >>> highest_to_drop({"a": 1, "b": 1, "c": 2, "d": 5}, most=3)
    1
    """
    left, highest = len(counts), 0
    for count, number in sorted(Counter(counts.values()).items()):
        if left <= most * 3 // 4:
            break
        left -= number
        highest = count
    return highest
