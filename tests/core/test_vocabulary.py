"""The vocabulary and its file: ids never change, whatever the lines hold."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    TokenIdError,
    UnknownTokenError,
    Vocabulary,
    VocabularyError,
    load_vocab,
)


def test_the_id_of_a_token_is_its_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\ufeff[PAD]\r\n a \n\nb\u2028c\x85\x0b\nlast".encode())
    assert load_vocab(path) == {"\ufeff[PAD]": 0, " a ": 1, "": 2, "b\u2028c\x85\x0b": 3, "last": 4}


def test_duplicates_and_holes_keep_their_ids():
    vocabulary = Vocabulary(["a", "b", "a", None, "b", "c"])
    assert vocabulary.tokens == ["a", "b", "a", None, "b", "c"]
    assert (vocabulary["a"], vocabulary["b"], vocabulary.max_id, len(vocabulary)) == (2, 4, 5, 3)
    assert vocabulary.duplicates == {"a": [0, 2], "b": [1, 4]}
    assert vocabulary.holes == [3]
    assert [vocabulary.id_to_token(i) for i in range(6)] == ["a", "b", "a", None, "b", "c"]
    assert list(vocabulary) == ["a", "b", "c"]
    assert Vocabulary.from_mapping({"a": 1, "b": 3}).tokens == [None, "a", None, "b"]


def test_an_unknown_token_or_id_is_an_error():
    vocabulary = Vocabulary(["a"])
    with pytest.raises(UnknownTokenError):
        vocabulary["b"]
    for token_id in (-1, 1):
        with pytest.raises(TokenIdError) as caught:
            vocabulary.id_to_token(token_id)
        assert (caught.value.token_id, caught.value.max_id) == (token_id, 0)


@pytest.mark.parametrize(
    "bad", [{}, {"a": -1}, {"a": 0, "b": 1.0}, {"a": False, "b": True}, {"a": 0, "b": 0}]
)
def test_a_mapping_whose_values_are_no_ids_is_refused(bad):
    with pytest.raises(VocabularyError):
        Vocabulary.from_mapping(bad)


@given(st.lists(st.text("ab#", max_size=4), min_size=1, max_size=12), st.text("ab#", max_size=6))
def test_prefixes_are_those_of_the_tokens(tokens, text):
    vocabulary = Vocabulary(tokens)
    starting = [token for token in vocabulary if token.startswith(text)]
    assert vocabulary.tokens_with_prefix(text) == sorted(starting, key=vocabulary.__getitem__)
    prefixes = [token for token in vocabulary if token and text.startswith(token)]
    assert vocabulary.longest_prefix(text) == max(prefixes, key=len, default=None)
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@examples(40)
@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1))
def test_a_file_keeps_every_token_when_it_is_loaded_and_saved(tmp_path_factory, tokens):
    tokens = ["[UNK]", *tokens]
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    path.write_bytes("".join(token + "\n" for token in tokens).encode())
    assert Vocabulary.from_file(path).tokens == tokens
    before = path.read_bytes()
    BertTokenizer(path).save_vocabulary(str(path.parent))
    assert path.read_bytes() == before


def test_a_vocabulary_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path, small):
    missing = tmp_path / "missing" / "vocab.txt"
    with pytest.raises(FileError) as caught:
        small("a").save_vocabulary(str(missing))
    assert caught.value.path == str(missing)
    assert not missing.parent.exists()


def test_a_bad_vocabulary_file_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    with pytest.raises(FileError, match=r"vocab\.txt"):
        load_vocab(path)
    with pytest.raises(FileError):
        load_vocab(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(VocabularyError):
        load_vocab(path)
    path.write_bytes(b"a\nb\nc\xff\n")
    with pytest.raises(FileFormatError) as caught:
        load_vocab(path)
    assert caught.value.line_number == 3
