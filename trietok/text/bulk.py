"""Making very many objects that all stay: without the garbage collector's looking at them again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def bulk() -> Iterator[None]:
    """Around code that makes many objects and no garbage in cycles: it runs up to twice as fast.

    The collector is paused for the whole process, and set going again only by the one who paused it.

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
