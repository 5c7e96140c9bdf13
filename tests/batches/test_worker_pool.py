"""Several processes for one: scripts that do not expect them, and Ctrl-C."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from tests.cli.commands import posix

ROOT = pathlib.Path(__file__).parents[2]
GUARD = 'if __name__ == "__main__":'
LONGEST = 60  # seconds; a script that hangs is killed then

# Each does its work on two processes, and has to send them a vocabulary, which no pipe takes
# without a reader.
SCRIPTS = {
    "encode_files": 'trietok.encode_files("*.txt", "ids", tokenizer, workers=2)',
    "train_wordpiece": (
        'trietok.train_wordpiece(trietok.TextFiles("*.txt"), words=tokenizer.tokenize,'
        " workers=2, vocab_size=60)"
    ),
}
LOADED = 'import trietok\ntokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")\n'
# A process that is started says so, and imports the script until somebody interrupts it.
SLOW_TO_IMPORT = """
import multiprocessing, os, time
if multiprocessing.current_process().name != "MainProcess":
    print("begun", flush=True)
    while not os.path.exists("interrupted"):
        time.sleep(0.01)
"""
# Says so once both processes have been given work, and waits for a line that never comes.
WAITING = """
import sys
import trietok

def texts():
    for number in range(3):
        yield "a " * 600_000
    print("begun", flush=True)
    sys.stdin.readline()

if __name__ == "__main__":
    trietok.count_words(texts(), workers=2)
"""


def started(tmp_path: pathlib.Path, script: str) -> subprocess.Popen:
    """A script in a process group of its own, as a terminal starts it.

    In its directory are two files of texts, each with more than share an output.
    """
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("the people of the united states\n" * 40_000)
    (tmp_path / "script.py").write_text(script)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    env["TMPDIR"] = str(tmp_path)  # one that is killed leaves a file there
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=env,
        text=True,
        start_new_session=True,
        **pipes,
    )


def said(script: subprocess.Popen) -> str:
    """What a script wrote on standard error until it ended; one that does not end fails."""
    try:
        script.wait(timeout=LONGEST)
        return script.stderr.read()
    except subprocess.TimeoutExpired:
        os.killpg(script.pid, signal.SIGKILL)
        return script.stderr.read() + "\nthe script hangs"


@pytest.mark.parametrize(
    "name", ["encode_files", pytest.param("train_wordpiece", marks=pytest.mark.faults)]
)
def test_a_script_without_a_guard_ends_and_says_what_is_missing(tmp_path, name):
    script = started(tmp_path, LOADED + SCRIPTS[name])
    errors = said(script)
    assert script.returncode == 1
    assert GUARD in errors.splitlines()[-1]


@pytest.mark.faults
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_with_a_guard_finishes_what_one_without_had_begun(tmp_path, name):
    assert GUARD in said(started(tmp_path, LOADED + SCRIPTS[name]))
    guarded = started(tmp_path, f"{LOADED}{GUARD}\n    {SCRIPTS[name]}")
    assert (said(guarded), guarded.returncode) == ("", 0)
    assert (tmp_path / "ids").exists() == (name == "encode_files")


@posix
@pytest.mark.parametrize(
    "name", ["encode_files", pytest.param("train_wordpiece", marks=pytest.mark.faults)]
)
def test_ctrl_c_ends_a_script_without_a_guard(tmp_path, name):
    """Pressed while the processes that it started import the script, which takes until then."""
    script = started(tmp_path, SLOW_TO_IMPORT + LOADED + SCRIPTS[name])
    assert script.stdout.readline().startswith("begun")  # one of two processes, or both
    os.killpg(script.pid, signal.SIGINT)
    (tmp_path / "interrupted").touch()
    errors = said(script)
    assert "the script hangs" not in errors
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert script.returncode in (1, 130, -signal.SIGINT)


@posix
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL] if hasattr(signal, "SIGKILL") else []
)
def test_the_processes_end_with_one_that_is_killed(tmp_path, number):
    """One that is left would keep standard error open."""
    script = started(tmp_path, WAITING)
    assert script.stdout.readline() == "begun\n"
    script.send_signal(number)
    assert "the script hangs" not in said(script)
    assert script.returncode == -number
