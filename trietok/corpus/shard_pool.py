"""Shards on several processes, from the standard library's executor.

In: shards, one after the other, as the plan finds them. Out: the outcome of each, in the order in which they end.
Only a few shards are submitted before others are done, so planning never runs far ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trietok.corpus.encode_shard import Outcome, ShardJob, encode_in_worker, start_worker
from trietok.corpus.shard_plan import Shard
from trietok.errors import TrietokError
from trietok.worker_pool import Submit, interrupts_held, worker_pool

_AHEAD = 2  # shards handed out beyond those being worked on


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
    from concurrent.futures import FIRST_COMPLETED, Future, wait
    from concurrent.futures.process import BrokenProcessPool

    pending: dict[Future[Outcome], Shard] = {}

    def collect(most: int) -> None:
        while len(pending) > most:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                finished(pending.pop(future), future.result())

    def hand_out(submit: Submit) -> None:
        for shard in shards:
            pending[submit(encode_in_worker, shard)] = shard
            collect(workers + _AHEAD - 1)
            if is_over():
                break
        collect(0)

    try:
        with worker_pool(workers, "workers", start_worker, job, job.state) as submit:
            hand_out(submit)
    except BrokenProcessPool:
        raise TrietokError(
            f"a worker process has died, perhaps for want of memory; fewer workers may do. Finished shards stay in "
            f"{job.out}; --resume goes on"
        ) from None
    finally:
        with interrupts_held():
            for path in job.state.glob("spool-*"):
                Path(path).unlink(missing_ok=True)
