"""Where commands write: by `--output`, and what is there already is replaced by `--force` alone."""

from __future__ import annotations

import pytest

from tests.cli.commands import run as run_strings


def run(*arguments):
    return run_strings(*map(str, arguments))


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "texts.txt").write_text("the docs of the tokenizer\n" * 20)
    return tmp_path / "texts.txt"


DIRECTORIES = {
    "encode-files": lambda texts: ["encode-files", texts],
    "check": lambda texts: ["check", "-m", "trietok-en", "--fix"],
    "train": lambda texts: ["train", "wordpiece", texts, "--vocab-size", "40"],
    "suggest": lambda texts: ["suggest", texts],
    "trim": lambda texts: ["trim", "-m", "trietok-en", texts],
}
FILES = {
    "lock": lambda texts: ["lock", "-m", "trietok-en", texts],
    "explain": lambda texts: ["explain", "a"],
}


@pytest.mark.parametrize("command", [*DIRECTORIES, *FILES])
def test_what_is_there_is_replaced_by_force_alone(tmp_path, texts, command):
    out = tmp_path / "out"
    call = [*{**DIRECTORIES, **FILES}[command](texts), "-o", out]
    first = run(*call)
    assert (first.exit_code, f"written to {out}" in first.stdout) == (0, True), first.stderr
    there = sorted(path.name for path in (out.iterdir() if out.is_dir() else [out]))
    again = run(*call)
    assert again.exit_code == 2
    assert f"trietok: error: {out} is there already" in again.stderr
    if out.is_dir():
        (out / "stale").touch()
    forced = run(*call, "--force")
    assert (forced.exit_code, forced.stdout) == (0, first.stdout)
    assert sorted(path.name for path in (out.iterdir() if out.is_dir() else [out])) == there
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "texts.txt"]


def test_force_replaces_no_directory_of_other_things(tmp_path, texts):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").touch()
    result = run(*DIRECTORIES["trim"](texts), "-o", tmp_path / "out", "--force")
    assert result.exit_code == 2
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_what_cannot_be_replaced_is_left_as_it_was(tmp_path, texts):
    out = tmp_path / "out"
    assert run(*DIRECTORIES["train"](texts), "-o", out).exit_code == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    result = run("train", "wordpiece", tmp_path / "none.txt", "-o", out, "--force")
    assert (result.exit_code, "none.txt" in result.stderr) == (2, True)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    for read in (("-m", out), ("-m", out / "vocab.txt"), (out / "vocab.txt", "-m", "trietok-en")):
        result = run("trim", *read, texts, "-o", out, "--force")
        assert (result.exit_code, str(out) in result.stderr) == (2, True)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_what_a_glob_finds_is_not_replaced(texts, tmp_path):
    before = texts.read_bytes()
    result = run("lock", "-m", "trietok-en", tmp_path / "text*.txt", "-o", texts, "--force")
    assert (result.exit_code, texts.read_bytes()) == (2, before)


@pytest.mark.parametrize(
    "command",
    [
        ("rows", "-m", "model", "--new-tokenizer", "a"),
        ("adapt", "-m", "model", "x", "-o", "s3://b/a"),
        ("check", "-m", "trietok-en", "-o", "a"),
        ("check", "-m", "trietok-en", "--fix"),
        ("check", "trietok-en"),
        ("lock", "-m", "trietok-en", "-o", "no/such/lock.json"),
    ],
)
def test_a_call_that_cannot_write(command):
    assert run(*command).exit_code == 2
