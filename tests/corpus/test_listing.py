"""A plan is made of a listing: many files in little time and memory, and no byte of them is read
for it.
"""

from __future__ import annotations

import time

import pytest

from tests.corpus.shards import ids_of, manifest_in, rows_in, write
from trietok import FileError, encode_files
from trietok.corpus.shard_plan import key_of, planned
from trietok.corpus.text_inputs import find_inputs

pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")


class Listing(fsspec.get_filesystem_class("memory")):
    """A store that lists files and lets none be read; `number` of them, each with an ETag."""

    protocol = "listing"
    number = 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("listing://"))

    def glob(self, path, detail=False, **options):
        return {
            f"/corpus/{number % 100:02}/{number:07}.txt": {
                "name": f"/corpus/{number % 100:02}/{number:07}.txt",
                "size": 1000 + number % 977 * 1000,
                "ETag": f'"{number:032x}"',
                "type": "file",
            }
            for number in range(self.number)
        }

    def info(self, path, **options):
        raise AssertionError("one file is asked for")

    def _open(self, path, mode="rb", **options):
        raise AssertionError("a file is opened")


def plan_of(number):
    fsspec.register_implementation("listing", Listing, clobber=True)
    Listing.number = number
    files = find_inputs(["listing://corpus/*/*.txt"])
    return files, [
        (key_of(shard), shard) for shard in planned(files, "text", 16_000_000, False, None)
    ]


def test_nothing_is_read_and_shards_have_the_size_asked_for():
    files, shards = plan_of(2000)
    assert len(files) == 2000
    assert [stretch.file for _, shard in shards for stretch in shard] == files
    sizes = [sum(stretch.weight for stretch in shard) for _, shard in shards]
    assert all(8_000_000 <= size <= 16_000_000 for size in sizes[:-1])
    assert len({key for key, _ in shards}) == len(shards)


@pytest.mark.benchmark
def test_a_hundred_thousand_files():
    resource = pytest.importorskip("resource")
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    files, shards = plan_of(100_000)
    taken = time.process_time() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before.ru_maxrss) / 1000
    print(
        f"{len(files):,} files, {len(shards):,} shards: {taken:.1f} s of a core, {grown:.0f} MB"
        " more"
    )
    assert taken < 20
    assert grown < 500


@pytest.mark.parametrize("where", ["front", "middle", "end"])
def test_a_file_more_leaves_most_shards_as_they_are(where):
    """Where a shard ends follows from the names around it."""
    files, shards = plan_of(3000)
    other = files[0]._replace(name="listing://corpus/other.txt", size=900_000)
    more = files.copy()
    more.insert({"front": 0, "middle": 1500, "end": 3000}[where], other)
    again = {key_of(shard) for shard in planned(more, "text", 16_000_000, False, None)}
    assert len({key for key, _ in shards} - again) < 12
    assert len(shards) > 90


def test_lists_that_change_keep_the_other_shards(english, tmp_path):
    """A file that is added, removed, renamed or changed makes its own shard anew, and some behind
    it at most.
    """
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(200):
        write(folder / f"{number:03}.txt", [f"the people of {number}"] * 5)
    options = {"workers": 1, "shard_bytes": 1000, "resume": True}
    number = len(encode_files(folder / "*", tmp_path / "out", english, **options)["shards"])
    assert number > 15
    changes = [
        lambda: write(folder / "100a.txt", ["new"]),
        lambda: (folder / "050.txt").unlink(),
        lambda: write(folder / "070.txt", ["changed"] * 6),
        lambda: (folder / "120.txt").rename(folder / "120z.txt"),
    ]
    for change in changes:
        change()
        seen = []
        encode_files(folder / "*", tmp_path / "out", english, progress=seen.append, **options)
        assert seen[-1].shards - seen[-1].kept < 8
    encode_files(folder / "*", tmp_path / "unbroken", english, workers=1, shard_bytes=1000)
    assert rows_in(tmp_path / "out") == rows_in(tmp_path / "unbroken")
    assert manifest_in(tmp_path / "out") == manifest_in(tmp_path / "unbroken")


def test_a_file_that_changes_in_a_shard_with_others(english, tmp_path, monkeypatch):
    for name in ("a.txt", "b.txt", "c.txt"):
        write(tmp_path / name, [f"the people of {name}"])
    found = find_inputs([tmp_path / "*.txt"])

    def listed(*arguments):
        write(tmp_path / "b.txt", ["it was replaced"])
        return found

    monkeypatch.setattr("trietok.corpus.encode_files.find_inputs", listed)
    with pytest.raises(
        FileError, match=r"b\.txt has changed while it was read\. 0 .*; --resume continues$"
    ):
        encode_files(tmp_path / "*.txt", tmp_path / "fails", english, workers=1)
    manifest = encode_files(
        tmp_path / "*.txt", tmp_path / "out", english, workers=1, on_error="skip"
    )
    assert [file["name"] for file in manifest["set_aside"]] == [str(tmp_path / "b.txt")]
    assert rows_in(tmp_path / "out") == ids_of(
        english, ["the people of a.txt", "the people of c.txt"]
    )
