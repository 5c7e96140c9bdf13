"""Words counted part by part, perhaps on other machines, and merged: the counts of all texts."""

from __future__ import annotations

import pickle
import random

import pytest

from trietok import TextFiles, WordCounts, count_words, train_wordpiece


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
        (tmp_path / f"part {number}.txt").write_text("\n".join(lines), encoding="utf-8")
    return sorted(tmp_path.iterdir())


def merged(files, **options):
    """The counts of each file, which come from another process, merged."""
    counts = WordCounts()
    for path in files:
        texts = pickle.loads(pickle.dumps(TextFiles(path)))
        counts.merge(pickle.loads(pickle.dumps(count_words(texts, **options))))
    return counts


def test_merged_counts_are_those_of_all_texts(files):
    counted, expected = merged(files), count_words(TextFiles(files))
    assert counted == expected
    assert (counted.texts, counted.pruned_below) == (expected.texts, 0) == (140, 0)
    assert train_wordpiece(counted, vocab_size=50) == train_wordpiece(expected, vocab_size=50)


def test_what_parts_have_dropped_is_known_of_the_whole(files):
    whole, counted = count_words(TextFiles(files)), merged(files, max_words=40)
    assert counted.pruned_below > 0
    assert counted.total + counted.pruned_occurrences == whole.total
    for word, count in whole.items():
        assert count - counted.pruned_below <= counted.get(word, 0) <= count
