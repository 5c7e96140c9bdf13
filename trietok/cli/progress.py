"""How far a command is: bars on standard error, where that is a terminal, and nothing elsewhere.

In: what is done, and of how much. Out: a bar for each phase, with amounts, rate and the time left.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from trietok.cli.output import on_terminal

if TYPE_CHECKING:
    from rich.progress import TaskID

Text = TypeVar("Text", covariant=True)

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_PATIENCE = 0.5  # seconds that reading may take without a bar, which costs a tenth of a second
_INTERVAL = 0.1  # seconds between two looks at how far reading is
_SAID_EVERY = 30  # seconds
_WINDOW = 30  # seconds over which a speed is measured
_BESIDE_THE_BAR = 66  # columns


class BytesRead(Protocol[Text]):
    """Texts that say how many bytes of them have been read; `total_bytes` is None where that is not known."""

    @property
    def bytes_read(self) -> int: ...

    @property
    def total_bytes(self) -> int | None: ...

    def __iter__(self) -> Iterator[Text]: ...


class Bars:
    """Shows a bar for each phase. The first call of `show` draws the first bar.

    Args:
        transient: whether the bars go when all is done.
    """

    def __init__(self, transient: bool = False) -> None:
        self._transient = transient
        self._bars: Any = None
        self._tasks: dict[str, TaskID] = {}
        self._paces: dict[str, _Pace] = {}
        self._last = time.monotonic()  # when the phase before ended, as far as is known

    def show(self, phase: str, done: int, total: int | None, unit: str, rate: str = "") -> None:
        """Say how far a phase is.

        Args:
            phase: what is being done, such as "counting words".
            done: how much is done, in units.
            total: how much there is; None where that is not known.
            unit: what is counted; "bytes" are shown as kB, MB and so on.
            rate: what to show instead of units a second.
        """
        if self._bars is None:
            self._bars = self._started()
        bars = self._bars
        if phase not in self._tasks:
            self._tasks[phase] = bars.add_task(phase, total=total, amounts="", rate="", left="")
            self._paces[phase] = _Pace(self._last)
        pace = self._paces[phase]
        self._last = time.monotonic()
        pace.note(self._last, done)
        rate = rate or f"{amount(pace.speed, unit)}/s"
        left = pace.time_of(done, total)
        bars.update(
            self._tasks[phase], completed=done, total=total, amounts=amounts(done, total, unit), rate=rate, left=left
        )

    def end(self) -> None:
        """Leave the terminal as it was."""
        if self._bars is not None:
            self._bars.stop()

    def _started(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn
        from rich.table import Column

        console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
        whole = Column(no_wrap=True)
        bars = Progress(
            TextColumn("{task.description:<14}", markup=False, table_column=whole),
            BarColumn(bar_width=min(40, max(5, console.width - _BESIDE_THE_BAR))),
            TextColumn("{task.fields[amounts]}", markup=False, table_column=whole),
            TextColumn("{task.fields[rate]}", markup=False, table_column=whole),
            TextColumn("{task.fields[left]}", markup=False, table_column=whole),
            console=console,
            refresh_per_second=5,
            transient=self._transient,
            redirect_stdout=False,  # results that go to a file stay results; what standard error says stays above
        )
        bars.start()
        return bars


class _Pace:
    """How fast a phase goes, and how long it will take at the speed of its last half minute."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._seen = deque([(began, 0)])

    def note(self, now: float, done: int) -> None:
        self._seen.append((now, done))
        while self._seen[1][0] < now - _WINDOW:
            self._seen.popleft()

    @property
    def speed(self) -> float:
        """Units a second."""
        (began, before), (now, done) = self._seen[0], self._seen[-1]
        return (done - before) / max(now - began, 1e-9)

    def time_of(self, done: int, total: int | None) -> str:
        """The time left; when all is done, the time it took."""
        if total is not None and done >= total:
            return f"in {_clock(self._seen[-1][0] - self._began)}"
        return "" if total is None or not self.speed else f"{_clock((total - done) / self.speed)} left"


@contextlib.contextmanager
def shown_bars(transient: bool = False) -> Iterator[Bars | None]:
    """Bars for the body to show how far it is; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    bars = Bars(transient)
    try:
        yield bars
    finally:
        bars.end()


@contextlib.contextmanager
def said_regularly(line: Callable[[], str]) -> Iterator[None]:
    """While the body works, say every half minute how far it is: for logs, where nobody sees a bar.

    Args:
        line: what to say, without the line feed.
    """
    import threading

    from trietok.worker_pool import interrupts_held  # most commands do without what it imports

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
def shown_reading(texts: BytesRead[Text], phase: str, *, while_writing: bool = False) -> Iterator[Iterable[Text]]:
    """The texts, to be read in the body; a bar shows how far that is, once it has taken half a second.

    Args:
        texts: what is read.
        phase: what the body does with them.
        while_writing: whether the body writes results as it reads. Then there is no bar where they go to the terminal
            themselves, or to a pipe, whose other end may be a pager on the same terminal.
    """
    with shown_bars(transient=True) as bars:
        if bars is None or (while_writing and (on_terminal() or _goes_to_pipe())):
            yield texts
        else:
            yield Watched(texts, phase, bars)


class Watched(Iterable[Text]):
    """Texts that show how far reading is, each time that they are read."""

    def __init__(self, texts: BytesRead[Text], phase: str, bars: Bars) -> None:
        self._texts = texts
        self._phase = phase
        self._bars = bars

    @property
    def total_bytes(self) -> int | None:
        return self._texts.total_bytes

    def __iter__(self) -> Iterator[Text]:
        texts = self._texts
        due = time.monotonic() + _PATIENCE
        for text in texts:
            yield text
            now = time.monotonic()
            if now >= due:
                self._bars.show(self._phase, texts.bytes_read, texts.total_bytes, "bytes")
                due = now + _INTERVAL


def _goes_to_pipe() -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError, AttributeError):  # standard output is closed, or no file
        return True


def amount(number: float, unit: str) -> str:
    """A number of units, to read.

    >>> amount(999, "bytes"), amount(19_257_980, "bytes"), amount(1234.5, "words")
    ('999 bytes', '19.3 MB', '1,234 words')
    """
    if unit != "bytes":
        return f"{number:,.0f} {unit}"
    power = _power(number)
    return f"{_scaled(number, power)} {_UNITS[power]}"


def amounts(done: int, total: int | None, unit: str) -> str:
    """How much is done of how much, in one unit.

    >>> amounts(7_363_828, 18_886_000, "bytes"), amounts(7_363_828, None, "bytes"), amounts(12, 30_000, "tokens")
    ('7.4 of 18.9 MB', '7.4 MB', '12 of 30,000 tokens')
    """
    if total is None:
        return amount(done, unit)
    if unit != "bytes":
        return f"{done:,} of {total:,} {unit}"
    power = _power(total)
    return f"{_scaled(done, power)} of {_scaled(total, power)} {_UNITS[power]}"


def _power(number: float) -> int:
    """The power of a thousand that leaves fewer than four digits."""
    return next((power for power in range(len(_UNITS)) if number < 999.95 * 1000**power), len(_UNITS) - 1)


def _scaled(number: float, power: int) -> str:
    return f"{number:.0f}" if power == 0 else f"{number / 1000**power:.1f}"


def _clock(seconds: float) -> str:
    """Seconds as a clock shows them.

    >>> _clock(7.2), _clock(59.9), _clock(3723)
    ('0:07', '1:00', '1:02:03')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
