"""Reading a text file whole, and the lines of a vocab.txt in it.

In: a path. Out: its text, or the tokens of a vocabulary in the order of their ids. Every error names the file, and the
line where one is to blame.
"""

from __future__ import annotations

import os

from trietok.errors import FileError, FileFormatError, VocabularyError
from trietok.open_regular import LARGEST_FILE, read_regular

LARGEST_VOCAB = 1 << 27  # bytes
MOST_ENTRIES = 2_000_000  # the largest published vocabularies have half of it
LONGEST_LINE = 100_000  # bytes

Path_ = str | os.PathLike[str]


def read_text(path: Path_) -> str:
    """The whole of a UTF-8 file, with Python's universal newlines, as transformers opens it.

    Raises:
        FileError: the file is missing, may not be read, or is no regular file.
        FileFormatError: it is too large, or a byte is not UTF-8; then the error has the line.
    """
    return _decoded(_read_bytes(path, LARGEST_FILE), path)


def _read_bytes(path: Path_, limit: int) -> bytes:
    try:
        return read_regular(path, limit)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror}", path=path) from error


def _decoded(raw: bytes, path: Path_) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise FileFormatError(
            f"{os.fspath(path)}, line {line}: byte 0x{raw[error.start]:02x} at offset {error.start} is not UTF-8; "
            "convert the file to UTF-8",
            path=path,
            line_number=line,
        ) from None
    if "\r" in text:  # a lone carriage return ends a line too, as it does for transformers
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def read_vocab_bytes(path: Path_) -> bytes:
    """The bytes of a vocab.txt, if they are within the limits.

    Raises:
        FileError: as `read_text`.
        FileFormatError: the file is larger than `LARGEST_VOCAB`, has more lines than `MOST_ENTRIES`, or a line longer
            than `LONGEST_LINE`.
    """
    raw = _read_bytes(path, LARGEST_VOCAB)
    count = raw.count(b"\n") + (raw.count(b"\r") - raw.count(b"\r\n") if b"\r" in raw else 0)
    if count > MOST_ENTRIES:
        raise FileFormatError(
            f"{os.fspath(path)} has {count:,} lines, more than the {MOST_ENTRIES:,} entries a vocabulary may have",
            path=path,
        )
    start = 0
    while len(raw) - start > LONGEST_LINE:  # looks for the last line end in as many bytes as a line may have
        stop = start + LONGEST_LINE + 1
        end = max(raw.rfind(b"\n", start, stop), raw.rfind(b"\r", start, stop))
        if end < 0:
            line = raw.count(b"\n", 0, start) + 1
            raise FileFormatError(
                f"{os.fspath(path)}, line {line} has more than {LONGEST_LINE:,} bytes, the most an entry may have; a "
                "vocabulary has one token a line",
                path=path,
                line_number=line,
            )
        start = end + 1
    return raw


def read_vocab_lines(path: Path_) -> list[str]:
    """The lines of a vocab.txt: one token each, the id is the line's number from 0.

    Only the newline is taken off, as transformers' `load_vocab` does it: spaces, a byte-order mark and blank lines
    stay, so that every id is transformers' id.

    Raises:
        FileError, FileFormatError: as `read_text` and `read_vocab_bytes`.
        VocabularyError: the file is empty.
    """
    lines = _decoded(read_vocab_bytes(path), path).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise VocabularyError(
            f"{os.fspath(path)} is empty; a vocabulary needs at least one token, one a line", path=path
        )
    return lines
