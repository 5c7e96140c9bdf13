"""Threads and processes that use one tokenizer: each result is of one state of it.

A tokenizer changes to and fro between two states, and what every method returns in each of them is
known. One thread is stopped at a line of trietok's code while another does its work: a change in
the middle of a read, and a read in the middle of a change. Then sixteen threads make calls at once
while others change the tokenizer, and processes are forked meanwhile.
"""

from __future__ import annotations

import copy
import functools
import itertools
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import trietok
from tests.conftest import SPECIAL, assert_share, often
from tests.core.stopped import Stopped, lines_of
from tests.core.thread_calls import SIDES, results_alone, stress
from trietok import AddedToken, BertTokenizer, WordpieceTokenizer

Action = Callable[[Any], Any]

KINDS = ("BertTokenizer", "BertTokenizerFast")
STOPS = often(2, nightly=24)  # of each read in each change
ENTRIES = "[unused1] a b c ##b ##c ab new york < > p q x ##x".split()
TEXT = "a <p> b <q> ab new york, c<p> A [unused1] axx"
TEXTS = [TEXT, "<p>", "b", "new york <q> <q>", "a b c", TEXT]
NEW = ["<p>", AddedToken("<q>", lstrip=True), "new york", "ab"]
NAMES = list(map(str, NEW))

# What adds tokens and what takes them back: one call each, so that there is no state between.
CHANGES: dict[str, tuple[Action, Action]] = {
    "tokens": (lambda t: t.add_tokens(NEW), lambda t: t.remove_tokens(NAMES, compact=True)),
    "special tokens": (
        lambda t: t.add_special_tokens({"additional_special_tokens": ["<p>", "<q>", "new york"]}),
        lambda t: t.remove_tokens(["<p>", "<q>", "new york"], compact=True),
    ),
    "a token in a slot": (
        lambda t: t.assign_unused("[unused1]", "<p>"),
        lambda t: t.remove_tokens("<p>"),
    ),
}
READS: dict[str, Action] = {
    "len": len,
    "get_added_vocab": lambda t: t.get_added_vocab(),
    "get_vocab": lambda t: t.get_vocab(),
    "added_tokens_decoder": lambda t: dict(t.added_tokens_decoder),
    "all_special_tokens": lambda t: t.all_special_tokens,
    "all_special_ids": lambda t: t.all_special_ids,
    "convert_tokens_to_ids": lambda t: t.convert_tokens_to_ids(["<p>", "a", "<q>", "[SEP]", "ab"]),
    "decode": lambda t: t.decode([2, 5, 6, 11, 3, 8, 5], skip_special_tokens=True),
    "encode": lambda t: t.encode(TEXT),
    "tokenize": lambda t: t.tokenize(TEXT),
    "a pair": lambda t: dict(t(TEXT, TEXTS[3], return_special_tokens_mask=True)),
    "words": lambda t: dict(t(TEXTS, is_split_into_words=True)),
    "a batch": lambda t: dict(t(TEXTS, padding=True)),
    "a batch of pairs": lambda t: dict(t([*zip(TEXTS, TEXTS[::-1], strict=True)], padding=True)),
    "a batch with offsets": lambda t: dict(t(TEXTS, padding=True, return_offsets_mapping=True)),
    "a copy": lambda t: summary(copy.deepcopy(t)),
    "a pickle": lambda t: summary(pickle.loads(pickle.dumps(t))),
    "fingerprint": lambda t: t.fingerprint(),
}


def summary(tokenizer: Any) -> tuple[Any, ...]:
    added, special = tokenizer.get_added_vocab(), tokenizer.all_special_tokens
    return len(tokenizer), added, special, tokenizer.encode(TEXT)


def result(read: Action, tokenizer: Any) -> Any:
    """What a method returns; an error is the result of no state."""
    try:
        return read(tokenizer)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name."""
    return lambda kind: getattr(trietok, kind)(vocab_file(*ENTRIES, special=SPECIAL))


# ---- a thread that is stopped at a line ----------------------------------------------------------


def wrong_results(
    tokenizer: Any, read: Action, change: str, in_a_change: bool, rng: random.Random
) -> tuple[list[str], Counter[str]]:
    """What `read` returns in no state, and how often the other thread did its work in the stop; a
    thread is stopped in the read, or else in the change.
    """
    to_and_fro, wrong, ran = CHANGES[change], [], Counter[str]()
    results = [result(read, tokenizer)]
    to_and_fro[0](tokenizer)
    results.append(result(read, tokenizer))
    to_and_fro[1](tokenizer)
    assert result(read, tokenizer) == results[0]
    for now, later in ((0, 1), (1, 0)):
        found: list[Any] = []
        step = functools.partial(to_and_fro[now], tokenizer)

        def ask(found: list[Any] = found) -> None:
            found.append(result(read, tokenizer))

        traced, other = (step, ask) if in_a_change else (ask, step)
        lines = lines_of(traced)
        if not in_a_change:
            step()
        # A read that is cached has a line or two.
        for line in rng.sample(range(1, lines + 1), min(STOPS, lines)):
            to_and_fro[later](tokenizer)
            found.clear()
            stopped = Stopped(line, other)
            stopped.run(traced)
            if stopped.place is None:  # fewer lines this time: more is cached
                other()
            ran["stops"] += 1
            ran["overlaps"] += stopped.has_overlapped
            after = result(read, tokenizer)
            if found[0] not in results or after != results[later]:
                wrong.append(f"stopped at {stopped.place}: {found[0]!r:.150}, then {after!r:.150}")
    return wrong, ran


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("in_a_change", [False, True], ids=["change in read", "read in change"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_of_the_state_before_or_after_a_change(make, kind, in_a_change, change):
    seed = random.randrange(10**9)
    rng, ran, tokenizer = random.Random(seed), Counter[str](), make(kind)
    for name, read in READS.items():
        wrong, counts = wrong_results(tokenizer, read, change, in_a_change, rng)
        assert wrong == [], (name, seed)
        ran += counts
    # A copy and a pickle have the changes wait.
    assert_share(ran["overlaps"], ran["stops"], 0.3, seed)


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_special_tokens_move_with_those_of_texts(tmp_path, kind):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(["a", *SPECIAL, "b", "c"]), encoding="utf-8")

    def keep(tokenizer: Any) -> None:
        tokenizer.keep_only(range(1, 8))  # every id is one less

    states = [[3, 6, 7, 4], [2, 5, 6, 3]]
    tokenizer = getattr(trietok, kind)(path)
    tokenizer.encode("b c")
    lines, overlaps = lines_of(lambda: keep(tokenizer)), 0
    seed = random.randrange(10**9)
    for line in random.Random(seed).choices(range(1, lines), k=often(200)):
        tokenizer = getattr(trietok, kind)(path)
        found = [tokenizer.encode("b c")]
        stopped = Stopped(line, lambda: found.append(tokenizer("b c").input_ids))  # noqa: B023
        stopped.run(lambda: keep(tokenizer))  # noqa: B023
        overlaps += stopped.has_overlapped
        assert found[0] == states[0]
        assert all(ids in states for ids in found), (stopped.place, seed)
        assert tokenizer("b c").input_ids == states[1], (stopped.place, seed)
    assert overlaps > 0


@pytest.mark.parametrize("kind", KINDS)
def test_threads_that_add_at_once_never_share_an_id(make, kind):
    tokenizer = make(kind)
    lines = lines_of(lambda: tokenizer.add_tokens(["<x>", "<y>"]))
    seed = random.randrange(10**9)
    stops = 0
    for line in random.Random(seed).choices(range(1, lines), k=often(40)):
        tokenizer = make(kind)
        first = tokenizer.max_id + 1
        stopped = Stopped(line, lambda: tokenizer.add_tokens(["<p>", "<q>", "<y>"]))  # noqa: B023
        stopped.run(lambda: tokenizer.add_tokens(["<x>", "<y>"]))  # noqa: B023
        if stopped.place is None:  # fewer lines this time
            continue
        stops += 1
        ids = tokenizer.convert_tokens_to_ids(["<x>", "<y>", "<p>", "<q>"])
        assert sorted(ids) == [*range(first, first + 4)], (stopped.place, seed)
    assert stops > 0


def test_threads_that_match_their_first_words_at_once_have_the_same_pieces():
    """Sixteen threads, switched 100,000 times a second, make the tries of a vocabulary."""
    vocab = {"[UNK]": 0}
    for first, second in itertools.product(LETTERS, repeat=2):
        vocab |= {f"{first}{second}": len(vocab), f"##{first}{second}": len(vocab) + 1}
    words = [f"{first}{second}" * 20 for first, second in itertools.product(LETTERS, repeat=2)]
    expected = [WordpieceTokenizer(vocab, "[UNK]").tokenize(word) for word in words]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(often(40)):
            wordpiece = WordpieceTokenizer(vocab, "[UNK]")
            barrier = threading.Barrier(16)

            def tokenize(number: int, wordpiece: Any = wordpiece, barrier: Any = barrier) -> Any:
                barrier.wait()
                return [*map(wordpiece.tokenize, words)]

            with ThreadPoolExecutor(16) as pool:
                assert [*pool.map(tokenize, range(16))] == [expected] * 16
    finally:
        sys.setswitchinterval(before)


# ---- sixteen threads -----------------------------------------------------------------------------

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = """
    the people of united states in order to form a more perfect union justice ##able ( ) . , ; 7 東
    """.split()
CALLS = often(320, nightly=6400)


@pytest.fixture(scope="module")
def vocab(tmp_path_factory) -> Path:
    """Few entries, so that a tokenizer which changes all the time soon has another kernel."""
    path = tmp_path_factory.mktemp("small") / "vocab.txt"
    pieces = [f"##{letter}" for letter in LETTERS]
    path.write_text("\n".join([*SPECIAL, *WORDS, *LETTERS, *pieces, ""]), encoding="utf-8")
    return path


def shared(kind: str, vocab: Path, truncation_side: str) -> Any:
    tokenizer = getattr(trietok, kind)(vocab, truncation_side=truncation_side, model_max_length=512)
    tokenizer.add_tokens(["<x>", AddedToken("tranquillity", lstrip=True)])
    return tokenizer


@functools.cache
def alone(kind: str, vocab: Path, truncation_side: str) -> list[list[dict[str, Any]]]:
    return results_alone(shared(kind, vocab, truncation_side))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("truncation_side", SIDES)
def test_each_thread_has_lengths_sides_and_strides_of_its_own(kind, vocab, truncation_side, kernel):
    expected = alone(kind, vocab, truncation_side)
    found = stress(shared(kind, vocab, truncation_side), expected, CALLS)
    assert (found.calls, found.errors, found.wrong) == (CALLS, Counter(), 0)
    assert found.overlaps > 0


@pytest.mark.parametrize("kind", KINDS)
def test_each_thread_has_results_of_one_state_while_others_change_the_tokenizer(
    kind, vocab, kernel
):
    """The side of truncation is the tokenizer's: a call has one or the other. Padding is as the call says."""
    tokenizer = shared(kind, vocab, "right")
    right, left = (alone(kind, vocab, side) for side in SIDES)
    assert right != left
    either = [list(zip(*pair, strict=True)) for pair in zip(right, left, strict=True)]
    numbers, sides, more_sides = itertools.count(), itertools.cycle(SIDES), itertools.cycle(SIDES)

    def add_and_remove() -> None:
        token = f"<added-{next(numbers)}>"
        tokenizer.add_tokens([token])
        tokenizer.remove_tokens([token])

    changes = [
        add_and_remove,
        lambda: setattr(tokenizer, "truncation_side", next(sides)),
        lambda: setattr(tokenizer, "padding_side", next(more_sides)),
    ]
    found = stress(
        tokenizer, either, CALLS, is_right=lambda result, two: result in two, meanwhile=changes
    )
    assert (found.calls, found.errors, found.wrong) == (CALLS, Counter(), 0)
    assert found.changes_in_a_call > 0
    assert next(numbers) > 0


# ---- processes -----------------------------------------------------------------------------------

FORKING = """
import itertools, os, signal, sys, threading
import trietok
from tests.conftest import using_kernel

kernel, forks, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
signal.alarm(600)  # a process that hangs, hangs for ever
text = "the people, unaffordable zoology"
numbers, over, encoding = itertools.count(), threading.Event(), {}

def encode():
    number = next(numbers)
    texts = [text, *(f"new{number}a{i} [x{i}] " * 9 for i in range(200))]
    encoding[number] = True
    ids = tokenizer(texts).input_ids[0]
    del encoding[number]
    assert ids == expected

def encode_on():
    while not over.is_set():
        encode()

def in_child(place):
    signal.alarm(300)
    encode()
    other = threading.Thread(target=encode)
    other.start()
    other.join()
    assert tokenizer.add_tokens(["people,"]) == 1
    assert len(tokenizer.tokenize(text)) != len(expected) - 2
    tokenizer.save_pretrained(place)
    again = trietok.BertTokenizer.from_pretrained(place)
    assert again(text).input_ids == tokenizer(text).input_ids != expected

with using_kernel(kernel):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    expected = tokenizer(text).input_ids
    threads = [threading.Thread(target=encode_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    statuses, in_the_middle = [], 0
    for number in range(forks):
        encode()
        in_the_middle += len(encoding) > 0  # of a call of another thread
        child = os.fork()
        if child == 0:
            status = 1
            try:
                encoding.clear()
                in_child(f"{folder}/{number}")
                status = 0
            finally:
                os._exit(status)
        statuses.append(os.waitpid(child, 0)[1])
    over.set()
    for thread in threads:
        thread.join()
    encode()
assert statuses == [0] * forks, statuses
assert in_the_middle > 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_while_threads_encode_can_encode_change_and_save(tmp_path, kernel):
    command = [sys.executable, "-c", FORKING, kernel, str(often(4, nightly=30)), str(tmp_path)]
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "TRIETOK_PARALLELISM": "2", "PYTHONPATH": paths}
    subprocess.run(command, check=True, env=environment)


def encode_in_child(pickled: bytes, queue: multiprocessing.Queue) -> None:
    tokenizer = pickle.loads(pickled)
    tokenizer.add_tokens(["<child>"])
    queue.put([tokenizer.encode(text) for text in [*TEXTS, "<child>"]])


def test_a_spawned_process_encodes_as_the_tokenizer_that_was_pickled():
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    tokenizer.add_tokens(["<x1>", AddedToken("<q>", rstrip=True)])
    tokenizer.assign_unused("[unused3]", "<p>")
    tokenizer.encode("warm <p>")
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=encode_in_child, args=(pickle.dumps(tokenizer), queue))
    child.start()
    ids = queue.get(timeout=300)
    child.join()
    tokenizer.add_tokens(["<child>"])
    assert ids == [tokenizer.encode(text) for text in [*TEXTS, "<child>"]]
