"""Replacing one file: whole, or not at all, with nothing left behind."""

from __future__ import annotations

import errno
import os

import pytest

from trietok import FileError
from trietok.disk import replacing
from trietok.files.formats import write_text


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_fails_while_it_is_written_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half():
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write_half()
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.txt"])


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_fails_at_the_end_leaves_the_old_file(tmp_path, monkeypatch, step):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(FileError, match=r"cannot write .*a\.txt: No space left on device"):
        write_text(path, "new")
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_a_full_disk_is_told_with_the_name_of_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left") as caught, replacing(tmp_path / "a.txt"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert os.path.dirname(caught.value.filename) == str(tmp_path)


def test_a_path_may_be_a_name_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with replacing("a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_text_that_utf8_cannot_keep_writes_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "\ud800")
    assert names(tmp_path) == []


def test_what_a_killed_process_left_of_the_same_file_goes(tmp_path):
    running = os.getppid()
    for name in (
        "999999999-a.txt",
        "999999999-b.txt",
        f"{running}-a.txt",
        "9-9-a.txt",
        "999999999999-a.txt",
    ):
        (tmp_path / f".temporary-{name}").write_text("half")
    with replacing(tmp_path / "a.txt") as file:
        file.write(b"whole")
    others = ("9-9-a.txt", "999999999-b.txt", "999999999999-a.txt", f"{running}-a.txt")
    assert set(names(tmp_path)) == {"a.txt", *(f".temporary-{name}" for name in others)}


def test_an_unfinished_file_is_hidden(tmp_path):
    with replacing(tmp_path / "a.txt"):
        assert [name[0] for name in names(tmp_path)] == ["."]
