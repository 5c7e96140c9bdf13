"""Training by merges, said plainly: count every pair of every word again for each merge."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping


def train(
    word_counts: Mapping[str, int], vocab_size: int, min_frequency: int = 0, prefix: str = ""
) -> tuple[list[str], list[tuple[str, str]]]:
    """The tokens by id and the merges. The best pair is the most frequent, then the one of the
    lowest ids.
    """
    words = [
        ([word[0], *(prefix + char for char in word[1:])], count)
        for word, count in word_counts.items()
    ]
    tokens = sorted(set("".join(word_counts)))
    tokens += sorted({symbol for symbols, _ in words for symbol in symbols} - set(tokens))
    merges: list[tuple[str, str]] = []
    while len(tokens) < vocab_size:
        counts: Counter[tuple[str, str]] = Counter()
        for symbols, count in words:
            for pair in itertools.pairwise(symbols):
                counts[pair] += count
        if not counts:
            break
        best = min(
            counts, key=lambda pair: (-counts[pair], tokens.index(pair[0]), tokens.index(pair[1]))
        )
        if counts[best] < max(min_frequency, 1):
            break
        merged = best[0] + best[1].removeprefix(prefix)
        merges.append(best)
        if merged not in tokens:
            tokens.append(merged)
        words = [(joined(symbols, best, merged), count) for symbols, count in words]
    return tokens, merges


def joined(symbols: list[str], pair: tuple[str, str], merged: str) -> list[str]:
    result: list[str] = []
    place = 0
    while place < len(symbols):
        found = tuple(symbols[place : place + 2]) == pair
        result.append(merged if found else symbols[place])
        place += 2 if found else 1
    return result


def apply(merges: list[tuple[str, str]], symbols: list[str], prefix: str = "") -> list[str]:
    """The symbols of a word after all merges, each made everywhere before the next."""
    for pair in merges:
        symbols = joined(symbols, pair, pair[0] + pair[1].removeprefix(prefix))
    return symbols
