"""The parts of a row plan as JSON has them, read and checked.

In: what a JSON file holds. Out: plain values, of which `RowPlan` is made.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

MOST_ROWS = 1 << 26  # of a plan that is read: far more than any model has, and they fit into memory

# A weighted sum of old rows, by their numbers; one without terms is a row of zeros.
Sum = tuple[tuple[int, float], ...]

_NOWHERE = -(1 << 63)  # what no row is made of yet


def read_plan(value: dict[str, Any]) -> tuple[str, str, int, int, array[int], list[Sum]]:
    """The parts of a plan; ValueError and the like where they are none."""
    (before, rows_before), (after, rows_after) = (
        (_text(side["fingerprint"]), _whole(side["rows"])) for side in (value["before"], value["after"])
    )
    runs = [(_whole(new), _whole(old), _whole(count)) for new, old, count in value["kept"]]
    made = [(_whole(new), _whole(number), _whole(count)) for new, number, count in value["made"]]
    if max(rows_before, rows_after) > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} rows")
    sources = array("q", [_NOWHERE]) * rows_after
    for new, old, count in runs:
        _place(sources, new, count, range(old, old + count))
    for new, number, count in made:
        _place(sources, new, count, range(~number, ~number - count, -1))
    if _NOWHERE in sources:
        raise ValueError(f"row {sources.index(_NOWHERE)} comes from nowhere")
    sums = value["sums"]
    counts, rows = list(map(_whole, sums["terms"])), list(map(_whole, sums["rows"]))
    terms = zip(rows, map(_number, sums["weights"]), strict=True)
    if sum(counts) != len(rows):
        raise ValueError(f"its sums should have {sum(counts)} terms, and {len(rows)} are there")
    read = [tuple(islice(terms, count)) for count in counts]
    next(terms, None)  # as many weights as rows
    return before, after, rows_before, rows_after, sources, read


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r:.40} should be a whole number from 0")
    return value


def _number(value: Any) -> float:
    if type(value) is not int and type(value) is not float:
        raise ValueError(f"{value!r:.40} should be a number")
    return float(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ValueError(f"{value!r:.40} should be a text")
    return value


def _place(sources: array[int], at: int, count: int, rows: range) -> None:
    if at + count > len(sources):
        raise ValueError(f"row {at + count - 1} is beyond the {len(sources)} new rows")
    if sources[at : at + count].count(_NOWHERE) != count:
        raise ValueError(f"a row from {at} to {at + count - 1} stands there twice")
    sources[at : at + count] = array("q", rows)


def runs_of(sources: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Runs of successive kept rows, or of successive sums, as (first new row, first source, how many)."""
    start = first = length = 0
    for row, source in enumerate(sources):
        if length and source == (first + length if first >= 0 else first - length):
            length += 1
            continue
        if length:
            yield start, first, length
        start, first, length = row, source, 1
    if length:
        yield start, first, length
