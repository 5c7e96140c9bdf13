"""What is on the disk at each moment of a save, so that a power failure leaves the old files or the
new ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.files.saving import two_tokenizers, with_links, without_links
from trietok import FileError
from trietok.files.atomic import save_files
from trietok.files.formats import JOURNAL, write_text


@pytest.fixture
def log(monkeypatch):
    """Every flush, rename and removal in the directory `saved`, in order: `flush staging/new`,
    `vocab.txt <- link`.
    """
    steps: list[str] = []
    fsync, replace, unlink = os.fsync, os.replace, Path.unlink

    def named(path) -> str:
        parts = Path(path).parts
        parts = parts[parts.index("saved") + 1 :]
        return (
            "/".join("staging" if part.startswith(".trietok-save-") else part for part in parts)
            or "."
        )

    def logged_fsync(handle):
        path = os.readlink(f"/proc/self/fd/{handle}")
        if "/saved" in path:
            steps.append(f"flush {named(path)}")
        fsync(handle)

    def logged_replace(source, target):
        replace(source, target)
        if "/saved" in str(target):
            steps.append(f"{named(target)} <- {named(source)}")

    def logged_unlink(path, missing_ok=False):
        unlink(path, missing_ok)
        if path.parent.name == "saved":
            steps.append(f"{path.name} goes")

    monkeypatch.setattr(os, "fsync", logged_fsync)
    monkeypatch.setattr(os, "replace", logged_replace)
    monkeypatch.setattr(Path, "unlink", logged_unlink)
    return steps


FILES = ("added_tokens.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")
linux = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="file names of handles are Linux's"
)


@linux
@pytest.mark.parametrize("way", [with_links, without_links])
def test_everything_is_flushed_before_the_step_that_needs_it(
    small, tmp_path, monkeypatch, log, way
):
    way(monkeypatch)
    old, new = two_tokenizers(small)
    old.save_pretrained(tmp_path / "saved")
    log.clear()
    new.save_pretrained(tmp_path / "saved")
    first = next(
        i for i, step in enumerate(log) if " <- " in step and not step.startswith("staging/")
    )
    prepared, rest = log[:first], log[first:]
    # The new files first, then the names in the folders; where there is a journal, it is written to
    # the folder at last.
    folders = ["flush staging/new", "flush staging/old", "flush staging", "flush ."]
    flushed = max(i for i, step in enumerate(prepared) if step == "flush staging/old")
    assert prepared[flushed - 1 : flushed + 3] == folders
    for name in FILES:
        assert f"flush staging/new/{name}" in prepared[: flushed - 1]
    assert all(
        "temporary-" in step or step in folders or step.startswith("staging/")
        for step in prepared[flushed + 3 :]
    )
    if way is with_links:
        assert rest == [
            *(f"{name} <- staging/link" for name in FILES),
            "flush .",
            "staging/current <- staging/link",
            "flush staging",
            *(f"{name} <- staging/new/{name}" for name in FILES),
            "flush .",
        ]
    else:
        assert rest == [
            f"{JOURNAL} <- staging/{JOURNAL}",
            "flush .",
            *(f"{name} <- staging/new/{name}" for name in FILES),
            "flush .",
            f"staging/{JOURNAL} <- {JOURNAL}",
            "flush .",
        ]


@linux
def test_what_is_read_back_otherwise_than_written_is_an_error(small, tmp_path, monkeypatch):
    """As on a disk that takes everything and keeps nothing."""
    old, new = two_tokenizers(small)
    directory = tmp_path / "saved"
    old.save_pretrained(directory)
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    fsync = os.fsync

    def lose(handle):
        fsync(handle)
        if os.path.isfile(path := os.readlink(f"/proc/self/fd/{handle}")):
            os.truncate(path, 0)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lose)
        with pytest.raises(
            FileError, match=r"cannot write .*vocab\.txt: what was written reads back differently"
        ):
            new.save_pretrained(directory)
        (tmp_path / "a.txt").write_text("old")
        with pytest.raises(
            FileError, match=r"cannot write .*a\.txt: what was written reads back differently"
        ):
            write_text(tmp_path / "a.txt", "new")
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before
    assert (tmp_path / "a.txt").read_text() == "old"


@linux
def test_files_that_are_written_by_other_means_are_flushed_too(tmp_path, log):
    save_files(tmp_path / "saved", lambda folder: (folder / "a.txt").write_text("new"))
    assert log.index("flush staging/new/a.txt") < log.index("a.txt <- staging/link")
