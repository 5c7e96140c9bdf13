"""One process, and one thread of it, at a time in a directory.

In: a directory. Out: a block that no other process or thread enters for the same directory
(`alone`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator

from trietok.files.staging import Staging

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# The lock belongs to an open directory, so it ends with its process, and a directory gets no file
# for it. A forked process inherits what is open: there it is closed at once, so that a child that
# goes on keeps nobody waiting.


LONGEST_WAIT = 30.0  # seconds
_LONGEST_COMMAND = 120  # characters of a command line in an error
# A file system answers with one of these where directories cannot be locked.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

_handles: set[int] = set()  # open in this process for a lock


class DirectoryBusyError(Exception):
    """Another process, or thread, is at work in the directory. The message names it:
    `process 12 (python a.py)`.
    """


@contextlib.contextmanager
def alone(directory: str | os.PathLike[str], longest_wait: float | None = None) -> Iterator[bool]:
    """Let no other process or thread into a block like this one for the same directory, which has
    to exist.

    Another block is waited for, `LONGEST_WAIT` unless `longest_wait` is given; then that is a
    DirectoryBusyError. Yields whether that is certain: where the system has no such locks (Windows,
    some network file systems), the block is entered at once, and two at a time are the caller's to
    avoid.
    """
    if fcntl is None:
        yield False
        return
    handle = os.open(directory, os.O_RDONLY)
    _handles.add(handle)
    try:
        yield _locked(handle, directory, LONGEST_WAIT if longest_wait is None else longest_wait)
    finally:
        if handle in _handles:  # else this is a forked child, in which it is closed already
            _handles.remove(handle)
            with contextlib.suppress(OSError):
                # also for a child that was forked without Python's knowledge
                fcntl.flock(handle, fcntl.LOCK_UN)
            os.close(handle)


def _locked(handle: int, directory: str | os.PathLike[str], longest_wait: float) -> bool:
    end, pause = time.monotonic() + longest_wait, 0.001
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            left = end - time.monotonic()
            if left <= 0:
                raise DirectoryBusyError(_described(_holder(handle, directory))) from None
            time.sleep(min(pause, left))
            pause = min(2 * pause, 0.1)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return False


def _holder(handle: int, directory: str | os.PathLike[str]) -> int | None:
    """The process that has the lock, as far as the system or a staging folder tells."""
    status = os.fstat(handle)
    place = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with contextlib.suppress(OSError, ValueError), open("/proc/locks", encoding="ascii") as locks:
        for line in locks:
            # 3: FLOCK ADVISORY WRITE 4711 fe:00:1234 0 EOF; a line with -> is of a process that
            # waits
            fields = line.split()
            if fields[1] == "FLOCK" and fields[5] == place and int(fields[4]) > 0:
                return int(fields[4])
    pids = [staging.process for staging in Staging.all_in(directory) if staging.process is not None]
    return pids[0] if len(pids) == 1 else None


def _described(pid: int | None) -> str:
    if pid is None:
        return "another process"
    if pid == os.getpid():
        return f"another thread of this process ({pid})"
    command, stopped = "", ""
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            words = file.read(4 * _LONGEST_COMMAND).rstrip("\0").replace("\0", " ")
        shown = "".join(char if char.isprintable() else "?" for char in words)
        command = (
            f" ({shown[:_LONGEST_COMMAND]}{'...' if len(shown) > _LONGEST_COMMAND else ''})"
            if shown
            else ""
        )
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            stopped = (
                ", which is stopped," if file.read().rpartition(")")[2].split()[:1] == ["T"] else ""
            )
    return f"process {pid}{command}{stopped}"


def _close_in_child() -> None:
    for handle in _handles:
        with contextlib.suppress(OSError):
            os.close(handle)
    _handles.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_child)
