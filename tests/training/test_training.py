"""Training: counting words, the alphabet, the merges, and that nothing but the texts decides the
result.
"""

from __future__ import annotations

import itertools
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

import trietok
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
from trietok.training.merging import Options, alphabet, learnt

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


def test_chunks_are_split_a_thousand_at_once(monkeypatch):
    monkeypatch.setattr("trietok.training.word_counts._CHUNKS_AT_ONCE", 3)
    tokenizer = BasicTokenizer(do_lower_case=False)
    texts = [
        " ".join(f"{number % 7}w,{number}" for number in range(50)),
        "Σ. Σ",
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
    with pytest.raises(FileFormatError, match="line 21: byte 0xff at offset 420"):
        count_words(TextFiles(path), workers=2)
    with pytest.raises(InputError, match="cannot be sent to other processes"):
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


WORKERS_THAT_ARE_INTERRUPTED = """
import os, signal, sys, threading
import trietok

def count():
    print(trietok.count_words(["a b"] * 3, workers=2))

if __name__ != "__main__":
    os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C goes to all processes of a terminal, those that have just begun too
else:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.argv[1] == "main thread":
        count()
    else:
        thread = threading.Thread(target=count)
        thread.start()
        thread.join()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals as Unix has them")
@pytest.mark.parametrize("caller", ["main thread", "another thread"])
def test_processes_that_begin_leave_an_interrupt_to_the_one_that_started_them(tmp_path, caller):
    script = tmp_path / "script.py"
    script.write_text(WORKERS_THAT_ARE_INTERRUPTED)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script), caller], env=env, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("{'a': 3, 'b': 3}\n", "")


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


def test_a_merge_looks_only_at_the_words_that_hold_the_pair(monkeypatch):
    from trietok.training.pairs import Pairs

    looked_at = 0
    original = Pairs._merged

    def counted(self, pair, merged, positions):
        nonlocal looked_at
        looked_at += len(positions)
        return original(self, pair, merged, positions)

    monkeypatch.setattr(Pairs, "_merged", counted)
    rng = random.Random(5)
    counts = {"".join(rng.choices("abcdefghij", k=8)): rng.randrange(1, 9) for _ in range(2000)}
    bpe = train_bpe(counts, vocab_size=1000)
    assert len(bpe.merges) == 990
    # 7 pairs a word to begin with, at most two new ones for each of at most 7 merges; rescanning:
    # 990 × 2000.
    assert looked_at <= 2000 * (7 + 2 * 7)


@pytest.mark.skipif(
    trietok.kernel != "compiled", reason="compares the compiled kernel with plain Python"
)
def test_the_kernel_makes_the_same_merges_of_random_words():
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(25):
        letters = rng.choice(["ab", "#a", "#ab</w>", "abcdefghijkl", "天地玄黄a\U0001f600\ud800"])
        words = (
            "".join(rng.choices(letters, k=rng.choice([1, 2, 5, 30, 300])))
            for _ in range(rng.randrange(1, 40))
        )
        counts = {word: rng.choice([1, 2, 7, 10**12]) for word in words}
        options = Options(
            vocab_size=rng.choice([60, 100, 1000]),
            min_frequency=rng.choice([0, 1, 2, 8]),
            limit_alphabet=None,
            initial_alphabet=(),
            special_tokens=rng.choice([(), ("[UNK]", "##a")]),
            continuing_subword_prefix=rng.choice([None, "#", "##"]),
            end_of_word_suffix=rng.choice([None, "</w>"]),
            max_token_length=None,
        )
        made = []
        for name in ("compiled", "plain"):
            with using_kernel(name):
                spelling, merges = learnt(counts, options, None)
            made.append((spelling.tokens, spelling.token_to_id, merges))
        assert made[0] == made[1], (counts, options)


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


def test_what_bpe_remembers_is_bounded(monkeypatch):
    monkeypatch.setattr("trietok.training.bpe._REMEMBERED", 10)
    bpe = train_bpe({"ab": 2, "ba": 1})
    for letters in itertools.product("ab", repeat=6):
        bpe.tokenize("".join(letters))
        bpe.tokenize("".join(letters) * 50)
        assert len(bpe._remembered) <= 10
    bpe.tokenize("ab").append("changed by the caller")
    assert bpe.tokenize("ab") == ["ab"]


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe])
def test_bad_input_is_refused(train):
    with pytest.raises(InputError, match="no text"):
        train([])
    with pytest.raises(InputError, match="no word in the 2 texts"):
        train([" \n", "\x07"])
    with pytest.raises(InputTypeError, match=r"TextFiles\(path\)"):
        train("a.txt")
    with pytest.raises(InputTypeError, match="not int"):
        train(["a", 3])
    with pytest.raises(InputError, match="whole numbers from 1"):
        train({"a": 0})
    with pytest.raises(InputError, match="counts are empty"):
        train({})
    for name, value in {
        "vocab_size": 0,
        "min_frequency": -1,
        "limit_alphabet": 1.5,
        "max_token_length": 0,
    }.items():
        with pytest.raises(InputError, match=name):
            train(["a"], **{name: value})
    with pytest.raises(InputError, match="limit_alphabet is a whole number from 1, not 0"):
        train(["a"], limit_alphabet=0)
    for name in ("workers", "max_words"):
        with pytest.raises(InputError, match=name):
            train(["a"], **{name: 0})
    with pytest.raises(InputError, match="special token is empty"):
        train(["a"], special_tokens=["[UNK]", ""])
    with pytest.raises(InputError, match="not one string"):
        train(["a"], special_tokens="[UNK]")


def test_a_vocabulary_smaller_than_its_alphabet_is_refused():
    with pytest.raises(
        VocabularyError,
        match=r"of 10 has no room for the 16 tokens .*5 special tokens, 7 characters, 4",
    ):
        train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=10)
    assert len(train_wordpiece({"abcde": 1, "f": 1, "g": 1}, vocab_size=16)) == 16


def test_all_words_pruned_is_no_vocabulary(small_batches):
    with pytest.raises(InputError, match="max_words"):
        count_words([f"word{number}" for number in range(40)], max_words=1)


def test_a_bpe_whose_parts_do_not_fit_is_refused():
    with pytest.raises(VocabularyError, match="'ab'"):
        Bpe({"a": 0, "b": 1}, [("a", "b")])
    with pytest.raises(VocabularyError, match="<unk>"):
        Bpe({"a": 0}, [], unk_token="<unk>")


def test_a_failed_save_writes_nothing(tmp_path):
    bpe = train_bpe({"a b": 3}, words=str.split)
    with pytest.raises(VocabularyError, match="whitespace"):
        bpe.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(VocabularyError, match="line break"):
        save_tokenizer(train_wordpiece({"a\nb": 1}, vocab_size=99), tmp_path / "out")
    with pytest.raises(VocabularyError, match=r"\[UNK\]"):
        save_tokenizer(train_wordpiece({"a": 1}, special_tokens=[]), tmp_path / "out")
    assert not (tmp_path / "out").exists()
