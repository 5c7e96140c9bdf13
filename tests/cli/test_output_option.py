"""Where commands write: by `--output`, or as they took it before there was one name for it."""

from __future__ import annotations

import pytest

pytest.importorskip("click")
pytest.importorskip("rich")

from tests.cli.commands import run as run_strings


def run(*arguments):
    return run_strings(*map(str, arguments))


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "texts.txt").write_text("the docs of the tokenizer\n" * 20)
    return tmp_path / "texts.txt"


def test_suggest_saves_by_either_name(tmp_path, texts):
    for number, name in enumerate(("--output", "-o", "--apply")):
        result = run("suggest", texts, "--most", "2", name, tmp_path / str(number))
        assert result.exit_code == 0, result.stderr
        assert f"written to {tmp_path / str(number)}" in result.stdout
    assert len({(tmp_path / str(number) / "vocab.txt").read_bytes() for number in range(3)}) == 1


def test_check_repairs_to_a_second_argument_too(tmp_path):
    assert run("check", "trietok-en", "--fix", "-o", tmp_path / "a").exit_code == 0
    assert run("check", "trietok-en", "--fix", tmp_path / "b").exit_code == 0
    assert (tmp_path / "a" / "vocab.txt").read_bytes() == (tmp_path / "b" / "vocab.txt").read_bytes()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("rows", "model"), "Missing option '--output' / '-o'."),
        (("rows", "model", "a", "-o", "b"), "Two places to write to, 'a' and 'b'; give one, by --output."),
        (("adapt", "model", "a", "-t", "x", "-o", "b"), "Two places to write to, 'a' and 'b'; give one, by --output."),
        (("adapt", "model", "-t", "x"), "Missing option '--output' / '-o'."),
        (("adapt", "model", "s3://b/a", "-t", "x"), "s3://b/a is not on this machine; write to a directory here"),
        (("suggest", "x", "--apply", "a", "-o", "b"), "Two places to write to, 'a' and 'b'; give one, by --output."),
        (("check", "trietok-en", "a"), "--fix and --output go together: --fix --output DIR."),
        (("check", "trietok-en", "--fix"), "--fix and --output go together: --fix --output DIR."),
    ],
)
def test_one_place_is_given(command, said):
    result = run(*command)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("command", ["rows", "adapt"])
def test_a_second_argument_is_where_to_write(tmp_path, texts, command):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    more = ("-t", texts) if command == "adapt" else ("--tokenizer", "trietok-en")
    by_option = run(command, tmp_path / "model", "--output", tmp_path / "there", *more)
    second = run(command, tmp_path / "model", tmp_path / "there", *more)
    assert by_option.exit_code == second.exit_code == 1
    assert by_option.stderr == second.stderr
    assert "there" in second.stderr
