"""Texts that can be read more than once: those that come only once are kept in a temporary file.

In: an iterable of texts. Out: one that every loop reads from the beginning.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO

from trietok.errors import InputError, InputTypeError, one_column

_LENGTH = 8  # bytes before each text, which hold how many follow


@contextlib.contextmanager
def read_again(texts: Iterable[str]) -> Iterator[Iterable[str]]:
    """The texts, to be looped over as often as the body likes; a loop has to end before the next
    begins.

    An iterator, and files of which one is standard input, are written to a temporary file as the
    first loop reads them; it goes when the body ends. A loop raises where a text is no str, or
    where the one before was left before its end.

    >>> with read_again(iter(["low", "lower"])) as texts:
    ...     list(texts), list(texts)
    (['low', 'lower'], ['low', 'lower'])
    """
    if iter(texts) is not texts and getattr(texts, "total_bytes", 0) is not None:
        yield _Checked(texts)
        return
    with tempfile.TemporaryFile() as file:
        yield _KeptTexts(texts, file)


def checked(texts: Iterable[str]) -> Iterator[str]:
    """The texts, each checked to be one: an `InputTypeError` from the loop where one is no str, or
    where they are one str.
    """
    if isinstance(texts, (str, bytes)):
        raise InputTypeError(f"texts are a list, not one: pass [{texts!r:.60}]", value=texts)
    for text in one_column(texts, "texts"):
        if not isinstance(text, str):
            raise InputTypeError(
                f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
            )
        yield text


class _Checked:
    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = texts

    def __iter__(self) -> Iterator[str]:
        return checked(self._texts)


class _KeptTexts:
    """Texts that are read once, and from a file afterwards."""

    def __init__(self, texts: Iterable[str], file: IO[bytes]) -> None:
        self._texts: Iterable[str] | None = texts
        self._file = file
        self._is_whole = False

    def __iter__(self) -> Iterator[str]:
        if self._texts is not None:
            texts, self._texts = self._texts, None
            for text in checked(texts):
                written = text.encode("utf-8", "surrogatepass")
                self._file.write(len(written).to_bytes(_LENGTH, "little"))
                self._file.write(written)
                yield text
            self._is_whole = True
            return
        if not self._is_whole:
            raise InputError(
                "these texts were not read to their end, so they cannot be read from the beginning"
            )
        self._file.seek(0)
        while head := self._file.read(_LENGTH):
            yield self._file.read(int.from_bytes(head, "little")).decode("utf-8", "surrogatepass")
