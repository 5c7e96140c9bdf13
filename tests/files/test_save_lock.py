"""One save at a time into a directory: waiting has an end, a forked child keeps nobody waiting."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.conftest import needs
from tests.files.saving import in_child, state, two_tokenizers
from trietok import BertTokenizer, FileError
from trietok.files import directory_lock as lock

needs("fcntl")


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


def interrupted(tokenizer, inside):
    """Let a tokenizer call `inside` in the middle of each save."""
    write = tokenizer.save_vocabulary

    def save_vocabulary(*arguments, **options):
        paths = write(*arguments, **options)
        inside()
        return paths

    tokenizer.save_vocabulary = save_vocabulary
    return tokenizer


def saving_in_child(tokenizer, directory, inside) -> int:
    """Start a process that calls `inside` in the middle of a save; its number."""
    child = os.fork()
    if child == 0:
        try:
            interrupted(tokenizer, inside).save_pretrained(directory)
            os._exit(0)
        finally:
            os._exit(1)
    return child


def test_a_save_that_is_stopped_is_named_after_a_wait_that_ends(two, tmp_path, monkeypatch):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    child = saving_in_child(two[0], directory, lambda: os.kill(os.getpid(), signal.SIGSTOP))
    os.waitpid(child, os.WUNTRACED)
    try:
        monkeypatch.setattr(lock, "LONGEST_WAIT", 0.05)
        with pytest.raises(FileError, match=rf"process {child} .*which is stopped"):
            two[1].save_pretrained(directory)
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

    assert ended(saving_in_child(two[0], directory, fork_and_die)) == -signal.SIGKILL
    monkeypatch.setattr(lock, "LONGEST_WAIT", 0.0)
    try:
        two[1].save_pretrained(directory)
    finally:
        os.kill(int(told.read_text()), signal.SIGKILL)
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[1])
    assert not list(directory.glob(".trietok-*"))


def test_an_error_in_a_forked_child_does_not_clear_away_the_save(two, tmp_path):
    def fork_and_fail():
        child = os.fork()
        if child == 0:
            raise KeyboardInterrupt
        os.waitpid(child, 0)

    def save():
        process = os.getpid()
        try:
            interrupted(two[0], fork_and_fail).save_pretrained(tmp_path / "saved")
        finally:
            os._exit(3 if os.getpid() != process else 0)

    assert os.waitstatus_to_exitcode(in_child(save)) == 0
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[0])


def test_where_directories_cannot_be_locked_saving_goes_on(two, tmp_path, monkeypatch):
    def refused(handle, operation):
        raise OSError(95, "Operation not supported")

    two[0].save_pretrained(tmp_path / "saved")
    monkeypatch.setattr("fcntl.flock", refused)
    two[1].save_pretrained(tmp_path / "saved")
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[1])
