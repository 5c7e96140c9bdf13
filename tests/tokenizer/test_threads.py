"""One tokenizer, many threads and processes: encoding is shared, a change is seen whole or not at all."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from trietok import AddedToken, BertTokenizer, BertTokenizerFast
from trietok.text.added_tokens import AddedTokens
from trietok.text.changes import Version
from trietok.tokenizer.token_table import Changes, TokenTable

TEXTS = [f"the people number {n} of the united states, unaffordable{n} [MASK] <x{n % 7}> (n. {n})" for n in range(160)]


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
        added = list(threads.map(lambda n: tokenizer.add_tokens([f"<{n}-{i}>" for i in range(20)]), range(8)))
    assert added == [20] * 8
    ids = [tokenizer.convert_tokens_to_ids(f"<{n}-{i}>") for n in range(8) for i in range(20)]
    assert sorted(ids) == list(range(first, first + 160))


def test_a_change_in_steps_counts_when_it_is_done_and_not_at_all_if_it_fails():
    before, after = (TokenTable(None, AddedTokens(), {"cls_token": token}) for token in ("<a>", "<b>"))
    changes = Changes(before, Version())
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
    ids = queue.get(timeout=60)
    child.join()
    assert ids[:20] == [tokenizer.encode(text) for text in TEXTS[:20]]
    tokenizer.add_tokens(["<child>"])
    assert ids[20] == tokenizer.encode("<child>")


def test_ids_and_offsets_are_of_one_state():
    """In the fast class too: what a call returns while tokens come and go is of before or of after."""
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
            if (ids, offsets) not in (without[:2], with_both[:2]) or tokens not in (without[2], with_both[2]):
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
