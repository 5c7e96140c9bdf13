"""Shards on several threads or processes, from the standard library's executors.

In: shards, one after the other, as the plan finds them. Out: the outcome of each, in the order in
which they end. Only a few shards are submitted before others are done, so planning never runs far
ahead.

Threads are for texts that the compiled kernel encodes: they share it, with all that it remembers,
and it does not hold the GIL. Whatever needs the GIL for its work goes on processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from trietok.batches.encode_shard import (
    Outcome,
    ShardEncoder,
    ShardJob,
    encode_in_worker,
    start_worker,
)
from trietok.batches.shard_plan import Shard
from trietok.errors import TrietokError
from trietok.worker_pool import finished_of, submitting, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_AHEAD = 2  # shards handed out beyond those being worked on
Shards = Iterator[Shard]
Finished = Callable[[Shard, Outcome], None]  # is told what has become of each shard


def run_in_threads(job: ShardJob, shards: Shards, workers: int, finished: Finished) -> None:
    """Encode shards on threads of this process; after Ctrl-C unfinished ones are abandoned."""
    stop = threading.Event()
    encoder = ShardEncoder(job, stop.is_set)
    with submitting(ThreadPoolExecutor(workers), stop) as submit:
        _hand_out(partial(submit, encoder.encode), shards, workers, finished)


def run_in_pool(job: ShardJob, shards: Shards, workers: int, finished: Finished) -> None:
    """Encode shards on so many processes; after Ctrl-C unfinished ones are abandoned."""
    try:
        with worker_pool(workers, start_worker, job, job.state) as submit:
            _hand_out(partial(submit, encode_in_worker), shards, workers, finished)
    except BrokenExecutor:
        raise TrietokError(
            "a worker process has died, perhaps because memory ran out; fewer workers may do."
            f" Finished shards stay in {job.out}; --resume continues"
        ) from None


def _hand_out(
    submit: Callable[[Shard], Future[Outcome]], shards: Shards, workers: int, finished: Finished
) -> None:
    pending: dict[Future[Outcome], Shard] = {}

    def collect(most: int) -> None:
        while len(pending) > most:
            for future in finished_of(pending):
                finished(pending.pop(future), future.result())

    for shard in shards:
        pending[submit(shard)] = shard
        collect(workers + _AHEAD - 1)
    collect(0)
