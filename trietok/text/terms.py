"""Terms: added tokens of several words, such as "New York", and where in a text one may stand.

In: a text. Out: what lies between its spaces, except that what a term may reach across stays
together, in a *window*.

A term is looked for by its *form*: what it looks like once every character of it is folded, in one
way whatever is around it. A text is folded in the same way, so that wherever a term stands, its
form does; where only its form stands, there is a window for nothing. A space that no form reaches
across is like the end of a text: the ids of a text are those of its windows and other chunks in a
row. What stands in a window is not told here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from trietok.text.changes import cached_property
from trietok.text.memory import IdTuple, Memory
from trietok.text.word_search import TriePart, WordSearch, has_odd_spaces
from trietok.typing_compat import Self

Fold = Callable[[str], str]
# code points that may be looked at in a text; else it is one window
LOOKED_AT_FIRST, LOOKED_A_CHARACTER = (4096, 16)


class Forms:
    """The forms of the terms of a `TriePart`.

    Args:
        words: the terms as they are searched for.
        form_of: a term → its form.
        are_settled: whether a term stands wherever its form does, if it is the same.

    Attributes:
        forms: all of them.
        changed: those of terms that are not their own form.
        unsettled: those of which only a search can tell whether a term stands there, and which.
        tree: the same for a compiled kernel, once it has asked.

    >>> forms = Forms(["new york", "New York", "new deal"], str.lower, True)
    >>> forms.unsettled, forms.heads, sorted(forms.lengths.items())
    ({'new york'}, {3: {'new'}}, [('new d', [8]), ('new y', [8])])
    """

    tree: Any = None

    def __init__(self, words: Iterable[str], form_of: Fold, are_settled: bool) -> None:
        forms = {word: form_of(word) for word in words} if form_of is not str else {}
        self.forms = frozenset(forms.values() if forms else words)
        self.changed = {form for word, form in forms.items() if form != word}
        self.unsettled = self.changed if are_settled else self.forms

    @cached_property
    def heads(self) -> dict[int, set[str]]:
        """What forms have before a space, by its length."""
        heads: dict[int, set[str]] = {}
        for start in self.lengths:
            heads.setdefault(len(start) - 2, set()).add(start[:-2])
        return heads

    @cached_property
    def lengths(self) -> dict[str, list[int]]:
        """The lengths of the forms that begin with a word, a space and one more character."""
        lengths: dict[str, set[int]] = {}
        for form in self.forms:
            space = form.find(" ")
            while space > 0:
                start = form[: space + 2]
                if start in lengths:
                    lengths[start].add(len(form))
                else:
                    lengths[start] = {len(form)}
                space = form.find(" ", space + 1)
        return {start: sorted(each) for start, each in lengths.items()}


def forms_of(
    part: TriePart, form_of: Fold = str, are_settled: bool = True, rests_on: object = None
) -> Forms:
    """The forms of the terms of a part, kept with it; for the arguments see `Forms`, `Terms`."""
    # as a character has the same form wherever it stands, all are folded at once
    joined = "|".join(part.spaced)
    if are_settled and form_of(joined) == joined:
        form_of, rests_on = str, None
    forms: Forms | None = part.forms.get(rests_on)
    if forms is None:
        forms = part.forms[rests_on] = Forms(part.spaced, form_of, are_settled)
    return forms


class Terms:
    """The terms of an encoder.

    Args:
        searches: what finds them and other added tokens in texts, each with the form of a term, and
            whether a term stands wherever its form does.
        fold: folds a text, each character by itself.
        rests_on: everything that forms depend on beside the term.
        limit: how many bytes may be remembered.

    Attributes:
        unsettled: the forms of which only a search can tell whether a term stands there, and which.
        is_odd: whether some token holds other whitespace than single spaces between words. Then a
            text is one window.

    >>> fold = str.lower
    >>> terms = Terms([(WordSearch(["new york", "york city", "x"]), fold, True)], fold, None, 1000)
    >>> terms.cut("In New York City, or new England")
    ['In', 'New York City,', 'or', 'new', 'England']
    """

    def __init__(
        self,
        searches: Sequence[tuple[WordSearch, Fold, bool]],
        fold: Fold,
        rests_on: object,
        limit: int,
    ) -> None:
        self.fold = fold
        self.forms: list[Forms] = []
        self.is_odd = any(search.has_odd_spaces for search, _, _ in searches)
        for search, form_of, are_settled in searches if not self.is_odd else ():
            for part in search.parts:
                if part.spaced:
                    self.forms.append(forms_of(part, form_of, are_settled, rests_on))
        self.is_odd = self.is_odd or any(map(self._are_odd, self.forms))
        self.unsettled = frozenset[str]().union(*[forms.unsettled for forms in self.forms])
        self.begun = Memory(self._heads_at_the_end, limit)

    def _are_odd(self, forms: Forms) -> bool:
        others = "".join([form for form in forms.forms if not form.isascii()])
        # a character becomes spaces
        return has_odd_spaces(forms.changed) or " " in self.fold(others.replace(" ", ""))

    @classmethod
    def if_any(cls, searches: Sequence[tuple[WordSearch, Fold, bool]], *rest: Any) -> Self | None:
        """The terms; None where there are none."""
        are_there = any(search.has_spaces or search.has_odd_spaces for search, _, _ in searches)
        return cls(searches, *rest) if are_there else None

    def cut(self, text: str) -> list[str]:
        """A text cut at the spaces that no form reaches across."""
        if self.is_odd:
            return [text]
        chunks = text.split(" ")
        folded = self.fold(text).split(" ")
        if len(folded) != len(chunks):  # other whitespace became spaces
            folded = [*map(self.fold, chunks)]
        begun = [*map(self.begun.__getitem__, folded)]
        if not any(begun):
            return chunks
        windows: list[tuple[int, int]] = []  # the first chunk of each, and the last
        may_look = LOOKED_AT_FIRST + LOOKED_A_CHARACTER * len(text)
        for first, begins in enumerate(begun[:-1]):
            if not begins or not (following := folded[first + 1]):
                continue
            for begin in begins:
                length, number = divmod(begin, len(self.forms))
                start = f"{folded[first][-length:]} {following[0]}"
                lengths = self.forms[number].lengths.get(start)
                if lengths:
                    may_look -= sum(lengths)
                    last = self._reached(
                        start[:-1], lengths, self.forms[number].forms, folded, first
                    )
                    if windows and first <= windows[-1][1]:
                        windows[-1] = windows[-1][0], max(last, windows[-1][1])
                    elif last > first:
                        windows.append((first, last))
            if may_look < 0:
                return [text]
        cut: list[str] = []
        done = 0
        for first, last in windows:
            cut += chunks[done:first]
            cut.append(" ".join(chunks[first : last + 1]))
            done = last + 1
        return cut + chunks[done:]

    def _heads_at_the_end(self, folded: str) -> IdTuple:
        """Which forms' first words a chunk ends with: the length of each, and whose it is."""
        count = len(self.forms)
        return tuple(
            length * count + number
            for number, forms in enumerate(self.forms)
            for length, heads in forms.heads.items()
            if folded[-length:] in heads
        )

    @staticmethod
    def _reached(
        start: str, lengths: list[int], forms: frozenset[str], folded: list[str], first: int
    ) -> int:
        """The last chunk that a form reaches which begins with the end of the first one."""
        last, text, ends = first, start, []
        while last + 1 < len(folded) and len(text) <= lengths[-1]:
            last += 1
            text += f"{folded[last]} "
            ends.append(len(text) - 1)
        found = max(
            [length for length in lengths if length < len(text) and text[:length] in forms],
            default=0,
        )
        return first + 1 + sum(end < found for end in ends) if found else first
