"""What tests share: tiny vocabularies, written where a test can read them."""

from __future__ import annotations

import pathlib

import pytest

from trietok import BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture
def vocab_file(tmp_path):
    """A function that writes a vocab.txt of the special tokens and these, and returns its path."""

    def write(*tokens: str, special: list[str] = SPECIAL, name: str = "vocab.txt") -> pathlib.Path:
        path = tmp_path / name
        path.write_text("".join(token + "\n" for token in [*special, *tokens]), encoding="utf-8", newline="\n")
        return path

    return write


@pytest.fixture
def small(vocab_file):
    """A function that makes a `BertTokenizer` of the special tokens and these, with any options."""

    def make(*tokens: str, **options) -> BertTokenizer:
        return BertTokenizer(vocab_file(*tokens), **options)

    return make


@pytest.fixture(scope="session")
def english():
    """The built-in tokenizer. Tests must not change it."""
    return BertTokenizer.from_pretrained("trietok-en")
