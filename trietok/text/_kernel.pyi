"""The compiled kernel: its types, as `_kernel.c` has them."""

from collections.abc import Callable, Iterable

UNASKED: int
ORDINARY: int
DELETED: int
SPACE: int
ALONE: int
HAND_OVER: int

class Vocabulary:
    def __new__(
        cls, entries: list[str], ids: list[int], prefix: str, unknown: int, longest_word: int, /
    ) -> Vocabulary: ...

class Rows:
    def lengths(self) -> list[int]: ...
    def cut(self, room: int, from_left: bool, /) -> None: ...
    def lists(self, front: list[int], back: list[int], /) -> list[list[int]]: ...
    def int64(self, width: int, front: bytes, back: bytes, padding: int, pads_left: bool, /) -> bytearray: ...

class Kernel:
    def __new__(
        cls,
        vocabulary: Vocabulary,
        classify: Callable[[int], tuple[int, int, int, bytes]],
        stay_apart: Callable[[str], bool],
        hand_over: Callable[[str], Iterable[int]],
        plain: Callable[[str], list[int]],
        limit: int,
        seed: bytes,
        /,
    ) -> Kernel: ...
    def ids(self, text: str, front: list[int] = ..., back: list[int] = ..., /) -> list[int]: ...
    def rows(self, texts: Iterable[str], /) -> Rows: ...
    def info(self) -> dict[str, int]: ...
    def forget(self) -> None: ...
    def hold(self) -> None: ...
    def release(self) -> None: ...
