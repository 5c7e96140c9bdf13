"""The Chinese recipe: against counting everything again, its log, its two ways to segment, its
files.
"""

from __future__ import annotations

import pickle
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import assert_share, examples, often
from tests.training import chinese_bpe as plain
from trietok import InputError, VocabularyError, train_chinese_bpe
from trietok.training import ChineseBpe, Segmenter, save_chinese_bpe

LETTERS = "天下雨雪, 。（\u200b\ufffd\n\u3000"
sentences = st.lists(st.text(LETTERS, max_size=16), min_size=1, max_size=8).filter(
    lambda texts: any(map(plain.characters, texts))
)
POEM = ["床前明月光，疑是地上霜。", "举头望明月，低头思故乡。"]


@examples(200)
@given(sentences, st.integers(4, 16), st.randoms(use_true_random=False))
def test_incremental_merges_equal_a_full_recount(texts, vocab_size, shuffler):
    """Whatever the order of the sentences, spelled out or not, with what is taken out of them."""
    bpe = train_chinese_bpe(texts, vocab_size=vocab_size)
    vocabulary, merges = plain.train(texts, vocab_size)
    assert (bpe.counts, [tuple(merge) for merge in bpe.merges]) == (dict(vocabulary), merges)
    shuffler.shuffle(texts)
    log: list[str] = []
    other = train_chinese_bpe(texts, vocab_size=vocab_size, log=log.append)
    assert (other.tokens, len(log)) == (bpe.tokens, (len(merges) + 9) // 10)


@given(sentences, st.integers(1, 9), st.integers(0, 5))
def test_every_token_stands_in_the_text_as_it_is(texts, limit, merges):
    text = "\n".join("".join(chain) for sentence in texts for chain in plain.chains(sentence))
    bpe = train_chinese_bpe(texts, num_merges=merges, limit_alphabet=limit)
    assert all(token in text for token in bpe.counts)
    assert len(bpe.merges) <= merges
    assert len(set("".join(bpe.counts))) <= limit


def test_chinese_training_drops_spaces_and_keeps_punctuation_as_tokens():
    bpe = train_chinese_bpe(["明月，明月", "明\u3000月 \ufeff\ufffd!"])
    assert bpe.tokens == ["<unk>", "明月", "!", "，"]
    assert bpe.merges == [("明", "月", 3)]
    assert isinstance(bpe, ChineseBpe)
    assert (bpe.sentences, bpe.punctuation) == (2, ["!", "，"])


def test_no_pair_reaches_across_what_is_taken_out():
    for between in ("（", " ", "，", "\ufffd", "\u200b", "\t", "\n"):
        texts = [f"元年{between}一二", f"元年{between}一三", "二三"]
        assert train_chinese_bpe(texts).merges == [("元", "年", 2)], repr(between)
    # The spaces of a sentence that is spelled out end nothing.
    assert train_chinese_bpe(["元 年 （ 一 二", "元 年 ）"]).counts == {"元年": 2, "一": 1, "二": 1}
    assert train_chinese_bpe(["元 年 一二"] * 2).counts == {"一二": 2, "元": 2, "年": 2}


def test_merges_and_characters_are_limited_as_asked():
    texts = ["甲乙丙", "甲乙丙", "甲乙", "丁", "戊"]
    pairs = [merge[:2] for merge in train_chinese_bpe(texts).merges]
    assert pairs == [("甲", "乙"), ("甲乙", "丙")]
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


def test_a_repeated_character_is_merged_from_the_left_and_counted_as_pairs():
    bpe = train_chinese_bpe(["天天", "天天天"])
    # 天天 stands at three places and can be made twice; then no pair is left that occurs twice.
    assert bpe.merges == [("天", "天", 3)]
    assert bpe.counts == {"天天": 2, "天": 1}
    assert train_chinese_bpe(["天天", "天天"]).counts == {"天天": 2}  # 天 itself is gone


def test_training_ends_at_its_size_or_where_the_best_pair_occurs_once():
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


@pytest.mark.parametrize("texts", [[], ["。", " "]])
def test_texts_without_characters_are_refused(texts):
    with pytest.raises(InputError):
        train_chinese_bpe(texts)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"vocab_size": 0}, InputError),
        ({"limit_alphabet": 0}, InputError),
        ({"num_merges": -1}, InputError),
        ({"vocab_size": 3}, VocabularyError),
    ],
    ids=str,
)
def test_wrong_sizes_are_refused(options, error):
    with pytest.raises(error):
        train_chinese_bpe(["天下雨雪"], **options)


# ---- segmentation --------------------------------------------------------------------------------


def random_case(rng: random.Random) -> tuple[list[str], str]:
    """Tokens of all lengths in UTF-8 and more bytes than one of them may have, and a sentence made
    of parts of them.
    """
    letters = rng.choice(["ab", "天下雨", "a天é\U00020000", "天 \n\0", "天\ud800下"])
    lengths = [1, 1, 2, 2, 3, 4, 5, 9, 13, rng.randrange(1, 90)]
    tokens = {
        "".join(rng.choices(letters, k=rng.choice(lengths))) for _ in range(rng.randrange(1, 20))
    }
    parts = [
        token[rng.randrange(len(token)) :]
        for token in rng.choices([*tokens, letters, "z", "<unk>"], k=9)
    ]
    return sorted(tokens), "".join(rng.choices(parts, k=rng.randrange(9)))


def test_segmenters_cut_random_sentences_as_a_plain_search_does():
    seed = random.randrange(2**32)
    rng, longer = random.Random(seed), 0
    for _ in range(often(500)):
        tokens, sentence = random_case(rng)
        expected = plain.longest_anywhere(sentence, set(tokens))
        ids = [tokens.index(token) if token in tokens else len(tokens) for token in expected]
        segmenter = Segmenter(tokens)
        assert segmenter.longest_anywhere(sentence) == expected, seed
        assert segmenter.left_to_right(sentence) == plain.left_to_right(sentence, set(tokens)), seed
        assert segmenter.ids_anywhere(sentence) == ids, seed
        assert pickle.loads(pickle.dumps(segmenter)).ids_anywhere(sentence) == ids, seed
        longer += any(len(token) > 1 for token in set(expected) - {"<unk>"})
    assert_share(longer, often(500), 0.3, seed)


def test_sentences_and_tokens_of_any_length_are_cut():
    tokens = ["天" * length for length in (1, 2, 500)]
    assert Segmenter(tokens).longest_anywhere("天" * 503) == [tokens[2], tokens[1], tokens[0]]
    assert Segmenter({"天": 7, "<unk>": 3}).ids_anywhere("天下") == [7, 3]
    sentence = "天下" * 5000 + "雨"
    assert len(Segmenter(["天下"]).longest_anywhere(sentence)) == 5001
    with pytest.raises(InputError):
        Segmenter(["<unk>"])


def test_the_rules_differ_where_a_later_token_is_longer():
    segmenter = Segmenter(["研究", "研究生", "生命起源", "命", "起源"])
    assert segmenter.left_to_right("研究生命起源") == ["研究生", "命", "起源"]
    assert segmenter.longest_anywhere("研究生命起源") == ["研究", "生命起源"]


def test_a_saved_vocabulary_comes_with_its_log_and_segmented_texts(tmp_path):
    log: list[str] = []
    bpe = train_chinese_bpe(POEM, log=log.append)
    save_chinese_bpe(bpe, tmp_path, log=log, texts=["望 明月。", "", "月光?"])
    read = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert read["vocab.txt"].splitlines() == bpe.tokens
    assert bpe.tokens[:3] == ["<unk>", "头", "明月"]
    assert read["train.log"] == "1 merges, vocabulary 16, best pair '明月' (2)\n"
    assert read["result.txt"] == "望 明月 。\n\n<unk> 光 <unk>\n"
    assert read["result_left_to_right.txt"] == read["result.txt"]
    always = ["tokenizer_config.json", "train.log", "vocab.txt"]
    assert sorted(read) == ["result.txt", "result_left_to_right.txt", *always]
    save_chinese_bpe(bpe, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == always
