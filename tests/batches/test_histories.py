"""Inputs that were copied, renamed, swapped, changed or removed between two runs: gone on with, it
is a fresh run's.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections import Counter

import pytest

from tests.batches.shards import contents, manifest_in, write
from tests.cli.commands import posix
from tests.conftest import often
from trietok import encode_files

CASES = often(30, nightly=120)


class Killed(BaseException):
    pass


class Folder:
    """Files of texts that change at random; whatever is written has a time of its own, as on a
    clock that goes on.
    """

    def __init__(self, path, rng):
        self.path, self.rng, self.clock, self.names = path, rng, 1_700_000_000_000_000_000, 0
        path.mkdir()
        for _ in range(rng.randint(1, 3)):
            self.write(self.new_name(), rng.choice([2, 3, 30, 60]))

    def files(self):
        return sorted(self.path.iterdir())

    def new_name(self):
        self.names += 1
        first = self.rng.choice("aamz")  # before, among or behind the others
        return self.path / f"{first}{self.names}.{self.rng.choice(['txt', 'txt', 'jsonl'])}"

    def write(self, path, rows):
        write(path, [self.text(row) for row in range(rows)])
        self.stamp(path)

    def text(self, row):
        return self.rng.choice(
            [f"people {row} the", "", "the people of the United States", f"{row}"]
        )

    def stamp(self, path):
        self.clock += 1_000_000_000
        os.utime(path, ns=(self.clock, self.clock))

    def change(self):
        path = self.rng.choice(self.files())
        step = self.rng.choice(
            [self.copy, self.copy, self.rename, self.swap, self.append, self.edit, self.remove]
        )
        step(path)
        return f"{step.__name__} {path.name}"

    def copy(self, path):
        """Often beside another: a copy of the same kind that is the one before."""
        new = self.new_name().with_suffix(path.suffix)
        (shutil.copy2 if self.rng.random() < 0.3 else shutil.copyfile)(path, new)
        if self.rng.random() < 0.7 and new.stat().st_mtime_ns != path.stat().st_mtime_ns:
            self.stamp(new)

    def rename(self, path):
        path.rename(
            self.new_name().with_suffix(self.rng.choice([path.suffix, path.suffix, ".txt"]))
        )

    def swap(self, path):
        other = self.rng.choice(self.files())
        if other != path:
            path.rename(self.path / "aside")
            other.rename(path)
            (self.path / "aside").rename(other)

    def append(self, path):
        with path.open("ab") as file:
            file.write(self.rng.choice([b"the people\n", b"\n", b"\xff\n"]))
        self.stamp(path)

    def edit(self, path):
        """One byte is another: rows come and go, or are no UTF-8; the size stays."""
        raw = bytearray(path.read_bytes())
        for _ in range(self.rng.randint(1, 2) if raw else 0):
            raw[self.rng.randrange(len(raw))] = self.rng.choice(b"\na \xff")
        path.write_bytes(raw)
        self.stamp(path)

    def remove(self, path):
        if len(self.files()) > 1:
            path.unlink()


def options_at_random(rng):
    return {
        "shard_bytes": rng.choice([300, 500]),
        "on_error": "skip",
        "workers": rng.choice([1, 2]),
    }


def run_and_stop(english, folder, out, options, moment):
    """A run that comes to no more than so many shards."""

    def progress(state):
        if state.shards >= moment:
            raise Killed

    try:
        encode_files([folder.path / "*"], out, english, progress=progress, **options)
    except Killed:
        return "stopped"
    return "ended"


def run_and_kill(english, folder, out, options, moment):
    """A run in a process of its own, which is killed when it is about to rename a file for so many
    times.
    """
    child = os.fork()
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, -signal.SIGKILL), status
        return "killed" if status else "ended"
    code, left = 1, [moment]
    replace = os.replace

    def counted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*arguments)

    try:
        os.replace = counted
        encode_files([folder.path / "*"], out, english, **options)
        code = 0
    finally:
        os._exit(code)


def history(english, folder, out, rng, first_run, moments):
    """What was done before the last run, which goes on with the others; the options of that."""
    options = options_at_random(rng)
    steps = [first_run(english, folder, out, options, rng.randrange(moments))]
    for _ in range(rng.choice([1, 1, 2])):
        steps += [folder.change() for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.3:
            steps.append(
                first_run(english, folder, out, {**options, "resume": True}, rng.randrange(moments))
            )
    return steps, options


def check(english, tmp_path, seed, first_run, moments=60):
    rng = random.Random(seed)
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    folder, out = Folder(tmp_path / "texts", rng), tmp_path / "out"
    steps, options = history(english, folder, out, rng, first_run, moments)
    where = f"seed {seed}: {steps}, {options}"
    seen, files = [], [folder.path / "*"]
    verify = rng.random() < 0.3
    encode_files(files, out, english, resume=True, verify=verify, progress=seen.append, **options)
    encode_files(files, tmp_path / "fresh", english, **options)
    assert contents(out) == contents(tmp_path / "fresh"), where
    names = [shard["file"]["name"] for shard in manifest_in(out)["shards"] if "file" in shard]
    assert len(set(names)) == len(names), where
    return [
        "some shards were kept" if seen and seen[-1].kept else "none was kept",
        *map(first_word, steps),
    ]


def first_word(step):
    return step.split()[0]


@pytest.fixture
def kernel(english):
    """Made before a process is forked."""
    english(["the people"] * 10_000)


@pytest.mark.parametrize("number", range(12))
def test_a_run_goes_on_with_other_inputs(english, tmp_path, number):
    check(english, tmp_path / "here", random.randrange(1 << 32), run_and_stop)


@posix
@pytest.mark.faults
def test_a_killed_run_goes_on_with_other_inputs(english, tmp_path, kernel):
    tally = Counter()
    for number in range(CASES):
        way = run_and_kill if number % 5 else run_and_stop
        moments = 1 if number % 5 == 1 else 60  # the first, which each run comes to; or any
        tally.update(check(english, tmp_path / "here", random.randrange(1 << 32), way, moments))
    print(f"\n{CASES} histories: {dict(tally)}")
    assert tally["killed"] >= CASES // 5


def test_rows_without_text_are_numbered_anew_where_lines_before_them_are_others(english, tmp_path):
    """The shard at the end of the file holds the same bytes, and its rows have other numbers
    now.
    """
    path, options = (
        tmp_path / "a.txt",
        {"workers": 1, "shard_bytes": 500, "on_error": "skip", "resume": True},
    )
    raw = b"the people\n" * 100 + b"\xff\n" + b"the people\n" * 10
    path.write_bytes(raw)
    encode_files([path], tmp_path / "out", english, **options)
    path.write_bytes(raw.replace(b"the people", b"the\npeople", 1))
    encode_files([path], tmp_path / "out", english, **options)
    encode_files([path], tmp_path / "fresh", english, **options)
    assert b'"row": 102' in (tmp_path / "out" / "rejects.jsonl").read_bytes()
    assert contents(tmp_path / "out") == contents(tmp_path / "fresh")
