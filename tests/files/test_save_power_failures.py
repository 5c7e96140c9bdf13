"""Power failures during saves: a file system is cut off from its disk, which keeps only what had
been flushed to it.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import time

import pytest

from tests.files.saving import (
    counting_renames,
    renames_of_a_save,
    run_or_skip,
    saving_forever,
    seen_plainly,
    state,
    stop,
    two_tokenizers,
    without_links,
)
from trietok import BertTokenizer

pytestmark = pytest.mark.faults

FAILURES = int(os.environ.get("TRIETOK_FAILURES", "60"))
# ioctl of ext4 and xfs: no more is written, not even the log
_SHUT_DOWN, _WITHOUT_FLUSH = (
    0x8004587D,
    2,
)


@pytest.fixture
def disk(tmp_path):
    """Mount an ext4 file system that lies in a file; call it to mount it again after a failure."""
    image, place = tmp_path / "image", tmp_path / "disk"
    image.write_bytes(b"")
    os.truncate(image, 32 << 20)
    place.mkdir()
    run_or_skip("mkfs.ext4", "-q", str(image))

    class Disk:
        path = place

        def mount(self) -> None:
            run_or_skip("mount", "-o", "loop", str(image), str(place))

        def fail(self) -> None:
            import fcntl

            handle = os.open(place, os.O_RDONLY)
            try:
                fcntl.ioctl(handle, _SHUT_DOWN, struct.pack("I", _WITHOUT_FLUSH))
            except OSError as error:
                pytest.skip(f"ext4 cannot be shut down here: {error}")
            finally:
                os.close(handle)

        def unmount(self) -> None:
            subprocess.run(["umount", str(place)], check=True)

    mounted = Disk()
    mounted.mount()
    yield mounted
    subprocess.run(["umount", str(place)], check=False)


def test_what_was_not_flushed_is_lost_on_this_disk(disk):
    """The instrument works."""
    (disk.path / "a.txt").write_text("not flushed")
    disk.fail()
    disk.unmount()
    disk.mount()
    assert not (disk.path / "a.txt").exists()


def saving_until(rename, two, directory, monkeypatch) -> int:
    """Start a process that saves and stands still after its rename of that number, the first of the
    next save if a save has fewer; its number.
    """
    with monkeypatch.context() as patch:
        counting_renames(patch, rename, signal.SIGSTOP)
        child = saving_forever(two, directory)
    assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
    return child


@pytest.mark.parametrize("has_links", [True, False])
def test_after_a_power_failure_the_old_files_or_the_new_ones_are_there(
    small, disk, monkeypatch, has_links
):
    if not has_links:
        without_links(monkeypatch)
    two = two_tokenizers(small)
    directory = disk.path / "saved"
    plain = []
    for tokenizer in two:
        tokenizer.save_pretrained(directory)
        plain.append(seen_plainly(directory))
    renames = renames_of_a_save(two, directory, monkeypatch)
    tally = {"old": 0, "new": 0, "left in the middle": 0}
    for number in range(FAILURES):
        began = time.monotonic()
        two[number % 2].save_pretrained(directory)
        one_save = time.monotonic() - began
        pair = two[1 - number % 2], two[number % 2]
        if number < 2:  # after the first rename, and where the save is over
            child = saving_until(1 if number == 0 else renames + 1, pair, directory, monkeypatch)
        elif number % 2:
            rename = random.randint(1, renames)
            child = saving_until(rename, pair, directory, monkeypatch)
        else:
            child = saving_forever(pair, directory)
            time.sleep(random.uniform(0, 3 * one_save))
        disk.fail()
        stop(child)
        disk.unmount()
        disk.mount()
        found = state(BertTokenizer.from_pretrained(directory))
        assert found in [state(tokenizer) for tokenizer in two], number
        which = 0 if found == state(two[0]) else 1
        if has_links:
            assert seen_plainly(directory) == plain[which], number
        is_old = which == number % 2
        assert number > 1 or is_old == (number == 0), number
        tally["old" if is_old else "new"] += 1
        tally["left in the middle"] += any(
            path.is_symlink() or path.name == ".trietok-save.json" for path in directory.iterdir()
        )
    print(f"\n{FAILURES} power failures: {tally}")


def test_what_save_pretrained_has_returned_from_stays(small, disk):
    for number, tokenizer in enumerate((*two_tokenizers(small), small("x"))):
        tokenizer.save_pretrained(disk.path / f"saved-{number}" / "below")
        tokenizer.save_pretrained(disk.path / "saved")
        disk.fail()
        disk.unmount()
        disk.mount()
        for directory in (disk.path / f"saved-{number}" / "below", disk.path / "saved"):
            assert state(BertTokenizer.from_pretrained(directory)) == state(tokenizer)
            assert not list(directory.glob(".trietok-*")) or directory.name == "saved"
