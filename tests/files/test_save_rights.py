"""The files that a save replaces keep their modes and owners, or are not replaced; any failure
changes nothing.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

import trietok
from tests.files.saving import (
    FILES,
    WAYS,
    message_of,
    read_plainly,
    state,
    two_tokenizers,
    without_flushing,
    without_links,
)
from trietok import BertTokenizer, FileError
from trietok.files.atomic import save_files

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX: modes and owners")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="needs root: to act as other users"
)
pytestmark = posix
SOMEBODY, ANOTHER = 12_345, 12_346  # users' numbers


@pytest.fixture
def two(small):
    return two_tokenizers(small)


@pytest.fixture
def place():
    """A directory that other users can reach, which the temporary ones of pytest are not."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def modes(directory) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


def test_modes_are_kept(two, tmp_path):
    two[0].save_pretrained(tmp_path)
    expected = dict(zip(sorted(modes(tmp_path)), (0o600, 0o640, 0o664, 0o755), strict=True))
    for name, mode in expected.items():
        (tmp_path / name).chmod(mode)
    two[1].save_pretrained(tmp_path)
    assert modes(tmp_path) == expected
    assert state(BertTokenizer.from_pretrained(tmp_path)) == state(two[1])


def test_nobody_else_can_read_the_new_files_before_they_have_their_modes(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("old")
    (tmp_path / "a.txt").chmod(0o600)
    seen = []

    def write(folder):
        (folder / "a.txt").write_text("new")
        seen.append(stat.S_IMODE(folder.parent.stat().st_mode))

    save_files(tmp_path, write)
    assert seen == [0o700]
    assert modes(tmp_path) == {"a.txt": 0o600}


@pytest.mark.parametrize("name", FILES[:4])
def test_a_write_protected_file_is_named_and_nothing_changes(two, tmp_path, name):
    two[0].save_pretrained(tmp_path)
    before = read_plainly(tmp_path)
    (tmp_path / name).chmod(0o444)
    with pytest.raises(FileError, match=r"chmod u\+w") as caught:
        two[1].save_pretrained(tmp_path)
    assert caught.value.path == str(tmp_path / name)
    assert read_plainly(tmp_path) == before
    assert modes(tmp_path)[name] == 0o444
    assert sorted(modes(tmp_path)) == sorted(before)


def test_a_single_file_keeps_its_mode_and_is_not_replaced_if_it_is_write_protected(small, tmp_path):
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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock.json", "vocab.txt"]


def test_a_link_to_a_file_elsewhere_is_replaced_and_the_file_stays(two, tmp_path):
    (tmp_path / "blobs").mkdir()
    directory = tmp_path / "snapshot"
    two[0].save_pretrained(directory)
    before = read_plainly(directory)
    for name, target in (("vocab.txt", "../blobs/1"), ("added_tokens.json", tmp_path / "blobs/2")):
        shutil.move(directory / name, directory / target)
        (directory / name).symlink_to(target)
    two[1].save_pretrained(directory)
    assert not any(path.is_symlink() for path in directory.iterdir())
    assert (tmp_path / "blobs" / "1").read_bytes() == before["vocab.txt"]
    assert (tmp_path / "blobs" / "2").read_bytes() == before["added_tokens.json"]


# ---- a replacement that the system refuses -------------------------------------------------------


@pytest.mark.parametrize("step", ["link", "symlink", "chmod", "fsync", "replace"])
@pytest.mark.parametrize("way", WAYS)
def test_whichever_step_fails_an_error_means_the_old_files_and_none_the_new(
    two, tmp_path, monkeypatch, way, step
):
    way(monkeypatch)
    without_flushing(monkeypatch)
    two[0].save_pretrained(tmp_path)
    for path in tmp_path.iterdir():
        path.chmod(0o600)  # so that the new files need another mode than they are made with
    outcomes, original = set(), getattr(os, step)
    for failing in range(1, 60):
        calls = 0

        def fail_once(*args, failing=failing, **kwargs):
            nonlocal calls
            calls += 1
            if calls == failing:
                raise OSError(5, "Input/output error")
            return original(*args, **kwargs)

        two[0].save_pretrained(tmp_path)
        expected = two[1]
        with monkeypatch.context() as patch:
            patch.setattr(os, step, fail_once)
            try:
                two[1].save_pretrained(tmp_path)
            except FileError:
                expected = two[0]
        assert state(BertTokenizer.from_pretrained(tmp_path)) == state(expected), (step, failing)
        outcomes.add(expected is two[0])
        if calls < failing:
            break
    else:
        pytest.fail("more steps than were tried")
    assert False in outcomes
    assert {path.name for path in tmp_path.iterdir()} == set(FILES[:4])


# ---- other users ---------------------------------------------------------------------------------


@root
def test_owners_are_kept(two, place):
    two[0].save_pretrained(place)
    os.chown(place / "vocab.txt", SOMEBODY, ANOTHER)
    (place / "vocab.txt").chmod(0o640)
    two[1].save_pretrained(place)
    status = (place / "vocab.txt").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (
        SOMEBODY,
        ANOTHER,
        0o640,
    )
    assert (place / "tokenizer_config.json").stat().st_uid == 0


@root
def test_a_file_whose_owner_cannot_be_kept_is_named(two, place):
    two[0].save_pretrained(place)
    place.chmod(0o777)
    for path in place.iterdir():
        os.chown(path, SOMEBODY, SOMEBODY)
        path.chmod(0o666)
    before = read_plainly(place)
    message = message_of(lambda: two[1].save_pretrained(place), ANOTHER)
    assert message.startswith("FileError: cannot replace ")
    assert (
        f"its owner (user {SOMEBODY}, group {SOMEBODY}) and mode (0666) cannot be kept" in message
    )
    assert read_plainly(place) == before
    assert set(modes(place)) == set(before)


@root
def test_a_file_that_this_user_may_not_write_is_named(two, place):
    two[0].save_pretrained(place)
    place.chmod(0o777)
    before = read_plainly(place)
    message = message_of(lambda: two[1].save_pretrained(place), SOMEBODY)
    assert message.startswith("FileError: cannot replace ")
    assert "this user may not write it (mode 0644, owner 0)" in message
    assert read_plainly(place) == before


def test_without_links_or_hard_links_the_old_files_are_copied(two, tmp_path, monkeypatch):
    without_links(monkeypatch)

    def refused(*args, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    two[0].save_pretrained(tmp_path)
    two[1].save_pretrained(tmp_path)
    assert state(BertTokenizer.from_pretrained(tmp_path)) == state(two[1])
