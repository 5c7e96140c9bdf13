"""Every answer is of one state of the tokenizer, whatever other threads change meanwhile.

A tokenizer goes to and fro between two states, and what every method answers in each of them is
known. Then one thread is stopped at a line of trietok's, another does what it has to do, and the
first goes on: a change in the middle of a read, and a read in the middle of a change, at one line
after the other. What is answered must be the answer of one of the two states. At last sixteen
threads do all of it at once.
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
from tests.conftest import SPECIAL
from trietok import AddedToken

Read = Callable[[Any], Any]
Change = Callable[[Any], Any]

SOURCES = os.path.dirname(trietok.__file__)
# to stop at, of each read and change in the marked run
LINES = int(os.environ.get("TRIETOK_LINES", "300"))
# seconds: a thread that has to wait for the one that is stopped is not waited for any longer
STOP_AT_MOST = 0.005
ENTRIES = [
    "[unused1]",
    "a",
    "b",
    "c",
    "##b",
    "##c",
    "ab",
    "new",
    "york",
    "<",
    ">",
    "p",
    "q",
    "x",
    "##x",
]
KINDS = ("BertTokenizer", "BertTokenizerFast")

TEXT = "a <p> b <q> ab new york, c<p> A [unused1] axx"
TEXTS = [TEXT, "<p>", "b", "new york <q> <q>", "a b c", TEXT]
NEW = ["<p>", AddedToken("<q>", lstrip=True), "new york", "ab"]
NAMES = list(map(str, NEW))

# What comes and what takes it back: one call each, so that there is no state between.
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
    "a role": (lambda t: setattr(t, "sep_token", "c"), lambda t: setattr(t, "sep_token", "[SEP]")),
    "a setting": (
        lambda t: setattr(t, "padding_side", "left"),
        lambda t: setattr(t, "padding_side", "right"),
    ),
}

READS: dict[str, Read] = {
    "len": len,
    "get_added_vocab": lambda t: t.get_added_vocab(),
    "get_vocab": lambda t: t.get_vocab(),
    "added_tokens_encoder": lambda t: dict(t.added_tokens_encoder),
    "added_tokens_decoder": lambda t: dict(t.added_tokens_decoder),
    "all_special_tokens": lambda t: t.all_special_tokens,
    "all_special_ids": lambda t: t.all_special_ids,
    "additional_special_tokens_ids": lambda t: t.additional_special_tokens_ids,
    "special_tokens_map": lambda t: t.special_tokens_map,
    "convert_tokens_to_ids": lambda t: t.convert_tokens_to_ids(
        ["<p>", "a", "<q>", "[SEP]", "new york", "<p>", "ab"]
    ),
    "convert_ids_to_tokens": lambda t: t.convert_ids_to_tokens(
        [5, 6, 0, 5], skip_special_tokens=True
    ),
    "decode": lambda t: t.decode([2, 5, 6, 11, 3, 8, 5], skip_special_tokens=True),
    "encode": lambda t: t.encode(TEXT),
    "tokenize": lambda t: t.tokenize(TEXT),
    "a call": lambda t: dict(t(TEXT)),
    "a call with a pair": lambda t: dict(t(TEXT, TEXTS[3], return_special_tokens_mask=True)),
    "a call with offsets": lambda t: dict(t(TEXT, return_offsets_mapping=True)),
    "a call with offsets of a pair": lambda t: dict(t(TEXT, TEXTS[3], return_offsets_mapping=True)),
    "a call with words": lambda t: dict(t(TEXTS, is_split_into_words=True)),
    "a batch": lambda t: dict(t(TEXTS, padding=True)),
    "a batch of pairs": lambda t: dict(
        t(list(zip(TEXTS, reversed(TEXTS), strict=True)), padding=True)
    ),
    "a batch with offsets": lambda t: dict(t(TEXTS, padding=True, return_offsets_mapping=True)),
    "a batch with masks": lambda t: dict(
        t(TEXTS, return_special_tokens_mask=True, return_length=True)
    ),
    "a copy": lambda t: seen(copy.deepcopy(t)),
    "a pickle": lambda t: seen(pickle.loads(pickle.dumps(t))),
    "fingerprint": lambda t: t.fingerprint(),
}


def seen(tokenizer: Any) -> tuple[Any, ...]:
    return (
        len(tokenizer),
        tokenizer.get_added_vocab(),
        tokenizer.all_special_tokens,
        tokenizer.encode(TEXT),
    )


def answer(read: Read, tokenizer: Any) -> Any:
    """What a method answers; an error is no answer of any state."""
    try:
        return read(tokenizer)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


# ---- stopping a thread at a line -----------------------------------------------------------------


class Stopped:
    """Runs something, and something else in another thread when it comes to a line of trietok's.

    Attributes:
        lines: how many lines have been come to.
        place: where the thread was stopped; None if it was not.
    """

    def __init__(self, at: int = 0, meanwhile: Callable[[], Any] = lambda: None) -> None:
        self.lines = 0
        self.place: str | None = None
        self._at = at
        self._other = threading.Thread(target=meanwhile)

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


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a class of that name."""
    return lambda kind: getattr(trietok, kind)(vocab_file(*ENTRIES, special=SPECIAL))


def wrong_answers(
    tokenizer: Any, read: Read, change: str, most: int, in_a_change: bool
) -> list[str]:
    """What `read` answers that no state does; a thread is stopped in the read, or else in the
    change.
    """
    to_and_fro = CHANGES[change]
    answers = [answer(read, tokenizer)]
    to_and_fro[0](tokenizer)
    answers.append(answer(read, tokenizer))
    to_and_fro[1](tokenizer)
    wrong: list[str] = []
    if answer(read, tokenizer) != answers[0]:
        return ["taking it back does not lead back"]
    for now, later in ((0, 1), (1, 0)):

        def step(now: int = now) -> None:
            to_and_fro[now](tokenizer)

        def back(later: int = later) -> None:
            to_and_fro[later](tokenizer)

        given: list[Any] = []

        def ask(given: list[Any] = given) -> None:
            given.append(answer(read, tokenizer))

        traced, meanwhile = (step, ask) if in_a_change else (ask, step)
        counting = Stopped()
        counting.run(traced)
        if not in_a_change:
            step()
        for line in some_of(counting.lines, most):
            back()
            given.clear()
            stopped = Stopped(line, meanwhile)
            stopped.run(traced)
            if stopped.place is None:  # fewer lines this time: it remembers more
                (ask if in_a_change else step)()
            if given[0] not in answers:
                wrong.append(f"{change}, stopped at {stopped.place}: {given[0]!r:.150}")
            if answer(read, tokenizer) != answers[later]:
                wrong.append(
                    f"{change}, after it was stopped at {stopped.place}:"
                    f" {answer(read, tokenizer)!r:.150}"
                )
    return wrong


@pytest.mark.parametrize(
    "in_a_change", [False, True], ids=["a change in a read", "a read in a change"]
)
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_of_one_state(make, kind, name, in_a_change):
    changes = ("special tokens", "a token in a slot", "a role")
    wrong = [wrong_answers(make(kind), READS[name], change, 2, in_a_change) for change in changes]
    assert wrong == [[], [], []]


@pytest.mark.faults
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "in_a_change", [False, True], ids=["a change in a read", "a read in a change"]
)
@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_of_one_state_at_every_line(make, kind, name, in_a_change, change):
    assert wrong_answers(make(kind), READS[name], change, LINES, in_a_change) == []


# ---- all at once ---------------------------------------------------------------------------------

ASKED = [name for name in READS if name not in ("a copy", "a pickle", "fingerprint")]


@pytest.fixture
def often_switching() -> Iterator[None]:
    """Threads take turns a thousand times as often as they do otherwise."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


def wrong_among(tokenizer: Any, count: int) -> list[str]:
    """What fifteen threads are answered that no state answers, while a sixteenth adds tokens and
    removes them.
    """
    come, go = CHANGES["tokens"]
    without = {name: answer(READS[name], tokenizer) for name in ASKED}
    come(tokenizer)
    with_them = {name: answer(READS[name], tokenizer) for name in ASKED}
    readers, begin, finished = 15, threading.Barrier(16), threading.Event()
    wrong: list[str] = []

    def ask(first: int) -> None:
        begin.wait()
        for number in range(first, first + count // readers):
            name = ASKED[number % len(ASKED)]
            given = answer(READS[name], tokenizer)
            if given not in (without[name], with_them[name]):
                wrong.append(f"{name}: {given!r:.150}")

    def change() -> None:
        begin.wait()
        while not finished.is_set():
            go(tokenizer)
            come(tokenizer)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(readers)]
    changing = threading.Thread(target=change)
    for thread in (*threads, changing):
        thread.start()
    for thread in threads:
        thread.join()
    finished.set()
    changing.join()
    at_rest = {name: answer(READS[name], tokenizer) for name in ASKED}
    wrong += [f"{name}, at rest" for name in ASKED if at_rest[name] != with_them[name]]
    return wrong


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_threads_are_answered_of_one_state(make, kind, often_switching):
    assert wrong_among(make(kind), 3_000) == []


@pytest.mark.faults
@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_threads_are_answered_of_one_state_for_long(make, kind, often_switching):
    assert wrong_among(make(kind), int(os.environ.get("TRIETOK_ANSWERS", "100000"))) == []
