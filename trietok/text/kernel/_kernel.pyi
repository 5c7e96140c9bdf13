"""The compiled kernel: its types, as `_kernel.c` has them."""

from collections.abc import Callable, Iterable
from typing import Any

from trietok.text.kernel.forms import Form

Buffer = Any  # of bytes: collections.abc.Buffer from Python 3.12 on

SOURCES: str
INTERFACE: int
UNASKED: int
ORDINARY: int
DELETED: int
SPACE: int
ALONE: int
HAND_OVER: int

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
    def ids(self, word: str, /) -> list[int] | None: ...
    def ids_anywhere(self, text: str, /) -> list[int] | None: ...

class Terms:
    def __new__(cls, forms: list[str], /) -> Terms: ...

class Rows:
    def int32_lengths(self, around: int, /) -> bytearray: ...
    def cut(self, room: int, from_left: bool, /) -> None: ...
    def lists(self) -> list[list[int]]: ...
    def int32(self, front: bytes, back: bytes, /) -> bytearray: ...
    def columns(self, form: Form, /) -> dict[str, Any]: ...

class Kernel:
    def __new__(
        cls,
        vocabulary: Vocabulary,
        patterns: tuple[Vocabulary, ...] | None,
        terms: tuple[Terms, ...],
        classify: Callable[[int], tuple[int, int, int, bytes] | tuple[int, bytes, bytes]],
        stay_apart: Callable[[str], bool],
        compose: Callable[[str], str | None],
        hand_over: Callable[[str], Iterable[int]],
        plain: Callable[[str], list[int]],
        steps: Callable[[str], Iterable[int]],
        fold: Callable[[str], Iterable[int]],
        settle: Callable[[str], Iterable[int]],
        folds: bytes,
        alone: tuple[int, int],
        limit: int,
        seed: bytes,
        /,
    ) -> Kernel: ...
    def ids(self, text: str, front: list[int] = ..., back: list[int] = ..., /) -> list[int]: ...
    def count(self, text: str, /) -> int: ...
    def columns(
        self, texts: tuple[Any, ...], form: Form, threads: Callable[[int], int] | None, /
    ) -> dict[str, Any] | Rows | None: ...
    def flat(
        self, texts: tuple[Any, ...], form: Form, threads: Callable[[int], int] | None, /
    ) -> tuple[Any, Any] | Rows | None: ...
    def rows(self, texts: Iterable[str], threads: Callable[[int], int] | None = ..., /) -> Rows: ...
    def rows_between(
        self,
        data: Buffer,
        offsets: Buffer,
        first: int,
        count: int,
        threads: Callable[[int], int] | None = ...,
        /,
    ) -> Rows | None: ...
    def spans(self, text: str, /) -> list[tuple[int, int]] | None: ...
    def info(self) -> dict[str, int]: ...
    def forget(self) -> None: ...

def count_kernels() -> int: ...
def merge_pairs(
    words: bytearray,
    counts: Buffer,
    tokens: int,
    most: int,
    least: int,
    name: Callable[[int, int], int],
    /,
) -> None: ...
