"""What the command says, and with which exit code it leaves, where Ctrl-C came before it had begun."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def stopped() -> int:
    """Say that Ctrl-C came before a command had begun; return the exit code."""
    if sys.stderr is not None:
        print("trietok: stopped", file=sys.stderr, flush=True)
    return INTERRUPTED
