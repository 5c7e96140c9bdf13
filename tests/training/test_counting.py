"""Words are counted the same in any number of processes and parts; rare ones go where there are
too many.
"""

from __future__ import annotations

import logging
import pathlib
import pickle
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from tests.strategies import texts
from trietok import (
    BasicTokenizer,
    BertTokenizer,
    FileFormatError,
    InputError,
    InputTypeError,
    TextFiles,
    WordCounts,
    count_words,
    train_bpe,
    train_chinese_bpe,
    train_wordpiece,
)

SENTENCES = [
    "The lowest lower low.",
    "Newest and widest, newer and wider!",
    "Über Öfen: lower, newer",
] * 3


def padded(text: str) -> str:
    """A text of so many spaces that three make a batch, which is of a million characters."""
    return text + " " * 350_000


REPEATS = st.text("aAΣσ \u0301\u0327가각\u11a8\x1c\x85\u3000東!", max_size=20)


@examples(100)
@given(st.lists(texts(max_size=6) | REPEATS, max_size=6), st.booleans(), st.booleans())
def test_words_are_those_of_the_basic_tokenizer(given_texts, lower, chinese):
    """What repeats between spaces is looked at once."""
    tokenizer = BasicTokenizer(do_lower_case=lower, tokenize_chinese_chars=chinese)
    expected = Counter(word for text in given_texts for word in tokenizer.tokenize(text))
    if expected:
        counts = count_words(given_texts, words=tokenizer.tokenize)
        assert counts == expected
        assert (counts.texts, counts.total) == (len(given_texts), expected.total())
        if chinese:
            assert count_words(given_texts, do_lower_case=lower) == expected
    else:
        with pytest.raises(InputError):
            count_words(given_texts, words=tokenizer.tokenize)


def test_any_function_makes_words():
    assert count_words(["A b", "b"], words=str.split) == {"A": 1, "b": 2}
    assert count_words(["New York New York"], words=lambda text: [text[:8]]) == {"New York": 1}
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    assert count_words(["unaffable"], words=tokenizer.tokenize) == Counter(
        tokenizer.tokenize("unaffable")
    )
    kept = BasicTokenizer(never_split=["a.b"])
    assert count_words(["a.b c.d"], words=kept.tokenize) == {"a.b": 1, "c": 1, ".": 1, "d": 1}


def test_a_text_of_very_many_words_is_counted_whole():
    tokenizer = BasicTokenizer(do_lower_case=False)
    long = " ".join(f"{number % 3007}w,{number}" for number in range(5_000))
    given_texts = [long, "x\u0301 \u0301", "low", "er", "\u0301"] * 2
    expected = Counter(word for text in given_texts for word in tokenizer.tokenize(text))
    assert count_words(given_texts, do_lower_case=False) == expected


def test_any_number_of_processes_counts_the_same():
    given_texts = [padded(f"{text} {number}") for number, text in enumerate(SENTENCES * 5)]
    alone, two = (
        count_words(iter(given_texts), workers=processes, max_words=30) for processes in (1, 2)
    )
    assert alone == two
    assert list(alone) == list(two)
    assert (alone.texts, alone.pruned_below) == (two.texts, two.pruned_below)
    assert alone.texts == 45
    assert alone.pruned_below > 0


@pytest.mark.parametrize("processes", [1, 2])
def test_texts_are_not_held(processes):
    given_number, ahead = 0, 0

    def texts():
        nonlocal given_number
        for _ in range(33):
            given_number += 1
            yield padded("a text")

    def look(progress):
        nonlocal ahead
        ahead = max(ahead, given_number - progress.done)

    count_words(texts(), workers=processes, progress=look)
    assert given_number == 33
    # three texts make a batch; two batches a process wait, and one is made
    assert 0 <= ahead <= (0 if processes == 1 else 3 * (2 * processes + 1))


def test_errors_come_through_several_processes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(padded("a text").encode() + b"\n" + b"a text\n" * 20 + b"\xff\n")
    with pytest.raises(FileFormatError) as caught:
        count_words(TextFiles(path), workers=2)
    assert (caught.value.path, caught.value.line_number) == (str(path), 22)
    with pytest.raises(InputError):  # such a function cannot be sent
        count_words(["a"], workers=2, words=lambda text: [text])


def test_rare_words_are_dropped_with_a_warning_that_says_which(caplog):
    given_texts = [padded("often " * 7), *(padded(f"rare{number} rare") for number in range(20))]
    whole = count_words(given_texts)
    assert whole.pruned_below == 0
    with caplog.at_level(logging.WARNING, "trietok"):
        counts = count_words(given_texts, max_words=8)
    assert "--max-words" in caplog.text
    assert counts["often"] == 7
    assert len(counts) <= 8
    assert counts.pruned_below >= 1
    assert counts.total + counts.pruned_occurrences == whole.total
    for word, count in whole.items():
        assert count - counts.pruned_below <= counts.get(word, 0) <= count
    with pytest.raises(InputError, match="--max-words"):
        count_words([padded(f"word{number}") for number in range(6)], max_words=1)


def test_progress_counts_bytes_of_files_and_texts_of_lists(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text((padded("some words") + "\n") * 10)
    size, seen = path.stat().st_size, []
    count_words(TextFiles(path), progress=seen.append)
    assert {progress.phase for progress in seen} == {"counting words"}
    assert (seen[-1].done, seen[-1].total, seen[-1].unit) == (size, size, "bytes")
    assert len(seen) > 2
    count_words(["a"] * 5, progress=seen.append)
    assert seen[-1] == ("counting words", 5, 5, "texts")


# ---- counted in parts ----------------------------------------------------------------------------


@pytest.mark.parametrize("max_words", [None, 40])
def test_merged_counts_of_parts_are_those_of_all_texts(tmp_path, max_words):
    """Those of each file come from another process, perhaps with words dropped."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    for number in range(7):
        lines = [
            " ".join("".join(rng.choices("abcé中", k=rng.randrange(1, 5))) for _ in range(9))
            for _ in range(20)
        ]
        (tmp_path / f"part {number}.txt").write_text("\n".join(lines), encoding="utf-8")
    options = {} if max_words is None else {"max_words": max_words}
    counts, whole = WordCounts(), count_words(TextFiles(sorted(tmp_path.iterdir())))
    for path in sorted(tmp_path.iterdir()):
        part = pickle.loads(pickle.dumps(TextFiles(path)))
        counts.merge(pickle.loads(pickle.dumps(count_words(part, **options))))
    assert counts.texts == whole.texts == 140, seed
    assert counts.total + counts.pruned_occurrences == whole.total, seed
    if max_words is None:
        assert counts == whole, seed
        assert counts.pruned_below == 0
        assert train_wordpiece(counts, vocab_size=50) == train_wordpiece(whole, vocab_size=50)
    else:
        assert counts.pruned_below > 0, seed
        for word, count in whole.items():
            assert count - counts.pruned_below <= counts.get(word, 0) <= count, seed


@pytest.mark.parametrize("train", [train_wordpiece, train_bpe, train_chinese_bpe, count_words])
@pytest.mark.parametrize("given_texts", ["天天", b"ab", None, 3, pathlib.Path("a.txt"), [None]])
def test_only_an_iterable_of_texts_is_taken(train, given_texts):
    with pytest.raises(InputTypeError) as caught:
        train(given_texts)
    if not isinstance(given_texts, list):
        assert caught.value.value is given_texts
