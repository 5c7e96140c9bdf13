"""Files with URLs, read by fsspec: their ids are those of local files."""

from __future__ import annotations

import io
import sys

import fsspec
import pytest

from tests.batches.shards import ids_of, rows_in, table_in, write
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

    readinto = read


class Broken(fsspec.get_filesystem_class("memory")):
    """A store whose files are found, and which refuses to have them read."""

    protocol = "broken"
    store = {}

    @classmethod
    def _strip_protocol(cls, path):
        path = path.removeprefix("broken://").strip("/")
        return f"/{path}" if path else ""

    def open(self, path, mode="rb", **options):
        if "r" in mode and path.endswith("late.txt"):
            return Breaking()
        if "r" in mode:
            raise PermissionError(13, "the store says no")
        return super().open(path, mode, **options)

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
        texts = [f"people {row} of {number} the" for row in range(40)]
        path = write(tmp_path / "here" / name, texts)
        memory.pipe_file(f"/texts/{name}", path.read_bytes())
    yield memory
    memory.store.clear()


@pytest.mark.parametrize("keep", [[], ["id"]])
def test_files_of_a_store_have_the_rows_of_files_here(english, tmp_path, stored, keep):
    names = NAMES if not keep else [name for name in NAMES if "txt" not in name]
    options = {"workers": 1, "shard_bytes": 500, "keep_columns": keep}
    here, there, globbed = (tmp_path / name for name in ("a", "b", "c"))
    encode_files([tmp_path / "here" / name for name in names], here, english, **options)
    encode_files([f"memory://texts/{name}" for name in names], there, english, **options)
    assert table_in(here) == table_in(there)
    if not keep:
        encode_files("memory://texts/*.*", globbed, english, **options)
        assert table_in(globbed) == table_in(here)
    read = TextFiles([f"memory://texts/{name}" for name in names])
    assert ids_of(english, read) == rows_in(here)
    with pytest.raises(InputError):  # one file twice
        encode_files(
            ["memory://texts/a.txt", "memory:///texts/a.txt"], tmp_path / "d", english, workers=1
        )


def test_a_damaged_file_of_a_store_is_set_aside_until_it_is_repaired(english, tmp_path, stored):
    files, options = "memory://texts/*.*", {"workers": 1, "shard_bytes": 500}
    encode_files(files, tmp_path / "out", english, **options)
    expected = table_in(tmp_path / "out")
    stored.pipe_file("/texts/d.txt.gz", b"plain")
    with pytest.raises(FileFormatError):
        encode_files(files, tmp_path / "out", english, resume=True, **options)
    skip = {"on_error": "skip", **options}
    manifest = encode_files(files, tmp_path / "out", english, resume=True, **skip)
    assert [entry["name"][-12:] for entry in manifest["set_aside"]] == ["xts/d.txt.gz"]
    assert manifest["totals"]["rows"] == 160
    stored.pipe_file("/texts/d.txt.gz", (tmp_path / "here" / "d.txt.gz").read_bytes())
    encode_files(files, tmp_path / "out", english, resume=True, **options)
    assert table_in(tmp_path / "out") == expected


def test_a_name_with_brackets_is_found_by_its_escaped_glob(stored):
    stored.pipe_file("/texts/f[1].txt", b"the\n")
    assert list(TextFiles("memory://texts/f[[]1].txt")) == ["the"]


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
def test_a_url_without_files_of_texts_is_named(english, tmp_path, stored, name):
    with pytest.raises(FileError) as caught:
        encode_files(name, tmp_path / "out", english, workers=1)
    assert name in str(caught.value)


def test_a_missing_fsspec_is_named(english, tmp_path, stored, monkeypatch):
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
