"""`count_words` by the map of an engine: the counts of one machine, however the files are divided."""

from __future__ import annotations

import pickle
import random
from multiprocessing.pool import ThreadPool

import pytest

from trietok import FileFormatError, InputError, TextFiles, TrietokError, count_words, train_wordpiece


@pytest.fixture
def files(tmp_path):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for number in range(7):
        lines = [" ".join("".join(rng.choices("abcé中", k=rng.randrange(1, 5))) for _ in range(9)) for _ in range(20)]
        (tmp_path / f"part [{number}].txt").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def pickled(count, paths):
    """The function and what it returns cross to another process and back."""
    return (pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(count))(path))) for path in paths)


def in_threads(count, paths):
    with ThreadPool(3) as pool:
        yield from pool.imap_unordered(count, paths)


@pytest.mark.parametrize("map_files", [map, pickled, in_threads])
def test_the_counts_of_one_machine(files, map_files, monkeypatch):
    texts, seen = TextFiles(sorted(files.iterdir())), []
    expected = count_words(texts)
    monkeypatch.chdir(files)
    counted = count_words(TextFiles("*.txt"), map_files=map_files, progress=seen.append)
    assert counted == expected
    assert (counted.texts, counted.pruned_below) == (140, 0)
    assert [(state.done, state.total, state.unit) for state in seen] == [(done, 7, "files") for done in range(1, 8)]
    assert train_wordpiece(counted, vocab_size=50) == train_wordpiece(texts, vocab_size=50)


def test_a_bound_on_words_holds_on_workers_and_here(files):
    whole = count_words(TextFiles(sorted(files.iterdir())))
    most = []

    def watched(count, paths):
        for path in paths:
            counted = count(path)
            most.append(len(counted.counts))
            yield counted

    counted = count_words(TextFiles(sorted(files.iterdir())), map_files=watched, max_words=100)
    assert max(most) <= 100 >= len(counted)
    assert counted.pruned_below > 0
    assert counted.total + counted.pruned_occurrences == whole.total
    for word, count in whole.items():
        assert count - counted.pruned_below <= counted.get(word, 0) <= count


def test_what_is_no_map_and_what_does_not_fit(files):
    texts = TextFiles(sorted(files.iterdir()))
    with pytest.raises(TrietokError, match="without the counts of 2 files"):
        count_words(texts, map_files=lambda count, paths: list(map(count, paths))[2:])
    with pytest.raises(TrietokError, match="map_files has given NoneType"):
        count_words(texts, map_files=lambda count, paths: [None])
    with pytest.raises(InputError, match="leave workers out"):
        count_words(texts, map_files=map, workers=2)
    with pytest.raises(InputError, match="TextFiles"):
        count_words(["a b"], map_files=map)
    (files / "z.txt").write_bytes(b"caf\xe9")
    with pytest.raises(FileFormatError, match=r"z.txt, line 1: byte 0xe9"):
        count_words(TextFiles(sorted(files.iterdir())), map_files=map)


@pytest.mark.engines
def test_on_ray(files):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000)

    def on_ray(count, paths):
        run = ray.remote(lambda count, path: count(path))
        count = ray.put(count)
        yield from ray.get([run.remote(count, path) for path in paths])

    try:
        texts = TextFiles(sorted(files.iterdir()))
        assert count_words(texts, map_files=on_ray) == count_words(texts)
    finally:
        ray.shutdown()
