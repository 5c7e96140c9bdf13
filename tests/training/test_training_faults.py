"""Training at its edges: long words, tokens that no file can keep, wrong arguments."""

from __future__ import annotations

import copy
import pathlib
import pickle

import pytest

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
    with pytest.raises(VocabularyError) as caught:
        save(tmp_path / "out")
    assert caught.value.token is not None
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("prefix", ["@@", ""])
def test_a_vocabulary_with_another_prefix_is_no_tokenizer(tmp_path, prefix):
    counts = {"low": 5, "lower": 3}
    vocabulary = train_wordpiece(counts, vocab_size=30, continuing_subword_prefix=prefix)
    for again in (vocabulary, pickle.loads(pickle.dumps(vocabulary)), copy.deepcopy(vocabulary)):
        with pytest.raises(VocabularyError):
            save_tokenizer(again, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fine = train_wordpiece(counts, vocab_size=30)
    assert fine == Vocabulary(fine.tokens)
    assert save_tokenizer(fine, tmp_path / "out").tokenize("lowo") == ["low", "##o"]


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe, train_chinese_bpe, count_words])
@pytest.mark.parametrize("texts", ["天天", b"ab", None, 3, pathlib.Path("a.txt")])
def test_what_is_no_iterable_of_texts_is_refused(train, texts):
    with pytest.raises(InputTypeError) as caught:
        train(texts)
    assert caught.value.value is texts


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


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "tokenizer.json"])
def test_a_missing_file_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(FileError) as caught:
        Bpe.from_directory(saved)
    assert caught.value.path == str(saved / name)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vocab.json", '"e":1', '"e":"1"'),
        ("vocab.json", '"e":1', '"e":-1'),
        ("merges.txt", "w e\n", "we\n"),
        ("merges.txt", "w e\n", "w e s\n"),
        ("tokenizer.json", '"type": "BPE"', '"type": "WordPiece"'),
        ("tokenizer.json", '"byte_fallback": false', '"byte_fallback": true'),
        ("tokenizer.json", '"WhitespaceSplit"', '"ByteLevel"'),
        ("tokenizer.json", '"unk_token": "<unk>"', '"unk_token": 3'),
        ("tokenizer.json", '"content": "<unk>"', '"content": 3'),
        ("tokenizer.json", "{", ""),
    ],
)
def test_damaged_files_are_refused(saved, name, old, new):
    text = (saved / name).read_text(encoding="utf-8")
    assert old in text
    (saved / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        Bpe.from_directory(saved)
    assert caught.value.path == str(saved / name)


@pytest.mark.parametrize(
    ("name", "old", "new"), [("vocab.json", '"e":1', '"E":1'), ("merges.txt", "w e\n", "")]
)
def test_files_that_do_not_fit_each_other_are_refused(saved, name, old, new):
    text = (saved / name).read_text(encoding="utf-8")
    assert old in text
    (saved / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileFormatError):
        Bpe.from_directory(saved)
