"""The most frequent first: entries by their counts, of equal counts in the entries' own order.

In: entries with counts. Out: the entries, one by one. Training puts in far more pairs than it takes out, and most of
them are rare. So the entries of one count lie in a list of their own, which becomes a heap when its turn comes. Putting
an entry in costs O(1), taking one out O(log n) for the n entries of its count.
"""

from __future__ import annotations

import heapq
from typing import Any, Generic, TypeVar

Entry = TypeVar("Entry", bound="tuple[Any, ...]")


class MostFrequent(Generic[Entry]):
    """Hands out entries, those with the highest count first.

    >>> entries = MostFrequent()
    >>> for count, name in ((1, "a"), (3, "c"), (3, "b")):
    ...     entries.push(count, (name,))
    >>> entries.pop(), entries.push(3, ("d",)), entries.push(7, ("e",)), [entries.pop() for _ in range(4)]
    ((3, ('b',)), None, None, [(7, ('e',)), (3, ('c',)), (3, ('d',)), (1, ('a',))])
    """

    def __init__(self) -> None:
        self._by_count: dict[int, list[Entry]] = {}
        self._counts: list[int] = []  # a heap, each negative: the counts of which there are entries
        self._heap = 0  # the count whose list is a heap

    def __bool__(self) -> bool:
        return bool(self._counts)

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
        """Take the first entry out, with its count.

        Raises:
            IndexError: there is none.
        """
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
