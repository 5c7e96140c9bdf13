"""Training makes no token that its reader refuses, and says before it reads a text what cannot
become one.
"""

from __future__ import annotations

import random

import pytest

from trietok import (
    AutoTokenizer,
    BertTokenizer,
    InputError,
    save_tokenizer,
    train_bpe,
    train_chinese_bpe,
    train_wordpiece,
)
from trietok.disk import LONGEST_LINE
from trietok.training import Bpe
from trietok.training.chinese import save_chinese_bpe

RUN = 131_073  # letters


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
        assert LONGEST_LINE / 3 - 2 < max(len(token.encode()) for token in tokens) <= LONGEST_LINE


def test_a_limit_changes_nothing_below_it(monkeypatch):
    """And no token is above it, whatever the characters, the prefix and the suffix."""
    seed = random.randrange(2**32)
    print("seed", seed)
    rng = random.Random(seed)
    texts = [
        " ".join("".join(rng.choices("aé天", k=rng.randrange(1, 30))) for _ in range(20))
        for _ in range(20)
    ]
    trainings = (
        lambda: list(train_wordpiece(texts, vocab_size=400, special_tokens=["[UNK]"])),
        lambda: list(train_bpe(texts, vocab_size=400, end_of_word_suffix="</w>").vocab),
        lambda: list(train_bpe(texts, vocab_size=400, max_token_length=9).vocab),
        lambda: train_chinese_bpe(texts, vocab_size=400).tokens,
    )
    for train in trainings:
        free = train()
        longest = max(len(token.encode()) for token in free)
        for module in ("merging", "pairs"):
            monkeypatch.setattr(f"trietok.training.{module}.LONGEST_LINE", longest + len("##"))
        assert train() == free
        for module in ("merging", "pairs"):
            monkeypatch.setattr(f"trietok.training.{module}.LONGEST_LINE", 12)
        assert max(len(token.encode()) for token in train()) <= 12
        monkeypatch.undo()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"special_tokens": ["x" * (LONGEST_LINE + 1)]}, "a special token has 100,001 bytes"),
        ({"special_tokens": ["é" * LONGEST_LINE]}, "a special token has 200,000 bytes"),
        (
            {"continuing_subword_prefix": "#" * LONGEST_LINE},
            "a character with continuing_subword_prefix or .* bytes",
        ),
    ],
)
def test_what_cannot_be_a_token_is_refused_before_a_text_is_read(options, said):
    def texts():
        raise AssertionError
        yield ""

    for train in (train_wordpiece, train_bpe):
        with pytest.raises(
            InputError, match=f"{said}.*, and a token of a vocabulary may have 100,000"
        ):
            train(texts(), **options)
