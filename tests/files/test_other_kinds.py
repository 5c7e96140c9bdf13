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
    train_bpe,
)
from trietok.training import save_chinese_bpe, train_chinese_bpe

# What a message about a directory names besides its path: what made it and what loads it.
NAMED = {
    "bpe": ("`trietok train bpe`", "Bpe.from_directory", "transformers' AutoTokenizer"),
    "recipe": ("`trietok train bpe --recipe chinese`", "trietok.AutoTokenizer"),
}


@pytest.fixture
def trained(tmp_path) -> pathlib.Path:
    """A folder with the directories of an encoding and of the Chinese recipe."""
    train_bpe(["low lower lowest"], vocab_size=20, unk_token="<unk>").save(tmp_path / "bpe")
    recipe = train_chinese_bpe(["天天向上", "天天"], vocab_size=8)
    save_chinese_bpe(recipe, tmp_path / "recipe", log=["a line"])
    return tmp_path


def assert_says_what_it_is(message: str, directory: pathlib.Path) -> None:
    named = (str(directory), *NAMED[directory.name])
    assert [part for part in named if part not in message] == [], message


def test_auto_tokenizer_and_check_say_what_a_directory_of_merges_is(trained):
    bpe = trained / "bpe"
    for path, options in ((bpe, {}), (trained, {"subfolder": "bpe"})):
        with pytest.raises(TokenizerClassError) as caught:
            AutoTokenizer.from_pretrained(path, **options)
        assert_says_what_it_is(str(caught.value), bpe)
    (finding,) = check(bpe).findings
    assert finding.code == "does-not-load"
    assert_says_what_it_is(finding.message.replace("the directory", str(bpe), 1), bpe)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_the_classes_of_bert_say_what_the_directory_is(trained, name, kind):
    directory = trained / name
    for path in (directory, *directory.glob("*.txt"), *directory.glob("tokenizer.json")):
        with pytest.raises(FileError) as caught:
            kind.from_pretrained(path)
        assert_says_what_it_is(str(caught.value), directory)


@pytest.mark.parametrize("model", ["BPE", "Unigram", "WordLevel"])
def test_a_tokenizer_json_of_another_model_next_to_a_vocabulary_is_refused(
    trained, vocab_file, model
):
    path = trained / "bpe" / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["type"] = model
    path.write_text(json.dumps(content))
    vocab_file("low").rename(path.parent / "vocab.txt")
    for kind in (AutoTokenizer, BertTokenizerFast):
        with pytest.raises(FileFormatError, match=model):
            kind.from_pretrained(path.parent)


def test_the_classes_that_the_messages_name_load_the_directories(trained):
    assert Bpe.from_directory(trained / "bpe").tokenize("low") == ["low"]
    assert AutoTokenizer.from_pretrained(trained / "recipe").tokenize("天天") == ["天天"]
    rust = tokenizers.Tokenizer.from_file(str(trained / "bpe" / "tokenizer.json"))
    assert rust.encode("low").tokens == ["low"]
    assert check(trained / "recipe").ok
