"""The ids of many texts: `ListRows` in plain Python; the compiled kernel has its twin. `Form`, what
is made of them.

In: lists of ids. Out: their lengths, int32 in one buffer, or the columns of a call, with special
tokens and padding.
"""

from __future__ import annotations

import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    from trietok.text.kernel._kernel import Rows as CompiledRows

    Rows: TypeAlias = "CompiledRows | ListRows"  # the ids of some texts, a row for each

LARGE = 1 << 62  # for a width or a length that no array can have
NOT_PADDED, TO_LONGEST = -1, -2  # in place of a width
IDS_OF_TEXT = -1  # in a column the ids of a text; else its number stands for each


class Form(NamedTuple):
    """What a call makes of rows: which columns, how they are cut and padded, and whether they are
    arrays.

    Attributes:
        numbers: int64, as `form_of` packs them.
        names: those of the columns.
        make: None for lists; a function for arrays of any numbers and one for zeros, which take a
            shape and a dtype; `()` for bytearrays.
        dtype: of the arrays.
    """

    numbers: bytes
    names: tuple[str, ...]
    make: tuple[Any, ...] | None = None
    dtype: Any = None


def form_of(
    specials: Sequence[int],
    columns: Mapping[str, tuple[int, Sequence[int], Sequence[int]]],
    *,
    room: int = -1,
    cuts_left: bool = False,
    width: int = TO_LONGEST,
    multiple: int = 1,
    pads_left: bool = False,
    most: int = -1,
    one: bool = False,
) -> Form:
    """A form of lists.

    Args:
        specials: how many special tokens stand before the first text, and behind each.
        columns: by name, the number of a padding token, of the tokens of each text, and of the
            special tokens.
        room: how many ids of texts a row may have; -1 for any number.
        cuts_left: whether those at the beginning go.
        width: how many ids a row is padded to; `NOT_PADDED` or `TO_LONGEST`.
        multiple: to a multiple of which.
        pads_left: whether padding comes first.
        most: how many ids a row may have unless somebody has to be told; -1 for any number.
        one: whether the only row is returned by itself.
    """
    three = [*specials, 0][:3]
    options = (room, cuts_left, width, multiple, pads_left, most, one)
    numbers = [len(specials) - 1, *three, *(min(number, LARGE) for number in options)]
    for padding, of_texts, of_specials in columns.values():
        numbers += [padding, *of_texts, *of_specials]
    return Form(array.array("q", numbers).tobytes(), tuple(columns))


class ListRows:
    """Rows that are lists.

    >>> rows = ListRows([[7, 8], [9]])
    >>> rows.columns(form_of((1, 1), {"ids": (0, [IDS_OF_TEXT], [1, 2]), "mask": (0, [1], [1, 1])}))
    {'ids': [[1, 7, 8, 2], [1, 9, 2, 0]], 'mask': [[1, 1, 1, 1], [1, 1, 1, 0]]}
    """

    def __init__(self, rows: Iterable[list[int]]) -> None:
        self._rows = list(rows)

    def int32_lengths(self, around: int) -> bytes:
        """How many ids each row has, and `around` more, as int32; an OverflowError where int32
        cannot hold one.
        """
        return array.array("i", [len(row) + around for row in self._rows]).tobytes()

    def cut(self, room: int, from_left: bool) -> None:
        """Cut each row to at most `room` ids, at its beginning or its end."""
        self._rows = [
            row[len(row) - room :] if from_left and len(row) > room else row[:room]
            for row in self._rows
        ]

    def lists(self) -> list[list[int]]:
        """Each row as a list of ids."""
        return list(map(list, self._rows))

    def int32(self, front: bytes, back: bytes) -> bytes:
        """All rows as int32, one behind the other, each between int32 numbers."""
        return b"".join(
            [part for row in self._rows for part in (front, array.array("i", row).tobytes(), back)]
        )

    def columns(self, form: Form) -> dict[str, Any]:
        """All rows, with what is around them, as a form says, but not cut. Arrays are of rows of
        one width.
        """
        reader = _Reader(form)
        rows = [
            self._rows[at : at + reader.texts] for at in range(0, len(self._rows), reader.texts)
        ]
        fill_to, width = reader.widths([sum(map(len, row)) + reader.around for row in rows])
        columns: dict[str, Any] = {}
        for name in form.names:
            lists = reader.column(rows, fill_to)
            if form.make is None:
                columns[name] = lists[0] if reader.one else lists
                continue
            numbers = b"".join([array.array("q", row).tobytes() for row in lists])
            columns[name] = (
                form.make[0]((len(lists), width), form.dtype)
                if form.make
                else bytearray(len(numbers))
            )
            memoryview(columns[name]).cast("B")[:] = numbers
        return columns

    def columns_or_rows(self, form: Form) -> dict[str, Any] | ListRows:
        """The columns; the rows, cut, where one has too many ids, or arrays are wanted and they
        have several widths, or a pair has to be cut.
        """
        reader = _Reader(form)
        if reader.texts == 1 and reader.room >= 0:
            self.cut(reader.room, bool(reader.cuts_left))
        parts = [iter(self._rows)] * reader.texts
        lengths = [sum(map(len, row)) + reader.around for row in zip(*parts, strict=True)]
        fill_to, width = reader.widths(lengths)
        is_long = width > reader.most >= 0 or max(lengths) - reader.around > reader.room >= 0
        is_even = width == max(min(lengths), fill_to) > 0
        return self if is_long or (form.make is not None and not is_even) else self.columns(form)


class _Reader:
    """Reads the numbers of a form, and the columns in turn."""

    def __init__(self, form: Form) -> None:
        self._numbers: Iterator[int] = iter(array.array("q", form.numbers))
        self.texts, *specials = islice(self._numbers, 4)
        self._specials = specials[: self.texts + 1]
        self.around = sum(self._specials)
        (
            self.room,
            self.cuts_left,
            self._width,
            self._multiple,
            self._pads_left,
            self.most,
            self.one,
        ) = islice(self._numbers, 7)

    def widths(self, lengths: list[int]) -> tuple[int, int]:
        """Up to how many ids rows are padded, and how many the longest has then."""
        longest = max(lengths)
        fill_to = (
            -(-longest // self._multiple) * self._multiple
            if self._width == TO_LONGEST
            else max(self._width, 0)
        )
        return fill_to, max(longest, fill_to)

    def column(self, rows: list[list[list[int]]], fill_to: int) -> list[list[int]]:
        """The next column."""
        padding, *of_texts = islice(self._numbers, 1 + self.texts)
        specials = [[*islice(self._numbers, count)] for count in self._specials]
        column = []
        for row in rows:
            made = [*specials[0]]
            for ids, number, behind in zip(row, of_texts, specials[1:], strict=True):
                made += ids if number == IDS_OF_TEXT else [number] * len(ids)
                made += behind
            missing = [padding] * (fill_to - len(made))
            column.append(missing + made if self._pads_left else made + missing)
        return column
