"""Every command on what `trietok train bpe` writes: with the Chinese recipe it works, or one line
says why not; without, one line says what else loads it.
"""

from __future__ import annotations

import pathlib

import pytest

from tests.cli.commands import error, out, run
from trietok import AutoTokenizer

REFUSED = {
    "explain": ("explain", "-m", "MODEL", "low"),
    "explain --against": ("explain", "-m", "trietok-en", "--against", "MODEL", "low"),
    "suggest": ("suggest", "-m", "MODEL", "texts.txt"),
    "trim": ("trim", "-m", "MODEL", "texts.txt", "-o", "out"),
    "add": ("add", "--terms", "texts.txt", "-m", "MODEL", "--way", "wordpiece", "-o", "out"),
    "check --fix": ("check", "-m", "MODEL", "--fix", "-o", "out"),
    "train --like": ("train", "wordpiece", "texts.txt", "-o", "out", "--like", "MODEL"),
}


@pytest.fixture(params=["recipe", "recipe-saved"])
def model(request, tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("texts.txt").write_text("low lowest\n天天向上\n", encoding="utf-8")
    pathlib.Path("words.txt").write_text(
        "low lower lowest, newer\n天天向上。天天\n", encoding="utf-8"
    )
    out("train", "bpe", "words.txt", "-o", "made", "--vocab-size", "40", "--recipe", "chinese")
    if request.param == "recipe-saved":
        AutoTokenizer.from_pretrained("made").save_pretrained("saved")
        return "saved"
    return "made"


@pytest.mark.parametrize("command", REFUSED)
def test_what_is_not_for_it_is_one_error(model, command):
    files = sorted(pathlib.Path().rglob("*"))
    error(*(model if each == "MODEL" else each for each in REFUSED[command]))
    assert sorted(pathlib.Path().rglob("*")) == files


ON_WHAT_HAS_MERGES = {
    **REFUSED,
    "tokenize": ("tokenize", "-m", "MODEL", "low"),
    "encode": ("encode", "-m", "MODEL", "low"),
    "encode-files": ("encode-files", "texts.txt", "-m", "MODEL", "-o", "out"),
    "decode": ("decode", "-m", "MODEL", "1"),
    "diff": ("diff", "trietok-en", "MODEL"),
    "lock": ("lock", "-m", "MODEL", "texts.txt", "-o", "out"),
}


@pytest.mark.parametrize("command", ON_WHAT_HAS_MERGES)
def test_merges_are_for_others_to_load(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("texts.txt").write_text("low lowest\n")
    out("train", "bpe", "texts.txt", "-o", "made", "--vocab-size", "40")
    files = sorted(pathlib.Path().rglob("*"))
    arguments = ON_WHAT_HAS_MERGES[command]
    message = error(*("made" if each == "MODEL" else each for each in arguments))
    assert "trietok.Bpe.from_directory" in message
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


def test_terms_are_not_added(model):
    pathlib.Path("terms.txt").write_text("covid-19\n")
    arguments = ("add", "--terms", "terms.txt", "-m", model, "--way", "added", "-o", "more")
    assert "ChineseBpeTokenizer" in error(*arguments)
