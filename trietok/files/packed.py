"""Compressed files, unpacked block by block.

In: a file packed by gzip or zstd. Out: its content. A file that is damaged or cut off is an error,
never a short file.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from trietok.errors import (
    FileFormatError,
    imported,
    installing,
)
from trietok.files.text_files import TextFile

BLOCK = 1 << 20  # bytes


_PACKED = 1 << 9  # bytes that are unpacked at once: zstd makes up to 16 MiB of them


def decompressed(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    """The content of a compressed file."""
    if hasattr(raw, "peek") and not raw.peek(1):  # even nothing has some bytes when it is packed
        raise _cut_off(file)
    return _of_gzip(raw, file) if file.compression == "gzip" else _of_zstd(raw, file)


class _Content(io.RawIOBase):
    """Blocks of bytes as a file."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks, self._rest = blocks, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            # an empty rest would keep its block while the next one is made
            self._rest = memoryview(b"")
            self._rest = memoryview(next(self._blocks, b""))
        part, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def file_of_blocks(blocks: Iterable[bytes]) -> io.BufferedReader:
    """Blocks of bytes as a file of them, which gives its lines.

    >>> list(file_of_blocks([b"one\\ntw", b"o\\nthree"]))
    [b'one\\n', b'two\\n', b'three']
    """
    return io.BufferedReader(_Content(iter(blocks)), BLOCK)


def _of_gzip(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=raw) as content:
            while block := content.read(BLOCK):
                yield block
    except EOFError:
        raise _cut_off(file) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise _damaged(file, error) from None


def import_zstandard(file: TextFile) -> Any:
    """The package that unpacks a file; where it is not installed, an error says how to have it."""
    how = f"to read {file.name}, {installing('parquet', 'zstandard')}"
    return imported("zstandard", "parquet", how)


def _of_zstd(raw: BinaryIO, file: TextFile) -> Iterator[bytes]:
    zstandard = import_zstandard(file)
    frame: Any = None
    unpacked, size = [], 0
    try:
        while compressed := raw.read(_PACKED):
            while compressed:
                if frame is None:
                    frame = zstandard.ZstdDecompressor().decompressobj()
                unpacked.append(frame.decompress(compressed))
                size += len(unpacked[-1])
                compressed = frame.unused_data
                if frame.eof:
                    frame = None
            if size >= BLOCK:
                block = b"".join(unpacked)
                unpacked, size = [], 0  # before the reader goes on: a part has up to 16 MiB
                yield block
                del block
    except zstandard.ZstdError as error:
        raise _damaged(file, error) from None
    if size:
        yield b"".join(unpacked)
    if frame is not None:
        raise _cut_off(file)


def _cut_off(file: TextFile) -> FileFormatError:
    told = (
        f"{file.name} is truncated and cannot be decompressed: it ends before its compressed data"
        " does"
    )
    return FileFormatError(told, path=file.name)


def _damaged(file: TextFile, error: Exception) -> FileFormatError:
    told = (
        f"{file.name} is damaged, or no {file.compression} file, and cannot be decompressed:"
        f" {error}"
    )
    return FileFormatError(told, path=file.name)
