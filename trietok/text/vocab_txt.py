"""Reading a text file whole, and the lines of a vocab.txt in it.

In: a path. Out: its text, or the tokens of a vocabulary in the order of their ids. Every error names the file, and the
line where one is to blame.
"""

from __future__ import annotations

import os

from trietok.errors import FileError, FileFormatError, VocabularyError

LARGEST_FILE = 1 << 30  # bytes; a vocabulary of ten million tokens has a tenth of it

Path_ = str | os.PathLike[str]


def read_text(path: Path_) -> str:
    """The whole of a UTF-8 file, with Python's universal newlines, as transformers opens it.

    Raises:
        FileError: the file is missing, a directory, or may not be read.
        FileFormatError: a byte is not UTF-8; the error has the line.
    """
    try:
        size = os.stat(path).st_size
        if size > LARGEST_FILE:
            raise FileFormatError(
                f"{os.fspath(path)} has {size:,} bytes, more than the {LARGEST_FILE:,} a tokenizer's file may have",
                path=path,
            )
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        raise FileError(f"cannot read {os.fspath(path)}: {error.strerror}", path=path) from error
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


def read_vocab_lines(path: Path_) -> list[str]:
    """The lines of a vocab.txt: one token each, the id is the line's number from 0.

    Only the newline is taken off, as transformers' `load_vocab` does it: spaces, a byte-order mark and blank lines
    stay, so that every id is transformers' id.

    Raises:
        FileError, FileFormatError: as `read_text`.
        VocabularyError: the file is empty.
    """
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise VocabularyError(
            f"{os.fspath(path)} is empty; a vocabulary needs at least one token, one a line", path=path
        )
    return lines
