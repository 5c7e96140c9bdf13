"""Ctrl-C and worker processes: an interrupt waits where it would leave one half started."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the body is done, which hands work to an executor or ends it.

    Ctrl-C goes to every process of a terminal; the processes that the body starts never hear of it. This process must
    not leave the executor half started, because nobody would then wait for the process that was started last. The
    signal's mask alone does not see to that: another thread takes the signal, and Python interrupts the main thread.

    >>> import signal
    >>> try:
    ...     with interrupts_held():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("done")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    done
    interrupted
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    interrupts: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
    can_block = hasattr(signal, "pthread_sigmask")  # not on every system
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else ()
    try:
        yield
    finally:
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
    if interrupts:
        signal.raise_signal(signal.SIGINT)
