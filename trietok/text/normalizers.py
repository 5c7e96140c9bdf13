"""The steps that change a text before it is cut into words, with the spans of its characters or
without.

In: a str, or an `AlignedText`. Out: the same kind. A `Step` is written once for both. The profiles
of BERT are tuples of steps (`trietok.text.words`), and so are the normalizers of a
tokenizer.json.

Every character that a step produces has the span of its source, and that of a deleted one goes to
none. Of marks that are put in order the slow profile widens the spans until they never decrease;
the Rust tokenizers leave the spans where they are, and the characters are dealt to them from the
left.
"""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from trietok.text import unicode
from trietok.text.aligned import UNWATCHED, AlignedText, AnyText, Span, StageName, Watch
from trietok.text.unicode import TranslationTable, is_in, normal_form, normalize

if TYPE_CHECKING:
    from typing import Protocol

    class Searched(Protocol):
        """What finds its matches in a text, such as a compiled regular expression."""

        def finditer(self, text: str, /) -> Iterator[re.Match[str]]: ...


FormName = Literal["NFC", "NFD", "NFKC", "NFKD"]
_Value = TypeVar("_Value")


class Step(ABC):
    """A step. `is_local`: whether it changes what lies between two spaces by itself."""

    is_local = True
    stage: StageName = "clean"

    @abstractmethod
    def __call__(self, text: AnyText) -> AnyText:
        """What becomes of a text."""


def run(steps: Sequence[Step], text: AnyText, watch: Watch = UNWATCHED) -> AnyText:
    """What becomes of a text in some steps; `watch` is told of each stage."""
    if watch is UNWATCHED or isinstance(text, str):
        for step in steps:
            text = step(text)
        return text
    for stage, several in groupby(steps, attrgetter("stage")):
        before = text
        for step in several:
            text = step(text)
        watch.changed(stage, before, text)
    return text


def stages_of(steps: Iterable[Step]) -> tuple[StageName, ...]:
    """The stages of some steps, in order; one that comes again later is there twice."""
    return tuple(stage for stage, _ in groupby(steps, attrgetter("stage")))


class EachCharacter(Step):
    """Each character becomes something by itself.

    Args:
        stage: what the step is part of.
        table: what becomes of it.
        changes: whether any character of a text may change; False is certain.
    """

    def __init__(
        self,
        stage: StageName,
        table: TranslationTable,
        changes: Callable[[str], bool] | None = None,
    ) -> None:
        self.stage, self.table, self._changes = stage, table, changes

    def __call__(self, text: AnyText) -> AnyText:
        return (
            text.translate(self.table)
            if self._changes is None or self._changes(str(text))
            else text
        )

    def __reduce__(self) -> Any:
        # of a tokenizer.json: there is one of each, whatever is copied
        return _one_of, (self.stage,)


class Lower(Step):
    """Lower case as Python has it."""

    stage: StageName = "lower-case"

    def __call__(self, text: AnyText) -> AnyText:
        return text.lower()


class LowerByTable(EachCharacter):
    """Lower case as the Rust tokenizers have it, each character by itself."""

    def __call__(self, text: AnyText) -> AnyText:
        return text.lower() if text.isascii() else text.translate(self.table)


LOWER = TranslationTable(lambda char: unicode.lower_case().get(ord(char), char))
LOWERCASE = LowerByTable("lower-case", LOWER)
STRIP_ACCENTS = EachCharacter(
    "accents", TranslationTable(lambda char: None if is_in("combining", char) else char)
)


def _one_of(stage: StageName) -> EachCharacter:
    return LOWERCASE if stage == "lower-case" else STRIP_ACCENTS


# ---- Unicode's normal forms ----------------------------------------------------------------------


def _in_order(
    parts: Iterable[tuple[str, _Value]], class_of: Callable[[str], int]
) -> list[tuple[str, _Value]]:
    """Characters, each with a value, and marks between two others in the order of their classes."""
    ordered: list[tuple[str, _Value]] = []
    for is_mark, several in groupby(parts, lambda part: class_of(part[0]) > 0):
        run_of_parts = list(several)
        ordered += (
            sorted(run_of_parts, key=lambda part: class_of(part[0])) if is_mark else run_of_parts
        )
    return ordered


def _composed(
    parts: Iterable[tuple[str, _Value]], form: Callable[[str], str], class_of: Callable[[str], int]
) -> list[tuple[str, list[_Value]]]:
    """Characters in order, composed, each with the values of those that it is composed of.

    A character composes with the last starter before it, unless one of its class or higher is
    between.
    """
    whole: list[tuple[str, list[_Value]]] = []
    starter: int | None = None
    last_class = 0
    for char, value in parts:
        combining_class = class_of(char)
        if starter is not None and (len(whole) == starter + 1 or last_class < combining_class):
            joined = form(whole[starter][0] + char)
            if len(joined) == 1:
                whole[starter] = joined, [*whole[starter][1], value]
                continue
        if not combining_class:
            starter = len(whole)
        whole.append((char, [value]))
        last_class = combining_class
    return whole


def decomposed(aligned: AlignedText, form: FormName = "NFD") -> AlignedText:
    """NFD, or NFKD, of Python: marks in order, with spans widened so that none decreases."""
    if normalize(form, aligned.text) == aligned.text:
        return aligned
    parts = aligned.each_kind(lambda char: normalize(form, char))
    ordered = _in_order(zip(parts.text, range(len(parts.text)), strict=True), unicodedata.combining)
    return parts.with_places(
        "".join([char for char, _ in ordered]), [place for _, place in ordered]
    ).forwards()


def is_left_alone(form: FormName, text: str) -> bool:
    """Whether `composed` leaves each character its span.

    A text with marks goes all the way, so that their spans are the same whatever else is in the
    text.
    """
    return not any(map(unicodedata.combining, text)) and normalize(form, text) == text


def composed(aligned: AlignedText, form: FormName = "NFC") -> AlignedText:
    """NFC, or NFKC, of Python: what is composed of several stands for all that they stand for.

    >>> whole = composed(AlignedText.of("ﾃﾞ①"), "NFKC")
    >>> whole.text, whole.span(0, 1), whole.span(1, 2)
    ('デ1', (0, 2), (2, 3))
    """
    if is_left_alone(form, aligned.text):
        return aligned
    parts = decomposed(aligned, "NFKD" if form == "NFKC" else "NFD")
    numbered = zip(parts.text, range(len(parts.text)), strict=True)
    whole = _composed(numbered, lambda text: normalize("NFC", text), unicodedata.combining)
    starts = [min([parts.starts[place] for place in places]) for _, places in whole]
    ends = [max([parts.ends[place] for place in places]) for _, places in whole]
    return AlignedText("".join([char for char, _ in whole]), starts, ends).forwards()


class NormalFormOfPython(Step):
    """A normal form as Python has it."""

    def __init__(self, form: FormName, stage: StageName) -> None:
        self._form, self.stage = form, stage

    def __call__(self, text: AnyText) -> AnyText:
        if text.isascii():
            return text
        if isinstance(text, str):
            return normalize(self._form, text)
        return composed(text, self._form) if self._form[-1] == "C" else decomposed(text, self._form)


class NormalForm(Step):
    """NFC, NFD, NFKC or NFKD, as the Rust tokenizers have them."""

    def __init__(self, form: FormName) -> None:
        self._form = form
        self.stage = "compatibility" if "K" in form else "compose" if form == "NFC" else "accents"

    def __call__(self, text: AnyText) -> AnyText:
        if text.isascii():
            return text
        if isinstance(text, str):
            return normal_form(self._form, text)
        return self._dealt(text)

    def _dealt(self, aligned: AlignedText) -> AlignedText:
        """A character takes the next span that is left; of a decomposition only the first does, the
        others have the same. One that is composed of several takes one, and drops one for each
        other that would have taken one.
        """
        if normal_form(self._form, aligned.text) == aligned.text:
            return aligned
        parts_of = {char: self._parts_of(char) for char in set(aligned.text)}
        parts = [
            (part, not number)
            for char in aligned.text
            for number, part in enumerate(parts_of[char])
        ]
        ordered = _in_order(parts, unicode.combining_class)
        if self._form[-1] == "C":
            whole = _composed(ordered, unicode.nfc, unicode.combining_class)
            taken = [(char, sum(firsts)) for char, firsts in whole]
        else:
            taken = [(char, int(is_first)) for char, is_first in ordered]
        dealt, places = 0, []
        for _, number in taken:
            places.append(dealt if number else max(dealt - 1, 0))
            dealt += number
        return aligned.with_places("".join([char for char, _ in taken]), places)

    def _parts_of(self, char: str) -> str:
        is_taken_apart = is_in("decomposed", char) or (
            "K" in self._form and is_in("compatible", char)
        )
        return normalize("NFKD" if "K" in self._form else "NFD", char) if is_taken_apart else char


# ---- steps of a tokenizer.json that look beyond one character ------------------------------------

MatchStretch = tuple[int, int, bool]


def match_stretches(pattern: Searched, text: str) -> list[MatchStretch]:
    """The stretches of a text that match, and those between, each with whether it does."""
    found: list[MatchStretch] = []
    behind = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        if behind < start:
            found.append((behind, start, False))
        found.append((start, end, True))
        behind = end
    if behind < len(text):
        found.append((behind, len(text), False))
    return found


class Replace(Step):
    """Replace: each match of a `Pattern` becomes `content`, all of it with the span of the match's
    last character.
    """

    is_local = False  # a match may hold spaces
    stage: StageName = "replace"

    def __init__(self, pattern: Any, content: str) -> None:
        self.pattern, self.content = pattern, content

    def __call__(self, text: AnyText) -> AnyText:
        before = str(text)
        stretches = match_stretches(self.pattern, before)
        changed = "".join(
            self.content if is_match else before[start:end] for start, end, is_match in stretches
        )
        if isinstance(text, str):
            return changed
        places: list[int] = []
        for start, end, is_match in stretches:
            places += [end - 1] * len(self.content) if is_match else range(start, end)
        return text.with_places(changed, places)


class Strip(Step):
    """Strip: whitespace at either end goes."""

    is_local = False
    stage: StageName = "replace"

    def __init__(self, left: bool, right: bool) -> None:
        self._left, self._right = left, right

    def __call__(self, text: AnyText) -> AnyText:
        start, end = self._kept(str(text))
        return text[start:end]

    def _kept(self, text: str) -> Span:
        start, end = 0, len(text)
        while self._left and start < end and is_in("split_space", text[start]):
            start += 1
        while self._right and start < end and is_in("split_space", text[end - 1]):
            end -= 1
        return start, end
