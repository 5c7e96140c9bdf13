"""Run work in processes that are started afresh and end with the work.

However this process ends, they end too. Before work is submitted, one of them is ready, or an error
says why none is.

The standard library writes what a new process needs to a pipe. If the process ends before it has
read all, as it does in a script without a main guard, writing a value that is larger than the pipe
would block. So the value goes through a file, and work is submitted only when a process is ready.

Ctrl-C during the start or the end of the processes could leave one of them running. So Ctrl-C takes
effect afterwards, and so does SIGTERM if the program handles it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait
from typing import TYPE_CHECKING, Any

from trietok.errors import InputError

if TYPE_CHECKING:
    from concurrent.futures import Future

# Functions below import multiprocessing, which a browser's Python does not have in full.

# Hands a call of a function, with its arguments, to a process. Its result or its exception is that
# of the future.
Submit = Callable[..., "Future[Any]"]

_TERMINATED = 128 + signal.SIGTERM  # the exit code that a shell gives


@contextlib.contextmanager
def worker_pool(
    workers: int, make_ready: Callable[[Any, Any], None], value: Any
) -> Iterator[Submit]:
    """Run processes for the length of a `with` block.

    Args:
        workers: the number of processes.
        make_ready: is called in each process with the value and an event. The event is set if the
            block ends by an exception, so that work can be given up.
        value: what a process needs; it is pickled once, to a temporary file.

    Raises:
        InputError: no process gets ready, or the value cannot be pickled.
        BrokenExecutor: from the future of work during which a process was killed.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    _refuse_while_starting()
    # Not by fork: a copy would keep the locks of other threads for ever, of pyarrow's or of one
    # that draws a bar.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    with _written(value) as path:
        executor = ProcessPoolExecutor(workers, context, _make_ready, (make_ready, path, stop))

        def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
            with interrupts_held():  # it may start a process
                return executor.submit(function, *arguments)

        try:
            try:
                # Each of these starts a process, unless one that was started before is ready. Work
                # starts the rest.
                ready = [submit(os.getpid) for _ in range(workers)]
                next(iter(finished_of(ready))).result()
            except BrokenExecutor:
                raise InputError(
                    f"the processes have ended before they were ready; {_ADVICE}"
                ) from None
            yield submit
        except BrokenExecutor:  # the process that was killed may have held the event's lock
            raise
        except BaseException:
            with interrupts_held():
                stop.set()
            raise
        finally:
            with interrupts_held():
                executor.shutdown(wait=True, cancel_futures=True)


def finished_of(futures: Collection[Future[Any]]) -> set[Future[Any]]:
    """Wait until some work is done, and return it.

    A Ctrl-C that interrupts `wait` may leave the locks of the futures taken, and then the threads
    that work would wait for ever. So it counts between short waits.
    """
    while True:
        with interrupts_held():
            done = wait(futures, _PAUSE, FIRST_COMPLETED).done
        if done:
            return done


_PAUSE = 0.1  # seconds until a Ctrl-C counts
_ADVICE = (
    'a script that asks for several processes has to call under `if __name__ == "__main__":`,'
    " because each of them imports the script. If memory ran out, use workers=1 (--workers 1)"
)


def _refuse_while_starting() -> None:
    """Raise an InputError if this process is being started as a worker, and imports the script.

    The process that starts it has begun what the script would do.
    """
    import multiprocessing

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            "this process was started for the script's own work, and begins it once more;"
            f" {_ADVICE}"
        )


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait until the body of a `with` block is done.

    A process that the body starts never hears of it, because it inherits the signals that the
    thread which starts it has blocked. Blocking alone does not protect the body: another thread may
    take the signal, and Python then interrupts the main thread.
    """
    interrupts: list[int] = []
    held: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # only the main thread is interrupted
        held = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        if not callable(held[signal.SIGTERM]):  # the process ends at once, as it should
            del held[signal.SIGTERM]
    for number in held:
        signal.signal(number, lambda number, frame: interrupts.append(number))
    has_masks = hasattr(signal, "pthread_sigmask")  # not on every system
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if has_masks else ()
    try:
        yield
    finally:
        if has_masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, before in held.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)
        for number in dict.fromkeys(interrupts):  # handled as it would have been without this
            signal.raise_signal(number)


@contextlib.contextmanager
def _written(value: Any) -> Iterator[str]:
    """Yield the path of a file with the value, for the length of a `with` block."""
    try:
        pickled = pickle.dumps(value)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(
            f"what is to work cannot be sent to other processes: {error}; give functions and"
            " classes that a module defines, or workers=1"
        ) from None
    handle, path = tempfile.mkstemp(prefix="trietok-")
    try:
        with open(handle, "wb") as file:
            file.write(pickled)
        yield path
    finally:
        os.unlink(path)


# ---- in a process that works ---------------------------------------------------------------------


def _make_ready(make_ready: Callable[[Any, Any], None], path: str, stop: Any) -> None:
    _end_with_parent()
    # the one that started this process says when it is to stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watched = _Stop(stop)
    signal.signal(signal.SIGTERM, watched.terminate)
    with open(path, "rb") as file:  # of `_written`, which only this user can write
        value = pickle.load(file)
    make_ready(value, watched)


def _end_with_parent() -> None:
    """Have this process end with the one that started it, of whose end the pipe with the work does
    not tell.
    """
    import multiprocessing
    from multiprocessing.connection import wait as wait_for

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def end_after_it() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end_after_it, daemon=True).start()


class _Stop:
    """Whether this process is to stop.

    One that ended while it asks would take the event's lock with it, and who sets the event would
    wait for ever. So SIGTERM, which goes to all processes of a job, counts after the question.
    """

    def __init__(self, event: Any) -> None:
        self._event = event
        self._is_asking = self._is_terminated = False

    def is_set(self) -> bool:
        self._is_asking = True
        is_set: bool = self._event.is_set()
        self._is_asking = False
        if self._is_terminated:
            os._exit(_TERMINATED)
        return is_set

    def terminate(self, number: int, frame: Any) -> None:
        if not self._is_asking:
            os._exit(_TERMINATED)
        self._is_terminated = True
