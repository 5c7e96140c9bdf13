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
    before, after = BertTokenizer.from_pretrained(tiny), BertTokenizer.from_pretrained(saved)
    assert result.exit_code == 0
    assert result.stdout.split("\n")[:-1] == [
        "1 term added as entries of the vocabulary",
        "1 known already: world",
        "1 there twice: hellos",
        f"written to {saved}; the model needs 13 embedding rows; 16 as a multiple of 8",
        compare(before, after, []).proof,
    ]
    assert result.stdout.endswith(f"{before.fingerprint()[:18]} → {after.fingerprint()[:18]}\n")
    assert result.stderr == (
        f"trietok: warning: {terms}, line 4: 'hello world' is not added: it is 2 words to this tokenizer, and an entry "
        "is one at most; add it as an added token\n"
    )
    assert after.tokenize("Hellos hello") == ["hellos", "hello"]


def test_other_ways_standard_input_and_the_plan(tiny, tmp_path):
    saved, plan = str(tmp_path / "out"), str(tmp_path / "plan.json")
    lines = out("add", "-", "-m", tiny, "-o", saved, "--as", "single-word", "--save-plan", plan, stdin="hello world\n")
    assert lines[0] == "1 term added as added tokens of single words"
    before, after = BertTokenizer.from_pretrained(tiny), BertTokenizer.from_pretrained(saved)
    assert after.tokenize("hello world, hello worlds")[:2] == ["hello world", "[UNK]"]
    assert RowPlan.load(plan) == plan_rows(before, after)
    out("add", "-", "-m", tiny, "-o", str(tmp_path / "special"), "--as", "added", "--special", "--fast", stdin="[X]\n")
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
        f"{model} holds a model, whose rows have to follow: "
        f"trietok rows '{model}' --tokenizer {saved} --output {saved}-model"
    )


def test_errors_save_nothing(tiny, terms, tmp_path):
    new = str(tmp_path / "new")
    assert error("add", "no.txt", "-o", new) == "cannot read no.txt: No such file or directory"
    assert error("add", "-", "-o", new, stdin=" \n\n") == "there is no term in standard input; write one on each line"
    none = error("add", "-", "-o", new, stdin="\na b\n")
    assert none.startswith("none of the terms can be added; standard input, line 2, 'a b': it is 2 words")
    assert "byte 0xff" in error("add", "-", "-o", new, stdin=b"a\n\xff\n")
    assert "is there already" in error("add", terms, "-o", str(tmp_path))
    assert "2 new terms and 0 free slots" in error("add", "-", "-m", tiny, "-o", new, "--as", "unused", stdin="x\ny\n")
    assert "is not special" in error("add", terms, "-o", new, "--special")
    assert "--as" in usage_error("add", terms, "-o", new, "--as", "anyhow")
    assert not (tmp_path / "new").exists()
