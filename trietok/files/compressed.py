"""Compressed files as blocks of bytes; one that is damaged or cut off is an error, never a short file.

In: an open .gz or .zst file. Out: what it holds, block by block, and the lines of that.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from trietok.errors import FileFormatError, MissingDependencyError
from trietok.files.text_rows import TextFile

_BLOCK = 1 << 20  # bytes


def decompressed(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    """The content of a compressed file.

    Raises:
        FileFormatError: it is damaged, or ends too early.
        MissingDependencyError: zstandard is not installed.
    """
    if hasattr(raw, "peek") and not raw.peek(1):  # even nothing has some bytes when it is packed
        raise _cut_off(file)
    return _of_gzip(raw, file) if file.compression == "gzip" else _of_zstd(raw, file)


def lines_of(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of blocks of bytes, with their line feeds, as a file gives them.

    >>> list(lines_of([b"one\\ntw", b"o\\nthree"]))
    [b'one\\n', b'two\\n', b'three']
    """
    parts: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        parts.append(first)
        if others:
            yield b"".join(parts) + b"\n"
            for line in others[:-1]:
                yield line + b"\n"
            parts = [others[-1]]
    if last := b"".join(parts):
        yield last


def _of_gzip(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=raw) as content:
            while block := content.read(_BLOCK):
                yield block
    except EOFError:
        raise _cut_off(file) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(file, error) from None


def _of_zstd(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError as error:
        raise MissingDependencyError(
            f"{file.name} needs zstandard, which is not installed: pip install 'trietok[corpus]'", extra="corpus"
        ) from error
    frame: Any = None
    try:
        while compressed := raw.read(_BLOCK // 4):
            while compressed:
                if frame is None:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                block = frame.decompress(compressed)
                if block:
                    yield block
                compressed = frame.unused_data
                if frame.eof:
                    frame = None
    except zstandard.ZstdError as error:
        raise _damaged(file, error) from None
    if frame is not None:
        raise _cut_off(file)


def _cut_off(file: TextFile) -> FileFormatError:
    return FileFormatError(
        f"{file.name} is truncated and cannot be decompressed: it ends before its compressed data does", path=file.name
    )


def _damaged(file: TextFile, error: Exception) -> FileFormatError:
    return FileFormatError(
        f"{file.name} is damaged, or no {file.compression} file, and cannot be decompressed: {error}", path=file.name
    )
