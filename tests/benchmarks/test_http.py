"""A service under load: FastAPI on uvicorn, 64 connections, texts → ids; trietok beside
transformers' fast tokenizer.

    pytest -m benchmark tests/benchmarks/test_http.py

Both services stand side by side and are put under load in turn, so that both have the same machine.
In *one length* all requests cut their texts at the same length; in *own lengths* each at its own,
which transformers' tokenizer keeps in the one Rust object that all threads share.
"""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

import trietok
from tests.benchmarks.http_load import Load, ask, load, request
from tests.benchmarks.texts import lines
from tests.conftest import needs

pytestmark = pytest.mark.benchmark

ROOT = pathlib.Path(__file__).parent.parent.parent
ENGINES = ("trietok", "transformers")
CONNECTIONS = 64
ROUNDS, SECONDS = 5, 2.0
REQUESTS, TEXTS = 200, 16  # texts of a request
START_SECONDS = 120


@contextmanager
def served(engine: str, directory: pathlib.Path) -> Iterator[int]:
    """A service in a process of its own; its port."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(256)
        port = listening.getsockname()[1]
        options = ["--fd", str(listening.fileno()), "--log-level", "critical", "--no-access-log"]
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        names = {
            "TRIETOK_ENGINE": engine,
            "TRIETOK_DIRECTORY": str(directory),
            "TOKENIZERS_PARALLELISM": "false",
        }
        process = subprocess.Popen(
            [
                sys.executable,
                "-W",
                "ignore",
                "-m",
                "uvicorn",
                "tests.benchmarks.http_service:app",
                *options,
            ],
            env={**os.environ, "PYTHONPATH": paths, "HF_HUB_OFFLINE": "1", **names},
            pass_fds=[listening.fileno()],
            cwd=directory,
        )
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


def wait_for(port: int, process: subprocess.Popen) -> None:
    """Until it answers. The port is open before the service is there, so one request is enough."""
    end = time.monotonic() + START_SECONDS
    with socket.create_connection(("127.0.0.1", port)) as asking:
        asking.sendall(b"GET /none HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        asking.settimeout(0.5)
        while time.monotonic() < end and process.poll() is None:
            try:
                if asking.recv(100):
                    return
            except TimeoutError:
                continue
    pytest.fail(f"the service does not start: exit code {process.poll()}")


def bodies(own_lengths: bool) -> list[bytes]:
    texts = [" ".join(group) for group in zip(*[iter(lines() * 20)] * 4, strict=False)]
    return [
        json.dumps(
            {
                "texts": [texts[(number * TEXTS + step) % len(texts)] for step in range(TEXTS)],
                "max_length": 16 + number % 97 if own_lengths else 64,
            }
        ).encode()
        for number in range(REQUESTS)
    ]


def show(what: str, engine: str, loads: list[Load], capsys: pytest.CaptureFixture[str]) -> None:
    rates = [
        f"{statistics.median(values):8.1f}" for values in zip(*map(numbers, loads), strict=True)
    ]
    answers = sum(len(one.latencies) for one in loads)
    failed = (
        f"{sum(one.errors for one in loads)} errors, {sum(one.wrong for one in loads)} wrong of"
        f" {answers}"
    )
    with capsys.disabled():
        print(f"{what:24} {engine:13}", *rates, f"  {failed}", flush=True)


def numbers(one: Load) -> tuple[float, float, float]:
    return one.per_second, one.percentile(50), one.percentile(99)


@pytest.mark.skipif(
    sys.platform == "win32", reason="needs Linux: a service is given its socket by number"
)
def test_a_service_under_load_answers_without_errors(tmp_path, capsys):
    for package in ("fastapi", "uvicorn"):
        needs(package)
    from transformers import BertTokenizerFast

    trietok.BertTokenizer.from_pretrained("trietok-en").save_pretrained(tmp_path)
    BertTokenizerFast.from_pretrained(tmp_path).save_pretrained(tmp_path)
    with capsys.disabled():
        print(
            f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {CONNECTIONS} connections,"
            f" {TEXTS} texts each"
        )
        print(f"{'medians of ' + str(ROUNDS) + ' rounds':38}  answers/s  p50 ms   p99 ms")
    with ExitStack() as stack:
        ports = {engine: stack.enter_context(served(engine, tmp_path)) for engine in ENGINES}
        for path, own_lengths in (("/threads", False), ("/threads", True), ("/loop", True)):
            requests = [request(path, body) for body in bodies(own_lengths)]
            answers = {engine: asyncio.run(ask(port, requests)) for engine, port in ports.items()}
            assert answers["trietok"] == answers["transformers"]
            assert all(status == 200 for status, _ in answers["trietok"])
            expected = [body for _, body in answers["trietok"]]
            loads: dict[str, list[Load]] = {engine: [] for engine in ENGINES}
            for _ in range(ROUNDS):
                for engine, port in ports.items():
                    done = asyncio.run(
                        load(port, requests, expected, connections=CONNECTIONS, seconds=SECONDS)
                    )
                    loads[engine].append(done)
            what = f"{path[1:]}, {'own lengths' if own_lengths else 'one length'}"
            for engine, found in loads.items():
                show(what, engine, found, capsys)
            assert not any(one.errors or one.wrong for one in loads["trietok"])
