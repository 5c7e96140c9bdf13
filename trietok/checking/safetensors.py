"""The shapes of the tensors in a .safetensors file.

In: a path. Out: tensor name → shape. Only the header is read: 8 bytes that give its length, then JSON. No tensor is
read, however large the file is, and no package is needed.
"""

from __future__ import annotations

import json
import os
from typing import Any

LONGEST_HEADER = 10_000_000  # bytes: a hundred thousand tensors


class SafetensorsError(ValueError):
    """A file is not what a .safetensors file should be; the message says why."""


def tensor_shapes(path: str | os.PathLike[str]) -> dict[str, tuple[int, ...]]:
    """The shape of every tensor of a file.

    Raises:
        OSError: the file cannot be read.
        SafetensorsError: it is cut off, or is no such file.

    Cost: O(bytes of the header), about 100 for each tensor.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if LONGEST_HEADER < length <= size - 8:
            raise SafetensorsError(f"its header has {length} bytes; one of {LONGEST_HEADER} at most is read")
        if size < 8 or not 2 <= length <= size - 8:
            raise SafetensorsError(f"the file has {size} bytes, which do not hold a header of {length}: it is cut off")
        raw = file.read(length)
    try:
        header = json.loads(raw)
        if not isinstance(header, dict):
            raise ValueError
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        shapes = {name: _shape(entry["shape"]) for name, entry in entries.items()}
        ends = [_shape(entry["data_offsets"])[1] for entry in entries.values()]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise SafetensorsError("its header is not that of a .safetensors file") from None
    if max(ends, default=0) > size - 8 - length:
        raise SafetensorsError(
            f"its tensors take {max(ends)} bytes, and {size - 8 - length} are there: the file is cut off"
        )
    return shapes


def _shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(number) is int and number >= 0 for number in value):
        raise ValueError
    return tuple(value)
