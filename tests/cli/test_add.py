"""`trietok add`: what it prints, what it saves, what it names, how it fails."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import error, out, run, usage_error
from trietok import BertTokenizer, BertTokenizerFast, RowPlan, compare, plan_rows


@pytest.fixture
def terms(tmp_path) -> str:
    path = tmp_path / "terms.txt"
    path.write_text("Hellos\n\nworld\nhello world\nhellos\n", encoding="utf-8")
    return str(path)


def test_entries_and_what_is_named(tiny, terms, tmp_path):
    saved = str(tmp_path / "out")
    result = run("add", terms, "-m", tiny, "-o", saved)
    before, after = BertTokenizerFast.from_pretrained(tiny), BertTokenizerFast.from_pretrained(saved)
    assert result.exit_code == 0
    assert result.stdout.split("\n")[:-1] == [
        "1 term added as entries of the vocabulary",
        "1 known already: world",
        "1 listed twice: hellos",
        f"written to {saved}; the model needs 13 embedding rows; 16 as a multiple of 8",
        compare(before, after, []).proof,
    ]
    assert result.stdout.endswith(f"{before.fingerprint()[:18]} → {after.fingerprint()[:18]}\n")
    assert result.stderr == (
        f"trietok: warning: {terms}, line 4: 'hello world' is not added: this tokenizer splits it into 2 words, and a "
        "vocabulary entry can be only one; add it as an added token (--as single-word)\n"
    )
    assert after.tokenize("Hellos hello") == ["hellos", "hello"]


def test_other_ways_standard_input_and_the_plan(tiny, tmp_path):
    saved, plan = str(tmp_path / "out"), str(tmp_path / "plan.json")
    lines = out("add", "-", "-m", tiny, "-o", saved, "--as", "single-word", "--save-plan", plan, stdin="hello world\n")
    assert lines[0] == "1 term added as added tokens of single words"
    before, after = BertTokenizerFast.from_pretrained(tiny), BertTokenizerFast.from_pretrained(saved)
    assert after.tokenize("hello world, hello worlds")[:2] == ["hello world", "[UNK]"]
    assert RowPlan.load(plan) == plan_rows(before, after)
    out("add", "-", "-m", tiny, "-o", str(tmp_path / "special"), "--as", "added", "--special", stdin="[X]\n")
    fast = BertTokenizerFast.from_pretrained(tmp_path / "special")
    assert (tmp_path / "special" / "tokenizer.json").is_file()
    assert fast.tokenize("hello[X]") == ["hello", "[X]"]


def test_json(tiny, terms, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("hellos, helloso\n", encoding="utf-8")
    (line,) = out("add", terms, "-m", tiny, "-o", str(tmp_path / "out"), "--json", "-t", str(text))
    values = json.loads(line)
    assert (values["added"], values["known"], values["duplicates"]) == ({"hellos": 12}, ["world"], ["hellos"])
    assert [(each["line"], each["term"]) for each in values["refused"]] == [(4, "hello world")]
    assert [each["way"] for each in values["effects"]] == ["wordpiece", "added", "single-word"]
    assert values["effects"][0]["other_words"] == []
    assert values["rows_command"] is None
    assert values["proof"].startswith("12 ids unchanged, 0 moved, 0 lost, 1 new; fingerprint ")


def test_a_model_in_the_directory(tiny, tmp_path):
    model = tmp_path / "a model"
    BertTokenizer.from_pretrained(tiny).save_pretrained(model)
    (model / "model.safetensors").write_bytes(b"")
    saved = str(tmp_path / "out")
    lines = out("add", "-", "-m", str(model), "-o", saved, stdin="hellos\n")
    assert lines[-2] == (
        f"{model} holds a model; update its rows with: "
        f"trietok rows '{model}' --tokenizer {saved} --output {saved}-model"
    )


def test_terms_that_are_all_known(tiny, tmp_path):
    model, saved = tmp_path / "model", str(tmp_path / "out")
    BertTokenizer.from_pretrained(tiny).save_pretrained(model)
    (model / "pytorch_model.bin").write_bytes(b"")
    lines = out("add", "-", "-m", str(model), "-o", saved, stdin="hello\nworld\nhello\nHello\n")
    assert lines[:-1] == [
        "0 terms added as entries of the vocabulary",
        "2 known already: hello, world",
        "2 listed twice: hello, Hello",
        f"written to {saved}; no term is new, so its ids are those of before, and a model needs no other rows",
    ]


@pytest.mark.parametrize("command", ["add", "trim"])
def test_a_tokenizer_json_is_written_unless_the_slow_profile_is_asked_for(tiny, tmp_path, command):
    model, words = tmp_path / "model", tmp_path / "words.txt"
    words.write_text("hello hellos world\n", encoding="utf-8")
    BertTokenizerFast.from_pretrained(tiny).save_pretrained(model)

    arguments = [str(words), "-m", str(model), "--as", "added"] if command == "add" else [str(model), str(words)]
    out(command, *arguments, "-o", str(tmp_path / "a"))
    assert (tmp_path / "a" / "tokenizer.json").is_file()
    fast = BertTokenizerFast.from_pretrained(tmp_path / "a")
    assert fast.get_vocab() == BertTokenizer.from_pretrained(tmp_path / "a").get_vocab()
    out(command, *arguments, "-o", str(tmp_path / "b"), "--profile", "slow")
    assert not (tmp_path / "b" / "tokenizer.json").exists()
    (model / "vocab.txt").write_text((model / "vocab.txt").read_text().replace("world", "other"))
    assert "hold different tokens; remove or correct" in error(command, *arguments, "-o", str(tmp_path / "c"))
    assert not (tmp_path / "c").exists()


def test_errors_save_nothing(tiny, terms, tmp_path):
    new = str(tmp_path / "new")
    assert error("add", "no.txt", "-o", new) == "cannot read no.txt: No such file or directory"
    assert error("add", "-", "-o", new, stdin=" \n\n") == "there is no term in standard input; write one on each line"
    none = error("add", "-", "-o", new, stdin="\na b\n")
    assert none.startswith(
        "no term is added; 1 refused: standard input, line 2, 'a b': this tokenizer splits it into 2"
    )
    none = error("add", "-", "-m", tiny, "-o", new, stdin="hello\nworld\na b\n")
    assert none.startswith("no term is added; 2 known already: hello, world; 1 refused: standard input, line 3, 'a b'")
    assert "byte 0xff" in error("add", "-", "-o", new, stdin=b"a\n\xff\n")
    assert "is there already" in error("add", terms, "-o", str(tmp_path))
    assert "2 new terms and 0 free slots" in error("add", "-", "-m", tiny, "-o", new, "--as", "unused", stdin="x\ny\n")
    assert "is not special" in error("add", terms, "-o", new, "--special")
    assert "--as" in usage_error("add", terms, "-o", new, "--as", "anyhow")
    assert not (tmp_path / "new").exists()
