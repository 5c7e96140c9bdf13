"""Pause the garbage collector while many long-lived objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

MANY = 20_000  # objects, from which on it pays to spare the collector walking through what was made


@contextmanager
def bulk() -> Iterator[None]:
    """A context for code that makes many objects and no garbage in cycles: the code runs up to twice as fast.

    The collector is paused for the whole process. Of several nested or simultaneous contexts, the one that paused the
    collector starts it again. If many objects were made, they count as old from then on: otherwise the collector would
    walk through all of them three times, soon after, to find that they are still in use.

    >>> import gc
    >>> with bulk():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > MANY:
                _make_old()
            gc.enable()


def _make_old() -> None:
    """Put every object that the collector watches into its oldest generation."""
    # `freeze` takes them all out of the generations, `unfreeze` puts them into the oldest. A program that has frozen
    # objects itself, as before a fork, wants them to stay so. PyPy has neither function.
    if hasattr(gc, "freeze") and gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()
