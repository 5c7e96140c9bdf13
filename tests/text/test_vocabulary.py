"""The vocabulary and its file: ids never change, whatever the lines hold."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trietok import (
    FileError,
    FileFormatError,
    TokenIdError,
    UnknownTokenError,
    Vocabulary,
    VocabularyError,
    load_vocab,
)
from trietok.files.formats import write_text, write_vocab_lines
from trietok.files.json_files import read_json_object


def test_the_id_is_the_line(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\ufeff[PAD]\r\n a \n\nb\u2028c\x85\x0b\nlast".encode())
    assert load_vocab(path) == {"\ufeff[PAD]": 0, " a ": 1, "": 2, "b\u2028c\x85\x0b": 3, "last": 4}


def test_duplicates_and_holes_are_kept():
    vocabulary = Vocabulary(["a", "b", "a", None, "b", "c"])
    assert vocabulary.tokens == ["a", "b", "a", None, "b", "c"]
    assert (vocabulary["a"], vocabulary["b"], vocabulary.max_id, len(vocabulary)) == (2, 4, 5, 3)
    assert vocabulary.duplicates == {"a": [0, 2], "b": [1, 4]}
    assert vocabulary.holes == [3]
    assert [vocabulary.id_to_token(i) for i in range(6)] == ["a", "b", "a", None, "b", "c"]
    assert list(vocabulary) == ["a", "b", "c"]
    assert Vocabulary.from_mapping({"a": 1, "b": 3}).tokens == [None, "a", None, "b"]


def test_what_is_not_there_is_an_error():
    vocabulary = Vocabulary(["a"])
    with pytest.raises(UnknownTokenError, match="'b' is not in the vocabulary"):
        vocabulary["b"]
    for token_id in (-1, 1):
        with pytest.raises(TokenIdError, match="from 0 to 0") as caught:
            vocabulary.id_to_token(token_id)
        assert (caught.value.token_id, caught.value.max_id) == (token_id, 0)


@pytest.mark.parametrize("bad", [{}, {"a": -1}, {"a": 1.0}, {"a": True}, {"a": 0, "b": 0}])
def test_a_mapping_that_is_no_vocabulary(bad):
    with pytest.raises(VocabularyError):
        Vocabulary.from_mapping(bad)


@given(st.lists(st.text("ab#", max_size=4), min_size=1, max_size=12), st.text("ab#", max_size=6))
def test_prefix_questions(tokens, text):
    vocabulary = Vocabulary(tokens)
    starting = [token for token in vocabulary if token.startswith(text)]
    assert vocabulary.tokens_with_prefix(text) == sorted(starting, key=vocabulary.__getitem__)
    standing = [token for token in vocabulary if token and text.startswith(token)]
    assert vocabulary.longest_prefix(text) == max(standing, key=len, default=None)
    assert pickle.loads(pickle.dumps(vocabulary)) == vocabulary


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), min_size=1))
def test_a_file_keeps_every_token(tmp_path_factory, tokens):
    path = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    write_vocab_lines(path, tokens)
    assert Vocabulary.from_file(path).tokens == tokens


def test_a_token_with_a_line_break_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "vocab.txt"
    write_vocab_lines(path, ["old"])
    with pytest.raises(VocabularyError, match=r"token 'a\\nb' \(id 1\)") as caught:
        write_vocab_lines(path, ["x", "a\nb"])
    assert (caught.value.token, caught.value.line_number) == ("a\nb", 2)
    assert path.read_text() == "old\n"


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(FileError, match="missing") as caught:
        write_text(tmp_path / "missing" / "vocab.txt", "a")
    assert caught.value.path == str(tmp_path / "missing" / "vocab.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_bad_vocabulary_file_is_named(tmp_path):
    path = tmp_path / "vocab.txt"
    with pytest.raises(FileError, match=r"vocab\.txt: No such file"):
        load_vocab(path)
    with pytest.raises(OSError, match="Is a directory"):
        load_vocab(tmp_path)
    path.write_bytes(b"")
    with pytest.raises(VocabularyError, match=r"vocab\.txt is empty"):
        load_vocab(path)
    path.write_bytes(b"a\nb\nc\xff\n")
    with pytest.raises(
        FileFormatError, match="line 3: byte 0xff at offset 5 is not UTF-8"
    ) as caught:
        load_vocab(path)
    assert caught.value.line_number == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1"),
        ('{"a": 1\n"b"}', "line 2"),
        ("[1]", "list"),
        ("null", "NoneType"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_json_that_is_no_object(tmp_path, text, message):
    path = tmp_path / "tokenizer_config.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_json_object(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": {"a": ":"}, ":": "b:c"}',
        '{"a": "\\u003a", "b": [{"a": 1}, {"a": 2}], "\\u003A": ""}',
        '{"a": [[1, ":"], {"::": null}], "b" :{}}',
    ],
)
def test_json_with_colons_in_strings(tmp_path, text):
    path = tmp_path / "some.json"
    path.write_text(text, encoding="utf-8")
    assert read_json_object(path) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": 1, "\\u0061": 1}',
        '{"b": [{"a": {}, "c": ":", "a": 3}]}',
        # written as an escape, a colon is none in the text
        '{"b": {"a": "\\u003a", "a": "\\u003a"}}',
        '{"a": 1, "b": "::", "a": 2',  # what is wrong later is not said first
    ],
)
def test_json_with_a_key_twice_in_an_object(tmp_path, text):
    path = tmp_path / "some.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(
        FileFormatError,
        match="the key 'a' stands twice in one object" if text[-1] == "}" else "not JSON",
    ):
        read_json_object(path)


def test_json_is_nested_forty_deep_at_most(tmp_path):
    path = tmp_path / "some.json"
    path.write_text('{"a":' * 40 + "1" + "}" * 40, encoding="utf-8")
    assert "a" in read_json_object(path)
    path.write_text('{"a":' * 41 + "1" + "}" * 41, encoding="utf-8")
    with pytest.raises(FileFormatError, match="nested too deeply"):
        read_json_object(path)


@pytest.mark.parametrize(
    "ids", [[0, 1, 2], [0, 2, 1], [0, 1, 3], [True, False, 2], [0, 1.0, 2], [0, 1, 1], [0, 1, -1]]
)
def test_ids_in_order_are_checked_at_once_and_others_one_by_one(ids):
    """What is quick for a published vocabulary lets nothing else pass: a JSON `true` or `1.0`
    equals an id.
    """
    mapping = dict(zip(["[UNK]", "un", "##able"], ids, strict=True))
    if all(type(number) is int and number >= 0 for number in ids) and len(set(ids)) == 3:
        vocabulary = Vocabulary.from_mapping(mapping)
        assert {token: vocabulary[token] for token in mapping} == mapping
        assert [vocabulary.id_to_token(number) for number in ids] == list(mapping)
    else:
        with pytest.raises(VocabularyError):
            Vocabulary.from_mapping(mapping)
