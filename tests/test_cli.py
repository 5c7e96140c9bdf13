"""The command: what it reads, what it writes where, how it fails, and what its page in docs/ shows."""

from __future__ import annotations

import io
import itertools
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import pytest

import trietok

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from trietok.cli.app import COMMANDS, make_app
from trietok.cli.inputs import lines_of
from trietok.cli.output import visible

ROOT = pathlib.Path(__file__).parent.parent
APP = make_app()
PAGE = ROOT / "docs" / "command_line.md"
WORDS = ("hello", "world", "hel", "##lo", "東", "京", "タワー")  # ids from 5
COLOURS = re.compile(r"\x1b\[[0-9;]*m")

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell, signals or a terminal as Unix has them")


@pytest.fixture
def tiny(vocab_file) -> str:
    """The path of a tiny vocabulary."""
    return str(vocab_file(*WORDS))


def run(*arguments: str, stdin: str | bytes = ""):
    """Run the command in this process; its output is not a terminal, and neither is its input."""
    try:
        runner = CliRunner(mix_stderr=False)
    except TypeError:  # newer versions never mix
        runner = CliRunner()
    return runner.invoke(APP, list(arguments), input=stdin, prog_name="trietok", catch_exceptions=False)


def out(*arguments: str, stdin: str | bytes = "") -> list[str]:
    """The lines of standard output of a run that goes well and says nothing else."""
    result = run(*arguments, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "" or result.stdout.endswith("\n")
    return result.stdout.split("\n")[:-1]


def error(*arguments: str, stdin: str | bytes = "") -> str:
    """The message of a run that fails."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 1
    assert result.stderr.startswith("trietok: error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("trietok: error: ").rstrip("\n")


def usage_error(*arguments: str, stdin: str | bytes = "") -> str:
    """The message of a run that is refused as it is called."""
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == 2
    assert result.stdout == ""
    return unframed(result.stderr)


def unframed(text: str) -> str:
    """A usage error without the frame that some versions of typer draw around it."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", text).split())


def environment(**variables: str) -> dict[str, str]:
    unwanted = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLUMNS", "LINES", "PYTHONIOENCODING")
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
    env = environment(**{"COLUMNS": str(columns), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", **variables})
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
    return written.decode("utf-8").replace("\r\n", "\n")


# ---- encode ---------------------------------------------------------------------------------------------------------


def test_encode_writes_the_ids_of_each_text_on_a_line(english):
    texts = ["The people, united!", "[CLS] is a token", ""]
    assert out("encode", *texts) == [" ".join(map(str, english.encode(text))) for text in texts]


def test_encode_json():
    assert [json.loads(line) for line in out("encode", "--json", "Hello")] == [
        {"text": "Hello", "tokens": ["[CLS]", "hel", "##lo", "[SEP]"], "input_ids": [2, 456, 490, 3]}
    ]


@pytest.fixture
def converted(monkeypatch) -> list:
    """The lists of ids, and of tokens, that are converted to the other."""
    seen: list = []
    for name in ("convert_ids_to_tokens", "convert_tokens_to_ids"):
        original = getattr(trietok.BertTokenizer, name)

        def watched(self, given, *arguments, original=original, **options):
            if isinstance(given, list):
                seen.append(given)
            return original(self, given, *arguments, **options)

        monkeypatch.setattr(trietok.BertTokenizer, name, watched)
    return seen


def test_only_what_is_written_is_worked_out(tiny, converted):
    assert out("encode", "-m", tiny, "hello") == ["2 5 3"]
    assert [2, 5, 3] not in converted
    converted.clear()
    assert out("tokenize", "-m", tiny, "hello") == ["hello"]
    assert ["hello"] not in converted
    assert out("decode", "-m", tiny, stdin="2 5 3\n6\n") == ["[CLS] hello [SEP]", "world"]
    assert converted.count([2, 5, 3]) == converted.count([6]) == 1


def test_encode_options(tiny):
    assert out("encode", "--model", tiny, "hello world") == ["2 5 6 3"]
    assert out("encode", "-m", tiny, "--no-special-tokens", "hello world") == ["5 6"]
    assert out("encode", "-m", tiny, "--max-length", "3", "hello world") == ["2 5 3"]
    assert out("encode", "-m", tiny, "--max-length", "1", "--no-special-tokens", "hello world") == ["5"]


def test_encode_pair(tiny):
    assert out("encode", "-m", tiny, "hello", "--pair", "world") == ["2 5 3 6 3"]
    assert json.loads(out("encode", "-m", tiny, "--json", "hello", "--pair", "world")[0]) == {
        "text": "hello",
        "text_pair": "world",
        "tokens": ["[CLS]", "hello", "[SEP]", "world", "[SEP]"],
        "input_ids": [2, 5, 3, 6, 3],
        "token_type_ids": [0, 0, 0, 1, 1],
    }


@pytest.mark.parametrize("arguments", [["a", "b"], [], ["-"], ["--file", "texts.txt"]])
def test_a_pair_needs_exactly_one_text(arguments):
    assert "exactly one text" in usage_error("encode", "--pair", "c", *arguments, stdin="a\n")


@pytest.mark.parametrize("length", ["0", "-1", "five"])
def test_max_length_is_a_whole_number_from_one(length):
    assert "--max-length" in usage_error("encode", "--max-length", length, "a")


def test_special_tokens_alone_may_be_too_many():
    assert "max_length is 1" in error("encode", "--max-length", "1", "a")


def test_a_text_too_long_for_the_model_is_warned_of_once(english):
    result = run("encode", stdin="a " * 600 + "\n" + "a " * 700 + "\n")
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 2
    assert result.stderr == (
        "trietok: warning: standard input, line 1 has 602 tokens, more than the 512 the model takes; --max-length 512 "
        "truncates\n"
    )


def test_the_log_of_the_library_is_shown_in_the_same_form(tiny, tmp_path):
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_cas": true}')
    result = run("encode", "-m", str(tmp_path), "hello")
    assert (result.exit_code, result.stdout) == (0, "2 5 3\n")
    assert result.stderr.startswith("trietok: warning: the keyword 'do_lower_cas' changes nothing")


def test_the_class_is_the_one_that_the_directory_asks_for(vocab_file, tmp_path):
    vocab_file("a", special=["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "MPNetTokenizer"}')
    model = str(tmp_path)
    assert out("encode", "-m", model, "a") == ["0 5 2"]
    assert out("decode", "-m", model, "0", "5", "2") == ["<s> a </s>"]
    assert out("tokenize", "-m", model, "a") == ["a"]
    assert out("diff", model, model)[0] == "the ids are the same"
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    assert "'RobertaTokenizer', which trietok does not have; it has BertTokenizer, " in error(
        "encode", "-m", model, "a"
    )


# ---- unknown --------------------------------------------------------------------------------------------------------


def test_unknown_words_of_files(tiny, tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("hello\nhello Zoo, zoo\n", encoding="utf-8")
    second.write_text("zoo\n東\tx\n", encoding="utf-8")
    lines = out("unknown", "-m", tiny, str(first), str(second))
    assert lines == [
        "3 kinds of unknown words, 5 times in 3 of 4 texts (62.50% of 8 tokens)",
        f"3\tzoo\tunknown character z\t{first}:2:6-9 {first}:2:11-14 {second}:1:0-3",
        f"1\t,\tunknown character ,\t{first}:2:9-10",
        f"1\tx\tunknown character x\t{second}:2:2-3",
    ]
    assert out("unknown", "-m", tiny, "-n", "1", str(first), str(second)) == lines[:2]
    assert out("unknown", "-m", tiny, stdin="hello\n") == ["no unknown words in 1 text (1 token)"]


def test_unknown_words_as_json(tiny, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n\n京 x\n", encoding="utf-8")
    (line,) = out("unknown", "-m", tiny, "--json", str(path))
    assert json.loads(line) == {
        "texts": 3,
        "texts_with_unknown": 1,
        "tokens": 2,
        "occurrences": 1,
        "characters": {"x": 1},
        "words": [
            {
                "word": "x",
                "count": 1,
                "reason": "unknown-character",
                "blame": ["x"],
                "positions": [{"file": str(path), "line": 3, "start": 2, "end": 3}],
            }
        ],
    }


def test_unknown_words_of_a_file_that_is_not_there(tiny):
    assert error("unknown", "-m", tiny, "no such file") == "cannot read no such file: No such file or directory"


@posix
def test_unknown_words_on_a_terminal(tiny, tmp_path):
    (tmp_path / "a.txt").write_text("[b] 東\x1bx x\n", encoding="utf-8")
    shown = COLOURS.sub("", on_terminal("unknown", "-m", tiny, "-n", "2", str(tmp_path / "a.txt"), columns=300))
    lines = [line.rstrip() for line in shown.rstrip("\n").split("\n")]
    assert lines[0] == "4 kinds of unknown words, 5 times in 1 of 1 text (83.33% of 6 tokens)"
    assert lines[1].split() == ["count", "word", "why", "first", "at"]
    assert lines[2].split()[:5] == ["2", "x", "unknown", "character", "x"]
    assert lines[3].split()[:5] == ["1", "[", "unknown", "character", "["]
    assert lines[4:] == ["... and 2 more"]


# ---- tokenize -------------------------------------------------------------------------------------------------------


def test_tokenize(tiny):
    assert out("tokenize", "-m", tiny, "Hello hello x", "東京タワー") == ["hello hello [UNK]", "東 京 タワー"]
    assert out("tokenize", "-m", tiny, "--json", "hello 東") == [
        '{"text": "hello 東", "tokens": ["hello", "東"], "input_ids": [5, 9]}'
    ]


# ---- decode ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["2", "7", "8", "6", "3"], ["2 7,8", "6,3"], ["[2, 7, 8, 6, 3]"], ["[2,", "7,8,6,", "3]"], ["--", "2", "7 8 6 3"]],
)
def test_decode_takes_one_sequence_as_arguments(tiny, arguments):
    assert out("decode", "-m", tiny, *arguments) == ["[CLS] hello world [SEP]"]


def test_decode_skips_special_tokens(tiny):
    assert out("decode", "-m", tiny, "--skip-special-tokens", "2", "7", "8", "6", "3") == ["hello world"]


def test_decode_json_has_all_tokens(tiny):
    assert out("decode", "-m", tiny, "--json", "--skip-special-tokens", "2", "9", "3") == [
        '{"text": "東", "tokens": ["[CLS]", "東", "[SEP]"], "input_ids": [2, 9, 3]}'
    ]


@pytest.mark.parametrize(
    "line", ["5 6", "5,6", " 5 , 6\t\r", "[5, 6]", '{"input_ids": [5, 6]}', '{"text": "?", "input_ids": [5, 6]} ']
)
def test_decode_reads_lines(tiny, tmp_path, line):
    assert out("decode", "-m", tiny, stdin=f"{line}\n\n{line}") == ["hello world", "", "hello world"]
    path = tmp_path / "ids.txt"
    path.write_text(f"{line}\n", newline="")
    assert out("decode", "-m", tiny, "-f", str(path)) == ["hello world"]


def test_what_encode_writes_can_be_decoded():
    texts = ["the people, united!", "you don't say? no.", ""]
    for form in ([], ["--json"]):
        written = run("encode", *form, *texts).stdout
        assert out("decode", "--skip-special-tokens", stdin=written) == texts


@pytest.mark.parametrize("arguments", [["-1"], ["5", "-1"], ["-1", "5", "--json"], ["--", "-1"], ["-1,", "5"]])
def test_a_negative_id_is_an_error_of_the_ids(arguments):
    assert error("decode", *arguments).startswith("id -1 is outside the vocabulary, whose ids run from 0 to 7999")


def test_an_id_out_of_range_names_the_line(tiny):
    assert error("decode", "-m", tiny, "12").startswith("id 12 is outside")
    result = run("decode", "-m", tiny, stdin="5\n6 -100\n")
    assert (result.exit_code, result.stdout) == (1, "hello\n")
    assert result.stderr.startswith("trietok: error: standard input, line 2: id -100 is outside")


@pytest.mark.parametrize("option", ["--skip", "-x", "--jsonl", "-"])
def test_an_unknown_option_of_decode_is_refused(option):
    message = usage_error("decode", "5", option)
    assert option in message
    assert "not an id" not in message


NOT_IDS = {
    "x": "'x' is not an id",
    "1.5": "'1.5' is not an id",
    "1_000": "'1_000' is not an id",
    "٣": "'٣' is not an id",
    "9" * 5000: "... is not an id",
    "[1": "not JSON at character 3",
    "[1, 2.0]": "2.0 is not an id",
    "[true]": "True is not an id",
    "[[1, 2]]": "[1, 2] is not an id",
    f"[{'9' * 4000}]": "... is not an id",
    f"[{'9' * 5000}]": "this JSON holds no list of ids",
    "[" * 100000: "this JSON holds no list of ids",
    "{}": "the JSON object has no input_ids",
    '{"input_ids": 5}': "input_ids should be a list of ids, not 5",
}


@pytest.mark.parametrize("text", NOT_IDS, ids=lambda text: text[:20])
def test_what_is_not_ids_is_refused(text):
    message = error("decode", stdin=f"5\n{text}\n")
    assert message.startswith("standard input, line 2: ")
    assert NOT_IDS[text] in message
    assert len(message) < 250


def test_what_is_not_ids_among_the_arguments_is_a_usage_error():
    assert "'hello' is not an id" in usage_error("decode", "hello")


# ---- where texts come from ------------------------------------------------------------------------------------------


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
    assert out("tokenize", "-m", tiny, "東", "-", "京", stdin="hello\nworld\n") == ["東", "hello", "world", "京"]
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


@pytest.mark.parametrize("stdin", [None, "terminal"])
def test_nothing_to_read_is_a_usage_error(monkeypatch, stdin):
    class Fails(Exception):
        pass

    class Context:
        def fail(self, message):
            raise Fails(message)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", Terminal() if stdin else None)
    with pytest.raises(Fails, match="Give texts as arguments, with --file PATH or through a pipe"):
        lines_of(Context(), None, None, "texts")


def test_input_is_never_read_as_a_whole(monkeypatch):
    class Endless:
        buffer = (b"line %d\n" % number for number in itertools.count())

        def isatty(self):
            return False

    monkeypatch.setattr(sys, "stdin", Endless())
    lines = lines_of(None, None, None, "texts")
    assert [line.text for line in itertools.islice(lines, 3)] == ["line 0", "line 1", "line 2"]


# ---- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["encode", "tokenize", "decode"])
def test_bad_utf8_names_file_and_line(tmp_path, command):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"5\n6\n5 caf\xe9\n")
    result = run(command, "--file", str(path))
    assert result.exit_code == 1
    assert result.stdout.count("\n") == 2
    assert result.stderr == (
        f"trietok: error: {path}, line 3: byte 0xe9 at offset 5 of the line is not UTF-8; convert the input to UTF-8\n"
    )


def test_files_that_cannot_be_read_are_named(tmp_path):
    assert error("encode", "-f", "nothing here.txt") == "cannot read nothing here.txt: No such file or directory"
    assert error("encode", "-f", str(tmp_path)).startswith(f"cannot read {tmp_path}: ")
    assert error("encode", "-f", "").startswith("cannot read '': ")
    assert error("encode", "-f", "a\x1b\nb").startswith("cannot read a\\x1b\\nb: ")


def test_models_that_cannot_be_loaded_are_named(tmp_path):
    assert error("encode", "-m", "no/such/model", "a").startswith("no/such/model is neither a directory nor a file")
    assert "has no vocab.txt" in error("encode", "-m", str(tmp_path), "a")
    (tmp_path / "vocab.txt").write_bytes(b"[UNK]\n\xff\n")
    assert "vocab.txt, line 2: byte 0xff" in error("decode", "-m", str(tmp_path), "1")
    (tmp_path / "vocab.txt").write_bytes(b"a\n")
    assert "does not hold the unknown token" in error("tokenize", "-m", str(tmp_path), "a")


def test_unknown_commands_and_options_are_usage_errors():
    assert "shout" in usage_error("shout")
    assert "--loud" in usage_error("encode", "--loud", "a")


@posix
def test_a_full_disk_is_an_error_and_not_silence():
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    with open("/dev/full", "wb") as full:
        child = process("encode", "a", stdout=full)
        _, stderr = child.communicate()
    assert (child.returncode, stderr) == (
        1,
        b"trietok: error: cannot write to standard output: No space left on device\n",
    )


@posix
def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("a text\n" * 20000)
    child = process("encode", "--json", "--file", str(path))
    assert json.loads(child.stdout.readline())["text"] == "a text"
    child.stdout.close()
    assert (child.stderr.read(), child.wait()) == (b"", 141)


@posix
def test_results_come_line_by_line_and_an_interrupt_is_quiet():
    def heed_interrupts():  # a test run in the background may have been told to ignore them
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    child = process("encode", "--json", preexec_fn=heed_interrupts)
    for text in ("one", "two"):
        child.stdin.write(text.encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["text"] == text  # the input is still open
    child.send_signal(signal.SIGINT)
    assert (child.wait(), child.stdout.read(), child.stderr.read()) == (130, b"", b"")


def test_an_interrupt_before_a_command_has_begun_is_one_line(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    for step in ("parse_args", "resolve_command"):
        with monkeypatch.context() as patch:
            patch.setattr(f"typer.core.TyperGroup.{step}", interrupted)
            result = run("encode", "a")
        assert (result.exit_code, result.stdout, result.stderr) == (130, "", "trietok: stopped\n")


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_its_packages_the_command_says_how_to_get_them(package):
    code = f"import sys; sys.modules[{package!r}] = None; import trietok.cli; trietok.cli.main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "trietok's command needs typer and rich: pip install 'trietok[cli]'\n"


# ---- ways to start it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["trietok", "trietok.cli"])
def test_modules_run_the_command(module):
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], env=environment(), capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"trietok {trietok.__version__}\n", "")


def test_a_command_imports_what_it_runs():
    code = "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n')); import trietok.cli; "
    done = subprocess.run(
        [sys.executable, "-c", code + "trietok.cli.main()", "encode", "a"],
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
        "trietok.benchmarking.worker",
        "trietok.tokenizer.fast_relatives",
    )
    assert not {*unwanted, "rich.console", "rich.progress", "multiprocessing"} & set(modules)


def test_all_commands_are_in_the_help_and_each_is_found_alone():
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", run("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert sorted(listed) == sorted(COMMANDS)
    for command in COMMANDS:
        alone = CliRunner().invoke(make_app([command]), [command, "--help"], prog_name="trietok")
        assert alone.stdout == run(command, "--help").stdout != ""


def test_output_of_a_process_is_utf8_whatever_the_locale(tiny):
    env = environment(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    child = process("tokenize", "-m", tiny, env=env)
    stdout, stderr = child.communicate("東京 hello\n".encode())
    assert (stdout.decode(), stderr, child.returncode) == (f"東 京 hello{chr(10)}", b"", 0)


def test_help():
    for arguments in (["--help"], ["-h"], ["encode", "-h"], ["tokenize", "--help"], ["decode", "--help"]):
        assert run(*arguments).exit_code == 0
    assert "[CLS]" in run("encode", "--help").stdout
    assert "encode" in run().output


# ---- text that is awkward to write ----------------------------------------------------------------------------------


def test_lone_surrogates_are_written_as_escapes(tiny):
    line = out("encode", "-m", tiny, "--json", "hello \ud800\udfff\\ud800")[0]
    assert '"text": "hello \\ud800\\udfff\\\\ud800"' in line


def test_visible_escapes_what_moves_the_cursor():
    assert visible("[CLS] é 東京 👩‍👩‍👧") == "[CLS] é 東京 👩‍👩‍👧"
    assert visible("\x1b[31m\r\n\t\x9b\u2028\ud800\u202e") == r"\x1b[31m\r\n\t\x9b\u2028\ud800\u202e"


# ---- on a terminal --------------------------------------------------------------------------------------------------


def cells(shown: str) -> list[list[str]]:
    """The rows of the tables on a terminal."""
    return [[cell.strip() for cell in line.split("│")] for line in COLOURS.sub("", shown).split("\n") if "│" in line]


@posix
def test_a_terminal_gets_a_table_for_each_text(tiny):
    shown = COLOURS.sub("", on_terminal("encode", "-m", tiny, "hello hel\x1b[2Jlo [bold]", "東京タワー", ""))
    assert [line.rstrip() for line in shown.split("\n")] == [
        r"hello hel\x1b[2Jlo [bold]",
        "9 tokens, 2 special, 5 unknown",
        " [CLS] │ hello │ hel │ [UNK] │ [UNK] │ [UNK] │ [UNK] │ [UNK] │ [SEP]",
        " 2     │ 5     │ 7   │ 1     │ 1     │ 1     │ 1     │ 1     │ 3",
        "",
        "東京タワー",
        "5 tokens, 2 special",
        " [CLS] │ 東 │ 京 │ タワー │ [SEP]",
        " 2     │ 9  │ 10 │ 11     │ 3",
        "",
        "(empty text)",
        "2 tokens, 2 special",
        " [CLS] │ [SEP]",
        " 2     │ 3",
        "",
    ]


@posix
def test_colours(tiny):
    shown = on_terminal("encode", "-m", tiny, "hello hello hello[SEP]x hellolo")
    assert re.search(r"\x1b\[35m\[CLS\] *\x1b\[0m", shown)
    assert "\x1b[1;31m[UNK]\x1b[0m" in shown
    assert re.search(r"\x1b\[2m##lo *\x1b\[0m", shown)
    assert "\x1b" not in on_terminal("encode", "-m", tiny, "hello", NO_COLOR="1", TERM="dumb")


@posix
def test_long_texts_and_wide_characters_fit_the_terminal(tiny):
    from rich.cells import cell_len

    shown = on_terminal("tokenize", "-m", tiny, "東京タワー hello " * 30 + "x" * 101, columns=40)
    assert max(map(cell_len, COLOURS.sub("", shown).split("\n"))) <= 40
    tokens = [cell for row in cells(shown)[::2] for cell in row]
    assert tokens == ["東", "京", "タワー", "hello"] * 30 + ["[UNK]"]


@posix
def test_json_and_decoded_text_look_alike_on_a_terminal(tiny):
    assert on_terminal("encode", "-m", tiny, "--json", "東") == f"{out('encode', '-m', tiny, '--json', '東')[0]}\n"
    assert on_terminal("decode", "-m", tiny, "2", "9") == "[CLS] 東\n"


@posix
def test_a_terminal_that_could_be_typed_at_is_no_input():
    shown = unframed(COLOURS.sub("", on_terminal("encode")))
    assert "Give texts as arguments, with --file PATH or through a pipe; - reads what you type." in shown


# ---- the page in docs/ ----------------------------------------------------------------------------------------------


def shown_on(page: pathlib.Path) -> dict[str, str]:
    """The commands of a page's console blocks, each with the output shown."""
    shown: dict[str, str] = {}
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            shown[command] = output
    return shown


@posix
@pytest.mark.parametrize("page", ["command_line", "training", "unknown_words"])
def test_the_page_shows_what_the_commands_print(tmp_path, monkeypatch, page):
    script = tmp_path / "trietok"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trietok "$@"\n')
    script.chmod(0o755)
    env = environment(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)

    def printed(command: str) -> str:
        alone = command.removesuffix(" | cat")
        if alone.startswith("trietok ") and not set("|<>$") & set(alone):  # no shell is needed, which is quicker
            result = run(*shlex.split(alone)[1:])
            return result.stdout + result.stderr
        done = subprocess.run(["/bin/sh", "-c", command], env=env, capture_output=True)
        return (done.stdout + done.stderr).decode("utf-8")

    shown = shown_on(PAGE.with_name(f"{page}.md"))
    assert sum("trietok" in command for command in shown) >= 1
    assert {command: printed(command) for command in shown} == shown


@posix
def test_the_page_shows_the_table_of_a_terminal():
    table = re.search(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    shown = COLOURS.sub("", on_terminal("encode", table[1].split("\n")[0]))
    assert [line.rstrip() for line in shown.split("\n")] == table[1].split("\n")
