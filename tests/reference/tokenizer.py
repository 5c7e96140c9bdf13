"""A slow tokenizer's `tokenize` for BERT, said plainly, from the other references.

Lower-case outside the tokens that are matched as they are written, split at the added tokens, eat
whitespace at their sides, tokenize what is between.
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
    for piece, is_token in marked_split(added, text):
        if is_token:
            tokens.append(piece)
        else:
            words = basic_tokenizer.tokenize(
                piece, do_lower_case=do_lower_case, never_split=special
            )
            tokens += wordpiece.tokenize(vocab, " ".join(words))
    return tokens


def lower(char: str) -> str:
    return char.lower()


def split(added: Sequence[Token], text: str) -> list[str]:
    return [piece for piece, _ in marked_split(added, text)]


def marked_split(added: Sequence[Token], text: str) -> list[tuple[str, bool]]:
    """The pieces, and which are tokens: what is left of a stripped piece may be one, a rejected
    match is not.
    """
    by_content = {token.content: token for token in added}
    marked = stand_alone(by_content, trie.split(set(by_content), text))
    pieces = [piece for piece, _ in marked]

    def token_at(index: int) -> Token | None:
        piece, was_token = marked[index]
        token = by_content.get(pieces[index])
        if pieces[index] == piece:
            return token if was_token else None
        return None if token is None or token.single_word else token

    for index in range(len(pieces)):
        token = token_at(index)
        if token is not None and token.rstrip and index + 1 < len(pieces):
            pieces[index + 1] = pieces[index + 1].lstrip()
        if token is not None and token.lstrip and index > 0:
            pieces[index - 1] = pieces[index - 1].rstrip()
    return [(piece, token_at(index) is not None) for index, piece in enumerate(pieces) if piece]


def stand_alone(by_content: dict[str, Token], pieces: list[str]) -> list[tuple[str, bool]]:
    """Join a single-word token to its neighbours where one of them touches it with a word
    character.
    """
    text = "".join(pieces)
    kept: list[tuple[str, bool]] = []
    position = 0
    for piece in pieces:
        before, after = text[:position][-1:], text[position + len(piece) :][:1]
        position += len(piece)
        token = by_content.get(piece)
        is_token = token is not None and not (
            token.single_word and (is_word(before) or is_word(after))
        )
        if not is_token and kept and not kept[-1][1]:
            kept[-1] = (kept[-1][0] + piece, False)
        else:
            kept.append((piece, is_token))
    return kept


def is_word(char: str) -> bool:
    import regex

    return (
        bool(char)
        and regex.fullmatch(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]", char) is not None
    )
