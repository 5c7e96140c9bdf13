"""`encode_files` by the map of an engine: the bytes of one machine, killed and gone on with too."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from multiprocessing.pool import ThreadPool

import pytest

from tests.corpus.shards import contents, finished, write
from trietok import FileError, InputError, TrietokError, encode_files

pytest.importorskip("pyarrow")


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, some hundred rows, and the options that cut them into some twenty
    shards.
    """
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(100)])
    return [tmp_path / "[abcd].*"], {"shard_bytes": 350, "truncation": True, "max_length": 6}


def pickled(encode, shards):
    """A map whose function and values go through pickles, as those of engines, in another order."""
    again = pickle.dumps(encode)
    for shard in reversed(list(shards)):
        yield pickle.loads(pickle.dumps(pickle.loads(again)(pickle.loads(pickle.dumps(shard)))))


def in_threads(encode, shards):
    with ThreadPool(3) as pool:
        yield from pool.imap_unordered(encode, shards)


def in_processes(encode, shards):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        yield from pool.imap_unordered(encode, shards)


@pytest.mark.parametrize(
    "map_shards", [map, pickled, in_threads, in_processes], ids=lambda function: function.__name__
)
def test_the_bytes_of_one_machine(english, tmp_path, corpus, map_shards):
    files, options = corpus
    seen = []
    encode_files(files, tmp_path / "one", english, workers=1, **options)
    encode_files(
        files, tmp_path / "many", english, map_shards=map_shards, progress=seen.append, **options
    )
    assert contents(tmp_path / "one") == contents(tmp_path / "many")
    assert [state.shards for state in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > 20


def test_a_driver_that_dies_goes_on_with_what_its_workers_have_finished(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "one", english, workers=1, **options)

    def dies(encode, shards):
        """The workers have written seven shards of which the driver has heard nothing."""
        for _ in range(7):
            encode(next(shards))
        raise KeyboardInterrupt

    out = tmp_path / "many"
    with pytest.raises(KeyboardInterrupt):
        encode_files(files, out, english, map_shards=dies, **options)
    before = {path.stat().st_ino for path in finished(out)}
    assert len(before) == 7
    seen = []
    encode_files(
        files, out, english, map_shards=pickled, resume=True, progress=seen.append, **options
    )
    assert contents(out) == contents(tmp_path / "one")
    assert seen[-1].kept == 7
    assert before <= {path.stat().st_ino for path in out.iterdir()}


def test_a_run_may_move_between_one_machine_and_many(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "one", english, workers=1, **options)

    def dies(encode, shards):
        yield encode(next(shards))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode_files(files, tmp_path / "many", english, map_shards=dies, **options)
    encode_files(files, tmp_path / "many", english, workers=2, resume=True, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


def test_a_shard_that_is_encoded_twice(english, tmp_path, corpus):
    """As engines do where a machine is slow."""
    files, options = corpus
    encode_files(files, tmp_path / "one", english, workers=1, **options)

    def twice(encode, shards):
        for shard in shards:
            encode(shard)
            yield encode(shard)

    encode_files(files, tmp_path / "many", english, map_shards=twice, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


def test_a_bad_row_ends_the_run_and_names_itself(english, tmp_path, corpus):
    files, options = corpus
    (tmp_path / "c.jsonl").write_text('{"text": 1}\n')
    with pytest.raises(FileError, match=r"c.jsonl, row 1: .*--resume"):
        encode_files(files, tmp_path / "many", english, map_shards=in_threads, **options)
    manifest = encode_files(
        files,
        tmp_path / "many",
        english,
        map_shards=in_threads,
        on_error="skip",
        resume=True,
        **options,
    )
    assert manifest["totals"]["rejected"] == 1


def test_a_map_that_is_none(english, tmp_path, corpus):
    files, options = corpus

    def forgets(encode, shards):
        return list(map(encode, shards))[2:]

    with pytest.raises(TrietokError, match="without the outcome of 2 shards"):
        encode_files(files, tmp_path / "a", english, map_shards=forgets, **options)
    with pytest.raises(TrietokError, match="map_shards has given NoneType"):
        encode_files(
            files, tmp_path / "b", english, map_shards=lambda encode, shards: [None], **options
        )


def test_what_does_not_fit(english, tmp_path, corpus, monkeypatch):
    files, options = corpus
    with pytest.raises(InputError, match="leave workers out"):
        encode_files(files, tmp_path / "a", english, map_shards=map, workers=2, **options)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"a.txt is a path from this directory.*resolve"):
        encode_files("a.txt", tmp_path / "a", english, map_shards=map, **options)


def test_a_worker_with_another_version(english, tmp_path, corpus, monkeypatch):
    files, options = corpus

    def elsewhere(encode, shards):
        with monkeypatch.context() as patch:
            patch.setattr(sys.modules["pyarrow"], "__version__", "1.0")
            yield from map(encode, shards)

    with pytest.raises(
        InputError, match=r"this worker has pyarrow 1.0, and the run began with pyarrow"
    ):
        encode_files(files, tmp_path / "a", english, map_shards=elsewhere, **options)
