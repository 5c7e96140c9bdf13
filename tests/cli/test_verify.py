"""The command `verify`."""

from __future__ import annotations

import json
import os

import pytest

import trietok
from tests.cli.commands import out, run, usage_error
from tests.vocabulary.engines import write_flash, write_package
from trietok import BertTokenizer, BertTokenizerFast, Lock, lock, verify

WORDS = ("hello", "world", "hel", "##lo")  # ids from 5


@pytest.fixture
def model(tmp_path, vocab_file, monkeypatch):
    """A directory of a tokenizer, which its lock in the present directory names."""
    (tmp_path / "model").mkdir()
    vocab_file(*WORDS, name="model/vocab.txt")
    tokenizer = BertTokenizer.from_pretrained(str(tmp_path / "model"))
    tokenizer.save_pretrained(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    lock(tokenizer, ["hello world", "Hello", "a\u0378b"]).save()
    return tmp_path / "model"


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A directory from which the processes import first."""
    directory = tmp_path / "packages"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    return directory


def test_one_line_of_proof(model, tmp_path):
    proof = verify(BertTokenizer.from_pretrained(model), "trietok.lock.json").summary
    assert (
        out("verify")
        == out("verify", "trietok.lock.json")
        == out("verify", "-m", "model")
        == [proof]
    )
    os.chdir("/")
    assert out("verify", str(tmp_path / "trietok.lock.json")) == [proof]


def test_a_lock_of_the_fast_profile_is_verified_in_it(model):
    lock(BertTokenizerFast.from_pretrained(str(model)), ["a\u0378b"]).save("fast.json")
    assert out("verify", "fast.json")[0].startswith(f"trietok {trietok.__version__}: 1 text, 3 ids")


def test_a_change_is_exit_code_1_and_the_report(model, vocab_file):
    vocab_file("hello", "mars", *WORDS[2:], name="model/vocab.txt")
    result = run("verify")
    assert (result.exit_code, result.stderr) == (1, "")
    assert result.stdout == str(verify(BertTokenizer.from_pretrained(model), Lock.load())) + "\n"
    as_json = run("verify", "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["changed_texts"][0]["locked_tokens"] == [
        "[CLS]",
        "hello",
        "world",
        "[SEP]",
    ]


def test_several_libraries(model, packages):
    write_flash(packages, "def answer(text, ids): return ids if text != 'Hello' else [2, 7, 8, 3]")
    BertTokenizer.from_pretrained(model).save_pretrained(model, tokenizer_json=True)
    result = run(
        "verify",
        "--with",
        "flash-tokenizer",
        "--with",
        "tokenizers",
        "--with",
        "tokenizers",
        "--json",
    )
    assert result.exit_code == 1
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["engine"], each["differing"]) for each in found] == [
        ("trietok", 0),
        ("flash-tokenizer", 1),
        ("tokenizers", 0),
    ]


def test_a_library_that_is_not_installed(model, packages):
    write_package(
        packages, "flash_tokenizer", "raise ModuleNotFoundError('no', name='flash_tokenizer')"
    )
    write_package(
        packages,
        "transformers",
        "import trietok\n__version__ = '9.9'\nBertTokenizer = trietok.BertTokenizer",
    )
    result = run("verify", "--with", "flash-tokenizer", "--with", "transformers")
    assert result.exit_code == 2
    # it is asked all the same
    assert result.stdout.split("\n")[1].startswith("transformers 9.9: 3 texts, ")
    assert result.stdout.count("\n") == 2
    assert "pip install flash-tokenizer" in result.stderr
    assert "rust" in usage_error("verify", "--with", "rust")


def test_what_cannot_be_verified(model, tmp_path):
    result = run("verify", "no.json")
    assert (result.exit_code, "no.json" in result.stderr) == (2, True)
    model.rename(tmp_path / "gone")
    assert "-m DIR" in run("verify").stderr
    assert run("verify", "-m", "gone").exit_code == 0
    assert "./model" in run("verify", "-m", "./model").stderr
    (tmp_path / "trietok.lock.json").write_text('{"format": "trietok-lock-9"}')
    assert run("verify", "-m", "gone").exit_code == 2
