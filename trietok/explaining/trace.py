"""The trace of a text: what each stage told while the text went through it, and where and why it
was cut.

In: what the stages tell (`Watch`). Out: columns, of which `tokens` makes values when somebody looks
at them.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from trietok.explaining.values import (
    Changes,
    Cut,
    differences,
)
from trietok.showing.characters import described, visible
from trietok.text.aligned import AlignedText, RejectedMatch, StageName, Watch
from trietok.text.pipeline import Pipeline

_WORD_STAGES = ("words", "whitespace", "punctuation", "wordpiece")
_NOWHERE = [-1]
_BEGIN = Cut("", "the text begins here")

Places = list[tuple[int, int]]  # where each character of a word begins and ends in the original


class Trace(Watch):
    """What happens to a text, or to words that are given as texts of their own, while the stages
    cut it into tokens.

    The stages tell the trace what they do. Everything is kept in columns: a text may have millions
    of words.
    """

    def __init__(self, stages: Pipeline) -> None:
        self._stages = stages
        self._text = ""
        self._base = 0  # where the text begins in what is explained
        order = stages.order  # a tokenizer.json may have a stage in several places
        self.changes = [Changes(stage) for stage in order]
        self._gave = [io.StringIO(newline="") for _ in order]
        self._places: dict[str, list[int]] = {
            stage: [place for place, each in enumerate(order) if each == stage] for stage in order
        }
        self._by_words = next(
            (place for place, stage in enumerate(order) if stage in _WORD_STAGES), len(order)
        )
        # of a tokenizer.json, other than BERT's
        self._has_pre_tokenizer = order[-2:] == (
            "words",
            "wordpiece",
        )
        self.words: list[str] = []  # each as WordPiece was given it; of an added token, its content
        self.cuts: list[Cut] = []  # why the text is cut before each word or added token
        self.at = array("q")  # for each token, where it begins in its word
        self.word_of = array("q")  # for each token, the number of its word
        # word → what `lstrip` and `rstrip` ate left and right of it
        self.added: dict[int, tuple[str, str]] = {}
        self.kept: set[int] = set()  # the words that are never split
        # word → its characters' places, where it became the unknown token
        self.unknown: dict[int, Places] = {}
        # stage → the added tokens that `single_word` rejected
        self.rejected: dict[str, list[RejectedMatch]] = {}
        self.found: dict[str, list[RejectedMatch]] = {}  # stage → the added tokens that it cut out
        self._begun = 0  # how many words there were before the text
        self._position = 0  # where in the text the part before has ended
        self._last_token = -1  # the word that is the added token before
        self._is_right_behind = False  # whether no word has followed it
        self._is_first = True  # whether no word of the part has come yet
        self._word_end = 0  # where in the part the word before ends
        self._pending: Cut | None = None  # the cut before the next word between whitespace
        self._is_kept = False
        self._last = len(order) - 1  # the place of WordPiece
        self._prefix = len(stages.wordpiece.continuing_subword_prefix)

    def gave(self, place: int) -> str:
        """The text after the stage in a place; from the cut into words on, a space stands between
        two.
        """
        return self._gave[place].getvalue()[:-1]

    def begin(self, text: str) -> None:
        """A text is about to go through the stages; of several, a space stands between one and the
        next.
        """
        self._text = text
        self._position, self._last_token = 0, -1
        self._is_right_behind, self._is_first, self._is_kept = False, True, False
        self._begun = len(self.words)

    def end(self) -> None:
        """The text has gone through them."""
        self._eaten_before(len(self._text), "")
        self._base += len(self._text) + 1
        for out in self._gave[: self._by_words]:
            out.write(" ")

    # ---- what the stages tell --------------------------------------------------------------------

    def changed(self, stage: StageName, before: AlignedText, after: AlignedText) -> None:
        if stage == "clean":
            self._cleaned(before, after)
        elif (place := self._place(stage)) >= 0:
            add = self.changes[place].add
            for start, end, old, new, _ in differences(before, after):
                add(self._base + start, self._base + end, old, new)
            self._write(place, after.text)

    def _cleaned(self, before: AlignedText, after: AlignedText) -> None:
        """Note what cleaning changed, and what Chinese spacing did, which is made in the same
        pass.
        """
        found = list(differences(before, after))
        spaced = [each for each in found if each[3] == f" {each[2]} "]
        middle = before.text
        if len(spaced) < len(found):
            pieces: list[str] = []
            position = 0
            for _, _, old, new, place in found:
                if new != f" {old} ":
                    pieces += before.text[position:place], new
                    position = place + len(old)
            middle = "".join([*pieces, before.text[position:]])
        by_stage: tuple[tuple[StageName, list[Any], str], ...] = (
            ("clean", found, middle),
            ("chinese", spaced, after.text),
        )
        for stage, changes, text in by_stage:
            if (where := self._place(stage)) >= 0:
                is_chinese = stage == "chinese"
                for start, end, old, new, _ in changes:
                    if (new == f" {old} ") is is_chinese:
                        self.changes[where].add(self._base + start, self._base + end, old, new)
                self._write(where, text)

    def cut(self, stage: StageName, whole: AlignedText, rejected: Sequence[RejectedMatch]) -> None:
        for start, end, content in rejected:
            first, last = whole.span(start, end)
            self.rejected.setdefault(stage, []).append(
                (self._base + first, self._base + last, content)
            )

    def token(self, stage: StageName, part: AlignedText, content: str) -> None:
        start, end = part.span(0, len(part.text))
        left, right = self._taken_along(part, content)
        if stage == "added-tokens":
            left = self._eaten_before(start, content) + left
            self._position = end
        self.cuts.append(_cut("added-tokens", content) if len(self.words) > self._begun else _BEGIN)
        self.found.setdefault(stage, []).append((self._base + start, self._base + end, content))
        self.added[len(self.words)] = left, right
        self._last_token = len(self.words)
        self._is_right_behind = True
        self.word_of.append(len(self.words))
        self.at.append(0)
        self.words.append(content)
        for place in range(self._place(stage), len(self._gave)):
            self._write(place, content if place >= self._by_words else part.text)

    def between(self, stage: StageName, part: AlignedText) -> None:
        if stage == "added-tokens":
            self._eaten_before(part.starts[0], "")
            self._position = part.ends[-1]
        self._is_first = True
        self._word_end = 0
        self._write(self._place(stage), part.text)

    def split(self, cleaned: AlignedText, start: int, end: int, is_kept: bool) -> None:
        self._pending = self._cut_before(cleaned, start, end)
        self._is_kept = is_kept
        self._write(self._place("whitespace"), cleaned.text[start:end])

    def analyzed(self, text: AlignedText, start: int, end: int) -> None:
        is_first = self._is_first and len(self.words) == self._begun
        self._pending = _BEGIN if is_first else _cut("words", text.text[start:end])
        self._has_pre_tokenizer = False
        self._write(self._place("words"), text.text[start:end])

    def word(self, text: AlignedText, start: int, end: int, pieces: Sequence[str]) -> None:
        number = len(self.words)
        self.cuts.append(self._pending or self._cut_before(text, start, end))
        self._pending, self._is_first, self._is_right_behind = None, False, False
        word = text.text[start:end]
        self.words.append(word)
        if self._is_kept:
            self.kept.add(number)
        at = 0
        for piece in pieces:
            self.at.append(at)
            self.word_of.append(number)
            at += len(piece) - (self._prefix if at else 0)
        wordpiece = self._stages.wordpiece
        if len(pieces) == 1 and (
            pieces[0] != word or (word == wordpiece.unk_token and word not in wordpiece.vocab)
        ):
            places = zip(text.starts[start:end], text.ends[start:end], strict=True)
            self.unknown[number] = [
                (self._base + first, self._base + last) for first, last in places
            ]
        self._word_end = end
        self._write(self._place("words" if self._has_pre_tokenizer else "punctuation"), word)
        for piece in pieces:
            self._write(self._last, piece)

    # ---- whitespace that added tokens eat --------------------------------------------------------

    def _eaten_before(self, start: int, content: str) -> str:
        """Note what is gone between the part before and the one at `start`; return what its
        `lstrip` has eaten.

        Only the slow profile leaves such gaps.
        """
        gap = self._text[self._position : start]
        if not gap:
            return ""
        added = self._stages.added
        if self._is_right_behind:
            before = added.token(self.words[self._last_token])
            if before is not None and before.rstrip:
                left, right = self.added[self._last_token]
                self.added[self._last_token] = left, right + gap
                return ""
        token = added.token(content)
        return gap if token is not None and token.lstrip else ""

    def _taken_along(self, part: AlignedText, content: str) -> tuple[str, str]:
        """The whitespace of the original that is part of the token, as in the fast profile."""
        text = part.text
        if len(text) <= len(content) and text.strip() == text:
            return "", ""
        left = 0 if content.isspace() else max(_leading(text) - _leading(content), 0)
        right = max(_leading(text[::-1]) - _leading(content[::-1]), 0)
        start, end = part.span(0, len(text))
        return (
            self._text[start : part.starts[left]] if left else "",
            self._text[part.ends[len(text) - right - 1] : end] if right else "",
        )

    # ---- cuts ------------------------------------------------------------------------------------

    def _cut_before(self, text: AlignedText, start: int, end: int) -> Cut:
        before = text.text[start - 1] if start else ""
        if self._has_pre_tokenizer and not self._is_first:
            gap = text.text[self._word_end : start]
            if gap and not gap.isspace():
                return _cut("out", gap)
            if not gap:
                return _cut("between", f"{before}{text.text[start]}")
        if before.isspace():
            origin = self._text[text.starts[start - 1] : text.ends[start - 1]]
            if origin.isspace():
                return _cut("whitespace", origin)
        if self._is_first:
            return _BEGIN if len(self.words) == self._begun else _cut("after", self.words[-1])
        if before.isspace():
            return _cut("chinese", origin)
        char = text.text[start]
        table = self._stages.punctuation
        for sign in (char, before):
            if sign and sign.translate(table) != sign:
                return _cut("punctuation", sign)
        return _cut("whitespace", "")

    def _place(self, stage: StageName) -> int:
        """The place of a stage; of one in several places the next, since they tell in turn. -1
        where it is in none.
        """
        places = self._places.get(stage, _NOWHERE)
        if len(places) > 1:
            places.append(places.pop(0))
            return places[-1]
        return places[0]

    def _write(self, place: int, text: str) -> None:
        if place >= 0:
            self._gave[place].write(f"{text} " if place >= self._by_words else text)


@lru_cache(4096)  # a long text shares the objects of its cuts
def _cut(rule: str, what: str) -> Cut:
    """The cut by a rule, at some characters."""
    match rule:
        case "added-tokens":
            return Cut(rule, "an added token is a word of its own")
        case "after":
            return Cut("added-tokens", f"the added token {visible(what)} ends here")
        case "chinese":
            return Cut(rule, f"a space is put on either side of {described(what[0])}")
        case "out":
            return Cut("words", f"the pre-tokenizer of tokenizer.json takes “{visible(what)}” out")
        case "between":
            before, behind = map(visible, what)
            return Cut(
                "words",
                f"the pre-tokenizer of tokenizer.json cuts between “{before}” and “{behind}”",
            )
        case "words":
            return Cut(rule, f"the analyzer begins the word {visible(what)} here")
        case "punctuation":
            return Cut(rule, f"{described(what)} is punctuation, a word of its own")
    return Cut("whitespace", f"split at {described(what[-1])}" if what else "split at whitespace")


def _leading(text: str) -> int:
    """How much whitespace a text begins with."""
    return len(text) - len(text.lstrip())
