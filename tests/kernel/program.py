"""What a kernel that was compiled elsewhere does, such as one with sanitizers.

    python -m tests.kernel.program LIBRARY fuzz SECONDS      random tokenizers and texts
    python -m tests.kernel.program LIBRARY stress SECONDS    threads, batches, forks; a small cache
    python -m tests.kernel.program LIBRARY fail APART        each APARTth allocation fails in turn

Prints a seed and what was compared; ends with 1 if anything differs from plain Python. The library
for `fail` is compiled with `-DTRIETOK_FAILING_ALLOCATOR`.
"""

from __future__ import annotations

import functools
import gc
import importlib.machinery
import importlib.util
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SMALL_CACHE = 1 << 19  # bytes; a much smaller one is left to plain Python
THREADS = 16


def load(library: str) -> Any:
    """Load a library as trietok's kernel, before anything has asked for that."""
    import trietok.text.kernel

    name = "trietok.text.kernel._kernel"
    assert name not in sys.modules
    loader = importlib.machinery.ExtensionFileLoader(name, library)
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    sys.modules[name] = trietok.text.kernel._kernel = module  # type: ignore[assignment]
    return module


@functools.cache
def directory() -> Path:
    """The directory of a small vocabulary: words, digits, characters that compose."""
    from tests.kernel.twins import write_characters

    return write_characters(Path(tempfile.mkdtemp()))


# ---- random texts --------------------------------------------------------------------------------


def fuzz(rng: random.Random, seconds: float) -> bool:
    """Compare random tokenizers on random texts with plain Python."""
    from tests.kernel.twins import Recipe, Twins
    from tests.strategies import directory_of

    directories = [directory(), *map(directory_of, ("trietok-en", "trietok-zh", "trietok-multi"))]
    end = time.monotonic() + seconds
    count, different = 0, 0
    while time.monotonic() < end or count == 0:
        recipe = Recipe(rng, directories)
        texts = recipe.texts(rng, 100)
        found = Twins(recipe.make).different(texts)
        count += len(texts)
        different += len(found)
        for text in found[:3]:
            print(f"{recipe!r}: {text!r}")
    print(f"{count} texts, {different} differ")
    return different == 0


# ---- threads -------------------------------------------------------------------------------------


def stress(rng: random.Random, seconds: float) -> bool:
    """Let threads encode the same texts side by side on one tokenizer, whose cache is so small that
    it is emptied all the time; large batches have helping threads, children of forks none.
    """
    from tests.kernel.twins import Twins, threads_that_helped
    from trietok import BertTokenizer

    twins = Twins(lambda: BertTokenizer(directory() / "vocab.txt", cache_limit=SMALL_CACHE))
    plain, compiled = twins.plain, twins.compiled
    texts = [f"word{n} a{n * 7}é 世[{n}] {'word' * 4}{n % 50}" for n in range(6_000)]
    expected = plain(texts).input_ids
    flat = [token_id for ids in expected for token_id in ids]
    end = time.monotonic() + seconds
    wrong: list[str] = []
    calls = [0] * THREADS

    def encode_in_child(first: int) -> None:
        child = os.fork()
        if child == 0:
            ids = compiled(texts[first : first + 1_000]).input_ids
            os._exit(ids != expected[first : first + 1_000])
        if os.waitpid(child, 0)[1]:
            wrong.append("a child")

    def encode(number: int) -> None:
        draw = random.Random(rng.random())
        while time.monotonic() < end:
            first = draw.randrange(5_000)
            some = texts[first : first + 1_000]
            if compiled(some).input_ids != expected[first : first + 1_000]:
                wrong.append("a batch")
            if compiled.encode(some[0]) != expected[first]:
                wrong.append("a text")
            kind = draw.randrange(8)
            if kind == 0 and [*compiled.encode_flat(texts).ids] != flat:
                wrong.append("a large batch")
            if kind == 1:
                encode_in_child(first)
            if kind == 2:
                compiled.cache_clear()
            calls[number] += 1

    threads = [threading.Thread(target=encode, args=[number]) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    info = compiled.cache_info()
    print(f"{calls} calls, {info.times_full} times full, {threads_that_helped(compiled)} helped")
    print(f"{len(wrong)} differ {sorted(set(wrong))}")
    return not wrong and info.bytes <= SMALL_CACHE and min(calls) > 0 and info.times_full > 0


# ---- no memory -----------------------------------------------------------------------------------


def texts_of_each_way() -> list[str]:
    """More words, bytes and ids than there is room for at first; what Python is asked for."""
    return [
        *(f"word{i} [x{i}] <y{i}> <{'longer' * 100}> {'longer' * 4}{i} é{i}ж" for i in range(300)),
        "unknown " * 600 + "x" * 600,
        "ক\u09be ে\u09be e\u0301 a\ud800",
        " ".join(map(chr, range(0x100, 0x2000, 7))),
    ]


def use(tokenizer: Any) -> Any:
    """All that a tokenizer does by its kernel."""
    from tests.kernel.twins import BATCHES, located

    texts = texts_of_each_way()
    return [
        *(read(tokenizer, texts) for read in BATCHES.values()),
        *(located(tokenizer, text) for text in texts[::100]),
        [tokenizer.encode(text, max_length=5, truncation=True) for text in texts],
    ]


def new_tokenizer() -> Any:
    from tests.conftest import using_kernel
    from trietok import BertTokenizer

    with using_kernel("compiled"):
        tokenizer = BertTokenizer(directory() / "vocab.txt", cache_limit=SMALL_CACHE)
        tokenizer.add_tokens(["<y1>", "<ent>" * 20, "new york"])
    return tokenizer


def fail(rng: random.Random, apart: int) -> bool:
    """Let the first allocation fail, then one behind it, and so on until all is done before one
    fails: each time a MemoryError, nothing is lost, and the same tokenizer goes on.
    """
    module = sys.modules["trietok.text.kernel._kernel"]
    expected, left, number, failed = use(new_tokenizer()), -1, 0, 0
    while left < 0:  # until there are fewer allocations
        tokenizer = new_tokenizer()
        module.fail_allocation(number)
        try:
            assert use(tokenizer) == expected, f"while allocation {number} failed"
        except MemoryError:
            failed += 1
        left = module.fail_allocation(-1)
        assert use(tokenizer) == expected, f"after allocation {number} failed"
        del tokenizer
        gc.collect()
        end = time.monotonic() + 10
        while module.count_alive() and time.monotonic() < end:
            time.sleep(0.01)  # a helping thread ends
        assert module.count_alive() == 0, f"{number}: {module.count_alive()} are not freed"
        number += rng.randint(1, 2 * apart - 1)
    print(f"{failed} of {number} allocations failed in turn; nothing was lost")
    return failed > 0


if __name__ == "__main__":
    load(sys.argv[1])
    seed = random.SystemRandom().randrange(1 << 32)
    print("seed", seed, flush=True)
    task: Callable[[random.Random, Any], bool] = {"fuzz": fuzz, "stress": stress, "fail": fail}[
        sys.argv[2]
    ]
    sys.exit(not task(random.Random(seed), int(sys.argv[3])))
