"""Training at its edges: long words, tokens that no file can keep, wrong arguments."""

from __future__ import annotations

import random

import pytest

from trietok import train_bpe, train_wordpiece


@pytest.mark.parametrize(
    "word", ["".join(random.Random(7).choices("abcdefgh", k=8000)), "a" * 8000], ids=["letters", "repeats"]
)
@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
def test_a_merge_scans_a_long_word_once(monkeypatch, train, word):
    from trietok.training import merging

    steps, merges = 0, 0
    original = merging._Merging._merge

    def counted(self, left, right, merged, positions):
        nonlocal steps, merges
        merges += 1
        steps += sum(len(self.words[position]) for position in positions)
        original(self, left, right, merged, positions)

    monkeypatch.setattr(merging._Merging, "_merge", counted)
    train({word: 1, "ab": 1}, vocab_size=400)
    assert merges > 5
    assert steps <= merges * (len(word) + 2)
