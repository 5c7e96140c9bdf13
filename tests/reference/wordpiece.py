"""WordPiece, said plainly: try ever shorter beginnings of what is left of the word."""

from __future__ import annotations

from collections.abc import Container


def tokenize(
    vocab: Container[str], text: str, unk_token: str = "[UNK]", longest: int = 100
) -> list[str]:
    return [
        piece for word in text.split() for piece in pieces_of(vocab, word, longest) or [unk_token]
    ]


def pieces_of(vocab: Container[str], word: str, longest: int) -> list[str] | None:
    if len(word) > longest:
        return None
    pieces = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            if prefix + word[start:end] in vocab:
                break
        else:
            return None
        pieces.append(prefix + word[start:end])
        start = end
    return pieces
