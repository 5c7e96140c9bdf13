"""Finding a tokenizer's files without a hub: directories, files and built-in names."""

from __future__ import annotations

import pytest
from huggingface_hub.utils import validate_repo_id

from tests.files.models import CASED, MODEL, TOKENIZER_JSON, UNCASED, VOCAB
from trietok import BertTokenizer, BertTokenizerFast, FileError


@pytest.mark.parametrize(
    "name",
    [
        *"./no/such/dir a/b/c /no/such/dir ~/models a//b a/ /a -a/b a/b- a--b a..b".split(),
        *"a/b.git modèle C:\\models https://example.org/a".split(),
        *("a b", "b" * 97, "a/b\n", "\0", "x" * 5000),
    ],
)
def test_a_name_that_is_no_path_and_no_model_is_refused_by_that_name(name):
    with pytest.raises(FileError) as caught:
        BertTokenizer.from_pretrained(name)
    assert caught.value.path == name
    assert "HuggingFace hub" not in str(caught.value)
    assert ("expanduser" in str(caught.value)) == name.startswith("~")


def test_an_empty_name_is_not_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "vocab.txt").write_text(VOCAB)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError):
        BertTokenizer.from_pretrained("")
    assert BertTokenizer.from_pretrained(".")("Hello world").input_ids == UNCASED


@pytest.mark.parametrize(
    "name",
    ["bert-base-uncased", "org/model", "a/b", "_a/_b", "o.r.g/m_1.5-x", "b" * 96, "a/" + "b" * 96],
)
def test_a_name_that_the_hub_allows_is_looked_up_there(name, tmp_path):
    validate_repo_id(name)
    with pytest.raises(FileError, match="HuggingFace hub"):
        BertTokenizer.from_pretrained(name, local_files_only=True, cache_dir=tmp_path)


def test_directories_and_files_load_by_path(tmp_path):
    directory = tmp_path / "model"
    (directory / "sub").mkdir(parents=True)
    for file, text in MODEL.items():
        (directory / file).write_text(text)
    (directory / "added_tokens.json").mkdir()  # not a file, so not there
    for name in (directory, str(directory)):
        assert BertTokenizer.from_pretrained(name)("Hello world").input_ids == CASED
        assert (
            BertTokenizer.from_pretrained(name, revision="v9", token="x")("Hello world").input_ids
            == CASED
        )
    for name in (directory / "vocab.txt", str(directory / "vocab.txt")):
        assert BertTokenizer.from_pretrained(name)("Hello world").input_ids == UNCASED
    assert (
        BertTokenizer.from_pretrained(tmp_path, subfolder="model")("Hello world").input_ids == CASED
    )

    for kind in (BertTokenizer, BertTokenizerFast):
        with pytest.raises(FileError):
            kind.from_pretrained(directory / "sub")
    (directory / "sub" / "tokenizer.json").write_text(TOKENIZER_JSON)
    with pytest.raises(FileError, match=r"it has tokenizer\.json"):
        BertTokenizer.from_pretrained(directory, subfolder="sub")
    with pytest.raises(FileError, match="subfolder"):
        BertTokenizer.from_pretrained(directory, subfolder="other")


def test_a_directory_wins_over_a_built_in_name(tmp_path, monkeypatch, english):
    (tmp_path / "trietok-en").mkdir()
    (tmp_path / "trietok-en" / "vocab.txt").write_text(VOCAB)
    monkeypatch.chdir(tmp_path)
    assert len(BertTokenizer.from_pretrained("trietok-en")) == 8 < len(english)
