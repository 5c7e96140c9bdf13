"""Calls that differ from thread to thread, on one tokenizer: each result beside that of the same
call made alone.

    python thread_calls.py ENGINE DIRECTORY CALLS SWITCH_INTERVAL

As a program it prints what came of CALLS calls, as JSON. ENGINE is `trietok`, `trietok-fast`, or
`transformers`, whose fast tokenizer it is; nothing else is imported, so that any environment can
run it. SWITCH_INTERVAL, in seconds, is how long Python lets a thread work while others wait for the
interpreter.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

THREADS = 16
OFTEN = 1e-5  # seconds; Python's own interval is 5e-3, in which a thread makes many calls
PAUSE = 0.002  # seconds between two changes, in which other threads do their work
SIDES = ("right", "left")

TEXTS = [
    "the people of the united states, in order to form a more perfect union",
    "establish justice; insure domestic tranquillity [MASK] provide",
    "",
    "Café naïve 東京 unaffordable <x> (n. 7)",
    "and secure the blessings of liberty to ourselves and our posterity, " * 3,
    "do ordain",
]
WORDS = ["we", "the", "People", "unaffordable", "of", "the", "United", "States"]


class Call(NamedTuple):
    """What one call is given."""

    text: Any
    pair: Any
    options: dict[str, Any]


def call_of(thread: int, number: int) -> Call:
    """A call of a thread. Lengths, strides and sides are the thread's own; the kinds of calls take
    turns.
    """
    length, side = 12 + thread, SIDES[thread % 2]
    text, pair = (TEXTS[(thread + number + step) % len(TEXTS)] for step in (0, 1))
    batch = [*TEXTS[number % 3 :], f"{text} {thread}"]
    kinds: list[Call] = [
        Call(text, None, {"truncation": True, "max_length": length, "padding": "max_length", "padding_side": side}),
        Call(batch, None, {"truncation": True, "max_length": length, "padding": True, "padding_side": side}),
        Call(TEXTS[0], TEXTS[4], {"truncation": "only_second", "max_length": 20 + length, "stride": thread % 5,
                                  "return_overflowing_tokens": True, "return_special_tokens_mask": True}),
        Call(batch, None, {"padding": True, "padding_side": side, "pad_to_multiple_of": 1 + thread,
                           "return_offsets_mapping": True}),
        Call(batch, batch[::-1], {"truncation": "longest_first", "max_length": length, "padding": "max_length",
                                  "padding_side": side}),
        Call(WORDS[thread % 4 :], None, {"is_split_into_words": True, "truncation": True,
                                         "max_length": 3 + thread % 5}),
        Call(text, pair, {"return_length": True}),
        Call(text, None, {"add_special_tokens": False, "truncation": True, "max_length": 2 + thread % 7}),
    ]  # fmt: skip
    return kinds[number % len(kinds)]


def result_of(tokenizer: Any, call: Call) -> dict[str, Any]:
    """What a call returns, as plain values."""
    return dict(tokenizer(call.text, call.pair, **call.options))


class Stress(NamedTuple):
    """What came of calls by many threads.

    Attributes:
        calls: how many there were.
        errors: how often each message was raised.
        wrong: how many calls raised nothing and gave another result than alone.
        overlaps: how many calls ended while another thread was in a call.
        changes_in_a_call: how many changes were made while one and the same call was in progress.
    """

    calls: int
    errors: Counter[str]
    wrong: int
    overlaps: int
    changes_in_a_call: int


def stress(
    tokenizer: Any,
    alone: Sequence[Any],
    calls: int,
    *,
    is_right: Callable[[Any, Any], bool] = lambda result, expected: result == expected,
    meanwhile: Iterable[Callable[[], object]] = (),
    switch_interval: float = OFTEN,
) -> Stress:
    """Let 16 threads make calls of their own on one tokenizer.

    Args:
        tokenizer: the one that they share.
        alone: for each thread what its calls give alone, see `results_alone`; or what `is_right`
            compares with.
        calls: how many calls, in all.
        is_right: whether a result is what it is alone.
        meanwhile: functions, each of which another thread calls again and again until the calls are
            done.
        switch_interval: in seconds, see above.
    """
    errors: Counter[str] = Counter()
    wrong, overlaps = [0] * THREADS, [0] * THREADS
    in_progress: dict[int, int] = {}  # thread → number of its call
    changes_in_a_call: Counter[int] = Counter()
    done = threading.Event()
    start = threading.Barrier(THREADS)

    def make_calls(thread: int) -> None:
        start.wait()
        for number in range(calls // THREADS):
            call = call_of(thread, number)
            in_progress[thread] = number
            try:
                result = result_of(tokenizer, call)
            except BaseException as error:  # what a panic of Rust raises is no Exception
                errors[f"{type(error).__name__}: {error}"[:60]] += 1
                continue
            finally:
                del in_progress[thread]
                overlaps[thread] += bool(in_progress)
            wrong[thread] += not is_right(result, alone[thread][number % len(alone[thread])])

    def repeat(place: int, change: Callable[[], object]) -> None:
        while not done.wait(PAUSE):
            before = in_progress.copy()
            try:
                change()
            except Exception as error:
                errors[f"{type(error).__name__}: {error}"[:60]] += 1
                return
            changes_in_a_call[place] += not before.items().isdisjoint(in_progress.copy().items())

    readers = [threading.Thread(target=make_calls, args=[thread]) for thread in range(THREADS)]
    writers = [threading.Thread(target=repeat, args=each) for each in enumerate(meanwhile)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(switch_interval)
    try:
        for thread in [*writers, *readers]:
            thread.start()
        for thread in readers:
            thread.join()
    finally:
        done.set()
        for thread in writers:
            thread.join()
        sys.setswitchinterval(interval)
    made = calls // THREADS * THREADS
    return Stress(made, errors, sum(wrong), sum(overlaps), sum(changes_in_a_call.values()))


def results_alone(tokenizer: Any) -> list[list[dict[str, Any]]]:
    """For each thread what its calls give, one after the other on a tokenizer that nobody else
    has.
    """
    period = 24  # of `call_of`: kinds and texts come round
    return [
        [result_of(tokenizer, call_of(thread, number)) for number in range(period)]
        for thread in range(THREADS)
    ]


def load(engine: str, directory: str) -> Any:
    """The tokenizer of a directory."""
    if engine == "transformers":
        return import_module("transformers").AutoTokenizer.from_pretrained(directory, use_fast=True)
    trietok = import_module("trietok")
    return getattr(
        trietok, "BertTokenizerFast" if engine.endswith("fast") else "BertTokenizer"
    ).from_pretrained(directory)


def main(engine: str, directory: str, calls: str, switch_interval: str) -> None:
    """Print what came of it."""
    alone = results_alone(load(engine, directory))
    found = stress(
        load(engine, directory), alone, int(calls), switch_interval=float(switch_interval)
    )
    version = import_module(engine.partition("-")[0]).__version__
    print(json.dumps({"version": version, **found._asdict()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
