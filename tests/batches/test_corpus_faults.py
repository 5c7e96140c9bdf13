"""A corpus is encoded while somebody kills it, again and again: nothing lost, nothing twice, the
same bytes.
"""

from __future__ import annotations

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.batches.shards import contents, finished, manifest_in, write
from tests.cli.commands import environment, posix
from tests.conftest import often

pytestmark = [pytest.mark.faults, posix]

KILLS = often(2, nightly=12)


@pytest.fixture
def files(tmp_path):
    """Some megabytes in four files; no word comes twice, so that they take their time."""
    rng = random.Random(3)
    texts = [" ".join(f"{rng.randrange(10**9):x}" for _ in range(12)) for _ in range(24_000)]
    names = ("a.txt", "b.parquet", "c.jsonl.zst", "d.txt.gz")
    for number, name in enumerate(names):
        write(tmp_path / name, texts[number::4] if name != "b.parquet" else texts[1:400:4])
    (tmp_path / "e.txt").write_bytes(b"fine\n\xff\nfine\n")
    return [str(tmp_path / name) for name in (*names, "e.txt")]


def start(files, out, *options, kernel="1"):
    command = [
        sys.executable,
        "-m",
        "trietok",
        "encode-files",
        *files,
        "-o",
        str(out),
        "--shard-size",
        "0.02",
    ]
    return subprocess.Popen(
        [*command, "--resume", "--on-error", "skip", *options],
        env={**environment(), "TRIETOK_KERNEL": kernel},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for(child, out, shards):
    """Until a run has finished so many shards, or has ended: goals, not times, since how fast it is
    differs.
    """
    while child.poll() is None and len(finished(out)) < shards:
        time.sleep(0.001)


def is_running(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("kernel", ["0", "1", "01"])
def test_killed_again_and_again(files, tmp_path, kernel):
    """With the compiled kernel the workers are threads, else processes; with it, a run may end as
    one without it.
    """
    whole = start(files, tmp_path / "unbroken", "--workers", "1")
    assert whole.wait() == 0, whole.stderr.read()
    expected = contents(tmp_path / "unbroken")
    manifest = manifest_in(tmp_path / "unbroken")
    assert manifest["totals"]["rows"] == 6000 * 3 + 100 + 2
    assert manifest["totals"]["rejected"] == 1
    assert len(manifest["shards"]) > 20

    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    runs = kills = parts_kept = 0
    out = tmp_path / "run-0"
    groups = []
    # until enough have come in the middle of the work, however fast it is
    while kills < KILLS or parts_kept <= KILLS:
        child = start(
            files, out, "--workers", str(rng.choice((1, 2, 3))), kernel=rng.choice(kernel)
        )
        groups.append(child.pid)
        wait_for(child, out, len(finished(out)) + rng.choice((0, 1, 3, 6)))
        time.sleep(rng.uniform(0, 0.02))
        if child.poll() is None:
            # All of its processes, or the first alone, whose workers then have to end by
            # themselves.
            os.killpg(child.pid, signal.SIGKILL) if rng.random() < 0.7 else child.kill()
            child.wait()
            kills += 1
            parts_kept += len(finished(out))
            continue
        assert child.returncode == 0, (seed, child.stderr.read())
        assert contents(out) == expected, seed
        runs += 1
        out = tmp_path / f"run-{runs}"
    last = start(files, out, "--workers", "2")
    assert last.wait() == 0, (seed, last.stderr.read())
    assert contents(out) == expected, seed
    deadline = time.monotonic() + 300
    while any(map(is_running, groups)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, groups))


@pytest.mark.skipif(not pathlib.Path("/proc/self/task").exists(), reason="needs Linux: /proc")
def test_a_worker_that_dies_is_reported(files, tmp_path):
    # with it, workers are threads
    child = start(files, tmp_path / "out", "--workers", "2", kernel="0")
    while not finished(tmp_path / "out"):
        assert child.poll() is None
        time.sleep(0.01)
    children = pathlib.Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    workers = [
        pid
        for pid in children
        if b"spawn_main" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    assert len(workers) == 2
    os.kill(int(workers[0]), signal.SIGKILL)
    _, said = child.communicate()
    assert child.returncode == 2
    assert b"a worker process has died" in said
    again = start(files, tmp_path / "out", "--workers", "1")
    assert again.wait() == 0, again.stderr.read()
