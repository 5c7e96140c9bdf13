"""One tokenizer, many threads and processes: encoding is shared, a change is seen whole or not at
all.
"""

from __future__ import annotations

import copy
import functools
import itertools
import multiprocessing
import pathlib
import pickle
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import SPECIAL
from tests.tokenizer.thread_calls import SIDES, Stress, results_alone, stress
from trietok import AddedToken, BertTokenizer, BertTokenizerFast
from trietok.text.added_search import AddedTokens
from trietok.text.changes import Version
from trietok.text.kernel.choosing import using_kernel
from trietok.tokenizer.token_table import CurrentTable, TokenTable

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


def test_a_change_is_seen_whole_or_not_at_all(tokenizer):
    """While tokens come and go, every text gets the ids of before or of after, never a mixture."""
    text = "a <p> b <q> c <p> d <q> unaffordable <p>"
    both = ["<p>", AddedToken("<q>", lstrip=True)]
    without = tokenizer.encode(text)
    tokenizer.add_tokens(both)
    with_both = tokenizer.encode(text)
    stop = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not stop.is_set():
            try:
                ids = tokenizer.encode(text)
                tokens = tokenizer.tokenize(text)
            except Exception as error:  # a half-made change must not show itself so either
                wrong.append(error)
                return
            if ids not in (without, with_both) or ("<p>" in tokens) != ("<q>" in tokens):
                wrong.append((ids, tokens))
                return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(25):
        tokenizer.remove_tokens(["<p>", "<q>"], compact=True)
        tokenizer.add_tokens(both)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert tokenizer.encode(text) == with_both


def test_threads_that_add_at_once_never_share_an_id(tokenizer):
    first = tokenizer.max_id + 1
    with ThreadPoolExecutor(8) as threads:
        added = list(
            threads.map(lambda n: tokenizer.add_tokens([f"<{n}-{i}>" for i in range(20)]), range(8))
        )
    assert added == [20] * 8
    ids = [tokenizer.convert_tokens_to_ids(f"<{n}-{i}>") for n in range(8) for i in range(20)]
    assert sorted(ids) == list(range(first, first + 160))


def test_a_change_in_steps_counts_when_it_is_done_and_not_at_all_if_it_fails():
    before, after = (
        TokenTable(None, AddedTokens(), {"cls_token": token}) for token in ("<a>", "<b>")
    )
    changes = CurrentTable(before, Version())
    with changes.changing():
        changes.table = after
        assert changes.table is after
        with ThreadPoolExecutor(1) as another:
            assert another.submit(lambda: changes.table).result() is before
    assert changes.table is changes.committed is after

    def fail() -> None:
        with changes.changing():
            changes.table = before
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert changes.table is after


def encode_in_child(pickled: bytes, queue: multiprocessing.Queue) -> None:
    tokenizer = pickle.loads(pickled)
    tokenizer.add_tokens(["<child>"])
    queue.put([tokenizer.encode(text) for text in [*TEXTS[:20], "<child>"]])


@pytest.mark.parametrize("method", ["fork", "spawn"])
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


def test_ids_and_offsets_are_of_one_state():
    """In the fast class too: what a call returns while tokens come and go is of before or of
    after.
    """
    tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    text = "a <p> b <q> c <p> d New York unaffordable <p>"
    both = ["<p>", AddedToken("<q>", lstrip=True), "new york"]

    def result() -> tuple[list[int], list[tuple[int, int]], list[str]]:
        encoding = tokenizer(text, return_offsets_mapping=True)
        return encoding.input_ids, encoding.offset_mapping, tokenizer.tokenize(text)

    without = result()
    tokenizer.add_tokens(both)
    with_both = result()
    assert with_both != without
    stop = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not stop.is_set():
            try:
                ids, offsets, tokens = result()
            except Exception as error:  # a half-made change must not show itself so either
                wrong.append(error)
                return
            if (ids, offsets) not in (without[:2], with_both[:2]) or tokens not in (
                without[2],
                with_both[2],
            ):
                wrong.append((ids, offsets, tokens))
                return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for _ in range(15):
        tokenizer.remove_tokens(["<p>", "<q>", "new york"], compact=True)
        tokenizer.add_tokens(both)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


# ---- calls with options of their own -------------------------------------------------------------


@pytest.fixture(params=["compiled", "plain"])
def kernel(request):
    """Each encoder has a compiled kernel from its first text on; or none has."""
    with using_kernel(request.param, text_before_kernel=0) as is_at_work:
        if not is_at_work:
            pytest.skip("no compiled kernel here")
        yield request.param


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
