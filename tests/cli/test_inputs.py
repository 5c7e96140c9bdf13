"""Where commands take texts from: arguments, files, standard input."""

from __future__ import annotations

import itertools
import json
import sys

import pytest

from tests.cli.commands import out, usage_error
from trietok.cli.lines import lines_asked_for


def test_files_are_read_line_by_line(tmp_path, tiny):
    (tmp_path / "a.txt").write_bytes(b"hello\n\nworld\n")
    (tmp_path / "b.txt").write_bytes("東京".encode())  # no line feed at the end
    (tmp_path / "empty.txt").write_bytes(b"")
    files = [f"--file={tmp_path / name}" for name in ("a.txt", "empty.txt", "b.txt")]
    assert out("tokenize", "-m", tiny, *files) == ["hello", "", "world", "東 京"]


def test_only_a_line_feed_ends_a_line():
    text = "a\rb\x0bc\x0cd\x1ce\x85f\u2028g\u2029h\r"
    lines = out("tokenize", "--json", stdin=f"{text}\nnext")
    assert [json.loads(line)["text"] for line in lines] == [text, "next"]
    assert all(len(line.splitlines()) == 1 for line in lines)


def test_standard_input(tiny):
    assert out("tokenize", "-m", tiny, stdin="hello\nworld\n") == ["hello", "world"]
    assert out("tokenize", "-m", tiny, "東", "-", "京", stdin="hello\nworld\n") == [
        "東",
        "hello",
        "world",
        "京",
    ]
    assert out("tokenize", "-m", tiny, "-f", "-", stdin="hello\n") == ["hello"]
    assert out("decode", "-m", tiny, "-", stdin="5\n6\n") == ["hello", "world"]


@pytest.mark.parametrize("command", ["encode", "tokenize", "decode"])
def test_empty_input_gives_empty_output(command):
    assert out(command) == []
    assert out(command, "-") == []


def test_an_empty_text_is_a_text():
    assert out("encode", "") == ["2 3"]
    assert out("tokenize", "", " ") == ["", ""]
    assert out("decode", "") == [""]


@pytest.mark.parametrize("command", ["encode", "tokenize", "decode"])
def test_arguments_and_files_do_not_go_together(command):
    assert "not both" in usage_error(command, "5", "--file", "x")


def test_input_is_never_read_as_a_whole(monkeypatch):
    class Endless:
        buffer = (b"line %d\n" % number for number in itertools.count())

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Endless())
    lines = lines_asked_for(None, None, "texts")
    assert [line.text for line in itertools.islice(lines, 3)] == ["line 0", "line 1", "line 2"]
