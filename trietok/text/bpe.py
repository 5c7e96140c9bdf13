"""Byte-pair encoding: a word to tokens, by the merges in their order.

In: a word. Out: its tokens, each with the place of its first character. It gives what the BPE model
of tokenizers 0.22.2 gives for the same vocabulary and merges.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

from trietok.errors import VocabularyError
from trietok.named_tuple import NamedTuple
from trietok.text.changes import Changeable


class BpeParts(NamedTuple):
    """What a byte-pair encoding consists of.

    Attributes:
        vocab: token → id.
        merges: the pairs of tokens, in the order they were learnt.
        unk_token: stands for a character that the vocabulary does not hold; None leaves such
            characters out.
        continuing_subword_prefix: marks a token that continues a word.
        end_of_word_suffix: marks a token at the end of a word.
    """

    vocab: Mapping[str, int]
    merges: Sequence[tuple[str, str]]
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None

    def ranks(self) -> dict[tuple[str, str], tuple[int, str]]:
        """Pair → its place among the merges, and what it becomes.

        Raises:
            VocabularyError: a merge has or makes a token that is not in the vocabulary, or the
                unknown token is not.
        """
        if self.unk_token is not None and self.unk_token not in self.vocab:
            raise VocabularyError(
                f"the unknown token {self.unk_token!r} is not in the vocabulary; add it, or pass"
                " unk_token=None",
                token=self.unk_token,
            )
        marked = len(self.continuing_subword_prefix or "")
        ranks: dict[tuple[str, str], tuple[int, str]] = {}
        for rank, (left, right) in enumerate(self.merges):
            merged = left + right[marked:]
            for token in (left, right, merged):
                if token not in self.vocab:
                    raise VocabularyError(
                        f"merge {rank}, {left!r} and {right!r}, needs the token {token!r}, which is"
                        " not in the vocabulary; vocabulary and merges have to come from one"
                        " training",
                        token=token,
                    )
            ranks[left, right] = rank, merged
        return ranks


class BpeTokenizer(Changeable):
    """Splits words by merges: the earliest merge that applies is made first, the leftmost of
    several.

    Args:
        parts: vocabulary, merges and marks.

    >>> parts = BpeParts({"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4}, [("l", "o"), ("lo", "w")])
    >>> BpeTokenizer(parts).places_of("lowlo")
    [('low', 0, 3), ('lo', 3, 5)]

    Raises:
        VocabularyError: as `BpeParts.ranks`.
    """

    max_input_chars_per_word = -1  # an entry is a word's token only where the merges make it

    def __init__(self, parts: BpeParts) -> None:
        self.parts = parts
        self.vocab: Mapping[str, int] = parts.vocab
        self.unk_token = parts.unk_token
        self.continuing_subword_prefix = parts.continuing_subword_prefix or ""
        self._ranks = parts.ranks()

    def pieces_of(self, word: str) -> list[str]:
        """The tokens of one word. O(n log n) for n characters."""
        symbols, _ = self._characters(word)
        return [symbols[number] for number in self._merged(symbols)]

    def places_of(self, word: str) -> list[tuple[str, int, int]]:
        """The tokens of one word, each with its place: its first character, and one behind."""
        symbols, places = self._characters(word)
        first = list(self._merged(symbols))
        behind = [*first[1:], len(symbols)]
        return [
            (symbols[start], places[start], places[end - 1] + 1)
            for start, end in zip(first, behind, strict=False)
        ]

    def tokenize(self, text: str) -> list[str]:
        """The tokens of the words between whitespace."""
        return [token for word in text.split() for token in self.pieces_of(word)]

    def _characters(self, word: str) -> tuple[list[str], list[int]]:
        prefix, suffix = self.continuing_subword_prefix, self.parts.end_of_word_suffix or ""
        vocab, unknown, last = self.vocab, self.unk_token, len(word) - 1
        symbols: list[str] = []
        places: list[int] = []
        for place, char in enumerate(word):
            symbol = prefix * (place > 0) + char + suffix * (place == last)
            if symbol in vocab:
                symbols.append(symbol)
            elif unknown is not None:
                symbols.append(unknown)
            else:
                continue
            places.append(place)
        return symbols, places

    def _merged(self, symbols: list[str]) -> Iterable[int]:
        """Make the merges; return which symbols are left. They stay where they are, each knowing
        its neighbours.
        """
        ranks = self._ranks
        end = len(symbols)
        after = list(range(1, end + 1))
        before = list(range(-1, end))
        heap: list[tuple[int, int, str]] = []  # rank, place of the left one, what they become

        def consider(left: int, right: int) -> None:
            if left >= 0 and right < end:
                found = ranks.get((symbols[left], symbols[right]))
                if found is not None:
                    heapq.heappush(heap, (found[0], left, found[1]))

        for place in range(end - 1):
            consider(place, place + 1)
        gone = [False] * end
        while heap:
            _, place, merged = heapq.heappop(heap)
            right = after[place]
            if gone[place] or right >= end:
                continue
            found = ranks.get((symbols[place], symbols[right]))
            if found is None or found[1] != merged:  # its neighbours have changed since
                continue
            symbols[place] = merged
            gone[right] = True
            after[place] = after[right]
            before[after[place]] = place
            consider(before[place], place)
            consider(place, after[place])
        return (place for place, is_gone in enumerate(gone) if not is_gone)
