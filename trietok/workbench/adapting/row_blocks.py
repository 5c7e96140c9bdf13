"""The new tensors of a model as bytes, block by block, by a plan (`RowBlocks`).

A row that is kept, and one that is a copy of one old row, has the same bits; a sum is computed with
float64 and rounded once, to the nearest number of the tensor's type, to the even one of two that
are equally near. Of a mean the rows are added up first, each as often as its weight says, and
divided then: 1/3 is no float64, and a third of each would miss the middle of two numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from trietok.errors import InputError, imported
from trietok.workbench.adapting.token_tensors import Sources, Sum

_MOST_SHARES = 1 << 26  # that a mean is divided into: as many as a plan has rows
BLOCK_BYTES = 1 << 23  # of results at a time, and of what sums are computed from
_fraction = lru_cache(maxsize=1 << 12)(
    lambda weight, most: Fraction(weight).limit_denominator(most)
)
# The types that can be added up, by the names of .safetensors files; BF16 is the upper half of a
# float32.
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


def import_package(name: str, instead: str = "") -> Any:
    """numpy or safetensors, which only those need who change a model; or what runs one, and what
    goes without.
    """
    package = name.replace("_", "-")
    return (
        imported(name, package, f"pip install {package}; or {instead}")
        if instead
        else imported(name, "model")
    )


class RowBlocks:
    """Makes the new tensors of a model, one after the other, by a plan as `RowPlan.for_model` gives
    it.
    """

    def __init__(self, plan: Sources) -> None:
        self._np = np = import_package("numpy")
        self._plan = plan
        sources = np.frombuffer(plan.sources, dtype=np.int64)
        # A sum of one row with the weight 1 is that row, bit for bit; those left below 0 are
        # computed.
        copies = [
            terms[0][0] if len(terms) == 1 and terms[0][1] == 1.0 else -1 for terms in plan.sums
        ]
        alone = np.array(copies or [-1], dtype=np.int64)
        made = sources < 0
        self._sources = np.where(made, alone[np.where(made, ~sources, 0)], sources)
        self._sums = np.where(made & (self._sources < 0), ~sources, -1)
        lengths = np.array([len(terms) for terms in plan.sums], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum(lengths)))
        self._rows = np.array([row for terms in plan.sums for row, _ in terms], dtype=np.int64)
        shares = list(map(_shares, plan.sums))
        self._weights = np.array(
            [weight for weights, _ in shares for weight in weights], dtype=np.float64
        )
        self._divisors = np.array([divisor for _, divisor in shares] or [1], dtype=np.float64)
        copied = np.unique(alone[alone >= 0])
        self._read = np.unique(np.concatenate((self._rows, copied)))
        self._put: dict[str, tuple[Any, Any]] = {}

    def put(self, rows: Sequence[int], values: Any, names: Iterable[str]) -> None:
        """Have some rows, in order, be these values in the tensors of some names, whatever the plan
        makes them of.
        """
        self._put |= dict.fromkeys(names, (self._np.array(rows, dtype=int), values))

    @property
    def rows(self) -> int:
        """How many rows a new tensor has."""
        return self._plan.rows_after

    def blocks(
        self, name: str, dtype: str, shape: tuple[int, ...], axis: int, old: Any
    ) -> Iterator[Any]:
        """The bytes of a new tensor, as arrays one after the other, from its type as .safetensors
        files name it, its old shape, the axis of the tokens and the old bytes.
        """
        np = self._np
        outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
        count = outer * shape[axis] * inner
        element = len(memoryview(old).cast("B")) // count if count else 1
        values = np.frombuffer(old, dtype=_FLOATS.get(dtype, f"V{element}"), count=count)
        table = values.reshape(outer, shape[axis], inner)
        tensor = _Tensor(self, name, dtype, table)
        tensor.check_read(self._read)
        # Whole rows where the tokens are the first axis, as nearly always; else several stretches
        # of tokens at once.
        row_bytes = max(inner * element, 1)
        rows = max(1, BLOCK_BYTES // row_bytes)
        stretches = max(1, BLOCK_BYTES // (row_bytes * max(self.rows, 1)))
        for first in range(0, outer, stretches):
            for row in range(0, self.rows, rows):
                yield tensor.block(slice(first, first + stretches), slice(row, row + rows))


class _Tensor:
    """One tensor as a table of outer axes, tokens, and inner axes."""

    def __init__(self, plan: RowBlocks, name: str, dtype: str, table: Any) -> None:
        self._np = plan._np
        self._plan, self._name, self._dtype, self._table = plan, name, dtype, table
        self._long: dict[tuple[int, int], Any] = {}  # results of sums of many terms

    def block(self, outer: slice, rows: slice) -> Any:
        """Some of the new rows."""
        np, plan = self._np, self._plan
        old, sources, sums = self._table[outer], plan._sources[rows], plan._sums[rows]
        new = np.take(old, np.maximum(sources, 0), axis=1)
        summed = np.flatnonzero(sums >= 0)
        if len(summed):
            different, which = np.unique(sums[summed], return_inverse=True)
            new[:, summed] = self._results(different, old)[:, which]
        put, values = plan._put.get(self._name, ((), None))
        first, last = np.searchsorted(put, (rows.start, rows.stop))
        if first < last:
            new[:, put[first:last] - rows.start] = self._rounded(
                np.asarray(values[first:last], dtype=np.float64)
            )
        return new

    def _results(self, sums: Any, old: Any) -> Any:
        """The results of some sums."""
        np, plan = self._np, self._plan
        results = np.zeros((old.shape[0], len(sums), old.shape[2]), dtype=old.dtype)
        terms = plan._starts[sums + 1] - plan._starts[sums]
        if terms.any() and self._dtype not in _FLOATS:
            raise InputError(
                f"{self._name!r} holds numbers of the type {self._dtype}, which cannot be added up;"
                " store it as F32, F16 or BF16, or make new rows copies of others"
                ' (initialization="copy:TOKEN") or zeros'
            )
        ends = np.cumsum(terms)
        limit = max(1, BLOCK_BYTES // (8 * max(old.shape[0] * old.shape[2], 1)))
        first = 0
        while first < len(sums):  # as many at once as their terms fit into a block of float64
            after = int(np.searchsorted(ends, ends[first] - terms[first] + limit, side="right"))
            if after <= first:
                results[:, first] = self._of_many_terms(int(sums[first]), limit, old)
                after = first + 1
            elif terms[first:after].any():
                results[:, first:after] = self._of_few_terms(sums[first:after], old)
            first = after
        return results

    def _of_few_terms(self, sums: Any, old: Any) -> Any:
        np, plan = self._np, self._plan
        starts = plan._starts[sums]
        lengths = plan._starts[sums + 1] - starts
        offsets = np.cumsum(lengths) - lengths
        terms = np.repeat(starts - offsets, lengths) + np.arange(int(lengths.sum()))
        some = lengths > 0  # of an empty stretch reduceat does not give 0
        total = np.zeros((old.shape[0], len(sums), old.shape[2]))
        with np.errstate(over="ignore", invalid="ignore"):  # the result is looked at
            total[:, some] = np.add.reduceat(self._weighted(old, terms), offsets[some], axis=1)
            return self._rounded(total / plan._divisors[sums][:, None])

    def _of_many_terms(self, number: int, limit: int, old: Any) -> Any:
        """The result of a sum too long to be computed at once; the last one is kept, as it often
        comes again.
        """
        np, plan = self._np, self._plan
        key = number, old.__array_interface__["data"][0]
        if key not in self._long:
            total = np.zeros((old.shape[0], old.shape[2]))
            with np.errstate(over="ignore", invalid="ignore"):
                for start in range(int(plan._starts[number]), int(plan._starts[number + 1]), limit):
                    end = min(start + limit, int(plan._starts[number + 1]))
                    total += self._weighted(old, np.arange(start, end)).sum(axis=1)
                self._long = {key: self._rounded(total / plan._divisors[number])}
        return self._long[key]

    def _weighted(self, old: Any, terms: Any) -> Any:
        np, plan = self._np, self._plan
        rows = np.take(old, plan._rows[terms], axis=1)
        return _as_float(np, rows, self._dtype) * plan._weights[terms][:, None]

    def _rounded(self, total: Any) -> Any:
        np = self._np
        result = (
            _to_bfloat16(np, total) if self._dtype == "BF16" else total.astype(_FLOATS[self._dtype])
        )
        if not np.isfinite(_as_float(np, result, self._dtype)).all():
            raise InputError(
                f"a new row of {self._name!r} would have numbers beyond those of the type"
                f" {self._dtype}; give smaller weights"
            )
        return result

    def check_read(self, rows: Any) -> None:
        """Raise where a row that others are made of is not finite."""
        np = self._np
        if self._dtype not in _FLOATS:
            return
        step = max(1, BLOCK_BYTES // (8 * max(self._table.shape[0] * self._table.shape[2], 1)))
        for start in range(0, len(rows), step):
            some = rows[start : start + step]
            finite = np.isfinite(
                _as_float(np, np.take(self._table, some, axis=1), self._dtype)
            ).all(axis=(0, 2))
            if not finite.all():
                raise InputError(
                    f"row {some[int(np.argmin(finite))]} of {self._name!r} holds numbers that are"
                    " not finite (NaN or infinite), and a new row is made of it; repair the model,"
                    " or choose another initialization"
                )


def _shares(terms: Sum) -> tuple[list[float], int]:
    """The weights of a sum as whole numbers and what to divide by, where it is a weighted mean;
    else as they are.
    """
    weights = [weight for _, weight in terms]
    if min(weights, default=0.0) > 0 and math.isclose(sum(weights), 1, rel_tol=1e-9):
        parts = [_fraction(weight, _MOST_SHARES) for weight in weights]
        count = math.lcm(*(part.denominator for part in parts))
        shares = [part.numerator * (count // part.denominator) for part in parts]
        if sum(shares) == count < _MOST_SHARES and all(
            math.isclose(share / count, weight, rel_tol=1e-12)
            for share, weight in zip(shares, weights, strict=True)
        ):
            return list(map(float, shares)), count
    return weights, 1


def _as_float(np: Any, values: Any, dtype: str) -> Any:
    """Values of a tensor as float64, which holds all of them exactly."""
    if dtype == "BF16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        return values.astype(np.float64)


def _to_bfloat16(np: Any, values: Any) -> Any:
    """float64 to the upper halves of float32, rounded once.

    Rounding to float32 first and then to bfloat16 would round twice, and a number just beside the
    middle of two would go to the wrong one. So the first step rounds to odd: a float32 that is not
    exact has its last bit set, and the second step sees that there was something below.
    """
    single = values.astype(np.float32)
    bits = single.view(np.uint32)
    exact = single.astype(np.float64)
    bits = bits - (np.abs(exact) > np.abs(values)).astype(np.uint32)
    bits = bits | (exact != values).astype(np.uint32)
    return (
        (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    ).astype(np.uint16)


class ChangedTensor(NamedTuple):
    """A tensor that goes with the vocabulary.

    Attributes:
        name: its name.
        before, after: its shape.
        dtype: its type, as .safetensors files name it.
        file: the file it is in; empty for a model in memory.
    """

    name: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    dtype: str
    file: str = ""
