"""Files of stores with URLs, which fsspec reads and writes: their rows are those of local files."""

from __future__ import annotations

import io
import json
import sys
import tempfile

import fsspec
import pyarrow.parquet as pq
import pytest

from tests.batches.text_files import ids_in, ids_of, rows_of, write
from trietok import (
    FileError,
    FileFormatError,
    InputError,
    MissingDependencyError,
    TextFiles,
    encode_files,
)
from trietok.batches import units

NAMES = ["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz", "e.jsonl"]
STORED = [f"memory://texts/{name}" for name in NAMES]
MemoryFileSystem = fsspec.get_filesystem_class("memory")


class FailingFile(io.BytesIO):
    """A file that opens, and fails with an error of the store's own library."""

    def read(self, size=-1):
        raise RuntimeError("the connection is gone")

    readinto = read


class FailingStore(MemoryFileSystem):
    """A store that lists files and refuses to read them. Files that it writes fail in the middle."""

    protocol = "failing"
    store = {}
    fails = True

    @classmethod
    def _strip_protocol(cls, path):
        path = path.removeprefix("failing://").strip("/")
        return f"/{path}" if path else ""

    def open(self, path, mode="rb", **options):
        if self.fails and "r" in mode and path.endswith("late.txt"):
            return FailingFile()
        if self.fails and "r" in mode:
            raise PermissionError(13, "the store says no")
        return super().open(path, mode, **options)

    def cat_file(self, path, start=None, end=None, **options):
        return b"the "

    def put_file(self, lpath, rpath, **options):
        super().put_file(lpath, rpath, **options)
        if self.fails:
            with super().open(rpath, "r+b") as file:
                file.truncate(100)
            raise RuntimeError("the connection is gone")


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Small files have outputs of their own."""
    monkeypatch.setattr(units, "_SMALL_BYTES", 0)


@pytest.fixture
def stored(tmp_path):
    """The same files in the directory `local` and in the memory of this process."""
    fsspec.register_implementation("failing", FailingStore, clobber=True)
    memory = fsspec.filesystem("memory")
    (tmp_path / "local").mkdir()
    for number, name in enumerate(NAMES):
        texts = [f"people {row} of {number} the" for row in range(40)]
        path = write(tmp_path / "local" / name, texts)
        memory.pipe_file(f"/texts/{name}", path.read_bytes())
    yield memory
    memory.store.clear()
    FailingStore.store.clear()


def stored_rows(result):
    """The rows of a run that wrote to a store."""
    rows = []
    for path in result.paths:
        with fsspec.open(path) as file:
            rows += pq.read_table(file).to_pylist()
    return rows


def contents(memory, directory):
    """The files of a directory in a store."""
    return {path: memory.cat_file(path) for path in memory.find(directory)}


# ---- reading -------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [[], ["id"]])
def test_files_of_a_store_have_the_rows_of_local_files(english, tmp_path, stored, keep):
    names = NAMES if not keep else [name for name in NAMES if "txt" not in name]
    urls = [f"memory://texts/{name}" for name in names]
    options = {"workers": 1, "keep_columns": keep}
    local = [tmp_path / "local" / name for name in names]
    expected = rows_of(encode_files(local, tmp_path / "a", english, **options))
    assert rows_of(encode_files(urls, tmp_path / "b", english, **options)) == expected
    if not keep:
        globbed = encode_files("memory://texts/*.*", tmp_path / "c", english, **options)
        assert rows_of(globbed) == expected
    assert ids_of(english, TextFiles(urls)) == [row["input_ids"] for row in expected]


def test_two_names_of_a_file_are_read_once(english, tmp_path, stored):
    names = ["memory://texts/a.txt", "memory:///texts/a.txt", "memory://texts/a*"]
    assert encode_files(names, tmp_path / "ids", english, workers=1).rows == 40


def test_a_damaged_file_of_a_store_fails_until_it_is_repaired(english, tmp_path, stored):
    expected = ids_in(encode_files(STORED, tmp_path / "expected", english, workers=1))
    whole = stored.cat_file("/texts/d.txt.gz")
    stored.pipe_file("/texts/d.txt.gz", b"plain")
    for on_error in ("fail", "skip"):
        options = {"workers": 1, "on_error": on_error}
        with pytest.raises(FileFormatError, match=r"memory://texts/d\.txt\.gz"):
            encode_files(STORED, tmp_path / "ids", english, **options)
    stored.pipe_file("/texts/d.txt.gz", whole)
    result = encode_files(STORED, tmp_path / "ids", english, workers=1)
    assert ids_in(result) == expected
    assert result.kept == 3


def test_a_glob_escapes_brackets_in_a_name(stored):
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
        "memory://texts/b.txt/*.txt",
        "nowhere://a.txt",
    ],
)
def test_an_error_names_a_url_without_files_of_texts(english, tmp_path, stored, name):
    with pytest.raises(FileError) as caught:
        encode_files(name, tmp_path / "ids", english, workers=1)
    assert name in str(caught.value)


def test_an_error_says_how_to_install_fsspec(english, tmp_path, stored, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    for files, output in (("memory://texts/a.txt", tmp_path / "ids"), ("a.txt", "memory://ids")):
        with pytest.raises(MissingDependencyError, match="pip install fsspec"):
            encode_files(files, output, english, workers=1)


def test_errors_of_a_store_are_errors_of_reading(english, tmp_path, stored):
    store = fsspec.filesystem("failing")
    for name, reason in (("b", "the store says no"), ("late", "the connection is gone")):
        store.pipe_file(f"/{name}.txt", b"the\n")
        for on_error in ("fail", "skip"):
            with pytest.raises(FileError, match=reason):
                encode_files(f"failing://{name}.txt", tmp_path, english, on_error=on_error)
        with pytest.raises(FileError, match=reason):
            list(TextFiles(f"failing://{name}.txt"))


# ---- writing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_a_store_has_the_rows_of_a_local_output(english, tmp_path, stored, workers):
    """Workers write to temporary files, which are removed."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(temporary))
        files, options = tmp_path / "local" / "*", {"workers": workers}
        local = encode_files(files, tmp_path / "ids", english, **options)
        result = encode_files(files, "memory://ids/", english, **options)
    assert stored_rows(result) == rows_of(local)
    assert result.paths == tuple(f"memory://ids/{name}.parquet" for name in NAMES)
    assert len(contents(stored, "/ids")) == len(NAMES)
    assert (result.rows, result.tokens, result.longest) == (local.rows, local.tokens, local.longest)
    assert not list(temporary.iterdir())


def test_a_second_run_keeps_the_complete_files_of_a_store(english, stored):
    first = encode_files(STORED, "memory://ids", english, workers=1)
    before = contents(stored, "/ids")
    stored.rm_file("/ids/c.parquet.parquet")
    second = encode_files(STORED, "memory://ids", english, workers=1)
    assert (first.kept, second.kept) == (0, 4)
    assert contents(stored, "/ids") == before
    assert second.paths == first.paths


def test_an_input_of_a_store_that_changed_is_an_error_until_force_replaces_its_file(
    english, stored
):
    encode_files(STORED, "memory://ids", english, workers=1)
    before = contents(stored, "/ids")
    stored.pipe_file("/texts/a.txt", b"of the\n")
    with pytest.raises(InputError, match=r"memory://ids/a\.txt\.parquet .*texts/a\.txt had"):
        encode_files(STORED, "memory://ids", english, workers=1)
    assert contents(stored, "/ids") == before
    result = encode_files(STORED, "memory://ids", english, workers=1, force=True)
    assert (result.kept, result.rows) == (4, 161)
    assert stored_rows(result)[0] == {"input_ids": english("of the").input_ids}
    assert contents(stored, "/ids").keys() == before.keys()


def test_a_store_has_the_list_of_rows_that_were_skipped(english, stored):
    """Until a run has skipped none."""
    files = ["memory://texts/a.txt", "memory://texts/bad.jsonl"]
    stored.pipe_file("/texts/bad.jsonl", b'{"text": null}\n{"text": "the"}\n')
    result = encode_files(files, "memory://ids", english, workers=1, on_error="skip")
    assert result.skipped_lists == ("memory://ids/_bad.jsonl.skipped.jsonl",)
    row = json.loads(stored.cat_file("/ids/_bad.jsonl.skipped.jsonl"))
    assert (row["path"], row["number"]) == ("memory://texts/bad.jsonl", 1)
    kept = encode_files(files, "memory://ids", english, workers=1, on_error="skip")
    assert (kept.kept, kept.skipped, kept.skipped_lists) == (2, 1, result.skipped_lists)
    stored.pipe_file("/texts/bad.jsonl", b'{"text": "of"}\n{"text": "the"}\n')
    result = encode_files(files, "memory://ids", english, workers=1, force=True)
    assert (result.kept, result.skipped, result.skipped_lists) == (1, 0, ())
    assert not [path for path in stored.find("/ids") if "skipped" in path]


def test_an_upload_that_fails_leaves_no_file(english, tmp_path, stored, monkeypatch):
    store = fsspec.filesystem("failing")
    files = tmp_path / "local" / "*"
    with pytest.raises(FileError, match="cannot write failing://ids: the connection is gone"):
        encode_files(files, "failing://ids", english, workers=1)
    assert not store.find("/ids")
    monkeypatch.setattr(FailingStore, "fails", False)
    assert encode_files(files, "failing://ids", english, workers=1).kept == 0
    assert len(store.find("/ids")) == len(NAMES)


def test_a_file_of_a_store_that_another_program_wrote_is_refused(english, tmp_path, stored):
    stored.pipe_file("/ids/b.parquet", (tmp_path / "local" / "c.parquet").read_bytes())
    before = contents(stored, "/ids")
    with pytest.raises(InputError, match=r"memory://ids/b\.parquet"):
        encode_files(STORED, "memory://ids", english, workers=1, force=True)
    assert contents(stored, "/ids") == before
