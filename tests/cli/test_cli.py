"""The command as a whole: its errors, how it stops, and the ways to start it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest

import trietok
from tests.cli.commands import environment, error, out, posix, process, run, usage_error
from trietok.cli.app import COMMANDS, app
from trietok.cli.output import Utf8


@pytest.mark.parametrize("command", ["encode", "tokenize", "decode"])
def test_bad_utf8_names_file_and_line(tmp_path, command):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"5\n6\n5 caf\xe9\n")
    result = run(command, "--file", str(path))
    assert result.exit_code == 2
    assert result.stdout.count("\n") == 2
    assert (
        result.stderr
        == f"trietok: error: {path}, line 3: byte 0xe9 at offset 5 of the line is not UTF-8;"
        " convert the input to UTF-8\n"
    )


def test_files_that_cannot_be_read_are_named(tmp_path):
    assert (
        error("encode", "-f", "nothing here.txt")
        == "cannot read nothing here.txt: No such file or directory"
    )
    assert error("encode", "-f", str(tmp_path)).startswith(
        f"{tmp_path} is a directory; give its files"
    )
    assert error("encode", "-f", "").startswith("cannot read '': ")
    assert error("encode", "-f", "a\x1b\nb").startswith("cannot read a\\x1b\\nb: ")


def test_models_that_cannot_be_loaded_are_named(tmp_path):
    assert error("encode", "-m", "no/such/model", "a").startswith(
        "no/such/model is neither a directory nor a file"
    )
    assert "has no vocab.txt" in error("encode", "-m", str(tmp_path), "a")
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n\xff\n")
    assert "vocab.txt, line 2: byte 0xff" in error("decode", "-m", str(tmp_path), "1")
    (tmp_path / "vocab.txt").write_bytes(b"a\n")
    assert "does not hold the unknown token" in error("tokenize", "-m", str(tmp_path), "a")


def test_unknown_commands_and_options_are_usage_errors():
    assert "shout" in usage_error("shout")
    assert "--loud" in usage_error("encode", "--loud", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("encod", "No such command 'encod'. Did you mean 'encode' or 'encode-files'?"),
        ("shout", "No such command 'shout'."),
        ("--versio", "No such option '--versio'. Did you mean '--version'?"),
        ("encode --modle m a", "No such option '--modle'. Did you mean '--model'?"),
        ("decode --modle m 1", "No such option '--modle'. Did you mean '--model'?"),
        ("encode --no a", "No such option '--no'. Did you mean '--no-special-tokens'?"),
        ("encode --x a", "No such option '--x'."),
        ("decode --x 1", "No such option '--x'."),
        ("train bpe --vocabsize 9 a", "No such option '--vocabsize'. Did you mean '--vocab-size'?"),
        ("encode -m", "Option '-m' requires an argument."),
        ("train bpe a --vocab-size", "Option '--vocab-size' requires an argument."),
        ("--version=3", "Option '--version' does not take a value."),
    ],
)
def test_usage_errors_have_one_form_and_name_what_may_have_been_meant(arguments, message):
    words = arguments.split()
    command = " ".join(
        ["trietok", *words[: 2 if words[0] == "train" else int(words[0] in COMMANDS)]]
    )
    said = usage_error(*words)
    assert said.startswith(f"Usage: {command} [OPTIONS] ")
    assert said.endswith(f" for help. Error: {message}")


WRITING = ["encode -q a", "--help", "--version", "encode --help", "train bpe -h", "completion"]


def arguments_of(written: str) -> tuple[list[str], dict[str, str]]:
    """Arguments and environment of a run that writes something."""
    if written == "completion":
        return [], environment(_TRIETOK_COMPLETE="bash_source")
    return written.split(), environment()


@posix
@pytest.mark.parametrize("written", WRITING)
def test_a_full_disk_is_an_error_and_not_silence(written):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    arguments, env = arguments_of(written)
    with open("/dev/full", "wb") as full:
        child = process(*arguments, stdout=full, env=env)
        _, stderr = child.communicate()
    assert (child.returncode, stderr) == (
        2,
        b"trietok: error: cannot write to standard output: No space left on device\n",
    )


@posix
@pytest.mark.parametrize("written", WRITING)
def test_a_standard_output_that_is_closed_is_an_error_and_not_silence(written):
    arguments, env = arguments_of(written)
    child = process(*arguments, stdout=None, env=env, preexec_fn=lambda: os.close(1))
    _, stderr = child.communicate()
    assert (child.returncode, stderr) == (
        2,
        b"trietok: error: cannot write: standard output is closed\n",
    )


@posix
@pytest.mark.parametrize(
    ("arguments", "exit_code"), [(["shout"], 2), (["encode", "--model"], 2), (["decode", "-1"], 2)]
)
def test_errors_stay_off_standard_output_where_standard_error_is_closed(arguments, exit_code):
    child = process(*arguments, stderr=None, preexec_fn=lambda: os.close(2))
    stdout, _ = child.communicate()
    assert (child.returncode, stdout) == (exit_code, b"")


@posix
def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("a text\n" * 20000)
    child = process("encode", "-q", "--json", "--file", str(path))
    assert json.loads(child.stdout.readline())["text"] == "a text"
    child.stdout.close()
    assert (child.stderr.read(), child.wait()) == (b"", 141)


@posix
def test_results_come_line_by_line_and_an_interrupt_is_one_more():
    def heed_interrupts():  # a test run in the background may have been told to ignore them
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    child = process("encode", "-q", "--json", preexec_fn=heed_interrupts)
    for text in ("one", "two"):
        child.stdin.write(text.encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["text"] == text  # the input is still open
    child.send_signal(signal.SIGINT)
    assert (child.wait(), child.stderr.read()) == (130, b"")
    told = {"ok": False, "error": "stopped", "kind": "KeyboardInterrupt"}
    assert [json.loads(line) for line in child.stdout.read().splitlines()] == [told]


def test_an_interrupt_before_a_command_has_begun_is_one_line(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    for step in ("parse_args", "resolve_command"):
        with monkeypatch.context() as patch:
            patch.setattr(f"click.Group.{step}", interrupted)
            result = run("encode", "a")
        assert (result.exit_code, result.stdout, result.stderr) == (130, "", "trietok: stopped\n")


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_its_packages_the_command_says_how_to_get_them(package):
    code = f"import sys; sys.modules[{package!r}] = None; import trietok.cli; trietok.cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "trietok's command needs click and rich: pip install click rich\n"


@pytest.mark.parametrize("module", ["trietok", "trietok.cli"])
def test_modules_run_the_command(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        0,
        f"trietok {trietok.__version__} ({trietok.kernel} kernel)\n",
        "",
    )


def test_a_command_imports_what_it_runs():
    code = (
        "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n')); import"
        " trietok.cli; "
    )
    done = subprocess.run(
        [sys.executable, "-c", code + "trietok.cli.main()", "encode", "-q", "a"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    ids, *modules = done.stdout.split()[2:]
    assert (ids, done.returncode, done.stderr) == ("3", 0, "")
    assert "trietok.cli.encode" in modules
    unwanted = (
        "trietok.cli.train",
        "trietok.training",
        "trietok.workbench.engines",
    )
    others = ("rich", "multiprocessing", "pydantic", "typing_extensions", "fractions")
    assert not {*unwanted, *others} & set(modules)


def test_all_commands_are_in_the_help_in_a_line_each_and_each_is_found():
    groups = run("--help").stdout.partition("Texts to ids:\n")[2]
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z].*\w\.$", groups, re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    kinds, shown = ("bpe", "wordpiece"), run("train", "-h").stdout
    assert all(re.search(rf"^  {kind}  +[A-Z].*\w\.$", shown, re.MULTILINE) for kind in kinds)
    for command in (
        *(command for command in COMMANDS if command != "train"),
        *(f"train {kind}" for kind in kinds),
    ):
        shown = run(*command.split(), "--help").stdout
        assert shown.startswith(f"Usage: trietok {command} [OPTIONS]")
        assert "--offline" in shown


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("trietok enc", ["plain,encode", "plain,encode-files"]),
        ("trietok encode --file te", ["file,te"]),
        ("trietok encode-files --on-error s", ["plain,skip"]),
    ],
)
def test_the_shell_completes_commands_names_of_files_and_choices(typed, completed):
    asked = {
        "_TRIETOK_COMPLETE": "bash_complete",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(typed.count(" ")),
    }
    stdout, stderr = process(env=environment(**asked)).communicate()
    assert (stdout.decode().split(), stderr) == (completed, b"")


def test_output_of_a_process_is_utf8_whatever_the_locale(tiny):
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    child = process("tokenize", "-q", "-m", tiny, env=env)
    stdout, stderr = child.communicate("東京 hello\n".encode())
    assert (stdout.decode(), stderr, child.returncode) == (f"東 京 hello{chr(10)}", b"", 0)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere an argument is UTF-8")
def test_arguments_of_a_process_are_utf8_whatever_the_locale(tiny):
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    child = process("tokenize", "-q", "-m", tiny, "東京 hello".encode(), env=env)
    stdout, stderr = child.communicate()
    assert (stdout.decode(), stderr, child.returncode) == (f"東 京 hello{chr(10)}", b"", 0)


def test_help():
    for arguments in (
        ["--help"],
        ["-h"],
        ["encode", "-h"],
        ["tokenize", "--help"],
        ["decode", "--help"],
    ):
        assert run(*arguments).exit_code == 0
    assert "[CLS]" in run("encode", "--help").stdout
    assert "encode" in run().output


# ---- arguments that are not UTF-8 ----------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere an argument is UTF-8")
@pytest.mark.parametrize(
    "arguments",
    [
        ("tokenize", b"na\xefve"),
        ("encode", "a", "--pair", b"na\xefve"),
        ("trim", "trietok-en", "texts.txt", "-o", "out", "--keep-prefix", b"na\xefve"),
        ("train", "wordpiece", "texts.txt", "-o", "out", "--special-token", b"na\xefve"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused_as_in_a_file(tmp_path, arguments):
    child = process(*arguments, cwd=tmp_path)
    written, said = child.communicate()
    assert (child.returncode, written) == (2, b"")
    assert (
        said.decode()
        == "trietok: error: na\\xefve: byte 0xef at offset 2 is not UTF-8; convert the input to"
        " UTF-8\n"
    )
    assert os.listdir(tmp_path) == []


def test_a_half_surrogate_pair_is_refused():
    result = run("explain", "ä\ud83d")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith("U+D83D at offset 2 is not UTF-8; convert the input to UTF-8\n")


def test_every_text_of_every_command_is_looked_at():
    def commands(group):
        for name in group.list_commands(None):
            command = group.get_command(None, name)
            yield command
            yield from commands(command) if hasattr(command, "commands") else ()

    types = [parameter.type for command in commands(app) for parameter in command.params]
    assert len([each for each in types if isinstance(each, Utf8)]) > 20
    assert not [each for each in types if each.name == "text" and not isinstance(each, Utf8)]


# ---- one form of answers -------------------------------------------------------------------------


def test_errors_are_json_where_json_is_asked_for(tmp_path):
    gone = str(tmp_path / "gone")
    result = run("encode", "--json", "-m", gone, "a")
    assert (result.exit_code, result.stderr.startswith(f"trietok: error: {gone} is neither")) == (
        2,
        True,
    )
    answer = json.loads(result.stdout)
    assert (answer["ok"], answer["kind"], answer["path"]) == (False, "FileError", gone)
    assert f"trietok: error: {answer['error']}\n" == result.stderr
    result = run("encode", "--json", "--max-length", "x", "a")
    assert json.loads(result.stdout)["error"].startswith("Invalid value for '--max-length'")
    assert run("encode", "-m", gone, "--", "--json").stdout == ""
    for words, typed in (
        ("encode --json --foo hi", "--foo"),
        ("verify --foo --json", "--foo"),
        ("encode hi --modle x --json", "--modle"),
    ):
        answer = json.loads(run(*words.split()).stdout)
        assert (answer["ok"], answer["kind"]) == (False, "UsageError")
        assert answer["error"].startswith(f"No such option '{typed}'.")
    assert run("encode", "--foo", "hi", "--", "--json").stdout == ""


def test_the_version_has_a_short_option():
    assert run("-V").stdout == run("--version").stdout != ""


def test_a_dry_run_writes_nothing(tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "terms.txt").write_text("covid\n")
    before = sorted(tmp_path.rglob("*"))
    for command in (
        ("add", "-m", tiny, "--terms", "terms.txt", "--dry-run"),
        ("add", "-m", tiny, "--terms", "terms.txt", "--dry-run", "-o", "out"),
        ("trim", "-m", tiny, "--dry-run", "terms.txt"),
    ):
        assert any("dry run: nothing is written" in line for line in out(*command))
        assert json.loads(run(*command, "--json").stdout)["ok"]
    assert sorted(tmp_path.rglob("*")) == before
    assert "--dry-run goes without" in usage_error("add", "-m", tiny, "--terms", "terms.txt")


def test_a_report_is_a_page_too(tiny, tmp_path):
    page = tmp_path / "page.html"
    assert run("diff", tiny, "trietok-en", "--page", str(page)).exit_code == 1
    assert "the tokenizers differ" in page.read_text(encoding="utf-8")
    assert "is there already" in usage_error("diff", tiny, tiny, "--page", str(page))


def test_the_options_of_a_long_command_stand_in_groups():
    shown = run("adapt", "--help").stdout
    titles = re.findall(r"^(\w.*):$", shown, re.MULTILINE)
    assert titles == [
        "Options",
        "Words to add",
        "Rows of the model",
        "Reading texts",
    ]
    assert "--profile [slow|fast]" in shown
    assert (
        shown.index("Words to add:") < shown.index("--phrases") < shown.index("Rows of the model:")
    )
