"""Saving is all or nothing: killed at any step, on a full disk, in a directory that cannot be
written.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import threading
import time

import pytest

from tests.conftest import needs
from tests.files.saving import (
    WAYS,
    in_child,
    read_plainly,
    state,
    two_tokenizers,
    without_flushing,
    without_links,
)
from trietok import BertTokenizer, FileError, FileFormatError, InputError, check
from trietok.files.formats import JOURNAL


@pytest.fixture
def two(small):
    """Two tokenizers that differ in every file."""
    return two_tokenizers(small)


STEPS = ["mkdir", "open", "link", "symlink", "replace", "unlink", "rmdir"]


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


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.faults)])
def test_killed_at_any_step_the_old_files_or_the_new_ones_are_there(
    two, tmp_path, monkeypatch, way, every
):
    way(monkeypatch)
    without_flushing(monkeypatch)
    old, new = two
    for tokenizer in two:
        tokenizer.save_pretrained(tmp_path / "plain")
    plain = read_plainly(tmp_path / "plain")
    old.save_pretrained(tmp_path / "old")
    shutil.copytree(tmp_path / "old", tmp_path / "count")
    with monkeypatch.context() as patch:
        steps = count_or_die(patch, None)
        new.save_pretrained(tmp_path / "count")
        total = len(steps)
    seen = set()
    for die_at in range(1, total + 1, every):
        directory = tmp_path / str(die_at)
        shutil.copytree(tmp_path / "old", directory)

        def die(directory=directory, die_at=die_at):
            with monkeypatch.context() as patch:
                count_or_die(patch, die_at)
                new.save_pretrained(directory)

        in_child(die)
        found = state(BertTokenizer.from_pretrained(directory))
        assert found in (state(old), state(new)), f"mixed after step {die_at}, {steps[die_at - 1]}"
        seen.add(found == state(new))
        new.save_pretrained(directory)
        assert {path.name: path.read_bytes() for path in directory.iterdir()} == plain
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
    resource = needs("resource")
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
    with pytest.raises(TypeError, match="JSON"):
        broken.save_pretrained(tmp_path / "saved")
    assert {path.name: path.read_bytes() for path in (tmp_path / "saved").iterdir()} == before


def test_a_directory_that_cannot_be_made(two, tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError):
            two[0].save_pretrained(path)


def test_what_a_save_without_links_left_is_found_by_check(two, tmp_path, monkeypatch):
    without_links(monkeypatch)
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    cut_short_before_the_last_step(two[1], directory)
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[0])
    report = check(directory)
    assert report.errors == []
    assert "save-unfinished" in {finding.code for finding in report.findings}
    (directory / "vocab.txt").write_text("[UNK]\n")
    assert "save-mixed" in {finding.code for finding in check(directory).errors}
    for action in (BertTokenizer.from_pretrained, two[0].save_pretrained):
        with pytest.raises(FileFormatError, match=r"vocab\.txt"):
            action(directory)


def cut_short_before_the_last_step(tokenizer, directory) -> None:
    """Save by a journal, with all files in place, and be killed before the journal is taken
    away.
    """
    replace = os.replace

    def die_at_the_journal(source, target):
        if source == directory / JOURNAL:
            os._exit(9)
        replace(source, target)

    def die():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "replace", die_at_the_journal)
            tokenizer.save_pretrained(directory)

    assert os.waitstatus_to_exitcode(in_child(die)) == 9
    assert (directory / JOURNAL).exists()


@pytest.mark.parametrize(
    "journal", ["", "[]", "{}", '{"staging": "..", "files": {}, "obsolete": []}', "\xff"]
)
def test_a_damaged_journal_is_named(two, tmp_path, journal):
    two[0].save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / JOURNAL).write_bytes(journal.encode("latin-1"))
    with pytest.raises((FileError, FileFormatError)):
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

    actions = [
        *(lambda each=each: each.save_pretrained(tmp_path / "saved") for each in two),
        load,
        load,
    ]
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
    with pytest.raises(InputError):
        two[1].save_pretrained(tmp_path / "saved", filename_prefix="../q")
    assert state(BertTokenizer.from_pretrained(tmp_path / "saved")) == state(two[0])


def test_a_directory_in_the_way_of_a_file_is_named_before_anything_changes(two, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "vocab.txt").unlink()
    (tmp_path / "saved" / "vocab.txt").mkdir()
    before = (tmp_path / "saved" / "tokenizer_config.json").read_bytes()
    with pytest.raises(FileError) as caught:
        two[1].save_pretrained(tmp_path / "saved")
    assert caught.value.path == str(tmp_path / "saved" / "vocab.txt")
    assert (tmp_path / "saved" / "tokenizer_config.json").read_bytes() == before


# ---- directories from elsewhere ------------------------------------------------------------------


@pytest.mark.parametrize("linked", ["old", "folder"])
def test_no_file_outside_of_the_directory_is_moved_into_it(two, tmp_path, linked):
    """By links in the place of a save's own folders, which somebody else has made."""
    outside, directory = tmp_path / "outside", tmp_path / "saved"
    two[0].save_pretrained(directory)
    folder = directory / ".trietok-save-1"
    target = outside if linked == "old" else outside / "old"
    target.mkdir(parents=True)
    (target / "secret.txt").write_text("secret")
    if linked == "old":
        (folder / "new").mkdir(parents=True)
        (folder / "old").symlink_to(outside)
        (folder / "new" / "secret.txt").write_text("")
        (folder / "current").symlink_to("old")
    else:
        (outside / "current").symlink_to("old")
        folder.symlink_to(outside)
    (directory / "secret.txt").symlink_to(".trietok-save-1/current/secret.txt")
    two[1].save_pretrained(directory)
    assert (target / "secret.txt").read_text() == "secret"
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[1])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX: pipes with names")
@pytest.mark.parametrize("name", [JOURNAL, "vocab.txt"])
def test_a_pipe_or_a_device_for_a_file_or_a_journal_is_refused_at_once(two, tmp_path, name):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (directory / name).unlink(missing_ok=True)
        make(directory / name)
        for action in (BertTokenizer.from_pretrained, two[1].save_pretrained):
            with pytest.raises(FileError, match=name):
                action(directory)
        assert not check(directory).ok


@pytest.mark.parametrize("moment", ["before", "at the rename"])
def test_two_processes_save_into_one_new_directory(small, tmp_path, monkeypatch, moment):
    """The second save goes into the directory that the first one made."""
    old, new = two_tokenizers(small)
    directory = tmp_path / "saved"
    make, rename = new.save_vocabulary, os.rename

    def save_vocabulary(*arguments, **options):
        if moment == "before" and not directory.exists():
            old.save_pretrained(directory)
        return make(*arguments, **options)

    def renamed(source, target):
        if moment == "at the rename" and not directory.exists():
            monkeypatch.setattr(os, "rename", rename)
            old.save_pretrained(directory)
        rename(source, target)

    monkeypatch.setattr(new, "save_vocabulary", save_vocabulary)
    monkeypatch.setattr(os, "rename", renamed)
    paths = new.save_pretrained(directory)
    assert {os.path.dirname(path) for path in paths} == {str(directory)}
    assert state(BertTokenizer.from_pretrained(directory)) == state(new)
    assert sorted(os.listdir(tmp_path)) == ["saved", "vocab.txt"]


def test_a_file_system_that_renames_no_directories(small, tmp_path, monkeypatch):
    def refused(source, target):
        raise OSError(errno.EMFILE, "Too many open files", source)

    monkeypatch.setattr(os, "rename", refused)
    paths = small("a").save_pretrained(tmp_path / "below" / "saved")
    assert sorted(map(os.path.basename, paths)) == sorted(os.listdir(tmp_path / "below" / "saved"))
    assert os.listdir(tmp_path / "below") == ["saved"]


def test_a_failed_save_takes_back_the_directories_it_made(small, tmp_path):
    def fail(folder, filename_prefix=None):
        raise KeyboardInterrupt

    tokenizer = small("a")
    tokenizer.save_vocabulary = fail
    with pytest.raises(KeyboardInterrupt):
        tokenizer.save_pretrained(tmp_path / "a" / "saved")
    assert os.listdir(tmp_path) == ["vocab.txt"]
