"""Files with URLs, read by fsspec: their ids are those of local files."""

from __future__ import annotations

import io
import sys

import fsspec
import pytest

from tests.batches.shards import contents, write
from tests.cli.commands import error, out
from trietok import (
    FileError,
    FileFormatError,
    InputError,
    MissingDependencyError,
    TextFiles,
    encode_files,
)

NAMES = ["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz", "e.jsonl"]


class Breaking(io.BytesIO):
    """A file that is opened, and whose reading raises what only its library knows."""

    def read(self, size=-1):
        raise RuntimeError("the connection is gone")


class Broken(fsspec.get_filesystem_class("memory")):
    """A store whose files are found, and which refuses to have them read."""

    protocol = "broken"
    store = {}

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("broken://"))

    def _open(self, path, mode="rb", **options):
        if "r" in mode and path.endswith("late.txt"):
            return Breaking()
        if "r" in mode:
            raise PermissionError(13, "the store says no")
        return super()._open(path, mode, **options)

    def cat_file(self, path, start=None, end=None, **options):
        return b"the "


@pytest.fixture
def stored(tmp_path):
    """The same files here and in the memory of this process."""
    fsspec.register_implementation("broken", Broken, clobber=True)
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    (tmp_path / "here").mkdir()
    for number, name in enumerate(NAMES):
        path = write(
            tmp_path / "here" / name, [f"people {row} of {number} the" for row in range(40)]
        )
        memory.pipe_file(f"/texts/{name}", path.read_bytes())
    yield memory
    memory.store.clear()


def shards(out):
    return {name: content for name, content in contents(out).items() if name.startswith("part-")}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("keep", [[], ["id"]])
def test_the_bytes_are_those_of_files_here(english, tmp_path, stored, workers, keep):
    names = NAMES if not keep else [name for name in NAMES if "txt" not in name]
    options = {"workers": 1, "shard_bytes": 500, "keep_columns": keep}
    encode_files([tmp_path / "here" / name for name in names], tmp_path / "a", english, **options)
    if english.text_encoder.kernel is not None:  # other processes do not see the memory of this one
        options["workers"] = workers
    encode_files([f"memory://texts/{name}" for name in names], tmp_path / "b", english, **options)
    assert shards(tmp_path / "a") == shards(tmp_path / "b")


def test_globs_and_names_of_one_file(english, tmp_path, stored):
    here = tmp_path / "here"
    manifest = encode_files(f"file://{here}/*.*", tmp_path / "a", english, workers=1)
    assert [entry["name"] for entry in manifest["inputs"]] == [
        f"file://{here}/{name}" for name in NAMES
    ]
    manifest = encode_files("memory://texts/[ab].*", tmp_path / "b", english, workers=1)
    assert [entry["name"][-6:] for entry in manifest["inputs"]] == ["/a.txt", "nl.zst"]
    twice = ["memory://texts/a.txt", "memory:///texts/a.txt"]
    with pytest.raises(InputError):
        encode_files(twice, tmp_path / "c", english, workers=1)


def test_going_on_after_a_file_is_repaired(english, tmp_path, stored):
    files, options = "memory://texts/*.*", {"workers": 1, "shard_bytes": 500}
    encode_files(files, tmp_path / "out", english, **options)
    stored.pipe_file("/texts/d.txt.gz", stored.cat_file("/texts/a.txt"))
    with pytest.raises(FileFormatError):
        encode_files(files, tmp_path / "out", english, resume=True, **options)
    stored.pipe_file("/texts/d.txt.gz", (tmp_path / "here" / "d.txt.gz").read_bytes())
    encode_files(files, tmp_path / "out", english, resume=True, **options)
    encode_files(tmp_path / "here" / "*.*", tmp_path / "unbroken", english, **options)
    assert shards(tmp_path / "out") == shards(tmp_path / "unbroken")


class Listing(fsspec.get_filesystem_class("memory")):
    """A store whose lists say other things of a file than an answer about the file alone."""

    protocol = "listing"
    store = {}
    listed, asked = {}, {}

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("listing://"))

    def glob(self, path, **options):
        found = super().glob(path, detail=True)
        return {name: {"type": "file", "size": None} | self.listed for name in found}

    def info(self, path, **options):
        told = super().info(path, **options)
        return {"type": told["type"], "size": told["size"]} | self.asked


@pytest.mark.parametrize(
    ("listed", "asked", "later"),
    [
        ({}, {"Last-Modified": "Mon, 06 May 2024"}, {"Last-Modified": "Tue, 07 May 2024"}),
        ({"size": 11, "mtime": 7}, {"mtime": 7.25}, {"mtime": 8}),
        ({"size": 11, "etag": "0x8DC"}, {"etag": '"0x8DC"'}, {"etag": '"0x8DD"'}),
        ({"size": 11, "ETag": 'W/"a"'}, {"ETag": '"a"'}, {"ETag": '"b"'}),
    ],
    ids=["as a web server", "times in other forms", "an ETag without quotes", "a weak ETag"],
)
def test_a_list_and_an_answer_about_a_file_agree(english, tmp_path, listed, asked, later):
    fsspec.register_implementation("listing", Listing, clobber=True)
    files = fsspec.filesystem("listing")
    files.pipe_file("/a.txt", b"the\npeople\n")
    Listing.listed, Listing.asked = listed, asked
    manifest = encode_files("listing://*.txt", tmp_path / "out", english, workers=1)
    assert manifest["totals"]["rows"] == 2

    def change(state):
        Listing.listed, Listing.asked = listed | later, later

    with pytest.raises(FileError):
        encode_files("listing://*.txt", tmp_path / "more", english, workers=1, progress=change)


def test_a_file_that_changes_meanwhile(english, tmp_path, stored):
    def change(state):
        stored.pipe_file("/texts/a.txt", b"other\n")

    with pytest.raises(FileError):
        encode_files("memory://texts/a.txt", tmp_path / "out", english, workers=1, progress=change)


def test_commands_and_text_files(stored):
    assert list(TextFiles(["memory://texts/a.txt", "memory://texts/e.jsonl"]))[39:41] == [
        "people 39 of 0 the",
        "people 0 of 4 the",
    ]
    assert len(list(TextFiles("memory://texts/[ab].*"))) == 80
    stored.pipe_file("/texts/f[1].txt", b"the\n")
    assert list(TextFiles("memory://texts/f[[]1].txt")) == ["the"]
    stored.rm_file("/texts/f[1].txt")
    for name in NAMES:
        first = out("tokenize", "--file", f"memory://texts/{name}")[0]
        assert first.startswith("people 0 of")
    assert "from 200 texts" in out("suggest", "memory://texts/*.*")[0]
    assert "memory://texts/none.txt" in error("tokenize", "--file", "memory://texts/none.txt")


@pytest.mark.parametrize(
    "name",
    [
        "memory://none.txt",
        "memory://none/*.txt",
        "memory://a[1].txt",
        "simplecache::memory://texts/a.txt",
        "zip://*.txt::a.zip",
        "memory://texts",
        "nowhere://a.txt",
    ],
)
def test_what_cannot_be_read(english, tmp_path, stored, name):
    with pytest.raises(FileError) as caught:
        encode_files(name, tmp_path / "out", english, workers=1)
    assert name in str(caught.value)


def test_without_fsspec(english, tmp_path, stored, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingDependencyError, match="pip install fsspec"):
        encode_files("memory://texts/a.txt", tmp_path / "out", english, workers=1)


def test_errors_of_a_store_are_errors_of_reading(english, tmp_path, stored):
    fsspec.filesystem("broken").pipe_file("/b.txt", b"the\n")
    with pytest.raises(FileError, match="the store says no"):
        encode_files("broken://b.txt", tmp_path / "fails", english, workers=1)
    with pytest.raises(FileError, match="the store says no"):
        list(TextFiles("broken://b.txt"))
    fsspec.filesystem("broken").pipe_file("/late.txt", b"the\n")
    with pytest.raises(FileError, match="the connection is gone"):
        list(TextFiles("broken://late.txt"))
    files = ["broken://b.txt", "memory://texts/a.txt"]
    manifest = encode_files(files, tmp_path / "out", english, workers=1, on_error="skip")
    assert [file["name"] for file in manifest["set_aside"]] == ["broken://b.txt"]
    assert manifest["totals"]["rows"] == 40
