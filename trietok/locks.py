"""A lock that is free again in a forked child, where the thread that held it does not exist."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet


class ForkSafeLock:
    """A lock that its thread may take again. It is made anew in a forked child, unless the thread
    that forked holds it.

    Args:
        reset: called in such a child, to put right what another thread may have left half done.

    >>> lock = ForkSafeLock()
    >>> with lock, lock:
    ...     pass
    """

    def __init__(self, reset: Callable[[], None] | None = None) -> None:
        self._lock = threading.RLock()
        self._reset = reset
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def __reduce__(self) -> Any:
        return ForkSafeLock, ()

    def renew(self) -> None:
        """Make the lock anew, in a forked child."""
        if not self._lock._is_owned():  # type: ignore[attr-defined]  # by the thread that forked
            self._lock = threading.RLock()
            if self._reset is not None:
                self._reset()


_locks: WeakSet[ForkSafeLock] = WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
