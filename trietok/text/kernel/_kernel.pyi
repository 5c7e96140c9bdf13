"""The compiled kernel: its types, as `_kernel.c` has them."""

from collections.abc import Callable, Iterable
from typing import Any

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

class Rows:
    def extremes(self) -> tuple[int, int]: ...
    def int32_lengths(self, around: int, /) -> bytearray: ...
    def cut(self, room: int, from_left: bool, /) -> None: ...
    def lists(self, front: list[int], back: list[int], /) -> list[list[int]]: ...
    def int32(self, front: bytes, back: bytes, /) -> bytearray: ...
    def int64(
        self, width: int, front: bytes, back: bytes, padding: int, pads_left: bool, filler: int = ..., /
    ) -> bytearray: ...

class Kernel:
    def __new__(
        cls,
        vocabulary: Vocabulary,
        patterns: tuple[Vocabulary, ...] | None,
        classify: Callable[[int], tuple[int, int, int, bytes]],
        stay_apart: Callable[[str], bool],
        compose: Callable[[str], str | None],
        hand_over: Callable[[str], Iterable[int] | None],
        plain: Callable[[str], list[int]],
        steps: Callable[[str], Iterable[int]],
        alone: tuple[int, int],
        limit: int,
        seed: bytes,
        /,
    ) -> Kernel: ...
    def ids(self, text: str, front: list[int] = ..., back: list[int] = ..., /) -> list[int]: ...
    def rows(self, texts: Iterable[str], threads: Callable[[int], int] | None = ..., /) -> Rows: ...
    def rows_between(
        self, data: Buffer, offsets: Buffer, first: int, count: int, threads: Callable[[int], int] | None = ..., /
    ) -> Rows | None: ...
    def spans(self, text: str, /) -> list[tuple[int, int]] | None: ...
    def info(self) -> dict[str, int]: ...
    def forget(self) -> None: ...

def hold_kernels() -> None: ...
def release_in_parent() -> None: ...
def release_in_child() -> None: ...
def count_kernels() -> int: ...
def merge_pairs(
    words: bytearray, counts: Buffer, tokens: int, most: int, least: int, name: Callable[[int, int], int], /
) -> None: ...
