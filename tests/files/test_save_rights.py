"""The files that a save replaces keep their modes and owners, or are not replaced; any failure
changes nothing.
"""

from __future__ import annotations

import os
import shutil
import stat
import struct
import tempfile
from pathlib import Path

import pytest

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
from trietok.files.formats import write_text

posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="needs root, to act as other users"
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


@pytest.mark.parametrize("way", WAYS)
def test_modes_are_kept(two, tmp_path, monkeypatch, way):
    way(monkeypatch)
    two[0].save_pretrained(tmp_path)
    expected = dict(zip(sorted(modes(tmp_path)), (0o600, 0o640, 0o664, 0o755), strict=True))
    for name, mode in expected.items():
        (tmp_path / name).chmod(mode)
    two[1].save_pretrained(tmp_path)
    assert modes(tmp_path) == expected
    assert state(BertTokenizer.from_pretrained(tmp_path)) == state(two[1])


def test_the_mode_of_a_single_file_is_kept_and_nobody_else_can_read_it_before(
    tmp_path, monkeypatch
):
    path = tmp_path / "vocab.txt"
    path.write_text("old")
    path.chmod(0o600)
    seen = []
    original = os.fsync
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: (seen.append(os.fstat(handle).st_mode & 0o777), original(handle)),
    )
    write_text(path, "new")
    assert (path.read_text(), modes(tmp_path), seen[0]) == ("new", {"vocab.txt": 0o600}, 0o600)


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
    with pytest.raises(
        FileError, match=rf"cannot replace .*{name}: it is write-protected .*chmod u\+w"
    ) as caught:
        two[1].save_pretrained(tmp_path)
    assert caught.value.path == str(tmp_path / name)
    assert read_plainly(tmp_path) == before
    assert modes(tmp_path)[name] == 0o444
    assert sorted(modes(tmp_path)) == sorted(before)


def test_a_write_protected_file_that_has_to_go_is_named(two, small, tmp_path):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    (directory / "added_tokens.json").chmod(0o444)
    with pytest.raises(FileError, match=r"added_tokens\.json: it is write-protected"):
        small("a").save_pretrained(directory)
    assert state(BertTokenizer.from_pretrained(directory)) == state(two[0])


def test_a_write_protected_single_file_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FileError, match=r"vocab\.txt: it is write-protected"):
        write_text(path, "new")
    assert (path.read_text(), list(modes(tmp_path))) == ("old", ["vocab.txt"])


@pytest.mark.parametrize("way", WAYS)
def test_links_to_files_elsewhere_are_replaced_or_stay_as_they_were(
    two, tmp_path, monkeypatch, way
):
    way(monkeypatch)
    (tmp_path / "blobs").mkdir()
    directory = tmp_path / "snapshot"
    two[0].save_pretrained(directory)
    before = read_plainly(directory)
    shutil.move(directory / "vocab.txt", tmp_path / "blobs" / "1")
    (directory / "vocab.txt").symlink_to("../blobs/1")
    shutil.move(directory / "added_tokens.json", tmp_path / "blobs" / "2")
    (directory / "added_tokens.json").symlink_to(tmp_path / "blobs" / "2")
    original = os.replace

    def refused(source, target):
        if (
            Path(target) == directory / "vocab.txt"
            and Path(source).parent.name != "old"
            and not seen
        ):
            seen.append(target)
            raise PermissionError(1, "Operation not permitted")
        original(source, target)

    seen: list[object] = []
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refused)
        with pytest.raises(
            FileError, match=r"cannot replace .*vocab\.txt: Operation not permitted"
        ):
            two[1].save_pretrained(directory)
    assert read_plainly(directory) == before
    assert os.readlink(directory / "vocab.txt") == "../blobs/1"
    assert os.readlink(directory / "added_tokens.json") == str(tmp_path / "blobs" / "2")
    two[1].save_pretrained(directory)
    assert not (directory / "vocab.txt").is_symlink()
    assert (tmp_path / "blobs" / "1").read_bytes() == before["vocab.txt"]


# ---- a replacement that the system refuses -------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FILES[:4])
def test_a_file_that_cannot_be_replaced_leaves_the_old_files_for_every_reader(
    two, tmp_path, monkeypatch, way, name
):
    way(monkeypatch)
    two[0].save_pretrained(tmp_path)
    before = {path: (path.stat().st_ino, path.read_bytes()) for path in sorted(tmp_path.iterdir())}
    original = os.replace

    def refused(source, target):
        if Path(target) == tmp_path / name:
            raise OSError(16, "Device or resource busy")
        original(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refused)
        with pytest.raises(
            FileError, match=rf"cannot replace .*{name}: Device or resource busy; it is a mount"
        ) as caught:
            two[1].save_pretrained(tmp_path)
    assert caught.value.path == str(tmp_path / name)
    assert {
        path: (path.stat().st_ino, path.read_bytes()) for path in sorted(tmp_path.iterdir())
    } == before
    two[1].save_pretrained(tmp_path)
    assert state(BertTokenizer.from_pretrained(tmp_path)) == state(two[1])


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
@pytest.mark.parametrize("way", WAYS)
def test_owners_are_kept(two, place, monkeypatch, way):
    way(monkeypatch)
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


@root
@pytest.mark.parametrize("way", WAYS)
def test_a_sticky_directory_of_another_user(two, place, monkeypatch, way):
    way(monkeypatch)
    two[0].save_pretrained(place)
    os.chown(place, ANOTHER, ANOTHER)
    place.chmod(0o1777)
    for name in FILES[:4]:
        os.chown(place / name, SOMEBODY, SOMEBODY)
    with pytest.MonkeyPatch.context() as patch:  # a file that may be written, and not replaced
        os.chown(place / "vocab.txt", ANOTHER, SOMEBODY)
        (place / "vocab.txt").chmod(0o664)
        patch.setattr("trietok.disk.Rights.give", lambda rights, path: None)
        before = read_plainly(place)
        message = message_of(lambda: two[1].save_pretrained(place), SOMEBODY)
    assert (
        "vocab.txt: Operation not permitted; the file is immutable (lsattr tells), or it is another"
        in message
    )
    assert read_plainly(place) == before
    assert set(modes(place)) == set(before)
    assert state(BertTokenizer.from_pretrained(place)) == state(two[0])


@root
def test_readers_of_other_users_can_follow_a_save_that_was_cut_short(two, place):
    """A user's own files in a directory that only he and his group may read, saved to by root."""
    os.chown(place, SOMEBODY, ANOTHER)
    place.chmod(0o750)
    assert message_of(lambda: two[0].save_pretrained(place), SOMEBODY) == ""

    def cut_short():
        os.umask(0o077)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("trietok.files.atomic._tidy", lambda staging: os._exit(9))
            two[1].save_pretrained(place)

    message_of(cut_short)
    assert (place / "vocab.txt").is_symlink()

    def load():
        assert state(BertTokenizer.from_pretrained(place)) == state(two[1])

    assert message_of(load, SOMEBODY) == ""
    # who can clear it away, too
    assert message_of(lambda: two[0].save_pretrained(place), SOMEBODY) == ""
    assert set(modes(place)) == set(FILES[:4])


def test_without_links_or_hard_links_the_old_files_are_copied(two, tmp_path, monkeypatch):
    without_links(monkeypatch)

    def refused(*args, **options):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    two[0].save_pretrained(tmp_path)
    two[1].save_pretrained(tmp_path)
    assert state(BertTokenizer.from_pretrained(tmp_path)) == state(two[1])


def test_access_lists_are_kept(two, tmp_path):
    def entry(tag, rights, number=0xFFFFFFFF):
        return struct.pack("<HHI", tag, rights, number)

    # user::rw-, user:12345:r--, group::r--, mask::r--, other::---
    entries = entry(1, 6), entry(2, 4, SOMEBODY), entry(4, 4), entry(16, 4), entry(32, 0)
    access_list = struct.pack("<I", 2) + b"".join(entries)
    two[0].save_pretrained(tmp_path)
    try:
        os.setxattr(tmp_path / "vocab.txt", "system.posix_acl_access", access_list)
    except (OSError, AttributeError):
        pytest.skip("the file system has no access lists")
    two[1].save_pretrained(tmp_path)
    assert os.getxattr(tmp_path / "vocab.txt", "system.posix_acl_access") == access_list
