"""Saving is all or nothing: killed at any step, on a full disk, in a directory that cannot be written."""

from __future__ import annotations

import os
import random
import resource
import signal
import threading
import time

import pytest

from tests.conftest import SPECIAL
from trietok import BertTokenizer, FileError, FileFormatError, check
from trietok.files import atomic as directory_saves
from trietok.files.atomic import JOURNAL


@pytest.fixture
def two(small):
    """Two tokenizers that differ in every file."""
    old = small("a", "b")
    old.add_tokens(["<old>"])
    new = small("a", "c", "d", do_lower_case=False)
    new.add_special_tokens({"bos_token": "<s>"})
    new.add_tokens(["<new>", "<newer>"])
    return old, new


def state(tokenizer):
    return tokenizer.get_vocab(), tokenizer.added_tokens_decoder, tokenizer.special_tokens_map, tokenizer.do_lower_case


def in_child(action) -> int:
    """Run `action` in a forked process; return its exit status."""
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


STEPS = ["mkdir", "open", "fsync", "replace", "unlink", "rmdir"]


def count_or_die(monkeypatch, die_at: int | None) -> list[str]:
    """Note every step that touches the disk; die at one of them, before it is done."""
    steps: list[str] = []

    def watched(name, function):
        def step(*args, **kwargs):
            steps.append(name)
            if len(steps) == die_at:
                os._exit(9)
            return function(*args, **kwargs)

        return step

    for name in STEPS:
        monkeypatch.setattr(os, name, watched(name, getattr(os, name)))
    return steps


def test_killed_at_any_step_the_old_files_or_the_new_ones_are_there(two, tmp_path, monkeypatch):
    old, new = two
    seen = set()
    with monkeypatch.context() as patch:
        old.save_pretrained(tmp_path / "count")
        total = len(count_or_die(patch, None))
        steps = count_or_die(patch, None)
        new.save_pretrained(tmp_path / "count")
        total = len(steps)
    assert total > 10
    for die_at in range(1, total + 1):
        directory = tmp_path / str(die_at)
        old.save_pretrained(directory)

        def die(directory=directory, die_at=die_at):
            with monkeypatch.context() as patch:
                count_or_die(patch, die_at)
                new.save_pretrained(directory)

        in_child(die)
        found = state(BertTokenizer.from_pretrained(directory))
        assert found in (state(old), state(new)), f"mixed after step {die_at}"
        seen.add(found == state(new))
        new.save_pretrained(directory)  # the next save clears away what was left
        assert state(BertTokenizer.from_pretrained(directory)) == state(new)
        assert sorted(path.name for path in directory.iterdir()) == [
            "added_tokens.json",
            "special_tokens_map.json",
            "tokenizer_config.json",
            "vocab.txt",
        ]
    assert seen == {True, False}


@pytest.mark.faults
def test_killed_at_two_hundred_random_moments(two, tmp_path):
    rng = random.Random(5)
    seen = set()
    for _ in range(200):
        began = time.monotonic()
        two[0].save_pretrained(tmp_path / "saved")
        one_save = time.monotonic() - began  # as busy as the machine is just now
        child = os.fork()
        if child == 0:
            while True:
                for tokenizer in reversed(two):
                    tokenizer.save_pretrained(tmp_path / "saved")
        time.sleep(rng.uniform(0, 4 * one_save))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found = state(BertTokenizer.from_pretrained(tmp_path / "saved"))
        assert found in (state(two[0]), state(two[1]))
        seen.add(found == state(two[0]))
    assert seen == {True, False}


def test_an_obsolete_file_goes(two, small, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "added_tokens.json").exists()
    small("a").save_pretrained(tmp_path / "saved")
    assert not (tmp_path / "saved" / "added_tokens.json").exists()


def test_other_files_of_the_directory_stay(two, tmp_path):
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved" / "model.safetensors").write_bytes(b"weights")
    two[0].save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "model.safetensors").read_bytes() == b"weights"


def test_a_full_disk_leaves_the_old_files(two, tmp_path):
    old, new = two
    old.save_pretrained(tmp_path / "saved")
    before = {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()}

    def save_on_a_full_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
        try:
            new.save_pretrained(tmp_path / "saved")
        except FileError as error:
            os._exit(7 if "File too large" in str(error) else 8)

    assert os.waitstatus_to_exitcode(in_child(save_on_a_full_disk)) == 7
    assert {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()} == before


def test_an_error_while_writing_leaves_the_old_files(two, small, tmp_path):
    old, _ = two
    old.save_pretrained(tmp_path / "saved")
    before = {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()}
    broken = small("a")
    broken.init_kwargs["something"] = object()
    with pytest.raises(TypeError, match="not JSON serializable"):
        broken.save_pretrained(tmp_path / "saved")
    assert {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()} == before


def test_a_directory_that_cannot_be_written(two, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError, match="cannot make the directory"):
            two[0].save_pretrained(path)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    two[0].save_pretrained(tmp_path / "saved")
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        with pytest.raises(FileError, match=r"cannot save to .*saved: Permission denied"):
            two[1].save_pretrained(tmp_path / "saved")
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[0])


def cut_short(tokenizer, directory, monkeypatch) -> None:
    """Save up to the point from which the save counts, and no further."""
    finish = directory_saves.finish_save
    calls = []

    def die_the_second_time(path):
        calls.append(path)
        if len(calls) == 2:
            os._exit(9)
        finish(path)

    def die():
        monkeypatch.setattr(directory_saves, "finish_save", die_the_second_time)
        tokenizer.save_pretrained(directory)

    in_child(die)
    assert (directory / JOURNAL).exists()


def test_a_save_that_counts_is_read_though_nothing_is_in_place(two, tmp_path, monkeypatch):
    two[0].save_pretrained(tmp_path / "saved")
    cut_short(two[1], tmp_path / "saved", monkeypatch)
    assert (tmp_path / "saved" / "vocab.txt").read_text().split() == [*SPECIAL, "a", "b"]
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[1])
    report = check(tmp_path / "saved")
    assert report.errors == []
    assert "save-unfinished" in {finding.code for finding in report.findings}


def test_mixed_files_are_named_and_not_loaded(two, tmp_path, monkeypatch):
    two[0].save_pretrained(tmp_path / "saved")
    cut_short(two[1], tmp_path / "saved", monkeypatch)
    staging = next((tmp_path / "saved").glob(".trietok-save-*"))
    (staging / "vocab.txt").unlink()
    with pytest.raises(FileFormatError, match=r"was cut short .*: vocab\.txt is not what was saved"):
        BertTokenizer.from_pretrained(tmp_path / "saved")
    assert "save-mixed" in {finding.code for finding in check(tmp_path / "saved").errors}


@pytest.mark.parametrize("journal", ["", "[]", "{}", '{"staging": "..", "files": {}, "obsolete": []}', "\xff"])
def test_a_damaged_journal_is_named(two, tmp_path, journal):
    two[0].save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / JOURNAL).write_bytes(journal.encode("latin-1"))
    with pytest.raises((FileError, FileFormatError), match=r"\.trietok-save\.json"):
        BertTokenizer.from_pretrained(tmp_path / "saved")


def test_two_may_save_and_others_load_at_once(two, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    stop = threading.Event()
    wrong = []

    def repeat(action):
        try:
            while not stop.is_set():
                action()
        except Exception as error:
            wrong.append(error)

    def load():
        found = state(BertTokenizer.from_pretrained(tmp_path / "saved"))
        if found not in (state(two[0]), state(two[1])):
            wrong.append("mixed")

    actions = [*(lambda each=each: each.save_pretrained(tmp_path / "saved") for each in two), load, load]
    threads = [threading.Thread(target=repeat, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    load()


def test_a_prefix_is_no_path(two, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    with pytest.raises(ValueError, match="holds no separator"):
        two[1].save_pretrained(tmp_path / "saved", filename_prefix="../q")
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[0])


def test_a_directory_in_the_way_of_a_file_is_named_before_anything_changes(two, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "vocab.txt").unlink()
    (tmp_path / "saved" / "vocab.txt").mkdir()
    before = (tmp_path / "saved" / "tokenizer_config.json").read_bytes()
    with pytest.raises(FileError, match=r"vocab\.txt is a directory"):
        two[1].save_pretrained(tmp_path / "saved")
    assert (tmp_path / "saved" / "tokenizer_config.json").read_bytes() == before
    assert not (tmp_path / "saved" / JOURNAL).exists()


def test_a_save_says_before_it_writes_what_it_may_not_take_away(tmp_path):
    with pytest.raises(ValueError, match=r"may not take away notes\.txt"):
        directory_saves.save_files(tmp_path, lambda folder: None, obsolete=["notes.txt"])
    assert list(tmp_path.iterdir()) == []
