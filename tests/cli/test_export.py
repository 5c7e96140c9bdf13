"""The command `export`."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import error, out, run, usage_error
from trietok import BertTokenizer, BertTokenizerFast


@pytest.fixture
def texts(tmp_path, tiny, monkeypatch) -> str:
    """The path of a file of texts, of which the profiles tell two apart; the present directory is
    an empty one.
    """
    path = tmp_path / "texts.txt"
    path.write_text("hello\nhel\u0378lo\nworld\nhel\u0379lo\n", encoding="utf-8")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return str(path)


def test_tokenizer_json_and_what_its_readers_do_otherwise(tiny, texts):
    result = run(
        "export",
        "-m",
        tiny,
        "--profile",
        "slow",
        "--format",
        "tokenizer.json",
        texts,
        "--most",
        "1",
    )
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout.splitlines() == [
        "written to tokenizer.json; BertTokenizerFast gives other ids for 2 of 4 texts",
        "text 2, 0-6: 'hel\\u0378lo'",
        "    the tokenizer: hello",
        "    the reader:    [UNK]",
        "  cleaned: the tokenizer deletes U+0378 <reserved-0378>, the reader does not",
        "  ... and 1 more text",
    ]
    assert BertTokenizerFast(tokenizer_file="tokenizer.json").encode("hello") == BertTokenizer(
        tiny
    ).encode("hello")


def test_the_exit_code(tiny, texts):
    assert (
        run("export", "-m", tiny, "--format", "tokenizer.json", texts, "-o", "b.json").exit_code
        == 0
    )
    arguments = [
        "export",
        "-m",
        tiny,
        "--profile",
        "slow",
        "--format",
        "tokenizer.json",
        texts,
        "-o",
        "a.json",
    ]
    assert run(*arguments).exit_code == 1
    # the sample has no such text
    assert run("export", "-m", tiny, "--format", "vocab.txt").exit_code == 0


def test_as_json_and_checked_by_the_library(tiny, texts):
    pytest.importorskip("tokenizers")
    slow = ("export", "-m", tiny, "--profile", "slow")
    arguments = (*slow, "--format", "tokenizer.json", texts, "--with", "tokenizers", "--json")
    values = json.loads(run(*arguments).stdout)
    assert (values["differing"], values["texts"], list(values["checked"].values())) == (2, 4, [0])
    assert values["examples"][0]["tokens"] == ["hello"]


def test_vocab_txt(tiny, texts, tmp_path):
    said = run(
        "export", "-m", tiny, "--format", "vocab.txt", texts, "-o", "v.txt"
    ).stdout.splitlines()
    assert said[0] == "written to v.txt; BertTokenizer gives other ids for 2 of 4 texts"
    assert (tmp_path / "work" / "v.txt").read_bytes() == (tmp_path / "vocab.txt").read_bytes()


def test_mistakes(tiny, texts, tmp_path):
    out("export", "-m", tiny, "--format", "vocab.txt")
    assert (
        error("export", "-m", tiny, "--format", "vocab.txt")
        == "vocab.txt is there already; name another place with -o, or replace it with --force"
    )
    out("export", "-m", tiny, "--format", "vocab.txt", "--force")
    tokenizer = BertTokenizerFast(tiny)
    tokenizer.add_tokens(["<x>"])
    tokenizer.save_pretrained(tmp_path / "added")
    assert (
        error("export", "-m", str(tmp_path / "added"), "--format", "vocab.txt", "-o", "v.txt")
        == "a vocab.txt alone cannot say what this BertTokenizerFast is: 1 added token ('<x>'),"
        " which would be found no more. Change that, or save the whole directory with"
        " save_pretrained"
    )
    assert (
        error("export", "-m", tiny, "--format", "vocab.txt", texts, "-o", texts, "--force")
        == f"{texts} is what the command reads; name another place with -o"
    )
    (tmp_path / "empty.txt").write_text("")
    arguments = (str(tmp_path / "empty.txt"), "-o", "new.txt")
    assert error("export", "-m", tiny, "--format", "vocab.txt", *arguments).startswith(
        "there is no text, so nothing"
    )
    assert "vocab.json" in usage_error("export", "-m", tiny, "--format", "vocab.json")
    assert "--format" in usage_error("export", "-m", tiny)
