"""Which profile a command reads a tokenizer with, what it says of that, and `--profile`."""

from __future__ import annotations

import json

import pytest

from tests.batches.shards import rows_in
from tests.cli.commands import run_saying_all, usage_error
from trietok import AutoTokenizer, BertTokenizer, BertTokenizerFast

TEXT = "cafe\u0301 hello"  # of which only the slow profile composes a character
WORDS = ("hello", "cafe", "caf\u00e9", "##\u0301", "[MASK]")


@pytest.fixture
def directory(vocab_file, tmp_path):
    """A cased model as transformers saves one, with a tokenizer.json."""
    path = tmp_path / "model"
    BertTokenizerFast(str(vocab_file(*WORDS)), do_lower_case=False).save_pretrained(path)
    return path


def said(*arguments: str, stdin: str = "") -> tuple[str, str]:
    """Both outputs of a run that goes well or finds something."""
    result = run_saying_all(*arguments, stdin=stdin)
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout, result.stderr


JAPANESE = '{"tokenizer_class": "BertJapaneseTokenizer", "word_tokenizer_type": "basic"}'


@pytest.mark.parametrize(
    ("has_json", "config", "profile"),
    [
        (True, None, "fast"),
        (True, "", "fast"),
        (False, None, "fast"),
        (False, "", "fast"),
        (False, '{"tokenizer_class": "BertTokenizerLegacy"}', "slow"),
        (False, JAPANESE, "slow"),
        (False, '{"tokenizer_class": "PreTrainedTokenizerFast"}', "fast"),
    ],
)
def test_the_files_of_a_directory_decide(directory, has_json, config, profile):
    """`config` replaces tokenizer_config.json; with the empty one it is not there."""
    if not has_json:
        (directory / "tokenizer.json").unlink()
    if config is not None:
        (directory / "tokenizer_config.json").write_text(config or "{}")
    if config == "":
        (directory / "tokenizer_config.json").unlink()
    assert f"trietok: profile: {profile}, because " in said("encode", "-m", str(directory), "a")[1]
    assert AutoTokenizer.from_pretrained(directory).profile == profile


@pytest.mark.parametrize("profile", [None, "slow", "fast"])
def test_commands_and_auto_tokenizer_give_the_same_ids(directory, tmp_path, profile):
    (tmp_path / "texts.txt").write_text(TEXT + "\n", encoding="utf-8")
    tokenizer = AutoTokenizer.from_pretrained(directory, use_fast=profile != "slow")
    ids, tokens = tokenizer.encode(TEXT), tokenizer.tokenize(TEXT)
    assert (len(ids) == 4) == (profile == "slow")
    model = ["-m", str(directory), *(["--profile", profile] if profile else [])]
    line = (
        f"{tokenizer.profile}, {'as asked for' if profile else 'because tokenizer.json is there'}"
    )
    # nobody needs to be told what was asked for
    shown = "" if profile else f"trietok: profile: {line}\n"
    assert said("encode", *model, TEXT) == (" ".join(map(str, ids)) + "\n", shown)
    assert said("tokenize", *model, TEXT) == (" ".join(tokens) + "\n", shown)
    assert said("decode", *model, *map(str, ids)) == (tokenizer.decode(ids) + "\n", shown)
    assert said("explain", *model, TEXT)[1] == shown
    values = json.loads(said("diff", *[str(directory)] * 2, *model[2:], "--json")[0])
    assert (values["profile"], f"{values['profile']}, {values['profile_why']}") == (
        tokenizer.profile,
        line,
    )
    _, on_error = said(
        "encode-files", *model, str(tmp_path / "texts.txt"), "-o", str(tmp_path / "ids")
    )
    assert on_error == shown
    assert rows_in(tmp_path / "ids")[0] == ids
    assert said("encode", "--quiet", *model, TEXT)[1] == ""
    assert said("encode", "-v", *model, TEXT)[1] == f"trietok: profile: {line}\n"
    assert said("encode", TEXT)[1] == ""  # a built-in vocabulary
    assert said("encode", "-v", TEXT)[1].startswith("trietok: profile: fast, because ")


def test_a_comparison_is_of_one_profile_unless_two_are_asked_for(directory, tmp_path):
    model, lock = str(directory), str(tmp_path / "lock.json")
    texts = tmp_path / "texts.txt"
    texts.write_text(TEXT + "\n", encoding="utf-8")
    for arguments in ((), ("--profile", "slow")):
        output, _ = said("diff", model, model, str(texts), *arguments)
        assert output.startswith("the ids are the same\n")
    output, _ = said("diff", model, model, str(texts), "--new-profile", "slow")
    assert output.startswith("the tokenizers differ")
    said("lock", "-m", model, str(texts), "-o", lock)
    assert "as locked" in said("verify", lock)[0]
    assert "has other ids than the lock" in said("verify", lock, "--profile", "slow")[0]


def test_what_a_profile_is_not_there_for(directory):
    (directory / "tokenizer_config.json").write_text('{"tokenizer_class": "BertJapaneseTokenizer"}')
    result = run_saying_all("encode", "-m", str(directory), "--profile", "fast", "a")
    assert f"{directory} is a BertJapaneseTokenizer" in result.stderr
    assert "'slow', 'fast'" in usage_error("encode", "--profile", "quick", "a")


def test_a_slow_class_says_once_that_the_files_ask_for_another(directory, caplog):
    def warnings():
        found = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return found

    (directory.parent / "asked").mkdir()
    for path in directory.iterdir():
        (directory.parent / "asked" / path.name).write_bytes(path.read_bytes())
    AutoTokenizer.from_pretrained(directory.parent / "asked", use_fast=False)
    BertTokenizerFast.from_pretrained(directory)
    AutoTokenizer.from_pretrained(directory)
    assert warnings() == []
    BertTokenizer.from_pretrained(directory)
    (line,) = warnings()
    assert line.startswith(f"{directory} has a tokenizer.json")
    BertTokenizer.from_pretrained(directory)
    assert warnings() == []
    other = directory.parent / "other"
    other.mkdir()
    (other / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\n")
    (other / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizerFast"}')
    BertTokenizer.from_pretrained(other)
    assert len(warnings()) == 1
