"""The merges: join the most frequent pair of neighbours, everywhere, again and again.

In: a `Spelling`. Out: the merges in their order; the spelling's tokens and words, grown and shortened in place.

`Pairs` keeps the counts of pairs up to date merge by merge, and `MostFrequent` hands out the best pair: a merge costs
what it changes, the words that hold the pair. No merge looks at all words again. An entry whose count has changed since
is put in again when it is taken out.

The order is that of `BpeTrainer` in tokenizers 0.22.2: the higher count first; of equal counts the lower id of the
left token, then of the right one. Three more of its rules matter only where two merges make the same
token, as in words that contain the prefix themselves ("#" + "###" and "##" + "##"):

- Each entry has its own words, noted when the pair came up; they are merged when that entry's turn comes.
- Merging a pair does not reset its count: if the pair occurs again later, the earlier occurrences are still included.
- A pair that is merged once more moves to the end of the merges.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

from trietok.errors import VocabularyError
from trietok.text.bulk import bulk
from trietok.training.most_frequent import MostFrequent
from trietok.training.pairs import Pairs, Sizes
from trietok.training.progress import MERGING, OnProgress, Progress
from trietok.training.spelling import Options, Spelling

_MERGES_PER_REPORT = 100


class Merge(NamedTuple):
    """Two neighbours and the token they become, as ids."""

    left: int
    right: int
    merged: int


def merge_pairs(spelling: Spelling, options: Options, on_progress: OnProgress | None = None) -> list[Merge]:
    """Merge until the vocabulary has its size, or no pair occurs `min_frequency` times.

    Args:
        spelling: is changed: `tokens` and `token_to_id` grow, `words` get shorter.
        options: `vocab_size`, `min_frequency`, `continuing_subword_prefix` and `max_token_length` are used here.
        on_progress: called with a `Progress` every now and then.

    Returns:
        The merges in order. O(n log n) for n pairs of neighbours in the words.

    Raises:
        VocabularyError: there would be more tokens than characters in Unicode.
    """
    with bulk():
        return _Merging(spelling, options, on_progress or (lambda progress: None)).run()


class _Merging:
    def __init__(self, spelling: Spelling, options: Options, report: OnProgress) -> None:
        self.tokens, self.token_to_id, words, counts = spelling
        self.pairs = Pairs(words, counts)
        self.options = options
        self.report = report
        self.prefix = options.continuing_subword_prefix or ""
        self.lengths = [1] * len(self.tokens)  # in characters
        self.longest = options.max_token_length
        self.sizes = Sizes(self.tokens)

    def run(self) -> list[Merge]:
        pair_counts = self.pairs.counts
        where = self.pairs.count(self.report)
        waiting: MostFrequent[tuple[str, int, list[int]]] = MostFrequent()
        for pair, positions in where.items():
            waiting.push(pair_counts[pair], (pair, 0, positions))
        vocab_size, least = self.options.vocab_size, max(self.options.min_frequency, 1)
        merges: dict[str, int] = {}
        serial = 0
        while waiting and len(self.tokens) < vocab_size:
            noted, entry = waiting.pop()
            pair, _, positions = entry
            count = pair_counts[pair]
            if count != noted:  # changed since it was put there
                if count > 0:
                    waiting.push(count, entry)
                continue
            if count < least:
                break
            merged = self._token(*map(ord, pair))
            merges.pop(pair, None)  # a pair merged once more goes to the end
            merges[pair] = merged
            _, new = self.pairs.merge(pair, chr(merged), positions, self._limit(merged))
            for come_up, in_words in new.items():
                if pair_counts[come_up] > 0:
                    serial += 1
                    waiting.push(pair_counts[come_up], (come_up, serial, in_words))
            if not len(merges) % _MERGES_PER_REPORT:
                self.report(Progress(MERGING, len(self.tokens), vocab_size, "tokens"))
        self.report(Progress(MERGING, len(self.tokens), len(self.tokens), "tokens"))
        return [Merge(ord(pair[0]), ord(pair[1]), merged) for pair, merged in merges.items()]

    def _token(self, left: int, right: int) -> int:
        """The id of the token that a pair becomes; another merge may have made it before."""
        token = self.tokens[left] + self.tokens[right].removeprefix(self.prefix)
        merged = self.token_to_id.get(token)
        if merged is None:
            merged = self.token_to_id[token] = len(self.tokens)
            if merged > sys.maxunicode:  # a word has a character for each of its tokens
                raise VocabularyError(
                    f"training makes {merged:,} tokens at most; give a lower vocab_size (--vocab-size)"
                )
            self.tokens.append(token)
            self.lengths.append(0)
            self.sizes.add(token)
        self.lengths[merged] = self.lengths[left] + self.lengths[right]  # also of a special token that words make
        return merged

    def _limit(self, merged: int) -> Callable[[str], bool] | None:
        """Whether a token beside a merged one would make too long a token with it.

        As in tokenizers 0.22.2 `max_token_length` is one that a token stays below, and two characters are never too
        long.
        """
        longest, lengths, too_large = self.longest, self.lengths, self.sizes.limit(merged)
        if longest is None:
            return too_large
        return lambda token: (
            lengths[ord(token)] + lengths[merged] >= longest or (too_large is not None and too_large(token))
        )
