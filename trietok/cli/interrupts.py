"""What the command says, and with which exit code it leaves, where Ctrl-C or SIGTERM stops it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

INTERRUPTED, TERMINATED = 130, 143  # the exit codes that a shell gives


class Terminated(KeyboardInterrupt):
    """SIGTERM has come: what Ctrl-C would clean up is cleaned up, and the exit code is another one."""


def stopped() -> int:
    """Say that Ctrl-C came before a command had begun; return the exit code."""
    if sys.stderr is not None:
        print("trietok: stopped", file=sys.stderr, flush=True)
    return INTERRUPTED


@contextlib.contextmanager
def stop_said(left: Callable[[], str]) -> Iterator[None]:
    """Where Ctrl-C stops the body, say what is `left` of it; or SIGTERM, unless the program handles that already."""
    from trietok.worker_pool import interrupts_held  # most commands do without what it imports

    def terminate(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; a second one would break off cleaning up
        raise Terminated

    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if is_ours:
        signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except KeyboardInterrupt:
        with interrupts_held():  # an impatient second one must not stop what is said of the first
            print(f"trietok: stopped; {left()}", file=sys.stderr, flush=True)
        raise
    finally:
        if is_ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
