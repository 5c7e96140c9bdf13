"""The Chinese recipe, said plainly: count every pair of every sentence again for each merge;
segment by recursion.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter


def is_space(char: str) -> bool:
    return unicodedata.category(char) == "Zs" or char.isspace()


def is_removed(char: str) -> bool:
    """Whether it is a space, punctuation or control character, as BERT has them."""
    if char.isascii():
        return not char.isalnum()
    return is_space(char) or unicodedata.category(char)[0] in "CP" or char == "\ufffd"


def characters(sentence: str) -> list[str]:
    return [char for char in sentence if not is_removed(char)]


def chains(sentence: str) -> list[list[str]]:
    """The characters between what is removed; the spaces of a sentence that is spelled out end no
    chain.
    """
    if is_spelled_out(sentence):
        sentence = "".join(char for char in sentence if char == "\n" or not is_space(char))
    found: list[list[str]] = [[]]
    for char in sentence:
        if is_removed(char):
            found.append([])
        else:
            found[-1].append(char)
    return [chain for chain in found if chain]


def is_spelled_out(sentence: str) -> bool:
    return not any(
        not is_removed(left) and not is_removed(right)
        for left, right in itertools.pairwise(sentence)
    )


def pair_counts(sentences: list[list[str]]) -> Counter[tuple[str, str]]:
    return Counter(pair for sentence in sentences for pair in itertools.pairwise(sentence))


def joined(sentence: list[str], pair: tuple[str, str]) -> list[str]:
    result: list[str] = []
    place = 0
    while place < len(sentence):
        if tuple(sentence[place : place + 2]) == pair:
            result.append(pair[0] + pair[1])
            place += 2
        else:
            result.append(sentence[place])
            place += 1
    return result


def best_pair(counts: Counter[tuple[str, str]]) -> tuple[str, str]:
    return min(counts, key=lambda pair: (-counts[pair], pair))


def train(
    texts: list[str], vocab_size: int, most: int | None = None, across: bool = False
) -> tuple[Counter[str], list[tuple[str, str, int]]]:
    """The sub-words with their counts, and the merges with theirs; `most` merges at most.

    `across`: pairs reach across what is removed, so that each sentence is one chain.
    """
    sentences = (
        [characters(text) for text in texts]
        if across
        else [part for text in texts for part in chains(text)]
    )
    merges: list[tuple[str, str, int]] = []
    while True:
        vocabulary = Counter(symbol for sentence in sentences for symbol in sentence)
        counts = pair_counts(sentences)
        if len(vocabulary) >= vocab_size or not counts or len(merges) == most:
            return vocabulary, merges
        best = best_pair(counts)
        if counts[best] == 1:
            return vocabulary, merges
        merges.append((*best, counts[best]))
        sentences = [joined(sentence, best) for sentence in sentences]


def longest_anywhere(text: str, vocabulary: set[str]) -> list[str]:
    """The longest item anywhere, the leftmost of these; then what is left and right of it, in the
    same way.
    """
    for length in range(len(text), 0, -1):
        for start in range(len(text) - length + 1):
            item = text[start : start + length]
            if item in vocabulary:
                left, right = text[:start], text[start + length :]
                return [
                    *longest_anywhere(left, vocabulary),
                    item,
                    *longest_anywhere(right, vocabulary),
                ]
    return ["<unk>" for _ in text]


def left_to_right(text: str, vocabulary: set[str]) -> list[str]:
    tokens = []
    while text:
        item = next(
            (text[:length] for length in range(len(text), 0, -1) if text[:length] in vocabulary),
            None,
        )
        tokens.append(item or "<unk>")
        text = text[len(item or text[0]) :]
    return tokens
