"""Shards on several threads or processes, from the standard library's executors.

In: shards, one after the other, as the plan finds them. Out: the outcome of each, in the order in which they end.
Only a few shards are submitted before others are done, so planning never runs far ahead.

Threads are for texts that the compiled kernel encodes: they share it, with all that it remembers, and it does not hold
the GIL. Whatever needs the GIL for its work goes on processes.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from trietok.corpus.encode_shard import Outcome, ShardEncoder, ShardJob, encode_in_worker, start_worker
from trietok.corpus.shard_plan import Shard
from trietok.errors import TrietokError
from trietok.worker_pool import interrupts_held, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_AHEAD = 2  # shards handed out beyond those being worked on


def run_in_threads(
    job: ShardJob,
    shards: Iterator[Shard],
    workers: int,
    finished: Callable[[Shard, Outcome], None],
    is_over: Callable[[], bool],
) -> None:
    """Encode shards on so many threads of this process; the arguments are those of `run_in_pool`.

    Raises:
        KeyboardInterrupt: unfinished shards are abandoned.
    """
    from concurrent.futures import ThreadPoolExecutor

    stop = threading.Event()
    encoder = ShardEncoder(job, stop.is_set)
    executor = ThreadPoolExecutor(workers)

    def submit(shard: Shard) -> Future[Outcome]:
        with interrupts_held():  # a thread that is started has them blocked: they are for the main thread
            return executor.submit(encoder.encode, shard)

    with _spools_removed(job):
        try:
            _hand_out(submit, shards, workers, finished, is_over)
        except BaseException:
            stop.set()
            raise
        finally:
            with interrupts_held():
                executor.shutdown(wait=True, cancel_futures=True)


def run_in_pool(
    job: ShardJob,
    shards: Iterator[Shard],
    workers: int,
    finished: Callable[[Shard, Outcome], None],
    is_over: Callable[[], bool],
) -> None:
    """Encode shards on so many processes.

    Args:
        job: the options, the same for every shard.
        shards: in order.
        workers: how many processes.
        finished: called with the outcome of each shard.
        is_over: called after each; once it returns True, no more shards are submitted.

    Raises:
        InputError: the processes cannot be started.
        TrietokError: a process has died.
        KeyboardInterrupt: unfinished shards are abandoned.
    """
    from concurrent.futures.process import BrokenProcessPool

    try:
        with _spools_removed(job), worker_pool(workers, "workers", start_worker, job, job.state) as submit:
            _hand_out(partial(submit, encode_in_worker), shards, workers, finished, is_over)
    except BrokenProcessPool:
        raise TrietokError(
            f"a worker process has died, perhaps because memory ran out; fewer workers may do. Finished shards stay in "
            f"{job.out}; --resume continues"
        ) from None


def _hand_out(
    submit: Callable[[Shard], Future[Outcome]],
    shards: Iterator[Shard],
    workers: int,
    finished: Callable[[Shard, Outcome], None],
    is_over: Callable[[], bool],
) -> None:
    from concurrent.futures import FIRST_COMPLETED, wait

    pending: dict[Future[Outcome], Shard] = {}

    def collect(most: int) -> None:
        while len(pending) > most:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                finished(pending.pop(future), future.result())

    for shard in shards:
        pending[submit(shard)] = shard
        collect(workers + _AHEAD - 1)
        if is_over():
            break
    collect(0)


@contextlib.contextmanager
def _spools_removed(job: ShardJob) -> Iterator[None]:
    """Remove the lines of shards that were planned and not encoded."""
    try:
        yield
    finally:
        with interrupts_held():
            for path in job.state.glob("spool-*"):
                Path(path).unlink(missing_ok=True)
