"""Python lists ⇄ numpy arrays and PyTorch tensors.

In: nested lists of ints, or tensors. Out: tensors of int64, or lists. Neither numpy nor torch is imported before
a call asks for a tensor, or is given one.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from trietok.errors import ExplicitEnum, MissingDependencyError

if TYPE_CHECKING:
    from types import ModuleType


class TensorType(ExplicitEnum):
    """The values of `return_tensors`: `"np"` for numpy, `"pt"` for PyTorch."""

    NUMPY = "np"
    PYTORCH = "pt"


Tensors = Literal["np", "pt"] | TensorType | None  # the values of `return_tensors`


def to_tensor(value: Any, tensor_type: TensorType) -> Any:
    """A nested list as a tensor; int64 unless it holds floats. A tensor of that kind is returned as it is.

    A ragged list becomes a numpy array of arrays (dtype object), as in transformers, and has no PyTorch form.

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
        return package.tensor(value, dtype=package.int64 if _is_empty(value) else None)
    if isinstance(value, package.ndarray):
        return value
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple, package.ndarray)):
        if len({len(row) for row in value}) > 1:
            rows = package.empty(len(value), dtype=object)
            rows[:] = [package.asarray(row) for row in value]
            return rows
    return package.asarray(value, dtype=package.int64 if _is_empty(value) else None)


def int64_to_tensor(values: bytearray | None, rows: int, width: int, tensor_type: TensorType) -> Any:
    """Numbers row by row, 8 bytes each, as an int64 tensor (rows, width) on the same memory; None stands for zeros."""
    package = _package(tensor_type)
    if values is None:
        return package.zeros((rows, width), dtype=package.int64)
    return package.frombuffer(values, dtype=package.int64).reshape(rows, width)


def to_python(value: Any) -> Any:
    """Tensors and arrays as lists and ints, inside lists and dicts too; everything else as it is."""
    if isinstance(value, dict):
        return {key: to_python(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if value and not isinstance(value[0], (int, str)):
            return [to_python(item) for item in value]
        return list(value)
    return value.tolist() if tensor_type_of(value) is not None or _is_numpy(value, "number") else value


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
            f"return_tensors={tensor_type.value!r} needs {name}, which is not installed: pip install {name}", extra=name
        ) from error
