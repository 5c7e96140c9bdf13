"""Runs of `encode_files` that are stopped or killed, and go on, perhaps with other files.

A run that ends without an error leaves the rows of a fresh run.
"""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.text_files import contents, ids_of, rows_in, rows_of, write
from tests.cli.commands import environment, posix
from tests.conftest import assert_share, often
from trietok import BertTokenizer, FileError, InputError, TrietokError, encode_files
from trietok.batches import parquet_parts, units


class Stop(BaseException):
    pass


def stop_after(number):
    """What ends a run after so many outputs."""

    def progress(state):
        if len(state.paths) >= number:
            raise Stop

    return progress


@pytest.fixture
def small_pieces(monkeypatch):
    """Small files are split, share outputs and have several parts."""
    monkeypatch.setattr(units, "_PIECE_BYTES", 400)
    monkeypatch.setattr(units, "_SMALL_BYTES", 200)
    monkeypatch.setattr(parquet_parts, "_FILE_BYTES", 1500)
    monkeypatch.setattr(parquet_parts, "_GROUP_BYTES", 500)


# ---- other files in the meantime -----------------------------------------------------------------


class Folder:
    """Files of texts that change at random; whatever is written has a time of its own."""

    def __init__(self, path, rng):
        self.path, self.rng, self.clock, self.names = path, rng, 1_700_000_000_000_000_000, 0
        path.mkdir()
        for _ in range(rng.randint(1, 4)):
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
        changes = [self.copy, self.rename, self.swap, self.append, self.edit, self.remove]
        step = self.rng.choice([*changes, self.touch])
        step(path)
        return step.__name__

    def copy(self, path):
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
        """One byte is another; the size stays."""
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


def harm(out, rng):
    """Do to outputs what a person or a broken copy does."""
    outputs = sorted(out.glob("*.parquet"))
    if not outputs:
        return "no output"
    path, step = rng.choice(outputs), rng.choice(["remove", "copy", "rename", "cut off"])
    if step == "remove":
        path.unlink()
    elif step == "copy":
        shutil.copy2(path, out / f"copy-{path.name}")
    elif step == "rename":
        path.rename(out / f"renamed-{path.name}")
    else:
        path.write_bytes(path.read_bytes()[: rng.randrange(path.stat().st_size)])
    return f"{step} an output"


def encode(english, folder, out, **options):
    """The rows of a run, sorted; or its error."""
    try:
        result = encode_files([folder.path / "*"], out, english, **options)
    except TrietokError as error:
        return error
    assert sorted(rows_of(result), key=str) == rows_in(out)
    return rows_in(out)


def history(english, tmp_path, rng):
    """One history of a directory: what was done, by name."""
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    folder, out = Folder(tmp_path / "texts", rng), tmp_path / "out"
    options = {"workers": 1, "on_error": "skip"}
    steps = []
    for _ in range(rng.choice([1, 1, 2])):
        try:
            stop = stop_after(rng.randrange(12))
            encode(english, folder, out, **options, progress=stop)
            steps.append("complete")
        except Stop:
            steps.append("stopped")
        steps += [folder.change() for _ in range(rng.choice([0, 1, 1, 3]))]
        if rng.random() < 0.3 and out.exists():
            steps.append(harm(out, rng))
    before = contents(out) if out.exists() else {}
    fresh = encode(english, folder, tmp_path / "fresh", **options)
    rows = encode(english, folder, out, **options)
    if isinstance(fresh, TrietokError):
        assert isinstance(rows, TrietokError)
        return [*steps, "no fresh run"]
    if isinstance(rows, TrietokError):
        assert "out" in str(rows)  # it names the output
        assert {*before} == {*contents(out)}
        if "cut off" in " ".join(steps):
            return [*steps, "refused"]
        steps.append("refused")
        rows = encode(english, folder, out, **options, force=True)
        while "is not among the inputs" in str(rows):  # the error says to remove the file
            pathlib.Path(str(rows).partition(" does not fit")[0]).unlink()
            rows = encode(english, folder, out, **options, force=True)
    assert rows == fresh
    return steps


def test_a_run_after_any_changes_has_the_rows_of_a_fresh_one_or_is_refused(
    english, tmp_path, small_pieces
):
    tally, runs, seed = Counter(), often(200), random.randrange(1 << 32)
    print("seed", seed)
    for number in range(runs):
        steps = history(english, tmp_path / "here", random.Random(f"{seed} {number}"))
        tally.update({*steps})
    for change in ("copy", "rename", "swap", "append", "edit", "remove", "touch"):
        assert_share(tally[change], runs, 0.08, change)
    assert_share(tally["stopped"], runs, 0.2)
    assert_share(tally["refused"], runs, 0.2)
    assert_share(runs - tally["refused"], runs, 0.2)


# ---- what a change is called ---------------------------------------------------------------------


@pytest.fixture
def run(english, tmp_path, small_pieces):
    """A complete run of four files; a function runs it again."""
    for name in ("a.txt", "b.parquet", "c.txt.gz", "d.jsonl"):
        write(tmp_path / name, [f"people {row} of {name}" for row in range(40)])
    write(tmp_path / "tiny.txt", ["the people"])

    def encode_again(tokenizer=english, **options):
        return encode_files([tmp_path / "*.*"], tmp_path / "out", tokenizer, workers=1, **options)

    encode_again()
    return encode_again


def output_of(tmp_path, name):
    return sorted((tmp_path / "out").glob(f"{name}*.parquet"))[0]


CHANGES = {  # what is done → the error, or nothing where the next run has the rows of a fresh one
    "nothing": (lambda path: None, ""),
    "a new file": (lambda path: write(path / "e.txt", ["new"]), ""),
    "a copied file": (lambda path: shutil.copy2(path / "a.txt", path / "e.txt"), ""),
    "a renamed file": (
        lambda path: (path / "a.txt").rename(path / "e.txt"),
        "a.txt is not among the inputs",
    ),
    "a removed file": (lambda path: (path / "a.txt").unlink(), "a.txt is not among the inputs"),
    "a removed tiny file": (
        lambda path: (path / "tiny.txt").unlink(),
        "tiny.txt is not among the inputs",
    ),
    "a file of another size": (
        lambda path: write(path / "a.txt", ["new"] * 90),
        "a.txt had 750 bytes and has 360",
    ),
    "a modified file": (
        lambda path: os.utime(path / "a.txt", ns=(1, 1)),
        "a.txt was modified after",
    ),
    "a removed output": (lambda path: output_of(path, "a.txt").unlink(), ""),
    "a removed part": (lambda path: output_of(path, "c.txt.gz").unlink(), ""),
    "a renamed output": (lambda path: output_of(path, "a").rename(path / "out/x.parquet"), ""),
    "a copied output": (
        lambda path: shutil.copy2(output_of(path, "a"), path / "out/x.parquet"),
        "also has the rows of",
    ),
    "an output that is cut off": (
        lambda path: output_of(path, "a").write_bytes(b"PAR1"),
        "is not a Parquet file",
    ),
    "another Parquet file": (
        lambda path: shutil.copy2(path / "b.parquet", path / "out"),
        "was not written by encode-files",
    ),
    "files of a run that was killed": (
        lambda path: (path / "out/.trietok-encoding/1").mkdir(parents=True),
        "",
    ),
    "another file beside outputs": (lambda path: write(path / "out/README.txt", ["ids"]), ""),
}


@pytest.mark.parametrize(
    "record",
    [b"", b"[]", b"{}", b'{"sources": 5}', b'{"sources": [["a.txt", 1, "1"]], "part": "x"}'],
)
def test_a_file_with_another_record_is_refused_and_stays(english, tmp_path, record):
    (tmp_path / "out").mkdir()
    schema = pa.schema([("input_ids", pa.list_(pa.int32()))], {b"trietok.encode_files": record})
    pq.write_table(schema.empty_table(), tmp_path / "out" / "a.txt.parquet")
    with pytest.raises(InputError, match="was not written by encode-files"):
        encode_files(write(tmp_path / "a.txt"), tmp_path / "out", english, force=True)
    assert len(contents(tmp_path / "out")) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_named_or_gives_the_rows_of_a_fresh_run(english, tmp_path, run, change):
    step, message = CHANGES[change]
    step(tmp_path)
    if message:
        before = contents(tmp_path / "out")
        with pytest.raises(TrietokError) as caught:
            run()
        assert message in str(caught.value)
        assert contents(tmp_path / "out") == before
        if "Parquet" in change or "cut off" in change:  # force replaces only what a run has written
            with pytest.raises(TrietokError):
                run(force=True)
            assert contents(tmp_path / "out") == before
        elif "not among" in message and "tiny" not in message:  # which shares a file with another
            with pytest.raises(InputError, match="not among the inputs"):
                run(force=True)
            assert contents(tmp_path / "out") == before
        else:
            assert run(force=True).replaced > 0
            assert run().replaced == 0
    else:
        run()
        fresh = encode_files([tmp_path / "*.*"], tmp_path / "fresh", english, workers=1)
        assert sorted(rows_of(fresh), key=str) == rows_in(tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"add_special_tokens": False}, "add_special_tokens was unset and is False"),
        ({"return_attention_mask": True}, "return_attention_mask was False and is True"),
        ({"truncation": True, "max_length": 8}, "max_length was unset and is 8"),
        ({"column": "id"}, "column was 'text' and is 'id'"),
        ({"tokenizer": "a"}, "fingerprint"),
        ({"tokenizer": "left"}, "truncation_side was 'right' and is 'left'"),
    ],
    ids=str,
)
def test_an_option_or_a_tokenizer_that_differs_is_named(
    english, tmp_path, run, vocab_file, options, message
):
    before = contents(tmp_path / "out")
    if options.get("tokenizer") == "a":
        options = {"tokenizer": BertTokenizer(vocab_file("a"))}
    elif options.get("tokenizer") == "left":
        left = BertTokenizer.from_pretrained("trietok-en", truncation_side="left")
        options = {"tokenizer": left}
    with pytest.raises(InputError) as caught:
        run(**options)
    assert message in str(caught.value)
    assert "--force" in str(caught.value)
    assert contents(tmp_path / "out") == before
    if "column" not in options:
        assert run(**options, force=True).kept == 0
        assert run(**options).kept == len(before)


def test_rows_that_were_skipped_are_missed_by_a_run_that_skips_none(english, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the\n\xff\n")
    files, out = [tmp_path / "a.txt"], tmp_path / "out"
    encode_files(files, out, english, on_error="skip")
    with pytest.raises(InputError, match="1 row was skipped"):
        encode_files(files, out, english)
    (tmp_path / "a.txt").write_bytes(b"the\npeople\n")
    result = encode_files(files, out, english, force=True)
    assert [row["input_ids"] for row in rows_of(result)] == ids_of(english, ["the", "people"])
    assert [path.name for path in out.iterdir()] == ["a.txt.parquet"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_changes_while_it_is_read_is_an_error(english, tmp_path, workers, small_pieces):
    for name in ("a.txt", "b.txt", "c.txt"):
        write(tmp_path / name, ["the people"] * 40)

    def change(state):
        write(tmp_path / "c.txt", ["it was replaced"])

    options = {"workers": workers, "progress": change}
    with pytest.raises(FileError, match=r"c\.txt has changed while it was read"):
        encode_files(tmp_path / "*.txt", tmp_path / "out", english, **options)


def test_a_file_that_appears_meanwhile_is_not_replaced(english, tmp_path, small_pieces):
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, ["the people"] * 40)

    def other_program(state):
        (tmp_path / "out" / "b.txt-from-000000000000.parquet").write_text("other")

    with pytest.raises(InputError, match=r"another program has written .*b\.txt"):
        encode_files(
            tmp_path / "*.txt", tmp_path / "out", english, workers=1, progress=other_program
        )


def test_an_output_under_another_name_is_kept_and_not_replaced(english, tmp_path):
    write(tmp_path / "a.txt", ["the people"])
    encode_files(tmp_path / "a.txt", tmp_path / "out", english)
    (tmp_path / "out/a.txt.parquet").rename(tmp_path / "out/b.txt.parquet")
    write(tmp_path / "b.txt", ["states"])
    result = encode_files([tmp_path / "a.txt", tmp_path / "b.txt"], tmp_path / "out", english)
    assert [row["input_ids"] for row in rows_of(result)] == ids_of(
        english, ["the people", "states"]
    )
    assert len({*result.paths}) == 2


def test_files_of_two_runs_that_overlap_are_not_both_kept(english, tmp_path):
    for name in "abc":
        write(tmp_path / f"{name}.txt", [f"people {name}"])
    a, b, c = (tmp_path / f"{name}.txt" for name in "abc")
    encode_files([a, b], tmp_path / "out", english)
    encode_files([c, a], tmp_path / "other", english)
    (tmp_path / "other/c.txt-and-1-more.parquet").rename(tmp_path / "out/c.parquet")
    with pytest.raises(InputError, match=r"also has the rows of .*a\.txt"):
        encode_files([a, b, c], tmp_path / "out", english)
    encode_files([a, b, c], tmp_path / "out", english, force=True)
    fresh = encode_files([a, b, c], tmp_path / "fresh", english)
    assert rows_in(tmp_path / "out") == sorted(rows_of(fresh), key=str)


def test_two_runs_do_not_write_to_one_directory(english, tmp_path, run):
    refusals = []

    def other_run(state):
        with pytest.raises(InputError, match="another run"):
            run()
        refusals.append(state)

    write(tmp_path / "e.txt", ["new"])
    run(progress=other_run)
    assert refusals


@posix
def test_a_directory_that_cannot_be_written_is_named(english, tmp_path):
    write(tmp_path / "a.txt")
    with pytest.raises(FileError, match="cannot write /proc/ids"):
        encode_files(tmp_path / "a.txt", "/proc/ids", english)


# ---- killed processes ----------------------------------------------------------------------------


def encode_until_killed(english, files, out, moment):
    """What a process does that is killed when it is about to rename a file for so many times."""
    left, replace = [moment], os.replace

    def counted(*arguments):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(*arguments)

    os.replace = counted
    encode_files(files, out, english, workers=1, on_error="skip")


@posix
@pytest.mark.faults
def test_a_run_that_is_killed_at_any_renaming_is_made_whole(english, tmp_path, small_pieces):
    english(["the people"] * 10_000)
    for name in ("a.txt", "c.parquet", "d.txt.gz", "e.jsonl"):
        write(tmp_path / name, [f"people {row} of {name} the" for row in range(40)])
    (tmp_path / "b.txt").write_bytes(b"the\n\xff\n")
    files = tmp_path / "*.*"
    encode_files(files, tmp_path / "unbroken", english, workers=1, on_error="skip")
    expected = contents(tmp_path / "unbroken")
    for moment in range(1000):
        out = tmp_path / f"out {moment}"
        arguments = (english, files, out, moment)
        child = multiprocessing.get_context("fork").Process(
            target=encode_until_killed, args=arguments
        )
        child.start()
        child.join()
        encode_files(files, out, english, workers=1, on_error="skip")
        assert contents(out) == expected, moment
        if child.exitcode == 0:
            break
        assert child.exitcode == -signal.SIGKILL
    assert moment > 10


# A run whose inputs are split into some forty units.
SCRIPT = """
import sys
from trietok import BertTokenizer, encode_files
from trietok.batches import units
units._PIECE_BYTES, units._SMALL_BYTES = 100_000, 20_000
if __name__ == "__main__":
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    workers, out, *files = sys.argv[1:]
    encode_files(files, out, tokenizer, workers=int(workers), on_error="skip")
"""
KILLS = often(2, nightly=50)


@pytest.fixture
def large_files(tmp_path):
    """Some megabytes in several files; no word comes twice, so that they take their time."""
    rng = random.Random(3)
    texts = [" ".join(f"{rng.randrange(10**9):x}" for _ in range(12)) for _ in range(24_000)]
    names = ("a.txt", "b.parquet", "c.jsonl.zst", "d.txt.gz")
    for number, name in enumerate(names):
        write(tmp_path / name, texts[number::4], rows_in_group=500)
    (tmp_path / "e.txt").write_bytes(b"fine\n\xff\nfine\n")
    for number in range(30):
        write(tmp_path / f"f{number}.txt", texts[number::3000])
    (tmp_path / "script.py").write_text(SCRIPT)
    return sorted(str(path) for path in tmp_path.glob("*.*") if path.suffix != ".py")


def start(tmp_path, workers, out, files):
    return subprocess.Popen(
        [sys.executable, tmp_path / "script.py", str(workers), str(out), *files],
        env={**environment(), "TRIETOK_KERNEL": "0"},
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
@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_is_killed_again_and_again_ends_with_the_same_files(
    large_files, tmp_path, workers
):
    whole = start(tmp_path, 1, tmp_path / "unbroken", large_files)
    assert whole.wait() == 0, whole.stderr.read()
    expected = contents(tmp_path / "unbroken")
    assert len(rows_in(tmp_path / "unbroken")) == 24_000 + 2 + 240
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    runs = kills = 0
    out, groups = tmp_path / "run-0", []
    while kills < KILLS:
        child = start(tmp_path, workers, out, large_files)
        groups.append(child.pid)
        goal = len([*out.glob("*.parquet")]) + rng.choice((0, 1, 3, 6))
        delay = time.monotonic() + rng.random() * 0.6
        until(
            lambda: (
                child.poll() is not None  # noqa: B023
                or (len([*out.glob("*.parquet")]) >= goal and time.monotonic() > delay)  # noqa: B023
            )
        )
        if child.poll() is None:
            # All of its processes, or the first alone, whose workers then have to end by
            # themselves.
            os.killpg(child.pid, signal.SIGKILL) if rng.random() < 0.7 else child.kill()
            child.wait()
            kills += 1
            continue
        assert child.returncode == 0, (seed, child.stderr.read())
        assert contents(out) == expected, seed
        runs += 1
        out = tmp_path / f"run-{runs}"
    last = start(tmp_path, workers, out, large_files)
    assert last.wait() == 0, (seed, last.stderr.read())
    assert contents(out) == expected, seed
    print(f"{kills} kills, {runs + 1} complete runs, seed {seed}")
    until(lambda: not any(map(is_running, groups)))
