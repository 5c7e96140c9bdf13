"""Saves next to other savers, readers, users and files that are there."""

from __future__ import annotations

import os
import pathlib
import shutil
import stat
import tempfile
from typing import Any

import pytest

import trietok
from tests.conftest import needs
from tests.files.saving import (
    calls_ended,
    contents,
    load_own,
    load_slow,
    own_tokenizer,
    run_in_child,
    saving_forever,
    state,
    two_fast_tokenizers,
    two_tokenizers,
)
from trietok import BertTokenizer, FileError

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX: modes and owners")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="needs root: to act as other users"
)
SOMEBODY, ANOTHER = 12_345, 12_346  # users' numbers


@pytest.fixture
def two(small):
    return two_tokenizers(small)


@pytest.fixture
def place():
    """A directory that other users can reach, which the temporary ones of pytest are not."""
    directory = pathlib.Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def load_auto(directory: pathlib.Path) -> Any:
    tokenizer = trietok.AutoTokenizer.from_pretrained(directory)
    return type(tokenizer), state(tokenizer)


def modes(directory: pathlib.Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


# ---- other savers and readers --------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX: fork")
@pytest.mark.parametrize("saves", [30, pytest.param(300, marks=pytest.mark.faults)])
@pytest.mark.parametrize("of", ["slow", "fast", "slow and fast", "a user's class"])
def test_readers_next_to_two_savers_find_one_state_or_the_other(
    two, vocab_file, tmp_path, saves, of
):
    directory, load = tmp_path / "saved", load_auto
    if of == "a user's class":
        load = load_own
        two = (own_tokenizer(tmp_path / "1", "a"), own_tokenizer(tmp_path / "2", "b", "c"))
    elif of != "slow":
        fast = two_fast_tokenizers(vocab_file)
        two = fast if of == "fast" else (two[0], fast[1])
    savers = [lambda each=each: each.save_pretrained(directory) for each in two]
    expected = []
    for save in savers:
        save()
        expected.append(load(directory))
    children = [saving_forever(order, saves) for order in (savers, savers[::-1])]
    loads, beside, running = 0, 0, [pipe for _, pipe in children]
    while running:
        assert load(directory) in expected, f"mixed in load {loads}"
        ended = {pipe: calls_ended(pipe) for pipe in running}
        loads, beside = loads + 1, beside + any(ended.values())
        running = [pipe for pipe in running if ended[pipe] is not None]
    statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children]
    for _, pipe in children:
        os.close(pipe)
    assert statuses == [0, 0]
    assert beside >= saves // 30, f"a save ended during {beside} of {loads} loads"
    assert load(directory) in expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs POSIX: fork")
def test_two_processes_that_save_into_one_new_directory_both_save(two, tmp_path):
    expected = [state(each) for each in two]
    for number in range(10):
        directory = tmp_path / str(number) / "saved"
        children = [
            saving_forever([lambda each=each: each.save_pretrained(directory)], 1)  # noqa: B023
            for each in two
        ]
        statuses = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children]
        for _, pipe in children:
            os.close(pipe)
        assert statuses == [0, 0]
        assert load_slow(directory) in expected
        assert os.listdir(directory.parent) == ["saved"]


def test_saves_go_on_where_files_cannot_be_locked(two, tmp_path, monkeypatch):
    needs("fcntl")

    def refused(handle, operation):
        raise OSError(95, "Operation not supported")

    two[0].save_pretrained(tmp_path / "saved")
    monkeypatch.setattr("fcntl.flock", refused)
    two[1].save_pretrained(tmp_path / "saved")
    assert load_slow(tmp_path / "saved") == state(two[1])


# ---- modes and owners ----------------------------------------------------------------------------


@posix
def test_replaced_files_keep_their_modes(two, tmp_path):
    two[0].save_pretrained(tmp_path)
    expected = dict(zip(sorted(modes(tmp_path)), (0o600, 0o640, 0o664, 0o755), strict=True))
    for name, mode in expected.items():
        (tmp_path / name).chmod(mode)
    two[1].save_pretrained(tmp_path)
    assert modes(tmp_path) == expected
    assert load_slow(tmp_path) == state(two[1])


@posix
@pytest.mark.parametrize(
    "name", ["vocab.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"]
)
def test_a_write_protected_file_is_named_and_nothing_changes(two, tmp_path, name):
    two[0].save_pretrained(tmp_path)
    before = contents(tmp_path)
    (tmp_path / name).chmod(0o444)
    with pytest.raises(FileError, match=r"chmod u\+w") as caught:
        two[1].save_pretrained(tmp_path)
    assert caught.value.path == str(tmp_path / name)
    assert contents(tmp_path) == before
    assert modes(tmp_path)[name] == 0o444


@posix
def test_a_lock_file_keeps_its_mode_and_is_not_replaced_if_it_is_write_protected(small, tmp_path):
    lock, path = trietok.lock(small("a"), ["a"]), tmp_path / "lock.json"
    lock.save(path)
    for mode in (0o600, 0o640):
        path.chmod(mode)
        lock.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FileError):
        lock.save(path)
    assert path.read_text() == "old"


@root
def test_another_users_files_are_not_replaced_without_permission(two, place):
    two[0].save_pretrained(place)
    place.chmod(0o777)
    before = contents(place)

    def become_somebody():
        os.setgroups([])
        os.setgid(SOMEBODY)
        os.setuid(SOMEBODY)

    outcome = run_in_child(lambda: two[1].save_pretrained(place), before=become_somebody)
    assert outcome.said.startswith("FileError"), outcome
    assert contents(place) == before
    place.chmod(0o755)
    fresh = place / "new"
    outcome = run_in_child(lambda: two[1].save_pretrained(fresh), before=become_somebody)
    assert outcome.said.startswith("FileError"), outcome
    assert str(place) in outcome.said
    assert not fresh.exists()


# ---- what is in the way --------------------------------------------------------------------------


def test_a_file_in_the_place_of_the_directory_is_refused(two, tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(FileError):
            two[0].save_pretrained(path)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_directory_in_the_way_of_a_file_is_named_before_anything_changes(two, tmp_path):
    two[0].save_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "vocab.txt").unlink()
    (tmp_path / "saved" / "vocab.txt").mkdir()
    before = contents(tmp_path / "saved")
    with pytest.raises(FileError) as caught:
        two[1].save_pretrained(tmp_path / "saved")
    assert caught.value.path == str(tmp_path / "saved" / "vocab.txt")
    assert contents(tmp_path / "saved") == before


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX: symbolic links")
def test_a_link_to_a_file_elsewhere_is_replaced_and_the_file_stays(two, tmp_path):
    (tmp_path / "blobs").mkdir()
    directory = tmp_path / "snapshot"
    two[0].save_pretrained(directory)
    before = contents(directory)
    for name, target in (("vocab.txt", "../blobs/1"), ("added_tokens.json", tmp_path / "blobs/2")):
        shutil.move(directory / name, directory / target)
        (directory / name).symlink_to(target)
    two[1].save_pretrained(directory)
    assert not any(path.is_symlink() for path in directory.iterdir())
    assert (tmp_path / "blobs" / "1").read_bytes() == before["vocab.txt"]
    assert (tmp_path / "blobs" / "2").read_bytes() == before["added_tokens.json"]
    assert load_slow(directory) == state(two[1])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX: pipes with names")
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_refused(two, tmp_path):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (directory / "vocab.txt").unlink(missing_ok=True)
        make(directory / "vocab.txt")
        for action in (BertTokenizer.from_pretrained, two[1].save_pretrained):
            with pytest.raises(FileError, match=r"vocab\.txt"):
                action(directory)
        assert not trietok.check(directory).ok


@pytest.mark.parametrize("error", [TypeError, KeyboardInterrupt])
def test_a_save_that_fails_leaves_the_old_files_and_no_new_directory(two, tmp_path, error):
    two[0].save_pretrained(tmp_path / "saved")
    before = contents(tmp_path / "saved")
    if error is TypeError:
        two[1].init_kwargs["something"] = object()  # which JSON cannot hold
    else:

        def interrupted(folder, filename_prefix=None):
            raise KeyboardInterrupt

        two[1].save_vocabulary = interrupted
    for directory in (tmp_path / "saved", tmp_path / "a" / "b"):
        with pytest.raises(error):
            two[1].save_pretrained(directory)
    assert contents(tmp_path / "saved") == before
    assert sorted(os.listdir(tmp_path)) == ["saved", "vocab.txt"]
