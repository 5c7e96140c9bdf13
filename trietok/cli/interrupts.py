"""What the command says, and with which exit code it leaves, where Ctrl-C or SIGTERM stops it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
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
def terminated_like_interrupted() -> Iterator[None]:
    """Have SIGTERM raise `Terminated` in the body, unless the program handles or ignores it already."""
    is_ours = threading.current_thread() is threading.main_thread()
    is_ours = is_ours and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if not is_ours:
        yield
        return

    def terminate(number: int, frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # once is enough; a second one would break off cleaning up
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
