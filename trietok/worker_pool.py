"""Processes that work for this one: started afresh, made ready with the same value, ended with the work.

In: how many, a function that makes a process ready, and the value it needs. Out: an executor of the standard library
whose processes exist, or an error that says why they do not.

The standard library writes what a new process needs to a pipe, both ends of which this process holds meanwhile. Where
the new one ends before it has read, as it does in a script without a main guard, a value that is larger than the pipe
would be written for ever. So the value goes through a file, and work is handed out only once a process is ready.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Executor


@contextlib.contextmanager
def worker_pool(
    workers: int, option: str, make_ready: Callable[[Any, Any], None], value: Any, folder: Path | None = None
) -> Iterator[Executor]:
    """So many processes, for the length of a `with` block.

    Args:
        workers: how many.
        option: how the user asked for them, such as `"workers"`; for the errors.
        make_ready: called in each process, with the value and an event. The event is set where the block ends by an
            exception, so that what a process is working on can be given up.
        value: what each process needs; it is pickled once.
        folder: where the file with the value stands meanwhile; None for the system's own.

    Raises:
        InputError: the value cannot be pickled, or the processes have ended before they were ready.
        concurrent.futures.process.BrokenProcessPool: from a future's result; a process has died at work.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    refuse_while_starting(option)
    # Not by fork: a copy would keep the locks of other threads for ever, of pyarrow's or of one that draws a bar.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    path = _written(value, option, folder)
    executor = ProcessPoolExecutor(workers, context, _make_ready, (make_ready, path, stop))
    try:
        try:
            _start(executor, workers)
        except BrokenProcessPool:
            raise InputError(f"the processes have ended before they were ready; {_advice(option)}") from None
        yield executor
    except BrokenProcessPool:  # the one that died may have held the event's lock
        raise
    except BaseException:
        stop.set()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        os.unlink(path)


def refuse_while_starting(option: str) -> None:
    """See that this process is not just being started for another one, which makes it import the program's script.

    What the script would do then has been begun by the other one.

    Raises:
        InputError: it is; the script calls without a main guard.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            f"this process was started for the script's own work, and begins it once more; {_advice(option)}"
        )


def _advice(option: str) -> str:
    return (
        'a script that asks for several processes has to call under `if __name__ == "__main__":`, because each of them '
        f"imports the script; {option}=1 (--{option} 1) does without them"
    )


def _written(value: Any, option: str, folder: Path | None) -> str:
    """The path of a new file with the value."""
    import pickle
    import tempfile

    try:
        pickled = pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"what is to work cannot be sent to other processes: {error}; give functions and classes that a module "
            f"defines, or {option}=1"
        ) from None
    handle, path = tempfile.mkstemp(prefix="temporary-", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(pickled)
    except BaseException:
        os.unlink(path)
        raise
    return path


def _start(executor: Executor, workers: int) -> None:
    """Start every process, and wait for the first that is ready.

    Raises:
        BrokenProcessPool: one has ended.
    """
    from concurrent.futures import FIRST_COMPLETED, wait

    with _interrupts_held():  # none has anything to do yet, so each of these starts one
        ready = [executor.submit(_is_ready) for _ in range(workers)]
    done, _ = wait(ready, return_when=FIRST_COMPLETED)
    for future in done:
        future.result()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C goes to every process of a terminal; those that are started meanwhile never hear of it."""
    if not hasattr(signal, "pthread_sigmask"):  # not on every system
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---- in a process that works ----------------------------------------------------------------------------------------


def _make_ready(make_ready: Callable[[Any, Any], None], path: str, stop: Any) -> None:
    import pickle

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that started this process says when it is to stop
    with open(path, "rb") as file:
        value = pickle.load(file)
    make_ready(value, stop)


def _is_ready() -> None:
    """The first thing a process does: it was made ready before."""
