"""A plan carried out: the tensors and ids of a model that it changes, the new rows as bytes, a
PyTorch model in memory.

In: a plan for the model, and its tensors as names, shapes and bytes, or a PyTorch model. Out: the
bytes of each new tensor, block by block (`RowBlocks`), and what became of the model
(`AppliedRows`). The rules for names and the numbers are the same for files (`apply_rows`) and in
memory (`apply_to`).

A row that is kept, and one that is a copy of one old row, has the same bits; a sum is computed with
float64 and rounded once, to the nearest number of the tensor's type, to the even one of two that
are equally near. Of a mean the rows are added up first, each as often as its weight says, and
divided then: 1/3 is no float64, and a third of each would miss the middle of two numbers.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.errors import InputError, InputTypeError, imported
from trietok.showing.characters import aligned
from trietok.showing.report import Report, Table
from trietok.workbench.comparing.compare import short_fingerprint

if TYPE_CHECKING:
    from trietok.workbench.adapting.row_plan import RowPlan, Sum


# ---- which tensors have a row, or a column, for each token ---------------------------------------

# How the name of a tensor ends in transformers' models, whatever stands before it (`bert.`,
# `question_encoder.bert_model.` and the like), and the axis of the tokens.
TOKEN_AXES: dict[str, int] = {
    "word_embeddings.weight": 0,  # all of the family
    # BERT, LayoutLM, LXMERT, MobileBERT, SqueezeBERT
    "cls.predictions.decoder.weight": 0,
    "cls.predictions.decoder.bias": 0,
    "cls.predictions.bias": 0,
    # MobileBERT: the part of its head that is not tied to its embeddings
    "cls.predictions.dense.weight": (1),
    # DistilBERT
    "vocab_projector.weight": 0,
    "vocab_projector.bias": 0,
    # ELECTRA, ConvBERT
    "generator_lm_head.weight": 0,
    "generator_lm_head.bias": 0,
    # MPNet, Funnel
    "lm_head.decoder.weight": 0,
    "lm_head.decoder.bias": 0,
    "lm_head.weight": 0,
    "lm_head.bias": 0,
}


def token_axis(name: str) -> int | None:
    """The axis of the tokens in a tensor of that name; None where no rule knows it.

    >>> token_axis("question_encoder.bert_model.embeddings.word_embeddings.weight")
    0
    >>> token_axis("cls.predictions.dense.weight"), token_axis("pooler.dense.weight")
    (1, None)
    """
    words = name.split(".")
    return next(
        (
            TOKEN_AXES[end]
            for start in range(len(words))
            if (end := ".".join(words[start:])) in TOKEN_AXES
        ),
        None,
    )


def token_axes(
    shapes: Mapping[str, tuple[int, ...]],
    rows: int,
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    places: Mapping[str, str] | None = None,
) -> dict[str, int]:
    """The tensors that go with the vocabulary of a model with so many rows, each with the axis of
    the tokens.

    `also` and `leave` are names, or patterns with `*`, of more tensors whose first axis is that of
    the tokens, and of tensors that do not go with the vocabulary; `places` are the files of the
    tensors, which an error names.

    >>> token_axes({"embeddings.word_embeddings.weight": (9, 4), "pooler.dense.weight": (4, 4)}, 9)
    {'embeddings.word_embeddings.weight': 0}
    """
    wanted, left = (
        _matching(patterns, shapes, option)
        for patterns, option in ((also, "also"), (leave, "leave"))
    )
    both = sorted(wanted & left)
    if both:
        raise InputError(f"{both[0]!r} is named by both `also` and `leave`")
    axes: dict[str, int] = {}
    for name, shape in shapes.items():
        if name in left:
            continue
        axis = 0 if name in wanted else token_axis(name)
        where = f"{name!r} of shape {list(shape)}{f' in {places[name]}' if places else ''}"
        if axis is None:
            if rows in shape:
                raise InputError(
                    f"{where} has a dimension of {rows:,}, as many as there are token rows, and"
                    f" nothing is known of it. Say --also {name} (also=[...]) if its first axis has"
                    f" a row for each token, or --leave {name} (leave=[...]) if it has nothing to"
                    " do with tokens"
                )
        elif axis >= len(shape) or shape[axis] != rows:
            found = shape[axis] if axis < len(shape) else "no"
            raise InputError(
                f"{where} has {found} rows for tokens, and the configuration says vocab_size"
                f" {rows:,}; correct the model, or say --leave {name} (leave=[...]) if the tensor"
                " has nothing to do with tokens"
            )
        else:
            axes[name] = axis
    if not axes:
        raise InputError(
            f"none of the {len(shapes):,} tensors has rows for tokens by its name; say --also NAME"
            " (also=[...]) which of them has"
        )
    return axes


def _matching(patterns: Iterable[str], names: Iterable[str], option: str) -> set[str]:
    found: set[str] = set()
    for pattern in (patterns,) if isinstance(patterns, str) else patterns:
        matching = {name for name in names if name == pattern or fnmatchcase(name, pattern)}
        if not matching:
            raise InputError(f"`{option}` names {pattern!r}, and there is no such tensor")
        found |= matching
    return found


# ---- the ids that a model's configuration holds --------------------------------------------------

_ENDINGS = ("_token_id", "_token_ids")
_OTHERS = frozenset(("suppress_tokens", "begin_suppress_tokens", "bad_words_ids"))
# What a model's class takes where config.json does not say; those of Funnel and LXMERT take
# nothing.
_PAD, _QUESTION = "pad_token_id", "question_token_id"
_DEFAULTS = {
    **{
        name: {_PAD: 0}
        for name in "bert distilbert dpr electra layoutlm mobilebert retribert squeezebert".split()
    },
    "convbert": {_PAD: 1},
    "splinter": {_PAD: 0, _QUESTION: 104},
}
_MPNET_PAD = 1


def moved_ids(
    values: Mapping[str, Any],
    plan: RowPlan,
    *,
    where: str,
    tokenizer: Any = None,
    is_model: bool = True,
) -> dict[str, Any]:
    """The ids among the values of a configuration that change, with what they are to be.

    `where` is how an error names the configuration; the tokenizer tells the id of a role where the
    plan loses the row of the old one; `is_model`: it is that of a model, whose class has ids that
    it takes where none are given.

    >>> from trietok.workbench.adapting.row_plan import RowPlan
    >>> moved_ids(
    ...     {"pad_token_id": 0, "vocab_size": 3},
    ...     RowPlan("A", "B", 3, 3, [1, 0, 2]),
    ...     where="config.json",
    ... )
    {'pad_token_id': 1}
    """
    new_ids = plan.new_rows_of()
    kind = values.get("model_type") if is_model else None
    if kind == "mpnet" and plan.rows_before > _MPNET_PAD and new_ids.get(_MPNET_PAD) != _MPNET_PAD:
        raise InputError(
            "MPNet takes the id 1 for padding, whatever its configuration says, and the plan moves"
            " that row; give a tokenizer whose padding token has the id 1"
        )

    def moved(key: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [moved(key, each) for each in value]
        if type(value) is not int or not 0 <= value < plan.rows_before:
            return value  # None, or an id that means nothing to this vocabulary
        if value in new_ids:
            return new_ids[value]
        role = key.removesuffix("_id")
        if tokenizer is None or not key.endswith("_token_id"):
            raise InputError(
                f"{where} has {key} {value}, and the plan drops that row; give the new tokenizer"
                " too (tokenizer=..., --new-tokenizer), which has another token in that role, or"
                " change the configuration first"
            )
        token = getattr(tokenizer, role, None)
        return None if token is None else tokenizer.convert_tokens_to_ids(str(token))

    defaults = _DEFAULTS.get(kind, {}) if isinstance(kind, str) else {}
    ids = {key: value for key, value in defaults.items() if key not in values}
    ids |= {key: value for key, value in values.items() if key.endswith(_ENDINGS) or key in _OTHERS}
    return {key: new for key, value in ids.items() if (new := moved(key, value)) != value}


# ---- the numbers ---------------------------------------------------------------------------------

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

    def __init__(self, plan: RowPlan) -> None:
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
                ' (start="copy:TOKEN") or zeros'
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
                    " or give `start` as something else"
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


# ---- what became of a model ----------------------------------------------------------------------

HEAD_OF_TENSORS = ("tensor", "before", "after", "type")


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

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; of the plan its numbers."""
        numbers = ("before", "after", "rows_before", "rows_after", "kept", "moved", "lost", "made")
        return {**super().to_dict(), "plan": {name: getattr(self.plan, name) for name in numbers}}

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
            + (f", {spare:,} of them spare" if spare else ""),
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


# ---- a PyTorch model in memory -------------------------------------------------------------------

_DTYPES = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}


def apply_to(
    plan: RowPlan,
    model: Any,
    *,
    also: Iterable[str] = (),
    leave: Iterable[str] = (),
    multiple_of: int = 1,
) -> AppliedRows:
    """`plan.apply_to(model, ...)`."""
    import_package("numpy")
    torch = sys.modules.get("torch")  # where it is not installed nobody has a model
    if torch is None or not isinstance(model, torch.nn.Module):
        raise InputTypeError(
            f"apply_to takes a torch.nn.Module, not {type(model).__name__}", value=model
        )
    tensors, configs = _tensors(model), _configs(model)
    rows = _embedding_rows(tensors, configs)
    fitted = plan.for_model(rows, multiple_of)
    axes = token_axes(
        {name: tuple(tensor.shape) for name, tensor in tensors.items()},
        rows,
        also=also,
        leave=leave,
    )
    blocks = RowBlocks(fitted)
    ids = [
        moved_ids(
            {**vars(config), "model_type": getattr(config, "model_type", None)},
            fitted,
            where=type(config).__name__,
        )
        for config in configs
    ]
    generation = getattr(model, "generation_config", None)
    of_generation = {} if generation is None else vars(generation)
    generation_ids = moved_ids(of_generation, fitted, where="generation_config", is_model=False)
    new: dict[int, Any] = {}  # all are made before the first is put in
    changed: list[ChangedTensor] = []
    for name, axis in axes.items():
        tensor = tensors[name]
        made = new[id(tensor)] = (
            new[id(tensor)] if id(tensor) in new else _made(torch, blocks, name, tensor, axis)
        )
        changed.append(ChangedTensor(name, tuple(tensor.shape), tuple(made.shape), _dtype(tensor)))
    for tensor in {id(tensors[name]): tensors[name] for name in axes}.values():
        tensor.grad = None  # it has a gradient for each old row
        tensor.data = new[id(tensor)]
    _resize_modules(torch, model, axes, fitted)
    for config, values in zip(configs, ids, strict=True):
        # Splinter keeps the id of its question token in a module, too
        for module in model.modules():
            for key in values.keys() & vars(module).keys():
                if vars(module)[key] == getattr(config, key, None):
                    setattr(module, key, values[key])
        for key, value in {**values, "vocab_size": fitted.rows_after}.items():
            setattr(config, key, value)
    for key, value in generation_ids.items():
        setattr(generation, key, value)
    ids_now = {"vocab_size": fitted.rows_after, **(ids[0] if ids else {})}
    return AppliedRows(plan, rows, fitted.rows_after, changed, ids_now)


def _tensors(model: Any) -> dict[str, Any]:
    """Parameters and buffers by name; one that is tied stands there under each of its names."""
    found = {
        **dict(model.named_parameters(remove_duplicate=False)),
        **dict(model.named_buffers(remove_duplicate=False)),
    }
    for name, tensor in found.items():
        if tensor.is_meta:
            raise InputError(
                f"{name!r} has no values yet (it is on the device meta); load the model first"
            )
    return found


def _configs(model: Any) -> list[Any]:
    """The different configurations of the model and its parts that say how many tokens there
    are.
    """
    found = [getattr(module, "config", None) for module in model.modules()]
    return list(
        {
            id(each): each for each in found if type(getattr(each, "vocab_size", None)) is int
        }.values()
    )


def _embedding_rows(tensors: dict[str, Any], configs: list[Any]) -> int:
    said = {config.vocab_size for config in configs}
    if not said:
        said = {
            tensor.shape[0]
            for name, tensor in tensors.items()
            if name.endswith("word_embeddings.weight")
        }
    if len(said) != 1:
        numbers = " and ".join(f"{number:,}" for number in sorted(said)) or "none"
        raise InputError(
            f"a model with one number of token rows is needed, and this one says {numbers}; give"
            " the part of it that the tokenizer belongs to"
        )
    return int(next(iter(said)))


def _dtype(tensor: Any) -> str:
    name = str(tensor.dtype).removeprefix("torch.")
    return _DTYPES.get(name, name)


def _made(torch: Any, blocks: RowBlocks, name: str, tensor: Any, axis: int) -> Any:
    """The new values of a tensor, where it is and of its type."""
    np = import_package("numpy")
    old = tensor.detach().to("cpu").contiguous()
    raw = old.view(torch.uint8).numpy() if old.dim() else old.numpy()
    shape = tuple(old.shape)
    parts = [
        np.ascontiguousarray(block).view(np.uint8).reshape(-1)
        for block in blocks.blocks(name, _dtype(tensor), shape, axis, raw)
    ]
    new = torch.from_numpy(np.concatenate(parts)).view(old.dtype)
    return new.reshape(*shape[:axis], blocks.rows, *shape[axis + 1 :]).to(tensor.device)


def _resize_modules(torch: Any, model: Any, axes: dict[str, int], plan: RowPlan) -> None:
    """Have modules say as many rows as they have."""
    new_rows = plan.new_rows_of()
    for path, module in model.named_modules():
        axis = axes.get(f"{path}.weight" if path else "weight")
        if axis is None:
            continue
        if isinstance(module, torch.nn.Embedding):
            module.num_embeddings = plan.rows_after
            module.padding_idx = new_rows.get(module.padding_idx)
        elif isinstance(module, torch.nn.Linear):
            setattr(module, "in_features" if axis else "out_features", plan.rows_after)
