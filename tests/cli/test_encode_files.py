"""`trietok encode-files`: what it says, and how it stops."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")

from tests.cli.commands import (
    COLOURS,
    WHY_OF_CLASS,
    environment,
    error,
    on_terminal,
    out,
    posix,
    process,
    run,
    usage_error,
)
from tests.corpus.shards import TEXTS, contents, finished, ids_of, rows_in, table_in, write
from trietok import encode_files
from trietok.corpus.encode_shard import ShardEncoder


def test_a_summary(english, tmp_path):
    write(tmp_path / "a.txt")
    assert out(
        "encode-files", str(tmp_path / "a.txt"), "-o", str(tmp_path / "ids"), "--workers", "1"
    ) == [
        f"written to {tmp_path / 'ids'}: 7 texts, {sum(map(len, ids_of(english)))} tokens"
        " in 1 shard"
    ]
    assert rows_in(tmp_path / "ids") == ids_of(english)


def test_the_options(english, tmp_path, vocab_file):
    path = str(write(tmp_path / "a.jsonl", column="body"))

    def rows(*options):
        ids = tmp_path / str(len(list(tmp_path.iterdir())))
        result = run(
            "encode-files", path, "-o", str(ids), "--workers", "1", "--column", "body", *options
        )
        assert (result.exit_code, result.stderr) == (0, "")
        return rows_in(ids)

    assert rows() == ids_of(english)
    assert rows("--no-special-tokens") == ids_of(english, add_special_tokens=False)
    assert rows("--max-length", "4") == ids_of(english, truncation=True, max_length=4)
    assert rows("--shard-size", "0.0001") == ids_of(english)
    assert rows("--model", str(vocab_file("a"))) != ids_of(english)


def test_other_columns(english, tmp_path):
    path = str(write(tmp_path / "a.jsonl"))
    command = ["encode-files", path, "-o", str(tmp_path / "ids"), "--workers", "1"]
    out(*command, "--keep-columns", "id, text", "--include", "attention_mask,special_tokens_mask")
    row = table_in(tmp_path / "ids")[4]
    assert list(row) == ["input_ids", "attention_mask", "special_tokens_mask", "id", "text"]
    assert (row["id"], row["text"]) == (4, TEXTS[4])
    assert "'offsets' is none of attention_mask, " in usage_error(*command, "--include", "offsets")


def test_json(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the\n\xff\n")
    command = [
        "encode-files",
        str(tmp_path / "a.txt"),
        "-o",
        str(tmp_path / "ids"),
        "--workers",
        "1",
        "--json",
    ]
    assert list(map(json.loads, out(*command, "--on-error", "skip"))) == [
        {
            "ok": True,
            "profile": "fast",
            "profile_why": WHY_OF_CLASS,
            "output": str(tmp_path / "ids"),
            "shards": 1,
            "rows": 1,
            "tokens": 3,
            "text_bytes": 6,
            "rejected": 1,
            "longest_text": 3,
            "set_aside": [],
        }
    ]


def test_what_a_resumed_run_keeps_and_removes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, [f"the people of {name}"])
    # a file has a shard of its own
    command = [
        "-o",
        "ids",
        "--workers",
        "1",
        "--resume",
        "--shard-size",
        "0.00002",
    ]
    assert out("encode-files", "a.txt", "b.txt", *command)[1:] == [
        "kept from earlier runs: 0 shards"
    ]
    assert out("encode-files", "b.txt", *command)[1:] == [
        "kept from earlier runs: 1 shard",
        "removed: 1 shard of a.txt, which is not among the files any more",
    ]
    out("encode-files", "a.txt", *command)
    (told,) = map(json.loads, out("encode-files", "b.txt", *command, "--json"))
    assert told["removed"] == {"a.txt": 1}


def test_a_bad_row(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"the\n\xff\n")
    command = [
        "encode-files",
        str(tmp_path / "a.txt"),
        "-o",
        str(tmp_path / "ids"),
        "--workers",
        "1",
    ]
    assert error(*command).startswith(
        f"{tmp_path / 'a.txt'}, row 2: byte 0xff at offset 0 of the text is not UTF-8. "
    )
    assert (
        out(*command, "--on-error", "skip")[1]
        == "kept aside: 1 row without text, listed in rejects.jsonl"
    )


def test_force_replaces_a_run_that_was_interrupted(english, tmp_path):
    def stop(state):
        raise KeyboardInterrupt

    path, ids = write(tmp_path / "a.txt"), tmp_path / "ids"
    with pytest.raises(KeyboardInterrupt):
        encode_files(path, ids, english, workers=1, progress=stop)
    assert [each.name for each in ids.iterdir()] == [".trietok-encode"]
    command = ("encode-files", str(path), "-o", str(ids), "--workers", "1", "--max-length", "4")
    assert "replace it (--force)" in error(*command)
    out(*command, "--force")
    assert ".trietok-encode" not in contents(ids)


def test_mistakes_of_files_and_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt")
    (tmp_path / "a.jsonl").write_text('{"body": "The people", "id": 1}\n')
    (tmp_path / "a.csv").write_text("body,id\nThe people,1\n")
    (tmp_path / "bad.txt.gz").write_bytes(b"no gzip")
    command = ("encode-files", "-o", "ids", "--workers", "1")
    assert "Workers read FILES, so standard input is none of them" in usage_error(
        *command, "-", "a.txt"
    )
    told = (
        "; choose a field with column=... (--column). 0 finished shards stay in ids; with another"
        " column a run begins"
    )
    assert f"a.jsonl, row 1: the object has no field 'text', only 'body', 'id'{told}" in error(
        *command, "a.jsonl"
    )
    assert "has no column 'text'; choose one of 'body', 'id' with" in error(*command, "a.csv")
    assert error(*command, "bad.txt.gz", "--on-error", "skip").startswith(
        "bad.txt.gz is damaged, or no gzip file"
    )
    assert list((tmp_path / "ids").iterdir()) == []  # no plan of a run with nothing to go on with
    result = run(*command, "a.txt", "--column", "body")
    assert (
        result.stderr
        == "trietok: warning: the files have no column 'body': each line of a .txt is a text\n"
    )
    out(*command, "a.jsonl", "--column", "body", "--force")
    (tmp_path / "b.jsonl").write_text('{"body": 1}\n')
    told = error(*command, "a.jsonl", "b.jsonl", "--column", "body", "--resume")
    assert ". 1 finished shard stays in ids; --resume continues once" in told


def test_texts_longer_than_the_model_takes(tmp_path, vocab_file):
    write(tmp_path / "a.txt", ["a " * 600])
    command = ["encode-files", str(tmp_path / "a.txt"), "--workers", "1", "-o"]
    result = run(*command, str(tmp_path / "plain"))
    assert (
        result.stderr
        == "trietok: warning: the longest text has 602 tokens, more than the 512 the model takes;"
        " --truncation truncates\n"
    )
    assert run(*command, str(tmp_path / "cut"), "--truncation").stderr == ""
    assert len(rows_in(tmp_path / "cut")[0]) == 512


def test_what_is_written_is_written_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("a\n")
    for command in (
        ("train", "wordpiece", "a.txt", "-o"),
        ("rows", "a", "-o"),
        ("encode-files", "a.txt", "-o"),
    ):
        assert "s3://bucket/ids is a URL" in usage_error(*command, "s3://bucket/ids")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_usage_errors(tmp_path):
    assert "Missing argument" in usage_error("encode-files", "-o", str(tmp_path))
    assert "Missing option" in usage_error("encode-files", "a.txt")
    for size in ("inf", "nan", "-1", "0"):
        assert "--shard-size" in usage_error(
            "encode-files", "a.txt", "-o", str(tmp_path), "--shard-size", size
        )
    said = usage_error("encode-files", "a.txt", "-o", str(tmp_path), "--on-error", "csv")
    assert "'--on-error': 'csv' is not one of 'fail', 'skip'." in said
    assert "no room for a token beside the 2 special ones" in usage_error(
        "encode-files", "a.txt", "-o", str(tmp_path / "ids"), "--max-length", "1"
    )
    assert not (tmp_path / "ids").exists()


@posix
def test_a_bar_on_a_terminal(tmp_path):
    write(tmp_path / "a.txt", TEXTS * 100)
    shown = COLOURS.sub(
        "",
        on_terminal(
            "encode-files", str(tmp_path / "a.txt"), "-o", str(tmp_path / "ids"), "--workers", "1"
        ),
    )
    size = f"{(tmp_path / 'a.txt').stat().st_size / 1000:.1f}"
    assert f"{size} of {size} kB" in shown
    assert re.search(r" \d+\.\d [kM]B/s +[\d,]+ tokens/s +in \d+:\d\d", shown)
    assert "700 texts" in shown.splitlines()[-1]


def test_an_interrupt_before_anything_is_written(tmp_path, monkeypatch):
    def interrupted(name):
        raise KeyboardInterrupt

    monkeypatch.setattr("trietok.cli.encode_files.tokenizer_of", interrupted)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").touch()
    for name in ("ids", "there"):
        result = run("encode-files", "a.txt", "--output", str(tmp_path / name))
        assert (result.exit_code, result.stdout) == (130, "")
        assert result.stderr == "trietok: stopped; nothing was written\n"
    result = run("encode-files", "a.txt", "--output", str(tmp_path / "ids"), "--resume")
    assert result.stderr.endswith("and --resume continues with the rest\n")


# The interrupt comes while a worker process has begun, and has not read yet what it needs.
INTERRUPTED_WHILE_WORKERS_START = """
import os, signal, sys, threading, time
import trietok

class Tokenizer(trietok.BertTokenizer):
    interrupts = False

    def __getstate__(self):
        if self.interrupts:  # it is about to be sent to the worker processes
            self.interrupts = False
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        return super().__getstate__()

    def __setstate__(self, state):
        time.sleep(0.3)
        self.__dict__.update(state)

if __name__ != "__main__":
    time.sleep(0.3)
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tokenizer = Tokenizer.from_pretrained("trietok-en")
    tokenizer.interrupts = sys.argv[1] == "interrupt"
    try:
        trietok.encode_files(
            "a.txt",
            sys.argv[2],
            tokenizer,
            workers=1 if sys.argv[1] == "unbroken" else 2,
            shard_bytes=10_000,
            resume=sys.argv[1] == "resume",
        )
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.faults
@posix
def test_an_interrupt_while_the_workers_start_is_quiet(tmp_path):
    write(tmp_path / "a.txt", TEXTS * 200)
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED_WHILE_WORKERS_START)

    def ran(*arguments):
        command = [sys.executable, str(script), *arguments]
        env = {**environment(), "TRIETOK_KERNEL": "0"}  # else the workers are threads
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)

    done = ran("interrupt", "ids")
    assert (done.stdout, done.stderr, done.returncode) == ("stopped\n", "", 0)
    left = [path.name for path in (tmp_path / "ids").rglob("*")]
    assert not [name for name in left if name.startswith((".temporary-", "spool-"))]
    assert ran("resume", "ids").stderr == ""
    assert ran("unbroken", "unbroken").stderr == ""
    assert contents(tmp_path / "ids") == contents(tmp_path / "unbroken")


def test_lines_off_a_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr("trietok.cli.progress._SAID_EVERY", 0.01)
    original, lines = ShardEncoder.encode, []

    def say(line, **options):
        print(line, **options)
        lines.append(line)

    def slowly(self, shard):  # so that some lines are said meanwhile
        before, end = len(lines), time.monotonic() + 300
        while len(lines) < before + 4 and time.monotonic() < end:
            time.sleep(0.01)
        return original(self, shard)

    monkeypatch.setattr("trietok.cli.progress.print", say, raising=False)
    monkeypatch.setattr(ShardEncoder, "encode", slowly)
    size = write(tmp_path / "a.txt", ["people"] * 100).stat().st_size
    command = ["encode-files", str(tmp_path / "a.txt"), "--workers", "1", "-o"]
    result = run(*command, str(tmp_path / "ids"), "--shard-size", "0.0002")
    said = result.stderr.splitlines()
    assert result.exit_code == 0
    assert said[0] == "trietok: encoding: reading the first files"
    later = [line for line in said if line != said[0]]
    for line in later:
        assert re.fullmatch(
            rf"trietok: encoding: \d+ of {size} bytes, \d shards?, [\d.]+ (bytes|kB)/s  [\d,]+"
            r" tokens/s",
            line,
        )
    assert len(later) > 5
    monkeypatch.setattr(ShardEncoder, "encode", original)
    monkeypatch.setattr("trietok.cli.progress._SAID_EVERY", 30)
    assert run(*command, str(tmp_path / "two")).stderr == ""


@posix
@pytest.mark.parametrize("kernel", ["0", "1"])
@pytest.mark.parametrize("name", ["a.txt.gz", "a.parquet"])
def test_a_full_disk_is_one_error_and_leaves_nothing_unfinished(tmp_path, kernel, name):
    """Files have a size at which writing fails as on a full disk; shards of the second file reach
    it.
    """
    import resource

    import pyarrow.parquet

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    write(tmp_path / "0.txt", ["people"] * 1000)
    if name == "a.parquet":
        pyarrow.parquet.write_table(
            pyarrow.table({"text": ["people " * 10] * 4000}), tmp_path / name, use_dictionary=False
        )
    else:
        write(tmp_path / name, ["people " * 10] * 4000)
    ids = tmp_path / "ids"
    command = [
        "encode-files",
        str(tmp_path / "0.txt"),
        str(tmp_path / name),
        "-o",
        str(ids),
        "--shard-size",
        "0.1",
    ]
    command += ["--workers", "2", "-q"]
    done = process(*command, env={**environment(), "TRIETOK_KERNEL": kernel}, preexec_fn=limited)
    said = done.communicate()[1].decode()
    assert done.returncode == 2
    assert re.fullmatch(
        r"trietok: error: cannot write \S+/[0-9a-f]{40}\.parquet: File too large\. \d finished shards?"
        r" stays? in .*\n",
        said,
    )
    assert not [path for path in ids.rglob("*") if path.name.startswith((".temporary-", "spool-"))]
    out(*command, "--resume")
    out(*command[:4], str(tmp_path / "unbroken"), *command[5:])
    assert contents(ids) == contents(tmp_path / "unbroken")


STOPPED = "trietok: stopped; finished shards stay in {ids}, and --resume continues with the rest\n"


def stopped_in_the_middle(command, ids, stop, **options) -> tuple[int, bytes, bytes]:
    """How a command ended that was stopped when it had finished two shards, and what it wrote.

    Where the machine left this process no time until the command had ended, it is started again.
    """
    for _ in range(20):
        child = process(*command, "-q", **options)
        while len(finished(ids)) < 2 and child.poll() is None:
            time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            stop(child)
        written = child.communicate(timeout=300)
        if not (ids / "manifest.json").exists():
            return child.returncode, *written
        shutil.rmtree(ids)
    raise AssertionError("it always ended before it was stopped")


@posix
@pytest.mark.parametrize(
    ("workers", "kernel", "to_all"),
    [
        ("1", "1", False),
        ("2", "0", False),
        pytest.param("2", "1", False, marks=pytest.mark.faults),
        pytest.param("2", "0", True, marks=pytest.mark.faults),
    ],
)
def test_sigterm_keeps_what_is_finished(tmp_path, workers, kernel, to_all):
    """To the command alone, or to all of its processes, as from a scheduler; with threads and with
    processes.
    """
    rng = random.Random(3)
    write(tmp_path / "a.txt", [f"{rng.randrange(10**60):x}" for _ in range(16_000)])
    ids = tmp_path / "ids"
    command = [
        "encode-files",
        str(tmp_path / "a.txt"),
        "-o",
        str(ids),
        "--shard-size",
        "0.027",
        "--workers",
        workers,
    ]
    env = {**environment(), "TRIETOK_KERNEL": kernel}

    def terminate(child):
        os.killpg(child.pid, signal.SIGTERM) if to_all else child.terminate()

    said = stopped_in_the_middle(command, ids, terminate, env=env, start_new_session=True)
    assert said == (143, b"", STOPPED.format(ids=ids).encode())
    assert not [path for path in ids.rglob("*") if path.name.startswith((".temporary-", "spool-"))]
    out(*command, "--resume")
    out(*command[:3], str(tmp_path / "unbroken"), *command[4:-1], "1")
    assert contents(ids) == contents(tmp_path / "unbroken")


@posix
@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.faults), "2"])
def test_an_interrupt_keeps_what_is_finished(tmp_path, workers):
    def heed_interrupts():  # a test run in the background may have been told to ignore them
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    rng = random.Random(3)
    write(tmp_path / "a.txt", [f"{rng.randrange(10**60):x}" for _ in range(16_000)])
    ids = tmp_path / "ids"
    command = [
        "encode-files",
        str(tmp_path / "a.txt"),
        "-o",
        str(ids),
        "--shard-size",
        "0.027",
        "--workers",
        workers,
    ]

    def interrupt(child):
        child.send_signal(signal.SIGINT)

    said = stopped_in_the_middle(command, ids, interrupt, preexec_fn=heed_interrupts)
    assert said == (130, b"", STOPPED.format(ids=ids).encode())
    assert not list((ids / ".trietok-encode").glob("*temporary-*"))
    assert not (ids / "manifest.json").exists()
    out(*command, "--resume")
    out(*command[:3], str(tmp_path / "unbroken"), *command[4:-1], "1")
    assert contents(ids) == contents(tmp_path / "unbroken")
