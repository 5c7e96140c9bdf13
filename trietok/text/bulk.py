"""Pause the garbage collector while many long-lived objects are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def bulk() -> Iterator[None]:
    """A context for code that makes many objects and no garbage in cycles: the code runs up to twice as fast.

    The collector is paused for the whole process. Of several nested or simultaneous contexts, the one that paused the
    collector starts it again.

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
            gc.enable()
