"""`encode_files` on files that are damaged, changed, renamed, added or taken away: only their own
shards change.
"""

from __future__ import annotations

import contextlib
import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.batches.shards import contents, finished, ids_of, rows_in, write
from trietok import FileError, FileFormatError, InputError, encode_files

NAMES = ["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz", "e.jsonl"]


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, of several shards each."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        write(folder / name, [f"people {row} of {number} the" for row in range(40)])
    return folder


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
    ("b.jsonl.zst", cut_off, 2),
    ("d.txt.gz", cut_off, 1),
    ("d.txt.gz", lambda path: path.write_bytes(b"plain"), 2),
    ("c.parquet", cut_off, 2),
    ("c.parquet", damaged_pages, 1),
    ("c.parquet", lambda path: pq.write_table(pa.table({"n": [1]}), path), 2),
    ("c.parquet", lambda path: pq.write_table(pa.table({"text": [1]}), path), 1),
    ("a.txt", gone, 2),
]


@pytest.mark.parametrize(("name", "damage", "workers"), DAMAGES)
def test_a_damaged_file_is_set_aside_and_encoded_once_it_is_repaired(
    english, tmp_path, corpus, name, damage, workers
):
    whole = (corpus / name).read_bytes()
    damage(corpus / name)
    out = tmp_path / "out"
    manifest = run(corpus, out, english, on_error="skip", workers=workers)
    assert [file["name"] for file in manifest["set_aside"]] == [str(corpus / name)]
    assert len(rows_in(out)) == 40 * (len(NAMES) - 1)
    assert same_as_unbroken(corpus, out, english, tmp_path, on_error="skip")
    (corpus / name).unlink()
    (corpus / name).write_bytes(whole)
    assert run(corpus, out, english, resume=True)["set_aside"] == []
    assert same_as_unbroken(corpus, out, english, tmp_path)


def test_without_skip_a_damaged_file_ends_the_run_and_says_how_to_go_on(english, tmp_path, corpus):
    whole = (corpus / "d.txt.gz").read_bytes()
    cut_off(corpus / "d.txt.gz")
    with pytest.raises(FileFormatError, match=r"d\.txt\.gz is .*--on-error skip"):
        run(corpus, tmp_path / "out", english)
    (corpus / "d.txt.gz").write_bytes(whole)
    run(corpus, tmp_path / "out", english, resume=True)
    assert same_as_unbroken(corpus, tmp_path / "out", english, tmp_path)


def test_where_no_file_can_be_read_there_is_an_error(english, tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(b"plain")
    with pytest.raises(FileFormatError):
        encode_files(tmp_path / "a.txt.gz", tmp_path / "out", english, workers=1, on_error="skip")
    with pytest.raises(FileError):
        encode_files(tmp_path / "b.txt", tmp_path / "out", english, workers=1, on_error="skip")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_file_that_changes_before_it_is_read_is_set_aside(english, tmp_path):
    write(tmp_path / "a.txt", ["the people"] * 40)
    for name in ("b.txt", "c.txt", "d.txt"):  # together in one shard
        write(tmp_path / name, [f"the people of {name}"])

    def change(state):
        write(tmp_path / "c.txt", ["it was replaced"])

    manifest = run(tmp_path, tmp_path / "out", english, on_error="skip", progress=change)
    assert [file["name"] for file in manifest["set_aside"]] == [str(tmp_path / "c.txt")]
    assert rows_in(tmp_path / "out")[40:] == ids_of(
        english, ["the people of b.txt", "the people of d.txt"]
    )


# ---- other lists of files ------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [None, 9])
def test_a_list_with_files_added_taken_away_renamed_and_touched(english, tmp_path, corpus, stop):
    class Stop(Exception):
        pass

    def progress(state):
        if state.shards == stop:
            raise Stop

    out = tmp_path / "out"
    with pytest.raises(Stop) if stop else contextlib.nullcontext():
        run(corpus, out, english, progress=progress)
    (corpus / "a.txt").rename(corpus / "z.txt")
    os.utime(corpus / "d.txt.gz", ns=(0, 0))
    (corpus / "e.jsonl").unlink()
    write(corpus / "0.txt", ["new"])
    shutil.copy(corpus / "c.parquet", corpus / "copy.parquet")
    run(corpus, out, english, resume=True)
    assert same_as_unbroken(corpus, out, english, tmp_path)


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
def test_damage_that_leaves_the_size_is_found_by_checksums(english, tmp_path, corpus, is_over):
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
    run(corpus, out, english, resume=True, verify=True)
    assert same_as_unbroken(corpus, out, english, tmp_path)


def test_a_file_that_was_changed_in_secret_is_found_by_checksums(english, tmp_path, corpus):
    out, file = tmp_path / "out", corpus / "a.txt"
    run(corpus, out, english)
    status = file.stat()
    file.write_bytes(file.read_bytes().replace(b"people", b"peoply"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    run(corpus, out, english, resume=True)
    assert not same_as_unbroken(corpus, out, english, tmp_path)
    run(corpus, out, english, resume=True, verify=True)
    assert same_as_unbroken(corpus, out, english, tmp_path)
    with pytest.raises(InputError, match="verify needs resume"):
        run(corpus, out, english, verify=True)


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
    assert moment > 3
