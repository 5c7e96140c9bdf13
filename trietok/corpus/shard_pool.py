"""Shards on several processes, from the standard library's executor.

In: shards, one after the other, as the plan finds them. Out: what became of each, told in the order in which they end.
Only a few are handed out before others are done, so the plan never runs far ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from trietok.corpus.encode_shard import Outcome, ShardJob, encode_in_worker, start_worker
from trietok.corpus.shard_plan import Shard
from trietok.errors import TrietokError
from trietok.interrupts import interrupts_held

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
        job: what is done to each.
        shards: in order.
        workers: how many processes.
        finished: told of each shard.
        is_over: asked after each; where it says so, those that are handed out are the last.

    Raises:
        TrietokError: a process has died.
        KeyboardInterrupt: what was being worked on is given up.
    """
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool

    # Not by fork: this process has threads of pyarrow's, whose locks a copy would keep for ever.
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(workers, context, start_worker, (job, stop))
    pending: dict[Future[Outcome], Shard] = {}

    def collect(most: int) -> None:
        while len(pending) > most:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                finished(pending.pop(future), future.result())

    try:
        for shard in shards:
            with interrupts_held():
                future = pool.submit(encode_in_worker, shard)
            pending[future] = shard
            collect(workers + _AHEAD - 1)
            if is_over():
                break
        collect(0)
    except BrokenProcessPool:
        raise TrietokError(
            f"a worker process has died, perhaps for want of memory; fewer workers may do. Finished shards stay in "
            f"{job.out}; --resume goes on"
        ) from None
    except BaseException:
        stop.set()
        raise
    finally:
        with interrupts_held():
            pool.shutdown(wait=True, cancel_futures=True)
            for path in job.state.glob("spool-*"):
                Path(path).unlink(missing_ok=True)
