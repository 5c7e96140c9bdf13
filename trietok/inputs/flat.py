"""Rows of ids one behind the other, as int32 in one run of bytes, without padding."""

from __future__ import annotations

import array
from itertools import chain
from typing import NamedTuple

from trietok.inputs.batch import Call

# Of several texts how many ids each has, int32; those of all, int32; masks and type ids by name, a
# byte for each id.
FlatRows = tuple["array.array[int]", "bytes | bytearray", dict[str, bytes]]


class _ByteColumn(NamedTuple):
    """The numbers below 256 of a column, for what is before a text, each of its ids, and behind."""

    front: bytes
    text: bytes
    back: bytes


class FlatCall:
    """A call for single texts whose rows are wanted as runs of bytes; `of` says for which.

    Attributes:
        around: how many special tokens are around a text.
        room: how many ids of a text are kept; -1 for all.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        frame, strategies = call.frames[False], call.strategies
        self.around = frame.around
        self.room = -1
        if strategies.cuts and strategies.truncation.value != "only_second":
            self.room = (strategies.max_length or 0) - self.around
        self._cuts_left = call.settings.truncation_side == "left"
        self._front, self._back = (array.array("i", ids).tobytes() for ids in frame.ids)
        numbers = {
            "token_type_ids": (frame.types, frame.text_types[0]),
            "special_tokens_mask": (frame.mask, 0),
            "attention_mask": ([[1] * len(ids) for ids in frame.ids], 1),
        }
        self._columns = {
            name: _ByteColumn(bytes(groups[0]), bytes((number,)), bytes(groups[1]))
            for name, (groups, number) in numbers.items()
            if name in call.names[True]
        }

    @classmethod
    def of(cls, call: Call) -> FlatCall | None:
        """Return that of a call; None where only its own rows are right."""
        return None if call.pads or call.form(False, False) is None else cls(call)

    @property
    def cut(self) -> tuple[int, bool, bytes, bytes]:
        """How `Pipeline.flat` is to cut texts, and what it is to put around them."""
        return self.room, self._cuts_left, self._front, self._back

    def rows(self, flat: tuple[bytes | bytearray, bytes | bytearray]) -> FlatRows:
        """Return the rows of what `Pipeline.flat` makes of texts that it cuts as `cut` says."""
        lengths, ids = array.array("i", flat[0]), flat[1]
        self._call.warn_of([max(lengths, default=0)])
        columns: dict[str, bytes] = {}
        for name, (front, text, back) in self._columns.items():
            if {*front, *back} <= {*text}:
                columns[name] = text * (len(ids) // 4)
            else:
                each = (front + text * (length - self.around) + back for length in lengths)
                columns[name] = b"".join(each)
        return lengths, ids, columns


def flat_of_lists(rows: list[list[int]]) -> tuple[array.array[int], bytes]:
    """Return the lengths of rows of ids, and the ids one behind the other."""
    return array.array("i", map(len, rows)), array.array("i", chain(*rows)).tobytes()
