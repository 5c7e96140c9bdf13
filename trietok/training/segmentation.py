"""Cutting a sentence into the tokens of a vocabulary, by two rules, without merges.

In: a sentence without spaces. Out: its tokens; a character that no token covers is `<unk>`.
"""

from __future__ import annotations

from collections.abc import Iterable

from trietok.errors import InputError
from trietok.text.characters import is_control
from trietok.training.chinese import UNKNOWN


class Segmenter:
    """Cuts sentences by a vocabulary.

    Args:
        vocabulary: the tokens.
        unknown: stands for a character that no token covers.

    >>> segmenter = Segmenter(["天", "下", "雨", "天下", "下雨天"])
    >>> segmenter.longest_anywhere("天下雨天晴"), segmenter.left_to_right("天下雨天晴")
    (['天', '下雨天', '<unk>'], ['天下', '雨', '天', '<unk>'])

    Raises:
        InputError: the vocabulary is empty.
    """

    def __init__(self, vocabulary: Iterable[str], unknown: str = UNKNOWN) -> None:
        self.vocabulary = frozenset(vocabulary) - {"", unknown}
        self.unknown = unknown
        if not self.vocabulary:
            raise InputError("there is no token to segment with; the vocabulary is empty")
        self._lengths = sorted({len(token) for token in self.vocabulary}, reverse=True)

    def __reduce__(self) -> tuple[type[Segmenter], tuple[list[str], str]]:
        """Pickle the tokens in order: a set has another order in each process, and so would its pickle."""
        return type(self), (sorted(self.vocabulary), self.unknown)

    @staticmethod
    def cleaned(sentence: str) -> str:
        """A sentence without whitespace and control characters."""
        return "".join(char for char in "".join(sentence.split()) if not is_control(char))

    def longest_anywhere(self, sentence: str) -> list[str]:
        """The longest token anywhere in the sentence first, the leftmost of several; then left and right of it.

        The text to the left of the longest token contains no token as long, and the text to its right none longer. So
        the result is the same as taking, for each length from the longest on, from left to right, every token whose
        characters are all still free. O(n × number of lengths) for n characters.
        """
        vocabulary = self.vocabulary
        cut = [0] * len(sentence)  # start → length of the token that starts there
        free = bytearray(b"\x01" * len(sentence))
        for length in self._lengths:
            whole = b"\x01" * length
            start = free.find(whole)
            while start >= 0:
                if sentence[start : start + length] in vocabulary:
                    cut[start] = length
                    free[start : start + length] = bytes(length)
                    start += length - 1
                start = free.find(whole, start + 1)
        return self._pieces(sentence, cut)

    def left_to_right(self, sentence: str) -> list[str]:
        """The longest token that the sentence begins with, then the longest that the rest begins with, and so on."""
        vocabulary, lengths = self.vocabulary, self._lengths
        cut = [0] * len(sentence)
        start = 0
        while start < len(sentence):
            for length in lengths:
                if sentence[start : start + length] in vocabulary and start + length <= len(sentence):
                    cut[start] = length
                    break
            start += cut[start] or 1
        return self._pieces(sentence, cut)

    def _pieces(self, sentence: str, cut: list[int]) -> list[str]:
        pieces = []
        start = 0
        while start < len(sentence):
            length = cut[start]
            pieces.append(sentence[start : start + length] if length else self.unknown)
            start += length or 1
        return pieces
