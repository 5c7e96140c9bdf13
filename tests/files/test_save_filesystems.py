"""Saving on real file systems that misbehave: full, of no size, read-only, with files that cannot
be replaced.

These need root on Linux; where the system forbids a mount, the test is skipped with what the system
said.
"""

from __future__ import annotations

import contextlib
import os
import subprocess

import pytest

from tests.files.saving import WAYS, read_plainly, run_or_skip, state, two_tokenizers
from trietok import BertTokenizer, BertTokenizerFast, FileError, fix

pytestmark = pytest.mark.faults


@pytest.fixture
def two(small):
    return two_tokenizers(small)


@pytest.fixture
def mounted():
    """Mount something: `mounted("-t", "tmpfs", "tmpfs", directory)`. The last is where; unmounted
    at the end.
    """
    places = []

    def mount(*arguments):
        run_or_skip("mount", *map(str, arguments))
        places.append(arguments[-1])

    yield mount
    for place in reversed(places):
        subprocess.run(["umount", str(place)], check=False)


@contextlib.contextmanager
def immutable(path):
    run_or_skip("chattr", "+i", str(path))
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", str(path)], check=True)


def assert_readers_find(tokenizer, directory) -> None:
    """Every reader finds this tokenizer there: trietok, transformers, and one that opens the files
    by their names.
    """
    transformers = pytest.importorskip("transformers")
    assert state(BertTokenizer.from_pretrained(directory)) == state(tokenizer)
    theirs = transformers.BertTokenizer.from_pretrained(directory)
    assert theirs.get_vocab() == tokenizer.get_vocab()
    assert theirs.do_lower_case == tokenizer.do_lower_case
    assert theirs.special_tokens_map == tokenizer.special_tokens_map


def refused(tokenizer, directory, old) -> str:
    """Save where it cannot be done: an error, and everything is as it was. The error's message."""
    before = read_plainly(directory)
    with pytest.raises(FileError) as caught:
        tokenizer.save_pretrained(directory)
    assert read_plainly(directory) == before
    assert {path.name for path in directory.iterdir()} == set(before)
    assert_readers_find(old, directory)
    return str(caught.value)


NAMES = ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_an_immutable_file(two, tmp_path, monkeypatch, way, name):
    way(monkeypatch)
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    with immutable(directory / name):
        assert f"{name}: this user may not write it" in refused(two[1], directory, two[0])
        # Where the system does not tell it beforehand:
        monkeypatch.setattr(os, "access", lambda *args, **options: True)
        assert f"{name}: Operation not permitted; the file is immutable" in refused(
            two[1], directory, two[0]
        )
    two[1].save_pretrained(directory)
    assert_readers_find(two[1], directory)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_a_mount_point(two, tmp_path, monkeypatch, mounted, way, name):
    way(monkeypatch)
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    (tmp_path / "elsewhere").write_bytes((directory / name).read_bytes())
    mounted("--bind", tmp_path / "elsewhere", directory / name)
    message = refused(two[1], directory, two[0])
    assert f"{name}: Device or resource busy; it is a mount point" in message


def test_a_file_that_is_a_mount_point_and_would_have_to_go(two, small, tmp_path, mounted):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    (tmp_path / "elsewhere").write_bytes((directory / "added_tokens.json").read_bytes())
    mounted("--bind", tmp_path / "elsewhere", directory / "added_tokens.json")
    assert "added_tokens.json: Device or resource busy" in refused(small("a"), directory, two[0])


def test_a_read_only_mount(two, tmp_path, mounted):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    mounted("--bind", directory, directory)
    run_or_skip("mount", "-o", "remount,bind,ro", str(directory))
    assert f"cannot save to {directory}: Read-only file system" in refused(
        two[1], directory, two[0]
    )


def test_an_immutable_directory(two, tmp_path):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    with immutable(directory):
        assert f"cannot save to {directory}: Operation not permitted" in refused(
            two[1], directory, two[0]
        )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kilobytes", [4, 8, 12, 16, 20, 24, 28, 32, 36, 40])
def test_a_small_disk_holds_all_of_the_old_files_or_all_of_the_new_ones(
    two, tmp_path, monkeypatch, mounted, way, kilobytes
):
    way(monkeypatch)
    directory = tmp_path / "saved"
    directory.mkdir()
    mounted("-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", directory)
    if not saved_or_refused_for_lack_of_space(two[0], directory):
        assert list(directory.iterdir()) == []
        return
    assert_readers_find(two[0], directory)
    is_saved = saved_or_refused_for_lack_of_space(two[1], directory)
    assert_readers_find(two[is_saved], directory)
    assert {path.name for path in directory.iterdir()} == set(NAMES)


def saved_or_refused_for_lack_of_space(tokenizer, directory) -> bool:
    """Save; whether that was possible. If not, the error says why and the old files are as they
    were.
    """
    before = read_plainly(directory)
    try:
        tokenizer.save_pretrained(directory)
    except FileError as error:
        message = str(error)
    else:
        return True
    assert "No space left on device" in message
    assert read_plainly(directory) == before
    return False


def test_a_disk_without_free_inodes(two, tmp_path, mounted):
    directory = tmp_path / "saved"
    directory.mkdir()
    mounted("-t", "tmpfs", "-o", "size=1m,nr_inodes=30", "tmpfs", directory)
    two[0].save_pretrained(directory)
    assert saved_or_refused_for_lack_of_space(two[1], directory)
    for number in range(30):
        (directory / f"filling-{number}").write_text("")
        if not saved_or_refused_for_lack_of_space(two[1], directory):
            break
        assert_readers_find(two[1], directory)
    else:
        pytest.fail("there is always a free inode")
    assert_readers_find(two[1], directory)


def test_size_0_is_no_limit_for_a_tmpfs_and_what_was_saved_is_there(two, tmp_path, mounted):
    directory = tmp_path / "saved"
    directory.mkdir()
    mounted("-t", "tmpfs", "-o", "size=0", "tmpfs", directory)
    two[0].save_pretrained(directory)
    assert_readers_find(two[0], directory)


def test_a_disk_that_takes_everything_and_has_no_place(tmp_path):
    """`/dev/full` in the place of a file is no regular file, so it is not replaced."""
    directory = tmp_path / "saved"
    directory.mkdir()
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    (directory / "vocab.txt").symlink_to("/dev/full")
    with pytest.raises(FileError, match=r"vocab\.txt: it is not a regular file"):
        BertTokenizer.from_pretrained("trietok-en").save_pretrained(directory)
    assert os.readlink(directory / "vocab.txt") == "/dev/full"


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_fast_tokenizer_beside_an_immutable_file(tmp_path, name):
    directory = tmp_path / "saved"
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    tokenizer.save_pretrained(directory)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    tokenizer.add_tokens(["<new>"])
    with immutable(directory / name), pytest.raises(FileError, match=name):
        tokenizer.save_pretrained(directory)
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before


def test_fix_on_a_full_disk_leaves_nothing(tmp_path, mounted):
    directory = tmp_path / "small"
    directory.mkdir()
    mounted("-t", "tmpfs", "-o", "size=64k", "tmpfs", directory)
    with pytest.raises(FileError, match="No space left on device"):
        fix("trietok-en", directory / "fixed")
    assert not (directory / "fixed").exists() or list((directory / "fixed").iterdir()) == []


def test_a_mount_on_which_links_are_not_followed(two, tmp_path, mounted):
    directory = tmp_path / "saved"
    directory.mkdir()
    mounted("-t", "tmpfs", "-o", "nosymfollow", "tmpfs", directory)
    two[0].save_pretrained(directory)
    two[1].save_pretrained(directory)
    assert_readers_find(two[1], directory)
    assert {path.name for path in directory.iterdir()} == set(NAMES)
