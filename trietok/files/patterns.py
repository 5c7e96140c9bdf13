"""The regular expressions of a tokenizer.json: those that mean the same in Python, and whose search
takes time in proportion to the text.

Python tries one way after the other to match a pattern, so a pattern is refused if there may be too
many ways:

- a repeated group that holds a repeat or alternatives, such as `(a*)*`;
- a repeat before something that matches the same characters, such as `[a-z]*[a-z]*0`: where the one
  ends and the other begins is open;
- a repeat without an upper limit, before something that has to follow, which matches the character
  in front of it, too, such as `<[^>]*>`: each `<` of `<<<<` begins a search to the end of the text.

At the beginning of a pattern, as in `[0-9]+,`, the last kind is searched from the first of several
digits only: if there is no match from the first one, there is none from the second.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from trietok.text.unicode import characters_in

Ranges = tuple[tuple[int, int], ...]  # first and last code points, in order

_LONGEST = 1000  # of a pattern
_MOST_NESTED = 20  # groups
_MOST_STEPS = 2000  # of a search at one place, as it is estimated
_LAST = 0x10FFFF
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_ESCAPE = r"\\[stnrfv!-/:-@\[-`{-~]"
_MEMBER = r"[^\\\[\]&~|-]"  # of a set; && and the like have meanings there
_PART = re.compile(
    r"(?P<group>\((?:\?:|(?!\?)))"
    rf"|\[(?P<negated>\^?)(?P<set>-?(?:{_ESCAPE}|{_MEMBER}-{_MEMBER}|{_MEMBER})*-?)\]"
    rf"|(?P<character>{_ESCAPE}|[^\\.^$*+?{{}}\[\]()|])"
)
_MEMBERS = re.compile(rf"{_ESCAPE}|{_MEMBER}-{_MEMBER}|.", re.DOTALL)
_COUNT = re.compile(r"([*+?])\??|\{([0-9]{1,4})\}|\{([0-9]{1,4}),([0-9]{0,4})\}\??")


class Pattern(NamedTuple):
    """What is looked for in a text.

    Attributes:
        anywhere: matches from a given place on.
        starts: the same, but not from within a run of characters whose beginning did not match.
        alphabet: the characters that a match may hold.
        shortest: the number of characters that it has at least.
    """

    anywhere: re.Pattern[str]
    starts: re.Pattern[str]
    alphabet: Ranges
    shortest: int

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in a text from left to right, none within another."""
        return self.anywhere.finditer(text) if self.starts is self.anywhere else self._search(text)

    def _search(self, text: str) -> Iterator[re.Match[str]]:
        position = 0
        while True:
            # Behind a match everything is new; further on, a run may have been read already.
            match = self.anywhere.match(text, position) or self.starts.search(text, position)
            if match is None:
                return
            yield match
            position = match.end()


def literal(text: str) -> Pattern:
    """The pattern that a text itself matches."""
    one = re.compile(re.escape(text))
    return Pattern(one, one, ranges_of(text), len(text))


def compiled(pattern: str) -> Pattern:
    r"""A regular expression of a file.

    Raises:
        ValueError: it may mean something else in Python, or a search could take long, or it matches
            nothing at all.

    >>> [match[0] for match in compiled(r"\s{2,}").finditer("a \u3000 b\x1c c")]
    [' \u3000 ']
    >>> compiled("(a*)*b")
    Traceback (most recent call last):
    ValueError: (a*)* repeats a group that holds a repeat or alternatives, which can take
    exponential time
    """
    if len(pattern) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST:,} characters")
    reader = _Reader(pattern)
    alternatives = reader.alternatives()
    if reader.position != len(pattern):
        raise ValueError("it has a ) without a (")
    shortest = min(map(_shortest, alternatives))
    if not shortest:
        raise ValueError("it matches where there is nothing")
    alphabets = list(map(_alphabet, alternatives))
    steps = 0.0
    for number, parts in enumerate(alternatives):
        # If another one matched parts of a run, the rest would be read again behind each of them.
        others = (*alphabets[:number], *alphabets[number + 1 :])
        run = parts[0].characters
        is_guarded = not any(meet(run, each) for each in others)
        steps += _check(parts, (), False, may_begin_with_run=is_guarded) * _size(parts)
    if steps > _MOST_STEPS:
        raise ValueError(
            f"a search could take {steps:,.0f} steps for each character, and {_MOST_STEPS:,} are"
            " the most"
        )
    sources = [_source(parts) for parts in alternatives]
    guarded = [_guard(parts) + source for parts, source in zip(alternatives, sources, strict=True)]
    anywhere, starts = (re.compile("|".join(each)) for each in (sources, guarded))
    return Pattern(anywhere, starts, _union(alphabets), shortest)


# ---- reading -------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A character, or a group, and how often it repeats."""

    said: str  # in the file
    source: str  # in Python
    characters: Ranges  # that it may be; none for a group
    group: tuple[list[Any], ...]  # the alternatives, each a list of parts; empty for a character
    least: int
    most: float


class _Reader:
    """Reads a pattern from left to right; `position` is that of the next part."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self.position = pattern, 0

    def alternatives(self, depth: int = 0) -> list[list[_Part]]:
        """The alternatives up to the end or a closing bracket."""
        if depth > _MOST_NESTED:
            raise ValueError(f"it has groups in groups, more than {_MOST_NESTED} deep")
        found: list[list[_Part]] = [[]]
        while self._next not in ("", ")"):
            if self._next == "|":
                self.position += 1
                found.append([])
            else:
                found[-1] += self._parts(depth)
        return found

    @property
    def _next(self) -> str:
        return self._pattern[self.position : self.position + 1]

    def _parts(self, depth: int) -> list[_Part]:
        """The next part; for a group that only holds others together, those."""
        begin, match = self.position, _PART.match(self._pattern, self.position)
        if match is None or match["set"] == "":
            raise ValueError(
                "it may hold characters, \\s, sets, groups, alternatives and counts only, and not"
                f" {self._pattern[begin : begin + 2]!r}"
            )
        self.position = match.end()
        characters: Ranges = ()
        group: tuple[list[_Part], ...] = ()
        if match["group"]:
            group = tuple(self.alternatives(depth + 1))
            if self._next != ")":
                raise ValueError("it has a ( without a )")
            self.position += 1
            source = f"(?:{'|'.join(map(_source, group))})"
        else:
            characters = _members(match["set"] or match["character"])
            if match["negated"]:
                characters = _others(characters)
            if not characters:
                raise ValueError(f"no character is in {match[0]!r:.60}")
            source = _class(characters)
        count, least, most = self._count()
        if len(group) == 1 and not count:
            return group[0]
        said = self._pattern[begin : self.position]
        return [_Part(said, source + count, characters, group, least, most)]

    def _count(self) -> tuple[str, int, float]:
        """How often the part before stands: as it is written, and the least and the most."""
        match = _COUNT.match(self._pattern, self.position)
        if match is None:
            return "", 1, 1
        self.position = match.end()
        if self._next in ("*", "+", "?", "{"):
            raise ValueError("it repeats a repeat, which programs read in several ways")
        sign, exactly, least, most = match.groups()
        if sign:
            return match[0], int(sign == "+"), 1 if sign == "?" else math.inf
        if exactly:
            return match[0], int(exactly), int(exactly)
        if most and int(most) < int(least):
            raise ValueError(f"in {match[0]} the first number is the larger one")
        return match[0], int(least), int(most) if most else math.inf


def _members(said: str) -> Ranges:
    """The characters that the inside of a set names, or a character alone."""
    found: list[tuple[int, int]] = []
    for member in _MEMBERS.findall(said):
        if member == r"\s":
            found += ranges_of(characters_in("split_space"))
        elif member.startswith("\\"):
            found += ranges_of(_ESCAPES.get(member[1], member[1]))
        elif member[0] > member[-1]:
            raise ValueError(f"in the range {member} the first character is the later one")
        else:
            found.append((ord(member[0]), ord(member[-1])))
    return _union([tuple(found)])


# ---- sets of characters --------------------------------------------------------------------------


def ranges_of(text: str) -> Ranges:
    """The characters of a text."""
    return _union([tuple((ord(char), ord(char)) for char in set(text))])


def meet(one: Ranges, other: Ranges) -> bool:
    """Whether two sets have a character in common.

    >>> meet(ranges_of("abc"), ranges_of("xc")), meet(((0, 96),), ranges_of("a"))
    (True, False)
    """
    at, behind = 0, 0
    while at < len(one) and behind < len(other):
        if one[at][1] < other[behind][0]:
            at += 1
        elif other[behind][1] < one[at][0]:
            behind += 1
        else:
            return True
    return False


def _union(sets: Iterable[Ranges]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(each for ranges in sets for each in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], last)
        else:
            merged.append((first, last))
    return tuple(merged)


def _others(ranges: Ranges) -> Ranges:
    """All other characters."""
    begins = [0, *(last + 1 for _, last in ranges)]
    ends = [*(first - 1 for first, _ in ranges), _LAST]
    return tuple((begin, end) for begin, end in zip(begins, ends, strict=True) if begin <= end)


def _class(ranges: Ranges) -> str:
    """A set of characters as Python writes it."""
    inside = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return re.escape(chr(ranges[0][0])) if is_one else f"[{inside}]"


# ---- what a pattern may match, and how long a search takes ---------------------------------------


def _source(parts: Sequence[_Part]) -> str:
    return "".join(part.source for part in parts)


def _size(parts: Sequence[_Part]) -> float:
    """How many ranges of characters are looked at, of a repeat without a limit once."""
    return sum(
        (sum(map(_size, part.group)) if part.group else len(part.characters))
        * max(part.least if math.isinf(part.most) else part.most, 1)
        for part in parts
    )


def _shortest(parts: Sequence[_Part]) -> int:
    """The number of characters that a match has at least."""
    return sum(part.least * min(map(_shortest, part.group), default=1) for part in parts)


def _alphabet(parts: Sequence[_Part]) -> Ranges:
    """The characters that a match may hold."""
    inner = (_alphabet(inside) for part in parts for inside in part.group)
    return _union((*(part.characters for part in parts), *inner))


def _beginnings(parts: Sequence[_Part], behind: Ranges = ()) -> Ranges:
    """The characters that parts may begin with, and if they may be empty, what is behind them."""
    found: list[Ranges] = []
    for part in parts:
        found += (part.characters, *map(_beginnings, part.group))
        if _shortest([part]):
            return _union(found)
    return _union([*found, behind])


def _is_run(part: _Part) -> bool:
    """Whether it is any number of characters of a set."""
    return not part.group and math.isinf(part.most)


def _guard(parts: Sequence[_Part]) -> str:
    """What keeps a search from beginning within a run that it has read already."""
    is_needed = _is_run(parts[0]) and _shortest(parts[1:])
    return f"(?<!{_class(parts[0].characters)})" if is_needed else ""


def _check(
    parts: Sequence[_Part], behind: Ranges, must: bool, may_begin_with_run: bool = False
) -> int:
    """Raise a ValueError if a search could take long.

    Args:
        parts: what stands one behind the other.
        behind: the characters that may follow.
        must: whether something has to follow.
        may_begin_with_run: whether a search may be kept from beginning within a run, see `_guard`.

    Returns:
        In how many ways they may match one text.
    """
    ways, open_run = 1, None
    for number in reversed(range(len(parts))):
        part = parts[number]
        if part.most > 1 and not _is_plain(part.group):
            raise ValueError(
                f"{part.said:.60} repeats a group that holds a repeat or alternatives, which can"
                " take exponential time"
            )
        if part.least != part.most and meet(_beginnings([part]), behind):
            raise ValueError(
                f"{part.said:.60} and what follows it match the same characters, which can take"
                " exponential time"
            )
        is_guarded = may_begin_with_run and number == 0 and not part.group
        if math.isinf(part.most) and must and not (is_guarded or _is_anchored(parts, number)):
            open_run = part
        if part.group:
            inner = [_check(inside, behind, must) for inside in part.group]
            begins = [_beginnings(inside, behind) for inside in part.group]
            alike = any(meet(one, other) for one, other in combinations(begins, 2))
            ways *= sum(inner) if alike else max(inner)
        behind, must = _beginnings([part], behind), must or bool(_shortest([part]))
    if open_run is not None:
        raise ValueError(
            f"something has to follow {open_run.said:.60}, which can take quadratic time; put a"
            " character before it that it does not match, as in <[^<>]*>"
        )
    return ways


def _is_plain(group: Sequence[Sequence[_Part]]) -> bool:
    """Whether there is no choice within a group."""
    return len(group) < 2 and all(
        not part.group and part.least == part.most == 1 for inside in group for part in inside
    )


def _is_anchored(parts: Sequence[_Part], number: int) -> bool:
    """Whether a run can only begin at one place, behind a character that it does not match."""
    part, before = parts[number], parts[number - 1] if number else None
    return (
        before is not None
        and not (part.group or before.group)
        and before.least > 0
        and not meet(before.characters, part.characters)
    )
