"""The header of a .safetensors file: which tensors it holds, and where.

In: a path. Out: for each tensor its type, shape and place. Only the header is read: 8 bytes that
give its length, then JSON. No tensor is read, however large the file is, and no package is needed.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from trietok.disk import ANY_SIZE, FOREIGN_HEAD, foreign, open_regular
from trietok.files.json_files import doubled_keys

LONGEST_HEADER = 10_000_000  # bytes: a hundred thousand tensors

# Bytes of an element. Types of less than a byte each are left out: no model of the family has them.
ELEMENT_BYTES = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(
        ("I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 1
    ),
}
_METADATA = "__metadata__"
_MOST_DIMENSIONS = 64


class SafetensorsError(ValueError):
    """A file is not what a .safetensors file should be; the message says why."""


class Tensor(NamedTuple):
    """A tensor of a file.

    Attributes:
        dtype: its type, as the file names it, such as `F32`.
        shape: its shape.
        start, end: the bytes it takes, counted from the end of the header; half-open.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int


class Header(NamedTuple):
    """What stands in a file before the tensors.

    Attributes:
        tensors: name → tensor, in the order of the header.
        metadata: what a writer has noted, None where nothing is.
        length: how many bytes of the file come before the tensors.
        size: how many bytes the tensors should take: those that the file has after the header.
    """

    tensors: dict[str, Tensor]
    metadata: dict[str, str] | None
    length: int
    size: int


def read_header(path: str | os.PathLike[str]) -> Header:
    """The header of a file, as far as it can be understood; `check_layout` says whether it is
    consistent.

    It costs O(bytes of the header), about 100 for each tensor.

    Raises:
        OSError: the file cannot be read, or is no regular file (FileError).
        SafetensorsError: it is cut off, or is no such file.
    """
    with open_regular(path, ANY_SIZE) as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(FOREIGN_HEAD)
        if (what := foreign(head)) is not None:
            raise SafetensorsError(f"it is {what}")
        length = int.from_bytes(head[:8], "little")
        file.seek(8)
        if LONGEST_HEADER < length <= size - 8:
            raise SafetensorsError(
                f"its header has {length} bytes; one of {LONGEST_HEADER} at most is read"
            )
        if size < 8 or not 2 <= length <= size - 8:
            raise SafetensorsError(
                f"the file has {size} bytes, which do not hold a header of {length}: it is cut off"
            )
        raw = file.read(length)
    try:
        text = raw.decode("utf-8")
        values = json.loads(text, object_pairs_hook=_without_doubles)
        if not isinstance(values, dict):
            raise ValueError
        if "\\u" in text:
            json.dumps(values, ensure_ascii=False).encode("utf-8")
        tensors = {name: _tensor(value) for name, value in values.items() if name != _METADATA}
    except SafetensorsError:
        raise
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise SafetensorsError(
            f"its header holds {half!r}, half of a surrogate pair, which is not UTF-8"
        ) from None
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise SafetensorsError("its header is not that of a .safetensors file") from None
    end = max((tensor.end for tensor in tensors.values()), default=0)
    if end > size - 8 - length:
        raise SafetensorsError(
            f"its tensors take {end} bytes, and {size - 8 - length} are there: the file is cut off"
        )
    return Header(tensors, values.get(_METADATA), 8 + length, size - 8 - length)


def check_layout(header: Header) -> None:
    """Raise where the tensors are not one after the other, each with as many bytes as its type and
    shape take.
    """
    metadata: object = {} if header.metadata is None else header.metadata
    place = 0
    if not isinstance(metadata, dict) or any(type(value) is not str for value in metadata.values()):
        raise SafetensorsError("its metadata are not an object of strings")
    for name, tensor in sorted(header.tensors.items(), key=lambda item: item[1][2:]):
        needed = size_of(tensor.dtype, tensor.shape)
        if tensor.start != place:
            what = (
                "overlaps the tensor before it"
                if tensor.start < place
                else "leaves a gap before it"
            )
            raise SafetensorsError(
                f"{name!r} begins at byte {tensor.start}, not {place}: it {what}"
            )
        if tensor.end - tensor.start != needed:
            raise SafetensorsError(
                f"{name!r} takes {tensor.end - tensor.start} bytes, and its type {tensor.dtype} and"
                f" shape {list(tensor.shape)} take {needed}"
            )
        place = tensor.end
    if place != header.size:
        raise SafetensorsError(f"its tensors take {place} bytes, and {header.size} are there")


def size_of(dtype: str, shape: Iterable[int]) -> int:
    """How many bytes a tensor takes.

    >>> size_of("BF16", (30522, 768))
    46881792
    """
    if type(dtype) is not str or dtype not in ELEMENT_BYTES:
        raise SafetensorsError(
            f"a tensor has the type {dtype!r:.40}, which is none of {', '.join(ELEMENT_BYTES)}"
        )
    return ELEMENT_BYTES[dtype] * math.prod(shape)


def header_bytes(
    tensors: Mapping[str, tuple[str, tuple[int, ...]]], metadata: Mapping[str, str] | None
) -> bytes:
    """The beginning of a file: the tensors' types and shapes, by name, in the order in which they
    will follow.

    It is as long as makes the tensors begin at a multiple of 8, as the format wants it.
    """
    values: dict[str, Any] = {} if metadata is None else {_METADATA: dict(metadata)}
    place = 0
    for name, (dtype, shape) in tensors.items():
        end = place + size_of(dtype, shape)
        values[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, end]}
        place = end
    raw = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if doubled := doubled_keys(pairs):
        raise SafetensorsError(f"its header has {doubled[0]!r} twice")
    return dict(pairs)


def _tensor(value: Any) -> Tensor:
    start, end = _whole_numbers(value["data_offsets"])
    return Tensor(value.get("dtype"), _whole_numbers(value["shape"]), start, end)


def _whole_numbers(value: Any) -> tuple[int, ...]:
    # Far more, and far larger, than any tensor has; the product of a million numbers would take for
    # ever.
    if not isinstance(value, list) or len(value) > _MOST_DIMENSIONS:
        raise ValueError
    if any(type(number) is not int or not 0 <= number < ANY_SIZE for number in value):
        raise ValueError
    return tuple(value)
