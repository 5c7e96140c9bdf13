"""A call uses one table of tokens throughout, also while another thread changes the tokenizer.

A tokenizer changes to and fro between two states, and what every method returns in each of them is
known. One thread is stopped at a line of trietok's code, another does its work, and the first
continues: a change in the middle of a read, and a read in the middle of a change. Each result must
be the result of one of the two states. At the end, sixteen threads do all of it at once.
"""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import trietok
from tests.conftest import SPECIAL, often
from trietok import AddedToken

Read = Callable[[Any], Any]
Change = Callable[[Any], Any]

SOURCES = os.path.dirname(trietok.__file__)
LINES = often(4, nightly=12)  # at which each read and change is stopped
READ_OFTEN = often(3_000, nightly=20_000)
# seconds: a thread that has to wait for the one that is stopped is not waited for any longer
STOP_AT_MOST = 0.005
ENTRIES = "[unused1] a b c ##b ##c ab new york < > p q x ##x".split()
KINDS = ("BertTokenizer", "BertTokenizerFast")

TEXT = "a <p> b <q> ab new york, c<p> A [unused1] axx"
TEXTS = [TEXT, "<p>", "b", "new york <q> <q>", "a b c", TEXT]
NEW = ["<p>", AddedToken("<q>", lstrip=True), "new york", "ab"]
NAMES = list(map(str, NEW))

# What adds tokens and what takes them back: one call each, so that there is no state between.
CHANGES: dict[str, tuple[Change, Change]] = {
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

READS: dict[str, Read] = {
    "len": len,
    "get_added_vocab": lambda t: t.get_added_vocab(),
    "get_vocab": lambda t: t.get_vocab(),
    "added_tokens_decoder": lambda t: dict(t.added_tokens_decoder),
    "all_special_tokens": lambda t: t.all_special_tokens,
    "all_special_ids": lambda t: t.all_special_ids,
    "convert_tokens_to_ids": lambda t: t.convert_tokens_to_ids(
        ["<p>", "a", "<q>", "[SEP]", "new york", "<p>", "ab"]
    ),
    "decode": lambda t: t.decode([2, 5, 6, 11, 3, 8, 5], skip_special_tokens=True),
    "encode": lambda t: t.encode(TEXT),
    "tokenize": lambda t: t.tokenize(TEXT),
    "a call with a pair": lambda t: dict(t(TEXT, TEXTS[3], return_special_tokens_mask=True)),
    "a call with offsets": lambda t: dict(t(TEXT, return_offsets_mapping=True)),
    "a call with words": lambda t: dict(t(TEXTS, is_split_into_words=True)),
    "a batch": lambda t: dict(t(TEXTS, padding=True)),
    "a batch of pairs": lambda t: dict(
        t(list(zip(TEXTS, reversed(TEXTS), strict=True)), padding=True)
    ),
    "a batch with offsets": lambda t: dict(t(TEXTS, padding=True, return_offsets_mapping=True)),
    "a copy": lambda t: summary(copy.deepcopy(t)),
    "a pickle": lambda t: summary(pickle.loads(pickle.dumps(t))),
    "fingerprint": lambda t: t.fingerprint(),
}


def summary(tokenizer: Any) -> tuple[Any, ...]:
    return (
        len(tokenizer),
        tokenizer.get_added_vocab(),
        tokenizer.all_special_tokens,
        tokenizer.encode(TEXT),
    )


def result(read: Read, tokenizer: Any) -> Any:
    """What a method returns; an error is the result of no state."""
    try:
        return read(tokenizer)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name."""
    return lambda kind: getattr(trietok, kind)(vocab_file(*ENTRIES, special=SPECIAL))


# ---- stopping a thread at a line -----------------------------------------------------------------


class Stopped:
    """Runs an action, and another one in a second thread at a line of trietok's.

    Attributes:
        lines: number of lines that the first action has reached.
        place: where the first thread was stopped; None if it was not.
    """

    def __init__(self, at: int = 0, other: Callable[[], Any] = lambda: None) -> None:
        self.lines = 0
        self.place: str | None = None
        self._at = at
        self._other = threading.Thread(target=other)

    def run(self, action: Callable[[], Any]) -> Any:
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            return action()
        finally:
            sys.settrace(before)
            if self.place is not None:
                self._other.join()

    def _trace(self, frame: Any, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(SOURCES):
            return None
        if event == "line":
            self.lines += 1
            if self.lines == self._at:
                self.place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
                self._other.start()
                self._other.join(STOP_AT_MOST)
        return self._trace


def some_of(lines: int, most: int) -> Iterator[int]:
    """The lines to stop at: all of them, or `most` that lie evenly."""
    step = max(lines / most, 1.0)
    return (
        1 + int(number * step)
        for number in itertools.takewhile(lambda n: n * step < lines, itertools.count())
    )


def wrong_results(
    tokenizer: Any, read: Read, change: str, in_a_change: bool, stops: list[bool]
) -> list[str]:
    """What `read` returns in no state; a thread is stopped in the read, or else in the change.
    `stops` gets whether it was stopped, for each time that it was tried.
    """
    to_and_fro = CHANGES[change]
    results = [result(read, tokenizer)]
    to_and_fro[0](tokenizer)
    results.append(result(read, tokenizer))
    to_and_fro[1](tokenizer)
    wrong: list[str] = []
    if result(read, tokenizer) != results[0]:
        return ["taking it back does not lead back"]
    for now, later in ((0, 1), (1, 0)):
        found: list[Any] = []

        def step(now: int = now) -> None:
            to_and_fro[now](tokenizer)

        def ask(found: list[Any] = found) -> None:
            found.append(result(read, tokenizer))

        traced, other = (step, ask) if in_a_change else (ask, step)
        counting = Stopped()
        counting.run(traced)
        if not in_a_change:
            step()
        for line in some_of(counting.lines, LINES):
            to_and_fro[later](tokenizer)
            found.clear()
            stopped = Stopped(line, other)
            stopped.run(traced)
            stops.append(stopped.place is not None)
            if stopped.place is None:  # fewer lines this time: more is cached
                other()
            if found[0] not in results:
                wrong.append(f"stopped at {stopped.place}: {found[0]!r:.150}")
            if result(read, tokenizer) != results[later]:
                wrong.append(f"after the stop at {stopped.place}: {result(read, tokenizer)!r:.150}")
    return wrong


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "in_a_change", [False, True], ids=["a change in a read", "a read in a change"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_result_is_of_one_state(make, kind, in_a_change, change):
    tokenizer = make(kind)
    stops: list[bool] = []
    wrong = {
        name: wrong_results(tokenizer, read, change, in_a_change, stops)
        for name, read in READS.items()
    }
    assert {name: found for name, found in wrong.items() if found} == {}
    assert sum(stops) > 0.5 * len(stops) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_special_tokens_move_with_those_of_texts(tmp_path, kind):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(["a", *SPECIAL, "b", "c"]), encoding="utf-8")

    def keep(tokenizer: Any) -> None:
        tokenizer.keep_only(range(1, 8))  # every id is one less

    tokenizer = getattr(trietok, kind)(path)
    states = [tokenizer("b c").input_ids]
    keep(tokenizer)
    states.append(tokenizer("b c").input_ids)
    assert states[1] == [token_id - 1 for token_id in states[0]]
    counting = Stopped()
    first = getattr(trietok, kind)(path)
    counting.run(lambda: keep(first))
    for line in some_of(counting.lines, 50 * LINES):
        tokenizer = getattr(trietok, kind)(path)
        found: list[Any] = []
        stopped = Stopped(
            line, lambda found=found, tokenizer=tokenizer: found.append(tokenizer("b c").input_ids)
        )
        stopped.run(lambda tokenizer=tokenizer: keep(tokenizer))
        assert all(ids in states for ids in found), stopped.place
        assert tokenizer("b c").input_ids == states[1], stopped.place


# ---- all at once ---------------------------------------------------------------------------------


@pytest.fixture
def often_switching() -> Iterator[None]:
    """Threads take turns a thousand times as often as they do otherwise."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_threads_see_results_of_one_state(make, kind, often_switching):
    """Fifteen threads read while a sixteenth adds tokens and removes them."""
    tokenizer = make(kind)
    reads = [name for name in READS if name not in ("a copy", "a pickle", "fingerprint")]
    add, remove = CHANGES["tokens"]
    without = {name: result(READS[name], tokenizer) for name in reads}
    add(tokenizer)
    with_them = {name: result(READS[name], tokenizer) for name in reads}
    readers, begin, finished = 15, threading.Barrier(16), threading.Event()
    wrong: list[str] = []
    changes = 0  # made while the others read

    def ask(first: int) -> None:
        begin.wait()
        for number in range(first, first + READ_OFTEN // readers):
            name = reads[number % len(reads)]
            found = result(READS[name], tokenizer)
            if found not in (without[name], with_them[name]):
                wrong.append(f"{name}: {found!r:.150}")

    def change() -> None:
        nonlocal changes
        begin.wait()
        while not finished.is_set():
            remove(tokenizer)
            add(tokenizer)
            changes += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(readers)]
    changing = threading.Thread(target=change)
    for thread in (*threads, changing):
        thread.start()
    for thread in threads:
        thread.join()
    finished.set()
    changing.join()
    assert wrong == []
    assert changes > 3
    assert {name: result(READS[name], tokenizer) for name in reads} == with_them
