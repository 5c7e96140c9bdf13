"""The pre-tokenizers of the Rust tokenizers, and the components of a tokenizer.json.

Their words are exactly those of tokenizers 0.22.2. `Components` holds the normalizers and
pre-tokenizers of a file, which a `ComponentsTokenizer` uses in place of BERT's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trietok.text.aligned import AnyText, Span
from trietok.text.normalizers import MatchStretch, Step, match_stretches, run
from trietok.text.unicode import character_class

if TYPE_CHECKING:
    from typing import Protocol

    from trietok.text.normalizers import Searched

    class _WithSteps(Protocol):
        """What has BERT's switches, and says the steps that follow from them."""

        @property
        def steps(self) -> tuple[Step, ...]: ...


@cache
def _one_of(*names: str) -> re.Pattern[str]:
    return re.compile(f"[{character_class(*names)}]")


class OfBert(Step):
    """BertNormalizer.

    Args:
        basic: its switches.
    """

    def __init__(self, basic: _WithSteps) -> None:
        self._basic = basic

    def __call__(self, text: AnyText) -> AnyText:
        return run(self._basic.steps, text)


# ---- pre-tokenizers ------------------------------------------------------------------------------

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = (
    "Removed",
    "Isolated",
    "MergedWithPrevious",
    "MergedWithNext",
    "Contiguous",
)


class CutAtMatches(NamedTuple):
    """A pre-tokenizer that cuts at the matches of a pattern.

    Attributes:
        pattern: what is looked for.
        behavior: what becomes of a match: see `BEHAVIORS`.
        invert: whether what lies between the matches counts as matches instead.
    """

    pattern: Searched
    behavior: Behavior
    invert: bool = False

    def places(self, text: str) -> Iterator[Span]:
        """The places of the parts of a text; none is empty."""
        stretches = [
            (start, end, found != self.invert)
            for start, end, found in match_stretches(self.pattern, text)
        ]
        if self.behavior == "Removed":
            return ((start, end) for start, end, found in stretches if not found)
        if self.behavior == "Isolated":
            return ((start, end) for start, end, _ in stretches)
        if self.behavior == "Contiguous":
            runs = (list(run) for _, run in groupby(stretches, lambda stretch: stretch[2]))
            return ((run[0][0], run[-1][1]) for run in runs)
        is_next = self.behavior == "MergedWithNext"
        return iter(_merged(stretches[::-1])[::-1] if is_next else _merged(stretches))


def _merged(stretches: Iterable[MatchStretch]) -> list[Span]:
    """Each match joined with the part before it in this order, unless that ends with a match."""
    parts: list[Span] = []
    was_match = False
    for start, end, found in stretches:
        if found and not was_match and parts:
            parts[-1] = min(parts[-1][0], start), max(parts[-1][1], end)
        else:
            parts.append((start, end))
        was_match = found
    return parts


@cache
def punctuation_cut(behavior: Behavior) -> CutAtMatches:
    """Punctuation, with what becomes of a sign."""
    return CutAtMatches(_one_of("punctuation"), behavior)


@cache
def digits_cut(individual: bool) -> CutAtMatches:
    """Digits: each by itself, or runs of them."""
    return CutAtMatches(_one_of("numeric"), "Isolated" if individual else "Contiguous")


@cache
def whitespace_cuts(
    kind: Literal["WhitespaceSplit", "Whitespace", "BertPreTokenizer"],
) -> tuple[CutAtMatches, ...]:
    """The cuts of a pre-tokenizer that takes whitespace away."""
    at_spaces = CutAtMatches(_one_of("split_space"), "Removed")
    if kind == "Whitespace":
        word = character_class("word")
        signs = f"[^{word}{character_class('split_space')}]+"
        return (CutAtMatches(re.compile(f"[{word}]+|{signs}"), "Removed", True),)
    return (at_spaces,) if kind == "WhitespaceSplit" else (at_spaces, punctuation_cut("Isolated"))


# ---- components in the place of BERT's own stages ----------------------------------------------


class Components(NamedTuple):
    """The steps of a tokenizer.json up to its model.

    Attributes:
        normalizers, cuts: what is done with a text, in this order.
        is_berts: whether the words are those of BERT's own stages.
        said: the file's `normalizer` and `pre_tokenizer`, as its JSON has them.
    """

    normalizers: tuple[Step, ...]
    cuts: tuple[CutAtMatches, ...]
    is_berts: bool = False
    said: tuple[Any, Any] = (None, None)

    def places(self, normalized: str) -> list[Span]:
        """Where the words of a normalized text stand."""
        parts: list[Span] = [(0, len(normalized))] if normalized else []
        for cut in self.cuts:
            parts = [
                (at + start, at + end)
                for at, to in parts
                for start, end in cut.places(normalized[at:to])
            ]
        return parts

    @property
    def is_local(self) -> bool:
        """Whether what lies between two spaces has the same words wherever it stands."""
        cuts_at_spaces = [*self.cuts[0].places("a b")] == [(0, 1), (2, 3)] if self.cuts else False
        return cuts_at_spaces and all(step.is_local for step in self.normalizers)
