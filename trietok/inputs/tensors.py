"""Python lists ⇄ numpy arrays and PyTorch tensors; `FlatIds`, the ids of many texts in one array.

In: nested lists of ints, or tensors. Out: tensors of int64, or lists. Neither numpy nor torch is
imported before a call asks for a tensor, or is given one.
"""

from __future__ import annotations

import array
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from trietok.errors import ExplicitEnum, InputError, MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType


class TensorType(ExplicitEnum):
    """The values of `return_tensors`: `"np"` for numpy, `"pt"` for PyTorch."""

    NUMPY = "np"
    PYTORCH = "pt"


Tensors = Literal["np", "pt"] | TensorType | None  # the values of `return_tensors`


def to_tensor(value: Any, tensor_type: TensorType) -> Any:
    """A nested list as a tensor; int64 unless it holds floats. A tensor of that kind is returned as
    it is.

    A ragged list becomes a numpy array of arrays (dtype object), as in transformers, and has no
    PyTorch form.

    Raises:
        MissingDependencyError: the package is not installed.
        ValueError, TypeError: the package cannot make a tensor of it.
    """
    if value is None:
        raise TypeError("None is no tensor")
    package = _package(tensor_type)
    if tensor_type is TensorType.PYTORCH:
        if package.is_tensor(value):
            return value
        if isinstance(value, list) and value and _is_numpy(value[0], "ndarray"):
            return package.stack([package.as_tensor(row) for row in value])
        numbers = _numbers_of(value)
        if numbers:
            return int64_to_torch(numbers, len(value))
        return package.tensor(value, dtype=package.int64 if _is_empty(value) else None)
    if isinstance(value, package.ndarray):
        return value
    numbers = _numbers_of(value)
    if numbers:
        made = package.empty((len(value), len(numbers) // len(value)), dtype=package.int64)
        memoryview(made).cast("B")[:] = memoryview(numbers).cast("B")
        return made
    if (
        isinstance(value, (list, tuple))
        and value
        and isinstance(value[0], (list, tuple, package.ndarray))
    ):
        if len({len(row) for row in value}) > 1:
            rows = package.empty(len(value), dtype=object)
            rows[:] = [package.asarray(row) for row in value]
            return rows
    return package.asarray(value, dtype=package.int64 if _is_empty(value) else None)


def _numbers_of(value: Any) -> array.array[int] | None:
    """The ints of lists of one length, of which a tensor is made in a fourth of the time; None for
    all else.
    """
    if type(value) is not list or set(map(type, value)) != {list} or len(set(map(len, value))) > 1:
        return None
    if set(map(type, chain.from_iterable(value))) != {int}:
        return None
    numbers = array.array("q")
    try:
        for row in value:
            numbers.fromlist(row)
    except OverflowError:  # which the package says in its own words
        return None
    return numbers


def array_makers(tensor_type: TensorType) -> dict[str, Any]:
    """What makes the arrays of a `trietok.text.kernel.forms.Form`."""
    package = _package(tensor_type)
    if tensor_type is TensorType.PYTORCH:  # which may be installed without numpy
        return {"make": (), "dtype": None}
    return {"make": (package.empty, package.zeros), "dtype": package.dtype("int64")}


def int64_to_torch(values: bytearray | array.array[int], rows: int) -> Any:
    """Numbers row by row, 8 bytes each, as an int64 tensor (rows, width) on the same memory."""
    torch = _package(TensorType.PYTORCH)
    return torch.frombuffer(values, dtype=torch.int64).reshape(rows, -1)


class FlatIds(NamedTuple):
    """The ids of several texts one behind the other, without padding; numpy arrays, or PyTorch
    tensors, of int32.

    Kernels for sequences of different lengths take `cu_seqlens` and `max_seqlen`, as
    `flash_attn_varlen_func(..., cu_seqlens_q=flat.cu_seqlens, max_seqlen_q=flat.max_seqlen, ...)`;
    `torch.nn.EmbeddingBag(..., include_last_offset=True)` takes `(flat.ids, flat.offsets)`.

    Attributes:
        ids: all ids, (tokens,).
        offsets: where the ids of each text begin, and where the last ones end, (texts + 1,).
        token_type_ids: one for each id, if they were asked for; else None.
    """

    ids: Any
    offsets: Any
    token_type_ids: Any = None

    @property
    def cu_seqlens(self) -> Any:
        """FlashAttention's name for `offsets`."""
        return self.offsets

    @property
    def max_seqlen(self) -> int:
        """How many ids the longest text has."""
        return int((self.offsets[1:] - self.offsets[:-1]).max())

    @property
    def position_ids(self) -> Any:
        """The place of each id in its text, from 0."""
        is_torch = tensor_type_of(self.ids) is TensorType.PYTORCH
        package = _package(TensorType.PYTORCH if is_torch else TensorType.NUMPY)
        repeat = package.repeat_interleave if is_torch else package.repeat
        starts, ends = self.offsets[:-1], self.offsets[1:]
        return package.arange(len(self.ids), dtype=package.int32) - repeat(starts, ends - starts)


MOST_IDS = (1 << 31) - 1  # that int32 counts


def flat_ids(
    lengths: array.array[int],
    ids: bytes | bytearray,
    type_ids: bytes | None,
    tensor_type: TensorType,
) -> FlatIds:
    """The ids of texts, int32 one behind the other, with a byte for each type id; the arrays are on
    that memory.

    Raises:
        InputError: there are more ids than int32 counts.
        MissingDependencyError: the package is not installed.
    """
    numpy = _package(TensorType.NUMPY)
    total = len(ids) // 4
    if total > MOST_IDS:
        raise InputError(
            f"the texts have {total:,} ids, and int32 counts {MOST_IDS:,}; give fewer texts at once"
        )
    offsets = numpy.zeros(len(lengths) + 1, dtype=numpy.int32)
    numpy.frombuffer(lengths, dtype=numpy.int32).cumsum(out=offsets[1:])
    writable = ids if isinstance(ids, bytearray) else bytearray(ids)
    arrays = [numpy.frombuffer(writable, dtype=numpy.int32), offsets]
    if type_ids is not None:
        arrays.append(numpy.frombuffer(type_ids, dtype=numpy.uint8).astype(numpy.int32))
    if tensor_type is TensorType.PYTORCH:
        arrays = list(map(_package(tensor_type).from_numpy, arrays))
    return FlatIds(*arrays)


def to_python(value: Any) -> Any:
    """Tensors and arrays as lists and ints, inside lists and dicts too; everything else as it
    is.
    """
    if type(value) is int:
        return value
    if isinstance(value, dict):
        return {key: to_python(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if value and not isinstance(value[0], (int, str)):
            return [to_python(item) for item in value]
        return list(value)
    return (
        value.tolist() if tensor_type_of(value) is not None or _is_numpy(value, "number") else value
    )


def tensor_type_of(value: Any) -> TensorType | None:
    """The kind of tensor that `value` is, found without importing what is not imported."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return TensorType.PYTORCH
    return TensorType.NUMPY if _is_numpy(value, "ndarray") else None


def _is_numpy(value: Any, kind: str) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def _is_empty(value: Any) -> bool:
    """Whether nested lists hold no element at all, so that no dtype can be read off them."""
    return isinstance(value, (list, tuple)) and all(map(_is_empty, value))


def _package(tensor_type: TensorType) -> ModuleType:
    name = "torch" if tensor_type is TensorType.PYTORCH else "numpy"
    try:
        return __import__(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"return_tensors={tensor_type.value!r} needs {name}, which is not installed: pip"
            f" install {name}",
            extra=name,
        ) from error
