"""The parts of an explanation: the changes of a stage, the tokens with the reasons why they are
there, their stories.

In: what the trace of a text has noted; the text before a stage and after it. Out: plain values that
never change, which can be written as JSON, in sequences that make them when they are looked at.
"""

from __future__ import annotations

import unicodedata
from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import eq
from typing import Any, Literal, NamedTuple, TypeVar, overload

from trietok.showing.characters import code_point, described, visible
from trietok.text.aligned import AlignedText
from trietok.text.unicode import REPLACEMENT_CHARACTER, normalize

# ---- the story of a token ------------------------------------------------------------------------

_MOST_ENTRIES = 8


def _sentences(token: ExplainedToken) -> Iterator[str]:
    match token.kind:
        case "special":
            yield "The template puts this special token here."
        case "padding":
            yield "Padding: it fills the row up."
        case "kept":
            yield f"The word {_quoted(token.word_text)} is never split, and is an added token."
    if token.added is not None:
        yield from _of_added(token.added)
    if token.match is not None:
        yield from _of_match(token.match, token.word_text)
    if token.unknown is not None:
        yield _of_unknown(token.unknown, token)
    if token.kind in ("wordpiece", "unknown") and token.match is None and token.unknown is None:
        word = _quoted(token.word_text)
        yield (
            f"The word {word} is cut by a wordpiece_tokenizer of your own, which gives no reasons."
        )
    if token.cut is not None:
        yield f"Cut before it: {token.cut.why}." if token.cut.stage else "The text begins here."
    for rejected in token.rejected:
        why = f"its single_word rejects it: {touch(rejected.touching)}"
        yield f"The added token {_quoted(rejected.content)} stands here, and {why}."
    if token.is_truncated:
        yield "Truncation has removed it: it is not in the ids."


def _of_match(match: Match, word: str) -> Iterator[str]:
    won = match.entries[-1] if match.entries else ""
    if match.left == word == won:
        yield f"The whole word {_quoted(word)} is an entry."
        return
    if match.left == won:
        yield f"The rest of the word, {_quoted(won)}, is an entry."
        return
    shown = match.entries[:-1][-_MOST_ENTRIES:]
    shorter = f" (shorter: {', '.join(map(visible, shown))})" if shown else ""
    yield (
        f"{_quoted(won)} is the longest vocabulary entry at the start of"
        f" {_quoted(match.left)}{shorter}."
    )
    if match.reached > len(won):
        yield (
            f"Some entries begin with {_quoted(match.left[: match.reached])}, but none of them"
            " matches here."
        )
    else:
        yield (
            f"No entry goes on with {_quoted(match.stopped_by)}."
            if match.stopped_by
            else "The word ends there."
        )


def _of_unknown(unknown: Unknown, token: ExplainedToken) -> str:
    word = f"The word {_quoted(token.word_text)} is unknown:"
    if unknown.reason == "too-long":
        return f"{word} its {len(token.word_text)} characters are more than WordPiece tries."
    if unknown.reason == "not-an-entry":
        return f"{word} it is never split, and is no entry."
    place = f"at {unknown.start} in the text ({described(unknown.char)})"
    if unknown.covered:
        front = ", ".join(map(_quoted, unknown.covered))
        rest = f"the start of the rest, {_quoted(unknown.left)}"
        return f"{word} it could start with {front}, but no entry matches {rest}, {place}."
    start = "" if len(unknown.left) == 1 else "the start of "
    return f"{word} no entry matches {start}{_quoted(unknown.left)}, {place}."


def _of_added(added: AddedMatch) -> Iterator[str]:
    flags = f" ({', '.join(added.flags)})" if added.flags else ""
    yield (
        f"{_quoted(added.content)} is an added token{flags}, matched whole before any word is"
        " split."
    )
    for side, ate, flag in (
        ("left", added.ate_left, "lstrip"),
        ("right", added.ate_right, "rstrip"),
    ):
        if ate:
            codes = " ".join(map(code_point, ate[:4])) + (
                f" and {len(ate) - 4} more" if len(ate) > 4 else ""
            )
            yield f"Its {flag} took the whitespace on its {side}: {codes}."
    if any(added.touches) and not added.single_word and added.content[:1].isalnum():
        yield f"It is cut out of a word: {touch(added.touches)}. With single_word it would not be."


def touch(chars: tuple[str, str]) -> str:
    """That the word characters before and after an added token touch it; `""` stands for none.

    >>> touch(("a", "")), touch(("a", "b"))
    ('“a” touches it', '“a” and “b” touch it')
    """
    quoted = [f"“{visible(char)}”" for char in chars if char]
    return f"{' and '.join(quoted)} {'touch' if len(quoted) > 1 else 'touches'} it"


def _quoted(text: str, most: int = 40) -> str:
    text = visible(text)
    return f"“{text if len(text) <= most else text[: most - 1] + '…'}”"


Value = TypeVar("Value")


class Lazy(Sequence[Value]):
    """A sequence that never changes once it is made; `item` makes a value when it is looked at."""

    @abstractmethod
    def item(self, index: int) -> Value:
        """The value at a place from 0."""

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Value, ...]: ...

    def __getitem__(self, index: int | slice) -> Value | tuple[Value, ...]:
        if isinstance(index, slice):
            return tuple(map(self.item, range(*index.indices(len(self)))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} values, and none at {index}")
        return self.item(place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lazy) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return f"<{len(self)} {type(self).__name__.lower()}>"


# ---- what a stage made of a text, character by character -----------------------------------------

ChangeKind = Literal["deleted", "changed", "inserted"]
# Start and end in the original; the characters before and after; the place in the text before.
Difference = tuple[int, int, str, str, int]

_DELETED = {
    "Cc": "control character, deleted",
    "Cf": "control character (format), deleted",
    "Cs": "lone surrogate, deleted like a control character",
    "Co": "private-use character, deleted like a control character",
    "Cn": "unassigned code point, deleted like a control character",
}


class Change(NamedTuple):
    """Characters that a stage deleted, changed or inserted.

    Attributes:
        stage: the name of the stage.
        kind: `"deleted"`, `"changed"` or `"inserted"`.
        start, end: the place in the original text, half-open, in code points.
        before, after: the characters before the stage and after it.
        why: the reason, in words.
    """

    stage: str
    kind: ChangeKind
    start: int
    end: int
    before: str
    after: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The attributes, and code point and name of each character of `before`."""
        return {**self._asdict(), "names": [described(char) for char in self.before]}


class Changes(Lazy[Change]):
    """The changes of one stage, in the order of the text. They are kept in columns, which a long
    text needs.
    """

    def __init__(self, stage: str) -> None:
        self._stage = stage
        self._starts, self._ends = array("q"), array("q")
        self._before: list[str] = []
        self._after: list[str] = []

    def add(self, start: int, end: int, before: str, after: str) -> None:
        """Take one more in; called only while the text is traced."""
        self._starts.append(start)
        self._ends.append(end)
        self._before.append(before)
        self._after.append(after)

    def within(self, start: int, end: int) -> tuple[Change, ...]:
        """The changes that begin within a stretch of the original."""
        return self[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def __len__(self) -> int:
        return len(self._starts)

    def item(self, index: int) -> Change:
        before, after = self._before[index], self._after[index]
        kind: ChangeKind = "changed"
        if not after:
            kind = "deleted"
        elif (
            before in after
            and len(after) > len(before)
            and not after.replace(before, "", 1).strip()
        ):
            kind = "inserted"
        why = _why_changed(self._stage, before, after)
        return Change(self._stage, kind, self._starts[index], self._ends[index], before, after, why)


def _why_changed(stage: str, before: str, after: str) -> str:
    match stage:
        case "clean":
            if after:
                return "whitespace, becomes a space"
            if before == REPLACEMENT_CHARACTER:
                return "replacement character, deleted"
            return _DELETED.get(unicodedata.category(before[0]), "deleted")
        case "chinese":
            return "Chinese character, a space is put on either side"
        case "compose":
            return _reordered(before, after) or "written as one character where there is one (NFC)"
        case "compatibility":
            return _reordered(before, after) or "written as its plain equivalent (NFKC)"
        case "replace":
            return (
                "replaced, as tokenizer.json says" if after else "taken out, as tokenizer.json says"
            )
        case "accents":
            if not after:
                return "accent, stripped"
            kept = set(after)
            marks = [char for char in normalize("NFD", before) if char not in kept]
            if marks:
                stripped = ", ".join(map(described, marks[:4])) + (", …" if len(marks) > 4 else "")
                return f"taken apart (NFD), and its accent stripped: {stripped}"
            return _reordered(before, after) or "taken apart (NFD)"
    return "lower-cased"


def _reordered(before: str, after: str) -> str:
    return "accents put in their canonical order" if sorted(before) == sorted(after) else ""


def differences(before: AlignedText, after: AlignedText) -> Iterator[Difference]:
    """Where a text differs from what it was before a stage.

    >>> before = AlignedText.of("aBc")
    >>> list(differences(before, before.each(lambda char: {"B": "b", "c": None}.get(char, char))))
    [(1, 2, 'B', 'b', 1), (2, 3, 'c', '', 2)]
    """
    if before.text == after.text:
        return
    if after.starts is before.starts:
        for place, (old, new) in enumerate(zip(before.text, after.text, strict=True)):
            if old != new:
                yield before.starts[place], before.ends[place], old, new, place
        return
    # Else between the smallest groups of characters of both that stand for the same stretch.
    old_text, old_starts, old_ends = before.text, before.starts, before.ends
    new_text, new_starts, new_ends = after.text, after.starts, after.ends
    i = j = 0
    while i < len(old_text) or j < len(new_text):
        starts = [column[k] for column, k in ((old_starts, i), (new_starts, j)) if k < len(column)]
        first = min(starts)
        end = first + 1
        group_i, group_j = i, j
        moved = True
        while moved:
            moved = False
            while i < len(old_text) and old_starts[i] < end:
                end, i, moved = max(end, old_ends[i]), i + 1, True
            while j < len(new_text) and new_starts[j] < end:
                end, j, moved = max(end, new_ends[j]), j + 1, True
        old, new = old_text[group_i:i], new_text[group_j:j]
        if old != new:
            shared = 0
            while shared < min(len(old), len(new)) and old[shared] == new[shared]:
                shared += 1
            shared = 0 if shared == len(old) else shared  # something old is left
            yield first, end, old[shared:], new[shared:], group_i + shared


# The names of the stages, and of what follows them, to read.
TITLES = {
    "lower-case-around-tokens": "lower case, but for added tokens",
    "added-tokens": "added tokens cut out",
    "clean": "cleaned",
    "chinese": "Chinese characters set apart",
    "compose": "composed (NFC)",
    "compatibility": "composed by compatibility (NFKC)",
    "replace": "replaced and stripped",
    "words": "cut into words",
    "whitespace": "split at whitespace",
    "lower-case": "lower case",
    "accents": "accents stripped (NFD)",
    "normalized-added-tokens": "normalized added tokens cut out",
    "punctuation": "punctuation set apart",
    "wordpiece": "WordPiece",
    "characters": "characters",
    "template": "special tokens around",
    "truncation": "truncated",
}
TokenKind = Literal["wordpiece", "unknown", "added", "kept", "special", "padding"]


class Cut(NamedTuple):
    """Why the text is cut before a token.

    Attributes:
        stage: the stage that made the cut; `""` where the text begins.
        why: the rule, in words.
    """

    stage: str
    why: str


class Match(NamedTuple):
    """How WordPiece found a piece.

    Attributes:
        left: what was left of the word, with the prefix of a piece that continues it.
        entries: the entries of the vocabulary that `left` begins with, shortest first; the last one
            won. Entries that are only the prefix do not count.
        reached: how many characters of `left` some entry begins with: no entry goes on with the
            next one.
        stopped_by: that next character; `""` where the word ended.
    """

    left: str
    entries: tuple[str, ...]
    reached: int
    stopped_by: str


class Unknown(NamedTuple):
    """Why a word is the unknown token.

    Attributes:
        reason: `"too-long"`: it has more characters than WordPiece tries; `"no-piece"`: no entry
            begins what is left; `"not-an-entry"`: it is never split, and is no entry.
        covered: the pieces that cover the front of the word.
        left: what no entry begins, with the prefix of a piece that continues a word.
        start, end: the place in the original of the character at which the cover failed; of the
            whole word where it is too long.
        reached: how many characters of `left` some entry begins with, although none ends there.
        char: the character at which the cover failed, as WordPiece was given it.
    """

    reason: Literal["too-long", "no-piece", "not-an-entry"]
    covered: tuple[str, ...]
    left: str
    start: int
    end: int
    reached: int
    char: str = ""


class AddedMatch(NamedTuple):
    """How an added token was found.

    Attributes:
        content: the added token.
        single_word, lstrip, rstrip, normalized, special: its flags.
        ate_left, ate_right: the whitespace that `lstrip` and `rstrip` took.
        touches: the letters, digits or marks of the original that stand right before and right
            after it.
    """

    content: str
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool
    special: bool
    ate_left: str
    ate_right: str
    touches: tuple[str, str]

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of the flags that are set."""
        return tuple(name for name in self._fields[1:6] if getattr(self, name))


class Found(NamedTuple):
    """An added token that a stage cut out: its content, and where it stands in the original."""

    content: str
    start: int
    end: int


class Rejected(NamedTuple):
    """An added token that stands in the text and is none there, because a word character touches
    it.

    Attributes:
        content: the added token, which has `single_word`.
        start, end: where it stands in the original.
        touching: the word characters before and after it; `""` where there is none.
    """

    content: str
    start: int
    end: int
    touching: tuple[str, str]


class ExplainedToken(NamedTuple):
    """A token of a text, or one that stands around texts, and why it is there.

    Attributes:
        token, id: the token and its id.
        kind: `"wordpiece"`, `"unknown"`, `"added"`; `"kept"` for a word that is never split;
            `"special"` for a token of the template; `"padding"`.
        text: 0 or 1, the text it is of; None for a token of the template and for padding.
        position: which token of that text it is, from 0, also where truncation has removed some;
            None likewise.
        start, end: what it stands for in the original text, half-open, in code points.
        source: those characters.
        type_id: its token type id.
        word: the number of its word in the text; None where it is of no text.
        word_text: the word as WordPiece was given it.
        cut: why the text is cut before it.
        match, unknown: for a piece of WordPiece and for the unknown token; None where a matcher of
            your own gave it.
        added: for an added token.
        rejected: the added tokens that stand here and are rejected.
        is_truncated: whether truncation removed it from the first row of ids.
    """

    token: str
    id: int
    kind: TokenKind
    text: int | None = None
    position: int | None = None
    start: int = 0
    end: int = 0
    source: str = ""
    type_id: int = 0
    word: int | None = None
    word_text: str = ""
    cut: Cut | None = None
    match: Match | None = None
    unknown: Unknown | None = None
    added: AddedMatch | None = None
    rejected: tuple[Rejected, ...] = ()
    is_truncated: bool = False

    @property
    def story(self) -> list[str]:
        """Why it is one, in sentences.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.explain("people").tokens[1].story
        ['The whole word “people” is an entry.', 'The text begins here.']
        >>> print(tokenizer.explain("A☃!").tokens[1].story[0])
        The word “a☃” is unknown: it could start with “a”, but no entry matches the start of the
        rest, “##☃”, at 1 in the text (U+2603 SNOWMAN).
        """
        return list(_sentences(self))
