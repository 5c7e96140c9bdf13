"""`trietok adapt`: the whole job by one command."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.cli.commands import error, out, run, usage_error
from tests.vocabulary.models import bert, save_model
from trietok import AutoTokenizer, BertTokenizer

TEXTS = "Vaccines protect from covid.\nLong covid is real, and mRNA vaccines help.\n"


@pytest.fixture
def files(tmp_path):
    """The arguments that every run has: a model, where to write, texts."""
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    (tmp_path / "texts.txt").write_text(TEXTS)
    model = save_model(tmp_path / "model", bert(8000), 8000, tokenizer=tokenizer)
    return [
        "adapt",
        "-m",
        str(model),
        "-o",
        str(tmp_path / "out"),
        str(tmp_path / "texts.txt"),
        "--min-frequency",
        "2",
    ]


def test_what_it_says(files, tmp_path):
    *lines, proof = out(*files)
    assert lines[:3] == [
        "2 words added: covid, vaccines",
        "2 texts: 24 tokens become 16 (33.3% fewer), 0 unknown tokens become 0",
        "the model had 8,000 rows and has 8,002",
    ]
    assert str(tmp_path / "out") in lines[3]
    assert proof.startswith("8,000 ids unchanged, 0 moved, 0 lost, 2 new; fingerprint trietok-1:")
    assert BertTokenizer.from_pretrained(tmp_path / "out").tokenize("covid vaccines") == [
        "covid",
        "vaccines",
    ]


def test_json(files, tmp_path):
    (line,) = out(*files, "-n", "1", "--way", "unused", "--json")
    values = json.loads(line)
    assert values["out"] == str(tmp_path / "out")
    assert list(values["terms"]["added"]) == ["covid"]
    assert values["rows"]["rows_after"] == 8000
    shutil.rmtree(tmp_path / "out")
    assert out(*files, "-n", "1", "--way", "unused")[-2:] == [
        "1 [unusedN] slot renamed, counted below as lost and new",
        values["proof"],
    ]
    assert values["proof"].startswith(
        "7,999 ids unchanged, 0 moved, 1 lost, 1 new; fingerprint trietok-1:"
    )
    assert values["before"]["tokens"] > values["after"]["tokens"]


def test_a_list_of_terms(files, tmp_path):
    (tmp_path / "terms.txt").write_text(
        "Covid\n\nlong covid\nmRNA-1273\npeople\n\u200d\n", encoding="utf-8"
    )
    given = [*files[:3], "--terms", str(tmp_path / "terms.txt")]
    dry = run(*given, "--dry-run", files[5])
    assert (dry.exit_code, "--allow-left-out" in dry.stderr) == (1, True)
    for line in (
        "long covid  added token  long co ##v ##id              1             3",
        "3 terms added: 1 entry of the vocabulary, 2 added tokens (whole words)",
        "1 known already: people",
        "2 texts: 24 tokens become 19 (20.8% fewer), 0 unknown tokens become 0",
        "nothing is written",
    ):
        assert line in dry.stdout.splitlines()
    assert not (tmp_path / "out").exists()
    result = run(*given, "-o", str(tmp_path / "out"))
    assert (result.exit_code, result.stderr) == (1, dry.stderr)
    assert "the model had 8,000 rows and has 8,003" in result.stdout.splitlines()
    assert result.stdout.splitlines()[-1] == dry.stdout.splitlines()[-1]
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer("Long covid, covid and mRNA-1273.", add_special_tokens=False).input_ids[
        ::2
    ] == [8001, 8000, 8002]
    (line,) = out(*given, "--dry-run", "--allow-left-out", "--json")
    values = json.loads(line)
    assert (values["out"], values["rows"], values["suggestions"]) == (None, None, None)
    assert values["terms"]["refused"][0]["number"] == 6
    assert values["new"][0]["pieces"] == ["co", "##v", "##id"]


def test_lists_of_an_editor_of_windows(files, tmp_path):
    """The mark at the beginning is no part of the first term, nor of the first word to leave
    out.
    """
    (tmp_path / "terms.txt").write_bytes("\ufeffTNF-α\r\n\r\nmRNA\r\n".encode())
    (tmp_path / "words.txt").write_bytes("\ufeffvaccines\r\n".encode())
    (tmp_path / "blank.txt").write_bytes("\ufeff\r\n".encode())
    (line,) = out(*files[:3], "--terms", str(tmp_path / "terms.txt"), "--dry-run", "--json")
    assert list(json.loads(line)["terms"]["added"]) == ["TNF-α", "mrna"]
    assert out(*files, "--leave-out", str(tmp_path / "words.txt"))[0] == "1 word added: covid"
    error(*files[:3], "--terms", str(tmp_path / "blank.txt"), "--dry-run")


def test_what_is_hidden_in_a_term_is_shown(files, tmp_path):
    (tmp_path / "terms.txt").write_text("a\u200bb c\n", encoding="utf-8")
    assert out(*files[:3], "--terms", str(tmp_path / "terms.txt"), "--dry-run")[:2] == [
        "token       as           now",
        "a⟨ZWSP⟩b c  added token  ab c",
    ]


def test_whole_words(files, tmp_path):
    (line,) = out(*files, "--way", "single-word", "--json")
    assert json.loads(line)["terms"]["way"] == "single-word"
    shutil.rmtree(tmp_path / "out")
    for options in (("--way", "added"), ("--phrases", "2", "--way", "wordpiece")):
        assert "'single-word'" in error(*files, *options)


def test_what_is_wrong(files, tmp_path):
    assert "--terms FILE" in usage_error(*files[:5])
    assert "--dry-run" in usage_error(*files[:3], *files[5:])
    assert "Missing option '--model'" in usage_error("adapt", *files[3:5])
    error(*files[:-1], "9")
    (tmp_path / "empty").mkdir()
    assert "config.json" in error("adapt", "-m", str(tmp_path / "empty"), *files[3:])
    assert "is there already" in error(*files[:4], files[2], *files[5:])
    (tmp_path / "terms.txt").write_text("zoology\n")
    for option in (("-n", "3"), ("--min-frequency", "1"), ("--phrases", "2")):
        error(*files[:5], "--terms", str(tmp_path / "terms.txt"), *option)
    (tmp_path / "none.txt").write_text("\n")
    assert "none.txt" in error(*files[:5], "--remove", str(tmp_path / "none.txt"))
    assert "'median'" in usage_error(*files, "--initialization", "median")
    assert "'nosuchtoken'" in error(*files, "--initialization", "copy:nosuchtoken")
    assert not (tmp_path / "out").exists()
