"""`trietok encode-files`: what it says, and how it stops."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import time

import pytest

from tests.batches.shards import TEXTS, contents, finished, ids_of, rows_in, table_in, write
from tests.cli.commands import (
    WHY_OF_CLASS,
    environment,
    error,
    out,
    posix,
    process,
    run,
    usage_error,
)
from trietok import encode_files


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
    assert "offsets" in usage_error(*command, "--include", "offsets")


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


def test_what_a_resumed_run_removes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, [f"the people of {name}"])
    # a file has a shard of its own
    command = ["-o", "ids", "--workers", "1", "--resume", "--shard-size", "0.00002"]
    out("encode-files", "a.txt", "b.txt", *command)
    (line,) = map(json.loads, out("encode-files", "b.txt", *command, "--json"))
    assert line["removed"] == {"a.txt": 1}


def test_force_replaces_a_run_that_was_interrupted(english, tmp_path):
    def stop(state):
        raise KeyboardInterrupt

    path, ids = write(tmp_path / "a.txt"), tmp_path / "ids"
    with pytest.raises(KeyboardInterrupt):
        encode_files(path, ids, english, workers=1, progress=stop)
    command = ("encode-files", str(path), "-o", str(ids), "--workers", "1", "--max-length", "4")
    assert "replace it (--force)" in error(*command)
    out(*command, "--force")
    assert rows_in(ids) == ids_of(english, truncation=True, max_length=4)


def test_mistakes_of_files_and_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt")
    (tmp_path / "a.jsonl").write_text('{"body": "The people", "id": 1}\n')
    (tmp_path / "bad.txt.gz").write_bytes(b"no gzip")
    command = ("encode-files", "-o", "ids", "--workers", "1")
    assert "standard input" in usage_error(*command, "-", "a.txt")
    said = error(*command, "a.jsonl")
    assert "'body', 'id'" in said
    assert "--column" in said
    assert "bad.txt.gz" in error(*command, "bad.txt.gz", "--on-error", "skip")
    assert list((tmp_path / "ids").iterdir()) == []
    result = run(*command, "a.txt", "--column", "body")
    assert (result.exit_code, "'body'" in result.stderr) == (0, True)
    out(*command, "a.jsonl", "--column", "body", "--force")
    (tmp_path / "b.jsonl").write_text('{"body": 1}\n')
    said = error(*command, "a.jsonl", "b.jsonl", "--column", "body", "--resume")
    assert "--resume" in said


def test_texts_longer_than_the_model_takes(tmp_path, vocab_file):
    write(tmp_path / "a.txt", ["a " * 600])
    command = ["encode-files", str(tmp_path / "a.txt"), "--workers", "1", "-o"]
    result = run(*command, str(tmp_path / "plain"))
    assert result.stderr.startswith("trietok: warning: the longest text has 602 tokens")
    assert run(*command, str(tmp_path / "cut"), "--truncation").stderr == ""
    assert len(rows_in(tmp_path / "cut")[0]) == 512


def test_usage_errors(tmp_path):
    assert "Missing argument" in usage_error("encode-files", "-o", str(tmp_path))
    assert "Missing option" in usage_error("encode-files", "a.txt")
    for option, value in (
        *(("--shard-size", size) for size in ("inf", "nan", "-1", "0")),
        ("--on-error", "csv"),
        ("--max-length", "1"),
    ):
        command = ("encode-files", "a.txt", "-o", str(tmp_path / "ids"))
        assert option in usage_error(*command, option, value)
    assert not (tmp_path / "ids").exists()


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
    assert "File too large" in said
    assert "--resume" in said
    out(*command, "--resume")
    out(*command[:4], str(tmp_path / "unbroken"), *command[5:])
    assert contents(ids) == contents(tmp_path / "unbroken")


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


def heed_interrupts():  # a test run in the background may have been told to ignore them
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@posix
@pytest.mark.parametrize(
    ("number", "workers", "kernel", "to_all"),
    [
        (signal.SIGTERM, "1", "1", False),
        (signal.SIGTERM, "2", "0", False),
        pytest.param(signal.SIGTERM, "2", "1", False, marks=pytest.mark.faults),
        pytest.param(signal.SIGTERM, "2", "0", True, marks=pytest.mark.faults),
        (signal.SIGINT, "2", "1", False),
        pytest.param(signal.SIGINT, "1", "1", False, marks=pytest.mark.faults),
    ],
)
def test_a_command_that_is_stopped_keeps_what_is_finished(
    tmp_path, number, workers, kernel, to_all
):
    """By a signal to the command alone, or to all of its processes, as from a scheduler; with
    threads and with processes.
    """
    rng = random.Random(3)
    write(tmp_path / "a.txt", [f"{rng.randrange(10**60):x}" for _ in range(16_000)])
    ids, sizes = tmp_path / "ids", ("--shard-size", "0.027")
    command = ("encode-files", str(tmp_path / "a.txt"), *sizes, "-o", str(ids))

    def stop(child):
        os.killpg(child.pid, number) if to_all else child.send_signal(number)

    code, written, said = stopped_in_the_middle(
        (*command, "--workers", workers),
        ids,
        stop,
        env={**environment(), "TRIETOK_KERNEL": kernel},
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    assert (code, written) == (128 + number, b"")
    assert said.startswith(b"trietok: stopped;")
    assert b"--resume" in said
    out(*command, "--workers", workers, "--resume")
    out(*command[:-1], str(tmp_path / "unbroken"), "--workers", "1")
    assert contents(ids) == contents(tmp_path / "unbroken")
