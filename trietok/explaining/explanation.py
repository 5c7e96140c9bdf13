"""`Explanation`: what happened to one text or a pair in a call, to read, as JSON and as HTML.

In: the plan of a call, its texts, and the stages for each. Out: plain values. `explain` goes once more through the
stages that gave the call its ids, with a `Trace` watching; the stages, the truncation and the template are those of the
call, and nothing here cuts a text.
"""

from __future__ import annotations

import io
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

from trietok.errors import InputError, NotSupportedError
from trietok.explaining.values import (
    TITLES,
    AddedMatch,
    Change,
    Changes,
    Cut,
    Found,
    Lazy,
    Match,
    Rejected,
    Token,
    Unknown,
    Value,
    differences,
)
from trietok.explaining.views import Contrast, Parts, explanation_lines, explanation_parts, plain
from trietok.inputs.plan import Plan
from trietok.inputs.profiles import Profile
from trietok.inputs.rows import Row
from trietok.showing.characters import described, visible
from trietok.showing.html import fragment
from trietok.showing.report import Report, plain_values
from trietok.text.alignment import AlignedText, Located, RejectedMatch, StageName, Watch
from trietok.text.characters import touches_word
from trietok.text.stages import Stages
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer

_WORD_STAGES = ("words", "whitespace", "punctuation", "wordpiece")
_BEGIN = Cut("", "the text begins here")

Places = list[tuple[int, int]]  # where each character of a word begins and ends in the original


class Trace(Watch):
    """What happens to a text, or to words that are given as texts of their own, while the stages cut it into tokens.

    The stages tell the trace what they do. Everything is kept in columns: a text may have millions of words.
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
        self.words: list[str] = []  # each as WordPiece was given it; of an added token, its content
        self.cuts: list[Cut] = []  # why the text is cut before each word or added token
        self.at = array("q")  # for each token, where it begins in its word
        self.word_of = array("q")  # for each token, the number of its word
        self.added: dict[int, tuple[str, str]] = {}  # word → what `lstrip` and `rstrip` ate left and right of it
        self.kept: set[int] = set()  # the words that are never split
        self.unknown: dict[int, Places] = {}  # word → its characters' places, where it became the unknown token
        self.rejected: dict[str, list[RejectedMatch]] = {}  # stage → the added tokens that `single_word` rejected
        self.found: dict[str, list[RejectedMatch]] = {}  # stage → the added tokens that it cut out
        self._begun = 0  # how many words there were before the text
        self._position = 0  # where in the text the part before has ended
        self._last_token = -1  # the word that is the added token before
        self._is_right_behind = False  # whether no word has followed it
        self._is_first = True  # whether no word of the part has come yet
        self._pending: Cut | None = None  # the cut before the next word between whitespace
        self._is_kept = False
        self._prefix = len(stages.wordpiece.continuing_subword_prefix)

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

    def cut(self, stage: StageName, whole: AlignedText, rejected: Sequence[RejectedMatch]) -> None:
        for start, end, content in rejected:
            first, last = whole.span(start, end)
            self.rejected.setdefault(stage, []).append((self._base + first, self._base + last, content))

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
        self._pending = _BEGIN if is_first else _cut("words", text.text[start:end])
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

    def _write(self, stage: str, text: str) -> None:
        out = self._gave[stage]
        out.write(text)
        if stage in self._by_words:
            out.write(" ")


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
        case "words":
            return Cut(rule, f"the analyzer begins the word {visible(what)} here")
        case "punctuation":
            return Cut(rule, f"{described(what)} is punctuation, a word of its own")
    return Cut("whitespace", f"split at {described(what[-1])}" if what else "split at whitespace")


def _leading(text: str) -> int:
    """How much whitespace a text begins with."""
    return len(text) - len(text.lstrip())


# ---- the tokens of a text and of a row of ids, each with why it is one ----------------------------------------------


class Entries:
    """The entries that WordPiece may use; the trie of the tokenizer's vocabulary is used if it holds them all."""

    def __init__(self, wordpiece: WordpieceTokenizer, vocabulary: Vocabulary) -> None:
        self._entries: Mapping[str, Any] = wordpiece.vocab
        is_own = self._entries is vocabulary.token_to_id or self._entries.keys() <= vocabulary.token_to_id.keys()
        self._vocabulary = vocabulary if is_own else Vocabulary(list(self._entries))
        self._prefix = wordpiece.continuing_subword_prefix

    def match(self, word: str, at: int) -> Match:
        """The entries that begin what is left of a word, and how far any goes."""
        left = self._prefix + word[at:] if at else word  # as it is looked up
        found, reached = self._vocabulary.walk(left)
        shortest = len(self._prefix) if at else 0
        entries = tuple(entry for entry in found if len(entry) > shortest and entry in self._entries)
        return Match(left, entries, reached, left[reached : reached + 1])


@dataclass(eq=False, repr=False)
class TextTokens(Lazy[Token]):
    """The tokens of one text, those that truncation removed among them."""

    _number: int  # 0 or 1, which text of a pair it is
    _text: str
    _located: Located
    _trace: Trace
    _stages: Stages
    _entries: Entries
    _window: tuple[int, int]  # which tokens the first row of ids holds, half-open
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
        """How many words they are of, and how many of these are unknown; a text may have the unknown token written."""
        wordpiece, words = self._stages.wordpiece, self._trace.words
        written = sum(words[number] == wordpiece.unk_token for number in self._trace.added)
        return len(words), self._located.ids.count(wordpiece.vocab.get(wordpiece.unk_token, -1)) - written

    def searched(self, word: str) -> list[tuple[int, Match]]:
        """How WordPiece searches a word for pieces, and how far each piece reaches; the last search may be in vain."""
        found: list[tuple[int, Match]] = []
        at = 0
        while at < len(word) and (not found or found[-1][1].entries):
            match = self._entries.match(word, at)
            prefix = len(match.left) - len(word) + at
            at += len(match.entries[-1]) - prefix if match.entries else 0
            found.append((at, match))
        return found

    def has_entry(self, entry: str) -> bool:
        """Whether WordPiece has an entry."""
        return entry in self._stages.wordpiece.vocab

    def item(self, index: int) -> Token:
        located, trace = self._located, self._trace
        word, (start, end) = located.words[index], located.spans[index]
        number = trace.word_of[index]
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

    def _reasons(self, index: int, number: int) -> dict[str, Any]:
        """The kind of a token, whose word has a number, and what is known of that kind."""
        trace, token, span = self._trace, self._located.tokens[index], self._located.spans[index]
        word = trace.words[number]
        if number in trace.added:
            return {"kind": "added", "added": self._added(number, *span)}
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
        return AddedMatch(content, *flags, *self._trace.added[number], _touching(self._text, start, end))

    def _rejected_at(self, start: int, end: int) -> list[Rejected]:
        """The rejected added tokens that overlap a span."""
        if not self._rejected:
            return []
        last = bisect_left(self._rejected_starts, end)
        first = last
        while first > 0 and self._rejected[first - 1][1] > start:  # they are disjoint, and in order
            first -= 1
        return [_rejected(self._text, each) for each in self._rejected[first:last]]


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


def _found(text: str, place: RejectedMatch) -> Found:
    start, end, content = place
    return Found(content, start, end)


def _rejected(text: str, place: RejectedMatch) -> Rejected:
    start, end, content = place
    return Rejected(content, start, end, _touching(text, start, end))


def _touching(text: str, start: int, end: int) -> tuple[str, str]:
    """The word characters right before and right after a stretch; `""` for what is none."""
    before, after = (text[place] if touches_word(text, place) else "" for place in (start - 1, end))
    return before, after


class RowTokens(Lazy[Token]):
    """Stretches of tokens in a row: those of a row of ids, or those that truncation removed."""

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
            if tokens[start].kind == "padding":
                return tokens[start], end - start, number == 0
        return None

    def item(self, index: int) -> Token:
        number = bisect_right(self._ends, index)
        tokens, _, end = self._stretches[number]
        return tokens[end - (self._ends[number] - index)]


class Stage(NamedTuple):
    """What a stage did to a text.

    Attributes:
        name: such as `"clean"`; `docs/explaining.md` lists the names.
        given, gave: the text before the stage and after it. From the cut into words on, a space stands between two.
        changes: the characters that it deleted, changed or inserted.
        found, rejected: for a stage that looks for added tokens, those that it cut out, and those that `single_word`
            rejected.
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
    window: tuple[int, int]

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all stages, in their order."""
        return tuple(change for stage in self.stages for change in stage.changes)


class Truncation(NamedTuple):
    """How truncation cut the texts.

    Attributes:
        strategy: `"longest_first"`, `"only_first"`, `"only_second"` or `"do_not_truncate"`.
        max_length: how many tokens a row may have; None for any number.
        stride: how many tokens a row of what did not fit repeats.
        side: the end that is cut, `"right"` or `"left"`.
        removed: how many tokens of each text the first row does not hold.
    """

    strategy: str
    max_length: int | None
    stride: int
    side: str
    removed: tuple[int, ...]


@dataclass(frozen=True)
class Explanation(Report):
    """Why a text, or a pair, has the ids that it has. `str` makes it readable, and a notebook shows it as HTML.

    Attributes:
        tokenizer: the class of the tokenizer.
        name: where it was loaded from.
        profile: `"slow"` or `"fast"`.
        texts: the one or two texts.
        rows: the rows of ids; of several, those after the first hold what did not fit.
        template: the special tokens and the texts, `"A"` and `"B"`, in the order of a row.
        truncation: how the texts were cut.
        input_ids: what the call returns: the ids of the row; of all rows, where it returns several.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> explanation = tokenizer.explain("Naïve\\u200d!")
    >>> [token.token for token in explanation.tokens]
    ['[CLS]', 'n', '##ai', '##ve', '!', '[SEP]']
    >>> [f"{change.start}: {change.why}" for change in explanation.texts[0].changes][1]
    '5: control character (format), deleted'
    """

    tokenizer: str
    name: str
    profile: Profile
    texts: tuple[ExplainedText, ...]
    rows: tuple[RowTokens, ...]
    template: tuple[str, ...]
    truncation: Truncation
    input_ids: list[Any]

    @property
    def tokens(self) -> RowTokens:
        """The tokens of the first row of ids."""
        return self.rows[0]

    @property
    def counts(self) -> dict[str, int]:
        """How many characters and words the texts have, how many tokens the row, and how many words are unknown.

        Characters are code points; words are what WordPiece is given, punctuation marks and added tokens among them.
        """
        words, unknown = map(sum, zip(*(text.tokens.words for text in self.texts), strict=True))
        characters = sum(len(text.text) for text in self.texts)
        return {"characters": characters, "words": words, "tokens": len(self.tokens), "unknown": unknown}

    @property
    def truncated(self) -> RowTokens:
        """The tokens that truncation removed from the first row, text by text."""
        stretches: list[tuple[Sequence[Token], int, int]] = []
        for _, _, tokens, (start, end) in self.texts:
            stretches += (tokens, 0, start), (tokens, end, len(tokens))
        return RowTokens(stretches)

    def against(self, other: Explanation, *, names: tuple[str, str] = ("the left", "the right")) -> Contrast:
        """This explanation beside another one of the same texts: where the two part, and which stage made it so.

        Args:
            other: the other explanation.
            names: what this one and the other are called in the reasons.

        >>> import trietok
        >>> slow = trietok.BertTokenizer.from_pretrained("trietok-en").explain("a\\u0378b")
        >>> fast = trietok.BertTokenizerFast.from_pretrained("trietok-en").explain("a\\u0378b")
        >>> [part.why for part in slow.against(fast).parts if part.differs]
        ['cleaned: the left deletes U+0378 <reserved-0378>, the right does not']

        Raises:
            InputError: they are of different texts.
        """
        if [text.text for text in self.texts] != [text.text for text in other.texts]:
            raise InputError("the two explanations are of different texts; explain the same text with both tokenizers")
        return Contrast(self, other, Parts(list(zip(self.texts, other.texts, strict=True)), names), names)

    def to_dict(self) -> dict[str, Any]:
        """Everything, complete; all of it can be written as JSON. `docs/explaining.md` documents the schema."""
        about = ("tokenizer", "name", "profile", "input_ids", "template", "truncation")
        texts = [
            {
                "text": text.text,
                "stages": [{"title": stage.title, **plain_values(stage)} for stage in text.stages],
                "tokens": [{**plain_values(token), "story": token.story} for token in text.tokens],
            }
            for text in self.texts
        ]
        # The tokens of a text are told of among its tokens, at `position`.
        of_row = ("token", "id", "kind", "type_id", "text", "position")
        rows = [[{name: getattr(token, name) for name in of_row} for token in row] for row in self.rows]
        return {**{name: plain_values(getattr(self, name)) for name in about}, "texts": texts, "rows": rows}

    def to_text(self, width: int = 80) -> str:
        """The explanation to read on a terminal of so many columns, without colours; at most 2,000 tokens."""
        return plain(explanation_lines(self, width))

    def to_html(self, *, reasons: bool = False) -> str:
        """The explanation as one fragment of HTML, which needs no script and nothing from elsewhere; at most 2,000
        tokens. A click on a token opens its story beside it.

        Args:
            reasons: list the stories of all tokens in a table instead, for paper.

        >>> import trietok
        >>> "The whole word “people”" in trietok.BertTokenizer.from_pretrained("trietok-en").explain("people").to_html()
        True
        """
        return fragment(*explanation_parts(self, reasons), label="Explanation of tokens")

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return (
            f"Explanation(tokenizer={self.tokenizer!r}, profile={self.profile!r}, "
            f"texts={len(self.texts)}, tokens={len(self.tokens)}, truncated={len(self.truncated)})"
        )


# ---- from a call to its explanation ---------------------------------------------------------------------------------

ONLY_WORDPIECE = "only ids of WordPiece can be explained; these are of another kind"
StagesFor = Callable[[str], tuple[Stages, str]]


def explain(
    tokenizer: str,
    name: str,
    profile: Profile,
    vocabulary: Vocabulary,
    plan: Plan,
    stages_for: StagesFor,
    texts: tuple[Any, ...],
    input_ids: Any,
) -> Explanation:
    """Explain the ids that a call has returned for one text or two, each a str or a list of words.

    `stages_for` gives the stages of a text, and the text that they are given. Other ids than theirs are of methods of
    the user's own, and cannot be explained.
    """
    settings = plan.builder.settings
    traced = [_traced(stages_for, text) for text in texts]
    own_ids = [located.ids for *_, located in traced]
    rows = plan.rows(own_ids)
    found = [row.ids(own_ids, settings.pad_token_id) for row in rows]
    ids: list[Any] = found if plan.returns_several_rows else found[0]
    if _flat(input_ids) != _flat(ids):
        raise NotSupportedError(
            f"{tokenizer} has methods of its own, which give other ids than the stages; they cannot be explained",
            name="explain",
        )
    explained: tuple[ExplainedText, ...] = ()
    for number, (text, stages, trace, located) in enumerate(traced):
        window = rows[0].windows[number]
        type_id = next(piece.type_id for piece in rows[0].pieces if piece.sequence == number)
        entries = Entries(stages.wordpiece, vocabulary)
        tokens = TextTokens(number, text, located, trace, stages, entries, window, type_id)
        explained += (ExplainedText(text, tuple(_reports(text, stages, trace)), tokens, window),)
    padding = Token(str(settings.pad_token), settings.pad_token_id or 0, "padding", type_id=settings.pad_token_type_id)
    row_tokens = tuple(_row(row, explained, padding) for row in rows)
    template = tuple(str(each.token) if each.sequence is None else "AB"[each.sequence] for each in rows[0].pieces)
    removed = tuple(len(text.tokens) - (text.window[1] - text.window[0]) for text in explained)
    how, stride = plan.strategies, plan.options.stride
    truncation = Truncation(how.truncation.value, how.max_length, stride, settings.truncation_side, removed)
    return Explanation(tokenizer, name, profile, explained, row_tokens, template, truncation, ids)


def _traced(stages_for: StagesFor, given: Any) -> tuple[str, Stages, Trace, Located]:
    """One text of a call, or its words, through the stages: the text, the stages, their trace and the tokens."""
    is_text = isinstance(given, str)
    segments: list[str] = []
    located = Located.empty()
    trace: Trace | None = None
    base = 0
    for number, segment in enumerate([given] if is_text else given):
        stages, text = stages_for(segment)
        if "wordpiece" not in stages.order:
            raise NotSupportedError(ONLY_WORDPIECE, name="explain")
        trace = trace or Trace(stages)
        trace.begin(text)
        found = stages.locate(text, trace)
        trace.end()
        segments.append(text)
        if is_text:
            located = found
            break
        for token_id, token, (start, end), _ in zip(*found, strict=True):
            located.add(token_id, token, (base + start, base + end), number)
        base += len(text) + 1
    if trace is None:  # no words
        stages, _ = stages_for("")
        trace = Trace(stages)
    return " ".join(segments), stages, trace, located


def _reports(text: str, stages: Stages, trace: Trace) -> Iterator[Stage]:
    """What each stage did."""
    given = text
    for name in stages.order:
        gave = trace.gave(name)
        found, rejected = trace.found.get(name, ()), trace.rejected.get(name, ())
        yield Stage(name, given, gave, trace.changes[name], Made(_found, text, found), Made(_rejected, text, rejected))
        given = gave


def _row(row: Row, texts: tuple[ExplainedText, ...], padding: Token) -> RowTokens:
    """The tokens of a row of ids."""
    stretches: list[Any] = []
    for piece in row.pieces:
        if piece.sequence is None:
            special = Token(str(piece.token), piece.token_id or 0, "special", type_id=piece.type_id)
            stretches.append(((special,), 0, 1))
        else:
            stretches.append((texts[piece.sequence].tokens, *row.windows[piece.sequence]))
    filling = [((padding,) * row.missing, 0, row.missing)]
    return RowTokens(filling + stretches if row.pad_left else stretches + filling)


def _flat(ids: Any) -> list[int]:
    """The ids of a row, or of several one after the other, of lists or a tensor."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return [token_id for row in ids for token_id in row] if ids and isinstance(ids[0], list) else list(ids)
