"""The story of a token: why it is one, in a few sentences.

In: a `Token`. Out: sentences, which the views show and JSON holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trietok.showing.characters import code_point, described, visible

if TYPE_CHECKING:
    from trietok.explaining.values import AddedMatch, Match, Rejected, Token, Unknown

_MOST_ENTRIES = 8


def story(token: Token) -> list[str]:
    """Why a token is one, sentence by sentence.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> for sentence in tokenizer.explain("A☃!").tokens[1].story:
    ...     print(sentence)
    The word “a☃” is unknown: it could start with “a”, but no entry matches the start of the rest, “##☃”, at 1 in
    the text (U+2603 SNOWMAN).
    The text begins here.
    """
    return list(_sentences(token))


def _sentences(token: Token) -> Iterator[str]:
    match token.kind:
        case "special":
            yield "The template puts this special token here."
        case "padding":
            yield "Padding: it fills the row up."
        case "kept":
            yield f"The word {_quoted(token.word_text)} is never split, and is an added token."
    if token.added is not None:
        yield from _of_added(token.added)
    if token.match is not None:
        yield from _of_match(token.match, token.word_text)
    if token.unknown is not None:
        yield _of_unknown(token.unknown, token)
    if token.cut is not None:
        yield f"Cut before it: {token.cut.why}." if token.cut.stage else "The text begins here."
    for rejected in token.rejected:
        yield _of_rejected(rejected)
    if token.is_truncated:
        yield "Truncation has removed it: it is not in the ids."


def _of_match(match: Match, word: str) -> Iterator[str]:
    won = match.entries[-1] if match.entries else ""
    if match.left == word == won:
        yield f"The whole word {_quoted(word)} is an entry."
        return
    if match.left == won:
        yield f"The rest of the word, {_quoted(won)}, is an entry."
        return
    shown = match.entries[:-1][-_MOST_ENTRIES:]
    shorter = f" (shorter: {', '.join(map(visible, shown))})" if shown else ""
    yield f"{_quoted(won)} is the longest vocabulary entry at the start of {_quoted(match.left)}{shorter}."
    if match.reached > len(won):
        yield f"Some entries begin with {_quoted(match.left[: match.reached])}, but none of them matches here."
    else:
        yield f"No entry goes on with {_quoted(match.stopped_by)}." if match.stopped_by else "The word ends there."


def _of_unknown(unknown: Unknown, token: Token) -> str:
    word = f"The word {_quoted(token.word_text)} is unknown:"
    if unknown.reason == "too-long":
        return f"{word} its {len(token.word_text)} characters are more than WordPiece tries."
    if unknown.reason == "not-an-entry":
        return f"{word} it is never split, and is no entry."
    place = f"at {unknown.start} in the text ({described(unknown.char)})"
    if unknown.covered:
        front = ", ".join(map(_quoted, unknown.covered))
        rest = f"the start of the rest, {_quoted(unknown.left)}"
        return f"{word} it could start with {front}, but no entry matches {rest}, {place}."
    start = "" if len(unknown.left) == 1 else "the start of "
    return f"{word} no entry matches {start}{_quoted(unknown.left)}, {place}."


def _of_added(added: AddedMatch) -> Iterator[str]:
    flags = f" ({', '.join(added.flags)})" if added.flags else ""
    yield f"{_quoted(added.content)} is an added token{flags}, matched whole before any word is split."
    for side, ate, flag in (("left", added.ate_left, "lstrip"), ("right", added.ate_right, "rstrip")):
        if ate:
            yield f"Its {flag} took the whitespace on its {side}: {_codes(ate)}."
    touching = [char for char in added.touches if char]
    if touching and not added.single_word and added.content[:1].isalnum():
        verb = "touches" if len(touching) == 1 else "touch"
        neighbours = " and ".join(map(_quoted, touching))
        yield f"It is cut out of a word: {neighbours} {verb} it. With single_word it would not be."


def _of_rejected(rejected: Rejected) -> str:
    touching = " and ".join(_quoted(char) for char in rejected.touching if char)
    verb = "touch" if all(rejected.touching) else "touches"
    content = _quoted(rejected.content)
    return f"The added token {content} stands here, and its single_word rejects it: {touching} {verb} it."


def _codes(text: str) -> str:
    shown = " ".join(map(code_point, text[:4]))
    return shown + (f" and {len(text) - 4} more" if len(text) > 4 else "")


def _quoted(text: str, most: int = 40) -> str:
    text = visible(text)
    return f"“{text if len(text) <= most else text[: most - 1] + '…'}”"
