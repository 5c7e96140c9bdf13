"""`encode_files` with several workers, stopped and gone on with."""

from __future__ import annotations

import json

import pytest

from tests.batches.shards import contents, finished, write
from trietok import BertTokenizer, FileError, InputError, encode_files


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, some hundred rows, and the options that cut them into some twenty
    shards.
    """
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(100)])
    return [tmp_path / "[abcd].*"], {"shard_bytes": 400, "workers": 1}


def test_two_workers_give_the_bytes_of_one(english, tmp_path, corpus):
    files, options = corpus
    seen = []
    encode_files(files, tmp_path / "one", english, progress=seen.append, **options)
    encode_files(files, tmp_path / "two", english, **{**options, "workers": 2})
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert [state.shards for state in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].all_bytes - len(seen) <= seen[-1].done_bytes <= seen[-1].all_bytes


class Stop(Exception):
    pass


def stop_after(number):
    def progress(state):
        if state.shards == number:
            raise Stop

    return progress


@pytest.mark.parametrize("number", [1, 7, 15])
def test_what_was_stopped_goes_on(english, tmp_path, corpus, number):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(number), **options)
    before = {path.stat().st_ino for path in finished(out)}
    assert len(before) == number
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == contents(tmp_path / "unbroken")
    assert before <= {path.stat().st_ino for path in out.glob("part-*")}  # not made again
    encode_files(files, out, english, resume=True, **options)  # nothing is left to do
    assert contents(out) == contents(tmp_path / "unbroken")


def test_resume_may_begin_a_run(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    encode_files(files, tmp_path / "out", english, resume=True, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")


def test_a_finished_shard_that_is_gone_is_made_again(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "unbroken", english, **options)
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(5), **options)
    finished(out)[2].unlink()
    finished(out)[2].write_bytes(b"")
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_another_run_is_not_gone_on_with(english, tmp_path, corpus, vocab_file):
    files, options = corpus
    out = tmp_path / "out"
    with pytest.raises(Stop):
        encode_files(files, out, english, progress=stop_after(3), **options)
    before = contents(out)
    for tokenizer, more in [
        (BertTokenizer(vocab_file("a")), {}),
        (english, {"shard_bytes": 501}),
        (english, {"add_special_tokens": False}),
        (english, {"return_attention_mask": True}),
    ]:
        with pytest.raises(InputError, match="was made with"):
            encode_files(files, out, tokenizer, resume=True, **{**options, **more})
    with pytest.raises(InputError, match="--resume"):
        encode_files(files, out, english, **options)
    assert contents(out) == before


def test_a_run_that_has_finished_nothing_may_become_another(english, tmp_path, corpus):
    files, options = corpus
    write(tmp_path / "0.txt", ["fine", "fine"])
    (tmp_path / "0.txt").write_bytes(b"\xff\n")
    with pytest.raises(FileError):
        encode_files([tmp_path / "0.txt", *files], tmp_path / "out", english, **options)
    encode_files(files, tmp_path / "out", english, max_length=8, truncation=True, **options)
    encode_files(files, tmp_path / "other", english, max_length=8, truncation=True, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "other")


def test_files_of_a_finished_run_that_are_gone_are_made_again(english, tmp_path, corpus):
    files, options = corpus
    write(tmp_path / "d.txt", ["the"] * 60)
    with (tmp_path / "d.txt").open("ab") as file:
        file.write(b"\xff\n")
    options = {**options, "on_error": "skip"}
    encode_files(files, tmp_path / "unbroken", english, **options)
    expected = contents(tmp_path / "unbroken")
    out = tmp_path / "out"
    for gone in (
        ["part-00002.parquet"],
        ["part-00000.parquet", "rejects.jsonl"],
        ["rejects.jsonl"],
    ):
        encode_files(files, out, english, resume=True, **options)
        for name in gone:
            (out / name).unlink()
        with pytest.raises(InputError):
            encode_files(files, out, english, resume=True, max_length=8, **options)
        encode_files(files, out, english, resume=True, **options)
        assert contents(out) == expected
    (out / "part-00001.parquet").write_bytes(b"short")
    (out / "part-00007.parquet").unlink()
    with pytest.raises(Stop):  # stopped while it is mended, and mended
        encode_files(files, out, english, resume=True, progress=stop_after(5), **options)
    encode_files(files, out, english, resume=True, **options)
    assert contents(out) == expected


def test_files_of_another_run_are_never_among_those_of_this_one(english, tmp_path, corpus):
    files, options = corpus
    out = tmp_path / "out"
    encode_files(files, out, english, **options)
    (out / "manifest.json").unlink()
    (out / ".trietok-encode").mkdir()
    before = contents(out)
    for more in ({"shard_bytes": 10**6}, {"resume": True}):
        with pytest.raises(InputError, match=r"part-00000\.parquet"):
            encode_files(files, out, english, **{**options, **more})
    assert contents(out) == before


def test_one_run_at_a_time(english, tmp_path, corpus):
    files, options = corpus

    def meanwhile(state):
        with pytest.raises(InputError):
            encode_files(files, tmp_path / "out", english, resume=True, **options)
        raise Stop

    with pytest.raises(Stop):
        encode_files(files, tmp_path / "out", english, progress=meanwhile, **options)


def test_a_directory_of_something_else(english, tmp_path, corpus):
    files, options = corpus
    with pytest.raises(InputError):
        encode_files(files, tmp_path, english, resume=True, **options)
    with pytest.raises(InputError):
        encode_files(files, tmp_path / "a.txt", english, **options)


def test_a_file_that_changes_meanwhile(english, tmp_path, corpus):
    files, options = corpus

    def change(state):
        if state.shards == 3:
            write(tmp_path / "a.txt", ["other"])

    with pytest.raises(FileError, match=r"a\.txt has changed .*--resume continues"):
        encode_files(files, tmp_path / "out", english, progress=change, **options)
    encode_files(files, tmp_path / "out", english, resume=True, **options)
    encode_files(files, tmp_path / "unbroken", english, **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "unbroken")


def test_a_run_of_another_version_is_refused_and_left_as_it_is(english, tmp_path):
    path, out = write(tmp_path / "a.txt"), tmp_path / "out"
    encode_files(path, out, english, workers=1)
    for form in ("trietok-corpus-1", "trietok-corpus-99"):
        (out / "manifest.json").write_text(json.dumps({"format": form}))
        before = contents(out)
        with pytest.raises(InputError, match=form):
            encode_files(path, out, english, workers=1, resume=True)
        assert contents(out) == before
