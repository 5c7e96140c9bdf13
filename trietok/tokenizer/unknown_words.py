"""Finding what a vocabulary does not know: the words that become the unknown token, how often, where and why.

In: a tokenizer and texts, one after the other. Out: `UnknownWords`, which is read as attributes, as JSON or as text.

Only texts that give the unknown token's id are looked into, and of those only the whitespace chunks not met before.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError
from trietok.tokenizer.unknown_report import Reason, UnknownWord, UnknownWords

_MOST_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 100  # chunks, and their characters


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
        self._encoder = tokenizer.text_encoder
        self._wordpiece = tokenizer.wordpiece_tokenizer
        self._unk_token, self._unk_token_id = tokenizer.unk_token, tokenizer.unk_token_id
        self._special: frozenset[str] = frozenset(tokenizer.all_special_tokens)
        self._chunks: dict[str, list[_Found]] = {}
        self._known: tuple[frozenset[str], frozenset[str]] | None = None

    def unknown_in(self, text: str) -> Iterator[tuple[str, int, int]]:
        """The unknown words of a text, each with its span in the text as it was given."""
        position = 0
        for chunk in self._encoder.chunks(text):
            found = self._chunks.get(chunk)
            if found is None:
                found = self._look_into(chunk)
                if len(chunk) <= _LONGEST_REMEMBERED:
                    if len(self._chunks) >= _MOST_REMEMBERED:
                        self._chunks.clear()
                    self._chunks[chunk] = found
            for word, start, end in found:
                yield word, position + start, position + end
            position += len(chunk) + 1

    def _look_into(self, chunk: str) -> list[_Found]:
        if self._unk_token_id not in self._encoder.ids(chunk):
            return []
        words = list(self._encoder.words(chunk))
        found: list[_Found] = []
        for number, (word, pieces, (start, end)) in enumerate(words, start=1):
            if word != self._unk_token and self._unk_token_id in self._encoder.ids_of_tokens(pieces):
                following = words[number][2][0] if number < len(words) else len(chunk)
                while end < following and unicodedata.combining(chunk[end]):  # a mark that is taken off the word
                    end += 1
                found.append(_Found(word, start, end))
        return found

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
