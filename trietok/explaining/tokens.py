"""The tokens of a text and of a row of ids, each with why it is one; and what the stages did to the
text.

In: the trace of a text, and its tokens as the call has them. Out: values that are made when they
are looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from trietok.explaining.trace import Trace
from trietok.explaining.values import (
    TITLES,
    AddedMatch,
    Change,
    Changes,
    ExplainedToken,
    Found,
    Lazy,
    Match,
    Rejected,
    Unknown,
    Value,
)
from trietok.inputs.truncation import Window
from trietok.text.aligned import RejectedMatch
from trietok.text.pipeline import Located, Pipeline
from trietok.text.unicode import touches_word
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer

_MATCHING = ("tokenize", "pieces_of", "match_word")  # the methods by which a word becomes pieces


class Entries:
    """The entries that WordPiece may use; the trie of the tokenizer's vocabulary is used if it
    holds them all.
    """

    def __init__(self, wordpiece: WordpieceTokenizer, vocabulary: Vocabulary) -> None:
        self._entries: Mapping[str, Any] = wordpiece.vocab
        is_own = (
            self._entries is vocabulary.token_to_id
            or self._entries.keys() <= vocabulary.token_to_id.keys()
        )
        self._vocabulary = vocabulary if is_own else Vocabulary(list(self._entries))
        self._prefix = wordpiece.continuing_subword_prefix

    def match(self, word: str, at: int) -> Match:
        """The entries that begin what is left of a word, and how far any goes."""
        left = self._prefix + word[at:] if at else word  # as it is looked up
        found, reached = self._vocabulary.walk(left)
        shortest = len(self._prefix) if at else 0
        entries = tuple(
            entry for entry in found if len(entry) > shortest and entry in self._entries
        )
        return Match(left, entries, reached, left[reached : reached + 1])


@dataclass(eq=False, repr=False)
class TextTokens(Lazy[ExplainedToken]):
    """The tokens of one text, those that truncation removed among them."""

    _number: int  # 0 or 1, which text of a pair it is
    _text: str
    _located: Located
    _trace: Trace
    _stages: Pipeline
    _entries: Entries
    _window: Window  # which tokens the first row of ids holds
    _type_id: int  # theirs

    def __post_init__(self) -> None:
        self._rejected = sorted(each for found in self._trace.rejected.values() for each in found)
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

    @property
    def words(self) -> tuple[int, int]:
        """How many words they are of, and how many of these are unknown; a text may have the
        unknown token written.
        """
        wordpiece, words = self._stages.wordpiece, self._trace.words
        written = sum(words[number] == wordpiece.unk_token for number in self._trace.added)
        return (
            len(words),
            self._located.ids.count(wordpiece.vocab.get(wordpiece.unk_token, -1)) - written,
        )

    def searched(self, word: str) -> list[tuple[int, Match]]:
        """How WordPiece searches a word for pieces, and how far each piece reaches; the last search
        may be in vain.
        """
        found: list[tuple[int, Match]] = []
        at = 0
        while at < len(word) and (not found or found[-1][1].entries):
            match = self._entries.match(word, at)
            prefix = len(match.left) - len(word) + at
            at += len(match.entries[-1]) - prefix if match.entries else 0
            found.append((at, match))
        return found

    @property
    def has_own_matcher(self) -> bool:
        """Whether words are cut into pieces by a method of the user's own, whose reasons are not
        known.
        """
        return self._stages.wordpiece.overrides(*_MATCHING)

    def has_entry(self, entry: str) -> bool:
        """Whether WordPiece has an entry."""
        return entry in self._stages.wordpiece.vocab

    def item(self, index: int) -> ExplainedToken:
        located, trace = self._located, self._trace
        word, (start, end) = located.words[index], located.spans[index]
        number = trace.word_of[index]
        values: dict[str, Any] = self._reasons(index, number)
        at = trace.at[index]
        return ExplainedToken(
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

    def _reasons(self, index: int, number: int) -> dict[str, Any]:
        """The kind of a token, whose word has a number, and what is known of that kind."""
        trace, token, span = self._trace, self._located.tokens[index], self._located.spans[index]
        word = trace.words[number]
        if number in trace.added:
            return {"kind": "added", "added": self._added(number, *span)}
        if self.has_own_matcher and number not in trace.kept:
            return {"kind": "unknown" if token == self._stages.wordpiece.unk_token else "wordpiece"}
        if number in trace.unknown:
            return {"kind": "unknown", "unknown": self._unknown(word, trace.unknown[number])}
        if number not in trace.kept or token in self._stages.wordpiece.vocab:
            return {"kind": "wordpiece", "match": self._entries.match(word, trace.at[index])}
        if token in self._stages.added.encoder:
            return {"kind": "kept"}
        return {"kind": "unknown", "unknown": Unknown("not-an-entry", (), word, *span, 0)}

    def _unknown(self, word: str, places: Sequence[tuple[int, int]]) -> Unknown:
        wordpiece = self._stages.wordpiece
        if len(word) > wordpiece.max_input_chars_per_word:
            return Unknown("too-long", (), word, places[0][0], places[-1][1], 0)
        *found, (_, last) = self.searched(word)
        covered, at = tuple(match.entries[-1] for _, match in found), found[-1][0] if found else 0
        return Unknown("no-piece", covered, last.left, *places[at], last.reached, word[at])

    def _added(self, number: int, start: int, end: int) -> AddedMatch:
        content = self._trace.words[number]
        token = self._stages.added.token(content)
        assert token is not None  # it has been found
        flags = token.single_word, token.lstrip, token.rstrip, token.normalized, token.special
        return AddedMatch(
            content, *flags, *self._trace.added[number], _touching(self._text, start, end)
        )

    def _rejected_at(self, start: int, end: int) -> list[Rejected]:
        """The rejected added tokens that overlap a span."""
        if not self._rejected:
            return []
        last = bisect_left(self._rejected_starts, end)
        first = last
        while first > 0 and self._rejected[first - 1][1] > start:  # they are disjoint, and in order
            first -= 1
        return [rejected_at(self._text, each) for each in self._rejected[first:last]]


@dataclass(eq=False, repr=False)
class Made(Lazy[Value]):
    """What is known of added tokens, made of where they stand in a text."""

    _make: Callable[[str, RejectedMatch], Value]
    _text: str
    _places: Sequence[RejectedMatch]

    def __len__(self) -> int:
        return len(self._places)

    def item(self, index: int) -> Value:
        return self._make(self._text, self._places[index])


def found_at(text: str, place: RejectedMatch) -> Found:
    start, end, content = place
    return Found(content, start, end)


def rejected_at(text: str, place: RejectedMatch) -> Rejected:
    start, end, content = place
    return Rejected(content, start, end, _touching(text, start, end))


def _touching(text: str, start: int, end: int) -> tuple[str, str]:
    """The word characters right before and right after a stretch; `""` for what is none."""
    before, after = (text[place] if touches_word(text, place) else "" for place in (start - 1, end))
    return before, after


class RowTokens(Lazy[ExplainedToken]):
    """Stretches of tokens in a row: those of a row of ids, or those that truncation removed."""

    def __init__(self, stretches: Sequence[tuple[Sequence[ExplainedToken], int, int]]) -> None:
        self._stretches = [stretch for stretch in stretches if stretch[2] > stretch[1]]
        self._ends = list(accumulate(end - start for _, start, end in self._stretches))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def specials(self) -> list[ExplainedToken]:
        """The special tokens of the template, in order."""
        return [
            tokens[start] for tokens, start, _ in self._stretches if tokens[start].kind == "special"
        ]

    @property
    def padding(self) -> tuple[ExplainedToken, int, bool] | None:
        """The padding token, how many there are, and whether they stand before the texts; None for
        a row without.
        """
        for number, (tokens, start, end) in enumerate(self._stretches):
            if tokens[start].kind == "padding":
                return tokens[start], end - start, number == 0
        return None

    def item(self, index: int) -> ExplainedToken:
        number = bisect_right(self._ends, index)
        tokens, _, end = self._stretches[number]
        return tokens[end - (self._ends[number] - index)]


class Stage(NamedTuple):
    """What a stage did to a text.

    Attributes:
        name: such as `"clean"`; `docs/explaining.md` lists the names.
        given, gave: the text before the stage and after it. From the cut into words on, a space
            stands between two.
        changes: the characters that it deleted, changed or inserted.
        found, rejected: for a stage that looks for added tokens, those that it cut out, and those
            that `single_word` rejected.
    """

    name: str
    given: str
    gave: str
    changes: Changes
    found: Sequence[Found] = ()
    rejected: Sequence[Rejected] = ()

    @property
    def title(self) -> str:
        """The name to read."""
        return TITLES[self.name]

    @property
    def is_idle(self) -> bool:
        """Whether it left the text as it was."""
        return self.given == self.gave and not (self.changes or self.found or self.rejected)


class ExplainedText(NamedTuple):
    """One text of a call.

    Attributes:
        text: the text; words that were given one by one have a space between them.
        stages: the stages that it went through, in order.
        tokens: all its tokens, also those that truncation removed.
        window: which of them the first row of ids holds, half-open.
    """

    text: str
    stages: tuple[Stage, ...]
    tokens: TextTokens
    window: Window

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all stages, in their order."""
        return tuple(change for stage in self.stages for change in stage.changes)


class TruncatedTexts(NamedTuple):
    """How truncation cut the texts.

    Attributes:
        strategy: `"longest_first"`, `"only_first"`, `"only_second"` or `"do_not_truncate"`.
        max_length: how many tokens a row may have; None for any number.
        stride: how many tokens a row of what did not fit repeats.
        side: where a text is cut, on the `"right"` or `"left"`.
        removed: how many tokens of each text the first row does not hold.
    """

    strategy: str
    max_length: int | None
    stride: int
    side: str
    removed: tuple[int, ...]
