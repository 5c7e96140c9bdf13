"""`Trace`: keeps what the stages tell of a text while they cut it into tokens.

In: what a `Watch` is told. Out: the text after each stage, the changes of each, and for each word why the text is cut
before it. Everything is kept in columns: a text may have millions of words.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Sequence

from trietok.explaining.changes import Changes, differences
from trietok.explaining.values import Cut
from trietok.showing.characters import described, visible
from trietok.text.alignment import AlignedText
from trietok.text.stages import Stages
from trietok.text.watch import Rejected, StageName, Watch

_WORD_STAGES = ("words", "whitespace", "punctuation", "wordpiece")
_BEGIN = Cut("", "the text begins here")


Places = list[tuple[int, int]]  # where each character of a word begins and ends in the original


class Trace(Watch):
    """What happens to a text, or to words that are given as texts of their own.

    Args:
        stages: what the text goes through; they tell the trace what they do.

    Attributes:
        changes: stage → what it changed.
        words: the text of each word as WordPiece was given it; of an added token, its content.
        cuts: why the text is cut before each word or added token.
        at: for each token, where it begins in its word.
        word_of: for each token, the number of its word.
        added: word → what `lstrip` and `rstrip` ate left and right of the added token.
        kept: the words that are never split.
        unknown: word → its characters' places, for words that became the unknown token.
        found, rejected: stage → the added tokens that it cut out, and those that `single_word` rejected: start and end
            in the original, and content.
    """

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._text = ""
        self._base = 0  # where the text begins in what is explained
        order = stages.order
        self.changes: dict[str, Changes] = {stage: Changes(stage) for stage in order}
        self._gave: dict[str, io.StringIO] = {stage: io.StringIO(newline="") for stage in order}
        by_words = next((place for place, stage in enumerate(order) if stage in _WORD_STAGES), len(order))
        self._by_words = {*order[by_words:], *_WORD_STAGES}
        self.words: list[str] = []
        self.cuts: list[Cut] = []
        self.at = array("q")
        self.word_of = array("q")
        self.added: dict[int, tuple[str, str]] = {}
        self.kept: set[int] = set()
        self.unknown: dict[int, Places] = {}
        self.rejected: dict[str, list[Rejected]] = {}
        self.found: dict[str, list[Rejected]] = {}
        self._begun = 0  # how many words there were before the text
        self._position = 0  # where in the text the part before has ended
        self._last_token = -1  # the word that is the added token before
        self._is_right_behind = False  # whether no word has followed it
        self._is_first = True  # whether no word of the part has come yet
        self._pending: Cut | None = None  # the cut before the next word between whitespace
        self._is_kept = False
        self._prefix = len(stages.wordpiece.continuing_subword_prefix)
        self._reasons: dict[tuple[str, str], Cut] = {}

    def gave(self, stage: str) -> str:
        """The text after a stage; from the cut into words on, a space stands between two."""
        return self._gave[stage].getvalue()[:-1]

    def begin(self, text: str) -> None:
        """A text is about to go through the stages; of several, a space stands between one and the next."""
        self._text = text
        self._position, self._last_token = 0, -1
        self._is_right_behind, self._is_first, self._is_kept = False, True, False
        self._begun = len(self.words)

    def end(self) -> None:
        """The text has gone through them."""
        self._eaten_before(len(self._text), "")
        self._base += len(self._text) + 1
        for stage, out in self._gave.items():
            if stage not in self._by_words:
                out.write(" ")

    # ---- what the stages tell ---------------------------------------------------------------------------------------

    def changed(self, stage: StageName, before: AlignedText, after: AlignedText) -> None:
        if stage == "clean":
            self._cleaned(before, after)
        elif stage in self._gave:
            add = self.changes[stage].add
            for start, end, old, new, _ in differences(before, after):
                add(self._base + start, self._base + end, old, new)
            self._write(stage, after.text)

    def _cleaned(self, before: AlignedText, after: AlignedText) -> None:
        """Note what cleaning changed, and what Chinese spacing did, which is made in the same pass."""
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
        for stage, changes, text in (("clean", found, middle), ("chinese", spaced, after.text)):
            if stage in self._gave:
                is_chinese = stage == "chinese"
                for start, end, old, new, _ in changes:
                    if (new == f" {old} ") is is_chinese:
                        self.changes[stage].add(self._base + start, self._base + end, old, new)
                self._write(stage, text)

    def cut(self, stage: StageName, whole: AlignedText, rejected: Sequence[Rejected]) -> None:
        for start, end, content in rejected:
            first, last = whole.span(start, end)
            self.rejected.setdefault(stage, []).append((self._base + first, self._base + last, content))

    def token(self, stage: StageName, part: AlignedText, content: str) -> None:
        start, end = part.span(0, len(part.text))
        left, right = self._taken_along(part, content)
        if stage == "added-tokens":
            left = self._eaten_before(start, content) + left
            self._position = end
        self.cuts.append(self._reason("added-tokens", content) if len(self.words) > self._begun else _BEGIN)
        self.found.setdefault(stage, []).append((self._base + start, self._base + end, content))
        self.added[len(self.words)] = left, right
        self._last_token = len(self.words)
        self._is_right_behind = True
        self.word_of.append(len(self.words))
        self.at.append(0)
        self.words.append(content)
        for each in list(self._gave)[list(self._gave).index(stage) :]:
            self._write(each, content if each in self._by_words else part.text)

    def between(self, stage: StageName, part: AlignedText) -> None:
        if stage == "added-tokens":
            self._eaten_before(part.starts[0], "")
            self._position = part.ends[-1]
        self._is_first = True
        if stage in self._gave:
            self._write(stage, part.text)

    def split(self, cleaned: AlignedText, start: int, end: int, is_kept: bool) -> None:
        self._pending = self._cut_before(cleaned, start, end)
        self._is_kept = is_kept
        self._write("whitespace", cleaned.text[start:end])

    def analyzed(self, text: AlignedText, start: int, end: int) -> None:
        is_first = self._is_first and len(self.words) == self._begun
        self._pending = _BEGIN if is_first else self._reason("words", text.text[start:end])
        self._write("words", text.text[start:end])

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
        if len(pieces) == 1 and (pieces[0] != word or (word == wordpiece.unk_token and word not in wordpiece.vocab)):
            places = zip(text.starts[start:end], text.ends[start:end], strict=True)
            self.unknown[number] = [(self._base + first, self._base + last) for first, last in places]
        if "punctuation" in self._gave:
            self._write("punctuation", word)
        for piece in pieces:
            self._write("wordpiece", piece)

    # ---- whitespace that added tokens eat ---------------------------------------------------------------------------

    def _eaten_before(self, start: int, content: str) -> str:
        """Note what is gone between the part before and the one at `start`; return what its `lstrip` has eaten.

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

    # ---- cuts -------------------------------------------------------------------------------------------------------

    def _cut_before(self, text: AlignedText, start: int, end: int) -> Cut:
        before = text.text[start - 1] if start else ""
        if before.isspace():
            origin = self._text[text.starts[start - 1] : text.ends[start - 1]]
            if origin.isspace():
                return self._reason("whitespace", origin)
        if self._is_first:
            return _BEGIN if len(self.words) == self._begun else self._reason("after", self.words[-1])
        if before.isspace():
            return self._reason("chinese", origin)
        char = text.text[start]
        table = self._stages.punctuation
        for sign in (char, before):
            if sign and sign.translate(table) != sign:
                return self._reason("punctuation", sign)
        return self._reason("whitespace", "")

    def _reason(self, rule: str, what: str) -> Cut:
        """The cut by a rule; the same object for the same characters."""
        cut = self._reasons.get((rule, what))
        if cut is None:
            cut = self._reasons[rule, what] = _cut(rule, what)
        return cut

    def _write(self, stage: str, text: str) -> None:
        out = self._gave[stage]
        out.write(text)
        if stage in self._by_words:
            out.write(" ")


def _cut(rule: str, what: str) -> Cut:
    match rule:
        case "added-tokens":
            return Cut(rule, "an added token is a word of its own")
        case "after":
            return Cut("added-tokens", f"the added token {visible(what)} ends here")
        case "chinese":
            return Cut(rule, f"a space is put on either side of {described(what[0])}")
        case "words":
            return Cut(rule, f"the analyzer begins the word {visible(what)} here")
        case "punctuation":
            return Cut(rule, f"{described(what)} is punctuation, a word of its own")
    return Cut("whitespace", f"split at {described(what[-1])}" if what else "split at whitespace")


def _leading(text: str) -> int:
    """How much whitespace a text begins with."""
    return len(text) - len(text.lstrip())
