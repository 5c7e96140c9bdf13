"""Loading and saving in transformers' layout."""

from __future__ import annotations

import json
import logging

import pytest

from tests.conftest import SPECIAL
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
    InputError,
    NotSupportedError,
    VocabularyError,
)


@pytest.fixture
def directory(tmp_path):
    """A function that writes a directory of these files, JSON where it is no text, and returns
    it.
    """

    def write(**files):
        path = tmp_path / "model"
        path.mkdir(exist_ok=True)
        files.setdefault("vocab.txt", "\n".join([*SPECIAL, "a", "b"]) + "\n")
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (path / name.replace("_json", ".json").replace("_txt", ".txt")).write_text(
                text, encoding="utf-8"
            )
        return path

    return write


def test_what_is_saved_is_loaded(small, tmp_path):
    tokenizer = small("a", "a", "b", do_lower_case=False, model_max_length=9, padding_side="left")
    tokenizer.add_tokens(["x", AddedToken("<y>", lstrip=True, single_word=True, normalized=False)])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<z>"], "bos_token": "b"})
    saved = tokenizer.save_pretrained(tmp_path / "saved")
    assert sorted(path.rsplit("/", 1)[1] for path in saved) == [
        "added_tokens.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    again = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again.added_tokens_decoder == tokenizer.added_tokens_decoder
    assert again.special_tokens_map == tokenizer.special_tokens_map
    assert again.vocabulary == tokenizer.vocabulary
    assert again("A x <y> <z>b") == tokenizer("A x <y> <z>b")
    again.save_pretrained(tmp_path / "again")
    for path in saved:
        name = path.rsplit("/", 1)[1]
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()


def test_a_prefix_goes_before_every_name(small, tmp_path):
    names = [
        path.rsplit("/", 1)[1]
        for path in small("a").save_pretrained(tmp_path / "saved", filename_prefix="my")
    ]
    assert names == ["my-tokenizer_config.json", "my-special_tokens_map.json", "my-vocab.txt"]


def test_a_vocabulary_file_by_itself(vocab_file):
    assert BertTokenizer.from_pretrained(vocab_file("a")).encode("a") == [2, 5, 3]
    assert BertTokenizer.from_pretrained(str(vocab_file("A")), do_lower_case=False).encode("A") == [
        2,
        5,
        3,
    ]


def test_the_callers_options_come_before_the_files(directory):
    path = directory(
        tokenizer_config_json={"do_lower_case": False, "cls_token": "a", "something": 1}
    )
    tokenizer = BertTokenizer.from_pretrained(path)
    assert (tokenizer.do_lower_case, tokenizer.cls_token, tokenizer.init_kwargs["something"]) == (
        False,
        "a",
        1,
    )
    tokenizer = BertTokenizer.from_pretrained(path, do_lower_case=True, cls_token="b")
    assert (tokenizer.do_lower_case, tokenizer.cls_token) == (True, "b")


def test_added_tokens_of_the_config(directory):
    token = {
        "content": "<x>",
        "lstrip": True,
        "normalized": False,
        "rstrip": False,
        "single_word": False,
    }
    path = directory(
        tokenizer_config_json={"added_tokens_decoder": {"7": {**token, "special": True}}}
    )
    tokenizer = BertTokenizer.from_pretrained(path)
    assert tokenizer.added_tokens_decoder[7] == AddedToken("<x>", lstrip=True, special=True)


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_length_that_is_written_as_a_float(kind, directory, tmp_path):
    tokenizer = kind.from_pretrained(directory(tokenizer_config_json={"model_max_length": 4.0}))
    assert tokenizer("a b a b", truncation=True).input_ids == [2, 5, 6, 3]
    assert tokenizer("a", padding="max_length").input_ids == [2, 5, 3, 0]
    assert repr(tokenizer.model_max_length) == "4"
    tokenizer.save_pretrained(tmp_path / "saved")
    assert (
        json.loads((tmp_path / "saved" / "tokenizer_config.json").read_bytes())["model_max_length"]
        == 4
    )


def test_added_tokens_of_a_tokenizer_json(directory):
    flags = {
        "single_word": False,
        "lstrip": False,
        "rstrip": True,
        "normalized": True,
        "special": False,
    }
    path = directory(
        tokenizer_json={"added_tokens": [{"id": 7, "content": "<x>", **flags}], "model": {}}
    )
    assert BertTokenizer.from_pretrained(path).added_tokens_decoder[7] == AddedToken(
        "<x>", rstrip=True
    )


def test_another_class_is_warned_of(directory, caplog):
    with caplog.at_level(logging.WARNING, "trietok"):
        BertTokenizer.from_pretrained(
            directory(tokenizer_config_json={"tokenizer_class": "ElectraTokenizerFast"})
        )
        BertTokenizer.from_pretrained(
            directory(tokenizer_config_json={"tokenizer_class": "BertTokenizerFast"})
        )
    said = [record.getMessage() for record in caplog.records]
    assert [("Electra" in text) for text in said if "was saved as" in text] == [True]
    unknown = directory(tokenizer_config_json={"tokenizer_class": "RobertaTokenizer"})
    with pytest.raises(FileFormatError):
        BertTokenizer.from_pretrained(unknown)
    assert BertTokenizer.from_pretrained(unknown, tokenizer_class=None).encode("a") == [2, 5, 3]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer_config_json": "{"}, "tokenizer_config.json, line 1"),
        ({"tokenizer_config_json": "[]"}, "holds a JSON list"),
        ({"tokenizer_config_json": {"added_tokens_decoder": []}}, "should be an object id"),
        (
            {"tokenizer_config_json": {"added_tokens_decoder": {"-1": {"content": "x"}}}},
            "'-1' is not an id",
        ),
        (
            {"tokenizer_config_json": {"added_tokens_decoder": {"1.5": {"content": "x"}}}},
            "'1.5' is not an id",
        ),
        (
            {"tokenizer_config_json": {"added_tokens_decoder": {"7": "x"}}},
            r"\['7'\] should be an object",
        ),
        (
            {"tokenizer_config_json": {"added_tokens_decoder": {"7": {"content": ""}}}},
            r"\['7'\] is not a token",
        ),
        (
            {"tokenizer_config_json": {"added_tokens_decoder": {"7": {"contents": "x"}}}},
            r"\['7'\]: contents is 'x'",
        ),
        ({"added_tokens_json": {"x": "seven"}}, "'seven' is not an id"),
        (
            {"special_tokens_map_json": {"cls_token": {"lstrip": True}}},
            "cls_token is {'lstrip': True}; it should be a token",
        ),
    ],
)
def test_files_that_do_not_hold_what_they_should(directory, files, message):
    with pytest.raises(FileFormatError, match=message):
        BertTokenizer.from_pretrained(directory(**files))


def test_nothing_is_written_where_it_cannot_be(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        small("a").save_pretrained(tmp_path / "file")
    with pytest.raises(NotSupportedError):
        small("a").save_pretrained(tmp_path / "new", push_to_hub=True)
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError):
        small("a").save_pretrained(tmp_path / "new", legacy_format=False)


def test_a_token_the_file_cannot_keep(small, tmp_path):
    tokenizer = small("a")
    tokenizer.vocabulary.tokens.append("b\nc")
    with pytest.raises(VocabularyError) as caught:
        tokenizer.save_vocabulary(str(tmp_path))
    assert caught.value.token == "b\nc"


@pytest.mark.parametrize("file", ["tokenizer_config_json", "special_tokens_map_json"])
def test_no_file_says_where_the_vocabulary_is(directory, tmp_path, file):
    outside = tmp_path / "outside.txt"
    outside.write_text("[UNK]\nwrong\n")
    said = {"vocab_file": str(outside), "tokenizer_file": str(outside), "cls_token": "[CLS]"}
    tokenizer = BertTokenizer.from_pretrained(directory(**{file: said}))
    assert tokenizer.tokenize("a b wrong") == ["a", "b", "[UNK]"]


def test_added_tokens_can_be_merged_into_the_vocabulary_file(small, tmp_path):
    tokenizer = small("a", "a")
    tokenizer.add_tokens(["<x>", "<y>", "<z>"])
    tokenizer.remove_tokens(["<y>"])
    (path,) = tokenizer.save_vocabulary(tmp_path, filename_prefix="all", include_added=True)
    assert path == str(tmp_path / "all-vocab.txt")
    assert (tmp_path / "all-vocab.txt").read_text().splitlines() == [
        *SPECIAL,
        "a",
        "a",
        "<x>",
        "[unused-id-8]",
        "<z>",
    ]
    merged = BertTokenizer.from_pretrained(path)
    assert merged.convert_tokens_to_ids(["a", "<x>", "<z>"]) == [6, 7, 9]
    (path,) = tokenizer.save_vocabulary(str(tmp_path / "other.txt"), filename_prefix="my")
    assert path == str(tmp_path / "my-other.txt")
    tokenizer.add_tokens(["b\nc"])
    with pytest.raises(VocabularyError):
        tokenizer.save_vocabulary(tmp_path, include_added=True)
