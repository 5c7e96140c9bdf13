"""Shards on several threads or processes, from the standard library's executors; or on an engine,
such as Ray or Spark.

In: shards, one after the other, as the plan finds them. Out: the outcome of each, in the order in
which they end. Only a few shards are submitted before others are done, so planning never runs far
ahead.

Threads are for texts that the compiled kernel encodes: they share it, with all that it remembers,
and it does not hold the GIL. Whatever needs the GIL for its work goes on processes.

An engine encodes by its map, on whatever machines it has. Its workers are sent the tokenizer, once,
and the place of each text, and write the shards and their records into the directory of the run,
which has to be at the same path on all machines, as the files have to be; or put them in a store.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from trietok.corpus.encode_shard import (
    Outcome,
    ShardEncoder,
    ShardJob,
    encode_in_worker,
    start_worker,
    versions_here,
)
from trietok.corpus.row_encoder import RowEncoder
from trietok.corpus.shard_plan import Shard
from trietok.errors import InputError, TrietokError
from trietok.worker_pool import submitting, worker_pool

if TYPE_CHECKING:
    from concurrent.futures import Future

_AHEAD = 2  # shards handed out beyond those being worked on
Shards = Iterator[Shard]
EncodeShard = Callable[[Shard], Outcome]
MapShards = Callable[[EncodeShard, Shards], Iterable[Outcome]]
Finished = Callable[[Shard, Outcome], None]  # is told what has become of each shard


def run_in_threads(job: ShardJob, shards: Shards, workers: int, finished: Finished) -> None:
    """Encode shards on threads of this process; after Ctrl-C unfinished ones are abandoned."""
    from concurrent.futures import ThreadPoolExecutor

    stop = threading.Event()
    encoder = ShardEncoder(job, stop.is_set)
    with submitting(ThreadPoolExecutor(workers), stop) as submit:
        _hand_out(partial(submit, encoder.encode), shards, workers, finished)


def run_in_pool(job: ShardJob, shards: Shards, workers: int, finished: Finished) -> None:
    """Encode shards on so many processes; after Ctrl-C unfinished ones are abandoned."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        with worker_pool(workers, start_worker, job, job.state) as submit:
            _hand_out(partial(submit, encode_in_worker), shards, workers, finished)
    except BrokenProcessPool:
        raise TrietokError(
            "a worker process has died, perhaps because memory ran out; fewer workers may do."
            f" Finished shards stay in {job.name}; --resume continues"
        ) from None


def _hand_out(
    submit: Callable[[Shard], Future[Outcome]], shards: Shards, workers: int, finished: Finished
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
    collect(0)


_GIVES_BACK = "it has to give back what the function returns for each"


class EncodeElsewhere:
    """A function of a shard, to be pickled: it puts the shard's files in place.

    Where other versions are installed, which may write other bytes, a call is an InputError.
    """

    def __init__(self, job: ShardJob) -> None:
        self._encoder = RowEncoder(job.tokenizer, job.call_options)  # pickled once, read once
        self._job = job._replace(tokenizer=None)
        self._versions = versions_here()

    def __call__(self, shard: Shard) -> Outcome:
        here = versions_here()
        for name, version in self._versions.items():
            if here[name] != version:
                told = (
                    f"this worker has {name} {here[name]}, and the run began with {name} {version}"
                )
                raise InputError(f"{told}; install that one")
        if self._job.store is None:
            return ShardEncoder(self._job, encoder=self._encoder).encode(shard)
        with tempfile.TemporaryDirectory() as folder:
            job = self._job._replace(out=Path(folder))
            job.state.mkdir()
            return ShardEncoder(job, encoder=self._encoder).encode(shard)


def run_by_map(map_shards: MapShards, job: ShardJob, shards: Shards, finished: Finished) -> None:
    """Encode shards by an engine's map: of a function of a shard, and an iterator of shards.

    It gives the outcomes, in any order, and another thread may take the shards.
    """
    handed_out: dict[int, Shard] = {}
    one_at_a_time = threading.Lock()  # planning and counting concern the same run

    def to_do() -> Shards:
        while True:
            with one_at_a_time:
                shard = next(shards, None)
                if shard is None:
                    return
                handed_out[shard.number] = shard
            yield shard

    for outcome in map_shards(EncodeElsewhere(job), to_do()):
        with one_at_a_time:
            shard = handed_out.pop(outcome.number, None) if isinstance(outcome, Outcome) else None
            if shard is None:
                told = (
                    f"map_shards has given {type(outcome).__name__} for no shard that it was given"
                )
                raise TrietokError(f"{told}; {_GIVES_BACK}, once")
            finished(shard, outcome)
    if handed_out:
        told = (
            f"map_shards has ended without the outcome of {len(handed_out)} shards; {_GIVES_BACK}"
        )
        raise TrietokError(f"{told}. Finished shards stay in {job.name}; resume=True goes on")
