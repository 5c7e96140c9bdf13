"""Commands that write, killed or interrupted at each step on the file system: all of the output is
there or nothing, nothing is in the way of the same command, and it writes the same bytes then.
"""

from __future__ import annotations

import builtins
import io
import os
import random
import shutil
import signal
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.commands import posix, run
from tests.conftest import often
from tests.files.saving import without_flushing
from tests.vocabulary.models import bert, save_model
from trietok import BertTokenizer
from trietok.cli.app import app

pytestmark = posix

STATUS = {"killed": -signal.SIGKILL, "interrupted": 130, "terminated": 143}
STEPS = (
    "chmod",
    "fsync",
    "link",
    "mkdir",
    "open",
    "rename",
    "replace",
    "rmdir",
    "symlink",
    "unlink",
    "write",
)
TEXTS = "the vac co\nvaccine covid the\n" * 4


class Case(NamedTuple):
    """A command line; what it writes; what is there before; and whether it needs the extra
    `model`.
    """

    command: str
    outputs: tuple[str, ...] = ("out",)
    before: str = ""
    needs_model: bool = False


CASES = {
    "add": Case("add --terms terms.txt -m model -o out"),
    "add below directories that are not there": Case(
        "add --terms terms.txt -m model -o a/b/out", ("a",)
    ),
    "trim": Case("trim texts.txt -m model -o out"),
    "trim into an empty directory": Case("trim texts.txt -m model -o out", before="directory"),
    "suggest": Case("suggest texts.txt -m model --output out --min-frequency 2"),
    "adapt": Case("adapt texts.txt -m model -o out", needs_model=True),
    "rows": Case("rows -m model -o out --new-tokenizer new", needs_model=True),
    "train wordpiece": Case("train wordpiece texts.txt -o out --vocab-size 40 --min-frequency 1"),
    "train bpe": Case("train bpe texts.txt -o out --vocab-size 40 --min-frequency 1"),
    "train chinese": Case("train bpe texts.txt -o out --recipe chinese --test texts.txt"),
    "check --fix": Case("check -m broken --fix -o out"),
    "lock": Case("lock texts.txt -m model -o out"),
    "lock that replaces": Case("lock texts.txt -m model -o out --force", before="file"),
    "explain": Case("explain vaccine -m model -o out"),
}


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A directory with what the commands read."""
    folder = tmp_path_factory.mktemp("given")
    words = (
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        "the",
        "co",
        "##v",
        "##id",
        "vac",
        "##cine",
    )
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    BertTokenizer(folder / "vocab.txt").save_pretrained(folder / "model")
    new = BertTokenizer(folder / "vocab.txt")
    new.add_wordpieces(["covid"])
    new.save_pretrained(folder / "new")
    (folder / "broken").mkdir()
    (folder / "broken" / "vocab.txt").write_text("".join(f"{word}\n" for word in (*words, "the")))
    (folder / "texts.txt").write_text(TEXTS)
    (folder / "terms.txt").write_text("covid\nvaccine\n")
    return folder


def _prepared(given, folder, case) -> Path:
    """A directory to run the command in."""
    if case.needs_model and not (given / "model" / "model.safetensors").exists():
        save_model(given / "model", bert(11), 11)
    shutil.copytree(given, folder)
    _reset(folder, case)
    return folder


def _reset(folder, case) -> None:
    """Take away what the command has written; put there what was there before."""
    for name in case.outputs:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if case.before == "file":
        (folder / "out").write_text("before")
    elif case.before == "directory":
        (folder / "out").mkdir()


def _files(path) -> dict[str, bytes | None]:
    """The files and directories of a path, without hidden ones and links that lead nowhere."""
    found = {"": path.read_bytes() if path.is_file() else None} if path.exists() else {}
    for each in path.rglob("*"):
        name = each.relative_to(path).as_posix()
        if each.exists() and not any(part.startswith(".") for part in name.split("/")):
            found[name] = each.read_bytes() if each.is_file() else None
    return found


def _run(folder, command, moment=-1, way="") -> tuple[int, int]:
    """Run a command in a process of its own, which is stopped before, or after, its step of the
    number `moment`.

    Returns:
        The status of its end, and how many moments it came to.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            moments = len(file.read())
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), moments
    count = [0]

    def pass_moment() -> None:
        count[0] += 1
        write(writing, b".")
        if count[0] - 1 == moment:
            if way == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if way == "terminated":
                os.kill(os.getpid(), signal.SIGTERM)
                return
            raise KeyboardInterrupt

    def stopping(function):
        def step(*arguments, **options):
            is_reading = function in (open_file, os_open) and not _writes(*arguments, **options)
            if is_reading:
                return function(*arguments, **options)
            pass_moment()
            result = function(*arguments, **options)
            pass_moment()
            return result

        return step

    code = 1
    try:
        os.chdir(folder)
        tempfile.tempdir = os.path.join(folder, "..")
        null = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(null, stream)
        write, os_open, open_file = os.write, os.open, builtins.open
        for name in STEPS:
            setattr(os, name, stopping(getattr(os, name)))
        builtins.open = io.open = stopping(open_file)
        app.main(command.split(), prog_name="trietok")
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        os._exit(code)


def _writes(path, mode="r", *arguments, **options) -> bool:
    return bool(mode & (os.O_WRONLY | os.O_RDWR)) if isinstance(mode, int) else mode[0] in "wxa"


def _check(given, tmp_path, monkeypatch, name, way, choose) -> None:
    case = CASES[name]
    folder = _prepared(given, tmp_path / "here", case)
    before = {output: _files(folder / output) for output in case.outputs}
    there_before = set(os.listdir(folder))
    without_flushing(monkeypatch)
    monkeypatch.chdir(folder)
    # in this process: the others find everything imported
    assert run(*case.command.split()).exit_code == 0
    _reset(folder, case)
    status, moments = _run(folder, case.command)
    assert (status, moments > 8) == (0, True)
    whole = {output: _files(folder / output) for output in case.outputs}
    there = set(os.listdir(folder))
    assert there == there_before | set(case.outputs)
    for moment in choose(range(moments)):
        _reset(folder, case)
        status, _ = _run(folder, case.command, moment, way)
        place = name, way, moment  # which a failure shows
        assert status == STATUS[way], place
        found = {output: _files(folder / output) for output in case.outputs}
        for output in case.outputs:
            if output == "a":  # a directory of the user's, in which another is made
                assert (
                    all(value is None for value in found[output].values())
                    or found[output] == whole[output]
                ), place
            else:
                assert found[output] in (before[output], whole[output]), (place, output)
        left = {
            entry for entry in os.listdir(folder) if way != "killed" or not entry.startswith(".")
        }
        assert left <= there, place
        if found[case.outputs[0]] == whole[case.outputs[0]]:  # it is not replaced without --force
            _reset(folder, case)
        assert _run(folder, case.command)[0] == 0, place
        assert {output: _files(folder / output) for output in case.outputs} == whole, place
        assert set(os.listdir(folder)) == there, place
        assert not list((folder / "out").glob(".*")), place


@pytest.mark.faults
@pytest.mark.parametrize("way", STATUS)
@pytest.mark.parametrize("name", CASES)
def test_at_each_step(given, tmp_path, monkeypatch, name, way):
    """All of them at night, else two."""

    def choose(moments):
        return random.sample(moments, min(often(2, nightly=20), len(moments)))

    _check(given, tmp_path, monkeypatch, name, way, choose)


@pytest.mark.parametrize("way", STATUS)
def test_at_some_step(given, tmp_path, monkeypatch, way):
    name = random.choice([name for name, case in CASES.items() if not case.needs_model])
    _check(given, tmp_path, monkeypatch, name, way, lambda moments: random.sample(moments, 2))
