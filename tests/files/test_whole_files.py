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
    with pytest.raises(FileError):
        write_text(path, "new")
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.txt"])


def test_a_path_may_be_a_name_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with replacing("a.txt") as file:
        file.write(b"new")
    assert (tmp_path / "a.txt").read_bytes() == b"new"


def test_a_text_that_utf8_cannot_keep_writes_nothing(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_text(tmp_path / "a.txt", "\ud800")
    assert names(tmp_path) == []
