"""Texts too long to be held: lines that are read and encoded piece by piece, so that their length takes no memory.

In: the place of a line in a file. Out: its pieces, whose ids in a row are those of the line. They end where chunks do:
at spaces, or between two Chinese characters where those are set apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from trietok.files.elsewhere import open_bytes
from trietok.files.text_rows import BadRow, decoded

LONG = 1 << 23  # bytes of a line that is read in pieces, and of a piece, about
LONGEST_CHUNK = 1 << 26  # bytes
LONGEST_JSON = 1 << 26  # bytes; it is held whole
_PAIR = re.compile(rb"[\xe4-\xe9][\x80-\xbf]{2}(?=[\xe4-\xe9][\x80-\xbf]{2})")  # of three bytes each in UTF-8
_WINDOW = 1 << 12  # bytes


class LongText(NamedTuple):
    """A line that is read in pieces.

    Attributes:
        path: of the file.
        start, end: of the line, in bytes, without its line feed.
        alone: the first and the last of the characters between which it may be cut too; see `cut_characters`.
        text_bytes: of the line, with its line feed.
    """

    path: str
    start: int
    end: int
    alone: tuple[int, int]
    text_bytes: int

    def bad_row(self) -> BadRow | None:
        """What is wrong with the text, if it cannot be encoded; it is read through for that."""
        at = self.start
        for piece in self.pieces():
            if len(piece) > LONGEST_CHUNK:
                return BadRow(f"more than {LONGEST_CHUNK:,} bytes without a space; break the line somewhere there")
            text = decoded(piece, offset=at - self.start)
            if isinstance(text, BadRow):
                return text
            at += len(piece)
        return None

    def pieces(self) -> Iterator[bytes]:
        """The pieces, each with the space that it ends at; one of more than `LONGEST_CHUNK` bytes is cut anywhere."""
        held = b""
        with open_bytes(self.path) as file:
            file.seek(self.start)
            left = self.end - self.start
            while left:
                block = file.read(min(left, LONG))
                if not block:  # the file has become shorter, which is found out afterwards
                    break
                left -= len(block)
                searched = max(len(held) - 6, 0)
                held += block
                end = len(held) if not left else last_chunk_end(held, searched, self.alone)
                if end or len(held) > LONGEST_CHUNK:
                    yield held[: end or len(held)]
                    held = held[end:] if end else b""
        if held:
            yield held


def last_chunk_end(block: bytes, start: int, alone: tuple[int, int]) -> int:
    """The last place of a block at which a text may be cut; 0 where there is none.

    Args:
        block: UTF-8, which may be cut off within a character.
        start: nothing is sought before it.
        alone: the first and the last of characters between which the text may be cut, beside spaces.

    >>> last_chunk_end(b"one two three", 0, (1, 0)), last_chunk_end("a東京b".encode(), 0, (0x4E00, 0x9FEF))
    (8, 4)
    """
    end = block.rfind(b" ", start) + 1
    if end or alone[0] > alone[1]:
        return end
    window = _WINDOW
    while True:
        first = max(len(block) - window, start)
        pairs = [match.end() for match in _PAIR.finditer(block, first) if _are_alone(block, match.start(), alone)]
        if pairs or first == start:
            return pairs[-1] if pairs else 0
        window *= 16


def _are_alone(block: bytes, at: int, alone: tuple[int, int]) -> bool:
    """Whether the two characters of three bytes each at a place are among those that stand alone."""
    try:
        return all(alone[0] <= ord(char) <= alone[1] for char in block[at : at + 6].decode())
    except UnicodeDecodeError:
        return False
