"""Large batches that threads share, and programs with threads, forks and daemons of their own: the
ids stay those of plain Python, and nothing hangs.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import often
from tests.kernel.twins import Recipe, Twins, threads_that_helped
from tests.strategies import directory_of
from trietok import BertTokenizer, cores

pytestmark = pytest.mark.kernel
LONGEST = 300  # seconds; what hangs, hangs for ever
THREADS = 16
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
needs_cores = pytest.mark.skipif(cores.cores() < 2, reason="needs two cores")


def new_twins(**options: object) -> Twins:
    return Twins(lambda: BertTokenizer.from_pretrained("trietok-en", **options))


def many_texts(seed: int, count: int) -> list[str]:
    """Texts that take several threads: words old and new, and some of which Python is asked."""
    rng = random.Random(seed)
    texts = Recipe(rng, [directory_of("trietok-en")]).texts(rng, count // 10)
    for _ in range(count - len(texts)):
        words = (
            f"word{rng.randrange(10 ** rng.randrange(1, 7))}" for _ in range(rng.randrange(20))
        )
        texts.append(" ".join(words))
    rng.shuffle(texts)
    return texts


@needs_cores
@pytest.mark.parametrize("limit", [1 << 19, 1 << 24])
def test_helping_threads_give_the_ids_of_one_thread(monkeypatch, limit):
    seed = random.SystemRandom().randrange(2**32)
    texts = [*many_texts(seed, often(9_000)), "word " * 50_000]
    twins = new_twins(cache_limit=limit)
    monkeypatch.setenv("TRIETOK_PARALLELISM", "2")
    for _ in range(20):
        assert twins.different(texts) == [], f"seed {seed}"
        if threads_that_helped(twins.compiled):
            return
    raise AssertionError("no thread has helped")


@needs_cores
def test_the_environment_says_whether_threads_help(monkeypatch):
    compiled = new_twins().compiled
    for own, general, helps in (
        (None, None, True),
        *((off, "true", False) for off in ("", "0", "false", "no", "Off", "1")),
        *((None, off, False) for off in ("0", "False")),
        *((on, "false", True) for on in ("true", "on", "2", "400")),
    ):
        for name, value in (("TRIETOK_PARALLELISM", own), ("TOKENIZERS_PARALLELISM", general)):
            monkeypatch.delenv(name, raising=False)
            if value is not None:
                monkeypatch.setenv(name, value)
        before = threads_that_helped(compiled)
        for _ in range(50 if helps else 3):
            compiled(["word1 word22 é " * 50] * 1_000)
            if threads_that_helped(compiled) > before:
                break
        assert (threads_that_helped(compiled) > before) == helps, (own, general)


@pytest.mark.parametrize(
    ("groups", "files", "quota"),
    [
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/", {"cpu.max": "max 100000"}, float("inf")),
        (
            "0::/a/b",
            {"a/b/cpu.max": "800000 100000", "a/cpu.max": "200000 100000", "cpu.max": "max 100000"},
            2,
        ),
        ("0::/", {"cpu.max": "what is this"}, float("inf")),
        ("no such line", {"cpu.max": "100000 100000"}, float("inf")),
    ],
)
def test_a_container_uses_no_more_cores_than_its_quota(tmp_path, groups, files, quota):
    root = tmp_path / "cgroup"
    (tmp_path / "groups").write_text(groups)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    assert cores._quota(tmp_path / "groups", root) == quota


def test_threads_that_share_a_tokenizer_get_the_ids_of_plain_python():
    seed = random.SystemRandom().randrange(2**32)
    twins = new_twins(cache_limit=1 << 21)
    batches = [many_texts(seed + number, 300) for number in range(8)]
    expected = [twins.plain(batch).input_ids for batch in batches]
    at_work, most_at_work = 0, 0
    start = threading.Barrier(THREADS)

    def work(offset: int) -> list[int]:
        nonlocal at_work, most_at_work
        wrong = []
        start.wait()
        for number in range(16):
            place = (number + offset) % len(batches)
            at_work += 1
            most_at_work = max(at_work, most_at_work)
            found = twins.compiled(batches[place]).input_ids
            at_work -= 1
            if found != expected[place]:
                wrong.append(place)
            if number % 8 == 5:
                twins.compiled.cache_clear()
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        assert [*pool.map(work, range(THREADS))] == [[]] * THREADS, f"seed {seed}"
    assert most_at_work > 1


def test_a_thread_may_use_the_memory_of_threads_that_have_ended():
    compiled = new_twins(cache_limit=4_000_000).compiled
    texts = [" ".join(f"word{number}{i}" for i in range(20_000)) for number in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        [*pool.map(compiled.encode, texts)]
    most = compiled.cache_info().bytes
    assert most <= 4_000_000
    found = []
    for number in range(4_000):
        compiled.encode(" ".join(f"{number}x{i}" for i in range(20)))
        found.append(compiled.cache_info().bytes)
    assert most < max(found) <= 4_000_000


@needs_fork
def test_a_child_of_a_fork_during_a_batch_encodes_as_its_parent(monkeypatch):
    monkeypatch.setenv("TRIETOK_PARALLELISM", "2")
    compiled = new_twins().compiled
    texts = [f"the people of the united states {number} " * 20 for number in range(300)]
    expected = compiled(texts).input_ids
    at_work, over = threading.Event(), threading.Event()

    def encode() -> None:
        while not over.is_set():
            at_work.set()
            compiled(texts)

    thread = threading.Thread(target=encode)
    thread.start()
    try:
        for _ in range(often(100)):
            at_work.clear()
            assert at_work.wait(LONGEST)  # a batch has just begun
            child = os.fork()
            if child == 0:
                signal.alarm(LONGEST)
                try:
                    os._exit(compiled(texts).input_ids != expected)
                finally:
                    os._exit(2)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        over.set()
        thread.join()


@needs_fork
def test_a_child_of_a_fork_encodes_characters_that_its_parent_has_not_met():
    twins = new_twins()
    texts = [f"Все люди рождаются свободными {number} " * 20 for number in range(1_000)]
    expected = twins.plain(texts).input_ids
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST)
        try:
            os._exit(twins.compiled(texts).input_ids != expected)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# A handler of signals forks while a batch waits for its helping threads, which the child has not.
FORKING = """
import os, random, signal
from trietok import BertTokenizer
tokenizer = BertTokenizer.from_pretrained("trietok-en")
texts = [f"the people of the united states {number} " * 20 for number in range(20_000)]
expected = tokenizer.encode_flat(texts).ids.tobytes()
parent, children = os.getpid(), []
def fork(*_):
    children.append(os.fork())
signal.signal(signal.SIGALRM, fork)
while len(children) < 6:
    signal.setitimer(signal.ITIMER_REAL, random.uniform(0.001, 0.1))
    right = tokenizer.encode_flat(texts).ids.tobytes() == expected
    signal.setitimer(signal.ITIMER_REAL, 0)
    if os.getpid() != parent:
        os._exit(not right)
    assert right
assert [os.waitpid(child, 0)[1] for child in children] == [0] * len(children)
"""


@needs_fork
def test_a_child_that_a_signal_handler_forks_during_a_batch_ends_the_batch(monkeypatch):
    monkeypatch.setenv("TRIETOK_PARALLELISM", "2")
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=LONGEST)


# Python ends the batch's thread, whose stack others get; the threads that help it are still at work
# then. `__del__` runs while the interpreter ends, and holds it up until batches have gone on.
ENDING = """
import threading
from tests.conftest import using_kernel
from trietok import BertTokenizer
with using_kernel("compiled"):
    tokenizer = BertTokenizer.from_pretrained("trietok-en", cache_limit=1 << 19)
texts = [" ".join(f"word{number}{i}" for i in range(200)) for number in range(1000)] * 100
texts[::16] = [f"[{number} word" for number in range(0, len(texts), 16)]
begun = threading.Event()
def encode():
    begun.set()
    while True:
        tokenizer.encode_flat(texts)
def work():
    while True:
        sum(range(1000))
class EndsSlowly:
    def __del__(self):
        sum(range(10_000_000))
threading.ends_slowly = EndsSlowly()
for do in [encode, *[work] * 12]:
    threading.Thread(target=do, daemon=True).start()
begun.wait()
sum(range(3_000_000))
"""


@pytest.mark.parametrize("times", [1, pytest.param(often(6, 20), marks=pytest.mark.faults)])
def test_a_program_ends_during_a_batch_of_a_daemon_thread(monkeypatch, times):
    monkeypatch.setenv("TRIETOK_PARALLELISM", "2")
    for _ in range(times):
        subprocess.run([sys.executable, "-c", ENDING], check=True, timeout=LONGEST)
