"""What a search for unknown words finds, and how it is shown.

In: words with counts and places. Out: `UnknownWords`, which is read as attributes, as JSON or as text.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from trietok.showing.lists import number_of

Reason = Literal["unknown-character", "no-piece", "too-long"]

HEAD = ("count", "word", "why", "first at")
MOST_SHOWN = 20  # words in a printed table
_WIDEST = 20  # characters of a word in it


@dataclasses.dataclass(frozen=True)
class UnknownWord:
    """A word that becomes the unknown token.

    Attributes:
        word: as WordPiece is given it: normalized, without the punctuation around it.
        count: how often it was met.
        reason: `"unknown-character"`: it holds a character that no entry of the vocabulary holds; `"no-piece"`: it
            holds none such, but the entries do not cover it; `"too-long"`: it has more characters than WordPiece tries.
        blame: the unknown characters; or, for `"no-piece"`, the shortest entry that would carry the match on from
            where it ends, such as `##x`; nothing for `"too-long"`.
        positions: of the first places, `(text, start, end)`: the number of the text from 0, and the span in it, half
            open, in code points of the text as it was given.
    """

    word: str
    count: int
    reason: Reason
    blame: tuple[str, ...]
    positions: tuple[tuple[int, int, int], ...]

    def to_dict(self) -> dict[str, Any]:
        """The attributes; all of it can be written as JSON."""
        return {
            "word": self.word,
            "count": self.count,
            "reason": self.reason,
            "blame": list(self.blame),
            "positions": [list(position) for position in self.positions],
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
class UnknownWords:
    """All that a search has found.

    Attributes:
        words: every `UnknownWord`, the most frequent first.
        texts: how many texts were read.
        texts_with_unknown: how many of them hold an unknown word.
        tokens: how many tokens they have, special tokens around them left out.

    >>> import trietok
    >>> found = trietok.BertTokenizer.from_pretrained("trietok-en").find_unknown(["☃☃ and ☃", "☕!"])
    >>> found
    UnknownWords(words=3, occurrences=3, texts=2, texts_with_unknown=2, tokens=5)
    >>> found.characters
    {'☃': 2, '☕': 1}
    """

    words: tuple[UnknownWord, ...]
    texts: int
    texts_with_unknown: int
    tokens: int

    @property
    def occurrences(self) -> int:
        """How often any unknown word was met."""
        return sum(word.count for word in self.words)

    @property
    def characters(self) -> dict[str, int]:
        """The unknown characters, each with how many occurrences of words it is to blame for, most first."""
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
            return f"no unknown words in {number_of(self.texts, 'text')} ({number_of(self.tokens, 'token')})"
        kinds = "1 unknown word" if len(self.words) == 1 else f"{len(self.words):,} kinds of unknown words"
        share = f"{self.occurrences / self.tokens:.2%} of {number_of(self.tokens, 'token')}"
        where = f"{self.texts_with_unknown:,} of {number_of(self.texts, 'text')}"
        return f"{kinds}, {number_of(self.occurrences, 'time')} in {where} ({share})"

    def to_dict(self) -> dict[str, Any]:
        """Everything; all of it can be written as JSON."""
        return {
            "texts": self.texts,
            "texts_with_unknown": self.texts_with_unknown,
            "tokens": self.tokens,
            "occurrences": self.occurrences,
            "characters": self.characters,
            "words": [word.to_dict() for word in self.words],
        }

    def to_json(self, **options: Any) -> str:
        """`to_dict` as JSON; the options are those of `json.dumps`.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> print(tokenizer.find_unknown(["a ☃"]).to_json())
        {"texts": 1, "texts_with_unknown": 1, "tokens": 2, "occurrences": 1, "characters": {"\\u2603": 1},
         "words": [{"word": "\\u2603", "count": 1, "reason": "unknown-character", "blame": ["\\u2603"],
         "positions": [[0, 2, 3]]}]}
        """
        return json.dumps(self.to_dict(), **options)

    def rows(self, most: int, name: Callable[[int], str] = str) -> Iterator[tuple[str, str, str, str]]:
        """Count, word, reason and places of each word, as text.

        Args:
            most: how many words.
            name: what to call a text by its number.
        """
        for word in self.words[:most]:
            places = " ".join(f"{name(text)}:{start}-{end}" for text, start, end in word.positions)
            yield f"{word.count:,}", _shortened(word.word), word.why, places

    def __str__(self) -> str:
        if not self.words:
            return self.summary
        rows = [HEAD, *self.rows(MOST_SHOWN)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            f"{count:>{widths[0]}}  {word:<{widths[1]}}  {why:<{widths[2]}}  {places}".rstrip()
            for count, word, why, places in rows
        ]
        left_out = len(self.words) - MOST_SHOWN
        return "\n".join([self.summary, *lines, *([f"... and {left_out:,} more"] if left_out > 0 else [])])

    def _repr_html_(self) -> str:
        from trietok.showing.html import fragment, heading, note, table  # only where somebody looks

        rows = [*self.rows(MOST_SHOWN)]
        left_out = len(self.words) - len(rows)
        parts = [heading("Unknown words"), note(self.summary, "bad" if self.words else "good")]
        parts += [table(HEAD, rows, right=(0,))] if rows else []
        return fragment(*parts, *([note(f"… and {left_out:,} more")] if left_out else []), label="Unknown words")

    def __repr__(self) -> str:
        return (
            f"UnknownWords(words={len(self.words)}, occurrences={self.occurrences}, texts={self.texts}, "
            f"texts_with_unknown={self.texts_with_unknown}, tokens={self.tokens})"
        )


def _shortened(word: str) -> str:
    return word if len(word) <= _WIDEST else word[: _WIDEST - 3] + "..."
