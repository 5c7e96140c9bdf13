"""Let each allocation of the kernel fail in turn: a MemoryError, after which all is as before and
nothing is lost.

    python -m tests.kernel.run_with_kernel LIBRARY tests.kernel.fail_allocations APART

The library is compiled with `-DTRIETOK_FAILING_ALLOCATOR`. Each APARTth allocation fails on
average, other ones in each run.
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Callable
from typing import Any

import trietok
from tests.kernel.kernel_cases import compiled_kernel
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.plain import IDS_OF_TEXT, form_of
from trietok.text.word_search import WordSearch

APART = int(sys.argv[1])
SEED = random.SystemRandom().randrange(1 << 32)

module: Any = sys.modules["trietok.text.kernel._kernel"]
# More slots, more bytes in the arena and more ids than there is room for at first; handed over, and
# told by pairs.
TEXTS = [
    *(f"word{i} [x{i}] <y{i}> <{'longer' * 100}> {'longer' * 4}{i} é{i}ж" for i in range(700)),
    "unknown " * 600 + "x" * 600,
    "ক\u09be ে\u09be e\u0301",
    " ".join(map(chr, range(0x100, 0x2000, 7))),
]


ENTRIES = ["a", "##a", "word", "##1", "##2", "##3", "longer", "##longer", "e"]
ENTRIES += map(chr, range(0x400, 0x800))
UNKNOWN = len(ENTRIES)


def hand_over(chunk: str) -> list[int]:
    """The kernel finds the ids of `[x1]` itself, but for a thread whose memory another one has
    just emptied: so they are the same here.
    """
    return [3, UNKNOWN, UNKNOWN] if chunk.startswith("[x") else [len(chunk)] * 5


def plain(text: str) -> list[int]:
    return [1]


def new_kernel() -> Any:
    classify = kernel.SlowClassifier(
        trietok.BasicTokenizer(), [WordSearch(["[", "<y1", "<ent" * 20])], True
    )
    return compiled_kernel(
        ENTRIES,
        classify.classify,
        hand_over,
        stay_apart=classify.stay_apart,
        compose=classify.compose,
        plain=plain,
        settle=lambda form: (3,) if form == "[" else (),
        patterns=classify.patterns,
        limit=1 << 18,
    )


def empty(shape: tuple[int, int], dtype: object) -> bytearray:
    return bytearray(8 * shape[0] * shape[1])


def use(compiled: Any) -> tuple[object, ...]:
    """All that a kernel does."""
    rows = compiled.rows([*TEXTS[-30:], "a\ud800"])
    rows.cut(40, True)
    # by a thread that helps, too
    shared = bytes(compiled.rows(TEXTS, lambda forks: 2).int32_lengths(0))
    forms = [
        form_of(
            (1, 1),
            {"ids": (7, [IDS_OF_TEXT], [8, 2**40]), "mask": (0, [1], [1, 1])},
            multiple=8,
            room=40,
        )
    ]
    forms += [forms[0]._replace(make=()), forms[0]._replace(make=(empty, empty), dtype=None)]
    columns = [compiled.columns(tuple(TEXTS), form, lambda forks: 2) for form in forms]
    flat = compiled.flat(tuple(TEXTS), forms[1], None)
    ids = [compiled.ids(text, [1], [2]) for text in TEXTS]
    spans = [compiled.spans(text) for text in TEXTS[::50]]
    compiled.forget()
    return ids, shared, spans, columns, flat, rows.int32(b"", b""), compiled.ids(TEXTS[-1])


def use_new() -> object:
    """The same with a kernel that is made for it, and goes with it."""
    return use(new_kernel())


def train() -> object:
    """What training asks for: words of more pairs than there is room for at first, merged until few
    are left.

    And what the recipe for Chinese does: a text that is cut by a vocabulary.
    """
    rng = random.Random(1)
    words = ["".join(map(chr, rng.choices(range(40), k=rng.randrange(12)))) for _ in range(150)]
    merged: list[tuple[int, int]] = []

    def name(left: int, right: int) -> int:
        merged.append((left, right))
        return 39 + len(merged)

    kernel.merge_pairs(words, [1 + i % 3 for i in range(150)], 40, 140, 1, name)
    assert len(merged) == 100
    return merged, kernel.vocabulary_of({"ab": 0, "b" * 50: 1}, "\n", 2, 0).ids_anywhere(
        "ab" + "b" * 60
    )


def use_after_failure(number: int, expected: object) -> None:
    """A kernel in which an allocation has failed goes on as if nothing had happened."""
    compiled = new_kernel()
    module.fail_allocation(number)
    try:
        use(compiled)
    except MemoryError:
        pass
    finally:
        module.fail_allocation(-1)
    assert use(compiled) == expected


def count_of_failures(
    expected: object, work: Callable[[], object], after: Callable[[int, object], None]
) -> int:
    """Let the first allocation fail, then one behind it, and so on until all is done before one
    fails.
    """
    number = tried = 0
    random_steps = random.Random(SEED)
    while True:
        module.fail_allocation(number)
        try:
            result = work()
        except MemoryError:
            result = None
        finally:
            module.fail_allocation(-1)
        gc.collect(0)
        if result is not None:
            assert result == expected
            return tried
        del result
        assert module.count_alive() == 0, (
            f"allocation {number}: {module.count_alive()} are not given back"
        )
        after(number, expected)
        gc.collect(0)
        tried += 1
        number += random_steps.randint(1, 2 * APART - 1)


if __name__ == "__main__":
    print("seed", SEED, flush=True)
    assert new_kernel().ids("[x1]") == hand_over("[x1]")
    expected = use_new()
    gc.collect()
    assert module.count_alive() == 0, module.count_alive()
    number = count_of_failures(expected, use_new, use_after_failure)
    number += count_of_failures(train(), train, lambda number, expected: None)
    print(f"{number} allocations have failed in turn, and nothing was lost")
