"""Saves that are killed, with trietok, `check` and transformers as readers: each finds the old
files or the new.

Some are killed after a rename, after each of a save in turn, so that whatever a save can leave is
met; the others at any moment.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time

import pytest

from tests.files.saving import (
    counting_renames,
    in_child,
    renames_of_a_save,
    saving_forever,
    seen_plainly,
    state,
    stop,
    two_tokenizers,
    without_flushing,
    without_links,
)
from trietok import BertTokenizer, check
from trietok.files.atomic import finish_save
from trietok.files.formats import JOURNAL

pytestmark = pytest.mark.faults

KILLS = int(os.environ.get("TRIETOK_KILLS", "300"))  # at any moment
LONGEST = 300  # seconds; what does not come until then, never comes


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


def killed_saves(two, directory, monkeypatch):
    """Start saves and kill them, first after each of a save's renames, then at moments spread over
    a save. After each kill the number of the tokenizer that had been saved, and of the rename.
    """
    for rename in range(1, renames_of_a_save(two, directory, monkeypatch) + 1):
        two[rename % 2].save_pretrained(directory)
        with monkeypatch.context() as patch:
            counting_renames(patch, rename, signal.SIGKILL)
            status = in_child(lambda rename=rename: two[1 - rename % 2].save_pretrained(directory))
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, rename
        yield rename % 2, rename
    for number in range(KILLS):
        began = time.monotonic()
        two[number % 2].save_pretrained(directory)
        one_save = time.monotonic() - began  # as busy as the machine is just now
        child = saving_forever((two[1 - number % 2], two[number % 2]), directory)
        time.sleep(random.uniform(0, 3 * one_save))
        stop(child)
        yield number % 2, None


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


def test_what_is_left_after_each_of_300_kills(two, tmp_path, slow_renames, monkeypatch):
    """No mixture for any reader, before anything is cleared away; all readers find the same one."""
    pytest.importorskip("transformers")
    directory = tmp_path / "saved"
    readers = (seen_by_trietok, seen_by_check, seen_by_transformers, seen_plainly)
    expected = sightings(two, directory, readers)
    by_rename = []
    tally = {"old": 0, "new": 0, "left in the middle": 0}
    for saved, rename in killed_saves(two, directory, monkeypatch):
        found = {
            which
            for which in (0, 1)
            if all(reader(directory) == expected[reader][which] for reader in readers)
        }
        assert len(found) == 1, (rename, sorted(os.listdir(directory)))
        is_new = found != {saved}
        is_in_the_middle = any(path.is_symlink() for path in directory.iterdir())
        tally["new" if is_new else "old"] += 1
        tally["left in the middle"] += is_in_the_middle
        if rename is not None:
            by_rename.append((is_new, is_in_the_middle))
    print(f"\n{KILLS} kills, and {len(by_rename)} after renames: {tally}")
    # in this order: old files, the same by links, new files by links, the same in their places
    assert list(dict.fromkeys(by_rename)) == [
        (False, False),
        (False, True),
        (True, True),
        (True, False),
    ]


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
    by_rename = []
    tally = {"old": 0, "new": 0, "journals": 0}
    for saved, rename in killed_saves(two, directory, monkeypatch):
        found = {
            which
            for which in (0, 1)
            if all(reader(directory) == expected[reader][which] for reader in readers)
        }
        assert len(found) == 1, (rename, sorted(os.listdir(directory)))
        is_new, has_journal = found != {saved}, (directory / JOURNAL).exists()
        tally["new" if is_new else "old"] += 1
        tally["journals"] += has_journal
        if rename is not None:
            by_rename.append((is_new, has_journal))
        finish_save(directory, is_alone=True)
        assert seen_plainly(directory) == expected[seen_plainly][next(iter(found))]
    print(f"\n{KILLS} kills, and {len(by_rename)} after renames: {tally}")
    # in this order: old files, the journal says so, new files
    assert list(dict.fromkeys(by_rename)) == [(False, False), (False, True), (True, False)]


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
    print(f"\n{loads[0]} loads beside {-(-KILLS // 6)} kills")
    assert wrong == []
