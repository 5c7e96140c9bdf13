"""A thread that is stopped at a line of trietok's code, and the number of lines that a call runs."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import trietok

SOURCES = os.path.dirname(trietok.__file__)
# Seconds: a thread that has to wait for the one that is stopped is not waited for any longer.
STOP_AT_MOST = 0.005


class Stopped:
    """Runs an action, and another one in a second thread at a line of trietok's.

    Attributes:
        lines: number of lines that the first action has reached.
        place: where the first thread was stopped; None if it was not.
        has_overlapped: whether the other action has ended while the first thread was stopped. It
            has not where it has to wait for the first.
    """

    def __init__(self, at: int = 0, other: Callable[[], Any] = lambda: None) -> None:
        self.lines = 0
        self.place: str | None = None
        self.has_overlapped = False
        self._at = at
        self._other = threading.Thread(target=other)

    def run(self, action: Callable[[], Any]) -> Any:
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return action()
        finally:
            sys.settrace(before)
            if self.place is not None:
                self._other.join()

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self._at:
                self.place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
                self._other.start()
                self._other.join(STOP_AT_MOST)
                self.has_overlapped = not self._other.is_alive()
        return self._trace


def lines_of(action: Callable[[], Any]) -> int:
    """Number of lines of trietok's that an action runs in this thread."""
    counting = Stopped()
    counting.run(action)
    return counting.lines
