"""The tokens of a text and of a row of ids, each with why it is one.

In: the tokens with their spans, and the trace of the text. Out: a `Token` for each, made when it is looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from trietok.explaining.lazy import Lazy
from trietok.explaining.trace import Trace
from trietok.explaining.values import AddedMatch, Found, Match, Rejected, Token, TokenKind, Unknown
from trietok.text.alignment import Located
from trietok.text.stages import Stages
from trietok.text.vocabulary import Vocabulary
from trietok.text.watch import Rejected as RejectedPlace
from trietok.text.word_characters import touches_word
from trietok.text.wordpiece import WordpieceTokenizer


class Entries:
    """The entries of a vocabulary that WordPiece may use.

    Args:
        wordpiece: looks them up.
        vocabulary: the vocabulary of the tokenizer, whose trie is used if it holds those entries.
    """

    def __init__(self, wordpiece: WordpieceTokenizer, vocabulary: Vocabulary) -> None:
        self._entries: Mapping[str, Any] = wordpiece.vocab
        is_own = self._entries is vocabulary.token_to_id or self._entries.keys() <= vocabulary.token_to_id.keys()
        self._vocabulary = vocabulary if is_own else Vocabulary(list(self._entries))
        self._prefix = wordpiece.continuing_subword_prefix

    def left(self, word: str, at: int) -> str:
        """What is left of a word from a character on, as it is looked up."""
        return self._prefix + word[at:] if at else word

    def match(self, word: str, at: int) -> Match:
        """The entries that begin what is left of a word, and how far any goes."""
        left = self.left(word, at)
        found, reached = self._vocabulary.walk(left)
        shortest = len(self._prefix) if at else 0
        entries = tuple(entry for entry in found if len(entry) > shortest and entry in self._entries)
        return Match(left, entries, reached, left[reached : reached + 1])

    def length(self, entry: str, at: int) -> int:
        """How many characters of a word an entry covers that stands at a character of it."""
        return len(entry) - (len(self._prefix) if at else 0)


class TextTokens(Lazy[Token]):
    """The tokens of one text, those that truncation removed among them.

    Args:
        number: 0 or 1, which text of a pair it is.
        text: the text.
        located: its tokens.
        trace: what happened to it.
        stages: what it went through.
        entries: the entries of the vocabulary.
        window: which tokens the first row of ids holds, half-open.
        type_id: their token type id.
    """

    def __init__(
        self,
        number: int,
        text: str,
        located: Located,
        trace: Trace,
        stages: Stages,
        entries: Entries,
        window: tuple[int, int],
        type_id: int,
    ) -> None:
        self._number = number
        self._text = text
        self._located = located
        self._trace = trace
        self._stages = stages
        self._entries = entries
        self._window = window
        self._type_id = type_id
        self._rejected = sorted(each for found in trace.rejected.values() for each in found)
        self._rejected_starts = [start for start, _, _ in self._rejected]

    def __len__(self) -> int:
        return len(self._located.ids)

    @property
    def places(self) -> Sequence[tuple[int, int, str]]:
        """Start, end and token of each, without the reasons."""
        located, trace = self._located, self._trace
        columns = zip(located.spans, located.tokens, trace.word_of, strict=True)
        return [
            (start, end, trace.words[number] if number in trace.added else token)
            for (start, end), token, number in columns
        ]

    def has_entry(self, entry: str) -> bool:
        """Whether WordPiece has an entry."""
        return entry in self._stages.wordpiece.vocab

    def item(self, index: int) -> Token:
        located, trace = self._located, self._trace
        word, (start, end) = located.words[index], located.spans[index]
        number = self._word_of(index)
        values: dict[str, Any] = self._reasons(index, number)
        at = trace.at[index]
        return Token(
            token=trace.words[number] if values["kind"] == "added" else located.tokens[index],
            id=located.ids[index],
            text=self._number,
            position=index,
            start=start,
            end=end,
            source=self._text[start:end],
            type_id=self._type_id,
            word=word,
            word_text=trace.words[number],
            cut=trace.cuts[number] if not at else None,
            rejected=tuple(self._rejected_at(start, end)),
            is_truncated=not self._window[0] <= index < self._window[1],
            **values,
        )

    def _word_of(self, index: int) -> int:
        """The number that the trace has for the word of a token."""
        return self._trace.word_of[index]

    def _reasons(self, index: int, number: int) -> dict[str, Any]:
        """The kind of a token, and what is known of that kind."""
        trace, token = self._trace, self._located.tokens[index]
        word = trace.words[number]
        if number in trace.added:
            return {"kind": "added", "added": self._added(number, *self._located.spans[index])}
        kind: TokenKind = "wordpiece"
        if number in trace.unknown:
            return {"kind": "unknown", "unknown": self._unknown(word, trace.unknown[number])}
        if number in trace.kept and token not in self._stages.wordpiece.vocab:
            kind = "kept"
            if token not in self._stages.added.encoder:
                start, end = self._located.spans[index]
                return {"kind": "unknown", "unknown": Unknown("not-an-entry", (), word, start, end, 0)}
            return {"kind": kind}
        return {"kind": kind, "match": self._entries.match(word, trace.at[index])}

    def _unknown(self, word: str, places: Sequence[tuple[int, int]]) -> Unknown:
        wordpiece = self._stages.wordpiece
        if len(word) > wordpiece.max_input_chars_per_word:
            return Unknown("too-long", (), word, places[0][0], places[-1][1], 0)
        covered: list[str] = []
        at = 0
        while True:
            match = self._entries.match(word, at)
            if not match.entries:
                break
            covered.append(match.entries[-1])
            at += self._entries.length(match.entries[-1], at)
        return Unknown("no-piece", tuple(covered), match.left, *places[at], match.reached, word[at])

    def _added(self, number: int, start: int, end: int) -> AddedMatch:
        content = self._trace.words[number]
        token = self._stages.added.token(content)
        assert token is not None  # it has been found
        return AddedMatch(
            content,
            token.single_word,
            token.lstrip,
            token.rstrip,
            token.normalized,
            token.special,
            *self._trace.added[number],
            _touching(self._text, start, end),
        )

    def _rejected_at(self, start: int, end: int) -> list[Rejected]:
        """The rejected added tokens that overlap a span."""
        if not self._rejected:
            return []
        last = bisect_left(self._rejected_starts, end)
        first = last
        while first > 0 and self._rejected[first - 1][1] > start:  # they are disjoint, and in order
            first -= 1
        return [_rejected(self._text, each) for each in self._rejected[first:last]]


class Finds(Lazy[Found]):
    """The added tokens that a stage cut out.

    Args:
        places: where they stand.
    """

    def __init__(self, places: Sequence[RejectedPlace]) -> None:
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def item(self, index: int) -> Found:
        start, end, content = self._places[index]
        return Found(content, start, end)


class Rejections(Lazy[Rejected]):
    """The added tokens that `single_word` rejected in a text.

    Args:
        text: the text.
        found: where they stand.
    """

    def __init__(self, text: str, found: Sequence[RejectedPlace]) -> None:
        self._text = text
        self._found = found

    def __len__(self) -> int:
        return len(self._found)

    def item(self, index: int) -> Rejected:
        return _rejected(self._text, self._found[index])


def _rejected(text: str, place: RejectedPlace) -> Rejected:
    start, end, content = place
    return Rejected(content, start, end, _touching(text, start, end))


def _touching(text: str, start: int, end: int) -> tuple[str, str]:
    """The word characters right before and right after a stretch; `""` for what is none."""
    before, after = (text[place] if touches_word(text, place) else "" for place in (start - 1, end))
    return before, after


class RowTokens(Lazy[Token]):
    """Stretches of tokens in a row: those of a row of ids, or those that truncation removed.

    Args:
        stretches: sequences of tokens.
    """

    def __init__(self, stretches: Sequence[tuple[Sequence[Token], int, int]]) -> None:
        self._stretches = [stretch for stretch in stretches if stretch[2] > stretch[1]]
        self._ends = list(accumulate(end - start for _, start, end in self._stretches))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def specials(self) -> list[Token]:
        """The special tokens of the template, in order."""
        return [tokens[start] for tokens, start, _ in self._stretches if tokens[start].kind == "special"]

    @property
    def padding(self) -> tuple[Token, int, bool] | None:
        """The padding token, how many there are, and whether they stand before the texts; None for a row without."""
        for number, (tokens, start, end) in enumerate(self._stretches):
            if isinstance(tokens, Same):
                return tokens[start], end - start, number == 0
        return None

    def item(self, index: int) -> Token:
        number = bisect_right(self._ends, index)
        tokens, _, end = self._stretches[number]
        return tokens[end - (self._ends[number] - index)]


class Same(Lazy[Token]):
    """One token many times, such as padding."""

    def __init__(self, token: Token, count: int) -> None:
        self._token = token
        self._count = count

    def __len__(self) -> int:
        return self._count

    def item(self, index: int) -> Token:
        return self._token
