"""What a corpus takes of each process that encodes it: memory, processor time, waits; and what a kill
costs.

Each kind of file is encoded by one worker and by two, in threads with the compiled kernel, and in
processes without it. Of each process the kernel of the system tells the most memory that it had; of
each thread, how long it ran, how long it was ready and got no processor, and so how long it waited
for something else: the GIL, the disk, work. The second depends on what else the machine does, the
first and the third do not: they say how fast two workers would be on two processors of their own.

A kill is SIGKILL halfway; then the run is resumed. What is lost is the processor time of both,
less that of a run which nobody killed.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import time
from collections import Counter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trietok import BertTokenizer, kernel

PROC = pathlib.Path("/proc")
MEGABYTES = float(os.environ.get("TRIETOK_CORPUS_MB", "60"))
FILES, WORDS = 6, 40  # of a corpus; of a line
SHARD_MB = str(max(MEGABYTES / 30, 1))
pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(not (PROC / "self/schedstat").exists(), reason="needs Linux: reads /proc"),
]


def lines_of(size: float, rng: random.Random) -> list[str]:
    """Lines of words of the vocabulary, and of others, which are met once."""
    known = [
        token
        for token in BertTokenizer.from_pretrained("trietok-en").get_vocab()
        if token.isalpha()
    ]
    lines, held = [], 0
    while held < size:
        words = rng.choices(known, k=WORDS)
        words[rng.randrange(WORDS)] = f"{rng.choice(known)}{rng.randrange(10**6)}"
        lines.append(" ".join(words))
        held += len(lines[-1]) + 1
    return lines


@pytest.fixture(scope="module", params=["txt", "jsonl", "parquet"])
def files(request, tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp(request.param), random.Random(2)
    for number in range(FILES):
        lines, path = lines_of(MEGABYTES * 1e6 / FILES, rng), folder / f"{number}.{request.param}"
        if request.param == "parquet":
            pq.write_table(pa.table({"text": lines}), path, row_group_size=5000)
            continue
        rows = (
            (json.dumps({"id": 1, "text": one}) for one in lines)
            if request.param == "jsonl"
            else lines
        )
        path.write_text("".join(f"{row}\n" for row in rows))
    return request.param, sorted(map(str, folder.iterdir()))


class Thread(NamedTuple):
    """Seconds of a thread, and how often it gave its processor up and lost it."""

    ran: float = 0.0
    ready: float = 0.0
    there: float = 0.0
    gave_up: int = 0
    lost: int = 0

    @property
    def waited(self) -> float:
        return max(self.there - self.ran - self.ready, 0.0)


class Run:
    """A run of the command, and what was seen of its processes until their end."""

    def __init__(
        self, files: list[str], out: pathlib.Path, workers: int, compiled: bool, *more: str
    ):
        self.memory: dict[int, float] = {}  # the most of each process, in MB
        self.threads: dict[tuple[int, int], Thread] = {}
        command = [*(sys.executable, "-m", "trietok", "encode-files"), *files, "-o", str(out)]
        command += ["-m", "trietok-en", "--workers", str(workers), "--shard-size", SHARD_MB, *more]
        self.places: dict[tuple[int, int], Counter[str]] = {}  # in the system, where it waited
        self._starts: dict[tuple[int, int], float] = {}
        self._begun = time.perf_counter()
        self._child = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TRIETOK_KERNEL": "1" if compiled else "0"},
        )

    def end(self, killed_after: float | None = None) -> Run:
        """Watch it until it ends, or is killed."""
        while self._child.poll() is None:
            for pid in self._family(self._child.pid):
                self._see(pid)
            time.sleep(0.02)
            if killed_after is not None and time.perf_counter() - self._begun > killed_after:
                self._child.kill()
        self.seconds = time.perf_counter() - self._begun
        while any((PROC / str(pid)).exists() for pid in self.memory):  # workers end with it
            time.sleep(0.02)
        assert killed_after is not None or self._child.returncode == 0
        return self

    @property
    def cpu(self) -> float:
        return sum(thread.ran for thread in self.threads.values())

    def _family(self, pid: int) -> list[int]:
        try:
            children = (PROC / f"{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return [pid]
        return [pid, *(one for child in children for one in self._family(int(child)))]

    def _see(self, pid: int) -> None:
        try:
            status = dict(
                line.split(":", 1) for line in (PROC / f"{pid}/status").read_text().splitlines()
            )
            self.memory[pid] = max(self.memory.get(pid, 0), int(status["VmHWM"].split()[0]) / 1e3)
            for task in (PROC / f"{pid}/task").iterdir():
                ran, ready, _ = (int(one) / 1e9 for one in (task / "schedstat").read_text().split())
                told = dict(
                    line.split(":", 1) for line in (task / "status").read_text().splitlines()
                )
                key, now = (pid, int(task.name)), time.perf_counter()
                begun = self._starts.setdefault(key, now - ran - ready)
                if (place := (task / "wchan").read_text()) not in ("", "0"):
                    self.places.setdefault(key, Counter())[place] += 1
                gave_up, lost = (
                    int(told[f"{kind}voluntary_ctxt_switches"]) for kind in ("", "non")
                )
                self.threads[key] = Thread(ran, ready, now - begun, gave_up, lost)
        except (OSError, KeyError, ValueError):  # it has ended meanwhile
            pass


def contents(out: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}


@pytest.mark.parametrize("compiled", [True, False], ids=["threads", "processes"])
def test_processes(files, tmp_path, capsys, compiled):
    if compiled and kernel != "compiled":
        pytest.skip("needs kernel")
    kind, paths = files

    def show(*values: object) -> None:
        with capsys.disabled():
            print(*values, flush=True)

    show(
        f"\n{kind}, {MEGABYTES:.0f} MB, {'threads' if compiled else 'processes'}, load {os.getloadavg()[0]:.1f}"
    )
    runs = {}
    for workers in (1, 2):
        run = runs[workers] = Run(paths, tmp_path / f"{workers}", workers, compiled).end()
        memory = " ".join(f"{most:.0f}" for most in run.memory.values())
        show(
            f"{workers} workers: {run.seconds:.2f} s, processors {run.cpu:.2f} s, memory of each {memory} MB"
        )
        busy = sorted(run.threads.items(), key=lambda item: item[1], reverse=True)
        for key, thread in busy[: workers + 1]:
            places = dict(run.places.get(key, Counter()).most_common(3))
            show(
                f"    ran {thread.ran:.2f} s, ready {thread.ready:.2f}, waited {thread.waited:.2f}"
                f" in {places}; gave up {thread.gave_up} times, lost it {thread.lost}"
            )
    show(
        f"two / one: {runs[1].seconds / runs[2].seconds:.2f} by the clock,"
        f" {runs[2].cpu / runs[1].cpu:.2f} of processor time"
    )
    broken = Run(paths, tmp_path / "killed", 2, compiled).end(killed_after=runs[2].seconds / 2)
    resumed = Run(paths, tmp_path / "killed", 2, compiled, "--resume").end()
    lost = broken.cpu + resumed.cpu - runs[2].cpu
    show(
        f"killed after {broken.seconds:.2f} s: {broken.cpu:.2f} s of processors, then"
        f" {resumed.cpu:.2f} s; {lost:.2f} s lost"
    )
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "killed")
