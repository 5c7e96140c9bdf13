"""Objects whose changes, and overridden methods, are noticed at the next call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trietok.typing_compat import Self

_DERIVED = ("mark", "_own_methods")


def note_change(watched: Any) -> None:
    """Give an object another mark."""
    watched.__dict__["mark"] = object()


def overrides(watched: Any, names: Iterable[str]) -> bool:
    """Return whether one of these methods or properties of an object is a user's own: overridden in
    its class, or set on the object.

    The methods of the class are compared once; a later patch of it is not noticed.
    """
    mark, known = watched.__dict__.get("_own_methods", (None, {}))
    if mark is not watched.mark:
        mark, known = watched.mark, {}
    for name in names:
        if name not in known:
            known = {**known, name: _is_own(watched, name)}
            watched.__dict__["_own_methods"] = mark, known
        if known[name]:
            return True
    return False


def _is_own(watched: Any, name: str) -> bool:
    if name in watched.__dict__:
        return True
    method = getattr(type(watched), name, None)
    return method is not None and not is_ours(getattr(method, "fget", method))


def state_of(watched: Any) -> dict[str, Any]:
    """Return the attributes of an object but its mark, as they are at one time: another thread may
    be setting one.
    """
    return {name: each for name, each in dict(watched.__dict__).items() if name not in _DERIVED}


class Watched:
    """An object of which others can see whether an attribute was set since they looked.

    Attributes:
        mark: a new object after each change.

    >>> class Thing(Watched):
    ...     pass
    >>> thing = Thing()
    >>> before = thing.mark
    >>> thing.colour = "red"
    >>> thing.mark is before
    False
    """

    mark: object = None

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        note_change(self)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        note_change(self)

    def overrides(self, *names: str) -> bool:
        """Return whether one of these methods or properties is a user's own; see `overrides`."""
        return overrides(self, names)

    def snapshot(self) -> Self:
        """Return a copy of the attributes as they are now; it does not follow later changes."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def is_ours(function: object) -> bool:
    """Return whether a function belongs to this library, and is not a user's function, a mock or a
    wrapper in its place.

    >>> is_ours(Watched.__setattr__), is_ours(len)
    (True, False)
    """
    home = getattr(function, "__globals__", {}).get("__name__", "")
    return bool(home.split(".")[0] == __name__.split(".")[0])
