"""Commands that are killed, interrupted or terminated: all of the output is there or nothing, and the
same command then writes the same bytes.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from os import _exit as leave
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.commands import main, out, posix, process, run
from tests.conftest import examples

pytestmark = posix

STATUS = {"killed": -signal.SIGKILL, "interrupted": 130, "terminated": 143}
STEPS = (
    *("chmod", "fsync", "link", "mkdir", "open", "rename", "replace"),
    *("rmdir", "symlink", "unlink", "write"),
)
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "co", "##v", "##id", "vac", "##cine")


class Case(NamedTuple):
    """A command line that writes `out`, or a directory above it; and what is there before."""

    command: str
    output: str = "out"
    before: str = ""


CASES = {
    "add": Case("add --terms terms.txt -m model -o out"),
    "add below directories that are not there": Case(
        "add --terms terms.txt -m model -o a/b/out", "a"
    ),
    "trim": Case("trim texts.txt -m model -o out"),
    "trim into an empty directory": Case("trim texts.txt -m model -o out", before="directory"),
    "suggest": Case("suggest texts.txt -m model --output out --min-frequency 2"),
    "train wordpiece": Case("train wordpiece texts.txt -o out --vocab-size 40 --min-frequency 1"),
    "train bpe": Case("train bpe texts.txt -o out --vocab-size 40 --min-frequency 1"),
    "train chinese": Case("train bpe texts.txt -o out --recipe chinese --test texts.txt"),
    "check --fix": Case("check -m broken/vocab.txt --fix -o out"),
    "lock": Case("lock texts.txt -m model -o out"),
    "lock that replaces": Case("lock texts.txt -m model -o out --force", before="file"),
    "explain": Case("explain vaccine -m model -o out"),
}


def files_of(path: Path) -> dict[str, bytes | None]:
    """The files and directories of a path, without hidden ones and links that lead nowhere."""
    found = {"": path.read_bytes() if path.is_file() else None} if path.exists() else {}
    for each in path.rglob("*"):
        name = each.relative_to(path).as_posix()
        if each.exists() and not any(part.startswith(".") for part in name.split("/")):
            found[name] = each.read_bytes() if each.is_file() else None
    return found


class Workplace:
    """A directory with what the commands read, and what each of them writes there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outputs: dict[str, tuple[dict[str, bytes | None], set[str], int]] = {}
        (folder / "broken").mkdir()
        (folder / "broken" / "vocab.txt").write_text(
            "".join(f"{each}\n" for each in (*WORDS, "the"))
        )
        (folder / "vocab.txt").write_text("".join(f"{each}\n" for each in WORDS))
        (folder / "texts.txt").write_text("the vac co\nvaccine covid the\n" * 4)
        (folder / "terms.txt").write_text("covid\nvaccine\n")
        os.chdir(folder)
        out("trim", "-q", "-m", "vocab.txt", "--keep", "vocab.txt", "texts.txt", "-o", "model")

    def reset(self, case: Case) -> None:
        """Take away what commands have written; put there what the case finds there."""
        for path in [self.folder / "out", self.folder / "a", *self.folder.glob(".*")]:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        if case.before == "file":
            (self.folder / "out").write_text("before")
        elif case.before == "directory":
            (self.folder / "out").mkdir()

    def whole(self, name: str) -> tuple[dict[str, bytes | None], set[str], int]:
        """What a case writes, the names in the directory then, and how many moments it has."""
        if name not in self.outputs:
            case = CASES[name]
            self.reset(case)
            assert run(*case.command.split()).exit_code == 0  # imports all modules here
            self.reset(case)
            status, moments = self.run(case.command)
            assert (status, moments > 4) == (0, True)
            written = files_of(self.folder / case.output)
            self.outputs[name] = written, set(os.listdir(self.folder)), moments
            self.reset(case)
        return self.outputs[name]

    def run(self, command: str, moment: int = -1, way: str = "") -> tuple[int, int]:
        """Run a command in a process of its own, which is stopped before, or after, its step on the
        file system of the number `moment`.

        Returns:
            The status of its end, and how many moments it came to.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self.stop_at(command, moment, way, writing)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            moments = len(file.read())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), moments

    def stop_at(self, command: str, moment: int, way: str, writing: int) -> None:
        passed = 0

        def pass_moment() -> None:
            nonlocal passed
            passed += 1
            write(writing, b".")
            if passed - 1 == moment:
                if way == "interrupted":
                    raise KeyboardInterrupt
                os.kill(os.getpid(), signal.SIGKILL if way == "killed" else signal.SIGTERM)

        def stopping(function):
            def step(*arguments, **options):
                if function in (open_file, os_open) and not is_writing(*arguments, **options):
                    return function(*arguments, **options)
                pass_moment()
                result = function(*arguments, **options)
                pass_moment()
                return result

            return step

        code = 1
        try:
            os.chdir(self.folder)
            tempfile.tempdir = str(self.folder.parent)
            sys.stdout = sys.stderr = io.StringIO()
            write, os_open, open_file = os.write, os.open, builtins.open
            for name in STEPS:
                setattr(os, name, stopping(getattr(os, name)))
            builtins.open = io.open = stopping(open_file)
            sys.argv = ["trietok", *command.split()]
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        finally:
            leave(code)

    def check(self, name: str, way: str, share: float) -> None:
        """Stop a case at a moment, then run it again: its output is whole or as before, then whole."""
        case = CASES[name]
        whole, names, moments = self.whole(name)
        self.reset(case)
        before = files_of(self.folder / case.output)
        status, _ = self.run(case.command, int(share * moments), way)
        assert status == STATUS[way]
        found = files_of(self.folder / case.output)
        if "tokenizer_config.json.new" in found:  # in a directory that was there
            self.run(f"check -m {case.output} --fix")
            found = files_of(self.folder / case.output)
        is_empty = case.output == "a" and all(value is None for value in found.values())
        assert found in (before, whole) or is_empty
        # One that is stopped as it makes a hidden file leaves it to the next one.
        left = {each for each in os.listdir(self.folder) if each[0] != "." or each[-4:] != ".new"}
        assert left <= names
        if found == whole:  # it is not replaced without --force
            self.reset(case)
        assert self.run(case.command)[0] == 0
        assert files_of(self.folder / case.output) == whole
        assert set(os.listdir(self.folder)) == names
        assert not list((self.folder / "out").glob(".*"))


def is_writing(path, mode="r", *arguments, **options) -> bool:
    return bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else mode[0] in "wxa"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    before = os.getcwd()
    yield Workplace(tmp_path_factory.mktemp("stopped"))
    os.chdir(before)


@examples(24)
@given(st.sampled_from(sorted(CASES)), st.sampled_from(sorted(STATUS)), st.floats(0, 0.999))
def test_a_command_stopped_at_any_step_leaves_all_or_nothing(workplace, name, way, share):
    workplace.check(name, way, share)


@pytest.mark.faults
@pytest.mark.parametrize("way", STATUS)
@pytest.mark.parametrize("name", CASES)
def test_every_command_stopped_at_many_steps_leaves_all_or_nothing(workplace, name, way):
    @examples(8)
    @given(st.floats(0, 0.999))
    def check(share):
        workplace.check(name, way, share)

    check()


# ---- signals while texts are read ----------------------------------------------------------------


def heed_interrupts() -> None:
    """A test run in the background may have been told to ignore them; the group is the child's."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.setsid()


@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.faults), "2"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_training_says_so_and_leaves_nothing(tmp_path, number, workers):
    """An interrupt goes to all processes, as a terminal sends it; SIGTERM to the command alone, and a
    process that were left would keep standard error open.
    """
    command = ("train", "wordpiece", "-", "-o", "out", "--workers", workers)
    child = process(*command, cwd=tmp_path, preexec_fn=heed_interrupts)
    # More than pipes and buffers hold, so the command has begun to read when this returns.
    child.stdin.write(b"the lowest lower low\n" * 100_000)
    child.stdin.flush()
    assert child.poll() is None
    (os.killpg if number == signal.SIGINT else os.kill)(child.pid, number)
    said = child.stderr.read()
    assert (child.wait(), said) == (128 + number, b"trietok: stopped; nothing was written\n")
    assert list(tmp_path.iterdir()) == []


def rows_in(ids: Path) -> list[list[int]]:
    """The ids of all rows that a run has written."""
    files = sorted(ids.rglob("*.parquet"))
    return [
        row for file in files for row in pyarrow.parquet.read_table(file)["input_ids"].to_pylist()
    ]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.faults)]
)
def test_stopped_encode_files_keeps_complete_files(tmp_path, monkeypatch, english, number):
    """Each file has a megabyte, so it has an output of its own."""
    monkeypatch.chdir(tmp_path)
    texts = [f"the people {text:x} of {text * 7919:x}" for text in range(8 * 45_000)]
    for file in range(8):
        lines = texts[file * 45_000 : (file + 1) * 45_000]
        Path(f"{file}.txt").write_text("".join(f"{line}\n" for line in lines))
    names = [f"{file}.txt" for file in range(8)]
    command = ("encode-files", *names, "-o", "ids", "-q")
    child = process(*command, "--workers", "2", preexec_fn=heed_interrupts)
    while len(list(Path("ids").glob("*.parquet"))) < 2 and child.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=0.005)
    child.send_signal(number)
    written, message = child.communicate(timeout=300)
    assert (child.returncode, written) == (128 + number, b"")
    assert message == b"trietok: stopped; complete files stay in ids; run again to continue\n"
    kept = [path.stat().st_ino for path in Path("ids").glob("*.parquet")]
    assert len(kept) >= 2
    assert not list(Path("ids").glob(".*"))
    assert "of earlier runs kept" in out(*command, "--workers", "1")[1]
    assert {*kept} <= {path.stat().st_ino for path in Path("ids").glob("*.parquet")}
    assert rows_in(Path("ids")) == english(texts).input_ids


def test_a_full_disk_is_one_error_and_the_run_can_be_continued(tmp_path, monkeypatch, english):
    """Files have a size at which writing fails as on a full disk; the second output reaches it."""
    import resource

    monkeypatch.chdir(tmp_path)
    texts = [["people"] * 1000, [f"{text * 7919:x}" for text in range(150_000)]]
    for file, lines in enumerate(texts):
        Path(f"{file}.txt").write_text("".join(f"{line}\n" for line in lines))
    command = ("encode-files", "0.txt", "1.txt", "-o", "ids", "-q")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))

    done = process(*command, "--workers", "1", preexec_fn=limited)
    message = done.communicate()[1].decode()
    assert done.returncode == 2
    assert message == "trietok: error: cannot write to ids/.trietok-encoding: File too large\n"
    assert [path.name for path in Path("ids").iterdir()] in ([], ["0.txt.parquet"])
    out(*command, "--workers", "2")
    assert rows_in(Path("ids")) == english([*texts[0], *texts[1]]).input_ids


# ---- readers and writers at the other end of a pipe ----------------------------------------------


def test_a_reader_that_leaves_ends_the_command_quietly(tmp_path):
    (tmp_path / "texts.txt").write_text("a text\n" * 20000)
    child = process("encode", "-q", "--json", "--file", "texts.txt", cwd=tmp_path)
    assert json.loads(child.stdout.readline())["text"] == "a text"
    child.stdout.close()
    assert (child.stderr.read(), child.wait()) == (b"", 141)


def test_results_come_line_by_line_and_an_interrupt_is_one_more():
    child = process("encode", "-q", "--json", preexec_fn=heed_interrupts)
    for text in ("one", "two"):
        child.stdin.write(text.encode() + b"\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["text"] == text  # the input is still open
    child.send_signal(signal.SIGINT)
    assert (child.wait(), child.stderr.read()) == (130, b"")
    message = {"ok": False, "error": "stopped", "kind": "KeyboardInterrupt"}
    assert [json.loads(line) for line in child.stdout.read().splitlines()] == [message]
