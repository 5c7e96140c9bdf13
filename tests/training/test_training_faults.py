"""Training at its edges: long words, tokens that no file can keep, wrong arguments."""

from __future__ import annotations

import copy
import os
import pathlib
import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trietok import (
    Bpe,
    FileError,
    FileFormatError,
    InputTypeError,
    Vocabulary,
    VocabularyError,
    count_words,
    save_tokenizer,
    train_bpe,
    train_chinese_bpe,
    train_wordpiece,
)
from trietok.files.staging import Staging
from trietok.text.kernel.choosing import using_kernel
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
    with pytest.raises(
        VocabularyError, match=r"token '.*\\ud(800|fff).*' holds half of a surrogate pair"
    ) as caught:
        save(tmp_path / "out")
    assert caught.value.token is not None
    assert not (tmp_path / "out").exists()


def test_a_special_token_has_to_be_in_the_vocabulary():
    with pytest.raises(
        VocabularyError, match="special token 'zz' is not in the vocabulary"
    ) as caught:
        Bpe({"a": 0}, [], special_tokens=["a", "zz"])
    assert caught.value.token == "zz"


@pytest.mark.parametrize("prefix", ["@@", ""])
def test_a_vocabulary_with_another_prefix_is_no_tokenizer(tmp_path, prefix):
    counts = {"low": 5, "lower": 3}
    vocabulary = train_wordpiece(counts, vocab_size=30, continuing_subword_prefix=prefix)
    for again in (vocabulary, pickle.loads(pickle.dumps(vocabulary)), copy.deepcopy(vocabulary)):
        with pytest.raises(
            VocabularyError, match=f"continuing_subword_prefix='{prefix}'.*'##' only"
        ):
            save_tokenizer(again, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fine = train_wordpiece(counts, vocab_size=30)
    assert fine == Vocabulary(fine.tokens)
    assert save_tokenizer(fine, tmp_path / "out").tokenize("lowo") == ["low", "##o"]


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe, train_chinese_bpe, count_words])
@pytest.mark.parametrize("texts", ["天天", b"ab", None, 3, pathlib.Path("a.txt")])
def test_what_is_no_iterable_of_texts_is_refused(train, texts):
    with pytest.raises(
        InputTypeError, match=f"not one {type(texts).__name__}: .* TextFiles\\(path\\)"
    ) as caught:
        train(texts)
    assert caught.value.value is texts


@pytest.mark.parametrize(
    "word",
    ["".join(random.Random(7).choices("abcdefgh", k=8000)), "a" * 8000],
    ids=["letters", "repeats"],
)
@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
def test_a_merge_scans_a_long_word_once(monkeypatch, train, word):
    from trietok.training import merging as pairs

    monkeypatch.setattr(pairs, "LONG_FROM", 1_000_000)
    steps, merges = 0, 0
    original = pairs.Pairs._merged

    def counted(self, pair, merged, positions):
        nonlocal steps, merges
        merges += 1
        steps += sum(len(self.words[position]) for position in positions)
        return original(self, pair, merged, positions)

    monkeypatch.setattr(pairs.Pairs, "_merged", counted)
    with using_kernel("plain"):  # the compiled one does not call what is counted here
        train({word: 1, "ab": 1}, vocab_size=400)
    assert merges > 5
    assert steps <= merges * (len(word) + 2)


def test_all_merges_of_a_very_long_word_take_linear_steps(monkeypatch):
    from trietok.training.pairs import LongWord

    visits, merges = 0, 0
    original = LongWord.merge

    def counted(self, pair, merged):
        nonlocal visits, merges
        merges += 1
        visits += len(self._places.get(pair, ()))
        yield from original(self, pair, merged)

    monkeypatch.setattr(LongWord, "merge", counted)
    word = "".join(random.Random(3).choices("abcdefgh", k=20_000))
    bpe = train_bpe({word: 1}, vocab_size=3_000)
    assert merges == len(bpe.merges) > 2_900
    assert visits <= 4 * len(word)  # each merge makes the word shorter by one, and notes two places


@given(
    st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=6, unique=True),
    st.integers(0, 8),
)
def test_a_long_word_is_merged_as_a_short_one(words, limit):
    from trietok.training import merging as pairs

    counts = {word: number + 1 for number, word in enumerate(words)}
    expected = train_bpe(counts, vocab_size=40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "LONG_FROM", limit)
        trained = train_bpe(counts, vocab_size=40)
    assert (trained.vocab, trained.merges) == (expected.vocab, expected.merges)


# ---- loading a byte-pair encoding ----------------------------------------------------------------

ATTRIBUTES = (
    "vocab",
    "merges",
    "unk_token",
    "continuing_subword_prefix",
    "end_of_word_suffix",
    "special_tokens",
)
LOWEST = {"lowest": 4, "lower": 3, "newest": 2}


@pytest.fixture
def saved(tmp_path):
    train_bpe(LOWEST, vocab_size=14, unk_token="<unk>").save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("do_lower_case", [None, True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unk_token": "[U]", "special_tokens": ["<s>", "</s>"]},
        {"end_of_word_suffix": "</w>"},
        {"continuing_subword_prefix": "##", "special_tokens": ["low"]},
    ],
)
def test_what_was_saved_is_loaded(tmp_path, options, do_lower_case):
    bpe = train_bpe(LOWEST, vocab_size=40, **options)
    bpe.save(tmp_path, do_lower_case=do_lower_case)
    again = Bpe.from_directory(str(tmp_path))
    for name in ATTRIBUTES:
        assert getattr(again, name) == getattr(bpe, name), name
    assert again.encode("slowest") == bpe.encode("slowest")


@pytest.mark.parametrize("has_links", [True, False])
def test_a_save_that_is_stopped_is_loaded_whole(saved, monkeypatch, has_links):
    if not has_links:
        monkeypatch.setattr(Staging, "can_point", lambda staging: False)
    before = Bpe.from_directory(saved).vocab
    original = os.replace

    def interrupted(source, target):
        if pathlib.Path(target) == saved / "merges.txt":
            raise KeyboardInterrupt
        original(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_bpe({"abab": 3}).save(saved)
    assert Bpe.from_directory(saved).vocab == before


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "tokenizer.json"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(FileError, match=f"has no {name}; ") as caught:
        Bpe.from_directory(saved)
    assert caught.value.path == str(saved / name)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("vocab.json", '"e":1', '"e":"1"', "id of 'e' is '1', not a whole number"),
        ("vocab.json", '"e":1', '"e":-1', "id of 'e' is -1"),
        ("vocab.json", '"e":1', '"E":1', "another vocabulary or other merges"),
        ("merges.txt", "w e\n", "", "another vocabulary or other merges"),
        ("merges.txt", "w e\n", "we\n", r"merges.txt, line \d: 'we' is not two tokens"),
        ("merges.txt", "w e\n", "w e s\n", "'w e s' is not two tokens"),
        ("tokenizer.json", '"type": "BPE"', '"type": "WordPiece"', "holds no byte-pair encoding"),
        (
            "tokenizer.json",
            '"byte_fallback": false',
            '"byte_fallback": true',
            "byte_fallback=True, which Bpe does not",
        ),
        ("tokenizer.json", '"WhitespaceSplit"', '"ByteLevel"', "makes words in another way"),
        ("tokenizer.json", '"unk_token": "<unk>"', '"unk_token": 3', "are strings or null"),
        ("tokenizer.json", '"content": "<unk>"', '"content": 3', "no list 'added_tokens'"),
        ("tokenizer.json", "{", "", "not JSON"),
    ],
)
def test_damaged_files_are_refused(saved, name, old, new, message):
    text = (saved / name).read_text(encoding="utf-8")
    assert old in text
    (saved / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        Bpe.from_directory(saved)
    assert caught.value.path == str(saved / name) or "another vocabulary" in message
