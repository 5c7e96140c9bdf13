"""An immutable mapping. `with_items` returns a larger one that shares the big layers with it.

In: items. Out: a `Layers`; and from it, with more items, another `Layers`. The first does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

RATIO = 8  # a layer has at least so many times as many items as the next, smaller layer


class Layers(Mapping[_Key, _Value]):
    """A read-only mapping; the cost of `with_items` depends on the number of new items, not of all.

    Each layer is at least `RATIO` times as big as the next, so there are few layers, and an item is copied O(log n)
    times while n others are added.

    Args:
        items: the items to begin with; the mapping is used without a copy and must not be changed afterwards.

    >>> before = Layers({"a": 1, "b": 2})
    >>> after = before.with_items({"c": 3, "a": 4})
    >>> dict(before), dict(after)
    ({'a': 1, 'b': 2}, {'a': 4, 'b': 2, 'c': 3})
    """

    __slots__ = ("_flat", "_layers", "_length")

    def __init__(self, items: dict[_Key, _Value]) -> None:
        self._layers: tuple[dict[_Key, _Value], ...] = (items,)
        self._length = len(items)
        self._flat: dict[_Key, _Value] | None = items

    def with_items(self, items: Mapping[_Key, _Value]) -> Layers[_Key, _Value]:
        """These items and more; one whose key is there already takes the new value and keeps its place."""
        if not items:
            return self
        known: set[_Key] = set()
        for layer in self._layers:
            known |= layer.keys() & items.keys()
        layers = [*self._layers, dict(items)]
        while len(layers) > 1 and len(layers[-2]) < RATIO * len(layers[-1]):
            top = layers.pop()
            layers[-1] = {**layers[-1], **top}
        grown: Layers[_Key, _Value] = Layers({})
        grown._layers = tuple(layers)
        grown._length = self._length + len(items) - len(known)
        grown._flat = layers[0] if len(layers) == 1 else None
        return grown

    def flat(self) -> dict[_Key, _Value]:
        """All items as one dict, in the order in which they were added; made once. It must not be changed."""
        flat = self._flat
        if flat is None:
            flat = dict(self._layers[0])
            for layer in self._layers[1:]:
                flat.update(layer)
            self._flat = flat
        return flat

    def __getitem__(self, key: _Key) -> _Value:
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        raise KeyError(key)

    def get(self, key: _Key, default: _Value | None = None) -> _Value | None:  # type: ignore[override]
        """The value of a key, or `default`."""
        if self._flat is not None:
            return self._flat.get(key, default)
        for layer in reversed(self._layers):
            if key in layer:
                return layer[key]
        return default

    def __contains__(self, key: object) -> bool:
        for layer in self._layers:  # noqa: SIM110 -- half the time of any()
            if key in layer:
                return True
        return False

    def lacks(self, keys: Iterable[_Key]) -> bool:
        """Whether none of the keys is there."""
        return all(layer.keys().isdisjoint(keys) for layer in self._layers)

    def __iter__(self) -> Iterator[_Key]:
        return iter(self.flat())

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.flat()!r})"

    def __reduce__(self) -> tuple[type[Layers[_Key, _Value]], tuple[dict[_Key, _Value]]]:
        return type(self), (self.flat(),)
