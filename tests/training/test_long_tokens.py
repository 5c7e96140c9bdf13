"""Training makes no token that its reader refuses, and says before it reads a text what cannot
become one.
"""

from __future__ import annotations

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
from trietok.training import Bpe
from trietok.training.chinese import save_chinese_bpe

RUN = 131_073  # letters
LONGEST = 100_000  # bytes of a token in a file


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


@pytest.mark.parametrize(
    "options",
    [
        {"special_tokens": ["x" * (LONGEST + 1)]},
        {"special_tokens": ["é" * LONGEST]},
        {"continuing_subword_prefix": "#" * LONGEST},
    ],
    ids=["special", "bytes", "prefix"],
)
def test_what_cannot_be_a_token_is_refused_before_a_text_is_read(options):
    def texts():
        raise AssertionError
        yield ""

    for train in (train_wordpiece, train_bpe):
        with pytest.raises(InputError):
            train(texts(), **options)
