"""Saves that are killed at any moment: every reader finds the old files or the new ones."""

from __future__ import annotations

import os
import random
import threading
import time

import pytest
from transformers import BertTokenizer as TheirTokenizer

from tests.conftest import often
from tests.files.saving import (
    read_plainly,
    saving_forever,
    state,
    stop,
    two_tokenizers,
    without_flushing,
    without_links,
)
from trietok import BertTokenizer, check

pytestmark = pytest.mark.faults

KILLS = often(20, 100)
LONGEST = 300  # seconds; what does not come until then, never comes


def seen_by_transformers(directory) -> object:
    tokenizer = TheirTokenizer.from_pretrained(directory)
    added = {token_id: str(token) for token_id, token in tokenizer.added_tokens_decoder.items()}
    return tokenizer.get_vocab(), added, tokenizer.special_tokens_map, tokenizer.do_lower_case


def seen_by_check(directory) -> object:
    """What `check` finds, without where, and without that a save was cut short."""
    report = check(directory)
    return sorted(
        (finding.code, finding.message) for finding in report.findings if "save" not in finding.code
    )


def seen_by_trietok(directory) -> object:
    return state(BertTokenizer.from_pretrained(directory))


def killed_saves(two, directory):
    """Start saves and kill them, at moments spread over a save."""
    for number in range(KILLS):
        began = time.monotonic()
        two[number % 2].save_pretrained(directory)
        one_save = time.monotonic() - began  # as busy as the machine is just now
        child = saving_forever((two[1 - number % 2], two[number % 2]), directory)
        time.sleep(random.uniform(0, 3 * one_save))
        stop(child)
        yield number


@pytest.fixture
def slow_renames(monkeypatch):
    """A rename takes three milliseconds, so that many kills come between two of them; no disk is
    waited for, since what a process has written outlives it.
    """
    without_flushing(monkeypatch)
    replace = os.replace

    def replace_slowly(source, target):
        replace(source, target)
        time.sleep(0.003)

    monkeypatch.setattr(os, "replace", replace_slowly)


@pytest.fixture
def two(small):
    return two_tokenizers(small)


def sightings(two, directory, readers) -> dict[object, list[object]]:
    """What each reader finds after either tokenizer was saved: [old, new]."""
    found: dict[object, list[object]] = {reader: [] for reader in readers}
    for tokenizer in two:
        tokenizer.save_pretrained(directory)
        for reader in readers:
            found[reader].append(reader(directory))
    return found


@pytest.mark.parametrize("has_links", [True, False])
def test_what_is_left_after_each_kill(two, tmp_path, slow_renames, monkeypatch, has_links):
    """No mixture for any reader, before anything is cleared away; all readers find the same one.

    Where the system has no symbolic links, that is promised of trietok and `check` alone.
    """
    readers = [seen_by_trietok, seen_by_check]
    if has_links:
        readers += [seen_by_transformers, read_plainly]
    else:
        without_links(monkeypatch)
    directory = tmp_path / "saved"
    expected = sightings(two, directory, readers)
    seen = {0: 0, 1: 0}
    for number in killed_saves(two, directory):
        found = [
            which
            for which in (0, 1)
            if all(reader(directory) == expected[reader][which] for reader in readers)
        ]
        assert len(found) == 1, (number, sorted(os.listdir(directory)))
        seen[found[0]] += 1
    assert all(seen.values()), seen
    two[1].save_pretrained(directory)
    assert not list(directory.glob(".trietok-*"))


def test_readers_beside_saves_that_are_killed(two, tmp_path, slow_renames):
    """Loading while it goes on, which takes what it reads from one save. No other reader can know
    that.
    """
    directory = tmp_path / "saved"
    expected = sightings(two, directory, (seen_by_trietok,))[seen_by_trietok]
    ended, wrong, loads = threading.Event(), [], [0]

    def load() -> None:
        while not ended.is_set():
            try:
                found = seen_by_trietok(directory)
            except Exception as error:
                wrong.append(error)
                return
            loads[0] += 1
            if found not in expected:
                wrong.append("mixed")

    thread = threading.Thread(target=load)
    thread.start()
    try:
        for _ in range(-(-KILLS // 6)):
            before, end = loads[0], time.monotonic() + LONGEST
            child = saving_forever(two, directory)
            # one that was begun beside the saves has ended
            while thread.is_alive() and loads[0] < before + 2 and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(random.uniform(0, 0.2))
            stop(child)
            assert wrong == []
            assert loads[0] >= before + 2
    finally:
        ended.set()
        thread.join()
    assert wrong == []
