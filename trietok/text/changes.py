"""Detect that an attribute of an object, or a method of its class, has changed, by one comparison.

In: a `Version`, shared by all objects that a cache depends on. Out: `version.mark` is a new object
after any of them changes. A change of any other object does not change the mark.
"""

from __future__ import annotations

import functools
from abc import ABCMeta
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from weakref import WeakSet

from trietok.forks import under_way
from trietok.typing_compat import Self

_Value = TypeVar("_Value")


class cached_property(functools.cached_property[_Value]):  # as Python calls it
    """Python's own, without the lock that it has before 3.12: all objects of a class share it, and
    a child that is forked while another thread works a value out would wait for it for ever.
    """

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value


class Version:
    """Its `mark` is replaced by a new object at each change; marks are compared by identity.

    >>> version = Version()
    >>> before = version.mark
    >>> version.bump()
    >>> version.mark is before
    False
    """

    __slots__ = ("__weakref__", "mark")

    def __init__(self) -> None:
        self.mark = object()

    def bump(self) -> None:
        """Note a change."""
        self.mark = object()

    def __reduce__(self) -> Any:
        return Version, ()  # a copy is another version


class ChangeableType(ABCMeta):
    """The type of classes whose methods may be replaced while their objects are in use.

    It notices when an attribute of a class is set or deleted, as `unittest.mock.patch.object` and a
    notebook do. It is an `ABCMeta`, so that a class can inherit from an abstract base class as
    well.
    """

    _watching: WeakSet[Version]

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        type.__setattr__(cls, "_watching", WeakSet())
        type.__setattr__(cls, "_foreign", {})

    def has_foreign(cls, names: tuple[str, ...]) -> bool:
        """Whether a method or property of these names is not trietok's; kept until one changes."""
        remembered = cls.__dict__.get("_foreign", {})  # none yet while the class is made
        answer: bool | None = remembered.get(names)
        if answer is None:
            methods = [getattr(cls, name, None) for name in names]
            functions = [getattr(each, "fget", each) for each in methods if each is not None]
            answer = not all(map(is_ours, functions))
            # a patch by another thread has put another dict in its place
            remembered[names] = answer
        return answer

    def __setattr__(cls, name: str, value: Any) -> None:
        with under_way(cls._note_patch):
            super().__setattr__(name, value)
            if not name.startswith("_abc_"):
                cls._note_patch()

    def __delattr__(cls, name: str) -> None:
        with under_way(cls._note_patch):
            super().__delattr__(name)
            cls._note_patch()

    def _note_patch(cls) -> None:
        type.__setattr__(cls, "_foreign", {})
        for version in list(cls.__dict__.get("_watching", ())):  # none yet while the class is made
            version.bump()
        subclasses: Any = type.__subclasses__(cls)
        for kind in subclasses:
            kind._note_patch()

    def watch_class(cls, version: Version) -> None:
        """Have `version` bumped when a method of the class, or an inherited one, is replaced."""
        cls._watching.add(version)


class Changeable(metaclass=ChangeableType):
    """An object of which others can see that a public attribute, or a method of its class, has
    changed.

    >>> class Thing(Changeable):
    ...     pass
    >>> thing, version = Thing(), Version()
    >>> thing.watch(version)
    >>> before = version.mark
    >>> thing.colour = "red"
    >>> version.mark is before
    False
    >>> before = version.mark
    >>> Thing.paint = lambda self: None
    >>> version.mark is before
    False
    """

    mark: object = None  # a new object after each change of a public attribute

    def watch(self, version: Version) -> None:
        """Have `version` bumped after changes of public attributes and of the class's methods."""
        type(self).watch_class(version)
        watchers = self.__dict__.setdefault("_watchers", WeakSet())
        watchers.add(version)

    def _note_change(self) -> None:
        self.__dict__["mark"] = object()
        watchers: WeakSet[Version] | None = self.__dict__.get("_watchers")
        for version in list(watchers or ()):
            version.bump()

    def __setattr__(self, name: str, value: object) -> None:
        with under_way(self._note_change):
            object.__setattr__(self, name, value)
            # a method, such as `_run_split_on_punc`
            if not name.startswith("_") or hasattr(type(self), name):
                self._note_change()

    def __delattr__(self, name: str) -> None:
        with under_way(self._note_change):
            object.__delattr__(self, name)
            self._note_change()

    def snapshot(self) -> Self:
        """A copy of the attributes as they are now; it does not follow later changes."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("mark", "_watchers")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, mark=object())
        self.__dict__.pop("_watchers", None)


def is_ours(function: object) -> bool:
    """Whether a function belongs to this library, and is not a user's function, a mock or a wrapper
    in its place.

    >>> is_ours(Changeable.__setattr__), is_ours(len)
    (True, False)
    """
    home = getattr(function, "__globals__", {}).get("__name__", "")
    return bool(home.split(".")[0] == __name__.split(".")[0])


def is_replaced(holder: Any, names: tuple[str, ...]) -> bool:
    """Whether one of these methods, of a tokenizer or a stage, is not trietok's own."""
    return not holder.__dict__.keys().isdisjoint(names) or type(holder).has_foreign(names)


_Key = TypeVar("_Key")


class ReadOnlyDict(dict[_Key, _Value]):
    """A dict that refuses to change; `dict(...)` and `.copy()` give one that can.

    >>> view = ReadOnlyDict({"a": 1})
    >>> view["b"] = 2
    Traceback (most recent call last):
    ...
    TypeError: this dict is read-only; change the tokenizer with add_tokens, remove_tokens,
    assign_unused or add_wordpieces, or copy the dict with dict(...)
    """

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "this dict is read-only; change the tokenizer with add_tokens, remove_tokens,"
            " assign_unused or add_wordpieces, or copy the dict with dict(...)"
        )

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return type(self), (dict(self),)
