"""A process that forks while its other threads encode: the child can encode, change and save."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from tests.conftest import often

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

FORKS = often(4, nightly=30)
PROGRAM = """
import itertools, os, signal, sys, threading
import trietok
from tests.conftest import using_kernel

kernel, forks, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
signal.alarm(600)  # a process that hangs, hangs for ever
with using_kernel(kernel):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
text = "the people, unaffordable zoology"
expected = tokenizer(text).input_ids
numbers, over = itertools.count(), threading.Event()
at_work = set()  # numbers of the batches that threads encode at the moment
in_the_middle = 0

def encode():
    number = next(numbers)
    at_work.add(number)
    texts = [text, *(f"new{number}a{i} [x{i}] " * 9 for i in range(200))]
    assert tokenizer(texts).input_ids[0] == expected
    at_work.discard(number)

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

threads = [threading.Thread(target=encode_on) for _ in range(3)]
for thread in threads:
    thread.start()
statuses = []
for number in range(forks):
    encode()
    in_the_middle += len(at_work) > 0
    child = os.fork()
    if child == 0:
        status = 1
        try:
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
assert in_the_middle > 0.5 * forks, in_the_middle
"""


@pytest.mark.parametrize("kernel", [pytest.param("compiled", marks=pytest.mark.kernel), "plain"])
def test_a_child_of_a_process_whose_threads_encode_can_encode_change_and_save(tmp_path, kernel):
    command = [sys.executable, "-c", PROGRAM, kernel, str(FORKS), str(tmp_path)]
    root = pathlib.Path(__file__).parents[2]
    subprocess.run(command, check=True, cwd=root, env={**os.environ, "TRIETOK_PARALLELISM": "2"})
