"""`encode_files` on files that are damaged, changed, renamed, added or taken away: only their own
shards change.
"""

from __future__ import annotations

import gzip
import os
import shutil

import pytest

from tests.corpus.shards import contents, finished, ids_of, rows_in, write
from trietok import FileError, FileFormatError, InputError, encode_files
from trietok.corpus.encode_shard import ShardEncoder

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
zstandard = pytest.importorskip("zstandard")

NAMES = ["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz", "e.jsonl"]


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, of several shards each."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        write(folder / name, [f"people {row} of {number} the" for row in range(40)])
    return folder


@pytest.fixture
def encoded(monkeypatch):
    """The files of which shards have been encoded, one entry for each in a shard."""
    seen, original = [], ShardEncoder._encode

    def encode(self, key, reads):
        seen.extend(os.path.basename(read.stretch.file.name) for read in reads)
        return original(self, key, reads)

    monkeypatch.setattr(ShardEncoder, "_encode", encode)
    return seen


def run(folder, out, english, **options):
    return encode_files(
        [folder / "*"], out, english, **{"workers": 1, "shard_bytes": 500, **options}
    )


def same_as_unbroken(folder, out, english, tmp_path, **options):
    shutil.rmtree(tmp_path / "unbroken", ignore_errors=True)
    run(folder, tmp_path / "unbroken", english, **options)
    return contents(out) == contents(tmp_path / "unbroken")


# ---- damaged files -------------------------------------------------------------------------------


def cut_off(path):
    path.write_bytes(path.read_bytes()[:-20])


def damaged_pages(path):
    raw = bytearray(path.read_bytes())
    raw[4:200] = bytes(196)
    path.write_bytes(raw)


def gone(path):
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES = [
    ("b.jsonl.zst", cut_off, "is truncated and cannot be decompressed", 2),
    ("d.txt.gz", cut_off, "is truncated and cannot be decompressed", 1),
    ("d.txt.gz", lambda path: path.write_bytes(b"plain"), "is damaged, or no gzip file", 2),
    ("c.parquet", cut_off, "is not a Parquet file", 2),
    ("c.parquet", damaged_pages, "cannot be read: Couldn't deserialize thrift", 1),
    (
        "c.parquet",
        lambda path: pq.write_table(pa.table({"n": [1]}), path),
        "has no column 'text'",
        2,
    ),
    (
        "c.parquet",
        lambda path: pq.write_table(pa.table({"text": [1]}), path),
        "column 'text' holds int64",
        1,
    ),
    ("a.txt", gone, "cannot read", 2),
]


@pytest.mark.parametrize(("name", "damage", "reason", "workers"), DAMAGES)
def test_a_damaged_file_is_set_aside_and_only_that_is_encoded_later(
    english, tmp_path, corpus, encoded, name, damage, reason, workers
):
    whole = (corpus / name).read_bytes()
    damage(corpus / name)
    out = tmp_path / "out"
    manifest = run(corpus, out, english, on_error="skip", workers=workers)
    (aside,) = manifest["set_aside"]
    assert (aside["name"], reason in aside["reason"]) == (str(corpus / name), True)
    others = [each for each in NAMES if each != name]
    assert [os.path.basename(entry["name"]) for entry in manifest["inputs"]] == others
    assert len(rows_in(out)) == 40 * len(others)
    assert same_as_unbroken(corpus, out, english, tmp_path, on_error="skip")
    (corpus / name).unlink()
    (corpus / name).write_bytes(whole)
    encoded.clear()
    assert run(corpus, out, english, resume=True)["set_aside"] == []
    assert set(encoded) == {name}
    assert same_as_unbroken(corpus, out, english, tmp_path)


def test_without_skip_a_damaged_file_ends_the_run_and_says_how_to_go_on(
    english, tmp_path, corpus, encoded
):
    whole = (corpus / "d.txt.gz").read_bytes()
    cut_off(corpus / "d.txt.gz")
    said = (
        r"d\.txt\.gz is truncated .*: .* does\. 8 finished shards stay .* repaired or taken away;"
        r" .*--on-error skip"
    )
    with pytest.raises(FileFormatError, match=said):
        run(corpus, tmp_path / "out", english)
    (corpus / "d.txt.gz").write_bytes(whole)
    encoded.clear()
    run(corpus, tmp_path / "out", english, resume=True)
    assert set(encoded) == {"d.txt.gz", "e.jsonl"}
    assert same_as_unbroken(corpus, tmp_path / "out", english, tmp_path)


def test_where_no_file_can_be_read_there_is_an_error(english, tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(b"plain")
    with pytest.raises(FileFormatError, match="no gzip file"):
        encode_files(tmp_path / "a.txt.gz", tmp_path / "out", english, workers=1, on_error="skip")
    with pytest.raises(FileError, match=r"cannot read .*b\.txt"):
        encode_files(tmp_path / "b.txt", tmp_path / "out", english, workers=1, on_error="skip")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_many_small_files_of_which_one_is_damaged(english, tmp_path, encoded):
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:04}.txt.gz").write_bytes(gzip.compress(b"the people %d\n" % number, 1))
    bad = folder / "0139.txt.gz"
    whole = bad.read_bytes()
    bad.write_bytes(whole[:-9])
    manifest = encode_files(folder / "*", tmp_path / "out", english, workers=2, on_error="skip")
    assert [file["name"] for file in manifest["set_aside"]] == [str(bad)]
    assert manifest["totals"]["rows"] == 199
    bad.write_bytes(whole)
    encoded.clear()
    manifest = encode_files(folder / "*", tmp_path / "out", english, workers=2, resume=True)
    assert encoded == [f"{number:04}.txt.gz" for number in range(200)]  # they share a shard
    assert rows_in(tmp_path / "out") == ids_of(
        english, [f"the people {number}" for number in range(200)]
    )
    assert manifest["set_aside"] == []


# ---- other lists of files ------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [None, 9])
def test_a_list_with_files_added_taken_away_renamed_and_touched(
    english, tmp_path, corpus, encoded, stop
):
    class Stop(Exception):
        pass

    def progress(state):
        if state.shards == stop:
            raise Stop

    out = tmp_path / "out"
    if stop:
        with pytest.raises(Stop):
            run(corpus, out, english, progress=progress)
    else:
        run(corpus, out, english)
    done = len(encoded)
    (corpus / "a.txt").rename(corpus / "z.txt")
    os.utime(corpus / "d.txt.gz", ns=(0, 0))
    (corpus / "e.jsonl").unlink()
    write(corpus / "0.txt", ["new"])
    shutil.copy(corpus / "c.parquet", corpus / "copy.parquet")
    encoded.clear()
    run(corpus, out, english, resume=True)
    others = {"0.txt", "copy.parquet", "d.txt.gz", "z.txt"}
    assert others <= set(encoded)
    if stop is None:
        assert set(encoded) == others
    else:
        assert done == stop
    assert same_as_unbroken(corpus, out, english, tmp_path)


def test_what_is_removed_is_told(english, tmp_path, corpus):
    """Of files that are not listed any more; not of those that changed or cannot be read."""
    seen, options = (
        [],
        {"resume": True, "on_error": "skip", "progress": lambda state: seen.append(state.removed)},
    )
    run(corpus, tmp_path / "out", english, on_error="skip")
    write(corpus / "b.jsonl.zst", ["new"])
    cut_off(corpus / "d.txt.gz")
    number = len(list((tmp_path / "out").glob("part-*")))
    run(corpus, tmp_path / "out", english, **options)
    assert not any(seen)
    (corpus / "e.jsonl").unlink()
    before = len(list((tmp_path / "out").glob("part-*")))
    assert before < number
    run(corpus, tmp_path / "out", english, **options)
    gone = before - len(list((tmp_path / "out").glob("part-*")))
    assert [removed for removed in seen if removed] == [{str(corpus / "e.jsonl"): gone}]


def test_finished_shards_of_an_unfinished_run_that_go_are_told(english, tmp_path, corpus):
    with pytest.raises(ZeroDivisionError):
        run(corpus, tmp_path / "out", english, progress=lambda state: 1 // (2 - state.shards))
    number = len(finished(tmp_path / "out"))
    (corpus / "a.txt").unlink()
    seen = []
    run(corpus, tmp_path / "out", english, resume=True, progress=seen.append)
    assert seen[-1].removed == {str(corpus / "a.txt"): number}


def test_the_same_bytes_read_as_another_kind_are_other_texts(english, tmp_path):
    path = write(tmp_path / "a.jsonl", ["the people"])
    encode_files(path, tmp_path / "out", english, workers=1)
    path.rename(tmp_path / "a.txt")
    encode_files(tmp_path / "a.txt", tmp_path / "out", english, workers=1, resume=True)
    assert rows_in(tmp_path / "out") == ids_of(english, ['{"id": 0, "text": "the people"}'])


def test_files_that_hold_the_same_have_their_rows_each(english, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        write(folder / name, ["the", "people"])
    run(folder, tmp_path / "out", english)
    assert rows_in(tmp_path / "out") == ids_of(english, ["the", "people"] * 3)
    (folder / "a.txt").unlink()
    run(folder, tmp_path / "out", english, resume=True)
    assert same_as_unbroken(folder, tmp_path / "out", english, tmp_path)


# ---- damaged results -----------------------------------------------------------------------------


@pytest.mark.parametrize("is_over", [True, False])
def test_damage_that_leaves_the_size_is_found_by_checksums(
    english, tmp_path, corpus, encoded, is_over
):
    out = tmp_path / "out"
    if is_over:
        run(corpus, out, english)
        shard = out / "part-00007.parquet"
    else:
        with pytest.raises(ZeroDivisionError):
            run(corpus, out, english, progress=lambda state: 1 // (9 - state.shards))
        shard = finished(out)[4]
    raw = bytearray(shard.read_bytes())
    raw[20] ^= 1
    shard.write_bytes(raw)
    encoded.clear()
    run(corpus, out, english, resume=True, verify=True)
    assert not is_over or len(encoded) == 1
    assert same_as_unbroken(corpus, out, english, tmp_path)


def test_a_file_that_was_changed_in_secret_is_found_by_checksums(
    english, tmp_path, corpus, encoded
):
    run(corpus, tmp_path / "out", english)
    status = (corpus / "a.txt").stat()
    (corpus / "a.txt").write_bytes((corpus / "a.txt").read_bytes().replace(b"people", b"peoply"))
    os.utime(corpus / "a.txt", ns=(status.st_atime_ns, status.st_mtime_ns))
    encoded.clear()
    run(corpus, tmp_path / "out", english, resume=True)
    assert not encoded
    run(corpus, tmp_path / "out", english, resume=True, verify=True)
    assert set(encoded) == {"a.txt"}
    with pytest.raises(InputError, match="verify needs resume"):
        run(corpus, tmp_path / "out", english, verify=True)


def test_killed_at_every_renaming_of_the_end(english, tmp_path, corpus, monkeypatch):
    """Shards get other numbers, some are new and some go: after each renaming the next run makes it
    whole.
    """
    small = {"shard_bytes": 2000, "on_error": "skip"}
    (corpus / "b.txt").write_bytes(b"the\n\xff\n")
    run(corpus, tmp_path / "before", english, **small)
    (corpus / "a.txt").rename(corpus / "z.txt")
    (corpus / "d.txt.gz").unlink()
    write(corpus / "0.txt", ["new"])
    run(corpus, tmp_path / "unbroken", english, **small)
    expected, moment = contents(tmp_path / "unbroken"), 0

    class Killed(BaseException):
        pass

    while True:
        moment += 1
        out = tmp_path / str(moment)
        shutil.copytree(tmp_path / "before", out)
        steps = iter(range(moment))

        def replace(*arguments, original=os.replace, steps=steps):
            if next(steps, None) is None:
                raise Killed
            original(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            try:
                run(corpus, out, english, resume=True, **small)
                was_killed = False
            except Killed:
                was_killed = True
        run(corpus, out, english, resume=True, **small)
        assert contents(out) == expected
        if not was_killed:
            break
    assert moment > 12
