"""What a forked process has to put right: the locks that another thread held, and the changes that
it was in the middle of.

In: a change in steps, or a lock. Out: the same, which a child that is forked meanwhile can go on
with.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock, get_ident

# What threads are in the middle of: by a key of its own, the thread, and what puts it right in a
# forked child.
_UNDER_WAY: dict[object, tuple[int, Callable[[], None]]] = {}
_process = os.getpid()  # in which nothing is left of another process's threads


@contextmanager
def under_way(put_right: Callable[[], None]) -> Iterator[None]:
    """A context for a change in steps. `put_right` is called in a child that another thread forks
    meanwhile, since there nobody goes on with the change, nor releases its locks.
    """
    # a child, in which a hook of the program's comes before the one below
    if os.getpid() != _process:
        _put_right_in_child()
    step = object()
    try:
        _UNDER_WAY[step] = get_ident(), put_right
        yield
    finally:
        _UNDER_WAY.pop(step, None)


def _put_right_in_child() -> None:
    global _process
    _process = os.getpid()  # first: what puts right may be a change itself
    for step, (thread, put_right) in list(_UNDER_WAY.items()):
        if thread != get_ident():
            put_right()
            _UNDER_WAY.pop(step, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_put_right_in_child)


class ForkableLock:
    """A lock that its thread may take again, and that is free in a forked child whichever other
    thread had it.

    A thread that forks while it has the lock, as a signal's handler may, has it in the child too.

    >>> lock = ForkableLock()
    >>> with lock.held(), lock.held():
    ...     pass
    """

    def __init__(self) -> None:
        self._lock = RLock()

    @contextmanager
    def held(self, put_right: Callable[[], None] = lambda: None) -> Iterator[None]:
        """A context that one thread at a time is in; `put_right` is called in a child that another
        thread forks while a thread is in it, or waits.
        """

        def renew() -> None:
            if not self._lock._is_owned():  # type: ignore[attr-defined]  # else the thread that forked goes on with it
                self._lock = RLock()
                put_right()

        with under_way(renew), self._lock:
            yield
