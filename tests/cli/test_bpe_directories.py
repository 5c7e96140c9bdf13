"""Every command on what `trietok train bpe` writes: it works, or one line says why not."""

from __future__ import annotations

import json
import pathlib

import pytest

from tests.cli.commands import error, out, run
from trietok import AutoTokenizer, BertTokenizer, check

EXPLAIN = "only ids of WordPiece can be explained"
NO_WORDPIECE = "takes a BertTokenizer"
OTHER_KIND = "holds a byte-pair encoding"
REFUSED = {
    "explain": (("explain", "-m", "MODEL", "low"), EXPLAIN),
    "explain --against": (("explain", "-m", "trietok-en", "--against", "MODEL", "low"), EXPLAIN),
    "suggest": (("suggest", "-m", "MODEL", "texts.txt"), OTHER_KIND),
    "trim": (("trim", "-m", "MODEL", "texts.txt", "-o", "out"), NO_WORDPIECE),
    "add": (
        ("add", "--terms", "texts.txt", "-m", "MODEL", "--way", "wordpiece", "-o", "out"),
        NO_WORDPIECE,
    ),
    "check --fix": (
        ("check", "-m", "MODEL", "--fix", "-o", "out"),
        "only WordPiece vocabularies are repaired",
    ),
    "train --like": (
        ("train", "wordpiece", "texts.txt", "-o", "out", "--like", "MODEL"),
        OTHER_KIND,
    ),
}


@pytest.fixture(params=["bpe", "recipe", "recipe-saved"])
def model(request, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("texts.txt").write_text("low lowest\n天天向上\n", encoding="utf-8")
    pathlib.Path("words.txt").write_text(
        "low lower lowest, newer\n天天向上。天天\n", encoding="utf-8"
    )
    recipe = () if request.param == "bpe" else ("--recipe", "chinese")
    out("train", "bpe", "words.txt", "-o", "made", "--vocab-size", "40", *recipe)
    if request.param == "recipe-saved":
        AutoTokenizer.from_pretrained("made").save_pretrained("saved")
        return "saved"
    return "made"


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_not_for_it_is_one_error(model, command):
    arguments, message = REFUSED[command]
    files = sorted(pathlib.Path().rglob("*"))
    assert message in error(*(model if each == "MODEL" else each for each in arguments))
    assert sorted(pathlib.Path().rglob("*")) == files


def test_what_is(model):
    assert out("tokenize", "-m", model, "天天low")[0].replace(" ", "").startswith("天天")
    (ids,) = out("encode", "-m", model, "天天 天天")
    assert out("decode", "-m", model, *ids.split())[0].replace(" ", "") == "天天天天"
    assert out("encode", "-m", model, "--pair", "天天", "--max-length", "1", "天天") == [
        ids.split()[0]
    ]
    assert run("check", "-m", model).stdout.endswith("no errors, no warnings, no notes\n")
    assert out("diff", model, model)[0] == "the ids are the same"
    assert out("encode-files", "texts.txt", "-m", model, "-o", "corpus")[0].startswith(
        "written to corpus: 2 texts"
    )
    out("lock", "-m", model, "texts.txt", "-o", "lock.json")
    assert "are as locked" in out("verify", "lock.json")[0]
    AutoTokenizer.from_pretrained(model).save_pretrained("again")
    assert "are as locked" in out("verify", "lock.json", "-m", "again")[0]


def test_export(model):
    if model == "saved" or (pathlib.Path(model) / "train.log").exists():
        for to in ("tokenizer.json", "vocab.txt"):
            assert f"a ChineseBpeTokenizer has no {to}" in error(
                "export", "-m", model, "--format", to, "-o", "file"
            )
        return
    assert "it has merges" in error("export", "-m", model, "--format", "vocab.txt", "-o", "file")
    assert out("export", "-m", model, "--format", "tokenizer.json", "-o", "file") == [
        "written to file; PreTrainedTokenizerFast gives the same ids for 32 texts"
    ]
    exported, there = (
        json.loads(pathlib.Path(file).read_text()) for file in ("file", f"{model}/tokenizer.json")
    )
    assert exported["model"] == there["model"]


def test_terms_are_added_beside_the_merges(model):
    pathlib.Path("terms.txt").write_text("covid-19\n")
    arguments = ("add", "--terms", "terms.txt", "-m", model, "--way", "added", "-o", "more")
    before = AutoTokenizer.from_pretrained(model)
    if type(before).__name__ == "ChineseBpeTokenizer":
        assert "add_terms takes a BertTokenizer, not ChineseBpeTokenizer" in error(*arguments)
        return
    out(*arguments)
    after = AutoTokenizer.from_pretrained("more")
    assert after.tokenize("low covid-19")[-1] == "covid-19"
    assert after.encode("low lowest") == before.encode("low lowest")
    assert check("more").ok


@pytest.mark.parametrize("model", ["bpe"], indirect=True)
def test_a_model_gets_rows_for_its_tokens(model, vocab_file):
    pytest.importorskip("safetensors")
    from tests.adapting.models import bert, read_tensors, save_model

    tokenizer = AutoTokenizer.from_pretrained(model)
    save_model(
        pathlib.Path("old"), bert(8), 8, tokenizer=BertTokenizer(str(vocab_file("low", "天", "x")))
    )
    assert "has another vocabulary than that of old" in error(
        "rows", "-m", "old", "-o", "new", "--new-tokenizer", model
    )
    allowed = ("--new-tokenizer", model, "--allow-other-vocabulary")
    assert run("rows", "-m", "old", "-o", "new", *allowed).exit_code == 0
    weights = read_tensors(pathlib.Path("new", "model.safetensors"))[
        "bert.embeddings.word_embeddings.weight"
    ]
    assert len(weights) == len(tokenizer)
    assert AutoTokenizer.from_pretrained("new").encode("天天 low") == tokenizer.encode("天天 low")
    assert NO_WORDPIECE in error("adapt", "-m", "new", "-o", "adapted", "texts.txt")
    assert not pathlib.Path("adapted").exists()
