"""`Form`: what the compiled kernel makes of the ids of several texts, as numbers that it reads."""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
    one: bool = False,
) -> Form:
    """Return a form of lists.

    Args:
        specials: how many special tokens stand before the first text, and behind each.
        columns: by name, the number of a padding token, of the tokens of each text, and of the
            special tokens.
        room: how many ids of texts a row may have; -1 for any number.
        cuts_left: whether those at the beginning go.
        width: how many ids a row is padded to; `NOT_PADDED` or `TO_LONGEST`.
        multiple: to a multiple of which.
        pads_left: whether padding comes first.
        one: whether the only row is returned by itself.
    """
    three = [*specials, 0][:3]
    options = (room, cuts_left, width, multiple, pads_left, one)
    numbers = [len(specials) - 1, *three, *(min(number, LARGE) for number in options)]
    for padding, of_texts, of_specials in columns.values():
        numbers += [padding, *of_texts, *of_specials]
    return Form(array.array("q", numbers).tobytes(), tuple(columns))
