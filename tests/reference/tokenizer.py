"""A slow tokenizer's `tokenize` for BERT, said plainly, from the other references.

Lower-case outside the tokens that are matched as they are written, split at the added tokens, eat whitespace at their
sides, tokenize what is between.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from tests.reference import basic_tokenizer, trie, wordpiece


@dataclass(frozen=True)
class Token:
    content: str
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    special: bool = False


def tokenize(
    vocab: Collection[str],
    added: Sequence[Token],
    special: Sequence[str],
    text: str,
    *,
    do_lower_case: bool = True,
) -> list[str]:
    if do_lower_case:
        written = [*special, *(token.content for token in added if not token.special)]
        parts = trie.split_first(written, text)
        text = "".join(part if part in written else "".join(map(lower, part)) for part in parts)
    tokens = []
    for piece in split(added, text):
        if piece in [token.content for token in added]:
            tokens.append(piece)
        else:
            words = basic_tokenizer.tokenize(piece, do_lower_case=do_lower_case, never_split=special)
            tokens += wordpiece.tokenize(vocab, " ".join(words))
    return tokens


def lower(char: str) -> str:
    return char.lower()


def split(added: Sequence[Token], text: str) -> list[str]:
    by_content = {token.content: token for token in added}
    pieces = stand_alone(by_content, trie.split(set(by_content), text))
    for index, piece in enumerate(pieces):
        token = by_content.get(piece)
        if token is not None and token.rstrip and index + 1 < len(pieces):
            pieces[index + 1] = pieces[index + 1].lstrip()
        if token is not None and token.lstrip and index > 0:
            pieces[index - 1] = pieces[index - 1].rstrip()
    return [piece for piece in pieces if piece]


def stand_alone(by_content: dict[str, Token], pieces: list[str]) -> list[str]:
    """Join a single-word token to its neighbours where one of them touches it with a word character."""
    text = "".join(pieces)
    kept: list[str] = []
    position = 0
    open_text = False  # whether the last piece kept is ordinary text, which more of it may join
    for piece in pieces:
        before, after = text[:position][-1:], text[position + len(piece) :][:1]
        position += len(piece)
        token = by_content.get(piece)
        is_token = token is not None and not (token.single_word and (is_word(before) or is_word(after)))
        if not is_token and open_text:
            kept[-1] += piece
        else:
            kept.append(piece)
        open_text = not is_token
    return kept


def is_word(char: str) -> bool:
    import regex

    return bool(char) and regex.fullmatch(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]", char) is not None
