"""Training by merges: against a full recount, the alphabet, the files, and mistakes."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import pickle
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import assert_share, examples, often
from tests.training import pair_merging
from trietok import (
    AddedToken,
    AutoTokenizer,
    BertTokenizer,
    Bpe,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    Vocabulary,
    VocabularyError,
    save_tokenizer,
    train_bpe,
    train_chinese_bpe,
    train_wordpiece,
)
from trietok.training import ChineseBpe, save_chinese_bpe

ROOT = pathlib.Path(__file__).parents[2]
SENTENCES = [
    "The lowest lower low.",
    "Newest and widest, newer and wider!",
    "Über Öfen: lower, newer",
] * 3

words = st.dictionaries(
    st.text("abcé中", min_size=1, max_size=9), st.integers(1, 6), min_size=1, max_size=25
)


def trained(counts, **options):
    """The tokens by id and the merges."""
    bpe = train_bpe(counts, **options)
    return list(bpe.vocab), list(bpe.merges)


# ---- the merges ----------------------------------------------------------------------------------


def test_incremental_merges_equal_a_full_recount():
    kinds: Counter[str] = Counter()

    @examples(100)
    @given(words, st.integers(5, 60), st.integers(0, 5), st.sampled_from(["", "##"]))
    def compare(counts, vocab_size, min_frequency, prefix):
        vocab_size = max(vocab_size, len(pair_merging.train(counts, 0, prefix=prefix)[0]))
        options = {"vocab_size": vocab_size, "min_frequency": min_frequency}
        expected = pair_merging.train(counts, vocab_size, min_frequency, prefix)
        bpe = train_bpe(counts, continuing_subword_prefix=prefix or None, **options)
        assert (list(bpe.vocab), list(bpe.merges)) == expected
        for word in counts:
            symbols = [word[0], *(prefix + char for char in word[1:])]
            merged = pair_merging.apply(list(bpe.merges), symbols, prefix)
            assert bpe.tokenize(word) == merged
        if prefix:
            assert train_wordpiece(counts, special_tokens=[], **options).tokens == expected[0]
        kinds["some merges" if len(bpe.merges) > 3 else "few"] += 1

    compare()
    assert_share(kinds["some merges"], kinds.total(), 0.1)


def test_merges_of_long_words_equal_a_full_recount():
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(often(8)):
        letters = rng.choice(["a", "ab", "abc"])
        lengths = [rng.randrange(1_000, 3_000), rng.randrange(1, 30)]
        counts = {
            "".join(rng.choices(letters, k=length)): rng.randrange(1, 4) for length in lengths
        }
        assert trained(counts, vocab_size=40) == pair_merging.train(counts, 40), (seed, counts)


def test_the_most_frequent_pair_is_merged_first_then_the_one_of_the_lowest_ids():
    bpe = train_bpe({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, vocab_size=13)
    # 20 times, 16, 15, 12; then p + ug and hug + s 5 times each, and p has the lower id.
    merges = [("u", "g"), ("u", "n"), ("h", "ug"), ("p", "un"), ("p", "ug"), ("hug", "s")]
    assert list(bpe.merges) == merges
    assert train_bpe({"cd": 2, "ab": 2}, vocab_size=6).merges == (("a", "b"), ("c", "d"))


def test_repeats_are_merged_from_the_left():
    bpe = train_bpe({"aaaaa": 1}, vocab_size=3)
    assert bpe.merges == (("a", "a"), ("aa", "a"))  # aa aa a
    assert bpe.tokenize("aaaa") == ["aa", "aa"]
    assert bpe.tokenize("aaa") == ["aaa"]
    bpe.tokenize("aaa").append("changed by the caller")
    assert bpe.tokenize("aaa") == ["aaa"]


def test_min_frequency_and_max_token_length_limit_the_merges():
    counts = {"abcdefgh": 3, "xy": 2}
    assert train_bpe(counts, min_frequency=3).merges[-1] != ("x", "y")
    assert ("x", "y") in train_bpe(counts, min_frequency=2).merges
    # As in tokenizers: fewer than so many characters, and two are never too many.
    for limit, longest in ((1, 2), (3, 2), (4, 2), (5, 4), (9, 8)):
        assert max(map(len, train_bpe(counts, max_token_length=limit).vocab)) == longest, limit


def test_a_prefix_or_suffix_marks_the_characters_inside_or_at_the_end_of_words():
    bpe = train_bpe({"low": 5, "lower": 2}, vocab_size=11, end_of_word_suffix="</w>")
    assert list(bpe.vocab) == "e l o r w r</w> w</w> lo low</w> er</w> wer</w>".split()
    bpe = train_bpe({"low": 5, "lower": 2}, vocab_size=12, continuing_subword_prefix="@@")
    assert bpe.merges == (("l", "@@o"), ("lo", "@@w"), ("@@e", "@@r"))
    assert bpe.tokenize("lower") == ["low", "@@er"]


def test_the_alphabet_is_sorted_and_limited_by_frequency():
    def alphabet(counts, limit, initial):
        bpe = train_bpe(counts, limit_alphabet=limit, initial_alphabet=initial, min_frequency=10**9)
        return list(bpe.vocab)

    counts = {"hug": 10, "pug": 5, "bun": 4}
    assert alphabet(counts, None, ()) == list("bghnpu")
    assert alphabet(counts, 3, ()) == list("ghu")
    assert alphabet(counts, 4, ["zebra", "z", ""]) == list("ghuz")
    assert alphabet({"ab": 1, "cd": 1}, 3, ()) == list("abc")  # of equally frequent ones the first
    assert alphabet({"ab": 1}, 1, ["y", "x"]) == ["x"]
    vocabulary = train_wordpiece(
        {"axb": 5, "ab": 5, "x": 1}, vocab_size=9, limit_alphabet=2, special_tokens=[]
    )
    assert vocabulary.tokens == ["a", "b", "##b", "ab"]  # the others are left out of their words


def test_special_tokens_come_first_then_characters_then_their_forms():
    vocabulary = train_wordpiece(
        {"ba": 1, "ab": 1}, vocab_size=8, special_tokens=["[UNK]", AddedToken("[X]"), "a"]
    )
    assert vocabulary.tokens == ["[UNK]", "[X]", "a", "b", "##a", "##b", "ab", "ba"]


def test_training_shows_its_phases():
    for train, texts in ((train_wordpiece, SENTENCES), (train_chinese_bpe, ["天天"] * 100)):
        seen = []
        train(texts, vocab_size=80, progress=seen.append)
        phases = list(dict.fromkeys(progress.phase for progress in seen))
        assert phases == ["counting words", "counting pairs", "merging"]
        assert seen[-1].done == seen[-1].total or train is train_chinese_bpe


# ---- the same result -----------------------------------------------------------------------------


@given(st.permutations(SENTENCES))
def test_the_order_of_texts_does_not_matter(texts):
    assert train_wordpiece(texts, vocab_size=60) == train_wordpiece(SENTENCES, vocab_size=60)
    assert trained(texts, vocab_size=60) == trained(SENTENCES, vocab_size=60)


def test_files_are_the_same_byte_for_byte_with_any_hash_seed_order_or_processes(tmp_path):
    for name, lines in (
        ("a.txt", SENTENCES[:5]),
        ("b.txt", SENTENCES[5:]),
        ("c.txt", ["東京 and 東京"]),
    ):
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    train_both = """
import sys, trietok
processes, *files = sys.argv[1:]
if __name__ == "__main__":
    counts = trietok.count_words(trietok.TextFiles(files), workers=int(processes))
    trietok.save_tokenizer(trietok.train_wordpiece(counts, vocab_size=90), "wordpiece")
    trietok.train_bpe(counts, vocab_size=90).save("bpe")
"""
    results = set()
    for seed, processes, names in (("0", "1", "abc"), ("1", "1", "cab"), ("2", "2", "bca")):
        folder = tmp_path / seed
        folder.mkdir()
        (folder / "script.py").write_text(train_both)
        files = [str(tmp_path / f"{name}.txt") for name in names]
        command = [sys.executable, "script.py", processes, *files]
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, env=env, cwd=folder, check=True, capture_output=True)
        for kind in ("wordpiece", "bpe"):
            paths = sorted((folder / kind).iterdir())
            results.add((kind, *((path.name, path.read_bytes()) for path in paths)))
    assert len(results) == 2


# ---- saved and loaded ----------------------------------------------------------------------------


def test_a_trained_wordpiece_vocabulary_becomes_a_tokenizer(tmp_path):
    vocabulary = train_wordpiece(SENTENCES, vocab_size=100, do_lower_case=False)
    tokenizer = save_tokenizer(vocabulary, tmp_path / "out", do_lower_case=False)
    again = BertTokenizer.from_pretrained(tmp_path / "out")
    assert again.get_vocab() == tokenizer.get_vocab() == dict(vocabulary.token_to_id)
    for text in SENTENCES:
        assert again.tokenize(text) == tokenizer.tokenize(text)
        assert again.unk_token not in again.tokenize(text)
        assert "".join(again.tokenize(text)).replace("##", "") == text.replace(" ", "")


LOWEST = {"lowest": 4, "lower": 3, "newest": 2}
ATTRIBUTES = (
    *("vocab", "merges", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"),
    "special_tokens",
)


@pytest.mark.parametrize("do_lower_case", [None, True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"unk_token": "[U]", "special_tokens": ["<s>", "</s>"]},
        {"end_of_word_suffix": "</w>"},
        {"continuing_subword_prefix": "##", "special_tokens": ["low"]},
    ],
    ids=str,
)
def test_a_saved_bpe_is_three_files_that_agree_and_is_loaded(tmp_path, options, do_lower_case):
    bpe = train_bpe(LOWEST, vocab_size=40, **options)
    bpe.save(tmp_path, do_lower_case=do_lower_case)
    vocab = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    model = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    assert vocab == model["vocab"] == bpe.vocab
    assert list(vocab.values()) == list(range(len(vocab)))
    assert [tuple(line.split(" ")) for line in lines] == list(bpe.merges)
    assert [tuple(pair) for pair in model["merges"]] == list(bpe.merges)
    again = Bpe.from_directory(str(tmp_path))
    for name in ATTRIBUTES:
        assert getattr(again, name) == getattr(bpe, name), name
    assert again.encode("slowest") == bpe.encode("slowest")


RUN = 131_073  # letters
LONGEST = 100_000  # bytes of a token in a file


@pytest.mark.faults
def test_one_run_of_letters_makes_a_vocabulary_that_loads(tmp_path):
    vocabulary = train_wordpiece(["a" * RUN], vocab_size=100)
    tokenizer = save_tokenizer(vocabulary, tmp_path / "wordpiece")
    assert BertTokenizer.from_pretrained(tmp_path / "wordpiece").vocab == tokenizer.vocab
    bpe = train_bpe(["a" * RUN], vocab_size=100, unk_token="<unk>")
    bpe.save(tmp_path / "bpe")
    loaded = Bpe.from_directory(tmp_path / "bpe")
    assert loaded.merges == bpe.merges
    assert loaded.tokenize("a" * RUN) == bpe.tokenize("a" * RUN)
    chinese = train_chinese_bpe(["天" * RUN], vocab_size=100)
    save_chinese_bpe(chinese, tmp_path / "chinese")
    assert AutoTokenizer.from_pretrained(tmp_path / "chinese").vocab_size == len(chinese.tokens)
    for tokens in (vocabulary, bpe.vocab, chinese.tokens):
        assert LONGEST / 3 - 2 < max(len(token.encode()) for token in tokens) <= LONGEST


@pytest.fixture
def saved(tmp_path):
    train_bpe(LOWEST, vocab_size=14, unk_token="<unk>").save(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["vocab.json", "merges.txt", "tokenizer.json"])
def test_a_missing_file_of_a_bpe_is_named(saved, name):
    (saved / name).unlink()
    with pytest.raises(FileError) as caught:
        Bpe.from_directory(saved)
    assert caught.value.path == str(saved / name)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("vocab.json", '"e":1', '"e":"1"'),
        ("vocab.json", '"e":1', '"e":-1'),
        ("vocab.json", '"e":1', '"E":1'),  # does not fit the others
        ("merges.txt", "w e\n", ""),
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
def test_damaged_files_of_a_bpe_are_refused(saved, name, old, new):
    text = (saved / name).read_text(encoding="utf-8")
    assert old in text
    (saved / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        Bpe.from_directory(saved)
    assert str(saved) in caught.value.path


# ---- mistakes ------------------------------------------------------------------------------------

HALF = "a\ud800b"


@pytest.mark.parametrize(
    "save",
    [
        lambda out: train_bpe([HALF], words=str.split).save(out),
        lambda out: train_bpe(["a"], special_tokens=["\udfff"]).save(out),
        lambda out: train_bpe(["a"], end_of_word_suffix="\udfff").save(out),
        lambda out: train_bpe({"a b": 3}, words=str.split).save(out),
        lambda out: save_tokenizer(train_wordpiece([HALF], words=str.split), out),
        lambda out: save_tokenizer(train_wordpiece({"a\nb": 1}, vocab_size=99), out),
        lambda out: save_tokenizer(train_wordpiece({"a": 1}, special_tokens=[]), out),
        lambda out: save_chinese_bpe(ChineseBpe({HALF: 1}, [], [], 1), out),
    ],
    ids=[
        *("half a pair in a BPE", "special", "suffix", "space", "half a pair in WordPiece"),
        *("line end", "no roles", "half a pair in Chinese"),
    ],
)
def test_tokens_that_no_file_can_keep_are_refused_and_nothing_is_written(tmp_path, save):
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


def no_texts():
    """Texts of which none may be read."""
    raise AssertionError
    yield ""


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 0},
        {"min_frequency": -1},
        {"limit_alphabet": 1.5},
        {"limit_alphabet": 0},
        {"max_token_length": 0},
        {"workers": 0},
        {"max_words": 0},
        {"special_tokens": ["[UNK]", ""]},
        {"special_tokens": "[UNK]"},
        {"special_tokens": ["x" * (LONGEST + 1)]},
        {"special_tokens": ["é" * LONGEST]},
        {"continuing_subword_prefix": "#" * LONGEST},
    ],
    ids=lambda options: str(options)[:30],
)
def test_wrong_options_are_refused_before_a_text_is_read(train, options):
    with pytest.raises(InputError):
        train(no_texts(), **options)


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
def test_texts_without_words_are_refused(train):
    for texts in ([], [" \n", "\x07"], {}, {"a": 0}):
        with pytest.raises(InputError):
            train(texts)
    with pytest.raises(InputTypeError):
        train(["a", 3])


def test_a_vocabulary_smaller_than_its_alphabet_is_refused():
    with pytest.raises(VocabularyError, match="16 tokens"):
        train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=15)
    assert len(train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=16)) == 16


def test_a_bpe_whose_parts_do_not_fit_is_refused():
    for vocab, merges, options, token in (
        ({"a": 0, "b": 1}, [("a", "b")], {}, "ab"),
        ({"a": 0}, [], {"unk_token": "<unk>"}, "<unk>"),
        ({"a": 0}, [], {"special_tokens": ["a", "zz"]}, "zz"),
    ):
        with pytest.raises(VocabularyError) as caught:
            Bpe(vocab, merges, **options)
        assert caught.value.token == token
