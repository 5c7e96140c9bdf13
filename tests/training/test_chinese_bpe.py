"""The Chinese recipe: against counting everything again, its log, its two ways to segment, its
files.
"""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import often
from tests.reference import chinese_bpe as reference
from trietok import InputError, InputTypeError, VocabularyError, train_chinese_bpe
from trietok.text.kernel.choosing import using_kernel
from trietok.training import ChineseBpe, Segmenter, save_chinese_bpe

LETTERS = "天下雨雪, 。"
sentences = st.lists(st.text(LETTERS, max_size=16), min_size=1, max_size=8)
POEM = ["床前明月光，疑是地上霜。", "举头望明月，低头思故乡。"]


@given(sentences, st.integers(4, 16))
def test_the_fast_way_is_counting_all_again_for_every_merge(texts, vocab_size):
    if not any(map(reference.characters, texts)):
        return
    bpe = train_chinese_bpe(texts, vocab_size=vocab_size)
    vocabulary, merges = reference.train(texts, vocab_size)
    assert (bpe.counts, [tuple(merge) for merge in bpe.merges]) == (dict(vocabulary), merges)


@given(st.permutations(["天天下雨", "雨下雪下", "天下", "雪雨雪雨"]))
def test_the_order_of_sentences_does_not_matter(texts):
    log: list[str] = []
    assert (
        train_chinese_bpe(texts, log=log.append).tokens == train_chinese_bpe(sorted(texts)).tokens
    )


def test_spaces_and_punctuation_are_taken_out_and_punctuation_put_back():
    bpe = train_chinese_bpe(["明月，明月", "明\u3000月 \ufeff\ufffd!"])
    assert bpe.tokens == ["<unk>", "明月", "!", "，"]
    assert bpe.merges == [("明", "月", 3)]


def test_no_pair_reaches_across_what_is_taken_out():
    for between in ("（", " ", "，", "\ufffd", "\u200b", "\t", "\n"):
        texts = [f"元年{between}一二", f"元年{between}一三", "二三"]
        assert train_chinese_bpe(texts).merges == [("元", "年", 2)], repr(between)
    assert (
        train_chinese_bpe(["天\n下"] * 2).merges
        == train_chinese_bpe(["天\n下", "天\n下", "雨 雪雨"]).merges
        == []
    )


def test_the_spaces_of_a_sentence_that_is_spelled_out_end_nothing():
    assert train_chinese_bpe(["元 年 （ 一 二", "元 年 ）"]).counts == {"元年": 2, "一": 1, "二": 1}
    assert train_chinese_bpe(["元 年 一二"] * 2).counts == {"一二": 2, "元": 2, "年": 2}


@given(sentences, st.integers(1, 9), st.integers(0, 5))
def test_every_token_stands_in_the_text_as_it_is(texts, limit, merges):
    if not any(map(reference.characters, texts)):
        return
    text = "\n".join("".join(chain) for sentence in texts for chain in reference.chains(sentence))
    bpe = train_chinese_bpe(texts, num_merges=merges, limit_alphabet=limit)
    assert all(token in text for token in bpe.counts)
    assert len(bpe.merges) <= merges
    assert len(set("".join(bpe.counts))) <= limit


def test_the_number_of_merges_and_of_characters():
    texts = ["甲乙丙", "甲乙丙", "甲乙", "丁", "戊"]
    assert [merge[:2] for merge in train_chinese_bpe(texts).merges] == [
        ("甲", "乙"),
        ("甲乙", "丙"),
    ]
    assert train_chinese_bpe(texts, num_merges=1).counts == {"甲乙": 3, "丙": 2, "丁": 1, "戊": 1}
    assert train_chinese_bpe(texts, num_merges=0).merges == []
    # whichever is reached first
    assert train_chinese_bpe(texts, num_merges=3, vocab_size=5).merges == []
    # 甲 and 乙 occur three times; 丙 is removed, and so ends a chain.
    limited = train_chinese_bpe(["甲丙乙", *texts], limit_alphabet=2)
    assert limited.counts == {"甲乙": 3, "乙": 1, "甲": 1}
    # the lower code points
    assert train_chinese_bpe(["丙乙", "甲"], limit_alphabet=2).counts == {"乙": 1, "丙": 1}
    assert train_chinese_bpe(texts, limit_alphabet=9).merges == train_chinese_bpe(texts).merges
    # The default size is a limit only where the number of merges is none.
    many = [chr(0x4E00 + number) for number in range(10_001)]
    assert len(train_chinese_bpe(many, num_merges=3).counts) == 10_001
    with pytest.raises(VocabularyError):
        train_chinese_bpe(many)
    assert len(train_chinese_bpe(many, limit_alphabet=10_000).counts) == 10_000


def test_the_same_character_twice():
    bpe = train_chinese_bpe(["天天", "天天天"])
    # 天天 stands at three places and can be made twice; then no pair is left that occurs twice.
    assert bpe.merges == [("天", "天", 3)]
    assert bpe.counts == {"天天": 2, "天": 1}
    assert train_chinese_bpe(["天天", "天天"]).counts == {"天天": 2}  # 天 itself is gone


def test_subwords_go_when_merges_absorb_them():
    bpe = train_chinese_bpe(["春天来", "春天来"])
    assert [merge[:2] for merge in bpe.merges] == [("天", "来"), ("春", "天来")]
    assert bpe.counts == {"春天来": 2}


def test_it_ends_at_its_size_or_where_the_best_pair_occurs_once():
    assert len(train_chinese_bpe(POEM).merges) == 1  # 明月; 头 has other neighbours
    two = ["甲乙", "甲丙", "乙丙"] * 2
    assert train_chinese_bpe(two, vocab_size=3).merges == []
    assert train_chinese_bpe(two, vocab_size=4).counts == {"甲": 4, "丙": 2, "乙": 2, "乙丙": 2}
    assert train_chinese_bpe(two, vocab_size=9).counts == {"乙丙": 2, "甲丙": 2, "甲乙": 2}


def test_a_line_is_logged_every_ten_merges_and_after_the_last():
    texts = [
        chr(0x4E00 + 2 * number) + chr(0x4E01 + 2 * number) + chr(0x5E00 + number)
        for number in range(13)
    ]
    log: list[str] = []
    train_chinese_bpe(texts * 2, log=log.append, vocab_size=100)
    assert len(log) == 3
    assert log[0] == f"10 merges, vocabulary 29, best pair '{texts[4]}' (2)"
    assert [line.split(" ", 1)[0] for line in log] == ["10", "20", "26"]
    assert log[-1].startswith("26 merges, vocabulary 13, best pair ")


def test_progress():
    seen = []
    train_chinese_bpe(["天天"] * 1000, progress=seen.append)
    assert list(dict.fromkeys(progress.phase for progress in seen)) == [
        "counting words",
        "counting pairs",
        "merging",
    ]


def test_bad_input_is_refused():
    with pytest.raises(InputError):
        train_chinese_bpe([])
    with pytest.raises(InputError):
        train_chinese_bpe(["。", " "])
    with pytest.raises(VocabularyError):
        train_chinese_bpe(["天下雨雪"], vocab_size=3)
    with pytest.raises(InputTypeError):
        train_chinese_bpe([None])
    for option in ("vocab_size", "limit_alphabet"):
        with pytest.raises(InputError):
            train_chinese_bpe(["天"], **{option: 0})
    with pytest.raises(InputError):
        train_chinese_bpe(["天"], num_merges=-1)
    with pytest.raises(InputError):
        Segmenter(["<unk>"])


# ---- segmentation --------------------------------------------------------------------------------


@given(
    st.sets(st.text("天下雨", min_size=1, max_size=6), min_size=1, max_size=9),
    st.text("天下雨雪", max_size=20),
)
def test_both_rules_are_what_they_say(vocabulary, sentence):
    segmenter = Segmenter(vocabulary)
    assert segmenter.longest_anywhere(sentence) == reference.longest_anywhere(sentence, vocabulary)
    assert segmenter.left_to_right(sentence) == reference.left_to_right(sentence, vocabulary)


def random_case(rng: random.Random) -> tuple[list[str], str]:
    """Tokens of all lengths in UTF-8 and more bytes than one of them may have, and a sentence made
    of parts of them.
    """
    letters = rng.choice(["ab", "天下雨", "a天é\U00020000", "天 \n\0", "天\ud800下"])
    tokens = {
        "".join(
            rng.choices(letters, k=rng.choice([1, 1, 2, 2, 3, 4, 5, 9, 13, rng.randrange(1, 90)]))
        )
        for _ in range(rng.randrange(1, 20))
    }
    parts = [
        token[rng.randrange(len(token)) :]
        for token in rng.choices([*tokens, letters, "z", "<unk>"], k=9)
    ]
    return sorted(tokens), "".join(rng.choices(parts, k=rng.randrange(9)))


def test_the_kernel_and_plain_python_cut_as_the_rule_says():
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    for _ in range(often(500)):
        tokens, sentence = random_case(rng)
        expected = reference.longest_anywhere(sentence, set(tokens))
        ids = [tokens.index(token) if token in tokens else len(tokens) for token in expected]
        with using_kernel("plain"):
            plain = Segmenter(tokens)
        for segmenter in (Segmenter(tokens), plain):
            assert segmenter.longest_anywhere(sentence) == expected
            assert segmenter.ids_anywhere(sentence) == ids
            assert pickle.loads(pickle.dumps(segmenter)).ids_anywhere(sentence) == ids


def test_the_kernel_leaves_to_python_what_is_too_long_for_it():
    tokens = ["天" * length for length in (1, 2, 500)]
    assert Segmenter(tokens).longest_anywhere("天" * 503) == [tokens[2], tokens[1], tokens[0]]
    assert Segmenter({"天": 7, "<unk>": 3}).ids_anywhere("天下") == [7, 3]


def test_where_the_rules_differ():
    segmenter = Segmenter(["研究", "研究生", "生命起源", "命", "起源"])
    assert segmenter.left_to_right("研究生命起源") == ["研究生", "命", "起源"]
    assert segmenter.longest_anywhere("研究生命起源") == ["研究", "生命起源"]


def test_a_long_sentence_takes_no_recursion():
    sentence = "天下" * 5000 + "雨"
    assert len(Segmenter(["天下"]).longest_anywhere(sentence)) == 5001


# ---- files ---------------------------------------------------------------------------------------


def test_files(tmp_path):
    log: list[str] = []
    bpe = train_chinese_bpe(POEM, log=log.append)
    save_chinese_bpe(bpe, tmp_path, log=log, texts=["望 明月。", "", "月光?"])
    read = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert read["vocab.txt"].splitlines() == bpe.tokens
    assert bpe.tokens[:3] == ["<unk>", "头", "明月"]
    assert read["train.log"] == "1 merges, vocabulary 16, best pair '明月' (2)\n"
    assert (
        read["result.txt"] == read["result_left_to_right.txt"] == "望 明月 。\n\n<unk> 光 <unk>\n"
    )
    assert sorted(read) == ["result.txt", "result_left_to_right.txt", "train.log", "vocab.txt"]
    save_chinese_bpe(bpe, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["train.log", "vocab.txt"]


def test_what_it_returns():
    bpe = train_chinese_bpe(POEM)
    assert isinstance(bpe, ChineseBpe)
    assert (bpe.sentences, bpe.punctuation, bpe.merges[0].occurrences) == (2, ["。", "，"], 2)
