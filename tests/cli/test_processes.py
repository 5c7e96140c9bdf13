"""The command as a process: how it starts, its streams, their encodings, and completion in shells."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import trietok
from tests.cli.commands import environment, posix, process

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="needs Linux: elsewhere an argument is UTF-8"
)
WRITING = ["encode -q a", "--help", "--version", "train bpe -h", "completion"]


def writing(written: str, **options) -> tuple[int, bytes]:
    """The exit code, and what standard error has, of a run that writes something."""
    env = environment()
    if written == "completion":
        written, env = "", environment(_TRIETOK_COMPLETE="bash_source")
    child = process(*written.split(), env=env, **options)
    return child.communicate()[1], child.returncode


@posix
@pytest.mark.parametrize("written", WRITING)
def test_a_full_disk_is_an_error_and_not_silence(written):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs Linux: /dev/full")
    with open("/dev/full", "wb") as full:
        assert writing(written, stdout=full) == (
            b"trietok: error: cannot write to standard output: No space left on device\n",
            2,
        )


@posix
@pytest.mark.parametrize("written", WRITING)
def test_a_closed_standard_output_is_an_error_and_not_silence(written):
    assert writing(written, stdout=None, preexec_fn=lambda: os.close(1)) == (
        b"trietok: error: cannot write: standard output is closed\n",
        2,
    )


@posix
@pytest.mark.parametrize("arguments", [["shout"], ["decode", "-1"]])
def test_errors_stay_off_standard_output_where_standard_error_is_closed(arguments):
    child = process(*arguments, stderr=None, preexec_fn=lambda: os.close(2))
    assert (child.communicate()[0], child.returncode) == (b"", 2)


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_its_packages_the_command_says_how_to_get_them(package):
    code = f"import sys; sys.modules[{package!r}] = None; import trietok.cli; trietok.cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install click rich" in done.stderr


def test_python_runs_the_package_as_the_command():
    stdout, stderr = process("--version").communicate()
    version = f"trietok {trietok.__version__} ({trietok.kernel} kernel)"
    assert (stdout.decode().splitlines(), stderr) == ([version], b"")


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trietok enc", ["plain,encode", "plain,encode-files"]),
        ("trietok encode --file te", ["file,te"]),
        ("trietok encode-files --on-error s", ["plain,skip"]),
        ("trietok encode -m trietok-z", ["plain,trietok-zh", "file,trietok-z"]),
    ],
)
def test_the_shell_completes_commands_files_and_choices(typed, completed):
    asked = {
        "_TRIETOK_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    stdout, stderr = process(env=environment(**asked)).communicate()
    assert (stdout.decode().split(), stderr) == (completed, b"")


@pytest.mark.parametrize("given", ["stdin", pytest.param("argument", marks=linux)])
def test_texts_are_utf_8_whatever_the_locale(tiny, given):
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    text = "東京 hello".encode()
    child = process("tokenize", "-q", "-m", tiny, *([text] if given == "argument" else []), env=env)
    stdout, stderr = child.communicate(None if given == "argument" else text)
    assert (stdout.decode().splitlines(), stderr, child.returncode) == (["東 京 hello"], b"", 0)


@linux
@pytest.mark.parametrize(
    "arguments",
    [
        ("encode", "a", "--pair", b"na\xefve"),
        ("trim", "-m", "trietok-en", "texts.txt", "-o", "out", "--keep-prefix", b"na\xefve"),
        ("train", "wordpiece", "texts.txt", "-o", "out", "--special-token", b"na\xefve"),
    ],
)
def test_an_argument_that_is_not_utf_8_is_refused(tmp_path, arguments):
    child = process(*arguments, cwd=tmp_path)
    written, message = child.communicate()
    assert (child.returncode, written) == (2, b"")
    assert b"byte 0xef at offset 2" in message
    assert os.listdir(tmp_path) == []
