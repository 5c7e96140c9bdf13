"""`trietok bench`: what it measures, how it shows it, how it fails."""

from __future__ import annotations

import json
import os

import pytest

from tests.benchmarking.contenders import write_flash, write_package
from tests.cli.commands import COLOURS, ROOT, error, on_terminal, out, posix, run, usage_error

WORDS = ("hello", "world", "hel", "##lo")
OTHER = "def answer(text, ids): return [2, 7, 8, *ids[2:]] if text.startswith('hello') else ids"
ONCE = ("--rounds", "1", "--passes", "2", "--with", "flash-tokenizer")
IDS_ONLY = ("--rounds", "0", "--validate", "--with", "flash-tokenizer")


@pytest.fixture
def packages(tmp_path, monkeypatch):
    directory = tmp_path / "packages"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    monkeypatch.setenv("PYTHONPATH", str(directory))
    return directory


@pytest.fixture
def tiny(vocab_file) -> str:
    return str(vocab_file(*WORDS))


@pytest.fixture
def text(tmp_path) -> str:
    path = tmp_path / "texts.txt"
    path.write_text("world\nhello world\nhello\n")
    return str(path)


def test_a_table(packages, tiny, text):
    write_flash(packages)
    summary, head, ours, theirs, too_small = out("bench", text, "-m", tiny, *ONCE)
    assert summary.startswith(f"3 lines, 2.1e-05 MB, {tiny}; CPU time")
    assert summary.endswith(", median of 1 round")
    assert too_small.startswith(
        "the text is too small for these figures to mean anything: a pass took "
    )
    assert head.split()[:3] == ["tokenizer", "version", "load"]
    assert (ours.split()[0], len(ours.split())) == ("trietok", 6)  # it is not compared with itself
    assert theirs.split()[:2] == ["flash-tokenizer", "9.9"]
    *numbers, cold, times, warm, times_again = theirs.split()[2:]
    assert all(float(number) >= 0 for number in (*numbers, cold, warm))
    assert times == times_again == "×"


def test_json(packages, tiny, text):
    write_flash(packages, OTHER)
    (line,) = run(
        "bench", text, "-m", tiny, *ONCE, "--validate", "--most", "1", "--json"
    ).stdout.splitlines()
    values = json.loads(line)
    assert [result["contender"] for result in values["results"]] == ["trietok", "flash-tokenizer"]
    (validation,) = values["validation"]
    assert (validation["lines"], validation["differing"], len(validation["differences"])) == (
        3,
        2,
        1,
    )
    assert "validation" not in json.loads(out("bench", text, "-m", tiny, *ONCE, "--json")[0])


def test_differences_are_shown(packages, tiny, text):
    write_flash(packages, OTHER)
    assert run("bench", text, "-m", tiny, *IDS_ONLY, "--most", "1").stdout.splitlines() == [
        "flash-tokenizer: other ids on 2 of 3 lines",
        "  line 2, from token 2: 'hello world'",
        "    trietok: hello [5]",
        "    flash-tokenizer: hel ##lo [7, 8]",
    ]


def test_the_exit_code_says_whether_ids_differ(packages, tiny, text):
    write_flash(packages, OTHER)
    assert run("bench", text, "-m", tiny, *IDS_ONLY).exit_code == 1
    assert run("bench", text, "-m", tiny, *IDS_ONLY, "--limit", "1").exit_code == 0


def test_a_library_that_was_asked_for_and_cannot_be_run_is_trouble(packages, tiny, text):
    write_package(
        packages, "flash_tokenizer", "raise ModuleNotFoundError('no', name='flash_tokenizer')"
    )
    result = run("bench", text, "-m", tiny, *IDS_ONLY)
    assert (result.exit_code, result.stdout) == (
        2,
        "flash-tokenizer: not installed: pip install flash-tokenizer\n",
    )
    assert result.stderr.startswith(
        "trietok: warning: no ids were compared: none of the other tokenizers could be"
    )


def test_standard_input(packages, tiny):
    write_flash(packages)
    assert out("bench", "-", "-m", tiny, *IDS_ONLY, stdin="hello\n\nworld") == [
        "flash-tokenizer: the same ids on all 3 lines"
    ]


def test_trietok_alone(tiny, text):
    assert len(out("bench", text, "-m", tiny, "--rounds", "1", "--passes", "2", "--with", "")) == 4


@posix
def test_a_terminal(packages, tiny, text):
    write_flash(packages, OTHER)
    write_package(packages, "tokenizers", "")
    shown = on_terminal(
        *(
            "bench",
            text,
            "-m",
            tiny,
            *ONCE[:4],
            "--with",
            "tokenizers,flash-tokenizer",
            "--validate",
        ),
        PYTHONPATH=os.pathsep.join([str(packages), str(ROOT)]),
        columns=100,
    )
    # Notes of what is going on are overwritten, the last by nothing.
    notes, _, rest = shown.rpartition("\r\x1b[K")
    assert "round 1 of 1: trietok" in notes
    assert "ids: flash-tokenizer" in notes
    lines = [line.rstrip() for line in COLOURS.sub("", rest).split("\n")]
    title = next(number for number, line in enumerate(lines) if line.split()[:1] == ["tokenizer"])
    lines = lines[title - 1 :]  # what is above names the model, by a path that may take two lines
    assert lines[1].split() == [
        "tokenizer",
        "version",
        "load",
        "MB/s",
        "MB/s",
        "lines/s",
        "speed-up",
        "speed-up",
    ]
    assert lines[2].split() == ["ms", "cold", "warm", "warm", "cold", "warm"]
    assert [line.split()[0] for line in lines[3:5]] == ["trietok", "flash-tokenizer"]
    assert lines[5].startswith("tokenizers  the model has no tokenizer.json")
    assert "    flash-tokenizer: hel ##lo [7, 8]" in lines


def test_errors(tiny, tmp_path):
    assert error("bench", str(tmp_path / "none.txt")).endswith(
        "none.txt: No such file or directory"
    )
    assert "'nobody' is none of trietok, transformers, " in usage_error(
        "bench", "-", "--with", "nobody", stdin="a"
    )
    assert error("bench", "-", stdin="") == "the files hold no text; there is nothing to measure"
    assert (
        error("bench", "-", stdin="\n\n") == "the files hold no text; there is nothing to measure"
    )
    assert "standard input, line 2: byte 0xff at offset 3" in error(
        "bench", "-", stdin=b"a\nb\xff\n"
    )
    assert "neither a directory nor a file" in error("bench", "-", "-m", "/no/such", stdin="a")


def test_options_that_make_no_sense(tiny, text):
    assert "--rounds 0 needs --validate." in usage_error("bench", text, "--rounds", "0")
    assert "--validate compares with others" in usage_error(
        "bench", text, "--validate", "--with", "trietok"
    )
    assert "--passes" in usage_error("bench", text, "--passes", "1")
    # what a pipe gives
    assert error("bench") == "the files hold no text; there is nothing to measure"
