"""`RowPlan`: for each row of a model after its vocabulary has changed, the row, or rows, that it is
made of; and what became of a model to which it was applied (`AppliedRows`).

In: what `plan_rows` found. Out: a plan, of plain values; no tensor is looked at here.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError, InputTypeError
from trietok.showing.characters import aligned
from trietok.showing.report import Report, Table
from trietok.workbench.adapting.rows_in_memory import ModelInMemory
from trietok.workbench.adapting.token_tensors import Sum
from trietok.workbench.comparing.compare import short_fingerprint

if TYPE_CHECKING:
    from trietok.workbench.adapting.row_blocks import ChangedTensor


@dataclass(frozen=True)
class RowPlan(Report):
    """Where each row of a changed model comes from: an old row, or a weighted sum of old rows.

    Plans are made by `plan_rows`, `trim` and the commands; `apply_rows` and `apply_to` carry them
    out.

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
    sums: Sequence[Sum] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", array("q", self.sources))
        object.__setattr__(self, "sums", tuple(self.sums))
        _check_numbers(self)

    def __hash__(self) -> int:
        return hash((self.before, self.after))

    # ---- what it says ----------------------------------------------------------------------------

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

    @property
    def replaces_vocabulary(self) -> bool:
        """Whether more than a fifth of the old rows are lost, and more than a fifth of the new rows
        are made.

        Adding tokens loses no row, and trimming makes none; a tokenizer that does both has another
        vocabulary.

        >>> (
        ...     RowPlan("A", "B", 3, 2, [2, 0]).replaces_vocabulary,
        ...     RowPlan("A", "B", 2, 1, [~0], [()]).replaces_vocabulary,
        ... )
        (False, True)
        """
        return 5 * self.lost > self.rows_before and 5 * self.made > self.rows_after

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

    def _parts(self) -> list[str]:
        kept = f"{self.kept:,} of {self.rows_before:,} rows kept ({self.moved:,} moved)"
        return [f"{kept}, {self.lost:,} lost, {self.made:,} new"]

    # ---- plans of plans --------------------------------------------------------------------------

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
            raise InputTypeError(
                f"a RowPlan is followed by a RowPlan, not by {type(later).__name__}", value=later
            )
        if later.before != self.after or later.rows_before != self.rows_after:
            raise InputError(
                f"the first plan leads to the vocabulary {self.after} ({self.rows_after:,} rows),"
                f" and the second is for {later.before} ({later.rows_before:,} rows); give plans of"
                " successive changes"
            )
        sums = Sums(self.sums)
        composed = [sums.number_of(self._resolved(each)) for each in later.sums]
        sources = [
            self.sources[source] if source >= 0 else ~composed[~source] for source in later.sources
        ]
        used: dict[int, int] = {}  # numbers of sums → those of the new plan
        sources = [
            source if source >= 0 else ~used.setdefault(~source, len(used)) for source in sources
        ]
        sums_used = [sums.sums[number] for number in used]
        return RowPlan(
            self.before, later.after, self.rows_before, later.rows_after, sources, sums_used
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
                f"{len(missing):,} old rows are lost, the first of them {missing[:5]}, so this plan"
                " has no inverse; keep the model that it was applied to"
            )
        sources = [back[row] for row in range(self.rows_before)]
        return RowPlan(self.after, self.before, self.rows_after, self.rows_before, sources)

    # ---- models ----------------------------------------------------------------------------------

    def for_model(self, rows: int, multiple_of: int = 1) -> RowPlan:
        """This plan for a model that has more rows than its tokenizer needs, its spare rows
        included.

        Where the plan loses no row, the spare rows stay behind the others, and new ids take them
        over: afterwards the model has as many rows as before, or as many as the new tokenizer
        needs, if those are more. Where the plan loses a row, the model has as many as the new
        tokenizer needs. Either number is then rounded up to a multiple; rows that this adds are
        zeros.

        Args:
            rows: how many rows the model has.
            multiple_of: what the number of its rows afterwards is a multiple of; 8 or 64 suit some
                accelerators.

        Raises:
            InputError: the model has fewer rows than its tokenizer needs, or `multiple_of` is not
                positive.

        >>> adding = RowPlan("A", "B", 3, 4, [0, 1, 2, ~0], [((0, 0.5), (1, 0.5))])
        >>> adding.for_model(6).sources.tolist()  # a model with three spare rows: one is taken over
        [0, 1, 2, -1, 4, 5]
        """
        if type(multiple_of) is not int or multiple_of < 1:
            raise InputError(f"multiple_of is a whole number from 1, not {multiple_of!r:.40}")
        if rows < self.rows_before:
            raise InputError(
                f"the model has {rows:,} rows, and the tokenizer that the plan is for needs"
                f" {self.rows_before:,}; give the model that belongs to it"
            )
        kept = 0 if self.lost else rows  # below it, spare rows stay
        rows_after = -(-max(self.rows_after, kept) // multiple_of) * multiple_of
        zeros = len(self.sums)
        sources = [
            *self.sources,
            *(row if row < kept else ~zeros for row in range(self.rows_after, rows_after)),
        ]
        sums = self.sums if rows_after <= max(self.rows_after, kept) else (*self.sums, ())
        return RowPlan(self.before, self.after, rows, rows_after, sources, sums)

    def apply_to(
        self,
        model: Any,
        *,
        also: Iterable[str] = (),
        leave: Iterable[str] = (),
        multiple_of: int = 1,
    ) -> AppliedRows:
        """Give a PyTorch model the rows of this plan, in place; its parameters stay the same
        objects.

        Changed are the input embeddings, the heads that predict tokens, their biases,
        `num_embeddings`, `padding_idx`, `out_features`, and in the configuration `vocab_size`,
        `pad_token_id` and the other `..._token_id`. What is tied stays tied. If anything is wrong
        the model is as it was.

        An optimizer keeps averages for each element of a parameter, and those of the parameters
        that are changed no longer fit: make the optimizer after this call, or remove what its
        `state` holds for them.

        Args:
            model: a `torch.nn.Module`: a model of transformers, one of sentence-transformers, or
                one that holds such.
            also: names of parameters, or patterns such as `"*.token_scores"`, whose first axis has
                a row for each token and which trietok does not know.
            leave: names or patterns of parameters that are left as they are.
            multiple_of: what the number of rows afterwards is a multiple of, see `for_model`.

        Raises:
            MissingDependencyError: numpy is not installed.
            InputTypeError: `model` is no `torch.nn.Module`.
            InputError: the model has fewer rows than the plan needs; a parameter of which nothing
                is known has as many rows as there are tokens; or a new row would be made of rows
                that are not finite.
        """
        there = ModelInMemory(model, also, leave)
        fitted = self.for_model(there.rows, multiple_of)
        return AppliedRows(self, there.rows, fitted.rows_after, *there.give(fitted))

    def to_dict(self) -> dict[str, Any]:
        """Its numbers as JSON has them, without the sources."""
        names = ("before", "after", "rows_before", "rows_after", "kept", "moved", "lost", "made")
        return {name: getattr(self, name) for name in names}


class Sums:
    """Different sums, each with a number."""

    def __init__(self, sums: Iterable[Sum] = ()) -> None:
        self.sums = list(sums)
        self._numbers = {terms: number for number, terms in enumerate(self.sums)}

    def number_of(self, terms: Sum) -> int:
        number = self._numbers.setdefault(terms, len(self.sums))
        if number == len(self.sums):
            self.sums.append(terms)
        return number


def _check_numbers(plan: RowPlan) -> None:
    """Raise where the numbers of a plan contradict one another."""
    if len(plan.sources) != plan.rows_after:
        raise InputError(f"the plan has {len(plan.sources):,} sources for {plan.rows_after:,} rows")
    lowest, highest = min(plan.sources, default=0), max(plan.sources, default=-1)
    if lowest < -len(plan.sums) or highest >= plan.rows_before:
        source = highest if highest >= plan.rows_before else lowest
        there = f"row {source}, and there are {plan.rows_before:,} old rows"
        if source < 0:
            there = f"sum {~source}, and there are {len(plan.sums):,} sums"
        raise InputError(f"row {plan.sources.index(source)} of the plan comes from {there}")
    for terms in plan.sums:
        for old, weight in terms:
            if not 0 <= old < plan.rows_before:
                raise InputError(
                    f"a sum of the plan has row {old}, and there are {plan.rows_before:,} old rows"
                )
            if not math.isfinite(weight):
                raise InputError(
                    f"a sum of the plan has the weight {weight} for row {old}; weights are finite"
                    " numbers"
                )


# ---- what became of a model ----------------------------------------------------------------------

HEAD_OF_TENSORS = ("tensor", "before", "after", "type")


@dataclass(frozen=True)
class AppliedRows(Report):
    """What became of a model. `str` makes it readable.

    Attributes:
        plan: the plan that was carried out.
        rows_before, rows_after: how many rows the model had and has, spare ones included.
        tensors: those that go with the vocabulary.
        ids: the values of the configuration that changed, → what they are now.
        out: the directory that was written; empty for a model in memory.
        copied: the other files of the directory that it holds too.
        left_out: files of the old directory that it does not hold, such as weights in other
            formats.
        has_tokenizer: whether a tokenizer was saved there.
    """

    plan: RowPlan
    rows_before: int
    rows_after: int
    tensors: list[ChangedTensor]
    ids: dict[str, Any]
    out: str = ""
    copied: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    has_tokenizer: bool = False

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A line for each tensor, in the columns of `HEAD_OF_TENSORS`."""
        return [
            (tensor.name, _shape(tensor.before), _shape(tensor.after), tensor.dtype)
            for tensor in self.tensors
        ]

    @property
    def proof(self) -> str:
        """What became of the rows, in one sentence."""
        before, after = map(short_fingerprint, (self.plan.before, self.plan.after))
        return f"{self.plan}; fingerprint {before} → {after}"

    def summary(self) -> list[str]:
        """What was done, in sentences, without the proof."""
        spare = self.rows_after - self.plan.rows_after
        lines = [
            f"the model had {self.rows_before:,} rows and has {self.rows_after:,}"
            + (f", {spare:,} of them spare" if spare else "")
        ]
        if self.ids:
            lines.append(
                "configuration: " + ", ".join(f"{key} {value}" for key, value in self.ids.items())
            )
        if self.left_out:
            lines.append(f"not carried over: {', '.join(self.left_out)}")
        if self.out:
            lines.append(
                f"written to {self.out}" + ("" if self.has_tokenizer else ", without a tokenizer")
            )
        return lines

    def _parts(self) -> list[str | Table]:
        return [Table(HEAD_OF_TENSORS, self.rows()), *self.summary(), self.proof]

    def table(self) -> list[str]:
        """The rows in columns, under their `HEAD_OF_TENSORS`."""
        return aligned([HEAD_OF_TENSORS, *self.rows()])


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
