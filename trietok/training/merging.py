"""The merges: join the most frequent pair of neighbours, everywhere, again and again.

In: a `Spelling`, with words as lists of ids. Out: the merges in their order; the spelling's tokens and words, grown and
shortened in place.

The counts of pairs are kept up to date merge by merge, and a heap brings the best pair: a merge costs what it changes,
the words that hold the pair. No merge looks at all words again. A heap entry whose count has changed since is corrected
when it is taken off the heap.

The order is that of `BpeTrainer` in tokenizers 0.22.2: the higher count first; of equal counts the lower id of the
left token, then of the right one. Three more of its rules matter only where two merges make the same
token, as in words that contain the prefix themselves ("#" + "###" and "##" + "##"):

- Each heap entry has its own words, noted when the pair came up; they are merged when that entry's turn comes.
- Merging a pair does not reset its count: if the pair occurs again later, the earlier occurrences are still included.
- A pair that is merged once more moves to the end of the merges.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

from trietok.text.bulk import bulk
from trietok.training.progress import COUNTING_PAIRS, MERGING, OnProgress, Progress
from trietok.training.spelling import Options, Spelling

_SHIFT = 32  # a pair of ids as one int, left << 32 | right: it sorts as the pair does, and hashes faster
_RIGHT = (1 << _SHIFT) - 1
_WORDS_PER_REPORT = 20_000
_MERGES_PER_REPORT = 100

Entry = tuple[int, int, int, list[int]]  # minus the count, the pair, a serial number, the words that hold the pair


class Merge(NamedTuple):
    """Two neighbours and the token they become, as ids."""

    left: int
    right: int
    merged: int


class _Neighbours(NamedTuple):
    """The tokens beside a merged pair, on one side: how often each occurs there, and in which words."""

    counts: dict[int, int]
    words: dict[int, list[int]]


def merge_pairs(spelling: Spelling, options: Options, on_progress: OnProgress | None = None) -> list[Merge]:
    """Merge until the vocabulary has its size, or no pair occurs `min_frequency` times.

    Args:
        spelling: is changed: `tokens` and `token_to_id` grow, `words` get shorter.
        options: `vocab_size`, `min_frequency`, `continuing_subword_prefix` and `max_token_length` are used here.
        on_progress: called with a `Progress` every now and then.

    Returns:
        The merges in order. O(n log n) for n pairs of neighbours in the words.
    """
    with bulk():
        return _Merging(spelling, options, on_progress or (lambda progress: None)).run()


class _Merging:
    def __init__(self, spelling: Spelling, options: Options, report: OnProgress) -> None:
        self.tokens, self.token_to_id, self.words, self.counts = spelling
        self.options = options
        self.report = report
        self.prefix = options.continuing_subword_prefix or ""
        self.lengths = [1] * len(self.tokens)  # in characters
        self.longest = options.max_token_length
        self.pair_counts: dict[int, int] = {}
        self.heap: list[Entry] = []
        self.serial = 0

    def run(self) -> list[Merge]:
        self._count_pairs()
        vocab_size, least = self.options.vocab_size, max(self.options.min_frequency, 1)
        heap, pair_counts = self.heap, self.pair_counts
        merges: dict[int, int] = {}
        while heap and len(self.tokens) < vocab_size:
            negative, pair, serial, positions = heapq.heappop(heap)
            count = pair_counts[pair]
            if count != -negative:  # changed since it was put there
                if count > 0:
                    heapq.heappush(heap, (-count, pair, serial, positions))
                continue
            if count < least:
                break
            left, right = pair >> _SHIFT, pair & _RIGHT
            merged = self._token(left, right)
            merges.pop(pair, None)  # a pair merged once more goes to the end
            merges[pair] = merged
            self._merge(left, right, merged, positions)
            if not len(merges) % _MERGES_PER_REPORT:
                self.report(Progress(MERGING, len(self.tokens), vocab_size, "tokens"))
        self.report(Progress(MERGING, len(self.tokens), len(self.tokens), "tokens"))
        return [Merge(pair >> _SHIFT, pair & _RIGHT, merged) for pair, merged in merges.items()]

    def _count_pairs(self) -> None:
        """Count every pair of neighbours, and put each on the heap with the words that hold it."""
        pair_counts = self.pair_counts
        where: dict[int, list[int]] = {}
        total = len(self.words)
        for position, (word, count) in enumerate(zip(self.words, self.counts, strict=True)):
            for left, right in zip(word, word[1:]):  # noqa: B905, RUF007 - the last has no right neighbour
                pair = left << _SHIFT | right
                if pair not in pair_counts:
                    pair_counts[pair] = count
                    where[pair] = [position]
                    continue
                pair_counts[pair] += count
                positions = where[pair]
                if positions[-1] != position:
                    positions.append(position)
            if not position % _WORDS_PER_REPORT:
                self.report(Progress(COUNTING_PAIRS, position, total, "words"))
        self.report(Progress(COUNTING_PAIRS, total, total, "words"))
        self.heap = [(-pair_counts[pair], pair, 0, positions) for pair, positions in where.items()]
        heapq.heapify(self.heap)

    def _token(self, left: int, right: int) -> int:
        """The id of the token that a pair becomes; another merge may have made it before."""
        token = self.tokens[left] + self.tokens[right].removeprefix(self.prefix)
        merged = self.token_to_id.get(token)
        if merged is None:
            merged = self.token_to_id[token] = len(self.tokens)
            self.tokens.append(token)
            self.lengths.append(0)
        self.lengths[merged] = self.lengths[left] + self.lengths[right]  # also of a special token that words make
        return merged

    def _merge(self, left: int, right: int, merged: int, positions: list[int]) -> None:
        """Merge a pair in these words. The loop is where training spends its time, so it is written out."""
        words, counts = self.words, self.counts
        before: dict[int, int] = {}  # left neighbour → how often
        after: dict[int, int] = {}
        words_before: dict[int, list[int]] = {}  # left neighbour → in which words
        words_after: dict[int, list[int]] = {}
        for position in positions:
            word = words[position]
            if left not in word:  # an earlier merge took it
                continue
            count = counts[position]
            last = len(word) - 1
            place = 0
            while place < last:
                if word[place] == left and word[place + 1] == right:
                    word[place] = merged
                    del word[place + 1]
                    last -= 1
                    if place:
                        neighbour = word[place - 1]
                        if neighbour in before:
                            before[neighbour] += count
                            if words_before[neighbour][-1] != position:
                                words_before[neighbour].append(position)
                        else:
                            before[neighbour] = count
                            words_before[neighbour] = [position]
                    if place < last:
                        neighbour = word[place + 1]
                        if neighbour in after:
                            after[neighbour] += count
                            if words_after[neighbour][-1] != position:
                                words_after[neighbour].append(position)
                        else:
                            after[neighbour] = count
                            words_after[neighbour] = [position]
                place += 1
        self._book(left, right, merged, _Neighbours(before, words_before), _Neighbours(after, words_after))

    def _book(self, left: int, right: int, merged: int, before: _Neighbours, after: _Neighbours) -> None:
        """Bring the pair counts up to date after a merge, and put the new pairs on the heap."""
        pair_counts = self.pair_counts
        touched: dict[int, list[int]] = {}
        # Where the pair repeats (abab), the token after the first is before the second: gains are booked before losses.
        for neighbour, count in before.counts.items():
            self._win(neighbour, merged, neighbour << _SHIFT | merged, count, before.words[neighbour], touched)
        for neighbour, count in after.counts.items():
            self._win(neighbour, merged, merged << _SHIFT | neighbour, count, after.words[neighbour], touched)
        for neighbour, count in before.counts.items():
            pair = neighbour << _SHIFT | left
            pair_counts[pair] = pair_counts.get(pair, 0) - count
        for neighbour, count in after.counts.items():
            pair = right << _SHIFT | neighbour
            pair_counts[pair] = pair_counts.get(pair, 0) - count
        for pair, where in touched.items():
            if pair_counts[pair] > 0:
                self.serial += 1
                heapq.heappush(self.heap, (-pair_counts[pair], pair, self.serial, where))

    def _win(
        self, neighbour: int, merged: int, pair: int, count: int, where: list[int], touched: dict[int, list[int]]
    ) -> None:
        """Count new neighbours of a merged token, unless they would make too long a token.

        As in tokenizers 0.22.2 the limit is one that a token stays below, and two characters are never too long.
        """
        if self.longest is not None and self.lengths[neighbour] + self.lengths[merged] >= self.longest:
            return
        self.pair_counts[pair] = self.pair_counts.get(pair, 0) + count
        # Each word once: it is scanned as a whole for every time it is here, and a long word holds a pair often.
        touched[pair] = list(dict.fromkeys(touched[pair] + where)) if pair in touched else where
