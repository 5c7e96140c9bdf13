"""How often each word stands in texts, in memory that has a bound.

In: the words of one text after the other. Out: their counts. When more different words than the bound are held, the
rarest go until three quarters are left; what they added up to is kept, so totals stay exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


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
        """All words of the lowest count, then of the next: no choice among equals, so no order decides."""
        words_of_count = Counter(self.counts.values())
        left = len(self.counts)
        highest = 0
        for count, number in sorted(words_of_count.items()):
            if left <= self.most * 3 // 4:
                break
            left -= number
            highest = count
        for word, count in list(self.counts.items()):
            if count <= highest:
                del self.counts[word]
                self.forgotten_occurrences += count
                if self._forgotten is not None:
                    self._forgotten(word, count)
        self.lost_at_most += highest
