"""What `trietok train bpe` makes, given to those who load WordPiece vocabularies: they say what it
is.
"""

from __future__ import annotations

import json
import pathlib

import pytest
import tokenizers

from trietok import (
    AutoTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    Bpe,
    FileError,
    FileFormatError,
    TokenizerClassError,
    check,
    load_vocab,
    train_bpe,
)
from trietok.training import Segmenter, save_chinese_bpe, train_chinese_bpe


@pytest.fixture
def bpe(tmp_path) -> pathlib.Path:
    """A directory as `trietok train bpe` writes it."""
    train_bpe(["low lower lowest"], vocab_size=20, unk_token="<unk>").save(tmp_path / "bpe")
    return tmp_path / "bpe"


@pytest.fixture
def recipe(tmp_path) -> pathlib.Path:
    """A directory as `trietok train bpe --recipe chinese` writes it."""
    save_chinese_bpe(
        train_chinese_bpe(["天天向上", "天天"], vocab_size=8), tmp_path / "recipe", log=["a line"]
    )
    return tmp_path / "recipe"


def says_what_it_is(message: str, directory: pathlib.Path) -> bool:
    """Whether a message names the directory, what made it and what loads it."""
    known = {
        "bpe": ("`trietok train bpe`", "Bpe.from_directory", "transformers' AutoTokenizer"),
        "recipe": ("`trietok train bpe --recipe chinese`", "trietok.AutoTokenizer"),
    }
    return all(words in message for words in (str(directory), *known[directory.name]))


def test_auto_tokenizer_and_check_say_what_a_directory_of_merges_is(bpe):
    for subfolder in (None, "bpe"):
        with pytest.raises(TokenizerClassError) as caught:
            AutoTokenizer.from_pretrained(bpe.parent if subfolder else bpe, subfolder=subfolder)
        assert says_what_it_is(str(caught.value), bpe)
    (finding,) = check(bpe).findings
    assert finding.code == "other-kind"
    assert says_what_it_is(finding.message, bpe)
    (bpe / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(FileError) as caught:
        AutoTokenizer.from_pretrained(bpe)
    assert says_what_it_is(str(caught.value), bpe)


@pytest.mark.parametrize("model", ["BPE", "Unigram", "WordLevel"])
def test_a_tokenizer_json_of_another_model_next_to_a_vocabulary_is_refused(bpe, vocab_file, model):
    content = json.loads((bpe / "tokenizer.json").read_text())
    content["model"]["type"] = model
    (bpe / "tokenizer.json").write_text(json.dumps(content))
    vocab_file("low").rename(bpe / "vocab.txt")
    for kind in (AutoTokenizer, BertTokenizerFast):
        with pytest.raises(FileFormatError, match=model):
            kind.from_pretrained(bpe)


@pytest.mark.parametrize("name", ["bpe", "recipe"])
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_the_classes_of_bert_say_what_the_directory_is(request, name, kind):
    directory = request.getfixturevalue(name)
    files = {"bpe": ("vocab.json", "merges.txt", "tokenizer.json"), "recipe": ("vocab.txt",)}[name]
    with pytest.raises(FileError) as caught:
        kind.from_pretrained(directory)
    assert says_what_it_is(str(caught.value), directory)
    assert caught.value.path == str(directory)
    with pytest.raises(FileError) as caught:
        kind.from_pretrained(directory.parent, subfolder=name)
    assert says_what_it_is(str(caught.value), directory)
    for file in files:
        with pytest.raises(FileError) as caught:
            kind.from_pretrained(directory / file)
        assert says_what_it_is(str(caught.value), directory)


def test_the_classes_that_the_messages_name_load_the_directories(bpe, recipe):
    assert Bpe.from_directory(bpe).tokenize("low") == ["low"]
    assert AutoTokenizer.from_pretrained(recipe).tokenize("天天") == ["天天"]
    assert Segmenter(load_vocab(recipe / "vocab.txt")).left_to_right("天天") == ["天天"]
    rust = tokenizers.Tokenizer.from_file(str(bpe / "tokenizer.json"))
    assert rust.encode("low").tokens == ["low"]
