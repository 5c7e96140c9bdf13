"""`trietok adapt`: the whole job by one command."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.commands import error, out, usage_error

pytest.importorskip("numpy")
pytest.importorskip("safetensors")

from tests.adapting.models import bert, save_model
from trietok import BertTokenizer

TEXTS = "Vaccines protect from covid.\nLong covid is real, and mRNA vaccines help.\n"


@pytest.fixture
def files(tmp_path):
    """The arguments that every run has: a model, where to write, texts."""
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    (tmp_path / "texts.txt").write_text(TEXTS)
    model = save_model(tmp_path / "model", bert(8000), 8000, tokenizer=tokenizer)
    return [
        "adapt",
        str(model),
        "-o",
        str(tmp_path / "out"),
        "--texts",
        str(tmp_path / "texts.txt"),
        "--min-frequency",
        "2",
    ]


def test_what_it_says(files, tmp_path):
    *lines, proof = out(*files)
    assert lines == [
        "2 words added: covid, vaccines",
        "2 texts: 24 tokens become 16 (33.3% fewer), 0 unknown tokens become 0",
        "the model had 8,000 rows and has 8,002",
        f"written to {tmp_path / 'out'}; train it on your texts before you use the new tokens",
    ]
    assert proof.startswith("8,000 ids unchanged, 0 moved, 0 lost, 2 new; fingerprint trietok-1:")
    assert BertTokenizer.from_pretrained(tmp_path / "out").tokenize("covid vaccines") == ["covid", "vaccines"]


def test_json(files, tmp_path):
    (line,) = out(*files, "-n", "1", "--as", "unused", "--json")
    values = json.loads(line)
    assert values["out"] == str(tmp_path / "out")
    assert list(values["terms"]["added"]) == ["covid"]
    assert values["rows"]["rows_after"] == 8000
    shutil.rmtree(tmp_path / "out")
    assert out(*files, "-n", "1", "--as", "unused")[-2:] == [
        "1 [unusedN] slot renamed, counted below as lost and new",
        values["proof"],
    ]
    assert values["proof"].startswith("7,999 ids unchanged, 0 moved, 1 lost, 1 new; fingerprint trietok-1:")
    assert values["before"]["tokens"] > values["after"]["tokens"]


def test_whole_words_under_both_names(files, tmp_path):
    (one,) = out(*files, "--as", "single-word", "--json")
    shutil.rmtree(tmp_path / "out")
    (other,) = out(*files, "--as", "added", "--json")
    assert one == other
    assert json.loads(one)["terms"]["way"] == "single-word"
    assert error(*files, "--phrases", "2").endswith("; --phrases needs --as single-word")


def test_what_is_wrong(files, tmp_path):
    assert "--texts" in usage_error(*files[:4])
    assert "none of the words of the 2 texts" in error(*files[:-1], "9")
    (tmp_path / "empty").mkdir()
    wanted = "give the directory of a model, with its config.json and weights"
    assert error("adapt", str(tmp_path / "empty"), *files[2:]) == f"{tmp_path / 'empty'} has no config.json; {wanted}"
    assert "is there already" in error(*files[:3], files[1], *files[4:])
    said = usage_error(*files, "--new", "median")
    assert "--new must be pieces, mean, zeros or copy:TOKEN, not 'median'." in said
    assert "there is no token 'nosuchtoken'" in error(*files, "--new", "copy:nosuchtoken")
    assert not (tmp_path / "out").exists()
