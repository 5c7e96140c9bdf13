"""What the command says, and with which exit code it leaves, where Ctrl-C or SIGTERM stops it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from trietok.worker_pool import interrupts_held

INTERRUPTED, TERMINATED = 130, 143  # the exit codes that a shell gives


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: what Ctrl-C would clean up is cleaned up, and the exit code is another
    one.
    """


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """The exit code of a command that was stopped so."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def stopped(interrupt: KeyboardInterrupt) -> int:
    """Say that Ctrl-C or SIGTERM came before a command had begun; return the exit code."""
    if sys.stderr is not None:
        print("trietok: stopped", file=sys.stderr, flush=True)
    return exit_code(interrupt)


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Where SIGTERM comes, the body is stopped as by Ctrl-C; unless the program handles that
    already.
    """

    def terminate(number: int, frame: Any) -> None:
        # once is enough; a second one would break off cleaning up
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_ours:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def stop_said(left: Callable[[], str]) -> Iterator[None]:
    """Where Ctrl-C or SIGTERM stops the body, say what is `left` of it."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        with interrupts_held():  # an impatient second one must not stop what is said of the first
            interrupt.args = (f"stopped; {left()}",)  # for JSON, too
            print(f"trietok: {interrupt}", file=sys.stderr, flush=True)
        raise
