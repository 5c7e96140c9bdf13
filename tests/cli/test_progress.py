"""Bars on a terminal: which commands show them, what they say, and that results stay clean of
them.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
import time

import pytest

from tests.cli.commands import COLOURS, environment, out, posix, process

pytestmark = posix


def watched(*arguments: str, stdout, lines) -> tuple[str, bytes]:
    """What a run says on standard error, a terminal, and the input it got.

    That is `lines` again and again, until a bar is seen.
    """
    import pty

    ours, theirs = pty.openpty()
    env = environment(COLUMNS="100", TERM="xterm-256color", LC_ALL="C.UTF-8")
    child = process(*arguments, stdout=stdout, stderr=theirs, env=env)
    os.close(theirs)
    sent: list[bytes] = []
    seen = threading.Event()

    def feed() -> None:
        for line in itertools.cycle(lines):
            if seen.wait(0.2) or len(sent) > 1500:
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


LINES = [b"the people\n", b"covid, covid and covid\n", b"united\n"]


@pytest.mark.parametrize(
    ("command", "phase", "lines"),
    [
        ("encode", "encoding", LINES),
        ("suggest", "counting words", LINES),
    ],
)
def test_a_bar_while_texts_are_read(tmp_path, command, phase, lines):
    with open(tmp_path / "results", "wb") as results:
        shown, sent = watched(command, lines=lines, stdout=results)
    assert re.search(rf"{phase} +━+ +\d+ bytes +[\d,.]+ bytes/s", shown)
    assert (tmp_path / "results").read_text("utf-8").split("\n")[:-1] == out(command, stdin=sent)


def test_none_where_results_go_to_a_pipe():
    # A pager at its other end draws on the same terminal.
    import pty

    ours, theirs = pty.openpty()
    child = process("encode", "-q", stderr=theirs)
    os.close(theirs)
    for line, ids in (
        (b"the people\n", b"2 134 289 3\n"),
        (b"people\n", b"2 289 3\n"),
        (b"the\n", b"2 134 3\n"),
    ):
        child.stdin.write(line)
        child.stdin.flush()
        assert child.stdout.readline() == ids
        time.sleep(0.6)
    child.stdin.close()
    assert child.wait() == 0
    try:
        assert os.read(ours, 1000) == b""
    except OSError:  # how Linux tells that the other side has closed
        pass
    finally:
        os.close(ours)
