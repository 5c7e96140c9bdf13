"""Runs of the command: in this process, in one of its own, on a terminal."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import traceback
from typing import NamedTuple

import pytest
from click.testing import CliRunner

from trietok.cli import main

ROOT = pathlib.Path(__file__).parents[2]
WORDS = ("hello", "world", "hel", "##lo", "東", "京", "タワー")  # ids from 5
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs Unix: its shells, signals and terminals"
)


# The line that names the profile, which `run` takes off standard error.
PROFILE = re.compile("^trietok: profile: .*\r?\n", re.MULTILINE)


class Result(NamedTuple):
    """What a run of the command wrote, and how it ended."""

    stdout: str
    stderr: str
    exit_code: int


def run_saying_all(*arguments: str, stdin: str | bytes = "") -> Result:
    """Run the command in this process; its output is not a terminal, and neither is its input."""
    before, own_arguments, exit_code = dict(os.environ), sys.argv, 0
    with CliRunner().isolation(stdin) as streams:
        sys.argv = ["trietok", *arguments]
        try:
            main()
        except SystemExit as end:
            exit_code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            traceback.print_exc()
            exit_code = -1
        finally:
            sys.argv = own_arguments
            if os.environ != before:  # --offline
                os.environ.clear()
                os.environ.update(before)
            sys.stdout.flush()
            sys.stderr.flush()
        stdout, stderr = (
            stream.getvalue().decode("utf-8").replace("\r\n", "\n") for stream in streams[:2]
        )
    return Result(stdout, stderr, exit_code)


def run(*arguments: str, stdin: str | bytes = "") -> Result:
    """`run_saying_all`, without the line that names the profile."""
    result = run_saying_all(*arguments, stdin=stdin)
    return result._replace(stderr=PROFILE.sub("", result.stderr))


def out(*arguments: str, stdin: str | bytes = "") -> list[str]:
    """The lines of standard output of a run that goes well and says nothing else."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "" or result.stdout.endswith("\n")
    return result.stdout.split("\n")[:-1]


def error(*arguments: str, stdin: str | bytes = "") -> str:
    """The message of a run that fails."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert result.stderr.startswith("trietok: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("trietok: error: ").rstrip("\n")


def usage_error(*arguments: str, stdin: str | bytes = "") -> str:
    """The message of a run that is refused as it is called."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert ('"ok": false' in result.stdout) if "--json" in arguments else (result.stdout == "")
    return unframed(result.stderr)


def unframed(text: str) -> str:
    """A usage error without the frame that some versions of typer draw around it."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def environment(**variables: str) -> dict[str, str]:
    unwanted = (
        "FORCE_COLOR",
        "NO_COLOR",
        "TTY_COMPATIBLE",
        "TTY_INTERACTIVE",
        "COLUMNS",
        "LINES",
        "PYTHONIOENCODING",
    )
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**kept, "PYTHONPATH": os.pathsep.join(paths), **variables}


def process(*arguments: str, **options):
    """Start the command in a process of its own."""
    command = [sys.executable, "-m", "trietok", *arguments]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, **{"env": environment(), **pipes, **options})


def on_terminal(*arguments: str, columns: int = 80, **variables: str) -> str:
    """What the command writes to a terminal, colour codes and all."""
    import pty

    ours, theirs = pty.openpty()
    env = environment(
        **{"COLUMNS": str(columns), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables}
    )
    child = process(*arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    written = b""
    try:
        while chunk := os.read(ours, 65536):
            written += chunk
    except OSError:  # how Linux tells that the other side has closed
        pass
    finally:
        os.close(ours)
    child.wait()
    return PROFILE.sub("", written.decode("utf-8").replace("\r\n", "\n"))
