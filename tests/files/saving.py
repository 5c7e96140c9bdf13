"""A crash harness for everything that writes files.

`run_in_child` runs an action in a forked process and kills it at a step, or lets the disk fail
there. It counts what the process asks of the disk (audit events) and, from the first change of the
disk on, each line of trietok that runs. So it knows nothing of how a save is made.
"""

from __future__ import annotations

import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

import trietok
from trietok import BertTokenizer, BertTokenizerFast

TRIETOK = str(pathlib.Path(trietok.__file__).parent)
FILES = (
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.json",
)
# What loading may answer: there is nothing, or a save was interrupted.
REFUSED, INTERRUPTED = "FileError", "InterruptedSaveError"

_NEEDS_ROOM = ("os.mkdir", "os.link", "os.symlink", "os.truncate")
_CHANGES = (*_NEEDS_ROOM, "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.chown", "os.utime")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


# ---- tokenizers to save --------------------------------------------------------------------------


def two_tokenizers(make: Callable[..., BertTokenizer]) -> tuple[BertTokenizer, BertTokenizer]:
    """Two tokenizers that differ in every file; `make` is the fixture `small`."""
    old = make("a", "b")
    old.add_tokens(["<old>"])
    new = make("a", "c", "d", do_lower_case=False)
    new.add_special_tokens({"bos_token": "<s>"})
    new.add_tokens(["<new>", "<newer>"])
    return old, new


def two_fast_tokenizers(vocab_file: Callable[..., pathlib.Path]) -> tuple[Any, Any]:
    old = BertTokenizerFast(vocab_file("a", "b", name="old.txt"))
    old.add_tokens(["<old>"])
    new = BertTokenizerFast(vocab_file("a", "c", "d", name="new.txt"), do_lower_case=False)
    new.add_special_tokens({"bos_token": "<s>"})
    new.add_tokens(["<new>", "<newer>"])
    return old, new


class OwnTokenizer(trietok.PreTrainedTokenizer):
    """A user's class, which opens its two files by itself."""

    vocab_files_names = {"vocab_file": "words.lst"}

    def __init__(self, vocab_file: str, **options: Any) -> None:
        path = pathlib.Path(vocab_file)
        self.words = path.read_text().split()
        self.names = path.with_name("names.lst").read_text().split()
        super().__init__(**{"unk_token": "[UNK]", **options})

    @property
    def vocab_size(self) -> int:
        return len(self.words)

    def get_vocab(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words)} | self.added_tokens_encoder

    def _tokenize(self, text: str, **options: Any) -> list[str]:
        return text.split()

    def _convert_token_to_id(self, token: str) -> int:
        return self.get_vocab().get(token, 0)

    def _convert_id_to_token(self, index: int) -> str:
        return self.words[index]

    def save_vocabulary(self, folder: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        files = {"words.lst": self.words, "names.lst": self.names}
        for name, words in files.items():
            pathlib.Path(folder, name).write_text(" ".join(words))
        return tuple(os.path.join(folder, name) for name in files)


def own_tokenizer(folder: pathlib.Path, *words: str, **options: Any) -> OwnTokenizer:
    folder.mkdir()
    (folder / "words.lst").write_text(" ".join(("[UNK]", *words)))
    (folder / "names.lst").write_text(" ".join(reversed(words)))
    return OwnTokenizer(str(folder / "words.lst"), **options)


def load_own(directory: pathlib.Path) -> Any:
    tokenizer = OwnTokenizer.from_pretrained(directory)
    return tokenizer.words, tokenizer.names, tokenizer.special_tokens_map


def state(tokenizer: Any) -> Any:
    return (
        tokenizer.get_vocab(),
        tokenizer.added_tokens_decoder,
        tokenizer.special_tokens_map,
        tokenizer.do_lower_case,
        tokenizer.encode("a B c <old> <new> d"),
    )


def load_slow(directory: pathlib.Path) -> Any:
    return state(BertTokenizer.from_pretrained(directory))


def load_fast(directory: pathlib.Path) -> Any:
    return state(BertTokenizerFast.from_pretrained(directory))


def found(read: Callable[[pathlib.Path], Any], path: pathlib.Path) -> Any:
    """What a reader finds there; `INTERRUPTED` or `REFUSED` for the error."""
    try:
        return read(path)
    except trietok.InterruptedSaveError:
        return INTERRUPTED
    except trietok.FileError:
        return REFUSED


def contents(directory: pathlib.Path) -> dict[str, bytes]:
    """Name → bytes of every file, as a program finds them that knows nothing of saves."""
    if not directory.is_dir():
        return {}
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


# ---- the harness ---------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """How an action ended.

    Attributes:
        signal: number of the signal that killed the process, 0 for none.
        said: "returned", or the class and message of the error.
        steps: number of steps that were begun.
        changes: the steps that are changes of the disk, in order.
    """

    signal: int
    said: str
    steps: int
    changes: list[int]

    def is_midway(self, whole: Outcome) -> bool:
        """Whether it was killed after the first change that a whole run makes, before the last."""
        done = len(self.changes) - (self.changes[-1:] == [self.steps])
        return bool(self.signal) and 0 < done < len(whole.changes)


def _changes_the_disk(event: str, arguments: tuple[Any, ...]) -> bool:
    if any("__pycache__" in str(argument) or argument == os.devnull for argument in arguments):
        return False
    if event == "open":
        return bool(arguments[2] & _WRITING)
    return event in _CHANGES


class _Watcher:
    """Counts the steps of this process, and acts at one of them."""

    def __init__(self, at: int | None, failure: str, report: Callable[..., None]) -> None:
        self.at, self.failure, self.report = at, failure, report
        self.steps, self.changes, self.is_active = 0, [], False

    def start(self) -> None:
        self.is_active = True
        sys.addaudithook(self.hook)

    def stop(self) -> None:
        sys.settrace(None)
        self.is_active = False

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_active and _changes_the_disk(event, arguments):
            self.steps += 1
            self.changes.append(self.steps)
            if self.failure == "kill" and len(self.changes) == 1:
                self.trace_lines()
            self.act(event)

    def trace_lines(self) -> None:
        """Count the lines from now on, also those of the functions that run already."""
        frame = sys._getframe(1)
        while frame is not None:
            frame.f_trace = self.trace(frame, "call", None)
            frame = frame.f_back
        sys.settrace(self.trace)

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(TRIETOK):
            return None
        if event == "line" and self.is_active:
            self.steps += 1
            self.act(event)
        return self.trace

    def act(self, event: str) -> None:
        if self.at is None:
            return
        if self.failure == "kill" and self.steps == self.at:
            self.report("")
            os.kill(os.getpid(), signal.SIGKILL)
        is_full = self.failure == "full" and event in ("open", *_NEEDS_ROOM)
        if is_full and self.steps >= self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        is_broken = self.failure == "broken" and event not in ("os.remove", "os.rmdir")
        if is_broken and self.steps == self.at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def run_in_child(
    action: Callable[[], Any],
    at: int | None = None,
    failure: str = "kill",
    before: Callable[[], None] = lambda: None,
) -> Outcome:
    """Run an action in a forked process.

    Args:
        at: the step at which it fails, None for never.
        failure: "kill" kills it there; "full" refuses everything from there on that needs room on
            the disk; "broken" refuses that one change, unless it takes a file away. Steps of the
            last two are changes only.
        before: called in the process at first, for example to become another user.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:

        def report(said: str) -> None:
            text = json.dumps([said, watcher.steps, watcher.changes])
            watcher.stop()
            os.write(writing, text.encode())

        try:
            watcher = _Watcher(at, failure, report)
            before()
            watcher.start()
            action()
            report("returned")
        except BaseException as error:
            report(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        told = file.read()
    status = os.waitpid(child, 0)[1]
    said, steps, changes = json.loads(told) if told else ("", 0, [])
    return Outcome(os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, said, steps, changes)


def saving_forever(
    savers: Sequence[Callable[[], Any]], count: int | None = None
) -> tuple[int, int]:
    """Start a process that calls these in turn; its number, and a pipe with a byte for each call
    that has ended.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            number = 0
            while count is None or number < count:
                savers[number % len(savers)]()
                number += 1
                os.write(writing, b".")
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    os.set_blocking(reading, False)
    return child, reading


def calls_ended(pipe: int) -> int | None:
    """Number of calls that have ended since this was asked the last time; None if the process
    has.
    """
    try:
        return len(os.read(pipe, 1 << 16)) or None
    except BlockingIOError:
        return 0


def run_or_skip(*command: str) -> None:
    """Run a command of the system that needs root and may be forbidden even then."""
    name = command[0]
    if not sys.platform.startswith("linux"):
        pytest.skip("needs Linux")
    if os.geteuid() != 0:
        pytest.skip(f"needs root: to run {name}")
    if shutil.which(name) is None:
        pytest.skip(f"needs {name}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs {name}: {' '.join(command)}: {done.stderr.strip()}")
