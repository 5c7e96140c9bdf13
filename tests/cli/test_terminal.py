"""What commands write to a terminal: tables, colours and bars, and nothing that a text could do."""

from __future__ import annotations

import itertools
import os
import re
import threading
import time

import pytest
from rich.cells import cell_len

from tests.cli.commands import COLOURS, environment, on_terminal, out, posix, process, unframed

pytestmark = posix


def cells(shown: str) -> list[list[str]]:
    """The rows of the tables on a terminal."""
    return [
        [cell.strip() for cell in line.split("│")]
        for line in COLOURS.sub("", shown).split("\n")
        if "│" in line
    ]


def test_encode_shows_a_table_for_each_text(tiny):
    shown = on_terminal("encode", "-m", tiny, "hello hel\x1b[2Jlo [bold]", "東京タワー", "")
    lines = [line.rstrip() for line in COLOURS.sub("", shown).split("\n")]
    assert r"hello hel\x1b[2Jlo [bold]" in lines
    for row in (
        ["[CLS]", "東", "京", "タワー", "[SEP]"],
        ["2", "9", "10", "11", "3"],
        ["[CLS]", "[SEP]"],
    ):
        assert row in cells(shown)


def test_long_texts_and_wide_characters_fit_the_terminal(tiny):
    shown = on_terminal("tokenize", "-m", tiny, "東京タワー hello " * 30 + "x" * 101, columns=40)
    assert max(map(cell_len, COLOURS.sub("", shown).split("\n"))) <= 40
    tokens = [cell for row in cells(shown)[::2] for cell in row]
    assert tokens == ["東", "京", "タワー", "hello"] * 30 + ["[UNK]"]


def test_a_terminal_that_could_be_typed_at_is_not_read():
    assert "-f FILE" in unframed(COLOURS.sub("", on_terminal("encode")))


def test_explain_separates_tokens_by_colours_or_else_by_bars(tiny):
    coloured = on_terminal("explain", "-m", tiny, "hellolo hellx")
    plain = on_terminal("explain", "-m", tiny, "hellolo hellx", NO_COLOR="1", TERM="dumb")
    assert "\x1b[" in coloured
    assert "│" not in coloured
    assert "\x1b" not in plain
    assert "hello│lo hellx" in plain
    for shown in (COLOURS.sub("", coloured), plain):
        assert "The word “hellx” is unknown" in shown


@pytest.mark.parametrize("command", ["encode", "explain", "check", "diff"])
def test_no_control_character_of_a_text_reaches_the_terminal(tiny, vocab_file, command):
    hostile = "a\x1b[2Jb \u202e[bold] \x07"
    other = str(vocab_file("a\x1b[2Jb", "a\x1b[2Jb", name="other.txt"))
    arguments = {
        "encode": ("-m", tiny, hostile),
        "explain": ("-m", tiny, hostile),
        "check": ("-m", other),
        "diff": (tiny, other),
    }[command]
    coloured = on_terminal(command, *arguments, columns=200)
    shown = COLOURS.sub("", coloured)
    assert shown != coloured
    assert not {"\x1b", "\u202e", "\x07"} & set(shown)
    assert "2" in shown


# ---- bars ----------------------------------------------------------------------------------------


LINES = [b"the people\n", b"covid, covid and covid\n", b"united\n"]


def watched(*arguments: str, stdout) -> tuple[str, bytes]:
    """What a run says on standard error, a terminal, and the lines that it got until a bar came."""
    import pty

    ours, theirs = pty.openpty()
    env = environment(COLUMNS="100", TERM="xterm-256color", LC_ALL="C.UTF-8")
    child = process(*arguments, stdout=stdout, stderr=theirs, env=env)
    os.close(theirs)
    sent: list[bytes] = []
    seen = threading.Event()

    def feed() -> None:
        for line in itertools.cycle(LINES):
            if seen.wait(0.02) or len(sent) > 15_000:
                break
            sent.append(line)
            child.stdin.write(line)
            child.stdin.flush()
        child.stdin.close()

    writer = threading.Thread(target=feed)
    writer.start()
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
            if b"bytes/s" in written:
                seen.set()
    except OSError:  # how Linux tells that the other side has closed
        pass
    finally:
        os.close(ours)
    writer.join()
    assert child.wait() == 0
    return COLOURS.sub("", written.decode("utf-8")), b"".join(sent)


@pytest.mark.parametrize(
    ("command", "phase"),
    [
        ("encode", "encoding"),
        pytest.param("suggest", "counting words", marks=pytest.mark.faults),
    ],
)
def test_a_bar_shows_on_standard_error_and_results_stay_clean(tmp_path, command, phase):
    with open(tmp_path / "results", "wb") as results:
        shown, sent = watched(command, stdout=results)
    assert re.search(rf"{phase} +━+ +\d+ bytes +[\d,.]+ bytes/s", shown)
    assert (tmp_path / "results").read_text("utf-8").split("\n")[:-1] == out(command, stdin=sent)


def test_no_bar_shows_where_results_go_to_a_pipe():
    """A pager at its other end draws on the same terminal. A bar would come after half a second."""
    import pty

    ours, theirs = pty.openpty()
    child = process("encode", "-q", stderr=theirs)
    os.close(theirs)
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        child.stdin.write(b"the people\n")
        child.stdin.flush()
        assert child.stdout.readline() == b"2 134 289 3\n"
    child.stdin.close()
    assert child.wait() == 0
    try:
        assert os.read(ours, 1000) == b""
    except OSError:  # how Linux tells that the other side has closed
        pass
    finally:
        os.close(ours)
