"""Which words to add as entries of the vocabulary, said plainly: tokenize everything again for
every word tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from tests.reference import basic_tokenizer, wordpiece


def cut(vocab: Collection[str], word: str) -> list[str]:
    return wordpiece.tokenize(vocab, word)


def number_of_tokens(vocab: Collection[str], texts: Sequence[str]) -> int:
    return sum(len(cut(vocab, word)) for text in texts for word in basic_tokenizer.tokenize(text))


def unknown_words(vocab: Collection[str], texts: Sequence[str]) -> dict[str, int]:
    """The words that become the unknown token, with their frequencies."""
    words = Counter(word for text in texts for word in basic_tokenizer.tokenize(text))
    return {word: count for word, count in words.items() if cut(vocab, word) == ["[UNK]"]}


def suggest(
    vocab: Collection[str],
    texts: Sequence[str],
    *,
    most: int,
    min_frequency: int,
    leave_others: bool = False,
) -> tuple[list[tuple[str, int, list[str]]], dict[str, list[str]]]:
    """The words with their frequencies and pieces; the other words that are cut otherwise, with
    their tokens then.
    """
    frequencies = Counter(word for text in texts for word in basic_tokenizer.tokenize(text))
    at_first = {word: cut(vocab, word) for word in frequencies}

    def rank(word: str) -> tuple[int, int, str]:
        worth = 2 if at_first[word] == ["[UNK]"] else len(at_first[word]) - 1
        return -worth * frequencies[word], -frequencies[word], word

    candidates = [
        word for word in frequencies if len(at_first[word]) > 1 or at_first[word] == ["[UNK]"]
    ]
    candidates = [
        word for word in candidates if frequencies[word] >= min_frequency and len(word) <= 100
    ]
    picked: list[str] = []
    ranked = sorted(candidates, key=rank)
    # they save no token, and come last
    unknown = [word for word in ranked if at_first[word] == ["[UNK]"]]
    enough = most - len({*unknown} & {*ranked[:most]})
    for word in [*(word for word in ranked if word not in unknown), *unknown]:
        if len(picked) < (most if word in unknown else enough):
            now, then = {*vocab, *picked}, {*vocab, *picked, word}
            others = [other for other in frequencies if other not in (*picked, word)]
            touched = [other for other in others if cut(now, other) != cut(then, other)]
            worse = [other for other in touched if is_worse(at_first[other], cut(then, other))]
            harm = sum(frequencies[other] for other in worse)
            if 100 * harm <= frequencies[word] and not (leave_others and touched):
                picked.append(word)
    grown = {*vocab, *picked}
    changed = {word: cut(grown, word) for word in frequencies if word not in picked}
    changed = {word: tokens for word, tokens in changed.items() if tokens != at_first[word]}
    return [(word, frequencies[word], at_first[word]) for word in picked], changed


def is_worse(before: list[str], after: list[str]) -> bool:
    if before == ["[UNK]"]:
        return False
    return after == ["[UNK]"] or len(after) > len(before)
