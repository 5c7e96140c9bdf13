"""`trietok rows`: what it prints, what it writes, how it fails."""

from __future__ import annotations

import copy
import json

import pytest

import trietok
from tests.cli.commands import error, out, run, usage_error
from tests.vocabulary.models import bert, numbers, read_tensors, save_model, two_tokenizers
from trietok import AutoTokenizer, BertTokenizer

ROWS, AFTER = 11, 13


@pytest.fixture
def two(vocab_file):
    return two_tokenizers(vocab_file)


@pytest.fixture
def model(two, tmp_path) -> str:
    return str(save_model(tmp_path / "model", bert(ROWS), ROWS, tokenizer=two[0]))


@pytest.fixture
def new(two, tmp_path) -> str:
    two[1].save_pretrained(tmp_path / "new")
    return str(tmp_path / "new")


def table_of(directory):
    return read_tensors(directory / "model.safetensors")["bert.embeddings.word_embeddings.weight"]


def test_what_it_says(model, new, two, tmp_path):
    _, _, plan = two
    slow = ("--profile", "slow")
    lines = out("rows", "-m", model, "-o", str(tmp_path / "out"), "--new-tokenizer", new, *slow)
    for line in (
        "cls.predictions.decoder.weight          11 × 4  13 × 4  F32",
        "the model had 11 rows and has 13",
        "11 of 11 rows kept (0 moved), 0 lost, 2 new",
    ):
        assert line in lines
    assert (
        AutoTokenizer.from_pretrained(tmp_path / "out", use_fast=False).fingerprint() == plan.after
    )
    assert len(table_of(tmp_path / "out")) == AFTER


def test_json(model, new, two, tmp_path):
    given = (
        "rows",
        "-m",
        model,
        "-o",
        str(tmp_path / "out"),
        "--new-tokenizer",
        new,
        "--profile",
        "slow",
    )
    (line,) = out(*given, "--multiple-of", "8", "--json")
    values = json.loads(line)
    assert values["plan"] == {
        **{
            "before": two[2].before,
            "after": two[2].after,
            "rows_before": ROWS,
            "rows_after": AFTER,
        },
        **{"kept": 11, "moved": 0, "lost": 0, "made": 2},
    }
    assert (values["rows_before"], values["rows_after"], values["has_tokenizer"]) == (11, 16, True)
    assert values["tensors"][0] == {
        "name": "bert.embeddings.word_embeddings.weight",
        **{"before": [11, 4], "after": [16, 4], "dtype": "F32", "file": "model.safetensors"},
    }


def test_a_tokenizer_json_stays_one(model, two, tmp_path):
    two[1].save_pretrained(tmp_path / "new", tokenizer_json=True)
    out("rows", "-m", model, "-o", str(tmp_path / "out"), "--new-tokenizer", str(tmp_path / "new"))
    assert (tmp_path / "out" / "tokenizer.json").is_file()
    fast = [AutoTokenizer.from_pretrained(tmp_path / name).fingerprint() for name in ("new", "out")]
    assert fast[0] == fast[1]


def test_another_vocabulary_is_taken_only_by_force(model, two, tmp_path, vocab_file):
    other = str(vocab_file(*(f"word{number}" for number in range(20))))
    command = ("rows", "-m", model, "-o", str(tmp_path / "out"), "--new-tokenizer", other)
    assert "--allow-other-vocabulary" in error(*command)
    assert not (tmp_path / "out").exists()
    result = run(*command, "--allow-other-vocabulary")
    assert result.exit_code == 0
    assert "5 of 11 rows kept (0 moved), 6 lost, 20 new" in result.stderr
    assert len(table_of(tmp_path / "out")) == 25


def test_a_trimmed_model_is_given_its_former_vocabulary_only_by_force(tmp_path, vocab_file):
    words = [f"{first}{second}" for first in "abcdefghijkl" for second in "mnopqrstuvwxyz"] + [
        "☃☃",
        "☕",
    ]
    whole = BertTokenizer(str(vocab_file(*words)))
    trimmed = trietok.trim(whole, ["am an bo", "the"]).tokenizer
    size = trimmed.max_id + 1
    model = str(save_model(tmp_path / "trimmed", bert(size), size, tokenizer=trimmed))
    whole.save_pretrained(tmp_path / "whole")
    command = (
        "rows",
        "-m",
        model,
        "-o",
        str(tmp_path / "out"),
        "--new-tokenizer",
        str(tmp_path / "whole"),
    )
    many = len(words) - 3
    assert "--allow-many-new" in error(*command)
    assert not (tmp_path / "out").exists()
    (line,) = out(*command, "--allow-many-new", "--json")
    assert len(json.loads(line)["unknown"]) == many


@pytest.mark.parametrize(("more", "is_taken"), [(100, True), (101, False)])
def test_a_hundred_new_rows_are_no_other_vocabulary(two, model, tmp_path, more, is_taken):
    after = copy.deepcopy(two[0])
    after.add_wordpieces(
        ["co" + f"{number:07b}".replace("0", "v").replace("1", "id") for number in range(more)]
    )
    after.save_pretrained(tmp_path / "new")
    result = run(
        "rows", "-m", model, "-o", str(tmp_path / "out"), "--new-tokenizer", str(tmp_path / "new")
    )
    assert (result.exit_code == 0) == is_taken == (tmp_path / "out").exists()


def test_what_cannot_be_saved_leaves_the_output_as_it_was(two, model, tmp_path):
    after = copy.deepcopy(two[0])
    after.add_tokens(["a b", "c d"])
    after.remove_tokens(["a b"])
    after.save_pretrained(tmp_path / "new")
    new, output = str(tmp_path / "new"), str(tmp_path / "out")
    command = ("rows", "-m", model, "--new-tokenizer", new, "-o", output)
    assert run(*command, "--profile", "slow").exit_code == 0
    before = (tmp_path / "out" / "vocab.txt").read_bytes()
    assert "tokenizer.json" in error(*command, "--force", "--profile", "fast")
    assert (tmp_path / "out" / "vocab.txt").read_bytes() == before


def test_tensors_that_trietok_does_not_know(model, new, two, tmp_path):
    tensors = {**bert(ROWS), "scorer.table": numbers(ROWS, 3), "scorer.odd": numbers(3, ROWS)}
    directory = str(save_model(tmp_path / "odd", tensors, ROWS, tokenizer=two[0]))
    message = error("rows", "-m", directory, "-o", str(tmp_path / "out"), "--new-tokenizer", new)
    assert "'scorer.table' of shape [11, 3] in model.safetensors" in message
    lines = out(
        *("rows", "-m", directory, "-o", str(tmp_path / "out"), "--new-tokenizer", new),
        *("--also", "scorer.table", "--leave", "scorer.o*"),
    )
    assert any(
        line.split() == ["scorer.table", "11", "×", "3", "13", "×", "3", "F32"] for line in lines
    )


def test_mistakes(model, new, tmp_path):
    target = str(tmp_path / "out")
    assert "Missing option '--new-tokenizer'" in usage_error("rows", "-m", model, "-o", target)
    rows = ("rows", "--new-tokenizer", new)
    assert "'nothing'" in error(
        *rows, "-m", model, "-o", target, "--initialization", "copy:nothing"
    )
    assert "is there already" in error(*rows, "-m", model, "-o", new)
    assert "nowhere" in error(*rows, "-m", "nowhere", "-o", target)
    assert "config.json" in error(*rows, "-m", new, "-o", target)
    assert not (tmp_path / "out").exists()
