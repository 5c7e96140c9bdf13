"""Ray and Spark as the workers of a run: a function like `map` over a cluster, for
`encode_files(..., map_shards=)`.

In: a function that can be pickled, and an iterator of jobs for it. Out: what the function returns
for each job, in the order in which they end. Few are handed out before others are done, so a
machine that joins the cluster takes its part.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from trietok.errors import InputError, TrietokError, imported

_Work = Callable[[Any], Any]
Map = Callable[[_Work, Iterator[Any]], Iterable[Any]]
_WAVE = 16  # jobs of a core for Spark at once: few leave cores waiting, many keep a new machine out
_RETRIES = 10  # how often Ray does a job again whose worker or machine is lost


def map_on(engine: str, address: str | None = None) -> Map:
    """A map over the cluster at an address.

    Args:
        engine: `"ray"` or `"spark"`.
        address: of Ray, `auto`, `HOST:PORT` or `ray://HOST:PORT`; of Spark, its master:
            `spark://HOST:PORT`, `yarn`, `local[2]`. None for what the engine finds by itself:
            `RAY_ADDRESS`, or the session that there is.

    Raises:
        InputError: no such engine.

    The map raises:
        MissingDependencyError: the engine is not installed.
        TrietokError: it cannot be reached, or it gives a job up.

    >>> import operator
    >>> from trietok.corpus.engines import map_on
    >>> on_ray = map_on("ray")
    >>> sorted(on_ray(operator.neg, iter([1, 2, 3])))  # doctest: +SKIP
    [-3, -2, -1]
    """
    maps = {"ray": _on_ray, "spark": _on_spark}
    if engine not in maps:
        raise InputError(f"engine is {engine!r}; select one of {sorted(maps)}")
    return partial(maps[engine], address)


def _tried(function: _Work, job: Any) -> Any:
    """Return an error of ours: an engine would wrap it in the traces of its own workers."""
    try:
        return function(job)
    except TrietokError as error:
        return error


def _not_raised(outcomes: Iterable[Any]) -> Iterator[Any]:
    for outcome in outcomes:
        if isinstance(outcome, TrietokError):
            raise outcome
        yield outcome


@contextlib.contextmanager
def _told(engine: str, address: str | None, *kinds: type[Exception]) -> Iterator[None]:
    """In one line what an engine raises, which comes with the traces of all its machines."""
    try:
        yield
    except TrietokError:
        raise
    except kinds as error:
        lines = [*filter(None, map(str.strip, str(error).splitlines())), type(error).__name__]
        # Java's comes second
        told = next((line[1:].strip() for line in lines if line.startswith(":")), lines[0])
        where = f" at {address}" if address else ""
        raise TrietokError(f"{engine}{where} has given up: {told:.300}") from error


def _reached(engine: str, address: str | None) -> None:
    """Raise a TrietokError where nothing listens, for which an engine would try for minutes."""
    found = re.fullmatch(r"(?:\w+://)?\[?([\w.:-]+?)\]?:(\d+)", address or "")
    if found is None:
        return
    try:
        socket.create_connection((found[1], int(found[2])), timeout=10).close()
    except (OSError, OverflowError) as error:
        told = f"{engine} does not answer at {address} ({error}); is the address right, and it up?"
        raise TrietokError(told) from error


def _on_ray(address: str | None, function: _Work, jobs: Iterator[Any]) -> Iterator[Any]:
    ray = imported("ray", "ray")
    is_ours = not ray.is_initialized()
    if is_ours:
        _reached("Ray", address or os.environ.get("RAY_ADDRESS"))
        with _told("Ray", address, Exception):
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:
        shared = ray.put(function)  # goes to each machine once
        run = ray.remote(max_retries=_RETRIES)(_tried)
        running: list[Any] = []
        with _told("Ray", address, ray.exceptions.RayError):
            for job in jobs:
                running.append(run.remote(shared, job))
                if len(running) >= 2 * max(1, int(ray.cluster_resources().get("CPU", 1))):
                    done, running = ray.wait(running)
                    yield from _not_raised(ray.get(done))
            while running:
                done, running = ray.wait(running)
                yield from _not_raised(ray.get(done))
    finally:
        if is_ours:
            ray.shutdown()


def _on_spark(address: str | None, function: _Work, jobs: Iterator[Any]) -> Iterator[Any]:
    from concurrent.futures import Future, ThreadPoolExecutor

    sql, errors = imported("pyspark.sql", "spark"), imported("pyspark.errors", "spark")
    kinds = (errors.PySparkException, imported("py4j.protocol", "spark").Py4JError)
    session = sql.SparkSession.getActiveSession()
    is_ours = session is None
    if session is None:
        builder = sql.SparkSession.builder.config("spark.ui.showConsoleProgress", "false")
        if address is not None:
            _reached("Spark", address)
            builder = builder.master(address)
            if address.startswith("local"):  # workers on this machine are this Python
                os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        with _told("Spark", address, Exception):
            session = builder.getOrCreate()
    context = session.sparkContext
    shared = context.broadcast(function)  # goes to each executor once

    def collect(wave: list[Any]) -> list[Any]:
        tasks = context.parallelize(wave, len(wave))
        return list(tasks.map(lambda job: _tried(shared.value, job)).collect())

    executor = ThreadPoolExecutor(2)
    try:
        waves: deque[Future[list[Any]]] = deque()
        with _told("Spark", address, *kinds):
            # Two at a time, so that the cores that one leaves at its end are taken by the other.
            while wave := list(itertools.islice(jobs, _WAVE * context.defaultParallelism)):
                waves.append(executor.submit(collect, wave))
                if len(waves) == 2:
                    yield from _not_raised(waves.popleft().result())
            for future in waves:
                yield from _not_raised(future.result())
    finally:
        context.cancelAllJobs()
        executor.shutdown(cancel_futures=True)
        shared.destroy()
        if is_ours:
            session.stop()
