"""`Lazy`: a sequence of values that are made when they are looked at.

In: columns, which take little memory. Out: the values, by number, in slices, one after the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

_Value = TypeVar("_Value")


class Lazy(Sequence[_Value]):
    """A sequence that never changes once it is made; `item` makes a value."""

    @abstractmethod
    def item(self, index: int) -> _Value:
        """The value at a place from 0."""

    @overload
    def __getitem__(self, index: int) -> _Value: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Value, ...]: ...

    def __getitem__(self, index: int | slice) -> _Value | tuple[_Value, ...]:
        if isinstance(index, slice):
            return tuple(map(self.item, range(*index.indices(len(self)))))
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"there are {len(self)} values, and none at {index}")
        return self.item(place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lazy) and len(self) == len(other) and all(map(_equal, self, other))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return f"<{len(self)} {type(self).__name__.lower()}>"


def _equal(one: object, other: object) -> bool:
    return one == other
