"""`RowPlan`: for each row of a model after its vocabulary has changed, the row, or rows, that it is made of.

In: numbers of rows. Out: plain values; no tensor is looked at here.
"""

from __future__ import annotations

import json
import math
import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from trietok.errors import FileFormatError, InputError, InputTypeError, shortened
from trietok.files.formats import read_json_object
from trietok.files.whole import replacing

KIND = "trietok.RowPlan"
VERSION = 1

# A weighted sum of old rows, by their numbers; one without terms is a row of zeros.
Sum = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class RowPlan:
    """Where each row of a changed model comes from: an old row, or a weighted sum of old rows.

    Plans are made by `plan_rows`, `trim` and the commands; `apply_rows` and `apply_to` carry them out.

    Attributes:
        before, after: the fingerprints of the tokenizer the model has and of the one it is to have.
        rows_before, rows_after: how many rows each of them needs (its highest id plus one).
        sources: for each new row the old row it is, or `~k` where it is the sum `sums[k]`.
        sums: weighted sums of old rows, each a tuple of (old row, weight).

    >>> plan = RowPlan("A", "B", 3, 3, [0, 2, ~0], [((0, 0.5), (2, 0.5))])
    >>> plan.kept, plan.moved, plan.lost, plan.made
    (2, 1, 1, 1)
    >>> print(plan)
    2 of 3 rows kept (1 moved), 1 lost, 1 new
    """

    before: str
    after: str
    rows_before: int
    rows_after: int
    sources: Sequence[int]
    sums: Sequence[Sum] = field(default=())

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", array("q", self.sources))
        object.__setattr__(self, "sums", tuple(self.sums))
        _check(self)

    def __hash__(self) -> int:
        return hash((self.before, self.after))

    # ---- what it says -----------------------------------------------------------------------------------------------

    @property
    def kept(self) -> int:
        """How many new rows are old rows."""
        return sum(source >= 0 for source in self.sources)

    @property
    def moved(self) -> int:
        """How many new rows are old rows with another number."""
        return sum(source >= 0 and source != row for row, source in enumerate(self.sources))

    @property
    def made(self) -> int:
        """How many new rows are sums."""
        return len(self.sources) - self.kept

    @property
    def lost(self) -> int:
        """How many old rows are no new row."""
        return self.rows_before - len({source for source in self.sources if source >= 0})

    def new_rows_of(self) -> dict[int, int]:
        """Old row → new row; a lost row is missing.

        >>> RowPlan("A", "B", 3, 2, [2, 0]).new_rows_of()
        {2: 0, 0: 1}
        """
        found: dict[int, int] = {}
        for row, source in enumerate(self.sources):
            if source >= 0:
                found.setdefault(source, row)
        return found

    def terms_of(self, row: int) -> Sum:
        """What a new row is made of, as (old row, weight).

        >>> RowPlan("A", "B", 3, 2, [2, ~0], [((0, 0.5), (1, 0.5))]).terms_of(1)
        ((0, 0.5), (1, 0.5))
        """
        source = self.sources[row]
        return ((source, 1.0),) if source >= 0 else self.sums[~source]

    def __str__(self) -> str:
        return (
            f"{self.kept:,} of {self.rows_before:,} rows kept ({self.moved:,} moved), {self.lost:,} lost, "
            f"{self.made:,} new"
        )

    # ---- plans of plans ---------------------------------------------------------------------------------------------

    def then(self, later: RowPlan) -> RowPlan:
        """One plan for this change and then a later one.

        Raises:
            InputError: the later plan is for another vocabulary than the one this plan leads to.

        >>> adding = RowPlan("A", "B", 2, 3, [0, 1, ~0], [((0, 0.5), (1, 0.5))])
        >>> swapping = RowPlan("B", "C", 3, 3, [2, 0, 1])
        >>> adding.then(swapping).sources.tolist(), adding.then(swapping).sums
        ([-1, 0, 1], (((0, 0.5), (1, 0.5)),))
        """
        if not isinstance(later, RowPlan):
            raise InputTypeError(f"a RowPlan is followed by a RowPlan, not by {type(later).__name__}", value=later)
        if later.before != self.after or later.rows_before != self.rows_after:
            raise InputError(
                f"the first plan leads to the vocabulary {self.after} ({self.rows_after:,} rows), and the second is "
                f"for {later.before} ({later.rows_before:,} rows); give plans of successive changes"
            )
        sums = _Sums(self.sums)
        composed = [sums.number_of(self._resolved(each)) for each in later.sums]
        sources = [self.sources[source] if source >= 0 else ~composed[~source] for source in later.sources]
        used = dict.fromkeys(~source for source in sources if source < 0)
        numbers = {old: new for new, old in enumerate(used)}
        return RowPlan(
            self.before,
            later.after,
            self.rows_before,
            later.rows_after,
            [source if source >= 0 else ~numbers[~source] for source in sources],
            [sums.sums[number] for number in used],
        )

    def _resolved(self, terms: Sum) -> Sum:
        """A sum of this plan's new rows as a sum of its old ones."""
        weights: dict[int, float] = {}
        for row, weight in terms:
            for old, share in self.terms_of(row):
                weights[old] = weights.get(old, 0.0) + weight * share
        return tuple(weights.items())

    def inverse(self) -> RowPlan:
        """The plan that leads back: each old row is taken from where it went.

        Raises:
            InputError: old rows are lost, so nothing leads back to them.

        >>> RowPlan("A", "B", 2, 3, [1, 0, ~0], [()]).inverse().sources.tolist()
        [1, 0]
        """
        back = self.new_rows_of()
        missing = [row for row in range(self.rows_before) if row not in back]
        if missing:
            raise InputError(
                f"{len(missing):,} old rows are lost, the first of them {missing[:5]}, so this plan has no inverse; "
                "keep the model that it was applied to"
            )
        return RowPlan(
            self.after, self.before, self.rows_after, self.rows_before, [back[row] for row in range(self.rows_before)]
        )

    # ---- files ------------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """The plan as a value for JSON: runs of kept rows as [new row, old row, how many], and each sum once."""
        return {
            "kind": KIND,
            "version": VERSION,
            "before": {"fingerprint": self.before, "rows": self.rows_before},
            "after": {"fingerprint": self.after, "rows": self.rows_after},
            "kept": [list(run) for run in _runs(self.sources)],
            "made": [[row, ~source] for row, source in enumerate(self.sources) if source < 0],
            "sums": [[[row for row, _ in terms], [weight for _, weight in terms]] for terms in self.sums],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file; the file is replaced as a whole."""
        text = json.dumps(self.to_json(), separators=(",", ":"))
        with replacing(path) as file:
            file.write(f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RowPlan:
        """Read a plan that `save` wrote.

        Raises:
            FileError: the file cannot be read.
            FileFormatError: it holds no plan, or one that contradicts itself.
        """
        return cls.of_json(read_json_object(path), path)

    @classmethod
    def of_json(cls, value: Any, path: str | os.PathLike[str] = "(a value)") -> RowPlan:
        """The plan of a value that `to_json` gave.

        Args:
            value: what JSON holds.
            path: where it comes from, which an error names.
        """
        if not isinstance(value, dict) or value.get("kind") != KIND:
            raise FileFormatError(f'{path} is no row plan: it has no "kind": "{KIND}"', path=path)
        if value.get("version") != VERSION:
            raise FileFormatError(
                f"{path} is a row plan of version {value.get('version')!r:.20}, and this trietok reads version "
                f"{VERSION}; make the plan again, or use the trietok that made it",
                path=path,
            )
        try:
            sides = [(side["fingerprint"], side["rows"]) for side in (value["before"], value["after"])]
            sources: list[int | None] = [None] * _whole(sides[1][1])
            for new, old, count in value["kept"]:
                _place(sources, _whole(new), range(_whole(old), _whole(old) + _whole(count)))
            for new, number in value["made"]:
                _place(sources, _whole(new), [~_whole(number)])
            sums = [tuple(zip(map(_whole, rows), map(float, weights), strict=True)) for rows, weights in value["sums"]]
            holes = [row for row, source in enumerate(sources) if source is None]
            if holes:
                raise ValueError(f"row {holes[0]} comes from nowhere")
            (before, rows_before), (after, rows_after) = sides
            return cls(str(before), str(after), _whole(rows_before), rows_after, sources, sums)  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError, MemoryError, OverflowError) as error:
            message = f"missing {error}" if isinstance(error, KeyError) else str(error)
            raise FileFormatError(shortened(f"{path} is a damaged row plan: {message}"), path=path) from None


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.40} should be a whole number from 0")
    return value


def _place(sources: list[int | None], at: int, rows: Sequence[int]) -> None:
    if at + len(rows) > len(sources):
        raise ValueError(f"row {at + len(rows) - 1} is beyond the {len(sources)} new rows")
    for row, source in enumerate(rows, at):
        if sources[row] is not None:
            raise ValueError(f"row {row} stands there twice")
        sources[row] = source


def _runs(sources: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Runs of kept rows as (first new row, first old row, how many)."""
    start = first = length = 0
    for row, source in enumerate(sources):
        if length and source == first + length:
            length += 1
            continue
        if length:
            yield start, first, length
        start, first, length = row, source, int(source >= 0)
    if length:
        yield start, first, length


class _Sums:
    """Different sums, each with a number."""

    def __init__(self, sums: Iterable[Sum]) -> None:
        self.sums: list[Sum] = list(sums)
        self._numbers = {terms: number for number, terms in enumerate(self.sums)}

    def number_of(self, terms: Sum) -> int:
        number = self._numbers.setdefault(terms, len(self.sums))
        if number == len(self.sums):
            self.sums.append(terms)
        return number


def _check(plan: RowPlan) -> None:
    """Raise where the numbers of a plan contradict one another."""
    if len(plan.sources) != plan.rows_after:
        raise InputError(f"the plan has {len(plan.sources):,} sources for {plan.rows_after:,} rows")
    for row, source in enumerate(plan.sources):
        if not -len(plan.sums) <= source < plan.rows_before:
            raise InputError(
                f"row {row} of the plan comes from "
                + (f"row {source}, and there are {plan.rows_before:,}" if source >= 0 else f"sum {~source}, of none")
            )
    for terms in plan.sums:
        for old, weight in terms:
            if not 0 <= old < plan.rows_before:
                raise InputError(f"a sum of the plan has row {old}, and there are {plan.rows_before:,} old rows")
            if not math.isfinite(weight):
                raise InputError(f"a sum of the plan has the weight {weight} for row {old}; weights are finite numbers")
