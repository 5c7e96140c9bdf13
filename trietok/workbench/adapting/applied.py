"""`AppliedRows`: what became of the tensors of a model whose rows were planned anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.workbench.comparing.report import short_fingerprint

if TYPE_CHECKING:
    from trietok.workbench.adapting.row_plan import RowPlan

HEAD = ("tensor", "before", "after", "type")


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


class AppliedRows(NamedTuple):
    """What became of a model. `str` makes it readable.

    Attributes:
        plan: the plan that was carried out.
        rows_before, rows_after: how many rows the model had and has, spare ones included.
        tensors: those that go with the vocabulary.
        ids: the values of the configuration that changed, → what they are now.
        out: the directory that was written; empty for a model in memory.
        copied: the other files of the directory that it holds too.
        left_out: files of the old directory that it does not hold, such as weights in other formats.
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

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; of the plan its numbers."""
        plan = self.plan
        return {
            **self._asdict(),
            "plan": {
                **{side: getattr(plan, side) for side in ("before", "after", "rows_before", "rows_after")},
                **{count: getattr(plan, count) for count in ("kept", "moved", "lost", "made")},
            },
            "tensors": [tensor._asdict() for tensor in self.tensors],
        }

    def rows(self) -> list[tuple[str, str, str, str]]:
        """A line for each tensor, in the columns of `HEAD`."""
        return [(tensor.name, _shape(tensor.before), _shape(tensor.after), tensor.dtype) for tensor in self.tensors]

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
            + (f", {spare:,} of them spare" if spare else ""),
        ]
        if self.ids:
            lines.append("configuration: " + ", ".join(f"{key} {value}" for key, value in self.ids.items()))
        if self.left_out:
            lines.append(f"not carried over: {', '.join(self.left_out)}")
        if self.out:
            lines.append(f"written to {self.out}" + ("" if self.has_tokenizer else ", without a tokenizer"))
        return lines

    def __str__(self) -> str:
        return "\n".join([*self.table(), *self.summary(), self.proof])

    def table(self) -> Iterator[str]:
        """The rows in columns, under their `HEAD`."""
        rows = [HEAD, *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape))
