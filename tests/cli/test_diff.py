"""The command `diff`."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import WHY, on_terminal, posix, run
from tests.vocabulary.parts import WORDS
from trietok import BertTokenizerFast, compare


@pytest.fixture
def two(tmp_path, small):
    """The paths of a vocabulary and of a tokenizer with two more tokens."""
    tokenizer = small(*WORDS)
    tokenizer.add_tokens(["<y>", "\x1b[2J東"])
    tokenizer.save_pretrained(tmp_path / "new")
    return str(tmp_path / "vocab.txt"), str(tmp_path / "new")


def test_the_exit_code_says_whether_ids_differ(two):
    old, new = two
    same, different = run("diff", new, new), run("diff", old, new)
    assert (same.exit_code, same.stderr, different.exit_code, different.stderr) == (0, "", 1, "")
    assert same.stdout.startswith("the ids are the same\n")
    assert different.stdout == str(compare(*map(BertTokenizerFast.from_pretrained, two))) + "\n"
    assert "'\\x1b[2j東': 19" in different.stdout


@pytest.mark.parametrize(
    "arguments", [["NEW", "{}/none"], ["NEW"], ["NEW", "NEW", "{}/none"], ["NEW", ""]]
)
def test_an_error_ends_with_exit_code_2(two, tmp_path, arguments):
    result = run(
        "diff", *(argument.format(tmp_path).replace("NEW", two[1]) for argument in arguments)
    )
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "rror" in result.stderr


def test_the_report_as_json(two):
    result = run("diff", *two, "--json")
    assert (result.exit_code, result.stdout.count("\n")) == (1, 1)
    report = compare(*map(BertTokenizerFast.from_pretrained, two)).to_dict()
    assert json.loads(result.stdout) == {
        "ok": False,
        "profile": "fast",
        "profile_why": WHY,
        **report,
    }
    assert "東" in result.stdout


def test_texts_from_files_and_standard_input(two, tmp_path):
    (tmp_path / "texts").write_text("x <y>\n\nab\n", encoding="utf-8")
    report = json.loads(
        run("diff", *two, "--json", str(tmp_path / "texts"), "-", stdin="<y>").stdout
    )
    assert (report["texts"], report["differing"]) == (4, 2)
    assert report["examples"][0] == {
        "text": "<y>",  # files are read in the order of their names
        "old_ids": [2, 1, 1, 1, 3],
        "new_ids": [2, 18, 3],
        "old_tokens": ["[CLS]", "[UNK]", "[UNK]", "[UNK]", "[SEP]"],
        "new_tokens": ["[CLS]", "<y>", "[SEP]"],
    }
    (tmp_path / "bad").write_bytes(b"a\n\xff\n")
    result = run("diff", *two, str(tmp_path / "bad"))
    assert (result.exit_code, "bad, line 2" in result.stderr) == (2, True)


@posix
def test_the_report_on_a_terminal(two):
    printed = on_terminal("diff", *two, columns=200)
    assert "\x1b[32m18\x1b[0m" in printed
    assert "\x1b[2J" not in printed
