"""Seeing that something has changed since it was looked at: an object's attribute, or a method of its class.

In: objects that others remember something of. Out: two marks to compare by identity. `_version` is the object's own,
and another one once a public attribute is set. `_patched` is its class's, and another one once an attribute of that
class, or of one that it inherits from, is set or deleted, as `unittest.mock.patch.object` and a notebook do it.
"""

from __future__ import annotations

from abc import ABCMeta
from typing import Any, ClassVar


class ChangeableType(ABCMeta):
    """The type of classes whose methods may be replaced while their objects are in use.

    It is an `ABCMeta`, so that a class can inherit from an abstract base class as well.
    """

    _patched: object

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        type.__setattr__(cls, "_patched", object())

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if not name.startswith("_abc_"):
            cls._note_patch()

    def __delattr__(cls, name: str) -> None:
        super().__delattr__(name)
        cls._note_patch()

    def _note_patch(cls) -> None:
        type.__setattr__(cls, "_patched", object())
        subclasses: Any = type.__subclasses__(cls)
        for kind in subclasses:
            kind._note_patch()


class Changeable(metaclass=ChangeableType):
    """An object whose marks tell whether a public attribute, or its class, has changed.

    >>> class Thing(Changeable): pass
    >>> thing = Thing()
    >>> before = marks_of(thing)
    >>> thing.colour = "red"
    >>> [now is then for now, then in zip(marks_of(thing), before)]
    [False, True]
    >>> Thing.paint = lambda self: None
    >>> [now is then for now, then in zip(marks_of(thing), before)]
    [False, False]
    """

    _version: object = None
    _patched: ClassVar[object]

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            self.__dict__["_version"] = object()

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self.__dict__["_version"] = object()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_version"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _version=object())


def marks_of(thing: Changeable) -> tuple[object, object]:
    """The marks of an object and of its class as they are now."""
    return thing._version, thing._patched


def is_ours(function: object) -> bool:
    """Whether a function is of this library: not a user's, nor a mock or wrapper in its place.

    >>> is_ours(Changeable.__setattr__), is_ours(len)
    (True, False)
    """
    home = getattr(function, "__globals__", {}).get("__name__", "")
    return bool(home.split(".")[0] == __name__.split(".")[0])
