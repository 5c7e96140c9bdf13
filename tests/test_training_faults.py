"""Training at its edges: long words, tokens that no file can keep, wrong arguments."""

from __future__ import annotations

import copy
import pathlib
import pickle
import random

import pytest

from trietok import (
    Bpe,
    InputTypeError,
    Vocabulary,
    VocabularyError,
    count_words,
    save_tokenizer,
    train_bpe,
    train_chinese_bpe,
    train_wordpiece,
)
from trietok.training import ChineseBpe, save_chinese_bpe

HALF = "a\ud800b"


@pytest.mark.parametrize(
    "save",
    [
        lambda out: train_bpe([HALF], words=str.split).save(out),
        lambda out: train_bpe(["a"], special_tokens=["\udfff"]).save(out),
        lambda out: train_bpe(["a"], end_of_word_suffix="\udfff").save(out),
        lambda out: save_tokenizer(train_wordpiece([HALF], words=str.split), out),
        lambda out: save_chinese_bpe(ChineseBpe({HALF: 1}, [], [], 1), out),
    ],
)
def test_half_of_a_surrogate_pair_cannot_be_saved(tmp_path, save):
    with pytest.raises(VocabularyError, match=r"token '.*\\ud(800|fff).*' holds half of a surrogate pair") as caught:
        save(tmp_path / "out")
    assert caught.value.token is not None
    assert not (tmp_path / "out").exists()


def test_a_special_token_has_to_be_in_the_vocabulary():
    with pytest.raises(VocabularyError, match="special token 'zz' is not in the vocabulary") as caught:
        Bpe({"a": 0}, [], special_tokens=["a", "zz"])
    assert caught.value.token == "zz"


@pytest.mark.parametrize("prefix", ["@@", ""])
def test_a_vocabulary_with_another_prefix_is_no_tokenizer(tmp_path, prefix):
    counts = {"low": 5, "lower": 3}
    vocabulary = train_wordpiece(counts, vocab_size=30, continuing_subword_prefix=prefix)
    for again in (vocabulary, pickle.loads(pickle.dumps(vocabulary)), copy.deepcopy(vocabulary)):
        with pytest.raises(VocabularyError, match=f"continuing_subword_prefix='{prefix}'.*'##' only"):
            save_tokenizer(again, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fine = train_wordpiece(counts, vocab_size=30)
    assert fine == Vocabulary(fine.tokens)
    assert save_tokenizer(fine, tmp_path / "out").tokenize("lowo") == ["low", "##o"]


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe, train_chinese_bpe, count_words])
@pytest.mark.parametrize("texts", ["天天", b"ab", None, 3, pathlib.Path("a.txt")])
def test_what_is_no_iterable_of_texts_is_refused(train, texts):
    with pytest.raises(InputTypeError, match=f"not one {type(texts).__name__}: .* TextFiles\\(path\\)") as caught:
        train(texts)
    assert caught.value.value is texts


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
