"""`trietok add`: what it prints, what it saves, what it names, how it fails."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import error, out, run, usage_error
from trietok import BertTokenizer, BertTokenizerFast, compare


@pytest.fixture
def terms(tmp_path) -> str:
    path = tmp_path / "terms.txt"
    path.write_text("Hellos\n\nworld\nhello world\nhellos\n", encoding="utf-8")
    return str(path)


def test_entries_and_what_is_named(tiny, terms, tmp_path):
    saved = str(tmp_path / "out")
    result = run("add", "--terms", terms, "-m", tiny, "-o", saved, "--profile", "slow")
    before, after = BertTokenizer.from_pretrained(tiny), BertTokenizer.from_pretrained(saved)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.split("\n")[:-1] == [
        "2 terms added: 1 entry of the vocabulary, 1 added token (whole words)",
        "1 known already: world",
        "1 listed twice: hellos",
        f"written to {saved}; the model needs 14 embedding rows; 16 as a multiple of 8",
        compare(before, after, []).proof,
    ]
    assert result.stdout.endswith(f"{before.fingerprint()[:18]} → {after.fingerprint()[:18]}\n")
    assert after.tokenize("Hellos hello; hello world, hello") == [
        "hellos",
        "hello",
        "[UNK]",
        "hello world",
        "[UNK]",
        "hello",
    ]


def test_what_is_left_out_is_named_and_gives_an_exit_code(tiny, terms, tmp_path):
    given = ("add", "--terms", terms, "-m", tiny, "--way", "wordpiece")
    result = run(*given, "-o", str(tmp_path / "out"))
    assert (result.exit_code, "--allow-left-out" in result.stderr) == (1, True)
    assert "1 term added: 1 entry of the vocabulary" in result.stdout.split("\n")
    assert "left out: 'hello world', number 4: " in result.stdout
    out(*given, "-o", str(tmp_path / "again"), "--allow-left-out")
    assert (tmp_path / "out" / "vocab.txt").read_bytes() == (
        tmp_path / "again" / "vocab.txt"
    ).read_bytes()


def test_other_ways_and_standard_input(tiny, tmp_path):
    saved = str(tmp_path / "out")
    given = ("add", "--terms", "-", "-m", tiny, "-o")
    lines = out(*given, saved, "--way", "single-word", stdin="hello world\n")
    assert lines[0] == "1 term added: 1 added token (whole words)"
    after = BertTokenizerFast.from_pretrained(saved)
    assert after.tokenize("hello world, hello worlds")[:2] == ["hello world", "[UNK]"]
    out(*given, str(tmp_path / "special"), "--special", "--profile", "fast", stdin="[X]\n")
    fast = BertTokenizerFast.from_pretrained(tmp_path / "special")
    assert (tmp_path / "special" / "tokenizer.json").is_file()
    assert fast.tokenize("hello[X]") == ["hello", "[X]"]


def test_json(tiny, terms, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hellos, helloso\n", encoding="utf-8")
    given = ("add", "--terms", terms, "-m", tiny, "-o", str(tmp_path / "out"), "--way", "wordpiece")
    (line,) = out(*given, "--json", "--allow-left-out", str(text))
    values = json.loads(line)
    assert (values["added"], values["known"], values["duplicates"]) == (
        {"hellos": 12},
        ["world"],
        ["hellos"],
    )
    assert [(each["number"], each["term"]) for each in values["refused"]] == [(4, "hello world")]
    assert [each["way"] for each in values["effects"]] == [
        "auto",
        "wordpiece",
        "single-word",
        "added",
    ]
    assert values["effects"][0]["other_words"] == []
    assert values["rows_command"] is None
    assert values["proof"].startswith("12 ids unchanged, 0 moved, 0 lost, 1 new; fingerprint ")


def test_a_model_in_the_directory(tiny, tmp_path):
    model = tmp_path / "a model"
    BertTokenizer.from_pretrained(tiny).save_pretrained(model)
    (model / "model.safetensors").write_bytes(b"")
    saved = str(tmp_path / "out")
    lines = out("add", "--terms", "-", "-m", str(model), "-o", saved, stdin="hellos\n")
    assert (
        lines[-2] == f"{model} holds a model; update its rows with: "
        f"trietok rows -m '{model}' --new-tokenizer {saved} -o {saved}-model"
    )


def test_terms_that_are_all_known(tiny, tmp_path):
    model, saved = tmp_path / "model", str(tmp_path / "out")
    BertTokenizer.from_pretrained(tiny).save_pretrained(model)
    (model / "pytorch_model.bin").write_bytes(b"")
    lines = out(
        "add", "--terms", "-", "-m", str(model), "-o", saved, stdin="hello\nworld\nhello\nHello\n"
    )
    assert lines[:-2] == [
        "0 terms added",
        "2 known already: hello, world",
        "2 listed twice: hello, Hello",
    ]


@pytest.mark.parametrize("command", ["add", "trim"])
def test_a_tokenizer_json_is_written_where_there_was_one(tiny, tmp_path, command):
    model, words = tmp_path / "model", tmp_path / "words.txt"
    words.write_text("hello hellos world\n", encoding="utf-8")
    BertTokenizerFast.from_pretrained(tiny).save_pretrained(model)

    arguments = ["-m", str(model), *(["--terms", str(words)] if command == "add" else [str(words)])]
    out(command, *arguments, "-o", str(tmp_path / "a"))
    assert (tmp_path / "a" / "tokenizer.json").is_file()
    fast = BertTokenizerFast.from_pretrained(tmp_path / "a")
    assert fast.get_vocab() == BertTokenizer.from_pretrained(tmp_path / "a").get_vocab()
    out(command, *arguments, "-o", str(tmp_path / "b"), "--profile", "slow")
    assert not (tmp_path / "b" / "tokenizer.json").exists()
    (model / "vocab.txt").write_text((model / "vocab.txt").read_text().replace("world", "other"))
    result = run(command, *arguments, "-o", str(tmp_path / "c"))
    assert result.exit_code == 2
    assert not (tmp_path / "c").exists()


def test_errors_save_nothing(tiny, terms, tmp_path):
    new = str(tmp_path / "new")
    given = ("add", "-m", "trietok-en", "-o", new, "--terms")
    assert "no.txt" in error(*given, "no.txt")
    assert str(tmp_path) in error(*given, str(tmp_path))
    error(*given, "-", stdin=" \n\n")
    assert "'a b', number 2" in error(*given, "-", "--way", "wordpiece", stdin="\na b\n")
    none = error(*given, "-", "-m", tiny, "--way", "wordpiece", stdin="hello\nworld\na b\n")
    assert "2 known already: hello, world" in none
    assert "byte 0xff" in error(*given, "-", stdin=b"a\n\xff\n")
    assert "is there already" in error("add", "-m", tiny, "--terms", terms, "-o", str(tmp_path))
    error(*given, "-", "-m", tiny, "--way", "unused", stdin="x\ny\n")
    error(*given, terms, "--special", "--way", "wordpiece")
    assert "--way" in usage_error(*given, terms, "--way", "anyhow")
    assert "Missing option '--terms'" in usage_error("add", "-m", tiny, "-o", new)
    assert "Missing option '--model'" in usage_error("add", "--terms", terms, "-o", new)
    usage_error(*given, "-", "-")
    assert not (tmp_path / "new").exists()
