"""Saving on real file systems that misbehave: full, of no size, read-only, with files that cannot
be replaced.

These need root on Linux, and a system that allows mounts.
"""

from __future__ import annotations

import contextlib
import subprocess

import pytest
import transformers

from tests.files.saving import WAYS, read_plainly, run_or_skip, state, two_tokenizers
from trietok import BertTokenizer, FileError, fix

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


@pytest.mark.parametrize("name", NAMES)
def test_an_immutable_file(two, tmp_path, name):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    with immutable(directory / name):
        assert name in refused(two[1], directory, two[0])
    two[1].save_pretrained(directory)
    assert_readers_find(two[1], directory)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_a_mount_point(two, tmp_path, mounted, name):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    (tmp_path / "elsewhere").write_bytes((directory / name).read_bytes())
    mounted("--bind", tmp_path / "elsewhere", directory / name)
    assert name in refused(two[1], directory, two[0])


def test_a_read_only_mount(two, tmp_path, mounted):
    directory = tmp_path / "saved"
    two[0].save_pretrained(directory)
    mounted("--bind", directory, directory)
    run_or_skip("mount", "-o", "remount,bind,ro", str(directory))
    assert "Read-only file system" in refused(two[1], directory, two[0])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kilobytes", range(4, 44, 4))
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
