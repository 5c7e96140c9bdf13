"""`count_words` by the map of an engine: the counts of one machine, however the files are
divided.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
from multiprocessing.pool import ThreadPool

import pytest

from trietok import (
    FileFormatError,
    InputError,
    TextFiles,
    TrietokError,
    count_words,
    train_wordpiece,
)
from trietok.corpus.engines import map_on


@pytest.fixture(autouse=True)
def small_jobs(monkeypatch):
    monkeypatch.setattr("trietok.training.word_counts._JOB_BYTES", 200)


@pytest.fixture
def files(tmp_path):
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for number in range(7):
        lines = [
            " ".join("".join(rng.choices("abcé中", k=rng.randrange(1, 5))) for _ in range(9))
            for _ in range(20)
        ]
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
    done, total = (
        [state.done for state in seen],
        sum(path.stat().st_size for path in files.iterdir()),
    )
    assert (sorted(done), done[-1], {(state.total, state.unit) for state in seen}) == (
        done,
        total,
        {(total, "bytes")},
    )
    assert len(seen) > 7  # the files are larger than a job
    assert train_wordpiece(counted, vocab_size=50) == train_wordpiece(texts, vocab_size=50)


def test_a_bound_on_words_holds_on_workers_and_here(files):
    whole = count_words(TextFiles(sorted(files.iterdir())))
    most = []

    def watched(count, jobs):
        for job in jobs:
            counted = count(job)
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
    with pytest.raises(
        TrietokError, match="without the counts of 2 jobs; it has to give back what"
    ):
        count_words(texts, map_files=lambda count, jobs: list(map(count, jobs))[2:])
    with pytest.raises(TrietokError, match="map_files has given NoneType for no job"):
        count_words(texts, map_files=lambda count, jobs: [None])
    with pytest.raises(TrietokError, match=r"map_files has given CountedJob for no job .* once"):
        count_words(texts, map_files=lambda count, jobs: [count(next(jobs))] * 2)
    with pytest.raises(InputError, match="cannot read standard input; write it to a file"):
        count_words(TextFiles("-", standard_input=io.BytesIO(b"low")), map_files=map)
    with pytest.raises(InputError, match="leave workers out"):
        count_words(texts, map_files=map, workers=2)
    with pytest.raises(InputError, match="TextFiles"):
        count_words(["a b"], map_files=map)
    (files / "z.txt").write_bytes(b"caf\xe9")
    with pytest.raises(FileFormatError, match=r"z.txt, line 1: byte 0xe9"):
        count_words(TextFiles(sorted(files.iterdir())), map_files=map)


def test_a_line_is_counted_where_it_begins(tmp_path):
    """Whatever a part of a file ends within: a character, a line end, a line that is longer than
    several parts.
    """
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    ends = ["\n", "\r\n", "\n\n", "\n"]
    lines = [
        "中é " * rng.choice([0, 1, 9, 400]) + f"word{number}" + rng.choice(ends)
        for number in range(60)
    ]
    (tmp_path / "a.txt").write_text("".join(lines).rstrip("\n"), encoding="utf-8", newline="")
    objects = [json.dumps({"meta": {"text": line}}, ensure_ascii=False) + "\n" for line in lines]
    (tmp_path / "b.jsonl").write_text("".join([*objects, "\n"]), encoding="utf-8", newline="")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(b"packed words\n" * 90))
    (tmp_path / "d.md").write_text("a b\n" * 90)
    (tmp_path / "e.txt").write_bytes(b"")
    for names in ("*.jsonl", "[!b]*"):
        texts = TextFiles(tmp_path / names, column="meta.text")
        counted, expected = count_words(texts, map_files=pickled), count_words(texts)
        assert (counted, counted.texts) == (expected, expected.texts)


def test_an_error_names_the_line_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a word\n" * 200 + b"caf\xe9\n" + b"b\n" * 90)
    with pytest.raises(
        FileFormatError, match=r"a.txt, line 201: byte 0xe9 at offset 1403 of the file"
    ) as raised:
        count_words(TextFiles(tmp_path / "a.txt"), map_files=map)
    assert raised.value.line_number == 201


@pytest.mark.engines
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_on_an_engine(engine, files):
    pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine])
    texts = TextFiles(sorted(files.iterdir()))
    counted = count_words(texts, map_files=map_on(engine, {"spark": "local[2]"}.get(engine)))
    assert counted == count_words(texts)
    assert train_wordpiece(counted, vocab_size=50) == train_wordpiece(texts, vocab_size=50)
    (files / "z.txt").write_bytes(b"caf\xe9")
    with pytest.raises(FileFormatError, match=r"z.txt, line 1: byte 0xe9"):
        count_words(
            TextFiles(sorted(files.iterdir())),
            map_files=map_on(engine, {"spark": "local[2]"}.get(engine)),
        )
