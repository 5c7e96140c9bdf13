"""One save at a time into a directory: waiting has an end, a forked child keeps nobody waiting."""

from __future__ import annotations

import os
import re
import signal
import threading
import time

import pytest

from tests.files.saving import in_child, message_of, state, two_tokenizers
from trietok import BertTokenizer, FileError
from trietok.files import directory_lock as lock
from trietok.files.atomic import save_files
from trietok.files.directory_lock import DirectoryBusyError, alone

pytest.importorskip("fcntl")


@pytest.fixture
def two(small):
    return two_tokenizers(small)


def wait_for(path) -> None:
    for _ in range(30_000):
        if path.exists():
            return
        time.sleep(0.01)
    pytest.fail(f"{path} did not appear")


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def saving_in_child(directory, inside) -> int:
    """Start a process that calls `inside` in the middle of a save; its number."""
    child = os.fork()
    if child == 0:
        try:

            def write(folder):
                (folder / "a.txt").write_text("of the child")
                inside()

            save_files(directory, write)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def test_a_save_that_is_stopped_is_named_after_a_wait_that_ends(two, tmp_path, monkeypatch):
    assert lock.LONGEST_WAIT == 30.0
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    child = saving_in_child(directory, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    os.waitpid(child, os.WUNTRACED)
    try:
        monkeypatch.setattr(lock, "LONGEST_WAIT", 0.05)
        with pytest.raises(
            FileError,
            match=(
                r"cannot save to .*: process \d+ \(.*\), which is stopped, is saving .* within"
                r" 0.05 s"
            ),
        ) as caught:
            two[1].save_pretrained(directory)
        assert re.search(rf"process {child} \(.*python", str(caught.value))
        assert state(BertTokenizer.from_pretrained(directory)) == state(two[0])
    finally:
        os.kill(child, signal.SIGCONT)
    assert ended(child) == 0
    two[1].save_pretrained(directory)
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[1])


def test_a_process_that_was_forked_during_a_save_keeps_nobody_waiting(two, tmp_path, monkeypatch):
    """Though the one that saved was killed, and its child goes on."""
    directory, told = tmp_path / "saved", tmp_path / "child"
    two[0].save_pretrained(directory)

    def fork_and_die():
        if os.fork() == 0:
            told.write_text(str(os.getpid()))
            time.sleep(600)
            os._exit(0)
        wait_for(told)
        os.kill(os.getpid(), signal.SIGKILL)

    assert ended(saving_in_child(directory, fork_and_die)) == -signal.SIGKILL
    monkeypatch.setattr(lock, "LONGEST_WAIT", 0.0)
    try:
        two[1].save_pretrained(directory)
    finally:
        os.kill(int(told.read_text()), signal.SIGKILL)
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[1])
    assert not list(directory.glob(".trietok-*"))


def test_a_forked_child_may_save_there_itself_and_does_not_disturb_the_save(two, tmp_path):
    directory = tmp_path / "saved"
    told: list[str] = []

    def write(folder):
        (folder / "a.txt").write_text("new")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lock, "LONGEST_WAIT", 0.05)
            told.append(message_of(lambda: two[0].save_pretrained(directory)))

    save_files(directory, write)
    assert re.search(rf"process {os.getpid()} \(.*\) is saving there", told[0])
    assert [path.name for path in directory.iterdir()] == ["a.txt"]


def test_an_error_in_a_forked_child_does_not_clear_away_the_save(tmp_path):
    def write(folder):
        (folder / "a.txt").write_text("new")
        child = os.fork()
        if child == 0:
            raise KeyboardInterrupt
        os.waitpid(child, 0)

    def save():
        process = os.getpid()
        try:
            save_files(tmp_path, write)
        finally:
            os._exit(
                0 if os.getpid() != process or (tmp_path / "a.txt").read_text() == "new" else 3
            )

    assert os.waitstatus_to_exitcode(in_child(save)) == 0


def test_a_thread_that_saves_is_named_as_one(tmp_path):
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with alone(tmp_path):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        told = rf"another thread of this process \({os.getpid()}\)"
        with pytest.raises(DirectoryBusyError, match=told), alone(tmp_path, longest_wait=0):
            pass
    finally:
        leave.set()
        thread.join()
    with alone(tmp_path, longest_wait=0) as is_alone:
        assert is_alone


def test_where_directories_cannot_be_locked_saving_goes_on(two, tmp_path, monkeypatch):
    def refused(handle, operation):
        raise OSError(95, "Operation not supported")

    two[0].save_pretrained(tmp_path / "saved")
    monkeypatch.setattr("fcntl.flock", refused)
    with alone(tmp_path) as is_alone:
        assert not is_alone
    two[1].save_pretrained(tmp_path / "saved")
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[1])


def test_without_a_lock_the_folder_of_a_process_that_runs_stays(two, tmp_path, monkeypatch):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    of_a_process_that_runs = directory / f".trietok-save-{os.getppid()}"
    of_a_process_that_runs.mkdir()
    (directory / ".trietok-save-999999999").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(
            "fcntl.flock",
            lambda *args: (_ for _ in ()).throw(OSError(95, "Operation not supported")),
        )
        two[1].save_pretrained(directory)
    assert [path.name for path in directory.glob(".trietok-*")] == [of_a_process_that_runs.name]
    two[1].save_pretrained(directory)  # alone for certain, so that nobody can be using it
    assert not list(directory.glob(".trietok-*"))
