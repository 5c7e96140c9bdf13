"""Training: counting words, the alphabet, the merges, and that nothing but the texts decides the
result.
"""

from __future__ import annotations

import json
import logging
import os
import pathlib
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import often
from tests.reference import pair_merging
from trietok import (
    AddedToken,
    BasicTokenizer,
    BertTokenizer,
    Bpe,
    FileFormatError,
    InputError,
    InputTypeError,
    TextFiles,
    VocabularyError,
    count_words,
    save_tokenizer,
    train_bpe,
    train_wordpiece,
)
from trietok.text.kernel.choosing import using_kernel

ROOT = pathlib.Path(__file__).parents[2]
SENTENCES = [
    "The lowest lower low.",
    "Newest and widest, newer and wider!",
    "Über Öfen: lower, newer",
] * 3

words = st.dictionaries(
    st.text("abcé中", min_size=1, max_size=9), st.integers(1, 6), min_size=1, max_size=25
)


# ---- counting ------------------------------------------------------------------------------------


def test_words_are_those_of_the_basic_tokenizer():
    counts = count_words(SENTENCES, do_lower_case=False)
    tokenizer = BasicTokenizer(do_lower_case=False)
    assert sorted(expanded(counts)) == sorted(
        word for text in SENTENCES for word in tokenizer.tokenize(text)
    )
    assert (counts.texts, counts.total, counts.pruned_below) == (9, len(expanded(counts)), 0)


def expanded(counts: dict[str, int]) -> list[str]:
    return [word for word, count in counts.items() for _ in range(count)]


def test_any_function_makes_words():
    assert count_words(["A b", "b"], words=str.split) == {"A": 1, "b": 2}
    tokenizer = BasicTokenizer(do_lower_case=False, tokenize_chinese_chars=False)
    assert count_words(["東京 A"], words=tokenizer.tokenize) == {"東京": 1, "A": 1}


@given(
    st.lists(
        st.text() | st.text("aAΣσ \u0301\u0327가각\u11a8\x1c\x85\u3000東!", max_size=20), max_size=6
    )
)
def test_what_repeats_between_spaces_is_looked_at_once_and_changes_nothing(texts):
    for lower in (True, False):
        tokenizer = BasicTokenizer(do_lower_case=lower)
        expected = [word for text in texts for word in tokenizer.tokenize(text)]
        if expected:
            assert count_words(texts, do_lower_case=lower) == Counter(expected)


def test_words_that_reach_across_spaces_stay_whole():
    tokenizer = BasicTokenizer(never_split=["a.b"])
    assert count_words(["a.b c.d"], words=tokenizer.tokenize) == {"a.b": 1, "c": 1, ".": 1, "d": 1}
    assert count_words(["New York New York"], words=lambda text: [text[:8]]) == {"New York": 1}


def test_a_text_of_very_many_words():
    tokenizer = BasicTokenizer(do_lower_case=False)
    texts = [
        " ".join(f"{number % 3007}w,{number}" for number in range(5_000)),
        "x\u0301 \u0301",
    ] * 2
    expected = Counter(word for text in texts for word in tokenizer.tokenize(text))
    assert count_words(texts, do_lower_case=False) == expected


def test_texts_do_not_run_into_each_other():
    assert count_words(["low", "er", "e", "\u0301"], do_lower_case=False) == {
        "low": 1,
        "er": 1,
        "e": 1,
        "\u0301": 1,
    }


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr("trietok.training.word_counts._BATCH", 40)


def test_any_number_of_processes_counts_the_same(small_batches):
    texts = [f"{text} {number}" for number, text in enumerate(SENTENCES * 20)]
    alone, two = (count_words(iter(texts), workers=processes, max_words=60) for processes in (1, 2))
    assert alone == two
    assert list(alone) == list(two)
    assert (alone.texts, alone.pruned_below) == (two.texts, two.pruned_below) == (180, 3)


@pytest.mark.parametrize("processes", [1, 2])
def test_texts_are_not_held(small_batches, processes):
    given, ahead = 0, 0

    def texts():
        nonlocal given
        for _ in range(200):
            given += 1
            yield "a text of twenty-one"

    def look(progress):
        nonlocal ahead
        ahead = max(ahead, given - progress.done)

    count_words(texts(), workers=processes, progress=look)
    assert 0 <= ahead <= (0 if processes == 1 else 2 * 2 * processes + 2)  # texts; two make a batch


def test_what_goes_wrong_on_the_way_comes_through_several_processes(small_batches, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a text of twenty-one\n" * 20 + b"\xff\n")
    with pytest.raises(FileFormatError) as caught:
        count_words(TextFiles(path), workers=2)
    assert (caught.value.path, caught.value.line_number) == (str(path), 21)
    with pytest.raises(InputError):
        count_words(TextFiles(path), workers=2, words=lambda text: [text])


def test_several_processes_of_a_script_that_does_not_expect_them(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import trietok\nprint(trietok.count_words(['a'], workers=2))\n")
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 1
    assert 'if __name__ == "__main__":' in done.stderr.splitlines()[-1]


def test_rare_words_go_where_there_are_too_many(small_batches, caplog):
    texts = ["often " * 7] + [f"rare{number}" for number in range(40)]
    with caplog.at_level(logging.WARNING, "trietok"):
        counts = count_words(texts, max_words=8)
    assert counts["often"] == 7
    assert len(counts) <= 8 + 40 // 5
    assert "--max-words" in caplog.text
    # What is said of them: above `pruned_below` every word is there, and at most so much is
    # missing.
    whole = count_words(texts)
    assert counts.pruned_below >= 1
    assert all(counts.get(word, 0) + counts.pruned_below >= count for word, count in whole.items())
    assert whole.pruned_below == 0


def test_progress_of_files_is_in_bytes(tmp_path, small_batches):
    path = tmp_path / "a.txt"
    path.write_text("some words of text\n" * 10)
    seen = []
    count_words(TextFiles(path), progress=seen.append)
    assert {progress.phase for progress in seen} == {"counting words"}
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (190, 190, "bytes")
    assert len(seen) > 2
    count_words(["a"] * 5, progress=seen.append)
    assert seen[-1] == ("counting words", 5, 5, "texts")


def test_phases_of_training():
    seen = []
    train_wordpiece(SENTENCES, vocab_size=80, progress=seen.append)
    assert list(dict.fromkeys(progress.phase for progress in seen)) == [
        "counting words",
        "counting pairs",
        "merging",
    ]
    assert seen[-1].done == seen[-1].total <= 80


# ---- the alphabet --------------------------------------------------------------------------------


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


def test_special_tokens_come_first_then_characters_then_their_forms():
    vocabulary = train_wordpiece(
        {"ba": 1, "ab": 1}, vocab_size=8, special_tokens=["[UNK]", AddedToken("[X]"), "a"]
    )
    assert vocabulary.tokens == ["[UNK]", "[X]", "a", "b", "##a", "##b", "ab", "ba"]


def test_characters_outside_the_alphabet_are_left_out_of_their_words():
    vocabulary = train_wordpiece(
        {"axb": 5, "ab": 5, "x": 1}, vocab_size=9, limit_alphabet=2, special_tokens=[]
    )
    assert vocabulary.tokens == ["a", "b", "##b", "ab"]


# ---- the merges ----------------------------------------------------------------------------------


def test_the_most_frequent_pair_first_then_the_one_of_the_lowest_ids():
    bpe = train_bpe({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, vocab_size=13)
    # 20 times, 16, 15, 12; then p + ug and hug + s 5 times each, and p has the lower id.
    assert bpe.merges == (
        ("u", "g"),
        ("u", "n"),
        ("h", "ug"),
        ("p", "un"),
        ("p", "ug"),
        ("hug", "s"),
    )
    tied = train_bpe({"cd": 2, "ab": 2}, vocab_size=6)
    assert tied.merges == (("a", "b"), ("c", "d"))


def test_repeats_are_merged_from_the_left():
    bpe = train_bpe({"aaaaa": 1}, vocab_size=3)
    assert bpe.merges == (("a", "a"), ("aa", "a"))  # aa aa a
    assert bpe.tokenize("aaaa") == ["aa", "aa"]
    assert bpe.tokenize("aaa") == ["aaa"]
    bpe.tokenize("aaa").append("changed by the caller")
    assert bpe.tokenize("aaa") == ["aaa"]


def test_min_frequency_and_max_token_length():
    counts = {"abcdefgh": 3, "xy": 2}
    assert train_bpe(counts, min_frequency=3).merges[-1] != ("x", "y")
    assert ("x", "y") in train_bpe(counts, min_frequency=2).merges
    # As in tokenizers: fewer than so many characters, and two are never too many.
    for limit, longest in ((1, 2), (3, 2), (4, 2), (5, 4), (9, 8)):
        assert max(map(len, train_bpe(counts, max_token_length=limit).vocab)) == longest, limit


def test_prefix_and_suffix():
    bpe = train_bpe({"low": 5, "lower": 2}, vocab_size=11, end_of_word_suffix="</w>")
    assert list(bpe.vocab) == [
        "e",
        "l",
        "o",
        "r",
        "w",
        "r</w>",
        "w</w>",
        "lo",
        "low</w>",
        "er</w>",
        "wer</w>",
    ]
    bpe = train_bpe({"low": 5, "lower": 2}, vocab_size=12, continuing_subword_prefix="@@")
    assert bpe.merges == (("l", "@@o"), ("lo", "@@w"), ("@@e", "@@r"))
    assert bpe.tokenize("lower") == ["low", "@@er"]


@given(words, st.integers(5, 60), st.integers(0, 5), st.sampled_from(["", "##"]))
def test_training_is_counting_all_again_for_every_merge(counts, vocab_size, min_frequency, prefix):
    first = pair_merging.train(counts, 0, prefix=prefix)[0]
    vocab_size = max(vocab_size, len(first))
    bpe = train_bpe(
        counts,
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        continuing_subword_prefix=prefix or None,
    )
    assert (list(bpe.vocab), list(bpe.merges)) == pair_merging.train(
        counts, vocab_size, min_frequency, prefix
    )


@given(words, st.sampled_from(["", "##"]))
def test_the_merges_split_the_words_as_training_left_them(counts, prefix):
    bpe = train_bpe(counts, vocab_size=40, continuing_subword_prefix=prefix or None)
    for word in counts:
        symbols = [word[0], *(prefix + char for char in word[1:])]
        assert bpe.tokenize(word) == pair_merging.apply(list(bpe.merges), symbols, prefix)


@pytest.mark.kernel
def test_the_kernel_makes_the_same_merges_of_random_words():
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(often(50)):
        letters = rng.choice(["ab", "#a", "#ab</w>", "abcdefghijkl", "天地玄黄a\U0001f600\ud800"])
        words = (
            "".join(rng.choices(letters, k=rng.choice([1, 2, 5, 30, 300])))
            for _ in range(rng.randrange(1, 40))
        )
        counts = {word: rng.choice([1, 2, 7, 10**12]) for word in words}
        options = {
            "vocab_size": rng.choice([60, 100, 1000]),
            "min_frequency": rng.choice([0, 1, 2, 8]),
            "special_tokens": rng.choice([(), ("[UNK]", "##a")]),
            "continuing_subword_prefix": rng.choice([None, "#", "##"]),
            "end_of_word_suffix": rng.choice([None, "</w>"]),
        }
        made = []
        for name in ("compiled", "plain"):
            with using_kernel(name):
                bpe = train_bpe(counts, **options)
            made.append((bpe.vocab, bpe.merges))
        assert made[0] == made[1], (seed, counts, options)


@pytest.mark.parametrize("kernel", [pytest.param("compiled", marks=pytest.mark.kernel), "plain"])
def test_long_words_are_merged_as_the_rule_says(kernel):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for _ in range(often(8)):
        letters = rng.choice(["a", "ab", "abc"])
        lengths = [rng.randrange(1_000, 3_000), rng.randrange(1, 30)]
        counts = {
            "".join(rng.choices(letters, k=length)): rng.randrange(1, 4) for length in lengths
        }
        with using_kernel(kernel):
            bpe = train_bpe(counts, vocab_size=40)
        assert (list(bpe.vocab), list(bpe.merges)) == pair_merging.train(counts, 40), (seed, counts)


# ---- what decides --------------------------------------------------------------------------------


@given(st.permutations(SENTENCES), st.integers(1, 4))
def test_the_order_of_texts_does_not_matter(texts, parts):
    assert train_wordpiece(texts, vocab_size=60) == train_wordpiece(SENTENCES, vocab_size=60)
    bpe, other = train_bpe(texts, vocab_size=60), train_bpe(SENTENCES, vocab_size=60)
    assert (bpe.vocab, bpe.merges) == (other.vocab, other.merges)


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
        command = [
            sys.executable,
            "script.py",
            processes,
            *(str(tmp_path / f"{name}.txt") for name in names),
        ]
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        subprocess.run(command, env=env, cwd=folder, check=True, capture_output=True)
        for kind in ("wordpiece", "bpe"):
            paths = sorted((folder / kind).iterdir())
            results.add((kind, *((path.name, path.read_bytes()) for path in paths)))
    assert len(results) == 2


# ---- what is saved -------------------------------------------------------------------------------


def test_a_wordpiece_vocabulary_becomes_a_tokenizer(tmp_path):
    vocabulary = train_wordpiece(SENTENCES, vocab_size=100, do_lower_case=False)
    tokenizer = save_tokenizer(vocabulary, tmp_path / "out", do_lower_case=False)
    again = BertTokenizer.from_pretrained(tmp_path / "out")
    assert again.get_vocab() == tokenizer.get_vocab() == dict(vocabulary.token_to_id)
    for text in SENTENCES:
        assert again.tokenize(text) == tokenizer.tokenize(text)
        assert again.unk_token not in again.tokenize(text)
        assert "".join(again.tokenize(text)).replace("##", "") == text.replace(" ", "")


def test_a_bpe_is_saved_as_three_files_that_agree(tmp_path):
    bpe = train_bpe(
        SENTENCES,
        vocab_size=60,
        unk_token="<unk>",
        special_tokens=["<s>"],
        end_of_word_suffix="</w>",
    )
    bpe.save(tmp_path, do_lower_case=False)
    vocab = json.loads((tmp_path / "vocab.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "merges.txt").read_text(encoding="utf-8").splitlines()
    model = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    assert vocab == model["vocab"] == bpe.vocab
    assert list(vocab.values()) == list(range(60))
    assert list(vocab)[:2] == ["<unk>", "<s>"]
    assert (
        [tuple(line.split(" ")) for line in lines[1:]]
        == list(bpe.merges)
        == [tuple(p) for p in model["merges"]]
    )
    again = Bpe(vocab, bpe.merges, unk_token="<unk>", end_of_word_suffix="</w>")
    assert again.encode("lowest") == bpe.encode("lowest")


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
def test_bad_input_is_refused(train):
    for texts in ([], [" \n", "\x07"], {}, {"a": 0}):
        with pytest.raises(InputError):
            train(texts)
    with pytest.raises(InputTypeError):
        train(["a", 3])
    for options in (
        {"vocab_size": 0},
        {"min_frequency": -1},
        {"limit_alphabet": 1.5},
        {"limit_alphabet": 0},
        {"max_token_length": 0},
        {"workers": 0},
        {"max_words": 0},
        {"special_tokens": ["[UNK]", ""]},
        {"special_tokens": "[UNK]"},
    ):
        with pytest.raises(InputError):
            train(["a"], **options)


def test_a_vocabulary_smaller_than_its_alphabet_is_refused():
    with pytest.raises(VocabularyError, match="16 tokens"):
        train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=15)
    assert len(train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=16)) == 16


def test_all_words_pruned_is_no_vocabulary(small_batches):
    with pytest.raises(InputError):
        count_words([f"word{number}" for number in range(40)], max_words=1)


def test_a_bpe_whose_parts_do_not_fit_is_refused():
    for vocab, merges, options, token in (
        ({"a": 0, "b": 1}, [("a", "b")], {}, "ab"),
        ({"a": 0}, [], {"unk_token": "<unk>"}, "<unk>"),
        ({"a": 0}, [], {"special_tokens": ["a", "zz"]}, "zz"),
    ):
        with pytest.raises(VocabularyError) as caught:
            Bpe(vocab, merges, **options)
        assert caught.value.token == token


def test_a_failed_save_writes_nothing(tmp_path):
    bpe = train_bpe({"a b": 3}, words=str.split)
    with pytest.raises(VocabularyError):
        bpe.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(VocabularyError):
        save_tokenizer(train_wordpiece({"a\nb": 1}, vocab_size=99), tmp_path / "out")
    with pytest.raises(VocabularyError):
        save_tokenizer(train_wordpiece({"a": 1}, special_tokens=[]), tmp_path / "out")
    assert not (tmp_path / "out").exists()
