"""What `suggest_tokens` returns: attributes, JSON and text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from trietok.showing.characters import cut_to, number_of
from trietok.showing.report import Report, Table
from trietok.workbench.suggesting.adding_words import (
    ChangedUnit,
)

HEAD_OF_SUGGESTIONS = ("word", "frequency", "tokens saved", "now")
SAVED_ALREADY = "what it would save, the suggestions before it save"
_MOST_SHOWN = 20
_WIDEST = 40  # columns of an unknown word, which may be as long as a text


class Suggestion(NamedTuple):
    """A word worth a token of its own.

    Attributes:
        word: the word, or the phrase, as it is to be added.
        frequency: how often it stands in the texts; for `"single-word"`, where nothing touches it.
        pieces: its tokens now.
        tokens_saved: what adding this word alone saves: (pieces − 1) × frequency.
        is_unknown: whether it is unknown now; then nothing is saved, and `frequency` unknown tokens
            go. Of a phrase, whether it holds an unknown word.
        score: what it is ranked by: `tokens_saved`, and `unknown_weight` for each unknown token
            that goes. Where phrases are suggested too, what it saves beyond the suggestions before
            it.
    """

    word: str
    frequency: int
    pieces: list[str]
    tokens_saved: int
    is_unknown: bool
    score: float


class Milestone(NamedTuple):
    """What adding the first suggestions comes to, all of them together.

    Attributes:
        suggestions: how many are added.
        tokens: the tokens of all texts then.
        unknown: the unknown ones among them.
        coverage: the share of the tokens beyond one for each word that are saved, and of the
            unknown tokens that are gone: (extra and unknown tokens that go) / (those there are
            now). 1.0 where there were none; phrases, which make one token of several words, may
            take it beyond 1.
    """

    suggestions: int
    tokens: int
    unknown: int
    coverage: float


class LeftOut(NamedTuple):
    """A word that was worth adding, and why it is no suggestion."""

    word: str
    frequency: int
    reason: str


def unknown_become(before: int, after: int) -> str:
    """What becomes of so many unknown tokens, to read."""
    return (
        f"{number_of(before, 'unknown token')} {'becomes' if before == 1 else 'become'} {after:,}"
    )


@dataclass(frozen=True)
class Suggestions(Report):
    """Words to add to a tokenizer, the most useful first, and what that comes to. `str` makes it
    readable.

    Tokens are counted without [CLS], [SEP] and the like.

    Attributes:
        suggestions: the words.
        adding: how they are to be added, `"wordpiece"` or `"single-word"`.
        fingerprint: that of the tokenizer they are for.
        texts: how many texts were read.
        words: how many words, or chunks between spaces for `"single-word"`, were counted in them.
        tokens_before, tokens_after: the tokens of all texts now, and with all suggestions added.
        unknown_before, unknown_after: the unknown ones among them.
        unknown: every word that becomes the unknown token now → its frequency, the most frequent
            first; also those that are not suggested.
        most: the limit that was given; the report shows as many unknown words at most.
        milestones: the same for the first 50, 100, 500 and all.
        changed: other words, or chunks, of the texts that get other tokens once all is added.
        left_out: words that would have been suggested but for what they would do to others, or that
            cannot be added; where phrases are suggested, also those that would save next to nothing
            beside the suggestions before them.
        frequency_missed: `min_frequency`, if words are worth a token and none of them occurs so
            often; else 0.
        forgotten: of the words counted, how many were forgotten to save memory.
        lost_at_most: how much too low a count may be for that.
    """

    suggestions: list[Suggestion]
    adding: str
    fingerprint: str
    texts: int
    words: int
    tokens_before: int
    tokens_after: int
    unknown_before: int
    unknown_after: int
    unknown: dict[str, int]
    most: int
    milestones: list[Milestone]
    changed: list[ChangedUnit]
    left_out: list[LeftOut]
    frequency_missed: int
    forgotten: int
    lost_at_most: int

    @property
    def mean_before(self) -> float:
        """Tokens of a text, on average, now."""
        return self.tokens_before / self.texts

    @property
    def mean_after(self) -> float:
        """Tokens of a text, on average, with all suggestions added."""
        return self.tokens_after / self.texts

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        means = {"mean_before": self.mean_before, "mean_after": self.mean_after}
        return {**super().to_dict(), **means}

    def summary(self) -> list[str]:
        """What adding all of them comes to, in a few lines."""
        if not self.suggestions:
            lines = [
                f"nothing to suggest: {number_of(self.texts, 'text')},"
                f" {number_of(self.tokens_before, 'token')}"
            ]
            if self.frequency_missed:
                lines[0] += (
                    f"; a word has to occur {self.frequency_missed:,} times (min_frequency,"
                    " --min-frequency)"
                )
        else:
            lines = [
                f"{number_of(len(self.suggestions), 'suggestion')} from"
                f" {number_of(self.texts, 'text')}: {self.mean_before:.2f} tokens a text become"
                f" {self.mean_after:.2f}, {unknown_become(self.unknown_before, self.unknown_after)}"
            ]
            lines += [
                f"the first {step.suggestions:,}: {step.tokens / self.texts:.2f} tokens a text,"
                f" {step.unknown:,} unknown; {step.coverage:.1%} of the extra tokens of split or"
                " unknown words avoided"
                for step in self.milestones
            ]
        if self.changed:
            occurrences = sum(change.frequency for change in self.changed)
            what = "other word" if self.adding == "wordpiece" else "other chunk"
            lines.append(
                f"{number_of(len(self.changed), what)} would be split differently "
                f"({number_of(occurrences, 'occurrence')})"
            )
        already = sum(each.reason == SAVED_ALREADY for each in self.left_out)
        if len(self.left_out) > already:
            lines.append(
                f"{number_of(len(self.left_out) - already, 'word')} left out for what they would do"
                " to others"
            )
        if already:
            lines.append(
                f"{number_of(already, 'word')} left out since other suggestions save the same"
                " tokens"
            )
        if self.forgotten:
            lines.append(
                f"{self.forgotten:,} of {self.words:,} words were forgotten to save memory; a count"
                f" may be {self.lost_at_most:,} too low"
            )
        return lines

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A row for each suggestion, a cell for each of `HEAD_OF_SUGGESTIONS`."""
        return [
            (each.word, f"{each.frequency:,}", f"{each.tokens_saved:,}", " ".join(each.pieces))
            for each in self.suggestions
        ]

    def _parts(self) -> Iterator[str | Table]:
        yield from self.summary()
        if self.suggestions:
            yield Table(HEAD_OF_SUGGESTIONS, self.rows()[:_MOST_SHOWN], right=(1, 2), mono=(3,))
        if len(self.suggestions) > _MOST_SHOWN:
            yield f"... and {len(self.suggestions) - _MOST_SHOWN:,} more"
        yield from self.unknown_parts()

    def unknown_parts(self) -> Iterator[str | Table]:
        """The section of the report about the unknown words; nothing where there are none."""
        if not self.unknown:
            return
        yield f"{number_of(len(self.unknown), 'unknown word')} in the texts"
        shown = list(self.unknown.items())[: min(self.most, _MOST_SHOWN)]
        rows = [(cut_to(word, _WIDEST), f"{frequency:,}") for word, frequency in shown]
        yield Table(("unknown word", "frequency"), rows, right=(1,))
        if len(self.unknown) > len(shown):
            yield f"... and {len(self.unknown) - len(shown):,} more"
