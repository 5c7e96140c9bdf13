"""A bar for each phase of a training, on standard error where that is a terminal.

In: the `Progress` of a training. Out: bars with counts, rate and the time left.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from trietok.training import Progress


@contextlib.contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None] | None]:
    """What to pass as `on_progress`: None where nobody looks."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description:<14}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[counts]}", markup=False),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(file=sys.stderr, highlight=False, markup=False, emoji=False)
    with Bars(*columns, console=console, refresh_per_second=5) as bars:
        tasks: dict[str, object] = {}

        def show(progress: Progress) -> None:
            if progress.phase not in tasks:
                tasks[progress.phase] = bars.add_task(progress.phase, total=progress.total, counts="", rate="")
            task = tasks[progress.phase]
            bars.update(task, completed=progress.done, total=progress.total)  # type: ignore[arg-type]
            speed = bars.tasks[task].speed  # type: ignore[call-overload]
            total = "" if progress.total is None else f" of {progress.total:,}"
            rate = f"{speed:,.0f} {progress.unit}/s" if speed else ""
            bars.update(task, counts=f"{progress.done:,}{total} {progress.unit}", rate=rate)  # type: ignore[arg-type]

        yield show
