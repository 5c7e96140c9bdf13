"""The compiled kernel: its types, as `module.c` has them."""

from collections.abc import Callable
from typing import Any

from trietok.text.kernel.choosing import Questions
from trietok.text.kernel.forms import Form

Buffer = Any  # of bytes: collections.abc.Buffer from Python 3.12 on
Threads = Callable[[], int] | None

SOURCES: str
INTERFACE: int

class Vocabulary:
    def __new__(
        cls,
        entries: dict[str, Any],
        changes: dict[str, int],
        prefix: str | None,
        unknown: int,
        longest_word: int,
        seed: bytes,
        /,
    ) -> Vocabulary: ...

class Terms:
    def __new__(cls, forms: list[str], /) -> Terms: ...

class Kernel:
    def __new__(
        cls,
        vocabulary: Vocabulary,
        patterns: tuple[Vocabulary, ...] | None,
        terms: tuple[Terms, ...],
        questions: Questions,
        folds: bytes,
        limit: int,
        seed: bytes,
        /,
    ) -> Kernel: ...
    def ids(self, text: str, front: list[int] = ..., back: list[int] = ..., /) -> list[int]: ...
    def spans(self, text: str, /) -> list[tuple[int, int]] | None: ...
    def columns(
        self, texts: tuple[Any, ...], form: Form, threads: Threads, /
    ) -> tuple[dict[str, Any], int] | None: ...
    def flat(
        self,
        texts: list[str],
        threads: Threads,
        room: int,
        from_left: bool,
        front: bytes,
        back: bytes,
        /,
    ) -> tuple[bytearray, bytearray]: ...
    def flat_between(
        self,
        data: Buffer,
        offsets: Buffer,
        first: int,
        count: int,
        threads: Threads,
        room: int,
        from_left: bool,
        front: bytes,
        back: bytes,
        /,
    ) -> tuple[bytearray, bytearray] | None: ...
    def info(self) -> dict[str, int]: ...
    def forget(self) -> None: ...

def note_fork() -> None: ...
