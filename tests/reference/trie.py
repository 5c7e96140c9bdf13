"""Leftmost-longest splitting, said plainly: at every place take the longest word that stands
there.
"""

from __future__ import annotations


def split(words: set[str], text: str) -> list[str]:
    pieces = []
    plain = ""
    position = 0
    while position < len(text):
        standing = [word for word in words if word and text.startswith(word, position)]
        if standing:
            longest = max(standing, key=len)
            pieces += [plain, longest]
            plain = ""
            position += len(longest)
        else:
            plain += text[position]
            position += 1
    return [piece for piece in [*pieces, plain] if piece]


def split_first(words: list[str], text: str) -> list[str]:
    """As `split`, but of the words that stand at a place the first of the list is taken."""
    pieces = []
    plain = ""
    position = 0
    while position < len(text):
        word = next((word for word in words if word and text.startswith(word, position)), None)
        if word is None:
            plain += text[position]
            position += 1
        else:
            pieces += [plain, word]
            plain = ""
            position += len(word)
    return [piece for piece in [*pieces, plain] if piece]
