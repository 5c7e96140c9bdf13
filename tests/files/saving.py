"""Saves to try faults on: two tokenizers that differ in every file, other processes, other users,
mounts.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from trietok import BertTokenizer
from trietok.files.staging import Staging

FILES = (
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.json",
)


def two_tokenizers(make: Callable[..., BertTokenizer]) -> tuple[BertTokenizer, BertTokenizer]:
    """Two tokenizers that differ in every file; `make` is the fixture `small`."""
    old = make("a", "b")
    old.add_tokens(["<old>"])
    new = make("a", "c", "d", do_lower_case=False)
    new.add_special_tokens({"bos_token": "<s>"})
    new.add_tokens(["<new>", "<newer>"])
    return old, new


def state(tokenizer: Any) -> Any:
    return (
        tokenizer.get_vocab(),
        tokenizer.added_tokens_decoder,
        tokenizer.special_tokens_map,
        tokenizer.do_lower_case,
    )


def read_plainly(directory: Path) -> dict[str, bytes]:
    """The files as a program finds them that opens them by their names and knows nothing of
    saves.
    """
    return {name: (directory / name).read_bytes() for name in FILES if (directory / name).is_file()}


def saving_forever(tokenizers: Sequence[BertTokenizer], directory: Path) -> int:
    """Start a process that saves these, again and again; its number."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                for tokenizer in tokenizers:
                    tokenizer.save_pretrained(directory)
        finally:
            os._exit(1)
    return child


def stop(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def in_child(action: Callable[[], Any]) -> int:
    """Run `action` in a forked process; return its exit status."""
    child = os.fork()
    if child == 0:
        try:
            action()
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1]


def message_of(action: Callable[[], Any], user: int | None = None) -> str:
    """Run `action` in a forked process, as another user if one is given; return its error's
    message, "" for none.
    """
    reading, writing = os.pipe()

    def act() -> None:
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        try:
            action()
        except Exception as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)

    in_child(act)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        return file.read().decode()


def without_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is flushed to the disk, for tests of many saves that no power failure follows."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


def with_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves go by symbolic links, as they do where the system has them."""


def without_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Saves go by a journal, as they do where the system has no symbolic links."""
    monkeypatch.setattr(Staging, "can_point", lambda staging: False)


WAYS = [with_links, without_links]


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
