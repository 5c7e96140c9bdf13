"""A run of files on a cluster of three machines, simulated here: what is lost on the way, and the
bytes of one machine.

`pytest -m engines`. Ray's machines are those of its `Cluster`, Spark's those of its
`local-cluster`: processes that know of each other what they would on a network. What this cannot
show is a network and a shared disk.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.corpus.shards import contents, finished
from trietok import BertTokenizer, InputError, TrietokError, encode_files
from trietok.corpus.engines import map_on

pytest.importorskip("pyarrow")

ROOT = pathlib.Path(__file__).parents[2]
OPTIONS = {"truncation": True, "max_length": 512, "shard_bytes": 600}
LATE_IS_NOT_DEAD = {  # of Ray's machines
    "RAY_health_check_timeout_ms": "60000",
    "RAY_health_check_failure_threshold": "10",
    "RAY_worker_register_timeout_seconds": "600",
}
SCRIPT = f"""
import sys
from pathlib import Path
from trietok import BertTokenizer, encode_files
from trietok.corpus.engines import map_on

if __name__ == "__main__":
    engine, address, corpus, output = sys.argv[1:]
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    files = sorted(Path(corpus).glob("*.txt"))
    encode_files(files, output, tokenizer, resume=True, map_shards=map_on(engine, address), **{OPTIONS})
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A corpus for each engine, which takes it some time, and in `one-ENGINE` what one machine
    makes of it.
    """
    folder = tmp_path_factory.mktemp("run")
    for engine, count in (("ray", 900), ("spark", 300)):
        corpus = folder / f"corpus-{engine}"
        corpus.mkdir()
        for number in range(4):
            lines = (
                f"Sentence {number}.{line} turns into ids, and its ids turn into the same"
                " sentence.\n"
                for line in range(count)
            )
            (corpus / f"{number}.txt").write_text("".join(lines), encoding="utf-8")
        tokenizer = BertTokenizer.from_pretrained("trietok-en")
        encode_files(
            sorted(corpus.glob("*.txt")), folder / f"one-{engine}", tokenizer, workers=1, **OPTIONS
        )
    (folder / "run.py").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.fixture
def calm(monkeypatch):
    """Machines of Ray's on this one, which does much else: late is not dead, and workers find the
    checkout.
    """
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    for name, value in LATE_IS_NOT_DEAD.items():
        monkeypatch.setenv(name, value)


def patiently(start):
    """What a function starts of Ray, which gives a machine 30 seconds for that; a busy one may need
    more, and gets it.
    """
    for _ in range(4):
        try:
            return start()
        except Exception as error:
            print(f"once more, after {error!r}")
    return start()


class RunIsOver(Exception):
    """There is no middle of it left, in which something could be lost."""


def in_the_middle(lose, output) -> None:
    """What loses something in the middle of a run, in a run that is not over before it has been
    looked at.
    """
    for _ in range(5):
        try:
            return lose()
        except RunIsOver:
            shutil.rmtree(output)
    raise AssertionError("each run was over before anything was lost")


class Driver:
    """The process that runs the script, and how far its run is."""

    def __init__(
        self, place: pathlib.Path, engine: str, address: str, output: pathlib.Path
    ) -> None:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self.output, self.log = output, output.with_suffix(".log")
        command = [
            sys.executable,
            str(place / "run.py"),
            engine,
            address,
            str(place / f"corpus-{engine}"),
            str(output),
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=env, stdout=log, stderr=log, start_new_session=True
            )

    def wait_for(self, shards: int) -> None:
        """Until so many shards are there, in the middle of the run."""
        until = time.monotonic() + 300
        while len(finished(self.output)) < shards and time.monotonic() < until:
            if self.process.poll() is not None:
                break
            time.sleep(0.005)
        if (self.output / "manifest.json").exists():
            raise RunIsOver
        assert self.process.poll() is None, self.log.read_text()

    def kill_one(self, pid: int, mark: str) -> None:
        """A process below `pid` whose command line has the mark; the last one, for daemons stand
        before what they start. None where the run has ended.
        """
        until = time.monotonic() + 300
        while time.monotonic() < until and self.process.poll() is None:
            pids = [found for found, args in processes_below(pid).items() if mark in args]
            if pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pids[-1], signal.SIGKILL)
                    return
        assert self.process.poll() is not None, f"no process with {mark} below {pid}"

    def end(self) -> None:
        assert self.process.wait(300) == 0, self.log.read_text()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def drive(place, tmp_path):
    """Start a driver, of which nothing is left after the test."""
    drivers = []

    def start(engine: str, address: str) -> Driver:
        drivers.append(Driver(place, engine, address, tmp_path / "ids"))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.kill()


def processes_below(pid: int) -> dict[int, str]:
    """The processes that a process has started, and those that these have, with their command
    lines.
    """
    shown = subprocess.run(
        ["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in shown.splitlines()[1:]]
    below, found = {pid}, {}
    for _ in range(len(rows)):
        new = {
            int(row[0]): row[2] for row in rows if int(row[1]) in below and int(row[0]) not in found
        }
        if not new:
            break
        found |= new
        below |= new.keys()
    return found


def machines_of_ray(cores: int):
    """A machine of Ray's with so many cores, to which others can be added."""
    cluster = importlib.import_module("ray.cluster_utils").Cluster
    head = {"num_cpus": cores, "include_dashboard": False}
    return patiently(lambda: cluster(initialize_head=True, head_node_args=head))


@pytest.mark.engines
def test_ray_loses_a_worker_a_machine_and_the_driver_and_gets_a_machine(
    place, drive, tmp_path, calm
):
    pytest.importorskip("ray")
    machines = machines_of_ray(1)

    def lose() -> None:
        others = [patiently(lambda: machines.add_node(num_cpus=1)) for _ in range(2)]
        driver = drive("ray", machines.address)
        driver.wait_for(5)
        driver.kill_one(os.getpid(), "ray::")
        driver.wait_for(15)
        machines.remove_node(others[0], allow_graceful=False)
        driver.wait_for(25)
        patiently(lambda: machines.add_node(num_cpus=1))
        driver.wait_for(40)
        driver.kill()

    try:
        in_the_middle(lose, tmp_path / "ids")
        drive("ray", machines.address).end()
    finally:
        machines.shutdown()
    assert contents(tmp_path / "ids") == contents(place / "one-ray")


@pytest.mark.engines
def test_spark_loses_a_worker_a_machine_and_the_driver(place, drive, tmp_path):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")

    def lose() -> None:
        driver = drive("spark", "local-cluster[3,1,1024]")
        driver.wait_for(5)
        driver.kill_one(driver.process.pid, "pyspark.daemon")
        driver.wait_for(15)
        driver.kill_one(driver.process.pid, "CoarseGrainedExecutorBackend")
        driver.wait_for(60)
        driver.kill()

    in_the_middle(lose, tmp_path / "ids")
    drive("spark", "local-cluster[3,1,1024]").end()
    assert contents(tmp_path / "ids") == contents(place / "one-spark")


@pytest.mark.engines
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_killed_again_and_again(engine, place, drive, tmp_path, calm):
    """The driver, or one of its workers, as often as `TRIETOK_KILLS` says, by five."""
    pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine])
    if engine == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng, machines, address = random.Random(seed), None, "local-cluster[2,1,1024]"
    if engine == "ray":
        machines = machines_of_ray(2)
        address = machines.address
    out, kills = tmp_path / "ids", 0
    try:
        while kills < int(os.environ.get("TRIETOK_KILLS", "150")) // 5:
            if (out / "manifest.json").exists():
                assert contents(out) == contents(place / f"one-{engine}")
                shutil.rmtree(out)
            driver = drive(engine, address)
            while driver.process.poll() is None and not (out / "manifest.json").exists():
                before = len(finished(out)) if out.exists() else 0
                while driver.process.poll() is None and len(finished(out)) < before + rng.choice(
                    (2, 5, 20)
                ):
                    time.sleep(0.005)
                if driver.process.poll() is not None:
                    break
                kills += 1
                if rng.random() < 0.4:
                    driver.kill()
                else:
                    below = os.getpid() if engine == "ray" else driver.process.pid
                    driver.kill_one(below, {"ray": "ray::", "spark": "pyspark.daemon"}[engine])
        drive(engine, address).end()
    finally:
        if machines is not None:
            machines.shutdown()
    assert contents(out) == contents(place / f"one-{engine}")


@pytest.mark.parametrize(
    ("engine", "address"), [("ray", "127.0.0.1:1"), ("spark", "spark://127.0.0.1:1")]
)
@pytest.mark.engines
def test_nothing_answers(engine, address):
    pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine])
    with pytest.raises(TrietokError, match=f"does not answer at {address}"):
        list(map_on(engine, address)(str, iter([1])))


@pytest.mark.engines
def test_a_mistake_on_a_worker_is_told_in_its_own_words(place, tmp_path, calm):
    ray = pytest.importorskip("ray")
    patiently(lambda: ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False))
    try:
        with pytest.raises(InputError, match=r"^no such number: 3$"):
            list(map_on("ray")(not_three, iter(range(9))))
        assert sorted(map_on("ray")(not_three, iter((1, 2)))) == [1, 2]
        assert ray.is_initialized()  # it was there before
    finally:
        ray.shutdown()


def not_three(number: int) -> int:
    if number == 3:
        raise InputError("no such number: 3")
    return number


def test_there_is_no_such_engine():
    with pytest.raises(InputError, match=r"engine is 'dask'; select one of \['ray', 'spark'\]"):
        map_on("dask")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--address", "auto"], "--address needs --engine"),
        (["--engine", "ray", "--workers", "2"], "--workers is of this machine"),
        (["--engine", "dask"], "'dask' is not one of"),
    ],
)
def test_options_that_do_not_go_together(arguments, told, tmp_path):
    from click.testing import CliRunner

    from trietok.cli.app import app

    (tmp_path / "a.txt").write_text("a\n")
    result = CliRunner().invoke(
        app, ["encode-files", str(tmp_path / "a.txt"), "-o", str(tmp_path / "o"), *arguments]
    )
    assert result.exit_code == 2
    assert told in result.output
