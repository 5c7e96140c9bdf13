"""Objects whose changes, and overridden methods, are noticed at the next call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trietok.typing_compat import Self


class Marks:
    """What is noticed of one object. A copy of the object has marks of its own, and so each copy
    and each pickle is the same, whatever has been noticed.

    Attributes:
        mark: another object after each change.
        own: name of a method → whether it is a user's own.
        snapshot: what a tokenizer keeps for its next call.
    """

    __slots__ = ("mark", "own", "snapshot")

    def __init__(self) -> None:
        self.mark, self.own = object(), dict[str, bool]()
        self.snapshot: Any = None

    def __reduce__(self) -> Any:
        return Marks, ()


def marks_of(watched: Any) -> Marks:
    """Return the marks of an object."""
    marks: Marks | None = watched.__dict__.get("_marks")
    if marks is None:
        marks = watched.__dict__.setdefault("_marks", Marks())
    return marks


def note_change(watched: Any) -> None:
    """Notice that an attribute of an object was set."""
    marks = marks_of(watched)
    marks.mark, marks.own = object(), {}


def overrides(watched: Any, names: Iterable[str]) -> bool:
    """Return whether one of these methods or properties of an object is a user's own: overridden in
    its class, or set on the object.

    The methods of the class are compared once; a later patch of it is not noticed.
    """
    own = marks_of(watched).own
    for name in names:
        is_own = own.get(name)
        if is_own is None:
            is_own = own[name] = _is_own(watched, name)
        if is_own:
            return True
    return False


def _is_own(watched: Any, name: str) -> bool:
    if name in watched.__dict__:
        return True
    method = getattr(type(watched), name, None)
    return method is not None and not is_ours(getattr(method, "fget", method))


def is_ours(function: object) -> bool:
    """Return whether a function belongs to this library, and is not a user's function, a mock or a
    wrapper in its place.

    >>> is_ours(marks_of), is_ours(len)
    (True, False)
    """
    home = getattr(function, "__globals__", {}).get("__name__", "")
    return bool(home.split(".")[0] == __name__.split(".")[0])


def state_of(watched: Any) -> dict[str, Any]:
    """Return the attributes of an object without its marks, as they are at one time: another thread
    may be setting one.
    """
    state = dict(watched.__dict__)
    state.pop("_marks", None)
    return state


class Watched:
    """An object of which others can see whether an attribute was set since they looked.

    >>> class Thing(Watched):
    ...     pass
    >>> thing = Thing()
    >>> before = marks_of(thing).mark
    >>> thing.colour = "red"
    >>> marks_of(thing).mark is before
    False
    """

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
