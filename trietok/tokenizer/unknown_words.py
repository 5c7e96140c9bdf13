"""Finding what a vocabulary does not know: the words that become the unknown token, how often, where and why.

In: a tokenizer and texts, one after the other. Out: `UnknownWords`, which is read as attributes, as JSON or as text.

Only texts that give the unknown token's id are looked into, and of those only the whitespace chunks not met before.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError
from trietok.tokenizer.unknown_report import Reason, UnknownWord, UnknownWords

_BETWEEN = re.compile(r"(?:\S|[\x0b\x0c\x1c-\x1f\x85])+")  # str.split's whitespace, but for what cleaning deletes
_WORDS = re.compile(r"\S+")
_MOST_REMEMBERED = 100_000  # chunks


class _Found(NamedTuple):
    """An unknown word within its chunk: `start` and `end` count code points of the chunk."""

    word: str
    start: int
    end: int


def find_unknown(tokenizer: Any, texts: Iterable[str], *, positions: int = 3) -> UnknownWords:
    """What words of `texts` become the unknown token, how often, where, and why.

    The unknown token written in a text is no unknown word, and is not counted.

    Args:
        tokenizer: a `BertTokenizer` or one of its relatives.
        texts: any iterable; read once, one text after the other, none of them kept.
        positions: how many places of each word to keep.

    Returns:
        An `UnknownWords`; the most frequent word comes first.

    Raises:
        InputTypeError: `texts` is one str, or one of them is none.
        InputError: `positions` is negative.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> print(find_unknown(tokenizer, ["Mind the ☃!", "☃ " + "o" * 101]))
    2 kinds of unknown words, 3 times in 2 of 2 texts (50.00% of 6 tokens)
    count  word                  why                  first at
        2  ☃                     unknown character ☃  0:9-10 1:0-1
        1  ooooooooooooooooo...  too long (101)       1:2-103

    Cost: that of encoding the texts, and for each new chunk with an unknown word O(its code points).
    """
    if isinstance(texts, str):
        raise InputTypeError("find_unknown takes texts, an iterable of str, not one str; pass a list", value=texts)
    if positions < 0:
        raise InputError(f"positions is the number of places to keep of each word, not {positions}")
    if not hasattr(tokenizer, "wordpiece_tokenizer"):
        raise InputTypeError(
            f"find_unknown looks into BertTokenizer and its relatives, not {type(tokenizer).__name__}", value=tokenizer
        )
    search = _Search(tokenizer)
    encode = tokenizer.text_encoder.ids
    places: dict[str, list[tuple[int, int, int]]] = {}
    counts: Counter[str] = Counter()
    read = tokens = with_unknown = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(f"text {index} is a {type(text).__name__}, not a str: {text!r:.60}", value=text)
        read += 1
        ids = encode(text)
        tokens += len(ids)
        if tokenizer.unk_token_id not in ids:
            continue
        any_found = False
        for word, start, end in search.unknown_in(text):
            any_found = True
            counts[word] += 1
            kept = places.setdefault(word, [])
            if len(kept) < positions:
                kept.append((index, start, end))
        with_unknown += any_found
    words = tuple(
        UnknownWord(word, count, *search.why(word), tuple(places[word]))  # in a Counter, the first of equals is first
        for word, count in counts.most_common()
    )
    return UnknownWords(words, texts=read, texts_with_unknown=with_unknown, tokens=tokens)


class _Search:
    """The search with one tokenizer, and what it remembers."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._basic: Any = tokenizer.basic_tokenizer if tokenizer.do_basic_tokenize else None
        self._wordpiece = tokenizer.wordpiece_tokenizer
        self._special: frozenset[str] = frozenset(tokenizer.all_special_tokens)
        self._chunks: dict[str, tuple[_Found, ...]] = {}
        self._known: tuple[frozenset[str], frozenset[str]] | None = None

    def unknown_in(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The unknown words of a text, each with its span in the text as it was given."""
        lowered, pieces = self._tokenizer.pieces(text)
        origin = None if len(lowered) == len(text) else _origin_of(text, lowered)
        pattern = _WORDS if self._basic is None else _BETWEEN
        position = 0
        for piece, is_token in pieces:
            position = lowered.index(piece, position)  # whitespace that an added token took along lies between
            if not is_token:
                for match in pattern.finditer(piece):
                    for word, start, end in self._unknown_in_chunk(match[0]):
                        start, end = position + match.start() + start, position + match.start() + end
                        yield (word, start, end) if origin is None else (word, origin[start], origin[end - 1] + 1)
            position += len(piece)

    def _unknown_in_chunk(self, chunk: str) -> tuple[_Found, ...]:
        found = self._chunks.get(chunk)
        if found is None:
            if len(self._chunks) >= _MOST_REMEMBERED:
                self._chunks.clear()
            found = self._chunks[chunk] = tuple(self._look_into(chunk))
        return found

    def _look_into(self, chunk: str) -> Iterator[_Found]:
        words = [chunk] if self._basic is None else self._split(chunk)
        if not any(map(self._is_unknown, words)):
            return
        spans = [(0, len(chunk))] if self._basic is None else self._spans(chunk, words)
        for word, (start, end) in zip(words, spans, strict=True):
            if self._is_unknown(word):
                yield _Found(word, start, end)

    def _is_unknown(self, word: str) -> bool:
        if self._basic is not None and word in self._basic.never_split:
            return word not in self._wordpiece.vocab and word not in self._tokenizer.added_tokens_encoder
        if len(word) > self._wordpiece.max_input_chars_per_word:
            return True
        return word not in self._wordpiece.vocab and self._wordpiece.match_word(word) is None

    # ---- where a word comes from ------------------------------------------------------------------------------------

    def _spans(self, chunk: str, words: list[str]) -> list[tuple[int, int]]:
        """The span in `chunk` of each of its words.

        The chunk is cut into clusters whose words do not depend on what stands around them, so the characters of all
        clusters in a row are those of all words in a row.
        """
        made_of: list[tuple[int, int]] = []  # for each character of the words, the span of its cluster
        for start, end in self._clusters(chunk):
            count, several = self._count(chunk[start:end])
            singly = [(i, self._count(chunk[i])[0]) for i in range(start, end)] if several else []
            if several and sum(alone for _, alone in singly) == count:  # punctuation with a mark on it
                made_of += [(i, i + 1) for i, alone in singly for _ in range(alone)]
            else:
                made_of += [(start, end)] * count
        if len(made_of) != len("".join(words)):  # a word that is kept as it is stands for itself
            return [(0, len(chunk))] * len(words)
        spans: list[tuple[int, int]] = []
        position = 0
        for word in words:
            inside = made_of[position : position + len(word)]
            spans.append((inside[0][0], inside[-1][1]))
            position += len(word)
        return spans

    def _split(self, text: str) -> list[str]:
        words: list[str] = self._basic.tokenize(text, self._special)
        return words

    def _count(self, text: str) -> tuple[int, bool]:
        """How many characters the words of a text have, and whether there are several words."""
        words = self._split(text)
        return sum(map(len, words)), len(words) > 1

    def _clusters(self, chunk: str) -> Iterator[tuple[int, int]]:
        """Spans of characters that compose with each other, deleted characters in between left out at the edges."""
        start = end = 0
        composed = ""
        for position, char in enumerate(chunk):
            cleaned = self._basic.clean(char)
            if not cleaned:
                continue
            if composed and not _composes_with(composed, cleaned):
                yield start, end
                composed = ""
            start = start if composed else position
            composed += cleaned
            end = position + 1
        if composed:
            yield start, end

    # ---- why it is unknown ------------------------------------------------------------------------------------------

    def why(self, word: str) -> tuple[Reason, tuple[str, ...]]:
        """Why a word is unknown, and what is to blame: characters, or the entry that would carry it on."""
        if len(word) > self._wordpiece.max_input_chars_per_word:
            return "too-long", ()
        prefix = self._wordpiece.continuing_subword_prefix
        if self._known is None:
            entries = [entry for entry in self._wordpiece.vocab if entry not in self._special]
            inside = [entry[len(prefix) :] for entry in entries if entry.startswith(prefix)]
            fronts = (entry for entry in entries if not entry.startswith(prefix))
            self._known = frozenset("".join(fronts)), frozenset("".join(inside))
        characters = tuple(dict.fromkeys(char for char in word if not any(char in known for known in self._known)))
        if characters:
            return "unknown-character", characters
        return "no-piece", (self._missing_entry(word, prefix),)

    def _missing_entry(self, word: str, prefix: str) -> str:
        """The shortest entry that would carry the longest match on; the word itself where it is never split."""
        start, marked = 0, ""
        while start < len(word):
            ends = range(len(word), start, -1)
            end = next((end for end in ends if marked + word[start:end] in self._wordpiece.vocab), None)
            if end is None:
                return marked + word[start]
            start, marked = end, prefix
        return word


def _composes_with(before: str, char: str) -> bool:
    """Whether normalizing may join `char` to what stands before it."""
    if before[-1] == " " or (before.isascii() and char.isascii()):
        return False
    if any(map(unicodedata.combining, unicodedata.normalize("NFD", char)[:1])):
        return True
    form = unicodedata.normalize("NFC", before + char)
    return form != unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", char)


def _origin_of(text: str, lowered: str) -> list[int]:
    """For each character of `lowered`, the position in `text` of the one it comes from."""
    origin: list[int] = []
    for position, char in enumerate(text):
        lower = char.lower()
        origin += [position] * (len(lower) if lowered.startswith(lower, len(origin)) else 1)
    return origin
