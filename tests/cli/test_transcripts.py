"""Transcripts of the command line: `transcripts/*.txt`, each of which runs in an empty directory.

A line that is not indented is a comment. An indented line is one of these:

    $ trietok encode -f texts.txt | trietok decode > FILE     runs commands in this process
    $ cat > FILE <<END         writes a file of the lines `  > ...` up to END
    $ printf 'caf\\xe9\\n' > FILE, $ cat FILE, $ ls DIRECTORY
    text                       a line of standard output; `<blank>` is an empty one
    2> text                    a line of standard error
    [2]                        the exit code, where it is not 0

`...` in an expected line stands for any text. Write the output anew after a change of wording, and
read the diff:

    python -m tests.cli.test_transcripts
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.commands import Result, run_saying_all

STORIES = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))
INDENT, PROMPT, MORE = "  ", "  $ ", "  >"


def blocks(transcript: str) -> Iterator[tuple[list[str], list[str]]]:
    """Each command with what continues it, or comment, and the lines of output below it."""
    head: list[str] = []
    output: list[str] = []
    for line in transcript.splitlines():
        is_output = line.startswith(INDENT) and not line.startswith((PROMPT, MORE))
        if is_output:
            output.append(line.removeprefix(INDENT))
        elif line.startswith(MORE):
            head.append(line)
        else:
            if head:
                yield head, output
            head, output = [line], []
    yield head, output


def run_command(line: str, document: str) -> Result:
    """Run a line of commands with pipes in the present directory; `document` is what `<<` gives."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    stages: list[list[str]] = [[]]
    for word in lexer:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    result = Result("", "", 0)
    for stage in stages:
        stdin, target = result.stdout.encode("utf-8", "surrogateescape"), None
        arguments, words = [], iter(stage)
        for word in words:
            if word == "<":
                stdin = Path(next(words)).read_bytes()
            elif word == "<<":
                next(words)
                stdin = document.encode()
            elif word == ">":
                target = Path(next(words))
            else:
                arguments.append(word)
        ended = _run_program(arguments, stdin)
        stdout, stderr = ended.stdout, result.stderr + ended.stderr
        if target is not None:
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(stdout.encode("utf-8", "surrogateescape"))
            stdout = ""
        result = Result(stdout, stderr, ended.exit_code)
    return result


def _run_program(arguments: list[str], stdin: bytes) -> Result:
    program, *rest = arguments
    if program == "trietok":
        return run_saying_all(*rest, stdin=stdin)
    if program == "cat":
        written = b"".join(Path(name).read_bytes() for name in rest) if rest else stdin
    elif program == "printf":
        written = rest[0].encode("utf-8").decode("unicode_escape").encode("latin-1")
    elif program == "ls":
        written = "".join(f"{name}\n" for name in sorted(os.listdir(rest[0]))).encode()
    else:
        raise ValueError(f"a transcript cannot run {program!r}")
    return Result(written.decode("utf-8", "surrogateescape"), "", 0)


def shown(result: Result) -> list[str]:
    """The lines of a result as a transcript has them; control characters are escaped."""
    lines = result.stdout.removesuffix("\n").split("\n") if result.stdout else []
    lines = [line or "<blank>" for line in lines]
    lines += [f"2> {line}" for line in result.stderr.splitlines()]
    lines += [f"[{result.exit_code}]"] if result.exit_code else []
    return ["".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines]


def is_like(expected: str, line: str) -> bool:
    return re.fullmatch(re.escape(expected).replace(r"\.\.\.", ".*"), line) is not None


def played(transcript: str) -> str:
    """The transcript with the output that commands write now; expected lines that match stay."""
    lines: list[str] = []
    for head, expected in blocks(transcript):
        lines += head
        if not head[0].startswith(PROMPT):
            continue
        document = "".join(f"{line[len(PROMPT) :]}\n" for line in head[1:-1])
        for line in shown(run_command(head[0].removeprefix(PROMPT), document)):
            lines.append(INDENT + next((each for each in expected if is_like(each, line)), line))
    return "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.stem)
def test_commands_write_what_the_transcript_shows(story, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    transcript = story.read_text(encoding="utf-8")
    assert "$ trietok" in transcript
    assert played(transcript) == transcript


if __name__ == "__main__":
    for path in STORIES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            path.write_text(played(path.read_text(encoding="utf-8")), encoding="utf-8")
            os.chdir(path.parent)
