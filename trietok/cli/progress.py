"""How far a command is: bars on standard error, where that is a terminal, and nothing elsewhere.

In: what is done, and of how much. Out: a bar for each phase, with amounts, rate and the time left.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trietok.cli.output import on_terminal
from trietok.worker_pool import interrupts_held

if TYPE_CHECKING:
    from rich.progress import TaskID

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_PATIENCE = 0.5  # seconds that reading may take without a bar, which costs a tenth of a second
_INTERVAL = 0.1  # seconds between two looks at how far reading is
_SAID_EVERY = 30  # seconds
_WINDOW = 30  # seconds over which a speed is measured
_BESIDE_THE_BAR = 66  # columns


class Bars:
    """Shows a bar for each phase, from the first call of `show` on; `transient` ones go when all is
    done.
    """

    def __init__(self, transient: bool = False) -> None:
        self._transient = transient
        self._bars: Any = None
        self._phases: dict[str, tuple[TaskID, _Pace]] = {}
        self._last = time.monotonic()  # when the phase before ended, as far as is known

    def show(self, phase: str, done: int, total: int | None, unit: str, rate: str = "") -> None:
        """Say how far a phase, such as "counting words", is: how many units are done, of how many
        if that is known.

        "bytes" are shown as kB, MB and so on. `rate` stands in the place of units a second.
        """
        self._bars = self._bars or self._started()
        if phase not in self._phases:
            task = self._bars.add_task(phase, total=total, amounts="", rate="", left="")
            self._phases[phase] = task, _Pace(self._last)
        task, pace = self._phases[phase]
        self._last = time.monotonic()
        speed, left = pace.noted(self._last, done, total)
        shown = {
            "amounts": amount(done, unit, total),
            "rate": rate or f"{amount(speed, unit)}/s",
            "left": left,
        }
        self._bars.update(task, completed=done, total=total, **shown)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._bars is not None:
            self._bars.stop()

    def _started(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
        shown = (
            "{task.description:<14}",
            "{task.fields[amounts]}",
            "{task.fields[rate]}",
            "{task.fields[left]}",
        )
        first, *others = (
            TextColumn(each, markup=False, table_column=Column(no_wrap=True)) for each in shown
        )
        bars = Progress(
            first,
            BarColumn(bar_width=min(40, max(5, console.width - _BESIDE_THE_BAR))),
            *others,
            console=console,
            refresh_per_second=5,
            transient=self._transient,
            # results that go to a file stay results; what standard error says stays above
            redirect_stdout=False,
        )
        bars.start()
        return bars


class _Pace:
    """How fast a phase goes, and how long it will take at the speed of its last half minute.

    rich's own speed knows nothing of a phase whose steps take longer than that.
    """

    def __init__(self, began: float) -> None:
        self._began = began
        self._seen = deque([(began, 0)])

    def noted(self, now: float, done: int, total: int | None) -> tuple[float, str]:
        """The units a second, and the time left; when all is done, the time it took."""
        self._seen.append((now, done))
        while self._seen[1][0] < now - _WINDOW:
            self._seen.popleft()
        began, before = self._seen[0]
        speed = (done - before) / max(now - began, 1e-9)
        if total is not None and done >= total:
            return speed, f"in {_clock(now - self._began)}"
        return speed, "" if total is None or not speed else f"{_clock((total - done) / speed)} left"


@contextlib.contextmanager
def shown_bars(transient: bool = False) -> Iterator[Bars | None]:
    """Bars for the body to show how far it is; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    with contextlib.closing(Bars(transient)) as bars:
        yield bars


@contextlib.contextmanager
def said_regularly(line: Callable[[], str]) -> Iterator[None]:
    """While the body works, say every half minute how far it is: for logs, where nobody sees a
    bar.
    """
    over = threading.Event()

    def say() -> None:
        while not over.wait(_SAID_EVERY):
            print(f"trietok: {line()}", file=sys.stderr, flush=True)

    if sys.stderr is None:
        yield
        return
    thread = threading.Thread(target=say, daemon=True)
    with interrupts_held():  # they are for the main thread
        thread.start()
    try:
        yield
    finally:
        over.set()
        with interrupts_held():
            thread.join()


@contextlib.contextmanager
def shown_reading(texts: Any, phase: str, *, while_writing: bool = False) -> Iterator[Any]:
    """The texts, to be read in the body, if any; a bar shows how far that is, once it has taken
    half a second.

    Where the body writes results as it reads (`while_writing`), there is no bar if they go to the
    terminal themselves, or to a pipe, whose other end may be a pager on the same terminal.
    """
    with shown_bars(transient=True) as bars:
        if texts is None or bars is None or (while_writing and (on_terminal() or _goes_to_pipe())):
            yield texts
        else:
            yield Watched(texts, phase, bars)


class Watched(Iterable[Any]):
    """Texts that show how far reading is, each time that they are read."""

    def __init__(self, texts: Any, phase: str, bars: Bars) -> None:
        self._texts, self._phase, self._bars = texts, phase, bars
        self.total_bytes: int | None = texts.total_bytes

    def __iter__(self) -> Iterator[Any]:
        due = time.monotonic() + _PATIENCE
        for text in self._texts:
            yield text
            now = time.monotonic()
            if now >= due:
                self._bars.show(self._phase, self._texts.bytes_read, self.total_bytes, "bytes")
                due = now + _INTERVAL


def _goes_to_pipe() -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # standard output is closed, or no file
        return True


def amount(number: float, unit: str, total: int | None = None) -> str:
    """A number of units, to read; and of how many, in one unit.

    >>> amount(999, "bytes"), amount(19_257_980, "bytes"), amount(1234.5, "words")
    ('999 bytes', '19.3 MB', '1,234 words')
    >>> amount(7_363_828, "bytes", 18_886_000), amount(12, "tokens", 30_000)
    ('7.4 of 18.9 MB', '12 of 30,000 tokens')
    """
    numbers = [number] if total is None else [number, total]
    if unit != "bytes":
        return f"{' of '.join(f'{each:,.0f}' for each in numbers)} {unit}"
    # The power of a thousand that leaves fewer than four digits.
    power = next(
        (power for power in range(len(_UNITS)) if numbers[-1] < 999.95 * 1000**power),
        len(_UNITS) - 1,
    )
    shown = " of ".join(
        f"{each:.0f}" if power == 0 else f"{each / 1000**power:.1f}" for each in numbers
    )
    return f"{shown} {_UNITS[power]}"


def _clock(seconds: float) -> str:
    """Seconds as a clock shows them.

    >>> _clock(7.2), _clock(59.9), _clock(3723)
    ('0:07', '1:00', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
