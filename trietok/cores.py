"""The number of processor cores that this process may use."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from pathlib import Path


def cores() -> int:
    """How many cores this process may use: those it may run on, or fewer where its cgroup gets less
    of their time.
    """
    if hasattr(os, "process_cpu_count"):  # from Python 3.13 on
        count = os.process_cpu_count()
    else:
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, int(min(count or 1, _quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")))))


@cache
def _quota(groups: Path, root: Path) -> float:
    """The time that the cgroups of this process get, in cores; infinity where that is not
    limited.
    """
    least = float("inf")
    with contextlib.suppress(OSError, ValueError):
        for line in groups.read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            top = root / "cpu" if controllers else root
            folder = top / path.lstrip("/")
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)
            # a group gets no more than any of those that it is in
            for place in (folder, *folder.parents):
                with contextlib.suppress(OSError, ValueError):  # "max", or no such file
                    quota, period = map(
                        int, " ".join((place / name).read_text() for name in names).split()
                    )
                    least = min(least, quota / period) if quota > 0 else least
    return least
