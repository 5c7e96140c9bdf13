"""Runs of `encode_files` that were stopped or killed, and go on, perhaps with other files: the
bytes of a run that nothing interrupted.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from tests.batches.shards import contents, finished, rejects_in, rows_in, write
from tests.cli.commands import environment, posix
from tests.conftest import assert_share, often
from trietok import BertTokenizer, InputError, TrietokError, encode_files


class Stop(BaseException):
    pass


def stop_after(number):
    """What ends a run after so many shards."""

    def progress(state):
        if state.shards >= number:
            raise Stop

    return progress


# ---- other files in the meantime -----------------------------------------------------------------


class Folder:
    """Files of texts that change at random; whatever is written has a time of its own, as on a
    clock that goes on.
    """

    def __init__(self, path, rng):
        self.path, self.rng, self.clock, self.names = path, rng, 1_700_000_000_000_000_000, 0
        path.mkdir()
        for _ in range(rng.randint(1, 3)):
            path = self.new_name(rng.choice(["txt", "txt", "jsonl", "parquet", "txt.gz"]))
            write(path, [self.text(row) for row in range(rng.choice([2, 3, 30, 60]))])
            self.stamp(path)

    def files(self):
        return sorted(self.path.iterdir())

    def new_name(self, kind):
        self.names += 1
        first = self.rng.choice("aamz")  # before, among or behind the others
        return self.path / f"{first}{self.names}.{kind}"

    def text(self, row):
        return self.rng.choice(
            [f"people {row} the", "", "the people of the United States", f"{row}"]
        )

    def stamp(self, path):
        self.clock += 1_000_000_000
        os.utime(path, ns=(self.clock, self.clock))

    def change(self):
        path = self.rng.choice(self.files())
        changes = (self.copy, self.copy, self.rename, self.swap, self.append, self.edit)
        step = self.rng.choice([*changes, self.remove, self.touch])
        step(path)
        return step.__name__

    def copy(self, path):
        """Often beside another: a copy of the same kind that is the one before."""
        new = self.new_name(path.name.partition(".")[2])
        (shutil.copy2 if self.rng.random() < 0.3 else shutil.copyfile)(path, new)
        if self.rng.random() < 0.7 and new.stat().st_mtime_ns != path.stat().st_mtime_ns:
            self.stamp(new)

    def rename(self, path):
        """Perhaps to another kind, whose texts are others."""
        kind = path.name.partition(".")[2]
        is_text = kind in ("txt", "jsonl")
        path.rename(self.new_name(self.rng.choice([kind, kind, "txt"]) if is_text else kind))

    def swap(self, path):
        others = [each for each in self.files() if each.suffixes == path.suffixes]
        other = self.rng.choice(others)
        if other != path:
            path.rename(self.path / "aside")
            other.rename(path)
            (self.path / "aside").rename(other)

    def append(self, path):
        if path.suffix in (".txt", ".jsonl"):
            with path.open("ab") as file:
                file.write(self.rng.choice([b"the people\n", b"\n", b"\xff\n"]))
            self.stamp(path)

    def edit(self, path):
        """One byte is another: rows come and go, or are no UTF-8; the size stays. What is said of
        a damaged Parquet file differs from time to time.
        """
        if path.suffix == ".parquet":
            write(path, [self.text(row) for row in range(9)])
        raw = bytearray(path.read_bytes() if path.suffix != ".parquet" else b"")
        for _ in range(self.rng.randint(1, 2) if raw else 0):
            raw[self.rng.randrange(len(raw))] = self.rng.choice(b"\na \xff")
        if raw:
            path.write_bytes(raw)
        self.stamp(path)

    def remove(self, path):
        if len(self.files()) > 1:
            path.unlink()

    def touch(self, path):
        self.stamp(path)


def run_and_stop(english, folder, out, options, moment):
    """A run that comes to no more than so many shards."""
    try:
        encode_files([folder.path / "*"], out, english, progress=stop_after(moment), **options)
    except (Stop, TrietokError):
        return "stopped"
    return "ended"


def encode_until_killed(english, files, out, options, moment):
    """What a process does that is killed when it is about to rename a file for so many times."""
    left, replace = [moment], os.replace

    def counted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*arguments)

    os.replace = counted
    try:
        encode_files(files, out, english, **options)
    except TrietokError:  # no file can be read
        sys.exit(3)


def run_and_kill(english, folder, out, options, moment):
    arguments = (english, [folder.path / "*"], out, options, moment)
    child = multiprocessing.get_context("fork").Process(target=encode_until_killed, args=arguments)
    child.start()
    child.join()
    return {0: "ended", 3: "stopped", -signal.SIGKILL: "killed"}[child.exitcode]


def compare_with_a_fresh_run(english, tmp_path, seed, first_run, moments):
    """One history: what was done, by name."""
    rng = random.Random(seed)
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    folder, out = Folder(tmp_path / "texts", rng), tmp_path / "out"
    options = {
        "shard_bytes": rng.choice([300, 500]),
        "workers": rng.choice([1, 2]),
        "on_error": "skip",
    }
    steps = [first_run(english, folder, out, options, rng.randrange(moments))]
    for _ in range(rng.choice([1, 1, 2])):
        steps += [folder.change() for _ in range(rng.randint(1, 4))]
        if rng.random() < 0.3:
            more = {**options, "resume": True}
            steps.append(first_run(english, folder, out, more, rng.randrange(moments)))
    where, seen, files = f"seed {seed}: {steps}, {options}", [], folder.path / "*"
    outcomes = []
    for target, more in (
        (out, {"resume": True, "verify": rng.random() < 0.3, "progress": seen.append}),
        (tmp_path / "fresh", {}),
    ):
        try:
            encode_files(files, target, english, **options, **more)
            outcomes.append(contents(target))
        except TrietokError as error:  # no file can be read
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1], where
    return [*steps, "some shards were kept" if seen and seen[-1].kept else "none was kept"]


def test_a_stopped_run_goes_on_with_other_files_as_a_fresh_one(english, tmp_path):
    tally, runs = Counter(), often(60)
    for _ in range(runs):
        seed = random.randrange(1 << 32)
        steps = compare_with_a_fresh_run(english, tmp_path / "here", seed, run_and_stop, 12)
        tally.update({*steps})
    for change in ("copy", "rename", "swap", "append", "edit", "remove", "touch"):
        assert_share(tally[change], runs, 0.15, change)
    assert_share(tally["stopped"], runs, 0.4)
    assert_share(tally["some shards were kept"], runs, 0.2)


@posix
@pytest.mark.faults
def test_a_run_that_is_killed_at_any_renaming_of_its_end_is_made_whole(english, tmp_path):
    """Shards get other numbers, some are new and some go."""
    english(["the people"] * 10_000)
    folder = Folder(tmp_path / "texts", random.Random(1))
    for name in ("a.txt", "c.parquet", "d.txt.gz", "e.jsonl"):
        write(folder.path / name, [f"people {row} of {name} the" for row in range(40)])
    (folder.path / "b.txt").write_bytes(b"the\n\xff\n")
    options = {"shard_bytes": 2000, "on_error": "skip", "workers": 1}
    files = folder.path / "*"
    encode_files(files, tmp_path / "before", english, **options)
    (folder.path / "a.txt").rename(folder.path / "z.txt")
    (folder.path / "d.txt.gz").unlink()
    write(folder.path / "0.txt", ["new"])
    encode_files(files, tmp_path / "unbroken", english, **options)
    expected, options = contents(tmp_path / "unbroken"), {**options, "resume": True}
    kills = 0
    for moment in range(1000):
        out = tmp_path / str(moment)
        shutil.copytree(tmp_path / "before", out)
        ended = run_and_kill(english, folder, out, options, moment)
        kills += ended == "killed"
        encode_files(files, out, english, **options)
        assert contents(out) == expected, moment
        if ended == "ended":
            break
    assert kills > 3


# ---- killed processes ----------------------------------------------------------------------------

KILLS = often(2, nightly=12)


@pytest.fixture
def large_files(tmp_path):
    """Some megabytes in five files; no word comes twice, so that they take their time."""
    rng = random.Random(3)
    texts = [" ".join(f"{rng.randrange(10**9):x}" for _ in range(12)) for _ in range(24_000)]
    names = ("a.txt", "b.parquet", "c.jsonl.zst", "d.txt.gz")
    for number, name in enumerate(names):
        write(tmp_path / name, texts[number::4] if name != "b.parquet" else texts[1:400:4])
    (tmp_path / "e.txt").write_bytes(b"fine\n\xff\nfine\n")
    return [str(tmp_path / name) for name in (*names, "e.txt")]


def start(files, out, *options, kernel="1"):
    command = [sys.executable, "-m", "trietok", "encode-files", *files, "-o", str(out)]
    more = ["--shard-size", "0.02", "--resume", "--on-error", "skip", *options]
    return subprocess.Popen(
        [*command, *more],
        env={**environment(), "TRIETOK_KERNEL": kernel},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def until(condition):
    """Wait for another process."""
    deadline, pause = time.monotonic() + 300, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.001)


def is_running(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@posix
@pytest.mark.faults
@pytest.mark.parametrize("kernel", ["0", "1", "01"])
def test_a_command_that_is_killed_again_and_again_ends_with_the_same_bytes(
    large_files, tmp_path, kernel
):
    """With the compiled kernel the workers are threads, else processes; with it, a run may end as
    one without it.
    """
    whole = start(large_files, tmp_path / "unbroken", "--workers", "1")
    assert whole.wait() == 0, whole.stderr.read()
    expected = contents(tmp_path / "unbroken")
    assert len(rows_in(tmp_path / "unbroken")) == 6000 * 3 + 100 + 2
    assert rejects_in(tmp_path / "unbroken") == [("e.txt", 2)]
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    runs = kills = parts_kept = 0
    out, groups = tmp_path / "run-0", []
    # until enough have come in the middle of the work, however fast it is
    while kills < KILLS or parts_kept <= KILLS:
        workers = str(rng.choice((1, 2, 3)))
        child = start(large_files, out, "--workers", workers, kernel=rng.choice(kernel))
        groups.append(child.pid)
        goal = len(finished(out)) + rng.choice((0, 1, 3, 6))
        until(lambda: child.poll() is not None or len(finished(out)) >= goal)  # noqa: B023
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
    last = start(large_files, out, "--workers", "2")
    assert last.wait() == 0, (seed, last.stderr.read())
    assert contents(out) == expected, seed
    until(lambda: not any(map(is_running, groups)))


# ---- which runs go on ----------------------------------------------------------------------------


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, some hundred rows, and the options that cut them into some twenty
    shards.
    """
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(100)])
    return [tmp_path / "[abcd].*"], {"shard_bytes": 400, "workers": 1}


@pytest.fixture
def unbroken(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    return contents(tmp_path / "unbroken")


@pytest.mark.parametrize("number", [0, 1, 7, 15])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stopped_run_keeps_its_shards_and_its_threads_end(
    english, tmp_path, corpus, unbroken, number, workers
):
    files, options = corpus
    options, out = {**options, "workers": workers}, tmp_path / "out"
    running = threading.active_count()
    if number:
        with pytest.raises(Stop):
            encode_files(files, out, english, progress=stop_after(number), **options)
    assert threading.active_count() == running
    before = {path.stat().st_ino for path in finished(out)}
    assert len(before) >= number
    for _ in range(2):  # the second time nothing is left to do
        encode_files(files, out, english, resume=True, **options)
        assert contents(out) == unbroken
        assert before <= {path.stat().st_ino for path in out.glob("part-*")}  # not made again


def test_a_run_of_another_tokenizer_or_with_other_options_is_not_continued(
    english, tmp_path, corpus, vocab_file
):
    files, options = corpus
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(3), **options)
    for is_over in (False, True):
        if is_over:
            encode_files(files, out, english, resume=True, **options)
        before = contents(out)
        for tokenizer, more in [
            (BertTokenizer(vocab_file("a")), {}),
            (english, {"shard_bytes": 501}),
            (english, {"add_special_tokens": False}),
            (english, {"return_attention_mask": True}),
            (english, {"max_length": 8, "truncation": True}),
        ]:
            with pytest.raises(InputError, match="was made with"):
                encode_files(files, out, tokenizer, resume=True, **{**options, **more})
        with pytest.raises(InputError, match="--resume"):
            encode_files(files, out, english, **options)
        assert contents(out) == before
    keep = {"keep_columns": ["id"]}
    with pytest.raises(InputError):
        encode_files(tmp_path / "c.parquet", out, english, resume=True, **options, **keep)


def test_two_runs_do_not_write_to_one_directory(english, tmp_path, corpus):
    files, options = corpus
    refused = []

    def meanwhile(state):
        with pytest.raises(InputError):
            encode_files(files, tmp_path / "out", english, resume=True, **options)
        refused.append(state)
        raise Stop

    with pytest.raises(Stop):
        encode_files(files, tmp_path / "out", english, progress=meanwhile, **options)
    assert len(refused) == 1


def test_shards_of_another_run_are_never_among_those_of_this_one(english, tmp_path, corpus):
    files, options = corpus
    out = tmp_path / "out"
    encode_files(files, out, english, **options)
    (out / "manifest.json").unlink()
    (out / ".trietok-encode").mkdir()
    before = contents(out)
    for more in ({"shard_bytes": 10**6}, {"resume": True}):
        with pytest.raises(InputError, match=r"part-00000\.parquet"):
            encode_files(files, out, english, **{**options, **more})
    assert contents(out) == before
    with pytest.raises(InputError):  # a directory of something else
        encode_files(files, tmp_path, english, resume=True, **options)


def test_a_run_of_another_version_is_refused_and_left_as_it_is(english, tmp_path):
    path, out = write(tmp_path / "a.txt"), tmp_path / "out"
    encode_files(path, out, english, workers=1)
    for form in ("trietok-corpus-1", "trietok-corpus-99"):
        (out / "manifest.json").write_text(json.dumps({"format": form}))
        before = contents(out)
        with pytest.raises(InputError, match=form):
            encode_files(path, out, english, workers=1, resume=True)
        assert contents(out) == before


def test_a_file_that_was_changed_in_secret_is_found_by_its_checksum(english, tmp_path, corpus):
    (files, options), out, file = corpus, tmp_path / "out", tmp_path / "a.txt"
    encode_files(files, out, english, **options)
    before, status = rows_in(out), file.stat()
    file.write_bytes(file.read_bytes().replace(b"people", b"peoply"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    encode_files(files, out, english, resume=True, **options)
    assert rows_in(out) == before
    encode_files(files, out, english, resume=True, verify=True, **options)
    encode_files(files, tmp_path / "fresh", english, **options)
    assert contents(out) == contents(tmp_path / "fresh")
    assert rows_in(out) != before
