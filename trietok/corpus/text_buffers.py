"""Texts as Arrow holds them: the lines of a file, or the rows of a column, as one buffer of UTF-8 with offsets.

In: bytes, or an array. Out: an array of lines; the buffers of an array, which the compiled kernel reads as they are. No
Python object is made for a text, and whether the bytes are UTF-8 is left to who reads them.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

from trietok.files.text_rows import import_pyarrow


class TextBuffer(NamedTuple):
    """Texts that lie one behind the other.

    Attributes:
        data: their bytes.
        offsets: int64: where each text starts in `data`, and where the last one ends.
        first: the place among `offsets` of the first text's start.
        length: how many texts there are.
    """

    data: Any
    offsets: Any
    first: int
    length: int


_NONE = TextBuffer(b"", bytes(8), 0, 0)


def large_strings(column: Any) -> Any:
    """An array of strings of any kind as one with int64 offsets, which has the texts of `string` where they are.

    >>> import pyarrow
    >>> large_strings(pyarrow.array(["a", None, "a"]).dictionary_encode()).to_pylist()
    ['a', None, 'a']
    """
    return column.cast(import_pyarrow().large_string())


def buffer_of(texts: Any) -> TextBuffer:
    """The texts of an array of `large_string`, without its nulls.

    >>> texts = buffer_of(large_strings(import_pyarrow().array(["a", None, "bc"])))
    >>> bytes(texts.data), memoryview(texts.offsets).cast("q").tolist(), texts.length
    (b'abc', [0, 1, 3], 2)
    """
    if texts.null_count:
        texts = texts.drop_null()  # whatever bytes a null may have
    if not len(texts):
        return _NONE
    _, offsets, data = texts.buffers()
    return TextBuffer(data or b"", offsets, texts.offset, len(texts))


def lines_of(block: bytes) -> Any:
    """The lines of a block, which may lack the line feed at its end, as an array of strings.

    >>> lines_of(b"a\\n\\nb\\r\\n").to_pylist()
    ['a', '', 'b\\r']
    """
    pyarrow = import_pyarrow()
    size = len(block) - block.endswith(b"\n")
    bounds = pyarrow.py_buffer(struct.pack("qq", 0, size))
    whole = pyarrow.Array.from_buffers(pyarrow.large_binary(), 1, [None, bounds, pyarrow.py_buffer(block)])
    lines = import_pyarrow("pyarrow.compute").split_pattern(whole, "\n").values
    return lines.view(pyarrow.large_string())
