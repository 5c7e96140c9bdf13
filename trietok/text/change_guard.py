"""Reading while another thread changes: a read that met a change is done again, a change waits for no one.

In: functions that read a tokenizer's state, blocks that change it. Out: results of one state, never of two halves.
`Versioned` numbers the states of what can be changed from outside, so that what was remembered of one is not taken for
another's, and `clock` tells at a glance whether anything at all has changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Set
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any, TypeVar

_Result = TypeVar("_Result")

PATIENCE = 4  # tries of a read before it makes changes wait

_numbers = itertools.count(1)


class _Clock:
    """The number of a change to anything in this process that decides ids.

    Whoever remembers what follows from a tokenizer's state looks at `now`: while it stays, nothing has changed, and one
    comparison of numbers says so. It never comes back to a number it had.
    """

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0

    def tick(self) -> None:
        """Note that something has changed; to be called when the change is there to be seen."""
        self.now = next(_numbers)


clock = _Clock()


def new_version() -> int:
    """A number for a state: no two states of anything share one."""
    return next(_numbers)


class ChangeGuard:
    """Counts changes: odd while one is under way, so a reader sees whether its read was of one state.

    A read costs two looks at a number. It keeps no lock, so any number of threads read at once; one that starts during
    a change waits for its end.

    Attributes:
        count: the number of begun and ended changes.

    >>> guard = ChangeGuard()
    >>> with guard.changing():
    ...     state = ["new"]
    >>> guard.read(len, state)
    1
    """

    def __init__(self) -> None:
        self._lock = RLock()
        self.count = 0
        self._changer: int | None = None
        self._last_changer: int | None = None

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Around a change. Changes by several threads come one after the other."""
        with self._lock:
            outermost = self._changer is None
            if outermost:
                self._changer = get_ident()
                self.count += 1
            try:
                yield
            finally:
                if outermost:
                    self._last_changer = self._changer
                    clock.tick()
                    self.count += 1
                    self._changer = None

    def read(self, function: Callable[..., _Result], *args: Any, **kwargs: Any) -> _Result:
        """`function(*args, **kwargs)`, done again for as long as a change came between.

        What it raises counts only where no change came between: half of a change can break any read.
        """
        for attempt in itertools.count():
            if attempt == PATIENCE:  # changes keep coming between: let them wait for once
                with self._lock:
                    return function(*args, **kwargs)
            count = self.count
            if count & 1 and self._changer != get_ident():
                with self._lock:  # free when the change is over
                    continue
            try:
                result = function(*args, **kwargs)
            except Exception:
                if self._is_of_one_state(count):
                    raise
            else:
                if self._is_of_one_state(count):
                    return result

        raise AssertionError("unreachable")

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Around a long look at the whole state: changes wait until it is over."""
        with self._lock:
            yield

    def _is_of_one_state(self, count: int) -> bool:
        """Whether no other thread has changed anything since; a read may well change something itself."""
        return self.count == count or (self._last_changer == get_ident() and not self.count & 1)

    def __reduce__(self) -> Any:
        return ChangeGuard, ()  # a copy, in this process or another, is read and changed by itself


class Versioned:
    """An object that numbers its states: setting a public attribute begins another.

    >>> thing = Versioned()
    >>> thing.colour = "red"
    >>> before = thing.version
    >>> thing.colour = "blue"
    >>> thing.version > before
    True
    """

    version: int

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        if not name.startswith("_"):
            object.__setattr__(self, "version", new_version())
            clock.tick()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        object.__setattr__(self, "version", new_version())  # the number it had may belong to another state here


class WatchedSet(set[str]):
    """A set whose changes the clock sees, for an attribute that is changed in place."""

    def add(self, element: str) -> None:
        super().add(element)
        clock.tick()

    def update(self, *others: Iterable[str]) -> None:
        super().update(*others)
        clock.tick()

    def discard(self, element: object) -> None:
        super().discard(element)
        clock.tick()

    def remove(self, element: str) -> None:
        super().remove(element)
        clock.tick()

    def clear(self) -> None:
        super().clear()
        clock.tick()

    def __ior__(self, other: Set[str]) -> WatchedSet:  # type: ignore[override,misc]
        self.update(other)
        return self


class Derived:
    """What follows from a state, worked out when it is asked for and believed only in the state it was begun in.

    One thread may work out a value while another changes what it follows from: the value comes too late then, and must
    not be kept for the state that came meanwhile.

    >>> derived = Derived()
    >>> derived.get("size", lambda: 3), derived.get("size", lambda: 4)
    (3, 3)
    >>> derived.begin_another_state()
    >>> derived.get("size", lambda: 4)
    4
    """

    __slots__ = ("_kept", "_state")

    def __init__(self) -> None:
        self._state = object()
        self._kept: dict[str, tuple[object, Any]] = {}

    def get(self, name: str, work_out: Callable[[], _Result]) -> _Result:
        """The value of that name."""
        state = self._state
        kept = self._kept.get(name)
        if kept is not None and kept[0] is state:
            result: _Result = kept[1]
            return result
        value = work_out()
        self._kept[name] = state, value
        return value

    def there(self, name: str) -> Any:
        """The value, if it has been worked out in this state, or None."""
        kept = self._kept.get(name)
        return kept[1] if kept is not None and kept[0] is self._state else None

    def drop(self, name: str) -> None:
        """Forget one value."""
        self._kept.pop(name, None)

    def begin_another_state(self, **kept_up: Any) -> None:
        """Forget all but the values given, which were `there` when the change began and have been kept up with it."""
        state = object()
        self._kept = {name: (state, value) for name, value in kept_up.items() if value is not None}
        self._state = state

    def __reduce__(self) -> Any:
        return Derived, ()
