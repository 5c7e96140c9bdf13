"""Large batches that threads share: the same ids with any number of them, whatever happens
meanwhile.

Several threads are asked for on a machine with one core too: what is tested is not how fast they
are.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
from array import array
from concurrent.futures import ThreadPoolExecutor

import pytest

import trietok
from tests.conftest import often
from tests.kernel.kernel_cases import compiled_kernel, kernel_of
from trietok import cores as cores_module
from trietok.text.kernel import choosing as kernel
from trietok.text.kernel.plain import IDS_OF_TEXT, ListRows, form_of
from trietok.text.word_search import WordSearch

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
ENTRIES = [
    "a",
    "##a",
    "word",
    "##word",
    *map(str, range(10)),
    *(f"##{digit}" for digit in range(10)),
    "é",
    "世",
    "ß",
]
LONGEST = 300  # seconds; what hangs, hangs for ever


class OddText(str):
    """No text that the kernel reads by itself."""


def texts_of(seed: int) -> list[str]:
    """Texts that take several threads: words old and new, and of each kind that Python has to tell
    something of.
    """
    rng = random.Random(seed)
    letters = [chr(code) for code in range(0x100, 0x3000)]
    texts: list[str] = []
    for number in range(3000):
        words = [
            f"word{rng.randrange(10 ** rng.randrange(1, 7))}" for _ in range(rng.randrange(20))
        ]
        if number % 10 == 0:
            words.append(
                rng.choice(
                    [f"[{number}]", "世界", "é" * 300, "[" * 300, rng.choice(letters), "e\u0301"]
                )
            )
        texts.append(" ".join(words))
    texts[7] = "a\ud800"
    texts[8] = OddText("word1")
    texts[2000] = "word " * 50_000
    return texts


def kernel_that(hand_over=lambda chunk: [len(chunk)] * 3, limit: int = 1 << 20):
    classify = kernel.SlowClassifier(
        trietok.BasicTokenizer(do_lower_case=False), [WordSearch(["["])], True
    )
    return compiled_kernel(
        ENTRIES,
        classify.classify,
        hand_over,
        stay_apart=classify.stay_apart,
        compose=classify.compose,
        plain=lambda text: [len(text)],
        limit=limit,
    )


def buffer_of(texts: list[str]) -> tuple[bytes, array[int]]:
    parts = [text.encode("utf-8", "replace") for text in texts]
    offsets = array("q", [0])
    for part in parts:
        offsets.append(offsets[-1] + len(part))
    return b"".join(parts), offsets


# ---- the same ids --------------------------------------------------------------------------------


def lengths(rows) -> set[int]:
    return set(array("i", rows.int32_lengths(0)))


@pytest.mark.kernel
@pytest.mark.parametrize("limit", [1 << 18, 1 << 24])
def test_any_number_of_threads_gives_the_same_rows(limit):
    seed = random.SystemRandom().randrange(10**6)
    texts = texts_of(seed)
    alone = kernel_that(limit=limit)
    expected = alone.rows(texts).lists()
    data, offsets = buffer_of(texts)
    of_bytes = alone.rows_between(data, offsets, 0, len(texts)).lists()
    for threads in (1, 2, 3, 64, 1000):
        compiled = kernel_that(limit=limit)
        for _ in range(2):  # worked out, and remembered
            rows = compiled.rows(texts, lambda forks, threads=threads: threads)
            assert rows.lists() == expected, (seed, threads)
        rows = compiled.rows_between(
            data, offsets, 0, len(texts), lambda forks, threads=threads: threads
        )
        assert rows.lists() == of_bytes, (seed, threads)
        assert (compiled.info()["helped"] > 0) == (threads > 1)
    columns = {"ids": (7, [IDS_OF_TEXT], [1]), "mask": (0, [1], [1])}
    form = form_of((1, 0), columns, width=1500, pads_left=True)._replace(make=())
    some = tuple(map(str, texts[:2000]))
    arrays = compiled.columns(some, form, lambda forks: 3)  # large enough for threads too
    assert arrays == alone.columns(some, form, None), seed
    assert arrays == ListRows(map(alone.ids, some)).columns(form)
    rows, wanted = compiled.rows(texts[:2000], lambda forks: 3), alone.rows(texts[:2000])
    rows.cut(5, True)
    wanted.cut(5, True)
    assert rows.int32(b"", b"abcd") == wanted.int32(b"", b"abcd")


@pytest.mark.kernel
def test_bytes_that_are_no_utf8_are_found_by_any_thread():
    data, offsets = buffer_of(["word1 word2"] * 30_000)
    for place in (0, 1234, 29_999):
        damaged = bytearray(data)
        damaged[offsets[place]] = 0xFF
        assert kernel_that().rows_between(damaged, offsets, 0, 30_000, lambda forks: 3) is None


@pytest.mark.kernel
def test_threads_of_the_program_share_what_there_is():
    """Several batches at once have no more threads than are allowed, but for those that encode
    them.
    """
    compiled, texts = kernel_that(), ["word1 word22 é"] * 30_000
    expected = compiled.rows(texts).lists()

    def encode(_: int) -> bool:
        return compiled.rows(texts, lambda forks: 2).lists() == expected

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(encode, range(16)))


# ---- what happens meanwhile ----------------------------------------------------------------------


@pytest.mark.kernel
def test_an_error_ends_a_batch_and_does_no_harm():
    fails = True

    def hand_over(chunk: str) -> list[int]:
        if fails and "1230" in chunk:
            raise ZeroDivisionError(chunk)
        return [len(chunk)] * 3

    texts = texts_of(5)
    compiled = kernel_that(hand_over)
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            compiled.rows([*texts, "[1230]", *texts], lambda forks: 3)
    fails = False
    assert compiled.rows(texts, lambda forks: 3).lists() == kernel_that().rows(texts).lists()


@pytest.mark.kernel
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("count", [3, 40_000])
def test_an_interrupt_ends_a_batch_and_does_no_harm(count):
    compiled = kernel_that()
    texts = ["word1 word23 " * (12_000_000 // count)] * count

    def encode() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        list(map(compiled.rows, [texts] * 100, [lambda forks: 2] * 100))

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            encode()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert lengths(compiled.rows(["word1"] * 60_000, lambda forks: 2)) == {2}


def exit_code_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.kernel
@needs_fork
def test_a_fork_while_another_thread_encodes_a_batch(monkeypatch):
    monkeypatch.setenv("TRIETOK_PARALLELISM", "2")
    monkeypatch.setattr(kernel, "cores", lambda: 2)
    with kernel_of("compiled"):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        tokenizer("")
    texts = [f"the people of the united states {number} " * 20 for number in range(500)]
    expected = tokenizer(texts)["input_ids"]
    assert tokenizer.text_encoder.kernel.info()["helped"] > 0
    over = threading.Event()

    def encode() -> None:
        while not over.is_set():
            tokenizer(texts)

    thread = threading.Thread(target=encode)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                signal.alarm(LONGEST)
                try:
                    os._exit(
                        0
                        if tokenizer(texts)["input_ids"]
                        == tokenizer(texts)["input_ids"]
                        == expected
                        else 1
                    )
                finally:
                    os._exit(2)
            assert exit_code_of(child) == 0
    finally:
        over.set()
        thread.join()


# Python ends the batch's thread, whose stack others get; the threads that help it are still at work
# then.
ENDING = """
import threading, time
from tests.kernel.test_crew import kernel_that
compiled = kernel_that(limit=1 << 18)
texts = [" ".join(f"word{number}{i}" for i in range(200)) for number in range(1000)] * 100
texts[::16] = [f"[{number} word" for number in range(0, len(texts), 16)]
class EndsSlowly:
    def __del__(self):
        time.sleep(0.5)
def work():
    while True:
        sum(range(1000))
threading.ends_slowly = EndsSlowly()
for do in [lambda: compiled.rows(texts, lambda forks: 4), *[work] * 12]:
    threading.Thread(target=do, daemon=True).start()
time.sleep(0.2)
"""


@pytest.mark.kernel
@pytest.mark.parametrize("times", [2, pytest.param(often(6, 20), marks=pytest.mark.faults)])
def test_the_end_of_a_program_in_the_middle_of_a_batch_of_a_daemon_thread(times):
    for _ in range(times):
        subprocess.run([sys.executable, "-c", ENDING], check=True, timeout=LONGEST)


# ---- how many ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "general", "forks", "number"),
    [
        (None, None, 0, 4),
        (None, None, 1, 1),
        *((off, "true", 0, 1) for off in ("", "0", "false", "no", "Off", "1")),
        *((None, off, 0, 1) for off in ("0", "False")),
        ("true", "false", 0, 4),
        (None, "true", 3, 4),
        ("on", None, 3, 4),
        ("3", None, 3, 3),
        ("400", None, 0, 4),
    ],
)
def test_the_environment_says_how_many_threads(monkeypatch, own, general, forks, number):
    monkeypatch.setattr(kernel, "cores", lambda: 4)
    for name, value in (("TRIETOK_PARALLELISM", own), ("TOKENIZERS_PARALLELISM", general)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert kernel.threads_allowed(forks) == number


def test_a_process_of_multiprocessing_has_one_thread(monkeypatch):
    for name in ("TRIETOK_PARALLELISM", "TOKENIZERS_PARALLELISM"):
        monkeypatch.delenv(name, raising=False)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(kernel.threads_allowed) == 1
        monkeypatch.setattr(kernel, "cores", lambda: 4)
        assert kernel.threads_allowed() == 4


@pytest.mark.parametrize(
    ("groups", "files", "cores"),
    [
        ("0::/", {"cpu.max": "150000 100000"}, 1.5),
        ("0::/", {"cpu.max": "max 100000"}, float("inf")),
        (
            "0::/a/b",
            {"a/b/cpu.max": "800000 100000", "a/cpu.max": "200000 100000", "cpu.max": "max 100000"},
            2,
        ),
        (
            "4:memory:/x\n3:cpuset:/\n1:cpu,cpuacct:/x\n0::/",
            {"cpu/x/cpu.cfs": ("50000", "100000")},
            0.5,
        ),
        ("0::/", {"cpu.max": "what is this"}, float("inf")),
        ("no such line", {"cpu.max": "100000 100000"}, float("inf")),
    ],
)
def test_the_quota_of_a_cgroup(tmp_path, groups, files, cores):
    root = tmp_path / "cgroup"
    (tmp_path / "groups").write_text(groups)
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content)
        else:
            for kind, number in zip(("quota", "period"), content, strict=True):
                path.with_name(f"{path.name}_{kind}_us").write_text(number)
    assert cores_module._quota(tmp_path / "groups", root) == cores


def test_no_more_cores_than_the_process_may_use(monkeypatch):
    monkeypatch.setattr(cores_module, "_quota", lambda groups, root: 1.5)
    assert cores_module.cores() == 1
    monkeypatch.setattr(cores_module, "_quota", lambda groups, root: 0.5)
    assert cores_module.cores() == 1
    monkeypatch.setattr(cores_module, "_quota", lambda groups, root: float("inf"))
    if hasattr(os, "sched_getaffinity"):
        assert cores_module.cores() == len(os.sched_getaffinity(0))
