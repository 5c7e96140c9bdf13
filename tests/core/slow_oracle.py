"""The tokens of a slow BERT tokenizer with their spans and word numbers, character by character.

transformers has no spans for its slow tokenizers, so this is their definition. Every character has
a span of the original text, at the beginning its own, and each step hands spans on:

- A character that becomes several (`İ` in lower case, `한` decomposed): each has the span of the one.
- Several that become one (`e` and an accent): it has the span from the first of them to the last.
- Characters that are put in another order (accents): a span begins no later than those after it,
  and ends no earlier than those before it.

A token's span goes from its first character's beginning to its last one's end. Every word of basic
tokenization and every added token has a number, in order, from 0.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

import regex
from transformers.models.bert.tokenization_bert import BasicTokenizer, WordpieceTokenizer

from trietok import AddedToken


class Char(NamedTuple):
    char: str
    start: int
    end: int


Chars = list[Char]
Piece = tuple[int, int, AddedToken | None]  # beginning and end, and the token if it is one
BASIC = BasicTokenizer()
WORD = regex.compile(r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]")


def tokenize(
    vocab: Mapping[str, int],
    added: Sequence[AddedToken],
    special: Sequence[str],
    text: str,
    *,
    do_lower_case: bool,
    tokenize_chinese_chars: bool = True,
    strip_accents: bool | None = None,
) -> Iterator[tuple[str, tuple[int, int], int]]:
    """Yield each token, its span and the number of its word."""
    strip = do_lower_case if strip_accents is None else strip_accents
    chars = [Char(char, i, i + 1) for i, char in enumerate(text)]
    if do_lower_case:
        kept = [*special, *(token.content for token in added if not token.special)]
        chars = lowered_between(kept, chars)
    number = 0
    for start, end, token in split(added, written(chars)):
        if token:
            yield token.content, (chars[start].start, chars[end - 1].end), number
            number += 1
            continue
        clean = each(chars[start:end], BASIC._clean_text)
        if tokenize_chinese_chars:
            clean = each(clean, BASIC._tokenize_chinese_chars)
        for word in words_of(composed(clean), special, do_lower_case, strip):
            place = 0
            for piece in WordpieceTokenizer(vocab, "[UNK]").tokenize(written(word)):
                first, place = place, place + len(piece) - (2 if place else 0)
                last = word[-1] if piece == "[UNK]" else word[place - 1]
                yield piece, (word[first].start, last.end), number
            number += 1


def split(added: Sequence[AddedToken], text: str) -> list[Piece]:
    """Cut at added tokens: of those that begin at one place the longest counts, and a `single_word`
    between other letters counts for nothing. Then tokens strip whitespace from their neighbours;
    what is left of these may be a token.
    """
    tokens = {token.content: token for token in added}
    by_length = sorted(map(re.escape, tokens), key=len, reverse=True)
    pieces: list[Piece] = []
    last = 0
    for match in re.finditer("|".join(by_length), text) if tokens else ():
        start, end = match.span()
        alone = not WORD.fullmatch(text[:start][-1:]) and not WORD.fullmatch(text[end:][:1])
        if alone or not tokens[match[0]].single_word:
            pieces += (last, start, None), (start, end, tokens[match[0]])
            last = end
    pieces = [piece for piece in [*pieces, (last, len(text), None)] if piece[0] < piece[1]]

    def strip(index: int, is_left: bool) -> None:
        if 0 <= index < len(pieces):
            start, end, _ = pieces[index]
            part = text[start:end]
            rest = part.lstrip() if is_left else part.rstrip()
            if rest != part:
                start, end = (end - len(rest), end) if is_left else (start, start + len(rest))
                token = tokens.get(rest)
                pieces[index] = start, end, None if token and token.single_word else token

    for index in range(len(pieces)):
        token = pieces[index][2]
        if token and token.rstrip:
            strip(index + 1, is_left=True)
        if token and token.lstrip:
            strip(index - 1, is_left=False)
    return [piece for piece in pieces if piece[0] < piece[1]]


def lowered_between(kept: Sequence[str], chars: Chars) -> Chars:
    """Of the tokens that begin at one place, the first in the list is kept as it is written."""
    result: Chars = []
    last = 0
    for match in re.finditer("|".join(map(re.escape, kept)), written(chars)):
        start, end = match.span()
        result += each(chars[last:start], str.lower) + chars[start:end]
        last = end
    return result + each(chars[last:], str.lower)


def words_of(
    chars: Chars, never_split: Collection[str], lower: bool, strip: bool
) -> Iterator[Chars]:
    for word in at_spaces(chars):
        if written(word) not in never_split:
            if lower:  # of the whole word: a capital sigma depends on its neighbours
                _, starts, ends = zip(*each(word, str.lower), strict=True)
                word = [*map(Char, written(word).lower(), starts, ends)]
            if strip:
                word = [c for c in decomposed(word) if unicodedata.category(c.char) != "Mn"]
        for part in BASIC._run_split_on_punc(written(word), never_split):
            yield from at_spaces(word[: len(part)])
            word = word[len(part) :]


def at_spaces(chars: Chars) -> list[Chars]:
    of_spaces = groupby(chars, lambda char: char.char.isspace())
    return [list(word) for is_space, word in of_spaces if not is_space]


def decomposed(chars: Chars) -> Chars:
    """NFD: marks in a row are sorted by their combining class."""
    parts = each(chars, lambda char: unicodedata.normalize("NFD", char))
    marks = [unicodedata.combining(part.char) for part in parts]
    groups = accumulate(mark == 0 for mark in marks)
    order = sorted(zip(groups, marks, range(len(parts)), strict=True))
    return forwards([parts[place] for _, _, place in order])


def composed(chars: Chars) -> Chars:
    """NFC: a character joins the last one that begins a group, unless one of its class or higher
    lies between.
    """
    result: Chars = []
    first = -1  # the place in the result where the group begins
    for part in decomposed(chars):
        mark = unicodedata.combining(part.char)
        between = result[first + 1 :]
        if first >= 0 and (not between or unicodedata.combining(between[-1].char) < mark):
            group = result[first]
            joined = unicodedata.normalize("NFC", group.char + part.char)
            if len(joined) == 1:
                result[first] = Char(joined, min(group.start, part.start), max(group.end, part.end))
                continue
        if not mark:
            first = len(result)
        result.append(part)
    assert written(result) == unicodedata.normalize("NFC", written(chars))
    return forwards(result)


def forwards(chars: Chars) -> Chars:
    """Widen spans until neither beginnings nor ends go back."""
    starts = [*accumulate((char.start for char in reversed(chars)), min)][::-1]
    ends = accumulate((char.end for char in chars), max)
    return [*map(Char, written(chars), starts, ends)]


def each(chars: Chars, change: Callable[[str], str]) -> Chars:
    """Change each character by itself; what comes of it has its span."""
    return [Char(new, char.start, char.end) for char in chars for new in change(char.char)]


def written(chars: Chars) -> str:
    return "".join(char.char for char in chars)
