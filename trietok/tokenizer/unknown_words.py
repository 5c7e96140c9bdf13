"""Finding what a vocabulary does not know: the words that become the unknown token, how often,
where and why.

In: a tokenizer and texts, one after the other. Out: `UnknownWords`, which is read as attributes, as
JSON or as text.

Only texts that give the unknown token's id are looked into, and of those only the whitespace chunks
not met before.
"""

from __future__ import annotations

import dataclasses
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from trietok.errors import InputError, InputTypeError
from trietok.later import Any, Literal
from trietok.showing.characters import number_of
from trietok.showing.report import Report, Table

Reason = Literal["unknown-character", "no-piece", "too-long"]

HEAD_OF_WORDS = ("count", "word", "why", "first at")
MOST_WORDS_SHOWN = 20  # words in a printed table
_WIDEST = 20  # characters of a word in it


@dataclasses.dataclass(frozen=True)
class UnknownWord:
    """A word that becomes the unknown token.

    Attributes:
        word: as WordPiece is given it: normalized, without the punctuation around it.
        count: how often it was met.
        reason: `"unknown-character"`: it holds a character that no entry of the vocabulary holds;
            `"no-piece"`: it holds none such, but the entries do not cover it; `"too-long"`: it has
            more characters than WordPiece tries.
        blame: the unknown characters; or, for `"no-piece"`, the shortest entry that would carry the
            match on from where it ends, such as `##x`; nothing for `"too-long"`.
        positions: of the first places, `(text, start, end)`: the number of the text from 0, and the
            span in it, half open, in code points of the text as it was given.
    """

    word: str
    count: int
    reason: Reason
    blame: tuple[str, ...]
    positions: tuple[tuple[int, int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """The attributes; all of it can be written as JSON."""
        return {
            **vars(self),
            "blame": list(self.blame),
            "positions": list(map(list, self.positions)),
        }

    @property
    def why(self) -> str:
        """The reason in words."""
        if self.reason == "too-long":
            return f"too long ({len(self.word)})"
        if self.reason == "no-piece":
            return f"no piece {self.blame[0]}"
        return f"unknown character{'s' if len(self.blame) > 1 else ''} {' '.join(self.blame)}"


@dataclasses.dataclass(frozen=True)
class UnknownWords(Report):
    """All that a search has found.

    Attributes:
        words: every `UnknownWord`, the most frequent first.
        texts: how many texts were read.
        texts_with_unknown: how many of them hold an unknown word.
        tokens: how many tokens they have, special tokens around them left out.

    >>> import trietok
    >>> found = trietok.BertTokenizer.from_pretrained("trietok-en").find_unknown(
    ...     ["☃☃ and ☃", "☕!"]
    ... )
    >>> found
    UnknownWords(words=3, occurrences=3, texts=2, texts_with_unknown=2, tokens=5)
    >>> found.characters
    {'☃': 2, '☕': 1}
    """

    words: tuple[UnknownWord, ...]
    texts: int
    texts_with_unknown: int
    tokens: int

    _ANSWERS = ("occurrences", "characters")

    @property
    def occurrences(self) -> int:
        """How often any unknown word was met."""
        return sum(word.count for word in self.words)

    @property
    def characters(self) -> dict[str, int]:
        """The unknown characters, each with how many occurrences of words it is to blame for, most
        first.
        """
        counts: Counter[str] = Counter()
        for word in self.words:
            if word.reason == "unknown-character":
                for char in word.blame:
                    counts[char] += word.count
        return dict(counts.most_common())

    @property
    def summary(self) -> str:
        """One line: how many words, how often, in how many texts."""
        if not self.words:
            return (
                f"no unknown words in {number_of(self.texts, 'text')}"
                f" ({number_of(self.tokens, 'token')})"
            )
        kinds = (
            "1 unknown word"
            if len(self.words) == 1
            else f"{len(self.words):,} kinds of unknown words"
        )
        share = f"{self.occurrences / self.tokens:.2%} of {number_of(self.tokens, 'token')}"
        where = f"{self.texts_with_unknown:,} of {number_of(self.texts, 'text')}"
        return f"{kinds}, {number_of(self.occurrences, 'time')} in {where} ({share})"

    def rows(
        self, most: int, name: Callable[[int], str] = str
    ) -> Iterator[tuple[str, str, str, str]]:
        """Count, word, reason and places of the first words, as text; `name` says what to call a
        text by its number.
        """
        for word in self.words[:most]:
            places = " ".join(f"{name(text)}:{start}-{end}" for text, start, end in word.positions)
            shown = word.word if len(word.word) <= _WIDEST else word.word[: _WIDEST - 3] + "..."
            yield f"{word.count:,}", shown, word.why, places

    def _parts(self) -> Iterator[str | Table]:
        yield self.summary
        if self.words:
            yield Table(HEAD_OF_WORDS, [*self.rows(MOST_WORDS_SHOWN)], right=(0,))
        if len(self.words) > MOST_WORDS_SHOWN:
            yield f"... and {len(self.words) - MOST_WORDS_SHOWN:,} more"

    def __repr__(self) -> str:
        return (
            f"UnknownWords(words={len(self.words)}, occurrences={self.occurrences},"
            f" texts={self.texts}, texts_with_unknown={self.texts_with_unknown},"
            f" tokens={self.tokens})"
        )


_MOST_REMEMBERED, _LONGEST_REMEMBERED = 100_000, 100  # chunks, and their characters


# an unknown word, and where it starts and ends in its chunk, in code points
_Found = tuple[str, int, int]


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

    Cost: that of encoding the texts, and for each new chunk with an unknown word O(its code
    points).
    """
    if isinstance(texts, str):
        raise InputTypeError(
            "find_unknown takes texts, an iterable of str, not one str; pass a list", value=texts
        )
    if positions < 0:
        raise InputError(f"positions is the number of places to keep of each word, not {positions}")
    if not hasattr(tokenizer, "wordpiece_tokenizer"):
        raise InputTypeError(
            "find_unknown looks into BertTokenizer and its relatives, not"
            f" {type(tokenizer).__name__}",
            value=tokenizer,
        )
    search = _Search(tokenizer)
    encode = tokenizer.text_encoder.ids
    places: dict[str, list[tuple[int, int, int]]] = {}
    counts: Counter[str] = Counter()
    read = tokens = with_unknown = 0
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputTypeError(
                f"text {index} is a {type(text).__name__}, not a str: {text!r:.60}", value=text
            )
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
        # in a Counter, the first of equals is first
        UnknownWord(word, count, *search.why(word), tuple(places[word]))
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
            if word != self._unk_token and self._unk_token_id in self._encoder.ids_of_tokens(
                pieces
            ):
                following = words[number][2][0] if number < len(words) else len(chunk)
                # a mark that is taken off the word
                while end < following and unicodedata.combining(chunk[end]):
                    end += 1
                found.append((word, start, end))
        return found

    # ---- why it is unknown -----------------------------------------------------------------------

    def why(self, word: str) -> tuple[Reason, tuple[str, ...]]:
        """Why a word is unknown, and what is to blame: characters, or the entry that would carry it
        on.
        """
        if len(word) > self._wordpiece.max_input_chars_per_word:
            return "too-long", ()
        prefix = self._wordpiece.continuing_subword_prefix
        if self._known is None:
            entries = [entry for entry in self._wordpiece.vocab if entry not in self._special]
            inside = [entry[len(prefix) :] for entry in entries if entry.startswith(prefix)]
            fronts = (entry for entry in entries if not entry.startswith(prefix))
            self._known = frozenset("".join(fronts)), frozenset("".join(inside))
        characters = tuple(
            dict.fromkeys(char for char in word if not any(char in known for known in self._known))
        )
        if characters:
            return "unknown-character", characters
        return "no-piece", (self._missing_entry(word, prefix),)

    def _missing_entry(self, word: str, prefix: str) -> str:
        """The shortest entry that would carry the longest match on; the word itself where it is
        never split.
        """
        start, marked = 0, ""
        while start < len(word):
            ends = range(len(word), start, -1)
            end = next(
                (end for end in ends if marked + word[start:end] in self._wordpiece.vocab), None
            )
            if end is None:
                return marked + word[start]
            start, marked = end, prefix
        return word
