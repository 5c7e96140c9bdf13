"""`trietok suggest`: what it prints, what it saves, how it fails."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import error, out, usage_error
from trietok import BertTokenizer, BertTokenizerFast

WORDS = ("the", "c", "##o", "##v", "##i", "##d", "##s")
TEXT = "the covid\ncovid, the covids\n"


@pytest.fixture
def tiny(vocab_file) -> str:
    return str(vocab_file(*WORDS))


@pytest.fixture
def text(tmp_path) -> str:
    path = tmp_path / "texts.txt"
    path.write_text(TEXT)
    return str(path)


def test_a_table(tiny, text):
    assert out("suggest", text, "-m", tiny, "--min-frequency", "1", "-n", "2") == [
        "2 suggestions from 2 texts: 9.50 tokens a text become 3.00, 1 unknown token becomes 1",
        (
            "the first 2: 3.00 tokens a text, 1 unknown; 92.9% of the extra tokens of split or"
            " unknown words avoided"
        ),
        "word    frequency  tokens saved  now",
        "covid           2             8  c ##o ##v ##i ##d",
        "covids          1             5  c ##o ##v ##i ##d ##s",
        "1 unknown word in the texts",
        "unknown word  frequency",
        ",                     1",
    ]


def test_whole_words_and_phrases(tiny, text):
    asked = ("suggest", text, "-m", tiny, "--min-frequency", "1", "--way")
    assert out(*asked, "single-word") != out(*asked, "wordpiece")
    assert out(*asked, "auto", "--phrases", "2") == out(*asked, "single-word", "--phrases", "2")
    assert out(*asked, "auto") == out(*asked, "wordpiece")
    assert "'single-word'" in error(*asked, "wordpiece", "--phrases", "2")


def test_from_standard_input_and_several_files(tiny, text, tmp_path):
    again = tmp_path / "again.txt"
    again.write_text(TEXT)
    expected = out("suggest", text, str(again), "-m", tiny)
    assert expected[0].startswith("1 suggestion from 4 texts")
    assert out("suggest", "-m", tiny, stdin=TEXT * 2) == expected
    assert out("suggest", text, "-", "-m", tiny, stdin=TEXT) == expected
    assert out("suggest", str(tmp_path / "*.txt"), text, "-m", tiny) == out(
        "suggest", str(tmp_path / "*.txt"), "-m", tiny
    )


def test_bytes_that_are_not_utf8_can_be_replaced(tiny):
    lines = out(
        "suggest", "-m", tiny, "--min-frequency", "1", "--on-error", "replace", stdin=b"covid\xff\n"
    )
    assert lines[3].startswith("covid ")


def test_json(tiny, text):
    (line,) = out("suggest", text, "-m", tiny, "--min-frequency", "1", "--json")
    values = json.loads(line)
    assert [each["word"] for each in values["suggestions"]] == ["covid", "covids", ","]
    assert values["suggestions"][2]["is_unknown"] is True
    assert values["unknown"] == {",": 1}
    assert (values["tokens_before"], values["tokens_after"], values["applied"]) == (19, 6, None)


@pytest.mark.parametrize("way", ["wordpiece", "single-word"])
def test_apply(tiny, text, tmp_path, way):
    saved = tmp_path / "new" / "out"
    options = ("-m", tiny, "--min-frequency", "2", "--way", way, "--output", str(saved))
    lines = out("suggest", text, *options)
    assert lines[-2:] == [
        (
            "1 term added: 1"
            f" {'entry of the vocabulary' if way == 'wordpiece' else 'added token (whole words)'}"
        ),
        f"written to {saved}; the model needs 13 embedding rows; 16 as a multiple of 8",
    ]
    tokenizer = BertTokenizer.from_pretrained(saved)
    assert tokenizer.encode("covid", add_special_tokens=False) == [12]
    assert len(tokenizer.tokenize("covids")) == (2 if way == "wordpiece" else 6)


def test_apply_as_json(tiny, text, tmp_path):
    saved = str(tmp_path / "out")
    (line,) = out("suggest", text, "-m", tiny, "--output", saved, "--json", "--min-frequency", "2")
    values = json.loads(line)
    applied = values["applied"]
    assert (values["output"], applied["added"], applied["entries"]) == (
        saved,
        {"covid": 12},
        ["covid"],
    )


def test_leave_others_and_the_weight(tiny, text):
    (line,) = out("suggest", text, "-m", tiny, "--min-frequency", "1", "--leave-others", "--json")
    values = json.loads(line)
    assert [each["word"] for each in values["suggestions"]] == ["covids", ","]
    assert [each["word"] for each in values["left_out"]] == ["covid"]
    (line,) = out(
        "suggest",
        text,
        "-m",
        tiny,
        "--min-frequency",
        "1",
        "--unknown-weight",
        "9",
        "--most",
        "1",
        "--json",
    )
    assert json.loads(line)["suggestions"][0]["word"] == ","


def test_few_words_in_memory(tiny):
    lines = out(
        "suggest",
        "-m",
        tiny,
        "--max-words",
        "2",
        "--min-frequency",
        "1",
        stdin="covid\ncovid the\ncods\n",
    )
    assert any("words were forgotten to save memory" in line for line in lines)


def test_nothing_to_suggest_is_no_error(tiny, tmp_path):
    assert out("suggest", "-m", tiny, stdin="the\nthe c\n") == [
        "nothing to suggest: 2 texts, 3 tokens"
    ]
    saved = tmp_path / "out"
    lines = out("suggest", "-m", tiny, "--output", str(saved), stdin="the\n")
    assert lines[1] == "0 terms added"
    assert len(BertTokenizer.from_pretrained(saved)) == 12


def test_errors(tiny, text, tmp_path):
    for stdin in ("", "\n \n"):
        assert "there is no word" in error("suggest", "-m", tiny, stdin=stdin)
    assert "no.txt" in error("suggest", "no.txt", "-m", tiny)
    assert "standard input, line 2: byte 0xff" in error("suggest", "-m", tiny, stdin=b"the\n\xff\n")
    assert "*.csv" in error("suggest", str(tmp_path / "*.csv"), "-m", tiny)
    assert "is there already" in error("suggest", text, "-m", tiny, "--output", str(tmp_path))
    assert "no-such-model" in error("suggest", text, "-m", str(tmp_path / "no-such-model"))
    assert "--most" in usage_error("suggest", text, "-m", tiny, "--most", "0")
    assert "--way" in usage_error("suggest", text, "-m", tiny, "--way", "anyhow")


def test_the_copy_has_the_profile_of_the_model(tiny, text, tmp_path):
    BertTokenizerFast.from_pretrained(tiny).save_pretrained(tmp_path / "model")
    for number, options in enumerate(((), ("--profile", "slow"))):
        out(
            "suggest",
            text,
            "-m",
            str(tmp_path / "model"),
            "-o",
            str(tmp_path / f"out{number}"),
            *options,
        )
        assert (tmp_path / f"out{number}" / "tokenizer.json").exists() == (not options)
