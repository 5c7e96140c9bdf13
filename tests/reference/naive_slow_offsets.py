"""The slow profile with spans, said plainly: what `tests.reference.tokenizer` gives, and where in
the text it came from.

The definition. Every character carries a span of the original text, half-open, in code points. At
the beginning it is the character's own. Each step hands spans on:

- A character that becomes several (`İ` is lower-cased to two, `한` is decomposed to three): each has
  the span of the one.
- Several that become one (NFC makes one character of `e` and an accent): it has the span from the
  first of them to the last, whatever lies between.
- Characters that are put in another order (accents, by NFC and NFD): what came from the same
  stretch overlaps. Spans never go back: a span begins no later than those behind it, and ends no
  earlier than those before it.
- Deleted characters (control characters, accents that did not become part of another character) and
  whitespace, that which `lstrip` and `rstrip` eat too: nobody has their span. They lie inside a
  token's span where they stood between its characters.

A token's span goes from the beginning of its first character's to the end of its last one's. So an
added token has the span of its own text, without the whitespace around it, and [UNK] that of the
whole word. Every word of basic tokenization and every added token has a number, in order, from 0.

What follows: spans are inside the text, none is empty, neither beginnings nor ends ever go back. A
word's span by itself gives that word again. A piece's span gives the piece's letters again, except
where

- the piece is cut out of the middle of a character that became several: its span is the whole
  character;
- NFC reordered accents at its border, so that its span shares some with its neighbour's;
- the span begins or ends inside what only together has a meaning: an added token that `single_word`
  rejected stands alone in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from tests.reference import basic_tokenizer, tokenizer, trie, wordpiece
from tests.reference.naive_rust_bert import Char, Chars, each, span_of, written
from tests.reference.tokenizer import Token

Found = tuple[str, tuple[int, int], int]  # a token, its span, the number of its word


def tokenize(
    vocab: Collection[str],
    added: Sequence[Token],
    special: Sequence[str],
    text: str,
    *,
    do_lower_case: bool = True,
    tokenize_chinese_chars: bool = True,
    strip_accents: bool | None = None,
) -> list[Found]:
    chars = [Char(char, i, i + 1) for i, char in enumerate(text)]
    if do_lower_case:
        chars = lower_between(added, special, chars)
    found: list[Found] = []
    number = 0
    for start, end, is_token in split(added, written(chars)):
        if is_token:
            found.append((written(chars[start:end]), span_of(chars[start:end]), number))
            number += 1
            continue
        for word in basic(
            chars[start:end], special, do_lower_case, tokenize_chinese_chars, strip_accents
        ):
            found += [(piece, span, number) for piece, span in pieces(vocab, word)]
            number += 1
    return found


# ---- added tokens --------------------------------------------------------------------------------


def lower_between(added: Sequence[Token], special: Sequence[str], chars: Chars) -> Chars:
    kept = [*special, *(token.content for token in added if not token.special)]
    parts = trie.split_first(kept, written(chars))
    result: Chars = []
    for start, part in zip(beginnings(parts), parts, strict=True):
        stretch = chars[start : start + len(part)]
        result += stretch if part in kept else each(stretch, str.lower)
    return result


def split(added: Sequence[Token], text: str) -> list[tuple[int, int, bool]]:
    """The pieces of `tokenizer.marked_split`, as places in the text."""
    by_content = {token.content: token for token in added}
    marked = tokenizer.stand_alone(by_content, trie.split(set(by_content), text))
    places = [
        (i, i + len(piece))
        for i, (piece, _) in zip(beginnings([p for p, _ in marked]), marked, strict=True)
    ]

    def token_at(index: int) -> Token | None:
        piece, was_token = marked[index]
        start, end = places[index]
        token = by_content.get(text[start:end])
        if text[start:end] == piece:
            return token if was_token else None
        return None if token is None or token.single_word else token

    for i in range(len(places)):
        token = token_at(i)
        if token is not None and token.rstrip and i + 1 < len(places):
            start, end = places[i + 1]
            places[i + 1] = end - len(text[start:end].lstrip()), end
        if token is not None and token.lstrip and i > 0:
            start, end = places[i - 1]
            places[i - 1] = start, start + len(text[start:end].rstrip())
    return [
        (start, end, token_at(i) is not None)
        for i, (start, end) in enumerate(places)
        if start < end
    ]


def beginnings(parts: Sequence[str]) -> list[int]:
    return [0, *accumulate(map(len, parts))][: len(parts)]


# ---- basic tokenization --------------------------------------------------------------------------


def basic(
    chars: Chars,
    never_split: Collection[str],
    do_lower_case: bool,
    chinese: bool,
    strip_accents: bool | None,
) -> Iterator[Chars]:
    cleaned = each(chars, lambda char: basic_tokenizer.clean(char, chinese))
    for word in at_spaces(composed(cleaned)):
        if written(word) in never_split:
            yield word
            continue
        if do_lower_case:
            word = lowered(word)
        if do_lower_case if strip_accents is None else strip_accents:
            word = [char for char in decomposed(word) if unicodedata.category(char.char) != "Mn"]
        if written(word) in never_split:
            yield word
        else:
            yield from at_spaces(
                each(
                    word, lambda char: f" {char} " if basic_tokenizer.is_punctuation(char) else char
                )
            )


def at_spaces(chars: Chars) -> list[Chars]:
    words: list[Chars] = [[]]
    for char in chars:
        if char.char.isspace():
            words.append([])
        else:
            words[-1].append(char)
    return [word for word in words if word]


def lowered(word: Chars) -> Chars:
    """Lower-case a word; how a capital sigma is written depends on its neighbours."""
    letters = iter(written(word).lower())
    return [Char(next(letters), char.start, char.end) for char in word for _ in char.char.lower()]


def decomposed(chars: Chars) -> Chars:
    """NFD, each character with its span."""
    parts = each(chars, lambda char: unicodedata.normalize("NFD", char))
    ordered: Chars = []
    run: Chars = []
    for part in [*parts, Char("x", 0, 0)]:
        if unicodedata.combining(part.char):
            run.append(part)
        else:
            ordered += [*sorted(run, key=lambda mark: unicodedata.combining(mark.char)), part]
            run = []
    del ordered[-1]
    assert written(ordered) == unicodedata.normalize("NFD", written(chars))
    return forwards(ordered)


def composed(chars: Chars) -> Chars:
    """NFC: a character joins the last one that begins a group, unless one of its class or higher
    lies between.
    """
    result: Chars = []
    first = None  # where the group begins
    for part in decomposed(chars):
        if first is not None:
            group = result[first]
            alone = len(result) == first + 1
            joined = unicodedata.normalize("NFC", group.char + part.char)
            free = alone or unicodedata.combining(result[-1].char) < unicodedata.combining(
                part.char
            )
            if free and len(joined) == 1:
                result[first] = Char(joined, min(group.start, part.start), max(group.end, part.end))
                continue
        result.append(part)
        if not unicodedata.combining(part.char):
            first = len(result) - 1
    assert written(result) == unicodedata.normalize("NFC", written(chars))
    return forwards(result)


def forwards(chars: Chars) -> Chars:
    """Widen spans until neither beginnings nor ends go back."""
    ends = accumulate((char.end for char in chars), max)
    starts = [*accumulate((char.start for char in reversed(chars)), min)][::-1]
    return [
        Char(char.char, start, end) for char, start, end in zip(chars, starts, ends, strict=True)
    ]


# ---- pieces --------------------------------------------------------------------------------------


def pieces(vocab: Collection[str], word: Chars) -> Iterator[tuple[str, tuple[int, int]]]:
    found = wordpiece.pieces_of(vocab, written(word), longest=100)
    if not found:
        yield "[UNK]", span_of(word)
        return
    start = 0
    for piece in found:
        end = start + len(piece) - (2 if start else 0)
        yield piece, span_of(word[start:end])
        start = end
