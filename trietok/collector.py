"""The garbage collector, at rest while many objects are made.

In: code that makes many objects and no garbage in cycles. Out: the same objects, up to twice as
soon; many of them count as old from then on.
"""

from __future__ import annotations

import gc
from _thread import RLock, get_ident  # of threading, whose rest takes a while to import
from collections.abc import Iterator
from contextlib import contextmanager

from trietok.forks import under_way

MANY = 20_000  # objects, from which on it pays to spare the collector walking through what was made
# objects, at most: 3.12 starts with some 400; who freezes a program freezes many thousands
FROZEN_BY_PYTHON = 1_000


class _Collector:
    """The garbage collector of this process: at rest while anybody is in `bulk`.

    Attributes:
        lock: who comes and who goes do so one after the other.
        inside: the thread of each context that is open.
        was_enabled: whether the collector was at work before the first of them.
    """

    def __init__(self) -> None:
        self.lock = RLock()  # a signal's handler may come while its own thread holds it
        self.inside: list[int] = []
        self.was_enabled = False

    def pause(self) -> None:
        with self.lock:
            if not self.inside:
                self.was_enabled = gc.isenabled()
            self.inside.append(get_ident())
            gc.disable()

    def go_on(self) -> None:
        with self.lock:
            # an interrupt may have come before `pause` did anything
            if get_ident() in self.inside:
                self.inside.remove(get_ident())
            if not self.inside and self.was_enabled:
                gc.enable()
                self.was_enabled = False

    def forget_other_threads(self) -> None:
        """In a forked process there is no thread but the one that forked."""
        self.lock = RLock()
        self.inside = [thread for thread in self.inside if thread == get_ident()]
        if not self.inside and self.was_enabled:
            gc.enable()


_COLLECTOR = _Collector()


@contextmanager
def bulk(many: int = MANY) -> Iterator[None]:
    """A context for code that makes many objects and no garbage in cycles: the code runs up to
    twice as fast.

    The collector is paused for the whole process. Of several contexts, nested or in several
    threads, the last one to end starts it again. If `many` objects were made, they count as old
    from then on: otherwise the collector would walk through all of them three times, soon after, to
    find that they are still in use.

    >>> import gc
    >>> with bulk():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    with under_way(_COLLECTOR.forget_other_threads):
        try:
            _COLLECTOR.pause()
            yield
            if _COLLECTOR.was_enabled and gc.get_count()[0] > many:
                _make_old()
        finally:
            _COLLECTOR.go_on()


def _make_old() -> None:
    """Put every object that the collector watches into its oldest generation."""
    # `freeze` takes them all out of the generations, `unfreeze` puts them into the oldest. A
    # program that has frozen objects itself, as before a fork, wants them to stay so. PyPy has
    # neither function.
    if hasattr(gc, "freeze") and gc.get_freeze_count() <= FROZEN_BY_PYTHON:
        gc.freeze()
        gc.unfreeze()
