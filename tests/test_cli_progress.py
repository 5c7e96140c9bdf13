"""Bars on a terminal: which commands show them, what they say, and that results stay clean of them."""

from __future__ import annotations

import os
import random
import re
import threading
import time

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from tests.test_cli import COLOURS, environment, out, posix, process

pytestmark = posix


def watched(*arguments: str, stdin, stdout) -> str:
    """What a run says on standard error, a terminal; input comes from a file, or slowly, line by line."""
    import pty

    ours, theirs = pty.openpty()
    env = environment(COLUMNS="100", TERM="xterm-256color", LC_ALL="C.UTF-8")
    slow = isinstance(stdin, list)
    child = process(*arguments, stdout=stdout, stderr=theirs, env=env, **({} if slow else {"stdin": stdin}))
    os.close(theirs)

    def write() -> None:
        for line in stdin:
            child.stdin.write(line)
            child.stdin.flush()
            time.sleep(0.7)
        child.stdin.close()

    writer = threading.Thread(target=write if slow else lambda: None)
    writer.start()
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # how Linux tells that the other side has closed
        pass
    finally:
        os.close(ours)
    writer.join()
    assert child.wait() == 0
    return COLOURS.sub("", written.decode("utf-8"))


LINES = [b"the people\n", b"covid, covid and covid\n", b"united\n"]
SIZE = sum(map(len, LINES))


@pytest.mark.parametrize(
    ("command", "phase", "lines"),
    [
        ("encode", "encoding", LINES),
        ("tokenize", "tokenizing", LINES),
        ("decode", "decoding", [b"5 6\n", b"7 8 9\n", b"10\n"]),
        ("unknown", "looking", LINES),
        ("suggest", "counting words", LINES),
    ],
)
def test_a_bar_while_texts_are_read(tmp_path, command, phase, lines):
    whole = b"".join(lines)
    with open(tmp_path / "results", "wb") as results:
        shown = watched(command, stdin=lines, stdout=results)
    assert f"{phase} " in shown
    assert f"{len(whole)} bytes" in shown
    assert "bytes/s" in shown
    assert (tmp_path / "results").read_text("utf-8").split("\n")[:-1] == out(command, stdin=whole)


def test_a_file_has_an_end(tmp_path):
    rng = random.Random(3)
    path = tmp_path / "texts.txt"
    path.write_text("".join(f"{rng.randrange(10**60):x}\n" for _ in range(60_000)))
    size = f"{path.stat().st_size / 1e6:.1f} MB"
    for arguments, stdin in ((["--file", str(path)], None), ([], path)):
        with open(os.devnull, "wb") as nowhere, open(stdin or os.devnull, "rb") as file:
            shown = watched("encode", *arguments, stdin=file, stdout=nowhere)
        assert f" of {size} " in shown
        assert re.search(r"\d\.\d [kM]B/s", shown)
        assert " left" in shown


def test_none_where_results_go_to_a_pipe(tmp_path):
    # A pager at its other end draws on the same terminal.
    reader, writer = os.pipe()
    shown = watched("encode", stdin=LINES, stdout=writer)
    os.close(writer)
    with open(reader, encoding="utf-8") as results:
        assert results.read().split("\n")[:-1] == out("encode", stdin=b"".join(LINES))
    assert shown == ""


def test_none_for_what_takes_no_time(tmp_path):
    with open(tmp_path / "results", "wb") as results, open(os.devnull, "rb") as nothing:
        assert watched("encode", "the people", stdin=nothing, stdout=results) == ""


def test_a_warning_stands_above_the_bar(tmp_path):
    with open(tmp_path / "results", "wb") as results:
        shown = watched("encode", stdin=[b"a\n", b"b\n", b"a " * 600 + b"\n"], stdout=results)
    assert "trietok: warning: standard input, line 3 has 602 tokens" in " ".join(shown.split())
    assert (tmp_path / "results").read_text().count("\n") == 3
