"""Requests over many connections at once, as cheap for the machine as Python allows: no parsing but
of the head.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple


class Load(NamedTuple):
    """What came of a load.

    Attributes:
        seconds: how long it took.
        latencies: seconds from request to answer, of each.
        errors: answers with another status than 200, and connections that broke off without one.
        wrong: answers of status 200 with another body than expected.
    """

    seconds: float
    latencies: list[float]
    errors: int
    wrong: int

    @property
    def per_second(self) -> float:
        """Answers of status 200 a second."""
        return (len(self.latencies) - self.errors) / self.seconds

    def percentile(self, percent: int) -> float:
        """Milliseconds in which so many percent of the answers came."""
        return statistics.quantiles(self.latencies, n=100)[percent - 1] * 1e3


def request(path: str, body: bytes) -> bytes:
    """A POST request of JSON."""
    head = (
        f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type:"
        f" application/json\r\ncontent-length: {len(body)}"
    )
    return head.encode() + b"\r\n\r\n" + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Status and body of the next answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
    return int(head[9:12]), await reader.readexactly(length)


async def ask(port: int, requests: Sequence[bytes]) -> list[tuple[int, bytes]]:
    """Status and body of each answer, one request after the other."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for one in requests:
        writer.write(one)
        answers.append(await answer(reader))
    writer.close()
    return answers


async def load(
    port: int,
    requests: Sequence[bytes],
    expected: Sequence[bytes],
    *,
    connections: int,
    seconds: float,
) -> Load:
    """Send requests over many connections at once, each connection the next as soon as its answer
    is there.

    Args:
        port: of this machine.
        requests, expected: what `request` gives, and the body of its answer.
        connections: how many.
        seconds: no new request begins after them.
    """
    start = time.perf_counter()
    latencies: list[float] = []
    errors = wrong = 0

    async def work(number: int) -> None:
        nonlocal errors, wrong
        streams = None
        while time.perf_counter() < start + seconds:
            number += connections + 1
            begun = time.perf_counter()
            try:
                reader, writer = streams or await asyncio.open_connection("127.0.0.1", port)
                writer.write(requests[number % len(requests)])
                status, body = await answer(reader)
            except (OSError, EOFError):
                status, body = 0, b""
            latencies.append(time.perf_counter() - begun)
            errors += status != 200
            wrong += status == 200 and body != expected[number % len(requests)]
            # after an error uvicorn closes the connection
            streams = (reader, writer) if status == 200 else None
        if streams:
            streams[1].close()

    await asyncio.gather(*map(work, range(connections)))
    return Load(time.perf_counter() - start, latencies, errors, wrong)
