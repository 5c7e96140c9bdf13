"""One tokenizer, many threads and processes: each call gives what it gives alone."""

from __future__ import annotations

import copy
import functools
import itertools
import multiprocessing
import os
import pathlib
import pickle
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import SPECIAL
from tests.core.thread_calls import SIDES, Stress, results_alone, stress
from trietok import AddedToken, BertTokenizer, BertTokenizerFast

TEXTS = [
    f"the people number {n} of the united states, unaffordable{n} [MASK] <x{n % 7}> (n. {n})"
    for n in range(160)
]


@pytest.fixture
def tokenizer():
    return BertTokenizer.from_pretrained("trietok-en")


def test_sixteen_threads_share_one_tokenizer(tokenizer):
    tokenizer.add_tokens([f"<x{n}>" for n in range(7)])
    expected = [BertTokenizer.encode(copy.deepcopy(tokenizer), text) for text in TEXTS]
    barrier = threading.Barrier(16)

    def encode_all(start: int) -> list[list[int]]:
        barrier.wait()
        order = TEXTS[start:] + TEXTS[:start]
        ids = [tokenizer.encode(text) for text in order]
        return ids[len(TEXTS) - start :] + ids[: len(TEXTS) - start]

    with ThreadPoolExecutor(16) as threads:
        for ids in threads.map(encode_all, range(16)):
            assert ids == expected


def test_threads_that_add_at_once_never_share_an_id(tokenizer):
    first = tokenizer.max_id + 1
    with ThreadPoolExecutor(8) as threads:
        added = list(
            threads.map(lambda n: tokenizer.add_tokens([f"<{n}-{i}>" for i in range(20)]), range(8))
        )
    assert added == [20] * 8
    ids = [tokenizer.convert_tokens_to_ids(f"<{n}-{i}>") for n in range(8) for i in range(20)]
    assert sorted(ids) == list(range(first, first + 160))


def encode_in_child(pickled: bytes, queue: multiprocessing.Queue) -> None:
    tokenizer = pickle.loads(pickled)
    tokenizer.add_tokens(["<child>"])
    queue.put([tokenizer.encode(text) for text in [*TEXTS[:20], "<child>"]])


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            "fork", marks=pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
        ),
        "spawn",
    ],
)
def test_other_processes_encode_alike(tokenizer, method):
    tokenizer.add_tokens(["<x1>", AddedToken("<x2>", rstrip=True)])
    tokenizer.assign_unused("[unused3]", "[SUBJ]")
    tokenizer.encode("warm [SUBJ]")
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=encode_in_child, args=(pickle.dumps(tokenizer), queue))
    child.start()
    ids = queue.get(timeout=300)
    child.join()
    assert ids[:20] == [tokenizer.encode(text) for text in TEXTS[:20]]
    tokenizer.add_tokens(["<child>"])
    assert ids[20] == tokenizer.encode("<child>")


# ---- calls with options of their own -------------------------------------------------------------


@pytest.fixture(scope="module")
def vocab(tmp_path_factory):
    """Few entries, so that a tokenizer which changes all the time soon has another kernel."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = (
        "the people of united states in order to form a more perfect union justice ##able ( ) . ,"
        " ; 7 東"
    )
    path = tmp_path_factory.mktemp("small") / "vocab.txt"
    path.write_text(
        "\n".join([*SPECIAL, *words.split(), *letters, *(f"##{letter}" for letter in letters), ""]),
        encoding="utf-8",
    )
    return path


def make(cls: type[BertTokenizer], vocab: pathlib.Path, truncation_side: str) -> BertTokenizer:
    tokenizer = cls(vocab, truncation_side=truncation_side, model_max_length=512)
    tokenizer.add_tokens(["<x>", AddedToken("tranquillity", lstrip=True)])
    return tokenizer


@functools.cache
def alone(cls: type[BertTokenizer], vocab: pathlib.Path, truncation_side: str) -> list[list[dict]]:
    return results_alone(make(cls, vocab, truncation_side))


both_profiles = pytest.mark.parametrize("cls", [BertTokenizer, BertTokenizerFast])


@both_profiles
@pytest.mark.parametrize("truncation_side", SIDES)
def test_each_thread_has_lengths_sides_and_strides_of_its_own(cls, vocab, truncation_side, kernel):
    expected = alone(cls, vocab, truncation_side)
    assert stress(make(cls, vocab, truncation_side), expected, 320) == Stress(320, Counter(), 0)


@both_profiles
def test_each_thread_has_its_own_while_others_change_the_tokenizer(cls, vocab, kernel):
    """The side of truncation is the tokenizer's alone: a call has one or the other. Padding is as
    the call says.
    """
    tokenizer = make(cls, vocab, "right")
    right, left = (alone(cls, vocab, side) for side in SIDES)
    assert right != left
    either = [list(zip(*pair, strict=True)) for pair in zip(right, left, strict=True)]
    numbers, sides, more_sides = itertools.count(), itertools.cycle(SIDES), itertools.cycle(SIDES)
    writers = [
        lambda: tokenizer.add_tokens([f"<added-{next(numbers)}>"]),
        lambda: setattr(tokenizer, "truncation_side", next(sides)),
        lambda: setattr(tokenizer, "padding_side", next(more_sides)),
    ]
    found = stress(
        tokenizer, either, 320, is_right=lambda result, two: result in two, meanwhile=writers
    )
    assert found == Stress(320, Counter(), 0)
    assert next(numbers) > 0
