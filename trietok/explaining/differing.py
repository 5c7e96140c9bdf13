"""Which stage made the difference, where two tokenizers cut a stretch of a text otherwise.

In: the tokens of both sides, and the changes that the stages made to the stretch. Out: the stage and the reason, in
words.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from trietok.explaining.values import TITLES, Token
from trietok.showing.characters import code_point, described, visible
from trietok.text.characters import normalize

if TYPE_CHECKING:
    from trietok.explaining.explanation import ExplainedText

Names = tuple[str, str]  # what the two sides are called
Changed = dict[tuple[int, int], tuple[str, str]]  # where → the characters before and after

_MOST = 3  # characters or entries that a reason names
_MOST_CODE_POINTS = 6
LEFT_AND_RIGHT = ("the left", "the right")


def why_differ(
    left: ExplainedText,
    right: ExplainedText,
    left_tokens: Sequence[Token],
    right_tokens: Sequence[Token],
    span: tuple[int, int],
    names: Names = LEFT_AND_RIGHT,
) -> str:
    """The first stage, in the order in which texts go through them, that did otherwise on the two sides.

    `names` are what the two sides are called in the reason.
    """
    return (
        _added_tokens(left_tokens, right_tokens, names)
        or _cleaning(left, right, span, names)
        or _chinese(left, right, span, names)
        or _words(left_tokens, right_tokens, names)
        or _entries(left, right, left_tokens, right_tokens, names)
    )


def _added_tokens(left: Sequence[Token], right: Sequence[Token], names: Names) -> str:
    found = [{each.token for each in tokens if each.kind == "added"} for tokens in (left, right)]
    return _one_sided(names, "added-tokens", "finds the added token", *(map(visible, each) for each in _only(*found)))


def _cleaning(left: ExplainedText, right: ExplainedText, span: tuple[int, int], names: Names) -> str:
    sides = [_changes(text, "clean", span) for text in (left, right)]
    for wanted, verb in (("", "deletes"), (" ", "makes a space of")):
        found = [{(place, old) for place, (old, new) in side.items() if new == wanted} for side in sides]
        reason = _one_sided(
            names,
            "clean",
            verb,
            *([described(old) for _, olds in sorted(each) for old in olds] for each in _only(*found)),
        )
        if reason:
            return reason
    return ""


def _chinese(left: ExplainedText, right: ExplainedText, span: tuple[int, int], names: Names) -> str:
    found = [{(place, old) for place, (old, _) in _changes(text, "chinese", span).items()} for text in (left, right)]
    return _one_sided(
        names, "chinese", "sets apart", *([described(old) for _, old in sorted(each)] for each in _only(*found))
    )


def _words(left: Sequence[Token], right: Sequence[Token], names: Names) -> str:
    """The reason where WordPiece was given other words."""
    sides = [_words_of(tokens) for tokens in (left, right)]
    if sides[0] == sides[1]:
        return ""
    joined = ["".join(words) for words in sides]
    shown = [" ".join(f"“{visible(word)}”" for word in words[:_MOST]) or "nothing" for words in sides]
    composed = [normalize("NFC", text) for text in joined]
    stage = "punctuation"
    if joined[0] != joined[1]:
        stage = "compose"
        if composed[0] == composed[1]:  # both look the same
            points = _code_points_that_differ(*joined)
            shown = [f"{words} ({point})" for words, point in zip(shown, points, strict=True)]
        elif joined[0].lower() == joined[1].lower():
            stage = "lower-case"
        elif _bare(joined[0]) == _bare(joined[1]):
            stage = "accents"
    return f"{TITLES[stage]}: {names[0]} looks up {shown[0]}, {names[1]} {shown[1]}"


def _code_points_that_differ(one: str, other: str) -> tuple[str, str]:
    """The code points of the first character that two texts write otherwise, its marks included."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    while start > 0 and any(unicodedata.combining(text[start : start + 1] or "a") for text in (one, other)):
        start -= 1  # a mark that only one of them has belongs to the character before

    def points(text: str) -> str:
        marks = takewhile(unicodedata.combining, text[start + 1 :])
        return " ".join(map(code_point, [*text[start : start + 1], *marks][:_MOST_CODE_POINTS]))

    return points(one), points(other)


def _entries(
    left: ExplainedText,
    right: ExplainedText,
    left_tokens: Sequence[Token],
    right_tokens: Sequence[Token],
    names: Names,
) -> str:
    """The reason where the words are the same."""
    too_long = [
        any(each.unknown is not None and each.unknown.reason == "too-long" for each in tokens)
        for tokens in (left_tokens, right_tokens)
    ]
    if too_long[0] != too_long[1]:
        return f"{TITLES['wordpiece']}: the word is too long for {names[0] if too_long[0] else names[1]}"
    only = [
        [each.token for each in own if each.kind == "wordpiece" and not text.tokens.has_entry(each.token)]
        for own, text in ((left_tokens, right), (right_tokens, left))
    ]
    reason = _one_sided(
        names, "wordpiece", "has the entry", *([f"“{visible(token)}”" for token in each] for each in only)
    )
    return reason or f"{TITLES['wordpiece']}: the vocabularies cut the word otherwise"


def _changes(text: ExplainedText, name: str, span: tuple[int, int]) -> Changed:
    """What a stage changed within a stretch."""
    return {
        (change.start, change.end): (change.before, change.after)
        for stage in text.stages
        if stage.name == name
        for change in stage.changes.within(*span)
    }


def _words_of(tokens: Sequence[Token]) -> list[str]:
    words: list[str] = []
    before: int | None = None
    for each in tokens:
        if each.word != before:
            words.append(each.word_text)
        before = each.word
    return words


def _bare(text: str) -> str:
    """Without what the stage of accents strips: the non-spacing marks, of which not all have a combining class."""
    return "".join(char for char in normalize("NFD", text.lower()) if unicodedata.category(char) != "Mn")


def _only(left: set, right: set) -> tuple[set, set]:  # type: ignore[type-arg]  # sets of one kind
    """What only one of two sets holds."""
    return left - right, right - left


def _one_sided(names: Names, stage: str, verb: str, left: Iterable[str], right: Iterable[str]) -> str:
    """A reason for what one side alone does, or each by itself; nothing where neither does."""
    sides = [list(dict.fromkeys(each)) for each in (left, right)]
    if sides[0] and sides[1]:
        return f"{TITLES[stage]}: {names[0]} {verb} {_listed(sides[0])}, {names[1]} {_listed(sides[1])}"
    for side, other, found in ((*names, sides[0]), (*reversed(names), sides[1])):
        if found:
            return f"{TITLES[stage]}: {side} {verb} {_listed(found)}, {other} does not"
    return ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(names[:_MOST]) + more
