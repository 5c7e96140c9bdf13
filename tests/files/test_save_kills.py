"""Saves that are killed, with trietok, `check` and transformers as readers: each finds the old
files or the new.
"""

from __future__ import annotations

import os
import random
import threading
import time

import pytest

from tests.files.saving import (
    saving_forever,
    seen_plainly,
    state,
    stop,
    two_tokenizers,
    without_links,
)
from trietok import BertTokenizer, check
from trietok.files.atomic import finish_save

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("TRIETOK_KILLS", "300"))


def seen_by_transformers(directory) -> object:
    from transformers import BertTokenizer as TheirTokenizer

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


def killed_saves(two, directory, seed, slow_renames):
    """Start saves and kill them, at moments spread over a save; yields after each kill."""
    rng = random.Random(seed)
    for number in range(KILLS):
        began = time.monotonic()
        two[number % 2].save_pretrained(directory)
        one_save = time.monotonic() - began  # as busy as the machine is just now
        child = saving_forever((two[1 - number % 2], two[number % 2]), directory)
        time.sleep(rng.uniform(0, 3 * one_save))
        stop(child)
        yield number


@pytest.fixture
def slow_renames(monkeypatch):
    """A rename takes three milliseconds, so that many kills come between two of them."""
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


def test_what_is_left_after_each_of_300_kills(two, tmp_path, slow_renames):
    """No mixture for any reader, before anything is cleared away; all readers find the same one."""
    pytest.importorskip("transformers")
    directory = tmp_path / "saved"
    readers = (seen_by_trietok, seen_by_check, seen_by_transformers, seen_plainly)
    expected = sightings(two, directory, readers)
    tally = {"old": 0, "new": 0, "left in the middle": 0}
    for number in killed_saves(two, directory, 5, slow_renames):
        found = {
            which
            for which in (0, 1)
            if all(reader(directory) == expected[reader][which] for reader in readers)
        }
        assert len(found) == 1, (number, sorted(os.listdir(directory)))
        tally["old" if found == {number % 2} else "new"] += 1
        tally["left in the middle"] += any(path.is_symlink() for path in directory.iterdir())
    print(f"\n{KILLS} kills: {tally}")
    assert tally["old"] > KILLS // 20
    assert tally["new"] > KILLS // 20
    assert tally["left in the middle"] > KILLS // 20


def test_what_is_left_after_each_of_300_kills_where_there_are_no_links(
    two, tmp_path, slow_renames, monkeypatch
):
    """No mixture for trietok and `check`; nor for others, after the next save has cleared away what
    was left.
    """
    without_links(monkeypatch)
    directory = tmp_path / "saved"
    readers = (seen_by_trietok, seen_by_check)
    expected = sightings(two, directory, (*readers, seen_plainly))
    tally = {0: 0, 1: 0, "journals": 0}
    for number in killed_saves(two, directory, 6, slow_renames):
        found = {
            which
            for which in (0, 1)
            if all(reader(directory) == expected[reader][which] for reader in readers)
        }
        assert len(found) == 1, (number, sorted(os.listdir(directory)))
        tally[next(iter(found))] += 1
        tally["journals"] += (directory / ".trietok-save.json").exists()
        finish_save(directory, is_alone=True)
        assert seen_plainly(directory) == expected[seen_plainly][next(iter(found))]
    print(f"\n{KILLS} kills: {tally}")
    assert min(tally.values()) > KILLS // 20


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
        for number in range(KILLS // 6):
            child = saving_forever(two, directory)
            time.sleep(random.Random(number).uniform(0, 0.2))
            stop(child)
    finally:
        ended.set()
        thread.join()
    print(f"\n{loads[0]} loads beside {KILLS // 6} kills")
    assert wrong == []
    assert loads[0] > KILLS // 6
